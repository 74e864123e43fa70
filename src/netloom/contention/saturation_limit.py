"""How much traffic the nodes of a mapped program can have before its network contends.

All traffic here is a fraction of one channel's bandwidth (flits/node/cycle). The thesis calls it
*applied* and *actual* node or path traffic. The thesis takes
every edge of a process graph to carry the same (Chittor 1991, section 3.3). Here an edge carries
its *weight*, and a load λ of the program means: the average sending node offers λ, and every
edge carries its share. For equal weights all figures are exactly the printed lemmas.

Lemmas 3, 4 and 5 are *estimates*, although the thesis calls the last two bounds. They let only one
of all paths that meet a path p move at a time, but paths that meet p on different channels can move
simultaneously. (On a line of five nodes with paths 0→2, 1→3, 2→4 the middle path meets both others.
Lemma 4 gives 1/3, but 1/2 is sustained.) The true limit, ``upper_bound``, is the load at which the
busiest channel is always busy. If most paths meet few others but some channel is busy, lemma 3
exceeds this limit, and the average node gets the limit. (The lemma can hold there if each node goes
at its own pace. Nodes whose paths avoid the busy channel then send more, so that edges no longer
carry their shares.)

If channels differ in bandwidth, the bound is that of the channel with the highest load / bandwidth.
There are no estimates then, because they assume equal channels. Channels between a host and its
router count for the bound as any other does. Two paths that share nothing else do not meet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure
from netloom.contention.channel_loads import ChannelLoads, Contention, measure
from netloom.routing import Routing
from netloom.topology import Topology
from netloom.workload import ProcessGraph


@dataclass(frozen=True, eq=False)
class Saturation:
    """Saturation throughput of a mapped program, as fractions of one channel's bandwidth.

    All are loads of the *average sending node* while every edge carries its share, except
    ``node_estimate`` and ``node_bound``, which are each node's own traffic. Estimates are NaN where
    there are none: if channels differ in bandwidth, or the paths of a pair are several.

    Attributes
    ----------
    average_node
        Estimate for a typical node: above it most nodes are delayed. It is the lesser of lemma 3
        and the upper bound.
    worst_node
        Estimate for the most delayed node (lemma 4): below it no node is delayed.
    upper_bound
        Never exceeded: at this load the busiest channel is busy all the time.
    node_estimate
        float64[num_nodes], the lesser of lemma 5 and ``node_bound`` for each node that sends. NaN
        for the others.
    node_bound
        float64[num_nodes]: the node's own traffic at which, every edge carrying its share, the
        busiest channel on its paths is full. NaN for nodes that do not send.
    node_share
        float64[num_nodes]: the node's traffic as a multiple of the average sending node's.
    mean_weight
        B̄, the weight that the average sending node injects.
    lemma_3
        What lemma 3 says of the average node, even if that is above the upper bound.
    """

    average_node: float
    worst_node: float
    upper_bound: float
    node_estimate: Floats
    node_bound: Floats
    node_share: Floats
    mean_weight: float
    lemma_3: float

    @property
    def estimated(self) -> bool:
        """Whether there are estimates beside the bound."""
        return not np.isnan(self.worst_node)


def saturation(
    found: ChannelLoads, sources: ArrayLike, weights: ArrayLike, num_nodes: int
) -> Saturation:
    """Return the saturation throughput of a program whose contention has been measured.

    With B̄ the mean weight that a sending node injects, W(p) the weight of path p and of all paths
    that meet it, and w(p) its own:

    - average node: B̄ / (mean of W, each path counted by its weight), lemma 3: δ_avg/(ν_avg + 1);
    - worst node: B̄ / max W, lemma 4: δ_avg/(ν_max + 1);
    - node i: B_i min over its paths of (1 - (W(p) - w(p)) / max W) / w(p), lemma 5:
      δ (1 - ν_m/(ν_max + 1));
    - bound: B̄ / max channel time.

    No estimate is above the bound.

    Parameters
    ----------
    found
        Contention measured with these weights, or loads alone, of which there is only the bound.
    sources
        int[num_paths] nodes from which the paths start.
    weights
        float[num_paths]. Paths without weight, or without channels, take no part.
    num_nodes
        Nodes of the network.

    Raises
    ------
    InputError
        If no path carries any weight over the network.

    Examples
    --------
    >>> from netloom.contention import measure
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> found = measure(mesh(5), DimensionOrder(), [0, 1, 2], [2, 3, 4])
    >>> limit = saturation(found, [0, 1, 2], [1.0, 1.0, 1.0], num_nodes=5)
    >>> round(limit.worst_node, 3), limit.upper_bound
    (0.333, 0.5)
    """
    weight = np.asarray(weights, np.float64)
    moving = found.moving & (weight > 0)
    if not moving.any():
        raise InputError("process graph", "no traffic between different nodes", "some to analyze")
    kept = slice(None) if moving.all() else moving
    source, weight = np.asarray(sources)[kept], weight[kept]
    sent = np.bincount(source, weight, minlength=num_nodes)
    mean_sent = float(sent.sum() / np.count_nonzero(sent))
    upper_bound = mean_sent / float(found.channel_time.max())
    average_node = worst_node = lemma_3 = np.nan
    estimate = bound = np.full(num_nodes, np.nan)
    if isinstance(found, Contention):
        least = _least(1 / found.heaviest_channel[kept], source, num_nodes) * sent
        bound = np.where(sent == 0, np.nan, least)
        if rate := found.common_bandwidth:
            contending = found.contending_weight[kept] / rate
            most = float(contending.max())
            alone = 1 - (contending - weight / rate) / most
            estimate = np.minimum(_least(alone / weight, source, num_nodes) * sent * rate, bound)
            lemma_3 = mean_sent / float(np.average(contending, weights=weight))
            average_node, worst_node = min(lemma_3, upper_bound), mean_sent / most
            if found.hosted:  # elsewhere, no path meets less than what is on its channels
                worst_node = min(worst_node, upper_bound)
    return Saturation(
        average_node=average_node,
        worst_node=worst_node,
        upper_bound=upper_bound,
        node_estimate=estimate,
        node_bound=bound,
        node_share=sent / mean_sent,
        mean_weight=mean_sent,
        lemma_3=lemma_3,
    )


def loop_saturation(
    topology: Topology, routing: Routing, graph: ProcessGraph, node_of: Ints, shares: Floats
) -> Saturation | None:
    """Return the saturation throughput of tasks that all send as often, in the traffic of a task.

    Each task goes at its own pace: most send more than those whose paths cross the busiest channel,
    so that the upper bound is not that of the average node. None if no path uses a channel.

    ``shares`` is float64[num_edges], the part of its source's messages that each edge carries.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> from netloom.workload import ring
    >>> program = ring(4)
    >>> limit = loop_saturation(
    ...     mesh(4), DimensionOrder(), program, np.arange(4), program.shares("uniform"))
    >>> limit.upper_bound
    1.0
    """
    source, target = node_of[graph.source], node_of[graph.target]
    found = measure(topology, routing, source, target, shares)
    if not found.moving.any():
        return None
    limit = saturation(found, source, shares, topology.num_hosts)
    per_task = limit.mean_weight  # a task's weight is 1, a node's the mean
    return replace(
        limit,
        average_node=limit.lemma_3 / per_task,
        worst_node=limit.worst_node / per_task,
        upper_bound=limit.upper_bound / per_task,
    )


def load_to_compare(before: Saturation, after: Saturation) -> float:
    """Return the load at which to compare two mappings: the most that the second can carry.

    That is what its busiest channel can just carry, if no node of either has to offer more than 1.
    Rounded down to thousandths.
    """
    busiest = max(float(each.node_share.max()) for each in (before, after))
    most = min(1.0, after.upper_bound, 1 / busiest)
    return float(np.floor(most * 1000) / 1000) or most


def slowdown(found: Contention, limit: Saturation, offered: float) -> Floats:
    """Return the estimated factor by which contention lengthens each path's communication.

    θ of eq. 3.11 at the traffic that eq. 3.12 accepts. Both are for paths that carry the same, so
    that of a path is taken to be the mean of itself and of the paths it meets.

    ``offered`` is the traffic of the average sending node. All channels are alike. Returns
    float64[num_paths]: 1 for a path that meets no other, NaN for one without channels.

    Examples
    --------
    >>> from netloom.contention import measure
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> found = measure(mesh(5), DimensionOrder(), [0, 1, 2], [2, 3, 4])
    >>> limit = saturation(found, [0, 1, 2], [1.0, 1.0, 1.0], num_nodes=5)
    >>> slowdown(found, limit, offered=0.2).round(2)
    array([1.56, 2.  , 1.56])
    """
    mean_weight = found.contending_weight / (found.path_contention + 1)
    of_channel = offered / (found.common_bandwidth or 1.0)
    accepted = accepted_path_traffic(
        of_channel * mean_weight / limit.mean_weight, found.path_contention
    )
    theta = path_slowdown(accepted, found.path_contention)
    theta[found.path_contention == 0] = 1.0
    theta[~found.moving] = np.nan
    return theta


def _least(values: Floats, groups: Ints, num_groups: int) -> Floats:
    """Smallest value of each group, or 0 if a group is empty."""
    least = np.full(num_groups, np.inf)
    np.minimum.at(least, groups, values)
    return np.where(np.isinf(least), 0.0, least)


def path_slowdown(path_traffic: ArrayLike, path_contention: ArrayLike) -> Floats:
    """Return θ, by what factor contention lengthens communication on a path (eq. 3.11).

    θ = 1 / (1 - (ν + 1) λ_p), the delay of one M/M/1 queue shared by ν + 1 equal paths. Infinite
    from λ_p = 1/(ν + 1) on. (The thesis's example, θ = 4 for λ_p = 0.15 and ν = 5, leaves the
    + 1 out; the equation gives 10.)

    Parameters
    ----------
    path_traffic
        λ_p, accepted traffic of the path.
    path_contention
        ν, number of other paths it meets.

    Examples
    --------
    >>> float(path_slowdown(0.15, 5).round(6))
    10.0
    """
    free = 1 - (np.asarray(path_contention, np.float64) + 1) * np.asarray(path_traffic, np.float64)
    slowdown = np.divide(1.0, free, out=np.full(free.shape, np.inf), where=free > 1e-15)
    return np.asarray(slowdown)


def accepted_path_traffic(offered: ArrayLike, path_contention: ArrayLike) -> Floats:
    """Return λ_p, what a path carries of the traffic λ_pa that it is offered (eq. 3.12).

    Contention lengthens each message by θ, the program waits, and so offers less: λ_p is the
    smaller root of λ_p² (1 - λ_pa) - λ_p (λ_pa + λ_sat) + λ_pa λ_sat = 0, λ_sat = 1/(ν + 1).

    ``offered`` is λ_pa in [0, 1], and ν is as for ``path_slowdown``.

    Examples
    --------
    >>> float(accepted_path_traffic(0.5, 2).round(4))
    0.2324
    """
    wanted = np.asarray(offered, np.float64)
    limit = 1 / (np.asarray(path_contention, np.float64) + 1)
    half = wanted + limit
    root = np.sqrt(half**2 - 4 * (1 - wanted) * wanted * limit)
    return np.asarray(2 * wanted * limit / np.maximum(half + root, 1e-300))


def capacity_fraction(
    node_traffic: ArrayLike, mean_path_length: ArrayLike, channels_per_node: float = 4.0
) -> Floats:
    """Return node traffic as a fraction of network capacity, λ_t = D_avg λ_n / channels (eq. 3.32).

    A node's share of the capacity is the bandwidth of its outgoing channels divided by the hops
    that a message makes. On a square mesh under uniform traffic that is √N λ_n / 6 (eq. 3.33), so
    that the saturation of uniform traffic, 2/√N, is a third (eq. 3.34).

    Parameters
    ----------
    node_traffic
        λ_n, flits/node/cycle.
    mean_path_length
        D_avg, hops.
    channels_per_node
        Outgoing network channels of a node. The thesis takes 4 for every node of a mesh.

    Examples
    --------
    >>> from math import sqrt
    >>> float(capacity_fraction(2 / sqrt(256), 2 * sqrt(256) / 3).round(4))
    0.3333
    """
    hops_each = np.asarray(mean_path_length, np.float64) / channels_per_node
    return np.asarray(np.asarray(node_traffic, np.float64) * hops_each)


def offered_by_program(
    message_bytes: float,
    compute_us: float,
    message_us: float,
    bandwidth_bytes_per_us: float,
    *,
    messages_waited_for: int = 1,
) -> float:
    """Return the traffic a node offers when it computes, then communicates, over and over.

    λ_a = (L/B) / (t + n τ') (definition 24 with section 3.7's estimate, eq. 4.3). A loop sends one
    message of L bytes. It lasts as long as the computation and the n contention-free message times
    for which the node waits. The thesis's section 3.7 prints βL for L/B in the numerator. The
    definition has the channel's own bandwidth, as here. (For the printed form, give 1/β as the
    bandwidth.)

    Parameters
    ----------
    message_bytes
        L.
    compute_us
        t, µs between two messages: instructions / (million instructions per second).
    message_us
        τ' = α + βL, µs of one contention-free message.
    bandwidth_bytes_per_us
        B, of one channel.
    messages_waited_for
        n: 1 for a send, or 2 for a message and its answer.

    Examples
    --------
    Symult 2010, 4096-byte messages, 1 ms of computation (section 4.3; prints 7.64 %):

    >>> round(offered_by_program(4096, 1000, 210.2 + 0.1536 * 4096, 20, messages_waited_for=2), 6)
    0.076455
    """
    _positive(message_bytes=message_bytes, bandwidth_bytes_per_us=bandwidth_bytes_per_us)
    loop_us = compute_us + messages_waited_for * message_us
    _positive(loop_us=loop_us)
    return message_bytes / bandwidth_bytes_per_us / loop_us


def offered_by_run(sent_bytes: float, run_us: float, bandwidth_bytes_per_us: float) -> float:
    """Return the traffic a node offered in a run without contention: its bytes over what fits.

    λ_a = (L'/B) / T (section 3.7, second way), with the channel's bandwidth B.

    ``sent_bytes`` is L', bytes that a node sent, on average, in the whole run of T µs.

    Examples
    --------
    >>> offered_by_run(sent_bytes=2e6, run_us=1e6, bandwidth_bytes_per_us=20)
    0.1
    """
    _positive(run_us=run_us, bandwidth_bytes_per_us=bandwidth_bytes_per_us)
    return sent_bytes / bandwidth_bytes_per_us / run_us


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise InputError(name, value, "a number above 0")


Level = Literal[
    "contention-free", "good-enough", "some-nodes", "most-nodes", "depends-on-load", "below-bound"
]

FIRST = 10
"""Nodes that are named where the load is not known."""


class Verdict(Figures):
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
    affected
        The names of these nodes, where the network is known.
    """

    level: Level
    margin: float | None = figure(default=None, table=False)
    beyond_capacity: bool = figure(table=False)
    affected_nodes: tuple[int, ...] = ()
    senders: int = figure(table=False)
    affected: tuple[str, ...] = ()


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
    found = partial(Verdict, beyond_capacity=over, senders=senders)
    if paths_meet is False:
        return found(level="contention-free")
    # 1 / the load at which the node is delayed, or at the latest if nothing estimates it
    pressure = limit.node_share / (limit.node_estimate if limit.estimated else limit.node_bound)
    if offered is None:
        never = limit.worst_node >= limit.upper_bound if hosted else limit.worst_node > 1
        if never:
            return found(level="good-enough")
        return found(level="depends-on-load", affected_nodes=_largest(pressure, FIRST))
    delayed = _largest(pressure, int(np.count_nonzero(pressure * offered > 1)))
    level: Level = "good-enough"
    decides = limit.worst_node
    if not limit.estimated:
        if offered <= limit.upper_bound:
            return found(level="below-bound", margin=limit.upper_bound / offered)
        level = "most-nodes" if 2 * len(delayed) > senders else "some-nodes"
        decides = limit.upper_bound
    elif offered >= limit.average_node:
        level, decides = "most-nodes", limit.average_node
    elif offered >= limit.worst_node:
        level = "some-nodes"
    return found(level=level, margin=decides / offered, affected_nodes=delayed)


def _largest(values: np.ndarray[Any, np.dtype[np.float64]], count: int) -> tuple[int, ...]:
    order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")
    known = int(np.count_nonzero(~np.isnan(values)))
    return tuple(order[: min(count, known)].tolist())
