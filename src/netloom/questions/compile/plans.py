"""Is this plan file right, and do its programs deliver every word?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.textfiles import read_text
from netloom.base.words import counted
from netloom.phases import least_phases, read_plan, verify
from netloom.phases.collectives.schedule_files import MOST_CHARACTERS, names_collective
from netloom.phases.plan_files import WANTED
from netloom.questions.columns import Column, Columns
from netloom.questions.compile.collective.verified import (
    VerifiedCollective,
    VerifiedProgram,
    verified_collective,
    verified_msccl,
)
from netloom.questions.compile.plan_verdicts import of_what, told
from netloom.questions.shown import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from netloom.drawing.timelines import Timeline
    from netloom.phases import PlanFile


VERIFIED = Columns(
    Column("plan", kind=str, value="path"),
    Column("verified", kind=bool, value=lambda _: True),
    Column("violation", kind=str, value=lambda _: None),
    Column("topology", kind=str, value="file.plan.topology.name"),
    Column("connections", kind=int, value=lambda found: len(found.file.plan.connections)),
    Column("phases", kind=int, value="file.plan.num_phases"),
    Column("lower_bound_phases", kind=int),
    Column("max_channels_used", kind=int),
    Column("schedule", kind=str, value="file.timetable.kind"),
    Column("verdict", kind=dict, value=lambda found: found.verdict.to_dict()),
)


@dataclass(frozen=True, eq=False)
class VerifiedPlan:
    """A plan file that breaks no rule.

    Attributes
    ----------
    lower_bound_phases
        No plan of its connections has fewer phases: computed anew.
    """

    path: str
    file: PlanFile
    lower_bound_phases: int

    @property
    def max_channels_used(self) -> int:
        """Most virtual channels that a node, or channel, has in use in a phase."""
        return int(self.file.plan.use().max(initial=0))

    def timeline(self) -> Timeline:
        """Return when each connection moves its words, and the phases, on tracks of nodes."""
        from netloom.questions.compile.question import phases_timeline

        return phases_timeline(self.file.plan, self.file.timetable, self.file.costs)

    def to_dict(self) -> dict[str, Any]:
        """Return what was verified as plain data."""
        return VERIFIED.nested(self)

    @property
    def verdict(self) -> Verdict:
        """That no rule is broken, and how few phases there can be."""
        plan, limit, least = self.file.plan, self.file.plan.capacity, self.lower_bound_phases
        many = counted(plan.num_phases, "phase", ",")
        connections = counted(len(plan.connections), "connection", ",")
        kept = f"the {self.file.timetable.kind} times are kept"
        lines = {
            "proven": f"at most {self.max_channels_used} of {limit.virtual_channels} virtual "
            f"channels per {limit.per} are in use; {kept}",
            "limits": f"{many}, and no plan has fewer"
            if plan.num_phases == least
            else f"{many} of at least {least:,}",
        }
        runs = len(plan.connections) and "run_plan" in declared("functions")
        run = f"netloom compile run {self.path}" if runs else ""
        said = f"Verified: {connections} in {many} break no rule."
        return Verdict("fine", said, of_what(plan), lines, run)

    def __repr__(self) -> str:
        return told(self.path, self.verdict)


def verify_plan(
    path: str | Path,
    *,
    on: Any = None,
    size: float | str | None = None,
    bandwidth: float | str | None = None,
    latency: float | str | None = None,
) -> VerifiedPlan | VerifiedCollective | VerifiedProgram:
    """Read a plan file or MSCCL XML and verify it: its routes, phases, order and times.

    A collective is executed on data as well. The verifier shares no code with the compiler. See
    ``phases.first_violation`` and ``phases.collectives.judged``.

    Parameters
    ----------
    on, size, bandwidth, latency
        The network on which a collective is replayed as flows, the size of MSCCL XML, and its
        channels' rate and latency. As ``replay`` takes them.

    Raises
    ------
    InputError
        If the file cannot be read, or is of another number of ranks than the network.
    InvalidPlanError
        With the first rule that it breaks.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom import compile_phases
    >>> file = Path(mkdtemp()) / "plan.json"
    >>> compile_phases("ring:4", "torus:4", words=8).write(file)
    >>> verify_plan(file).to_dict()["phases"]
    1
    """
    fabric = {"on": on, "size": size, "bandwidth": bandwidth, "latency": latency}
    given = [name for name, value in fabric.items() if value is not None]
    if given and on is None:
        raise InputError(given[0], f"{fabric[given[0]]}", "a network too: on")
    if str(path).lower().endswith(".xml"):
        return verified_msccl(str(path), fabric if given else None)
    text = read_text(path, wanted=WANTED, most_bytes=MOST_CHARACTERS)
    if names_collective(text):
        return verified_collective(str(path), text, fabric if given else None)
    if given:
        raise InputError("on", f"{on}", "none: only plans of collectives are replayed")
    return verified_phases(path)


def verified_phases(path: str | Path) -> VerifiedPlan:
    """Return a file of phases that breaks no rule."""
    held = read_plan(path)
    with patience("Verifying a plan"):
        verify(held.plan, held.timetable, held.costs)
        bound = least_phases(held.plan.connections, held.plan.topology, held.plan.capacity)
    return VerifiedPlan(str(path), held, bound.phases)
