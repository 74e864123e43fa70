"""Tori, meshes, hypercubes and HyperX, recognized as products of rings, lines and full graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints

MOST_WORK = 10**8
"""Most comparisons of two cables that recognition may take."""

MOST_LACKING, MOST_MENDED = 32, 4096
"""Most ends of cables that a damaged grid may lack to be recognized, and most switches."""

MOST_PAIRINGS = 16
"""Most ways of joining such switches again that are tried."""


def grid_words(routers: int, here: Ints, there: Ints) -> str:
    """Return which torus, mesh, hypercube or HyperX some switches make. Empty if none.

    ``here`` and ``there``, int64[num_pairs], are the switches that cables join, each pair once. A
    grid of these kinds is a Cartesian product of rings, lines and full graphs. Its edges fall into
    one class for each prime factor. By Feder (1992), "Product graph representations", the classes
    are the closure of two relations, Θ and τ. Edges xy and uv are in Θ if d(x,u) + d(y,v) ≠ d(x,v)
    + d(y,u). Two edges at a vertex are in τ if their other ends have no other neighbour in common.
    A ring of four is a product of two lines of two and is put together again.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> def words(spec):
    ...     net = topology(spec)
    ...     once = net.channel_source < net.channel_target
    ...     ends = net.channel_source[once], net.channel_target[once]
    ...     return grid_words(net.num_vertices, *(each.astype(int) for each in ends))
    >>> words("mesh:4x3"), words("torus:8x4x5"), words("hypercube:3"), words("slim-fly:5/1")
    ('mesh 4x3', 'torus 8x5x4', 'hypercube of 3 dimensions', '')
    """
    if not len(here) or routers * len(here) > MOST_WORK:
        return ""
    factor = _classes(routers, here, there)
    if factor is None:
        return ""
    factors = [_factor(factor == each, here, there) for each in np.unique(factor).tolist()]
    if any(kind == "" for kind, _ in factors) or np.prod([s for _, s in factors]) != routers:
        return ""
    return _words(factors)


def mended(routers: int, here: Ints, there: Ints) -> tuple[str, list[tuple[int, int]]]:
    """Return which torus, hypercube or HyperX a network was, and the pairs that a cable joined.

    Switches with fewer cables than most are joined again. A few pairings are tried, those whose
    pairs are most like joined ones in the number of common neighbours and of paths of three cables.
    Or all are joined to a missing switch. The result must be such a grid. If it is none, there are
    no words and no pairs. Pairs with ``routers`` are those of a missing switch.

    Examples
    --------
    >>> a, b = np.array([(x, y) for x in range(6) for y in range(6) if (x - y) % 6 in (1, 5)]).T
    >>> ring = (a < b) & ((a > 0) | (b < 5))
    >>> ladder = np.append(a[ring], a[ring] + 6), np.append(b[ring], b[ring] + 6)
    >>> mended(12, *(np.append(ends, np.arange(6) + 6 * n) for n, ends in enumerate(ladder)))
    ('torus 6x2', [(0, 5), (6, 11)])
    """
    degree = np.bincount(np.append(here, there), minlength=routers)
    lacks = degree.max() - degree
    few = np.flatnonzero(lacks)
    total = int(lacks.sum())
    if not 0 < total <= min(MOST_LACKING, routers) or routers > MOST_MENDED:
        return "", []
    attempts = []
    if total % 2 == 0:
        attempts += _pairings(few, lacks[few].tolist(), _likeness(routers, here, there, few))
    if total == degree.max() == len(few):
        attempts.append([(router, routers) for router in few.tolist()])
    for pairs in attempts[: max(1, MOST_WORK // (routers * len(here)))]:
        a, b = np.array(pairs).T
        size = routers + int(b.max() == routers)
        words = grid_words(size, np.append(here, a), np.append(there, b))
        if words:
            return words, sorted(pairs)
    return "", []


def _likeness(routers: int, here: Ints, there: Ints, few: Ints) -> Floats:
    """Return how little two switches are like two that are joined. Infinity for those that are."""
    from scipy.sparse import coo_array

    rows, columns = np.append(here, there), np.append(there, here)
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(routers, routers)).tocsr()
    two = graph @ graph
    three = two @ graph
    degree = np.bincount(rows, minlength=routers)
    back_and_forth = degree[here] + degree[there] - 1
    common = float(np.median(np.asarray(two[here, there]).ravel()))
    ways = float(np.median(np.asarray(three[here, there]).ravel() - back_and_forth))
    apart = np.abs(two[few][:, few].toarray() - common)
    apart += np.abs(three[few][:, few].toarray() - ways)
    apart[graph[few][:, few].toarray() > 0] = np.inf
    np.fill_diagonal(apart, np.inf)
    found: Floats = apart
    return found


def _clear(apart: Floats) -> float:
    """Return by how much the best choice is better than the next."""
    best = np.sort(apart)[:2]
    return float(best[1] - best[0]) if len(best) > 1 and np.isfinite(best[0]) else 0.0


def _pairings(few: Ints, left: list[int], apart: Floats) -> list[list[tuple[int, int]]]:
    """Return a few ways to take up what each switch lacks, by pairs that are not joined."""
    found: list[list[tuple[int, int]]] = []
    steps = 0

    def go_on(pairs: list[tuple[int, int]]) -> None:
        nonlocal steps
        steps += 1
        open_ends = [end for end, lack in enumerate(left) if lack]
        if not open_ends:
            found.append([(int(few[a]), int(few[b])) for a, b in pairs])
        if not open_ends or len(found) >= MOST_PAIRINGS or steps > 100 * MOST_PAIRINGS:
            return
        a = max(open_ends, key=lambda end: (_clear(apart[end, open_ends]), -end))
        for b in sorted((end for end in open_ends if end != a), key=lambda end: apart[a, end]):
            if np.isinf(apart[a, b]) or (min(a, b), max(a, b)) in pairs:
                continue
            left[a] -= 1
            left[b] -= 1
            go_on([*pairs, (min(a, b), max(a, b))])
            left[a] += 1
            left[b] += 1

    go_on([])
    return found


def _words(factors: list[tuple[str, int]]) -> str:
    kinds = {kind for kind, size in factors if size > 2}
    sides = [size for _, size in factors if size > 2]
    twos = len(factors) - len(sides)
    if not kinds:
        if twos == 1:
            return "two switches"
        fours = f", which is a torus {'x'.join(['4'] * (twos // 2))}" if twos % 2 == 0 else ""
        return "ring of 4" if twos == 2 else f"hypercube of {twos} dimensions{fours}"
    if kinds == {"full"} and len(factors) == 1:
        return f"full mesh of {sides[0]} switches"
    if "full" in kinds:
        sides += [2] * twos
        return f"HyperX {_by_size(sides)}" if kinds <= {"full", "three"} else ""
    if "line" not in kinds:
        sides += [4] * (twos // 2) + [2] * (twos % 2)
        return f"torus {_by_size(sides)}" if len(sides) > 1 else f"ring of {sides[0]}"
    if kinds == {"line"}:
        sides += [2] * twos
        return f"mesh {_by_size(sides)}" if len(sides) > 1 else f"line of {sides[0]}"
    wraps = sorted((size for kind, size in factors if kind != "line" and size > 2), reverse=True)
    lines = sorted((size for kind, size in factors if kind == "line"), reverse=True)
    wraps += [4] * (twos // 2)
    lines += [2] * (twos % 2)
    return f"mesh {'x'.join([*(f'{each}w' for each in wraps), *map(str, lines)])} (w wraps)"


def _by_size(sides: list[int]) -> str:
    return "x".join(map(str, sorted(sides, reverse=True)))


def _classes(routers: int, here: Ints, there: Ints) -> Ints | None:
    """Return the factor of each edge, int64[num_pairs]. None where not all are in one piece."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, shortest_path

    rows, columns = np.append(here, there), np.append(there, here)
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(routers, routers)).tocsr()
    distance = shortest_path(graph, unweighted=True)
    if np.isinf(distance).any():
        return None
    distance = distance.astype(np.int16)
    factor = np.arange(len(here))
    order, before = breadth_first_order(graph, 0)
    for end in order[1:].tolist():
        start = int(before[end])
        ahead = distance[start, here] + distance[end, there]
        _join(factor, ahead != distance[start, there] + distance[end, here])
    edge = {
        pair: number for number, pair in enumerate(zip(here.tolist(), there.tolist(), strict=True))
    }
    edge |= {(b, a): number for (a, b), number in edge.items()}
    common = (graph @ graph).toarray()
    for middle in range(routers):
        ends = graph.indices[graph.indptr[middle] : graph.indptr[middle + 1]]
        alone = (common[np.ix_(ends, ends)] == 1) & (distance[np.ix_(ends, ends)] == 2)
        for a, b in np.argwhere(np.triu(alone)).tolist():
            first, second = edge[middle, int(ends[a])], edge[middle, int(ends[b])]
            if factor[first] != factor[second]:
                factor[factor == factor[second]] = factor[first]
    return factor


def _join(factor: Ints, related: Bools) -> None:
    """Put the classes of related edges together."""
    classes = np.unique(factor[related])
    if len(classes) > 1:
        factor[np.isin(factor, classes)] = classes[0]


def _factor(mine: Bools, here: Ints, there: Ints) -> tuple[str, int]:
    """Return what the edges of a factor make around one vertex, and its number of vertices."""
    beside: dict[int, list[int]] = {}
    for a, b in zip(here[mine].tolist(), there[mine].tolist(), strict=True):
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    start = next(iter(beside))
    found, todo = {start}, [start]
    while todo:
        more = [each for each in beside[todo.pop()] if each not in found]
        found.update(more)
        todo += more
    degrees = sorted(len(beside[each]) for each in found)
    size = len(found)
    if size == 2:
        return "two", 2
    if size == 3 and degrees == [2, 2, 2]:
        return "three", 3
    if degrees[0] == degrees[-1] == size - 1:
        return "full", size
    if degrees[0] == degrees[-1] == 2:
        return "ring", size
    if degrees[:2] == [1, 1] and degrees[2:] == [2] * (size - 2):
        return "line", size
    return "", size
