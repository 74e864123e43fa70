"""Routers in columns, and each channel a curve from the column that sends to the one that receives.

A tree is unfolded: sending leaves, spines, receiving leaves, from left to right, so that ways up
and down never lie on each other, and names are horizontal. Stages are columns, too, and any graph
has its routers by their distance from the hosts. Beside trees stand matrices: what goes up from
each leaf or pod to each top router, and down again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.words import counted
from netloom.drawing.names import LINE, fitted, width_of, without_common
from netloom.drawing.networks.scene import (
    DISC,
    MOST_BLOCKS,
    RIM,
    Box,
    Bundles,
    Channels,
    Panel,
    Parts,
    Scene,
    Word,
    bent,
    discs_on,
    last_of,
    named_below,
    ports,
    receives,
    row_words,
    shares,
    straight,
)
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Topology
from netloom.topology.core import StagesShape, TreeShape

MOST_CURVES = 2500
"""Most channels that are drawn one by one. Of more, all but the hottest are merged in bundles."""

HOT = 0.7
"""Of the busiest channel's time: what is drawn by itself where all else is merged."""

MOST_HOT = 400
"""Most channels that are drawn over bundles: the busiest."""

MOST_GROUPS = 16
"""Groups of a column that bundles join, at most. Neighbours are taken together."""

LOWEST = 5.0
"""Pixels of the lowest boxes of routers that have groups. Else the groups have one each."""

BAR, NAMED, STEP = 5.0, 15.0, 19.0
"""Pixels: of the bar of an outer router. That a line of a name needs. From router to router."""


class Column(NamedTuple):
    """Routers above each other.

    Attributes
    ----------
    routers
        int64[n], from top to bottom.
    group
        int64[n], ascending: those of one group stand together.
    heading
        What they are, in a line or two.
    groups
        What the groups are called where there is no room for names of routers.
    """

    routers: Ints
    group: Ints
    heading: tuple[str, str]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a network, and where its channels run.

    Attributes
    ----------
    leaves, enters
        int64[num_network_channels], the columns that each channel leaves and enters. The same for
        channels within a column, which are drawn beside it.
    """

    columns: Sequence[Column]
    leaves: Ints
    enters: Ints


@dataclass(eq=False)
class _Placed:
    """A column with its place: tops and heights of its routers."""

    column: Column
    left: float
    width: float
    top: Floats
    height: Floats
    row_of: Ints = field(repr=False)

    @property
    def middle(self) -> Floats:
        return self.top + self.height / 2


def columns_scene(traffic: Traffic, laid: Columns, width: float) -> Scene:
    """Return the scene of a network in columns, ``width`` pixels wide."""
    many = max(len(laid.columns[at].routers) for at in (0, -1))
    tall = float(np.clip(STEP * many, 230, 620))  # more for many routers, but not without end
    head = 2 * LINE + 8
    placed = _placed(traffic, laid, width, tall, head)
    shown = traffic.between
    merged = len(shown) > MOST_CURVES
    bundles = (_bundles(traffic, laid, placed, shown),) if merged else ()
    note = ""
    if merged:
        hot = shown[traffic.weight[shown] > max(HOT * traffic.most, traffic.mean)]
        shown, note = hot[-MOST_HOT:], "grey: bundles of cables"
        if len(hot):
            some = f"{len(shown):,} of {len(hot):,}" if len(shown) < len(hot) else f"{len(hot):,}"
            note = f"colored: {some} above {100 * HOT:.0f} % of the busiest; {note}"
    drawn = _curves(traffic, laid, placed, shown)
    boxes = [box for each in placed for box in _boxes(each)]
    rim = _rim(traffic, placed)
    words = _words(traffic, placed, width)
    assert rim.points is not None  # numbers of hosts' channels: inside of their routers' bars
    inwards = np.stack([RIM / 2 + BAR + DISC + 22.0 * np.arange(3), np.zeros(3)], axis=1)
    turned = inwards * np.where(receives(traffic, rim.channel), -1.0, 1.0)[:, None, None]
    places = rim.points.mean(axis=1)[:, None] + turned
    inside = dict(zip(rim.channel.tolist(), places, strict=True))
    discs = discs_on(traffic, (drawn, rim), words, inside)
    beside = width >= 560
    foot = head + tall + 12
    listed, names, below = named_below(traffic, foot, 0.48 * width if beside else width)
    right = beside and listed
    left, top = (0.5 * width, foot) if right else (0.0, foot + below + (8 if listed else 0))
    parts, end = uplink_matrices(traffic, laid, left, top, width - left)
    if beside and not parts.channel:
        listed, names, below = named_below(traffic, foot, width)
    matrices = (parts.drawn(traffic, again=True),) if parts.channel else ()
    return Scene(
        width,
        max(foot + below, end),
        (drawn, rim, *matrices),
        (*boxes, *parts.boxes),
        (*words, *names, *parts.words),
        (*discs, *listed),
        bundles,
        note=note,
    )


def every_curve(traffic: Traffic, laid: Columns, width: float, tall: float) -> tuple[Scene, Floats]:
    """Return a network in columns with all its channels, none merged, and where its routers are.

    Returns
    -------
    The scene, and float64[n, 5]: router, left, top, width and height, a row each time that a router
    is drawn.
    """
    head = 2 * LINE + 8
    placed = _placed(traffic, laid, width, tall, head)
    drawn = _curves(traffic, laid, placed, traffic.between)
    boxes = [box for each in placed for box in _boxes(each)]
    words = _words(traffic, placed, width)
    places = [
        np.stack(
            [
                each.column.routers.astype(np.float64),
                np.full(len(each.top), each.left),
                each.top,
                np.full(len(each.top), each.width),
                each.height,
            ],
            axis=1,
        )
        for each in placed
    ]
    scene = Scene(width, head + tall + 12, (drawn,), tuple(boxes), tuple(words))
    return scene, np.concatenate(places)


def _placed(
    traffic: Traffic, laid: Columns, width: float, tall: float, head: float
) -> list[_Placed]:
    """Return where the routers of each column are."""
    last = len(laid.columns) - 1
    most = max(0.19 * width, 78.0)
    outer = (laid.columns[0], laid.columns[last])
    names = [[*_names(traffic, column.routers), *column.groups] for column in outer]
    short = [name for each in names for name in without_common(each, most - 12)]
    margin = 12 + max(map(width_of, short), default=0.0) + _rim_room(traffic)
    inner = np.clip((width - 2 * margin) / (3.2 * max(last, 1)), 12, 84)
    routers = traffic.topology.routers  # the cables at the fuller side of each router
    many = np.zeros((2, last + 1, routers.num_routers))
    np.add.at(many[0], (laid.leaves, routers.channel_source), 1)
    np.add.at(many[1], (laid.enters, routers.channel_target), 1)
    cables = np.asarray(np.maximum(many.max(axis=0), 1), np.float64)
    placed = []
    for at, column in enumerate(laid.columns):
        rimmed = at in (0, last)
        wide = BAR if rimmed else float(inner)
        first, end = margin - BAR, width - margin + BAR
        middle = first + BAR / 2 + (end - first - BAR) * at / max(last, 1)
        weights = np.ones(len(column.routers)) if rimmed else cables[at][column.routers]
        tops, heights = _stacked(weights, column.group, tall, 0.25 if rimmed else 0.2)
        row_of = np.full(traffic.topology.num_routers, -1)
        row_of[column.routers] = np.arange(len(column.routers))
        placed.append(_Placed(column, middle - wide / 2, wide, head + tops, heights, row_of))
    return placed


def _names(traffic: Traffic, routers: Ints) -> list[str]:
    topology = traffic.topology
    return [topology.name_of(topology.router_vertex(int(each))) for each in routers]


def _stacked(weights: Floats, group: Ints, tall: float, gap: float) -> tuple[Floats, Floats]:
    """Return tops and heights of boxes above each other, as high as their weights.

    ``gap`` is the share of all that lies between boxes. Between groups lies twice that of others.
    """
    many = len(weights)
    parts = np.where(np.diff(group) != 0, 2.0 if many < 200 else 6.0, 1.0)
    if (parts > 1).all():
        parts[:] = 1.0
    space = min(gap * tall, 12.0 * parts.sum()) if many > 1 else 0.0
    between = space * parts / max(parts.sum(), 1)
    heights = (tall - space) * weights / weights.sum()
    tops = np.append(0, np.cumsum(heights[:-1] + between))
    return tops, heights


def _curves(traffic: Traffic, laid: Columns, placed: Sequence[_Placed], shown: Ints) -> Channels:
    """Return the curves of channels, each with a slot of its own at both its routers.

    Slots lie in the order of the other ends, so that cables do not cross where they end, and
    parallel ones stay side by side.
    """
    start, end = _slots(traffic, laid, placed)
    curves = bent(start[shown], end[shown])
    beside = laid.leaves[shown] == laid.enters[shown]
    bow = 14 + 0.25 * np.abs(end - start)[shown, 1]
    room = placed[1].left - placed[0].left - placed[0].width if len(placed) > 1 else 80.0
    curves[beside, 1:3, 0] += np.minimum(bow, 0.6 * room)[beside, None]
    pitch = 0.75 * sum(each.height.sum() for each in placed[:1]) / max(len(shown) / 2, 1)
    return Channels(shown, points=curves, thickest=float(np.clip(3 + pitch, 3.5, 6)))


def _rim_room(traffic: Traffic) -> float:
    return RIM + 2 if len(traffic.hosts) else 0.0


def _rim(traffic: Traffic, placed: Sequence[_Placed]) -> Channels:
    """Return the channels of hosts as short lines: those that send at the first column they meet.

    Those that receive are at the last one. Each has a slot of its own beside its router.
    """
    shown, router = ports(traffic)
    into = receives(traffic, shown)
    column = np.array(
        [
            [at for at, each in enumerate(placed) if each.row_of[here] >= 0][-1 if way else 0]
            for here, way in zip(router.tolist(), into.tolist(), strict=True)
        ],
        np.int64,
    )
    share, part = shares(2 * router + into, shown)
    edge, y, pitch = np.zeros(len(shown)), np.zeros(len(shown)), np.zeros(len(shown))
    for at, each in enumerate(placed):
        here = column == at
        row = each.row_of[router[here]]
        edge[here] = np.where(into[here], each.left + each.width + 1, each.left - 1 - RIM)
        y[here] = each.top[row] + each.height[row] * share[here]
        pitch[here] = each.height[row] * part[here]
    start, end = (np.stack([edge + add, y], axis=1) for add in (0.0, RIM))
    return straight(shown, start, end, float(pitch.min(initial=4.0)))


def _slots(traffic: Traffic, laid: Columns, placed: Sequence[_Placed]) -> tuple[Floats, Floats]:
    """Return float64[num_network_channels, 2] twice: where each channel starts and ends."""
    routers = traffic.topology.routers
    ends = (laid.leaves, routers.channel_source), (laid.enters, routers.channel_target)
    column = np.concatenate([at for at, _ in ends])
    router = np.concatenate([each for _, each in ends]).astype(np.int64)
    many = routers.num_channels
    backwards = np.repeat([False, True], many)
    beside = np.tile(laid.leaves == laid.enters, 2)
    right = ~backwards | beside
    middle = np.zeros(2 * many)
    top, height, edge = np.zeros(2 * many), np.zeros(2 * many), np.zeros(2 * many)
    for at, each in enumerate(placed):
        here = column == at
        row = each.row_of[router[here]]
        middle[here], top[here], height[here] = each.middle[row], each.top[row], each.height[row]
        edge[here] = np.where(right[here], each.left + each.width, each.left)
    other = np.roll(middle, many)
    twin = np.tile(np.arange(many), 2)
    side = 2 * column + right
    share, _ = shares(side * routers.num_routers + router, twin, other)
    place = np.stack([edge, top + height * share], axis=1)
    return place[:many], place[many:]


def _bundles(traffic: Traffic, laid: Columns, placed: Sequence[_Placed], shown: Ints) -> Bundles:
    """Return the cables of each pair of groups of neighbouring columns as one grey curve."""
    routers = traffic.topology.routers
    ends, names = [], []
    for of, router in (
        (laid.leaves, routers.channel_source),
        (laid.enters, routers.channel_target),
    ):
        group = np.zeros((len(shown), 3))
        label = np.zeros(len(shown), np.int64)
        for at, each in enumerate(placed):
            here = of[shown] == at
            many = len(each.column.routers)
            _, part = np.unique(each.column.group, return_inverse=True)
            if not part.any():
                part = np.arange(many)
            known = int(part.max(initial=0)) + 1  # neighbors are taken together until they are few
            part = part * min(known, MOST_GROUPS) // known
            middle = (
                np.array(
                    [
                        (each.top[part == k].min() + (each.top + each.height)[part == k].max()) / 2
                        for k in range(part.max() + 1)
                    ]
                )
                if many
                else np.zeros(0)
            )
            mine = part[each.row_of[router[shown[here]]]]
            edge = each.left + each.width * (of is laid.leaves)
            group[here] = np.stack([np.full(len(mine), edge), middle[mine], mine], axis=1)
            label[here] = at * MOST_GROUPS**2 + mine
        ends.append(group)
        names.append(label)
    keys = names[0] * len(placed) * MOST_GROUPS**2 + names[1]
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    start, end = ends[0][first, :2], ends[1][first, :2]
    mean = np.bincount(inverse, traffic.time[shown]) / counts
    words = tuple(
        f"{many:,} cables, {traffic.amount_of(float(time))} on average"
        for many, time in zip(counts, mean, strict=True)
    )
    thickest = np.clip(500 / len(counts), 1.5, 6)  # of many together the paper must be seen
    return Bundles(bent(start, end), 1 + (thickest - 1) * np.sqrt(counts / counts.max()), words)


def _boxes(each: _Placed) -> list[Box]:
    """Return the boxes of a column: those of groups where routers are too low to be told apart."""
    style = "network-bar" if each.width == BAR else "network-box"
    part = each.column.group
    if each.height.min() >= LOWEST or part[0] == part[-1]:
        part = np.arange(len(part))
    first = np.flatnonzero(np.append(True, np.diff(part) != 0))
    last = np.append(first[1:], len(part)) - 1
    top, high = each.top[first], each.top[last] + each.height[last] - each.top[first]
    return [
        Box(each.left, y, each.width, tall, style)
        for y, tall in zip(top.tolist(), high.tolist(), strict=True)
    ]


def _words(traffic: Traffic, placed: Sequence[_Placed], width: float) -> list[Word]:
    """Return headings, the names of outer routers beside them, and of inner ones inside."""
    last, words = len(placed) - 1, _headings(placed, width)
    for at, each in enumerate(placed):
        if at == 0:
            beside = each.left - 6 - _rim_room(traffic)
            words += _outer_names(traffic, each, beside, "right", beside)
        elif at == last:
            beside = each.left + each.width + 6 + _rim_room(traffic)
            words += _outer_names(traffic, each, beside, "left", width - beside)
        elif each.height.min() >= NAMED:  # there is room inside of the boxes
            shown = without_common(_names(traffic, each.column.routers), each.width - 6)
            x, ys = each.left + each.width / 2, each.middle.tolist()
            if not any("…" in name for name in shown):
                words += [Word(x, y, said, "center") for y, said in zip(ys, shown, strict=True)]
    return words


def _headings(placed: Sequence[_Placed], width: float) -> list[Word]:
    """Return what the columns are, above them. What has no room beside the others is left out."""
    last, words = len(placed) - 1, []
    for line in range(2):
        above: list[Word] = []
        order = sorted(range(len(placed)), key=lambda at: (0 < at < last, abs(2 * at - last)))
        for at in order:
            text = placed[at].column.heading[line]
            x = 0.0 if at == 0 else width if at == last else placed[at].left + placed[at].width / 2
            align = "left" if at == 0 else "right" if at == last else "center"
            style = "network-name" if line else "network-heading"
            word = Word(x, (line + 0.5) * LINE, text, align, style)
            left, right, _, _ = word.extent
            clear = all(
                right + 8 < other.extent[0] or other.extent[1] + 8 < left for other in above
            )
            if text and clear:
                above.append(word)
        words += above
    return words


def _outer_names(traffic: Traffic, each: _Placed, x: float, align: str, room: float) -> list[Word]:
    """Return names beside the routers. Those of groups where routers are too many."""
    step = float(np.diff(each.middle).min()) if len(each.middle) > 1 else NAMED
    if step < NAMED and each.column.groups:
        groups = np.unique(each.column.group)
        middles = [float(each.middle[each.column.group == group].mean()) for group in groups]
        texts = list(each.column.groups)
    else:
        middles = [float(y) for y in each.middle]
        texts = _names(traffic, each.column.routers)
    clear = (by for by in range(1, len(middles)) if np.diff(middles[::by]).min() >= NAMED)
    every = next(clear, max(len(middles), 1))  # second or further name has room
    shown = without_common(texts[::every], room)
    return [Word(x, y, text, align) for y, text in zip(middles[::every], shown, strict=True)]


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
        many = topology.num_routers // family.stages
        stage = np.arange(topology.num_routers) // many
        none, said = np.zeros(many, np.int64), counted(many, "router", ",")
        stages = [
            Column(np.arange(at * many, (at + 1) * many), none, (f"stage {at}", said))
            for at in range(family.stages)
        ]
        ends = topology.routers.channel_source, topology.routers.channel_target
        return Columns(stages, *(stage[each] for each in ends))
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
        heading = f"level {level}", counted(many, "router", ",")
        names: tuple[str, ...] = ()
        served = _hosts(hosts[routers])
        if shape.levels == 2:
            heading = _two_levels(many, level - 1), served if level == 1 else ""
        elif level < shape.levels:
            pods = len(np.unique(group))
            names = tuple(f"pod {pod}" for pod in range(pods))
            if level == 1:
                served = _hosts(hosts[routers][group == 0])
                heading = heading[0], f"{counted(pods, 'pod')} of {served}"
        columns.append(Column(routers, group, heading, names))
        first += many
    return columns


def _hosts(hosts: Ints) -> str:
    return counted(int(hosts.sum()), "host", ",")


def _hosts_at(topology: Topology) -> Ints:
    """Return int64[num_routers], the host ports of each router."""
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
        served, many_here = _hosts(hosts[mine]), counted(len(mine), "router", ",")
        heading = many_here, f"{counted(each, 'hop')} from hosts" if each else served
        if topology.direct:
            heading = counted(len(mine), "node", ","), ""
        elif two:
            heading = _two_levels(len(mine), each), "" if each else served
        columns.append(Column(mine, np.zeros(len(mine), np.int64), heading))
    return columns


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
    for end, verb in ((0, "send"), (-1, "receive")):
        what, many = columns[end].heading
        columns[end] = columns[end]._replace(heading=(f"{what} {verb}", many))
    leaves = np.where(falling, last - here, here)
    enters = np.where(falling | across, last - there, there)
    return Columns(columns, leaves, enters)


LEAST, LARGEST = 3.0, 16.0
"""Pixels of a square."""

HEAD = 2 * LINE + 4
"""Pixels above a matrix for its words."""

TALL, NAMES = 220.0, 76.0
"""Pixels of a matrix from top to bottom, and beside it for names, at most."""


def uplink_matrices(
    traffic: Traffic, laid: Columns, left: float, top: float, room: float
) -> tuple[Parts, float]:
    """Return the matrices of a tree, each at most ``room`` / 2 wide, and where they end.

    Rows are leaves, or pods of trees of more levels. Columns are the top routers. A square is the
    busiest channel between them. Neighbors share one if they are too many.
    """
    if not isinstance(traffic.topology.family, TreeShape) or len(laid.columns) < 3:
        return Parts(), 0.0
    at = len(laid.columns) // 2
    below, tops = laid.columns[at - 1], laid.columns[at]
    pods = len(np.unique(below.group)) > 1
    many = int(below.group.max()) + 1 if pods else len(below.routers)
    a_row, a_column = -(-many // MOST_BLOCKS), -(-len(tops.routers) // MOST_BLOCKS)
    rows, columns = -(-many // a_row), -(-len(tops.routers) // a_column)
    row_of, column_of = np.full((2, traffic.topology.num_routers), -1)
    row_of[below.routers] = (below.group if pods else np.arange(many)) // a_row
    column_of[tops.routers] = np.arange(len(tops.routers)) // a_column
    names = _row_names(traffic, below.routers, pods=pods, rows=rows, per=a_row)
    margin = max(map(width_of, names), default=0.0) + 7
    aside = (room / 2 - 14 - margin) / columns >= LEAST
    cell = min(((room / 2 - 14 if aside else room) - margin) / columns, TALL / rows, LARGEST)
    if cell < LEAST or min(rows, columns) < 2:
        return Parts(), 0.0
    routers = traffic.topology.routers
    ends = routers.channel_source.astype(np.int64), routers.channel_target.astype(np.int64)
    who = ("pods", "top routers") if pods else ("leaves", "spines")
    ends_of_row = _row_names(traffic, tops.routers[[0, -1]], pods=False, rows=2, per=1)
    across = " to ".join(ends_of_row)
    parts, y = Parts(), top + HEAD
    for place, here in enumerate((laid.enters == at, laid.leaves == at)):
        x = left + margin + (place * room / 2 if aside else 0.0)
        y = top + HEAD + (0.0 if aside else place * (rows * cell + HEAD + 10))
        lower, upper = ends[place], ends[1 - place]
        shown = traffic.between[here[traffic.between]]  # the busiest last
        keys = row_of[lower[shown]] * columns + column_of[upper[shown]]
        channel, cells = last_of(keys, shown)
        panel = Panel("", channel, cells // columns, cells % columns, rows, columns)
        parts.add(panel, x, y, cell)
        parts.words += row_words(names, x, y, cell)
        heading = " → ".join(who[:: 1 - 2 * place])
        heads = Word(x - margin, y - HEAD + LINE / 2, heading, style="network-heading")
        fits = (room / 2 if aside else room) - margin - 14
        parts.words += [heads, Word(x, y - HEAD + 1.5 * LINE, fitted(across, fits))]
    return parts, y + rows * cell + 4


def _row_names(traffic: Traffic, routers: Ints, *, pods: bool, rows: int, per: int) -> list[str]:
    """Return the names of rows. Of those that neighbors share, the first."""
    if pods:
        return [f"pod {row * per}" for row in range(rows)]
    return without_common(_names(traffic, routers)[::per], NAMES)
