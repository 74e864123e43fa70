"""What can be asked, by the words of the command line and of experiment files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from netloom.questions.base import Question


class Kind(NamedTuple):
    """One kind of question.

    Attributes
    ----------
    verb
        The function of ``netloom.questions`` that answers.
    question
        The record there that says which fields it has.
    sweep
        The field in which several questions form a curve, from little load to much; or "".
    """

    verb: str
    question: str
    sweep: str = ""

    @property
    def fields(self) -> type[Question]:
        """The class of the question."""
        found: type[Question] = getattr(import_module("netloom.questions"), self.question)
        return found

    @property
    def ask(self) -> Callable[..., Any]:
        """The function that answers."""
        found: Callable[..., Any] = getattr(import_module("netloom.questions"), self.verb)
        return found


KINDS = {
    "analyze": Kind("analyze", "AnalyzeQuestion"),
    "simulate": Kind("simulate", "SimulateQuestion", "load"),
    "simulate.saturation": Kind("find_saturation", "SimulateQuestion"),
    "predict.latency": Kind("predict_latency", "LatencyQuestion"),
    "predict.torus-broadcast": Kind("predict_torus_broadcast", "TorusBroadcastQuestion"),
    "predict.locality": Kind("predict_locality", "LocalityQuestion"),
    "predict.wiring": Kind("predict_wiring", "WiringQuestion"),
    "hotspot": Kind("simulate_hot_spots", "HotSpotQuestion", "rate"),
    "hotspot.critical-queue": Kind("find_critical_queue", "CriticalQueueQuestion", "rate"),
    "compile": Kind("compile_phases", "CompileQuestion"),
    "map": Kind("find_mapping", "MappingQuestion"),
}
"""By command, and subcommand where there is one."""

PROGRAMS = {
    "applied": Kind("simulate_loop", "LoopQuestion", "applied"),
    "transactions": Kind("simulate_transactions", "TransactionQuestion"),
    "trace": Kind("replay", "ReplayQuestion"),
    "broadcast": Kind("simulate_broadcast", "BroadcastQuestion", "rate"),
    "rate": Kind("simulate_broadcast", "BroadcastQuestion", "rate"),
    "pattern": Kind("simulate_pattern", "PatternQuestion"),
}
"""What ``simulate`` asks where one of these fields is given: of programs that wait."""


def by_verb(verb: str) -> Kind:
    """Return the kind of question that a function of ``netloom.questions`` answers.

    Examples
    --------
    >>> by_verb("find_mapping").question
    'MappingQuestion'
    """
    return next(kind for kind in (*KINDS.values(), *PROGRAMS.values()) if kind.verb == verb)


def kind_of(words: str, given: Iterable[str]) -> Kind:
    """Return the kind of question that a command asks with these fields.

    Raises
    ------
    InputError
        If the fields ask for several kinds at once.

    Examples
    --------
    >>> kind_of("simulate", ["on", "applied"]).verb
    'simulate_loop'
    >>> kind_of("simulate", ["on", "load"]).verb
    'simulate'
    """
    kind = KINDS[words]
    if not words.startswith("simulate"):
        return kind
    wanted = {PROGRAMS[name]: name for name in given if name in PROGRAMS}
    if "load" in given or words != "simulate":
        wanted[kind] = "load" if words == "simulate" else words.partition(".")[2]
    if len(wanted) > 1:
        raise InputError("simulate", " and ".join(wanted.values()), "one of them at a time")
    return next(iter(wanted), kind)


def says_nothing(kind: Kind, name: str, flag: str = "") -> InputError | None:
    """Return what is wrong with a field of ``simulate`` that this kind of it does not have.

    None if it has it, or if no kind has. ``flag`` is what comes before names of fields.
    """
    if name in kind.fields.model_fields:
        return None
    fits = [other for other, each in PROGRAMS.items() if name in each.fields.model_fields] + [
        "load"
    ] * (name in KINDS["simulate"].fields.model_fields)
    if not fits:
        return None
    asks = next((other for other, each in PROGRAMS.items() if each == kind), "load")

    def shown(each: str) -> str:
        return f"{flag}{each.replace('_', '-') if flag else each}"

    found = f"{shown(name)} with {shown(asks)}, which it says nothing of"
    return InputError(name, found, " or ".join(map(shown, fits)))


def plain_fields(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a kind of question is asked with: without ``transactions``, which only says so.

    Examples
    --------
    >>> plain_fields(PROGRAMS["transactions"], {"on": "ring:4", "transactions": True})
    {'on': 'ring:4'}
    """
    known = kind.fields.model_fields
    return {name: value for name, value in given.items() if name != "transactions" or name in known}
