"""What the words of all models have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from netloom.questions.predict.latency.network import AT_THE_KNEE
from netloom.questions.predict.points import Beside
from netloom.questions.shown import FELL_BEHIND, KEPT_UP, percent, plain_table
from netloom.words import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table


ASIDE = ("vc_multiplexing", "worst_path_latency")
"""Columns that make room for what was simulated."""


def curve_table(
    data: Mapping[str, Any], columns: Mapping[str, str], shares: Mapping[str, str]
) -> Table:
    """Return a row a point: the model's figures, and the simulator's where there are any."""
    simulated = any(point["simulated"] for point in data["points"])
    columns = {name: of for name, of in columns.items() if of not in ASIDE or not simulated}
    table = plain_table((*columns, *shares, *(["simulated", "± 95 %", "error"] * simulated), ""))
    for point in data["points"]:
        cells = [number(point[name]) for name in columns.values()]
        cells += [percent(point[name]) for name in shares.values()]
        measured = point["simulated"]
        if simulated:
            cells += Beside(**measured).cells if measured else ["", "", ""]
        said = ["[red]saturated[/]"] * point["saturated"]
        said += ["[yellow]knee: simulate[/]"] * (point.get("state") == AT_THE_KNEE)
        said += ["[red]falls behind[/]"] * bool(measured and not measured["stable"])
        table.add_row(*cells, ", ".join(said))
    return table


def trust(data: Mapping[str, Any]) -> str:
    """Return how far a model can be trusted."""
    return f"How far to trust it: {data['trust']}."


def verdict_of(sentence: str, data: Mapping[str, Any]) -> Text:
    """Return what a model says of its one point, in the colour of that."""
    return Text(f"At {sentence}.", style=FELL_BEHIND if data["saturated"] else KEPT_UP)


def of_unit(value: float | None, unit: str) -> str:
    """Return a latency with its unit."""
    return "none: it is saturated" if value is None else f"{number(value)} {unit}"


def said_of(point: Mapping[str, Any], load: float) -> str:
    """Return what a model says of one load, as a sentence."""
    if point["saturated"]:
        return f"The model says that {number(load)} is past saturation."
    if point["latency"] is None:
        return f"{number(load)} is so near saturation that the model says no latency: simulate."
    error = point.get("expected_error")
    off = "" if error is None else f" ± {100 * error:.0f}\u00a0%"
    return f"The model says {number(point['latency'])} cycles{off} at {number(load)}."
