"""What a model of a torus with broadcasts comes to: the latency at a rate, or the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import number
from netloom.questions.commands import command_line
from netloom.questions.predict.shown import checked, rounded, worst_checked
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

ERRORS = {0.2: 0.007, 0.5: 0.03, 0.8: 0.06, 1.0: 0.22}
"""Errors of the improved model's latencies up to a part of saturation, on 108 simulated tori."""

OF_SATURATION = 0.06
"""Error of the improved model's saturation, on the same tori."""

PUBLISHED = {
    "consistent": "The published model is too high from half of its own saturation on, which "
    "comes too early.",
    "printed": "The printed model is near simulation at moderate load, since two errors cancel. "
    "It saturates too early.",
}
"""How far the published variants can be trusted."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what one rate, or several, come to."""
    of = str(figures["topology"])
    if figures["broadcast"]:
        of = f"{percent(figures['broadcast'])} broadcast on {of}"
    points = figures.get("points")
    mark, said = _one(figures, figures) if points is None else _several(figures, points)
    simulated = checked(figures) if points is None else worst_checked(points)
    lines = {"checked": simulated} if simulated else {}
    asked = figures["provenance"]["configuration"]
    then, kind = "", kind_of("predict.torus-broadcast")
    if mark == "limited" and not simulated and figures["broadcast"] < 1:
        then = command_line(kind, dict(asked) | {"simulate": True})
    if mark == "act":
        then = command_line(kind, dict(asked) | {"rate": "0:auto"})
    note = (
        f"Model: 108 simulated tori saturate within {rounded(OF_SATURATION)} of it (24\u00a0% at "
        "worst)."
    )
    if figures["broadcast"]:
        note += " Latency: of the messages that are not broadcast."
    return Verdict(mark, said, of, lines, then, PUBLISHED.get(figures["variant"], note))


def sentence_of(point: Mapping[str, Any], network: Mapping[str, Any]) -> str:
    """Return what one rate comes to. ``network`` has the figures of all rates."""
    return _one(point, network)[1]


def _one(point: Mapping[str, Any], network: Mapping[str, Any]) -> tuple[str, str]:
    """Return the mark of one rate, and what it comes to."""
    if point["saturated"]:
        return "act", (
            f"Overloaded at rate {number(point['rate'])}: the torus saturates near "
            f"{_limit(network)}."
        )
    near = point["rate"] > 0.8 * network["saturation_rate"]
    said = f"{_about(point, network)}. Saturates near {_limit(network)}."
    return "limited" if near else "fine", said


def _several(figures: Mapping[str, Any], points: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the mark of several rates, and what they come to."""
    steady = [each for each in points if not each["saturated"]]
    if not steady:
        return _one(points[0], figures)
    last, limit = points[-1], figures["saturation_rate"]
    if last["rate"] <= 0.8 * limit:
        said = _about(last, figures).replace("About", f"All {len(points)} rates are carried: about")
        return "fine", f"{said}. Saturates near {_limit(figures)}."
    near = min(steady, key=lambda each: abs(each["rate"] - limit / 2))
    said = f"Saturates near {_limit(figures)}: {number(figures['zero_load_latency'])} cycles idle"
    if near["rate"] > 0:
        said += f", about {number(near['latency'])} at {number(near['rate'])}"
    return "limited", f"{said}."


def _about(point: Mapping[str, Any], network: Mapping[str, Any]) -> str:
    """Return a latency with that of the idle network and its expected error."""
    idle = f"{number(network['zero_load_latency'])} idle"
    if network["variant"] == "improved":
        part = point["rate"] / network["saturation_rate"]
        error = next(each for upto, each in ERRORS.items() if part <= upto)
        idle += f", model error {rounded(error)}"
    return f"About {number(point['latency'])} cycles at rate {number(point['rate'])} ({idle})"


def _limit(network: Mapping[str, Any]) -> str:
    return f"{number(network['saturation_rate'])} messages/node/cycle"
