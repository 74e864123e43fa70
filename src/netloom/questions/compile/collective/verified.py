"""Is this schedule of a collective right, and what does it prove?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.words import counted
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.schedule_files import read_schedule
from netloom.phases.collectives.schedules import least_latency
from netloom.phases.violations import InvalidPlanError, Violation
from netloom.questions.columns import Column, Columns
from netloom.questions.compile.plan_verdicts import NEAR, on_network, part_of, proven, told
from netloom.questions.shown import Verdict, short_name
from netloom.workload.programs.collectives.costs import bus_factor
from netloom.workload.programs.collectives.msccl import parse_msccl
from netloom.workload.programs.collectives.msccl_running import executed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.drawing.timelines import Timeline
    from netloom.phases.collectives.judged import Judged
    from netloom.phases.collectives.schedules import Schedule
    from netloom.questions.simulate.trace import TraceReplay
    from netloom.workload.programs.collectives.msccl_running import Execution

VERIFIED = Columns(
    Column("plan", kind=str, value="path"),
    Column("verified", kind=bool, value=lambda _: True),
    Column("violation", kind=str, value=lambda _: None),
    Column("topology", kind=str, value="schedule.network.name"),
    Column("collective", kind=str, value="schedule.program.collective"),
    Column("ranks", kind=int, value="schedule.program.num_ranks"),
    Column("size", value="schedule.size_bytes"),
    Column("messages", kind=int, value="schedule.program.num_messages"),
    Column("chunks", kind=int, value="schedule.program.num_chunks"),
    Column("depth", kind=int, value="judged.depth"),
    Column("finish_seconds", value="judged.finish_seconds"),
    Column("algorithm_bandwidth"),
    Column("bus_bandwidth"),
    Column("bound_seconds", value="schedule.bound.seconds"),
    Column("bound", kind=str, value="schedule.bound.why"),
    Column("bound_verified", kind=bool),
    Column("efficiency"),
    Column("few_steps", kind=dict),
    Column("replayed", kind=dict),
    Column("proves", kind=list),
    Column("verdict", kind=dict, value=lambda found: found.verdict.to_dict()),
)


@dataclass(frozen=True, eq=False)
class VerifiedCollective:
    """A plan file of a collective that breaks no rule."""

    path: str
    schedule: Schedule
    judged: Judged
    run: TraceReplay | None = None

    @property
    def replayed(self) -> dict[str, Any] | None:
        """What the plan takes on a network that was named, as plain data."""
        return None if self.run is None else replayed(self.run, self.schedule.size_bytes)

    @property
    def algorithm_bandwidth(self) -> float:
        """Size over time, in bytes/s."""
        return self.schedule.size_bytes / self.judged.finish_seconds

    @property
    def bus_bandwidth(self) -> float:
        """As nccl-tests define it, in bytes/s."""
        program = self.schedule.program
        return self.algorithm_bandwidth * bus_factor(program.collective, program.num_ranks)

    @property
    def bound_verified(self) -> bool:
        """Whether the file has a cut or prices, from which the bound was computed anew."""
        return self.judged.bound_seconds > 0

    @property
    def efficiency(self) -> float:
        """The bound over the time."""
        return self.schedule.bound.seconds / self.judged.finish_seconds

    @property
    def few_steps(self) -> dict[str, Any] | None:
        """What prices prove of schedules of few steps, exactly. None if there are none.

        ``times_slowest``: the time in which the slowest channel carries the data of a rank, or of
        the root, so many times.
        """
        few, proven = self.schedule.few, self.judged.step_seconds
        if few is None or proven is None:
            return None
        program, rates = self.schedule.program, self.schedule.network.rate
        parts = 1 if program.collective in ("broadcast", "reduce") else program.num_ranks
        one = Fraction(self.schedule.size_bytes) / parts / Fraction(float(rates.min()))
        return {
            "steps": program.num_steps, "most_steps": few.proof.steps,
            "bound_seconds": float(proven), "bound_seconds_exact": str(proven),
            "times_slowest": str(proven / one), "numbers": few.proof.count,
        }  # fmt: skip

    @property
    def proves(self) -> list[str]:
        """What was checked, in sentences."""
        program, network = self.schedule.program, self.schedule.network
        messages = counted(program.num_messages, "message", ",")
        part = f"{part_of(self.efficiency)} of the bound"
        note = None if self.run is None else self.run.note
        if self.bound_verified:
            what = "its cut" if self.schedule.bound.prices is None else "its prices of channels"
            said = f"{part}, computed anew from {what}: {self.schedule.bound.why}"
        else:
            said = f"{part} in the file, which was not computed anew: {self.schedule.bound.why}"
        steps = []
        if (few := self.few_steps) is not None:
            times = Fraction(few["times_slowest"]).limit_denominator(10**6)
            least = units.rate(float(network.rate.min()))
            steps = [
                f"Steps: {few['steps']}, one after the other. No schedule of at most "
                f"{counted(few['most_steps'], 'step')} sends for less than "
                f"{units.seconds(few['bound_seconds'], 4)}, checked with exact fractions from "
                f"{counted(few['numbers'], 'number', ',')}: {times} times what a channel of "
                f"{least} takes for the data of a rank."
            ]
        return [
            f"Data: all {messages} were executed. Each rank ends with what {program.collective} "
            "means, no contribution counts twice, and nothing is sent before it has arrived.",
            f"Channels: every route is a way on {short_name(network.name)}, and no channel carries "
            "more than its rate at any time.",
            f"Time: {units.seconds(self.judged.finish_seconds, 4)}, {said}",
            *steps,
            *replay_said(self.run, self.schedule.size_bytes, note),
        ]

    def timeline(self) -> Timeline:
        """Return when each message leaves and arrives, rank by rank."""
        from netloom.questions.compile.collective.question import schedule_timeline

        return schedule_timeline(self.schedule)

    def to_dict(self) -> dict[str, Any]:
        """Return what was verified as plain data."""
        return VERIFIED.nested(self)

    @property
    def verdict(self) -> Verdict:
        """That no rule is broken, and how near the best possible the schedule is."""
        program, network = self.schedule.program, self.schedule.network
        size, time = self.schedule.size_bytes, self.judged.finish_seconds
        said = f"Verified: {program.collective} of {units.size(size)} in {units.seconds(time)}"
        of = on_network(counted(program.num_ranks, "rank", ","), network.name)
        note = "" if self.bound_verified else "* the file does not prove its bound"
        return Verdict("fine", f"{said}{self._how_near()}.", of, proven(self.proves), note=note)

    def _how_near(self) -> str:
        """Return what is proven of the time: in few steps, by latencies or by bytes."""
        program, network = self.schedule.program, self.schedule.network
        if self.few_steps is not None:
            return f" and {counted(self.few_steps['steps'], 'step')}"
        latency = least_latency(network, program.collective, program.root)
        if self.efficiency < NEAR <= latency / self.judged.finish_seconds:
            return ", as fast as latencies allow"
        best = "the best possible" if self.bound_verified else "the bound in the file"
        return f", {part_of(self.efficiency)} of {best}"

    def __repr__(self) -> str:
        return told(self.path, self.verdict)


def replayed(run: TraceReplay, size_bytes: float) -> dict[str, Any]:
    """Return what a schedule takes on a network, as plain data."""
    return {
        "topology": run.setup.topology,
        "finish_seconds": run.finish,
        "algorithm_bandwidth": None if run.finish is None else size_bytes / run.finish,
        "note": run.note,
    }


def replay_said(run: TraceReplay | None, size_bytes: float, more: str | None) -> list[str]:
    """Return what a schedule takes on a network, and more. Nothing if none was named."""
    if run is None or run.finish is None:
        return []
    took = f"{units.seconds(run.finish, 4)} ({units.rate(size_bytes / run.finish, 4)})"
    said = f"Fabric: as flows it takes {took} on {short_name(run.setup.topology)}."
    return [f"{said} {more}" if more else said]


def verified_collective(
    path: str, text: str, fabric: Mapping[str, Any] | None = None
) -> VerifiedCollective:
    """Read a plan file of a collective and verify it.

    ``fabric``: what ``replay`` is asked of it, if a network was named.

    Raises
    ------
    InputError
        If the file cannot be read.
    InvalidPlanError
        With the first rule that it breaks.
    """
    schedule = read_schedule(path, text).schedule
    with patience("Verifying a plan"):
        judged = judge(schedule)
    if fabric is None:
        return VerifiedCollective(path, schedule, judged)
    if fabric.get("size") is not None:
        raise InputError("size", f"{fabric['size']}", "none: the plan has its own")
    return VerifiedCollective(path, schedule, judged, _flows(path, fabric))


def _flows(trace: Any, fabric: Mapping[str, Any]) -> TraceReplay:
    from netloom.questions.simulate.trace import replay

    given = {name: value for name, value in fabric.items() if value is not None}
    return replay(trace=trace, engine="flow", **given)


PROGRAM = VERIFIED.pick("plan", "verified", "violation") + Columns(
    Column("collective", kind=str, value="execution.found.collective"),
    Column("ranks", kind=int, value="execution.found.num_gpus"),
    Column("messages", kind=int, value=lambda found: len(found.execution.sent)),
    Column("chunks", kind=int, value="execution.found.per_loop"),
    Column("steps", kind=int, value="execution.depth"),
    Column("size", value="size_bytes"),
    Column("padded_size", value="padded_bytes"),
    Column("replayed", kind=dict),
    Column("proves", kind=list),
    Column("verdict", kind=dict, value=lambda found: found.verdict.to_dict()),
)


@dataclass(frozen=True, eq=False)
class VerifiedProgram:
    """MSCCL XML that does what its collective means. It has times only on a network."""

    path: str
    execution: Execution
    run: TraceReplay | None = None
    size_bytes: float | None = None

    @property
    def padded_bytes(self) -> int | None:
        """The size with which all chunks are whole bytes, if a size was named."""
        size = self.size_bytes
        return None if size is None else self.execution.padded_bytes(size)

    @property
    def replayed(self) -> dict[str, Any] | None:
        """What it takes on a network that was named, as plain data."""
        if self.run is None or self.size_bytes is None:
            return None
        return replayed(self.run, self.size_bytes)

    @property
    def proves(self) -> list[str]:
        """What was checked, in sentences."""
        messages = counted(len(self.execution.sent), "message", ",")
        depth = counted(self.execution.depth, "message", ",")
        said = [
            f"Data: {messages}, at most {depth} one after the other, were executed by their thread "
            f"blocks without deadlock. Each rank ends with what {self.execution.found.collective} "
            "means."
        ]
        size = self.size_bytes or 0.0
        return said + replay_said(self.run, size, self.execution.padding(size) if size else None)

    def timeline(self) -> Timeline:
        """Raise InputError: there are no times."""
        raise InputError("perfetto", "MSCCL XML, which has no times", "a plan file")

    def to_dict(self) -> dict[str, Any]:
        """Return what was verified as plain data."""
        return PROGRAM.nested(self)

    @property
    def verdict(self) -> Verdict:
        """That it does what its collective means."""
        program = self.execution.found
        messages = counted(len(self.execution.sent), "message", ",")
        said = f"Verified: {messages} do what {program.collective} means."
        of = counted(program.num_gpus, "rank", ",")
        return Verdict("fine", said, of, proven(self.proves))

    def __repr__(self) -> str:
        return told(self.path, self.verdict)


def verified_msccl(path: str, fabric: Mapping[str, Any] | None = None) -> VerifiedProgram:
    """Read MSCCL XML and verify it. See ``msccl_running.all_sent``.

    ``fabric``: what ``replay`` is asked of it, if a network was named.

    Raises
    ------
    InputError
        If it cannot be read, or is of another number of GPUs than the network has ranks.
    InvalidPlanError
        If it deadlocks, thread blocks race, or it does not do what its collective means.
    """
    found = parse_msccl(path)
    try:
        with patience("Verifying a program"):
            execution = executed(found)
    except InputError as error:
        broken = Violation("data", error.where, error.found, error.wanted)
        raise InvalidPlanError(broken) from None
    if fabric is None:
        return VerifiedProgram(path, execution)
    run = _flows(execution, fabric)
    return VerifiedProgram(path, execution, run, units.parse_bytes(fabric["size"], where="size"))
