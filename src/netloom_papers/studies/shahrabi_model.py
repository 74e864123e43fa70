"""Shahrabi, Ould-Khaoua & Mackenzie 2002: the model's equations, solved twice.

The paper prints no number of its model. So netloom is compared with an independent solution of the
same equations. Agreement shows that both were read and solved alike. It does not show that the
paper's figure is matched or that the model is good. For that, see the simulations of
``studies.shahrabi``.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from netloom_papers.models.published_torus import (
    VARIANTS,
    Corrections,
    published_saturation,
    published_torus,
)
from netloom_papers.studies.validation import compare_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom_papers.models.published_torus import PublishedTorus
    from netloom_papers.studies.validation import Part

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


def _traffic(known: Mapping[str, Any]) -> dict[str, Any]:
    """Broadcast traffic of a channel as printed, over that of a tree of k² − 1 messages."""
    found = {}
    for radix in known["radices"]:
        printed, tree = (
            answer.broadcast_channel_rate + answer.replica_channel_rate
            for answer in (solved(radix, 32, 3, 0.04, 1e-4, variant) for variant in VARIANTS)
        )
        found[f"printed over correct broadcast traffic, k = {radix}"] = printed / tree
    return found


def _one_by_one(known: Mapping[str, Any]) -> dict[str, Any]:
    radix, flits, vcs, fraction = known["case"]
    return {
        f"saturation rate, corrected: {name}": saturation_rate(
            radix, flits, vcs, fraction, corrections
        )
        for name, corrections in ONE_BY_ONE.items()
    }


def _fold(known: Mapping[str, Any]) -> dict[str, Any]:
    radix, flits, vcs, fraction = known["case"]
    rate = known["load"] * saturation_rate(radix, flits, vcs, fraction)
    found = solved(radix, flits, vcs, fraction, rate)
    name = f"λ_c S at {known['load']} of saturation"
    return {name: found.channel_rate * found.service_time}


def _saturation(known: Mapping[str, Any]) -> dict[str, Any]:
    networks = product(known["radices"], known["flits"], known["vcs"], known["fractions"])
    return {
        f"saturation rate, {variant}, {_name(k, m, v, b)}": saturation_rate(k, m, v, b, variant)
        for (k, m, v, b), variant in product(networks, VARIANTS)
    }


def _latencies(known: Mapping[str, Any]) -> dict[str, Any]:
    """Latencies at the loads of the independent simulation, where there is a solution."""
    found = {}
    for (k, m, v, b, rate), variant in product(known["cases"], VARIANTS):
        name = f"latency, {variant}, {_name(k, m, v, b)}, λ = {rate:.4g}"
        if name in known["values"]:
            found[name] = solved(k, m, v, b, rate, variant).latency
    return found


def _between(known: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
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
        found |= {f"{symbol}, {case}": value for symbol, value in quantities.items()}
    return found


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


def _name(radix: int, flits: int, vcs: int, fraction: float) -> str:
    return f"k = {radix}, M = {flits}, V = {vcs}, β = {fraction}"


PARTS: dict[str, Part] = {
    "equation 11": _traffic,
    "saturation, one correction at a time": _one_by_one,
    "the fold": _fold,
    "saturation": _saturation,
    "equation 1": _latencies,
    "equations 4 to 31": _between,
}
"""What recomputes each item of the data file, from what the file says of it."""

rows = partial(compare_all, "shahrabi", "shahrabi-model", PARTS)
