"""Chittor 1991, chapters 1 to 3: networks, without and with contention.

What sections 4.2 and 4.3 compute without simulation is here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from math import isqrt, sqrt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from netloom import contention
from netloom.base.arrays import Floats, Ints
from netloom.base.progress import track
from netloom.machines import machine
from netloom.mapping import find_layout, random_mapping
from netloom.routing import DimensionOrder
from netloom.topology import Topology, hypercube, measures, mesh, topology
from netloom.workload import ProcessGraph, read
from netloom_papers.exhibits import PRINTED, Cell, Plot, curve, grid, plot
from netloom_papers.ledger import Against, Drawn, Found, Item, Known, Made, published
from netloom_papers.models import wiring

ROW_FIRST = DimensionOrder()

SLOWDOWNS = (2.0, 5.0, 10.0, np.inf)
"""θ of figure 3.4.B."""

FIGURES = ("path_length", "logical_path_length", "channel_load", "path_contention")
"""Of a mapping, as its contention has them: D, d, χ and ν."""

PARTS = {"mean": "average", "max": "maximum"}

LAYOUTS = {
    " in tiles": "tiles",
    " by scheme A": "planes",
    " by scheme B": "columns",
    "": "identity",
}
"""netloom's layouts by the words of rows: trees in tiles, and 3D meshes by schemes A and B."""

ESTIMATES = {
    "channel_load_mean": "χ_avg = C/6",
    "channel_load_max": "χ_max = 3C/8",
    "path_contention_mean": "ν_avg = C/2",
    "path_contention_max": "ν_max = C",
}
"""Table 3.1, by the fields of ``MeshEstimate``, and the figures of ``random_mappings``."""


def placed(made: Made, pattern: str, label: str, column: str) -> dict[tuple[str, str], Cell]:
    """Return the cells of rows, by label and column, which are made of parts of their quantities.

    ``label`` and ``column`` name groups of the pattern, as ``re.Match.expand`` does.
    """
    matched = ((re.fullmatch(pattern, row.quantity), row.cell) for row in made.rows)
    return {(match.expand(label), match.expand(column)): cell for match, cell in matched if match}


def tabled(pattern: str, label: str, column: str) -> Callable[[Made], Drawn]:
    """Return what draws the rows as one table, placed as ``placed`` does."""

    def draw(made: Made) -> Drawn:
        yield grid(made.known["shows"], placed(made, pattern, label, column))

    return draw


# -- chapters 1 and 2: networks without contention -----------------------------------------------


MEASURES: dict[str, Callable[[Any], float]] = {
    "degree of {}": measures.degree,
    "links of {}": measures.num_links,
    "diameter of {}": measures.diameter,
    "bisection width of {}": wiring.layout_bisection,
    "D_max on {}": measures.diameter,
    "D_avg on {}": measures.average_distance,
    "cut width of {} at ⌊N/3⌋": lambda net: wiring.cut_widths(net)[net.num_hosts // 3],
    "peak width of {}": wiring.peak_width,
    "{}, best of all layouts": wiring.minimum_peak_width,
}
"""What is measured of networks, by the quantities of rows. Theorem 1 says that the cut width is
largest at ⌊N/3⌋: so it is there that theorem 2's peak must be found."""


def _of_networks(known: Known) -> Found:
    for quantity in known["values"]:
        (spec,) = re.findall(r"\w+:[\dx]+", quantity)
        yield quantity, MEASURES[quantity.replace(spec, "{}")](topology(spec))


def _draw_table_2_1(_: Made) -> Drawn:
    """The printed ratios of channel bandwidths beside those without its simplifications."""
    nodes = 2 ** np.arange(4, 15)
    curves = []
    for delay in wiring.DELAYS:
        printed = wiring.channel_bandwidth_ratio(nodes, delay, form="chittor-1991")
        curves.append(curve(f"{delay} delay", nodes, printed, PRINTED))
        curves.append(curve(f"{delay} delay", nodes, wiring.channel_bandwidth_ratio(nodes, delay)))
    title, axes = "Channel bandwidth of a mesh over that of a hypercube", ("nodes N", "ratio R_b")
    yield plot(title, axes, curves, log_x=True, log_y=True)


def _table_2_2(known: Known) -> Found:
    asked: dict[str, Any] = {each: each.split(" delay, N = ") for each in known["values"]}
    for quantity, (delay, nodes) in asked.items():
        yield quantity, wiring.channel_bandwidth_ratio(int(nodes), delay, form="chittor-1991")


def _draw_table_2_2(made: Made) -> Drawn:
    cells = {}
    for nodes, value in made.known["size over logarithm"].items():
        found = int(nodes) / np.log2(int(nodes))
        close = bool(abs(found / value - 1) <= made.known["tolerance"])
        cells[nodes, "N / lg N"] = Cell(value, float(found), close)
    cells |= placed(made, r"(.*) delay, N = (.*)", r"\2", r"\1")
    columns = ("N / lg N", "linear", "logarithmic", "constant")
    yield grid("Speed-up R_e by delay model", cells, columns, "N")


def _draw_table_2_3(made: Made) -> Drawn:
    """The bandwidths of commercial channels."""
    systems: dict[tuple[str, str], Cell] = {}
    for name, (network, width, rate, product_) in made.known["systems"].items():
        label = f"{name}, {network}"
        systems[label, "W"], systems[label, "R"] = Cell(width, None), Cell(rate, None)
        systems[label, "B"] = Cell(product_, width * rate, product_ == width * rate)
    title = "Width W (bits), rate R (Mbit/s a line) and bandwidth B = W × R (Mbit/s)"
    yield grid(title, systems, head="system")


def _layout(name: str, curves: Iterable[pl.DataFrame]) -> Plot:
    axes = "position k", "cut width η(k), links"
    return plot(f"Identity layout of {name}", axes, curves, form="steps")


def _draw_figure_2_1(_: Made) -> Drawn:
    for spec in ("hypercube:3", "mesh:4x2"):
        widths = wiring.cut_widths(topology(spec))
        yield _layout(spec, [curve(spec, np.arange(len(widths)), widths)])


def _square(side: int) -> Topology:
    return mesh(side, side)


def _draw_figure_2_2(_: Made) -> Drawn:
    """The cut widths of the row-major layout of meshes, by formula and counted."""
    for side in (4, 8):
        position = np.arange(side * side)
        inner = (position + 1) % side != 0
        rising = np.minimum(np.minimum(position + 1, side), side * side - position - 1)
        widths = wiring.cut_widths(_square(side))
        curves = (
            curve("equations 2.13 to 2.15", position, inner + rising, PRINTED),
            curve("counted", np.arange(len(widths)), widths),
        )
        yield _layout(f"mesh:{side}x{side}", curves)


def _equation_2_20(known: Known) -> Found:
    """The printed closed forms against eq. 2.20 with path lengths counted on the networks."""
    distances: tuple[wiring.Distance, ...] = ("average", "worst")
    for (nodes, length), distance in product(known["cases"], distances):
        value = wiring.speedup(nodes, length, distance=distance, form="chittor-1991")
        (cube,), (flat,) = _counted([nodes], distance)
        computed = 2 * sqrt(nodes) / 3 * (cube + length) / (flat + length)
        name = f"R_e, {distance} case, N = {nodes}, L' = {length}"
        yield name, Against(float(value), computed)


def _counted(sizes: Iterable[int], distance: wiring.Distance) -> tuple[Floats, Floats]:
    """Return path lengths of hypercubes and of meshes, counted."""
    measured: Any = measures.average_distance if distance == "average" else measures.diameter
    return (
        np.array([measured(hypercube(nodes.bit_length() - 1)) for nodes in sizes]),
        np.array([measured(_square(isqrt(nodes))) for nodes in sizes]),
    )


def _draw_figure_2_3(made: Made) -> Drawn:
    """The speed-up of distant nodes' communication by size and message length."""
    panels: dict[wiring.Distance, str] = {"average": "A. Average case", "worst": "B. Worst case"}
    sizes = made.known["nodes"]
    bandwidths = wiring.channel_bandwidth_ratio(sizes, form="chittor-1991")
    for distance, title in panels.items():
        cubes, meshes = _counted(sizes, distance)
        curves = []
        for length in made.known["flits"]:
            printed = wiring.speedup(sizes, length, distance=distance, form="chittor-1991")
            computed = bandwidths * (cubes + length) / (meshes + length)
            name = f"L' = {length}"
            curves += [curve(name, sizes, printed, PRINTED), curve(name, sizes, computed)]
        yield plot(title, ("nodes N", "speed-up R_e"), curves, log_x=True)


# -- section 3.2: a tree, and a single path ------------------------------------------------------


def _draw_figure_3_2(made: Made) -> Drawn:
    known = made.known
    child, net = np.arange(1, known["tasks"]), _square(known["side"])
    samples = []
    for seed in track(range(1, known["mappings"] + 1), "figure 3.2"):
        node_of = random_mapping(known["tasks"], net.num_hosts, seed)
        ends = node_of[(child - 1) // 2], node_of[child]
        samples.append(_figures(contention.measure(net, ROW_FIRST, *ends)))
    cells = {}
    for name, (words, printed) in zip(FIGURES, known["printed"].items(), strict=True):
        for (part, column), value in zip(PARTS.items(), printed, strict=True):
            found = [each[f"{name}_{part}"] for each in samples]
            low, high = np.quantile(found, (0.025, 0.975))
            cells[words, column] = Cell(value, float(np.mean(found)), bool(low <= value <= high))
    yield grid("Contention parameters of random mappings", cells)


def _figures(found: contention.Contention) -> dict[str, float]:
    """Return means and maxima of D, d, χ and ν."""
    values = {name: getattr(found, name) for name in FIGURES}
    means = {f"{name}_mean": float(each.mean()) for name, each in values.items()}
    return means | {f"{name}_max": float(each.max()) for name, each in values.items()}


def _equation_3_11(known: Known) -> Found:
    name = f"θ for λ_p = {known['traffic']}, ν = {known['path_contention']}"
    yield name, contention.path_slowdown(known["traffic"], known["path_contention"])


def _slowdown(name: str, traffic: Floats, level: int) -> pl.DataFrame:
    slowdown = contention.path_slowdown(traffic, level)
    shown = slowdown <= 20
    return curve(name, traffic[shown], slowdown[shown])


def _draw_figure_3_4(made: Made) -> Drawn:
    traffic = np.linspace(0, 0.5, 101)
    curves = [_slowdown(f"ν = {level}", traffic, level) for level in made.known["levels"]]
    known = published("chittor")["items"]["equation 3.11"]
    name = f"example in the text, ν = {known['path_contention']}"
    (example,) = made.rows
    curves.append(curve(name, [known["traffic"]], [example.printed], PRINTED))
    yield plot("A. θ by path traffic", ("path traffic λ_p", "θ"), curves)
    levels = np.arange(21)
    limits = [
        curve(f"θ = {slowdown:g}", levels, (1 - 1 / slowdown) / (levels + 1))
        for slowdown in SLOWDOWNS
    ]
    axes = "path contention level ν", "path traffic λ_p"
    yield plot("B. Path traffic at which θ is reached", axes, limits)


def accepted_path_traffic_threshold(offered: ArrayLike, path_contention: ArrayLike) -> Floats:
    """Return λ_p by the threshold approximation: all that is offered, up to λ_sat (eq. 3.13).

    Examples
    --------
    >>> float(accepted_path_traffic_threshold(0.5, 2).round(4))
    0.3333
    """
    return np.minimum(offered, 1 / (np.asarray(path_contention, np.float64) + 1))


def _draw_figure_3_5(_: Made) -> Drawn:
    offered, level = 0.5, 2
    traffic = np.linspace(0.1, 1 / 3, 71)
    exact = float(contention.accepted_path_traffic(offered, level))
    threshold = float(accepted_path_traffic_threshold(offered, level))
    crossing = [
        curve("equation 3.4", traffic, 1 + 1 / traffic - 1 / offered),
        _slowdown("equation 3.11", traffic, level),
        curve("threshold, equation 3.13", [traffic[0], 1 / 3, 1 / 3], [1, 1, 20]),
        curve("exact solution", [exact], contention.path_slowdown([exact], level)),
        curve("approximate solution", [threshold], [1 + 1 / threshold - 1 / offered]),
    ]
    yield plot("A. Solutions for λ_pa = 0.5", ("path traffic λ_p", "θ"), crossing)
    applied = np.linspace(0, 1, 101)
    actual = [
        curve("exact", applied, contention.accepted_path_traffic(applied, level)),
        curve("approximate", applied, accepted_path_traffic_threshold(applied, level)),
    ]
    axes = "applied path traffic λ_pa", "actual path traffic λ_p"
    yield plot("B. Actual against applied path traffic", axes, actual)


# -- sections 3.3 and 3.4: random mappings -------------------------------------------------------


def process_graphs(nodes: int) -> dict[str, ProcessGraph]:
    """The four process graphs of chapter 3 for a √N × √N mesh.

    The thesis never says which 3D meshes it takes. Cubes of the largest whole side that fits are
    the only ones that agree with table 3.2 at more than one size.
    """
    side, edge = isqrt(nodes), round(nodes ** (1 / 3))
    edge -= edge**3 > nodes
    return {
        "2D mesh": read(f"mesh:{side}x{side}"),
        "binary tree": read(f"binary-tree:{nodes - 1}"),
        "3D mesh": read(f"mesh:{edge}x{edge}x{edge}"),
        "hypercube": read(f"hypercube:{nodes.bit_length() - 1}"),
    }


@cache
def random_mappings(kind: str, nodes: int, mappings: int) -> dict[str, Floats]:
    """Return what random mappings of one of ``process_graphs`` do on a √N × √N mesh.

    By figure, float64[mappings] each.
    """
    graph, side = process_graphs(nodes)[kind], isqrt(nodes)
    net = _square(side)
    found = []
    for seed in track(range(1, mappings + 1), f"{kind} on {net.name}"):
        node_of = random_mapping(graph.num_tasks, nodes, seed)
        routed, limit = _mapped(net, graph, node_of)
        limits = {"average node": limit.lemma_3, "worst node": limit.worst_node}
        found.append(_figures(routed) | limits)
    return {name: np.array([each[name] for each in found], np.float64) for name in found[0]}


def _routed(net: Topology, graph: ProcessGraph, node_of: Ints) -> contention.Contention:
    return contention.measure(net, ROW_FIRST, node_of[graph.source], node_of[graph.target])


def _mapped(
    net: Topology, graph: ProcessGraph, node_of: Ints
) -> tuple[contention.Contention, contention.Saturation]:
    found, weights = _routed(net, graph, node_of), np.ones(graph.num_edges)
    return found, contention.saturation(found, node_of[graph.source], weights, net.num_hosts)


def _actual(figure: str, title: str, known: Known) -> list[pl.DataFrame]:
    """Return a figure of random mappings by size, one curve per process graph."""
    curves, nodes = [], known["nodes"]
    for kind in process_graphs(16):
        found = [random_mappings(kind, size, known["mappings"])[figure] for size in nodes]
        values, low, high = (
            np.array([part(each) for each in found]) for part in (np.mean, np.min, np.max)
        )
        curves.append(curve(f"{title}, {kind}", nodes, values, low=low, high=high))
    return curves


def _draw_figure_3_8(made: Made) -> Drawn:
    nodes = made.known["nodes"]
    roots = np.sqrt(nodes)
    average = curve("2 √N / 3, eq. 3.18", nodes, 2 * roots / 3, PRINTED)
    physical = [
        average,
        curve("2 (√N - 1), eq. 3.17", nodes, 2 * (roots - 1), PRINTED),
        *_actual("path_length_mean", "average", made.known),
        *_actual("path_length_max", "maximum", made.known),
    ]
    yield plot("A. Physical path lengths", ("nodes N", "hops"), physical, log_x=True)
    logical = [average, *_actual("logical_path_length_mean", "average", made.known)]
    yield plot("B. Logical path lengths", ("nodes N", "channels"), logical, log_x=True)


def _of_estimates(made: Made) -> Drawn:
    """Draw figures of random mappings, beside estimates as shares of C."""
    nodes = made.known["nodes"]
    for title, panel in made.known["panels"].items():
        curves = []
        for (name, (part, whole)), kind in product(panel["shares"].items(), process_graphs(16)):
            graphs = [process_graphs(size)[kind] for size in nodes]
            degrees = np.array([graph.num_edges / graph.num_tasks for graph in graphs])
            values = part / whole * degrees * np.sqrt(nodes)
            curves.append(curve(f"{name}, {kind}", nodes, values, PRINTED))
        curves += _actual(panel["figure"], "random mapping", made.known)
        yield plot(title, ("nodes N", made.known["axis"]), curves, log_x=True, log_y=True)


def _table_3_1(known: Known) -> Found:
    """The estimates against the mean of random mappings."""
    for nodes in known["nodes"]:
        for kind, graph in process_graphs(nodes).items():
            estimate = contention.estimate_mesh(nodes, graph.num_edges / graph.num_tasks)
            random = random_mappings(kind, nodes, known["mappings"])
            for figure, name in ESTIMATES.items():
                value = getattr(estimate, figure)
                yield f"{name}, {kind}, N = {nodes}", Against(value, random[figure].mean())


def _draw_table_3_1(made: Made) -> Drawn:
    for name in ESTIMATES.values():
        cells = placed(made, rf"{re.escape(name)}, (.*), (.*)", r"\1", r"\2")
        yield grid(f"{name}, with C = δ_avg √N", cells)


def _lemmas_6_and_7(known: Known) -> Found:
    for nodes, kind in product(known["nodes"], process_graphs(16)):
        random = random_mappings(kind, nodes, known["mappings"])
        root, name = sqrt(nodes), f"{kind}, N = {nodes}"
        yield f"average node 2/√N, {name}", Against(2 / root, random["average node"].mean())
        worst = random["worst node"].mean()
        yield f"worst node 1/√N (lemma 7), {name}", Against(1 / root, worst)


def _table_3_2(known: Known) -> Found:
    """One random mapping's values: reproduced when they lie among those of many random mappings.

    The computed value is the mean. The tolerance reaches from it to the farthest random mapping on
    the printed value's side, and half a per cent more, for the printed rounding.
    """
    for quantity, value in known["values"].items():
        kind, size, who = quantity.removesuffix(" (%)").split(", ")
        nodes = int(size.removeprefix("N = "))
        percent = 100 * random_mappings(kind, nodes, known["mappings"][f"{nodes}"])[who]
        mean = float(percent.mean())
        end = percent.max() if value > mean else percent.min()
        yield quantity, Against(value, mean, abs(float(end) - mean) + 0.5)


def _uniform(known: Known) -> Found:
    """Uniform traffic: every node talks to every other, so the mapping does not matter."""
    graph, net = read("all-to-all:256"), _square(16)
    percent = 100 * _mapped(net, graph, np.arange(256, dtype=np.int32))[1].lemma_3
    capacity = float(contention.capacity_fraction(percent, measures.average_distance(net)))
    for quantity in known["values"]:
        yield quantity, capacity if "capacity" in quantity else percent


# -- sections 3.5 to 4.3: careful mappings, and the transpose ------------------------------------


def _laid_out(known: Known) -> Found:
    """χ_max of layouts. The tiles of trees are netloom's, on routes of their own."""
    for quantity in known["values"]:
        spec, how, on = re.findall(r"χ_max of (\S+)(.*) on ([^,]+)", quantity)[0]
        graph, net = read(spec), topology(on)
        layout = find_layout(LAYOUTS[how], graph, net)
        if layout.routes is None:
            found = _routed(net, graph, layout.node_of)
        else:
            found = contention.measure_paths(layout.routes, net.num_channels)
        yield quantity, found.channel_load.max()


def _section_3_6(known: Known) -> Found:
    """The speed-up left by random mapping, from the saturation that random mappings show."""
    for nodes in known["nodes"]:
        average = random_mappings("hypercube", nodes, known["mappings"])["average node"].mean()
        ratio = float(wiring.channel_bandwidth_ratio(nodes, form="chittor-1991"))
        yield f"R_e left, N = {nodes}", average * ratio


def _section_4_2_3(known: Known) -> Found:
    for side in known["sides"]:
        graph, net = read(f"transpose:{side}"), _square(side)
        found = _routed(net, graph, np.arange(graph.num_tasks))
        of = f"transpose:{side}"
        yield f"ν_max, {of}", Against(side - 2, found.path_contention.max())
        yield f"χ_max, {of}", Against(side - 1, found.channel_load.max())
        longest = found.logical_path_length.max()
        yield f"d of the corner nodes, {of}", Against(side - 2, longest)
        yield f"least ν, {of}", Against(0, found.path_contention.min())


def _section_4_3(known: Known) -> Found:
    symult = machine(known["machine"])
    size, compute_us = known["message_bytes"], known["compute_us"]
    message_us = float(symult.message_time_us(size))
    offered = contention.offered_by_program(
        size, compute_us, message_us, symult.bandwidth_bytes_per_us, messages_waited_for=2
    )
    side = known["side"]
    graph = read(f"transpose:{side}")
    node_of = np.arange(graph.num_tasks, dtype=np.int32)
    _, limit = _mapped(_square(side), graph, node_of)
    yield "loop time (µs)", compute_us + 2 * message_us
    yield "λ_a (%)", 100 * offered
    yield f"worst node, transpose:{side} (%)", 100 * limit.worst_node


ITEMS = (
    Item("table 1.1", _of_networks, tabled("(.*) of (.*)", r"\1", r"\2")),
    Item("table 2.1", draw=_draw_table_2_1),
    Item("table 2.2", _table_2_2, _draw_table_2_2),
    Item("table 2.3", draw=_draw_table_2_3),
    Item("figure 2.1", _of_networks, _draw_figure_2_1),
    *(Item(f"theorem {number}", _of_networks) for number in (1, 2, 3)),
    Item("figure 2.2", draw=_draw_figure_2_2),
    Item("equation 2.20", _equation_2_20),
    Item("figure 2.3", draw=_draw_figure_2_3),
    Item("figure 3.2", draw=_draw_figure_3_2),
    Item("equation 3.11", _equation_3_11),
    Item("figure 3.4", draw=_draw_figure_3_4),
    Item("figure 3.5", draw=_draw_figure_3_5),
    *(Item(f"equation 3.{number}", _of_networks) for number in (17, 18)),
    Item("figure 3.8", draw=_draw_figure_3_8),
    *(Item(f"figure 3.{number}", draw=_of_estimates) for number in (9, 10)),
    Item("table 3.1", _table_3_1, _draw_table_3_1),
    Item("lemma 6", _lemmas_6_and_7),
    Item("table 3.2", _table_3_2, tabled(r"(.*), (N.*), (\w+) node (.*)", r"\2", r"\1, \3 \4")),
    Item("corollary 5", _uniform),
    Item("equation 3.34", _uniform),
    Item("section 3.5.1", _laid_out),
    Item("figure 3.11", draw=tabled("(.*) of (.*) in (.*) on (.*)", r"\2 on \4", r"\1 in \3")),
    Item("section 3.5.2", _laid_out),
    Item("figure 3.12", draw=tabled("(.*) of (.*) by (.*) on (.*)", r"\2 on \4", r"\1, \3")),
    Item("section 3.5.3", _laid_out),
    Item("section 3.6", _section_3_6),
    Item("section 4.2.3", _section_4_2_3),
    Item("section 4.3", _section_4_3),
)
"""In the order of the thesis, tables of a chapter first."""
