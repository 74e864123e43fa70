"""Shahrabi, Ould-Khaoua & Mackenzie 2002: broadcasts on a torus, counted and simulated.

The text prints no latencies (its figure is lost), so that what can be compared is what the model
says exactly: trees, zero-load latency, utilisation. An independent flit-level simulation of the
same configurations stands in for the figure; it is not the paper's.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.progress import counting
from netloom.questions.predict.torus_broadcast.answer import ENDS_CYCLES
from netloom.questions.predict.torus_broadcast.question import SIMULATED
from netloom.questions.simulate.broadcast.question import simulate_broadcast
from netloom.routing import DimensionOrder
from netloom.simulation.worm import Worm, WormEngine
from netloom.studies.comparing import compare_all, run_side_by_side
from netloom.studies.validation import published
from netloom.topology import torus
from netloom.workload.programs.messages import messages
from netloom.workload.programs.trees import branches, row_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from netloom.studies.comparing import Part
    from netloom.studies.validation import Row

ROUTER = {**SIMULATED, "injection_channels": 0, "ejection_channels": 0}
"""As many channels between a node and its router as the model has queues (eq. 26)."""


def rows(known: Mapping[str, Any] | None = None) -> Iterator[Row]:
    """Yield what the model says exactly, and the latencies of the independent simulation.

    Parameters
    ----------
    known
        The data file's content; another one has other cycles, seeds or fewer configurations.
    """
    printed = published("shahrabi") if known is None else known
    yield from compare_all("shahrabi", printed, PARTS)


def figure_1(
    configurations: Sequence[tuple[int, int, int, float]],
    rates: Sequence[float],
    **options: Any,
) -> pl.DataFrame:
    """Return one row a configuration (k, M, V, β) and rate: mean latencies in cycles, utilisation.

    ``comparable_latency`` is the unicast latency less ``ENDS_CYCLES``: the model's is M + d.
    """
    import polars as pl

    cases = list(product(configurations, rates))
    with counting(len(cases), "broadcasts on tori") as tell:
        found = run_side_by_side(
            [
                partial(simulate_point, *configuration, rate, options)
                for configuration, rate in cases
            ],
            tell,
        )
    return pl.DataFrame(found)


def simulate_point(
    radix: int, flits: int, vcs: int, fraction: float, rate: float, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a row of ``figure_1``; the options are those of ``simulate_broadcast``."""
    simulated = simulate_broadcast(
        f"torus:{radix}x{radix}", rate=rate, broadcast=fraction, packet_flits=flits, vcs=vcs,
        **ROUTER, **options,
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
        copies = np.bincount(tree.source, minlength=net.num_nodes)
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
        targets = np.arange(1, net.num_nodes)
        engine = WormEngine(net, DimensionOrder(), Worm(release_cycles=0))
        engine.append(
            messages(
                net.num_nodes, source=0, target=targets, flits=flits,
                start=apart * np.arange(len(targets)),
            )
        )  # fmt: skip
        engine.advance(apart * (len(targets) + 1))
        latency = engine.rows["arrived"] - engine.rows["sent"]
        found[f"M + d, lockstep worms, k = {radix}, M = {flits}"] = latency.mean()
        router = figure_1([(radix, flits, 3, 0.0)], [known["rate"]], cycles=known["cycles"])
        found[f"M + d, routers, k = {radix}, M = {flits}"] = (
            # of the hops that the sample happened to have, those of the average pair
            router["comparable_latency"][0] - router["hops"][0] + engine.rows["hops"].mean()
        )
    return found


def _utilisation(known: Mapping[str, Any]) -> dict[str, Any]:
    """Flits a cycle on a channel, per message that a node generates in a cycle, over M."""
    found: dict[str, Any] = {}
    for radix, fraction in product(known["radices"], known["fractions"]):
        runs = [
            partial(simulate_point, radix, 32, 3, fraction, known["rate"],
                    {"cycles": known["cycles"], "seed": seed})
            for seed in range(1, known["seeds"] + 1)
        ]  # fmt: skip
        seen = run_side_by_side(runs, lambda _: None)
        for kind in ("unicast", "broadcast"):
            found[f"{kind}, k = {radix}, β = {fraction}"] = [
                row[f"{kind}_utilisation"] / (32 * row["rate"]) for row in seen
            ]
    return found


def _latencies(known: Mapping[str, Any]) -> dict[str, Any]:
    cases = [case for case in known["cases"] if _name(*case) in known["values"]]
    options = {"cycles": known["cycles"], "seed": 1}
    with counting(len(cases), "against the independent simulation") as tell:
        runs = [partial(simulate_point, k, m, v, b, rate, options) for k, m, v, b, rate in cases]
        seen = run_side_by_side(runs, tell)
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
