"""The experiments of Chittor 1991, chapter 4: loops of nodes that send to and wait for each other.

A node of class A sends, receives, computes. One of class B receives, sends, computes (figures 4.3
and 4.10).

All that enters and leaves a node goes through one channel between its processing element and its
router, and through the software that feeds it. Here that is one server, which takes each packet, in
or out, first come first served. It is the bottleneck of the Symult 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from netloom.base.arrays import Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, derived, figure, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size
from netloom.machines import Machine
from netloom.simulation.agenda import LAST_CYCLE, run_program
from netloom.simulation.program_network import ProgramNetwork
from netloom.workload.counter_random import durations
from netloom.workload.programs.loops import loop_times, loops_done
from netloom.workload.programs.messages import messages
from netloom.workload.programs.rounds import Rounds

US = "µs"

Row: TypeAlias = tuple[int, int, int, int, list[int]]
"""Source, target, flits, cycles that the servers of both take, and the rows it waits for."""

PATTERNS = ("ab-1nn", "aa-1nn", "ab-4nn", "aa-4nn", "diagonal", "transpose")


@dataclass(frozen=True)
class NodeCosts:
    """The cost of messages that meet no other. Times in µs.

    A message of one packet takes ``alpha_us + byte_us * bytes`` from one processing element to
    another. A longer one is cut into packets of ``packet_bytes``, each of which costs
    ``packet_us``. The last one, if it is shorter, as much less as its bytes are fewer.

    Examples
    --------
    The Symult 2010 (Chittor 1991, sections 4.2.1 and 4.3): 4096 bytes are 16 packets.

    >>> symult = NodeCosts(210.2, 256, 39.3, 0.0577, 0.05)
    >>> round(symult.message_us(100), 2), symult.message_us(4096)
    (215.97, 839.0)
    """

    alpha_us: float  # start-up of a message, α
    packet_bytes: int  # most bytes of a packet
    packet_us: float  # a full packet, if it is one of several: overhead and channel
    byte_us: float  # the channel with what feeds it, a byte
    cycle_us: float  # the time in which a network channel carries a flit
    flit_bytes: int = 1  # bytes of a flit

    @property
    def overhead_us(self) -> float:
        """What a packet costs besides its bytes, if it is one of several."""
        return self.packet_us - self.packet_bytes * self.byte_us

    def message_us(self, message_bytes: int) -> float:
        """Return what a message takes if it meets no other, but for its path.

        Its path adds a cycle per hop, and those of the switching.
        """
        count = -(-message_bytes // self.packet_bytes)
        overhead = count * self.overhead_us if count > 1 else 0.0
        return self.alpha_us + (message_bytes * self.byte_us + overhead)

    def packets(self, message_bytes: int) -> list[tuple[int, int]]:
        """Return the flits of each packet of a message, and the cycles that it takes a server.

        A server takes each packet of its node from the moment it is sent, and that of the target as
        long after it has arrived. The first packet of a message takes both of them α longer, less
        the cycles of its own flits, which α as measured includes. So the packets follow each other
        at the pace of the servers. A message that meets no other takes ``message_us`` and the
        cycles of its path, rounded up for each packet. Two messages that cross take the servers
        twice as long.

        Examples
        --------
        >>> costs = NodeCosts(20, packet_bytes=256, packet_us=32, byte_us=0.1, cycle_us=0.05)
        >>> costs.packets(512), costs.packets(100)
        ([(256, 784), (256, 640)], [(100, 500)])
        """
        found = []
        for begin in range(0, message_bytes, self.packet_bytes):
            size = min(message_bytes - begin, self.packet_bytes)
            flits = -(-size // self.flit_bytes)
            time = size * self.byte_us
            if message_bytes > self.packet_bytes:
                time += self.overhead_us
            if not begin:
                time += max(self.alpha_us - flits * self.cycle_us, 0)
            found.append((flits, round(time / self.cycle_us)))
        return found


def node_costs(machine: Machine | None) -> NodeCosts:
    """Return what messages cost at the nodes of a machine, from its published start-up times.

    The first line of its ``message_costs`` holds for a single packet, the last for several.

    Raises
    ------
    InputError
        If it has none, or there is no machine. If a byte costs less at a node than on a channel,
        or less in one of several packets than in a single one.

    Examples
    --------
    >>> from netloom.machines import machine
    >>> round(node_costs(machine("symult2010")).message_us(4096), 1)
    839.3
    """
    if machine is None or not machine.message_costs or machine.packet_bytes is None:
        found = "a network" if machine is None else f"machine '{machine.name}'"
        wanted = "a machine with start-up times and packets, such as symult2010:12x12"
        raise InputError("on", f"{found} without start-up times", wanted)
    one, several = machine.message_costs[0], machine.message_costs[-1]
    least = 1 / machine.bandwidth_bytes_per_us
    if not least * (1 - 1e-9) <= one.per_byte_us <= several.per_byte_us:
        found = f"{one.per_byte_us:g} µs a byte of one packet, {several.per_byte_us:g} of several"
        wanted = f"at least {least:g}, what a channel takes, and no less of several"
        raise InputError(f"message costs of {machine.name}", found, wanted)
    return NodeCosts(
        alpha_us=several.startup_us,
        packet_bytes=int(machine.packet_bytes),
        packet_us=machine.packet_bytes * several.per_byte_us,
        byte_us=one.per_byte_us,
        cycle_us=machine.cycle_us,
        flit_bytes=int(machine.flit_bytes),
    )


class Pattern(Rounds):
    """One of the patterns of chapter 4, on a square mesh, as a program that repeats. A ``Source``.

    Node (i, j) is in row i, position j.

    - ``ab-1nn``, ``aa-1nn``: (i, j) and (i, j xor 1) exchange a message. Even j is A, odd j B, or
      all are A, and the two messages cross (figures 4.3 and 4.9).
    - ``ab-4nn``, ``aa-4nn``: all four neighbours. Even i + j is A, odd B, or all are A.
    - ``diagonal``: (i, i) and its mirror image at the other end of the diagonal. The upper half
      is A, all other nodes idle (figure 4.5).
    - ``transpose``: (i, j) and (j, i). A below the diagonal, which is idle (figure 4.7).

    The computations are uniform on 0 to twice the mean. Nodes that wait for each other, if only
    through others, compute for as long in one loop, as the thesis's pairs do, so that none waits
    for another's computation (section 4.2.1). The processor of a node stands for its server.

    ``name`` is one of ``PATTERNS``, ``side`` at least 2, that of the mesh. ``message_bytes`` are
    those of every message, ``think_us`` is the mean computation of a loop.

    Attributes
    ----------
    nodes
        int64[num_active], the nodes that take part, lowest first.
    sends
        float64[num_active], the messages that each of them sends in a loop.
    ends
        int64[num_active], the row of a round with which each of them ends its loop.

    Raises
    ------
    InputError
        If the mesh is too small, or a message has too many packets.

    Examples
    --------
    >>> symult = NodeCosts(210.2, 256, 39.3, 0.0577, 0.05)
    >>> Pattern("transpose", 12, message_bytes=4096, think_us=150, costs=symult).nodes.shape
    (132,)
    """

    def __init__(
        self,
        name: str,
        side: int,
        *,
        message_bytes: int,
        think_us: float,
        costs: NodeCosts,
        seed: int = DEFAULT_SEED,
    ) -> None:
        if side < 2:
            raise InputError("side", f"{side}", "at least 2")
        self.message_bytes, self.think_us, self.costs = message_bytes, think_us, costs
        peers, first = _peers(name, side)
        self.nodes = np.array([node for node, others in enumerate(peers) if others])
        self.sends = np.array([float(len(peers[node])) for node in self.nodes])
        several = -(-message_bytes // costs.packet_bytes)
        count = 2 * int(self.sends.sum()) * (several + (several > 1)) + 4 * len(self.nodes)
        check_size(count, where="message_bytes", what="packets")
        packets = costs.packets(message_bytes)
        rows: list[Row] = []
        done: dict[int, list[int]] = {int(node): [] for node in self.nodes}
        for _ in range(2):  # the first loop is what the second waits for
            done = _add_loop(rows, done, peers, first, packets)
        size = len(rows) // 2
        names = ("source", "target", "flits", "hold", "after")
        columns: dict[str, Any] = dict(zip(names, zip(*rows[size:], strict=True), strict=True))
        one = messages(side * side, first=size, receive=columns["hold"], **columns)
        self.ends = np.array([row - size for (row,) in done.values()])
        group = np.zeros(len(self.nodes), np.int64)  # whose computations are alike
        if not name.endswith("4nn"):
            group = np.array([min(int(node), *peers[node]) for node in self.nodes])

        def draw(number: Ints, row: Ints) -> dict[str, Ints]:
            ending = np.flatnonzero(np.isin(row, self.ends))
            chain, loop = group[np.searchsorted(self.ends, row[ending])], number[ending]
            delay = np.zeros(len(row), np.int32)
            delay[ending] = durations("uniform", think_us / costs.cycle_us, seed, 0, chain, loop)
            return {"delay": delay}

        super().__init__(one, draw)

    def loop_ends(self, complete: Ints) -> Ints:
        """Return int64[num_loops, num_active], the cycle in which each loop ends; -1: not yet."""
        return self.of_rounds(complete, self.ends)


def _peers(name: str, side: int) -> tuple[list[list[int]], list[bool]]:
    """The nodes that each node exchanges messages with, and whether it is of class A."""
    peers, first = [], []
    for node in range(side * side):
        i, j = divmod(node, side)
        found, is_first = {
            "1nn": ([(i, j ^ 1)], j % 2 == 0),
            "4nn": ([(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)], (i + j) % 2 == 0),
            "diagonal": ([(side - 1 - i, side - 1 - i)] if i == j else [], i < side / 2),
            "transpose": ([(j, i)], i > j),
        }[name.rpartition("-")[2]]
        inside = [x * side + y for x, y in found if 0 <= x < side and 0 <= y < side]
        peers.append([peer for peer in inside if peer != node])
        first.append(is_first or name.startswith("aa"))
    return peers, first


def _add_loop(
    rows: list[Row],
    ready: dict[int, list[int]],
    peers: list[list[int]],
    first: list[bool],
    packets: list[tuple[int, int]],
) -> dict[int, list[int]]:
    """Add the rows of one loop. ``ready``, and what is returned: what ends a node's loop.

    A message of several packets ends with a row without flits, which waits for them all.
    """
    inbox: dict[int, list[int]] = {node: [] for node in ready}

    def send(node: int, waits: list[int]) -> None:
        for peer in peers[node]:
            begin = len(rows)
            rows.extend((node, peer, *packet, waits) for packet in packets)
            if len(packets) > 1:
                go_on(peer, list(range(len(rows) - 1, begin - 1, -1)))
            inbox[peer].append(len(rows) - 1)

    def go_on(node: int, waits: list[int]) -> list[int]:
        rows.append((node, node, 0, 0, waits))
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


STEP_LOOPS = 8
"""Loops that an unhindered node makes between two extensions of the program."""

MOST_DELAYED = 20
"""Times as long as unhindered that loops may take, whatever ``most_cycles``."""


class Point(Figures):
    """What loops of one message length and computation take: of the nodes that send most.

    Those at a mesh's edges have fewer neighbours, and wait for others. The time of a loop, and that
    of a message, sent and received: what of a loop is not computation. ``slowdown`` is the thesis's
    normalized communication time of a message, without its start-up: (τ_m − α) / (β L), eq. 4.4.
    ``applied`` is what a node would send if no two messages met (eq. 4.3), ``average_node`` and
    ``worst_node`` the actual traffic, in shares of a channel's bandwidth.

    Attributes
    ----------
    loop_us, communication_us
        float64[num_active], the mean loop time of every node, and what of it is not computation.
        This and what follows is known of a run that was made just now.
    channel_us
        What the bytes of a message take on a channel: L / B.
    """

    message_bytes: int = figure("message", "bytes", head="size", lead=True, key=True)
    think_us: float = figure("computation", US, head="compute", lead=True, key=True)
    message_us: float = figure("alone", US, lead=True, key=True)
    applied: float = figure(unit=SHARE, lead=True, key=True)
    loop_us_mean: float = figure("loop, mean", US, head="loop", lead=True, key=True)
    communication_us_mean: float = figure("message, mean", US, head="message", lead=True, key=True)
    slowdown_mean: float = figure("slow-down, mean")
    loop_us_max: float = figure("loop, worst", US, key=True)
    communication_us_max: float = figure("message, worst", US, head="worst", lead=True, key=True)
    slowdown_max: float = figure("slow-down, worst")
    average_node: float = figure("traffic, average node", SHARE, head="actual", lead=True)
    worst_node: float = figure("traffic, worst node", SHARE, head="worst node", lead=True)
    loop_us: Floats = unseen(default=None)
    communication_us: Floats = unseen(default=None)
    channel_us: float = unseen(default=None)

    @derived("what contention adds to a message on average", SHARE, table=False)
    def added_mean(self) -> float:
        """Over what it takes alone."""
        return self.communication_us_mean / self.message_us - 1

    @derived("what contention adds to a message of the slowest node", SHARE, table=False)
    def added_max(self) -> float:
        """Over what it takes alone."""
        return self.communication_us_max / self.message_us - 1


def run_pattern(
    network: ProgramNetwork,
    program: Pattern,
    stopped: Callable[[], bool],
    *,
    skip: int,
    loops: int,
    most_cycles: int,
) -> Point | None:
    """Run until ``loops`` of every node count, after ``skip`` that do not. Return what they take.

    It ends after ``most_cycles``, or ``MOST_DELAYED`` times the cycles of as many unhindered loops,
    with None if some node did not come so far.
    """
    engine, wanted, costs = network.make_engine(), skip + loops, program.costs
    alone, count = costs.message_us(program.message_bytes), float(program.sends.max())
    unhindered = program.think_us + 2 * count * alone
    loop_cycles = unhindered / costs.cycle_us
    most = min(max(most_cycles, int(MOST_DELAYED * wanted * loop_cycles)), LAST_CYCLE)

    def enough(rows: Records) -> bool:
        done = program.loop_ends(rows["complete"])
        return bool(len(rows) and loops_done(done).min() >= wanted)

    step = int(STEP_LOOPS * loop_cycles) + 1
    ending = run_program(
        engine, program, enough=enough, step=step, most_cycles=most, stopped=stopped
    )
    if not ending.enough:
        return None
    ends = program.loop_ends(engine.rows["complete"])
    times = loop_times(ends, message_flits=1, skip=skip, loops=loops).cycles * costs.cycle_us
    delays = program.of_rounds(engine.rows["delay"].astype(np.int64), program.ends)
    takes = times - delays[skip:wanted].mean(axis=0) * costs.cycle_us
    whole = program.sends == count
    channel_us = program.message_bytes * (costs.cycle_us / costs.flit_bytes)
    found: dict[str, float] = {}
    for part, of in (("mean", np.mean), ("max", np.max)):
        takes_us = float(of(takes[whole])) / (2 * count)
        found[f"loop_us_{part}"] = float(of(times[whole]))
        found[f"communication_us_{part}"] = takes_us
        found[f"slowdown_{part}"] = (takes_us - costs.alpha_us) / (alone - costs.alpha_us)
    return Point(
        message_bytes=program.message_bytes,
        think_us=program.think_us,
        message_us=alone,
        applied=count * channel_us / unhindered,
        average_node=count * channel_us / found["loop_us_mean"],
        worst_node=count * channel_us / found["loop_us_max"],
        **found,
        loop_us=times,
        communication_us=takes,
        channel_us=channel_us,
    )
