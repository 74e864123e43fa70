"""What runs of programs come to, as figures: finishes, trust, waits, and channels.

Times are in the ``time_unit`` of the answer that has them, sizes in its ``size_unit``. Flows that
are all sent at once always take seconds and bytes.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.figures import SHARE, Figures, Number, figure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_LISTED = 10
"""Slowest messages, busiest channels and last flows of a critical path that are figures."""


class Spread(Figures):
    """The mean of some values, their percentiles by nearest rank, and the largest."""

    mean: Number | None = figure("mean", key=True, lead=True)
    p50: Number | None = figure("median")
    p99: Number | None = figure("99 % up to", key=True, lead=True)
    max: Number | None = figure("largest", lead=True)

    @classmethod
    def of(cls, values: ArrayLike) -> Spread:
        """Return it of some values. The mean is of an exact sum: their order says nothing.

        Examples
        --------
        >>> found = Spread.of([1, 2, 3])
        >>> found.mean, found.p99
        (2.0, 3)
        """
        listed = np.asarray(values)
        if not len(listed):
            return cls(mean=None, p50=None, p99=None, max=None)
        middle, high = np.percentile(listed, [50, 99], method="inverted_cdf").tolist()
        mean = fsum(listed.tolist()) / len(listed)
        return cls(mean=mean, p50=middle, p99=high, max=listed.max().item())


ORDER_SAYS_NOTHING = 6.0
"""The gap between the ends in order and shared, as a factor, from which no end is expected."""


class Trust(Figures):
    """How far the finish of a run of flows, sent in order, can be trusted.

    Attributes
    ----------
    within
        The true finish differs from it by at most this part of it, in nine of ten cases. None:
        nothing can be said.
    why
        What decides that, as a sentence.
    """

    within: float | None = figure("expected error", SHARE)
    why: str = figure()

    def undecided(self, *ends: float | None) -> bool:
        """Whether the order decides when the program ends. ``ends``: in order, and shared."""
        known = [each for each in ends if each]
        if self.within is not None or len(known) < len(ends):
            return False
        return max(known) >= ORDER_SAYS_NOTHING * min(known)


class Finishes(Figures):
    """When flows that are all sent at once end, by how hosts send them and how routers share."""

    in_order: float | None = figure(
        "finish, sent in order", "seconds", at="in_order_finish_seconds", lead=True
    )
    shared: float | None = figure(
        "finish, sent all at once", "seconds", at="shared_finish_seconds", lead=True
    )
    lossless: float | None = figure(
        "finish, in order and lossless", "seconds", at="lossless_finish_seconds", lead=True
    )


class SentFlow(Figures):
    """A flow that was sent at time 0: when it entered and ended, and what held it back."""

    source_task: int = figure()
    target_task: int = figure()
    source_node: int = figure()
    target_node: int = figure()
    bytes: float = figure(unit="bytes")
    start_seconds: float = figure("start", "seconds")
    entered_seconds: float | None = figure("entered", "seconds")
    finish_seconds: float | None = figure("finish", "seconds")
    alone_seconds: float = figure("alone", "seconds")
    slowdown: float | None = figure("slow-down", "times")
    hops: float = figure()
    held_by: str | None = figure("held back by")


class InTurn(Figures):
    """The flows that followed each other at the host that finished last, and the last of them.

    ``sending`` is what their bytes take alone, ``held`` what sharing adds, and ``other`` latencies,
    overheads and waits for processors.
    """

    length: int = figure("last host: flows in turn", lead=True)
    sending: float = figure("last host: sending", "seconds", at="sending_seconds", lead=True)
    held: float = figure("last host: held back", "seconds", at="held_seconds", lead=True)
    other: float = figure("last host: latencies", "seconds", at="other_seconds")
    flows: tuple[SentFlow, ...] = figure()


class FlowsOnLink(Figures):
    """What flows did to a channel, and how many it held back, for how long in all."""

    bytes: float = figure("carried", "bytes", lead=True)
    flows: int = figure(lead=True)
    utilisation: float = figure("used", SHARE, lead=True)
    held_flows: int = figure("flows held back", head="held back", lead=True)
    held_seconds: float = figure("held back for, in all", "seconds")
    name: str = figure("channel", lead=True)


class FlowsOnChannel(FlowsOnLink):
    """What flows did to a channel of the network, by its number and its ends."""

    channel: int = figure()
    source_node: int = figure()
    target_node: int = figure()


class FlowsOnBusy(FlowsOnLink):
    """One of the busiest channels: between ``routers``, or a host's own (``hosts``)."""

    between: str = figure()


class ShareSlower(Figures):
    """Which share of the flows took at most so many times as long as alone."""

    share: float = figure("share of the flows", SHARE)
    slowdown: float = figure("times as long")
