"""Is this schedule of a collective right, and what does it prove?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netloom import units
from netloom.errors import InputError
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.schedule_files import read_schedule
from netloom.progress import patience
from netloom.questions.answers import Column, Columns
from netloom.words import counted
from netloom.workload.programs.collectives.costs import bus_factor

if TYPE_CHECKING:
    from netloom.drawing.timelines import Timeline
    from netloom.phases.collectives.judged import Judged
    from netloom.phases.collectives.schedules import Schedule
    from netloom.workload.programs.collectives.program import CollectiveProgram

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
    Column("proves", kind=list),
)


@dataclass(frozen=True, eq=False)
class VerifiedCollective:
    """A plan file of a collective that breaks no rule."""

    path: str
    schedule: Schedule
    judged: Judged

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
        """What prices prove of schedules of few steps, exactly; None if there are none.

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
        part = f"{100 * self.efficiency:.4g} % of the bound"
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
            f"Data: all {messages} were executed; each rank ends with what {program.collective} "
            "means, no contribution counts twice, and nothing is sent before it has arrived.",
            f"Channels: every route is a way on {network.name}, and no channel carries more than "
            "its rate at any time.",
            f"Time: {units.seconds(self.judged.finish_seconds, 4)}, {said}",
            *steps,
        ]

    def timeline(self) -> Timeline:
        """Return when each message leaves and arrives, rank by rank."""
        from netloom.questions.compile.collective.timeline import schedule_timeline

        return schedule_timeline(self.schedule)

    def to_dict(self) -> dict[str, Any]:
        """Return what was verified as plain data."""
        return VERIFIED.nested(self)

    def __repr__(self) -> str:
        program = self.schedule.program
        head = (
            f"verified {self.path}: {program.collective} of {units.size(self.schedule.size_bytes)} "
            f"by {counted(program.num_ranks, 'rank', ',')} on {self.schedule.network.name} at "
            f"{units.rate(self.algorithm_bandwidth)}"
        )
        return "\n".join([head, *(f"• {each}" for each in self.proves)])


def verified_collective(path: str, text: str) -> VerifiedCollective:
    """Read a plan file of a collective and verify it.

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
    return VerifiedCollective(path, schedule, judged)


PROGRAM = VERIFIED.pick("plan", "verified", "violation") + Columns(
    Column("collective", kind=str, value="program.collective"),
    Column("ranks", kind=int, value="program.num_ranks"),
    Column("messages", kind=int, value="program.num_messages"),
    Column("chunks", kind=int, value="program.num_chunks"),
    Column("steps", kind=int, value="program.num_steps"),
    Column("proves", kind=list),
)


@dataclass(frozen=True, eq=False)
class VerifiedProgram:
    """MSCCL XML that does what its collective means; it has no times."""

    path: str
    program: CollectiveProgram

    @property
    def proves(self) -> list[str]:
        """What was checked, in sentences."""
        program = self.program
        messages = counted(program.num_messages, "message", ",")
        return [
            f"Data: {messages} in {counted(program.num_steps, 'step', ',')} were executed by their "
            f"thread blocks without deadlock; each rank ends with what {program.collective} means."
        ]

    def timeline(self) -> Timeline:
        """Raise InputError: there are no times."""
        raise InputError("perfetto", "MSCCL XML, which has no times", "a plan file")

    def to_dict(self) -> dict[str, Any]:
        """Return what was verified as plain data."""
        return PROGRAM.nested(self)

    def __repr__(self) -> str:
        what = f"{self.program.collective} by {counted(self.program.num_ranks, 'rank', ',')}"
        return "\n".join([f"verified {self.path}: {what}", *(f"• {each}" for each in self.proves)])


def verified_msccl(path: str) -> VerifiedProgram:
    """Read MSCCL XML and verify it; see ``read_msccl``.

    Raises
    ------
    InputError
        If it cannot be read, deadlocks, or does not do what its collective means.
    """
    from netloom.workload.programs.collectives.msccl_reading import read_msccl

    with patience("Verifying a program"):
        return VerifiedProgram(path, read_msccl(path))
