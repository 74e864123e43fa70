"""Where the channel-queueing model may be further off than its error bands say: a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.models.channel_accuracy import KINDS, Band, beside, router_kind, saturation_band
from netloom.topology import Cube
from netloom.workload.traffic.targets import HotSpot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netloom.models.channel_queueing import PreparedChannels
    from netloom.topology import Topology
    from netloom.workload import Traffic

TWO = 1.5
"""VCs that a packet may choose from: rather two than one."""

MOST_NODES = 64
"""Of the networks that the bands are from."""

FEW_TARGETS = 2.0
"""Nodes that a sender sends to, on average, at most which its packets do not mix."""

COMPARED = {
    "vcs": (1, 8), "buffer_flits": (2, 32), "route_cycles": (0, 1), "vc_allocation_cycles": (1, 1),
    "switch_allocation_cycles": (1, 1), "traversal_cycles": (0, 1), "channel_cycles": (1, 5),
    "credit_cycles": (0, 0),
}  # fmt: skip
"""Fields of routers, and the values of those that the bands are from."""

MOST_FLITS = 40
"""Of the packets that the bands are from."""


def accuracy_flags(
    prepared: PreparedChannels,
    topology: Topology,
    traffic: Traffic,
    routing: str,
    router: Mapping[str, Any],
    *,
    limit_told: bool,
) -> Iterator[str]:
    """Yield why to expect more than the usual error of a network, a line each.

    Parameters
    ----------
    prepared
        What the model starts from.
    topology, traffic, routing
        The network, who sends to whom, and the name of the routing.
    router
        The fields of its routers, by name.
    limit_told
        Whether the model has an answer above the load given as saturation.
    """
    kind = router_kind(prepared.router, prepared.flits)
    if not limit_told:
        yield "the model's equations have no solution above the load given as saturation: simulate"
    if router["vcs"] == 1:
        yield (
            "one VC: a packet that waits holds up all behind it, far back, which the model has in "
            f"part only; saturation was off by {_range(saturation_band(kind))}; raise vcs, or "
            "simulate"
        )
    elif kind == KINDS[-1] and prepared.turns.choices.min() < TWO:
        yield (
            "one VC of each class of a ring, shorter than its credits' way and than a packet: the "
            "classes behave as networks with one VC; saturation was off by "
            f"{_range(beside('one VC a class'))}; raise vcs or buffer_flits, or simulate"
        )
    pairs, senders = len(np.unique(prepared.flows.pair)), len(np.unique(prepared.flows.source))
    if pairs <= FEW_TARGETS * senders:
        yield (
            f"a node sends to {pairs / senders:.2g} others on average: such regular flows mix less "
            f"than the model assumes; saturation was off by {_range(beside('few targets'))}"
        )
    if isinstance(traffic.law, HotSpot):
        yield "hot spots were not compared with simulation: simulate at the load you care about"
    if topology.num_nodes > MOST_NODES:
        yield _beside(f"more than {MOST_NODES} nodes", "large")
    if not (isinstance(topology, Cube) and routing == "dimension-order"):
        yield _beside(f"routing {routing}, not dimension order on all of a cube", "faults")
    if router["oldest_first"]:
        yield _beside("the oldest packet first", "oldest first")
    outside = [
        f"{name} {router[name]} ({low} to {high})"
        for name, (low, high) in COMPARED.items()
        if not low <= router[name] <= high
    ]
    if prepared.flits > MOST_FLITS:
        outside.append(f"packet_flits {prepared.flits} (1 to {MOST_FLITS})")
    if outside:
        yield f"outside of what was compared with simulation: {', '.join(outside)}; simulate"


def _beside(what: str, name: str) -> str:
    band = beside(name)
    return (
        f"{what}: the expected errors are not of such networks; on {band.compared} of them "
        f"saturation was off by {_range(band)}"
    )


def _range(band: Band) -> str:
    """Return errors in words, as the model's figure has them."""
    low, high = (f"{100 * each:+.0f} %".replace("-", "−") for each in (band.low, band.high))
    return f"{low} to {high} ({100 * band.rms:.0f} % rms)"
