"""Chittor 1991, chapter 5: the figures of the thesis's simulator, drawn again by lockstep worms.

Each ``figure_`` function returns a table of one row per run. It has the configuration, and the
actual traffic of the average and of the worst node, in percent of a channel. ``rows`` compares what
the text says about the figures. Averages are taken over mappings and seeds, and their intervals
count.

Applied traffic is L / (t + L), as in the thesis's section 5.5, which calls that a first
approximation. By definition 24 it counts the whole loop that a task would make without contention,
paths and gaps between packets too, as eq. 4.3 does. ``offered``, in the same table, is that.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.mapping import find_layout
from netloom.questions.simulate.loop.question import simulate_loop
from netloom.topology import topology
from netloom.workload.programs.loops import think_cycles
from netloom_papers.studies.chittor import process_graphs
from netloom_papers.studies.validation import compare_all, run_side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from netloom.base.arrays import Floats
    from netloom_papers.studies.validation import Part

APPLIED = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Applied traffic of the figures."""

TRANSPOSE = {"on": "mesh:12x12", "app": "transpose:12"}

POLICIES = ("timestamp", "fifo", "fifo-lru", "biased", "source")

GRAPHS = ("binary tree", "2D mesh", "3D mesh", "hypercube")

LAYOUTS = {"binary tree": "tiles", "3D mesh": "columns"}
"""Layouts of section 3.5: Youn's tiles as netloom has them, and scheme B."""


def figure_5_6(
    seeds: int, applied: Sequence[float] = APPLIED, release_cycles: Sequence[int] = (0, 1)
) -> pl.DataFrame:
    """The transpose of 144 nodes, with both readings of when a channel is free again."""
    return _transposes("figure 5.6", "release_cycles", release_cycles, applied, seeds, loops=400)


def figure_5_9(seeds: int, applied: Sequence[float] = APPLIED) -> pl.DataFrame:
    """The effect of message length, on the transpose."""
    return _transposes("figure 5.9", "message_flits", (5, 50, 250), applied, seeds)


def figure_5_10(seeds: int, applied: Sequence[float] = APPLIED) -> pl.DataFrame:
    """The effect of the distribution of computation times, on the transpose."""
    return _transposes("figure 5.10", "think", ("fixed", "uniform"), applied, seeds)


def _transposes(
    what: str, option: str, values: Sequence[Any], applied: Sequence[float], seeds: int, **more: Any
) -> pl.DataFrame:
    """Run the transpose with each value of an option."""
    cases = [
        {**TRANSPOSE, option: value, "applied": traffic, "seed": seed, **more}
        for value, traffic, seed in product(values, applied, _from_one(seeds))
    ]
    return run_loops(cases, what)


def figure_5_11(seeds: int, offered: Sequence[float] = APPLIED) -> pl.DataFrame:
    """The effect of packets: 250 flits at once, or 10 of 25 with gaps of 10 cycles.

    Both offer the same traffic by definition 24, ``asked``. The gaps and the ten paths that packets
    cross one after the other are part of the loop. So tasks that cut their messages compute for
    less of it. By L / (t + L) they would offer up to 8 % less, and be compared with more.
    """
    whole, cut = {"packet_flits": 250}, {"packet_flits": 25, "gap_cycles": 10}
    hops = 2 * (12 + 1) / 3  # of the transpose's paths, on average
    alone = (250 + hops + 1), 10 * (25 + hops + 1) + 9 * 10
    cases = [
        {
            **TRANSPOSE, "message_flits": 250, "seed": seed, **packets,
            "asked": traffic, "applied": 250 / (250 / traffic - cycles + 250),
        }
        for (packets, cycles), traffic, seed in product(
            zip((whole, cut), alone, strict=True), offered, _from_one(seeds)
        )
    ]  # fmt: skip
    return run_loops(cases, "figure 5.11")


def figure_5_12(
    mappings: int, applied: Sequence[float] = APPLIED, sizes: Sequence[int] = (64, 256)
) -> pl.DataFrame:
    """The effect of random mapping: four process graphs, and uniform traffic beside them.

    ``theory_average`` and ``theory_worst`` are the saturation traffic by static analysis of the
    same mapping (sections 3.5 and 5.6.4), per cent.
    """
    cases = [
        {
            **_on_mesh(graph, nodes),
            **({} if graph == "uniform" else {"mapping": "random"}),
            "applied": traffic,
            "seed": seed,
        }
        for nodes, graph, traffic, seed in product(
            sizes, (*GRAPHS, "uniform"), applied, _from_one(mappings)
        )
    ]
    return run_loops(cases, "figure 5.12")


def figure_5_13(
    seeds: int, applied: Sequence[float] = APPLIED, sizes: Sequence[int] = (64, 256)
) -> pl.DataFrame:
    """The effect of careful mapping, with dimension-order routing (section 3.5)."""
    cases = [
        {**_carefully(graph, nodes), "applied": traffic, "seed": seed, "loops": 1000}
        for nodes, graph, traffic, seed in product(sizes, GRAPHS, applied, _from_one(seeds))
    ]
    return run_loops(cases, "figure 5.13")


def figures_5_14_to_5_16(
    mappings: int,
    applied: Sequence[float] = APPLIED,
    policies: Sequence[str] = POLICIES,
    graphs: Sequence[str] = GRAPHS,
) -> pl.DataFrame:
    """The effect of arbitration: randomly mapped graphs on 256 nodes, policy by policy.

    Fewer loops than elsewhere: with first come first served the slowest task takes up to some
    100 000 cycles for each.
    """
    cases = [
        {
            **_on_mesh(graph, 256), "mapping": "random", "arbitration": policy,
            "applied": traffic, "seed": seed, "loops": 30, "skip": 5,
        }
        for graph, policy, traffic, seed in product(graphs, policies, applied, _from_one(mappings))
    ]  # fmt: skip
    return run_loops(cases, f"arbitration, {', '.join(policies)}")


def run_loops(cases: Sequence[Mapping[str, Any]], what: str) -> pl.DataFrame:
    """Return one row per closed loop on lockstep worms: its options, and the traffic, per cent.

    Parameters
    ----------
    cases
        Options of ``simulate_loop``. ``graph`` and ``asked`` are labels of their own.
    what
        Shown while it lasts.
    """
    import polars as pl

    found = run_side_by_side([partial(_run_loop, case) for case in cases], what)
    return pl.DataFrame(found, infer_schema_length=None)


def _run_loop(case: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in case.items() if name not in ("graph", "asked")}
    simulated = simulate_loop(engine="worm", **options)
    point, limit, flits = simulated.point, simulated.limit, simulated.message_flits
    times = point.times
    assert times is not None, point.note
    thinking = think_cycles(point.applied, flits)
    return {name: value for name, value in case.items() if name not in ("app", "mapping")} | {
        "app": simulated.program,
        "mapping": simulated.mapping,
        "offered": 100 * flits / (thinking + point.unhindered),
        "average_node": 100 * times.average_node,
        "worst_node": 100 * times.worst_node,
        "accepted": 100 * times.accepted,
        "theory_average": None if limit is None else 100 * limit.average_node,
        "theory_worst": None if limit is None else 100 * limit.worst_node,
    }


def _on_mesh(graph: str, nodes: int) -> dict[str, Any]:
    app = "uniform" if graph == "uniform" else process_graphs(nodes)[graph]
    side = isqrt(nodes)
    return {"graph": graph, "app": app, "on": f"mesh:{side}x{side}"}


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


def _from_one(count: int) -> Iterable[int]:
    return range(1, count + 1)


def _column(table: pl.DataFrame, name: str, **where: Any) -> Floats:
    """One column of the rows of a kind, by seed."""
    chosen = table.filter(**where).sort("seed")
    assert len(chosen)
    return chosen[name].to_numpy()


def _saturation(known: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_5_6(known["seeds"], [0.9])
    found = {}
    for who, (release, held) in product(("average", "worst"), ((0, "L"), (1, "L + 1"))):
        percent = _column(table, f"{who}_node", release_cycles=release)
        found[f"{who} node, channels held {held} cycles (%)"] = percent
        if not release:
            found[f"{who} node (%)"] = percent
    return found


def _lengths(known: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_5_9(known["seeds"], [0.9])
    found: dict[str, Any] = {}
    for who in ("average", "worst"):
        five, fifty, most = (
            _column(table, f"{who}_node", message_flits=flits) for flits in (5, 50, 250)
        )
        found[f"{who} node, 250 flits over 50 flits"] = most / fifty
        found[f"{who} node, 50 flits (%)"] = fifty
        found[f"{who} node, 5 flits saturate lower (share of runs)"] = np.mean(five < fifty)
    return found


def _think_times(known: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_5_10(known["seeds"], [0.1, 0.9])
    found: dict[str, Any] = {}
    for who in ("average", "worst"):
        for traffic, where in ((0.1, "at 10 % applied"), (0.9, "saturated")):
            fixed, uniform = (
                _column(table, f"{who}_node", think=think, applied=traffic)
                for think in ("fixed", "uniform")
            )
            if traffic == 0.9:
                found[f"{who} node, fixed over uniform, {where}"] = fixed / uniform
            else:
                found[f"{who} node, fixed better {where} (share of runs)"] = np.mean(
                    fixed > uniform
                )
    return found


def _packets(known: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_5_11(known["seeds"], [0.1, 0.5])
    found = {}
    for who in ("average", "worst"):
        for traffic, where in ((0.1, "at 10 % applied"), (0.5, "saturated")):
            cut = _column(table, f"{who}_node", packet_flits=25, asked=traffic)
            whole = _column(table, f"{who}_node", packet_flits=250, asked=traffic)
            found[f"{who} node, packets over whole messages, {where}"] = cut / whole
    return found


def _random_mappings(known: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_5_12(known["mappings"], [0.5])
    found = {}
    for nodes, on in ((64, "mesh:8x8"), (256, "mesh:16x16")):
        found[f"uniform, N = {nodes}, average node (%)"] = _column(
            table, "average_node", graph="uniform", on=on
        )
        for graph in GRAPHS:
            average, worst, theory_average, theory_worst = (
                _column(table, name, graph=graph, on=on)
                for name in ("average_node", "worst_node", "theory_average", "theory_worst")
            )
            name = f"{graph}, N = {nodes}"
            found[f"{name}, average node over theory"] = average / theory_average
            found[f"{name}, worst node over theory"] = worst / theory_worst
            found[f"{name}, average over worst node"] = average / worst
    return found


def _careful_mappings(known: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_5_13(known["seeds"], [0.25])
    found = {}
    for nodes, graph in product((64, 256), GRAPHS):
        case = _carefully(graph, nodes)
        tasks = nodes if graph == "binary tree" else case["app"].num_tasks
        for who in ("average", "worst"):
            where = {"graph": graph, "on": case["on"]}
            actual, offered = (_column(table, name, **where) for name in (f"{who}_node", "offered"))
            found[f"{graph}, N = {tasks}, {who} node over applied"] = actual / offered
    return found


@cache
def arbitrated(mappings: int, applied: tuple[float, ...], *policies: str) -> pl.DataFrame:
    """Return these runs of figures 5.14 to 5.16, once made and kept."""
    return figures_5_14_to_5_16(mappings, applied, policies)


def _first_come(known: Mapping[str, Any]) -> dict[str, Any]:
    """Figure 5.14: first come, first served declines, however ties are broken. Stamps do not."""
    traffics = (0.12, 0.18, 0.25, 0.4)
    table = arbitrated(known["mappings"], traffics, "timestamp", "fifo")
    fair = arbitrated(known["mappings"], (0.25,), "fifo-lru")
    found = {}
    for graph in GRAPHS:
        actual = {
            (policy, traffic): _column(
                table, "average_node", graph=graph, arbitration=policy, applied=traffic
            )
            for policy, traffic in product(("timestamp", "fifo"), traffics)
        }
        highest = {
            policy: np.max([actual[policy, traffic] for traffic in traffics], axis=0)
            for policy in ("timestamp", "fifo")
        }
        found[f"{graph}, FIFO below its highest at 40 % (share of mappings)"] = np.mean(
            actual["fifo", 0.4] < 0.95 * highest["fifo"]
        )
        found[f"{graph}, time stamp at 40 % over its highest"] = (
            actual["timestamp", 0.4] / highest["timestamp"]
        )
        found[f"{graph}, FIFO below time stamp at 25 % (share of mappings)"] = np.mean(
            actual["fifo", 0.25] < actual["timestamp", 0.25]
        )
        found[f"{graph}, ties by least recent request over FIFO"] = (
            _column(fair, "average_node", graph=graph) / actual["fifo", 0.25]
        )
    return found


def _comparable(policy: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Figures 5.15 and 5.16: a policy is as good as time stamps."""
    table = arbitrated(known["mappings"], (0.25, 0.4), policy)
    stamped = arbitrated(known["mappings"], (0.12, 0.18, 0.25, 0.4), "timestamp", "fifo")
    stamped = stamped.filter(arbitration="timestamp")
    found = {}
    for graph, who, traffic in product(GRAPHS, ("average", "worst"), (0.25, 0.4)):
        here, there = (
            _column(each, f"{who}_node", graph=graph, applied=traffic) for each in (table, stamped)
        )
        found[f"{graph}, {policy} over time stamp, {who} node at {traffic:.0%}"] = here / there
    return found


POLICY_PARTS: dict[str, Part] = {
    "figure 5.14": _first_come,
    "figure 5.15": partial(_comparable, "biased"),
    "figure 5.16": partial(_comparable, "source"),
}
"""What recomputes what is said of each figure. Together they are one item of the data file."""


def _policies(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for part in POLICY_PARTS.values() for name, each in part(known).items()}


PARTS: dict[str, Part] = {
    "figure 5.6": _saturation,
    "figure 5.9": _lengths,
    "figure 5.10": _think_times,
    "figure 5.11": _packets,
    "figure 5.12": _random_mappings,
    "figure 5.13": _careful_mappings,
    "figures 5.14 to 5.16": _policies,
}
"""What recomputes each item of the data file, from what the file says of it."""

rows = partial(compare_all, "chittor", "chittor-programs", PARTS)
