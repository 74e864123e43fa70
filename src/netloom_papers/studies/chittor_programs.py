"""Chittor 1991, chapters 4 and 5: programs on the Symult 2010, and on the thesis's simulator.

Chapter 4 measures a machine, which is simulated here. It is what the thesis says of two nodes
alone: start-up, packets and the bandwidth of a channel. Everything else, such as what happens where
messages meet, comes from the simulation.

The figures of chapter 5 are drawn again by lockstep worms. ``run_loops`` returns a table of one row
per run. It has the configuration, and the actual traffic of the average and of the worst node, in
percent of a channel. Averages are taken over mappings and seeds, and their intervals count. What is
compared in figures of the transpose stands in the data file.

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
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.machines import machine
from netloom.mapping import find_layout
from netloom.questions.simulate.loop import simulate_loop
from netloom.questions.simulate.programs import UNIFORM
from netloom.topology import topology
from netloom.workload.programs.loops import think_cycles
from netloom_papers.exhibits import PRINTED, Cell, averaged, curve, grid, plot
from netloom_papers.ledger import Drawn, Found, Item, Known, Made, published
from netloom_papers.programs.neighbour_patterns import node_costs
from netloom_papers.questions.simulate.pattern import PatternSimulation, simulate_pattern
from netloom_papers.studies.chittor import placed, process_graphs
from netloom_papers.studies.running import run_side_by_side

if TYPE_CHECKING:
    import polars as pl

APPLIED_PERCENT, ACTUAL_PERCENT = "applied node traffic (%)", "actual node traffic (%)"
AXES = APPLIED_PERCENT, ACTUAL_PERCENT

WHO = {"average_node": "average node", "worst_node": "worst node"}
"""Columns of runs, and what their curves are called."""

# -- chapter 4: the Symult 2010 ------------------------------------------------------------------

ARBITRATIONS = {"timestamp": "oldest message first", "fifo": "first come, first served"}
"""The machine's own is not known. The thesis says that it has no priority queues (section 4.2.3),
which first come, first served is the nearest to."""

THINK_US, QUICK_THINK_US = (0, 100, 200, 400, 800, 1600, 3200), (0, 300, 1000)
"""Mean computation of a loop in figures 4.8 and 4.12 to 4.14."""

TRANSPOSE_LOOPS, QUICK_LOOPS = 100, 15

LOOPS = 60
"""Loops of a run without computation: only its beginning leaves a trace in the others."""


@cache
def _pattern(
    name: str,
    side: int,
    sizes: tuple[int, ...],
    thinks: tuple[float, ...] = (0,),
    loops: int = LOOPS,
    **options: Any,
) -> PatternSimulation:
    found = simulate_pattern(
        f"symult2010:{side}x{side}",
        pattern=name,
        message_bytes=list(sizes),
        think_us=list(thinks),
        loops=loops,
        **options,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _figure_4_4(known: Known) -> Found:
    sizes = tuple(size for panel in known["panels"].values() for size in panel["bytes"])
    table = _pattern("ab-1nn", 4, sizes).table()
    times = zip(table["message_bytes"], table["communication_us_mean"], strict=True)
    for size, time in times:
        yield f"message of {size} bytes (µs)", time


def _draw_figure_4_4(made: Made) -> Drawn:
    rows = {int(row.quantity.split()[2]): row for row in made.rows}
    for title, panel in made.known["panels"].items():
        line, sizes = panel["line"], panel["bytes"]
        curves = [
            curve(line, sizes, [rows[size].printed for size in sizes], PRINTED),
            curve("simulated", sizes, [rows[size].computed for size in sizes]),
        ]
        yield plot(title, ("message length L, bytes", "time of a message, µs"), curves)


def _by_node(found: PatternSimulation) -> pl.DataFrame:
    import polars as pl

    rows, columns = np.divmod(found.nodes, 12)
    return pl.DataFrame({"row": rows, "column": columns, "loop_us": found.points[0].loop_us})


def _draw_figure_4_5(_: Made) -> Drawn:
    """Loop times of the nodes on the diagonal: 4 KB messages, 450 µs of computation."""
    table = _by_node(_pattern("diagonal", 12, (4096,), (450,))).sort("row")
    curves = [curve("simulated", table["row"], table["loop_us"])]
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
    loops = QUICK_LOOPS if made.quick else TRANSPOSE_LOOPS
    for policy, words in ARBITRATIONS.items():
        run = _pattern("transpose", 12, (4096,), (150,), loops, arbitration=policy)
        cells = {
            (f"row {node['row']}", f"column {node['column']}"): Cell(None, node["loop_us"])
            for node in _by_node(run).sort("row", "column").iter_rows(named=True)
        }
        columns = [f"column {number}" for number in range(12)]
        yield grid(f"B. Loop times (µs), {words}", cells, columns)


def transposes(
    side: int, size: int, policy: str, runs: tuple[tuple[float, ...], int]
) -> pl.DataFrame:
    """Return loops of the transpose: applied traffic, actual traffic, and times.

    ``runs``: the mean computations of a loop, and how many loops each has.
    """
    return _pattern("transpose", side, (size,), *runs, arbitration=policy).table()


def _of_machine(quick: bool) -> tuple[tuple[float, ...], int]:
    """Return the computation times of a figure, and the loops of each."""
    return (QUICK_THINK_US, QUICK_LOOPS) if quick else (THINK_US, TRANSPOSE_LOOPS)


def _longer(table: pl.DataFrame, part: str) -> tuple[Any, Any]:
    """Return computation time and what contention adds to the two messages of a loop, µs."""
    added = table[f"communication_us_{part}"] - table["message_us"]
    return table["think_us"], 2 * added.to_numpy()


def _slower(table: pl.DataFrame, part: str) -> tuple[Any, Any]:
    """Return applied traffic (%) and θ."""
    return 100 * table["applied"].to_numpy(), table[f"slowdown_{part}"]


def _traffic(table: pl.DataFrame, part: str) -> tuple[Any, Any]:
    """Return applied and actual traffic (%)."""
    actual = table["average_node" if part == "mean" else "worst_node"]
    return 100 * table["applied"].to_numpy(), 100 * actual.to_numpy()


PARTS = {"mean": "average node", "max": "worst node"}
"""What tables of the machine call the nodes."""


def _of_transposes(
    axes: tuple[str, str],
    figures: Callable[[pl.DataFrame, str], tuple[Any, Any]],
    made: Made,
) -> Drawn:
    """Average and worst nodes of each panel's runs (side, bytes), for each arbitration."""
    options = _of_machine(made.quick)
    for (title, runs), (policy, words) in product(
        made.known["panels"].items(), ARBITRATIONS.items()
    ):
        curves = [
            curve(f"{name}, {who}", *figures(transposes(side, size, policy, options), part))
            for (name, (side, size)), (part, who) in product(runs.items(), PARTS.items())
        ]
        yield plot(f"{title}: {words}", axes, curves)


THETA = APPLIED_PERCENT, "normalised communication time of a message θ"
ADDED = "mean computation of a loop, µs", "increase in communication time of a loop, µs"


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
    point = _pattern("ab-1nn", 4, (4096,), (1000,), known["loops"]).points[0]
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
    for policy, thinks in known["think_us"].items():
        table = transposes(12, 4096, policy, (tuple(thinks), known["loops"]))
        yield f"worst node saturates, {policy} (%)", 100 * table["worst_node"].to_numpy().max()
    alone = _pattern("ab-1nn", 4, (1024, 8192)).table()
    for size, applied in zip(alone["message_bytes"], alone["applied"], strict=True):
        yield f"most that can be applied, {size} bytes (%)", 100 * applied


# -- chapter 5: the thesis's simulator -----------------------------------------------------------

APPLIED = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Applied traffic of the figures."""

QUICK_APPLIED = (0.05, 0.1, 0.2, 0.4)

SEEDS, MAPPINGS, CAREFUL, QUICK_RUNS = 4, 6, 2, 3
"""Seeds, random mappings, or seeds of careful mappings, of a curve's points. Most of any in a quick
run, of its rows too."""

TRANSPOSE = {"on": "mesh:12x12", "app": "transpose:12"}

FORTY, TRAFFICS = (0.25, 0.4), (0.12, 0.18, 0.25, 0.4)
"""Applied traffic of what is said of arbitration."""

POLICIES = {
    "timestamp": ("Oldest message first", TRAFFICS),
    "fifo": ("First come, first served", TRAFFICS),
    "biased": ("Biased priority", FORTY),
    "source": ("Message-source priority", FORTY),
}
"""What they are called, and the traffic of their rows."""

GRAPHS = ("binary tree", "2D mesh", "3D mesh", "hypercube")
BY_GRAPH = {graph: {"graph": graph} for graph in GRAPHS}

LAYOUTS = {"binary tree": "tiles", "3D mesh": "columns"}
"""Layouts of section 3.5: Youn's tiles as netloom has them, and scheme B."""


def run_loops(
    what: str, places: Iterable[Mapping[str, Any]], runs: int, applied: Sequence[float] = APPLIED
) -> pl.DataFrame:
    """Return one row per closed loop on lockstep worms: its options, and the traffic, per cent.

    Parameters
    ----------
    what
        Shown while it lasts.
    places
        Options of ``simulate_loop``. ``graph`` is a label.
    runs
        Seeds, from 1 on, that each place is run with.
    applied
        Applied traffics that each place is run with, ``asked`` in the table.
    """
    import polars as pl

    def run(case: Mapping[str, Any]) -> dict[str, Any]:
        options = {name: value for name, value in case.items() if name not in ("graph", "asked")}
        simulated = simulate_loop(engine="worm", **options)
        point, limit, flits = simulated.point, simulated.saturation, simulated.message_flits
        times = point.times
        assert times is not None, point.note
        thinking = think_cycles(point.applied, flits)
        limits = (limit.average_node, limit.worst_node) if limit else (None, None)
        average, worst = (None if share is None else 100 * share for share in limits)
        return {name: value for name, value in case.items() if name not in ("app", "mapping")} | {
            "offered": 100 * flits / (thinking + (point.unhindered_latency or 0.0)),
            "average_node": 100 * times.average_node,
            "worst_node": 100 * times.worst_node,
            "theory_average": average,
            "theory_worst": worst,
        }

    cases = [
        {**place, "asked": traffic, "applied": _by_definition(place, traffic), "seed": seed}
        for place, traffic, seed in product(places, applied, range(1, runs + 1))
    ]
    found = run_side_by_side([partial(run, case) for case in cases], what)
    return pl.DataFrame(found, infer_schema_length=None)


def _by_definition(place: Mapping[str, Any], traffic: float) -> float:
    """Return L / (t + L), which is the traffic itself if paths and gaps are not to count.

    If messages are cut, they do. The gaps and the paths that packets cross one after the other are
    part of the loop, so that tasks compute for less of it. By L / (t + L) they would offer up to
    8 % less, and be compared with more.
    """
    if "packet_flits" not in place:
        return traffic
    flits, packet = place["message_flits"], place["packet_flits"]
    packets = flits // packet
    hops = 2 * (12 + 1) / 3  # of the transpose's paths, on average
    alone = packets * (packet + hops + 1) + (packets - 1) * place["gap_cycles"]
    return float(flits / (flits / traffic - alone + flits))


def _column(table: pl.DataFrame, name: str, **where: Any) -> Floats:
    """One column of the rows of a kind, by seed."""
    chosen = table.filter(**where).sort("seed")
    assert len(chosen)
    return chosen[name].to_numpy()


def _runs(quick: bool, full: int = SEEDS) -> tuple[int, tuple[float, ...]]:
    """Return how many seeds or mappings a point has, and the applied traffics."""
    return (min(full, QUICK_RUNS), QUICK_APPLIED) if quick else (full, APPLIED)


def _curves(
    table: pl.DataFrame,
    cases: Mapping[str, Mapping[str, Any]],
    who: Mapping[str, str] = WHO,
) -> list[pl.DataFrame]:
    """Return actual against applied traffic, one curve per case and kind of node."""
    return [
        averaged(f"{name}, {words}".removeprefix(", "), table.filter(**where), column, x="asked")
        for (name, where), (column, words) in product(cases.items(), who.items())
    ]


def _theory() -> list[pl.DataFrame]:
    """Return the saturation of the transpose on 144 nodes by theory, as the thesis prints it."""
    values = published("chittor")["items"]["figure 5.6"]["values"]
    ends = 100 * np.array(APPLIED)[[0, -1]]
    return [curve(f"theory, {who}", ends, values[f"{who} (%)"], PRINTED) for who in WHO.values()]


COMPARED: dict[str, Callable[..., Any]] = {
    "itself": np.asarray,
    "ratio": np.divide,
    "share of runs that are lower": lambda here, there: np.mean(here < there),
}
"""What is computed of the traffic of one or two cases."""


def transposed(known: Known, seeds: int, applied: Sequence[float] = APPLIED) -> pl.DataFrame:
    """Run the transpose on 144 nodes with the options of each of a figure's ``cases``."""
    places = [TRANSPOSE | case for case in known["cases"].values()]
    return run_loops(known["shows"], places, seeds, applied)


def _said_of_transposes(known: Known) -> Found:
    """Compare what is ``said`` of the average and of the worst node's traffic in some cases."""
    said = known["said"]
    table = transposed(known, known["seeds"], sorted({each["asked"] for each in said.values()}))
    for who, (words, each) in product(("average", "worst"), said.items()):
        columns = (
            _column(table, f"{who}_node", asked=each["asked"], **known["cases"][case])
            for case in each["cases"]
        )
        yield f"{who} node{words}", COMPARED[each["compared"]](*columns)


def _draw_transposes(made: Made, measured: Sequence[pl.DataFrame] = ()) -> Drawn:
    known = made.known
    curves = _curves(transposed(known, *_runs(made.quick)), known["cases"])
    yield plot(known["title"], AXES, [*curves, *measured, *_theory()])


def _draw_figure_5_6(made: Made) -> Drawn:
    symult = transposes(12, 4096, "timestamp", _of_machine(made.quick))
    measured = [
        curve(f"simulated Symult 2010, {words}", *_traffic(symult, part))
        for part, words in PARTS.items()
    ]
    return _draw_transposes(made, measured)


@cache
def _speeds(quick: bool) -> dict[str, Floats]:
    """Measure netloom's simulator: applied traffic, cycles a second, and µs a message and cycle."""
    sizes, traffics = ((64, 256), (0.1, 0.4)) if quick else ((64, 256, 1024), (0.05, 0.1, 0.2, 0.4))
    found = {}
    simulate_loop("mesh:8x8", app="mesh:8x8", applied=0.1, engine="worm")  # compiles the kernels
    for (name, pattern), nodes in product(
        {"neighbours": "2D mesh", UNIFORM: UNIFORM}.items(), sizes
    ):
        place, measured = _on_mesh(pattern, nodes), []
        for traffic in traffics:
            begin = process_time()
            point = simulate_loop(
                place["on"], app=place["app"], applied=traffic, engine="worm"
            ).point
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


def _on_mesh(graph: str, nodes: int) -> dict[str, Any]:
    app = UNIFORM if graph == UNIFORM else process_graphs(nodes)[graph]
    side = isqrt(nodes)
    return {"graph": graph, "app": app, "on": f"mesh:{side}x{side}"}


def figure_5_12(
    mappings: int, applied: Sequence[float] = APPLIED, sizes: Sequence[int] = (64, 256)
) -> pl.DataFrame:
    """The effect of random mapping: four process graphs, and uniform traffic beside them.

    ``theory_average`` and ``theory_worst`` are the saturation traffic by static analysis of the
    same mapping (sections 3.5 and 5.6.4), per cent.
    """
    places = [
        _on_mesh(graph, nodes) | ({} if graph == UNIFORM else {"mapping": "random"})
        for nodes, graph in product(sizes, (*GRAPHS, UNIFORM))
    ]
    return run_loops("figure 5.12", places, mappings, applied)


def _figure_5_12(known: Known) -> Found:
    table = figure_5_12(known["mappings"], [0.5])
    for nodes, on in ((64, "mesh:8x8"), (256, "mesh:16x16")):
        uniform = _column(table, "average_node", graph=UNIFORM, on=on)
        yield f"uniform, N = {nodes}, average node (%)", uniform
        for graph in GRAPHS:
            average, worst, theory_average, theory_worst = (
                _column(table, name, graph=graph, on=on)
                for name in ("average_node", "worst_node", "theory_average", "theory_worst")
            )
            name = f"{graph}, N = {nodes}"
            yield f"{name}, average node over theory", average / theory_average
            yield f"{name}, worst node over theory", worst / theory_worst
            yield f"{name}, average over worst node", average / worst


def _of_sizes(
    runs: Callable[[int, Sequence[float], Sequence[int]], pl.DataFrame],
    full: int,
    cases: Mapping[str, Mapping[str, Any]],
    who: Mapping[str, str],
    made: Made,
) -> Drawn:
    """Draw process graphs on networks of either size."""
    times, applied = _runs(made.quick, full)
    for letter, nodes in (("A", 64), ("B", 256)):
        curves = _curves(runs(times, applied, [nodes]), cases, who)
        yield plot(f"{letter}. {nodes} nodes", AXES, curves)


def _carefully(graph: str, nodes: int) -> dict[str, Any]:
    """Place a graph as section 3.5 does. Identity is careful for 2D meshes and hypercubes.

    No mesh of the thesis's sizes takes 6 x 6 x 6 tasks scheme by scheme. 12 x 18 nodes do.
    """
    case = _on_mesh(graph, nodes)
    if graph == "3D mesh" and nodes == 256:
        case["on"] = "mesh:12x18"
    if graph in LAYOUTS:
        layout = find_layout(LAYOUTS[graph], case["app"], topology(case["on"]))
        case["mapping"] = layout.node_of
    return case


def figure_5_13(
    seeds: int, applied: Sequence[float] = APPLIED, sizes: Sequence[int] = (64, 256)
) -> pl.DataFrame:
    """The effect of careful mapping, with dimension-order routing (section 3.5)."""
    places = [
        {**_carefully(graph, nodes), "loops": 1000} for nodes, graph in product(sizes, GRAPHS)
    ]
    return run_loops("figure 5.13", places, seeds, applied)


def _figure_5_13(known: Known) -> Found:
    table = figure_5_13(known["seeds"], [0.25])
    for nodes, graph in product((64, 256), GRAPHS):
        case = _carefully(graph, nodes)
        tasks = nodes if graph == "binary tree" else case["app"].num_tasks
        for who in ("average", "worst"):
            where = {"graph": graph, "on": case["on"]}
            actual, offered = (_column(table, name, **where) for name in (f"{who}_node", "offered"))
            yield f"{graph}, N = {tasks}, {who} node over applied", actual / offered


@cache
def arbitrated(
    mappings: int, applied: tuple[float, ...], policy: str, graphs: tuple[str, ...] = GRAPHS
) -> pl.DataFrame:
    """The effect of arbitration: randomly mapped graphs on 256 nodes.

    Fewer loops than elsewhere: with first come first served the slowest task takes up to some
    100 000 cycles for each.
    """
    options = {"mapping": "random", "loops": 30, "skip": 5, "arbitration": policy}
    places = [_on_mesh(graph, 256) | options for graph in graphs]
    return run_loops(f"arbitration, {policy}", places, mappings, applied)


def _first_come(known: Known) -> Found:
    """Figure 5.14: first come, first served declines, however ties are broken. Stamps do not."""
    mappings = known["mappings"]
    stamps, first = (arbitrated(mappings, TRAFFICS, each) for each in ("timestamp", "fifo"))
    fair = arbitrated(mappings, (0.25,), "fifo-lru")
    at_25 = TRAFFICS.index(0.25)
    for graph in GRAPHS:
        stamped, fifo = (
            [_column(table, "average_node", graph=graph, applied=each) for each in TRAFFICS]
            for table in (stamps, first)
        )
        declines = np.mean(fifo[-1] < 0.95 * np.max(fifo, axis=0))
        least_recent = _column(fair, "average_node", graph=graph)
        yield f"{graph}, FIFO below its highest at 40 % (share of mappings)", declines
        yield f"{graph}, time stamp at 40 % over its highest", stamped[-1] / np.max(stamped, axis=0)
        below = np.mean(fifo[at_25] < stamped[at_25])
        yield f"{graph}, FIFO below time stamp at 25 % (share of mappings)", below
        yield f"{graph}, ties by least recent request over FIFO", least_recent / fifo[at_25]


def _comparable(policy: str, known: Known) -> Found:
    """Figures 5.15 and 5.16: a policy is as good as time stamps."""
    table = arbitrated(known["mappings"], FORTY, policy)
    stamped = arbitrated(known["mappings"], TRAFFICS, "timestamp")
    for graph, who, traffic in product(GRAPHS, ("average", "worst"), FORTY):
        here, there = (
            _column(each, f"{who}_node", graph=graph, applied=traffic) for each in (table, stamped)
        )
        yield f"{graph}, {policy} over time stamp, {who} node at {traffic:.0%}", here / there


def _of_policy(policy: str, made: Made) -> Drawn:
    """The policy, and time stamps to compare with. A quick run has the runs of the rows."""
    for each in (policy, "timestamp"):
        name, traffics = POLICIES[each]
        applied = traffics if made.quick else APPLIED
        table = arbitrated(made.known["mappings"], applied, each)
        title = name + ("" if each == policy else ", to compare with")
        yield plot(title, AXES, _curves(table, BY_GRAPH))


ITEMS = (
    Item("figure 4.4", _figure_4_4, _draw_figure_4_4),
    Item("section 4.2.2", _section_4_2_2),
    Item("figure 4.5", draw=_draw_figure_4_5),
    Item("figure 4.6", draw=_draw_figure_4_6),
    Item("figure 4.7", draw=_draw_figure_4_7),
    Item("figure 4.8", draw=partial(_of_transposes, ADDED, _longer)),
    Item("table 4.1", _table_4_1, _draw_table_4_1),
    Item("figure 4.11", _figure_4_11, _draw_figure_4_11),
    Item("figure 4.12", draw=partial(_of_transposes, THETA, _slower)),
    Item("figure 4.13", draw=partial(_of_transposes, THETA, _slower)),
    Item("figure 4.14", _figure_4_14, partial(_of_transposes, AXES, _traffic)),
    Item("figure 5.6", _said_of_transposes, _draw_figure_5_6),
    Item("figure 5.7", draw=partial(_draw_speed, CYCLES, 1)),
    Item("figure 5.8", draw=partial(_draw_speed, COST, 2)),
    Item("figure 5.9", _said_of_transposes, _draw_transposes),
    Item("figure 5.10", _said_of_transposes, _draw_transposes),
    Item("figure 5.11", _said_of_transposes, _draw_transposes),
    Item(
        "figure 5.12",
        _figure_5_12,
        partial(_of_sizes, figure_5_12, MAPPINGS, BY_GRAPH | {UNIFORM: {"graph": UNIFORM}}, WHO),
    ),
    Item(
        "figure 5.13",
        _figure_5_13,
        partial(_of_sizes, figure_5_13, CAREFUL, BY_GRAPH, {"worst_node": "worst node"}),
    ),
    Item("figure 5.14", _first_come, partial(_of_policy, "fifo")),
    Item("figure 5.15", partial(_comparable, "biased"), partial(_of_policy, "biased")),
    Item("figure 5.16", partial(_comparable, "source"), partial(_of_policy, "source")),
)
"""In the order of the thesis."""
