"""What a router is made of: virtual channels, buffers, pipeline and allocation.

All times are cycles. A head flit that finds everything free spends ``router_cycles`` in a router
(route, VC allocation, switch allocation, traversal) and ``channel_cycles`` on the channel behind
it. The flits of its packet follow at one per cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache
from math import floor
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from netloom.base.errors import InputError
from netloom.routing import ports
from netloom.topology import Topology
from netloom.workload.traffic.stream import LONGEST

Switching: TypeAlias = Literal[
    "wormhole", "virtual-cut-through", "store-and-forward", "circuit", "reserved"
]
SWITCHINGS = get_args(Switching)

MOST_PACKET = LONGEST
"""Most flits of a packet."""

MOST_FLITS = 2**16 - 1
"""Most flits of a buffer."""

MOST_CYCLES = 64
"""Longest delay of one stage, or of a channel of latency 1: what is under way is kept by cycles."""


class Timing(NamedTuple):
    """The delays that a router's stages add up to, in cycles.

    ``head_wait``: from the cycle in which a head comes to the front of its VC to the last in which
    it asks for an output VC. ``flit``: from asking for the switch, and winning it, to being at the
    front of the next buffer. ``credit``: from asking likewise to the buffer slot's use by the
    router before. ``injection`` and ``ejection``: from the source to its router, from asking for
    the switch to the sink. ``injection_credit``: as ``credit``, for the source.
    """

    head_wait: int
    flit: int
    credit: int
    injection: int
    injection_credit: int
    ejection: int


def part(said: str, *, default: Any, **told: Any) -> Any:
    """Declare a parameter of routers: as questions describe it, and its value if none is given.

    ``told`` is as for an option of a question: its unit and flags, and ``ge`` and ``le``, the least
    and the most of a whole number.
    """
    return field(default=default, metadata={"said": said, **told})


def stage(said: str, *, default: int, least: int) -> Any:
    """Declare a delay in a router or behind it, in cycles."""
    return part(said, default=default, unit="cycles", ge=least, le=MOST_CYCLES)


@dataclass(frozen=True)
class Router:
    """An input-queued virtual-channel router with credit-based flow control.

    Attributes
    ----------
    vcs
        Virtual channels of every channel.
    buffer_flits
        Flits that the buffer of one VC holds.
    switching
        One of ``wormhole``, ``virtual-cut-through`` (a packet goes on only into a buffer that can
        hold all of it), ``store-and-forward`` (the same, once all of it has arrived), ``circuit``
        and ``reserved``. With ``circuit``, a probe takes the path's VCs, an acknowledgement comes
        back, then the data flows. With ``reserved``, every connection permanently owns one VC of
        each of its channels, as iWarp's logical channels. Each VC then has a crossbar input of its
        own.
    route_cycles
        Route computation, or 0 if it is done ahead of time.
    vc_allocation_cycles, switch_allocation_cycles, traversal_cycles
        The other stages of the pipeline. An attempt of allocation takes all of its cycles, whatever
        comes of it, and the next attempt of the same VC begins when it ends.
    speculative
        VC allocation is part of switch allocation, and takes no stage of its own.
    channel_cycles, credit_cycles
        Delay of a channel between routers, 0 where it is part of the router's cycle; delay of a
        credit beyond that of the channel back, between routers. Sources take credits without it.
    injection_channels, ejection_channels
        Channels of one flit per cycle between a node and its router, or 0: unlimited, as many as
        the node has network channels.
    oldest_first
        Allocation prefers the oldest packet, where it is round-robin otherwise.
    fill_channels
        The buffer of a VC is deep enough to fill the channel by itself. It holds at least the flits
        of a round trip, from the departure of a flit to the use of its credit. So long channels
        have deep buffers.

    Examples
    --------
    >>> Router(vcs=2).router_cycles
    3
    >>> router("single-cycle").zero_load_cycles(hops=4, flits=5)
    16
    >>> router("single-cycle", channel_cycles=0).zero_load_cycles(hops=4, flits=5)  # a cycle a hop
    12
    """

    vcs: int = part("Virtual channels per channel.", default=4, ge=1, le=62)
    buffer_flits: int = part(
        "Size of a virtual channel's buffer.", default=8, unit="flits", ge=1, le=MOST_FLITS
    )
    switching: Switching = "wormhole"
    route_cycles: int = stage("Time to compute a route, 0 if in advance.", default=0, least=0)
    vc_allocation_cycles: int = stage("Time of VC allocation.", default=1, least=1)
    switch_allocation_cycles: int = stage("Time of switch allocation.", default=1, least=1)
    traversal_cycles: int = stage("Time of switch traversal.", default=1, least=0)
    speculative: bool = part("Allocate VC and switch in one stage.", default=False)
    channel_cycles: int = stage("Delay of a channel.", default=1, least=0)
    credit_cycles: int = stage("Extra delay of a credit between routers.", default=0, least=0)
    injection_channels: int = part(
        "Channels from a node into its router (0: unlimited).", default=1, ge=0, le=62
    )
    ejection_channels: int = part(
        "Channels from a router to its node (0: unlimited).", default=1, ge=0, le=62
    )
    oldest_first: bool = part(
        "Allocate to the oldest packet, not round-robin.",
        default=False,
        flags=("--oldest-first/--round-robin",),
    )
    fill_channels: bool = part(
        "Deepen buffers so that each VC fills a channel.", default=False, flags=("--fill-channels",)
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            if "ge" not in each.metadata:
                continue
            value, low, high = getattr(self, each.name), each.metadata["ge"], each.metadata["le"]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise InputError(each.name, str(value), f"a whole number from {low} to {high}")
        if self.switching not in SWITCHINGS:
            raise InputError("switching", f"'{self.switching}'", f"one of {', '.join(SWITCHINGS)}")

    @property
    def router_cycles(self) -> int:
        """Cycles that a head flit spends in an idle router."""
        vc_allocation = 0 if self.speculative else self.vc_allocation_cycles
        stages = self.route_cycles + vc_allocation + self.switch_allocation_cycles
        return stages + self.traversal_cycles

    @property
    def whole_packets(self) -> bool:
        """Whether a packet moves only to where all of it fits."""
        return self.switching in ("virtual-cut-through", "store-and-forward")

    def timing(self) -> Timing:
        """Return the delays that the stages add up to.

        Injection and ejection channels have a delay of one cycle.
        """
        allocation, traversal = self.switch_allocation_cycles, self.traversal_cycles
        wait = self.route_cycles + (0 if self.speculative else self.vc_allocation_cycles - 1)
        flit = allocation + traversal + self.channel_cycles
        credit = allocation + self.channel_cycles + self.credit_cycles
        return Timing(wait, flit, credit, 2, allocation + 1, allocation + traversal + 1)

    def zero_load_cycles(self, hops: float, flits: float) -> float:
        """Return the packet latency of an idle network, from creation to the tail's arrival.

        With D = hops + 1 routers of R cycles, channels of C cycles and P flits, wormhole and
        virtual cut-through take 3 + D R + (D - 1) C + P - 1: injection and ejection channel
        included. Store-and-forward waits for the tail at every router, D (P - 1) more.
        If switch allocation takes S cycles, a VC passes a flit in every S of them: P - 1 is then
        S (P - 1), except in front of the first router of store-and-forward.
        Circuit switching sends a probe there (P = 1), an acknowledgement back, and then the data,
        which neither waits for routes nor for VCs. With reserved VCs heads wait for neither.

        A packet that is longer than a buffer waits for credits besides. See ``credit_wait``. That
        is exact for whole numbers. Of means it is that of a packet of the mean length.

        Examples
        --------
        >>> Router().zero_load_cycles(hops=5.25, flits=5)
        31.0
        """
        routers, times, attempt = hops + 1, self.timing(), self.switch_allocation_cycles
        head = times.head_wait + (0 if self.speculative else 1)
        flight = times.injection + hops * times.flit + times.ejection
        if self.switching == "circuit":
            acknowledged = 2 * times.injection_credit + hops * times.credit
            acknowledged -= (routers + 1) * (attempt - 1)  # it needs no switch
            data = attempt * (flits - 1) + self.credit_wait(hops, flits, head=0)
            return routers * head + flight + acknowledged + flight + data
        if self.switching == "reserved":
            return flight + attempt * (flits - 1) + self.credit_wait(hops, flits, head=0)
        if self.switching == "store-and-forward":
            return routers * (head + attempt * (flits - 1)) + flight + flits - 1
        in_a_row = routers * head + flight + attempt * (flits - 1)
        return in_a_row + self.credit_wait(hops, flits, head=head)

    def credit_wait(self, hops: float, flits: float, *, head: int) -> float:
        """Return for how many cycles a lone packet that no buffer holds waits for credits.

        A flit cannot leave before the one B flits ahead of it has left the next buffer and the
        credit has come back. This loop takes L cycles between two routers, and L0 between the
        source and its router. The longest chain of such waits delays the packet's tail. The chain
        has q = ⌊(P − 1) / B⌋ loops, each L − B (or L0 − B) cycles longer than B flits in a row.
        Loops of L follow the head's own path through all D routers. A chain that also contains m
        loops of the source has the head's waits (``head`` cycles per router) at m routers only.

        If switch allocation takes several cycles, the packet is followed flit by flit.
        """
        if self.switch_allocation_cycles > 1:
            return self._waited(hops, flits, head)
        times = self.timing()
        rounds = (np.asarray(flits) - 1) // self.buffer_flits * (not self.fill_channels)
        inside = times.flit + times.credit - self.buffer_flits
        first = times.injection + times.injection_credit - self.buffer_flits
        behind = np.where(np.asarray(hops) > 0, rounds * inside, 0)
        at_once = rounds * first - hops * head
        reach = np.clip(rounds, 1, np.asarray(hops) + 1)
        by_all = (reach - 1) * inside + (rounds - reach + 1) * first - (hops + 1 - reach) * head
        most = np.maximum(np.maximum(behind, 0), np.maximum(at_once, by_all))
        waits = np.where(rounds > 0, most, 0)
        return waits if waits.ndim else waits.item()  # type: ignore[return-value]

    def _waited(self, hops: float, flits: float, head: int) -> float:
        """Return the same from following packets. Between whole numbers it is interpolated."""
        deep, end = replace(self, buffer_flits=MOST_FLITS), ChannelKind(1, Fraction(1))
        inside = ChannelKind(self.channel_cycles, Fraction(1))

        @cache
        def waited(hops: int, flits: int) -> int:
            if flits <= self.buffer_flits or self.fill_channels:
                return 0
            way = [end, *[inside] * hops, end]
            return through(self, way, flits, head) - through(deep, way, flits, head)

        def between(hops: float, flits: float) -> float:
            low, least = floor(hops), floor(flits)
            far, long = hops - low, flits - least
            return sum(
                waited(low + h, least + f) * abs(1 - h - far) * abs(1 - f - long)
                for h in range(1 + (far > 0))
                for f in range(1 + (long > 0))
            )

        found = np.vectorize(between, otypes=[np.float64])(hops, flits)
        return found if found.ndim else float(found)


class ChannelKind(NamedTuple):
    """What channels have in common that a packet cannot tell apart: delay, and flits per cycle."""

    cycles: int
    rate: Fraction


def through(router: Router, channels: Sequence[ChannelKind], flits: int, head: int) -> int:
    """Return what a packet takes whose head spends ``head`` cycles before it asks for the switch.

    Every flit leaves as soon as it has come, the one before it has left, the channel may send
    again, and the buffer behind it has room. Routers look for that in each attempt to allocate the
    switch, and a VC's next one begins when the last one ends.
    """
    attempt = router.switch_allocation_cycles
    pipeline = router.switch_allocation_cycles + router.traversal_cycles
    last = len(channels) - 1
    flight = [1 + channels[0].cycles, *(pipeline + each.cycles for each in channels[1:])]
    credit = [router.switch_allocation_cycles + each.cycles for each in channels]
    credit[1:last] = [wait + router.credit_cycles for wait in credit[1:last]]
    around = np.add(flight, credit) if router.fill_channels else [0] * len(channels)
    depth = [max(router.buffer_flits, int(trip)) for trip in around]
    sent = np.zeros((len(channels), flits), np.int64)  # cycle in which a channel takes each flit
    ready = np.full(len(channels), -(2**40))  # the packet comes long after the last one
    whole = router.switching == "store-and-forward"

    def pass_on(place: int, flit: int) -> None:
        start = 0
        if place:
            first = sent[place - 1, -1 if whole else flit] + flight[place - 1]
            start = first + head * (flit == 0)
        step = attempt if place else 1
        if flit:
            start = max(start, sent[place, flit - 1] + step)
        many, cycles = channels[place].rate.as_integer_ratio()
        least = -(-ready[place] // many)
        if flit >= depth[place] and place < last:
            least = max(least, sent[place + 1, flit - depth[place]] + credit[place])
        start += max(-(-(least - start) // step), 0) * step
        ready[place] = max(ready[place], start * many - (many - 1)) + cycles
        sent[place, flit] = start

    order = [(place, flit) for flit in range(flits) for place in range(last + 1)]
    if whole:
        order = [(place, flit) for place in range(last + 1) for flit in range(flits)]
    for place, flit in order:
        pass_on(place, flit)
    return int(sent[last, -1] + flight[last])


PRESETS = {
    "three-stage": Router(),
    "canonical-4-stage": Router(route_cycles=1),
    "speculative-2-stage": Router(speculative=True),
    "single-cycle": Router(speculative=True, traversal_cycles=0),
}
"""Routers by name. ``three-stage`` (routes computed ahead) is the default."""


def router(name: str = "three-stage", **changes: object) -> Router:
    """Return the router preset ``name``, with fields changed.

    Raises
    ------
    InputError
        If there is no such preset or field, or a field's value is out of range.

    Examples
    --------
    >>> router("canonical-4-stage", vcs=2).router_cycles
    4
    """
    if name not in PRESETS:
        raise InputError("router", f"'{name}'", f"one of {', '.join(PRESETS)}")
    for each in changes:
        if each not in vars(PRESETS[name]):
            raise InputError("router", f"field '{each}'", ", ".join(vars(PRESETS[name])))
    return replace(PRESETS[name], **changes)  # type: ignore[arg-type]


def end_channels(topology: Topology, router: Router) -> tuple[int, int]:
    """Return the injection and ejection channels of a node: unlimited ones are as many as ports.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> end_channels(mesh(4, 4), Router(ejection_channels=0))
    (1, 4)
    """
    most = max(ports(topology.routers).num_network_ports, 1)
    return router.injection_channels or most, router.ejection_channels or most


def with_lanes(topology: Topology, router: Router) -> Topology:
    """Return a network each of whose hosts has as many channels as its router says, side by side.

    A direct network stays as it is: the router alone says how many there are.

    Raises
    ------
    InputError
        If a router says it, and the network says how fast the channels of its hosts are.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("mesh:2x2/1")
    >>> with_lanes(net, Router(injection_channels=2, ejection_channels=0)).port_bandwidth
    array([2., 2., 2., 2., 2., 2., 2., 2.])
    """
    lanes = end_channels(topology, router)
    asked = np.repeat(np.array(lanes, np.float64), topology.num_ports)
    if lanes == (1, 1) or not topology.ports_listed or (topology.port_bandwidth == asked).all():
        return topology
    if (topology.port_bandwidth != 1).any():
        found = f"{lanes[0]} injection and {lanes[1]} ejection channels"
        wanted = f"1: {topology.name} says which channels its hosts have"
        raise InputError("router", found, wanted)
    bandwidth = topology.channel_bandwidth.copy()
    bandwidth[topology.num_network_channels :] = asked
    return replace(topology, channel_bandwidth=bandwidth)
