"""Traffic towards few nodes: hot spots, to which everybody sends something, and incasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.words import counted
from netloom.workload.traffic.patterns import Traffic, check_nodes, check_weights, permutation
from netloom.workload.traffic.targets import HotSpot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def hot_spot(
    base: Traffic,
    fraction: float,
    nodes: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    to_self: bool = False,
) -> Traffic:
    """Return traffic of which a fraction goes to a few hot nodes (Pfister & Norton 1985).

    A packet of any node goes with probability ``fraction`` to one of the hot nodes, in proportion
    to their weights, never the source itself. Otherwise, and always from a node that is the only
    hot one, it goes where ``base`` sends it. Rates are those of ``base``.

    Parameters
    ----------
    base
        The traffic of the other packets.
    fraction
        Above 0, at most 1.
    nodes
        int[num_hot] different nodes.
    weights
        float[num_hot] above 0. The same for all by default.
    to_self
        Whether a hot node's own packets may be for itself.

    Raises
    ------
    InputError
        If the fraction, a node or a weight is out of range, or a node is named twice.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> hot_spot(uniform(4), 0.25, [3]).matrix(0, 1).weight * 4
    array([0.25, 0.25, 0.5 ])
    >>> hot_spot(uniform(4), 1, [3, 1], weights=[3, 1]).matrix(0, 1).weight * 4
    array([0.25, 0.75])
    """
    if not 0 < fraction <= 1:
        raise InputError("traffic 'hotspot'", f"fraction {fraction}", "above 0, at most 1")
    if isinstance(base.law, HotSpot):
        raise InputError("traffic 'hotspot'", f"'{base.name}' below it", "one hot spot only")
    hot, first = np.unique(np.asarray(nodes), return_index=True)
    name = f"hotspot{'-self' * to_self}:{fraction}:"
    where = f"traffic '{name}{','.join(map(str, hot.tolist()))}'"
    check_nodes(hot, base.num_nodes, where, "hot node")
    if len(hot) != np.size(nodes) or not len(hot):
        raise InputError(where, f"{np.size(nodes)} hot nodes", "one or more, each named once")
    weight = np.ones(len(hot)) if weights is None else np.asarray(weights, np.float64)
    if weight.shape != hot.shape:
        raise InputError(where, f"{weight.size} weights", f"one for each of {len(hot)} hot nodes")
    check_weights(weight, where)
    weight = weight[first]
    named = [_named(node, by) for node, by in zip(hot.tolist(), weight.tolist(), strict=True)]
    name += ",".join(named) + f":{base.name}" * (base.name != "uniform")
    rank = np.full(base.num_nodes, len(hot), np.int32)
    if not to_self:
        rank[hot] = np.arange(len(hot), dtype=np.int32)
    scaled = np.ones(len(hot)) if weight.min() == weight.max() else weight / weight.max()
    law = HotSpot(base.law, float(fraction), hot.astype(np.int32), rank, scaled)
    return Traffic(name, base.num_nodes, base.rate, law)


def incast(
    num_nodes: int, senders: int | None, targets: ArrayLike = (0,), *, seed: int = DEFAULT_SEED
) -> Traffic:
    """Return the traffic in which many nodes send to one, or to each of several nodes.

    Each target has senders of its own, drawn at random among the nodes that are no targets.

    Parameters
    ----------
    num_nodes
        Number of nodes.
    senders
        Senders of each target. None: all nodes that are no targets, dealt out to the targets.
    targets
        int[] different nodes.
    seed
        Of which nodes send.

    Raises
    ------
    InputError
        If there are not so many nodes, or a target is no node or named twice.

    Examples
    --------
    >>> incast(8, None).matrix().target.tolist()
    [0, 0, 0, 0, 0, 0, 0]
    >>> incast(64, 8, [0, 63])
    <incast:8:0,63: 16 of 64 nodes send>
    """
    to = np.asarray(targets)
    name = f"incast:{'all' if senders is None else senders}:{','.join(map(str, to.tolist()))}"
    name += f":{seed}" * (seed != DEFAULT_SEED)
    where = f"traffic '{name}'"
    check_nodes(to, num_nodes, where, "target")
    if not len(to) or len(np.unique(to)) < len(to):
        raise InputError(where, f"{len(to)} targets", "one or more, each named once")
    others = np.setdiff1d(np.arange(num_nodes), to)
    most = len(others) // len(to)
    if not 1 <= (1 if senders is None else senders) <= most:
        found = f"{'all' if senders is None else senders} senders, {counted(len(to), 'target')}"
        wanted = (
            f"1 to {most} senders of each, among {num_nodes} nodes" if most else "fewer targets"
        )
        raise InputError(where, found, wanted)
    drawn = np.random.default_rng(seed).permutation(others)
    chosen = drawn if senders is None else drawn[: senders * len(to)]
    target_of = np.full(num_nodes, -1, np.int64)
    target_of[chosen] = np.resize(to, len(chosen))
    return permutation(target_of, name=name)


def _named(node: int, weight: float) -> str:
    """Return a hot node with its weight, in as few digits as it takes."""
    short = f"{weight:g}" if float(f"{weight:g}") == weight else repr(weight)
    return str(node) if weight == 1 else f"{node}*{short}"
