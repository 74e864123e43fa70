"""Feldmann et al. 1993, tables 1 to 6 and figures 2 to 6, recomputed.

What the paper predicts is computed by its formulas, what it measured is simulated. A figure's
printed points are bandwidths of the clocks in its table, by the formula of section 5.1.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.figures import COMPUTED, PRINTED, Cell
from netloom_papers.studies.exhibits import Shown
from netloom_papers.studies.feldmann import (
    CELLS,
    FILE,
    MESHES,
    PARTS,
    SPARSE,
    STRUCTURE,
    above_least,
    bandwidth,
    compiled,
    conset_clocks,
    interface,
    message_clocks,
    most_words,
    overhead_of,
    own_transfer_clocks,
    pattern,
    rows,
    simulated_clocks,
    words_of,
)
from netloom_papers.studies.panels import cell, curve, grid, plot
from netloom_papers.studies.validation import compare_all, published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from netloom.base.figures import Grid

PATTERNS = {1: "torus", 2: "butterfly", 3: "all-to-all"}
"""What tables 1 to 3 are of. Figures 2 to 4 show the same."""

WORDS = (32, 256, 2048, 16384)
SERIES = ("ConSet", "message passing")
BANDWIDTH = "aggregate bandwidth, MB/s"

LONGEST_QUICK = 256
"""Longest connections that a quick run simulates, of all-to-all."""

OWN_PLAN, OUR_MESHES = "ConSet, netloom's plan", "ConSet, our meshes"


def _pattern_table(number: int, quick: bool) -> Shown:
    printed, known = _known(number, quick)
    name = f"table {number}"
    compared = compare_all("feldmann", known, PARTS, f"{name}, predicted", f"{name}, measured")
    computed = {(row.item.partition(", ")[2], row.quantity): cell(row) for row in compared}
    shown = {
        "predicted": printed[f"{name}, predicted"]["values"],
        "measured": _measured_clocks(printed, number),
    }
    cells = {}
    for words, series, what in product(WORDS, SERIES, shown):
        quantity = f"{series}, {words} words"
        alone = Cell(shown[what][quantity], None)
        cells[f"{words}", f"{what} {series}"] = computed.get((what, quantity), alone)
    title = f"Table {number}: {PATTERNS[number]} pattern, clocks"
    return Shown([grid(title, cells, head="words")], compared)


def _pattern_figure(number: int, quick: bool) -> Shown:
    printed, known = _known(number, quick)
    name = f"table {number}"
    compared = compare_all("feldmann", known, PARTS, f"{name}, predicted", f"{name}, measured")
    predicted, measured = printed[f"{name}, predicted"], _measured_clocks(printed, number)

    def point(series: str, words: int, clocks: float, whose: str = COMPUTED) -> pl.DataFrame:
        return curve(series, [words], bandwidth(CELLS * predicted["sends"] * words, clocks), whose)

    points = []
    for quantity in measured:
        words = words_of(quantity)
        for what, clocks in (("predicted", predicted["values"]), ("measured", measured)):
            points.append(point(f"{_first(quantity)}, {what}", words, clocks[quantity], PRINTED))
    points += [
        point(f"{_first(row.quantity)}, predicted", words_of(row.quantity), row.computed)
        for row in compared
        if row.item.endswith("predicted") and words_of(row.quantity) in WORDS
    ]
    for quantity, clocks in _simulated(known, number):
        points.append(point(f"{_first(quantity)}, measured", words_of(quantity), clocks))
    if number == 3 and not quick:
        for words in sorted({words_of(each) for each in known["table 3, measured"]["values"]}):
            phases, clocks = own_transfer_clocks("phases", words)
            points.append(point(OWN_PLAN, words, clocks + phases * overhead_of()))
    title = f"Figure {number + 1}: aggregate bandwidth of the {PATTERNS[number]} pattern"
    axes = "words of a connection", BANDWIDTH
    return Shown([plot(title, axes, points, log_x=True)], compared)


def _known(number: int, quick: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is printed, and what of it is to be recomputed."""
    printed = published(FILE)
    known = dict(printed)
    if quick and number == 3:
        item = printed["table 3, measured"]
        short = {name: of for name, of in item["values"].items() if words_of(name) <= LONGEST_QUICK}
        known["table 3, measured"] = item | {"values": short}
    return printed, known


def _measured_clocks(printed: Mapping[str, Any], number: int) -> dict[str, float]:
    """Return the clocks of a table's measured columns. Table 1's first row is kept by itself."""
    first = printed["section 4.2.1"]
    kept = {f"ConSet, {first['words']} words": first["clocks"]} if number == 1 else {}
    return {**kept, **printed[f"table {number}, measured"]["values"]}


def _simulated(known: Mapping[str, Any], number: int) -> Iterator[tuple[str, float]]:
    """Yield the clocks of a pattern that netloom simulates, by what was measured."""
    name, item = PATTERNS[number], known[f"table {number}, measured"]
    sends = known[f"table {number}, predicted"]["sends"]
    for quantity in _measured_clocks(known, number):
        words = words_of(quantity)
        assert CELLS * sends * words == pattern(name, words).words.sum()
        if _first(quantity) == "ConSet":
            yield quantity, conset_clocks(name, words, item.get("seeds", (1,)))
        else:
            clocks = message_clocks(name, words, item.get("replications", 1))
            yield quantity, float(clocks.mean())


def _first(quantity: str) -> str:
    """Return what a row such as ``ConSet, 256 words`` is of: a series, or a mesh."""
    return quantity.partition(",")[0]


def _table_4(quick: bool) -> Shown:
    printed = published(FILE)["table 4, phases"]["values"]
    routers = {", sequential APR": "phases, the paper's router"}
    if not quick:
        routers[""] = "phases, netloom's own"
    asked = [f"{mesh}{router}, at most" for router in routers for mesh in MESHES]
    values = {quantity: printed[quantity] for quantity in asked}
    compared = (*rows("table 4, structure"), *rows("table 4, phases", values=values))
    computed = {row.quantity: cell(row) for row in compared}
    cells = {(name, mesh): computed[f"{mesh}, {name}"] for name in STRUCTURE for mesh in MESHES}
    for (router, name), mesh in product(routers.items(), MESHES):
        cells[name, mesh] = computed[f"{mesh}{router}, at most"]
    return Shown([grid("Table 4: structure of the meshes, and phases", cells)], compared)


def _table_5(_: bool) -> Shown:
    bandwidths, clocks = rows("table 5"), rows("table 6, measured")
    computation = published(FILE)["table 5"]["computation"]
    cells = {}
    for mesh, comm, speed in zip(MESHES, clocks, bandwidths, strict=True):
        for name, value in zip(("comp. cycles", "comp. MFLOPS"), computation[mesh], strict=True):
            cells[mesh, name] = Cell(value, None)
        cells[mesh, "comm. clocks"], cells[mesh, "comm. MB/s"] = cell(comm), cell(speed)
    title = "Table 5: computation and communication of an iteration, ConSet"
    return Shown([grid(title, cells, head="mesh")], (*bandwidths, *clocks))


def _table_6(quick: bool) -> Shown:
    printed = published(FILE)
    columns = {
        "predicted ConSet": rows("table 6, ConSet predicted"),
        "measured ConSet": rows("table 6, measured"),
        "predicted messages": rows("table 6, message passing predicted"),
    }
    cells: dict[tuple[str, str], Cell] = {}
    for place, mesh in enumerate(MESHES):
        cells |= {(mesh, name): cell(column[place]) for name, column in columns.items()}
        cells[mesh, "measured messages"] = Cell(printed["figure 6"]["measured"][mesh], None)
    panels = [grid("Table 6: finite elements, clocks", cells, head="mesh")]
    if not quick:
        panels.append(_our_meshes(printed))
    return Shown(panels, tuple(row for column in columns.values() for row in column))


def _our_meshes(printed: Mapping[str, Any]) -> Grid:
    """Return what phases come to for meshes of netloom's. Nothing of it is printed."""
    implied = printed["W over 2 c_max"]["implied"]
    cells = {}
    for mesh in MESHES:
        above = [above_least(mesh, as_published=each) for each in (True, False)]
        clocks = simulated_clocks(mesh, overhead_of())
        cells[mesh, "W over 2 c_max, as published"] = Cell(implied[mesh], above[0])
        cells[mesh, "W over 2 c_max, netloom's plan"] = Cell(None, above[1])
        cells[mesh, "simulated clocks"] = Cell(None, clocks)
    title = "Words W of our meshes' timetables over their least (the paper's: implied), and clocks"
    return grid(title, cells, head="mesh")


def _figure_5(_: bool) -> Shown:
    plots = []
    for mesh in MESHES:
        given = interface(mesh)
        words = given.words[given.source < given.target]  # each pair once
        edges = np.linspace(0, 10 * np.ceil(words.max() / 10), 11)
        pairs = np.histogram(words, edges)[0]
        bars = [curve(mesh, (edges[:-1] + edges[1:]) / 2, pairs)]
        title = f"Figure 5: words between pairs of processors, {mesh}"
        plots.append(plot(title, ("words", "pairs of processors"), bars, form="bars"))
    return Shown(plots)


def _figure_6(quick: bool) -> Shown:
    """Bandwidth counts the busiest processor's words for all, as in table 5."""
    printed = published(FILE)
    conset, passing = (printed[f"table 6, {series} predicted"] for series in SERIES)
    words = {mesh: CELLS * passing["meshes"][mesh]["most_words"] for mesh in MESHES}
    columns = {
        "ConSet, predicted": {_first(name): clocks for name, clocks in conset["values"].items()},
        "ConSet, measured": printed["table 6, measured"]["values"],
        "message passing, predicted": passing["values"],
        "message passing, measured": printed["figure 6"]["measured"],
    }
    points = [
        curve(series, [mesh], bandwidth(words[mesh], columns[series][mesh]), PRINTED)
        for mesh, series in product(MESHES, columns)
    ]
    if not quick:
        points += _our_bandwidths()
    shown = {
        "table 6, ConSet predicted": "ConSet, predicted",
        "table 6, message passing predicted": "message passing, predicted",
        "table 6, measured": "ConSet, measured",
    }
    compared = rows(*shown)
    for row in compared:
        mesh = _first(row.quantity)
        points.append(curve(shown[row.item], [mesh], bandwidth(words[mesh], row.computed)))
    title = "Figure 6: aggregate bandwidth of finite elements"
    return Shown([plot(title, ("mesh", BANDWIDTH), points, form="bars")], compared)


def _our_bandwidths() -> Iterator[pl.DataFrame]:
    """Yield what the algorithms as published come to for meshes of netloom's, and simulations."""
    for mesh in MESHES:
        words, made = CELLS * most_words(mesh), compiled(mesh, as_published=True)
        switches = made.plan.num_phases * SPARSE.switch_clocks
        clocks = switches + SPARSE.clocks_per_word * made.words
        yield curve(f"{OUR_MESHES}, predicted", [mesh], bandwidth(words, clocks))
        clocks = simulated_clocks(mesh, overhead_of())
        yield curve(f"{OUR_MESHES}, simulated", [mesh], bandwidth(words, clocks))


EXHIBITS = {
    "table-1": partial(_pattern_table, 1),
    "fig-2": partial(_pattern_figure, 1),
    "table-2": partial(_pattern_table, 2),
    "fig-3": partial(_pattern_figure, 2),
    "table-3": partial(_pattern_table, 3),
    "fig-4": partial(_pattern_figure, 3),
    "table-4": _table_4,
    "fig-5": _figure_5,
    "table-5": _table_5,
    "table-6": _table_6,
    "fig-6": _figure_6,
}
"""What recomputes the tables and figures, by name, in the paper's order."""
