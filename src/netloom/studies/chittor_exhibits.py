"""Chittor 1991, chapters 1 and 2: tables and figures of networks without contention."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.figures import PRINTED, Cell, Grid, Plot
from netloom.models.wiring import (
    channel_bandwidth_ratio,
    channel_rate_ratio,
    channel_width_ratio,
    cut_widths,
    speedup,
)
from netloom.studies.chittor import rows_of
from netloom.studies.chittor_panels import cell, curve, grid, plot
from netloom.studies.exhibits import Exhibit, Shown
from netloom.studies.validation import published
from netloom.topology import average_distance, diameter, hypercube, mesh, topology

if TYPE_CHECKING:
    from netloom.models.wiring import Delay, Distance

NOT_EXHIBITS = {
    "fig-1.1": "a drawing of a concurrent computer, without numbers.",
    "fig-1.2": "two generations of networks compared in words.",
    "fig-1.3": "a drawing of store-and-forward, circuit and wormhole switching.",
    "fig-1.4": "a drawing of a hypercube and of a mesh.",
    "fig-3.1": "a drawing of the mapping whose numbers figure 3.2 gives; the placement is lost.",
    "fig-3.3": "a drawing of the queues that equations 3.7 to 3.11 describe; see figure 3.4.",
    "fig-3.6": "a drawing that explains equation 3.20.",
    "fig-3.7": "a drawing that explains equations 3.24 to 3.27.",
    "fig-4.1": "a drawing of a node of the Symult 2010.",
    "fig-4.2": "a drawing of the steps of one hop of a flit.",
    "fig-4.3": "a drawing of the neighbours that talk; their times are in figure 4.4.",
    "fig-4.9": "a drawing of patterns of neighbours; their times are in table 4.1.",
    "fig-4.10": "the loops of these patterns, as programs; their times are in table 4.1.",
    "fig-5.1": "a drawing of the network that the thesis's simulator models.",
    "fig-5.2": "the data structures of the thesis's simulator.",
    "fig-5.3": "the steps of a cycle of the thesis's simulator.",
    "fig-5.4": "which functions of the thesis's simulator call which.",
    "fig-5.5": "the main function of the thesis's simulator, in outline.",
}
"""Figures of the thesis that show neither numbers nor curves, and what they are."""

DELAYS: tuple[Delay, ...] = ("constant", "logarithmic", "linear")

SIZES = (16, 64, 256, 1024, 4096)
"""Nodes of figure 2.3; N is a square and a power of two."""

LENGTHS = (1, 10, 100, 1000)
"""Flits of figure 2.3's messages."""


def _table_1_1(_: bool) -> Shown:
    """Return degree, links, diameter and bisection width, by formula and counted on networks."""
    rows = tuple(rows_of("table 1.1"))
    cells = {}
    for row in rows:
        name, network = row.quantity.split(" of ")
        cells[name, network] = cell(row)
    columns = ("", *dict.fromkeys(network for _, network in cells))
    remarks = (
        "The table prints formulas of N, here for N = 64, 256 and 1024; its marks for alternate "
        "paths, wire density and wire lengths are words.",
    )
    return Shown((grid("Characteristics of mesh and hypercube", columns, cells),), rows, remarks)


def _table_2_1(_: bool) -> Shown:
    """Return the printed ratios of channel bandwidths beside those without its simplifications."""
    nodes = 2 ** np.arange(4, 15)
    curves = []
    for delay in DELAYS:
        printed = channel_bandwidth_ratio(nodes, delay, form="chittor-1991")
        curves.append(curve(f"{delay} delay", nodes, printed, whose=PRINTED))
        curves.append(curve(f"{delay} delay", nodes, channel_bandwidth_ratio(nodes, delay)))
    panel = plot(
        "Channel bandwidth of a mesh over that of a hypercube",
        ("nodes N", "ratio R_b"),
        curves,
        log_x=True,
        log_y=True,
    )
    remarks = (
        "Printed is what the table's formulas give; computed is the product of theorems 4 and 6 "
        "with exact peak widths, ⌊2N/3⌋ / (√N + 1), and the √2 that the linear column leaves out.",
        "The last two lines of the proof of theorem 6 print + 2 lg lg N; the table's minus is "
        "right, and used here.",
    )
    return Shown((panel,), remarks=remarks)


def _table_2_2(_: bool) -> Shown:
    """Return the speed-up of neighbours' communication by system size."""
    rows = tuple(rows_of("table 2.2"))
    known = published("chittor")["table 2.2"]
    columns = ("N", "N / lg N", "linear", "logarithmic", "constant")
    cells = {}
    for nodes, value in known["size over logarithm"].items():
        found = int(nodes) / np.log2(int(nodes))
        close = bool(abs(found / value - 1) <= known["tolerance"])
        cells[nodes, "N / lg N"] = Cell(value, float(found), close)
    for row in rows:
        delay, nodes = row.quantity.split(" delay, N = ")
        cells[nodes, delay] = cell(row)
    remarks = (
        "The thesis rounds on the way: 102.4 is printed as 103, and the linear column is 0.943 "
        "times the rounded first one for half of the sizes.",
    )
    return Shown((grid("Speed-up R_e by delay model", columns, cells),), rows, remarks)


def _table_2_3(_: bool) -> Shown:
    """Return the bandwidths of commercial channels, and what theory says of their ratio."""
    known = published("chittor")["table 2.3"]
    systems = Grid(
        "Width W (bits), rate R (Mbit/s a line) and bandwidth B = W × R (Mbit/s)",
        ("system", "W", "R", "B"),
        tuple(
            (
                f"{name}, {network}",
                (
                    Cell(width, None),
                    Cell(rate, None),
                    Cell(product, width * rate, product == width * rate),
                ),
            )
            for name, (network, width, rate, product) in known["systems"].items()
        ),
    )
    ratios = known["ratios"]
    one, other = (known["systems"][name] for name in ratios["systems"])
    nodes = ratios["nodes"]
    width = float(channel_width_ratio(nodes, form="chittor-1991"))
    rate = float(channel_rate_ratio(nodes, "linear", form="chittor-1991"))
    both = " over ".join(ratios["systems"])
    theory = Grid(
        f"{both}: the machines' ratios, and theory's for N = {nodes}",
        ("ratio", "of the machines", "by theory"),
        (
            ("channel width", (Cell(one[1] / other[1], None), Cell(ratios["width"], width))),
            ("channel rate", (Cell(one[2] / other[2], None), Cell(ratios["rate"], rate))),
        ),
    )
    remarks = (
        "Widths and rates are the machines' own: only their products and ratios are computed. The "
        "text calls 7.5 and 17.2 / 7.5 a match of 8 and 2.",
    )
    return Shown((systems, theory), remarks=remarks)


def _figure_2_1(_: bool) -> Shown:
    """Return the cut widths of the identity layouts of 8 nodes."""
    panels = []
    for spec in ("hypercube:3", "mesh:4x2"):
        widths = cut_widths(topology(spec))
        panels.append(
            plot(
                f"Identity layout of {spec}",
                ("position k", "cut width η(k), links"),
                [curve(spec, np.arange(len(widths)), widths)],
                form="steps",
            )
        )
    remarks = (
        "The bisection width is η(N/2 - 1): definition 15 prints η(N/2), which with definition 14 "
        "would part N/2 + 1 nodes from the rest.",
    )
    return Shown(tuple(panels), tuple(rows_of("figure 2.1")), remarks)


def _figure_2_2(_: bool) -> Shown:
    """Return the cut widths of the row-major layout of meshes, by formula and counted."""
    panels = []
    for side in (4, 8):
        position = np.arange(side * side)
        inner = (position + 1) % side != 0
        rising = np.minimum(np.minimum(position + 1, side), side * side - position - 1)
        widths = cut_widths(mesh(side, side))
        panels.append(
            plot(
                f"Identity layout of mesh:{side}x{side}",
                ("position k", "cut width η(k), links"),
                [
                    curve("equations 2.13 to 2.15", position, inner + rising, whose=PRINTED),
                    curve("counted", np.arange(len(widths)), widths),
                ],
                form="steps",
            )
        )
    remarks = (
        "The figure is a drawing of the layout; shown are the cut widths that the text derives "
        "from it, and theorem 3's peak.",
    )
    return Shown(tuple(panels), tuple(rows_of("theorem 3")), remarks)


def _figure_2_3(_: bool) -> Shown:
    """Return the speed-up of distant nodes' communication by size and message length."""
    panels = (
        _speedups("A. Average case", "average"),
        _speedups("B. Worst case", "worst"),
    )
    remarks = (
        "Printed curves are equations 2.22 and 2.23; computed ones are equation 2.20 with path "
        "lengths counted on the networks.",
        "Which message lengths the figure has is lost with its drawing.",
    )
    return Shown(panels, tuple(rows_of("equation 2.20")), remarks)


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
        curves += [curve(name, SIZES, printed, whose=PRINTED), curve(name, SIZES, computed)]
    return plot(title, ("nodes N", "speed-up R_e"), curves, log_x=True)


EXHIBITS = {
    "table-1.1": Exhibit("Characteristics of mesh and hypercube topologies", _table_1_1),
    "table-2.1": Exhibit("Ratio of channel bandwidths for three delay models", _table_2_1),
    "table-2.2": Exhibit("Speed-up of a mesh over a hypercube by system size", _table_2_2),
    "table-2.3": Exhibit("Channel width, rate and bandwidth of commercial systems", _table_2_3),
    "fig-2.1": Exhibit("Linear layouts of 8 nodes and their wire density", _figure_2_1),
    "fig-2.2": Exhibit("The row-major layout of a mesh and its wire density", _figure_2_2),
    "fig-2.3": Exhibit("Speed-up of communication between distant nodes", _figure_2_3),
}
"""Tables and figures of chapters 1 and 2, by name."""
