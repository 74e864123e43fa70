"""Shahrabi, Ould-Khaoua & Mackenzie 2002: broadcasts on a torus, counted and simulated.

The text prints no latencies, so that what can be compared is what the model says exactly: trees,
zero-load latency, utilization. An independent flit-level simulation of the same configurations
stands in for the figure. It is not the paper's.

The figure is lost, so that no point of it can be compared. Its caption says what was varied, and
all of that is recomputed here, the model beside simulations.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.figures import MODELLED, Cell
from netloom.routing import DimensionOrder
from netloom.simulation.worm import Worm, WormEngine
from netloom.topology import torus
from netloom.workload.programs.messages import messages
from netloom.workload.programs.trees import branches, row_first
from netloom_papers.questions.predict.torus_broadcast.answer import ENDS_CYCLES
from netloom_papers.questions.predict.torus_broadcast.question import SIMULATED
from netloom_papers.questions.simulate.broadcast.question import simulate_broadcast
from netloom_papers.studies.exhibits import Shown
from netloom_papers.studies.panels import curve, grid, plot
from netloom_papers.studies.shahrabi_model import saturation_rate, solved
from netloom_papers.studies.validation import compare_all, run_side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.base.figures import Grid, Plot
    from netloom_papers.studies.validation import Part

ROUTER = {**SIMULATED, "injection_channels": 0, "ejection_channels": 0}
"""As many channels between a node and its router as the model has queues (eq. 26)."""

RADICES, FRACTIONS, VCS, FLITS = (8, 10, 16), (0.02, 0.04), (3, 4, 5), (16, 32, 48, 64)
"""What the caption of figure 1 says."""

LOADS = (0.2, 0.4, 0.6, 0.75, 0.9)
"""Where it is simulated: parts of the rate at which the model saturates."""

CURVE = np.array([*np.linspace(0.02, 0.9, 23), 0.93, 0.96, 0.98, 0.99])
"""The same for the model's curves."""


ON_TORI = "broadcasts on tori"


class Case(NamedTuple):
    """A torus, messages, virtual channels and the portion of broadcasts."""

    radix: int
    flits: int
    vcs: int
    fraction: float


class Scope(NamedTuple):
    """How much of the figure is simulated: virtual channels, loads and cycles of each point."""

    vcs: tuple[int, ...]
    loads: tuple[float, ...]
    cycles: int


FULL, QUICK = Scope(VCS, LOADS, 30_000), Scope((3,), (0.3, 0.8), 3_000)


def simulate_points(
    points: Sequence[tuple[int, int, int, float, float]], cycles: int, what: str
) -> list[dict[str, Any]]:
    """Return one row per configuration (k, M, V, β) and rate: mean latencies (cycles), utilization.

    ``comparable_latency`` is the unicast latency less ``ENDS_CYCLES``: the model's is M + d.
    """
    return run_side_by_side([partial(_simulate, *point, cycles, 1) for point in points], what)


def _simulate(
    radix: int, flits: int, vcs: int, fraction: float, rate: float, cycles: int, seed: int
) -> dict[str, Any]:
    simulated = simulate_broadcast(
        f"torus:{radix}x{radix}", rate=rate, broadcast=fraction, packet_flits=flits, vcs=vcs,
        cycles=cycles, seed=seed, **ROUTER,
    )  # fmt: skip
    if simulated.interrupted:
        raise KeyboardInterrupt
    run = simulated.point
    return {
        "radix": radix,
        "flits": flits,
        "vcs": vcs,
        "fraction": fraction,
        "rate": rate,
        "stable": run.stable,
        "unicast_latency": run.unicast.mean,
        "comparable_latency": run.unicast.mean - ENDS_CYCLES,
        "latency_ci95": run.unicast.ci95,
        "broadcast_latency": run.broadcast.mean,
        "hops": run.hops,
        "unicast_utilisation": run.class_utilisation[0],
        "broadcast_utilisation": run.class_utilisation[1],
    }


def _trees(known: Mapping[str, Any]) -> dict[str, Any]:
    """Copies that each node but the root sends on, and all messages of the tree."""
    found = {}
    for radix in known["radices"]:
        net = torus(radix, radix)
        tree = branches(net, 0, None, row_first(net))
        copies = np.bincount(tree.source, minlength=net.num_hosts)
        counts = np.bincount(copies[1:], minlength=4)
        for times, count in enumerate(counts):
            found[f"nodes that replicate {times} times, k = {radix}"] = count
        found[f"messages of a broadcast, k = {radix}"] = len(tree.source)
    return found


def _idle(known: Mapping[str, Any]) -> dict[str, Any]:
    """Latency with nothing in the way: of lockstep worms one by one, and of routers."""
    found = {}
    for radix, flits in known["cases"]:
        net = torus(radix, radix)
        apart = flits + 2 * radix
        targets = np.arange(1, net.num_hosts)
        engine = WormEngine(net, DimensionOrder(), Worm(release_cycles=0))
        engine.append(
            messages(
                net.num_hosts, source=0, target=targets, flits=flits,
                start=apart * np.arange(len(targets)),
            )
        )  # fmt: skip
        engine.advance(apart * (len(targets) + 1))
        latency = engine.rows["arrived"] - engine.rows["sent"]
        found[f"M + d, lockstep worms, k = {radix}, M = {flits}"] = latency.mean()
        (router,) = simulate_points(
            [(radix, flits, 3, 0.0, known["rate"])], known["cycles"], ON_TORI
        )
        found[f"M + d, routers, k = {radix}, M = {flits}"] = (
            # of the hops that the sample happened to have, those of the average pair
            router["comparable_latency"] - router["hops"] + engine.rows["hops"].mean()
        )
    return found


def _utilisation(known: Mapping[str, Any]) -> dict[str, Any]:
    """Flits a cycle on a channel, per message that a node generates in a cycle, over M."""
    found: dict[str, Any] = {}
    for radix, fraction in product(known["radices"], known["fractions"]):
        runs = [
            partial(_simulate, radix, 32, 3, fraction, known["rate"], known["cycles"], seed)
            for seed in range(1, known["seeds"] + 1)
        ]
        seen = run_side_by_side(runs)
        for kind in ("unicast", "broadcast"):
            found[f"{kind}, k = {radix}, β = {fraction}"] = [
                row[f"{kind}_utilisation"] / (32 * row["rate"]) for row in seen
            ]
    return found


def _latencies(known: Mapping[str, Any]) -> dict[str, Any]:
    cases = [case for case in known["cases"] if _name(*case) in known["values"]]
    seen = simulate_points(cases, known["cycles"], "against the independent simulation")
    return {_name(*case): row["comparable_latency"] for case, row in zip(cases, seen, strict=True)}


def _name(radix: int, flits: int, vcs: int, fraction: float, rate: float) -> str:
    return f"latency, k = {radix}, M = {flits}, V = {vcs}, β = {fraction}, λ = {rate:.4g}"


PARTS: dict[str, Part] = {
    "equation 2": _trees,
    "equation 12": _idle,
    "equations 4, 7 and 8": _utilisation,
    "independent simulation": _latencies,
}
"""What recomputes each item of the data file, from what the file says of it."""

rows = partial(compare_all, "shahrabi", "shahrabi", PARTS)


def _figure_1(quick: bool) -> Shown:
    scope = QUICK if quick else FULL
    cases = [Case(*each) for each in product(RADICES, FLITS, scope.vcs, FRACTIONS)]
    limits = {case: saturation_rate(*case) for case in cases}
    points = list(product(cases, scope.loads))
    rates = [(*case, load * limits[case]) for case, load in points]
    found = simulate_points(rates, scope.cycles, ON_TORI)
    seen = dict(zip(points, found, strict=True))
    panels = [
        _panel(radix, vcs, fraction, limits, seen)
        for radix, fraction, vcs in product(RADICES, FRACTIONS, scope.vcs)
    ]
    return Shown([*panels, _apart(limits, seen, scope)])


def _panel(
    radix: int,
    vcs: int,
    fraction: float,
    limits: Mapping[Case, float],
    seen: Mapping[tuple[Case, float], Mapping[str, Any]],
) -> Plot:
    """Latency by rate, a curve per length: the model's, and simulated points."""
    curves = []
    for flits in FLITS:
        case, series = Case(radix, flits, vcs, fraction), f"M = {flits}"
        rates = CURVE * limits[case]
        model = [float(solved(*case, rate).latency) for rate in rates.tolist()]
        curves.append(curve(series, rates, model, MODELLED))
        for (of, _), row in seen.items():
            if of == case:
                y, half = row["comparable_latency"], row["latency_ci95"]
                curves.append(curve(series, [row["rate"]], y, low=[y - half], high=[y + half]))
    axes = "λ, messages/node/cycle", "unicast latency, cycles"
    return plot(f"N = {radix} × {radix}, V = {vcs}, β = {fraction}", axes, curves)


def _apart(
    limits: Mapping[Case, float], seen: Mapping[tuple[Case, float], Mapping[str, Any]], scope: Scope
) -> Grid:
    """How far the model is from simulations: means over all lengths, portions and channels."""
    cells = {}
    for radix, load in product(RADICES, scope.loads):
        off = [
            abs(float(solved(*case, load * limits[case]).latency) / row["comparable_latency"] - 1)
            for (case, at), row in seen.items()
            if case.radix == radix and at == load
        ]
        cells[f"{radix} × {radix}", f"{100 * load:.0f} %"] = Cell(None, float(100 * np.mean(off)))
    title = "Model from simulation, % of the latency, by load (of the model's saturation)"
    return grid(title, cells, head="torus")


EXHIBITS = {"fig-1": _figure_1}
"""What recomputes the paper's one figure."""
