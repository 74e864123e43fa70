"""The routing functions of BookSim 2 as data of ``routing.by_hop``: ways, states and their VCs.

Read in its source (commit 28f43299), in our own words. Nothing is checked for circles here: what
can deadlock there can deadlock here.

*Ways* are the output ports that a function takes towards each router, int16[routers, routers,
several]: the ports of a router that lead on to a goal, all equally good. Ports are the ranks that
``networks`` gives the channels. Rows are padded with -1, and have only -1 if a packet never comes
there or has arrived.
"""

from __future__ import annotations

import heapq
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.routing.by_hop.hosted import detour_lists
from netloom.routing.by_hop.tables import (
    ALWAYS,
    DRAWN,
    LOCAL,
    TWO,
    Automaton,
    NextPorts,
    bits,
    channels_at_ports,
    check_starts,
    hop_tables,
)
from netloom.routing.port_numbers import hosted_ports
from netloom.routing.virtual_channel_tables import VirtualChannelRouting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology
    from netloom_papers.studies.booksim.networks import Shape

    Steps: TypeAlias = NDArray[np.int16]
    Making: TypeAlias = Callable[[Shape, Topology, int], "Scheme"]
    """What makes a scheme for a network and so many VCs."""

FLATFLY_THRESHOLD, DRAGONFLY_THRESHOLD = 2, 30
"""In favor of the minimal way. Both are compiled in."""

ORDER_IN_VC = (
    "with an odd number of VCs the reference's two orders share the middle VC, and a packet there "
    "changes from the one to the other; netloom's keep theirs."
)


class State(NamedTuple):
    """A state of packets. See ``by_hop.tables.HopTables``. States not said are its own number."""

    behind: tuple[int, ...]  # state behind a channel of each kind
    vcs: int  # of the channel by which a packet comes into it
    eject: int  # VCs to the host; 0: it passes its exit by
    table: int = 0
    to_aux: bool = False
    decides: bool = False
    keep: int = -1
    leave: int = -1
    turn: int = -1
    none: int = -1


class Scheme(NamedTuple):
    """A routing function: ways, the states of packets, and what they decide on.

    ``kind``: of each channel between routers. ``more``: further fields of ``HopTables``.
    """

    ways: Sequence[Steps]
    states: Sequence[State]
    kind: NDArray[np.int8] | None = None
    more: dict[str, Any] = {}  # noqa: RUF012 (none is ever changed)
    uses_credits: bool = False
    minimal: bool = True
    difference: str = ""


def routing_of(
    shape: Shape, network: Topology, function: str, num_vcs: int
) -> tuple[VirtualChannelRouting, str]:
    """Return a routing function of the reference, and in what it is known to differ in kind.

    Parameters
    ----------
    shape, network
        The network, and what makes it.
    function
        A name of ``ROUTINGS[shape.kind]``.
    num_vcs
        VCs of every channel.

    Raises
    ------
    InputError
        If there is no such function, it would fail there with so many VCs, packets would go to and
        fro for ever, or its tables would be too large.

    Examples
    --------
    >>> from netloom_papers.studies.booksim.networks import Shape, network
    >>> shape = Shape("fattree", 4, 3)
    >>> routing_of(shape, network(shape), "anca", 4)[0].uses_credits
    True
    """
    if function not in ROUTINGS[shape.kind]:
        known = ", ".join(ROUTINGS[shape.kind])
        raise InputError("routing", f"'{function}'", f"one of {known}")
    check_starts(network, network.num_routers**2)
    scheme = ROUTINGS[shape.kind][function](shape, network, num_vcs)
    tables = [_listed(network, each) for each in scheme.ways]
    none = np.zeros(network.num_network_channels, np.int8)
    kind = none if scheme.kind is None else scheme.kind
    found = hop_tables(network, num_vcs, tables, _automaton(kind, scheme.states), **scheme.more)
    routing = VirtualChannelRouting(
        function, network, found, uses_credits=scheme.uses_credits, minimal=scheme.minimal
    )
    return routing, scheme.difference


def _automaton(kind: NDArray[np.int8], states: Sequence[State]) -> Automaton:
    column = {name: np.array([getattr(state, name) for state in states]) for name in State._fields}
    own, after = np.arange(len(states)), ("keep", "leave", "turn", "none")
    flags: Any = {name: column[name].astype(np.int8) for name in ("table", "to_aux", "decides")}
    for name in after:
        flags[name] = np.where(column[name] < 0, own, column[name]).astype(np.int16)
    behind = column["behind"].astype(np.int16)
    return Automaton(kind, behind, column["vcs"], column["eject"], **flags)


def _listed(network: Topology, steps: Steps) -> NextPorts:
    """Return steps as lists of ports, equal ones once, with the hops to each goal."""
    goals = len(steps)
    lists, place = np.unique(steps.reshape(goals * goals, -1), axis=0, return_inverse=True)
    found, starts = [0], np.zeros(len(lists), np.int32)
    for number, each in enumerate(lists.tolist()):
        said = [port for port in each if port >= 0]
        if said:
            starts[number] = len(found)
            found += [len(said), *said]
    hops = _hops(network, steps[:, :, 0]).ravel()
    return NextPorts(goals, starts[place.ravel()], np.array(found, np.int16), hops)


def _hops(network: Topology, first: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return int16[routers, goals], the hops by the first ports, or -1 if there is no way."""
    outward, _ = channels_at_ports(network)
    behind = np.append(network.routers.channel_target, 0)
    behind = behind[np.where(outward < network.num_network_channels, outward, -1)]
    leads, goal = first >= 0, np.arange(len(first))
    ahead = behind[goal[:, None], np.where(leads, first, 0)]
    hops = np.where(np.eye(len(first), dtype=bool), 0, -1)
    for _ in goal:
        fresh = leads & (hops < 0) & (hops[ahead, goal] >= 0)
        if not fresh.any():
            break
        hops = np.where(fresh, hops[ahead, goal] + 1, hops)
    lost = np.argwhere(leads & (hops < 0)).tolist()
    if lost:
        found = f"packets from router {lost[0][0]} to {lost[0][1]} that go to and fro for ever"
        raise InputError(network.name, found, "another routing")
    return hops.astype(np.int16)


# Ways.


def _one(ports: Ints) -> Steps:
    """Return steps of one port each from [routers, routers], none from a router to itself."""
    found = ports.astype(np.int16)
    np.fill_diagonal(found, -1)
    return found[:, :, None]


def up_and_down(shape: Shape) -> Steps:
    """Return the ways of a fat tree: down where the goal, a leaf, is below. Else any port up."""
    k, n = shape.k, shape.n
    width = k ** (n - 1)
    steps = np.full((n * width, n * width, k), -1, np.int16)
    place, leaf = np.arange(width)[:, None], np.arange(width)
    goals = slice((n - 1) * width, None)
    for level in range(n):
        weight = k ** (n - 2 - level) if level < n - 1 else 1
        below = place // (k ** (n - 1 - level)) == leaf // (k ** (n - 1 - level))
        first = k if level < n - 1 else 0  # a leaf's ports down are hosts
        up = first + np.arange(k)
        down = np.full((width, width, k), -1)
        if level < n - 1:
            down[:, :, 0] = leaf // weight % k
        steps[level * width :][:width, goals] = np.where(below[:, :, None], down, up)
    return steps


def through_stages(shape: Shape) -> Steps:
    """Return the way of a butterfly: each stage sets a digit of the goal, the highest first."""
    k, n = shape.k, shape.n
    width = k ** (n - 1)
    ports = np.full((n * width, n * width), -1)
    place, goal = np.arange(width)[:, None], np.arange(width)
    for stage in range(n - 1):
        weight = k ** (n - 2 - stage)
        comes = place // (weight * k) == goal // (weight * k)
        ahead = np.where(comes, goal // weight % k, -1)
        ports[stage * width :][:width, (n - 1) * width :] = ahead
    return _one(ports)


def by_digits(shape: Shape, *, falling: bool = False) -> Steps:
    """Return dimension order of a flattened butterfly, the lowest digit first or last."""
    k, n = shape.k, shape.n
    router, goal = np.arange(k**n)[:, None], np.arange(k**n)
    ports = np.full((k**n, k**n), -1)
    axes = range(n) if falling else reversed(range(n))
    for axis in axes:  # what is set last is taken first
        own, other = router // k**axis % k, goal // k**axis % k
        rank = axis * (k - 1) + other - (other > own)
        ports = np.where(own != other, rank, ports)
    return _one(ports)


def on_grid(shape: Shape, *, y_first: bool = False, express: int = 0) -> Steps:
    """Return dimension order of a concentrated mesh.

    ``express``: how far to go, at least, for the express link of a border row or column to be
    taken, or 0: it never is.
    """
    k = shape.k
    router, goal = np.arange(k * k)[:, None], np.arange(k * k)
    y, x = router // k, router % k
    dy, dx = goal // k - y, goal % k - x
    along_x, along_y = np.where(dx > 0, 0, 1), np.where(dy > 0, 2, 3)
    if express:
        far_x, far_y = np.abs(dx) >= express, np.abs(dy) >= express
        along_x = np.where(far_x & (y == k - 1), 2, np.where(far_x & (y == 0), 3, along_x))
        along_y = np.where(far_y & (x == k - 1), 0, np.where(far_y & (x == 0), 1, along_y))
    if y_first:
        return _one(np.where(dy != 0, along_y, along_x))
    return _one(np.where(dx != 0, along_x, along_y))


def by_groups(shape: Shape) -> Steps:
    """Return the ways of a dragonfly: to the router with the link to the goal's group, and on."""
    p = shape.k
    a = 2 * p
    routers = a * (a * p + 1)
    router, goal = np.arange(routers)[:, None], np.arange(routers)
    group, own, other = router // a, router % a, goal // a
    link = other - (other > group)
    door = np.where(other == group, goal % a, link // p)
    local = door - (door > own)
    return _one(np.where((other != group) & (door == own), a - 1 + link % p, local))


def in_tree4(_: Shape, *, first_only: bool = False) -> Steps:
    """Return the ways of ``tree4``: any port up, and either router of the goal's quarter down.

    ``first_only``: the first port up, as ``anca`` has it.
    """
    steps = np.full((28, 28, 4), -1, np.int16)
    leaf = np.arange(16)
    quarter = leaf // 4
    goals = slice(12, None)
    steps[:4, goals, 0], steps[:4, goals, 1] = 2 * quarter, 2 * quarter + 1
    ups = 1 if first_only else 4
    below = np.arange(8)[:, None] // 2 == quarter
    steps[4:12, goals, 0] = np.where(below, leaf % 4, 4)
    for port in range(1, ups):
        steps[4:12, goals, port] = np.where(below, -1, 4 + port)
    apart = leaf[:, None] != leaf
    for port in range(min(ups, 2)):
        steps[12:, goals, port] = np.where(apart, port, -1)
    return steps


def in_qtree(_: Shape) -> Steps:
    """Return the way of ``qtree``."""
    ports = np.full((21, 21), -1)
    leaf = np.arange(16)
    ports[0, 5:] = leaf // 4
    ports[1:5, 5:] = np.where(np.arange(4)[:, None] == leaf // 4, leaf % 4, 4)
    ports[5:, 5:] = 0
    return _one(ports)


def by_latency(network: Topology) -> Steps:
    """Return the way of least latency of an anynet, ties as the reference settles them.

    From each router, routers are settled in order of latency, then number. Neighbours are looked
    at in order of number, and only a smaller latency counts.
    """
    routers, wired = network.routers, hosted_ports(network)
    offsets, channels = routers.outgoing()
    out = [
        sorted((int(routers.channel_target[c]), int(c)) for c in channels[first:last])
        for first, last in pairwise(offsets.tolist())
    ]
    ports = np.full((len(out), len(out)), -1)
    for start in range(len(out)):
        latency, first, settled = {start: 0}, {start: -1}, set()
        queue = [(0, start)]
        while queue:
            so_far, here = heapq.heappop(queue)
            if here in settled:
                continue
            settled.add(here)
            for there, channel in out[here]:
                found = so_far + int(routers.channel_cycles[channel])
                if there not in latency or found < latency[there]:
                    latency[there] = found
                    first[there] = channel if here == start else first[here]
                    heapq.heappush(queue, (found, there))
        for goal, channel in first.items():
            ports[start, goal] = wired.out_port[channel] if channel >= 0 else -1
    return _one(ports)


# Parts of schemes.


def _lower(num_vcs: int) -> int:
    return bits(num_vcs - num_vcs // 2)


def _upper(num_vcs: int) -> int:
    return bits(num_vcs) ^ bits(num_vcs // 2)


def _needs(network: Topology, num_vcs: int, least: int, most: int = 64) -> None:
    if not least <= num_vcs <= most:
        wanted = f"{least} VCs" if least == most else f"at least {least} VCs"
        raise InputError(network.name, f"{num_vcs} VC{'s' * (num_vcs != 1)}", wanted)


def _any_vc(steps: Callable[[Shape], Steps], **more: Any) -> Making:
    """Return the scheme of one set of ways, in any VC."""

    def scheme(shape: Shape, _: Topology, num_vcs: int) -> Scheme:
        state = State((0,), bits(num_vcs), bits(num_vcs))
        fields = {"more": {"choice": DRAWN}, **more}
        return Scheme([steps(shape)], [state], **fields)

    return scheme


def _two_orders(
    first: Callable[[Shape], Steps], second: Callable[[Shape], Steps], *, by_credits: bool = False
) -> Making:
    """Return the scheme of two sets of ways, each with its half of the VCs. The source decides.

    By a coin, or by what is used of the first  If they are equal, by a coin.
    """

    def scheme(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
        _needs(network, num_vcs, 2)
        every = bits(num_vcs)
        states = [
            State((0,), every, every, decides=True, keep=1, leave=2, none=1),
            State((1,), _lower(num_vcs), every),
            State((2,), _upper(num_vcs), every, table=1),
        ]
        routers = np.arange(network.num_routers)
        if by_credits:
            goals = list(routers[:, None])
            more = {"detour": LOCAL, "weight": 1, "detour_weight": 1, "even_by_coin": 1}
            more |= detour_lists(routers, [goals] * len(routers))
        else:
            more = {"detour": ALWAYS} | detour_lists(0 * routers, [[np.array([-1, 0])]])
        difference = ORDER_IN_VC if num_vcs % 2 else ""
        ways = [first(shape), second(shape)]
        return Scheme(ways, states, None, more, by_credits, difference=difference)

    return scheme


def _flatfly_valiant(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """Any router first, in the lower VCs. The upper ones from there on."""
    routers = np.arange(network.num_routers)
    more = {"detour": ALWAYS} | detour_lists(0 * routers, [[routers]])
    return Scheme([by_digits(shape)], _by_a_router(network, num_vcs), None, more, minimal=False)


def _flatfly_ugal(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """A router with other digits where source and goal differ, if queues times hops are shorter."""
    states, routers = _by_a_router(network, num_vcs), network.num_routers
    states[1] = states[1]._replace(eject=0)
    check_size(routers**2 * (routers + 1), where=network.name, what="detours of ugal")
    digits = np.stack(np.unravel_index(np.arange(routers), [shape.k] * shape.n), axis=1)[:, ::-1]
    lists = [[_between(shape.k, one, other) for other in digits] for one in digits]
    for router in range(routers):
        lists[router][router] = lists[router][router][:0]
    more = {"detour": LOCAL, "threshold": FLATFLY_THRESHOLD}
    more |= detour_lists(np.arange(routers), lists)
    return Scheme([by_digits(shape)], states, None, more, uses_credits=True, minimal=False)


def _by_a_router(network: Topology, num_vcs: int) -> list[State]:
    """Return the states of packets that go to a router first, in the lower VCs."""
    _needs(network, num_vcs, 2)
    every = bits(num_vcs)
    return [
        State((0,), every, every, decides=True, keep=2, leave=1, none=2),
        State((1,), _lower(num_vcs), every, to_aux=True, turn=2),
        State((2,), _upper(num_vcs), every),
    ]


def _between(base: int, one: Ints, other: Ints) -> Ints:
    """Return the routers with any digit where two routers differ, and theirs where they do not.

    Digits are those of the routers' numbers, the lowest first.
    """
    routers = np.zeros(1, np.int64)
    for axis, (mine, goal) in enumerate(zip(one, other, strict=True)):
        these = np.array([mine]) if mine == goal else np.arange(base)
        routers = (routers[:, None] + these * base**axis).ravel()
    return routers


def _group_of(shape: Shape, network: Topology) -> tuple[Ints, NDArray[np.int8]]:
    """Return the group of each router of a dragonfly, and 1 for the channels between groups."""
    group = np.arange(network.num_routers) // (2 * shape.k)
    ends = network.routers.channel_source, network.routers.channel_target
    return group, np.asarray(group[ends[0]] != group[ends[1]], np.int8)


def _dragonfly_min(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """VC 0 up to the global channel, VC 1 on it and behind. VC 0 within a group."""
    _needs(network, num_vcs, 2)
    states = [State((0, 1), 1, 1), State((1, 1), 2, 2)]
    return Scheme([by_groups(shape)], states, _group_of(shape, network)[1])


def _dragonfly_ugal(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """Any router of another group first, in VC 0, if that queue is shorter by far.

    Then, and on minimal ways, VC 1 up to the global channel and VC 2 from it on. VC 2 within a
    group.
    """
    _needs(network, num_vcs, 3, 3)
    states = [
        State((0, 0), 1, 4, decides=True, keep=1, leave=3, none=2),
        State((1, 2), 2, 2),
        State((2, 2), 4, 4),
        State((3, 3), 1, 0, to_aux=True, turn=1),
    ]
    group, kind = _group_of(shape, network)
    groups, nothing = np.arange(group[-1] + 1), np.zeros(0, np.int32)
    # a router of one's own group: no detour
    drawn = [np.where(group == own, -1, np.arange(len(group))) for own in groups]
    lists = [[nothing if own == goal else drawn[own] for goal in groups] for own in groups]
    more = {"detour": LOCAL, "threshold": DRAGONFLY_THRESHOLD, "weight": 1, "detour_weight": 2}
    more |= detour_lists(group, lists)
    return Scheme([by_groups(shape)], states, kind, more, uses_credits=True, minimal=False)


def _anynet_min(_: Shape, network: Topology, num_vcs: int) -> Scheme:
    return Scheme([by_latency(network)], [State((0,), bits(num_vcs), bits(num_vcs))])


ROUTINGS: dict[str, dict[str, Making]] = {
    "fattree": {
        "nca": _any_vc(up_and_down),
        "anca": _any_vc(up_and_down, more={"choice": TWO}, uses_credits=True),
    },
    "flatfly": {
        "ran_min": _any_vc(by_digits),
        "xyyx": _two_orders(by_digits, partial(by_digits, falling=True)),
        "adaptive_xyyx": _two_orders(by_digits, partial(by_digits, falling=True), by_credits=True),
        "valiant": _flatfly_valiant,
        "ugal": _flatfly_ugal,
    },
    "cmesh": {
        # express links where they do not lead past the goal
        "dor": _any_vc(lambda shape: on_grid(shape, express=max(shape.k // 2, 1))),
        "dor_no_express": _any_vc(on_grid),
        "xy_yx": _two_orders(
            partial(on_grid, express=2), partial(on_grid, express=2, y_first=True)
        ),
        "xy_yx_no_express": _two_orders(on_grid, partial(on_grid, y_first=True)),
    },
    "dragonflynew": {"min": _dragonfly_min, "ugal": _dragonfly_ugal},
    "fly": {"dest_tag": _any_vc(through_stages)},
    "tree4": {
        "nca": _any_vc(in_tree4),
        "anca": _any_vc(partial(in_tree4, first_only=True)),
    },
    "qtree": {"nca": _any_vc(in_qtree)},
    "anynet": {"min": _anynet_min},
}
"""What makes each routing function, by network and name there."""
