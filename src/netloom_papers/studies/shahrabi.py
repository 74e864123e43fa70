"""Shahrabi, Ould-Khaoua & Mackenzie 2002: broadcasts on a torus, counted, simulated and modeled.

The text prints no latencies, so that what can be compared is what the model says exactly: trees,
zero-load latency, utilization. An independent flit-level simulation of the same configurations
stands in for the figure. It is not the paper's.

The paper prints no number of its model either. So netloom is compared with an independent solution
of the same equations. Agreement shows that both were read and solved alike. It does not show that
the paper's figure is matched or that the model is good. For that, see the simulations.

The figure is lost, so that no point of it can be compared. Its caption says what was varied, and
all of that is recomputed here, the model beside simulations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from netloom.routing import DimensionOrder
from netloom.topology import torus
from netloom.workload.programs.messages import messages
from netloom.workload.programs.traces import branches, row_first
from netloom_papers.exhibits import MODELLED, Cell, curve, grid, plot
from netloom_papers.ledger import Drawn, Found, Item, Known, Made
from netloom_papers.models.published_torus import (
    VARIANTS,
    Corrections,
    PublishedTorus,
    published_saturation,
    published_torus,
)
from netloom_papers.programs.broadcast import BroadcastRun
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES, SIMULATED
from netloom_papers.questions.simulate.broadcast import simulate_broadcast
from netloom_papers.studies.running import run_side_by_side
from netloom_papers.worms import Worm, WormEngine

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


ONE_BY_ONE = {
    "none (printed)": Corrections(),
    "eq. 11": Corrections(replicas=True),
    "eq. 16": Corrections(escape_channel=True),
    "eq. 24, a hop": Corrections(broadcast_hop=True),
    "eq. 25, P_d": Corrections(broadcast_blocking=True),
    "eq. 6, d of other nodes": Corrections(other_nodes=True),
    "eq. 27": Corrections(source_weights=True),
    "all (consistent)": VARIANTS["consistent"],
}
"""Corrections by the equation that they change."""


# -- counted and simulated ------------------------------------------------------------------------


def simulated(point: Sequence[Any], cycles: int, seed: int = 1) -> BroadcastRun:
    """Return a run at a point: a torus k, messages M, virtual channels V, portion β and rate λ."""
    radix, flits, vcs, fraction, rate = point
    return simulate_broadcast(
        f"torus:{radix}x{radix}", rate=rate, broadcast=fraction, packet_flits=flits, vcs=vcs,
        cycles=cycles, seed=seed, **ROUTER,
    ).point  # fmt: skip


def simulate_points(points: Iterable[Sequence[Any]], cycles: int, what: str) -> list[BroadcastRun]:
    """Return a run at each point."""
    return run_side_by_side([partial(simulated, point, cycles) for point in points], what)


def comparable(run: BroadcastRun) -> float:
    """Return the unicast latency less ``ENDS_CYCLES``: the model's is M + d."""
    return run.unicast.mean - ENDS_CYCLES


def _trees(known: Known) -> Found:
    """Copies that each node but the root sends on, and all messages of the tree."""
    for radix in known["radices"]:
        net = torus(radix, radix)
        tree = branches(net, 0, None, row_first(net))
        copies = np.bincount(tree.source, minlength=net.num_hosts)
        counts = np.bincount(copies[1:], minlength=4)
        for times, count in enumerate(counts):
            yield f"nodes that replicate {times} times, k = {radix}", count
        yield f"messages of a broadcast, k = {radix}", len(tree.source)


def _idle(known: Known) -> Found:
    """Latency with nothing in the way: of lockstep worms one by one, and of routers."""
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
        yield f"M + d, lockstep worms, k = {radix}, M = {flits}", latency.mean()
        point = radix, flits, 3, 0.0, known["rate"]
        (run,) = simulate_points([point], known["cycles"], ON_TORI)
        # of the hops that the sample happened to have, those of the average pair
        latency = comparable(run) - (run.hops or 0.0) + engine.rows["hops"].mean()
        yield f"M + d, routers, k = {radix}, M = {flits}", latency


def _utilisation(known: Known) -> Found:
    """Flits a cycle on a channel, per message that a node generates in a cycle, over M."""
    for radix, fraction in product(known["radices"], known["fractions"]):
        runs = [
            partial(simulated, (radix, 32, 3, fraction, known["rate"]), known["cycles"], seed)
            for seed in range(1, known["seeds"] + 1)
        ]
        seen = run_side_by_side(runs, ON_TORI)
        for at, kind in enumerate(("unicast", "broadcast")):
            used = [run.class_utilisation[at] / (32 * run.rate) for run in seen]
            yield f"{kind}, k = {radix}, β = {fraction}", used


def _latencies(known: Known) -> Found:
    names = {
        f"latency, {_name(*case)}, λ = {rate:.4g}": (*case, rate) for *case, rate in known["cases"]
    }
    cases = {name: case for name, case in names.items() if name in known["values"]}
    seen = simulate_points(cases.values(), known["cycles"], "against the independent simulation")
    for name, run in zip(cases, seen, strict=True):
        yield name, comparable(run)


def _name(radix: int, flits: int, vcs: int, fraction: float) -> str:
    return f"k = {radix}, M = {flits}, V = {vcs}, β = {fraction}"


# -- the model ------------------------------------------------------------------------------------


def _traffic(known: Known) -> Found:
    """Broadcast traffic of a channel as printed, over that of a tree of k² − 1 messages."""
    for radix in known["radices"]:
        printed, tree = (
            answer.broadcast_channel_rate + answer.replica_channel_rate
            for answer in (solved(radix, 32, 3, 0.04, 1e-4, variant) for variant in VARIANTS)
        )
        yield f"printed over correct broadcast traffic, k = {radix}", printed / tree


def _one_by_one(known: Known) -> Found:
    radix, flits, vcs, fraction = known["case"]
    for name, corrections in ONE_BY_ONE.items():
        rate = saturation_rate(radix, flits, vcs, fraction, corrections)
        yield f"saturation rate, corrected: {name}", rate


def _fold(known: Known) -> Found:
    radix, flits, vcs, fraction = known["case"]
    rate = known["load"] * saturation_rate(radix, flits, vcs, fraction)
    found = solved(radix, flits, vcs, fraction, rate)
    name = f"λ_c S at {known['load']} of saturation"
    yield name, found.channel_rate * found.service_time


def _saturation(known: Known) -> Found:
    networks = product(known["radices"], known["flits"], known["vcs"], known["fractions"])
    for (k, m, v, b), variant in product(networks, VARIANTS):
        rate = saturation_rate(k, m, v, b, variant)
        yield f"saturation rate, {variant}, {_name(k, m, v, b)}", rate


def _solved_latencies(known: Known) -> Found:
    """Latencies at the loads of the independent simulation, where there is a solution."""
    for (k, m, v, b, rate), variant in product(known["cases"], VARIANTS):
        name = f"latency, {variant}, {_name(k, m, v, b)}, λ = {rate:.4g}"
        if name in known["values"]:
            yield name, solved(k, m, v, b, rate, variant).latency


def _between(known: Known) -> Found:
    for (k, m, v, b, rate), variant in product(known["cases"], VARIANTS):
        answer = solved(k, m, v, b, rate, variant)
        quantities = {
            "L": answer.latency,
            "S_u": answer.network_latency,
            "S_b": answer.broadcast_network_latency,
            "S": answer.service_time,
            "W_s": answer.source_wait,
            "V": answer.vc_multiplexing,
            "λ_c": answer.channel_rate,
            "λ_c S": answer.channel_rate * answer.service_time,
            "P_V": answer.busy_vcs[-1],
        }
        case = f"{variant}, {_name(k, m, v, b)}, λ = {rate:.4g}"
        for symbol, value in quantities.items():
            yield f"{symbol}, {case}", value


def solved(
    radix: int, flits: int, vcs: int, fraction: float, rate: float, variant: str = "printed"
) -> PublishedTorus:
    """Return the model's answer of a torus k, messages M, virtual channels V, portion β and λ."""
    return published_torus(
        radix, message_flits=flits, vcs=vcs, broadcast=fraction, rate=rate, variant=variant
    )


def saturation_rate(
    radix: int, flits: int, vcs: int, fraction: float, variant: str | Corrections = "printed"
) -> float:
    """Return the rate λ at which the model saturates."""
    return published_saturation(
        radix, message_flits=flits, vcs=vcs, broadcast=fraction, variant=variant
    )


# -- figure 1 -------------------------------------------------------------------------------------


def _draw_figure_1(made: Made) -> Drawn:
    scope = QUICK if made.quick else FULL
    cases = [Case(*each) for each in product(RADICES, FLITS, scope.vcs, FRACTIONS)]
    limits = {case: saturation_rate(*case) for case in cases}
    points = list(product(cases, scope.loads))
    rates = [(*case, load * limits[case]) for case, load in points]
    found = simulate_points(rates, scope.cycles, ON_TORI)
    seen = dict(zip(points, found, strict=True))
    for radix, fraction, vcs in product(RADICES, FRACTIONS, scope.vcs):
        curves = []
        for flits in FLITS:
            case, series = Case(radix, flits, vcs, fraction), f"M = {flits}"
            at = CURVE * limits[case]
            model = [float(solved(*case, rate).latency) for rate in at.tolist()]
            curves.append(curve(series, at, model, MODELLED))
            for run in (seen[case, load] for load in scope.loads):
                y, half = comparable(run), run.unicast.ci95
                curves.append(curve(series, [run.rate], y, low=[y - half], high=[y + half]))
        axes = "λ, messages/node/cycle", "unicast latency, cycles"
        yield plot(f"N = {radix} × {radix}, V = {vcs}, β = {fraction}", axes, curves)
    # how far the model is from simulations: means over all lengths, portions and channels
    cells = {}
    for radix, load in product(RADICES, scope.loads):
        off = [
            abs(float(solved(*case, load * limits[case]).latency) / comparable(run) - 1)
            for (case, at_load), run in seen.items()
            if case.radix == radix and at_load == load
        ]
        cells[f"{radix} × {radix}", f"{100 * load:.0f} %"] = Cell(None, float(100 * np.mean(off)))
    title = "Model from simulation, % of the latency, by load (of the model's saturation)"
    yield grid(title, cells, head="torus")


ITEMS = (
    Item("equation 2", _trees),
    Item("equation 12", _idle),
    Item("equations 4, 7 and 8", _utilisation),
    Item("independent simulation", _latencies),
    Item("equation 11", _traffic),
    Item("saturation, one correction at a time", _one_by_one),
    Item("the fold", _fold),
    Item("saturation", _saturation),
    Item("equation 1", _solved_latencies),
    Item("equations 4 to 31", _between),
    Item("figure 1", draw=_draw_figure_1),
)
"""What needs no equation to be solved, then the model's, then both."""
