"""Chittor 1991, chapters 1 to 3: tables and figures of networks, without and with contention."""

from __future__ import annotations

from functools import partial
from math import isqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.figures import PRINTED, Cell, Grid, Plot
from netloom.base.progress import track
from netloom.contention import (
    accepted_path_traffic,
    accepted_path_traffic_threshold,
    measure,
    path_slowdown,
)
from netloom.mapping import find_layout, random_mapping
from netloom.topology import average_distance, diameter, hypercube, mesh, topology
from netloom.workload import read
from netloom_papers.models.wiring import (
    channel_bandwidth_ratio,
    channel_rate_ratio,
    channel_width_ratio,
    cut_widths,
    speedup,
)
from netloom_papers.studies.chittor import (
    ESTIMATES,
    ROW_FIRST,
    process_graphs,
    random_mappings,
    rows_of,
)
from netloom_papers.studies.exhibits import Shown
from netloom_papers.studies.panels import cell, curve, grid, plot
from netloom_papers.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from netloom.base.arrays import Floats, Ints
    from netloom_papers.models.wiring import Delay, Distance
    from netloom_papers.studies.validation import Row

    EstimatedPanel: TypeAlias = tuple[str, str, Sequence[tuple[str, float]]]
    """Title, field of ``RandomMappings``, and estimates by name."""

DELAYS: tuple[Delay, ...] = ("constant", "logarithmic", "linear")

SIZES = (16, 64, 256, 1024, 4096)
"""Nodes of figure 2.3. N is a square and a power of two."""

LENGTHS = (1, 10, 100, 1000)
"""Flits of figure 2.3's messages."""

PLACEMENT = np.array([4, 11, 8, 5, 2, 15, 6, 13, 14, 3, 12, 7, 10, 0, 9])
"""One of the placements of figure 3.1's tree that have the numbers of figure 3.2: about one random
placement in 230 does. The thesis's own is lost with its drawing."""

SINGLE_PATHS = (1, 2, 5, 10)
"""ν of figure 3.4. The text names 5."""

SLOWDOWNS = (2.0, 5.0, 10.0, np.inf)
"""θ of figure 3.4.B."""

MOST_QUICK_NODES = 1024


def _table_1_1(_: bool) -> Shown:
    """Return degree, links, diameter and bisection width, by formula and counted on networks."""
    rows = rows_of("table 1.1")
    cells = {}
    for row in rows:
        name, network = row.quantity.split(" of ")
        cells[name, network] = cell(row)
    return Shown([grid("Characteristics of mesh and hypercube", cells)], rows)


def _table_2_1(_: bool) -> Shown:
    """Return the printed ratios of channel bandwidths beside those without its simplifications."""
    nodes = 2 ** np.arange(4, 15)
    curves = []
    for delay in DELAYS:
        printed = channel_bandwidth_ratio(nodes, delay, form="chittor-1991")
        curves.append(curve(f"{delay} delay", nodes, printed, PRINTED))
        curves.append(curve(f"{delay} delay", nodes, channel_bandwidth_ratio(nodes, delay)))
    title, axes = "Channel bandwidth of a mesh over that of a hypercube", ("nodes N", "ratio R_b")
    return Shown([plot(title, axes, curves, log_x=True, log_y=True)])


def _table_2_2(_: bool) -> Shown:
    """Return the speed-up of neighbours' communication by system size."""
    rows = rows_of("table 2.2")
    known = published("chittor")["table 2.2"]
    cells = {}
    for nodes, value in known["size over logarithm"].items():
        found = int(nodes) / np.log2(int(nodes))
        close = bool(abs(found / value - 1) <= known["tolerance"])
        cells[nodes, "N / lg N"] = Cell(value, float(found), close)
    for row in rows:
        delay, nodes = row.quantity.split(" delay, N = ")
        cells[nodes, delay] = cell(row)
    columns = ("N / lg N", "linear", "logarithmic", "constant")
    return Shown([grid("Speed-up R_e by delay model", cells, columns, "N")], rows)


def _table_2_3(_: bool) -> Shown:
    """Return the bandwidths of commercial channels, and what theory says of their ratio."""
    known = published("chittor")["table 2.3"]
    systems: dict[tuple[str, str], Cell] = {}
    for name, (network, width, rate, product) in known["systems"].items():
        label = f"{name}, {network}"
        systems[label, "W"], systems[label, "R"] = Cell(width, None), Cell(rate, None)
        systems[label, "B"] = Cell(product, width * rate, product == width * rate)
    ratios = known["ratios"]
    one, other = (known["systems"][name] for name in ratios["systems"])
    nodes = ratios["nodes"]
    width = float(channel_width_ratio(nodes, form="chittor-1991"))
    rate = float(channel_rate_ratio(nodes, "linear", form="chittor-1991"))
    theory = {
        ("channel width", "of the machines"): Cell(one[1] / other[1], None),
        ("channel width", "by theory"): Cell(ratios["width"], width),
        ("channel rate", "of the machines"): Cell(one[2] / other[2], None),
        ("channel rate", "by theory"): Cell(ratios["rate"], rate),
    }
    title = "Width W (bits), rate R (Mbit/s a line) and bandwidth B = W × R (Mbit/s)"
    both = f"{' over '.join(ratios['systems'])}: the machines' ratios, and theory's for N = {nodes}"
    return Shown([grid(title, systems, head="system"), grid(both, theory, head="ratio")])


def _layout(name: str, curves: Iterable[pl.DataFrame]) -> Plot:
    axes = "position k", "cut width η(k), links"
    return plot(f"Identity layout of {name}", axes, curves, form="steps")


def _figure_2_1(_: bool) -> Shown:
    """Return the cut widths of the identity layouts of 8 nodes."""
    panels = []
    for spec in ("hypercube:3", "mesh:4x2"):
        widths = cut_widths(topology(spec))
        panels.append(_layout(spec, [curve(spec, np.arange(len(widths)), widths)]))
    return Shown(panels, rows_of("figure 2.1"))


def _figure_2_2(_: bool) -> Shown:
    """Return the cut widths of the row-major layout of meshes, by formula and counted."""
    panels = []
    for side in (4, 8):
        position = np.arange(side * side)
        inner = (position + 1) % side != 0
        rising = np.minimum(np.minimum(position + 1, side), side * side - position - 1)
        widths = cut_widths(mesh(side, side))
        curves = (
            curve("equations 2.13 to 2.15", position, inner + rising, PRINTED),
            curve("counted", np.arange(len(widths)), widths),
        )
        panels.append(_layout(f"mesh:{side}x{side}", curves))
    return Shown(panels, rows_of("theorem 3"))


def _figure_2_3(_: bool) -> Shown:
    """Return the speed-up of distant nodes' communication by size and message length."""
    panels = _speedups("A. Average case", "average"), _speedups("B. Worst case", "worst")
    return Shown(panels, rows_of("equation 2.20"))


def _speedups(title: str, distance: Distance) -> Plot:
    measured: Any = average_distance if distance == "average" else diameter
    cubes = np.array([measured(hypercube(nodes.bit_length() - 1)) for nodes in SIZES])
    meshes = np.array([measured(mesh(isqrt(nodes), isqrt(nodes))) for nodes in SIZES])
    bandwidths = channel_bandwidth_ratio(SIZES, form="chittor-1991")
    curves = []
    for length in LENGTHS:
        printed = speedup(SIZES, length, distance=distance, form="chittor-1991")
        computed = bandwidths * (cubes + length) / (meshes + length)
        name = f"L' = {length}"
        curves += [curve(name, SIZES, printed, PRINTED), curve(name, SIZES, computed)]
    return plot(title, ("nodes N", "speed-up R_e"), curves, log_x=True)


def _figure_3_2(_: bool) -> Shown:
    known = published("chittor")["figure 3.2"]
    placed = _tree(known, PLACEMENT)
    random = np.array(
        [
            _tree(known, random_mapping(known["tasks"], known["side"] ** 2, seed))
            for seed in track(range(1, 1001), "figure 3.2")
        ]
    )
    printed = np.array(list(known["values"].values()))
    cells = {
        (name, column): Cell(value, float(found))
        for (name, values), of_it in zip(known["values"].items(), placed, strict=True)
        for column, value, found in zip(known["columns"], values, of_it, strict=True)
    }
    panels: list[Plot | Grid] = [grid("Contention parameters of figure 3.1's mapping", cells)]
    names = [name.split(" (")[0] for name in known["values"]]
    for number, column in enumerate(known["columns"]):
        each = random[:, :, number]
        low, high = np.quantile(each, (0.025, 0.975), axis=0)
        curves = [
            curve("figure 3.1", names, printed[:, number], PRINTED),
            curve("random mappings", names, each.mean(axis=0), low=low, high=high),
        ]
        title = f"Among random mappings: {column}"
        panels.append(plot(title, ("", "hops or paths"), curves, form="points"))
    return Shown(panels)


def _tree(known: Mapping[str, Any], node_of: Ints) -> Floats:
    """Return mean and maximum (columns) of D, d, χ and ν of a placement."""
    child = np.arange(1, known["tasks"])
    net = mesh(known["side"], known["side"])
    found = measure(net, ROW_FIRST, node_of[(child - 1) // 2], node_of[child])
    names = ("path_length", "logical_path_length", "channel_load", "path_contention")
    values = [getattr(found, name) for name in names]
    return np.array([(each.mean(), each.max()) for each in values], np.float64)


def _figure_3_4(_: bool) -> Shown:
    traffic = np.linspace(0, 0.5, 101)
    rows = rows_of("equation 3.11")
    known = published("chittor")["equation 3.11"]
    curves = []
    for level in SINGLE_PATHS:
        slowdown = path_slowdown(traffic, level)
        shown = slowdown <= 20
        curves.append(curve(f"ν = {level}", traffic[shown], slowdown[shown]))
    example = [known["traffic"]], [known["printed"]]
    name = f"example in the text, ν = {known['path_contention']}"
    curves.append(curve(name, *example, PRINTED))
    levels = np.arange(21)
    limits = [
        curve(f"θ = {slowdown:g}", levels, (1 - 1 / slowdown) / (levels + 1))
        for slowdown in SLOWDOWNS
    ]
    axes = "path contention level ν", "path traffic λ_p"
    panels = (
        plot("A. θ by path traffic", ("path traffic λ_p", "θ"), curves),
        plot("B. Path traffic at which θ is reached", axes, limits),
    )
    return Shown(panels, rows)


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
    axes = "applied path traffic λ_pa", "actual path traffic λ_p"
    panels = (
        plot("A. Solutions for λ_pa = 0.5", ("path traffic λ_p", "θ"), crossing),
        plot("B. Actual against applied path traffic", axes, actual),
    )
    return Shown(panels)


def _random(quick: bool) -> tuple[int, list[int]]:
    """Return how many random mappings are averaged, and the sizes of networks."""
    known = published("chittor")["table 3.1"]
    nodes = [size for size in known["nodes"] if not quick or size <= MOST_QUICK_NODES]
    return known["mappings"], nodes


def _table_3_1_rows(quick: bool, symbol: str = "") -> tuple[Row, ...]:
    rows = rows_of("table 3.1", nodes=_random(quick)[1])
    return tuple(row for row in rows if row.quantity.startswith(symbol))


def _actual(field: str, title: str, quick: bool) -> list[pl.DataFrame]:
    """Return a figure of random mappings by size, one curve per process graph."""
    mappings, nodes = _random(quick)
    curves = []
    for kind in process_graphs(16):
        found = [getattr(random_mappings(kind, size, mappings), field) for size in nodes]
        values = np.array([each.mean() for each in found])
        low, high = (np.array([part(each) for each in found]) for part in (np.min, np.max))
        curves.append(curve(f"{title}, {kind}", nodes, values, low=low, high=high))
    return curves


def _estimated(title: str, share: float, quick: bool) -> list[pl.DataFrame]:
    """Return a share of C = δ_avg √N by size, one curve per process graph."""
    _, nodes = _random(quick)
    curves = []
    for kind in process_graphs(16):
        graphs = [process_graphs(size)[kind] for size in nodes]
        degrees = [graph.num_edges / graph.num_tasks for graph in graphs]
        values = [share * each * size**0.5 for each, size in zip(degrees, nodes, strict=True)]
        curves.append(curve(f"{title}, {kind}", nodes, values, PRINTED))
    return curves


def _figure_3_8(quick: bool) -> Shown:
    _, nodes = _random(quick)
    roots = np.sqrt(nodes)
    longest = curve("2 (√N - 1), eq. 3.17", nodes, 2 * (roots - 1), PRINTED)
    average = curve("2 √N / 3, eq. 3.18", nodes, 2 * roots / 3, PRINTED)
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
    return Shown(panels, rows_of("equations 3.17 and 3.18"))


def _of_estimates(symbol: str, axis: str, panels: Sequence[EstimatedPanel], quick: bool) -> Shown:
    """Return one panel per field of ``RandomMappings``, beside its estimates as shares of C."""
    found = []
    for title, field, estimates in panels:
        curves = [each for name, share in estimates for each in _estimated(name, share, quick)]
        curves += _actual(field, "random mapping", quick)
        found.append(plot(title, ("nodes N", f"{axis} {symbol}"), curves, log_x=True, log_y=True))
    return Shown(found, _table_3_1_rows(quick, symbol))


CHANNEL_LOADS: tuple[EstimatedPanel, ...] = (
    ("A. Average channel load", "channel_load_mean", [("C/6, eq. 3.19", 1 / 6)]),
    ("B. Maximum channel load", "channel_load_max",
     [("C/2, eq. 3.21", 1 / 2), ("3C/8, eq. 3.22", 3 / 8)]),
)  # fmt: skip

PATH_CONTENTION: tuple[EstimatedPanel, ...] = (
    ("A. Average path", "path_contention_mean",
     [("2C/3, eq. 3.28", 2 / 3), ("C/2, table 3.1", 1 / 2)]),
    ("B. Worst path", "path_contention_max", [("C, eq. 3.29", 1)]),
)  # fmt: skip


def _table_3_1(quick: bool) -> Shown:
    rows = _table_3_1_rows(quick)
    tables: dict[str, dict[tuple[str, str], Cell]] = {name: {} for name in ESTIMATES.values()}
    for row in rows:
        estimate, kind, size = row.quantity.split(", ")
        tables[estimate][kind, size] = cell(row)
    return Shown([grid(f"{name}, with C = δ_avg √N", of) for name, of in tables.items()], rows)


def _table_3_2(_: bool) -> Shown:
    rows = rows_of("table 3.2")
    cells = {}
    for row in rows:
        kind, size, who = row.quantity.removesuffix(" node (%)").split(", ")
        cells[size, f"{kind}, {who}"] = cell(row)
    return Shown([grid("Saturation node traffic under random mapping (%)", cells)], rows)


def _figure_3_11(_: bool) -> Shown:
    rows = rows_of("section 3.5.1")
    cells = {}
    for tasks, row in zip(published("chittor")["section 3.5.1"]["tasks"], rows, strict=True):
        graph, side = read(f"binary-tree:{tasks}"), isqrt(tasks + 1)
        net, label = mesh(side, side), f"{tasks} tasks, {side} x {side} nodes"
        cells[label, "χ_max, own routes"] = cell(row)
        placed = find_layout("tiles", graph, net).node_of
        random = random_mapping(tasks, net.num_hosts, 1)
        for name, node_of in (("dimension order", placed), ("random mapping", random)):
            found = measure(net, ROW_FIRST, node_of[graph.source], node_of[graph.target])
            cells[label, f"χ_max, {name}"] = Cell(None, float(found.channel_load.max()))
            cells[label, f"ν_avg, {name}"] = Cell(None, float(found.path_contention.mean()))
    return Shown([grid("Binary trees in tiles", cells)], rows)


def _figure_3_12(_: bool) -> Shown:
    rows = rows_of("section 3.5.2")
    formulas = {"A": "scheme A: ∛N_p + 1", "B": "scheme B: √(∛N_p) + 1"}
    cells = {}
    for row in rows:
        program, rest = row.quantity.removeprefix("χ_max of ").split(" by scheme ")
        scheme, net = rest.split(" on ")
        cells[f"{program} on {net}", formulas[scheme]] = cell(row)
    return Shown([grid("χ_max of 3D meshes on 2D meshes", cells)], rows)


EXHIBITS = {
    "table-1.1": _table_1_1,
    "table-2.1": _table_2_1,
    "table-2.2": _table_2_2,
    "table-2.3": _table_2_3,
    "fig-2.1": _figure_2_1,
    "fig-2.2": _figure_2_2,
    "fig-2.3": _figure_2_3,
    "fig-3.2": _figure_3_2,
    "fig-3.4": _figure_3_4,
    "fig-3.5": _figure_3_5,
    "fig-3.8": _figure_3_8,
    "fig-3.9": partial(_of_estimates, "χ", "paths on a channel", CHANNEL_LOADS),
    "fig-3.10": partial(_of_estimates, "ν", "path contention level", PATH_CONTENTION),
    "table-3.1": _table_3_1,
    "table-3.2": _table_3_2,
    "fig-3.11": _figure_3_11,
    "fig-3.12": _figure_3_12,
}
"""What recomputes the tables and figures of chapters 1 to 3, by name."""
