"""Several programs on one network at once, each on nodes of its own, or on shared ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Ints, distinct
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size, whole_number
from netloom.workload.graphs.process_graph import ProcessGraph
from netloom.workload.programs.loops import senders
from netloom.workload.traffic import Traffic, from_process_graph, pairs
from netloom.workload.traffic.patterns import Law, Shares, merged, weighted

OWNER = 11
"""What the seeds of programs are spawned from."""


@dataclass(frozen=True, eq=False)
class SharedProgram:
    """Programs as one: their tasks numbered on from each to the next, and where they run."""

    names: tuple[str, ...]  # the programs and their nodes, such as ``ring:4@0-3``
    num_nodes: int  # nodes of the network
    graph: ProcessGraph  # all tasks; those of different programs have no edge in common
    node_of: Ints  # int32[num_tasks], the node of each task
    program_of: Ints  # int32[num_tasks], the program of each task, ascending

    def alone(self, program: int) -> SharedProgram:
        """Return one of the programs where it is, with nothing else on the network."""
        first, after = np.searchsorted(self.program_of, [program, program + 1])
        lowest, beyond = np.searchsorted(self.graph.source, [first, after])
        edges, name = self.graph.only(slice(lowest, beyond)), self.names[program]
        ends = edges.source - np.int32(first), edges.target - np.int32(first)
        graph = ProcessGraph(name, int(after - first), *ends, edges.bytes, edges.messages)
        where = self.node_of[first:after]
        return SharedProgram((name,), self.num_nodes, graph, where, np.zeros_like(where))

    def without_idle(self) -> SharedProgram:
        """Return programs without the tasks that neither send nor receive.

        Raises
        ------
        InputError
            If a program has nothing to send.
        """
        for number in range(len(self.names)):
            senders(self.alone(number).graph)
        busy = distinct(np.append(self.graph.source, self.graph.target))
        source, target = (
            np.searchsorted(busy, ends).astype(np.int32)
            for ends in (self.graph.source, self.graph.target)
        )
        graph = replace(self.graph, num_tasks=len(busy), source=source, target=target)
        of_busy = self.node_of[busy], self.program_of[busy]
        return SharedProgram(self.names, self.num_nodes, graph, *of_busy)

    def __repr__(self) -> str:
        return f"<{' and '.join(self.names)}: {self.graph.num_tasks} tasks>"


def parse_placed(spec: str) -> tuple[str, Ints | None]:
    """Split ``A.mtx@0-31`` into the program and the nodes that it is to run on.

    The nodes, int32[], are in the order given. None where there is no ``@``, or it belongs to
    the name of a file.

    Raises
    ------
    InputError
        If what follows the last ``@`` is no list of nodes, or names a node twice.

    Examples
    --------
    >>> parse_placed("ring:5@8,0-3")
    ('ring:5', array([8, 0, 1, 2, 3], dtype=int32))
    >>> parse_placed("binary-tree:15")
    ('binary-tree:15', None)
    """
    app, at, listed = spec.rpartition("@")
    if not at or Path(spec).exists():
        return spec, None
    return app, parse_nodes(listed, where=f"app '{spec}'")


def parse_nodes(listed: str, *, where: str = "nodes") -> Ints:
    """Read a list of nodes such as ``0-31,40,48-63``, int32[] in the order given.

    Raises
    ------
    InputError
        Naming ``where`` and a word that is no node or range, or a node that is named twice.

    Examples
    --------
    >>> parse_nodes("0-2,7")
    array([0, 1, 2, 7], dtype=int32)
    """
    parts = []
    for word in listed.split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", word, re.ASCII)
        if ends is None:
            raise InputError(where, f"'{word.strip()}'", "nodes such as 0-31,40")
        first = whole_number(ends[1], where=where)
        last = first if ends[2] is None else whole_number(ends[2], where=where)
        if last < first:
            raise InputError(where, f"'{word.strip()}'", "a range from its lowest node on")
        check_size(last + 1, where=where, what="nodes")
        parts.append(np.arange(first, last + 1, dtype=np.int32))
    nodes = np.concatenate(parts)
    found, counts = np.unique(nodes, return_counts=True)
    if counts.max() > 1:
        raise InputError(where, f"host {found[np.argmax(counts)]} twice", "each host once")
    return nodes


def share(
    programs: Sequence[tuple[ProcessGraph, ArrayLike | None]],
    num_nodes: int,
    *,
    mapping: Literal["identity", "random"] = "identity",
    seed: int = DEFAULT_SEED,
    shared: bool = False,
    failed_nodes: Sequence[int] = (),
) -> SharedProgram:
    """Return programs as one, each mapped onto its own nodes.

    Parameters
    ----------
    programs
        The process graph of each, and its nodes in the order in which they are filled (int[]). A
        program that is the only one may have None: all nodes that work.
    mapping
        ``identity``: a program's task i on the i-th of its nodes. ``random``: on any of them, one
        task per node, all placements equally likely.
    seed
        Of the random mappings: program p takes ``seed + p``.
    shared
        Whether programs may have nodes in common.
    failed_nodes
        Nodes that run nothing.

    Raises
    ------
    InputError
        If a program has no nodes, fewer than tasks, some that there are not, that have failed, or
        that are another program's.

    Examples
    --------
    >>> from netloom.workload import ring
    >>> both = share([(ring(3), [4, 5, 6]), (ring(3), [0, 2, 1])], 8)
    >>> both
    <ring:3@4-6 and ring:3@0,2,1: 6 tasks>
    >>> both.node_of, both.program_of
    (array([4, 5, 6, 0, 2, 1], dtype=int32), array([0, 0, 0, 1, 1, 1], dtype=int32))
    """
    assert programs, "no program"
    if mapping not in ("identity", "random"):
        raise InputError("mapping", f"'{mapping}' for programs on nodes", "identity or random")
    working = np.setdiff1d(np.arange(num_nodes), failed_nodes)
    owner = np.full(num_nodes, -1, np.int32)
    names: list[str] = []
    placed = []
    for number, (graph, given) in enumerate(programs):
        if given is None and len(programs) > 1:
            found = f"{graph.name} without nodes, one of {len(programs)} programs"
            raise InputError("app", found, f"its nodes too, such as {graph.name}@0-31")
        nodes = working if given is None else np.asarray(given)
        name = graph.name if given is None else f"{graph.name}@{_ranges(nodes)}"
        outside, failed = (nodes < 0) | (nodes >= num_nodes), np.isin(nodes, failed_nodes)
        if outside.any():
            raise InputError(name, f"host {nodes[np.argmax(outside)]}", f"0 to {num_nodes - 1}")
        if failed.any():
            found = f"host {nodes[np.argmax(failed)]}, which failed"
            raise InputError(name, found, "working hosts")
        if len(nodes) < graph.num_tasks:
            found = f"{len(nodes)} nodes for {graph.num_tasks} tasks"
            raise InputError(name, found, f"at least {graph.num_tasks} nodes")
        taken = owner[nodes] >= 0
        if taken.any() and not shared:
            node = int(nodes[np.argmax(taken)])
            found = f"host {node} in both {names[owner[node]]} and {name}"
            raise InputError("app", found, "programs on nodes of their own, or shared nodes")
        owner[nodes] = number
        names.append(name)
        if mapping == "random":
            if seed < 0:
                raise InputError("seed", seed, "a whole number of at least 0")
            nodes = np.random.default_rng(seed + number).permutation(nodes)
        placed.append(nodes[: graph.num_tasks].astype(np.int32))
    sizes = [graph.num_tasks for graph, _ in programs]
    program_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    graphs, name = [graph for graph, _ in programs], " and ".join(names)
    check_size(sum(sizes), where=name, what="tasks")
    check_size(sum(graph.num_edges for graph in graphs), where=name, what="edges")
    first = (np.cumsum(sizes) - sizes).astype(np.int32)
    numbered = [
        (graph.source + task, graph.target + task, graph.bytes, graph.messages)
        for graph, task in zip(graphs, first, strict=True)
    ]
    columns = map(np.concatenate, zip(*numbered, strict=True))
    joined = ProcessGraph(name, sum(sizes), *columns)
    return SharedProgram(tuple(names), num_nodes, joined, np.concatenate(placed), program_of)


def shared_traffic(
    programs: SharedProgram, *, weight: Literal["bytes", "messages", "uniform"] = "bytes"
) -> tuple[Traffic, float]:
    """Return the traffic of programs that run at once, each as much of it as it has alone.

    ``load`` is the mean over the nodes that send. A program that runs alone at some load offers
    that much at each of its sending nodes on average. Here every program does, whatever its bytes
    are beside those of the others.

    ``load_factor`` is the load of the traffic at which each program offers a load of 1: 1 where
    programs have nodes of their own, more where they share some. ``weight``: see
    ``from_process_graph``.

    Raises
    ------
    InputError
        If nothing of a program crosses the network, or there is no such weight.

    Examples
    --------
    >>> from netloom.workload import line, ring
    >>> both, factor = shared_traffic(share([(line(3), [0, 1, 2]), (ring(3), [3, 4, 5])], 6))
    >>> both.rate, factor
    (array([0.75, 1.5 , 0.75, 1.  , 1.  , 1.  ]), 1.0)
    """
    shares, offered = [], 0.0
    for number in range(len(programs.names)):
        one = programs.alone(number)
        traffic = from_process_graph(one.graph, one.node_of, one.num_nodes, weight=weight)
        sending = float(np.count_nonzero(traffic.rate))
        offered += sending
        source, target, share_of = traffic.matrix()
        shares.append((source, target, share_of * sending))
    *ends, weights = map(np.concatenate, zip(*shares, strict=True))
    together = pairs(programs.num_nodes, *ends, weights=weights, name=programs.graph.name)
    return together, float(offered / np.count_nonzero(together.rate))


def among(traffic: Traffic, nodes: ArrayLike) -> Traffic:
    """Return what is left of some traffic if only the given nodes send and receive.

    A node sends as often as before, relative to the others, but not at all if all its targets are
    gone. What would go to a node that is gone goes to its other targets, in the same proportions.

    Raises
    ------
    InputError
        If no node is left that sends, or there are too many pairs of nodes.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> among(uniform(4), [0, 2, 3]).rate
    array([1., 0., 1., 1.])
    """
    kept = np.zeros(traffic.num_nodes, np.bool_)
    kept[np.asarray(nodes)] = True
    source, target, part = traffic.law.shares()
    inside = kept[source] & kept[target] & (traffic.rate[source] > 0)
    if not inside.any():
        found = "no two hosts that are left and send to each other"
        raise InputError(f"traffic '{traffic.name}'", found, "traffic between hosts that work")
    law = _law_of(traffic, Shares(source[inside], target[inside], part[inside]))
    rate = np.where(law.can_send(), traffic.rate, 0)
    name = f"{traffic.name} among {np.count_nonzero(kept)} nodes"
    return Traffic(name, traffic.num_nodes, rate / rate[rate > 0].mean(), law)


def between_groups(traffic: Traffic, group: Ints) -> tuple[Traffic, float]:
    """Return what some traffic sends to other groups of hosts, and the share that stays in them.

    ``group``: int[num_nodes]. A host sends the less, the more it would send inside its group. What
    it sends to itself is kept.

    Raises
    ------
    InputError
        If nothing is left, or there are too many pairs of hosts.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> between, inside = between_groups(uniform(4), np.array([0, 0, 0, 1]))
    >>> between.rate, inside
    (array([0.66666667, 0.66666667, 0.66666667, 2.        ]), 0.5)
    """
    if len(distinct(group)) == traffic.num_nodes:
        return traffic, 0.0
    source, target, part = traffic.law.shares()
    leaves = (group[source] != group[target]) | (source == target)
    leaves &= traffic.rate[source] > 0
    if not leaves.any():
        where, found = f"traffic '{traffic.name}'", "nothing sent between hosts of different nodes"
        raise InputError(where, found, "communication that enters the network")
    left = Shares(source[leaves], target[leaves], part[leaves])
    sent = np.bincount(left.source, left.weight, traffic.num_nodes)
    rate = traffic.rate * np.minimum(sent, 1.0)
    inside = 1 - float(rate.sum() / traffic.rate.sum())
    rate = rate / rate[rate > 0].mean()
    return Traffic(traffic.name, traffic.num_nodes, rate, _law_of(traffic, left)), inside


def _law_of(traffic: Traffic, pairs: Shares) -> Law:
    """Return the law by which pairs of a traffic, in any order, are taken by their weights."""
    keys = pairs.source.astype(np.int64) * traffic.num_nodes + pairs.target
    return weighted(traffic.num_nodes, merged(traffic.num_nodes, keys, pairs.weight))


def _ranges(nodes: NDArray[Any]) -> str:
    """Write nodes as they are read: ``0-31,40``."""
    breaks = np.flatnonzero(np.diff(nodes) != 1) + 1
    runs = [run for run in np.split(nodes, breaks) if len(run)]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def program_seeds(programs: SharedProgram, seed: int) -> tuple[int, ...]:
    """Return a seed for the packets of each program: by its lowest node, whatever others there are.

    Programs on shared nodes whose lowest is the same have different ones.

    Examples
    --------
    >>> from netloom.workload import ring
    >>> both = share([(ring(3), [0, 1, 2]), (ring(3), [4, 5, 6])], 8)
    >>> program_seeds(both, 1)[1:] == program_seeds(both.alone(1), 1)
    True
    """
    lowest = [
        int(programs.node_of[programs.program_of == number].min())
        for number in range(len(programs.names))
    ]
    keys = [(node, lowest[:number].count(node)) for number, node in enumerate(lowest)]
    drawn = (np.random.SeedSequence(seed, spawn_key=(OWNER, *key)) for key in keys)
    return tuple(int(sequence.generate_state(1)[0]) for sequence in drawn)
