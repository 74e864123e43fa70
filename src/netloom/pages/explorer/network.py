"""What an explorer shows, and the network as JSON.

A view is a network, and what programs put on its channels under some routing. As JSON a network is
what its parts are called, how they are joined, how fast they are, and how it is drawn.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints, distinct
from netloom.base.errors import InputError
from netloom.base.words import begun
from netloom.drawing.networks.curves import (
    MOST_SIDE,
    every_chord,
    every_curve,
    grid_scene,
    in_columns,
)
from netloom.drawing.networks.scene import Scene, axes_of
from netloom.drawing.networks.squares import cube_scene, hyperx_scene, planes_scene
from netloom.drawing.networks.traffic import Traffic
from netloom.questions.answers import Verdict
from netloom.routing import Paths, Routing, paths
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, HyperXShape
from netloom.topology.names import short_switch_name

# -- view ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Flows:
    """What ranks send each other, and where they run.

    Attributes
    ----------
    host_of
        int32[ranks], the host of each rank.
    source, target
        int32[flows], ranks.
    amount
        float64[flows], in the unit of the view.
    job_of, jobs
        int32[ranks], the job of each rank, and the names of jobs. None and () for a single one.
    of_hosts
        Whether there is no program: each rank is a host, and called so.
    """

    host_of: Ints
    source: Ints
    target: Ints
    amount: Floats
    job_of: Ints | None = None
    jobs: tuple[str, ...] = ()
    of_hosts: bool = False

    @property
    def hosts(self) -> tuple[Ints, Ints]:
        """int32[flows] twice, the hosts that each flow leaves and reaches."""
        return self.host_of[self.source], self.host_of[self.target]


@dataclass(frozen=True, eq=False)
class Frames:
    """What channels carry at several times.

    Attributes
    ----------
    edges
        float64[n + 1], when each of n spans of time begins and ends, in the unit of time.
    busy
        float32[n, num_network_channels], the share of each span for which a channel is busy.
    unit
        Of times, such as ``cycles``.
    critical
        The steps of the critical path: node, the node that it sends to or -1, start, end, and what
        the step is called.
    """

    edges: Floats
    busy: NDArray[np.float32]
    unit: str
    critical: tuple[tuple[int, int, float, float, str], ...] = ()


@dataclass(frozen=True, eq=False)
class View:
    """One answer, as an explorer shows it.

    Attributes
    ----------
    name
        What tells it from others, such as ``minhop``.
    verdict
        What was answered.
    command
        The command that asks it again.
    topology
        The network, without what is broken.
    unit
        What loads are counted in, such as ``bytes``. ``flits/cycle`` is a share of a channel.
    load
        float64[num_network_channels], what the answer says that channels carry.
    flows
        What is sent. None where only loads are known.
    ways
        How it goes. If the way depends on the destination alone, this is a table:
        int32[num_hosts, num_routers], the channel between routers by which packets to each host
        leave each router. It has -1 at the last router, and where no packet comes by. Else it is
        the paths of all flows. None where these are unknown, or too many.
    missing
        Why there are no ways, in a sentence. "" where there are.
    frames
        Loads over time. None where there is none.
    delays, full
        The load of a channel from which on it delays, and the one at which it is full. Loads over
        bandwidth where that is not one for all.
    tie
        What the busiest channels are called, where more than a few carry as much.
    """

    name: str
    verdict: Verdict
    command: str
    topology: Topology
    unit: str
    load: Floats = field(repr=False)
    flows: Flows | None = None
    ways: Ints | Paths | None = None
    missing: str = ""
    frames: Frames | None = None
    delays: float = 0.0
    full: float = 0.0
    tie: str = ""


# -- network ---------------------------------------------------------------------------------------


MOST_PAIRS = 1_100_000
"""Pairs of hosts of which a table is made by following every path."""

MOST_ENTRIES = 2**22
"""Hosts × routers of the largest table that a page has."""

MOST_HOPS = 1_500_000
"""Channels on the paths of all flows, where there is no table."""


def ways_of(topology: Topology, routing: Routing, flows: Flows) -> tuple[Ints | Paths | None, str]:
    """Return how flows go, and why that is not known. One of the two.

    A table, if the way of a packet depends on its destination alone. Else the path of each flow,
    or its paths with their probabilities.

    Examples
    --------
    >>> from netloom.pages.explorer.network import Flows
    >>> from netloom.routing import parse_routing
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> ranks, one = np.arange(4, dtype=np.int32), np.ones(4)
    >>> flows = Flows(ranks, ranks, ranks[::-1].copy(), one)
    >>> found, why = ways_of(net, parse_routing("d-mod-k", net), flows)
    >>> found.shape, why
    ((4, 4), '')
    """
    table = table_of(topology, routing)
    if table is not None:
        return table, ""
    sources, targets = flows.hosts
    if len(sources) > MOST_HOPS:
        return None, f"{len(sources):,} flows are too many for a page that follows each path."
    try:
        found = paths(topology, routing, sources, targets).whole(topology)
    except InputError as error:
        return None, f"{begun(error.found)}: more than a page follows."
    if len(found.channels) > MOST_HOPS:
        return None, f"All paths have {len(found.channels):,} hops: more than a page follows."
    return found, ""


def table_of(topology: Topology, routing: Routing) -> Ints | None:
    """Return the table of a routing. None if it has none that is small enough.

    The page walks from the router of one host to the router of the other, so every host needs one
    port.
    """
    hosts, routers = topology.num_hosts, topology.num_routers
    one_port = len(distinct(topology.port_host)) == topology.num_ports
    if hosts * routers > MOST_ENTRIES or not one_port:
        return None
    if isinstance(routing, ForwardingTable) and routing.choices is None:
        rows = np.full(hosts, -1, np.int64)
        rows[topology.port_host] = np.arange(topology.num_ports)
        return np.where(rows[:, None] >= 0, routing.next_channel[rows], -1).astype(np.int32)
    if routing.several or hosts**2 > MOST_PAIRS or topology.broken:
        return None
    every_host = np.arange(hosts, dtype=np.int32)  # what the paths of all pairs have in common
    sources, targets = np.repeat(every_host, hosts), np.tile(every_host, hosts)
    apart = sources != targets
    try:
        every = paths(topology, routing, sources[apart], targets[apart])
    except (InputError, LookupError):
        return None
    channel = every.channels.astype(np.int64)
    target = np.repeat(targets[apart], every.lengths)
    router = topology.routers.channel_source[channel]
    table = np.full((hosts, routers), -1, np.int32)
    table[target, router] = channel
    return table if (table[target, router] == channel).all() else None


def loads_of(topology: Topology, flows: Flows, ways: Ints | Paths) -> Floats:
    """Return float64[num_network_channels], what flows put on each channel.

    It is what a page works out again: an answer's own loads must be the same.
    """
    load = np.zeros(topology.num_channels)
    if not isinstance(ways, Paths):
        sources, targets = flows.hosts
        moving = sources != targets
        at = routers_of(topology)[sources[moving]]
        to, amount = targets[moving], flows.amount[moving]
        for _ in range(topology.num_routers):
            channel = ways[to, at]
            going = channel >= 0
            if not going.any():
                break
            channel, to, amount = channel[going], to[going], amount[going]
            np.add.at(load, channel, amount)
            at = topology.routers.channel_target[channel]
        return load[: topology.num_network_channels]
    pair = np.arange(len(ways)) if ways.pair is None else ways.pair
    share = flows.amount[pair]
    if ways.probability is not None:
        share = share * ways.probability
    np.add.at(load, ways.channels, np.repeat(share, ways.lengths))
    return load[: topology.num_network_channels]


def routers_of(topology: Topology) -> Ints:
    """Return int32[num_hosts], the router of each host with one port. -1 of a host without."""
    found = np.full(topology.num_hosts, -1, np.int32)
    found[topology.port_host] = topology.injection_router
    return found


UNSIGNED: dict[str, Any] = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32}
"""Types of whole numbers, the smallest first."""


def packed(values: NDArray[Any], *, delta: bool = False) -> dict[str, Any]:
    """Return an array as JSON: its type, its length, and its bytes, compressed, in base64.

    Whole numbers from 0 are kept in as few bytes as they need. Other numbers are kept in four if
    seven digits are all they have, else in eight. With
    ``delta`` each but the first is the difference to the one before, modulo the type, which
    compresses what rises steadily.

    Examples
    --------
    >>> packed(np.array([0, 1, 300]))["type"], packed(np.array([0.1]))["type"]
    ('u2', 'f8')
    """
    kind, flat = _smallest(np.ravel(values))
    delta = delta and kind in UNSIGNED
    if delta:
        flat = np.diff(flat, prepend=flat.dtype.type(0))
    raw = flat.astype(flat.dtype.newbyteorder("<")).tobytes()
    if kind in UNSIGNED and flat.itemsize > 1:  # bytes of one weight together compress better
        raw = np.frombuffer(raw, np.uint8).reshape(-1, flat.itemsize).T.tobytes()
    text = base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
    return {"type": kind, "many": len(flat), "delta": delta, "data": text}


def _smallest(values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    if not len(values):
        return "u1", np.zeros(0, np.uint8)
    low, high = values.min(), values.max()
    whole = values.dtype.kind in "iub" or bool((values == np.floor(values)).all())
    for kind, dtype in UNSIGNED.items():
        if whole and low >= 0 and high <= np.iinfo(dtype).max:
            return kind, values.astype(dtype)
    with np.errstate(over="ignore"):  # what is too large is not equal below
        single = values.astype(np.float32)
    if np.array_equal(single.astype(np.float64), values):
        return "f4", single
    return "f8", values.astype(np.float64)


def packed_words(words: Sequence[str]) -> dict[str, Any]:
    """Return words as JSON: one per line, compressed, in base64."""
    raw = "\n".join(word.replace("\n", " ") for word in words).encode("utf-8")
    text = base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
    return {"type": "words", "many": len(words), "data": text}


WIDTH = 1000.0
"""Pixels of a picture before anybody moves in it."""

LARGE = 1000.0, 1600.0, 3200.0, 6400.0
"""Widths that are tried until squares have room."""

MOST_CHANNELS = 400_000
"""Most channels of a network that is drawn."""

STEP, LOWEST, HIGHEST = 19.0, 320.0, 900.0
"""Pixels of columns: from router to router, and of all, at least and at most."""

FINEST = 16
"""Parts of a pixel that places are rounded to."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """One way to draw a network.

    Attributes
    ----------
    label
        What it is called.
    scene
        Its curves, squares, boxes and words. Channels are those of the whole network.
    routers
        float64[n, 5]: router, left, top, width and height of each that can be pointed at.
    depth
        float64[num_routers, 3], coordinates of a picture that can be turned. None of flat ones.
    """

    label: str
    scene: Scene
    routers: Floats = field(default_factory=lambda: np.zeros((0, 5)))
    depth: Floats | None = None


def drawings_of(topology: Topology) -> list[Drawing]:
    """Return how a network is drawn, the best way first.

    Raises
    ------
    InputError
        If it has too many channels, or none.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [each.label for each in drawings_of(topology("torus:32x32"))]
    ['squares', 'lines']
    >>> [each.label for each in drawings_of(topology("fat-tree:4x3"))]
    ['levels']
    """
    whole = topology.whole
    many = whole.num_network_channels
    if not 0 < many <= MOST_CHANNELS:
        wanted = f"1 to {MOST_CHANNELS:,} channels between routers to draw"
        raise InputError(whole.name, f"{many:,} channels", wanted)
    traffic = Traffic(whole, np.zeros(many))
    if isinstance(whole.routers, Cube):
        return list(_of_cube(traffic, whole.routers))
    if isinstance(whole.family, DragonflyShape):
        return [Drawing("ring", every_chord(traffic, 0.86 * WIDTH))]
    hyperx = isinstance(whole.family, HyperXShape)
    scene = _roomy(hyperx_scene, traffic) if hyperx else None
    laid = in_columns(whole)
    most = max(len(column.routers) for column in laid.columns)
    tall = float(np.clip(STEP * most, LOWEST, HIGHEST))
    levels = Drawing("levels", *every_curve(traffic, laid, WIDTH, tall))
    return [levels] if scene is None else [Drawing("lines of routers", scene), levels]


def _of_cube(traffic: Traffic, cube: Cube) -> Iterator[Drawing]:
    axes = axes_of(cube)
    if len(axes) > 3:
        yield Drawing("dimensions", _needed(cube_scene, traffic))
    elif len(axes) == 3:
        planes = _needed(planes_scene, traffic)
        yield Drawing("planes", planes)
        at = np.stack(np.unravel_index(np.arange(cube.num_routers), cube.sides), axis=1)
        yield Drawing("space", planes, depth=at[:, axes[::-1]].astype(np.float64))
    else:
        if len(axes) == 2 and max(cube.sides) > MOST_SIDE:
            yield Drawing("squares", _needed(planes_scene, traffic))
        # lines as wide as they need, and squares round their nodes
        scene = grid_scene(traffic, max(WIDTH, 30.0 * max(cube.sides[-1], 8)))
        (dots,) = scene.dots
        side = float(dots.width[0]) * 1.6
        corner = dots.points[:, 0] - side / 2
        many = np.arange(len(corner), dtype=np.float64)
        squares = np.column_stack([many, corner, np.full((len(corner), 2), side)])
        yield Drawing("lines", scene, squares)


def _roomy(shown: Any, traffic: Traffic) -> Scene | None:
    """Return a picture of squares at the least width at which it has room. None if at none."""
    return next(filter(None, (shown(traffic, width) for width in LARGE)), None)


def _needed(shown: Any, traffic: Traffic) -> Scene:
    scene = _roomy(shown, traffic)
    if scene is None:
        found = "more squares than a picture has room for"
        raise InputError(traffic.topology.name, found, "fewer nodes")
    return scene


def drawing_json(drawing: Drawing, topology: Topology) -> dict[str, Any]:
    """Return a drawing as JSON. Its channels are those of ``topology``; broken ones are apart."""
    known = np.full(topology.whole.num_channels, -1)
    known[topology.whole_channel] = np.arange(topology.num_channels)
    scene = drawing.scene
    curves, squares, gone = [], [], []
    for part in scene.channels:
        if part.again:
            continue
        channel = known[part.channel]
        up = channel >= 0
        if part.points is not None:
            points = part.points.reshape(-1, 8)
            curves.append((channel[up], points[up]))
            gone.append(points[~up])
        elif part.squares is not None:
            squares.append((channel[up], part.squares[up]))
    rims = [
        np.column_stack([each.points.reshape(-1, 8), each.width])
        for each in (*scene.bundles, *scene.dots)
    ]
    found = {
        "label": drawing.label,
        "width": round(scene.width, 1),
        "height": round(scene.height, 1),
        "note": scene.note,
        "curves": _placed(curves, 8),
        "squares": _placed(squares, 3),
        "gone": _fine(np.concatenate([np.zeros((0, 8)), *gone])),
        "routers": {
            "router": packed(drawing.routers[:, 0].astype(np.int64)),
            "places": _fine(drawing.routers[:, 1:]),
        },
        "boxes": [
            [*(round(each, 2) for each in box[:4]), box.style.removeprefix("network-")]
            for box in scene.boxes
        ],
        "words": [
            [round(word.x, 2), round(word.y, 2), word.text, word.align, int(word.bold)]
            for word in scene.words
        ],
        "rims": _fine(np.concatenate([np.zeros((0, 9)), *rims])),
    }
    if drawing.depth is not None:
        found["depth"] = packed(drawing.depth.T)
    return found


def _placed(parts: list[tuple[NDArray[Any], Floats]], width: int) -> dict[str, Any]:
    """Return channels and their places as JSON, the channels ascending."""
    channel = np.concatenate([each for each, _ in parts]) if parts else np.zeros(0, np.int64)
    places = np.concatenate([each for _, each in parts]) if parts else np.zeros((0, width))
    order = np.argsort(channel, kind="stable")
    return {"channel": packed(channel[order], delta=True), "places": _fine(places[order])}


def _fine(places: Floats) -> dict[str, Any]:
    """Return places, column by column, in parts of a pixel from the least that occurs."""
    many, columns = places.shape
    low = float(np.floor(places.min())) if many else 0.0
    parts = np.rint((places - low) * FINEST).astype(np.int64)
    return {"low": low, "fine": FINEST, "columns": columns, "values": packed(parts.T)}


def network_json(topology: Topology) -> dict[str, Any]:
    """Return a network, and how it is drawn, as JSON.

    Channels are those between routers. ``port`` numbers the channels that leave a router: what
    tables hold.

    Raises
    ------
    InputError
        If it cannot be drawn.
    """
    inside = topology.num_network_channels
    routers = topology.routers
    names = [
        short_switch_name(topology.name_of(topology.router_vertex(each)))
        for each in range(routers.num_routers)
    ]
    hosts = [topology.name_of(each) for each in range(topology.num_hosts)]
    found = {
        "name": topology.name,
        "direct": topology.direct,
        "hosts": topology.num_hosts,
        "routers": topology.num_routers,
        "channels": inside,
        "router_names": packed_words(names),
        "host_names": packed_words([] if topology.direct else hosts),
        "router_of": packed(routers_of(topology) + 1),
        "source": packed(routers.channel_source, delta=False),
        "target": packed(routers.channel_target, delta=False),
        "rate": packed(topology.channel_bandwidth[:inside] * (topology.reference_gbps or 1.0)),
        "rate_unit": "Gb/s" if topology.reference_gbps else "flits/cycle",
        "up": packed(topology.vertex_up[topology.router_vertex(0) :]),
        "missing": int(topology.whole.num_network_channels - inside),
        "drawings": [drawing_json(each, topology) for each in drawings_of(topology)],
    }
    if topology.cabling is not None:
        found["out_port"] = packed(topology.cabling.out_port[:inside])
        found["in_port"] = packed(topology.cabling.in_port[:inside])
    return found


def ports(topology: Topology) -> Any:
    """Return int64[num_network_channels], which of its router's channels each is, from 0."""
    offsets, channel = topology.routers.outgoing()
    found = np.empty(len(channel), np.int64)
    found[channel] = np.arange(len(channel)) - np.repeat(offsets[:-1], np.diff(offsets))
    return found
