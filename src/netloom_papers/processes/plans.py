"""Do the programs of this plan file deliver every word?"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from netloom.questions.compile.plan_verdicts import of_what, told
from netloom.questions.compile.plans import verified_phases

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.words import counted
from netloom.phases.execute.node_programs import node_program, node_programs
from netloom.questions.columns import Column, Columns
from netloom.questions.shown import Verdict
from netloom_papers.processes.runtime import run_programs

if TYPE_CHECKING:
    from pathlib import Path

    from netloom.phases import PlanFile
    from netloom.phases.execute.node_programs import NodeProgram
    from netloom_papers.processes.runtime import Delivery

DELIVERED = Columns(
    Column("plan", kind=str, value="path"),
    Column("delivered", kind=bool),
    Column("connections", kind=int, value=lambda found: len(found.delivery.words)),
    Column("words", kind=int, value=lambda found: found.delivery.words.sum()),
    Column("faults", kind=list, value=lambda found: list(found.delivery.faults)),
    Column("workers", kind=int, value="delivery.num_workers"),
    Column("seconds", unit="seconds"),
    Column("verdict", kind=dict, value=lambda found: found.verdict.to_dict()),
)


@dataclass(frozen=True, eq=False)
class PlanRun:
    """What the programs of a plan file delivered."""

    path: str
    file: PlanFile
    delivery: Delivery
    seconds: float

    @property
    def delivered(self) -> bool:
        """Whether every word came to the right place, once, in order and in its phase."""
        return not self.delivery.faults

    def to_dict(self) -> dict[str, Any]:
        """Return what came as plain data."""
        return DELIVERED.nested(self)

    @property
    def verdict(self) -> Verdict:
        """Whether every word arrived."""
        delivery, of = self.delivery, of_what(self.file.plan)
        many = counted(len(delivery.words), "connection", ",")
        lines = {
            "run by": f"{counted(delivery.num_workers, 'worker')} in {units.seconds(self.seconds)}"
        }
        if self.delivered:
            words = f"{counted(int(delivery.words.sum()), 'word', ',')} of {many}"
            return Verdict("fine", f"All {words} arrived, in order and in their phases.", of, lines)
        first, faults = delivery.faults[0], counted(len(delivery.faults), "fault", ",")
        return Verdict("act", f"Not delivered: {faults} in {many}.", of, {"first": first, **lines})

    def __repr__(self) -> str:
        return told(self.path, self.verdict)


def run_plan(path: str | Path, *, workers: int | None = None) -> PlanRun:
    """Verify a plan file, and run the programs of its nodes with words that say where they belong.

    Programs that the file does not hold are made from its timetable. See ``processes.runtime`` for
    what a run checks, and for data of one's own.

    Parameters
    ----------
    workers
        Processes, see ``run_programs``.

    Raises
    ------
    InputError
        If the file, or a program in it, cannot be read.
    InvalidPlanError
        If the plan breaks a rule.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom import compile_phases
    >>> file = Path(mkdtemp()) / "plan.json"
    >>> compile_phases("ring:4", "torus:4", words=8).write(file)
    >>> run_plan(file, workers=1).to_dict()["words"]
    64
    """
    held = verified_phases(path).file
    programs = _programs(path, held)
    begin = perf_counter()
    with patience("Running the programs of all nodes"):
        delivery = run_programs(programs, held.plan, workers=workers)
    return PlanRun(str(path), held, delivery, perf_counter() - begin)


def _programs(path: str | Path, held: PlanFile) -> list[NodeProgram]:
    if held.programs is None:
        return node_programs(held.plan, held.timetable, held.costs)
    where = f"{path}: programs"
    if not isinstance(held.programs, list):
        raise InputError(where, type(held.programs).__name__, "a list, one program a node")
    try:
        return [node_program(each) for each in held.programs]
    except InputError as error:
        raise InputError(where, error.found, error.wanted) from None
