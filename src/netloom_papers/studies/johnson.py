"""Johnson 1992: the message curves of Alewife's block-multithreaded processors, simulated.

Everything is in network cycles. The transactions are ``protocols.coherence`` and
``protocols.request_reply``. T_f is a plain delay. The instruction-level behavior of Alewife, its
caches and its LimitLESS directory are not simulated, nor is the paper's network model here.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from netloom.contention import measure
from netloom.mapping import random_mapping
from netloom.routing import DimensionOrder
from netloom.topology import average_distance, torus
from netloom.workload import read
from netloom_papers.programs.transactions import Transactions
from netloom_papers.questions.simulate.transactions.question import simulate_transactions
from netloom_papers.studies.validation import compare_all, run_side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from netloom.base.arrays import Floats
    from netloom_papers.studies.validation import Part

RUN_CYCLES, FIXED_CYCLES = 16, 78
"""T_r and T_f. Neither is printed: an independent reproduction finds T_r + T_f = 94 from table 1,
and a T_f of two thirds of the fixed part from figure 8."""

DISTANCES = (1, 2, 3, 4, 5, 6)
CONTEXTS = (1, 2, 4)
Protocol: TypeAlias = Literal["coherence", "request-reply"]

PROTOCOLS: tuple[Protocol, ...] = ("coherence", "request-reply")

ROUTERS: dict[str, dict[str, Any]] = {
    "buffered": {"router": "single-cycle", "channel_cycles": 0, "vcs": 8, "buffer_flits": 24},
    "wormhole": {"router": "single-cycle", "channel_cycles": 0, "vcs": 2, "buffer_flits": 4},
}
"""``buffered``: the "moderate amount of buffering" of section 3.1, as Agarwal's network model has
it: a blocked message waits in one buffer, which holds all of it. ``wormhole``: as little as e-cube
routing on a torus needs."""


def figures_3_to_5(
    seeds: int,
    protocols: Sequence[Protocol] = PROTOCOLS,
    routers: Sequence[str] = tuple(ROUTERS),
    distances: Sequence[float] = DISTANCES,
) -> pl.DataFrame:
    """Return one row per run on an 8 x 8 torus: what figures 3, 4 and 5 plot.

    ``inter_message_cycles`` t_m, ``message_latency`` T_m, ``message_rate`` r_m and ``distance`` d,
    by protocol, router, contexts p and seed.
    """
    return _runs(seeds, tuple(protocols), tuple(routers), tuple(distances))


@cache
def _runs(
    seeds: int, protocols: Sequence[Protocol], routers: Sequence[str], distances: Sequence[float]
) -> pl.DataFrame:
    import polars as pl

    cases = list(product(protocols, routers, CONTEXTS, range(1, seeds + 1), distances))
    runs = [partial(_run, *case) for case in cases]
    return pl.DataFrame(run_side_by_side(runs, "transactions on torus:8x8"))


def _run(
    protocol: Protocol, router: str, contexts: int, seed: int, distance: float
) -> dict[str, Any]:
    simulated = simulate_transactions(
        "torus:8x8", app="torus:8x8", mapping=f"distance:{distance:g}", contexts=contexts,
        run_cycles=RUN_CYCLES, fixed_cycles=FIXED_CYCLES, protocol=protocol, seed=seed,
        **ROUTERS[router],
    )  # fmt: skip
    if simulated.interrupted:
        raise KeyboardInterrupt
    return {
        "protocol": protocol,
        "router": router,
        "contexts": contexts,
        "seed": seed,
        "distance": simulated.distance,
        "message_rate": simulated.found.message_rate,
        "inter_message_cycles": 1 / simulated.found.message_rate,
        "message_latency": simulated.found.message_latency,
        "messages_per_transaction": simulated.found.messages / simulated.found.transactions,
    }


def message_curves(table: pl.DataFrame) -> pl.DataFrame:
    """Return the lines T_m = s t_m - K / c through the points of each seed (eq. 9).

    By protocol, router, contexts and seed: ``slope`` s, ``critical_path`` c = p g / s, the
    ``grain`` T_r + T_f that they imply, and ``r_squared``.
    """
    import polars as pl

    found = []
    by = ("protocol", "router", "contexts", "seed")
    for key, part in table.group_by(by, maintain_order=True):
        between, latency = part["inter_message_cycles"], part["message_latency"]
        slope, intercept = np.polyfit(between, latency, 1)
        messages = part["messages_per_transaction"].to_numpy().mean()
        critical_path = float(part["contexts"][0]) * messages / slope
        found.append(
            dict(zip(by, key, strict=True))
            | {
                "slope": slope,
                "critical_path": critical_path,
                "grain": -intercept * critical_path,
                "r_squared": np.corrcoef(between, latency)[0, 1] ** 2,
            }
        )
    return pl.DataFrame(found)


def _messages(_: Mapping[str, Any]) -> dict[str, Any]:
    """Counted in the program: a pass of all threads is a whole number of transactions."""
    program = Transactions(read("torus:8x8"), range(64), 64, run_cycles=RUN_CYCLES)
    table = program.extend(np.zeros(0, np.int64), until=1)
    sent = table.flits > 0
    return {
        "g, messages a transaction": np.count_nonzero(sent) / np.count_nonzero(~sent),
        "B, flits a message": table.flits[sent].mean(),
    }


def _distances(known: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        f"d of random nodes, k = {k}": average_distance(torus(k, k)) for k in known["radices"]
    }
    graph, net = read("torus:8x8"), torus(8, 8)
    lengths = []
    for seed in range(1, known["mappings"] + 1):
        node_of = random_mapping(64, 64, seed)
        routed = measure(net, DimensionOrder(), node_of[graph.source], node_of[graph.target])
        lengths.append(routed.path_length.mean())
    return found | {"d of random mappings, 64 nodes": lengths}


def _curves(protocol: Protocol, known: Mapping[str, Any]) -> dict[str, Any]:
    routers, distances = known.get("routers", tuple(ROUTERS)), known.get("distances", DISTANCES)
    lines = message_curves(figures_3_to_5(known["seeds"], (protocol,), routers, distances))
    found: dict[str, Any] = {}
    for router in routers:

        def figure(name: str, contexts: int, router: str = router) -> Floats:
            chosen = lines.filter(router=router, contexts=contexts).sort("seed")
            return chosen[name].to_numpy()

        for contexts in CONTEXTS:
            found[f"{router}, R² for p = {contexts}"] = figure("r_squared", contexts)
        for contexts in CONTEXTS[1:]:
            ratio = figure("slope", contexts) / figure("slope", 1)
            found[f"{router}, slope for p = {contexts} over p = 1"] = ratio
        if protocol == "coherence":  # the paper's application
            found[f"{router}, slope for p = 2"] = figure("slope", 2)
            path = figure("critical_path", 4) / figure("critical_path", 1)
            found[f"{router}, c for p = 4 over p = 1"] = path
        found[f"{router}, T_r + T_f from the line, p = 1 (cycles)"] = figure("grain", 1)
    return found


PARTS: dict[str, Part] = {
    "section 3.2": _messages,
    "equation 17": _distances,
    "figure 3, coherence": partial(_curves, "coherence"),
    "figure 3, request-reply": partial(_curves, "request-reply"),
}
"""What recomputes each item of the data file, from what the file says of it."""

rows = partial(compare_all, "johnson", "johnson", PARTS)
