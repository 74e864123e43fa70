"""Do the programs of this plan file deliver every word?"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.figures import figure, unseen
from netloom.base.progress import patience
from netloom.base.words import counted
from netloom.phases.execution import RECEIVE, SEND, Action, NodePhase, NodeProgram, node_programs
from netloom.questions.answers import Verdict
from netloom.questions.plans import OfPlan, of_what, verified_phases
from netloom_papers.processes.runtime import run_programs

if TYPE_CHECKING:
    from netloom.phases import PlanFile


WANTED = "what NodeProgram.to_dict writes"


class PlanRun(OfPlan):
    """What the programs of a plan file delivered.

    ``delivered``: every word came to the right place, once, in order and in its phase.
    """

    delivered: bool = figure()
    connections: int = figure()
    words: int = figure()
    faults: tuple[str, ...] = figure()
    workers: int = figure()
    seconds: float = figure(unit="seconds")
    file: PlanFile = unseen()

    @property
    def verdict(self) -> Verdict:
        """Whether every word arrived."""
        of, many = of_what(self.file.plan), counted(self.connections, "connection", ",")
        lines = {"run by": f"{counted(self.workers, 'worker')} in {units.seconds(self.seconds)}"}
        if self.delivered:
            words = f"{counted(self.words, 'word', ',')} of {many}"
            return Verdict(
                "fine", f"All {words} arrived, in order and in their phases.", lines, of=of
            )
        said = f"Not delivered: {counted(len(self.faults), 'fault', ',')} in {many}."
        return Verdict("act", said, {"first": self.faults[0], **lines}, of=of)


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
    held, where = verified_phases(path).file, f"{path}: programs"
    if held.programs is None:
        programs = node_programs(held.plan, held.timetable, held.costs)
    elif not isinstance(held.programs, list):
        raise InputError(where, type(held.programs).__name__, "a list, one program a node")
    else:
        programs = [node_program(each, where) for each in held.programs]
    begin = perf_counter()
    with patience("Running the programs of all nodes"):
        delivery = run_programs(programs, held.plan, workers=workers)
    return PlanRun(
        plan=str(path),
        delivered=not delivery.faults,
        connections=len(delivery.words),
        words=int(delivery.words.sum()),
        faults=tuple(delivery.faults),
        workers=delivery.num_workers,
        seconds=perf_counter() - begin,
        file=held,
    )


def node_program(data: dict[str, Any], where: str = "node program") -> NodeProgram:
    """Return the program that ``NodeProgram.to_dict`` wrote. ``where`` is named in errors.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> send = Action("send_element", connection=3, node=1, words=8)
    >>> program = NodeProgram(0, (NodePhase(0, ((send,),)),))
    >>> node_program(program.to_dict()) == program
    True
    """
    try:
        phases: list[NodePhase] = []
        for each in data["phases"]:
            streams = tuple(tuple(map(_action, stream)) for stream in each["streams"])
            phases.append(NodePhase(int(each["phase"]), streams))
        return NodeProgram(int(data["node"]), tuple(phases))
    except KeyError as error:
        raise InputError(where, f"no {error}", WANTED) from None
    except ValueError as error:
        raise InputError(where, str(error), WANTED) from None
    except TypeError:
        raise InputError(where, "a field of another kind", WANTED) from None


def _action(data: dict[str, Any]) -> Action:
    if data["primitive"] not in (SEND, RECEIVE):
        raise ValueError(f"primitive '{data['primitive']}'")
    fields: dict[str, Any] = {each: int(data[each]) for each in ("connection", "node", "words")}
    fields |= {each: tuple(map(int, data.get(each, ()))) for each in ("after", "tell")}
    return Action(data["primitive"], **fields)
