"""What the words of all models have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, give_or_take, number
from netloom.questions.predict.latency.network import AT_THE_KNEE
from netloom.questions.predict.points import Beside
from netloom.questions.shown import percent, plain_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table


ASIDE = ("vc_multiplexing", "worst_path_latency")
"""Columns that make room for what was simulated."""


def routed(figures: Mapping[str, Any]) -> str:
    """Return the routing, and the layers of VCs that its paths are in."""
    layers = figures["vc_layers"] or 1  # older answers have none
    return str(figures["routing"]) + (f" in {layers} layers of VCs" if layers > 1 else "")


def curve_table(
    data: Mapping[str, Any], columns: Mapping[str, str], shares: Mapping[str, str]
) -> Table:
    """Return a row per point: the model's figures, and the simulator's where there are any."""
    simulated = any(point["simulated"] for point in data["points"])
    columns = {name: of for name, of in columns.items() if of not in ASIDE or not simulated}
    table = plain_table((*columns, *shares, *(["simulated (cycles)", "error"] * simulated), ""))
    for point in data["points"]:
        cells = [number(point[name]) for name in columns.values()]
        cells += [percent(point[name]) for name in shares.values()]
        measured = point["simulated"]
        if simulated:
            cells += Beside(**measured).cells if measured else ["", ""]
        said = ["[red]✗ saturated[/]"] * point["saturated"]
        said += ["[yellow]! knee: simulate[/]"] * (point.get("state") == AT_THE_KNEE)
        said += ["[red]✗ simulation saturates[/]"] * bool(measured and not measured["stable"])
        table.add_row(*cells, ", ".join(said))
    return table


def of_unit(value: float | None, unit: str) -> str:
    """Return a latency with its unit."""
    return "none: it is saturated" if value is None else f"{number(value)} {unit}"


def rounded(error: float) -> str:
    r"""Return the expected error of a model, of which two digits are known.

    Examples
    --------
    >>> rounded(0.0194)
    '1.9\xa0%'
    """
    return percent(float(f"{error:.2g}"))


def begun(said: str) -> str:
    """Return words with a capital at their beginning."""
    return said[:1].upper() + said[1:]


def checked(point: Mapping[str, Any]) -> str:
    """Return what a simulation says beside the model of a point. "" if none was run."""
    found = point["simulated"]
    if not found:
        return ""
    if not found["stable"]:
        return "the simulation saturates at this load"
    said = f"simulated {give_or_take(found['latency'], found['ci95'])} cycles"
    off = "" if found["error"] is None else f"; the model is {_off(found['error'])}"
    return f"{said}{off}"


def _off(error: float) -> str:
    side = "high" if error > 0 else "low"
    return f"{percent(abs(error))} too {side}" if abs(error) >= 0.0005 else "exact"


def worst_checked(points: Sequence[Mapping[str, Any]]) -> str:
    """Return how far the model is off over the points that were simulated. "" if none was."""
    told = [each["simulated"] for each in points if each["simulated"]]
    errors = [each["error"] for each in told if each["error"] is not None]
    if not told:
        return ""
    said = f"simulated at {counted(len(told), 'point')}"
    if errors:
        said += f": the model is at most {percent(max(map(abs, errors)))} off"
    full = sum(not each["stable"] for each in told)
    return f"{said}; {counted(full, 'point')} saturated in the simulation" if full else said
