"""Where each task runs: placements, files that hold them, and rank files for launchers."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from netloom._version import __version__
from netloom.base.arrays import Ints
from netloom.base.errors import InputError, NotAMappingError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import MAX_ELEMENTS, check_size, whole_number
from netloom.base.textfiles import parse_json, read_lines, read_text, write_text
from netloom.topology import Topology
from netloom.workload.graphs.process_graph import mapped_nodes

RANK = re.compile(r"rank\s+(?P<rank>\d+)\s*=\s*(?P<host>\S+)(\s+slots?\s*=\s*(?P<slot>\S+))?")
"""A line of a rank file of Open MPI."""


def read_mapping(path: str | Path, names: Mapping[str, int | Sequence[int]] | None = None) -> Ints:
    """Read the node of each task, int64[num_tasks], from a mapping file.

    A ``.json`` file is an object whose ``node_of`` lists the nodes. Any other has one node a
    line, that of task 0 first, where ``#`` starts a comment and blank lines do not count. Lines of
    rank files are read too: ``rank 0=n12 slot=0`` (Open MPI) and ``n12:1`` (MPICH). Whether the
    nodes exist and how often each may occur is for ``check_mapping`` to say.

    Parameters
    ----------
    path
        The file.
    names
        The number of each node that has a name, or several, which the lines that name it take in
        turn: a computer's hosts. A whole number in the file is a node's number, though it were a
        name too.

    Raises
    ------
    InputError
        Naming the file, and the line of a text file, where it cannot be read.
    """
    path = Path(path)
    wanted = "one node number a line, or netloom's JSON"
    named = _Names(names)
    if path.suffix == ".json":
        content = parse_json(read_text(path, wanted=wanted), path, wanted=_JSON)
        nodes = content.get("node_of") if isinstance(content, dict) else None
        if not isinstance(nodes, list) or not nodes:
            raise InputError(path, "no list of nodes", _JSON)
        for task, given in enumerate(nodes):
            node = named.named(given) if isinstance(given, str) and names else None
            nodes[task] = node = given if node is None else node
            if type(node) is not int or not 0 <= node < 2**63:
                raise InputError(f"{path}, task {task}", f"{node!r:.40}", "a node number")
        return np.array(nodes, dtype=np.int64)
    lines = list(read_lines(path, wanted=wanted))
    if lines and RANK.match(lines[0][1]):
        return _of_ranks(path, lines, named)
    nodes = [node for where, word in lines for node in named.nodes(word, where)]
    if not nodes:
        raise InputError(path, "no tasks", "one node number a line, that of task 0 first")
    return np.array(nodes, dtype=np.int64)


def _of_ranks(path: Path, lines: list[tuple[str, str]], named: _Names) -> Ints:
    """Return the nodes in a rank file of Open MPI, whose lines may have any order."""
    node_of = {}
    for where, line in lines:
        found = RANK.fullmatch(line)
        if found is None:
            raise InputError(where, f"'{line:.60}'", "a line such as 'rank 0=n12 slot=0'")
        rank = whole_number(found["rank"], where=where)
        if rank in node_of:
            raise InputError(where, f"rank {rank} again", "each rank once")
        node_of[rank] = named.node(found["host"], where, slot=found["slot"])
    missing = next((rank for rank in range(len(node_of)) if rank not in node_of), None)
    if missing is not None:
        found_ranks = f"{len(node_of)} ranks without rank {missing}"
        raise InputError(path, found_ranks, "each rank from 0 on")
    return np.array([node_of[rank] for rank in range(len(node_of))], dtype=np.int64)


def write_mapping(path: str | Path, node_of: ArrayLike, topology_name: str) -> None:
    """Write a mapping, as JSON where the name ends in ``.json`` and as text elsewhere.

    Parameters
    ----------
    path
        The file. It is replaced where it exists.
    node_of
        int[num_tasks], the node of each task.
    topology_name
        The spec of the network that the nodes are of, kept in the file for whoever reads it.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    path = Path(path)
    nodes = np.asarray(node_of, dtype=np.int64).tolist()
    if path.suffix == ".json":
        content = {"netloom": __version__, "topology": topology_name, "node_of": nodes}
        write_text(path, json.dumps(content) + "\n")
        return
    head = f"# netloom {__version__}: the node on {topology_name} of each task, task 0 first\n"
    write_text(path, head + "".join(f"{node}\n" for node in nodes))


class _Names:
    """Nodes by their names. Of several of one name the next."""

    def __init__(self, names: Mapping[str, int | Sequence[int]] | None) -> None:
        self.names = names or {}
        self.turns: Counter[str] = Counter()

    def nodes(self, word: str, where: str) -> list[int]:
        """Return the nodes that a line means: one, or with MPICH's ``host:n`` n times a host."""
        host, _, many = word.rpartition(":")
        if word in self.names or host not in self.names or not many.isdecimal():
            return [self.node(word, where)]
        ranks = whole_number(many, where=where)
        if not 0 < ranks <= MAX_ELEMENTS:
            raise InputError(where, f"{ranks} ranks", f"1 to {MAX_ELEMENTS:,}")
        return [self.node(host, where) for _ in range(ranks)]

    def node(self, word: str, where: str, slot: str | None = None) -> int:
        """Return the node that a word of a mapping file means, perhaps by the slot of a rank."""
        if not self.names or not re.search(r"[^\s\d+-]", word):
            return whole_number(word, where=where)
        hosts = self.names.get(word)
        if slot is not None and not (hosts is None or isinstance(hosts, int)):
            return hosts[whole_number(slot, where=where) % len(hosts)]
        node = self.named(word)
        if node is None:
            known = ", ".join(list(self.names)[:3])
            raise InputError(where, f"'{word:.60}'", f"a node's number or name, such as {known}")
        return node

    def named(self, word: str) -> int | None:
        """Return the node of a name, None if there is none."""
        node = self.names.get(word)
        if node is None or isinstance(node, int):
            return node
        self.turns[word] += 1
        return node[(self.turns[word] - 1) % len(node)]


_JSON = '{"node_of": [0, 1, ...]} with the node of each task'


def random_mapping(num_tasks: int, num_nodes: int, seed: int = DEFAULT_SEED) -> Ints:
    """Return int32[num_tasks]: every way to put the tasks on different nodes is as likely.

    One seed gives one mapping, here as everywhere.

    Raises
    ------
    InputError
        If the tasks do not fit, or the seed is negative.

    Examples
    --------
    >>> sorted(random_mapping(4, 4, seed=7).tolist())
    [0, 1, 2, 3]
    """
    check_room(num_tasks, num_nodes, 1, "topology")
    return random_places(num_tasks, num_nodes, seed).astype(np.int32)


def random_places(num_tasks: int, num_places: int, seed: int) -> Ints:
    """Return a place for each task, int64[num_tasks], no two the same, every way as likely.

    Raises
    ------
    InputError
        If there are too many places, or the seed is negative.
    """
    if seed < 0:
        raise InputError("seed", seed, "a whole number of at least 0")
    check_size(num_places, where="tasks_per_node", what="places for tasks")
    return np.random.default_rng(seed).permutation(num_places)[:num_tasks]


def check_mapping(
    node_of: ArrayLike,
    num_tasks: int,
    num_nodes: int,
    tasks_per_node: int = 1,
    where: str = "mapping",
    called: Callable[[int], str] = str,
) -> Ints:
    """Return ``node_of`` as int32[num_tasks] if it is a mapping, and say why where it is not.

    Parameters
    ----------
    node_of
        int[num_tasks], the node of each task.
    num_tasks, num_nodes
        Of the process graph and of the network.
    tasks_per_node
        Most tasks that a node takes.
    where
        The field or file that errors name.
    called
        Returns what errors call a node.

    Raises
    ------
    NotAMappingError
        If it has the wrong length, names a node that there is none of, or overfills a node.

    Examples
    --------
    >>> check_mapping([3, 0], num_tasks=2, num_nodes=4)
    array([3, 0], dtype=int32)
    """
    nodes = mapped_nodes(node_of, num_tasks, num_nodes, where)
    check_capacity(nodes, tasks_per_node, where, called)
    return nodes


def check_room(num_tasks: int, num_nodes: int, tasks_per_node: int, where: str) -> None:
    """Refuse more tasks than nodes have places for. ``where`` is what errors name.

    Raises
    ------
    InputError
        If they do not fit, or ``tasks_per_node`` is below 1.
    """
    if tasks_per_node < 1:
        raise InputError("tasks_per_node", tasks_per_node, "at least 1")
    check_size(num_tasks, where=where, what="tasks")
    if num_tasks <= num_nodes * tasks_per_node:
        return
    found = f"{num_nodes} nodes for {num_tasks} tasks"
    if tasks_per_node > 1:
        found += f", {tasks_per_node} per node"
    least_nodes, least_a_node = -(-num_tasks // tasks_per_node), -(-num_tasks // num_nodes)
    wanted = f"at least {least_nodes} nodes, or tasks_per_node={least_a_node}"
    raise InputError(where, found, wanted)


def check_capacity(
    nodes: Ints, tasks_per_node: int, where: str, called: Callable[[int], str] = str
) -> None:
    """Refuse a mapping, int32[num_tasks], that puts more tasks on a node than it takes.

    Raises
    ------
    NotAMappingError
        Naming the first such node, as ``called`` calls it.
    """
    used, counts = np.unique(nodes, return_counts=True)
    most = int(counts.max(initial=0))
    if most <= tasks_per_node:
        return
    crowded = int(np.argmax(counts > tasks_per_node))
    node, count = called(int(used[crowded])), counts[crowded]
    first, second = np.flatnonzero(nodes == used[crowded])[:2]
    if tasks_per_node == 1:
        found, wanted = f"tasks {first} and {second} both on host {node}", "one task per node"
    else:
        found = f"{count} tasks on host {node}, {first} and {second} among them"
        wanted = f"at most {tasks_per_node} per node"
    raise NotAMappingError(where, found, f"{wanted}, or tasks_per_node={most}")


FORMATS = ("openmpi-rankfile", "openmpi-seq", "mpich", "slurm", "cray")
"""The formats of ``rank_file``."""

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
        form = {FORMATS[0]: "rank {rank}={host} slot={slot}", "mpich": "{host}:1"}
        line = form.get(format, "{host}").format
        ranks = enumerate(zip(_hosts_of(placed, hosts), slots, strict=True))
        lines = [line(rank=rank, host=host, slot=slot) for rank, (host, slot) in ranks]
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
) -> None:
    """Write the rank file that ``rank_file`` describes, which see. It is replaced if it exists.

    Raises
    ------
    InputError
        As ``rank_file``, or if the file cannot be written.
    """
    write_text(path, rank_file(node_of, format))


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
        raise InputError(path, "no hosts", wanted)
    return list(place_of)


def _hosts_of(nodes: Ints, hosts: Sequence[str] | None) -> list[str]:
    """Return the host name of every rank."""
    if hosts is None:
        return [f"n{node}" for node in nodes.tolist()]
    if int(nodes.max()) >= len(hosts):
        wanted = f"at least {nodes.max() + 1}, one for each node"
        raise InputError("hosts", f"{len(hosts)} host names", wanted)
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


def _check_format(format: str) -> None:  # noqa: A002
    if format not in FORMATS:
        raise InputError("format", f"'{format}'", f"one of {', '.join(FORMATS)}")
