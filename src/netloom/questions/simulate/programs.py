"""The programs that a question names: one, or several at once, each on nodes of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.arrays import Ints, distinct
from netloom.base.errors import InputError
from netloom.base.words import counted, number
from netloom.mapping.allocation import named_hosts
from netloom.questions.fields import refuse
from netloom.questions.named import entering, placed, program_on, read_program, read_traffic
from netloom.topology import Topology
from netloom.topology.faults import working_nodes
from netloom.workload import ProcessGraph, Traffic
from netloom.workload.programs.shared import SharedProgram, between_groups, parse_placed, share

if TYPE_CHECKING:
    from netloom.questions.simulate.fields import Programs


UNIFORM = "uniform"
"""The program of which every task sends to any other, drawn anew each time."""

OF_A_PROGRAM = ("messages", "parts", "mapping", "weight", "tasks_per_node", "shared", "alone")
"""Fields that say something of ``app`` only."""

NOTABLE = 1.005
"""How much slower than alone a program is beside others, in times, that is worth a word."""


def pattern_asked(question: Any, network: Topology) -> tuple[Traffic, float] | None:
    """Return the pattern of a question, and which share of it stays inside nodes.

    None where a program makes the traffic.

    Raises
    ------
    InputError
        If there are both, or a field says something of a program only.
    """
    if question.app is None:
        refuse(question, OF_A_PROGRAM, "app, which this says something of")
        asked = read_traffic(question.traffic, network, question.nodes)
        return between_groups(asked, network.local_group)
    if question.traffic is not None:
        raise InputError("traffic", "traffic as well as app", "one of them")
    return None


@dataclass(frozen=True, eq=False)
class PlacedProgram:
    """A program on a network: what enters the network, from where, and what is left out.

    Attributes
    ----------
    name
        What people call the program.
    graph, host_of
        What its tasks send over the network, None for ``uniform``, and the host of each.
    shared
        Of several programs: which one each task is of.
    edges_within_nodes, silent_tasks
        The edges and the tasks of the program that are left out.
    inside_nodes
        The share of these edges.
    """

    name: str
    graph: ProcessGraph | None
    host_of: Ints
    shared: SharedProgram | None = None
    edges_within_nodes: int = 0
    silent_tasks: int = 0
    inside_nodes: float = 0.0


def placed_program(
    question: Any, topology: Topology, *, weight: Any = "bytes", uniform: bool = False
) -> PlacedProgram:
    """Return the program of a question on its network: several programs on nodes of their own.

    Parameters
    ----------
    weight
        By what the share inside nodes is measured.
    uniform
        Whether the question takes ``uniform``.

    Raises
    ------
    InputError
        If there is none, it cannot be read or does not fit, or nothing enters the network.
    """
    if question.app is None:
        wanted = f"a process graph, or {UNIFORM}" if uniform else "a process graph"
        raise InputError("app", "no program", wanted)
    only = only_program(question.app, topology)
    if only is None:
        several = share_programs(question, topology, question.seed)
        sent, inside = entering(several.graph, topology, several.node_of, weight)
        busy = replace(several, graph=sent).without_idle()
        left = _left_out(several.graph, sent)
        return PlacedProgram(busy.graph.name, busy.graph, busy.node_of, busy, *left, inside)
    alike = uniform and only == UNIFORM
    hosts = working_nodes(topology)
    if alike and len(distinct(topology.local_group[hosts])) == len(hosts):
        return PlacedProgram(UNIFORM, None, hosts)
    graph = program_on(question, topology, "all-to-all" if alike else only)
    if alike:  # to any task of another node
        graph = replace(graph, name=UNIFORM)
    host_of = placed(question, graph, topology)
    sent, inside = entering(graph, topology, host_of, weight)
    if graph.num_edges and not sent.num_edges:
        nothing = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, nothing, "communication that enters the network")
    return PlacedProgram(graph.name, sent, host_of, None, *_left_out(graph, sent), inside)


def _left_out(whole: ProcessGraph, sent: ProcessGraph) -> tuple[int, int]:
    """Return the edges that do not enter the network, and the tasks that send nothing over it."""
    return whole.num_edges - sent.num_edges, whole.num_tasks - len(distinct(sent.source))


def left_out(edges_within_nodes: int, silent_tasks: int) -> Iterator[str]:
    """Yield what of a program makes no traffic, in words, if anything does not.

    Examples
    --------
    >>> list(left_out(2, 0))
    ['left out: 2 edges between tasks of one node, which need no network']
    >>> list(left_out(0, 1))
    ['left out: 1 task that sends nothing over the network']
    """
    words = []
    if edges_within_nodes:
        edges = counted(edges_within_nodes, "edge")
        words.append(f"{edges} between tasks of one node, which need no network")
    if silent_tasks:
        sends = "sends" if silent_tasks == 1 else "send"
        words.append(f"{counted(silent_tasks, 'task')} that {sends} nothing over the network")
    if words:
        yield f"left out: {', and '.join(words)}"


NAMES = re.compile(r"[A-Za-z(\[]")
"""What tells names of nodes from their numbers."""


def only_program(app: Any, topology: Topology | None = None) -> str | ProcessGraph | None:
    """Return the one program that ``app`` is, or None if there are several, or if it has nodes.

    ``topology``: the network, in which nodes may have names.

    Examples
    --------
    >>> only_program(["ring:4"]), only_program("ring:4@0-3")
    ('ring:4', None)
    """
    ((first, nodes), *others) = _listed(app, topology)
    return None if others or nodes is not None else first


def share_programs(question: Programs, topology: Topology, seed: int) -> SharedProgram:
    """Return the programs of a question, each mapped onto its own nodes.

    Parameters
    ----------
    question
        Its ``app`` is several programs, or one on nodes of its own.

    Raises
    ------
    InputError
        If a program cannot be read or does not fit its nodes. If programs share nodes although
        ``shared`` is not set, or another field does not go with several programs.
    """
    listed = _listed(question.app, topology)
    if question.messages is not None and len(listed) > 1:
        raise InputError("messages", f"one file for {len(listed)} programs", "none, or one program")
    if question.tasks_per_node > 1:
        found = f"{question.tasks_per_node} for programs on nodes of their own"
        raise InputError("tasks_per_node", found, "1: one task of a program a node")
    if question.nodes is not None:
        wanted = "nodes with each program, such as ring:8@0-7"
        raise InputError("nodes", "an allocation for programs on nodes of their own", wanted)
    if not isinstance(question.mapping, str):
        found = "an array for programs on nodes of their own"
        raise InputError("mapping", found, "identity or random, which each program has on its own")
    graphs = [
        read_program(app, messages=question.messages, parts=question.parts) for app, _ in listed
    ]
    return share(
        list(zip(graphs, (nodes for _, nodes in listed), strict=True)),
        topology.num_hosts,
        mapping=question.mapping,  # type: ignore[arg-type]
        seed=seed,
        shared=question.shared,
        failed_nodes=topology.failed_nodes,
    )


def _listed(app: Any, topology: Topology | None) -> list[tuple[str | ProcessGraph, Ints | None]]:
    """Return the programs of ``app``, each with the nodes that it names, if any."""
    given = app if isinstance(app, list | tuple) else [app]
    if not given:
        raise InputError("app", "no program", "at least one")
    return [_placed(item, topology) for item in given]


def _placed(item: Any, topology: Topology | None) -> tuple[str | ProcessGraph, Ints | None]:
    if isinstance(item, str):
        app, _, names = item.rpartition("@")
        if app and topology is not None and NAMES.search(names) and not Path(item).exists():
            return app, named_hosts(names, topology).astype(np.int32)
        return parse_placed(item)
    if isinstance(item, ProcessGraph):
        return item, None
    wanted = "a program such as ring:8 or ring:8@0-7, or a pair: a program and its nodes"
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise InputError("app", repr(item), wanted)
    app, nodes = item
    if not isinstance(app, str | ProcessGraph):
        raise InputError("app", repr(app), wanted)
    listed = np.asarray(nodes)
    if listed.ndim != 1 or listed.dtype.kind not in "iu":
        raise InputError("app", f"nodes {nodes!r}", "a list of node numbers")
    found, counts = np.unique(listed, return_counts=True)
    if counts.max(initial=1) > 1:
        raise InputError("app", f"host {found[np.argmax(counts)]} twice", "each host once")
    return app, listed


def suffers(slower: Iterable[tuple[float | None, str]], said: str) -> str:
    """Return which of several programs suffers most from the others, "" if that is not known.

    ``slower`` has how many times as long as alone each takes, and its name. ``said`` has ``{}`` for
    these times.

    Examples
    --------
    >>> suffers([(1.5, "ring:8"), (None, "star:8")], "{} times its latency alone")
    'ring:8 suffers most: 1.5 times its latency alone'
    """
    known = [(times, name) for times, name in slower if times]
    if not known:
        return ""
    times, name = max(known)
    if times < NOTABLE:
        return "no program delays another"
    return f"{name} suffers most: {said.format(number(times))}"
