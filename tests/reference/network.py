"""The virtual-channel network, flit by flit, written for the reader.

A packet is a row of flits: the head finds the way, the tail releases it. Every node has a source,
one router and an ideal sink. A router has input ports, and each port ``num_vcs`` virtual channels
(VCs): a buffer of ``buffer_flits`` flits, through which one packet goes at a time, the next
waiting behind it. *Input slot* = input port · num_vcs + VC, *output slot* likewise; an output slot
of a network port is the sender's view of one input slot of the router at the channel's other end:
who owns it, and how many free places (credits) its buffer has.

What happens to a packet at every router:

1. its head comes to the front of its VC: the route gives the output slots that it may take;
2. ``head_wait`` cycles later it asks, every cycle until it wins, for the free ones of one port,
   drawn from those where there are any (VC allocation);
3. from the next cycle on, each of its flits asks for the switch, when there is credit; every input
   port and every output port of a router passes one flit a cycle (switch allocation);
4. a flit that wins in cycle t can act in the next router in t + ``flit_delay``; the place it left
   can be used again by whoever fills that buffer in t + ``credit_delay``; when the tail has won,
   the output slot is free, even if it has not moved on downstream.

A speculative router does 2 and 3 in one cycle. Both allocations are separable, output first, one
iteration, with rotating pointers that move only when a grant is accepted; or the oldest packet
(birth, number) goes first. Injection is a channel into the router, ejection a channel out of it.

Within a cycle: arrivals and credits that are due; births; sources send; routers allocate and move,
none seeing what another does in the same cycle, since every delay is at least 1.
Allocation and its terms are Dally & Towles (2004), chapters 16 to 19.
"""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from math import inf

from tests.reference.network_routing import Flit, Options, Outcome, Packet, number_ports


class Credits:
    """Free places of one buffer, as counted by whoever fills it."""

    def __init__(self, size):
        self.size = self.left = size

    def take(self):
        assert self.left > 0
        self.left -= 1

    def give(self):
        self.left += 1
        assert self.left <= self.size


@dataclass(eq=False)
class VirtualChannel:
    """One input slot: a buffer, and how far the packet at its front has got."""

    size: int
    upstream: Credits  # held by the router or the source that fills this buffer
    credit_delay: int
    buffer: deque = field(default_factory=deque)
    last: Flit | None = None  # the flit that came last
    packet: Packet | None = None  # the current packet; its flits are at the front
    allowed: set = field(default_factory=set)  # output slots that its route allows
    ready: int = 0  # cycle from which it may ask for one of them
    output: int | None = None  # the output slot that it owns: then it is *active*

    def put(self, flit):
        if self.last is None or self.last.is_tail:
            assert flit.number == 0
        else:
            assert flit == Flit(self.last.packet, self.last.number + 1)
        self.last = flit
        self.buffer.append(flit)
        assert len(self.buffer) <= self.size

    def holds_whole_packet(self):
        packet = self.buffer[0].packet
        return any(flit.packet is packet and flit.is_tail for flit in self.buffer)


@dataclass(eq=False)
class OutputSlot:
    credits: Credits
    channel: int | None  # None leads to the sink
    downstream: tuple | None = None  # (router, input slot)
    owner: Packet | None = None


def first_from(pointer, places):
    """Return the first place at or after ``pointer``; the lowest if there is none."""
    return min(places, key=lambda place: (place < pointer, place))


def drawn(packet, t):
    """Return 31 bits that look random, a packet's own in every cycle, by SplitMix64's last steps.

    So a head that may leave by several ports asks for each of them as often as for any other.
    """
    bits = packet.coin * 0x9E3779B97F4A7C15
    bits += packet.number * 0xD1B54A32D192ED03 + t * 0x8CB92BA72F3D8DD7
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits %= 2**64
        bits = (bits ^ bits >> shift) * factor
    return bits % 2**64 >> 33


class Network:
    """Everything that the routers and sources share: options, routes, and what is under way."""

    def __init__(self, topology, options):
        self.options, num_vcs = options, options.num_vcs
        self.num_network_ports, out_port, in_port = number_ports(topology)
        self.num_ports = self.num_network_ports + max(
            options.injection_channels, options.ejection_channels
        )
        assert self.num_ports * num_vcs <= 62
        self.arriving = defaultdict(list)  # cycle -> (router, input slot, flit)
        self.returning = defaultdict(list)  # cycle -> Credits
        self.ejecting = defaultdict(list)  # cycle -> flit
        self.released = []  # (router, input slot) that a tail left in the cycle before
        self.delivered, self.channel_flits = [], [0] * topology.num_channels
        self.injected = self.ejected = 0
        self.routers = [Router(self, node) for node in range(topology.num_nodes)]
        for channel in range(topology.num_channels):
            upstream = self.routers[topology.channel_source[channel]]
            downstream = self.routers[topology.channel_target[channel]]
            for vc in range(num_vcs):
                credit = Credits(options.buffer_flits)
                into = in_port[channel] * num_vcs + vc
                downstream.add_input(into, credit, options.timing.credit_delay)
                out_slot = out_port[channel] * num_vcs + vc
                upstream.outputs[out_slot] = OutputSlot(credit, channel, (downstream, into))
        kind = ReservedSource if options.reserved else Source
        self.sources = [kind(self, router) for router in self.routers]

    def take_effect(self, t):
        """Step 1 of a cycle: what is due."""
        for credit in self.returning.pop(t, ()):
            credit.give()
        arriving = self.arriving.pop(t, [])
        for router, in_slot, flit in arriving:
            router.inputs[in_slot].put(flit)
        for router, in_slot, *_ in self.released + arriving:
            router.come_to_front(in_slot, t)
        self.released = []
        for flit in self.ejecting.pop(t, ()):
            self.eject(flit, t)

    def eject(self, flit, t):
        packet, timing = flit.packet, self.options.timing
        assert flit.number == packet.received
        packet.received += 1
        self.ejected += 1
        if flit.number == 0 and self.options.switching == "circuit":
            back = 2 * timing.injection_credit_delay + packet.hops * timing.credit_delay
            packet.data_from = t + back
        if flit.is_tail:
            times, ends = (packet.birth, packet.entry, t), (packet.source, packet.target)
            self.delivered.append((packet.number, *times, *ends, packet.hops, packet.flits))

    def needs(self, packet):
        """Free places that a packet must find before it takes a buffer."""
        return packet.length if self.options.whole_packets else 1


class Source:
    """A node's queue of packets, and its injection ports, each sending one packet at a time."""

    def __init__(self, network, router):
        self.network, self.options, self.router = network, network.options, router
        self.queue = deque()
        self.sending = [None] * self.options.injection_channels  # (packet, VC) of each port
        self.vc_pointer = [0] * self.options.injection_channels
        self.credits = {}  # (port, VC) -> Credits
        for port in range(self.options.injection_channels):
            for vc in range(self.options.num_vcs):
                credit = self.credits[port, vc] = Credits(self.options.buffer_flits)
                delay = self.options.timing.injection_credit_delay
                router.add_input(self.input_slot(port, vc), credit, delay)

    def input_slot(self, port, vc):
        return (self.network.num_network_ports + port) * self.options.num_vcs + vc

    def born(self, packet):
        self.queue.append(packet)

    def num_queued(self):
        return len(self.queue)

    def step(self, t):
        """Step 3 of a cycle: every port sends a flit if it can."""
        for port in range(self.options.injection_channels):
            if self.sending[port] is None and self.queue:
                self.begin(port)
            if self.sending[port] is not None:
                packet, vc = self.sending[port]
                self.send(packet, port, vc, t)
                if packet.sent == packet.length:
                    self.sending[port] = None

    def begin(self, port):
        """Take the first packet of the queue, if a VC has room for it."""
        need = self.network.needs(self.queue[0])
        roomy = [vc for vc in range(self.options.num_vcs) if self.credits[port, vc].left >= need]
        if roomy:
            vc = first_from(self.vc_pointer[port], roomy)
            self.vc_pointer[port] = vc + 1
            self.sending[port] = (self.queue.popleft(), vc)

    def send(self, packet, port, vc, t):
        """Send the next flit of ``packet``, unless it must wait for credit."""
        if self.options.switching == "circuit" and packet.sent > 0 and t < packet.data_from:
            return
        if self.credits[port, vc].left == 0:
            return
        self.credits[port, vc].take()
        flit = Flit(packet, packet.sent)
        if packet.sent == 0:
            packet.entry = t
        packet.sent += 1
        self.network.injected += 1
        arrival = t + self.options.timing.injection_delay
        self.network.arriving[arrival].append((self.router, self.input_slot(port, vc), flit))


class ReservedSource(Source):
    """Each connection has a queue and a VC of its own; a port goes round those that can send."""

    def __init__(self, network, router):
        super().__init__(network, router)
        self.queues = defaultdict(deque)  # (port, VC) -> packets of its connection
        self.connection = {}

    def born(self, packet):
        port, vc = self.options.injection_slot_of(packet.aux)
        assert (port, vc) in self.credits
        assert self.connection.setdefault((port, vc), packet.aux) == packet.aux
        self.queues[port, vc].append(packet)

    def num_queued(self):
        return sum(packet.sent == 0 for queue in self.queues.values() for packet in queue)

    def step(self, t):
        for port in range(self.options.injection_channels):
            vcs = range(self.options.num_vcs)
            able = [vc for vc in vcs if self.queues[port, vc] and self.credits[port, vc].left > 0]
            if able:
                vc = first_from(self.vc_pointer[port], able)
                self.vc_pointer[port] = vc + 1
                packet = self.queues[port, vc][0]
                self.send(packet, port, vc, t)
                if packet.sent == packet.length:
                    self.queues[port, vc].popleft()


class Router:
    """Input slots, output slots, and the pointers of the two allocators."""

    def __init__(self, network, node):
        self.network, self.options, self.node = network, network.options, node
        self.inputs = {}  # input slot -> VirtualChannel, where there is a channel or a source
        self.outputs = {}  # output slot -> OutputSlot
        for port in range(self.options.ejection_channels):
            for vc in range(self.options.num_vcs):
                slot = (network.num_network_ports + port) * self.options.num_vcs + vc
                self.outputs[slot] = OutputSlot(Credits(inf), None)
        self.vc_grant, self.vc_accept = defaultdict(int), defaultdict(int)
        self.switch_grant, self.switch_accept = defaultdict(int), defaultdict(int)
        self.vc_turn = defaultdict(int)  # of an input port: the VC whose turn it is
        self.vc_next = defaultdict(int)  # of an output port: the VC that a speculating head takes

    def add_input(self, slot, upstream, credit_delay):
        self.inputs[slot] = VirtualChannel(self.options.buffer_flits, upstream, credit_delay)

    def come_to_front(self, in_slot, t):
        """Let the packet at the front become current in cycle ``t``, unless one is already."""
        vc = self.inputs[in_slot]
        if vc.packet is not None or not vc.buffer:
            return
        if self.options.switching == "store-and-forward" and not vc.holds_whole_packet():
            return
        packet = vc.packet = vc.buffer[0].packet
        if vc.output is not None:  # reserved: the way is there since the connection's first packet
            assert self.outputs[vc.output].owner.aux == packet.aux
            return
        if self.options.arrived is not None:
            self.options.arrived(self.node, packet)
        if self.options.choose_order and packet.hops == 0:
            self.choose_order(in_slot, packet)
        vc.allowed = set(self.options.allowed(self.node, in_slot, packet))
        vc.ready = t + self.options.timing.head_wait
        assert vc.allowed <= self.outputs.keys()
        assert len(vc.allowed) == 1 if self.options.reserved else vc.allowed

    def choose_order(self, in_slot, packet):
        """At the source, let the coin's lowest bit be the way with more credits at its port."""
        num_vcs, fell, left = self.options.num_vcs, packet.coin, {}
        for coin in (fell & ~1, fell | 1):
            packet.coin = coin
            port = min(self.options.allowed(self.node, in_slot, packet)) // num_vcs
            slots = range(port * num_vcs, (port + 1) * num_vcs)
            left[coin] = sum(self.outputs[slot].credits.left for slot in slots)
        packet.coin = max(left, key=lambda coin: (left[coin], coin == fell))

    def step(self, t):
        """Step 4 of a cycle."""
        if not any(vc.buffer for vc in self.inputs.values()):
            return
        requests = self.switch_requests()  # before VC allocation: who wins there asks next cycle
        waiting = {
            in_slot: self.wanted_outputs(vc, t)
            for in_slot, vc in self.inputs.items()
            if vc.packet is not None and vc.output is None and t >= vc.ready
        }
        if self.options.speculative:
            for in_slot, outs in waiting.items():
                for out_port in {out // self.options.num_vcs for out in outs}:
                    requests[out_port].append(in_slot)
        else:
            self.allocate_vcs(waiting)
        for in_slot, out_port in self.allocate_switch(requests):
            if self.inputs[in_slot].output is None:
                self.speculate(in_slot, out_port, waiting[in_slot])
            self.move(in_slot, t)

    def switch_requests(self):
        """Return {output port: input slots that are active and can move a flit there}."""
        requests = defaultdict(list)
        for in_slot, vc in self.inputs.items():
            if vc.packet is not None and vc.output is not None and vc.buffer:
                assert vc.buffer[0].packet is vc.packet
                if self.outputs[vc.output].credits.left > 0:
                    requests[vc.output // self.options.num_vcs].append(in_slot)
        return requests

    def wanted_outputs(self, vc, t):
        """Return the output slots that a waiting head asks for in this cycle: of one port only."""
        preferred = self.options.preferred or set()
        wanted = {
            out
            for out in vc.allowed
            if self.outputs[out].owner is None
            and self.outputs[out].credits.left >= self.room(vc.packet, adaptive=out in preferred)
        }
        wanted = wanted & preferred or wanted
        num_vcs, network_ports = self.options.num_vcs, self.network.num_network_ports
        ways = sorted({out // num_vcs for out in wanted})
        if len(ways) < 2 or ways[0] >= network_ports:  # ejection ports are all alike
            return wanted
        way = ways[drawn(vc.packet, t) % len(ways)]
        return {out for out in wanted if out // num_vcs == way}

    def room(self, packet, *, adaptive):
        """Free places that there must be in a buffer for a head to ask for it.

        In an adaptive VC all of the packet must fit, or nothing be before it: behind another packet
        it would hold escape VCs while that one, on a way of its own, waits.
        """
        if adaptive:
            return min(packet.length, self.options.buffer_flits)
        if self.options.speculative or self.options.whole_packets:
            return self.network.needs(packet)
        return 0  # it can wait for credit later

    def age(self, in_slot):
        """Sort key of oldest-first allocation; the lower slot if one packet is in two of them."""
        return (*self.inputs[in_slot].packet.age, in_slot)

    def allocate_vcs(self, waiting):
        """Every output slot grants one request; every head accepts one grant."""
        requests, grants = defaultdict(list), defaultdict(list)
        for in_slot, outs in waiting.items():
            for out in outs:
                requests[out].append(in_slot)
        for out, slots in requests.items():
            if self.options.oldest_first:
                grants[min(slots, key=self.age)].append(out)
            else:
                grants[first_from(self.vc_grant[out], slots)].append(out)
        for in_slot, outs in grants.items():
            pointer = 0 if self.options.oldest_first else self.vc_accept[in_slot]
            out = first_from(pointer, outs)
            self.vc_grant[out], self.vc_accept[in_slot] = in_slot + 1, out + 1
            self.own(in_slot, out)

    def own(self, in_slot, out):
        vc = self.inputs[in_slot]
        assert vc.output is None
        assert self.outputs[out].owner is None
        vc.output, self.outputs[out].owner = out, vc.packet

    def speculate(self, in_slot, out_port, wanted):
        """Give a head that has won the switch, VC not yet allocated, a VC of that output port."""
        num_vcs = self.options.num_vcs
        vcs = [out % num_vcs for out in wanted if out // num_vcs == out_port]
        vc = first_from(self.vc_next[out_port], vcs)
        self.vc_next[out_port] = vc + 1
        self.own(in_slot, out_port * num_vcs + vc)

    def allocate_switch(self, requests):
        """Every output port grants one input port; every input port accepts one. Return moves.

        Reserved VCs have crossbar inputs of their own: every one that is granted moves.
        """
        num_vcs, moves = self.options.num_vcs, []
        if self.options.reserved:
            for out_port, slots in requests.items():
                in_slot = self.grant_switch(out_port, slots)
                self.switch_grant[out_port] = in_slot + 1
                moves.append((in_slot, out_port))
            return moves
        grants = defaultdict(dict)  # input port -> {output port: input slot that was granted}
        for out_port, slots in requests.items():
            in_slot = self.grant_switch(out_port, slots)
            grants[in_slot // num_vcs][out_port] = in_slot
        for in_port, granted in grants.items():
            if self.options.oldest_first:
                out_port = min(granted, key=lambda out: (self.age(granted[out]), out))
            else:
                out_port = first_from(self.switch_accept[in_port], granted)
            slots = [slot for slot in requests[out_port] if slot // num_vcs == in_port]
            in_slot = self.choose_vc(in_port, slots)
            self.switch_grant[out_port] = in_port + 1
            self.switch_accept[in_port] = out_port + 1
            moves.append((in_slot, out_port))
        return moves

    def grant_switch(self, out_port, slots):
        """Return an input slot of the port that is granted; reserved VCs are granted one by one."""
        if self.options.oldest_first:
            return min(slots, key=self.age)
        if self.options.reserved:
            return first_from(self.switch_grant[out_port], slots)
        pointer = self.switch_grant[out_port] * self.options.num_vcs
        return first_from(pointer, slots)  # a slot of the first port at or after the pointer

    def choose_vc(self, in_port, slots):
        """Choose among the slots of one input port that ask for the same output port.

        Those that own a VC already go before heads that only speculate.
        """
        slots = [slot for slot in slots if self.inputs[slot].output is not None] or slots
        if self.options.oldest_first:
            return min(slots, key=self.age)
        in_slot = first_from(in_port * self.options.num_vcs + self.vc_turn[in_port], slots)
        self.vc_turn[in_port] = in_slot % self.options.num_vcs + 1
        return in_slot

    def move(self, in_slot, t):
        """Send the flit at the front of ``in_slot`` through the switch."""
        network, vc = self.network, self.inputs[in_slot]
        out, flit = self.outputs[vc.output], vc.buffer.popleft()
        assert flit.packet is vc.packet
        assert out.owner is vc.packet or (self.options.reserved and out.owner.aux == vc.packet.aux)
        out.credits.take()
        network.returning[t + vc.credit_delay].append(vc.upstream)
        if out.channel is None:
            network.ejecting[t + self.options.timing.ejection_delay].append(flit)
        else:
            network.channel_flits[out.channel] += 1
            network.arriving[t + self.options.timing.flit_delay].append((*out.downstream, flit))
            flit.packet.hops += flit.number == 0
        if flit.is_tail:
            vc.packet = None
            if not self.options.reserved:
                vc.output = out.owner = None
            network.released.append((self, in_slot))


def simulate(topology, *, packets, cycles, **options):
    """Run cycles 0 … ``cycles`` − 1 and return the ``Outcome``; options are those of ``Options``.

    ``packets`` are (birth, source, target, flits, coin, aux), in order of (birth, source).

    Two packets of four flits that want the channel from node 1 to node 2 of a line:

    >>> from types import SimpleNamespace
    >>> from netloom.topology import mesh
    >>> from tests.reference.network_routing import dimension_order
    >>> line = mesh(3)
    >>> timing = SimpleNamespace(
    ...     head_wait=0, flit_delay=2, credit_delay=2,
    ...     injection_delay=2, injection_credit_delay=2, ejection_delay=3)
    >>> simulate(
    ...     line, num_vcs=1, buffer_flits=4, timing=timing, allowed=dimension_order(line, 1),
    ...     packets=[(0, 0, 2, 4, 0, -1), (0, 1, 2, 4, 0, -1)], cycles=20).delivered
    [(1, 0, 0, 12, 1, 2, 1, 4), (0, 0, 0, 17, 0, 2, 2, 4)]
    """
    network = Network(topology, Options(**options))
    births = defaultdict(list)
    for number, (birth, source, target, flits, coin, aux) in enumerate(packets):
        assert flits <= network.options.buffer_flits or not network.options.whole_packets
        length = flits + (network.options.switching == "circuit")
        births[birth].append(Packet(number, birth, source, target, flits, coin, aux, length))
    for t in range(cycles):
        network.take_effect(t)
        for packet in births[t]:
            network.sources[packet.source].born(packet)
        for source in network.sources:
            source.step(t)
        for router in network.routers:
            router.step(t)
    return outcome(network)


def outcome(network):
    """Count what is where at the end, and check that nothing was lost."""
    inputs = [vc for router in network.routers for vc in router.inputs.values()]
    buffered = sum(len(vc.buffer) for vc in inputs)
    arriving = [event for events in network.arriving.values() for event in events]
    flying = len(arriving) + sum(map(len, network.ejecting.values()))
    assert network.injected == network.ejected + buffered + flying
    places = Counter(credit for events in network.returning.values() for credit in events)
    places.update(router.inputs[in_slot].upstream for router, in_slot, _ in arriving)
    for vc in inputs:  # every place is free, filled, or in one of the two channels
        assert vc.upstream.left + len(vc.buffer) + places[vc.upstream] == vc.size
    outputs = {(r.node, slot): out for r in network.routers for slot, out in r.outputs.items()}
    ahead = {place: out.credits.left for place, out in outputs.items() if out.channel is not None}
    return Outcome(
        delivered=sorted(network.delivered, key=lambda row: (row[3], row[0])),
        link_hops=sum(network.channel_flits),
        channel_flits=network.channel_flits,
        injected_flits=network.injected,
        ejected_flits=network.ejected,
        buffered_flits=buffered,
        flying_flits=flying,
        queued_packets=sum(source.num_queued() for source in network.sources),
        credits=ahead,
        free_output_slots=sum(out.owner is None for out in outputs.values()),
    )
