"""Johnson 1992, table 1 and figures 3 to 8, recomputed.

Measured curves are simulated (``johnson``), predicted ones are the model's (``johnson_model``). The
paper prints no numbers in its figures; what its text says of them is in the rows.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.figures import COMPUTED, Cell, Grid, Plot
from netloom.models.locality import alewife, per_hop_limit, predict_locality
from netloom.questions.predict.torus_broadcast.answer import ENDS_CYCLES
from netloom.studies import johnson, johnson_model
from netloom.studies.comparing import compare_all
from netloom.studies.exhibits import Exhibit, Shown
from netloom.studies.johnson import CONTEXTS
from netloom.studies.johnson_model import SIZES, SPEEDS
from netloom.studies.model_accuracy_locality import DISTANCES, regressed
from netloom.studies.validation import published

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.models.locality import Locality
    from netloom.studies.validation import Row

QUICK_DISTANCES = DISTANCES[::4]
"""Three of the paper's nine mappings."""

MAPPINGS = "d, hops"

BETWEEN, LATENCY = "t_m, network cycles", "T_m, network cycles"

NODES = "N, processors"

CONTEXT_NAMES = "one, two and four contexts"

ANOTHER_MACHINE = (
    "Simulated are the messages of the paper's application on an 8 x 8 torus with buffered "
    "switches, not Alewife's processors, caches and directory: slopes are 10 to 15 % lower than "
    "the paper's, since its critical path is shorter than that of the messages alone."
)

INFERRED = (
    "The paper leaves out c, T_r and T_f of its application; the model has them as they were "
    "inferred from table 1 and from statements on figures 6 to 8. Rows whose numbers went into "
    "them say so."
)


def _table_1(_: bool) -> Shown:
    rows = (*_model_rows("table 1"), *_model_rows("section 6"))
    cells = iter(rows)
    grid = Grid(
        "Table 1: expected gain by relative network speed",
        ("network speed", *(f"{size} processors" for size in SIZES)),
        tuple((speed, tuple(_cell(next(cells)) for _ in SIZES)) for speed in SPEEDS),
    )
    remarks = (
        INFERRED,
        "All eight gains come from two inferred numbers, and only without contention for the "
        "nodes' own channels, which section 2.4 says is included.",
    )
    return Shown((grid,), rows, remarks)


def _figure_3(quick: bool) -> Shown:
    table = _simulated(quick)
    lines = []
    for contexts, part in _by_contexts(table):
        between = part["inter_message_cycles"].to_numpy()
        slope, intercept = np.polyfit(between, part["message_latency"].to_numpy(), 1)
        ends = np.array([between.min(), between.max()])
        lines += _points(f"p = {contexts}, regression", ends, slope * ends + intercept)
        lines += _points(f"p = {contexts}, simulated", between, part["message_latency"])
    panels = (
        Plot("Figure 3: application message curves", BETWEEN, LATENCY, _plotted(lines)),
        _inferred_curves("inter_message_cycles", "message_latency", BETWEEN, LATENCY),
    )
    remarks = (ANOTHER_MACHINE, INFERRED) + (QUICK,) * quick
    return Shown(panels, _curve_rows(quick), remarks)


def _figure_4(quick: bool) -> Shown:
    rate = "r_m, messages/node/network cycle"
    lines, worst = [], []
    for contexts, part in _by_contexts(_simulated(quick)):
        seen = part["message_rate"].to_numpy()
        lines += _points(f"p = {contexts}, simulated", part["distance"], seen)
        lines += _points(f"p = {contexts}, model", *_model(part, "message_rate"))
        said = _predicted(part, part["distance"].to_numpy()).message_rate
        worst.append(f"{np.abs(said / seen - 1).max():.0%}")
    panels = (
        Plot("Figure 4: message injection rate", MAPPINGS, rate, _plotted(lines)),
        _inferred_curves("distance", "message_rate", MAPPINGS, rate),
    )
    found = (
        "The text has predicted message rates 'consistently within a few percent of measured "
        "values'; here the model, regressed on the simulated runs as in the paper, is within "
        f"{', '.join(worst)} of them for {CONTEXT_NAMES}. Four load some channels of these "
        "mappings far more than others, and the model takes all for alike. With each mapping's own "
        "loads rates are within 8 %: netloom study run model-accuracy."
    )
    return Shown(panels, (), (found, ANOTHER_MACHINE, INFERRED) + (QUICK,) * quick)


def _figure_5(quick: bool) -> Shown:
    lines, worst = [], []
    for contexts, part in _by_contexts(_simulated(quick)):
        seen = part["message_latency"].to_numpy()
        lines += _points(f"p = {contexts}, simulated", part["distance"], seen)
        distances, latency = _model(part, "message_latency")
        lines += _points(f"p = {contexts}, model", distances, latency + ENDS_CYCLES)
        said = _predicted(part, part["distance"].to_numpy()).message_latency + ENDS_CYCLES
        worst.append(f"{np.abs(said - seen).max():.0f}")
    panels = (
        Plot("Figure 5: message latency", MAPPINGS, LATENCY, _plotted(lines)),
        _inferred_curves("distance", "message_latency", MAPPINGS, LATENCY),
    )
    found = (
        "The text has predicted latencies 'to within a few network cycles'; here the model, "
        f"regressed on the simulated runs as in the paper, is within {', '.join(worst)} of them "
        f"for {CONTEXT_NAMES}. Both count the {ENDS_CYCLES} cycles that a message takes at its "
        "ends."
    )
    return Shown(panels, (), (found, ANOTHER_MACHINE, INFERRED) + (QUICK,) * quick)


def _figure_6(_: bool) -> Shown:
    table = johnson_model.figure_6()
    lines = []
    for grain, name in ((1, "the application of section 3"), (10, "ten times the grain")):
        part = table.filter(grain=grain)
        lines += _points(name, part["nodes"], part["per_hop_latency"])
    limit = float(per_hop_limit(*alewife(2)))
    lines += _points("limit, equation 16", np.array([10.0, 1e6]), np.array([limit, limit]))
    plot = Plot(
        "Figure 6: per-hop latency, two contexts, random mappings",
        NODES, "T_h, network cycles", _plotted(lines), log_x=True,
    )  # fmt: skip
    rows = (*_model_rows("equation 16"), *_model_rows("figure 6"))
    return Shown((plot,), rows, (INFERRED,))


def _figure_7(_: bool) -> Shown:
    table = johnson_model.figure_7()
    lines = []
    for contexts, part in _by_contexts(table):
        lines += _points(f"p = {contexts}", part["nodes"], part["gain"])
    plot = Plot(
        "Figure 7: expected gain of ideal over random mappings",
        NODES, "expected gain", _plotted(lines), log_x=True, log_y=True,
    )  # fmt: skip
    rows = (*_model_rows("figure 7"), *_model_rows("section 4.2"))
    return Shown((plot,), rows, (INFERRED,))


PART_NAMES = {
    "variable_message": "variable message overhead",
    "fixed_message": "fixed message overhead",
    "fixed_transaction": "fixed transaction overhead",
    "work": "actual CPU cycles",
}
"""The parts of t_t, as figure 8 calls them."""


def _figure_8(_: bool) -> Shown:
    bars = [
        _point(PART_NAMES[row["part"]], f"{row['mapping']}, p = {row['contexts']}", row["cycles"])
        for row in johnson_model.figure_8().iter_rows(named=True)
    ]
    plot = Plot(
        "Figure 8: parts of the inter-transaction time, 1000 processors",
        "mapping and contexts", "t_t, network cycles", _plotted(bars), form="bars",
    )  # fmt: skip
    remarks = (
        INFERRED,
        "Printed below the figure is 'k = 10, n = 2', which would be 100 processors: here k is "
        "31.6, as table 1 needs for a thousand.",
    )
    return Shown((plot,), _model_rows("figure 8"), remarks)


QUICK = (
    "Quick: three mappings of the paper's nine, one seed, and of the rows the paper's protocol and "
    "buffered switches alone."
)


@cache
def _simulated(quick: bool) -> pl.DataFrame:
    """Return the paper's runs: nine mappings, or three, with 1, 2 and 4 contexts."""
    distances = QUICK_DISTANCES if quick else DISTANCES
    return johnson.figures_3_to_5(1, ["coherence"], ["buffered"], distances)


def _by_contexts(table: pl.DataFrame) -> list[tuple[int, pl.DataFrame]]:
    import polars as pl

    return [(contexts, table.filter(pl.col("contexts") == contexts)) for contexts in CONTEXTS]


def _model(part: pl.DataFrame, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the model's curve over the distances of some runs, regressed on them."""
    lengths = part["distance"].to_numpy()
    distances = np.linspace(lengths.min(), lengths.max(), 26)
    return distances, getattr(_predicted(part, distances), name)


def _predicted(part: pl.DataFrame, distances: NDArray[np.float64]) -> Locality:
    """Return what the model says of distances, all channels alike, with s and offset of runs."""
    seen = [
        row | {"message_latency": row["message_latency"] - ENDS_CYCLES}
        for row in part.iter_rows(named=True)
    ]
    return predict_locality(*regressed("coherence", part["contexts"][0], seen), distances)


def _inferred_curves(x: str, y: str, x_title: str, y_title: str) -> Plot:
    """Return the model's curves with Alewife's inferred parameters."""
    table = johnson_model.figures_3_to_5(np.linspace(1, 6.1, 26).tolist())
    lines = []
    for contexts, part in _by_contexts(table):
        lines += _points(f"p = {contexts}", part[x], part[y])
    title = "The combined model with the paper's parameters, as inferred"
    return Plot(title, x_title, y_title, _plotted(lines))


def _curve_rows(quick: bool) -> tuple[Row, ...]:
    """Return what the text says of figure 3; a quick run has one protocol and kind of switches."""
    printed = published("johnson")
    items = [item for item in johnson.PARTS if item.startswith("figure 3")]
    if quick:
        items = items[:1]
        known = printed[items[0]]
        values = {name: of for name, of in known["values"].items() if name.startswith("buffered")}
        few = {"seeds": 1, "routers": ["buffered"], "distances": QUICK_DISTANCES, "values": values}
        printed = {items[0]: known | few}
    return _rows(johnson, printed, *items)


def _model_rows(item: str) -> tuple[Row, ...]:
    return _rows(johnson_model, published("johnson-model"), item)


def _rows(module: Any, printed: dict[str, Any], *items: str) -> tuple[Row, ...]:
    return tuple(compare_all("johnson", printed, {item: module.PARTS[item] for item in items}))


def _cell(row: Row) -> Cell:
    return Cell(row.printed, row.computed, row.within)


def _point(series: str, x: Any, y: float) -> dict[str, Any]:
    return {"series": series, "x": x, "y": float(y), "whose": COMPUTED}


def _points(series: str, x: Any, y: Any) -> list[dict[str, Any]]:
    return [_point(series, float(at), value) for at, value in zip(x, y, strict=True)]


def _plotted(points: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(points)


EXHIBITS: dict[str, Exhibit] = {
    "table-1": Exhibit("Expected gain of locality at four network speeds", _table_1),
    "fig-3": Exhibit("Application message curves, simulated, with regressions", _figure_3),
    "fig-4": Exhibit("Distance against message rate, simulated and predicted", _figure_4),
    "fig-5": Exhibit("Distance against message latency, simulated and predicted", _figure_5),
    "fig-6": Exhibit("Per-hop latency against machine size, two grains", _figure_6),
    "fig-7": Exhibit("Expected gain of locality against machine size", _figure_7),
    "fig-8": Exhibit("What inter-transaction time is made of", _figure_8),
}
"""Tables and figures, by name, in the paper's order but for its only table."""

NOT_EXHIBITS: dict[str, str] = {
    "fig-1": "A sketch of a processor that waits for its transactions.",
    "fig-2": "A sketch of a processor that switches contexts while it waits.",
}
"""Figures without numbers or curves, and why they are not recomputed."""
