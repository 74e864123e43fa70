"""The channels of hosts: a thin rim at what they join, or squares below a picture without a rim."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.drawing.networks.letters import LINE
from netloom.drawing.networks.panels import beside_squares, marked_squares
from netloom.drawing.networks.scene import Channels, Scene, Word

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.drawing.networks.traffic import Traffic

RIM = 9.0
"""Pixels of a rim."""

MOST_ALONE = 2500
"""Channels of hosts that are drawn one by one. Of more the busiest of each router."""

LEAST, LARGEST, TALL = 3.0, 14.0, 60.0
"""Pixels of a square at least and at most, and of all of one way from top to bottom, about."""

WAYS = ("hosts to routers", "routers to hosts")


def ports(traffic: Traffic) -> tuple[Ints, Ints]:
    """Return the channels of hosts that are drawn, the busiest last, and at which router each is.

    All, or of each router and way the busiest.
    """
    network, shown = traffic.topology, traffic.hosts
    router_of = np.concatenate([network.injection_router, network.ejection_router])
    router = router_of[shown - network.num_network_channels].astype(np.int64)
    if len(shown) > MOST_ALONE:
        last = np.full(2 * network.num_routers, -1)
        last[router + network.num_routers * receives(traffic, shown)] = np.arange(len(shown))
        kept = np.sort(last[last >= 0])
        shown, router = shown[kept], router[kept]
    return shown, router


def receives(traffic: Traffic, channel: Ints) -> Bools:
    """Return bool[n], which channels of hosts lead to hosts."""
    network = traffic.topology
    return np.asarray(channel >= network.num_network_channels + network.num_ports, np.bool_)


def shares(group: Ints, channel: Ints) -> tuple[Floats, Floats]:
    """Return where in its group each channel is, 0 … 1, by number, and the part that it has.

    Examples
    --------
    >>> place, part = shares(np.array([4, 4, 7]), np.array([9, 8, 1]))
    >>> place.tolist(), part.tolist()
    ([0.75, 0.25, 0.5], [0.5, 0.5, 1.0])
    """
    order = np.lexsort((channel, group))
    first = np.flatnonzero(np.append(True, np.diff(group[order]) != 0)[: len(order)])
    counts = np.diff(np.append(first, len(order)))
    place, part = np.empty(len(order)), np.empty(len(order))
    part[order] = 1 / np.repeat(counts, counts)
    place[order] = (np.arange(len(order)) - np.repeat(first, counts) + 0.5) * part[order]
    return place, part


def straight(channel: Ints, start: Floats, end: Floats, pitch: float) -> Channels:
    """Return channels as straight lines that are as thick as they have room, whatever they carry.

    ``pitch`` is the distance in pixels from one to the next.
    """
    third = (end - start) / 3
    thick = float(np.clip(0.8 * pitch, 0.7, 4.0))
    points = np.stack([start, start + third, end - third, end], axis=1)
    return Channels(channel, points=points, thinnest=thick, thickest=thick)


def with_hosts(traffic: Traffic, scene: Scene | None, width: float) -> Scene | None:
    """Return a scene with the channels of hosts as squares below it, by number, if any is known."""
    shown = np.sort(ports(traffic)[0]) if len(traffic.hosts) else traffic.hosts
    if scene is None or not len(shown):
        return scene
    into = receives(traffic, shown)
    side = float(np.clip(np.sqrt(width * TALL / max(into.sum(), (~into).sum())), LEAST, LARGEST))
    a_line = max(int(width / side), 1)
    top, words, squares = scene.height + 8, list[Word](), []
    for way, said in zip((False, True), WAYS, strict=True):
        row, column = np.divmod(np.arange((into == way).sum()), a_line)
        every = "" if len(shown) == len(traffic.hosts) else ", the busiest of each router"
        words.append(Word(0, top + LINE / 2, f"{said}{every}", style="network-heading"))
        top += LINE + 2
        size = np.full(len(row), side - (0.5 if side > 3.5 else 0.0))
        squares.append(np.stack([column * side, top + row * side, size], axis=1))
        top += side * (int(row.max(initial=-1)) + 1) + 6
    rank = np.argsort(traffic.weight[shown], kind="stable")
    drawn = Channels(shown[rank], squares=np.concatenate(squares)[rank])
    return replace(
        scene,
        height=top,
        channels=(*scene.channels, drawn),
        words=(*scene.words, *words),
        discs=(*beside_squares(traffic, drawn, words, (width, top)), *scene.discs),
        marks=(*scene.marks, *marked_squares(traffic, drawn)),
    )
