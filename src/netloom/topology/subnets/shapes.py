"""What kind of network the cables between switches make, damaged or whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from netloom.topology.subnets.factors import grid_words, mended
from netloom.topology.subnets.rails import Adapter, leaf_rails

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.topology.core import Topology

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


def shape_words(topology: Topology) -> str:
    """Return in a few words what kind of network the cables between switches make.

    Levels of a tree are distances from switches with hosts. That cables or switches are missing
    does not change them.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> shape_words(topology("leaf-spine:8x4x8")), shape_words(topology("dragonfly:2x4x2"))
    ('two-level tree of 8 leaves and 4 spines', 'dragonfly of 9 groups of 4 switches')
    >>> shape_words(topology("torus:5x5/2")), shape_words(topology("jellyfish:32x5x3/1"))
    ('torus 5x5', 'no known shape')
    """
    return shape_of(topology).words


def shape_of(topology: Topology) -> Shape:
    """Return what kind of network the cables between switches make."""
    routers = topology.num_routers
    here, there, count = _pairs(topology)
    if topology.direct:
        hosts = np.ones(routers, np.int64)
    else:
        hosts = np.bincount(topology.injection_router, minlength=routers)
    if routers == 1:
        return Shape("switch", "one switch", np.zeros(1, np.int64), here, there, count)
    for few in (0.0, FEW_HOSTS * float(np.median(hosts[hosts > 0]))):
        level = _levels(hosts > few, here, there)
        steps = np.abs(level[here] - level[there])
        if len(here) and (steps == 1).all():
            turned = level[here] > level[there]
            lower, upper = np.where(turned, there, here), np.where(turned, here, there)
            words = _tree_words(level) + _rail_words(topology)
            return Shape("tree", words, level, lower, upper, count)
    level = _levels(hosts > 0, here, there)
    found, group = _plus(level, here, there)
    if found:
        turned = level[here] > level[there]
        lower, upper = np.where(turned, there, here), np.where(turned, here, there)
        words = found + _rail_words(topology)
        return Shape("dragonfly+", words, level, lower, upper, count, group=group)
    none = np.zeros(routers, np.int64)
    found = grid_words(routers, here, there)
    if found:
        return Shape("grid", found, none, here, there, count)
    found, group = _dragonfly(routers, here, there)
    if found:
        return Shape("dragonfly", found, none, here, there, count, group=group)
    found, pairs = mended(routers, here, there)
    if found:
        gone = sum(b == routers for _, b in pairs)
        lack = "a switch" if gone else "a cable" if len(pairs) == 1 else f"{len(pairs)} cables"
        words = f"{found} that lacks {lack}"
        return Shape("grid", words, none, here, there, count, tuple(pairs))
    return Shape("", "no known shape", none, here, there, count)


def _pairs(
    topology: Topology,
) -> tuple[Ints, Ints, Ints]:
    """Return each two routers that cables join, the lower number first, and how many cables."""
    network = topology.routers
    source, target = network.channel_source.astype(np.int64), network.channel_target
    once = source < target
    keys, count = np.unique(source[once] * topology.num_routers + target[once], return_counts=True)
    here, there = np.divmod(keys, topology.num_routers)
    return here, there, count


def _levels(lowest: Bools, here: Ints, there: Ints) -> Ints:
    """Return distances from some switches.

    One all of whose neighbours are parents of a lower switch stands beside that: it is a leaf that
    has lost its hosts.
    """
    level = np.where(lowest, 0, -1)
    for step in range(1, len(level)):
        beside = np.concatenate([there[level[here] == step - 1], here[level[there] == step - 1]])
        found = beside[level[beside] < 0]
        if not len(found):
            break
        level[found] = step
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
    if topology.direct or cabling is None or len(cabling.rail_names) < 2:
        return [], {}
    rail = cabling.rail.tolist()
    adapters = adapters_of(topology)
    found = leaf_rails(adapters, rail)
    leaves = {each.leaf for each in adapters}
    if len(found) < NEARLY_ALL * len(leaves) or len(set(found.values())) < 2:
        return [], {}
    return rail, found


def _rail_words(topology: Topology) -> str:
    found = rails(topology)[1]
    return f", rail-optimised, {len(set(found.values()))} rails" if found else ""


def _plus(level: Ints, here: Ints, there: Ints) -> tuple[str, Ints]:
    """Return words for groups of leaves and spines whose spines are joined, and the groups.

    No words if there are none.
    """
    none = np.zeros(len(level), np.int32)
    if int(level.max()) != 1 or ((level[here] == 0) & (level[there] == 0)).any():
        return "", none
    across = level[here] == level[there]
    number, group = _parts(len(level), here[~across], there[~across])
    pairs = {tuple(sorted(p)) for p in zip(group[here[across]], group[there[across]], strict=True)}
    apart = sum(a != b for a, b in pairs)
    if number < 2 or len(pairs) != apart or apart < NEARLY_ALL * number * (number - 1) / 2:
        return "", none
    sizes = [int((level == step).sum()) for step in (0, 1)]
    return f"dragonfly+ of {number} groups, {sizes[0]} leaves and {sizes[1]} spines", group


def _parts(routers: int, here: Ints, there: Ints) -> tuple[int, Ints]:
    """Return how many parts some cables leave the switches in, and the part of each."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(here)), (here, there)), shape=(routers, routers))
    number, part = connected_components(graph.tocsr(), directed=False)
    return int(number), part


def _dragonfly(routers: int, here: Ints, there: Ints) -> tuple[str, Ints]:
    """Return words for groups that are all joined to each other, and the group of each switch.

    No words if there are none. The cables of a group lie in many triangles, others in few.
    """
    from scipy.sparse import coo_array

    rows, columns = np.append(here, there), np.append(there, here)
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(routers, routers)).tocsr()
    common = np.asarray((graph @ graph)[here, there]).ravel()
    for share, bits in product((0.6, 0.3, 0.0), (False, True)):
        inside = common >= max(1.0, share * float(common.max(initial=0)))
        number, group = _parts(routers, here[inside], there[inside])
        sizes = np.bincount(group, minlength=number)
        usual = Counter(sizes.tolist()).most_common(1)[0][0]
        torn = sizes[group] != usual  # what is left of damaged groups belongs together
        inside |= torn[here] & torn[there] & (common >= 1)
        number, group = _parts(routers, here[inside], there[inside])
        if bits:
            small = 2 * np.bincount(group, minlength=number)[group] <= usual
            inside |= small[here] & small[there]
            number, group = _parts(routers, here[inside], there[inside])
        alike = int((np.bincount(group, minlength=number) == usual).sum())
        if number < 3 or usual < 3 or alike < max(3, MOST_GROUPS * number):
            continue
        ends = np.sort(np.stack([group[here], group[there]]), axis=0)
        pairs = np.unique(ends[:, ends[0] != ends[1]], axis=1).shape[1]
        if pairs >= NEARLY_ALL * number * (number - 1) / 2:
            return f"dragonfly of {number} groups of {usual} switches", group
    return "", np.zeros(routers, np.int32)
