"""Shapes of networks: the regular one that a file resembles, and what is missing to it.

Trees and dragonflies are told by levels and groups. Tori, meshes, hypercubes and HyperX are
recognized as products of rings, lines and full graphs, also if a few cables or a switch are
missing. Adapters of a rail belong together: which of its computer's adapters each one is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.words import counted
from netloom.topology.core import Topology, adjacency, joined
from netloom.topology.measures import heights
from netloom.topology.names import folded, natural, short_switch_name

# -- the shape that cables make --------------------------------------------------------------------


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
    ...     return grid_words(net.num_routers, *(each.astype(int) for each in ends))
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


def _beside(routers: int, here: Ints, there: Ints) -> Any:
    """Return which switches cables join, as a sparse matrix."""
    return adjacency(routers, np.append(here, there), np.append(there, here))


def _likeness(routers: int, here: Ints, there: Ints, few: Ints) -> Floats:
    """Return how little two switches are like two that are joined. Infinity for those that are."""
    graph = _beside(routers, here, there)
    two = graph @ graph
    three = two @ graph
    degree = np.bincount(np.append(here, there), minlength=routers)
    back_and_forth = degree[here] + degree[there] - 1
    common = float(np.median(np.asarray(two[here, there]).ravel()))
    ways = float(np.median(np.asarray(three[here, there]).ravel() - back_and_forth))
    apart = np.abs(two[few][:, few].toarray() - common)
    apart += np.abs(three[few][:, few].toarray() - ways)
    apart[graph[few][:, few].toarray() > 0] = np.inf
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart)


def _clear(apart: Floats) -> float:
    """Return by how much the best choice is better than the next."""
    best = np.sort(apart)[:2]
    return float(best[1] - best[0]) if len(best) > 1 and np.isfinite(best[0]) else 0.0


def _pairings(few: Ints, left: list[int], apart: Floats) -> list[list[tuple[int, int]]]:
    """Return a few ways to take up what each switch lacks, by pairs that are not joined."""
    found = []
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
    from scipy.sparse.csgraph import breadth_first_order, shortest_path

    graph = _beside(routers, here, there)
    distance = shortest_path(graph, unweighted=True)
    if np.isinf(distance).any():
        return None
    distance = distance.astype(np.int16)
    factor = np.arange(len(here))
    order, before = breadth_first_order(graph, 0)
    for end in order[1:].tolist():
        start = int(before[end])
        ahead = distance[start, here] + distance[end, there]
        # put the classes of related edges together
        classes = np.unique(factor[(ahead != distance[start, there] + distance[end, here])])
        if len(classes) > 1:
            factor[np.isin(factor, classes)] = classes[0]
    pairs = zip(here.tolist(), there.tolist(), strict=True)
    edge = {pair: number for number, pair in enumerate(pairs)}
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


def _factor(mine: Bools, here: Ints, there: Ints) -> tuple[str, int]:
    """Return what the edges of a factor make around one vertex, and its number of vertices."""
    ends = here[mine], there[mine]
    degree = np.bincount(np.append(*ends))
    part = joined(len(degree), *ends)
    degrees = sorted(degree[part == part[ends[0][0]]].tolist())
    size = len(degrees)
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


_NUMBERED = re.compile(r"^(.*?)(\d+)(\D*)$")

FEW = 0.1
"""A name that a smaller share of computers has an adapter of makes no rail between the others."""

MOST = 0.8
"""Share of a leaf's adapters that must be of one rail for the leaf to be of that rail."""


class Adapter(NamedTuple):
    """An adapter: its computer's name and its own, either empty where unknown, and its leaf."""

    computer: str
    name: str
    leaf: int


def rails_of(adapters: list[Adapter]) -> tuple[list[int], tuple[str, ...]]:
    """Return the rail of each adapter, −1 where it is not known, and what the rails are called.

    Adapters of all computers that are called alike (``mlx5_4``) are one rail. If computers use
    several naming schemes (``HCA-5``, ``mlx5_4``), the rail is the rank of the name in its scheme.
    Only names that a tenth of such computers have are counted, so a missing adapter shifts nothing.
    The rail of an adapter whose computer or own name is unknown is that of its leaf, if the leaf
    has one. If every computer has one adapter, there is one rail without a name.

    Examples
    --------
    >>> ways = [("a", "HCA-1"), ("a", "HCA-5"), ("b", "mlx5_4"), ("b", "mlx5_0"), ("c", "HCA-5")]
    >>> rails_of([Adapter(*each, leaf=0) for each in ways])
    ([0, 1, 1, 0, 1], ('HCA-1, mlx5_0', 'HCA-5, mlx5_4'))
    """
    named = [each for each in adapters if each.computer]
    if len({each.computer for each in named}) == len(named):
        return [0] * len(adapters), ()
    rank = _ranks(named)
    place: Counter[str] = Counter()
    rails = []
    for each in adapters:
        known = rank.get(each.name, -1) if each.computer else -1
        if each.computer and not each.name:
            known = place[each.computer]
        place[each.computer] += 1
        rails.append(known)
    leaf_rail = leaf_rails(adapters, rails)
    rails = [
        leaf_rail.get(each.leaf, -1) if rail < 0 else rail
        for each, rail in zip(adapters, rails, strict=True)
    ]
    called = [
        ", ".join(name for name in sorted(rank, key=natural) if rank[name] == rail)
        or f"adapter {rail + 1}"
        for rail in range(max(rails) + 1)
    ]
    return rails, tuple(called)


def leaf_rails(adapters: list[Adapter], rails: list[int]) -> dict[int, int]:
    """Return the rail of each leaf on which nearly all adapters, and two at least, are of one."""
    on: dict[int, Counter[int]] = {}
    for each, rail in zip(adapters, rails, strict=True):
        if rail >= 0:
            on.setdefault(each.leaf, Counter())[rail] += 1
    most = {leaf: counts.most_common(1)[0] for leaf, counts in on.items()}
    return {
        leaf: rail
        for leaf, (rail, count) in most.items()
        if count >= max(2, MOST * on[leaf].total())
    }


def _ranks(named: list[Adapter]) -> dict[str, int]:
    """Return the rank of each name of an adapter among those of its way of numbering."""
    ways: dict[tuple[str, str], dict[str, set[str]]] = {}
    for each in named:
        if each.name:
            found = _NUMBERED.match(each.name)
            way = (found[1], found[3]) if found else (each.name, "")
            ways.setdefault(way, {}).setdefault(each.name, set()).add(each.computer)
    rank: dict[str, int] = {}
    for names in ways.values():
        computers = len(set().union(*names.values()))
        usual = [name for name, owners in names.items() if len(owners) >= FEW * computers]
        order = [*sorted(usual, key=natural), *sorted(set(names) - set(usual), key=natural)]
        rank |= {name: place for place, name in enumerate(order)}
    return rank


NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
FEW_HOSTS = 0.25
"""A switch with no larger share of what most have may stand above those with hosts."""

NEARLY_ALL = 0.8
"""Share of the pairs of groups that must be joined in a damaged dragonfly, or of rails' leaves."""

MOST_GROUPS = 0.6
"""Share of the groups of a damaged dragonfly that must be of one size."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What the cables between switches make.

    Attributes
    ----------
    kind
        ``tree``, ``dragonfly``, ``dragonfly+``, ``grid`` (a torus, mesh, hypercube or HyperX),
        ``switch`` (one), or empty where none of these is known.
    words
        The same in words.
    level
        int64[num_routers], 0 for switches with hosts, 1 for those above …; −1 for those without a
        cable to another. All 0 where there are no levels.
    lower, upper, count
        int64[num_pairs] each: switches that are joined, the lower level first, each pair once, and
        the number of cables between them.
    lost
        Pairs of switches of a grid that no cable joins, but one would. The second is num_routers
        where it is a switch that is gone.
    group
        int32[num_routers], the group of each switch of a dragonfly or dragonfly+. None elsewhere.
    """

    kind: str
    words: str
    level: Ints
    lower: Ints
    upper: Ints
    count: Ints
    lost: tuple[tuple[int, int], ...] = ()
    group: Ints | None = None

    def role(self, router: int) -> str:
        """Return what a switch is called after its level."""
        level, top = int(self.level[router]), int(self.level.max())
        names = ("leaf", "spine", "core")
        tiered = self.kind in {"tree", "dragonfly+"} and 0 <= level <= top <= 2
        return names[level] if tiered else "switch"


def shape_of(topology: Topology) -> Shape:
    """Return what kind of network the cables between switches make.

    Levels of a tree are distances from switches with hosts. That cables or switches are missing
    does not change them.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> shape_of(topology("leaf-spine:8x4x8")).words, shape_of(topology("dragonfly:2x4x2")).words
    ('two-level tree of 8 leaves and 4 spines', 'dragonfly of 9 groups of 4 switches')
    >>> shape_of(topology("torus:5x5/2")).words, shape_of(topology("jellyfish:32x5x3/1")).words
    ('torus 5x5', 'no known shape')
    """
    routers = topology.num_routers
    # each two routers that cables join, the lower number first, and how many cables
    source, target = topology.routers.channel_source, topology.routers.channel_target
    once = source < target
    keys = source[once].astype(np.int64) * routers + target[once]
    pairs, count = np.unique(keys, return_counts=True)
    here, there = np.divmod(pairs, routers)
    hosts = np.bincount(topology.injection_router, minlength=routers)
    if routers == 1:
        return Shape("switch", "one switch", np.zeros(1, np.int64), here, there, count)

    def tiered(kind: str, words: str, group: Ints | None = None) -> Shape:
        lower, upper = np.where(level[here] <= level[there], (here, there), (there, here))
        if found := rails(topology)[1]:
            words += f", rail-optimised, {len(set(found.values()))} rails"
        return Shape(kind, words, level, lower, upper, count, group=group)

    for few in (0.0, FEW_HOSTS * float(np.median(hosts[hosts > 0]))):
        level = _levels(hosts > few, here, there)
        steps = np.abs(level[here] - level[there])
        if len(here) and (steps == 1).all():
            return tiered("tree", _tree_words(level[topology.inner_part < 0]))
    level = _levels(hosts > 0, here, there)
    if parted := _plus(level, here, there):
        return tiered("dragonfly+", *parted)
    none = np.zeros(routers, np.int64)
    found = grid_words(routers, here, there)
    if found:
        return Shape("grid", found, none, here, there, count)
    if parted := _dragonfly(routers, here, there):
        return Shape("dragonfly", parted[0], none, here, there, count, group=parted[1])
    found, lost = mended(routers, here, there)
    if found:
        gone = sum(b == routers for _, b in lost)
        lack = "a switch" if gone else "a cable" if len(lost) == 1 else f"{len(lost)} cables"
        words = f"{found} that lacks {lack}"
        return Shape("grid", words, none, here, there, count, tuple(lost))
    return Shape("", "no known shape", none, here, there, count)


def _levels(lowest: Bools, here: Ints, there: Ints) -> Ints:
    """Return distances from some switches.

    One all of whose neighbours are parents of a lower switch stands beside that: it is a leaf that
    has lost its hosts.
    """
    level = heights(lowest, np.append(here, there), np.append(there, here), len(lowest))
    level[level == len(lowest)] = -1
    neighbours: list[set[int]] = [set() for _ in level]
    for a, b in zip(here.tolist(), there.tolist(), strict=True):
        neighbours[a].add(b)
        neighbours[b].add(a)
    for router in np.argsort(level, kind="stable").tolist():
        step = int(level[router])
        if step < 2 or len(neighbours[router]) < 2:
            continue
        siblings = {s for n in neighbours[router] for s in neighbours[n] if level[s] == step - 2}
        if any(neighbours[router] <= neighbours[sibling] for sibling in siblings):
            level[router] = step - 2
    return level


def _tree_words(level: Ints) -> str:
    sizes = np.bincount(level[level >= 0]).tolist()
    number = NUMBERS[len(sizes)] if len(sizes) < len(NUMBERS) else str(len(sizes))
    if len(sizes) > 3:
        return f"{number}-level tree of {', '.join(map(str, sizes))} switches"
    names = (("leaf", "leaves"), ("spine", "spines"), ("core", "cores"))
    parts = [f"{size} {name[size != 1]}" for size, name in zip(sizes, names, strict=False)]
    return f"{number}-level tree of {', '.join(parts[:-1])} and {parts[-1]}"


def adapters_of(topology: Topology) -> list[Adapter]:
    """Return what is known of each host as an adapter, and the first router that it hangs on."""
    leaf = topology.injection_router[topology.port_offsets[:-1]].tolist()
    nodes = topology.node_of_host.tolist()
    return [
        Adapter(topology.computer_name(node) if topology.computer_labels else str(node), "", at)
        for node, at in zip(nodes, leaf, strict=True)
    ]


def rails(topology: Topology) -> tuple[list[int], dict[int, int]]:
    """Return the rail of each host, −1 where not known, and of each leaf that has one.

    Empty where computers have one adapter each, or their adapters hang on the same leaves.
    """
    cabling = topology.cabling
    if cabling is None or len(cabling.rail_names) < 2:
        return [], {}
    rail = cabling.rail.tolist()
    adapters = adapters_of(topology)
    found = leaf_rails(adapters, rail)
    leaves = {each.leaf for each in adapters}
    if len(found) < NEARLY_ALL * len(leaves) or len(set(found.values())) < 2:
        return [], {}
    return rail, found


def _plus(level: Ints, here: Ints, there: Ints) -> tuple[str, Ints] | None:
    """Return words for groups of leaves and spines whose spines are joined, and the groups."""
    if int(level.max()) != 1 or ((level[here] == 0) & (level[there] == 0)).any():
        return None
    across = level[here] == level[there]
    group = joined(len(level), here[~across], there[~across])
    number = int(group.max()) + 1
    pairs = {tuple(sorted(p)) for p in zip(group[here[across]], group[there[across]], strict=True)}
    apart = sum(a != b for a, b in pairs)
    if number < 2 or len(pairs) != apart or apart < NEARLY_ALL * number * (number - 1) / 2:
        return None
    sizes = [int((level == step).sum()) for step in (0, 1)]
    return f"dragonfly+ of {number} groups, {sizes[0]} leaves and {sizes[1]} spines", group


def _dragonfly(routers: int, here: Ints, there: Ints) -> tuple[str, Ints] | None:
    """Return words for groups that are all joined to each other, and the group of each switch.

    The cables of a group lie in many triangles, others in few.
    """
    graph = _beside(routers, here, there)
    common = np.asarray((graph @ graph)[here, there]).ravel()
    for share, bits in product((0.6, 0.3, 0.0), (False, True)):
        inside = common >= max(1.0, share * float(common.max(initial=0)))
        group = joined(routers, here[inside], there[inside])
        sizes = np.bincount(group)
        usual = Counter(sizes.tolist()).most_common(1)[0][0]
        torn = sizes[group] != usual  # what is left of damaged groups belongs together
        inside |= torn[here] & torn[there] & (common >= 1)
        group = joined(routers, here[inside], there[inside])
        if bits:
            small = 2 * np.bincount(group)[group] <= usual
            inside |= small[here] & small[there]
            group = joined(routers, here[inside], there[inside])
        sizes = np.bincount(group)
        number, alike = len(sizes), int((sizes == usual).sum())
        if number < 3 or usual < 3 or alike < max(3, MOST_GROUPS * number):
            continue
        ends = np.sort(np.stack([group[here], group[there]]), axis=0)
        pairs = np.unique(ends[:, ends[0] != ends[1]], axis=1).shape[1]
        if pairs >= NEARLY_ALL * number * (number - 1) / 2:
            return f"dragonfly of {number} groups of {usual} switches", group
    return None


# -- what is missing to it -------------------------------------------------------------------------


SHARE = 0.2
"""Share of a level that must have a number of cables for it to be what the others lack."""

HALF = 0.5
"""If as large a share of a level has one number of cables, more than that is an exception."""

REGULAR = 0.7
"""Share of switches without levels that must have equally many cables for others to lack some."""

MOST_PLACES = 2**16
"""Most names that numbers in switches' names may span."""

SHOWN = 6
"""Most sentences of one kind. What is more is counted."""

_NUMBER = re.compile(r"(\d+)")


def missing_parts(topology: Topology) -> tuple[str, ...]:
    """Return what a network lacks beside a regular one of its kind, a short sentence each.

    Switches that the numbers in names skip. Switches with fewer cables up, down or to others than
    most of their level. Cables slower than most of their level. Adapters that a computer has on no
    rail, or on another's. Adapters without a cable, and those that do not say their computer.
    Nothing is said of switches without levels whose cables are no regular number, such as a mesh's.

    Examples
    --------
    >>> from netloom.topology import topology, without
    >>> missing_parts(topology("leaf-spine:4x4x2"))
    ()
    >>> for each in missing_parts(without(topology("leaf-spine:4x4x2"), channels="leaf1-spine2")):
    ...     print(each)
    leaf1 has 3 of 4 uplinks: 0 of 1 to spine2
    spine2 has 3 of 4 downlinks
    """
    shape = shape_of(topology)
    names = _Names(topology, shape)
    said = [*_absent(names), *_few_cables(shape, names)]
    said += _slow(topology, shape)
    if topology.cabling is not None:
        said += _rails(topology)
        lost = topology.cabling.unplugged
        said += [f"{counted(len(lost), 'adapter')} without a cable: {_some(lost)}"] if lost else []
        if unnamed := topology.cabling.unnamed:
            verb = "does not say its" if unnamed == 1 else "do not say their"
            said.append(f"{counted(unnamed, 'adapter')} {verb} computer")
    return tuple(said)


class _Names:
    """Switches as sentences call them."""

    def __init__(self, topology: Topology, shape: Shape) -> None:
        routers = range(topology.num_routers)
        self.plain = [topology.router_name(router) for router in routers]
        self.plain = [short_switch_name(name) for name in self.plain]
        self.family = [tuple(_NUMBER.split(name)[::2]) for name in self.plain]
        self.roles = [shape.role(router) for router in routers]
        self.down = {vertex - topology.router_vertex(0) for vertex in topology.failed_nodes}
        self.inner = set(np.flatnonzero(topology.inner_part >= 0).tolist())

    def __getitem__(self, router: int) -> str:
        return _called(self.roles[router], self.plain[router])


def _called(role: str, name: str) -> str:
    return name if name.lower().startswith(role) else f"{role} {name}"


def _some(names: Iterable[str]) -> str:
    """Return names as a list of ranges, of many the first."""
    each = sorted(names, key=natural)
    if len(each) <= SHOWN or all("/" not in name for name in each):
        return folded(each)
    return _first(each)


def _first(said: Sequence[str]) -> str:
    more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return ", ".join(said[:SHOWN]) + more


def _absent(names: _Names) -> list[str]:
    """Return switches that are missing between the numbers of others."""
    families: dict[tuple[str, ...], dict[tuple[int, ...], int]] = {}
    widths: dict[tuple[str, ...], list[set[int]]] = {}
    for router, name in enumerate(names.plain):
        if router in names.down:
            continue
        parts = _NUMBER.split(name)
        text, digits = tuple(parts[::2]), parts[1::2]
        families.setdefault(text, {})[tuple(map(int, digits))] = router
        known = widths.setdefault(text, [set() for _ in digits])
        for width, each in zip(known, digits, strict=True):
            width.add(
                len(each) if each.startswith("0") or len(each) == max(width, default=0) else 0
            )
    said = []
    for text, present in families.items():
        for place in _gaps(list(present)):
            near = min(present, key=lambda other: (_apart(other, place), other))
            # zeros stand before numbers where others have them
            digits = [f"{n:0{min(width)}d}" for n, width in zip(place, widths[text], strict=True)]
            name = "".join(a + b for a, b in zip(text, [*digits, ""], strict=True))
            said.append(f"{_called(names.roles[present[near]], name)} absent")
    return sorted(said, key=natural)


def _apart(other: tuple[int, ...], place: tuple[int, ...]) -> tuple[int, int]:
    differ = [abs(a - b) for a, b in zip(other, place, strict=True)]
    return sum(each > 0 for each in differ), sum(differ)


def _gaps(places: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the places that are missing where numbers otherwise fill a box, or one each."""
    if len(places) < 3 or not places[0]:
        return []
    axes = []
    for numbers in zip(*places, strict=True):
        values = sorted(set(numbers))
        whole = list(range(values[0], values[-1] + 1)) if values[-1] < MOST_PLACES else values
        lost = len(whole) - len(values)
        axes.append(whole if len(values) >= 3 and lost <= max(1, len(values) // 10) else values)
    size = int(np.prod([len(axis) for axis in axes], dtype=np.float64))
    lost = size - len(places)
    if lost > max(1, size // 10) and len(axes) > 1:
        firsts = sorted({place[0] for place in places})
        return [
            (first, *rest)
            for first in firsts
            for rest in _gaps([place[1:] for place in places if place[0] == first])
        ]
    if not 0 < lost <= max(1, size // 10) or size > MOST_PLACES:
        return []
    present = set(places)
    return [place for place in product(*axes) if place not in present and _between(place, present)]


def _between(place: tuple[int, ...], present: set[tuple[int, ...]]) -> bool:
    """Whether others that differ in one number have smaller and greater ones."""
    for axis, number in enumerate(place):
        rest = place[:axis] + place[axis + 1 :]
        line = [other[axis] for other in present if other[:axis] + other[axis + 1 :] == rest]
        if line and min(line) < number < max(line):
            return True
    return False


def _usual(counts: Sequence[int] | Ints) -> int:
    """Return how many of something most of a level have.

    Where none is had by half of them, what a fifth reach: many may have lost some.
    """
    each = sorted(map(int, counts), reverse=True)
    value, times = max(Counter(each).items(), key=lambda item: (item[1], item[0]))
    if times > HALF * len(each):
        return value
    return each[max(0, int(np.ceil(SHARE * len(each))) - 1)]


def _few_cables(shape: Shape, names: _Names) -> list[str]:
    """Return switches with fewer cables than most of their level."""
    level, lower, upper, count = shape.level, shape.lower, shape.upper, shape.count
    up = np.bincount(lower, count, len(level)).astype(np.int64)
    down = np.bincount(upper, count, len(level)).astype(np.int64)
    works = np.array([router not in names.down | names.inner for router in range(len(level))])
    if shape.kind == "switch" or not len(lower):
        return []
    alone = np.flatnonzero((up + down == 0) & works).tolist()
    said = [f"{names[router]} has no cable to another switch" for router in alone]
    works[alone] = False
    if shape.kind not in {"tree", "dragonfly+"}:
        return said + _irregular(shape, names, up + down, works)
    top = int(level.max())
    across = level[lower] == level[upper]
    beside = np.bincount(np.append(lower[across], upper[across]), minlength=len(level))
    up, down = up - np.bincount(lower[across], count[across], len(level)), down.copy()
    down = (down - np.bincount(upper[across], count[across], len(level))).astype(np.int64)
    for step in range(top + 1):
        mine = np.flatnonzero((level == step) & works)
        kinds = [(up.astype(np.int64), "uplinks"), (down, "downlinks"), (beside, "global links")]
        for counts, what in kinds:
            usual = _usual(counts[mine]) if len(mine) else 0
            design = _all_alike(names, counts, mine)
            few = np.isin(np.arange(len(level)), mine[counts[mine] < usual])
            if what == "global links" and _alike_in_groups(shape, few):
                continue
            for router in mine[counts[mine] < usual].tolist():
                if names.family[router] in design:
                    continue
                detail = _where(shape, names, router) if what == "uplinks" else ""
                said.append(f"{names[router]} has {counts[router]} of {usual} {what}{detail}")
    return said


def _all_alike(names: _Names, counts: Ints, mine: Ints) -> set[tuple[str, ...]]:
    """Return the kinds of names of a level, of several, whose switches all have equally many."""
    of: dict[tuple[str, ...], list[int]] = {}
    for router in mine.tolist():
        of.setdefault(names.family[router], []).append(int(counts[router]))
    alike = {kind for kind, each in of.items() if len(each) > 2 and len(set(each)) == 1}
    return alike if len(of) > 1 else set()


def _where(shape: Shape, names: _Names, router: int) -> str:
    """Return to which switches above a switch has fewer cables than its siblings have."""
    level, lower, upper, count = shape.level, shape.lower, shape.upper, shape.count
    between = (level[lower] == level[router]) & (level[upper] == level[router] + 1)
    lower, upper, count = lower[between], upper[between], count[between]
    mine = dict(zip(upper[lower == router].tolist(), count[lower == router].tolist(), strict=True))
    siblings = np.unique(lower[np.isin(upper, list(mine))])
    parents, at, joined = np.unique(
        upper[np.isin(lower, siblings)], return_inverse=True, return_counts=True
    )
    theirs = count[np.isin(lower, siblings)]
    if not len(theirs):
        return ""
    usual = _usual(theirs)
    lacking = [
        f"{mine.get(parent, 0)} of {usual} to {names[parent]}"
        for place, parent in enumerate(parents.tolist())
        if joined[place] > HALF * len(siblings)
        and (theirs[at == place] == usual).sum() > HALF * joined[place]
        and mine.get(parent, 0) < usual
    ]
    return f": {_first(lacking)}" if lacking else ""


def _irregular(shape: Shape, names: _Names, cables: Ints, works: Bools) -> list[str]:
    """Return switches with fewer cables to others, where nearly all have equally many."""
    if shape.kind == "grid":
        return _lost_cables(shape, names)
    mine = cables[works]
    usual = _usual(mine)
    few = works & (cables < usual)
    if (mine == usual).sum() < REGULAR * len(mine) or not few.any():
        return []
    if shape.group is not None:
        if _alike_in_groups(shape, few):
            return []
    elif few.sum() > 2 and len(np.unique(cables[few])) == 1 and cables[few][0] < usual - 1:
        return []  # a cable that is cut takes one from a switch, so this was made so
    else:
        beside = (few[shape.lower].astype(int) + few[shape.upper]).tolist()
        if 2 * beside.count(2) > HALF * (2 * beside.count(2) + beside.count(1)):
            return []  # most neighbours of such switches are such: it is the edge of a mesh
    return [
        f"{names[router]} has {cables[router]} of {usual} cables to other switches"
        for router in np.flatnonzero(few).tolist()
    ]


def _alike_in_groups(shape: Shape, few: Bools) -> bool:
    """Whether equally many switches of each group have few cables, as groups were made."""
    if shape.group is None:
        return False
    lacking = np.bincount(shape.group[few], minlength=int(shape.group.max()) + 1)
    return bool(lacking.min() == lacking.max())


def _lost_cables(shape: Shape, names: _Names) -> list[str]:
    """Return pairs of a grid's switches with fewer cables than most."""
    routers = len(shape.level)
    said = [f"no cable between {names[a]} and {names[b]}" for a, b in shape.lost if b < routers]
    around = [names[a] for a, b in shape.lost if b == routers]
    if around:
        said.append(f"no switch between {_first(around)}")
    usual = _usual(shape.count)
    few = np.flatnonzero(shape.count < usual)
    if (shape.count == usual).sum() < REGULAR * len(shape.count):
        return said
    return said + [
        f"{shape.count[pair]} of {usual} cables between {names[int(shape.lower[pair])]} and "
        f"{names[int(shape.upper[pair])]}"
        for pair in few.tolist()
    ]


def _slow(topology: Topology, shape: Shape) -> list[str]:
    """Return cables that are slower than most between the same two levels."""
    if topology.reference_gbps is None:
        return []
    gbps = np.round(topology.channel_bandwidth * topology.reference_gbps, 6)
    first = topology.num_network_channels
    here, there = topology.routers.channel_source, topology.routers.channel_target
    once = np.flatnonzero(here < there)
    steps = np.sort(np.stack([shape.level[here[once]], shape.level[there[once]]]), axis=0)
    kinds = [once[(steps == step[:, None]).all(axis=0)] for step in np.unique(steps, axis=1).T] + [
        np.arange(topology.num_channels)[first : first + topology.num_ports]
    ]
    said = []
    for mine in filter(len, kinds):
        rates, times = np.unique(gbps[mine], return_counts=True)
        usual = float(rates[np.argmax(times)])
        slow = mine[gbps[mine] < usual].tolist()
        if times.max() < REGULAR * len(mine):
            continue
        for channel in slow[:SHOWN]:
            source, port, target, far = topology.cable_end(channel)
            ends = " and ".join(
                f"{short_switch_name(name)}{f' port {number}' if number else ''}"
                for name, number in ((source, port), (target, far))
            )
            said.append(f"cable between {ends} runs at {gbps[channel]:g} of {usual:g} Gb/s")
        if len(slow) > SHOWN:
            said.append(f"{counted(len(slow) - SHOWN, 'more cable')} slower than most")
    return said


def _rails(topology: Topology) -> list[str]:
    """Return computers without an adapter on a rail, and adapters on a leaf of another rail."""
    assert topology.cabling is not None
    rail, leaf_rail = rails(topology)
    called = topology.cabling.rail_names
    if not rail:
        return []
    has: dict[int, set[int]] = {}
    for node, each in zip(topology.node_of_host.tolist(), rail, strict=True):
        if each >= 0:
            has.setdefault(node, set()).add(each)
    usual = {each for each in range(len(called)) if each in set(leaf_rail.values())}
    several = {node: mine for node, mine in has.items() if 2 * len(mine & usual) > len(usual)}
    said = []
    for each in sorted(usual):
        lack = [topology.computer_name(node) for node, mine in several.items() if each not in mine]
        if lack and len(lack) <= HALF * len(several):
            verb = "has" if len(lack) == 1 else "have"
            said.append(
                f"{counted(len(lack), 'computer')} {verb} no adapter {called[each]}: {_some(lack)}"
            )
    leaves, nodes = [each.leaf for each in adapters_of(topology)], topology.node_of_host.tolist()
    astray = [
        f"adapter {topology.name_of(host)} hangs on a leaf of {called[leaf_rail[leaf]]}"
        for host, (mine, leaf) in enumerate(zip(rail, leaves, strict=True))
        if nodes[host] in several and mine in usual and leaf_rail.get(leaf, mine) != mine
    ]
    more = len(astray) - SHOWN
    return said + astray[:SHOWN] + ([f"{more} more on leaves of other rails"] if more > 0 else [])
