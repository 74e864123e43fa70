"""The most traffic that a network can accept, what limits it, and what failures take of it."""

from __future__ import annotations

from typing import Literal

from netloom.base.figures import Figures, figure, unseen
from netloom.base.words import counted


class Bound(Figures):
    """What limits the traffic that a network can accept.

    Attributes
    ----------
    load
        The offered traffic, in flits/node/cycle of the average sending node, above which the
        resource would have to carry more than it can.
    what
        The resource, in words.
    kind
        Both are proved: no run gets past either. ``routing``: what the channels carry with this
        routing was reckoned too. ``network``: only what holds for every routing was, so that the
        limit of this one may be lower.
    """

    load: float = figure("most that can be carried", "flits/node/cycle")
    what: str = figure("limited by", at="limited_by")
    kind: Literal["routing", "network"] = figure("limit of", default="routing", at="of")

    @property
    def sentence(self) -> str:
        """The limit in words, without a full stop.

        Examples
        --------
        >>> Bound(load=0.25, what="channel 0 -> 1").sentence
        'with this routing and these ends, no more than 0.25 can be carried: channel 0 -> 1'
        """
        said = f"with {self.whose} and these ends, no more than {self.load:.4g} can be carried"
        more = "" if self.kind == "routing" else " (the limit of this routing may be lower)"
        return f"{said}: {self.what}{more}"

    @property
    def whose(self) -> str:
        """Whose limit it is: ``this routing`` or ``any routing``."""
        return "this routing" if self.kind == "routing" else "any routing"


class Intact(Figures):
    """What the same traffic would find, with the default routing, if nothing were broken.

    ``hops`` is the mean path length. None where there are too many pairs of nodes to list.
    """

    routing: str = figure()
    bound: Bound = figure(at="throughput_bound")
    hops: float | None = figure()


class FailureCost(Figures):
    """What failures cost some traffic, as far as it can be told without a simulation.

    Attributes
    ----------
    hops
        Mean path length of a packet round what is broken. None where the routing leaves a choice,
        or there are too many pairs of nodes to list.
    intact
        The same if nothing were broken. None where the whole network's default routing would
        deadlock on the router's VCs.
    bound
        What limits the traffic.
    """

    hops: float | None = figure()
    intact: Intact | None = figure()
    bound: Bound = unseen()

    @property
    def remark(self) -> str:
        """What the failures cost, in words."""
        here = f"at most {self.bound.load:.4g} can be carried ({self.bound.what})"
        if self.intact is None:
            return f"with what is broken, {here}"
        whole = f"with nothing broken {self.intact.bound.load:.4g} ({self.intact.bound.what})"
        if self.hops is None or self.intact.hops is None:
            return f"with what is broken, {here}; {whole}"
        hops = f"over {counted(self.hops, 'hop', '.4g')} on average"
        return f"with what is broken, {here} {hops}; {whole} over {self.intact.hops:.4g}"
