"""Runs of tasks that compute, send, wait and start again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.words import counted
from netloom.simulation.agenda import run_program
from netloom.simulation.intervals import Batches, paired_ratio
from netloom.topology.measures import busy_shares
from netloom.workload.programs.loops import loop_times, loops_done

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.simulation.agenda import Ending, ProgramEngine, Records
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.workload.programs.loops import ClosedLoop, LoopTimes
    from netloom.workload.programs.shared import SharedProgram

STEP_MESSAGES = 8
"""Messages that an unhindered task sends between two extensions of its loop."""


class KeptRows(NamedTuple):
    """All rows of a run, for a timeline.

    The flits that crossed each channel, int64[num_network_channels], and bool[n], whether a task
    computes in the delay of a row.
    """

    rows: Records
    channel_flits: Ints
    computing: Bools


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
    ends: Ints
    loops: Ints
    message_latency: float
    unhindered: float
    channel_flits: Floats
    busiest: float
    flit_hops: int
    kept: KeptRows | None = None

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.ending.interrupted:
            return "interrupted: some task had not gone round often enough"
        if not self.ending.enough:
            times = counted(int(self.loops.min()), "time")
            return (
                f"after {self.ending.cycle} cycles some task had gone round {times} only: it "
                "starves, or loops and most_cycles do not go together"
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

    def times(ends: Ints) -> LoopTimes | None:
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
        kept=kept_rows(engine, every=loop.packets) if keep else None,
    )


def kept_rows(engine: ProgramEngine, *, every: int) -> KeptRows:
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
