"""How simulated loads are points of a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.questions.curve_kind import Axes, CurveKind
from netloom.questions.numbers import parse_numbers
from netloom.questions.simulate.load import VERB

if TYPE_CHECKING:
    from netloom.questions.recorded import Recorded

LEVELS = parse_numbers

OFFERED = Axes(
    "offered traffic, flits/node/cycle", "packet latency", "cycles",
    "accepted traffic, flits/node/cycle",
)  # fmt: skip


def point_at(record: Recorded, load: float, technique: str) -> Recorded:
    """Return what an answer says of one load, as the answer of a simulation of that alone.

    Parameters
    ----------
    record
        The answer: of a simulation, or of a search for saturation.
    load, technique
        Offered traffic, and the switching technique.
    """
    import polars as pl

    from netloom.questions.recorded import Recorded

    runs = [run for each in record.points for run in each.get("runs", [each])]
    figures = {name: value for name, value in record.figures.items() if name != "points"}
    here = next(
        run for run in runs if run["offered"] == load and run["switching"] in (technique, None)
    )
    only = pl.col("offered") == load
    tables = {
        name: table.filter(only & (pl.col("switching") == technique))
        for name, table in record.tables.items()
    }
    return Recorded(VERB, figures | here, tables)


def detail(record: Recorded, load: float, technique: str) -> Recorded:
    """Return what a simulation says of one load."""
    return point_at(record, load, technique) if record.several else record


CURVE = CurveKind(
    OFFERED, "offered", "packet_latency_mean", "zero_load_latency", "packet_latency_ci95",
    "accepted", "stable", besides=("load", "alone"), detail=detail,
)  # fmt: skip
