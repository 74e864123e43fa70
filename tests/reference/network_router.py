"""One router of the network of ``network.py``: its slots, and the pointers of its two allocators.

A slot is a pair (port, VC); slots are in order of port, then VC.
"""

from collections import defaultdict

from tests.reference.network_parts import (
    Credits,
    OutputPort,
    OutputSlot,
    VirtualChannel,
    drawn,
    first_after,
)

NOWHERE = (-1, -1)


class Router:
    """Input slots, output ports, and where each round robin was last."""

    def __init__(self, network, number):
        self.network, self.kind, self.number = network, network.kind, number
        self.given = {}  # cycle -> (input slot, output slot) that VC allocation ends with then
        self.granted = {}  # cycle -> (input slot, output port) that switch allocation ends with
        self.inputs = {}  # (input port, VC) -> VirtualChannel
        self.outputs = {}  # output port -> OutputPort
        self.vc_grant = defaultdict(lambda: NOWHERE)  # of an output slot: the input slot granted
        self.vc_accept = defaultdict(lambda: NOWHERE)  # of an input slot: the output slot taken
        self.switch_grant = defaultdict(lambda: -1)  # of an output port: the input port granted
        self.slot_grant = defaultdict(lambda: NOWHERE)  # the input slot, where VCs are reserved
        self.switch_accept = defaultdict(lambda: -1)  # of an input port: the output port taken
        self.vc_sent = defaultdict(lambda: -1)  # of an input port: the VC that sent
        self.vc_taken = defaultdict(lambda: -1)  # of an output port: the VC a speculative head got

    def add_input(self, port, wire):
        """Plug a wire in; return the free places behind its VCs, for whoever sends on it."""
        places = [Credits(wire.buffer_flits) for _ in range(self.kind.vcs)]
        for vc, upstream in enumerate(places):
            self.inputs[port, vc] = VirtualChannel(wire, upstream)
        return places

    def add_output(self, port, wire, places, *leads_to):
        self.outputs[port] = OutputPort(wire, [OutputSlot(each) for each in places], *leads_to)

    def output(self, slot):
        port, vc = slot
        return self.outputs[port].slots[vc]

    def come_to_front(self, in_slot, t):
        """Let the packet at the front become current in cycle ``t``, unless one is already.

        Its route is computed now, and sees the credits that are back by now.
        """
        vc = self.inputs[in_slot]
        if vc.packet is not None or not vc.buffer:
            return
        if self.kind.switching == "store-and-forward" and not vc.holds_whole_packet():
            return
        packet = vc.packet = vc.buffer[0].packet
        if vc.output is not None:  # reserved: the way is there since the connection's first packet
            assert self.output(vc.output).owner.aux == packet.aux
            return
        vc.allowed = set(self.network.route(self.number, in_slot, packet, self.network.used))
        vc.ready = t + self.kind.route_cycles
        assert all(port in self.outputs and vc < self.kind.vcs for port, vc in vc.allowed)
        assert vc.allowed

    def step(self, t):
        """Step 4 of a cycle: attempts of allocation begin, and those that end now take effect."""
        if not any(vc.buffer for vc in self.inputs.values()):
            return
        requests = self.switch_requests(t)  # before VC allocation: who wins there asks next cycle
        waiting = {
            in_slot: self.wanted_outputs(vc, t)
            for in_slot, vc in self.inputs.items()
            if vc.packet is not None and vc.output is None and t >= vc.ready
        }
        for in_slot in waiting:
            self.inputs[in_slot].ready = t + self.stages
        if self.kind.speculative:
            for in_slot, outs in waiting.items():
                for out_port in {port for port, _ in outs}:
                    requests[out_port].append(in_slot)
        else:
            self.given[t + self.stages - 1] = self.allocate_vcs(waiting)
        requests = {port: asked for port, asked in requests.items() if self.may_send(port, t)}
        granted = self.allocate_switch(requests)
        for _, out_port in granted:
            self.outputs[out_port].wire.sent(t)
        self.granted[t + self.kind.switch_allocation_cycles - 1] = granted
        for in_slot, out in self.given.pop(t, ()):
            if self.can_take(self.inputs[in_slot].packet, out):  # nobody took it meanwhile
                self.own(in_slot, out)
        for in_slot, out_port in self.granted.pop(t, ()):
            if self.inputs[in_slot].output is not None or self.speculate(in_slot, out_port):
                self.move(in_slot, t)

    @property
    def stages(self):
        """Cycles of an attempt of a head to get a VC."""
        kind = self.kind
        return kind.switch_allocation_cycles if kind.speculative else kind.vc_allocation_cycles

    def may_send(self, out_port, t):
        return self.outputs[out_port].wire.may_send(t)

    def switch_requests(self, t):
        """Return {output port: input slots that are active and can move a flit there}.

        An attempt takes all cycles of switch allocation, even if there is no credit when it begins.
        """
        requests = defaultdict(list)
        for in_slot, vc in self.inputs.items():
            active = vc.packet is not None and vc.output is not None and vc.buffer
            if active and t >= vc.next_try:
                vc.next_try = t + self.kind.switch_allocation_cycles
                assert vc.buffer[0].packet is vc.packet
                if self.output(vc.output).credits.left > 0:
                    requests[vc.output[0]].append(in_slot)
        return requests

    def wanted_outputs(self, vc, t):
        """Return the output slots that a waiting head asks for in this cycle: of one port only.

        Only where a node's ejection ports are all alike, may it be several.
        """
        wanted = {out for out in vc.allowed if self.can_take(vc.packet, out)}
        if self.kind.speculative:  # it wants to go at once
            wanted = {(port, vc) for port, vc in wanted if self.may_send(port, t)}
        wanted = {out for out in wanted if self.is_preferred(out)} or wanted
        ways = sorted({port for port, _ in wanted})
        if len(ways) < 2 or (self.network.alike_exits and self.outputs[ways[0]].is_ejection):
            return wanted
        way = ways[drawn(vc.packet.coin, vc.packet.number, t) % len(ways)]
        return {(port, vc) for port, vc in wanted if port == way}

    def can_take(self, packet, out):
        """Whether a head may have an output slot."""
        slot = self.output(out)
        return slot.owner is None and slot.credits.left >= self.room(packet, out)

    def is_preferred(self, out):
        """Whether a VC is adaptive; those of ejection ports are no different where ports differ."""
        port, vc = out
        everywhere = not (self.network.alike_exits and self.outputs[port].is_ejection)
        return vc in self.network.preferred_vcs and everywhere

    def room(self, packet, out):
        """Free places that there must be in a buffer for a head to ask for it.

        In an adaptive VC all of the packet must fit, or nothing be before it: behind another packet
        it would hold escape VCs while that one, on a way of its own, waits.
        """
        if self.is_preferred(out):
            return min(packet.length, self.output(out).credits.size)
        if self.kind.speculative or self.kind.whole_packets:
            return self.network.needs(packet)
        return 0  # it can wait for credit later

    def age(self, in_slot):
        """Sort key of oldest-first allocation; the lower slot if one packet is in two of them."""
        return (*self.inputs[in_slot].packet.age, in_slot)

    def allocate_vcs(self, waiting):
        """Every output slot grants one request; every head accepts one grant. Return these."""
        requests, grants, accepted = defaultdict(list), defaultdict(list), []
        for in_slot, outs in waiting.items():
            for out in outs:
                requests[out].append(in_slot)
        for out, slots in requests.items():
            if self.kind.oldest_first:
                grants[min(slots, key=self.age)].append(out)
            else:
                grants[first_after(self.vc_grant[out], slots)].append(out)
        for in_slot, outs in grants.items():
            last = NOWHERE if self.kind.oldest_first else self.vc_accept[in_slot]
            out = first_after(last, outs)
            self.vc_grant[out], self.vc_accept[in_slot] = in_slot, out
            accepted.append((in_slot, out))
        return accepted

    def own(self, in_slot, out):
        vc = self.inputs[in_slot]
        assert vc.output is None
        assert self.output(out).owner is None
        vc.output, self.output(out).owner = out, vc.packet

    def speculate(self, in_slot, out_port):
        """Give a head that has won the switch, VC not yet allocated, a VC of that output port.

        Return whether there is one: others may have taken it since the head asked.
        """
        packet, allowed = self.inputs[in_slot].packet, self.inputs[in_slot].allowed
        wanted = [out for out in allowed if out[0] == out_port and self.can_take(packet, out)]
        wanted = [out for out in wanted if self.is_preferred(out)] or wanted
        if not wanted:
            return False
        vc = first_after(self.vc_taken[out_port], [vc for _, vc in wanted])
        self.vc_taken[out_port] = vc
        self.own(in_slot, (out_port, vc))
        return True

    def allocate_switch(self, requests):
        """Every output port grants one input port; every input port accepts one. Return moves.

        Reserved VCs have crossbar inputs of their own: every one that is granted moves.
        """
        moves = []
        if self.network.reserved:
            for out_port, slots in requests.items():
                in_slot = self.slot_grant[out_port] = self.grant_slot(out_port, slots)
                moves.append((in_slot, out_port))
            return moves
        grants = defaultdict(dict)  # input port -> {output port: input slot that was granted}
        for out_port, slots in requests.items():
            in_slot = self.grant_port(out_port, slots)
            grants[in_slot[0]][out_port] = in_slot
        for in_port, granted in grants.items():
            if self.kind.oldest_first:
                out_port = min(granted, key=lambda out: (self.age(granted[out]), out))
            else:
                out_port = first_after(self.switch_accept[in_port], granted)
            in_slot = self.choose_vc([slot for slot in requests[out_port] if slot[0] == in_port])
            self.switch_grant[out_port] = in_port
            self.switch_accept[in_port] = out_port
            moves.append((in_slot, out_port))
        return moves

    def grant_slot(self, out_port, slots):
        """Return the input slot that is granted, where VCs are reserved: they take turns."""
        if self.kind.oldest_first:
            return min(slots, key=self.age)
        return first_after(self.slot_grant[out_port], slots)

    def grant_port(self, out_port, slots):
        """Return an input slot of the port that is granted."""
        if self.kind.oldest_first:
            return min(slots, key=self.age)
        port = first_after(self.switch_grant[out_port], [port for port, _ in slots])
        return min(slot for slot in slots if slot[0] == port)

    def choose_vc(self, slots):
        """Choose among the slots of one input port that ask for the same output port.

        Those that own a VC already go before heads that only speculate.
        """
        slots = [slot for slot in slots if self.inputs[slot].output is not None] or slots
        if self.kind.oldest_first:
            return min(slots, key=self.age)
        in_port = slots[0][0]
        in_slot = first_after((in_port, self.vc_sent[in_port]), slots)
        self.vc_sent[in_port] = in_slot[1]
        return in_slot

    def move(self, in_slot, t):
        """Send the flit at the front of ``in_slot`` through the switch."""
        network, vc = self.network, self.inputs[in_slot]
        port, slot = self.outputs[vc.output[0]], self.output(vc.output)
        flit = vc.buffer.popleft()
        assert flit.packet is vc.packet
        assert slot.owner is vc.packet or (network.reserved and slot.owner.aux == vc.packet.aux)
        slot.credits.take()
        network.returning[t + vc.wire.credit_delay].append(vc.upstream)
        if port.is_ejection:
            network.send(flit, port.wire, None, t)
        else:
            network.link_hops += 1
            flit.packet.hops += flit.number == 0
            network.send(flit, port.wire, (port.router, (port.in_port, vc.output[1])), t)
        if flit.is_tail:
            vc.packet = None
            if not network.reserved:
                vc.output = slot.owner = None
            network.released.append((self, in_slot))
