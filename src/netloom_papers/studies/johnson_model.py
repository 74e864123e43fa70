"""Johnson 1992: what the paper prints of its locality model, recomputed.

The paper leaves out most parameters of its program. ``models.alewife`` has them as they were
inferred, with their sources. For one context, c and T_r + T_f come from table 1. For two and for
four, T_r + T_f comes from one statement each, and c from printed numbers. T_f comes from a share in
figure 8. Rows whose numbers were used for this are marked, and prove only that the model can
produce them together. Two parameters give all eight gains of table 1. All other rows are
predictions.

Table 1 is without contention for the nodes' own channels, and so are the other rows, except those
that are about it: these have one M/D/1 queue a message.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom_papers.models.locality import alewife, expected_gain, per_hop_limit, predict_locality
from netloom_papers.models.locality_parts import Application, random_distance
from netloom_papers.studies.validation import compare_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import ArrayLike

    from netloom_papers.models.locality import Locality
    from netloom_papers.studies.validation import Part

CONTEXTS = (1, 2, 4)
SPEEDS = {"2x faster": 2, "same": 1, "2x slower": 0.5, "4x slower": 0.25}
SIZES = {"10³": 1e3, "10⁶": 1e6}
DISTANCES = (1, 2, 3, 4, 5, 6)
NODES = np.logspace(1, 6, 51)
TIMES = {
    "variable_message": "variable message overhead",
    "fixed_message": "fixed message overhead",
    "fixed_transaction": "fixed transaction overhead",
    "work": "actual CPU cycles",
}
"""The parts of t_t, as figure 8 calls them."""


def figures_3_to_5(distances: Sequence[float] = DISTANCES, node_channels: int = 1) -> pl.DataFrame:
    """Return the model's t_m, T_m, r_m and d by contexts p, named as those that are simulated.

    With one node channel, which the paper's curves include in some form (section 2.4).
    """
    import polars as pl

    parts = []
    for contexts in CONTEXTS:
        found = predict_locality(*alewife(contexts, node_channels=node_channels), distances)
        columns = {
            "distance": found.distance,
            "message_rate": found.message_rate,
            "inter_message_cycles": 1 / found.message_rate,
            "message_latency": found.message_latency,
        }
        parts.append(pl.DataFrame(columns).insert_column(0, pl.lit(contexts).alias("contexts")))
    return pl.concat(parts)


def figure_6(nodes: ArrayLike = NODES, grains: Sequence[float] = (1, 10)) -> pl.DataFrame:
    """Return T_h by number of processors and grain, in multiples of T_r, for two contexts."""
    import polars as pl

    size = np.asarray(nodes, np.float64)
    parts = []
    for grain in grains:
        found = _at_random(size, 2, grain)
        limit = float(per_hop_limit(*alewife(2)))
        columns = {"nodes": size, "per_hop_latency": found.per_hop_latency}
        parts.append(
            pl.DataFrame(columns).with_columns(pl.lit(grain).alias("grain"), limit=pl.lit(limit))
        )
    return pl.concat(parts)


def figure_7(nodes: ArrayLike = NODES) -> pl.DataFrame:
    """Return the expected gain by number of processors and contexts."""
    import polars as pl

    size = np.asarray(nodes, np.float64)
    parts = [
        pl.DataFrame({"nodes": size, "gain": expected_gain(*alewife(contexts), nodes=size)})
        .with_columns(pl.lit(contexts).alias("contexts"))
        for contexts in CONTEXTS
    ]  # fmt: skip
    return pl.concat(parts)


def figure_8(nodes: float = 1000) -> pl.DataFrame:
    """Return the parts of t_t, network cycles, by contexts and mapping (eq. 18)."""
    import polars as pl

    found = []
    for contexts in CONTEXTS:
        ideal_and_random = _both(nodes, contexts)
        for index, mapping in enumerate(("ideal", "random")):
            for part in TIMES:
                cycles = getattr(ideal_and_random, f"{part}_cycles")[index]
                found.append(
                    {"contexts": contexts, "mapping": mapping, "part": part, "cycles": cycles}
                )
    return pl.DataFrame(found)


def _at_random(nodes: ArrayLike, contexts: int, grain: float = 1) -> Locality:
    """Random mappings, with ``grain`` times the useful work."""
    application, transaction, network = alewife(contexts)
    longer = Application(
        grain * np.asarray(application.run_processor_cycles, np.float64),
        contexts,
        application.switch_processor_cycles,
    )
    far = random_distance(nodes, network.dimensions)
    return predict_locality(longer, transaction, network, far)


def _both(nodes: float, contexts: int, node_channels: int = 0) -> Locality:
    """The ideal mapping and a random one."""
    distances = np.array([1.0, float(random_distance(nodes, 2))])
    return predict_locality(*alewife(contexts, node_channels=node_channels), distances)


def _table_1(_: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"gain, {name}, {size} processors (used to infer c and T_r + T_f)": expected_gain(
            *alewife(1, speed=speed), nodes=nodes
        )
        for name, speed in SPEEDS.items()
        for size, nodes in SIZES.items()
    }


def _slower(_: Mapping[str, Any]) -> dict[str, Any]:
    gains = {
        name: expected_gain(*alewife(1, speed=SPEEDS[name]), nodes=list(SIZES.values()))
        for name in ("2x faster", "4x slower")
    }
    ratio = gains["4x slower"] / gains["2x faster"]
    return {
        f"gain at an eighth of the speed over gain, {size} processors (table 1)": ratio[index]
        for index, size in enumerate(SIZES)
    }


def _limit(known: Mapping[str, Any]) -> dict[str, Any]:
    limit = float(per_hop_limit(*alewife(2)))
    found: dict[str, Any] = {"limit of T_h, p = 2 (cycles; c is from the printed s)": limit}
    nodes = float(known["nodes"])
    for grain in (1, 10):
        reached = float(_at_random(nodes, 2, grain).per_hop_latency) / limit
        found[f"T_h over its limit, {nodes:g} processors, grain x {grain}"] = reached
    return found


def _figure_6(_: Mapping[str, Any]) -> dict[str, Any]:
    nodes = np.logspace(1, 6, 10_001)
    share = _at_random(nodes, 2).per_hop_latency / per_hop_limit(*alewife(2))
    name = "processors with T_h at 80 % of its limit, p = 2 (used to infer T_r + T_f of p = 2)"
    return {name: np.interp(0.8, share, nodes)}


def _figure_7(_: Mapping[str, Any]) -> dict[str, Any]:
    used = {
        "10³ processors, p = 1": " (table 1, used to infer c and T_r + T_f)",
        "10⁶ processors, p = 1": " (table 1, used to infer c and T_r + T_f)",
        "10⁶ processors, p = 4": " (used to infer T_r + T_f of p = 4)",
    }
    found = {}
    for contexts in CONTEXTS:
        gains = expected_gain(*alewife(contexts), nodes=[10, *SIZES.values()])
        for gain, size in zip(gains, ("10", *SIZES), strict=True):
            name = f"{size} processors, p = {contexts}"
            found[f"gain, {name}{used.get(name, '')}"] = gain
    return found


def _expectations(_: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"d of random mappings, 1000 processors": random_distance(1000, 2)}
    for contexts in CONTEXTS[:2]:
        both = _both(1000, contexts)
        hops, overhead = both.per_hop_latency, both.variable_message_cycles
        if contexts == 1:  # "four or more"
            found["T_h of random over ideal mappings, p = 1"] = hops[1] / hops[0]
        name = f"n k_d T_h of random over ideal mappings, p = {contexts}"
        found[name] = overhead[1] / overhead[0]
    return found


def _figure_8(known: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for contexts in CONTEXTS:
        both = _both(1000, contexts)
        fixed = both.fixed_message_cycles + both.fixed_transaction_cycles + both.work_cycles
        used = " (used to infer T_f)" if contexts == 1 else ""
        share = both.fixed_transaction_cycles / fixed
        found[f"share of T_f in the fixed part, p = {contexts}{used}"] = share[0]
        processor_cycles = both.fixed_transaction_cycles / both.speed
        found[f"T_f / p, p = {contexts} (µs)"] = processor_cycles[0] / known["megahertz"]
        par = both.variable_message_cycles / fixed
        found[f"variable overhead over the fixed part, random mapping, p = {contexts}"] = par[1]
        queued = _both(1000, contexts, node_channels=1).fixed_message_cycles
        found[f"fixed part, ideal less random, a node channel, p = {contexts} (cycles)"] = (
            queued[0] - queued[1]
        )
    return found


def _node_channels(_: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for contexts in CONTEXTS:
        near_and_far = predict_locality(*alewife(contexts, node_channels=1), DISTANCES)
        for index in (0, -1):
            name = f"wait for a node channel, p = {contexts}, d = {DISTANCES[index]} (cycles)"
            found[name] = near_and_far.node_channel_wait[index]
    return found


PARTS: dict[str, Part] = {
    "table 1": _table_1,
    "section 6": _slower,
    "equation 16": _limit,
    "figure 6": _figure_6,
    "figure 7": _figure_7,
    "section 4.2": _expectations,
    "figure 8": _figure_8,
    "section 2.4": _node_channels,
}
"""What recomputes each item of the data file, from what the file says of it."""

rows = partial(compare_all, "johnson", "johnson-model", PARTS)
