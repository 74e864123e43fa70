"""Which vertices of a file are hosts, and which are routers: what their kind says.

Recognize a fat tree in a network, however its routers and hosts are numbered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.topology.core import TreeShape, joined
from netloom.topology.families.stages import Omega
from netloom.topology.families.trees import tree_ends
from netloom.topology.measures import heights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Bools, Ints
    from netloom.topology.core import Topology


HOST = {
    "accelerator", "ca", "compute", "computer", "core", "cpu", "endpoint", "gpu", "hca", "host",
    "nic", "node", "pe", "processor", "server", "terminal", "tile", "worker",
}  # fmt: skip
"""Words for hosts, as files of networks have them."""

ROUTER = {
    "access", "aggregation", "bridge", "core", "crossbar", "distribution", "edge", "leaf", "router",
    "spine", "sw", "switch", "tor",
}  # fmt: skip
"""Words for routers. A core is a router beside ``LAYERS`` of a tree, and a host elsewhere."""

LAYERS = {"access", "aggregation", "distribution", "edge"}


def which_are_hosts(kinds: Sequence[str], names: Sequence[str], name: str) -> Bools:
    """Return which vertices of a network are hosts, bool[]. All of them in a direct network.

    Vertices that are all alike are a direct network: not marked at all, or all marked as hosts, or
    all by one word that is none of ``ROUTER``. A network of routers alone (``router``) is one too:
    each has a host of its own.

    Parameters
    ----------
    kinds
        What each vertex is said to be. Empty where nothing is said. Case does not matter.
    names
        Of the vertices, for messages.
    name
        Of the network.

    Raises
    ------
    InputError
        If hosts stand beside vertices of which it is not said what they are, or by a word that is
        not known, or if there are switches and no hosts.

    Examples
    --------
    >>> which_are_hosts(["Switch", "host", "host"], ["s", "a", "b"], "graph:net.graphml").tolist()
    [False, True, True]
    """
    said = [kind.strip().lower() for kind in kinds]
    counts = Counter(said)
    hosts, routers = _words(counts, name)
    if counts.keys() <= hosts:
        return np.ones(len(said), np.bool_)
    if len(counts) == 1 and not routers - {"router"}:
        return np.ones(len(said), np.bool_)
    unknown = [place for place, kind in enumerate(said) if kind not in hosts | routers]
    if unknown:
        at = unknown[0]
        found = f"{names[at]:.60} of kind '{kinds[at]:.40}'" if said[at] else f"{names[at]:.60}"
        found += "" if said[at] else ", of which no kind is said, beside others"
        wanted = f"a host ({', '.join(sorted(HOST))}) or a router ({', '.join(sorted(ROUTER))})"
        raise InputError(name, found, wanted)
    if not hosts:
        found = f"{counted(len(said), 'router')} and no host"
        raise InputError(name, found, "hosts too: vertices of the kind host, beside the routers")
    return np.array([kind in hosts for kind in said])


def _words(counts: Counter[str], name: str) -> tuple[set[str], set[str]]:
    """Return the words for hosts, and those for routers, that these kinds use."""
    hosts, routers = counts.keys() & HOST, counts.keys() & ROUTER
    if "core" not in hosts:
        return hosts, routers
    if routers & LAYERS:
        return hosts - {"core"}, routers
    if len(hosts) > 1:
        found = "the kind 'core' beside hosts, which may be a processor's or a switch"
        raise InputError(name, found, "kinds that say which, such as host and switch")
    return hosts, routers - {"core"}


def check_all_compute(topology: Topology) -> None:
    """Refuse a network of which some vertices that are numbered as hosts run no tasks.

    They are the memory modules and switches of an Omega network, and the switches of a file that
    joins hosts to each other too.

    Raises
    ------
    InputError
        Naming the network.

    Examples
    --------
    >>> from netloom.topology import mesh, omega
    >>> check_all_compute(mesh(4, 4))
    >>> check_all_compute(omega(8))
    Traceback (most recent call last):
        ...
    netloom.InputError: omega:8: found memory modules and switches, on which netloom would
    put tasks and traffic; expected a network all of whose nodes compute, or the command hotspot
    """
    if isinstance(topology.whole, Omega):
        found = "memory modules and switches, on which netloom would put tasks and traffic"
        wanted = "a network all of whose nodes compute, or the command hotspot"
        raise InputError(topology.name, found, wanted)
    if topology.switches:
        found = "a link between two hosts, which would forward, beside switches"
        wanted = "hosts that hang on switches alone, or collective, or simulate trace --engine flow"
        raise InputError(topology.name, found, wanted)


class _Level(NamedTuple):
    """The links between the vertices of a level and those of the next.

    Attributes
    ----------
    lower, upper
        int64[num_pairs], the vertices that are joined, by lower, then upper, each pair once.
    fan_in, fan_out, parallel
        Children of each upper one, parents of each lower one, links of each pair.
    """

    lower: Ints
    upper: Ints
    fan_in: int
    fan_out: int
    parallel: int


def tree_shape(topology: Topology) -> TreeShape | None:
    """Return the parameters of the fat tree that a network is. None if it is none.

    It must be a whole extended generalized fat tree, with parallel links or without:
    ``PGFT(h; m; w; p)``. Routers of each level may have any numbers: ``router_at`` says where they
    stand. Hosts keep their numbers as places if those of each subtree follow each other. Else
    ``host_at`` orders subtrees by their lowest host. Any two labelings that the definition allows
    differ by an automorphism that keeps the hosts. So routings by labels, such as D-mod-k, load the
    channels of a renumbered tree like those of the tree made from its spec.

    A router's level is that of the router nearest to hosts above it plus one, which the links to
    its children must confirm. Its label is found from the top: two routers of a level have the same
    digits b if their parents have. What is found is then compared with the definition link by link.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> found = tree_shape(topology("fat-tree:4x3"))
    >>> found.children, found.parents, found.parallel, found.router_at
    ((4, 4, 4), (1, 4, 4), (1, 1, 1), None)
    >>> tree_shape(topology("mesh:4x4/4")) is None
    True
    """
    if topology.broken or not _both_ways(topology):
        return None
    level_of = _levels(topology)
    if level_of is None:
        return None
    found = [_links(topology, level_of, level) for level in range(1, int(level_of.max()) + 1)]
    levels = [each for each in found if each is not None]
    if len(levels) < len(found):
        return None
    shape = TreeShape(
        tuple(each.fan_in for each in levels),
        tuple(each.fan_out for each in levels),
        tuple(each.parallel for each in levels),
    )
    sizes = np.bincount(level_of)
    if any(sizes[level] != shape.width(level) for level in range(shape.levels + 1)):
        return None
    placed = _placed(topology, shape, level_of, levels)
    return placed if placed is not None and _is_that_tree(topology, placed) else None


def _both_ways(topology: Topology) -> bool:
    """Whether as many channels lead back between any two vertices."""
    source, target = topology.source_end.astype(np.int64), topology.target_end
    there = np.sort(source * topology.num_ends + target)
    back = np.sort(target.astype(np.int64) * topology.num_ends + source)
    return np.array_equal(there, back)


def _levels(topology: Topology) -> Ints | None:
    """Return int64[num_ends], 0 for hosts, 1 for routers with hosts … . None if some have none.

    Also where a channel stays in a level or leaves one out.
    """
    source, target = topology.source_end, topology.target_end
    level_of = heights(np.arange(topology.num_hosts), source, target, topology.num_ends)
    lost = not 0 < level_of.max() < topology.num_ends
    steps = np.abs(level_of[source] - level_of[target])
    return None if lost or (steps != 1).any() else level_of


def _links(topology: Topology, level_of: Ints, level: int) -> _Level | None:
    """Return the links up to a level. None where not all vertices have as many."""
    source, target = topology.source_end, topology.target_end
    up = (level_of[target] == level) & (level_of[source] == level - 1)
    keys = source[up].astype(np.int64) * topology.num_ends + target[up]
    pairs, parallel = np.unique(keys, return_counts=True)
    lower, upper = np.divmod(pairs, topology.num_ends)
    fan_out = np.bincount(lower, minlength=len(level_of))[level_of == level - 1]
    fan_in = np.bincount(upper, minlength=len(level_of))[level_of == level]
    if any((counts != counts[0]).any() for counts in (parallel, fan_in, fan_out)):
        return None
    return _Level(lower, upper, int(fan_in[0]), int(fan_out[0]), int(parallel[0]))


def _placed(
    topology: Topology, shape: TreeShape, level_of: Ints, levels: list[_Level]
) -> TreeShape | None:
    """Return the shape with its routers and hosts in their places. None where there are none."""
    low = _low_digits(shape, level_of, levels)
    blocks = _subtrees(topology, shape, levels)
    if low is None or blocks is None:
        return None
    hosts = topology.num_hosts
    order = np.lexsort([blocks[level][:hosts] for level in range(shape.levels)])
    place = np.empty(hosts, np.int64)
    place[order] = np.arange(hosts)
    router_at, first = np.full(topology.num_routers, -1), 0
    for level in range(1, shape.levels + 1):
        there = np.flatnonzero(level_of == level)
        below, width = prod(shape.children[:level]), prod(shape.parents[:level])
        high = place[blocks[level][there]] // below  # the subtree is called by its lowest host
        at = first + high * width + low[there]
        router_at[at] = there - hosts
        first += shape.width(level)
    if (router_at < 0).any():
        return None
    as_they_come = np.array_equal(router_at, np.arange(len(router_at)))
    in_order = np.array_equal(order, np.arange(hosts))
    return replace(
        shape,
        router_at=None if as_they_come else router_at.astype(np.int32),
        host_at=None if in_order else order.astype(np.int32),
    )


def _low_digits(shape: TreeShape, level_of: Ints, levels: list[_Level]) -> Ints | None:
    """Return b_l … b_1 of each router as one number. None where the parents do not agree."""
    kind = np.zeros(len(level_of), np.int64)  # of routers of a level that have the same digits b
    top = np.flatnonzero(level_of == shape.levels)
    kind[top] = np.arange(len(top))
    for level in range(shape.levels - 1, 0, -1):
        links = levels[level]
        there = np.flatnonzero(level_of == level)
        above = np.sort(kind[links.upper].reshape(len(there), links.fan_out), axis=1)
        kinds, kind[there] = np.unique(above, axis=0, return_inverse=True)
        if len(kinds) != prod(shape.parents[:level]):
            return None
    low = np.zeros(len(level_of), np.int64)
    for level in range(1, shape.levels + 1):
        there = np.flatnonzero(level_of == level)
        links, below = levels[level - 1], prod(shape.parents[: level - 1])
        child = np.zeros(len(level_of), np.int64)
        child[links.upper] = low[links.lower]  # of hosts 0; all children of a router have the same
        # number the kinds that share their children by the lowest router of each
        _, first, of = np.unique(kind[there], return_index=True, return_inverse=True)
        one = there[first]  # the lowest router of each kind
        order = np.lexsort((one, child[one]))
        rank = np.empty(len(order), np.int64)
        starts = np.searchsorted(child[one][order], child[one][order])
        rank[order] = np.arange(len(order)) - starts
        low[there] = rank[of] * below + child[there]
    return low


def _subtrees(topology: Topology, shape: TreeShape, levels: list[_Level]) -> list[Ints] | None:
    """Return the lowest host of the subtree of each vertex, cut off above each level. Hosts alone.

    None where a level has other than prod(m_{l+1} … m_h) subtrees.
    """
    size, hosts = topology.num_ends, topology.num_hosts
    found = [np.arange(size)]
    for level in range(1, shape.levels + 1):
        lower = np.concatenate([each.lower for each in levels[:level]])
        upper = np.concatenate([each.upper for each in levels[:level]])
        part = joined(size, lower, upper)
        parts, lowest, of = np.unique(part[:hosts], return_index=True, return_inverse=True)
        if len(parts) != prod(shape.children[level:]):
            return None
        if (np.bincount(of) != prod(shape.children[:level])).any():
            return None
        called = np.full(int(part.max()) + 1, -1)
        called[parts] = lowest
        found.append(called[part])
    return found


def _is_that_tree(topology: Topology, shape: TreeShape) -> bool:
    """Whether the links of the network are those of the definition, place by place."""
    ends, low, high = topology.num_ends, *tree_ends(shape)
    expected = np.concatenate([low * ends + high, high * ends + low])
    keys = topology.source_end.astype(np.int64) * ends + topology.target_end
    return np.array_equal(np.sort(expected), np.sort(keys))
