"""How a mapping's load stands to its limits, in the terms of Chittor 1991, section 3.7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from netloom.contention.saturation_limit import Saturation

Level = Literal[
    "contention-free", "good-enough", "some-nodes", "most-nodes", "depends-on-load", "below-bound"
]

FIRST = 10
"""Nodes that are named where the load is not known."""


@dataclass(frozen=True)
class Verdict:
    """Is this mapping good enough for what the program offers?

    Attributes
    ----------
    level
        ``contention-free``: no two paths meet. ``good-enough``: offered traffic is below the worst
        node's saturation, or no load that nodes can send is above. ``some-nodes``: between the
        worst and the average node's. ``most-nodes``: above the average node's, or by bounds alone
        if most nodes exceed theirs. ``depends-on-load``: offered traffic is not known.
        ``below-bound``: it is known and can be carried, but nothing estimates at which load
        contention begins.
    margin
        The limit that decides divided by the offered traffic: above 1 by how much there is to
        spare, below 1 by how much there is too little. None without offered traffic.
    beyond_capacity
        Whether more is offered than the busiest channel can carry: no estimate, a certainty.
    affected_nodes
        Nodes whose own traffic exceeds their estimate (lemma 5), worst first. Without offered
        traffic, the ten nodes that would be delayed first.
    senders
        How many nodes send.
    """

    level: Level
    margin: float | None
    beyond_capacity: bool
    affected_nodes: tuple[int, ...]
    senders: int

    def to_dict(self) -> dict[str, Any]:
        """Return the plain dict that goes into a result's JSON."""
        return vars(self) | {"affected_nodes": list(self.affected_nodes)}


def verdict(
    limit: Saturation, offered: float | None, *, paths_meet: bool | None, hosted: bool = False
) -> Verdict:
    """Return the verdict on a mapping with these limits.

    ``offered`` is the traffic of the average sending node, as a fraction of a channel's bandwidth.
    ``paths_meet`` is whether any two paths share a channel, or None if nobody counted. If hosts
    have channels of their own (``hosted``), only channels between routers count.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.contention import Saturation
    >>> one = np.array([0.1])
    >>> limit = Saturation(0.2, 0.1, 0.3, one, one, np.array([1.0]), 64.0, 0.2)
    >>> verdict(limit, 0.05, paths_meet=True).level
    'good-enough'
    >>> verdict(limit, 0.15, paths_meet=True).affected_nodes
    (0,)
    """
    senders = int(np.count_nonzero(limit.node_share))
    over = offered is not None and offered > limit.upper_bound
    if paths_meet is False:
        return Verdict("contention-free", None, over, (), senders)
    if not limit.estimated:
        return _by_bound(limit, offered, senders)
    pressure = limit.node_share / limit.node_estimate  # 1 / the load at which the node is delayed
    if offered is None:
        never = limit.worst_node >= limit.upper_bound if hosted else limit.worst_node > 1
        if never:
            return Verdict("good-enough", None, over, (), senders)
        return Verdict("depends-on-load", None, over, _largest(pressure, FIRST), senders)
    delayed = _largest(pressure, int(np.count_nonzero(pressure * offered > 1)))
    level: Level = "good-enough"
    decides = limit.worst_node
    if offered >= limit.average_node:
        level, decides = "most-nodes", limit.average_node
    elif offered >= limit.worst_node:
        level = "some-nodes"
    return Verdict(level, decides / offered, over, delayed, senders)


def _by_bound(limit: Saturation, offered: float | None, senders: int) -> Verdict:
    """Return the verdict if there is a bound, but no estimate of where contention begins."""
    pressure = limit.node_share / limit.node_bound
    over = offered is not None and offered > limit.upper_bound
    if offered is None:
        return Verdict("depends-on-load", None, over, _largest(pressure, FIRST), senders)
    margin = limit.upper_bound / offered
    if not over:
        return Verdict("below-bound", margin, over, (), senders)
    beyond = _largest(pressure, int(np.count_nonzero(pressure * offered > 1)))
    level: Level = "most-nodes" if 2 * len(beyond) > senders else "some-nodes"
    return Verdict(level, margin, over, beyond, senders)


def _largest(values: np.ndarray[Any, np.dtype[np.float64]], count: int) -> tuple[int, ...]:
    order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")
    known = int(np.count_nonzero(~np.isnan(values)))
    return tuple(order[: min(count, known)].tolist())
