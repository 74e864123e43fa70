"""Chittor 1991, chapter 5: the figures of the thesis's simulator, drawn by lockstep worms."""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.figures import PRINTED, Cell
from netloom.questions.simulate.loop.question import UNIFORM, simulate_loop
from netloom_papers.studies.chittor import process_graphs
from netloom_papers.studies.chittor_machine import ACTUAL_PERCENT, APPLIED_PERCENT, figure_4_14
from netloom_papers.studies.chittor_simulator import (
    APPLIED,
    GRAPHS,
    POLICY_PARTS,
    arbitrated,
    figure_5_6,
    figure_5_9,
    figure_5_10,
    figure_5_11,
    figure_5_12,
    figure_5_13,
    figures_5_14_to_5_16,
    rows,
)
from netloom_papers.studies.exhibits import Shown
from netloom_papers.studies.panels import averaged, curve, grid, plot
from netloom_papers.studies.validation import compare, published

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from netloom.base.figures import Plot
    from netloom_papers.studies.validation import Row

QUICK_APPLIED = (0.05, 0.1, 0.2, 0.4)

SEEDS, QUICK_RUNS = 4, 3
"""Seeds of a curve's points. Seeds or mappings of a quick run, of its rows too."""

MAPPINGS = 6
"""Random mappings of a curve's points."""

WHO = {"average_node": "average node", "worst_node": "worst node"}

BY_GRAPH = {graph: {"graph": graph} for graph in GRAPHS}

AXES = APPLIED_PERCENT, ACTUAL_PERCENT


def _rows(item: str, quick: bool) -> tuple[Row, ...]:
    known = published("chittor-programs")[item]
    fewer = {count: QUICK_RUNS for count in ("seeds", "mappings") if quick and count in known}
    return rows(item, **fewer)


def _runs(quick: bool, full: int = SEEDS) -> tuple[int, tuple[float, ...]]:
    """Return how many seeds or mappings a point has, and the applied traffics."""
    return (QUICK_RUNS, QUICK_APPLIED) if quick else (full, APPLIED)


def _curves(
    table: pl.DataFrame,
    cases: Mapping[str, Mapping[str, Any]],
    who: Mapping[str, str] = WHO,
    x: str = "applied",
) -> list[pl.DataFrame]:
    """Return actual against applied traffic, one curve per case and kind of node."""
    return [
        averaged(f"{name}, {words}".removeprefix(", "), table.filter(**where), column, x=x)
        for (name, where), (column, words) in product(cases.items(), who.items())
    ]


def _theory() -> list[pl.DataFrame]:
    """Return the saturation of the transpose on 144 nodes by theory, as the thesis prints it."""
    values = published("chittor-programs")["figure 5.6"]["values"]
    ends = 100 * np.array(APPLIED)[[0, -1]]
    return [curve(f"theory, {who}", ends, values[f"{who} (%)"], PRINTED) for who in WHO.values()]


def _transpose_figure(
    item: str,
    title: str,
    table: pl.DataFrame,
    cases: Mapping[str, Mapping[str, Any]],
    quick: bool,
    x: str = "applied",
) -> Shown:
    panel = plot(title, AXES, [*_curves(table, cases, x=x), *_theory()])
    return Shown([panel], _rows(item, quick))


def _figure_5_6(quick: bool) -> Shown:
    table = figure_5_6(*_runs(quick))
    loops, thinks = (15, (300, 1000)) if quick else (60, (0, 150, 300, 600, 1000, 2000))
    symult = figure_4_14([4096], thinks, "timestamp", loops)
    applied = 100 * symult["applied"].to_numpy()
    held = {"": {"release_cycles": 0}, "channels held a cycle more": {"release_cycles": 1}}
    curves = [
        *_curves(table, held),
        *(
            curve(f"simulated Symult 2010, {words}", applied, 100 * symult[column].to_numpy())
            for column, words in WHO.items()
        ),
        *_theory(),
    ]
    return Shown([plot("Transpose, 144 nodes", AXES, curves)], _rows("figure 5.6", quick))


@cache
def _speeds(quick: bool) -> pl.DataFrame:
    """Measure netloom's simulator, one row per pattern, size and applied traffic."""
    import polars as pl

    sizes, traffics = ((64, 256), (0.1, 0.4)) if quick else ((64, 256, 1024), (0.05, 0.1, 0.2, 0.4))
    found = []
    _timed("2D mesh", 64, 0.1)  # compiles the kernels
    for pattern, nodes, traffic in product(("2D mesh", UNIFORM), sizes, traffics):
        seconds, cycles, actual = _timed(pattern, nodes, traffic)
        found.append(
            {
                "pattern": "neighbours" if pattern != UNIFORM else pattern,
                "nodes": nodes,
                "applied": traffic,
                "cycles_per_second": cycles / seconds,
                "us": 1e6 * seconds / (cycles * nodes * actual),
            }
        )
    return pl.DataFrame(found)


def _timed(pattern: str, nodes: int, traffic: float, **options: Any) -> tuple[float, int, float]:
    """Return processor seconds, cycles and actual traffic of a closed loop."""
    app: Any = UNIFORM if pattern == UNIFORM else process_graphs(nodes)[pattern]
    side = round(nodes**0.5)
    begin = process_time()
    found = simulate_loop(
        f"mesh:{side}x{side}", app=app, applied=traffic, engine="worm", **options
    ).point
    assert found.times is not None
    return process_time() - begin, found.ending.cycle, found.times.average_node


def _speed_curves(quick: bool, column: str) -> list[pl.DataFrame]:
    table = _speeds(quick)
    curves = []
    for pattern, nodes in product(table["pattern"].unique(maintain_order=True), (64, 256, 1024)):
        part = table.filter(pattern=pattern, nodes=nodes)
        if len(part):
            applied = 100 * part["applied"].to_numpy()
            curves.append(curve(f"{pattern}, {nodes} nodes", applied, part[column]))
    return curves


def _figure_5_7(quick: bool) -> Shown:
    axes = APPLIED_PERCENT, "cycles per second of processor time"
    return Shown([plot("Speed of the simulator", axes, _speed_curves(quick, "cycles_per_second"))])


def _figure_5_8(quick: bool) -> Shown:
    known = published("chittor-programs")["figures 5.7 and 5.8"]
    printed = known["us_per_message_and_cycle"]
    curves = [
        *_speed_curves(quick, "us"),
        *(curve(f"the thesis's, {each} µs", [5, 40], each, PRINTED) for each in printed),
    ]
    axes = APPLIED_PERCENT, "processor time of a message that moves, µs a cycle"
    panel = plot("Cost of a message and cycle", axes, curves, log_y=True)
    example = known["example"]
    nodes, traffic, think = (example[name] for name in ("nodes", "traffic", "think_cycles"))
    cells = {
        (label, "s"): Cell(example["seconds"], _estimate(printed[1], nodes, traffic, loop, example))
        for label, loop in (
            ("the thesis's formula, t = 270", think),
            ("the thesis's formula as printed, with 300", think + example["message_flits"]),
        )
    }
    seconds, _, _ = _timed(
        UNIFORM, nodes, traffic,
        message_flits=example["message_flits"], loops=example["loops"], skip=0,
    )  # fmt: skip
    cells["netloom, measured", "s"] = Cell(None, seconds)
    return Shown([panel, grid("Processor time of the example in section 5.5", cells)])


def _estimate(
    cost_us: float, nodes: int, traffic: float, think: float, example: Mapping[str, Any]
) -> float:
    """Return x N λ (t + t λ / (1 - λ)) m, section 5.5, in seconds."""
    loop = think + think * traffic / (1 - traffic)
    return float(1e-6 * cost_us * nodes * traffic * loop * example["loops"])


def _figure_5_9(quick: bool) -> Shown:
    cases = {f"{flits} flits": {"message_flits": flits} for flits in (5, 50, 250)}
    return _transpose_figure(
        "figure 5.9", "By message length", figure_5_9(*_runs(quick)), cases, quick
    )


def _figure_5_10(quick: bool) -> Shown:
    cases = {"constant": {"think": "fixed"}, "uniform on 0 to 2t": {"think": "uniform"}}
    table, title = figure_5_10(*_runs(quick)), "By distribution of computation times"
    return _transpose_figure("figure 5.10", title, table, cases, quick)


def _figure_5_11(quick: bool) -> Shown:
    cases = {
        "250 flits at once": {"packet_flits": 250},
        "10 packets of 25 flits": {"packet_flits": 25},
    }
    table = figure_5_11(*_runs(quick))
    return _transpose_figure("figure 5.11", "By packets", table, cases, quick, x="asked")


def _figure_5_12(quick: bool) -> Shown:
    mappings, applied = _runs(quick, MAPPINGS)
    panels = []
    for letter, nodes in (("A", 64), ("B", 256)):
        table = figure_5_12(mappings, applied, [nodes])
        cases = {graph: {"graph": graph} for graph in (*GRAPHS, UNIFORM)}
        panels.append(plot(f"{letter}. {nodes} nodes", AXES, _curves(table, cases)))
        panels.append(_beside_theory(f"{nodes} nodes, saturation", table, max(applied)))
    remarks = (
        "Theory, in parentheses in the thesis's legends, is netloom's static analysis of the same "
        "mappings; the thesis's values and its mapping are lost with the drawing.",
        f"Points are means of {mappings} random mappings, the thesis's of one.",
    )
    return Shown(panels, _rows("figure 5.12", quick), remarks)


def _beside_theory(title: str, table: pl.DataFrame, traffic: float) -> Plot:
    """Draw what gets through at the highest applied traffic, and saturation by static analysis."""
    top = table.filter(table["theory_average"].is_not_null(), applied=traffic)
    curves = []
    for part in ("average", "worst"):
        for name, column in (("simulated", f"{part}_node"), ("theory", f"theory_{part}")):
            means = [top.filter(graph=graph)[column].to_numpy().mean() for graph in GRAPHS]
            curves.append(curve(f"{part} node, {name}", list(GRAPHS), means))
    return plot(title, ("", ACTUAL_PERCENT), curves, form="bars")


def _figure_5_13(quick: bool) -> Shown:
    _, applied = _runs(quick)
    panels = []
    for letter, nodes in (("A", 64), ("B", 256)):
        curves = _curves(figure_5_13(2, applied, [nodes]), BY_GRAPH, {"worst_node": "worst node"})
        panels.append(plot(f"{letter}. {nodes} nodes", AXES, curves))
    return Shown(panels, _rows("figure 5.13", quick))


def _policy(item: str, policy: str, quick: bool) -> Shown:
    known = published("chittor-programs")["figures 5.14 to 5.16"]
    if quick:
        known = {**known, "mappings": QUICK_RUNS}
    found = POLICY_PARTS[item](known)
    known = {**known, "values": {name: known["values"][name] for name in found}}
    panels = []
    for each in (policy, "timestamp"):
        curves = _curves(_policy_runs(each, quick, known["mappings"]), BY_GRAPH)
        title = POLICIES[each] + ("" if each == policy else ", to compare with")
        panels.append(plot(title, AXES, curves))
    return Shown(panels, tuple(compare("chittor", "figures 5.14 to 5.16", known, found)))


def _policy_runs(policy: str, quick: bool, mappings: int) -> pl.DataFrame:
    if not quick:
        return _policy_sweep(policy, mappings)
    if policy in ("timestamp", "fifo"):  # as the rows have them
        table = arbitrated(mappings, (0.12, 0.18, 0.25, 0.4), "timestamp", "fifo")
        return table.filter(arbitration=policy)
    return arbitrated(mappings, (0.25, 0.4), policy)


@cache
def _policy_sweep(policy: str, mappings: int) -> pl.DataFrame:
    return figures_5_14_to_5_16(mappings, APPLIED, [policy])


POLICIES = {
    "fifo": "First come, first served",
    "biased": "Biased priority",
    "source": "Message-source priority",
    "timestamp": "Oldest message first",
}

EXHIBITS = {
    "fig-5.6": _figure_5_6,
    "fig-5.7": _figure_5_7,
    "fig-5.8": _figure_5_8,
    "fig-5.9": _figure_5_9,
    "fig-5.10": _figure_5_10,
    "fig-5.11": _figure_5_11,
    "fig-5.12": _figure_5_12,
    "fig-5.13": _figure_5_13,
    "fig-5.14": partial(_policy, "figure 5.14", "fifo"),
    "fig-5.15": partial(_policy, "figure 5.15", "biased"),
    "fig-5.16": partial(_policy, "figure 5.16", "source"),
}
"""What recomputes the figures of the chapter, by name."""
