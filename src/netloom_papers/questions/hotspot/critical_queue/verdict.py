"""What a search for the critical queue comes to: which sizes to build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.commands import command_line
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return the size that suffices at all rates, or at the only one."""
    asked, rates = figures["provenance"]["configuration"], figures["rates"]
    kind = kind_of("hotspot.critical-queue")
    of = f"{counted(figures['hot_spots'], 'hot spot')} on omega:{figures['pes']}"
    found = [each for each in rates if each["critical_queue"] is not None]
    over = [each for each in rates if each["critical_queue"] is None and not each["interrupted"]]
    if not found and not over:
        runs = counted(asked["replications"], "replication")
        said = f"Interrupted: no size is known yet, 0 times all {runs} were finished."
        return Verdict("unknown", said, of, next=command_line(kind, asked))
    if not found:
        return Verdict("act", sentence_of(over[0]), of, next=_with_room(kind, asked))
    need = max(found, key=lambda each: each["critical_queue"])
    said, mark = sentence_of(need), "fine"
    if over:
        above = number(over[0]["rate"])
        mark, said = "limited", f"{said[:-1]}, for rates below {above}: there requests pile up."
    elif len(found) > 1:
        said = f"{said[:-1]}: enough at all {counted(len(found), 'rate')}."
    below = next((each for each in need["tried"] if each["size"] == need["critical_queue"]), None)
    lines = {}
    if below is not None:
        lines["less"] = (
            f"queues of {below['size']}: {_steps(below)}, {percent(below['refused'])} of the "
            f"requests refused, queues {percent(below['rise'])} longer at stage {below['stage']}"
        )
    return Verdict(mark, said, of, lines, note=_note(figures, need))


def sentence_of(search: Mapping[str, Any]) -> str:
    """Return what was found for one rate."""
    if search["interrupted"]:
        return "Interrupted before the size was found."
    size, runs = search["critical_queue"], counted(search["runs"], "replication")
    if size is None:
        return (
            f"No size suffices at rate {number(search['rate'])}: requests pile up even in "
            f"unbounded queues, {search['runs']} times in {runs}."
        )
    free = search["tried"][0]
    same = next((each for each in search["tried"] if each["size"] == size + 1), free)
    return f"Build queues of {size + 1} ({_steps(same)}, unbounded {number(free['steps_mean'])})."


def _steps(tried: Mapping[str, Any]) -> str:
    return counted(number(tried["steps_mean"]), "step")


def _with_room(kind: Any, asked: Mapping[str, Any]) -> str:
    """Return the same search where a module is asked less often."""
    if asked["combining"] == "none":
        return command_line(kind, dict(asked) | {"combining": "waiting"})
    more = 2 * asked["hot_spots"]
    return command_line(kind, dict(asked) | {"hot_spots": more}) if more <= asked["pes"] else ""


def _note(figures: Mapping[str, Any], need: Mapping[str, Any]) -> str:
    said = (
        f"A size suffices if no stage's mean queue is more than {percent(figures['rise'])} longer "
        "than an unbounded one (median of the replications)."
    )
    lost = need["runs"] - need["stable"]
    if lost:
        said += (
            f" {lost} of {need['runs']} do not count: requests pile up even in unbounded queues."
        )
    return said
