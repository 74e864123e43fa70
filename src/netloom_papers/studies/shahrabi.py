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
from dataclasses import fields
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from netloom.routing import DimensionOrder
from netloom.topology import torus
from netloom.workload.programs.messages import messages
from netloom.workload.programs.traces import branches
from netloom_papers.exhibits import MODELLED, Cell, curve, grid, plot
from netloom_papers.ledger import Drawn, Found, Item, Known, Made, in_order
from netloom_papers.models.published_torus import VARIANTS, Corrections
from netloom_papers.models.torus_broadcasts import TorusBroadcast, Variant, torus_broadcast
from netloom_papers.programs.broadcast import BroadcastRun
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES, SIMULATED
from netloom_papers.questions.simulate.broadcast import simulate_broadcast
from netloom_papers.studies.running import run_side_by_side
from netloom_papers.worms import Worm, WormEngine

ROUTER = {**SIMULATED, "injection_channels": 0, "ejection_channels": 0}
"""As many channels between a node and its router as the model has queues (eq. 26)."""

RADICES, FRACTIONS, VCS, FLITS = (8, 10, 16), (0.02, 0.04), (3, 4, 5), (16, 32, 48, 64)
"""What the caption of figure 1 says."""

CURVE = np.array([*np.linspace(0.02, 0.9, 23), 0.93, 0.96, 0.98, 0.99])
"""Parts of the rate at which the model saturates, for its curves."""


ON_TORI = "broadcasts on tori"


ONE_BY_ONE = (
    Corrections(),
    *(Corrections(**{each.name: True}) for each in fields(Corrections)),
    VARIANTS["consistent"],
)
"""None, each one and all, in the order of the data file."""


# -- counted and simulated ------------------------------------------------------------------------


def simulated(point: Sequence[Any], cycles: int, seed: int = 1) -> BroadcastRun:
    """Return a run at a point: a torus k, messages M, virtual channels V, portion β and rate λ."""
    radix, *others = point
    asked = dict(zip(("packet_flits", "vcs", "broadcast", "rate"), others, strict=True))
    net = f"torus:{radix}x{radix}"
    return simulate_broadcast(net, **asked, cycles=cycles, seed=seed, **ROUTER).point


def simulate_points(points: Iterable[Sequence[Any]], cycles: int, what: str) -> list[BroadcastRun]:
    """Return a run at each point."""
    return run_side_by_side([partial(simulated, point, cycles) for point in points], what)


def comparable(run: BroadcastRun) -> float:
    """Return the unicast latency less ``ENDS_CYCLES``: the model's is M + d."""
    return run.unicast.mean - ENDS_CYCLES


def _trees(known: Known) -> Found:
    """Copies that each node but the root sends on, and all messages of the tree."""
    found: list[int] = []
    for radix in known["radices"]:
        net = torus(radix, radix)
        tree = branches(net, 0)
        copies = np.bincount(tree.source, minlength=net.num_hosts)
        found += [*np.bincount(copies[1:], minlength=4), len(tree.source)]
    return in_order(known, found)


def _idle(known: Known) -> Found:
    """Latency with nothing in the way: of lockstep worms one by one, and of routers."""
    found = []
    for radix, flits in known["cases"]:
        net = torus(radix, radix)
        apart, targets = flits + 2 * radix, np.arange(1, net.num_hosts)
        start = apart * np.arange(len(targets))
        engine = WormEngine(net, DimensionOrder(), Worm(release_cycles=0))
        engine.append(messages(net.num_hosts, source=0, target=targets, flits=flits, start=start))
        engine.advance(apart * (len(targets) + 1))
        point = radix, flits, 3, 0.0, known["rate"]
        (run,) = simulate_points([point], known["cycles"], ON_TORI)
        # of the hops that the sample happened to have, those of the average pair
        latency = comparable(run) - (run.hops or 0.0) + engine.rows["hops"].mean()
        found += [(engine.rows["arrived"] - engine.rows["sent"]).mean(), latency]
    return in_order(known, found)


def _utilisation(known: Known) -> Found:
    """Flits a cycle on a channel, per message that a node generates in a cycle, over M."""
    for radix, fraction in product(known["radices"], known["fractions"]):
        runs = [
            partial(simulated, (radix, 32, 3, fraction, known["rate"]), known["cycles"], seed)
            for seed in range(1, known["seeds"] + 1)
        ]
        seen = run_side_by_side(runs, ON_TORI)
        for kind in ("unicast", "broadcast"):
            used = [getattr(run, f"utilisation_{kind}") / (32 * run.rate) for run in seen]
            yield f"{kind}, k = {radix}, β = {fraction}", used


def _latencies(known: Known) -> Found:
    what = "against the independent simulation"
    runs = simulate_points(known["cases"], known["cycles"], what)
    return in_order(known, [comparable(run) for run in runs])


# -- the model ------------------------------------------------------------------------------------


def _traffic(known: Known) -> Found:
    """Broadcast traffic of a channel as printed, over that of a tree of k² − 1 messages."""
    printed, tree = (
        [solved((k, 32, 3, 0.04, 1e-4), each).broadcast_channel_rate for k in known["radices"]]
        for each in VARIANTS
    )
    return in_order(known, np.divide(printed, tree))


def _one_by_one(known: Known) -> Found:
    return in_order(known, [saturation_rate(known["case"], each) for each in ONE_BY_ONE])


def _fold(known: Known) -> Found:
    rate = known["load"] * saturation_rate(known["case"])
    found = solved((*known["case"], rate))
    return in_order(known, [found.channel_rate * found.service_time])


def _saturation(known: Known) -> Found:
    networks = product(known["radices"], known["flits"], known["vcs"], known["fractions"])
    found = [saturation_rate(each, variant) for each, variant in product(networks, VARIANTS)]
    return in_order(known, found)


def _solved_latencies(known: Known) -> Found:
    """Latencies at the loads of the independent simulation, where there is a solution."""
    found = [each.latency for each in _solved(known) if not each.saturated]
    return in_order(known, found)


def _between(known: Known) -> Found:
    """L, S_u, S_b, S, W_s, V, λ_c, λ_c S and P_V of each case."""
    found: list[Any] = []
    for answer in _solved(known):
        found += [answer.latency, answer.network_latency, answer.broadcast_service]
        found += [answer.service_time, answer.source_wait, answer.vc_multiplexing]
        found += [answer.channel_rate, answer.channel_rate * answer.service_time]
        found.append(answer.held_vcs[-1])
    return in_order(known, found)


def _solved(known: Known) -> list[TorusBroadcast]:
    return [solved(case, variant) for case, variant in product(known["cases"], VARIANTS)]


def solved(point: Sequence[Any], variant: Variant | Corrections = "printed") -> TorusBroadcast:
    """Return the model's answer at a point, as ``simulated`` has it."""
    radix, flits, vcs, fraction, rate = point
    return torus_broadcast(
        radix, message_flits=flits, vcs=vcs, broadcast=fraction, rate=rate, variant=variant
    )


def saturation_rate(network: Sequence[Any], variant: Variant | Corrections = "printed") -> float:
    """Return the rate λ at which the model of a torus k, with M, V and β, saturates."""
    return solved((*network, 0.0), variant).saturation_rate


# -- figure 1 -------------------------------------------------------------------------------------


def _draw_figure_1(made: Made) -> Drawn:
    vcs_shown, loads = made.known["vcs"], made.known["loads"]
    cases = list(product(RADICES, FLITS, vcs_shown, FRACTIONS))
    limits = {case: saturation_rate(case) for case in cases}
    points = list(product(cases, loads))
    rates = [(*case, load * limits[case]) for case, load in points]
    found = simulate_points(rates, made.known["cycles"], ON_TORI)
    seen = dict(zip(points, found, strict=True))
    for radix, fraction, vcs in product(RADICES, FRACTIONS, vcs_shown):
        curves = []
        for flits in FLITS:
            case, series = (radix, flits, vcs, fraction), f"M = {flits}"
            at = CURVE * limits[case]
            model = [float(solved((*case, rate)).latency) for rate in at.tolist()]
            curves.append(curve(series, at, model, MODELLED))
            for run in (seen[case, load] for load in loads):
                y, half = comparable(run), run.unicast.ci95
                curves.append(curve(series, [run.rate], y, low=[y - half], high=[y + half]))
        axes = "λ, messages/node/cycle", "unicast latency, cycles"
        yield plot(f"N = {radix} × {radix}, V = {vcs}, β = {fraction}", axes, curves)
    # how far the model is from simulations: means over all lengths, portions and channels
    cells = {}
    for radix, load in product(RADICES, loads):
        off = [
            abs(float(solved((*case, load * limits[case])).latency) / comparable(run) - 1)
            for (case, at_load), run in seen.items()
            if case[0] == radix and at_load == load
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
