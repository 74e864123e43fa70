"""The verdict on a mapping, in the terms of Chittor 1991, section 3.7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from netloom.contention.saturation_limit import Saturation

Level = Literal[
    "contention-free", "good-enough", "some-nodes", "most-nodes", "depends-on-load", "below-bound"
]


@dataclass(frozen=True)
class Verdict:
    """Is this mapping good enough for what the program offers?

    Attributes
    ----------
    level
        ``contention-free`` (no two paths meet), ``good-enough`` (offered traffic below the worst
        node's saturation), ``some-nodes`` (between the worst and the average node's),
        ``most-nodes`` (above the average node's; by bounds alone, if most nodes exceed theirs);
        ``depends-on-load`` where offered traffic is not known; ``below-bound`` where it is, and can
        be carried, but nothing estimates at which load contention begins.
    margin
        The limit that decides divided by the offered traffic: above 1 by how much there is to
        spare, below 1 by how much there is too little. None without offered traffic.
    beyond_capacity
        Whether more is offered than the busiest channel can carry: no estimate, a certainty.
    affected_nodes
        Nodes whose own traffic exceeds their estimate (lemma 5), worst first; without offered
        traffic, the ten nodes that would be held up first.
    sentence
        The verdict in words.
    """

    level: Level
    margin: float | None
    beyond_capacity: bool
    affected_nodes: tuple[int, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return the plain dict that goes into a result's JSON."""
        return vars(self) | {"affected_nodes": list(self.affected_nodes)}


def verdict(
    limit: Saturation, offered: float | None, *, paths_meet: bool | None, hosted: bool = False
) -> Verdict:
    """Return the verdict on a mapping with these limits.

    ``offered`` is the traffic of the average sending node, as a fraction of a channel's bandwidth;
    ``paths_meet`` says whether any two paths share a channel, of those between routers where hosts
    have channels of their own (``hosted``); None where nobody counted.

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
    if paths_meet is False:
        return _contention_free(limit, offered, hosted=hosted)
    if not limit.estimated:
        return _by_bound(limit, offered)
    pressure = limit.node_share / limit.node_estimate  # 1 / the load at which the node is held up
    if offered is None and hosted and limit.worst_node >= limit.upper_bound:
        words = (
            "Good enough at any load that can be carried: contention is estimated to begin no "
            f"earlier than at {_share(limit.upper_bound)} of a channel a node, from which on the "
            "busiest channel is full."
        )
        return Verdict("good-enough", None, False, (), words)  # noqa: FBT003
    if offered is None and limit.worst_node > 1 and not hosted:
        words = (
            f"Good enough at any load: contention is estimated to begin at "
            f"{_share(limit.worst_node)} of a channel a node; over one channel a node injects less."
        )
        return Verdict("good-enough", limit.worst_node, False, (), words)  # noqa: FBT003
    if offered is None:
        first = _largest(pressure, 10)
        return Verdict("depends-on-load", None, False, first, _without_load(limit))  # noqa: FBT003
    held_up = _largest(pressure, int(np.count_nonzero(pressure * offered > 1)))
    level: Level = "good-enough"
    decides = limit.worst_node
    if offered >= limit.average_node:
        level, decides = "most-nodes", limit.average_node
    elif offered >= limit.worst_node:
        level = "some-nodes"
    over = offered > limit.upper_bound
    words = _with_load(level, limit, offered, len(held_up))
    return Verdict(level, decides / offered, over, held_up, words)


def _contention_free(limit: Saturation, offered: float | None, *, hosted: bool) -> Verdict:
    """Return the verdict on paths that do not meet; channels of hosts may still be full."""
    over = offered is not None and offered > limit.upper_bound
    if not hosted:
        words = "Contention-free: no two paths share a channel."
        if over:
            words += f" Yet {_share(offered)} offered is more than a channel carries."
        return Verdict("contention-free", None, over, (), words)
    words = "Contention-free between routers: no two paths share a channel there."
    if over:
        words += (
            f" Yet {_share(offered)} is offered, and more than {_share(limit.upper_bound)} cannot "
            "be carried."
        )
    elif limit.upper_bound < 1:
        words += f" The busiest channel is full from {_share(limit.upper_bound)} on."
    return Verdict("contention-free", None, over, (), words)


def _by_bound(limit: Saturation, offered: float | None) -> Verdict:
    """Return the verdict where there is a bound, but no estimate of where contention begins."""
    bound = _share(limit.upper_bound)
    unknown = "at which load contention begins is not estimated here"
    pressure = limit.node_share / limit.node_bound
    if offered is None:
        words = (
            f"Depends on the load: more than {bound} of a channel from the average node cannot be "
            f"carried; {unknown}."
        )
        return Verdict("depends-on-load", None, False, _largest(pressure, 10), words)  # noqa: FBT003
    if offered > limit.upper_bound:
        beyond = _largest(pressure, int(np.count_nonzero(pressure * offered > 1)))
        senders = int(np.count_nonzero(limit.node_share))
        words = f"Cannot be carried: {_share(offered)} is offered, up to {bound} is possible"
        if beyond:
            words += f"; {len(beyond)} of {senders} sending nodes offer more than their paths carry"
        level: Level = "most-nodes" if 2 * len(beyond) > senders else "some-nodes"
        return Verdict(level, limit.upper_bound / offered, True, beyond, f"{words}.")  # noqa: FBT003
    words = f"Can be carried: {_share(offered)} is offered, up to {bound} is possible; {unknown}."
    return Verdict("below-bound", limit.upper_bound / offered, False, (), words)  # noqa: FBT003


def _largest(values: np.ndarray[Any, np.dtype[np.float64]], count: int) -> tuple[int, ...]:
    order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")
    known = int(np.count_nonzero(~np.isnan(values)))
    return tuple(order[: min(count, known)].tolist())


def _share(fraction: float | None) -> str:
    assert fraction is not None
    return f"{100 * fraction:.3g} %"


def _without_load(limit: Saturation) -> str:
    most = f"; above {_share(limit.average_node)} most are (estimates)"
    if limit.lemma_3 >= limit.upper_bound:  # the estimate says less than the bound
        most = " (an estimate)"
    return (
        f"Depends on the load: while the average node offers up to {_share(limit.worst_node)} of a "
        f"channel, no node is held up{most}; more than {_share(limit.upper_bound)} cannot be "
        "carried."
    )


def _with_load(level: Level, limit: Saturation, offered: float, held_up: int) -> str:
    senders = int(np.count_nonzero(limit.node_share))
    if limit.lemma_3 >= limit.upper_bound <= offered:
        return (
            f"Most nodes affected: {_share(offered)} is offered, and more than "
            f"{_share(limit.upper_bound)} cannot be carried."
        )
    start = {
        "good-enough": "Good enough: contention is estimated to begin at "
        f"{_share(limit.worst_node)} of a channel a node, and {_share(offered)} is offered.",
        "some-nodes": f"Some nodes affected: {_share(offered)} is offered, and the worst node is "
        f"estimated to saturate at {_share(limit.worst_node)}, the average one at "
        f"{_share(limit.average_node)}; {held_up} of {senders} sending nodes will be held up.",
        "most-nodes": f"Most nodes affected: {_share(offered)} is offered, and the average node is "
        f"estimated to saturate at {_share(limit.average_node)}.",
    }[level]
    if offered > limit.upper_bound:
        start += f" More than {_share(limit.upper_bound)} cannot be carried at all."
    return start
