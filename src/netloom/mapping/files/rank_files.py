"""Rank files: how a mapping reaches the launcher of a parallel program.

Formats and commands as documented by each launcher. Open MPI 4.1 and MPICH were tried on 16
hosts, Slurm and Cray come from their documentation. The files hold no comments, which not every
launcher's reader is known to skip: ``how_to_apply`` says what to type.
"""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.textfiles import read_lines, write_text
from netloom.mapping.placements import check_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*")
"""What a host may be called, addresses included: nothing that launchers' files take for more."""

RANKS_A_LINE = 16
"""Ranks on one line of a Cray rank order. Any number will do."""


def rank_file(
    node_of: ArrayLike,
    format: str = "openmpi-rankfile",  # noqa: A002  # the word of the command line
    hosts: Sequence[str] | None = None,
    nodes: ArrayLike | None = None,
    slots: Ints | None = None,
) -> str:
    """Return the text of a rank file that puts rank r on node ``node_of[r]``.

    Parameters
    ----------
    node_of
        int[num_tasks], the node of each task. Task r is rank r.
    format
        ``openmpi-rankfile`` (``rank 0=n12 slot=0``), ``openmpi-seq`` (line r names the host of rank
        r), ``mpich`` (``n12:1``), ``slurm`` (as ``openmpi-seq``) or ``cray`` (the ranks in the
        order of the slots, the inverse permutation). The slots of a rank file count a node's ranks
        from 0.
    hosts
        The host name of each node, such as a network's ``labels``. ``n0``, ``n1`` … where it
        is not given. ``cray`` needs none.
    nodes
        The nodes of the allocation, in ascending order, which ``cray`` fills one after the other.
        By default node n is the n-th of them.
    slots
        int64[num_tasks], the slot of each rank on its node. By default, the ranks of a node are
        counted. Only ``openmpi-rankfile`` can express other slots.

    Raises
    ------
    InputError
        If the format is not known, or a node has no host name or an impossible one. If a Cray rank
        order cannot express the mapping, or the format cannot express the slots.

    Examples
    --------
    >>> print(rank_file([1, 0, 1]), end="")
    rank 0=n1 slot=0
    rank 1=n0 slot=0
    rank 2=n1 slot=1
    """
    _check_format(format)
    placed = check_mapping(node_of, np.size(node_of), MAX_ELEMENTS, tasks_per_node=MAX_ELEMENTS)
    if not placed.size:
        raise InputError("mapping", "no tasks", "the node of each task")
    counted = _slots(placed)
    slots = counted if slots is None else slots
    if format != FORMATS[0] and (slots != counted).any():
        rank = int(np.argmax(slots != counted))
        name = hosts[placed[rank]] if hosts else f"n{placed[rank]}"
        found = f"rank {rank} on host {slots[rank]} of {name} as its rank {counted[rank]}"
        raise InputError(format, found, f"{FORMATS[0]}, or ranks that go round the hosts of a node")
    if format == "cray":
        lines = _cray(placed, nodes)
    else:
        names = _hosts_of(placed, hosts)
        lines = [*map(_WRITERS[format], range(len(placed)), names, slots.tolist())]
    return "\n".join(lines) + "\n"


def ranks_on_computers(host_of: Ints, topology: Topology) -> tuple[Ints, Ints | None]:
    """Return the node (computer) of each rank that a mapping puts on a host, and its slot there.

    int32[num_tasks] and int64[num_tasks]. If a computer owns m hosts, slots s, s + m … are its
    host s. Slots are None, to be counted, where each owns one.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> ranks_on_computers(np.array([0, 1, 3, 0]), topology("rail:1x2x2x1"))
    (array([0, 0, 1, 0], dtype=int32), array([0, 1, 1, 2]))
    """
    owner = topology.node_of_host
    nodes = owner[host_of]
    if topology.num_nodes == topology.num_hosts:
        return nodes, None
    many = np.bincount(owner)
    return nodes, _slots(owner)[host_of] + _slots(np.asarray(host_of)) * many[nodes]


def write_rank_file(
    path: str | Path,
    node_of: ArrayLike,
    format: str = "openmpi-rankfile",  # noqa: A002  # the word of the command line
    hosts: Sequence[str] | None = None,
    nodes: ArrayLike | None = None,
) -> None:
    """Write the rank file that ``rank_file`` describes, which see. It is replaced if it exists.

    Raises
    ------
    InputError
        As ``rank_file`` does, or if the file cannot be written.
    """
    write_text(path, rank_file(node_of, format, hosts, nodes))


def check_rank_file(
    format: str,  # noqa: A002
    num_tasks: int,
    nodes: Ints,
    tasks_per_node: int = 1,
    hosts: Sequence[str] | None = None,
) -> None:
    """Refuse a format that cannot express every mapping that a search may find, before it begins.

    Parameters
    ----------
    format, hosts
        As for ``rank_file``.
    num_tasks, tasks_per_node
        Number of ranks, and most of a node.
    nodes
        The nodes that may be used.

    Raises
    ------
    InputError
        If the format is not known, host names are missing, or a Cray's launcher, which fills one
        node after the other, would have to leave a place empty.

    Examples
    --------
    >>> check_rank_file("cray", 8, np.arange(4), tasks_per_node=2)
    >>> check_rank_file("cray", 8, np.arange(9))
    Traceback (most recent call last):
    netloom.InputError: cray rank order: found 8 tasks for 9 places; expected as many places
    """
    _check_format(format)
    if format == "cray":
        places = len(nodes) * tasks_per_node
        if num_tasks < places:
            found = f"{num_tasks} tasks for {places} places"
            raise InputError("cray rank order", found, "as many places")
    elif hosts is not None:
        _hosts_of(np.asarray(nodes, np.int32), hosts)


def how_to_apply(
    format: str,  # noqa: A002
    path: str | Path,
    num_tasks: int,
    tasks_per_node: int | None = None,
) -> str:
    """Return the shell command that starts ``./program`` with the rank file at ``path``.

    Parameters
    ----------
    format
        As for ``rank_file``.
    path
        Where the rank file is.
    num_tasks
        Number of ranks.
    tasks_per_node
        Ranks on each node, which only a Cray's command has to say.

    Raises
    ------
    InputError
        If the format is not known.

    Examples
    --------
    >>> how_to_apply("slurm", "ranks.txt", 64)
    'SLURM_HOSTFILE=ranks.txt srun -n 64 --distribution=arbitrary ./program'
    """
    file = shlex.quote(str(path))
    density = f" --ntasks-per-node={tasks_per_node}" if tasks_per_node else ""
    _check_format(format)
    return {
        "openmpi-rankfile": f"mpirun -np {num_tasks} --hostfile HOSTS --rankfile {file} ./program",
        "openmpi-seq": f"mpirun -np {num_tasks} --map-by seq --hostfile {file} ./program",
        "mpich": f"mpiexec -f {file} -n {num_tasks} ./program",
        "slurm": f"SLURM_HOSTFILE={file} srun -n {num_tasks} --distribution=arbitrary ./program",
        "cray": f"MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={file} "
        f"srun -n {num_tasks}{density} ./program",
    }[format]


def read_hosts(path: str | Path) -> list[str]:
    """Read the host name of each node: line n names node n, ``#`` comments and blank lines apart.

    Raises
    ------
    InputError
        If a line is not one host name, or names a host again. The error names file and line.
    """
    wanted = "one host name a line, that of node 0 first"
    place_of: dict[str, str] = {}
    for where, host in read_lines(path, wanted=wanted):
        if len(host.split()) > 1:
            raise InputError(where, f"'{host}'", wanted)
        if host in place_of:
            raise InputError(where, f"'{host}' again, as in {place_of[host]}", wanted)
        place_of[host] = where
    if not place_of:
        raise InputError(str(path), "no hosts", wanted)
    return list(place_of)


def _hosts_of(nodes: Ints, hosts: Sequence[str] | None) -> list[str]:
    """Return the host name of every rank."""
    if hosts is None:
        return [f"n{node}" for node in nodes.tolist()]
    if int(nodes.max()) >= len(hosts):
        raise InputError(
            "hosts", f"{len(hosts)} host names", f"at least {nodes.max() + 1}, one for each node"
        )
    for node in np.unique(nodes).tolist():
        if not HOST_NAME.fullmatch(hosts[node]):
            found = f"'{hosts[node]:.60}', the name of node {node}"
            raise InputError("hosts", found, "host names: a file of them, a line each")
    return [hosts[node] for node in nodes.tolist()]


def _slots(nodes: Ints) -> Ints:
    """Return how many before each one are of the same node."""
    order = np.argsort(nodes, kind="stable")
    starts = np.searchsorted(nodes[order], nodes[order])
    slots = np.empty_like(order)
    slots[order] = np.arange(len(nodes)) - starts
    return slots


def _cray(placed: Ints, allocated: ArrayLike | None) -> list[str]:
    """Return the ranks in slot order, which fills each node of the allocation in turn."""
    nodes = placed if allocated is None else np.searchsorted(np.asarray(allocated), placed)
    where, wanted = "cray rank order", "another format, or a mapping that fills nodes in order"
    used, counts = np.unique(nodes, return_counts=True)
    gaps = np.flatnonzero(used != np.arange(len(used)))
    if gaps.size:
        raise InputError(where, f"node {gaps[0]} idle before occupied node {used[-1]}", wanted)
    full = int(counts[0])
    uneven = [n for n, (a, b) in enumerate(pairwise(counts.tolist()), start=1) if b != a]
    if uneven and (uneven[0] < len(counts) - 1 or counts[-1] > full):
        node = uneven[0]
        raise InputError(where, f"{counts[node]} ranks on node {node} and {full} on node 0", wanted)
    order = np.argsort(nodes, kind="stable").tolist()
    rows = (order[first : first + RANKS_A_LINE] for first in range(0, len(order), RANKS_A_LINE))
    return [",".join(map(str, row)) for row in rows]


_WRITERS: dict[str, Callable[[int, str, int], str]] = {
    "openmpi-rankfile": lambda rank, host, slot: f"rank {rank}={host} slot={slot}",
    "openmpi-seq": lambda _rank, host, _slot: host,
    "mpich": lambda _rank, host, _slot: f"{host}:1",
    "slurm": lambda _rank, host, _slot: host,
}

FORMATS = (*_WRITERS, "cray")
"""The formats of ``rank_file``."""


def _check_format(format: str) -> None:  # noqa: A002
    if format not in FORMATS:
        raise InputError("format", f"'{format}'", f"one of {', '.join(FORMATS)}")
