"""Chittor 1991, chapter 3: tables and figures of contention under random and careful mapping."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention import (
    accepted_path_traffic,
    accepted_path_traffic_threshold,
    measure,
    path_slowdown,
)
from netloom.figures import PRINTED, Cell, Grid, Plot
from netloom.mapping import find_layout, random_mapping
from netloom.progress import track
from netloom.studies.chittor import (
    ESTIMATES,
    ROW_FIRST,
    process_graphs,
    random_mappings,
    rows_of,
)
from netloom.studies.chittor_panels import cell, changed, curve, grid, plot
from netloom.studies.exhibits import Exhibit, Shown
from netloom.studies.validation import published
from netloom.topology import mesh
from netloom.workload import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from netloom.contention import Contention
    from netloom.studies.validation import Row

PLACEMENT = np.array([4, 11, 8, 5, 2, 15, 6, 13, 14, 3, 12, 7, 10, 0, 9])
"""One of the placements of figure 3.1's tree that have the numbers of figure 3.2: about one random
placement in 230 does. The thesis's own is lost with its drawing."""

SINGLE_PATHS = (1, 2, 5, 10)
"""ν of figure 3.4; the text names 5."""

SLOWDOWNS = (2.0, 5.0, 10.0, np.inf)
"""θ of figure 3.4.B."""

MOST_QUICK_NODES = 1024

SIZES_UNKNOWN = (
    "The thesis does not say which sizes its figures have, nor which 3D meshes: here they are "
    "cubes of the largest whole side that fits."
)

SMALLER = "Quick: up to 1024 nodes, where the full run has 16,384."


def _figure_3_2(_: bool) -> Shown:
    known = published("chittor")["figure 3.2"]
    placed = _tree_figures(_tree(known, PLACEMENT))
    random = np.array(
        [
            _tree_figures(_tree(known, random_mapping(known["tasks"], known["side"] ** 2, seed)))
            for seed in track(range(1, 1001), "figure 3.2")
        ]
    )
    printed = np.array(list(known["values"].values()))
    table = Grid(
        "Contention parameters of figure 3.1's mapping",
        ("", *known["columns"]),
        tuple(
            (name, tuple(Cell(*pair) for pair in zip(values, found.tolist(), strict=True)))
            for (name, values), found in zip(known["values"].items(), placed, strict=True)
        ),
    )
    panels: list[Plot | Grid] = [table]
    names = [name.split(" (")[0] for name in known["values"]]
    for number, column in enumerate(known["columns"]):
        each = random[:, :, number]
        low, high = np.quantile(each, (0.025, 0.975), axis=0)
        curves = [
            curve("figure 3.1", names, printed[:, number], whose=PRINTED),
            curve("random mappings", names, each.mean(axis=0), low=low, high=high),
        ]
        title = f"Among random mappings: {column}"
        panels.append(plot(title, ("", "hops or paths"), curves, form="points"))
    remarks = (
        "The table's placement was searched for among those that agree with the printed numbers, "
        "since the thesis's is lost: it shows that the counting rules can give them, and is no "
        "reproduction. The panels below it show where they lie among random mappings, with the "
        "range of 95 % of these.",
        "Only the 14 edges from parents to children count here.",
    )
    return Shown(tuple(panels), remarks=remarks)


def _tree(known: Mapping[str, Any], node_of: NDArray[np.integer[Any]]) -> Contention:
    child = np.arange(1, known["tasks"])
    net = mesh(known["side"], known["side"])
    return measure(net, ROW_FIRST, node_of[(child - 1) // 2], node_of[child])


def _tree_figures(found: Contention) -> NDArray[np.float64]:
    """Return mean and maximum (columns) of D, d, χ and ν."""
    values = (
        found.path_length,
        found.logical_path_length,
        found.channel_load,
        found.path_contention,
    )
    return np.array([(each.mean(), each.max()) for each in values], np.float64)


def _figure_3_4(_: bool) -> Shown:
    traffic = np.linspace(0, 0.5, 101)
    rows = tuple(rows_of("equation 3.11"))
    known = published("chittor")["equation 3.11"]
    curves = []
    for level in SINGLE_PATHS:
        slowdown = path_slowdown(traffic, level)
        shown = slowdown <= 20
        curves.append(curve(f"ν = {level}", traffic[shown], slowdown[shown]))
    example = [known["traffic"]], [known["printed"]]
    name = f"example in the text, ν = {known['path_contention']}"
    curves.append(curve(name, *example, whose=PRINTED))
    levels = np.arange(21)
    limits = [
        curve(f"θ = {slowdown:g}", levels, (1 - 1 / slowdown) / (levels + 1))
        for slowdown in SLOWDOWNS
    ]
    panels = (
        plot("A. θ by path traffic", ("path traffic λ_p", "θ"), curves),
        plot(
            "B. Path traffic at which θ is reached",
            ("path contention level ν", "path traffic λ_p"),
            limits,
        ),
    )
    remarks = (
        "Equation 3.11, as the thesis draws it. Beyond θ = ∞ lies its forbidden region.",
        "Which ν panel A has is lost, but for the 5 of the example.",
    )
    return Shown(panels, rows, remarks)


def _figure_3_5(_: bool) -> Shown:
    offered, level = 0.5, 2
    traffic = np.linspace(0.1, 1 / 3, 71)
    exact, threshold = (
        float(solve(offered, level))
        for solve in (accepted_path_traffic, accepted_path_traffic_threshold)
    )
    slowdown = path_slowdown(traffic, level)
    shown = slowdown <= 20
    crossing = [
        curve("equation 3.4", traffic, 1 + 1 / traffic - 1 / offered),
        curve("equation 3.11", traffic[shown], slowdown[shown]),
        curve("threshold, equation 3.13", [traffic[0], 1 / 3, 1 / 3], [1, 1, 20]),
        curve("exact solution", [exact], path_slowdown([exact], level)),
        curve("approximate solution", [threshold], [1 + 1 / threshold - 1 / offered]),
    ]
    applied = np.linspace(0, 1, 101)
    actual = [
        curve("exact", applied, accepted_path_traffic(applied, level)),
        curve("approximate", applied, accepted_path_traffic_threshold(applied, level)),
    ]
    panels = (
        plot("A. Solutions for λ_pa = 0.5", ("path traffic λ_p", "θ"), crossing),
        plot(
            "B. Actual against applied path traffic",
            ("applied path traffic λ_pa", "actual path traffic λ_p"),
            actual,
        ),
    )
    return Shown(panels, remarks=("Equations 3.4, 3.11 and 3.13, as the thesis draws them.",))


def _random(quick: bool) -> tuple[int, list[int]]:
    """Return how many random mappings are averaged, and the sizes of networks."""
    known = published("chittor")["table 3.1"]
    nodes = [size for size in known["nodes"] if not quick or size <= MOST_QUICK_NODES]
    return known["mappings"], nodes


def _table_3_1_rows(quick: bool, *names: str) -> tuple[Row, ...]:
    _, nodes = _random(quick)
    known = changed(published("chittor"), "table 3.1", nodes=nodes)
    return tuple(
        row
        for row in rows_of("table 3.1", known=known)
        if not names or row.quantity.startswith(names)
    )


def _actual(field: str, title: str, quick: bool) -> list[pl.DataFrame]:
    """Return a figure of random mappings by size, one curve a process graph."""
    mappings, nodes = _random(quick)
    curves = []
    for kind in process_graphs(16):
        found = [getattr(random_mappings(kind, size, mappings), field) for size in nodes]
        values = np.array([each.mean() for each in found])
        low, high = (np.array([part(each) for each in found]) for part in (np.min, np.max))
        curves.append(curve(f"{title}, {kind}", nodes, values, low=low, high=high))
    return curves


def _estimated(title: str, estimate: Callable[[float, float], float], quick: bool) -> Any:
    """Return a formula of N and δ_avg by size, one curve a process graph."""
    _, nodes = _random(quick)
    for kind in process_graphs(16):
        values = []
        for size in nodes:
            graph = process_graphs(size)[kind]
            values.append(estimate(size, graph.num_edges / graph.num_tasks))
        yield curve(f"{title}, {kind}", nodes, values, whose=PRINTED)


def _of_c(share: float) -> Callable[[float, float], float]:
    """Return share × C, with C = δ_avg √N."""
    return lambda nodes, degree: share * degree * nodes**0.5


def _figure_3_8(quick: bool) -> Shown:
    _, nodes = _random(quick)
    roots = np.sqrt(nodes)
    longest = curve("2 (√N - 1), eq. 3.17", nodes, 2 * (roots - 1), whose=PRINTED)
    average = curve("2 √N / 3, eq. 3.18", nodes, 2 * roots / 3, whose=PRINTED)
    physical = [
        average,
        longest,
        *_actual("path_length_mean", "average", quick),
        *_actual("path_length_max", "maximum", quick),
    ]
    logical = [average, *_actual("logical_path_length_mean", "average", quick)]
    axes = "nodes N", "hops"
    panels = (
        plot("A. Physical path lengths", axes, physical, log_x=True),
        plot("B. Logical path lengths", ("nodes N", "channels"), logical, log_x=True),
    )
    remarks = (
        "Lines show the estimates, as in the thesis; computed are random mappings, with their "
        "range. For logical path lengths the estimate is the physical length.",
        "Edges of sparse graphs meet fewer paths: a tree's logical lengths stay below the line.",
        SIZES_UNKNOWN,
        *((SMALLER,) if quick else ()),
    )
    return Shown(panels, tuple(rows_of("equations 3.17 and 3.18")), remarks)


def _figure_3_9(quick: bool) -> Shown:
    average = [
        *_estimated("C/6, eq. 3.19", _of_c(1 / 6), quick),
        *_actual("channel_load_mean", "random mapping", quick),
    ]
    largest = [
        *_estimated("C/2, eq. 3.21", _of_c(1 / 2), quick),
        *_estimated("3C/8, eq. 3.22", _of_c(3 / 8), quick),
        *_actual("channel_load_max", "random mapping", quick),
    ]
    axes = "nodes N", "paths on a channel χ"
    panels = (
        plot("A. Average channel load", axes, average, log_x=True, log_y=True),
        plot("B. Maximum channel load", axes, largest, log_x=True, log_y=True),
    )
    remarks = (
        "Lines show the estimates, as in the thesis: for the maximum, the derived one (eq. 3.21) "
        "and the one that the thesis fits (eq. 3.22), since it does not say which it draws.",
        SIZES_UNKNOWN,
        *((SMALLER,) if quick else ()),
    )
    return Shown(panels, _table_3_1_rows(quick, "χ"), remarks)


def _figure_3_10(quick: bool) -> Shown:
    average = [
        *_estimated("2C/3, eq. 3.28", _of_c(2 / 3), quick),
        *_estimated("C/2, table 3.1", _of_c(1 / 2), quick),
        *_actual("path_contention_mean", "random mapping", quick),
    ]
    largest = [
        *_estimated("C, eq. 3.29", _of_c(1), quick),
        *_actual("path_contention_max", "random mapping", quick),
    ]
    axes = "nodes N", "path contention level ν"
    panels = (
        plot("A. Average path", axes, average, log_x=True, log_y=True),
        plot("B. Worst path", axes, largest, log_x=True, log_y=True),
    )
    remarks = (
        "Lines show the estimates, as in the thesis: for the average path, the derived one "
        "(eq. 3.28), which large networks approach, and the fit of table 3.1 to smaller ones.",
        SIZES_UNKNOWN,
        *((SMALLER,) if quick else ()),
    )
    return Shown(panels, _table_3_1_rows(quick, "ν"), remarks)


def _table_3_1(quick: bool) -> Shown:
    rows = _table_3_1_rows(quick)
    _, nodes = _random(quick)
    panels = []
    for name in ESTIMATES.values():
        cells = {}
        for row in rows:
            estimate, kind, size = row.quantity.split(", ")
            if estimate == name:
                cells[kind, size] = cell(row)
        columns = ("", *(f"N = {size}" for size in nodes))
        panels.append(grid(f"{name}, with C = δ_avg √N", columns, cells))
    remarks = (
        "Printed are the estimates, computed the means of random mappings.",
        SIZES_UNKNOWN,
        *((SMALLER,) if quick else ()),
    )
    return Shown(tuple(panels), rows, remarks)


def _table_3_2(_: bool) -> Shown:
    rows = tuple(rows_of("table 3.2"))
    cells = {}
    for row in rows:
        kind, size, who = row.quantity.removesuffix(" node (%)").split(", ")
        cells[size, f"{kind}, {who}"] = cell(row)
    columns = ("", *dict.fromkeys(column for _, column in cells))
    remarks = (
        "Printed is one random mapping, which the thesis does not name; computed is the mean of "
        "many, and a value is within if it lies in their range.",
    )
    title = "Saturation node traffic under random mapping (%)"
    return Shown((grid(title, columns, cells),), rows, remarks)


def _figure_3_11(_: bool) -> Shown:
    rows = tuple(rows_of("section 3.5.1"))
    cells = {}
    for tasks, row in zip(published("chittor")["section 3.5.1"]["tasks"], rows, strict=True):
        graph, side = read(f"binary-tree:{tasks}"), isqrt(tasks + 1)
        net, label = mesh(side, side), f"{tasks} tasks, {side} x {side} nodes"
        cells[label, "χ_max, own routes"] = cell(row)
        placed = find_layout("tiles", graph, net).node_of
        random = random_mapping(tasks, net.num_nodes, 1)
        for name, node_of in (("dimension order", placed), ("random mapping", random)):
            found = measure(net, ROW_FIRST, node_of[graph.source], node_of[graph.target])
            cells[label, f"χ_max, {name}"] = Cell(None, float(found.channel_load.max()))
            cells[label, f"ν_avg, {name}"] = Cell(None, float(found.path_contention.mean()))
    columns = ("", *dict.fromkeys(column for _, column in cells))
    remarks = (
        "The thesis's tiles are lost with their drawing: the arrangement is netloom's, by the same "
        "idea, with one spare node. Compared is that no channel carries more than 2 paths.",
        "Beside it, what the thesis says to use in practice, the same placement under dimension "
        "order, and a random mapping.",
    )
    return Shown((grid("Binary trees in tiles", columns, cells),), rows, remarks)


def _figure_3_12(_: bool) -> Shown:
    rows = tuple(rows_of("section 3.5.2"))
    formulas = {"A": "scheme A: ∛N_p + 1", "B": "scheme B: √(∛N_p) + 1"}
    cells = {}
    for row in rows:
        program, rest = row.quantity.removeprefix("χ_max of ").split(" by scheme ")
        scheme, net = rest.split(" on ")
        cells[f"{program} on {net}", formulas[scheme]] = cell(row)
    remarks = (
        "Scheme A lays plane after plane in snake order, scheme B column after column. Less counts "
        "as reproduced: of 4 planes two lie in a row, and channels carry 4 paths, not 5.",
        "The root in scheme B's formula is illegible; read is the sixth root, which is exact here.",
    )
    title = "χ_max of 3D meshes on 2D meshes"
    return Shown((grid(title, ("", *formulas.values()), cells),), rows, remarks)


EXHIBITS = {
    "fig-3.2": Exhibit("Contention parameters of a random mapping of a tree", _figure_3_2),
    "fig-3.4": Exhibit("Effect of contention on a single path", _figure_3_4),
    "fig-3.5": Exhibit("Actual against applied traffic of a single path", _figure_3_5),
    "fig-3.8": Exhibit("Path lengths, estimated and actual", _figure_3_8),
    "fig-3.9": Exhibit("Channel loads, estimated and actual", _figure_3_9),
    "fig-3.10": Exhibit("Path contention levels, estimated and actual", _figure_3_10),
    "table-3.1": Exhibit("Estimates of contention parameters", _table_3_1),
    "table-3.2": Exhibit("Saturation of randomly mapped process graphs", _table_3_2),
    "fig-3.11": Exhibit("Binary trees laid out in tiles", _figure_3_11),
    "fig-3.12": Exhibit("3D meshes laid out on 2D meshes", _figure_3_12),
}
"""Tables and figures of chapter 3, by name."""
