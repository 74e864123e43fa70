"""The virtual-channel network, flit by flit, written for the reader.

A packet is a row of flits: the head finds the way, the tail releases it. Sources send packets into
routers, routers send them to each other and into ideal sinks; ``network_wiring.py`` says where
sources and sinks are. A router has input ports, and each port ``vcs`` virtual channels (VCs): a
buffer each, through which one packet goes at a time, the next waiting behind it. *Input slot* =
(input port, VC), *output slot* likewise; an output slot to another router is the sender's view of
one input slot at the wire's other end: who owns it, and how many free places (credits) its buffer
has.

What happens to a packet at every router:

1. its head comes to the front of its VC: the route gives the output slots that it may take, and may
   look at how many flits of each output port have no credit back yet;
2. once its route is known it asks for the free ones of one port, drawn from those where there are
   any. That takes ``vc_allocation_cycles``; if it gets none, it asks anew (VC allocation);
3. from the next cycle on, each of its flits asks for the switch, when there is credit; every input
   port and every output port of a router passes one flit a cycle, and a slow output port fewer.
   An attempt takes ``switch_allocation_cycles``, whatever comes of it, and the VC's next one begins
   thereafter (switch allocation);
4. a flit that has won by cycle t can act in the next router ``flit_delay`` later; the place it left
   can be used again by whoever fills that buffer ``credit_delay`` later; when the tail has won,
   the output slot is free, even if it has not moved on downstream. The wire says both delays.

A speculative router does 2 and 3 in one cycle. Both allocations are separable, output first, one
iteration, with rotating pointers that move only when a grant is accepted; or the oldest packet
(birth, number) goes first. Injection is a channel into a router, ejection a channel out of it.

Within a cycle: arrivals and credits that are due; births; sources send; routers allocate and move,
none seeing what another does in the same cycle, since every delay is at least 1.
Allocation and its terms are Dally & Towles (2004), chapters 16 to 19.
"""

from collections import Counter, defaultdict, deque
from math import inf

from tests.reference.network_parts import Birth, Credits, Flit, Outcome, Packet, first_after
from tests.reference.network_router import Router
from tests.reference.network_wiring import wiring


class Network:
    """Everything that the routers and sources share: what they are, routes, what is under way.

    See ``simulate`` for the parameters.
    """

    def __init__(
        self, topology, router, route, *, preferred_vcs, injection_slot_of, deeper, by_rule
    ):
        self.kind, self.route, self.preferred_vcs = router, route, preferred_vcs
        self.injection_slot_of = injection_slot_of
        self.alike_exits = topology.direct or by_rule
        self.reserved = router.switching == "reserved"
        self.arriving = defaultdict(list)  # cycle -> (router, input slot, flit)
        self.returning = defaultdict(list)  # cycle -> Credits
        self.ejecting = defaultdict(list)  # cycle -> flit
        self.released = []  # (router, input slot) that a tail left in the cycle before
        self.delivered, self.channel_flits = [], [0] * topology.num_channels
        self.link_hops = self.injected = self.ejected = 0
        wired = wiring(topology, router, deeper)
        self.routers = [Router(self, number) for number in range(wired.num_routers)]
        for (source, out_port), (wire, target, in_port) in wired.network.items():
            places = self.routers[target].add_input(in_port, wire)
            self.routers[source].add_output(out_port, wire, places, self.routers[target], in_port)
        for (source, out_port), (wire, _) in wired.ejection.items():
            sinks = [Credits(inf) for _ in range(router.vcs)]
            self.routers[source].add_output(out_port, wire, sinks)
        kind = ReservedSource if self.reserved else Source
        self.sources = [kind(self, lanes) for lanes in wired.injection]
        inputs = [vc for each in self.routers for vc in each.inputs.values()]
        self.least_buffer = min(vc.wire.buffer_flits for vc in inputs)

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

    def send(self, flit, wire, destination, t):
        """Put a flit on a wire to (router, input slot), or to a sink if that is None."""
        if wire.channel is not None:
            self.channel_flits[wire.channel] += 1
        if flit.number == 0:
            flit.packet.answer_cycles += wire.credit_delay
        if destination is None:
            self.ejecting[t + wire.flit_delay].append(flit)
        else:
            self.arriving[t + wire.flit_delay].append((*destination, flit))

    def eject(self, flit, t):
        packet = flit.packet
        assert flit.number == packet.received
        packet.received += 1
        self.ejected += 1
        if flit.number == 0 and self.kind.switching == "circuit":
            packet.data_from = t + packet.answer_cycles
        if flit.is_tail:
            times, ends = (packet.birth, packet.entry, t), (packet.source, packet.target)
            self.delivered.append((packet.number, *times, *ends, packet.hops, packet.flits))

    def used(self, router, port):
        """Return the flits sent into an output port whose credits have not come back."""
        return self.routers[router].outputs[port].used

    def needs(self, packet):
        """Free places that a packet must find before it takes a buffer."""
        return packet.length if self.kind.whole_packets else 1


class Lane:
    """One wire of a source into its router, which sends one packet at a time."""

    def __init__(self, wire, router, in_port):
        self.wire, self.router, self.in_port = wire, router, in_port
        self.credits = router.add_input(in_port, wire)  # by VC
        self.sending = None  # (packet, VC)
        self.last_vc = -1


class Source:
    """A host port's queue of packets, and its lanes."""

    def __init__(self, network, lanes):
        self.network, self.queue = network, deque()
        self.lanes = [Lane(wire, network.routers[number], port) for wire, number, port in lanes]

    def born(self, packet):
        self.queue.append(packet)

    def num_queued(self):
        return len(self.queue) + sum(
            lane.sending is not None and lane.sending[0].sent == 0 for lane in self.lanes
        )

    def step(self, t):
        """Step 3 of a cycle: every lane sends a flit if it can."""
        for lane in self.lanes:
            if not lane.wire.may_send(t):
                continue
            if lane.sending is None and self.queue:
                self.begin(lane)
            if lane.sending is not None:
                packet, vc = lane.sending
                self.send(packet, lane, vc, t)
                if packet.sent == packet.length:
                    lane.sending = None

    def begin(self, lane):
        """Take the first packet of the queue, if a VC has room for it."""
        need = self.network.needs(self.queue[0])
        roomy = [vc for vc, places in enumerate(lane.credits) if places.left >= need]
        if roomy:
            lane.last_vc = first_after(lane.last_vc, roomy)
            lane.sending = (self.queue.popleft(), lane.last_vc)

    def send(self, packet, lane, vc, t):
        """Send the next flit of ``packet``, unless it must wait for credit."""
        if self.network.kind.switching == "circuit" and packet.sent > 0 and t < packet.data_from:
            return
        if lane.credits[vc].left == 0:
            return
        lane.credits[vc].take()
        flit = Flit(packet, packet.sent)
        if packet.sent == 0:
            packet.entry = t
        packet.sent += 1
        self.network.injected += 1
        assert lane.wire.may_send(t)
        lane.wire.sent(t)
        self.network.send(flit, lane.wire, (lane.router, (lane.in_port, vc)), t)


class ReservedSource(Source):
    """Each connection has a queue and a VC of its own; a lane goes round those that can send."""

    def __init__(self, network, lanes):
        super().__init__(network, lanes)
        self.queues = defaultdict(deque)  # (lane, VC) -> packets of its connection
        self.connection = {}

    def born(self, packet):
        number, vc = self.network.injection_slot_of(packet.aux)
        assert number < len(self.lanes)
        assert self.connection.setdefault((number, vc), packet.aux) == packet.aux
        self.queues[number, vc].append(packet)

    def num_queued(self):
        return sum(packet.sent == 0 for queue in self.queues.values() for packet in queue)

    def step(self, t):
        for number, lane in enumerate(self.lanes):
            queues = [self.queues[number, vc] for vc in range(len(lane.credits))]
            able = [
                vc
                for vc, places in enumerate(lane.credits)
                if queues[vc] and places.left > 0 and lane.wire.may_send(t)
            ]
            if able:
                vc = lane.last_vc = first_after(lane.last_vc, able)
                packet = queues[vc][0]
                self.send(packet, lane, vc, t)
                if packet.sent == packet.length:
                    queues[vc].popleft()


def simulate(
    topology,
    router,
    route,
    *,
    packets,
    cycles,
    preferred_vcs=(),
    injection_slot_of=None,
    by_rule=False,
    deeper=None,
):
    """Run cycles 0 … ``cycles`` − 1 and return the ``Outcome``.

    router
        What routers are: a record with the fields of netloom's ``Router``. Switching is
        "wormhole"; "virtual-cut-through" (a buffer is taken only with room for the whole packet);
        "store-and-forward" (so too, and a packet goes on only when all of it is there); "circuit"
        (a probe of one flit reserves the way, the data follow the acknowledgement); or "reserved"
        (connections own the VCs for ever that their first packet got: ``packet.aux`` is theirs).
    route(router, in_slot, packet, used)
        The output slots that the packet may take at this router, by number, which it entered by
        that input slot; of its sink's port if it leaves here. ``used(router, port)`` are the flits
        sent into an output port whose credits have not come back, 0 where it leads to a sink.
    packets
        ``Birth`` records, in the order in which packets are numbered, by birth.
    preferred_vcs
        Adaptive VCs: a head asks for these alone, while its route allows one that it could have,
        and only for those with room for all of the packet, or with nothing in them. (In direct
        networks and ``by_rule``, VCs of ejection ports are not among them.)
    injection_slot_of(connection)
        The (lane, VC) of its source that a reserved connection owns.
    by_rule
        Whether hosts' ports are to packets as ejection ports are in a direct network.
    deeper
        Flits of the buffers behind some channels, {channel: flits}, where not all are alike.

    Two packets of four flits that want the channel from node 1 to node 2 of a line:

    >>> from netloom.simulation.network.routers import Router
    >>> from netloom.topology import mesh
    >>> line = mesh(3)  # port 0 leads to the right, 1 to the left, 2 out
    >>> simulate(
    ...     line, Router(vcs=1, buffer_flits=4),
    ...     lambda at, in_slot, packet, used: {(2 if at == packet.target else 0, 0)},
    ...     packets=[(0, 0, 2, 4, 0, -1), (0, 1, 2, 4, 0, -1)], cycles=20).delivered
    [(1, 0, 0, 13, 1, 2, 1, 4), (0, 0, 0, 19, 0, 2, 2, 4)]
    """
    network = Network(
        topology, router, route,
        preferred_vcs=preferred_vcs, injection_slot_of=injection_slot_of, deeper=deeper,
        by_rule=by_rule,
    )  # fmt: skip
    births = defaultdict(list)
    for number, row in enumerate(packets):
        given = Birth(*row)
        length = given.flits + (router.switching == "circuit")
        assert length <= network.least_buffer or not router.whole_packets
        packet = Packet(number=number, length=length, **given._asdict())
        births[packet.birth].append(packet)
    for t in range(cycles):
        network.take_effect(t)
        for packet in births[t]:
            network.sources[packet.queue].born(packet)
        for source in network.sources:
            source.step(t)
        for place in network.routers:
            place.step(t)
    return outcome(network)


def outcome(network):
    """Count what is where at the end, and check that nothing was lost."""
    inputs = {(r.number, *slot): vc for r in network.routers for slot, vc in r.inputs.items()}
    buffered = {place: len(vc.buffer) for place, vc in inputs.items()}
    arriving = [event for events in network.arriving.values() for event in events]
    flying = len(arriving) + sum(map(len, network.ejecting.values()))
    assert network.injected == network.ejected + sum(buffered.values()) + flying
    places = Counter(credit for events in network.returning.values() for credit in events)
    places.update(router.inputs[in_slot].upstream for router, in_slot, _ in arriving)
    for vc in inputs.values():  # every place is free, filled, or in one of the two channels
        held = vc.upstream.left + len(vc.buffer) + places[vc.upstream]
        assert held == vc.wire.buffer_flits
    outputs = [
        ((router.number, port, vc), slot, out.is_ejection)
        for router in network.routers
        for port, out in router.outputs.items()
        for vc, slot in enumerate(out.slots)
    ]
    return Outcome(
        delivered=sorted(network.delivered, key=lambda row: (row[3], row[0])),
        link_hops=network.link_hops,
        channel_flits=network.channel_flits,
        injected_flits=network.injected,
        ejected_flits=network.ejected,
        buffered_flits=sum(buffered.values()),
        flying_flits=flying,
        queued_packets=sum(source.num_queued() for source in network.sources),
        buffers=buffered,
        credits={place: slot.credits.left for place, slot, ejection in outputs if not ejection},
        owned={place: slot.owner is not None for place, slot, _ in outputs},
    )
