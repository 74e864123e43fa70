"""What joins what, and the arrays of one network, made once before it runs. See ``layout``.

Wires join the ports of routers, and the sources behind them. A *line* carries at most a flit per
cycle: a channel, or one of the lanes of a faster one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.port_numbers import HostedPorts, each_lane, hosted_ports, ports
from netloom.routing.virtual_channel_tables import WORD, RouteTables, slot_stride
from netloom.simulation.network import layout
from netloom.simulation.network.layout import LARGE, SMALL, Setup, State
from netloom.simulation.network.routers import end_channels, with_lanes

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.routing.virtual_channel_tables import VirtualChannelRouting
    from netloom.simulation.network.routers import Router, Timing
    from netloom.topology import Topology

FINEST = 1000
"""Largest number of cycles in which a line sends a whole number of flits, exactly at its rate."""


class Lines(NamedTuple):
    """Lines of one kind: those between routers, into them, or out of them.

    Attributes
    ----------
    source, out_port
        int64[lines], router and output port. Of a line into the routers, its source and which of
        the injection channels of that it is.
    target, in_port
        int64[lines], router and input port. Of a line out of the routers, the port of the host.
    channel
        int64[lines], the channel that each is a lane of, as if those of hosts were always listed.
    cycles
        int64[lines], latency of the channel.
    share, whole
        int64[lines]: it sends ``share`` flits in ``whole`` cycles, at most.
    """

    source: Ints
    out_port: Ints
    target: Ints
    in_port: Ints
    channel: Ints
    cycles: Ints
    share: Ints
    whole: Ints


class Wiring(NamedTuple):
    """A network as its routers see it.

    Attributes
    ----------
    num_routers, num_ports
        Routers, and ports of each: those of the largest.
    network_ports
        Where the ports of hosts begin, if it is the same at all routers. Else ``num_ports``.
    num_sources, entry_channels
        Ports of hosts, which have a queue of packets each, and how many injection channels each
        has, at most.
    between, entries, exits
        The lines.
    """

    num_routers: int
    num_ports: int
    network_ports: int
    num_sources: int
    entry_channels: int
    between: Lines
    entries: Lines
    exits: Lines

    @property
    def uneven(self) -> bool:
        """Whether lines differ in latency, or some are slower than a flit per cycle."""
        every = (self.between, self.entries, self.exits)
        return any((each.cycles != 1).any() or (each.share != each.whole).any() for each in every)


def wiring(topology: Topology, router: Router) -> Wiring:
    """Return how the routers of a network are wired.

    Raises
    ------
    InputError
        If a channel is too slow, or one of a direct network is faster than a flit per cycle.
    """
    if with_lanes(topology, router) is not topology:
        found = f"{router.injection_channels}, {router.ejection_channels}"
        raise InputError("router", found, "with_lanes' network, where hosts hang on routers")
    wired, hosts = _ports(topology, router), np.arange(topology.num_ports)
    inside = topology.num_network_channels
    outside = inside + len(hosts)

    def lines(first: int, after: int | None, source: Ints, target: Ints) -> Lines:
        part = slice(first, after)
        lanes = wired.lanes[part]
        channel: Ints | slice = slice(None)
        lane: Ints | int = 0
        if (lanes != 1).any():
            channel, lane = each_lane(lanes)
        rate, cycles = topology.channel_bandwidth[part], topology.channel_cycles[part]
        if not len(rate):  # nobody says how fast hosts' channels are
            rate, cycles = lanes.astype(np.float64), np.ones_like(lanes)
        share, whole = _shares(topology, rate / lanes)
        return Lines(
            source[channel].astype(np.int64), wired.out_port[part][channel] + lane,
            target[channel].astype(np.int64), wired.in_port[part][channel] + lane,
            np.arange(first, first + len(lanes))[channel], cycles[channel].astype(np.int64),
            share[channel], whole[channel],
        )  # fmt: skip

    return Wiring(
        topology.num_routers, wired.num_ports, wired.network_ports, len(hosts),
        int(wired.lanes[inside:outside].max(initial=1)),
        between=lines(0, inside, topology.channel_source, topology.channel_target),
        entries=lines(inside, outside, hosts, topology.injection_router),
        exits=lines(outside, None, topology.ejection_router, hosts),
    )  # fmt: skip


def _ports(topology: Topology, router: Router) -> HostedPorts:
    """Return the port numbers of a network. Nodes of a direct one have the router's channels."""
    if topology.ports_listed:
        return hosted_ports(topology)
    fast = topology.channel_bandwidth > 1
    if fast.any():
        channel = int(np.argmax(fast))
        rate = topology.channel_bandwidth[channel]
        found = f"channel {topology.channel_name(channel)} of bandwidth {rate:g}"
        raise InputError(topology.name, found, "at most 1 where each node is host and router")
    wired, none = ports(topology), np.zeros(topology.num_ports, np.int32)
    first, ends = wired.num_network_ports, end_channels(topology, router)
    counts = topology.num_network_channels, len(none), len(none)
    return HostedPorts(
        first + max(ends), first,
        np.concatenate([wired.out_port, none, none + first]),
        np.concatenate([wired.in_port, none + first, none]),
        np.repeat(np.array([1, *ends], np.int32), counts),
    )  # fmt: skip


def _shares(topology: Topology, rate: Floats) -> tuple[Ints, Ints]:
    """Return the flits that lines of these rates send, and the cycles in which they do: int64[]."""
    parts, place = kept_rates(rate)
    if 0 in parts:
        found = f"a channel of bandwidth {rate.min():g}"
        raise InputError(topology.name, found, f"at least 1/{FINEST} of the reference rate")
    share, whole = np.array([part.as_integer_ratio() for part in parts], np.int64).reshape(-1, 2).T
    return share[place], whole[place]


def kept_rates(rate: Floats) -> tuple[list[Fraction], Ints]:
    """Return the different rates of lines, rising, as these keep to them, and which each has."""
    alike = len(rate) and rate.min() == rate.max()  # no need to sort a million
    rates = rate[:1] if alike else np.unique(rate)
    kept = [Fraction(each).limit_denominator(FINEST) for each in rates.tolist()]
    return kept, np.searchsorted(rates, rate)


FIRST_LOG = 8192
"""Delivered packets that are noted before the kernel comes back, beyond what one cycle can make."""

FIRST_PACKETS = 1024
"""Packets on their way that there is room for at first. More is made when needed."""

PATIENCE = 2_000
"""Cycles without any movement after which a network that holds packets is stuck, beyond the delays
of its parts. The acknowledgement of a circuit may take longer."""

MOST_NODES = 2**20
"""Most nodes of a direct network."""

MOST_PLACES = 2**31
"""Most slots of all routers together, and most places for packets in them."""


def make_setup(
    topology: Topology,
    wired: Wiring,
    routing: VirtualChannelRouting,
    router: Router,
    shortest_packet: int,
) -> Setup:
    """Return what does not change during a run.

    Raises
    ------
    InputError
        If the network has too many slots, or buffers may have to hold too many packets.
    """
    times, vcs = router.timing(), router.vcs
    # Slots of small routers lie close, so that more fit; a port never straddles words.
    by_rule = isinstance(routing.tables, RouteTables)
    stride = slot_stride(wired.num_ports, vcs) if by_rule else 1 << (vcs - 1).bit_length()
    close = by_rule and wired.num_ports * vcs <= WORD
    num_slots = wired.num_ports * stride
    words = -(-num_slots // WORD)
    slot_bits, port_bits = max(num_slots - 1, 1).bit_length(), (wired.num_ports - 1).bit_length()
    deepest = max(int(each.max(initial=1)) for each in _depths(wired, router))
    uneven = wired.uneven or any((each != deepest).any() for each in _depths(wired, router))
    ring = (deepest - 1) // shortest_packet + 2  # the first's tail, whole packets, a head
    if wired.num_routers * max(ring * num_slots, 1 << slot_bits) > MOST_PLACES:
        found = f"{wired.num_routers} routers of {wired.num_ports} ports, {vcs} VCs each, for "
        found += f"{ring} packets"
        raise InputError(topology.name, found, f"at most {MOST_PLACES} places for packets in all")
    adaptive = routing.tables.adaptive_vcs
    network_ports = wired.network_ports if by_rule else wired.num_ports
    ports = network_ports if close else WORD // stride
    preferred = sum(adaptive << port * stride for port in range(ports))
    circuit = router.switching == "circuit"
    every = (1 << network_ports * vcs) - 1 if close else (1 << WORD) - 1
    # A head behind another packet in an adaptive VC holds the escape VCs behind it for as long as
    # that packet, on a way of its own, waits: so it goes where it fits, or nothing is before it.
    roomy = every if router.whole_packets else preferred
    counted = routing.uses_credits and not by_rule
    longest = max(_longest(wired, times, router), times.head_wait + 1)
    credit, late = _longest(wired, times, router), router.switch_allocation_cycles - 1
    vc_cycles = 1 if router.speculative else router.vc_allocation_cycles
    lines = len(wired.between.source) + len(wired.entries.source)
    return Setup(
        region=0,
        regions=1,
        num_nodes=wired.num_routers,
        num_sources=wired.num_sources,
        source_slots=wired.num_routers * num_slots,
        arrivals_each=lines,
        credits_each=lines * (vcs if router.switching == "reserved" else 1),
        heads_each=2 * wired.num_routers * wired.num_ports if router.route_cycles else 0,
        wakes_each=wired.num_routers * wired.num_ports if uneven else 0,
        wheel=(1 << longest.bit_length()) - 1,
        patience=PATIENCE + 4 * longest + 2 * wired.num_routers * credit * circuit,
        num_ports=wired.num_ports,
        network_ports=network_ports,
        num_vcs=vcs,
        vc_stride=stride,
        num_slots=num_slots,
        slot_bits=slot_bits,
        port_bits=port_bits,
        all_vcs=_signed((1 << vcs) - 1),
        preferred=_signed(preferred),
        roomy=_signed(roomy),
        buffer_flits=deepest,
        ring=ring,
        entry_channels=wired.entry_channels,
        head_wait=router.route_cycles,
        flit_delay=times.flit - late,
        credit_delay=times.credit - late,
        entry_delay=times.injection,
        entry_credit_delay=times.injection_credit - late,
        exit_delay=times.ejection - late,
        lazy=2**30 if roomy or routing.uses_credits else 2 * credit,
        vc_cycles=vc_cycles,
        switch_cycles=late + 1,
        words=words,
        whole_packets=router.whole_packets,
        whole_first=router.switching == "store-and-forward",
        circuit=circuit,
        reserved=router.switching == "reserved",
        speculative=router.speculative,
        oldest_first=router.oldest_first,
        choose_order=routing.uses_credits and by_rule,
        divided=False,
        uneven=uneven,
        counted=counted,
        staged=max(vc_cycles, late + 1) > 1,
    )


def make_state(
    topology: Topology,
    wired: Wiring,
    setup: Setup,
    router: Router,
    connections: Ints | None,
) -> State:
    """Return the arrays of a network without a packet."""
    small = max(setup.ring, setup.num_slots, setup.num_ports) <= np.iinfo(np.uint8).max
    sizes = SMALL if small and setup.buffer_flits <= np.iinfo(np.int16).max else LARGE
    if connections is None:
        connections = np.zeros(0, np.int32)
    slots, many_ports = setup.source_slots, setup.num_nodes * setup.num_ports
    channels = setup.num_sources * setup.entry_channels
    entries = channels * setup.num_vcs if setup.reserved else channels
    queues = int(connections.max(initial=-1)) + 1 if setup.reserved else setup.num_sources
    buckets, moves = setup.wheel + 1, setup.num_nodes * setup.num_ports
    in_words, staged = setup.words * WORD, setup.num_nodes * setup.words * setup.staged
    state = State(
        clock=np.zeros(1, layout.CLOCK),
        borders=np.array([0, setup.num_nodes]),
        signs=np.zeros(layout.SIGN, np.int64),
        masks=np.zeros(setup.num_nodes * setup.words, layout.MASKS),
        inputs=np.zeros(slots, layout.input_record(sizes)),
        outputs=np.zeros(slots + channels * setup.num_vcs, layout.output_record(sizes)),
        ports=np.zeros(many_ports, layout.port_record(sizes)),
        entries=np.zeros(entries, layout.ENTRY),
        packets=np.zeros(FIRST_PACKETS, layout.PACKET),
        log=np.zeros(FIRST_LOG + 2 * moves, layout.LOG),
        allowed=np.zeros(slots * setup.words, np.int64),
        rings=np.zeros(slots * setup.ring, np.int32),
        queue_front=np.full(queues, -1, np.int32),
        queue_back=np.full(queues, -1, np.int32),
        connections=np.ascontiguousarray(connections.ravel()),
        active=np.zeros(-(-setup.num_nodes // WORD), np.int64),
        sources=np.zeros(-(-setup.num_sources // WORD), np.int64),
        arrivals=np.zeros(buckets * setup.arrivals_each, np.uint32),
        arrivals_due=np.zeros(buckets, np.int64),
        credits=np.zeros(buckets * setup.credits_each, np.int32),
        credits_due=np.zeros(buckets, np.int64),
        heads=np.zeros(buckets * setup.heads_each, np.uint32),
        heads_due=np.zeros(buckets, np.int64),
        wakes=np.zeros(buckets * setup.wakes_each, np.uint32),
        wakes_due=np.zeros(buckets, np.int64),
        fronts=np.zeros(2 * moves + setup.arrivals_each, np.uint32),
        winners=np.zeros(moves, np.uint32),
        moving=np.zeros(buckets * moves if setup.staged else 0, np.uint32),
        moving_due=np.zeros(buckets, np.int64),
        tries=np.zeros(staged * setup.switch_cycles, np.int64),
        bids=np.zeros(staged * setup.vc_cycles, np.int64),
        claims=np.zeros(staged * setup.vc_cycles, np.int64),
        bound=np.zeros(many_ports * setup.words if setup.words > 1 else 0, np.int64),
        lines=np.zeros(many_ports + channels if setup.uneven else 0, layout.LINE),
        used=np.zeros(setup.num_nodes << setup.port_bits if setup.counted else 0, np.int32),
        port_offsets=topology.port_offsets,
        port_of=np.minimum(np.arange(in_words) // setup.vc_stride, setup.num_ports - 1),
        **{name: np.zeros(setup.words, np.int64) for name in layout.OF_WORDS},
        **{name: np.zeros(in_words, np.int64) for name in layout.OF_SLOTS},
        best=np.full(in_words, -1, np.int64),
        requests=np.zeros(setup.num_ports * setup.words, np.int64),
        guesses=np.zeros(setup.num_ports * setup.words, np.int64),
        outs=np.zeros(setup.num_ports, np.int64),
        named=np.zeros(setup.num_ports, np.int64),
        taken=np.full(setup.num_ports, -1, np.int64),
    )
    _fill(wired, setup, state, router)
    return state


def chain(following: Ints, first: int, then: int) -> None:
    """Chain the free records from ``first`` on, and ``then`` behind the last."""
    following[first:] = np.arange(first + 1, len(following) + 1)
    following[-1] = then


def port_places(setup: Setup, node: Ints, port: Ints) -> Ints:
    """Return the places of ports of routers, int64."""
    return node * setup.num_ports + port


def _fill(wired: Wiring, setup: Setup, state: State, router: Router) -> None:
    """Set what is not zero at the start."""
    state.masks["free"] = state.masks["open"] = -1
    state.outputs["credits"][: setup.source_slots] = setup.buffer_flits  # at exits for ever
    state.entries["packet"] = -1
    state.entries["vc"] = setup.num_vcs - 1  # the first packet looks from VC 0 on
    between, entries = wired.between, wired.entries
    leaving = port_places(setup, between.source, between.out_port)
    entering = port_places(setup, between.target, between.in_port)
    each = np.arange(setup.num_vcs)
    inside, into = _depths(wired, router)
    first = between.source * setup.num_slots + between.out_port * setup.vc_stride
    state.outputs["credits"][first[:, None] + each] = inside[:, None]
    state.ports["down"] = -1
    state.ports["down"][leaving] = _addresses(setup, between.target, between.in_port)
    state.ports["up"][entering] = first
    index = entries.source * setup.entry_channels + entries.out_port
    behind = setup.source_slots + index * setup.num_vcs
    state.ports["up"][port_places(setup, entries.target, entries.in_port)] = behind
    state.outputs["credits"][behind[:, None] + each] = into[:, None]
    each = each if setup.reserved else each[:1]
    place = index[:, None] * len(each) + each
    state.entries["first"][place] = _addresses(setup, entries.target, entries.in_port)[:, None]
    chain(state.packets["next"], 0, -1)
    state.clock["free_packets"] = FIRST_PACKETS
    if setup.uneven:
        _fill_lines(wired, setup, state, router)


def _fill_lines(wired: Wiring, setup: Setup, state: State, router: Router) -> None:
    """Set the delays, rates and depths of all lines."""
    between, entries, exits = wired.between, wired.entries, wired.exits
    times, line, late = router.timing(), state.lines, router.switch_allocation_cycles - 1
    line["depth"] = setup.buffer_flits
    line["share"] = line["whole"] = 1
    leaving = port_places(setup, between.source, between.out_port)
    entering = port_places(setup, between.target, between.in_port)
    more = router.channel_cycles * (between.cycles - 1)
    line["flit"][leaving] = times.flit - late + more
    line["depth"][leaving] = _depths(wired, router)[0]
    line["credit"][entering] = times.credit - late + more
    into = port_places(setup, entries.target, entries.in_port)
    source = setup.num_nodes * setup.num_ports + (
        entries.source * setup.entry_channels + entries.out_port
    )
    line["flit"][source] = times.injection + entries.cycles - 1
    line["credit"][into] = times.injection_credit - late + entries.cycles - 1
    out_of = port_places(setup, exits.source, exits.out_port)
    line["flit"][out_of] = times.ejection - late + exits.cycles - 1
    for place, lines in ((leaving, between), (source, entries), (out_of, exits)):
        line["share"][place], line["whole"][place] = lines.share, lines.whole


def _addresses(setup: Setup, node: Ints, port: Ints) -> Ints:
    """Return the addresses of the first slots of ports."""
    return (node << setup.slot_bits) + port * setup.vc_stride


def _longest(wired: Wiring, times: Timing, router: Router) -> int:
    """Return the longest delay of a flit, a credit, or a port that rests."""
    inside = router.channel_cycles * (int(wired.between.cycles.max(initial=1)) - 1)
    outside = max(int(each.cycles.max(initial=1)) for each in (wired.entries, wired.exits)) - 1
    rests = max(
        int((each.whole // each.share).max(initial=1))
        for each in (wired.between, wired.entries, wired.exits)
    )
    ends = max(times.injection, times.injection_credit, times.ejection) + outside
    return max(times.flit + inside, times.credit + inside, ends, rests + 2)


def _depths(wired: Wiring, router: Router) -> tuple[Ints, Ints]:
    """Return the flits that buffers of a VC hold, behind lines between routers and into them."""
    times = router.timing()
    found = []
    for lines, there, back, cycles in (
        (wired.between, times.flit, times.credit, router.channel_cycles),
        (wired.entries, times.injection, times.injection_credit, 1),
    ):
        trip = there + back + 2 * cycles * (lines.cycles - 1)
        least = np.full_like(trip, router.buffer_flits)
        found.append(np.maximum(trip, least) if router.fill_channels else least)
    return found[0], found[1]


def _signed(bits: int) -> int:
    """Return the int64 that has these 64 bits."""
    return bits - (1 << WORD) if bits >> (WORD - 1) else bits
