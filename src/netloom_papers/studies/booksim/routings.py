"""The routing functions of BookSim 2 as data of ``routing.by_hop``: ways, states and their VCs.

Read in its source (commit 28f43299), in our own words. Nothing is checked for circles here: what
can deadlock there can deadlock here.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
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
from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom_papers.studies.booksim import ports

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology
    from netloom_papers.studies.booksim.networks import Shape
    from netloom_papers.studies.booksim.ports import Steps

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
    next_router = _next_routers(network)
    tables = [_listed(network, each, next_router) for each in scheme.ways]
    kind = scheme.kind
    if kind is None:
        kind = np.zeros(network.num_network_channels, np.int8)
    found = hop_tables(network, num_vcs, tables, _automaton(kind, scheme.states), **scheme.more)
    routing = VirtualChannelRouting(
        function, network, found, uses_credits=scheme.uses_credits, minimal=scheme.minimal
    )
    return routing, scheme.difference


def _automaton(kind: NDArray[np.int8], states: Sequence[State]) -> Automaton:
    def column(name: str, dtype: type) -> NDArray[Any]:
        return np.array([getattr(state, name) for state in states], dtype)

    def state(name: str) -> NDArray[np.int16]:
        said = column(name, np.int16)
        return np.where(said < 0, np.arange(len(states)), said).astype(np.int16)

    return Automaton(
        kind,
        np.array([each.behind for each in states], np.int16),
        column("vcs", np.int64), column("eject", np.int64), column("table", np.int8),
        column("to_aux", np.int8), column("decides", np.int8),
        state("keep"), state("leave"), state("turn"), state("none"),
    )  # fmt: skip


def _next_routers(network: Topology) -> Ints:
    """Return int64[routers, ports], the router behind each output port; -1 behind a host's."""
    outward, _ = channels_at_ports(network)
    inside = (outward >= 0) & (outward < network.num_network_channels)
    target = network.routers.channel_target
    if not len(target):
        return np.full(outward.shape, -1, np.int64)
    return np.where(inside, target[np.where(inside, outward, 0)], -1).astype(np.int64)


def _listed(network: Topology, steps: Steps, next_router: Ints) -> NextPorts:
    """Return steps as lists of ports, equal ones once, with the hops to each goal."""
    goals = len(steps)
    lists, place = np.unique(steps.reshape(goals * goals, -1), axis=0, return_inverse=True)
    found, starts = [0], np.zeros(len(lists), np.int32)
    for number, each in enumerate(lists.tolist()):
        said = [port for port in each if port >= 0]
        if said:
            starts[number] = len(found)
            found += [len(said), *said]
    return NextPorts(
        goals, starts[place.ravel()], np.array(found, np.int16),
        _hops(network, steps, next_router).ravel(),
    )  # fmt: skip


def _hops(network: Topology, steps: Steps, next_router: Ints) -> NDArray[np.int16]:
    """Return int16[routers, goals], the hops from router to goal, or -1 if there is no way."""
    first, goal = steps[:, :, 0], np.arange(len(steps))
    leads = first >= 0
    router = np.arange(len(steps))[:, None]
    ahead = next_router[router, np.where(leads, first, 0)]
    hops = np.where(np.eye(len(steps), dtype=bool), 0, -1)
    for _ in goal:
        further = hops[ahead, goal]
        fresh = leads & (hops < 0) & (further >= 0)
        if not fresh.any():
            break
        hops = np.where(fresh, further + 1, hops)
    if (leads & (hops < 0)).any():
        lost, end = np.argwhere(leads & (hops < 0))[0].tolist()
        found = f"packets from router {lost} to {end} that go to and fro for ever"
        raise InputError(network.name, found, "another routing")
    return hops.astype(np.int16)


# Parts of schemes.


def _lower(num_vcs: int) -> int:
    return bits(num_vcs - num_vcs // 2)


def _upper(num_vcs: int) -> int:
    return bits(num_vcs) ^ bits(num_vcs // 2)


def _needs(network: Topology, num_vcs: int, least: int, most: int = 64) -> None:
    if not least <= num_vcs <= most:
        wanted = f"{least} VCs" if least == most else f"at least {least} VCs"
        raise InputError(network.name, f"{num_vcs} VC{'s' * (num_vcs != 1)}", wanted)


def _any_vc(steps: Callable[[Shape], Steps], **more: Any) -> Callable[..., Scheme]:
    """Return the scheme of one set of ways, in any VC."""

    def scheme(shape: Shape, _: Topology, num_vcs: int) -> Scheme:
        state = State((0,), bits(num_vcs), bits(num_vcs))
        fields = {"more": {"choice": DRAWN}, **more}
        return Scheme([steps(shape)], [state], **fields)

    return scheme


def _two_orders(
    first: Callable[[Shape], Steps], second: Callable[[Shape], Steps], *, by_credits: bool = False
) -> Callable[..., Scheme]:
    """Return the scheme of two sets of ways, each with its half of the VCs. The source decides.

    By a coin, or by what is used of the first ports. If they are equal, by a coin.
    """

    def scheme(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
        _needs(network, num_vcs, 2)
        every = bits(num_vcs)
        states = [
            State((0,), every, every, decides=True, keep=1, leave=2, none=1),
            State((1,), _lower(num_vcs), every),
            State((2,), _upper(num_vcs), every, table=1),
        ]
        more: dict[str, Any] = {"detour": ALWAYS, "detours": np.array([2, -1, 0], np.int32)}
        if by_credits:
            routers = network.num_routers
            goal = np.arange(routers, dtype=np.int32)
            more = {
                "detour": LOCAL, "weight": 1, "detour_weight": 1, "even_by_coin": 1,
                "detour_class": goal, "detour_classes": routers,
                "detour_start": np.tile(2 * goal, routers),
                "detours": np.stack([np.ones(routers, np.int32), goal], axis=1).ravel(),
            }  # fmt: skip
        difference = ORDER_IN_VC if num_vcs % 2 else ""
        ways = [first(shape), second(shape)]
        return Scheme(ways, states, None, more, by_credits, difference=difference)

    return scheme


def _flatfly_valiant(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """Any router first, in the lower VCs. The upper ones from there on."""
    _needs(network, num_vcs, 2)
    every, routers = bits(num_vcs), network.num_routers
    states = [
        State((0,), every, every, decides=True, keep=2, leave=1, none=2),
        State((1,), _lower(num_vcs), every, to_aux=True, turn=2),
        State((2,), _upper(num_vcs), every),
    ]
    detours = np.append(routers, np.arange(routers)).astype(np.int32)
    more = {"detour": ALWAYS, "detours": detours}
    return Scheme([ports.by_digits(shape)], states, None, more, minimal=False)


def _flatfly_ugal(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """A router with other digits where source and goal differ, if queues times hops are shorter."""
    _needs(network, num_vcs, 2)
    every, routers = bits(num_vcs), network.num_routers
    states = [
        State((0,), every, every, decides=True, keep=2, leave=1, none=2),
        State((1,), _lower(num_vcs), 0, to_aux=True, turn=2),
        State((2,), _upper(num_vcs), every),
    ]
    starts, detours = _between(shape, network)
    more = {
        "detour": LOCAL, "threshold": FLATFLY_THRESHOLD,
        "detour_class": np.arange(routers, dtype=np.int32), "detour_classes": routers,
        "detour_start": starts, "detours": detours,
    }  # fmt: skip
    return Scheme([ports.by_digits(shape)], states, None, more, uses_credits=True, minimal=False)


def _between(shape: Shape, network: Topology) -> tuple[Ints, Ints]:
    """Return the lists of routers to draw from: any digit where two routers differ, else theirs."""
    k, n, routers = shape.k, shape.n, network.num_routers
    check_size(routers**2 * (routers + 1), where=network.name, what="detours of ugal")
    weights = k ** np.arange(n)
    digits = np.arange(routers)[:, None] // weights % k
    starts, found = np.zeros((routers, routers), np.int32), [0]
    for source in range(routers):
        for goal in range(routers):
            choices = np.array([source - (digits[source] * weights).sum()])
            for axis in range(n):
                same = digits[source, axis] == digits[goal, axis]
                these = digits[source, axis : axis + 1] if same else np.arange(k)
                choices = (choices[:, None] + these * weights[axis]).ravel()
            if source != goal:
                starts[source, goal] = len(found)
                found += [len(choices), *choices.tolist()]
    return starts.ravel(), np.array(found, np.int32)


def _kinds(network: Topology, shape: Shape) -> NDArray[np.int8]:
    """Return 1 for the channels between groups of a dragonfly, 0 for those within."""
    group = np.arange(network.num_routers) // (2 * shape.k)
    ends = network.routers.channel_source, network.routers.channel_target
    return np.asarray(group[ends[0]] != group[ends[1]], np.int8)


def _dragonfly_min(shape: Shape, network: Topology, num_vcs: int) -> Scheme:
    """VC 0 up to the global channel, VC 1 on it and behind. VC 0 within a group."""
    _needs(network, num_vcs, 2)
    states = [State((0, 1), 1, 1), State((1, 1), 2, 2)]
    return Scheme([ports.by_groups(shape)], states, _kinds(network, shape))


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
    routers = network.num_routers
    group = np.arange(routers, dtype=np.int32) // (2 * shape.k)
    groups = int(group[-1]) + 1
    lists = np.tile(np.arange(routers, dtype=np.int32), (groups, 1))
    lists[group == np.arange(groups)[:, None]] = -1  # as one in its own group: no detour
    detours = np.concatenate([np.full((groups, 1), routers, np.int32), lists], axis=1)
    starts = np.tile((1 + np.arange(groups) * (routers + 1))[:, None], groups)
    np.fill_diagonal(starts, 0)
    more = {
        "detour": LOCAL, "threshold": DRAGONFLY_THRESHOLD, "weight": 1, "detour_weight": 2,
        "detour_class": group, "detour_classes": groups,
        "detour_start": starts.ravel().astype(np.int32),
        "detours": np.append(0, detours.ravel()).astype(np.int32),
    }  # fmt: skip
    return Scheme(
        [ports.by_groups(shape)], states, _kinds(network, shape), more, uses_credits=True,
        minimal=False,
    )  # fmt: skip


def _anynet_min(_: Shape, network: Topology, num_vcs: int) -> Scheme:
    return Scheme([ports.by_latency(network)], [State((0,), bits(num_vcs), bits(num_vcs))])


def _half_way(shape: Shape) -> Steps:
    """Express links where they do not lead past the goal."""
    return ports.on_grid(shape, express=max(shape.k // 2, 1))


_x_first, _y_first = partial(ports.on_grid), partial(ports.on_grid, y_first=True)
_express_x, _express_y = partial(_x_first, express=2), partial(_y_first, express=2)
_rising, _falling = ports.by_digits, partial(ports.by_digits, falling=True)

ROUTINGS: dict[str, dict[str, Callable[[Shape, Topology, int], Scheme]]] = {
    "fattree": {
        "nca": _any_vc(ports.up_and_down),
        "anca": _any_vc(ports.up_and_down, more={"choice": TWO}, uses_credits=True),
    },
    "flatfly": {
        "ran_min": _any_vc(_rising),
        "xyyx": _two_orders(_rising, _falling),
        "adaptive_xyyx": _two_orders(_rising, _falling, by_credits=True),
        "valiant": _flatfly_valiant,
        "ugal": _flatfly_ugal,
    },
    "cmesh": {
        "dor": _any_vc(_half_way),
        "dor_no_express": _any_vc(_x_first),
        "xy_yx": _two_orders(_express_x, _express_y),
        "xy_yx_no_express": _two_orders(_x_first, _y_first),
    },
    "dragonflynew": {"min": _dragonfly_min, "ugal": _dragonfly_ugal},
    "fly": {"dest_tag": _any_vc(ports.through_stages)},
    "tree4": {
        "nca": _any_vc(ports.in_tree4),
        "anca": _any_vc(partial(ports.in_tree4, first_only=True)),
    },
    "qtree": {"nca": _any_vc(ports.in_qtree)},
    "anynet": {"min": _anynet_min},
}
"""What makes each routing function, by network and name there."""
