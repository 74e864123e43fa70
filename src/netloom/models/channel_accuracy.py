"""How far ``channel_queueing`` is off: measured, by kind of network and by load.

The numbers are those of ``data/channel-queueing-errors.json``, which says where they come from: the
study ``latency-accuracy`` draws networks, routers and traffic at random, simulates them, and
compares. Errors are relative, the model's figure over the simulated one, less 1.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from netloom.models.channel_turns import ChannelRouter

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
    """

    compared: int
    mean: float
    rms: float
    within: float
    low: float
    high: float


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
    return (
        f"study {found['study']}, {found['configurations']} random networks, seeds "
        f"{' and '.join(map(str, found['seeds']))}, netloom {found['netloom']}, {found['date']}"
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


def off_by(figure: float, error: float, *, least: float = 0.0, most: float) -> tuple[float, float]:
    """Return between which true figures an estimate is off by at most so much, up or down.

    Examples
    --------
    >>> off_by(11.0, 0.1, most=12.0)
    (10.0, 12.0)
    """
    high = figure / (1 - error) if error < 1 else most
    return max(figure / (1 + error), least), min(high, most)
