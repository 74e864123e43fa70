"""Runs of tasks that compute, send, wait and start again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints, Records
from netloom.base.figures import CYCLES, FLITS, SHARE, Figures, derived, figure, known, unseen
from netloom.base.words import counted
from netloom.simulation.agenda import ProgramEngine, run_program
from netloom.simulation.program_network import ProgramNetwork
from netloom.simulation.steady import Batches, paired_ratio
from netloom.topology.measures import busy_shares
from netloom.workload.programs.loops import ClosedLoop, LoopTimes, loop_times, loops_done
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


class Actual(Figures):
    """The traffic that tasks get through."""

    average_node: float = figure("average node", FLITS, head="average", lead=True, key=True)
    worst_node: float = figure("worst node", FLITS, head="slowest", lead=True, key=True)
    accepted: float = figure("mean of the tasks", FLITS, key=True)

    @classmethod
    def of(cls, times: LoopTimes | None) -> Actual | None:
        """Return what tasks got through, if that is known."""
        if times is None:
            return None
        return cls(
            average_node=times.average_node, worst_node=times.worst_node, accepted=times.accepted
        )


class LoopCycles(Figures):
    """What a loop takes."""

    mean: float = figure("loop", CYCLES, lead=True, key=True)
    max: float = figure("slowest task's loop", CYCLES, head="longest", lead=True, key=True)

    @classmethod
    def of(cls, times: LoopTimes | None) -> Self | None:
        """Return what loops took, if that is known."""
        if times is None:
            return None
        return cls(mean=float(times.cycles.mean()), max=float(times.cycles.max()))


class CyclesAlone(LoopCycles):
    """What a loop takes without other programs. A terminal shows its mean only."""

    mean: float = figure("loop alone", CYCLES, head="alone", lead=True)
    max: float = figure("slowest task's loop alone", CYCLES)


class Times(Figures):
    """The loops of a program that runs alone."""

    actual: Actual
    loop_cycles: CyclesAlone = figure(flat="", lead=True)


class OneProgram(Figures):
    """What one of several programs gets through, beside the others and alone.

    ``times`` are those beside the others, of a run that was made just now.
    """

    name: str = figure("program", lead=True)
    nodes: int = figure("on nodes", lead=True)
    tasks: int
    actual: Actual | None = figure(flat="", lead=True)
    loop_cycles: LoopCycles | None = figure(flat="loop_cycles_", lead=True)
    alone: Times | None = figure(flat="alone_", lead=True)
    slowdown: float | None = figure(
        "loop over that alone", "times", head="slow-down", lead=True, half="slowdown_ci95"
    )
    slowdown_ci95: float | None = figure("± 95 %")
    times: LoopTimes | None = unseen()

    def beside(self, alone: LoopTimes | None) -> OneProgram:
        """Return it with what it takes alone, if that was run, and far enough.

        The program draws the same alone and beside the others. So the interval of its slow-down is
        that of both runs, loop by loop: 0 if it never meets them.
        """
        actual, cycles = Actual.of(alone), CyclesAlone.of(alone)
        if alone is None or actual is None or cycles is None:
            return self
        one, times = replace(self, alone=Times(actual=actual, loop_cycles=cycles)), self.times
        if times is None:
            return one
        loops = (times.by_loop, alone.by_loop)
        batches = [Batches(each, np.ones(len(each))) for each in loops if each is not None]
        slowdown = float(times.cycles.mean() / alone.cycles.mean())
        return replace(one, slowdown=slowdown, slowdown_ci95=known(paired_ratio(*batches)[1]))


class Point(Figures):
    """What tasks get through at one applied traffic.

    Attributes
    ----------
    message_latency, unhindered_latency
        Mean latency of the messages, and what it would be in an idle network. None if there are
        none over the network.
    utilisation_max
        What the channel that is busy most carries, over its bandwidth.
    flit_hops
        Flits times channels crossed.
    times
        Loop times and actual traffic. None where a task did not go round often enough. This and
        what follows is known of a run that was made just now.
    ends
        int64[num_loops, num_chains], the cycle in which each loop of a task ends, as many as were
        asked for; -1: not yet.
    loops
        int64[num_chains], loops that each task has finished.
    channel_flits
        float64[num_network_channels], flits per cycle on each channel.
    kept
        The rows, if they were to be kept.
    """

    applied: float = figure(unit=FLITS, lead=True, key=True)
    actual: Actual | None = figure(flat="", lead=True, key=True)
    loop_cycles: LoopCycles | None = figure(flat="loop_cycles_", lead=True, key=True)
    message_latency: float | None = figure(
        "message latency", CYCLES, head="message", lead=True, key=True
    )
    unhindered_latency: float | None = figure(
        "unhindered", CYCLES, head="idle", lead=True, key=True
    )
    utilisation_max: float | None = figure(
        "busiest channel", "flits/cycle", head="busiest link", lead=True, key=True
    )
    cycles: int = figure("run", CYCLES)
    num_messages: int = figure("messages", at="messages")
    flit_hops: int = figure("flit-hops")
    interrupted: bool
    note: str | None = figure(table=False)
    programs: tuple[OneProgram, ...] = figure("side by side")
    times: LoopTimes | None = unseen()
    ends: Ints = unseen()
    loops: Ints = unseen()
    channel_flits: Floats = unseen()
    kept: KeptRows | None = unseen()

    @derived("share of the applied traffic that an average node loses", SHARE, table=False)
    def lost_mean(self) -> float | None:
        """At least 0."""
        return max(1 - self.actual.average_node / self.applied, 0.0) if self.actual else None

    @derived("share of the applied traffic that the slowest loses", SHARE, table=False)
    def lost_worst(self) -> float | None:
        """At least 0."""
        return max(1 - self.actual.worst_node / self.applied, 0.0) if self.actual else None


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
) -> Point:
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
    # A message goes from its first packet's sending to its last's arrival. Packets that the program
    # cuts it into wait for each other, and for the gap between them.
    of_message, latency, unhindered = engine.rows.reshape(-1, loop.packets), None, None
    last = of_message[:, -1]
    moved = of_message[(last["arrived"] >= 0) & (last["source"] != last["target"])]
    if len(moved):
        latency = float((moved[:, -1]["arrived"] - moved[:, 0]["sent"]).mean())
        alone = network.zero_load_latencies(moved.ravel()).reshape(-1, loop.packets).sum(axis=1)
        unhindered = float((alone + moved["delay"][:, 1:].sum(axis=1)).mean())
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
        one = OneProgram(
            name=name,
            nodes=len(np.unique(nodes)),
            tasks=len(nodes),
            actual=Actual.of(own),
            loop_cycles=LoopCycles.of(own),
            alone=None,
            slowdown=None,
            slowdown_ci95=None,
            times=own,
        )
        programs.append(one)
    used = engine.channel_flits() / max(ending.cycle, 1)
    done, took, note = loop.loops_done(engine.rows["complete"]), times(ends), None
    if ending.interrupted:
        note = "interrupted: some task had not gone round often enough"
    elif not ending.enough:
        round_ = counted(int(done.min()), "time")
        note = f"after {ending.cycle} cycles some task had gone round {round_} only: "
        note += "it starves, or loops and most_cycles do not go together"
    return Point(
        applied=loop.applied,
        actual=Actual.of(took),
        loop_cycles=LoopCycles.of(took),
        message_latency=latency,
        unhindered_latency=unhindered,
        utilisation_max=float(busy_shares(network.topology, used).max(initial=0.0)),
        cycles=ending.cycle,
        num_messages=int(done.sum()),
        flit_hops=int(engine.flit_hops),
        interrupted=ending.interrupted,
        note=note,
        programs=tuple(programs),
        times=took,
        ends=ends,
        loops=done,
        channel_flits=used,
        kept=kept_rows(engine, every=loop.packets) if keep else None,
    )


def kept_rows(engine: ProgramEngine, *, every: int) -> KeptRows:
    """Return the rows. ``every``: of so many, tasks compute in the delay of the first, 0: none."""
    computing = np.zeros(engine.num_rows, np.bool_)
    if every:
        computing[::every] = True
    return KeptRows(engine.rows.copy(), engine.channel_flits(), computing)


def beside_alone(together: Sequence[Point], alone: Sequence[Point]) -> tuple[Point, ...]:
    """Put what programs do alone to what they do together.

    ``alone`` has as many runs of each program as ``together`` has, program by program. The last
    may be missing.
    """
    times, count = dict(enumerate(each.times for each in alone)), len(together)
    found = []
    for place, run in enumerate(together):
        numbered = enumerate(run.programs)
        beside = [each.beside(times.get(number * count + place)) for number, each in numbered]
        found.append(replace(run, programs=tuple(beside)))
    return tuple(found)
