"""The arrays of one network: what they hold, and how they are made before it runs.

A router's input and output slots are numbered ``port * vc_stride + vc``. In the arrays of all
slots, ``router * num_slots + slot`` is a slot's *place*, and in those of all ports ``router *
num_ports + port`` a port's. A router and a slot are kept as an *address*, ``router << slot_bits |
slot``. A set of slots of a router is bits of ``words`` int64, one for small routers. A port's slots
never straddle two of them.

Records of slots come in two sizes: ``SMALL`` ones keep a small router in few lines of the cache.

Wires join the ports of routers, and the sources behind them. A *line* carries at most a flit per
cycle: a channel, or one of the lanes of a faster one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.routing.by_hop.tables import (
    DRAWN,
    EVERY,
    GIVEN,
    HostedPorts,
    each_lane,
    hosted_ports,
    ports,
)
from netloom.routing.virtual_channel_tables import (
    DIMENSION_ORDER,
    O1TURN,
    STATIC_DATELINE,
    TWO_PHASE,
    WORD,
    RouteTables,
    VirtualChannelRouting,
    slot_stride,
)
from netloom.simulation.network.routers import Router, end_channels
from netloom.topology import Topology

# -- what the arrays hold --------------------------------------------------------------------------

CLOCK = np.dtype(
    [
        ("cycle", "i8"),  # the next to run
        ("last_move", "i8"),  # the last in which a flit moved
        ("created", "i8"),  # packets created
        ("taken", "i8"),  # packets taken of those given to this call
        ("delivered", "i8"),  # packets whose tail has left (or is on an ejection channel)
        ("injected", "i8"),  # flits that have left their source
        ("ejected", "i8"),  # flits that have left (or are on an ejection channel)
        ("link_hops", "i8"),  # flits that have crossed a network channel (or are on one)
        ("free_packet", "i8"),  # first free record of packets; -1: none
        ("free_packets", "i8"),  # how many there are
        ("logged", "i8"),  # records in the log
        ("fronts", "i8"),  # slots in fronts
        ("winners", "i8"),  # slots in winners
    ]
)
"""What is counted for the network as a whole. One record."""

MASKS = np.dtype(
    [
        ("flits", "i8"),  # input slots that hold a flit
        ("active", "i8"),  # input slots whose packet owns an output slot
        ("credit", "i8"),  # input slots whose output slot is open (true of active ones)
        ("waiting", "i8"),  # input slots whose head asks for an output slot
        ("free", "i8"),  # output slots that no packet owns
        ("open", "i8"),  # output slots that have credit, of a port that may send
        ("trying", "i8"),  # input slots in an attempt of switch allocation, where ``staged``
        ("bidding", "i8"),  # input slots in an attempt of VC allocation, where ``staged``
    ]
)
"""One record a router and word, a line of the cache: sets of its slots."""


class Sizes(NamedTuple):
    """The types of numbers: of flits in a buffer, places in a ring, slots, ports and VCs."""

    flits: str
    places: str
    slots: str
    ports: str


SMALL, LARGE = Sizes("i2", "u1", "u1", "u1"), Sizes("i4", "i4", "u2", "u2")


def slot_records(sizes: Sizes) -> list[np.dtype[Any]]:
    """Return the records of an input slot, an output slot, and a port number (both ports of it).

    From place ``source_slots`` on, there is an output slot for each VC of each injection channel:
    the source's view of an injection slot.
    """
    inputs = [
        ("count", sizes.flits),  # flits in the buffer
        ("left", sizes.flits),  # flits that the current packet has yet to send on; 0: none
        ("front", sizes.places),  # place of the current packet in the slot's ring of packets
        ("out", sizes.slots),  # output slot that the current packet owns
        ("out_port", sizes.ports),  # its port
        ("accept", sizes.slots),  # where the next acceptance of VC allocation begins to look
    ]
    outputs = [
        ("credits", sizes.flits),  # free places in the buffer at the other end
        ("back", sizes.places),  # place behind the last packet in the ring at the other end
        ("owner", sizes.slots),  # input slot that owns this one
        ("grant", sizes.slots),  # where the next grant of VC allocation begins to look
    ]
    ports = [
        ("bound", "i8"),  # output: input slots whose packets own a slot of it, of one word
        ("crossed", "i4"),  # output: flits sent
        ("down", "i4"),  # output: address of the first input slot at the other end; -1: an exit
        ("up", "i4"),  # input: place of the first output slot (or source's VC) at the other end
        ("grant", sizes.slots),  # output: where the next grant begins to look, among slots
        ("accept", sizes.ports),  # input: where the next acceptance begins, among output ports
        ("turn", "u1"),  # input: which of its VCs is the next to send
        ("next_vc", "u1"),  # output: which VC the next speculative head takes
    ]
    return [np.dtype(fields, align=True) for fields in (inputs, outputs, ports)]


LINE = np.dtype(
    [
        ("ready", "i8"),  # when it may send again, in cycles times ``share``
        ("flit", "i4"),  # output: from winning the switch to the other end's buffer, or the sink
        ("credit", "i4"),  # input: from winning the switch to the credit's use at the other end
        ("share", "i4"),  # output: of ``whole`` cycles, those in which it can send a flit
        ("whole", "i4"),
        ("depth", "i4"),  # output: flits that the buffer of a VC at the other end holds
    ]
)
"""One record a port and, behind them, one an injection channel, where lines are ``uneven``."""

ENTRY = np.dtype(
    [
        ("packet", "i4"),  # being sent; -1: none
        ("unsent", "i4"),  # its flits not yet sent
        ("resume", "i4"),  # first cycle in which it may go on (circuits); with reserved VCs: turn
        ("vc", "i4"),  # the VC it goes to; where none is sent, the last one used
        ("first", "i4"),  # address of the first injection slot
    ]
)
"""One record an injection channel. With reserved VCs, one for each of its VCs."""

BORN = ("birth", "source", "target", "flits", "coin", "aux")
"""What is given of a packet: cycle of creation, nodes, length, and what its routing drew."""

PACKET = np.dtype(
    [
        *((name, "i4") for name in BORN),
        ("next", "i4"),  # the packet behind it in its source's queue, or the next free record
        ("routers", "i4"),  # routers in which its route has been computed
        ("entry", "i4"),  # cycle in which its head left the source
        ("number", "i4"),  # how many packets were created before it
        ("channel", "i4"),  # injection channel it left by
        ("row", "i4"),  # of the program that it is a packet of
        ("sink", "i4"),  # host port that it goes to, where hosts hang on routers
        ("way", "i4"),  # what its routing by hop remembers
        ("back", "i4"),  # cycles of a circuit's answer from where its probe is
    ]
)
"""One record a packet that is queued or in the network."""

DELIVERED = ("number", "birth", "entry", "arrival", "source", "target", "hops", "flits")
LOG = np.dtype([(name, "i4") for name in (*DELIVERED, "row")])
"""One record a delivered packet."""

HOST = np.dtype([(name, "i8") for name in ("born", "born_flits", "delivered")])
"""One record a node: packets it was given to send, their flits, and those that were delivered."""

# Why the kernel came back.
DONE, PACKETS_FULL, LOG_FULL, STUCK = 0, 1, 2, 3


class Setup(NamedTuple):
    """What does not change during a run: sizes, delays in cycles, and the kind of router.

    Routers are ``staged`` if an attempt of either allocation takes several cycles. A packet may ask
    for ``several`` output ports. Of a ``far`` network, no near cache holds the state. See
    ``known_of`` for the fields whose values kernels have in their code.
    """

    num_nodes: int
    source_slots: int
    wheel: int
    patience: int
    num_ports: int
    network_ports: int
    num_vcs: int
    vc_stride: int
    per_stride: int
    num_slots: int
    slot_bits: int
    port_bits: int
    all_vcs: int
    preferred: int
    roomy: int
    buffer_flits: int
    ring: int
    entry_channels: int
    head_wait: int
    flit_delay: int
    credit_delay: int
    entry_delay: int
    entry_credit_delay: int
    exit_delay: int
    lazy: int
    vc_cycles: int
    switch_cycles: int
    words: int
    several: bool
    far: bool
    uneven: bool
    counted: bool
    staged: bool
    whole_packets: bool
    whole_first: bool
    circuit: bool
    reserved: bool
    speculative: bool
    oldest_first: bool
    choose_order: bool


PER_STRIDE = 32
"""A slot's port is ``slot * per_stride >> PER_STRIDE``: a division by ``vc_stride``."""

ONE_PORT = (DIMENSION_ORDER, STATIC_DATELINE, O1TURN, TWO_PHASE)
"""Rules by which a packet asks for one port, between routers."""

BYTES = 50
"""What a slot and all that goes with it takes, about."""

FAR = 2**20
"""Bytes of a state from which on a kernel asks ahead of time for what it will need."""

SIZES = ("num_nodes", "source_slots", "patience", "buffer_flits", "ring", "function")
"""What differs between networks of the same router and routing. No kernel knows it."""

SHAPE = (
    "num_ports", "network_ports", "num_slots", "slot_bits", "port_bits", "port_shift",
    "injection_slot", "ejection", "escape_slots", "num_kinds", "escape_state", "detour_classes",
)  # fmt: skip
"""What differs between usual routers."""

SPECIAL = (
    "staged", "whole_packets", "whole_first", "circuit", "reserved", "speculative", "oldest_first",
    "choose_order",
)  # fmt: skip
"""What is said of no plain router."""

USUAL = {
    "num_vcs": 4, "entry_channels": 1, "flit_delay": 3, "credit_delay": 2, "entry_delay": 2,
    "entry_credit_delay": 2, "exit_delay": 3, "vc_cycles": 1, "switch_cycles": 1,
    "kind": DIMENSION_ORDER, "choice": DRAWN,
}  # fmt: skip
"""The router that is taken if nothing is said, under a routing that asks for one port, any. What
else there is to say of routers is 0, as ``NOT_USUAL``."""

NOT_USUAL = (*SPECIAL, "head_wait", "several", "uneven", "counted", "detour", "escape_vcs")

USUAL_PORTS, USUAL_WORDS = 5, 4
"""Ports of the usual router of a mesh or torus. Words up to which a kernel knows how many."""


def known_of(setup: Setup, tables: Any, *, own: bool) -> str:
    """Return the fields whose values a kernel has in its code: ``"words=1 staged=0"``.

    One of its ``own`` knows all of router and routing. Of others there are few: for usual routers
    of 5 ports and of other shapes, for plain routers of direct networks, plain ones, and any.
    """
    told = {name: value for name, value in tables._asdict().items() if isinstance(value, int)}
    told |= setup._asdict()
    names, of_shape = tuple(told), SHAPE + ("words",) * (setup.words > USUAL_WORDS)
    usual = not any(told.get(name) for name in NOT_USUAL)
    usual = usual and all(told.get(name, value) == value for name, value in USUAL.items())
    if usual and not own and setup.num_ports != USUAL_PORTS:
        names = tuple(name for name in told if name not in of_shape)
    elif not (usual or own):
        names = () if any(told[name] for name in SPECIAL) else (*SPECIAL, "far")
        if names and isinstance(tables, RouteTables) and setup.words == 1:
            names += ("words", "uneven", "counted") * (not (setup.uneven or setup.counted))
    return " ".join(f"{name}={int(told[name])}" for name in names if name not in SIZES)


OF_WORDS = ("ready", "early", "left", "offered", "asked", "contested")
OF_SLOTS = ("wanted", "wanted_at", "granted")
"""The scratch of ``State`` with a number for each word of slots, and for each slot."""


class State(NamedTuple):
    """What changes. Allocated once, but for packets and log, which may grow.

    Wheels (``arrivals``, ``credits``, ``heads``) hold what is due in each of the coming cycles, a
    row each, and ``*_due`` how much of it there is. ``allowed`` holds the output slots that each
    input slot's current packet may take, word after word. ``used`` holds the flits sent into each
    port whose credits have not come back, if they are ``counted`` (``router << port_bits | port``).
    ``bound`` holds the input slots whose packets own a slot of an output port, if these need
    several words. ``lines`` holds the channels' own delays and rates, if they are ``uneven``.
    ``wakes`` holds the ports that may send again. If routers are ``staged``,
    ``moving`` is a wheel of the winners whose flits leave in each of the coming cycles. ``tries``
    and ``bids`` hold the input slots whose attempts of switch and VC allocation began in each of
    the last cycles, ``claims`` those of ``bids`` that got a VC. The last arrays are scratch
    of one cycle or one router; between two uses ``best`` and ``taken`` are -1 and ``named`` is 0.
    """

    clock: Records
    masks: Records
    inputs: Records
    outputs: Records
    ports: Records
    entries: Records
    packets: Records
    log: Records
    hosts: Records
    allowed: Ints
    rings: Ints
    queue_front: Ints
    queue_back: Ints
    connections: Ints
    active: Ints
    sources: Ints
    arrivals: NDArray[np.uint32]
    arrivals_due: Ints
    credits: Ints
    credits_due: Ints
    heads: NDArray[np.uint32]
    heads_due: Ints
    wakes: NDArray[np.uint32]
    wakes_due: Ints
    fronts: NDArray[np.uint32]
    winners: NDArray[np.uint32]
    moving: NDArray[np.uint32]
    moving_due: Ints
    tries: Ints
    bids: Ints
    claims: Ints
    bound: Ints
    lines: Records
    used: Ints
    port_offsets: Ints
    ready: Ints
    early: Ints
    left: Ints
    offered: Ints
    asked: Ints
    contested: Ints
    wanted: Ints
    wanted_at: Ints
    granted: Ints
    best: Ints
    requests: Ints
    guesses: Ints
    outs: Ints
    named: Ints
    taken: Ints


# -- wiring, and the arrays made of it -------------------------------------------------------------

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
    num_ports
        Ports of each router: those of the largest.
    network_ports
        Where the ports of hosts begin, if it is the same at all routers. Else ``num_ports``.
    entry_channels
        How many injection channels each port of a host has, at most.
    between, entries, exits
        The lines.
    """

    num_ports: int
    network_ports: int
    entry_channels: int
    between: Lines
    entries: Lines
    exits: Lines


def wiring(topology: Topology, router: Router) -> Wiring:
    """Return how the routers of a network are wired.

    A network with hosts says how many channels they have: it is that of ``with_lanes``.

    Raises
    ------
    InputError
        If a channel is too slow, or one of a direct network is faster than a flit per cycle.
    """
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
        parts, place = kept_rates(rate / lanes)
        if 0 in parts:
            found = f"a channel of bandwidth {(rate / lanes).min():g}"
            raise InputError(topology.name, found, f"at least 1/{FINEST} of the reference rate")
        ratios = [part.as_integer_ratio() for part in parts]
        share, whole = np.array(ratios, np.int64).reshape(-1, 2)[place].T
        begins = source[channel].astype(np.int64), wired.out_port[part][channel] + lane
        ends = target[channel].astype(np.int64), wired.in_port[part][channel] + lane
        number = np.arange(first, first + len(lanes))[channel]
        times = cycles[channel].astype(np.int64), share[channel], whole[channel]
        return Lines(*begins, *ends, number, *times)

    between = lines(0, inside, topology.channel_source, topology.channel_target)
    entries = lines(inside, outside, hosts, topology.injection_router)
    exits = lines(outside, None, topology.ejection_router, hosts)
    most = int(wired.lanes[inside:outside].max(initial=1))
    return Wiring(wired.num_ports, wired.network_ports, most, between, entries, exits)


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
    out_port = np.concatenate([wired.out_port, none, none + first])
    in_port = np.concatenate([wired.in_port, none + first, none])
    lanes = np.repeat(np.array([1, *ends], np.int32), counts)
    return HostedPorts(first + max(ends), first, out_port, in_port, lanes)


def kept_rates(rate: Floats) -> tuple[list[Fraction], Ints]:
    """Return the different rates of lines, rising, as these keep to them, and which each has."""
    rates, place = np.unique(rate, return_inverse=True)
    return [Fraction(each).limit_denominator(FINEST) for each in rates.tolist()], place


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
    depths, kinds = _depths(wired, router), (wired.between, wired.entries, wired.exits)
    deepest = max(int(each.max(initial=1)) for each in depths)
    uneven = any((each.cycles != 1).any() or (each.share != each.whole).any() for each in kinds)
    uneven = uneven or any((each != deepest).any() for each in depths)
    ring = (deepest - 1) // shortest_packet + 2  # the first's tail, whole packets, a head
    if topology.num_routers * max(ring * num_slots, 1 << slot_bits) > MOST_PLACES:
        found = f"{topology.num_routers} routers of {wired.num_ports} ports, {vcs} VCs each, for "
        found += f"{ring} packets"
        raise InputError(topology.name, found, f"at most {MOST_PLACES} places for packets in all")
    adaptive = routing.tables.adaptive_vcs
    network_ports = wired.network_ports if by_rule else wired.num_ports
    ports = network_ports if close else WORD // stride
    preferred = sum(adaptive << port * stride for port in range(ports))
    circuit = router.switching == "circuit"
    far = topology.num_routers * num_slots * BYTES > FAR
    tables = routing.tables
    if by_rule:
        several = tables.kind not in ONE_PORT
    else:
        several = tables.choice in (EVERY, GIVEN) or tables.escape_vcs != 0
    several = several or bool((tables.exit_lanes > 1).any())
    every = (1 << network_ports * vcs) - 1 if close else (1 << WORD) - 1
    # A head behind another packet in an adaptive VC holds the escape VCs behind it for as long as
    # that packet, on a way of its own, waits: so it goes where it fits, or nothing is before it.
    roomy = every if router.whole_packets else preferred
    counted = routing.uses_credits and not by_rule
    late = router.switch_allocation_cycles - 1
    more = [int(each.cycles.max(initial=1)) - 1 for each in kinds]
    rests = max(int((each.whole // each.share).max(initial=1)) for each in kinds)
    ends = max(times.injection, times.injection_credit, times.ejection) + max(more[1:])
    inside = router.channel_cycles * more[0]
    # the longest delay of a flit, a credit, or a port that rests
    credit = max(times.flit + inside, times.credit + inside, ends, rests + 2)
    longest = max(credit, times.head_wait + 1)
    vc_cycles = 1 if router.speculative else router.vc_allocation_cycles
    return Setup(
        num_nodes=topology.num_routers,
        source_slots=topology.num_routers * num_slots,
        wheel=(1 << longest.bit_length()) - 1,
        patience=PATIENCE + 4 * longest + 2 * topology.num_routers * credit * circuit,
        num_ports=wired.num_ports,
        network_ports=network_ports,
        num_vcs=vcs,
        vc_stride=stride,
        per_stride=-(-(1 << PER_STRIDE) // stride),
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
        several=several,
        far=far,
        whole_packets=router.whole_packets,
        whole_first=router.switching == "store-and-forward",
        circuit=circuit,
        reserved=router.switching == "reserved",
        speculative=router.speculative,
        oldest_first=router.oldest_first,
        choose_order=routing.uses_credits and by_rule,
        uneven=uneven,
        counted=counted,
        staged=max(vc_cycles, late + 1) > 1,
    )


def make_state(
    topology: Topology, wired: Wiring, setup: Setup, router: Router, connections: Ints | None
) -> State:
    """Return the arrays of a network without a packet."""
    small = max(setup.ring, setup.num_slots, setup.num_ports) <= np.iinfo(np.uint8).max
    sizes = SMALL if small and setup.buffer_flits <= np.iinfo(np.int16).max else LARGE
    if connections is None:
        connections = np.zeros(0, np.int32)
    slots, many_ports = setup.source_slots, setup.num_nodes * setup.num_ports
    records = slot_records(sizes)
    arrivals = len(wired.between.source) + len(wired.entries.source)  # at most, in a cycle
    own = setup.num_vcs if setup.reserved else 1  # of a channel's VCs, each for itself
    channels = topology.num_ports * setup.entry_channels
    queues = int(connections.max(initial=-1)) + 1 if setup.reserved else topology.num_ports
    buckets, moves = setup.wheel + 1, many_ports
    in_words, staged = setup.words * WORD, setup.num_nodes * setup.words * setup.staged
    counts = [
        (buckets, ("arrivals_due", "credits_due", "heads_due", "wakes_due", "moving_due")),
        (staged * setup.switch_cycles, ("tries",)),
        (staged * setup.vc_cycles, ("bids", "claims")),
        (setup.words, OF_WORDS),
        (in_words, OF_SLOTS),
        (setup.num_ports * setup.words, ("requests", "guesses")),
        (setup.num_ports, ("outs", "named")),
    ]
    state = State(
        clock=np.zeros(1, CLOCK),
        masks=np.zeros(setup.num_nodes * setup.words, MASKS),
        inputs=np.zeros(slots, records[0]),
        outputs=np.zeros(slots + channels * setup.num_vcs, records[1]),
        ports=np.zeros(many_ports, records[2]),
        entries=np.zeros(channels * own, ENTRY),
        packets=np.zeros(FIRST_PACKETS, PACKET),
        log=np.zeros(FIRST_LOG + 2 * moves, LOG),
        hosts=np.zeros(topology.num_hosts, HOST),
        allowed=np.zeros(slots * setup.words, np.int64),
        rings=np.zeros(slots * setup.ring, np.int32),
        queue_front=np.full(queues, -1, np.int32),
        queue_back=np.full(queues, -1, np.int32),
        connections=np.ascontiguousarray(connections.ravel()),
        active=np.zeros(-(-setup.num_nodes // WORD), np.int64),
        sources=np.zeros(-(-topology.num_ports // WORD), np.int64),
        arrivals=np.zeros((buckets, arrivals), np.uint32),
        credits=np.zeros((buckets, arrivals * own), np.int32),
        heads=np.zeros((buckets, 2 * moves * (setup.head_wait > 0)), np.uint32),
        wakes=np.zeros((buckets, moves * setup.uneven), np.uint32),
        fronts=np.zeros(2 * moves + arrivals, np.uint32),
        winners=np.zeros(moves, np.uint32),
        moving=np.zeros((buckets, moves * setup.staged), np.uint32),
        bound=np.zeros(many_ports * setup.words if setup.words > 1 else 0, np.int64),
        lines=np.zeros(many_ports + channels if setup.uneven else 0, LINE),
        used=np.zeros(setup.num_nodes << setup.port_bits if setup.counted else 0, np.int32),
        port_offsets=topology.port_offsets,
        **{name: np.zeros(many, np.int64) for many, names in counts for name in names},
        best=np.full(in_words, -1, np.int64),
        taken=np.full(setup.num_ports, -1, np.int64),
    )
    # what is not zero at the start
    state.masks["free"] = state.masks["open"] = -1
    state.outputs["credits"][: setup.source_slots] = setup.buffer_flits  # at exits for ever
    state.entries["packet"] = -1
    state.entries["vc"] = setup.num_vcs - 1  # the first packet looks from VC 0 on
    between, entries, exits = wired.between, wired.entries, wired.exits
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
    injecting = port_places(setup, entries.target, entries.in_port)
    state.ports["up"][injecting] = behind
    state.outputs["credits"][behind[:, None] + each] = into[:, None]
    each = each if setup.reserved else each[:1]
    place = index[:, None] * len(each) + each
    state.entries["first"][place] = _addresses(setup, entries.target, entries.in_port)[:, None]
    chain(state.packets["next"], 0, -1)
    state.clock["free_packets"] = FIRST_PACKETS
    if setup.uneven:
        times, line, late = router.timing(), state.lines, router.switch_allocation_cycles - 1
        line["depth"] = setup.buffer_flits
        line["share"] = line["whole"] = 1
        more = router.channel_cycles * (between.cycles - 1)
        line["flit"][leaving] = times.flit - late + more
        line["depth"][leaving] = inside
        line["credit"][entering] = times.credit - late + more
        source = setup.num_nodes * setup.num_ports + index
        line["flit"][source] = times.injection + entries.cycles - 1
        line["credit"][injecting] = times.injection_credit - late + entries.cycles - 1
        out_of = port_places(setup, exits.source, exits.out_port)
        line["flit"][out_of] = times.ejection - late + exits.cycles - 1
        for place, lines in ((leaving, between), (source, entries), (out_of, exits)):
            line["share"][place], line["whole"][place] = lines.share, lines.whole
    return state


def chain(following: Ints, first: int, then: int) -> None:
    """Chain the free records from ``first`` on, and ``then`` behind the last."""
    following[first:] = np.arange(first + 1, len(following) + 1)
    following[-1] = then


def port_places(setup: Setup, node: Ints, port: Ints) -> Ints:
    """Return the places of ports of routers, int64."""
    return node * setup.num_ports + port


def _addresses(setup: Setup, node: Ints, port: Ints) -> Ints:
    """Return the addresses of the first slots of ports."""
    return (node << setup.slot_bits) + port * setup.vc_stride


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
