"""What runs of programs come to, as figures: finishes, trust, waits, and channels.

Times are in the ``time_unit`` of the answer that has them, sizes in its ``size_unit``. Flows that
are all sent at once always take seconds and bytes.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.figures import SHARE, Figures, Number, UnitOf, figure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TIME, SIZE = UnitOf("time_unit"), UnitOf("size_unit")

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


class Spent(Figures):
    """What a time on the critical path is made of, in the order in which it passes.

    See ``simulation.traces.Parts``.
    """

    compute: Number | None = figure("computing", TIME, head="computation", lead=True)
    processor_wait: Number | None = figure("waiting for a processor", TIME, lead=True)
    source_wait: Number | None = figure(
        "waiting for the node's own channel",
        TIME,
        head="waiting for the source's channel",
        lead=True,
    )
    message: Number | None = figure("messages on the way", TIME, head="messages", lead=True)
    contention: Number | None = figure(
        "contention in the network", TIME, head="contention", lead=True
    )
    receive: Number | None = figure("receiving", TIME, lead=True)


WAITS = ("processor_wait", "source_wait", "contention")
"""The parts that are waits."""


class Link(Spent):
    """A link of the critical path: an entry of the trace, of which a multicast gives several."""

    id: str = figure()
    source_node: int | None = figure()
    target_node: int | None = figure()
    complete: Number | None = figure(unit=TIME)


class CriticalEntries(Spent):
    """The chain of entries that determined when a trace finished, and its last links."""

    start: Number = figure(unit=TIME, table=False)
    length: int = figure("entries", table=False)
    entries: tuple[Link, ...] = figure()


class Wait(Figures):
    """The longest wait of an entry of the critical path: for what, and the names of its nodes."""

    id: str = figure()
    part: str = figure()
    time: Number = figure(unit=TIME)
    source: str = figure()
    target: str | None = figure()


class Message(Figures):
    """When a message was ready, sent and complete, and what its latency is made of.

    ``latency`` is from sending to arrival: ``source_wait`` until its node's channel into the
    network took it, ``unhindered`` if it meets no other, and ``contention``.
    """

    id: str = figure()
    source_task: int = figure()
    target_task: int | None = figure()
    source_node: int = figure()
    target_node: int = figure()
    size: Number = figure(unit=SIZE)
    ready: Number | None = figure(unit=TIME)
    sent: Number | None = figure(unit=TIME)
    arrived: Number | None = figure(unit=TIME)
    complete: Number | None = figure(unit=TIME)
    latency: Number | None = figure(unit=TIME)
    source_wait: Number | None = figure(unit=TIME)
    unhindered: Number | None = figure(unit=TIME)
    contention: Number | None = figure(unit=TIME)
    slowdown: float | None = figure("times as long as alone", optional=True)
    hops: Number | None = figure()


class UsedChannel(Figures):
    """A channel by what crossed it, and which part of it was used.

    In tables of all channels of a run in cycles, ``utilisation`` is flits per cycle.
    """

    channel: int | None = figure(optional=True)
    source_node: int | None = figure(optional=True)
    target_node: int | None = figure(optional=True)
    size: Number = figure("carried", SIZE, lead=True)
    busy: float | None = figure(unit=TIME, optional=True)
    utilisation: float = figure("used", SHARE, lead=True)
    bandwidth: float | None = figure(unit="flits/cycle", optional=True)
    between: str | None = figure(optional=True, table=False)
    name: str | None = figure("channel", optional=True, lead=True)


class BusyPart(Figures):
    """How busy a channel is in a part of the time."""

    name: str = figure("channel")
    begin: float = figure("from", TIME)
    end: float = figure("until", TIME)
    utilisation: float = figure("share of the channel in use", SHARE)
    critical: bool = figure("used by the critical path")


class Use(Figures):
    """How busy channels between routers are."""

    mean: float = figure("on average", SHARE, lead=True)
    max: float = figure("at most", SHARE, key=True, lead=True)
