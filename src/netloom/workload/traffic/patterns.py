"""Patterns of traffic, and the laws that decide targets.

A pattern says which node sends how often, and to whom (Dally & Towles, section 3.2): alike, by
groups, or to few. It says nothing of time: ``stream`` turns it into packets. It is built on one of
four laws. Each can draw targets for an array of sources, and list the share of a source's packets
that goes to each target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints, owners_of, ranges
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size
from netloom.base.words import counted
from netloom.topology import Topology
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape
from netloom.workload.graphs.process_graph import ProcessGraph, mapped_nodes

# -- laws ------------------------------------------------------------------------------------------


class Shares(NamedTuple):
    """Pairs of nodes and what part of some traffic goes from the one to the other.

    ``source``, ``target``: int32[num_pairs], sorted by source, then target, no pair twice.
    ``weight``: float64[num_pairs], all above 0.
    """

    source: Ints
    target: Ints
    weight: Floats


@dataclass(frozen=True)
class Uniform:
    """Every node is as likely a target as any other. The source itself only with ``to_self``."""

    num_nodes: int
    to_self: bool

    def can_send(self) -> Bools:
        """Return bool[num_nodes]: whether a node has any target."""
        return np.ones(self.num_nodes, np.bool_)

    def draw(self, rng: np.random.Generator, sources: Ints) -> Ints:
        """Return a target for each source."""
        others = self.num_nodes - (not self.to_self)
        targets = rng.integers(0, others, len(sources), dtype=np.int32)
        if not self.to_self:
            targets += targets >= sources
        return targets

    def shares(self) -> Shares:
        """Return the targets of all nodes. A node's shares add to 1.

        Raises
        ------
        InputError
            If there are too many pairs to list.
        """
        check_size(self.num_nodes**2, where="uniform traffic", what="pairs of nodes")
        nodes = np.arange(self.num_nodes, dtype=np.int32)
        others = np.arange(self.num_nodes - (not self.to_self), dtype=np.int32)
        target = np.broadcast_to(others, (len(nodes), len(others))).copy()
        if not self.to_self:
            target += others >= nodes[:, np.newaxis]
        weight = np.full(target.size, 1 / len(others))
        return Shares(np.repeat(nodes, len(others)), target.ravel(), weight)


@dataclass(frozen=True, eq=False)
class Fixed:
    """Every node has one target, ``targets[node]`` (int32[num_nodes]), or none where that is −1."""

    targets: Ints

    def can_send(self) -> Bools:
        """Return bool[num_nodes]: whether a node has any target."""
        return self.targets >= 0

    def draw(self, rng: np.random.Generator, sources: Ints) -> Ints:  # noqa: ARG002
        """Return the target of each source."""
        return self.targets.take(sources)

    def shares(self) -> Shares:
        """Return the targets of the nodes that have one, each with share 1."""
        source = np.flatnonzero(self.can_send()).astype(np.int32)
        return Shares(source, self.targets[source], np.ones(len(source)))


@dataclass(frozen=True, eq=False)
class Weighted:
    """Every node has a list of targets with a share each, drawn by Walker's alias method.

    Node v has the cells ``offsets[v]`` … ``offsets[v + 1]`` − 1. A cell is drawn uniformly. It
    gives its own target with probability ``threshold[cell]``, otherwise ``alias[cell]`` (Walker
    1977; Vose 1991). So the cost of a draw does not depend on the length of the list.
    """

    offsets: Ints  # int64[num_nodes + 1]
    # target, alias: int32[num_cells]; targets of one node are in ascending order.
    target: Ints
    # share, threshold: float64[num_cells]; the shares of one node add to 1.
    share: Floats
    threshold: Floats
    alias: Ints

    def can_send(self) -> Bools:
        """Return bool[num_nodes]: whether a node has any target."""
        return np.diff(self.offsets) > 0

    def draw(self, rng: np.random.Generator, sources: Ints) -> Ints:
        """Return a target for each source."""
        from netloom.workload.kernels.packets import draw_weighted

        tables = (self.offsets, self.threshold, self.target, self.alias)
        targets = np.empty(len(sources), np.int32)
        draw_weighted(rng.random(len(sources)), sources, *tables, targets)
        return targets

    def shares(self) -> Shares:
        """Return the targets of all nodes. A node's shares add to 1."""
        nodes = np.arange(len(self.offsets) - 1, dtype=np.int32)
        return Shares(np.repeat(nodes, np.diff(self.offsets)), self.target, self.share)


@dataclass(frozen=True, eq=False)
class HotSpot:
    """With probability ``fraction`` to one of the hot nodes, otherwise as ``base`` has it.

    The hot nodes are taken in proportion to their weights. A node that is among them by ``rank``
    never takes itself. If it is the only one, all that it sends is as ``base`` has it.
    """

    # The law of the other packets; its nodes without a target do not send here either.
    base: Uniform | Fixed | Weighted
    fraction: float  # in (0, 1]
    hot_nodes: Ints  # int32[num_hot], ascending
    # int32[num_nodes], the place of a node among the hot ones; num_hot where it is not hot, or may
    # take itself.
    rank: Ints
    weight: Floats  # float64[num_hot], above 0; 1 where all are equal

    def can_send(self) -> Bools:
        """Return bool[num_nodes]: whether a node has any target."""
        return self.base.can_send()

    def others(self) -> Floats:
        """Return float64[num_nodes]: the weight of the hot nodes that a node may take."""
        return self._left().take(self.rank)

    def _left(self) -> Floats:
        """The same by rank, float64[num_hot + 1]."""
        before, behind = np.cumsum(self.weight), np.cumsum(self.weight[::-1])[::-1]
        left = np.append(0, before[:-1]) + np.append(behind[1:], 0)
        return np.append(left, before[-1])

    def draw(self, rng: np.random.Generator, sources: Ints) -> Ints:
        """Return a target for each source."""
        from netloom.workload.kernels.packets import draw_hot

        targets = self.base.draw(rng, sources)
        lots = rng.random(len(sources))
        places = rng.random(np.count_nonzero(lots < self.fraction))
        tables = (self.rank, self._left(), np.cumsum(self.weight), self.hot_nodes)
        draw_hot(lots, self.fraction, places, sources, *tables, targets)
        return targets

    def shares(self) -> Shares:
        """Return the targets of all nodes. A node's shares add to 1."""
        base = self.base.shares()
        num_hot, num_nodes = len(self.hot_nodes), len(self.rank)
        senders = np.flatnonzero(self.can_send())[:, np.newaxis]
        others = self.others()[senders]
        kept = np.ones(num_nodes)
        kept[senders[others > 0]] = 1 - self.fraction
        hot = (np.arange(num_hot) != self.rank[senders]) & (others > 0)
        hot_keys = (senders * num_nodes + self.hot_nodes)[hot]
        hot_share = (self.fraction * self.weight / np.where(others > 0, others, 1))[hot]
        keys = np.concatenate([base.source.astype(np.int64) * num_nodes + base.target, hot_keys])
        weight = np.concatenate([base.weight * kept[base.source], hot_share])
        return merged(num_nodes, keys, weight)


Law: TypeAlias = Uniform | Fixed | Weighted | HotSpot


def weighted(num_nodes: int, pairs: Shares) -> Weighted:
    """Return the law by which a source takes its targets in proportion to the weights of pairs.

    ``pairs``: as ``merged`` returns them. The weights may add to anything.

    Examples
    --------
    >>> law = weighted(2, Shares(*(np.array(column) for column in ([0, 0], [0, 1], [1.0, 3.0]))))
    >>> law.share
    array([0.25, 0.75])
    """
    offsets = np.append(
        0, np.cumsum(np.bincount(pairs.source, minlength=num_nodes), dtype=np.int64)
    )
    share = pairs.weight / np.bincount(pairs.source, pairs.weight)[pairs.source]
    threshold, alias = alias_tables(offsets, share)
    return Weighted(offsets, pairs.target, share, threshold, pairs.target[alias])


def merged(num_nodes: int, keys: Ints, weight: Floats) -> Shares:
    """Return pairs sorted and added up, from ``source * num_nodes + target`` in any order.

    Pairs of weight 0 are left out.

    Examples
    --------
    >>> merged(3, np.array([5, 1, 5]), np.array([1.0, 2.0, 4.0]))
    Shares(source=array([0, 1], dtype=int32), target=array([1, 2], dtype=int32),
           weight=array([2., 5.]))
    """
    if not np.all(keys[1:] > keys[:-1]):
        keys, place = np.unique(keys, return_inverse=True)
        weight = np.bincount(place, weight).astype(np.float64)
    if not weight.all():
        keys, weight = keys[weight > 0], weight[weight > 0]
    source, target = np.divmod(keys, num_nodes)
    return Shares(source.astype(np.int32), target.astype(np.int32), weight)


def alias_tables(offsets: Ints, share: Floats) -> tuple[Floats, Ints]:
    """Return Walker's tables of many distributions at once, for ``Weighted``.

    With its shares scaled to mean 1, a *light* cell (below 1) is filled up by a *heavy* one, in
    order. A heavy cell that has come below 1 itself is filled up by the next. So cell and filler
    follow from the running sums of what lights lack and heavies have to spare (Hübschle-Schneider
    & Sanders 2019, section 4), and no cell is looked at in Python.

    ``offsets``: int64[num_rows + 1]. Row r is cells ``offsets[r]`` … ``offsets[r + 1]`` − 1.
    ``share``: float64[num_cells], adding to 1 in every row that is not empty. The threshold,
    float64[num_cells] in [0, 1], is the part of a cell that is its own. The alias,
    int64[num_cells], is the cell of the same row that has the rest.

    Examples
    --------
    >>> alias_tables(np.array([0, 2]), np.array([0.25, 0.75]))
    (array([0.5, 1. ]), array([1, 1]))
    """
    lengths = np.diff(offsets)
    row = owners_of(lengths)
    scaled = share * lengths[row]
    heavy = scaled >= 1
    heavy |= (np.bincount(row[heavy], minlength=len(lengths)) == 0)[row]  # all are 1, but rounded
    lights, heavies = np.flatnonzero(~heavy), np.flatnonzero(heavy)
    light_row, heavy_row = row[lights], row[heavies]
    lacking = np.cumsum(1 - scaled[lights])
    spare = np.cumsum(np.maximum(scaled[heavies] - 1, 0))
    num_heavies = np.bincount(heavy_row, minlength=len(lengths))
    heavy_end = np.cumsum(num_heavies)
    light_end = np.cumsum(lengths - num_heavies)

    threshold, alias = np.ones(len(share)), np.arange(len(share))
    filler = np.searchsorted(spare, np.concatenate([[0.0], lacking[:-1]]))[: len(lights)]
    first, last = (heavy_end - num_heavies)[light_row], heavy_end[light_row] - 1
    threshold[lights] = scaled[lights]
    alias[lights] = heavies[np.clip(filler, first, last)]
    emptied_by = np.searchsorted(lacking, spare, side="right")
    emptied = np.flatnonzero(emptied_by < light_end[heavy_row])  # not by a light of the next row
    threshold[heavies[emptied]] = 1 + spare[emptied] - lacking[emptied_by[emptied]]
    next_heavy = np.minimum(emptied + 1, heavy_end[heavy_row[emptied]] - 1)
    alias[heavies[emptied]] = heavies[next_heavy]
    return np.clip(threshold, 0, 1), alias


# -- patterns --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Traffic:
    """Which node sends how often, and to whom. ``parse_traffic`` makes one from its name.

    Attributes
    ----------
    name
        The spec string, or what it was made from.
    num_nodes
        Number of nodes.
    rate
        float64[num_nodes], how often a node sends, relative to the others. Nodes with rate 0 do
        not send, and the mean over those that do is 1.
    law
        What decides the targets.

    Examples
    --------
    >>> pattern = permutation([1, 0, 2])  # node 2 stays where it is: it does not send
    >>> pattern.rate
    array([1., 1., 0.])
    >>> pattern.law.draw(np.random.default_rng(1), np.array([0, 1, 0], np.int32))
    array([1, 0, 1], dtype=int32)
    """

    name: str
    num_nodes: int
    rate: Floats
    law: Law

    def matrix(self) -> Shares:
        """Return the expected share of all traffic that goes from each node to each other.

        Returns
        -------
        Shares
            ``source``, ``target``, ``weight``. The weights of all sources add to 1.

        Raises
        ------
        InputError
            If there are more pairs than ``spec.MAX_ELEMENTS``.

        Examples
        --------
        >>> uniform(2).matrix()
        Shares(source=array([0, 1], dtype=int32), target=array([1, 0], dtype=int32),
               weight=array([0.5, 0.5]))
        """
        source, target, share = self.law.shares()
        weight = share * (self.rate / self.rate.sum())[source]
        sends = weight > 0
        if sends.all():
            return Shares(source, target, weight)
        return Shares(source[sends], target[sends], weight[sends])

    def __repr__(self) -> str:
        return f"<{self.name}: {np.count_nonzero(self.rate)} of {self.num_nodes} nodes send>"


def uniform(num_nodes: int, *, to_self: bool = False) -> Traffic:
    """Return the traffic in which every node is as likely a target as any other.

    Parameters
    ----------
    num_nodes
        Number of nodes.
    to_self
        Whether a node is one of its own targets.

    Raises
    ------
    InputError
        If a node has nobody to send to.

    Examples
    --------
    >>> uniform(64)
    <uniform: 64 of 64 nodes send>
    """
    name = "uniform-self" if to_self else "uniform"
    if num_nodes < 2 and not to_self:
        raise InputError(f"traffic '{name}'", f"{num_nodes} node", "at least 2, or uniform-self")
    return Traffic(name, num_nodes, np.ones(num_nodes), Uniform(num_nodes, to_self))


def permutation(targets: ArrayLike, *, to_self: bool = False, name: str = "permutation") -> Traffic:
    """Return the traffic in which every node sends to one target, all at the same rate.

    Parameters
    ----------
    targets
        int[num_nodes], need not all differ; −1 where a node does not send.
    to_self
        Whether a node whose target is itself sends to itself. Otherwise it does not send.
    name
        Named in results and errors.

    Raises
    ------
    InputError
        If a target is no node, or no node sends.

    Examples
    --------
    >>> permutation([2, 1, 0], to_self=True).rate
    array([1., 1., 1.])
    """
    where = f"traffic '{name}'"
    fixed = np.array(targets)
    num_nodes = len(fixed)
    check_nodes(fixed, num_nodes, where, "target", least=-1)
    if not to_self:
        fixed[fixed == np.arange(num_nodes)] = -1
    if not (fixed >= 0).any():
        found = "no node that sends: it leaves every node where it is"
        raise InputError(where, found, "another pattern, or the one that ends with -self")
    return Traffic(name, num_nodes, (fixed >= 0).astype(np.float64), Fixed(fixed.astype(np.int32)))


def asymmetric(num_nodes: int, *, to_self: bool = False) -> Traffic:
    """Return the traffic in which node s sends to s mod N/2 and to that plus N/2, half to each.

    One of these is the node itself, so without ``to_self`` all goes to the other.

    Parameters
    ----------
    num_nodes
        N, an even number.
    to_self
        Whether half of a node's packets are for itself.

    Raises
    ------
    InputError
        If N is odd.

    Examples
    --------
    >>> asymmetric(2, to_self=True).matrix()
    Shares(source=array([0, 0, 1, 1], dtype=int32), target=array([0, 1, 0, 1], dtype=int32),
           weight=array([0.25, 0.25, 0.25, 0.25]))
    """
    name = "asymmetric" + "-self" * to_self
    if num_nodes % 2:
        raise InputError(f"traffic '{name}'", f"{num_nodes} hosts", "an even number of them")
    nodes, half = np.arange(num_nodes), num_nodes // 2
    if not to_self:
        return permutation((nodes + half) % num_nodes, name=name)
    source, target = np.tile(nodes, 2), np.concatenate([nodes % half, nodes % half + half])
    return _weighted(name, num_nodes, source, target, np.ones(len(source)))


def pairs(
    num_nodes: int,
    sources: ArrayLike,
    targets: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    name: str = "pairs",
) -> Traffic:
    """Return the traffic between the given pairs of nodes only.

    A node sends in proportion to the weights of its pairs. Pairs that are repeated are added up.

    Parameters
    ----------
    num_nodes
        Number of nodes.
    sources, targets
        int[num_pairs], two different nodes each.
    weights
        float[num_pairs] above 0; 1 for every pair where it is not given.
    name
        Named in results and errors.

    Raises
    ------
    InputError
        If there is no pair, a node is out of range or sends to itself, or a weight is no weight.

    Examples
    --------
    >>> pairs(4, [0, 0, 3], [1, 2, 0], weights=[1, 1, 4]).rate.round(4)
    array([0.6667, 0.    , 0.    , 1.3333])
    """
    where = f"traffic '{name}'"
    source, target = np.asarray(sources), np.asarray(targets)
    weight = np.ones(len(source)) if weights is None else np.asarray(weights, np.float64)
    if not len(source) == len(target) == len(weight) or not len(source):
        found = f"{len(source)} sources, {len(target)} targets and {len(weight)} weights"
        raise InputError(where, found, "as many of each, and at least one")
    check_nodes(source, num_nodes, where, "source")
    check_nodes(target, num_nodes, where, "target")
    if (source == target).any():
        node = source[np.argmax(source == target)]
        raise InputError(where, f"the pair {node}-{node}", "two different nodes")
    check_weights(weight, where)
    return _weighted(name, num_nodes, source, target, weight)


def from_process_graph(
    graph: ProcessGraph,
    node_of: ArrayLike,
    num_nodes: int,
    *,
    weight: Literal["bytes", "messages", "uniform"] = "bytes",
) -> Traffic:
    """Return the traffic of a program under a mapping: who sends to whom, in what proportion.

    A node sends in proportion to what its tasks send to other nodes. What stays within a node
    never enters the network.

    Parameters
    ----------
    graph
        The program.
    node_of
        int[num_tasks], the node of each task. Several tasks may share a node.
    num_nodes
        Number of nodes of the network.
    weight
        What counts of an edge: its bytes, its messages, or that it is there (``uniform``).

    Raises
    ------
    NotAMappingError
        If ``node_of`` has not one node of the network for each task.
    InputError
        If nothing crosses the network, or there is no such weight.

    Examples
    --------
    >>> from netloom.workload import line
    >>> from_process_graph(line(4), [0, 0, 1, 2], 3).rate  # both ways 0-1 and 1-2
    array([0.75, 1.5 , 0.75])
    """
    if weight not in ("bytes", "messages", "uniform"):
        raise InputError("weight", f"'{weight}'", "bytes, messages or uniform")
    nodes = mapped_nodes(node_of, graph.num_tasks, num_nodes)
    carried = graph.weights(weight)
    source, target = nodes[graph.source], nodes[graph.target]
    crosses = (source != target) & (carried > 0)
    if not crosses.any():
        found = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, found, "communication that enters the network")
    return _weighted(graph.name, num_nodes, source[crosses], target[crosses], carried[crosses])


def with_rates(traffic: Traffic, rates: ArrayLike) -> Traffic:
    """Return the same traffic with other rates of its nodes.

    Parameters
    ----------
    traffic
        What decides the targets.
    rates
        float[num_nodes], none negative, not all 0. Only their proportions count.

    Raises
    ------
    InputError
        If they are not such rates, or a node that has no target would send.

    Examples
    --------
    >>> with_rates(uniform(4), [3, 1, 0, 0]).rate
    array([1.5, 0.5, 0. , 0. ])
    """
    given = np.asarray(rates, np.float64)
    if given.shape != (traffic.num_nodes,):
        wanted = f"one for each of {traffic.num_nodes} nodes"
        raise InputError("rates", f"an array of shape {given.shape}", wanted)
    wrong = ~(np.isfinite(given) & (given >= 0))
    if wrong.any():
        node = int(np.argmax(wrong))
        found = f"{given[node]:g} for node {node}"
        raise InputError("rates", found, "numbers that are not negative")
    if not given.any():
        raise InputError("rates", "no node that sends", "at least one rate above 0")
    lost = (given > 0) & ~traffic.law.can_send()
    if lost.any():
        found = f"{given[lost][0]:g} for node {int(np.argmax(lost))}"
        raise InputError("rates", found, f"0 for nodes that have no target in '{traffic.name}'")
    return replace(traffic, name=f"{traffic.name} with given rates", rate=_mean_one(given))


def check_weights(weights: Floats, where: str) -> None:
    """Refuse weights that are not finite numbers above 0."""
    wrong = ~(np.isfinite(weights) & (weights > 0))
    if wrong.any():
        raise InputError(where, f"weight {weights[np.argmax(wrong)]:g}", "a number above 0")


def _weighted(
    name: str, num_nodes: int, source: NDArray[Any], target: NDArray[Any], weight: Floats
) -> Traffic:
    """Traffic from pairs of nodes in any order, with weights above 0."""
    keys = source.astype(np.int64) * num_nodes + target
    found = merged(num_nodes, keys, weight / weight.max())
    sent = np.bincount(found.source, found.weight, minlength=num_nodes)
    return Traffic(name, num_nodes, _mean_one(sent.astype(np.float64)), weighted(num_nodes, found))


def _mean_one(rates: Floats) -> Floats:
    """Rates in the same proportions, whose mean over the nodes that send is 1."""
    scaled = rates / rates.max()  # so that no sum is too large for a float
    return np.asarray(scaled / scaled[scaled > 0].mean())


def check_nodes(
    nodes: NDArray[Any], num_nodes: int, where: str, what: str, *, least: int = 0
) -> None:
    """Refuse what are not nodes of the network, or from ``least`` on."""
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
        found = f"{what}s of type {nodes.dtype} and shape {nodes.shape}"
        raise InputError(where, found, "a list of whole numbers")
    wrong = (nodes < least) | (nodes >= num_nodes)
    if wrong.any():
        found = f"{what} {nodes[np.argmax(wrong)]}"
        raise InputError(where, found, f"{least} to {num_nodes - 1}")


# -- towards few nodes, and between groups ---------------------------------------------------------


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
    >>> hot_spot(uniform(4), 0.25, [3]).matrix().weight[:3] * 4
    array([0.25, 0.25, 0.5 ])
    >>> hot_spot(uniform(4), 1, [3, 1], weights=[3, 1]).matrix().weight[:2] * 4
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
    named = []
    for node, by in zip(hot.tolist(), weight.tolist(), strict=True):
        short = f"{by:g}" if float(f"{by:g}") == by else repr(by)  # as few digits as it takes
        named.append(f"{node}" if by == 1 else f"{node}*{short}")
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


def adversarial(topology: Topology, ahead: int = 1, *, name: str | None = None) -> Traffic:
    """Return the traffic in which each host sends to any host of the group ``ahead`` further.

    After the last group comes the first. A *group* is

    - a group of a dragonfly or dragonfly+. Minimal routing carries 1 / (a p) flits/host/cycle of
      this traffic over the one link between two groups (Kim, Dally, Scott & Abts,
      *Technology-driven, highly-scalable dragonfly topology*, 2008).
    - a pod of a fat tree: the hosts below one child of the roots, so in a leaf-spine network the
      hosts of one leaf,
    - a row of a HyperX: the hosts whose routers agree in the first coordinate, of those of which
      there are several. So it is a plane in three dimensions, and a router in one. Minimal routing
      carries the traffic of all hosts of a router over one link.

    Parameters
    ----------
    topology
        The network.
    ahead
        From 1 on, less than the number of groups.
    name
        Named in results and errors. ``adversarial:+K`` by default.

    Raises
    ------
    InputError
        If the network has no groups, or not so many, or too many pairs of hosts.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> adversarial(topology("dragonfly:2x4x2"), 2)
    <adversarial:+2: 72 of 72 nodes send>
    """
    name = name or ("adversarial" if ahead == 1 else f"adversarial:+{ahead}")
    group = _groups(topology, f"traffic '{name}'")
    count = int(group.max()) + 1
    if count < 2:
        raise InputError(f"traffic '{name}'", f"one group of {topology.name}", "at least two")
    if not 1 <= ahead < count:
        raise InputError(f"traffic '{name}'", f"{ahead} groups ahead", f"1 to {count - 1}")
    sizes = np.bincount(group, minlength=count)
    many = np.roll(sizes, -ahead)[group]
    check_size(int(many.sum()), where=f"traffic '{name}'", what="pairs of hosts")
    by_group = np.argsort(group, kind="stable")
    first = np.roll(np.cumsum(sizes) - sizes, -ahead)[group]
    source = owners_of(many)
    target = by_group[ranges(first, many)]
    weight = 1 / np.repeat(many, many)
    return pairs(topology.num_hosts, source, target, weights=weight, name=name)


def _groups(topology: Topology, where: str) -> Ints:
    """Return int64[num_hosts], the group that each host belongs to."""
    shape = topology.family
    if isinstance(shape, TreeShape):
        hosts = np.arange(topology.num_hosts)
        place = hosts if shape.host_at is None else np.argsort(shape.host_at)
        return place // (len(hosts) // shape.children[-1])
    if isinstance(shape, DragonflyShape):
        return topology.switch_of[first_router(topology)] // shape.routers
    if isinstance(shape, HyperXShape):
        sides = [side for side in shape.sides if side > 1]
        return topology.switch_of[first_router(topology)] // prod(sides[1:])
    wanted = (
        "a dragonfly, whose routers are in groups, or a fat tree, whose pods are, or a HyperX, "
        "whose rows are"
    )
    raise InputError(where, f"the network {topology.name}", wanted)


def first_router(topology: Topology) -> Ints:
    """Return int64[num_hosts], the router that the first port of each host hangs on."""
    return topology.injection_router[topology.port_offsets[:-1]].astype(np.int64)
