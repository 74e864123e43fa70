"""Feldmann et al. 1993, tables 1 to 6 and figures 2 to 6, recomputed.

What the paper predicts is computed by its formulas, what it measured is simulated. A figure's
printed points are bandwidths of the clocks in its table, by the formula of section 5.1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.figures import COMPUTED, PRINTED, Cell, Grid, Plot
from netloom.studies import feldmann
from netloom.studies.exhibits import Exhibit, Shown
from netloom.studies.feldmann_figures import (
    OWN_PLAN,
    finite_element_points,
    measured_clocks,
    own_plan_points,
    pairs_of_processors,
    printed_points,
    simulated_points,
    small_mesh_points,
)
from netloom.studies.feldmann_meshes import MESHES, STRUCTURE, above_least, simulated_clocks
from netloom.studies.feldmann_simulated import overhead_of
from netloom.studies.feldmann_tables import CELLS, bandwidth, words_of
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from netloom.studies.validation import Row

PATTERNS = {1: "torus", 2: "butterfly", 3: "all-to-all"}
"""What tables 1 to 3 are of; figures 2 to 4 show the same."""

WORDS = (32, 256, 2048, 16384)
SERIES = ("ConSet", "message passing")
BANDWIDTH = "aggregate bandwidth, MB/s"

LONGEST_QUICK = 256
"""Longest connections that a quick run simulates, of all-to-all."""

OVERHEAD = (
    "What a phase takes besides its transfer is what table 1's first measured row, 1168 clocks, "
    "leaves for it: 872 clocks, where section 4.2.1 has 528 of the switch alone. No other row is "
    "used."
)

ROUTES = (
    "Messages are in iWarp's three pools of logical channels, on fixed routes, and wait in the "
    "network while their receiver spends its 400 clocks. How the fixed routes go half-way round a "
    "ring is not printed: here towards growing numbers."
)

ERRATA = {
    1: "Misprint: 16909 is 16904 by the formula that gives all other entries exactly.",
    2: "Misprint: the last ConSet prediction was computed with 16348 words for 16384.",
    3: "Misprints: 19631 is 19632, and the last ConSet prediction was computed with 16348 words "
    "for 16384.",
}
"""Of the predictions."""

OTHER_MESHES = (
    "The paper's meshes and its partitioner are not known. Computed is what gmsh and METIS make of "
    "about the same sizes: parts are more equal, and share about half of the paper's nodes."
)

WITHOUT_OURS = "Quick: without what is computed of netloom's own meshes."


def _pattern_table(number: int, quick: bool) -> Shown:
    printed, known = _known(number, quick)
    rows = _rows(known, f"table {number}, predicted", f"table {number}, measured")
    computed = {(row.item.partition(", ")[2], row.quantity): row for row in rows}
    shown = {
        "predicted": printed[f"table {number}, predicted"]["values"],
        "measured": measured_clocks(printed, f"table {number}", PATTERNS[number]),
    }

    def cell(what: str, quantity: str) -> Cell:
        row = computed.get((what, quantity))
        return _cell(row) if row else Cell(shown[what][quantity], None)

    columns = [(what, series) for series in SERIES for what in shown]
    grid = Grid(
        f"Table {number}: {PATTERNS[number]} pattern, clocks",
        ("words", *(f"{what} {series}" for what, series in columns)),
        tuple(
            (
                f"{words}",
                tuple(cell(what, f"{series}, {words} words") for what, series in columns),
            )
            for words in WORDS
        ),
    )
    return Shown((grid,), rows, _remarks(number, quick))


def _pattern_figure(number: int, quick: bool) -> Shown:
    printed, known = _known(number, quick)
    item, name = f"table {number}", PATTERNS[number]
    rows = _rows(known, f"{item}, predicted", f"{item}, measured")
    points = [
        _point(f"{each['series']}, {each['what']}", each["words"], each["bandwidth"], PRINTED)
        for each in printed_points(printed, item, name)
    ]
    sends = printed[f"{item}, predicted"]["sends"]
    for row in rows:
        words = words_of(row.quantity)
        if row.item.endswith("predicted") and words in WORDS:
            series = f"{row.quantity.partition(',')[0]}, predicted"
            points.append(
                _point(series, words, bandwidth(CELLS * sends * words, row.computed), COMPUTED)
            )
    for each in simulated_points(known, item, name):
        series = f"{each['series']}, measured"
        points.append(_point(series, each["words"], each["bandwidth"], COMPUTED))
    if number == 3 and not quick:
        points += [
            _point(OWN_PLAN, each["words"], each["bandwidth"], COMPUTED)
            for each in own_plan_points(known)
        ]
    plot = Plot(
        f"Figure {number + 1}: aggregate bandwidth of the {name} pattern",
        "words of a connection", BANDWIDTH, _plotted(points), log_x=True,
    )  # fmt: skip
    remarks = ("Computed beside measured is what netloom simulates.", *_remarks(number, quick))
    return Shown((plot,), rows, remarks)


def _remarks(number: int, quick: bool) -> tuple[str, ...]:
    left_out = f"Quick: connections of up to {LONGEST_QUICK} words, and none of netloom's own plan."
    return (ERRATA[number], OVERHEAD, ROUTES, *([left_out] if number == 3 and quick else []))


def _known(number: int, quick: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is printed, and what of it is to be recomputed."""
    printed = published("feldmann/published")
    known = dict(printed)
    if quick and number == 3:
        item = printed["table 3, measured"]
        short = {name: of for name, of in item["values"].items() if words_of(name) <= LONGEST_QUICK}
        known["table 3, measured"] = item | {"values": short}
    return printed, known


def _table_4(quick: bool) -> Shown:
    printed = published("feldmann/published")
    phases = printed["table 4, phases"]
    routers = {", sequential APR": "phases, the paper's router"}
    if not quick:
        routers[""] = "phases, netloom's own"
    asked = [f"{mesh}{router}, at most" for router in routers for mesh in MESHES]
    values = {quantity: phases["values"][quantity] for quantity in asked}
    known = printed | {"table 4, phases": phases | {"values": values}}
    rows = _rows(known, "table 4, structure", "table 4, phases")
    cells = {row.quantity: _cell(row) for row in rows}
    lines = [(name, tuple(cells[f"{mesh}, {name}"] for mesh in MESHES)) for name in STRUCTURE]
    for router, name in routers.items():
        lines.append((name, tuple(cells[f"{mesh}{router}, at most"] for mesh in MESHES)))
    grid = Grid("Table 4: structure of the meshes, and phases", ("", *MESHES), tuple(lines))
    left_out = "Quick: without netloom's own plans."
    remarks = (OTHER_MESHES, "Phases are those of 12 logical channels, of the computed meshes.")
    return Shown((grid,), rows, (*remarks, *([left_out] if quick else [])))


def _table_5(_: bool) -> Shown:
    printed = published("feldmann/published")
    rows = _rows(printed, "table 5", "table 6, measured")
    bandwidths, clocks = rows[: len(MESHES)], rows[len(MESHES) :]
    computation = printed["table 5"]["computation"]
    grid = Grid(
        "Table 5: computation and communication of an iteration, ConSet",
        ("mesh", "comp. cycles", "comp. MFLOPS", "comm. clocks", "comm. MB/s"),
        tuple(
            (mesh, (*(Cell(value, None) for value in computation[mesh]), _cell(comm), _cell(speed)))
            for mesh, comm, speed in zip(MESHES, clocks, bandwidths, strict=True)
        ),
    )
    remarks = (
        "The bandwidth is computed from the printed clocks and table 4's most words of a "
        "processor. That of q20k is a misprint, or its words are: the other three are exact.",
        "Communication is computed as in table 6. " + OVERHEAD,
        "Cycles and MFLOPS of the computation are measurements of the machine's processors.",
    )
    return Shown((grid,), rows, remarks)


def _table_6(quick: bool) -> Shown:
    printed = published("feldmann/published")
    items = ("ConSet predicted", "measured", "message passing predicted")
    parts = [_rows(printed, f"table 6, {item}") for item in items]
    measured = printed["figure 6"]["measured"]
    grid = Grid(
        "Table 6: finite elements, clocks",
        ("mesh", "predicted ConSet", "measured ConSet", "predicted messages", "measured messages"),
        tuple(
            (mesh, (*(_cell(rows[place]) for rows in parts), Cell(measured[mesh], None)))
            for place, mesh in enumerate(MESHES)
        ),
    )
    remarks = (
        "The words W of ConSet's predictions are not printed but inferred from them: what is "
        "tested is that they are whole. Predictions of message passing are a fit to the four.",
        "Measured ConSet is computed from the same words. " + OVERHEAD,
        "Message passing of finite elements copies words at both ends, at costs that the paper "
        "does not print: not simulated.",
    )
    rows = tuple(row for part in parts for row in part)
    if quick:
        return Shown((grid,), rows, (*remarks, WITHOUT_OURS))
    return Shown((grid, _our_meshes(printed)), rows, (*remarks, OTHER_MESHES))


def _our_meshes(printed: Mapping[str, Any]) -> Grid:
    """Return what phases come to for meshes of netloom's; nothing of it is printed."""
    implied = printed["W over 2 c_max"]["implied"]
    heads = ("W over 2 c_max, as published", "W over 2 c_max, netloom's plan", "simulated clocks")
    lines = []
    for mesh in MESHES:
        above = [above_least(mesh, as_published=each) for each in (True, False)]
        clocks = simulated_clocks(mesh, overhead_of())
        cells = (Cell(implied[mesh], above[0]), Cell(None, above[1]), Cell(None, clocks))
        lines.append((mesh, cells))
    title = "Words W of our meshes' timetables over their least (the paper's: implied), and clocks"
    return Grid(title, ("mesh", *heads), tuple(lines))


def _figure_5(_: bool) -> Shown:
    table = pairs_of_processors()
    plots = []
    for mesh in MESHES:
        words = table.filter(mesh=mesh)["words"].to_numpy()
        edges = np.linspace(0, 10 * np.ceil(words.max() / 10), 11)
        pairs = np.histogram(words, edges)[0]
        middle = (edges[:-1] + edges[1:]) / 2
        points = [_point(mesh, *at, COMPUTED) for at in zip(middle, pairs, strict=True)]
        title = f"Figure 5: words between pairs of processors, {mesh}"
        plots.append(Plot(title, "words", "pairs of processors", _plotted(points), form="bars"))
    return Shown(tuple(plots), (), (OTHER_MESHES,))


def _figure_6(quick: bool) -> Shown:
    printed = published("feldmann/published")
    points = []
    ours = [] if quick else list(small_mesh_points())
    for whose, found in ((PRINTED, finite_element_points(printed)), (COMPUTED, ours)):
        for each in found:
            series = f"{each['series']}, {each['what']}"
            points.append(_point(series, each["mesh"], each["bandwidth"], whose))
    shown = {
        "table 6, ConSet predicted": "ConSet, predicted",
        "table 6, message passing predicted": "message passing, predicted",
        "table 6, measured": "ConSet, measured",
    }
    rows = _rows(printed, *shown)
    for row in rows:
        mesh = row.quantity.partition(",")[0]
        words = CELLS * printed["table 5"]["meshes"][mesh]["most_words"]
        points.append(_point(shown[row.item], mesh, bandwidth(words, row.computed), COMPUTED))
    title = "Figure 6: aggregate bandwidth of finite elements"
    plot = Plot(title, "mesh", BANDWIDTH, _plotted(points), form="bars")
    remarks = (
        "Bandwidth counts the busiest processor's words for all, as table 5 does.",
        "Clocks are computed as in table 6. " + OVERHEAD,
        WITHOUT_OURS if quick else OTHER_MESHES,
    )
    return Shown((plot,), rows, remarks)


def _rows(known: Mapping[str, Any], *items: str) -> tuple[Row, ...]:
    """Return the rows of some items, in the order of ``feldmann.PARTS``."""
    return tuple(feldmann.rows({item: known[item] for item in items}))


def _cell(row: Row) -> Cell:
    return Cell(row.printed, row.computed, row.within)


def _point(series: str, x: float | str, y: float, whose: str) -> dict[str, Any]:
    at = x if isinstance(x, str) else float(x)
    return {"series": series, "x": at, "y": float(y), "whose": whose}


def _plotted(points: Iterable[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(list(points))


def _exhibits() -> dict[str, Exhibit]:
    found = {}
    for number, name in PATTERNS.items():
        line = f"Clocks of the {name} pattern, in phases and by messages"
        found[f"table-{number}"] = Exhibit(line, partial(_pattern_table, number))
        line = f"Aggregate bandwidth of the {name} pattern"
        found[f"fig-{number + 1}"] = Exhibit(line, partial(_pattern_figure, number))
    return found


EXHIBITS: dict[str, Exhibit] = _exhibits() | {
    "table-4": Exhibit("Structure of four finite-element meshes, and their phases", _table_4),
    "fig-5": Exhibit("Words between pairs of processors, finite elements", _figure_5),
    "table-5": Exhibit("Computation and communication of an iteration", _table_5),
    "table-6": Exhibit("Clocks of finite elements, in phases and by messages", _table_6),
    "fig-6": Exhibit("Aggregate bandwidth of finite elements", _figure_6),
}
"""Tables and figures, by name, in the paper's order."""

NOT_EXHIBITS: dict[str, str] = {
    "fig-1": "A sketch of applications, their connections and phases.",
    "section 4.2.1": "An unnumbered table of the costs of phases, which predictions begin with.",
    "section 4.3.1": "An unnumbered table of the costs of messages, which predictions begin with.",
}
"""Figures and tables without anything to recompute, and why."""
