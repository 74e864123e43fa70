"""What an answer about a collective assumed, and what in it may surprise."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from netloom.base import units
from netloom.base.words import counted
from netloom.questions.shown import percent
from netloom.questions.timing import ASSUMED, assumed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.questions.collective.answer import CollectiveTimes

LONGER = 1.005
"""The factor from which on less data that takes longer is told."""


def notes(found: CollectiveTimes) -> list[str]:
    """Return what was assumed, what is free, and what may surprise, in sentences."""
    clock = found.network.clock
    assert clock is not None
    more = list[tuple[str, str]]()
    if getattr(found.network, "flit_source", "") == ASSUMED:
        flits = getattr(found.network, "flit_bytes", 0)
        more.append((f"flits of {counted(flits, 'byte', 'g')}", "--flit-bytes"))
    said = [assumed(clock, *more)]
    if found.inside_nodes is not None:
        best = found.at(found.sizes[-1])[0].algorithm
        said.append(
            f"Messages inside nodes are taken as free: {percent(found.inside_nodes)} of "
            f"the bytes of {best} (--count-inside-nodes counts them)"
        )
    return [each for each in (*said, *_falling(found)) if each]


def _falling(found: CollectiveTimes) -> Iterator[str]:
    """Yield which algorithms take less time for more data, and why."""
    for name in found.algorithms:
        curve = pairwise(zip(found.sizes, found.times(name), strict=True))
        falls = [each for each in curve if each[0][1] > each[1][1] * LONGER]
        if falls:
            less, more = (units.size(each[0]) for each in falls[0])
            yield (
                f"With {name}, {less} take longer than {more}: ranks that send one by one fall "
                "out of step, differently at each size (--injection shared posts all at once)"
            )
