"""Trees that reach the optimum: out-trees from every root, no link used beyond its capacity.

The construction follows Edmonds' theorem on disjoint branchings in its capacitated form (Bérczi &
Frank, *Packing arborescences*, 2010). Trees grow link by link, without backtracking. Maximum flows
limit how often a link is used. Trees of the same root that are alike are one *batch* with a
multiplicity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.phases.collectives.kernels.trees import grow
from netloom.phases.collectives.switches import Ways, graph_of, split_off, tree_units
from netloom.workload.programs.many_lists import Lists, lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.phases.collectives.network import RankNetwork
    from netloom.phases.collectives.optimum import Optimum


@dataclass(frozen=True, eq=False)
class Forest:
    """Batches of out-trees over the ranks, and the links that each of their edges takes.

    Attributes
    ----------
    network
        In the direction of the trees, away from their roots.
    trees
        int64[num_ranks], trees of each root.
    root
        int32[num_batches], ascending.
    many
        int64[num_batches], trees of the batch. Those of a root are its ``trees`` together.
    parent
        int32[num_batches, num_ranks], the rank from which each rank receives, or −1 for the root.
    route
        int32[num_batches, num_ranks], the route by which it does, one of ``routes``, or −1.
    routes
        The links of the network that each route takes, in order.
    rate
        Bandwidth of one tree, bytes/s.
    """

    network: RankNetwork
    trees: Ints
    root: Ints
    many: Ints
    parent: Ints
    route: Ints
    routes: Lists
    rate: float

    @property
    def depth(self) -> Ints:
        """int32[num_batches, num_ranks], how many ranks pass something on before each has it."""
        found = np.full(self.parent.shape, -1, np.int32)
        rows = np.arange(len(self.root))
        found[rows, self.root] = 0
        while (found < 0).any():
            above = np.take_along_axis(found, np.maximum(self.parent, 0), axis=1)
            new = (found < 0) & (above >= 0)
            assert new.any(), "a tree that does not span"
            found[new] = above[new] + 1
        return found

    def __repr__(self) -> str:
        return (
            f"<{len(self.root)} batches of {int(self.many.sum())} trees, "
            f"depth {int(self.depth.max())}, {self.network.num_ranks} ranks>"
        )


def forest(found: Optimum, trees: int | None = None) -> Forest:
    """Return trees that reach an optimum.

    Parameters
    ----------
    found
        The optimum, of ``optimum.optimum``.
    trees
        Trees of a root of weight 1. By default the least number with which all trees are alike.
        With another number capacities are rounded down to whole trees, and some may not fit.

    Raises
    ------
    InputError
        If a switch has not as much bandwidth in as out.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.optimum import optimum
    >>> forest(optimum(rank_network(topology("torus:4x4"))))
    <37 batches of 64 trees, depth 7, 16 ranks>
    """
    capacity, each = tree_units(found, trees)
    rate = float(found.rate * found.network.unit) * found.network.bytes_per_second / each
    return packed(found.network, capacity, found.weights * each, rate)


def packed(network: RankNetwork, capacity: Ints, trees: Ints, rate: float) -> Forest:
    """Return so many trees of each root, within capacities in trees per link.

    Every rank must be able to receive all trees at once, which an optimum ensures.
    """
    ways = split_off(network, capacity, trees)
    source, target = (each.astype(np.int32) for each in np.nonzero(ways.capacity))
    offsets = np.append(0, np.cumsum(np.bincount(source, minlength=network.num_ranks)))
    left = ways.capacity[source, target].copy()
    batches = _grown((offsets.astype(np.int64), source, target), left, trees)
    return _on_cables(network, ways, (source, target), batches, trees, rate)


def _grown(
    links: tuple[Ints, Ints, Ints],
    left: Ints,
    trees: Ints,
) -> list[tuple[int, int, Ints, Ints]]:
    """Return batches: root, multiplicity, order of joining, and the link by which each joined."""
    ranks, waiting = len(trees), trees.copy()
    found = []
    slots = 2 * ranks + 8
    stack = _stack(slots, ranks)
    graph = graph_of(ranks + 1 + slots, len(left) + ranks + slots * (ranks + 1) + 8, 5)
    for root in np.flatnonzero(trees).tolist():
        waiting[root] = 0
        many, order, covered, parent = stack
        many[0], order[0, 0], covered[0] = trees[root], root, 1
        parent[0] = -1
        depth = 1
        while depth:
            if depth + ranks > slots:
                slots *= 2
                wider = _stack(slots, ranks)
                for old, new in zip(stack, wider, strict=True):
                    new[: len(old)] = old
                stack = wider
                arcs = len(left) + ranks + slots * (ranks + 1) + 8
                graph = graph_of(ranks + 1 + slots, arcs, 5)
                many, order, covered, parent = stack
            depth = int(grow(links, left, waiting, stack, depth, graph))
            assert depth >= 0, "a tree that cannot grow"
            found.append((root, int(many[depth]), order[depth].copy(), parent[depth].copy()))
    return found


def _stack(slots: int, ranks: int) -> tuple[NDArray[Any], ...]:
    return (
        np.zeros(slots, np.int64), np.zeros((slots, ranks), np.int32),
        np.zeros(slots, np.int64), np.full((slots, ranks), -1, np.int32),
    )  # fmt: skip


def _on_cables(
    network: RankNetwork,
    ways: Ways,
    ends: tuple[Ints, Ints],
    batches: list[tuple[int, int, Ints, Ints]],
    trees: Ints,
    rate: float,
) -> Forest:
    """Return the forest, batches cut where one way of a link is full and the next begins."""
    source, target = (each.tolist() for each in ends)
    numbers: dict[tuple[int, ...], int] = {}
    rest = {pair: list(ways.ways[pair]) for pair in zip(source, target, strict=True)}
    root, many, parents, routes = [], [], [], []
    for of_root, multiplicity, order, joined in batches:
        above = np.array([source[link] if link >= 0 else -1 for link in joined.tolist()], np.int32)
        while multiplicity:
            pairs = {v: (int(above[v]), v) for v in order.tolist() if above[v] >= 0}
            most = min([multiplicity, *(rest[pair][-1][0] for pair in pairs.values())])
            route = np.full(len(above), -1, np.int32)
            for vertex, pair in pairs.items():
                amount, links = rest[pair].pop()
                if amount > most:
                    rest[pair].append((amount - most, links))
                route[vertex] = numbers.setdefault(links, len(numbers))
            root.append(of_root)
            many.append(most)
            parents.append(above)
            routes.append(route)
            multiplicity -= most
    return Forest(
        network, trees, np.array(root, np.int32), np.array(many, np.int64), np.array(parents),
        np.array(routes), lists(numbers, np.int32), rate,
    )  # fmt: skip
