"""Chittor 1991, chapters 4 and 5: programs on the Symult 2010, and on the thesis's simulator.

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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from math import isqrt
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from netloom.base.arrays import Floats, Ints
from netloom.machines import machine
from netloom.questions.simulate.loop import simulate_loop
from netloom.questions.simulate.programs import UNIFORM
from netloom.workload.programs.loops import think_cycles
from netloom_papers.exhibits import PRINTED, Cell, averaged, curve, grid, plot
from netloom_papers.ledger import Drawn, Found, Item, Known, Made, published
from netloom_papers.programs.neighbour_patterns import node_costs
from netloom_papers.questions.simulate.pattern import PatternSimulation, simulate_pattern
from netloom_papers.studies.chittor import placed
from netloom_papers.studies.running import run_side_by_side

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
        for part in PARTS
    }
    traffic = {"traffic_mean": "average_node", "traffic_max": "worst_node", "applied": "applied"}
    shares = {name: 100 * pl.col(share) for name, share in traffic.items()}
    return found.table().with_columns(**added, **shares)


PARTS = {"mean": "average node", "max": "worst node"}
"""What tables of the machine call the nodes."""


def _of_transposes(made: Made) -> Drawn:
    """Average and worst nodes of each panel's runs (side, bytes), for each arbitration."""
    known, (x, y) = made.known, made.known["columns"]
    for (title, runs), (policy, words) in product(known["panels"].items(), ARBITRATIONS.items()):
        curves = []
        for name, (side, size) in runs.items():
            table = transposes(side, size, policy, known)
            for part, who in PARTS.items():
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
    rows = [
        {"case": case, "applied": applied, **traffic}
        for (case, applied, _), traffic in zip(
            cases, run_side_by_side(loops, known["shows"]), strict=True
        )
    ]
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
        for part, who in PARTS.items()
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
"""In the order of the thesis."""
