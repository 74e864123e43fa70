"""Circles of channels that wait for each other: cycles of the channel-dependency graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.topology.core import joined

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.routing.ragged import Paths


def dependency_cycle(routed: Paths, num_channels: int) -> tuple[int, ...]:
    """Return a cycle of the channel-dependency graph of these paths, or () when there is none.

    Each of its channels some packet may hold while it waits for the next. The last waits for
    the first.
    """
    return cycle_of_waits(*dependencies(routed), num_channels)


def dependencies(routed: Paths) -> tuple[Ints, Ints]:
    """Return each two channels in a row on these paths: what is held, and what is asked for.

    int32[] both. A dependency comes as often as paths have it.
    """
    inside = np.ones(len(routed.channels), bool)
    inside[routed.offsets[1:][np.diff(routed.offsets) > 0] - 1] = False
    at = np.flatnonzero(inside)
    return routed.channels[at], routed.channels[at + 1]


def cycle_of_waits(held: Ints, asked: Ints, num_channels: int) -> tuple[int, ...]:
    """Return a cycle among these dependencies, or ()."""
    part = joined(num_channels, held, asked, both_ways=True)
    knotted = part[held] == part[asked]
    following = dict(zip(held[knotted].tolist(), asked[knotted].tolist(), strict=True))
    if not following:
        return ()
    # follow one successor of each channel, all within one knot, until a channel comes again
    seen: dict[int, int] = {}
    channel = min(following)
    while channel not in seen:
        seen[channel] = len(seen)
        channel = following[channel]
    return tuple(list(seen)[seen[channel] :])
