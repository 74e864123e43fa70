"""Which nodes and hosts a program may use, and the placement that a name or a file gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from os.path import isfile
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Ints, offsets_of
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import real_number
from netloom.base.textfiles import file_kind, read_lines
from netloom.base.words import counted
from netloom.mapping.layouts import find_layout, gray, layout_table
from netloom.mapping.placements import (
    check_capacity,
    check_mapping,
    check_room,
    random_places,
    read_mapping,
)
from netloom.topology import Omega, Topology, hop_distances, working_nodes
from netloom.topology.faults import check_working
from netloom.topology.names import (
    MOST_DIGITS,
    MOST_NAMED,
    hosts_wanted,
    unfolded,
    vertex_word,
    words_of,
)
from netloom.workload import ProcessGraph

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
        That a name comes several times, once for each of its slots, is no mistake. None: all, but
        for the memories of an Omega network, which run no tasks.
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
        every, whole = working_nodes(topology), topology.whole
        return every[every < whole.pes] if isinstance(whole, Omega) else every
    if isinstance(nodes, str | Path):
        listed = named_hosts(nodes, topology, hosts)
        where = str(nodes) if isfile(nodes) else "nodes"  # noqa: PTH113 (a list is a long name)
    else:
        listed, where = np.asarray(nodes), "nodes"
        if listed.ndim != 1 or listed.dtype.kind not in "iu":
            found = f"an array of {listed.dtype} of shape {listed.shape}"
            raise InputError(where, found, "numbers")
        wrong = listed[(listed < 0) | (listed >= topology.num_hosts)]
        if len(wrong):
            raise InputError(where, f"host {wrong[0]}", hosts_wanted(topology))
    if isinstance(topology.whole, Omega) and (listed >= topology.whole.pes).any():
        found = f"{topology.name_of(int(listed.max()))}, a memory module"
        raise InputError(where, found, f"processing elements of {topology.name}")
    working = topology.vertex_up[listed]
    once = np.sort(np.unique(listed[working], return_index=True)[1])
    allocated = listed[working][once].astype(np.int32)
    if not len(allocated):
        raise InputError(where, "no node that works", f"nodes of {topology.name}")
    return allocated


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
        return np.asarray(self.hosts[first + number % (self.offsets[group + 1] - first)])

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
    rank = np.argsort(turn)
    order = np.argsort(rank[np.searchsorted(known, computer)], kind="stable")
    return Places(listed[order], offsets_of(sizes[turn]), tasks_per_node)


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


Known: TypeAlias = dict[str, Sequence[int]]
"""The hosts that each name stands for."""


def _called(
    word: str, known: Known, switches: frozenset[str], topology: Topology, where: str
) -> Iterator[int]:
    """Yield the hosts that one word of a list of nodes names."""
    if word not in known and (slots := re.fullmatch(r"(.+):\d+", word, re.ASCII)):
        word = slots[1]
    if word in known:
        yield from known[word]
    elif word in switches:
        raise InputError(where, f"'{word}', which is a switch", hosts_wanted(topology))
    elif "[" in word or "]" in word:
        wanted, most = hosts_wanted(topology), topology.num_hosts
        for name in unfolded(word, where=where, wanted=wanted, most=most):
            yield from _called(name, known, switches, topology, where)
    else:
        yield from _numbered(word, known, topology, where)


def _numbered(word: str, known: Known, topology: Topology, where: str) -> range:
    """Return the numbers in ``7`` or ``3-7``."""
    ends = re.fullmatch(r"(\d+)(?:-(\d+))?", word, re.ASCII)
    if ends is None or max(len(end or "") for end in ends.groups()) > MOST_DIGITS:
        path = "/" in word or re.fullmatch(r".*\.[A-Za-z]\w{0,9}", word, re.ASCII)
        found = f"'{word:.60}'{', no such file' if path and where == 'nodes' else ''}"
        raise InputError(where, found, hosts_wanted(topology, word, [*known]))
    first, last, many = int(ends[1]), int(ends[2] or ends[1]), topology.num_hosts
    if last < first:
        raise InputError(where, f"'{word}'", "a range from its lowest host on")
    if last >= many:
        found = f"'{word}'" if last - first >= many else f"host {max(first, many)}"
        raise InputError(where, found, hosts_wanted(topology))
    return range(first, last + 1)


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
    own: Known = {name: (host,) for name, host in node_names(topology, hosts).items()}
    known = own | hosts_of_computers(topology, hosts) | own
    switches = frozenset(topology.labels[topology.num_hosts :])
    found: dict[int, None] = {}
    count = 0
    for where, line in lines:
        alone = line.strip() in known  # a name may have blanks in it
        words = [line.strip()] if alone else words_of(line) or [line]
        for word in [words[0], *(each for each in words[1:] if not SLOTS.fullmatch(each))]:
            for host in _called(word, known, switches, topology, where):
                found[host] = None
                count += 1
            if count > MOST_NAMED:
                raise InputError(where, f"over {MOST_NAMED} nodes", "each node once")
    return np.array([*found], np.int64)


DISTANCE = "distance:"
"""How the name of a mapping of a wished average path length begins."""

MOST_NODES = 4_096
"""Largest network: the distances of all pairs of nodes are held in memory."""

TRIES = 200
"""Swaps that are tried, for each node of the network, before the search gives up."""


def place_program(
    mapping: Any,
    program: ProcessGraph | int,
    network: Topology,
    *,
    seed: int,
    tasks_per_node: int,
    hosts: Sequence[str] | None = None,
    nodes: str | Path | ArrayLike | None = None,
) -> Ints:
    """Return int32[num_tasks], the host of each task.

    Parameters
    ----------
    mapping
        ``identity``, ``random``, the path of a mapping file, or the node of each task. The name of
        a layout (see ``mapping.layouts``), or ``distance:4`` for an average path length of 4 hops
        (see ``mapping_with_distance``). Under a layout, packets take the routes of the network, not
        the layout's. Named mappings use only working nodes.
    program
        What has the tasks, or their number if edges are not known.
    tasks_per_node
        Most tasks of a host. Of a computer, where one owns several and it is above 1.
    hosts
        The host name of each node, for mapping files and ``nodes``. See
        ``mapping.allocation.node_names``.
    nodes
        The nodes that may be used, which ``identity`` fills in their order. See
        ``mapping.allocation.allocated_hosts``.

    Raises
    ------
    InputError
        If there is no such mapping, it does not fit, or it puts a task on a node that is broken or
        not allocated.

    Examples
    --------
    >>> from netloom.topology import mesh, without
    >>> from netloom.workload import ring
    >>> broken = without(mesh(2, 2), nodes="1")
    >>> place_program("identity", ring(3), broken, seed=1, tasks_per_node=1)
    array([0, 2, 3], dtype=int32)
    >>> place_program("identity", 3, mesh(2, 2), seed=1, tasks_per_node=2, nodes="3,n1")
    array([3, 3, 1], dtype=int32)
    """
    graph = None if isinstance(program, int) else program
    num_tasks = program if isinstance(program, int) else program.num_tasks
    name = mapping if isinstance(mapping, str) else ""
    if name.startswith(DISTANCE):
        if graph is None:
            wanted = "another: these tasks have no process graph, with distances"
            raise InputError("mapping", f"'{name}'", wanted)
        if tasks_per_node > 1:
            found = f"{tasks_per_node} for mapping '{name}'"
            raise InputError("tasks_per_node", found, "1: one task per node")
        wished = real_number(name.removeprefix(DISTANCE), where=f"mapping '{name}'")
        allocated = allocated_hosts(nodes, network, hosts)
        return mapping_with_distance(graph, network, wished, seed, hosts=allocated)
    if name in ("identity", "random"):
        places = places_of(allocated_hosts(nodes, network, hosts), network, tasks_per_node)
        check_room(num_tasks, places.num_groups, tasks_per_node, network.name)
        ordered = name == "identity"
        chosen = np.arange(num_tasks) if ordered else random_places(num_tasks, places.count, seed)
        return places.at(chosen)
    if name == "gray":
        placed = gray(num_tasks, network)
    elif graph is not None and name in layout_table():
        placed = find_layout(name, graph, network).node_of
    else:
        several = tasks_per_node > 1 and network.num_nodes < network.num_hosts
        most, where, given = max(num_tasks, 1) if several else tasks_per_node, "mapping", mapping
        check_room(num_tasks, network.num_hosts, most, network.name)
        if isinstance(mapping, str | Path):
            where = str(mapping)
            if (kind := file_kind(mapping)) != "a file":
                wanted = "identity, random, a layout such as gray, or a mapping file"
                missing = "no such name or file" if kind == "no such file" else kind
                raise InputError(f"mapping '{mapping}'", missing, wanted)
            owned: dict[str, int | Sequence[int]] = {**hosts_of_computers(network, hosts)}
            given = read_mapping(mapping, owned | node_names(network, hosts))
        called = partial(vertex_word, network)
        placed = check_mapping(given, num_tasks, network.num_hosts, most, where, called)
        if several:  # a computer takes so many, on whatever hosts of its own
            own = network.node_of_host[placed]
            check_capacity(own, tasks_per_node, where, network.computer_name)
    check_working(network, placed)
    if nodes is not None:
        outside = ~np.isin(placed, allocated_hosts(nodes, network, hosts))
        if outside.any():
            task = int(np.argmax(outside))
            found = f"task {task} on host {vertex_word(network, int(placed[task]))}"
            raise InputError("mapping", f"{found}, which is not allocated", "allocated hosts only")
    return placed


def mapping_with_distance(
    graph: ProcessGraph,
    topology: Topology,
    distance: float,
    seed: int = DEFAULT_SEED,
    *,
    hosts: Ints | None = None,
) -> Ints:
    """Return a mapping whose average path length is nearly ``distance``.

    It starts from the identity. It draws two nodes at a time, and swaps their tasks if that brings
    the average nearer to ``distance``. So the further it is from the identity's, the more tasks
    have lost their place. Johnson 1992, section 3.2, compares nine mappings of a torus program, of
    average distances from one to just over six hops. How they were made is not said.

    The mean is of the shortest distances between the ends of an edge, in hops. All directed
    edges count alike. The average of what is returned, int32[num_tasks], is as near to
    ``distance`` as swaps of two nodes can bring it, and at most 2 % away. The network has at
    most ``MOST_NODES`` nodes, with one task each. ``hosts``, int32[], are those that may be used,
    in order. By default all.

    Raises
    ------
    InputError
        If no such mapping is found, the tasks do not fit, none communicates, or the network is
        too large.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload import torus as torus_graph
    >>> node_of = mapping_with_distance(torus_graph(4, 4), torus(4, 4), distance=1)
    >>> node_of.tolist() == list(range(16))
    True
    """
    usable = np.arange(topology.num_hosts, dtype=np.int32) if hosts is None else hosts
    if len(usable) > MOST_NODES:
        found = f"{len(usable)} nodes"
        raise InputError(topology.name, found, f"at most {MOST_NODES} for a wished distance")
    if not graph.num_edges:
        raise InputError(graph.name, "no edges", "tasks that communicate")
    if seed < 0:
        raise InputError("seed", seed, "a whole number of at least 0")
    check_room(graph.num_tasks, len(usable), 1, topology.name)
    place = np.arange(len(usable))  # of tasks, and of the empty places after them
    hops = hop_distances(topology, usable)[:, usable]
    # the edges that leave or enter each task
    ends = np.concatenate([graph.source, graph.target])
    order = np.argsort(ends, kind="stable")
    cuts = np.cumsum(np.bincount(ends, minlength=len(usable)))[:-1]
    edges_of = [part % graph.num_edges for part in np.split(order, cuts)]
    wished = distance * graph.num_edges
    off = float(hops[place[graph.source], place[graph.target]].sum()) - wished
    rng = np.random.default_rng(seed)
    for first, second in rng.integers(len(usable), size=(TRIES * len(usable), 2)):
        if off == 0:
            break
        touched = np.union1d(edges_of[first], edges_of[second])
        source, target = graph.source[touched], graph.target[touched]
        before = hops[place[source], place[target]].sum()
        place[[first, second]] = place[[second, first]]
        moved = off + float(hops[place[source], place[target]].sum() - before)
        if abs(moved) <= abs(off):  # as near is fine: it leads on to others
            off = moved
        else:
            place[[first, second]] = place[[second, first]]
    if not abs(off) <= 0.02 * wished:
        nearest = (wished + off) / graph.num_edges
        found = f"{distance:g} hops, where swaps lead no nearer than to {nearest:.4g}"
        raise InputError("distance", found, "an average distance that a mapping can have")
    return usable[place[: graph.num_tasks]].astype(np.int32)


def hosts_but(patterns: str | None, network: Topology) -> Ints:
    """Return the hosts that no pattern names."""
    hosts = working_nodes(network)
    for pattern in [] if patterns is None else patterns.split(","):
        named = np.zeros(len(hosts), np.bool_)
        for place, host in enumerate(hosts.tolist()):
            names = network.name_of(host), network.computer_name(int(network.node_of_host[host]))
            named[place] = any(fnmatchcase(name, pattern.strip()) for name in names)
        if not named.any():
            found = f"'{pattern}', which no host is called"
            raise InputError("without_hosts", found, "a name such as storage*")
        hosts = hosts[~named]
    if len(hosts) < 2:
        raise InputError(network.name, counted(len(hosts), "host"), "at least two that take part")
    return hosts
