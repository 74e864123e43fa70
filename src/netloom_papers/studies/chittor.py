"""Chittor 1991: networks without and with contention, and programs on machines.

Chapters 1 to 3, and what sections 4.2 and 4.3 compute without simulation, come first.

Chapter 4 measures a machine, which is simulated here. It is what the thesis says of two nodes
alone: start-up, packets and the bandwidth of a channel. Everything else, such as what happens where
messages meet, comes from the simulation.

The figures of chapter 5 are drawn again by lockstep worms. ``run_loops`` returns a table of one row
per run: the actual traffic of the average and of the worst node, in percent of a channel. Averages
are taken over mappings and seeds, and their intervals count. The data file has the runs, and what
is compared of them.

Applied traffic is L / (t + L), as in the thesis's section 5.5, which calls that a first
approximation. By definition 24 it counts the whole loop that a task would make without contention,
paths and gaps between packets too, as eq. 4.3 does. ``offered``, in the same table, is that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from math import isqrt, sqrt
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from netloom import contention
from netloom.base.arrays import Floats, Ints
from netloom.base.progress import track
from netloom.machines import machine
from netloom.mapping import find_layout, random_mapping
from netloom.questions.simulate.loop import simulate_loop
from netloom.questions.simulate.programs import UNIFORM
from netloom.routing import DimensionOrder
from netloom.topology import Topology, hypercube, measures, mesh, topology
from netloom.workload import ProcessGraph, read
from netloom.workload.programs.loops import think_cycles
from netloom_papers.exhibits import PRINTED, Cell, Plot, averaged, curve, grid, plot
from netloom_papers.ledger import Against, Drawn, Found, Item, Known, Made, published
from netloom_papers.models import wiring
from netloom_papers.programs.neighbour_patterns import node_costs
from netloom_papers.questions.simulate.pattern import PatternSimulation, simulate_pattern
from netloom_papers.studies.running import run_side_by_side

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


APPLIED_PERCENT, ACTUAL_PERCENT = "applied node traffic (%)", "actual node traffic (%)"
AXES = APPLIED_PERCENT, ACTUAL_PERCENT

WHO = {"average_node": "average node", "worst_node": "worst node"}
"""Columns of runs, and what their curves are called."""

# -- chapter 4: the Symult 2010 ------------------------------------------------------------------

ARBITRATIONS = {"timestamp": "oldest message first", "fifo": "first come, first served"}
"""The machine's own is not known. The thesis says that it has no priority queues (section 4.2.3),
which first come, first served is the nearest to."""

LOOPS = 60
"""Loops of a run without computation: only its beginning leaves a trace in the others."""


@cache
def _pattern(
    name: str, side: int, sizes: Sequence[int], thinks: Sequence[float] = (0,), **options: Any
) -> PatternSimulation:
    asked: dict[str, Any] = {"message_bytes": [*sizes], "think_us": [*thinks], "loops": LOOPS}
    found = simulate_pattern(f"symult2010:{side}x{side}", pattern=name, **asked | options)
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _figure_4_4(known: Known) -> Found:
    sizes = tuple(int(quantity.split()[2]) for quantity in known["values"])
    for quantity, point in zip(known["values"], _pattern("ab-1nn", 4, sizes).points, strict=True):
        yield quantity, point.communication_us_mean


def _draw_figure_4_4(made: Made) -> Drawn:
    rows = {int(row.quantity.split()[2]): row for row in made.rows}
    for title, panel in made.known["panels"].items():
        line, sizes = panel["line"], panel["bytes"]
        curves = [
            curve(line, sizes, [rows[size].printed for size in sizes], PRINTED),
            curve("simulated", sizes, [rows[size].computed for size in sizes]),
        ]
        yield plot(title, ("message length L, bytes", "time of a message, µs"), curves)


def _draw_figure_4_5(_: Made) -> Drawn:
    """Loop times of the nodes on the diagonal: 4 KB messages, 450 µs of computation."""
    found = _pattern("diagonal", 12, (4096,), (450,))
    curves = [curve("simulated", found.nodes // 12, found.points[0].loop_us)]
    yield plot("B. By node", ("node (i, i)", "loop time, µs"), curves, form="points")


def figure_4_6(sizes: Sequence[int], loops: int = LOOPS) -> Iterator[tuple[int, Ints, Floats]]:
    """Yield bytes, hops of paths, and the mean time of a message, µs: pairs on the diagonal."""
    found = _pattern("diagonal", 12, tuple(sizes), loops=loops)
    half = found.nodes[: len(found.nodes) // 2]
    hops = 2 * (11 - 2 * (half // 12))
    for point in found.points:
        yield point.message_bytes, hops, point.communication_us[: len(half)] / 2


def _section_4_2_2(known: Known) -> Found:
    for size, hops, times in figure_4_6(known["bytes"]):
        for each, time in zip(hops, times, strict=True):
            if each in known["hops"]:
                yield f"path of {each} hops, {size} bytes (µs)", time


def _draw_figure_4_6(made: Made) -> Drawn:
    sizes = published("chittor")["items"]["section 4.2.2"]["bytes"]
    curves = []
    for size, hops, times in figure_4_6(sizes):
        ends = [row for row in made.rows if f" {size} bytes" in row.quantity]
        at = [int(row.quantity.split()[2]) for row in ends]
        curves.append(curve(f"{size} bytes", at, [row.printed for row in ends], PRINTED))
        curves.append(curve(f"{size} bytes", hops[::-1], times[::-1]))
    axes = "path length, hops", "time of a message, µs"
    yield plot("Time by path length", axes, curves, form="points")


def _draw_figure_4_7(made: Made) -> Drawn:
    """Loop times of the nodes of the transpose: 4 KB messages, 150 µs of computation."""
    for policy, words in ARBITRATIONS.items():
        loops = made.known["loops"]
        found = _pattern("transpose", 12, (4096,), (150,), loops=loops, arbitration=policy)
        cells = {
            (f"row {node // 12}", f"column {node % 12}"): Cell(None, time)
            for node, time in zip(found.nodes, found.points[0].loop_us.tolist(), strict=True)
        }
        columns = [f"column {number}" for number in range(12)]
        yield grid(f"B. Loop times (µs), {words}", cells, columns)


def transposes(side: int, size: int, policy: str, known: Known) -> pl.DataFrame:
    """Return loops of the transpose, one row for each mean computation: times, and traffic (%).

    ``added_us`` is what contention adds to the two messages of a loop.
    """
    thinks = tuple(known["think_us"])
    found = _pattern("transpose", side, (size,), thinks, loops=known["loops"], arbitration=policy)
    added = {
        f"added_us_{part}": 2 * (pl.col(f"communication_us_{part}") - pl.col("message_us"))
        for part in NODES
    }
    traffic = {"traffic_mean": "average_node", "traffic_max": "worst_node", "applied": "applied"}
    shares = {name: 100 * pl.col(share) for name, share in traffic.items()}
    return found.table().with_columns(**added, **shares)


NODES = {"mean": "average node", "max": "worst node"}
"""What tables of the machine call the nodes."""


def _of_transposes(made: Made) -> Drawn:
    """Average and worst nodes of each panel's runs (side, bytes), for each arbitration."""
    known, (x, y) = made.known, made.known["columns"]
    for (title, runs), (policy, words) in product(known["panels"].items(), ARBITRATIONS.items()):
        curves = []
        for name, (side, size) in runs.items():
            table = transposes(side, size, policy, known)
            for part, who in NODES.items():
                curves.append(curve(f"{name}, {who}", table[x], table[f"{y}_{part}"]))
        yield plot(f"{title}: {words}", known["axes"], curves)


def _loops_of_neighbours(known: Known) -> dict[tuple[str, int], float]:
    """Return loop times of table 4.1, µs, by pattern and bytes."""
    found: dict[tuple[str, int], float] = {}
    for name in known["loops_ms"]:
        times = _pattern(name, 4, tuple(known["bytes"])).table()["loop_us_mean"]
        found |= {(name, size): each for size, each in zip(known["bytes"], times, strict=True)}
    return found


def _table_4_1(known: Known) -> Found:
    """Neighbours whose messages meet at the channel to the router, over a message alone."""
    loops = _loops_of_neighbours(known)
    for (name, size), time in loops.items():
        if name != "ab-1nn":
            yield f"{name}, {size} bytes, over τ_m", 2 * time / loops["ab-1nn", size]


def _draw_table_4_1(made: Made) -> Drawn:
    cells, sizes = {}, made.known["bytes"]
    for (name, size), time in _loops_of_neighbours(made.known).items():
        printed = made.known["loops_ms"][name][sizes.index(size)]
        cells[f"{size} bytes", f"{name}, ms"] = Cell(printed, time / 1000)
    cells |= placed(made, r"(.*), (.* bytes), over τ_m", r"\2", r"\1 / τ_m")
    yield grid("Communication time of a loop of neighbours", cells, head="message")


def _figure_4_11(known: Known) -> Found:
    """The worked example's loop computes for 1 ms on average. The pairs are as many samples."""
    point = _pattern("ab-1nn", 4, (4096,), (1000,), loops=known["loops"]).points[0]
    loop_us = point.loop_us[::2]  # of a pair, both nodes have the same
    yield "loop (µs)", loop_us
    yield "λ_a (%)", 100 * point.channel_us / loop_us


def _draw_figure_4_11(made: Made) -> Drawn:
    costs = node_costs(machine("symult2010"))
    message = costs.message_us(4096)
    channel = costs.packet_bytes * costs.byte_us
    computed = {
        "message": message,
        "fixed overhead of a message": costs.alpha_us,
        "data of a message": message - costs.alpha_us,
        "packet": costs.packet_us,
        "packet on a channel": channel,
        "overhead of a packet": costs.packet_us - channel,
        "loop": 1000 + 2 * message,
    }
    cells = {}
    for name, printed in made.known["components"].items():
        digit = 1 if isinstance(printed, int) else 0.1
        within = abs(computed[name] - printed) < digit
        cells[name, "µs"] = Cell(printed, computed[name], within)
    yield grid("Loop of 4 KB messages and 1 ms of computation", cells)


def _figure_4_14(known: Known) -> Found:
    for policy, thinks in known["saturated at"].items():
        table = transposes(12, 4096, policy, {**known, "think_us": thinks})
        yield f"worst node saturates, {policy} (%)", table["traffic_max"].max()
    alone = _pattern("ab-1nn", 4, (1024, 8192)).table()
    for size, applied in zip(alone["message_bytes"], alone["applied"], strict=True):
        yield f"most that can be applied, {size} bytes (%)", 100 * applied


# -- chapter 5: the thesis's simulator -----------------------------------------------------------

APPLIED = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Applied traffic of the figures."""

COMPARED: dict[str, Callable[..., Any]] = {
    "itself": np.asarray,
    "ratio": np.divide,
    "share of runs that are lower": lambda here, there: np.mean(here < there),
    "last over highest": lambda *runs: runs[-1] / np.max(runs, axis=0),
    "share of runs whose last is below 95 % of their highest": lambda *runs: np.mean(
        runs[-1] < 0.95 * np.max(runs, axis=0)
    ),
}
"""What is computed of the traffic of one case or several."""


@cache
def _loop(asked: float, seed: int, **options: Any) -> dict[str, float]:
    """Return the traffic of one closed loop on lockstep worms, per cent."""
    applied = _by_definition(options, asked)
    simulated = simulate_loop(engine="worm", applied=applied, seed=seed, **options)
    point, limit, flits = simulated.point, simulated.saturation, simulated.message_flits
    assert point.times is not None, point.note
    loop = think_cycles(point.applied, flits) + (point.unhindered_latency or 0.0)
    found = {"offered": 100 * flits / loop}
    for name in WHO:
        found[name] = 100 * getattr(point.times, name)
        if limit:
            found[f"theory_{name}"] = 100 * getattr(limit, name)
    return found


def run_loops(known: Known, points: Iterable[tuple[str, float]], runs: int) -> pl.DataFrame:
    """Return one row per closed loop on lockstep worms: what was run, and the traffic, per cent.

    Parameters
    ----------
    known
        The figure: options of ``simulate_loop`` that its ``cases`` have in ``common``, and of each.
    points
        The cases that are run, and their applied traffic.
    runs
        Seeds, from 1 on, that each point is run with.
    """
    options = {case: known.get("common", {}) | more for case, more in known["cases"].items()}
    cases = [(*point, seed) for point, seed in product(points, range(1, runs + 1))]
    loops = [partial(_loop, applied, seed, **options[case]) for case, applied, seed in cases]
    found = zip(cases, run_side_by_side(loops, known["shows"]), strict=True)
    rows = [{"case": case, "applied": at, **traffic} for (case, at, _), traffic in found]
    return pl.DataFrame(rows, infer_schema_length=None)


def _by_definition(options: Mapping[str, Any], traffic: float) -> float:
    """Return L / (t + L), which is the traffic itself if paths and gaps are not to count.

    If messages are cut, they do. The gaps and the paths that packets cross one after the other are
    part of the loop, so that tasks compute for less of it. By L / (t + L) they would offer up to
    8 % less, and be compared with more.
    """
    if "packet_flits" not in options:
        return traffic
    flits, packet = options["message_flits"], options["packet_flits"]
    packets = flits // packet
    hops = 2 * (12 + 1) / 3  # of the transpose's paths, on average
    alone = packets * (packet + hops + 1) + (packets - 1) * options["gap_cycles"]
    return float(flits / (flits / traffic - alone + flits))


def _compared(known: Known) -> Found:
    """Compare what is ``said``: how, and of what. Of each a case, its applied traffic, a column."""
    said = known["said"]
    points = {(case, applied) for _, *each in said.values() for case, applied, _ in each}
    table = run_loops(known, sorted(points), known["seeds"])
    for quantity, (compared, *each) in said.items():
        columns = (
            table.filter(case=case, applied=applied)[column].to_numpy()
            for case, applied, column in each
        )
        yield quantity, COMPARED[compared](*columns)


def _draw_loops(made: Made, measured: Sequence[pl.DataFrame] = ()) -> Drawn:
    """Draw actual against applied traffic, one curve per case and kind of node."""
    known, applied = made.known, made.known.get("applied", APPLIED)
    theory = known.get("theory", {}).items()
    beside = [*measured, *(curve(f"theory, {who}", [5, 50], at, PRINTED) for who, at in theory)]
    for title, panel in known["panels"].items():
        table = run_loops(known, product(panel.values(), applied), known["runs"])
        curves = [
            averaged(f"{name}, {who}".removeprefix(", "), table.filter(case=case), column)
            for name, case in panel.items()
            for column, who in known.get("columns", WHO).items()
        ]
        yield plot(title, AXES, [*curves, *beside])


def _draw_figure_5_6(made: Made) -> Drawn:
    symult = transposes(12, 4096, "timestamp", made.known)
    measured = [
        curve(f"simulated Symult 2010, {who}", symult["applied"], symult[f"traffic_{part}"])
        for part, who in NODES.items()
    ]
    return _draw_loops(made, measured)


@cache
def _speeds(quick: bool) -> dict[str, Floats]:
    """Measure netloom's simulator: applied traffic, cycles per second, µs per message and cycle."""
    sizes, traffics = ((64, 256), (0.1, 0.4)) if quick else ((64, 256, 1024), (0.05, 0.1, 0.2, 0.4))
    found = {}
    simulate_loop("mesh:8x8", app="mesh:8x8", applied=0.1, engine="worm")  # compiles the kernels
    for name, nodes in product(("neighbours", UNIFORM), sizes):
        on, measured = f"mesh:{isqrt(nodes)}x{isqrt(nodes)}", []
        for traffic in traffics:
            app = UNIFORM if name == UNIFORM else on
            begin = process_time()
            point = simulate_loop(on, app=app, applied=traffic, engine="worm").point
            seconds = process_time() - begin
            assert point.times is not None
            moved = point.cycles * nodes * point.times.average_node
            measured.append((traffic, point.cycles / seconds, 1e6 * seconds / moved))
        found[f"{name}, {nodes} nodes"] = np.array(measured).T
    return found


def _draw_speed(axis: str, column: int, made: Made) -> Drawn:
    curves = [
        curve(series, 100 * measured[0], measured[column])
        for series, measured in _speeds(made.quick).items()
    ]
    printed = made.known.get("us_per_message_and_cycle", ())
    curves += [curve(f"the thesis's, {each} µs", [5, 40], each, PRINTED) for each in printed]
    yield plot(made.known["shows"], (APPLIED_PERCENT, axis), curves, log_y=bool(printed))


CYCLES = "cycles per second of processor time"
COST = "processor time of a message that moves, µs a cycle"


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
    Item("figure 4.4", _figure_4_4, _draw_figure_4_4),
    Item("section 4.2.2", _section_4_2_2),
    Item("figure 4.5", draw=_draw_figure_4_5),
    Item("figure 4.6", draw=_draw_figure_4_6),
    Item("figure 4.7", draw=_draw_figure_4_7),
    Item("figure 4.8", draw=_of_transposes),
    Item("table 4.1", _table_4_1, _draw_table_4_1),
    Item("figure 4.11", _figure_4_11, _draw_figure_4_11),
    *(Item(f"figure 4.{number}", draw=_of_transposes) for number in (12, 13)),
    Item("figure 4.14", _figure_4_14, _of_transposes),
    Item("figure 5.6", _compared, _draw_figure_5_6),
    Item("figure 5.7", draw=partial(_draw_speed, CYCLES, 1)),
    Item("figure 5.8", draw=partial(_draw_speed, COST, 2)),
    *(Item(f"figure 5.{number}", _compared, _draw_loops) for number in range(9, 17)),
)
"""In the order of the thesis, tables of a chapter first, then what it measures and simulates."""
