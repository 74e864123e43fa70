"""Networks in columns: unfolded trees, stages, and any graph by its distance from the hosts."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.words import counted
from netloom.drawing.networks.columns import Column, Columns
from netloom.topology.family import StagesShape, TreeShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

SPREAD = 0.15
"""Of all routers: how far apart the middles of what they are joined to order those of a level."""


def in_columns(topology: Topology) -> Columns:
    """Return the columns of a network.

    A tree has its levels up to the top, and those down again. A butterfly has its stages. Any other
    graph the routers with hosts first, then those that are one hop from them, and so on. If routers
    of the last level are joined, it is there twice, as sender and receiver.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [len(column.routers) for column in in_columns(topology("leaf-spine:8x4x8")).columns]
    [8, 4, 8]
    """
    family = topology.family
    if isinstance(family, StagesShape):
        return _stages(topology, family)
    if isinstance(family, TreeShape):
        return unfolded(topology, _tree_levels(topology, family))
    return unfolded(topology, _by_distance(topology))


def _tree_levels(topology: Topology, shape: TreeShape) -> list[Column]:
    """Return the levels of a tree, pods together, below its top. Planes together at the top."""
    columns, first = [], 0
    place = np.arange(topology.num_routers) if shape.router_at is None else shape.router_at
    hosts = _hosts_at(topology)
    for level in range(1, shape.levels + 1):
        many = shape.width(level)
        number = np.arange(many)
        if level < shape.levels:
            group = number // (many // shape.children[-1])
        else:
            group = number % prod(shape.parents[:-1])
            number = np.argsort(group, kind="stable")
            group = group[number]
        if shape.levels == 2:
            group = np.zeros(many, np.int64)
        routers = np.asarray(place[first + number], np.int64)
        columns.append(Column(routers, group, *_called(shape, level, hosts[routers], group)))
        first += many
    return columns


def _called(
    shape: TreeShape, level: int, hosts: Ints, group: Ints
) -> tuple[tuple[str, str], tuple[str, ...]]:
    """Return the heading of a level of a tree, and the names of its groups."""
    many = shape.width(level)
    if shape.levels == 2:
        return (_two_levels(many, level - 1), _hosts(hosts) if level == 1 else ""), ()
    pods = len(np.unique(group))
    what = f"level {level}"
    if level == shape.levels:
        return (what, counted(many, "router", ",")), ()
    names = tuple(f"pod {pod}" for pod in range(pods))
    said = counted(many, "router", ",")
    if level == 1:
        said = f"{counted(pods, 'pod')} of {_hosts(hosts[group == 0])}"
    return (what, said), names


def _hosts(hosts: Ints) -> str:
    return counted(int(hosts.sum()), "host", ",")


def _hosts_at(topology: Topology) -> Ints:
    """Return int64[num_routers], the host ports of each router."""
    if topology.direct:
        return np.ones(topology.num_routers, np.int64)
    ports = np.concatenate([topology.injection_router, topology.ejection_router])
    return np.asarray((np.bincount(ports, minlength=topology.num_routers) + 1) // 2, np.int64)


def _by_distance(topology: Topology) -> list[Column]:
    """Return the routers by their hops from the next host, near those that they are joined to."""
    routers = topology.routers
    hosts = _hosts_at(topology)
    level = np.where(hosts > 0, 0, -1)
    source, target = routers.channel_source, routers.channel_target
    reached = 0
    while (level == reached).any():
        for here, there in ((source, target), (target, source)):
            level[there[(level[here] == reached) & (level[there] < 0)]] = reached + 1
        reached += 1
    level[level < 0] = max(reached - 1, 0)
    place = np.arange(len(level), dtype=np.float64)
    columns = []
    for each in range(int(level.max(initial=0)) + 1):
        mine = np.flatnonzero(level == each)
        if each:
            below = (level[source] == each) & (level[target] == each - 1)
            total = np.bincount(source[below], place[target[below]], minlength=len(level))
            many = np.bincount(source[below], minlength=len(level))
            centre = np.where(many > 0, total / np.maximum(many, 1), place)
            if np.ptp(centre[mine]) > SPREAD * len(level):  # else they are joined to all alike
                mine = mine[np.argsort(centre[mine], kind="stable")]
            place[mine] = (np.arange(len(mine)) + 0.5) * len(level) / len(mine)
        two = reached == 2 and not (level[source] == level[target]).any()
        columns.append(
            Column(
                mine, np.zeros(len(mine), np.int64), _heading(topology, each, hosts[mine], two=two)
            )
        )
    return columns


def _heading(topology: Topology, level: int, hosts: Ints, *, two: bool) -> tuple[str, str]:
    """Return the heading of the routers that are ``level`` hops from the next host."""
    many = len(hosts)
    if topology.direct:
        return counted(many, "node", ","), ""
    if two:
        return _two_levels(many, level), _hosts(hosts) if level == 0 else ""
    said = f"{counted(level, 'hop')} from hosts" if level else _hosts(hosts)
    return counted(many, "router", ","), said


def _two_levels(many: int, level: int) -> str:
    if level:
        return counted(many, "spine", ",")
    return "1 leaf" if many == 1 else f"{many:,} leaves"


def unfolded(topology: Topology, levels: Sequence[Column]) -> Columns:
    """Return levels as columns, up to the top and down again."""
    routers = topology.routers
    level = np.zeros(topology.num_routers, np.int64)
    for at, column in enumerate(levels):
        level[column.routers] = at
    top = len(levels) - 1
    here, there = level[routers.channel_source], level[routers.channel_target]
    across = (here == top) & (there == top)
    middle = 2 if across.any() or top == 0 else 1
    last = 2 * top + middle - 1
    falling = here > there
    columns = [*levels, *reversed(levels[: top + middle - 1])]
    columns[0] = _headed(columns[0], "send")
    columns[-1] = _headed(columns[-1], "receive")
    leaves = np.where(falling, last - here, here)
    enters = np.where(falling | across, last - there, there)
    return Columns(columns, leaves, enters)


def _headed(column: Column, verb: str) -> Column:
    what, many = column.heading
    return column._replace(heading=(f"{what} {verb}", many))


def _stages(topology: Topology, shape: StagesShape) -> Columns:
    """Return the stages of a butterfly from left to right."""
    routers = topology.routers
    many = topology.num_routers // shape.stages
    stage = np.arange(topology.num_routers) // many
    columns = [
        Column(
            np.arange(at * many, (at + 1) * many),
            np.zeros(many, np.int64),
            (f"stage {at}", counted(many, "router", ",")),
        )
        for at in range(shape.stages)
    ]
    return Columns(columns, stage[routers.channel_source], stage[routers.channel_target])
