"""The experiments of Chittor 1991, chapter 4: loops of nodes that send to and wait for each other.

A node of class A sends, receives, computes. One of class B receives, sends, computes (figures 4.3
and 4.10).

All that enters and leaves a node goes through one channel between its processing element and its
router, and through the software that feeds it. Here that is one server, which takes each packet, in
or out, first come first served. It is the bottleneck of the Symult 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size
from netloom.machines import Machine
from netloom.simulation.agenda import LAST_CYCLE, run_program
from netloom.simulation.program_network import ProgramNetwork
from netloom.workload.counter_random import durations
from netloom.workload.programs.loops import loops_done
from netloom.workload.programs.messages import COLUMNS, Messages, checked, messages
from netloom.workload.programs.rounds import Rounds

Row: TypeAlias = tuple[int, int, int, list[int]]  # source, target, bytes, after

PATTERNS = ("ab-1nn", "aa-1nn", "ab-4nn", "aa-4nn", "diagonal", "transpose")


@dataclass(frozen=True)
class NodeCosts:
    """The cost of messages that meet no other. Times in µs.

    A message of one packet takes ``alpha_us + byte_us * bytes`` from one processing element to
    another. A longer one is cut into packets of ``packet_bytes``, each of which costs
    ``packet_us``. The last one, if it is shorter, as much less as its bytes are fewer.

    Raises
    ------
    InputError
        If a value is negative, or one that is a size or a cycle is 0, or a full packet costs less
        than its bytes do.

    Examples
    --------
    The Symult 2010 (Chittor 1991, sections 4.2.1 and 4.3): 4096 bytes are 16 packets.

    >>> symult = NodeCosts(210.2, 256, 39.3, 0.0577, 0.05)
    >>> symult.message_us([100, 4096]).round(2)
    array([215.97, 839.  ])
    """

    alpha_us: float  # start-up of a message, α
    packet_bytes: int  # most bytes of a packet
    packet_us: float  # a full packet, if it is one of several: overhead and channel
    byte_us: float  # the channel with what feeds it, a byte
    cycle_us: float  # the time in which a network channel carries a flit
    flit_bytes: int = 1  # bytes of a flit

    def __post_init__(self) -> None:
        for name in ("packet_bytes", "cycle_us", "flit_bytes"):
            if not getattr(self, name) > 0:
                raise InputError(name, f"{getattr(self, name)}", "above 0")
        for name in ("alpha_us", "byte_us"):
            if not getattr(self, name) >= 0:
                raise InputError(name, f"{getattr(self, name)}", "a number that is not negative")
        least = self.packet_bytes * self.byte_us
        if not self.packet_us >= least:
            raise InputError("packet_us", f"{self.packet_us}", f"at least {least:g}, for its bytes")

    @property
    def channel_byte_us(self) -> float:
        """What a byte takes on a network channel, µs."""
        return self.cycle_us / self.flit_bytes

    def packets(self, message_bytes: ArrayLike) -> Ints:
        """Return how many packets each message is cut into (int64, at least 1)."""
        return np.maximum(-(-np.asarray(message_bytes, np.int64) // self.packet_bytes), 1)

    def server_us(self, message_bytes: ArrayLike) -> Floats:
        """Return how long the packets of each message take a server (float64), without α."""
        sizes = np.asarray(message_bytes, np.int64)
        count = self.packets(sizes)
        overhead = self.packet_us - self.packet_bytes * self.byte_us
        time = sizes.astype(np.float64) * self.byte_us
        time += np.where(count > 1, count * overhead, 0.0)
        return time

    def message_us(self, message_bytes: ArrayLike) -> Floats:
        """Return what each message takes if it meets no other (float64), but for its path.

        Its path adds a cycle per hop, and those of the switching.
        """
        return self.alpha_us + self.server_us(message_bytes)

    def applied(self, message_bytes: int, think_us: float) -> float:
        """Return the applied traffic of a loop of two messages and a computation (eq. 4.3).

        λ_a = (L / B) / (t + 2 (α + β L)): the share of the time in which the channel of a node
        sends, if no message meets another.

        Examples
        --------
        Section 4.3 has 4096 bytes and a computation of 1 ms: 2679 µs a loop, 7.65 %.

        >>> symult = NodeCosts(210.2, 256, 0.1536 * 256, 0.0577, 0.05)
        >>> round(symult.applied(4096, 1000), 5)
        0.07646
        """
        channel_us = message_bytes * self.channel_byte_us
        return float(channel_us / (think_us + 2 * self.message_us(message_bytes)))


def node_costs(machine: Machine | None) -> NodeCosts:
    """Return what messages cost at the nodes of a machine, from its published start-up times.

    The first line of its ``message_costs`` holds for a single packet, the last for several.

    Raises
    ------
    InputError
        If it has none, or there is no machine.

    Examples
    --------
    >>> from netloom.machines import machine
    >>> round(float(node_costs(machine("symult2010")).message_us(4096)), 1)
    839.3
    """
    if machine is None or not machine.message_costs or machine.packet_bytes is None:
        found = "a network" if machine is None else f"machine '{machine.name}'"
        wanted = "a machine with start-up times and packets, such as symult2010:12x12; or costs"
        raise InputError("on", f"{found} without start-up times", wanted)
    one, several = machine.message_costs[0], machine.message_costs[-1]
    return NodeCosts(
        alpha_us=several.startup_us,
        packet_bytes=int(machine.packet_bytes),
        packet_us=machine.packet_bytes * several.per_byte_us,
        byte_us=one.per_byte_us,
        cycle_us=machine.cycle_us,
        flit_bytes=int(machine.flit_bytes),
    )


@dataclass(frozen=True, eq=False)
class Pattern:
    """One of the patterns, as a program that repeats. A ``Source``."""

    name: str  # one of ``PATTERNS``
    num_nodes: int  # nodes of the network, a square mesh
    nodes: Ints  # int64[num_active], the nodes that take part, lowest first
    rounds: Rounds  # the loops of them all
    # int64[num_active], the row of a round with which each node ends its loop.
    ends: Ints

    def extend(self, complete: Ints, until: int) -> Messages:
        """Return the next loops of all nodes. See ``Rounds.extend``."""
        return self.rounds.extend(complete, until)

    def loop_ends(self, complete: Ints) -> Ints:
        """Return int64[num_loops, num_active], the cycle in which each loop ends; -1: not yet."""
        return self.rounds.of_rounds(complete, self.ends)


def pattern(
    name: str,
    side: int,
    *,
    message_bytes: int,
    think_us: float,
    costs: NodeCosts,
    seed: int = DEFAULT_SEED,
) -> Pattern:
    """Return a pattern of chapter 4 on a square mesh of ``side`` times ``side`` nodes.

    Node (i, j) is in row i, position j.

    - ``ab-1nn``, ``aa-1nn``: (i, j) and (i, j xor 1) exchange a message. Even j is A, odd j B, or
      all are A, and the two messages cross (figures 4.3 and 4.9).
    - ``ab-4nn``, ``aa-4nn``: all four neighbours. Even i + j is A, odd B, or all are A.
    - ``diagonal``: (i, i) and its mirror image at the other end of the diagonal. The upper half
      is A, all other nodes idle (figure 4.5).
    - ``transpose``: (i, j) and (j, i). A below the diagonal, which is idle (figure 4.7).

    The computations are uniform on 0 to twice the mean. Nodes that wait for each other, if only
    through others, compute for as long in one loop, as the thesis's pairs do, so that none waits
    for another's computation (section 4.2.1).

    ``name`` is one of ``PATTERNS``, ``side`` at least 2. ``message_bytes`` are those of every
    message, ``think_us`` is the mean computation of a loop.

    Raises
    ------
    InputError
        If there is no such pattern, or a value is out of range.

    Examples
    --------
    >>> symult = NodeCosts(210.2, 256, 39.3, 0.0577, 0.05)
    >>> pattern("transpose", 12, message_bytes=4096, think_us=150, costs=symult).nodes.shape
    (132,)
    """
    if name not in PATTERNS:
        raise InputError("pattern", f"'{name}'", ", ".join(PATTERNS))
    numbers = {
        "side": (side, 2),
        "message_bytes": (message_bytes, 1),
        "think_us": (think_us, 0),
        "seed": (seed, 0),
    }
    for field, (value, least) in numbers.items():
        if not value >= least:  # NaN is not
            raise InputError(field, f"{value}", f"at least {least}")
    peers, first = _peers(name, side)
    nodes = np.array([node for node, others in enumerate(peers) if others])
    rows: list[Row] = []
    done: dict[int, list[int]] = {int(node): [] for node in nodes}
    for _ in range(2):
        done = _add_loop(rows, done, peers, first, message_bytes)
    source, target, flits, after = zip(*rows, strict=True)
    table = messages(len(peers), source=source, target=target, flits=flits, after=after)
    packets, ends = packetised(table, costs)
    one = second_half(packets)
    loop_ends = ends[np.array([row for (row,) in done.values()])] - len(one)
    group = np.zeros(len(nodes), np.int64)  # whose computations are alike
    if not name.endswith("4nn"):
        group = np.array([min(int(node), *peers[node]) for node in nodes])

    place = np.full(len(one), -1)
    place[loop_ends] = np.arange(len(nodes))

    def draw(number: Ints, row: Ints) -> dict[str, Ints]:
        ending = np.flatnonzero(place[row] >= 0)
        chain, loop = group[place[row[ending]]], number[ending]
        delay = np.zeros(len(row), np.int32)
        delay[ending] = durations("uniform", think_us / costs.cycle_us, seed, 0, chain, loop)
        return {"delay": delay}

    return Pattern(name, side * side, nodes, Rounds(one, draw), loop_ends)


def _peers(name: str, side: int) -> tuple[list[list[int]], list[bool]]:
    """The nodes that each node exchanges messages with, and whether it is of class A."""
    peers, first = [], []
    for node in range(side * side):
        i, j = divmod(node, side)
        if name.endswith("1nn"):
            found, is_first = [(i, j ^ 1)], j % 2 == 0
        elif name.endswith("4nn"):
            found = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
            is_first = (i + j) % 2 == 0
        elif name == "diagonal":
            found = [(side - 1 - i, side - 1 - i)] if i == j else []
            is_first = i < side / 2
        else:
            found, is_first = [(j, i)], i > j
        inside = [x * side + y for x, y in found if 0 <= x < side and 0 <= y < side]
        peers.append([peer for peer in inside if peer != node])
        first.append(is_first or name.startswith("aa"))
    return peers, first


def _add_loop(
    rows: list[Row],
    ready: dict[int, list[int]],
    peers: list[list[int]],
    first: list[bool],
    message_bytes: int,
) -> dict[int, list[int]]:
    """Add the rows of one loop. ``ready``, and what is returned: what ends a node's loop."""
    inbox: dict[int, list[int]] = {node: [] for node in ready}

    def send(node: int, waits: list[int]) -> None:
        for peer in peers[node]:
            inbox[peer].append(len(rows))
            rows.append((node, peer, message_bytes, waits))

    def go_on(node: int, waits: list[int]) -> list[int]:
        rows.append((node, node, 0, waits))
        return [len(rows) - 1]

    received = {}
    for node, waits in ready.items():
        if first[node]:
            send(node, waits)
    for node in sorted(ready, key=first.__getitem__):  # class B first, which class A waits for
        received[node] = go_on(node, inbox[node] + ready[node])
        if not first[node]:
            send(node, received[node])
    return {node: go_on(node, received[node]) for node in ready}


def packetised(table: Messages, costs: NodeCosts) -> tuple[Messages, Ints]:
    """Return the packets of a table of messages, with what they cost the servers of both ends.

    The processor of a node stands for its server. Each packet takes that of its source from the
    moment it is sent, and that of its target as long after it has arrived. The first packet of a
    message takes both of them α longer, less the cycles of its own flits, which α as measured
    includes. So the packets follow each other at the pace of the servers. A message that meets no
    other takes ``costs.message_us`` and the cycles of its path, rounded up for each packet. Two
    messages that cross take the servers twice as long.

    Parameters
    ----------
    table
        Messages whose ``flits`` are *bytes*, numbered from 0. Rows of 0 bytes are computations.
        ``hold`` and ``receive`` are 0: they come from ``costs``.
    costs
        Of all nodes.

    Returns
    -------
    packets
        The packets of each row in a row, and after those of a message that has several, a row
        without flits which is complete when they all are. Rows that wait for the message wait for
        that one.
    ends
        int64[len(table)], the row of ``packets`` that is complete when the message is.

    Examples
    --------
    >>> from netloom.workload.programs.messages import messages
    >>> costs = NodeCosts(alpha_us=20, packet_bytes=256, packet_us=32, byte_us=0.1, cycle_us=0.05)
    >>> packets, ends = packetised(messages(2, source=0, target=1, flits=[512, 100]), costs)
    >>> packets.flits, packets.hold, ends
    (array([256, 256,   0, 100], dtype=int32), array([784, 640,   0, 500], dtype=int32),
     array([2, 3]))
    """
    assert table.first == 0
    assert not table.hold.any()
    assert not table.receive.any()
    sizes = table.flits.astype(np.int64)
    sends = sizes > 0
    count = np.where(sends, costs.packets(sizes), 1)
    rows = count + (count > 1)
    check_size(int(rows.sum()), where="message_bytes", what="packets")
    ends = np.cumsum(rows) - 1
    message = np.repeat(np.arange(len(table)), rows)
    place = np.arange(len(message)) - (ends - rows + 1)[message]
    joins = place == count[message]
    columns = {name: getattr(table, name)[message] for name in COLUMNS}
    columns.update(_costs(costs, sizes[message], count[message], place, joins))
    for name, other in (("start", 0), ("delay", 0), ("context", -1)):
        columns[name] = np.where(joins, other, columns[name])
    columns["run"] = np.where(place == 0, columns["run"], 0)
    columns["source"] = np.where(joins, columns["target"], columns["source"])
    # `after` and `after_offsets` of the packets of a table of messages
    degree = np.where(joins, count[message], np.diff(table.after_offsets)[message])
    offsets = np.concatenate([[0], np.cumsum(degree)])
    row = np.repeat(np.arange(len(message)), degree)
    step = np.arange(len(row)) - offsets[row]
    after = row - 1 - step  # of a join: all packets of its message
    waits = ~joins[row]
    begin = table.after_offsets[message[row[waits]]]
    after[waits] = ends[table.after[begin + step[waits]]]
    typed = {name: column.astype(COLUMNS[name]) for name, column in columns.items()}
    made = Messages(table.num_nodes, 0, **typed, after_offsets=offsets, after=after)
    return checked(made), ends


def _costs(costs: NodeCosts, size: Ints, count: Ints, place: Ints, joins: Bools) -> dict[str, Ints]:
    """The columns of packet number ``place`` of ``count`` of a message of ``size`` bytes."""
    part = np.clip(size - place * costs.packet_bytes, 0, costs.packet_bytes)
    flits = -(-part // costs.flit_bytes)
    overhead = costs.packet_us - costs.packet_bytes * costs.byte_us
    server_us = part * costs.byte_us + np.where(count > 1, overhead, 0.0)
    startup_us = np.where(place == 0, np.maximum(costs.alpha_us - flits * costs.cycle_us, 0), 0)
    cycles = np.rint((server_us + startup_us) / costs.cycle_us).astype(np.int64)
    cycles = np.where((size > 0) & ~joins, cycles, 0)
    return {"flits": flits, "hold": cycles, "receive": cycles}


def second_half(two: Messages) -> Messages:
    """Return one round, as ``Rounds`` wants it, from a table of two rounds that are alike.

    Examples
    --------
    >>> from netloom.workload.programs.messages import messages
    >>> second_half(messages(2, source=0, target=1, flits=[8, 8], after=[[], [0]])).first
    1
    """
    rows = len(two) // 2
    assert two.first == 0
    assert len(two) == 2 * rows
    begin = two.after_offsets[rows]
    arrays = {f.name: getattr(two, f.name)[rows:] for f in fields(Messages) if f.name in COLUMNS}
    offsets = two.after_offsets[rows:] - begin
    return Messages(two.num_nodes, rows, **arrays, after_offsets=offsets, after=two.after[begin:])


STEP_LOOPS = 8
"""Loops that an unhindered node makes between two extensions of the program."""

MOST_DELAYED = 20
"""Times as long as unhindered that loops may take, whatever ``most_cycles``."""


class NodeFigures(NamedTuple):
    """Figures of the nodes that send most messages, by their mean or their worst.

    The time of a loop, and that of a message, sent and received: what of a loop is not computation.
    ``slowdown`` is the thesis's normalized communication time of a message, without its start-up:
    (τ_m − α) / (β L), eq. 4.4. ``traffic`` is the actual one, in shares of a channel's bandwidth.
    """

    loop_us: float
    communication_us: float
    slowdown: float
    traffic: float


@dataclass(frozen=True, eq=False)
class PatternTimes:
    """What the loops of a pattern take, for one message length and computation (Chittor 1991, 4).

    Attributes
    ----------
    message_bytes, think_us
        As asked.
    loop_us, communication_us
        float64[num_active], the mean loop time of every node, and what of it is not computation.
        Empty if it did not come so far.
    messages
        float64[num_active], messages that each node sends in a loop. Fewer at a mesh's edges.
    alone_us, alpha_us
        What a message takes that meets no other, α + β L, and α.
    channel_us
        What the bytes of a message take on a channel: L / B.
    """

    message_bytes: int
    think_us: float
    loop_us: Floats
    communication_us: Floats
    messages: Floats
    alone_us: float
    alpha_us: float
    channel_us: float

    @property
    def applied(self) -> float:
        """Applied traffic: what a node would send if no two messages met (eq. 4.3)."""
        count = float(self.messages.max())
        return count * self.channel_us / (self.think_us + 2 * count * self.alone_us)

    def of_busiest(self, figure: Callable[[Floats], float]) -> NodeFigures:
        """Return the mean, or the largest, of the nodes that send most.

        Those at a mesh's edges have fewer neighbours, and wait for others.
        """
        count = float(self.messages.max())
        whole = self.messages == count
        per_message = float(figure(self.communication_us[whole])) / (2 * count)
        loop = float(figure(self.loop_us[whole]))
        return NodeFigures(
            loop_us=loop,
            communication_us=per_message,
            slowdown=(per_message - self.alpha_us) / (self.alone_us - self.alpha_us),
            traffic=count * self.channel_us / loop,
        )


def run_pattern(
    network: ProgramNetwork,
    program: Pattern,
    costs: NodeCosts,
    message_bytes: int,
    think_us: float,
    stopped: Callable[[], bool],
    *,
    skip: int,
    loops: int,
    most_cycles: int,
) -> PatternTimes:
    """Run until ``loops`` of every node count, after ``skip`` that do not. Return what they take.

    It ends after ``most_cycles``, or ``MOST_DELAYED`` times the cycles of as many unhindered loops.
    """
    engine = network.make_engine()
    wanted = skip + loops
    one = program.rounds.one
    packets = np.bincount(one.source[one.flits > 0], minlength=program.num_nodes)[program.nodes]
    messages = packets / int(costs.packets(message_bytes))
    alone = float(costs.message_us(message_bytes))
    loop_cycles = (think_us + 2 * float(messages.max()) * alone) / costs.cycle_us
    most = min(max(most_cycles, int(MOST_DELAYED * wanted * loop_cycles)), LAST_CYCLE)
    ending = run_program(
        engine,
        program,
        enough=lambda rows: bool(
            len(rows) and loops_done(program.loop_ends(rows["complete"])).min() >= wanted
        ),
        step=int(STEP_LOOPS * loop_cycles) + 1,
        most_cycles=most,
        stopped=stopped,
    )
    ends = program.loop_ends(engine.rows["complete"])
    times = thinking = np.zeros(0)
    if ending.enough:
        begin = ends[skip - 1] if skip else 0
        times = (ends[wanted - 1] - begin) / loops * costs.cycle_us
        delays = program.rounds.of_rounds(engine.rows["delay"].astype(np.int64), program.ends)
        thinking = delays[skip:wanted].mean(axis=0) * costs.cycle_us
    return PatternTimes(
        message_bytes=message_bytes,
        think_us=think_us,
        loop_us=times,
        communication_us=times - thinking,
        messages=messages,
        alone_us=alone,
        alpha_us=costs.alpha_us,
        channel_us=message_bytes * costs.channel_byte_us,
    )
