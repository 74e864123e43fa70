"""Plans at work: the program of each node, and a run on simulated hardware.

Simulated hardware runs a plan flit by flit, phase after phase, each on VCs of its own. A flit is a
word, and a cycle the time in which a channel carries one: 2 clocks on iWarp. Every connection owns
one VC of each channel of its path. Connections that share a channel take turns on it, word by word.
This includes the one channel from a node to its router, and the one back. The same connections by
message passing are one message each, on wormhole routers.

The program of a node says which primitives it calls, phase by phase, in which order. They are those
of Feldmann et al. 1993, section 2: ``instantiate_phase``, ``send_element`` and ``receive_element``.
Within a phase a node has streams of them that go on side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import starmap
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.provenance import DEFAULT_SEED
from netloom.contention.messages import ConSetCosts, MessageCosts
from netloom.phases.plan.plans import Connections, Plan, ranks
from netloom.phases.timetables import Timetable, awaited
from netloom.routing import ports, virtual_channel_routing
from netloom.routing.ragged import parted
from netloom.routing.virtual_channel_tables import MOST_SLOTS
from netloom.simulation.agenda import HEARING_CYCLES, LAST_CYCLE
from netloom.simulation.network.engine import NetworkProgram, reserve_paths
from netloom.simulation.network.routers import Router, router
from netloom.simulation.side_by_side import run_all
from netloom.topology import Topology
from netloom.workload.programs.messages import Lists, grouped, messages
from netloom.workload.traffic.stream import LONGEST

# -- phases on simulated hardware ------------------------------------------------------------------


Answer = TypeVar("Answer")

MOST_WORDS = 2**30
"""Most words of a phase, as cycles of their processors, or of a node: more would run for hours."""

MOST_ROWS = 2**22
"""Most words of a phase that are sent one by one, where processors are slower than channels."""


class Execution(NamedTuple):
    """What the phases of a plan took."""

    switch_clocks: float  # synchronization and context switch before each phase
    cycle_clocks: float  # clocks of a cycle, in which a channel carries one word
    # int64[num_phases], from the first word's leave to send until the last is delivered.
    phase_cycles: Ints
    # start, end: float64[n], clocks since the connection's phase began, the switch excluded: when
    # it was first allowed to send, and when its last word had been delivered.
    start: Floats
    end: Floats
    # int64[num_phases, num_network_channels], the words that crossed each channel between routers.
    channel_words: Ints

    @property
    def clocks(self) -> float:
        """Clocks of all phases, with their switches."""
        return float((self.switch_clocks + self.cycle_clocks * self.phase_cycles).sum())

    @property
    def channel_load(self) -> Floats:
        """The part of its phase for which the busiest channel is busy (float64[num_phases])."""
        most = self.channel_words.max(axis=1, initial=0)
        return np.asarray(most / np.maximum(self.phase_cycles, 1))


def execute(plan: Plan, costs: ConSetCosts, *, timetable: Timetable | None = None) -> Execution:
    """Return what the phases of a plan take on routers of reserved VCs.

    Each phase begins with an empty network, after a switch of ``costs.switch_clocks``, and ends
    with its last word. Its connections wait as the order of the plan has it, and

    - without a timetable, or with one of kind ``streaming``, for nothing else: those of a processor
      are interleaved word by word;
    - with another timetable they *meet*. A processor goes through its sends, and through its
      receives, in the order of the timetable. It goes through both together if it cannot send and
      receive at a time. A connection starts when its source's last send and its target's last
      receive have been delivered. The timetable's times are not used.

    If a processor is slower than a channel, it sends a word every ``clocks_per_word`` from the
    start of the connection on, whatever the network does. The last one is delivered when the
    target's processor has had as long for it.

    A head takes two cycles per hop: 4 clocks on iWarp, whose latency is at most 4 √N on a torus of
    N nodes (Feldmann et al. 1993, section 4.3.1). Two more each are spent on the channels at the
    ends, so that a connection of h hops and w words that meets no other takes w + 2h + 3 cycles.

    Parameters
    ----------
    plan
        The connections, and the route and phase of each.
    costs
        Clocks of a switch, and of a word at a processor and on a channel.
    timetable
        When connections start.

    Raises
    ------
    InputError
        If a router has more connections than the simulator holds, or there are too many words. If a
        processor is faster than a channel, or one that is slower is to interleave.

    Examples
    --------
    >>> from netloom.contention.messages import ConSetCosts
    >>> from netloom.phases import Capacity, Plan, connections
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> ring = topology("ring:4")
    >>> given = connections(read("ring:4"), range(4), 4, words=100)
    >>> routes = paths(ring, DimensionOrder(), given.source, given.target)
    >>> plan = Plan(ring, given, Capacity(8), np.zeros(8, np.int32), routes, "sequential")
    >>> execute(plan, ConSetCosts()).clocks  # 528 + 2 * (2 * 100 + 2 + 3 + 1)
    940.0
    """
    streaming = timetable is None or timetable.kind == "streaming"
    pace, channel = costs.clocks_per_word, costs.channel_clocks_per_word
    if not channel > 0:
        raise InputError("channel_clocks_per_word", f"{channel}", "more than 0")
    if pace < channel:
        wanted = f"at least the {channel:g} clocks of a channel, to simulate it"
        raise InputError("clocks_per_word", f"{pace:g}", wanted)
    if streaming and (pace > channel or not costs.both_ways):
        slow = f"processors of {pace:g} clocks per word" if pace > channel else "both_ways = False"
        wanted = "a timetable; only processors as fast as a channel both ways interleave"
        raise InputError("simulation", f"{slow}, and connections interleaved", wanted)
    most = np.bincount(plan.phase, plan.connections.words * (pace / channel)).max(initial=0)
    if most > MOST_WORDS:
        wanted = f"at most {MOST_WORDS}, to simulate it"
        raise InputError("words", f"{most:.3g} words' time in a phase", wanted)
    begin = np.zeros(len(plan.phase)) if streaming or timetable is None else timetable.start
    sequence = np.lexsort((ranks(plan.connections), begin, plan.phase))
    waits = awaited(plan, sequence, both_ways=costs.both_ways, alone=not streaming)
    parts = [sequence[plan.phase[sequence] == phase] for phase in range(plan.num_phases)]
    runs = [
        partial(_run, plan, pace / channel, part, waits, phase, _router(plan, phase))
        for phase, part in enumerate(parts)
    ]
    found = side_by_side(runs, "simulating phases")
    cycles, crossed = [each[0] for each in found], [each[1] for each in found]
    start, end = (np.concatenate([np.zeros(0), *(each[k] for each in found)]) for k in (2, 3))
    place = np.argsort(np.concatenate([np.zeros(0, np.int64), *map(np.sort, parts)]))
    return Execution(
        switch_clocks=float(costs.switch_clocks),
        cycle_clocks=float(channel),
        phase_cycles=np.array(cycles, np.int64),
        start=start[place] * channel,
        end=end[place] * channel,
        channel_words=np.array(crossed, np.int64).reshape(-1, plan.topology.num_network_channels),
    )


def _router(plan: Plan, phase: int) -> Router:
    """Return the router of iWarp's latency, with as many VCs as the phase needs.

    Raises
    ------
    InputError
        If these are more than the simulator's routers have.
    """
    here, given, network = plan.phase == phase, plan.connections, plan.topology
    hops = plan.routes.channels[np.repeat(here, plan.routes.lengths)]
    busiest = [
        (int(counts.max()), f"{at} {name(int(counts.argmax()))}")
        for at, name, places in (
            ("on channel", network.channel_name, hops),
            ("from node", network.name_of, given.source[here]),
            ("to node", network.name_of, given.target[here]),
        )
        if len(counts := np.bincount(places))
    ]
    needed, where = max(busiest, key=itemgetter(0), default=(1, ""))
    num_ports = ports(network).num_network_ports + 1
    if needed * num_ports > MOST_SLOTS:
        found = f"{needed} connections {where}, on routers of {num_ports} ports"
        wanted = f"at most {MOST_SLOTS // num_ports} on a channel, to simulate it"
        raise InputError(f"phase {phase}", found, wanted)
    return router("single-cycle", vcs=needed, switching="reserved")


def _run(
    plan: Plan,
    pace: float,
    sequence: Ints,
    waits: Lists,
    phase: int,
    kind: Router,
    stopped: Callable[[], bool],
) -> tuple[int, Ints, Ints, Ints] | None:
    """Run a phase, whose connections start in sequence. Return None if it was to stop.

    Returns its cycles, the words of each channel, and the cycles in which each connection, by its
    number, was allowed to send and had been delivered. ``pace``: cycles of a word at a processor.
    """
    given, single = plan.connections, pace == 1
    members, words = np.sort(sequence), given.words[sequence]
    count = np.ones(len(sequence), np.int64) if single else np.maximum(words, 1)
    if count.sum() > MOST_ROWS:
        found = f"{count.sum()} words in phase {phase}, sent one by one"
        raise InputError("words", found, f"at most {MOST_ROWS}, to simulate it")
    # the rows of a connection are in the order of its words
    connection, ends = np.repeat(sequence, count), np.cumsum(count)
    word = np.arange(len(connection)) - np.repeat(ends - count, count)
    last_row = np.zeros(len(given), np.int64)
    last_row[sequence] = ends - 1
    after = Lists(waits.offsets, last_row[waits.values])
    left = np.repeat(words, count)
    taken = np.rint(left * pace) - np.floor(word * pace) - 1
    table = messages(
        given.num_nodes,
        source=given.source[connection],
        target=given.target[connection],
        flits=left if single else np.minimum(left, 1),
        delay=np.floor(word * pace) * (not single),
        receive=np.where((word == left - 1) & (not single), np.maximum(taken, 0), 0),
        after=after.taken(connection),
    )
    owner = np.searchsorted(members, connection).astype(np.int32)  # of each row, among members
    routed = parted(plan.topology, plan.routes.taken(members))
    owned = reserve_paths(plan.topology, given.source[members], given.target[members], routed, kind)
    engine = NetworkProgram(
        plan.topology, owned.routing, kind, packet_flits=LONGEST, reservation=owned
    )
    engine.append(table, owner)
    if not completed(engine, f"phase {phase}", "fewer, to simulate it", stopped):
        return None
    engine.network.flits()  # balances
    rows, by_owner = engine.rows, np.argsort(owner, kind="stable")
    sent = np.bincount(owner, rows["flits"], minlength=len(members))
    assert np.array_equal(sent, given.words[members]), "words were lost or made"
    first = np.searchsorted(owner[by_owner], np.arange(len(members)))
    last = np.append(first[1:], len(owner)) - 1
    ready, complete = rows["ready"][by_owner[first]], rows["complete"][by_owner[last]]
    return int(rows["complete"].max(initial=0)), engine.channel_flits(), ready, complete


def side_by_side(runs: Sequence[Callable[..., Answer | None]], what: str) -> list[Answer]:
    """Return what runs find. Ctrl-C stops all of them."""
    with counting(len(runs), what) as tell:
        found = [each for each in run_all(runs, tell=tell) if each is not None]
    if len(found) < len(runs):
        raise KeyboardInterrupt
    return found


def completed(engine: NetworkProgram, where: str, wanted: str, stopped: Callable[[], bool]) -> bool:
    """Run a program to its end, and return whether it was not stopped before."""
    while engine.completed < engine.num_rows:
        if stopped():
            return False
        if engine.cycle == LAST_CYCLE:
            raise InputError(where, f"{LAST_CYCLE} cycles", wanted)
        engine.advance(min(engine.cycle + HEARING_CYCLES, LAST_CYCLE))
    return True


# -- message passing -------------------------------------------------------------------------------


POOLS = 3
"""VCs of a channel: on iWarp 12 logical channels were for messages, in four directions (Feldmann et
al. 1993, section 5)."""


class MessagePassing(NamedTuple):
    """What the messages took."""

    clocks: float  # until the last message has been received
    end: Floats  # float64[n], clocks in which each connection's message has been received


def message_passing(
    given: Connections,
    topology: Topology,
    costs: MessageCosts,
    *,
    order: Literal["random", "listed"] = "random",
    seed: int = DEFAULT_SEED,
) -> MessagePassing:
    """Return what connections take as messages, on the network that would hold them as phases.

    A node sends its messages one after the other, the next when the last has been received. With
    the costs of iWarp, m messages of k words that meet no others take m (800 + 2k) clocks, and 4
    clocks per hop. Tables 1-3 of Feldmann et al. 1993 use this formula without the hops. A message
    takes the processor of its source for ``send_clocks``, then crosses the network, then takes that
    of its target for ``receive_clocks``. A processor serves first come, first served. These clocks
    include the channels between a processor and its router. Words come in while others go out, even
    if the costs of connections have ``both_ways`` unset.

    The network has wormhole routers with default routing. Each channel carries a word per cycle,
    and a hop takes two cycles. On a torus, this is dimension order on 3 VCs: messages that have
    crossed the dateline of a ring take one, and the others two. Half-way round a ring, the
    direction is random.

    Parameters
    ----------
    given, topology
        The connections, and the network.
    costs
        Of a message. ``clocks_per_word`` is a channel's cycle.
    order
        A node sends its messages in ``random`` order, as the paper did all-to-all to spread
        congestion, or as ``listed`` in ``given``. Messages that come before others, by the order
        of connections, always go first.
    seed
        Of the random order, and of what routing leaves to chance.

    Raises
    ------
    InputError
        If there are too many words.
    DeadlockError
        If messages block each other for good, on a network other than a mesh or a torus.

    Examples
    --------
    >>> from netloom.contention.messages import MessageCosts
    >>> from netloom.phases.plan.plans import connections
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> given = connections(read("hypercube:1"), [0, 2], 4, words=100)
    >>> message_passing(given, topology("mesh:4"), MessageCosts(), order="listed").clocks
    1008.0
    """
    words = np.bincount(given.source, given.words + costs.header_words)
    if words.max(initial=0) > MOST_WORDS:
        found = f"{words.max():.3g} words from a node"
        raise InputError("words", found, f"at most {MOST_WORDS}, to simulate it")
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    place = rng.permutation(len(given)) if order == "random" else np.arange(len(given))
    sequence = np.lexsort((place, ranks(given)))
    row_of = np.argsort(sequence)
    source = given.source[sequence]
    by_source = np.argsort(source, kind="stable")  # each waits for the last of its source
    same = source[by_source][1:] == source[by_source][:-1]
    first = np.append(row_of[given.before], by_source[:-1][same])
    after = grouped(np.append(row_of[given.after], by_source[1:][same]), first, len(given))
    kind = router("single-cycle", vcs=POOLS)
    times = kind.timing()
    table = messages(
        topology.num_hosts,
        source=source,
        target=given.target[sequence],
        flits=given.words[sequence] + costs.header_words,
        run=_cycles(costs, costs.send_clocks, times.injection - 1),
        receive=_cycles(costs, costs.receive_clocks, times.ejection),
        after=after,
    )
    routing = virtual_channel_routing(topology, "default", num_vcs=POOLS)
    drawn = int(rng.integers(2**31))

    def run(stopped: Callable[[], bool]) -> Ints | None:
        engine = NetworkProgram(topology, routing, kind, packet_flits=LONGEST, seed=drawn)
        engine.append(table)
        if not completed(engine, "messages", "fewer, to simulate them", stopped):
            return None
        return engine.rows["complete"].astype(np.int64)

    (complete,) = side_by_side([run], "simulating messages")
    end = complete[row_of].astype(np.float64) * costs.clocks_per_word
    return MessagePassing(float(end.max(initial=0)), end)


def _cycles(costs: MessageCosts, clocks: float, within: int) -> int:
    """Return the cycles of a processor for a message, but for those of its channel."""
    return max(round(clocks / costs.clocks_per_word) - within, 0)


# -- node programs ---------------------------------------------------------------------------------


Primitive: TypeAlias = Literal["send_element", "receive_element"]
SEND: Primitive = "send_element"
RECEIVE: Primitive = "receive_element"


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
        """Return it as plain data, for JSON."""
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
    >>> from netloom.contention.messages import ConSetCosts
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
    # only within a phase: what comes before in an earlier one has been delivered
    after = awaited(plan, sequence, both_ways=costs.both_ways, alone=False)
    first, second = after.values, given.source[after.owners()]
    told = np.unique(np.stack([first, second])[:, given.target[first] != second], axis=1)
    tell = grouped(told[0], told[1], len(given))
    streams: list[list[dict[int, list[Action]]]] = [
        [{} for _ in range(plan.num_phases)] for _ in range(given.num_nodes)
    ]
    for number in sequence.tolist():
        start, end = int(given.source[number]), int(given.target[number])
        words, phase = int(given.words[number]), int(plan.phase[number])
        send = Action(SEND, number, end, words, after=tuple(after.of(number).tolist()))
        receive = Action(RECEIVE, number, start, words, tell=tuple(tell.of(number).tolist()))
        for node, action in ((start, send), (end, receive)):
            if kind == "streaming":
                stream = len(streams[node][phase])
            else:
                stream = int(costs.both_ways and action is receive)
            streams[node][phase].setdefault(stream, []).append(action)
    programs = []
    for node, phases in enumerate(streams):
        ordered = (tuple(tuple(each[number]) for number in sorted(each)) for each in phases)
        programs.append(NodeProgram(node, tuple(starmap(NodePhase, enumerate(ordered)))))
    return programs


def _line(action: Action) -> str:
    way = "to" if action.primitive == SEND else "from"
    line = f"{action.primitive}({action.connection}), {action.words} words {way} node {action.node}"
    if action.after:
        line += f", once {', '.join(map(str, action.after))} came"
    if action.tell:
        line += f", then tell {', '.join(map(str, action.tell))}"
    return line
