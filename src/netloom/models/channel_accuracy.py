"""How far ``channel_queueing`` is off, measured by kind of network and load. Where even further.

The numbers are those of ``data/channel-queueing-errors.json``, which says where they come from: the
study ``latency-accuracy`` draws networks, routers and traffic at random, simulates them, and
compares. Errors are relative, the model's figure over the simulated one, less 1.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.words import counted, listed
from netloom.topology import Cube
from netloom.workload.traffic.targets import HotSpot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netloom.models.channel_queueing import PreparedChannels
    from netloom.models.channel_turns import ChannelRouter
    from netloom.topology import Topology
    from netloom.workload import Traffic

KNEE = 0.9
"""Part of the predicted saturation above which no latency is given: there it hangs on the error of
the saturation itself."""

PARTS = (0.35, 0.65, 0.8, KNEE)
"""Parts of the predicted saturation up to which errors of latency are told apart."""

ONE_VC, CUT_THROUGH = "one VC", "virtual cut-through"

KINDS = (
    ONE_VC, CUT_THROUGH,
    "ample buffers that hold a packet", "ample buffers, longer packets",
    "scarce buffers that hold a packet", "scarce buffers, longer packets",
)  # fmt: skip
"""Kinds of routers whose errors differ. Buffers are scarce that a VC alone cannot keep its channel
busy with: shorter than the way of a flit and its credit."""


class Band(NamedTuple):
    """Errors of a figure over the configurations that were compared.

    Attributes
    ----------
    compared
        How many figures these are.
    mean, rms
        Of the errors.
    within
        Nine of ten errors are not larger than this, up or down.
    low, high
        The extreme ones.
    below, above
        Of latencies: nine of ten errors are between these, one in twenty beyond either. At most 0
        and at least 0.
    """

    compared: int
    mean: float
    rms: float
    within: float
    low: float
    high: float
    below: float = 0.0
    above: float = 0.0


def router_kind(router: ChannelRouter, flits: int) -> str:
    """Return which of ``KINDS`` a router is of, for packets of so many flits.

    Examples
    --------
    >>> from netloom.models.channel_turns import ChannelRouter
    >>> router_kind(ChannelRouter(), flits=5)
    'ample buffers that hold a packet'
    """
    if router.switching == CUT_THROUGH.replace(" ", "-", 2):
        return CUT_THROUGH
    if router.vcs == 1:
        return ONE_VC
    scarce = router.buffer_flits < router.loops.inside + router.head_cycles
    return KINDS[2 + 2 * scarce + (flits > router.buffer_flits)]


def saturation_band(kind: str) -> Band:
    """Return the errors of the saturation rate of routers of a kind."""
    return Band(**errors()["kinds"][kind]["saturation"])


def latency_band(kind: str, part: float) -> Band:
    """Return the errors of the mean latency at a part, at most ``KNEE``, of the saturation.

    Examples
    --------
    >>> low, high = (latency_band("one VC", part) for part in (0.2, 0.85))
    >>> low.within < high.within
    True
    """
    place = next(place for place, most in enumerate(PARTS) if part <= most)
    return Band(**errors()["kinds"][kind]["latency"][place])


def provenance() -> str:
    """Return in a line where the errors come from."""
    found = errors()["source"]
    saturations, latencies = (
        f"{each['configurations']} random networks, seeds {listed(list(map(str, each['seeds'])))}"
        for each in (found, found["latency"])
    )
    return (
        f"study {found['study']}, saturation of {saturations}, latency of {latencies}, netloom "
        f"{found['netloom']}, {found['latency']['date']}"
    )


@cache
def errors() -> dict[str, Any]:
    """Return the errors as the file has them."""
    text = files("netloom.models").joinpath("data", "channel-queueing-errors.json")
    found: dict[str, Any] = json.loads(text.read_text(encoding="utf-8"))
    return found


def beside(name: str) -> Band:
    """Return the errors of saturations on networks that the bands are not of, by their name."""
    return Band(**errors()["beside"][name])


def off_by(
    figure: float, below: float, above: float, *, least: float = 0.0, most: float
) -> tuple[float, float]:
    """Return between which true figures an estimate has an error from ``below`` to ``above``.

    Examples
    --------
    >>> off_by(11.0, -0.1, 0.1, most=12.0)
    (10.0, 12.0)
    """
    high = figure / (1 + below) if below > -1 else most
    return max(figure / (1 + above), least), min(high, most)


TWO = 1.5
"""VCs that a packet may choose from: rather two than one."""

MOST_NODES = 64
"""Of the networks that the bands are from."""

FEW_TARGETS = 2.0
"""Nodes that a sender sends to, on average, at most which its packets do not mix."""

COMPARED = {
    "vcs": (1, 8), "buffer_flits": (2, 32), "route_cycles": (0, 1), "vc_allocation_cycles": (1, 1),
    "traversal_cycles": (0, 1), "channel_cycles": (1, 5), "credit_cycles": (0, 0),
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

    ``routing`` is a name, ``router`` has the fields of the routers by name. ``limit_told`` says
    whether the model has an answer above the load given as saturation.
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
        others = counted(pairs / senders, "other", ".2g")
        yield (
            f"a node sends to {others} on average: such regular flows mix less "
            f"than the model assumes; saturation was off by {_range(beside('few targets'))}"
        )
    if isinstance(traffic.law, HotSpot):
        yield "hot spots were not compared with simulation: simulate at the load you care about"
    if topology.num_hosts > MOST_NODES:
        yield _beside(f"more than {MOST_NODES} nodes", "large")
    if not topology.direct:
        yield (
            "hosts that hang on routers: the expected errors are not of such networks; simulate "
            "beside the model"
        )
    elif not (isinstance(topology, Cube) and routing == "dimension-order"):
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
