"""Chittor 1991, chapters 2 and 3, and what sections 4.2 and 4.3 compute, recomputed."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import isqrt, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from netloom.base.progress import track
from netloom.contention import (
    capacity_fraction,
    estimate_mesh,
    measure,
    measure_paths,
    offered_by_program,
    path_slowdown,
    saturation,
)
from netloom.machines import machine
from netloom.mapping import find_layout, random_mapping
from netloom.routing import DimensionOrder
from netloom.topology import (
    average_distance,
    bisection_width,
    degree,
    diameter,
    hypercube,
    mesh,
    num_links,
    topology,
)
from netloom.workload import read
from netloom_papers.models.wiring import (
    channel_bandwidth_ratio,
    cut_widths,
    layout_bisection,
    minimum_peak_width,
    peak_width,
    speedup,
)
from netloom_papers.studies.kinds import kind_of
from netloom_papers.studies.validation import Row, published

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from netloom.base.arrays import Floats, Ints
    from netloom.contention import Contention, Saturation
    from netloom.topology import Cube
    from netloom.workload import ProcessGraph

    Found: TypeAlias = tuple[str, str, float, float] | tuple[str, str, float, float, float]
    """Item, quantity, the thesis's value and netloom's. Perhaps a tolerance other than the item's.
    """

ROW_FIRST = DimensionOrder()

ESTIMATES = {
    "channel_load_mean": "χ_avg = C/6",
    "channel_load_max": "χ_max = 3C/8",
    "path_contention_mean": "ν_avg = C/2",
    "path_contention_max": "ν_max = C",
}
"""Table 3.1, by the fields of ``MeshEstimate`` and ``RandomMappings``."""


def rows_of(*items: str, **changes: Any) -> tuple[Row, ...]:
    """Return the numbers of some items, or of all that netloom recomputes of chapters 2 and 3.

    Parameters
    ----------
    items
        Of ``PARTS``. All if none.
    changes
        What one item has in place of what the data file says, such as other ``nodes``.

    Examples
    --------
    >>> [row.quantity for row in rows_of("figure 2.1")][:2]
    ['bisection width of hypercube:3', 'peak width of hypercube:3']
    """
    printed = published("chittor")
    found: list[Row] = []
    for item in items or PARTS:
        known = printed | {item: printed[item] | changes} if changes else printed
        found += [_row(known[each[0]], each) for each in PARTS[item](known)]
    return tuple(found)


rows = rows_of


def _row(known: Mapping[str, Any], found: Found) -> Row:
    """Compare one value with its item's tolerance. A reason goes with the rows it is known for."""
    item, quantity, value, computed, *tolerance = found
    outside = quantity in known.get("outside", ())
    kind, number = kind_of(known, quantity)
    return Row(
        "chittor", item, quantity, float(value), float(computed),
        tolerance[0] if tolerance else known["tolerance"],
        reason=known["reason"] if outside else "",
        at_most=known.get("at most", False),
        cause=known["cause"] if outside else "",
        kind=kind,
        number=number,
    )  # fmt: skip


def _table_1_1(_: dict[str, Any]) -> Iterator[Found]:
    """Degree, links, diameter and bisection width. Formulas printed, networks measured."""
    for dimension in (6, 8, 10):
        nodes, side = 2**dimension, 2 ** (dimension // 2)
        for net, values in (
            (mesh(side, side), (4, 2 * (nodes - side), 2 * (side - 1), side)),
            (
                hypercube(dimension),
                (dimension, nodes * dimension // 2, dimension, nodes // 2),
            ),
        ):
            computed = (degree(net), num_links(net), diameter(net), bisection_width(net))
            names = ("degree", "links", "diameter", "bisection width")
            for name, value, found in zip(names, values, computed, strict=True):
                yield "table 1.1", f"{name} of {net.name}", value, found


def _figure_2_1(printed: dict[str, Any]) -> Iterator[Found]:
    for spec in ("hypercube:3", "mesh:4x2"):
        net, values = topology(spec), printed["figure 2.1"][spec]
        computed = {"bisection width": layout_bisection(net), "peak width": peak_width(net)}
        for name, value in values.items():
            yield "figure 2.1", f"{name} of {spec}", value, computed[name]


def _theorem_1(printed: dict[str, Any]) -> Iterator[Found]:
    """The cut width is largest at ⌊N/3⌋: so it is there that theorem 2's peak must be found."""
    for dimension in printed["theorem 1"]["dimensions"]:
        nodes = 2**dimension
        found = cut_widths(hypercube(dimension))[nodes // 3]
        name = f"cut width of hypercube:{dimension} at ⌊N/3⌋"
        yield "theorem 1", name, 2 * nodes // 3, found


def _theorem_2(printed: dict[str, Any]) -> Iterator[Found]:
    known = printed["theorem 2"]
    for exact, dimensions in ((False, known["dimensions"]), (True, known["exact_dimensions"])):
        for dimension in dimensions:
            yield "theorem 2", *_peak(hypercube(dimension), 2 * 2**dimension // 3, exact)


def _theorem_3(printed: dict[str, Any]) -> Iterator[Found]:
    known = printed["theorem 3"]
    for exact, sides in ((False, known["sides"]), (True, known["exact_sides"])):
        for side in sides:
            yield "theorem 3", *_peak(mesh(side, side), side + 1, exact)


def _peak(net: Cube, value: int, exact: bool) -> tuple[str, float, float]:
    """Return the peak width of the identity layout, or the least of all layouts."""
    if exact:
        return f"{net.name}, best of all layouts", value, minimum_peak_width(net)
    return f"peak width of {net.name}", value, peak_width(net)


def _table_2_2(printed: dict[str, Any]) -> Iterator[Found]:
    known = printed["table 2.2"]
    for nodes, values in known["nodes"].items():
        for delay, value in zip(known["delays"], values, strict=True):
            computed = channel_bandwidth_ratio(int(nodes), delay, form="chittor-1991")
            yield "table 2.2", f"{delay} delay, N = {nodes}", value, float(computed)


def _equation_2_20(printed: dict[str, Any]) -> Iterator[Found]:
    """The printed closed forms against eq. 2.20 with path lengths counted on the networks."""
    for nodes, length in printed["equation 2.20"]["cases"]:
        side = isqrt(nodes)
        cube_net, mesh_net = hypercube(nodes.bit_length() - 1), mesh(side, side)
        ratio = 2 * sqrt(nodes) / 3
        for distance, measured in (("average", average_distance), ("worst", diameter)):
            value = speedup(nodes, length, distance=distance, form="chittor-1991")  # type: ignore[arg-type]
            computed = ratio * (measured(cube_net) + length) / (measured(mesh_net) + length)
            name = f"R_e, {distance} case, N = {nodes}, L' = {length}"
            yield "equation 2.20", name, float(value), computed


def _path_lengths(_: dict[str, Any]) -> Iterator[Found]:
    for side in (4, 8, 16, 32):
        net = mesh(side, side)
        value = 2 * (side - 1)
        yield "equation 3.17", f"D_max on {net.name}", value, diameter(net)
        mean, found = 2 * side / 3, average_distance(net)
        yield "equation 3.18", f"D_avg on {net.name}", mean, found


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


class RandomMappings(NamedTuple):
    """Figures of seeded random mappings, float64[mappings] each."""

    path_length_mean: Floats
    path_length_max: Floats
    logical_path_length_mean: Floats
    channel_load_mean: Floats
    channel_load_max: Floats
    path_contention_mean: Floats
    path_contention_max: Floats
    average_node: Floats
    worst_node: Floats


@cache
def random_mappings(kind: str, nodes: int, mappings: int) -> RandomMappings:
    """Return what random mappings of one of ``process_graphs`` do on a √N × √N mesh."""
    graph, side = process_graphs(nodes)[kind], isqrt(nodes)
    net, weights = mesh(side, side), np.ones(graph.num_edges)
    found = []
    for seed in track(range(1, mappings + 1), f"{kind} on {net.name}"):
        contention, limit = _mapped(
            net, graph, random_mapping(graph.num_tasks, nodes, seed), weights
        )
        loads, levels = contention.channel_load, contention.path_contention
        found.append(
            (
                contention.path_length.mean(), contention.path_length.max(),
                contention.logical_path_length.mean(), loads.mean(), loads.max(),
                levels.mean(), levels.max(),
                limit.lemma_3, limit.worst_node,
            )
        )  # fmt: skip
    return RandomMappings(*np.array(found, np.float64).T)


def _mapped(
    net: Any, graph: ProcessGraph, node_of: Ints, weights: Floats
) -> tuple[Contention, Saturation]:
    ends = node_of[graph.source], node_of[graph.target]
    found = measure(net, ROW_FIRST, *ends, weights)
    return found, saturation(found, ends[0], weights, net.num_hosts)


def _table_3_1(printed: dict[str, Any]) -> Iterator[Found]:
    """The estimates against the mean of random mappings."""
    known = printed["table 3.1"]
    for nodes in known["nodes"]:
        for kind, graph in process_graphs(nodes).items():
            estimate = estimate_mesh(nodes, graph.num_edges / graph.num_tasks)
            random = random_mappings(kind, nodes, known["mappings"])
            for field, name in ESTIMATES.items():
                value, computed = getattr(estimate, field), getattr(random, field).mean()
                yield "table 3.1", f"{name}, {kind}, N = {nodes}", value, computed


def _lemmas_6_and_7(printed: dict[str, Any]) -> Iterator[Found]:
    known = printed["lemma 6"]
    for nodes, kind in product(known["nodes"], process_graphs(16)):
        random = random_mappings(kind, nodes, known["mappings"])
        root = sqrt(nodes)
        name = f"{kind}, N = {nodes}"
        average, worst = random.average_node.mean(), random.worst_node.mean()
        yield "lemma 6", f"average node 2/√N, {name}", 2 / root, average
        yield "lemma 6", f"worst node 1/√N (lemma 7), {name}", 1 / root, worst


def _table_3_2(printed: dict[str, Any]) -> Iterator[Found]:
    """One random mapping's values: reproduced when they lie among those of many random mappings.

    The computed value is the mean. The tolerance reaches from it to the farthest random mapping on
    the printed value's side, and half a per cent more, for the printed rounding.
    """
    known = printed["table 3.2"]
    for size, kinds in known["percent"].items():
        for kind, values in kinds.items():
            random = random_mappings(kind, int(size), known["mappings"][size])
            for who, value in zip(("average_node", "worst_node"), values, strict=True):
                percent = 100 * getattr(random, who)
                mean = float(percent.mean())
                end = percent.max() if value > mean else percent.min()
                tolerance = (abs(float(end) - mean) + 0.5) / value
                name = f"{kind}, N = {size}, {who.replace('_', ' ')} (%)"
                yield "table 3.2", name, value, mean, tolerance


def _equation_3_11(printed: dict[str, Any]) -> Iterator[Found]:
    known = printed["equation 3.11"]
    found = path_slowdown(known["traffic"], known["path_contention"])
    name = f"θ for λ_p = {known['traffic']}, ν = {known['path_contention']}"
    yield "equation 3.11", name, known["printed"], float(found)


def _capacity(printed: dict[str, Any]) -> Iterator[Found]:
    """Uniform traffic: every node talks to every other, so the mapping does not matter."""
    known = printed["corollary 5"]
    nodes, side = known["nodes"], isqrt(known["nodes"])
    graph, net = read(f"all-to-all:{nodes}"), mesh(side, side)
    _, limit = _mapped(net, graph, np.arange(nodes, dtype=np.int32), np.ones(graph.num_edges))
    name = f"saturation of uniform traffic on {net.name}"
    percent = 100 * limit.lemma_3
    yield "corollary 5", f"{name} (%)", known["percent"], percent
    capacity = printed["equation 3.34"]
    found = float(capacity_fraction(percent, average_distance(net)))
    yield "equation 3.34", f"{name} (% of capacity)", capacity["percent"], found


def _section_3_5_1(printed: dict[str, Any]) -> Iterator[Found]:
    """Trees in tiles on their own routes. The arrangement is netloom's, the thesis's is lost."""
    for tasks in printed["section 3.5.1"]["tasks"]:
        graph, side = read(f"binary-tree:{tasks}"), isqrt(tasks + 1)
        net = mesh(side, side)
        layout = find_layout("tiles", graph, net)
        assert layout.routes is not None
        found = measure_paths(layout.routes, net.num_channels).channel_load.max()
        name = f"χ_max of {graph.name} in tiles on {net.name}"
        yield "section 3.5.1", name, printed["section 3.5.1"]["channel_load"], found


def _section_3_5_2(printed: dict[str, Any]) -> Iterator[Found]:
    """3D meshes by schemes A and B. Less will do: 4 planes lie two in a row, and have χ_max 4."""
    for side in printed["section 3.5.2"]["sides"]:
        root = isqrt(side)
        graph, net = read(f"mesh:{side}x{side}x{side}"), mesh(side * root, side * root)
        for scheme, layout, value in (("A", "planes", side + 1), ("B", "columns", root + 1)):
            node_of = find_layout(layout, graph, net).node_of
            found = measure(net, ROW_FIRST, node_of[graph.source], node_of[graph.target])
            name = f"χ_max of {graph.name} by scheme {scheme} on {net.name}"
            yield "section 3.5.2", name, value, found.channel_load.max()


def _section_3_5_3(printed: dict[str, Any]) -> Iterator[Found]:
    for dimension in printed["section 3.5.3"]["dimensions"]:
        side = 2 ** (dimension // 2)
        graph, net = read(f"hypercube:{dimension}"), mesh(side, side)
        found = measure(net, ROW_FIRST, graph.source, graph.target)
        name = f"χ_max of {graph.name} on {net.name}, identity"
        yield "section 3.5.3", name, 2 * side // 3, found.channel_load.max()


def _section_3_6(printed: dict[str, Any]) -> Iterator[Found]:
    """The speed-up left by random mapping, from the saturation that random mappings show."""
    known = printed["section 3.6"]
    for nodes in known["nodes"]:
        limit = random_mappings("hypercube", nodes, known["mappings"]).average_node.mean()
        found = limit * float(channel_bandwidth_ratio(nodes, form="chittor-1991"))
        yield "section 3.6", f"R_e left, N = {nodes}", known["speedup"], found


def _transpose(printed: dict[str, Any]) -> Iterator[Found]:
    for side in printed["section 4.2.3"]["sides"]:
        graph, net = read(f"transpose:{side}"), mesh(side, side)
        found = measure(net, ROW_FIRST, graph.source, graph.target)
        for name, value, computed in (
            ("ν_max", side - 2, found.path_contention.max()),
            ("χ_max", side - 1, found.channel_load.max()),
            ("d of the corner nodes", side - 2, found.logical_path_length.max()),
            ("least ν", 0, found.path_contention.min()),
        ):
            yield "section 4.2.3", f"{name}, transpose:{side}", value, computed


def _symult(printed: dict[str, Any]) -> Iterator[Found]:
    known = printed["section 4.3"]
    symult = machine(known["machine"])
    size, compute_us = known["message_bytes"], known["compute_us"]
    message_us = float(symult.message_time_us(size))
    yield "section 4.3", "loop time (µs)", known["loop_us"], compute_us + 2 * message_us
    offered = offered_by_program(
        size, compute_us, message_us, symult.bandwidth_bytes_per_us, messages_waited_for=2
    )
    yield "section 4.3", "λ_a (%)", known["offered_percent"], 100 * offered
    side = known["side"]
    graph = read(f"transpose:{side}")
    node_of = np.arange(graph.num_tasks, dtype=np.int32)
    _, limit = _mapped(mesh(side, side), graph, node_of, np.ones(graph.num_edges))
    name = f"worst node, transpose:{side} (%)"
    yield "section 4.3", name, known["worst_node_percent"], 100 * limit.worst_node


PARTS: dict[str, Callable[[dict[str, Any]], Iterator[Found]]] = {
    "table 1.1": _table_1_1,
    "figure 2.1": _figure_2_1,
    "theorem 1": _theorem_1,
    "theorem 2": _theorem_2,
    "theorem 3": _theorem_3,
    "table 2.2": _table_2_2,
    "equation 2.20": _equation_2_20,
    "equations 3.17 and 3.18": _path_lengths,
    "table 3.1": _table_3_1,
    "lemmas 6 and 7": _lemmas_6_and_7,
    "table 3.2": _table_3_2,
    "equation 3.11": _equation_3_11,
    "corollary 5": _capacity,
    "section 3.5.1": _section_3_5_1,
    "section 3.5.2": _section_3_5_2,
    "section 3.5.3": _section_3_5_3,
    "section 3.6": _section_3_6,
    "section 4.2.3": _transpose,
    "section 4.3": _symult,
}
"""What recomputes each item, or those that belong together."""
