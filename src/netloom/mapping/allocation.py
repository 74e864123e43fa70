"""The hosts that a batch system gave to a program, as it lists them, and how ranks fill them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import read_lines
from netloom.topology import Omega, Topology, working_nodes
from netloom.topology.hostlists import MOST_DIGITS, MOST_NAMED, unfolded, words_of
from netloom.topology.named_parts import hosts_wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints


SLOTS = re.compile(r"(?:slots|max[_-]slots)=\d+", re.ASCII)
"""What a launcher's host file may say behind a name. How many tasks fit is for the call to say."""


def allocated_hosts(
    nodes: str | Path | ArrayLike | None, topology: Topology, hosts: Sequence[str] | None = None
) -> Ints:
    """Return the hosts of an allocation that work, int32[], each once, in the order of the list.

    Parameters
    ----------
    nodes
        Their numbers. A list such as ``0-31,40``, or a file of such lists, one or several a line,
        ``#`` comments apart. A host is named by its number, its name in the network such as
        ``(0,3)`` or ``h12``, or its host name. A computer stands for all its hosts. Ranges are
        ``3-7`` and ``n[003-007,9]``. A launcher's host file may have ``n3 slots=4`` or ``n3:4``.
        That a name comes several times, once for each of its slots, is no mistake. None: see
        ``nodes_for_tasks``.
    topology
        The network. Its broken hosts are left out.
    hosts
        The host name of each node (computer). The network's own names of them where it is not
        given, or ``n0``, ``n1`` … where it has none.

    Raises
    ------
    InputError
        Naming the field, or file and line, of a word that is no node of the network, or if none
        of the nodes works.

    Examples
    --------
    >>> from netloom.topology import mesh, topology, without
    >>> allocated_hosts("n7,0-2,(1,1)", without(mesh(2, 4), nodes="2"))
    array([7, 0, 1, 5], dtype=int32)
    >>> allocated_hosts("n1,n0.0", topology("rail:1x2x2x1"))
    array([2, 3, 0], dtype=int32)
    """
    if nodes is None:
        return nodes_for_tasks(topology)
    if isinstance(nodes, str | Path):
        listed = named_hosts(nodes, topology, hosts)
        where = str(nodes) if isfile(nodes) else "nodes"  # noqa: PTH113 (a list is a long name)
    else:
        listed, where = np.asarray(nodes), "nodes"
        if listed.ndim != 1 or listed.dtype.kind not in "iu":
            raise InputError(
                where, f"an array of {listed.dtype} of shape {listed.shape}", "numbers"
            )
        wrong = listed[(listed < 0) | (listed >= topology.num_hosts)]
        if len(wrong):
            raise InputError(where, f"host {wrong[0]}", hosts_wanted(topology))
    if isinstance(topology.whole, Omega) and (listed >= topology.whole.pes).any():
        found = f"{topology.name_of(int(listed.max()))}, a memory module"
        raise InputError(where, found, f"processing elements of {topology.name}")
    working = topology.vertex_up[listed]
    once = np.sort(np.unique(listed[working], return_index=True)[1])
    allocated: Ints = listed[working][once].astype(np.int32)
    if not len(allocated):
        raise InputError(where, "no node that works", f"nodes of {topology.name}")
    return allocated


def allocated_nodes(
    nodes: str | Path | ArrayLike | None, topology: Topology, hosts: Sequence[str] | None = None
) -> Ints:
    """Return the hosts of an allocation that work, int32[], ascending. See ``allocated_hosts``.

    Raises
    ------
    InputError
        As ``allocated_hosts`` does.

    Examples
    --------
    >>> from netloom.topology import mesh, without
    >>> allocated_nodes("n7,0-2,(1,1)", without(mesh(2, 4), nodes="2"))
    array([0, 1, 5, 7], dtype=int32)
    """
    return np.sort(allocated_hosts(nodes, topology, hosts))


def nodes_for_tasks(topology: Topology) -> Ints:
    """Return the working hosts that run tasks where no allocation is given: all, or all PEs.

    The memories of an Omega network run none.

    Examples
    --------
    >>> from netloom.topology import omega
    >>> nodes_for_tasks(omega(4))
    array([0, 1, 2, 3], dtype=int32)
    """
    working = working_nodes(topology)
    whole = topology.whole
    return working[working < whole.pes] if isinstance(whole, Omega) else working


@dataclass(frozen=True, eq=False)
class Places:
    """The places of an allocation for tasks, in the order in which ranks fill them.

    Place p belongs to group p // tasks_per_node, which is a host or a computer of several hosts. A
    computer's places go round its hosts, so that its n-th rank is on its n-th host as long as there
    are hosts.

    Attributes
    ----------
    hosts
        int32[], the hosts, group by group.
    offsets
        int64[num_groups + 1]: group g has hosts[offsets[g]:offsets[g + 1]].
    tasks_per_node
        Places of a group.
    """

    hosts: Ints
    offsets: Ints
    tasks_per_node: int

    @property
    def num_groups(self) -> int:
        """Number of hosts, or of computers where these have several."""
        return len(self.offsets) - 1

    @property
    def count(self) -> int:
        """Number of places."""
        return self.num_groups * self.tasks_per_node

    def at(self, places: Ints) -> Ints:
        """Return the host of each place, int32[len(places)].

        Examples
        --------
        >>> import numpy as np
        >>> from netloom.topology import topology
        >>> rails = topology("rail:1x2x2x1")  # two computers of two hosts
        >>> places_of(np.array([0, 1, 2, 3]), rails, tasks_per_node=3).at(np.arange(6))
        array([0, 1, 0, 2, 3, 2], dtype=int32)
        """
        group, number = np.divmod(places, self.tasks_per_node)
        first = self.offsets[group]
        found: Ints = self.hosts[first + number % (self.offsets[group + 1] - first)]
        return found

    def each(self) -> tuple[Ints, int]:
        """Return the hosts that have places, ascending, and how many each of them has.

        Raises
        ------
        InputError
            If they do not all have as many.
        """
        sizes = np.diff(self.offsets)
        used = np.minimum(sizes, self.tasks_per_node)
        if (self.tasks_per_node % used).any() or len(set(used.tolist())) > 1:
            least, most, wanted = min(sizes), max(sizes), "as many tasks on each host of a node"
            hosts = f"{least} to {most}"
            if least == most:
                hosts, wanted = f"{most}", f"{wanted}: {-(-self.tasks_per_node // most) * most}"
            found = f"{self.tasks_per_node} on nodes of {hosts} hosts"
            raise InputError("tasks_per_node", found, wanted)
        number = np.arange(len(self.hosts)) - np.repeat(self.offsets[:-1], sizes)
        kept = self.hosts[number < np.repeat(used, sizes)]
        return np.sort(kept), int(self.tasks_per_node // used[0])


def places_of(hosts: Ints, topology: Topology, tasks_per_node: int = 1) -> Places:
    """Return the places that hosts have for tasks, in their order.

    With one task per node each host has one place, also where a computer owns several. With more,
    each computer has as many, whatever hosts it has here. Computers are in the order of their
    first hosts.

    Parameters
    ----------
    hosts
        int[], each once.
    topology
        The network, which knows what computer owns a host.
    tasks_per_node
        Places of a host. Of a computer, where one owns several hosts.
    """
    listed = np.asarray(hosts, np.int32)
    computer = topology.node_of_host[listed]
    known, first, sizes = np.unique(computer, return_index=True, return_counts=True)
    if tasks_per_node == 1 or len(known) == len(listed):
        return Places(listed, np.arange(len(listed) + 1), tasks_per_node)
    turn = np.argsort(first, kind="stable")  # computers by their first host
    rank = np.empty(len(known), np.int64)
    rank[turn] = np.arange(len(known))
    order = np.argsort(rank[np.searchsorted(known, computer)], kind="stable")
    return Places(listed[order], np.append(0, np.cumsum(sizes[turn])), tasks_per_node)


def node_names(topology: Topology, hosts: Sequence[str] | None = None) -> dict[str, int]:
    """Return the host of each name that a person may use for one.

    Its name in the network, and that of its computer, if that owns no other. Names are those of
    ``hosts`` or of the network's hosts. If there are none, they are ``n0``, ``n1`` …

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> node_names(mesh(1, 2))
    {'(0,0)': 0, '(0,1)': 1, 'n0': 0, 'n1': 1}
    """
    own = {topology.name_of(host): host for host in range(topology.num_hosts)}
    owned = hosts_of_computers(topology, hosts)
    return own | {name: found[0] for name, found in owned.items() if len(found) == 1}


def hosts_of_computers(
    topology: Topology, hosts: Sequence[str] | None = None
) -> dict[str, list[int]]:
    """Return the hosts of each computer that has a name. See ``node_names``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> hosts_of_computers(topology("rail:1x2x2x1"))
    {'n0': [0, 1], 'n1': [2, 3]}
    """
    if hosts is None:
        hosts = topology.computer_labels
    if not hosts and not topology.labels:
        hosts = [f"n{node}" for node in range(topology.num_nodes)]
    owned: list[list[int]] = [[] for _ in range(topology.num_nodes)]
    for host, node in enumerate(topology.node_of_host.tolist()):
        owned[node].append(host)
    return dict(zip(hosts, owned, strict=False))


def computer_names(topology: Topology) -> Sequence[str] | None:
    """Return the name of each computer. None where neither they nor their hosts have one.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> computer_names(topology("leaf-spine:1x1x2")), computer_names(mesh(2))
    (['h0', 'h1'], None)
    """
    if topology.computer_labels:
        return topology.computer_labels
    if not topology.labels:
        return None
    firsts = np.unique(topology.node_of_host, return_index=True)[1]
    return [topology.labels[host] for host in firsts.tolist()]


class _Listed:
    """Reads the words of a list of nodes."""

    def __init__(self, topology: Topology, hosts: Sequence[str] | None) -> None:
        self.topology = topology
        self.host_of = node_names(topology, hosts)
        self.owned = {
            name: found
            for name, found in hosts_of_computers(topology, hosts).items()
            if name not in self.host_of
        }
        self.routers = frozenset(topology.labels[topology.num_hosts :])

    def hosts(self, word: str, where: str) -> Iterator[int]:
        """Yield the hosts that one word names."""
        found = self.known(word)
        if found is None and (slots := re.fullmatch(r"(.+):\d+", word, re.ASCII)):
            word = slots[1]
            found = self.known(word)
        if found is not None:
            yield from found
        elif word in self.routers:
            raise InputError(where, f"'{word}', which is a switch", hosts_wanted(self.topology))
        elif "[" in word or "]" in word:
            wanted, most = hosts_wanted(self.topology), self.topology.num_hosts
            for name in unfolded(word, where=where, wanted=wanted, most=most):
                yield from self.hosts(name, where)
        else:
            yield from self._numbers(word, where)

    def known(self, word: str) -> Sequence[int] | None:
        """Return the hosts of a name. None if there is none."""
        if word in self.host_of:
            return (self.host_of[word],)
        return self.owned.get(word)

    def _numbers(self, word: str, where: str) -> range:
        """Return the numbers in ``7`` or ``3-7``."""
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", word, re.ASCII)
        if ends is None or max(len(end or "") for end in ends.groups()) > MOST_DIGITS:
            found = f"'{word:.60}'" + ", no such file" * (where == "nodes" and _is_path(word))
            known = [*self.host_of, *self.owned]
            raise InputError(where, found, hosts_wanted(self.topology, word, known))
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last < first:
            raise InputError(where, f"'{word}'", "a range from its lowest host on")
        if last - first >= self.topology.num_hosts:
            raise InputError(where, f"'{word}'", hosts_wanted(self.topology))
        if last >= self.topology.num_hosts:
            missing = max(first, self.topology.num_hosts)
            raise InputError(where, f"host {missing}", hosts_wanted(self.topology))
        return range(first, last + 1)


def _is_path(word: str) -> bool:
    """Return whether a word looks like the name of a file: a folder before it, or an ending."""
    return "/" in word or re.fullmatch(r".*\.[A-Za-z]\w{0,9}", word, re.ASCII) is not None


def named_hosts(nodes: str | Path, topology: Topology, hosts: Sequence[str] | None = None) -> Ints:
    """Return the hosts in a list or a file of lists, int64[], each once. Broken ones as well.

    ``hosts``, errors and all else: see ``allocated_hosts``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> named_hosts("h[2-3],0", topology("leaf-spine:2x1x2"))
    array([2, 3, 0])
    """
    lines: Iterator[tuple[str, str]] = iter([("nodes", str(nodes))])
    if isfile(nodes):  # noqa: PTH113
        lines = read_lines(nodes, wanted="a list of nodes")
    read = _Listed(topology, hosts)
    found: dict[int, None] = {}
    count = 0
    for where, line in lines:
        alone = read.known(line.strip()) is not None  # a name may have blanks in it
        words = [line.strip()] if alone else words_of(line) or [line]
        for word in [words[0], *(each for each in words[1:] if not SLOTS.fullmatch(each))]:
            for host in read.hosts(word, where):
                found[host] = None
                count += 1
            if count > MOST_NAMED:
                raise InputError(where, f"over {MOST_NAMED} nodes", "each node once")
    return np.array([*found], np.int64)
