"""The busiest channel of an analysis, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.units import size
from netloom.base.words import counted, number
from netloom.questions.verdict import arrow

if TYPE_CHECKING:
    from collections.abc import Mapping

CLOSE = 1.005
"""Times the bound up to which a channel works for no longer than it must."""


def carried(weight: str, amount: float) -> str:
    """Return an amount of traffic with its unit.

    Examples
    --------
    >>> carried("bytes", 12_299_755), carried("messages", 1), carried("uniform", 2.5)
    ('12.3 MB', '1 message', '2.5 paths')
    """
    if weight == "bytes":
        return size(amount)
    return counted(number(amount), "message" if weight == "messages" else "path")


def unit(figures: Mapping[str, Any]) -> str:
    """Return the weight of an analysis, or ``uniform`` if each path weighs 1, as in patterns."""
    channel = figures["busiest_channel"]
    plain = figures["mean_message"].get("bytes", 1) == 1 and channel["load"] == channel["paths"]
    return "uniform" if plain else str(figures["weight"])


def where(figures: Mapping[str, Any]) -> str:
    """Return which channels are busiest, what each carries, and how much that is."""
    channel = figures["busiest_channel"]
    load, together = carried(unit(figures), channel["load"]), channel.get("together")
    named = (
        f"{together} carry {load} each" if together else f"{arrow(channel['name'])} carries {load}"
    )
    if figures["bounds"] is None:
        return f"{named}, {_times(figures['bottleneck']['ratio'])} the busiest node"
    if channel["bandwidth"] != 1:
        named += f" at bandwidth {number(channel['bandwidth'])}"
    if not together and channel["kind"] != "network":
        named = named.replace(" carries", ", a host's own channel, carries")
    ratio = figures["bounds"]["ratio"]
    if ratio <= CLOSE:
        return f"{named}, as little as any routing allows"
    return f"{named}, {_times(ratio)} the least that any routing allows"


def _times(ratio: float) -> str:
    """Return a ratio to two digits, or more than half as a part."""
    if 0.995 <= ratio <= CLOSE:
        return "as much as"
    if ratio >= 0.995:
        return f"{number(float(f'{ratio:.2g}'))}×"
    return f"{number(round(100 * ratio))}\u00a0% of"
