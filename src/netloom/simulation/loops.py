"""Runs of what computes, sends, waits and starts again: tasks, patterns of nodes, transactions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.intervals import Batches, interval_over_runs, paired_ratio
from netloom.simulation.kernels.agenda import LAST_CYCLE
from netloom.simulation.replay import ProgramRun, run_program
from netloom.simulation.steady import run_to
from netloom.topology.measures import busy_shares
from netloom.workload.programs.loops import loop_times, loops_done

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from netloom.simulation.agenda import ProgramEngine, Records
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.simulation.replay import Ending
    from netloom.workload.programs.loops import ClosedLoop, LoopTimes
    from netloom.workload.programs.neighbour_patterns import Pattern
    from netloom.workload.programs.node_costs import NodeCosts
    from netloom.workload.programs.shared import SharedProgram
    from netloom.workload.programs.transactions import Transactions, TransactionStatistics

STEP_MESSAGES = 8
"""Messages that an unhindered task sends between two extensions of its loop."""


class KeptRows(NamedTuple):
    """All rows of a run, for a timeline.

    The flits that crossed each channel, int64[num_network_channels], and bool[n], whether a task
    computes in the delay of a row.
    """

    rows: Records
    channel_flits: NDArray[np.int64]
    computing: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ProgramSpeed:
    """What one of several programs gets through, beside the others and alone.

    Attributes
    ----------
    name, nodes, tasks
        The program, its tasks that communicate, and how many nodes they are on.
    times
        Its loop times beside the others. None where a task did not go round often enough.
    alone
        Its loop times with the network to itself. None where it was not run, or not far enough.
    """

    name: str
    nodes: int
    tasks: int
    times: LoopTimes | None
    alone: LoopTimes | None

    @property
    def slowdown(self) -> float | None:
        """Mean loop time beside the others, as a multiple of that alone."""
        if self.times is None or self.alone is None:
            return None
        return float(self.times.cycles.mean() / self.alone.cycles.mean())

    @property
    def slowdown_ci95(self) -> float | None:
        """Half-width of the 95 % interval of that multiple, loop by loop of both runs.

        The program draws the same alone and beside the others: 0 where it never meets them.
        """
        if self.times is None or self.alone is None:
            return None
        loops = (self.times.by_loop, self.alone.by_loop)
        batches = [Batches(each, np.ones(len(each))) for each in loops if each is not None]
        half = paired_ratio(*batches)[1]
        return None if np.isnan(half) else half


@dataclass(frozen=True, eq=False)
class LoopRun:
    """What a program gets through at one applied traffic.

    Attributes
    ----------
    applied
        Applied traffic, flits/node/cycle.
    times
        Loop times and actual traffic. None where a task did not go round often enough.
    programs
        What each of several programs gets through.
    ending
        How the run ended.
    ends
        int64[num_loops, num_chains], the cycle in which each loop of a task ends, as many as were
        asked for; -1: not yet.
    loops
        int64[num_chains], loops that each task has finished.
    message_latency, unhindered
        Mean latency of the messages, and what it would be in an idle network, cycles. NaN if there
        are none over the network.
    channel_flits
        float64[num_network_channels], flits per cycle on each channel.
    busiest
        What the channel that is busy most carries, over its bandwidth.
    flit_hops
        Flits times channels crossed.
    kept
        The rows, if they were to be kept.
    """

    applied: float
    times: LoopTimes | None
    programs: tuple[ProgramSpeed, ...]
    ending: Ending
    ends: NDArray[np.int64]
    loops: NDArray[np.int64]
    message_latency: float
    unhindered: float
    channel_flits: NDArray[np.float64]
    busiest: float
    flit_hops: int
    kept: KeptRows | None = None

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.ending.interrupted:
            return "interrupted: some task had not gone round often enough"
        if not self.ending.enough:
            return (
                f"after {self.ending.cycle} cycles some task had gone round {self.loops.min()} "
                "times only: it starves, or loops and most_cycles do not go together"
            )
        return None


def run_loop(
    network: ProgramNetwork,
    loop: ClosedLoop,
    shared: SharedProgram | None,
    stopped: Callable[[], bool],
    *,
    skip: int,
    loops: int,
    most_cycles: int,
    by_node: bool = False,
    keep: bool = False,
) -> LoopRun:
    """Run until ``loops`` of every task count, after ``skip`` that do not, or for ``most_cycles``.

    ``shared`` are the programs to tell apart, if there are several. ``keep``: to keep the rows.
    """
    engine, enough = network.make_engine(by_node=by_node), skip + loops
    ending = run_program(
        engine,
        loop,
        enough=lambda rows: bool(len(rows) and loop.loops_done(rows["complete"]).min() >= enough),
        step=STEP_MESSAGES * int(loop.message_flits + loop.think_cycles),
        most_cycles=most_cycles,
        stopped=stopped,
    )
    latency, unhindered = _latencies(network, engine.rows, loop.packets)
    ends = loop.loop_ends(engine.rows["complete"], enough)

    def times(ends: NDArray[np.int64]) -> LoopTimes | None:
        if loops_done(ends).min() < enough:
            return None
        return loop_times(ends, message_flits=loop.message_flits, skip=skip, loops=loops)

    programs = []
    for number, name in enumerate(shared.names if shared else ()):
        assert shared is not None
        nodes = shared.node_of[shared.program_of == number]
        own = times(ends[:, shared.program_of[loop.tasks] == number])
        programs.append(ProgramSpeed(name, len(np.unique(nodes)), len(nodes), own, None))
    used = engine.channel_flits() / max(ending.cycle, 1)
    return LoopRun(
        applied=loop.applied,
        times=times(ends),
        programs=tuple(programs),
        ending=ending,
        ends=ends,
        loops=loop.loops_done(engine.rows["complete"]),
        message_latency=latency,
        unhindered=unhindered,
        channel_flits=used,
        busiest=float(busy_shares(network.topology, used).max(initial=0.0)),
        flit_hops=engine.flit_hops,
        kept=_kept(engine, every=loop.packets) if keep else None,
    )


def _kept(engine: ProgramEngine, *, every: int) -> KeptRows:
    """Return the rows. ``every``: of so many, tasks compute in the delay of the first, 0: none."""
    computing = np.zeros(engine.num_rows, np.bool_)
    if every:
        computing[::every] = True
    return KeptRows(engine.rows.copy(), engine.channel_flits(), computing)


def beside_alone(together: Sequence[LoopRun], alone: Sequence[LoopRun]) -> tuple[LoopRun, ...]:
    """Put what programs do alone to what they do together.

    ``alone`` has as many runs of each program as ``together`` has, program by program. The last
    may be missing.
    """
    times, count = dict(enumerate(each.times for each in alone)), len(together)
    return tuple(
        replace(
            run,
            programs=tuple(
                replace(program, alone=times.get(number * count + place))
                for number, program in enumerate(run.programs)
            ),
        )
        for place, run in enumerate(together)
    )


def _latencies(network: ProgramNetwork, rows: Records, packets: int) -> tuple[float, float]:
    """Return the mean latency of messages over the network, and what it would be in an idle one.

    A message goes from its first packet's sending to its last's arrival. Packets that the program
    cuts it into wait for each other, and for the gap between them.
    """
    of_message = rows.reshape(-1, packets)
    last = of_message[:, -1]
    moved = of_message[(last["arrived"] >= 0) & (last["source"] != last["target"])]
    if not len(moved):
        return float("nan"), float("nan")
    latency = moved[:, -1]["arrived"] - moved[:, 0]["sent"]
    alone = network.zero_load_latencies(moved.ravel()).reshape(-1, packets).sum(axis=1)
    gaps = moved["delay"][:, 1:].sum(axis=1)
    return float(latency.mean()), float((alone + gaps).mean())


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
    loop_us: NDArray[np.float64]
    communication_us: NDArray[np.float64]
    messages: NDArray[np.float64]
    alone_us: float
    alpha_us: float
    channel_us: float

    @property
    def applied(self) -> float:
        """Applied traffic: what a node would send if no two messages met (eq. 4.3)."""
        count = float(self.messages.max())
        return count * self.channel_us / (self.think_us + 2 * count * self.alone_us)

    def of_busiest(self, figure: Callable[[NDArray[np.float64]], float]) -> NodeFigures:
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


WARM_BATCHES, BATCHES = 5, 20
"""Batches of the start-up, and equal parts of the measured time after it."""

BATCH_TRANSACTIONS = 10
"""Transactions that a thread issues in a batch, where no message meets another."""


@dataclass(frozen=True, eq=False)
class TransactionRun:
    """What a run of transactions found in its window.

    Figures of all of the measured time, and of its ``batches``. B, the mean length of a message.
    float64[num_network_channels], flits per cycle on each channel. The cycle it came to, and
    whether it was stopped from outside. The rows, those of the start-up too, if they were to be
    kept.
    """

    found: TransactionStatistics
    batches: tuple[TransactionStatistics, ...]
    mean_flits: float
    channel_flits: NDArray[np.float64]
    cycle: int
    interrupted: bool
    kept: KeptRows | None = None

    def interval(self, quantity: str) -> float:
        """Return the half-width of the 95 % confidence interval of a figure, from batch means."""
        return interval_over_runs([getattr(batch, quantity) for batch in self.batches])[1]


def batch_cycles(thread_cycles: float, processor_cycles: float) -> int:
    """Return the cycles of a batch, from those of a transaction that no other message delays.

    A thread takes so long from one to the next, and a processor to let each of its threads run.

    Examples
    --------
    >>> batch_cycles(thread_cycles=60, processor_cycles=32)
    601
    """
    return int(BATCH_TRANSACTIONS * max(thread_cycles, processor_cycles)) + 1


def run_transactions(
    network: ProgramNetwork,
    program: Transactions,
    batch: int,
    contexts: int,
    stopped: Callable[[], bool],
    *,
    keep: bool = False,
) -> TransactionRun | None:
    """Run through the start-up and all batches of so many cycles. Return what was found.

    The rows of each of the ``contexts`` of a processor are made as if it were alone there. None if
    the run was stopped before two batches were complete. ``keep``: to keep the rows.
    """
    engine = network.make_engine()
    run = ProgramRun(engine, program)
    begin = WARM_BATCHES * batch
    step = min(batch, -(-4 * batch // contexts))
    run_to(run, begin, step=step, stopped=stopped)
    before = engine.channel_flits()
    ended = run_to(run, begin + BATCHES * batch, step=step, stopped=stopped)
    marks = np.arange(begin, run.cycle + 1, batch).tolist()
    if len(marks) < 3:
        return None
    rows = engine.rows
    sent = (rows["sent"] >= 0) & (rows["flits"] > 0) & (rows["source"] != rows["target"])
    return TransactionRun(
        found=program.statistics(rows, begin=begin, end=marks[-1]),
        batches=tuple(
            program.statistics(rows, begin=first, end=last) for first, last in pairwise(marks)
        ),
        mean_flits=float(rows["flits"][sent].mean()) if sent.any() else float("nan"),
        channel_flits=(engine.channel_flits() - before) / max(run.cycle - begin, 1),
        cycle=run.cycle,
        interrupted=not ended,
        kept=_kept(engine, every=0) if keep else None,
    )
