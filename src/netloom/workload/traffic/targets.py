"""What decides the targets of packets: four laws, which a traffic pattern is built on.

Each can draw targets for an array of sources, and list the share of a source's packets that goes to
each target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.base.spec import check_size

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints


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

    def shares(self, start: int, stop: int) -> Shares:
        """Return the targets of nodes ``start`` … ``stop`` − 1. A node's shares add to 1.

        Raises
        ------
        InputError
            If there are too many pairs to list.
        """
        check_size((stop - start) * self.num_nodes, where="uniform traffic", what="pairs of nodes")
        nodes = np.arange(start, stop, dtype=np.int32)
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
        return np.asarray(self.targets >= 0)

    def draw(self, rng: np.random.Generator, sources: Ints) -> Ints:  # noqa: ARG002
        """Return the target of each source."""
        return self.targets.take(sources)

    def shares(self, start: int, stop: int) -> Shares:
        """Return the targets of the nodes ``start`` … ``stop`` − 1, each with share 1."""
        source = np.flatnonzero(self.targets[start:stop] >= 0).astype(np.int32) + np.int32(start)
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

    def shares(self, start: int, stop: int) -> Shares:
        """Return the targets of nodes ``start`` … ``stop`` − 1. A node's shares add to 1."""
        cells = slice(self.offsets[start], self.offsets[stop])
        nodes = np.arange(start, stop, dtype=np.int32)
        source = np.repeat(nodes, np.diff(self.offsets[start : stop + 1]))
        return Shares(source, self.target[cells], self.share[cells])


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

    def shares(self, start: int, stop: int) -> Shares:
        """Return the targets of nodes ``start`` … ``stop`` − 1. A node's shares add to 1."""
        base = self.base.shares(start, stop)
        num_hot, num_nodes = len(self.hot_nodes), len(self.rank)
        senders = np.flatnonzero(self.can_send()[start:stop])[:, np.newaxis] + start
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
    row = np.repeat(np.arange(len(lengths)), lengths)
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
