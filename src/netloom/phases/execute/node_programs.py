"""The program of each node: which primitives it calls, phase by phase, in which order.

The primitives are those of Feldmann et al. 1993, section 2: ``instantiate_phase``, ``send_element``
and ``receive_element``. Within a phase a node has streams of them that go on side by side.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.plan.plans import ranks

if TYPE_CHECKING:
    from netloom.models.messages import ConSetCosts
    from netloom.phases.plan.plans import Plan
    from netloom.phases.timetables import Timetable

Primitive: TypeAlias = Literal["send_element", "receive_element"]
SEND: Primitive = "send_element"
RECEIVE: Primitive = "receive_element"

WANTED = "what NodeProgram.to_dict writes"


@dataclass(frozen=True)
class Action:
    """All words of one connection, sent or received."""

    # ``send_element`` or ``receive_element``, called until all words are through.
    primitive: Primitive
    connection: int  # its number
    node: int  # the node at the other end
    words: int  # how many
    # Before it sends: connections that are to be delivered first, as the order has it.
    after: tuple[int, ...] = ()
    # Once it has received: nodes, other than its own, that wait to hear of that.
    tell: tuple[int, ...] = ()


@dataclass(frozen=True)
class NodePhase:
    """What a node does in one phase."""

    phase: int  # its number, for ``instantiate_phase``
    # Each goes through its actions in order; they all go on side by side.
    streams: tuple[tuple[Action, ...], ...]


@dataclass(frozen=True)
class NodeProgram:
    """What a node does, phase by phase. ``str`` writes it out for people."""

    node: int
    phases: tuple[NodePhase, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON. ``node_program`` reads it."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"node {self.node}"]
        for each in self.phases:
            lines.append(f"  instantiate_phase({each.phase})")
            for number, stream in enumerate(each.streams):
                if len(each.streams) > 1:
                    lines.append(f"    stream {number}, beside the others")
                lines += [f"      {_line(action)}" for action in stream]
        return "\n".join(lines)


def node_programs(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> list[NodeProgram]:
    """Return the program of each node, in the order of a timetable.

    A node has two streams in each phase, its sends and its receives, each in the order of the
    timetable. It has one stream of both if its processor cannot do both at a time, and one per
    connection if connections are interleaved (``streaming``). Streams cannot deadlock, even if a
    send waits for its receive and no word is buffered. Consider the first connection of the
    timetable that is not yet done. Everything before it in the streams of its ends, or in the
    order, has started earlier. So both its ends are ready. A node without connections also takes
    part in the synchronization of each phase.

    Examples
    --------
    >>> from netloom.models.messages import ConSetCosts
    >>> from netloom.phases import Capacity, Plan, connections
    >>> from netloom.phases.timetables import schedule
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import mesh
    >>> from netloom.workload import read
    >>> pair = connections(read("hypercube:1"), [0, 2], 3, words=8)
    >>> routes = paths(mesh(3), DimensionOrder(), pair.source, pair.target)
    >>> plan = Plan(mesh(3), pair, Capacity(4), np.zeros(2, np.int32), routes, "sequential")
    >>> print(node_programs(plan, schedule(plan, ConSetCosts()), ConSetCosts())[2])
    node 2
      instantiate_phase(0)
        stream 0, beside the others
          send_element(1), 8 words to node 0
        stream 1, beside the others
          receive_element(0), 8 words from node 0
    """
    given, kind = plan.connections, timetable.kind
    sequence = np.lexsort((np.arange(len(given)), ranks(given), timetable.start, plan.phase))
    after, tell = _announcements(plan)
    streams: list[list[dict[int, list[Action]]]] = [
        [{} for _ in range(plan.num_phases)] for _ in range(given.num_nodes)
    ]
    for number in sequence.tolist():
        start, end = int(given.source[number]), int(given.target[number])
        words, phase = int(given.words[number]), int(plan.phase[number])
        send = Action(SEND, number, end, words, after=after[number])
        receive = Action(RECEIVE, number, start, words, tell=tell[number])
        for node, action in ((start, send), (end, receive)):
            if kind == "streaming":
                stream = len(streams[node][phase])
            else:
                stream = int(costs.both_ways and action is receive)
            streams[node][phase].setdefault(stream, []).append(action)
    return [
        NodeProgram(node, tuple(NodePhase(phase, _ordered(each)) for phase, each in enumerate(of)))
        for node, of in enumerate(streams)
    ]


def node_program(data: dict[str, Any]) -> NodeProgram:
    """Return the program that ``NodeProgram.to_dict`` wrote.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> send = Action("send_element", connection=3, node=1, words=8)
    >>> program = NodeProgram(0, (NodePhase(0, ((send,),)),))
    >>> node_program(program.to_dict()) == program
    True
    """
    try:
        phases = tuple(
            NodePhase(
                int(each["phase"]),
                tuple(tuple(_action(action) for action in stream) for stream in each["streams"]),
            )
            for each in data["phases"]
        )
        return NodeProgram(int(data["node"]), phases)
    except KeyError as error:
        raise InputError("node program", f"no {error}", WANTED) from None
    except ValueError as error:
        raise InputError("node program", str(error), WANTED) from None
    except TypeError:
        raise InputError("node program", "a field of another kind", WANTED) from None


def _action(data: dict[str, Any]) -> Action:
    if data["primitive"] not in (SEND, RECEIVE):
        raise ValueError(f"primitive '{data['primitive']}'")
    return Action(
        data["primitive"],
        connection=int(data["connection"]),
        node=int(data["node"]),
        words=int(data["words"]),
        after=tuple(map(int, data.get("after", ()))),
        tell=tuple(map(int, data.get("tell", ()))),
    )


def _announcements(plan: Plan) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return what each connection's send waits for, and which nodes its receive tells.

    Only within a phase: what comes before in an earlier one has been delivered.
    """
    given = plan.connections
    after: list[set[int]] = [set() for _ in range(len(given))]
    tell: list[set[int]] = [set() for _ in range(len(given))]
    for first, second in zip(given.before.tolist(), given.after.tolist(), strict=True):
        if plan.phase[first] == plan.phase[second]:
            after[second].add(first)
            if given.target[first] != given.source[second]:
                tell[first].add(int(given.source[second]))
    return [tuple(sorted(each)) for each in after], [tuple(sorted(each)) for each in tell]


def _ordered(streams: dict[int, list[Action]]) -> tuple[tuple[Action, ...], ...]:
    return tuple(tuple(streams[number]) for number in sorted(streams))


def _line(action: Action) -> str:
    way = "to" if action.primitive == SEND else "from"
    line = f"{action.primitive}({action.connection}), {action.words} words {way} node {action.node}"
    if action.after:
        line += f", once {', '.join(map(str, action.after))} came"
    if action.tell:
        line += f", then tell {', '.join(map(str, action.tell))}"
    return line
