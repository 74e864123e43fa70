"""What moves in the network of ``network.py``, what it moves through, and what is counted."""

from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from tests.reference.network_wiring import Wire
from tests.reference.random_bits import GOLDEN, drawn_bits


class Birth(NamedTuple):
    """What is given of a packet.

    ``port`` and ``sink`` are the host ports that it is sent and received by; -1 in direct networks,
    which list none.
    """

    birth: int
    source: int
    target: int
    flits: int
    coin: int
    aux: int
    port: int = -1
    sink: int = -1


@dataclass(eq=False)
class Packet:
    number: int
    birth: int
    source: int
    target: int
    port: int
    sink: int
    flits: int
    coin: int  # coin, aux and way are its routing's, which may change them at every router
    aux: int
    length: int  # flits that move: a circuit's probe is one more
    way: int = 0
    hops: int = 0  # channels between routers that the head has crossed
    entry: int = -1  # cycle in which the head was sent
    sent: int = 0
    received: int = 0
    answer_cycles: int = 0  # circuit switching: what an acknowledgement takes back to the source
    data_from: float = inf  # circuit switching: when it is there

    @property
    def queue(self):
        """The source that it is queued at: a host port, in a direct network a node."""
        return self.port if self.port >= 0 else self.source

    @property
    def age(self):
        """The smaller, the older."""
        return (self.birth, self.number)


class Flit(NamedTuple):
    packet: Packet
    number: int

    @property
    def is_tail(self):
        return self.number == self.packet.length - 1


class Credits:
    """Free places of one buffer, as counted by whoever fills it."""

    def __init__(self, size):
        self.size, self.used = size, 0

    @property
    def left(self):
        return self.size - self.used

    def take(self):
        assert self.left > 0
        self.used += 1

    def give(self):
        assert self.used > 0
        self.used -= 1


@dataclass(eq=False)
class VirtualChannel:
    """One input slot: a buffer, and how far the packet at its front has got."""

    wire: Wire  # that it is at the end of
    upstream: Credits  # held by the router or the source that fills this buffer
    buffer: deque = field(default_factory=deque)
    last: Flit | None = None  # the flit that came last
    packet: Packet | None = None  # the current packet; its flits are at the front
    allowed: set = field(default_factory=set)  # output slots that its route allows
    ready: int = 0  # cycle from which it may ask for one of them (again)
    next_try: int = 0  # cycle from which its flit may ask for the switch (again)
    output: tuple | None = None  # the output slot that it owns: then it is *active*

    def put(self, flit):
        if self.last is None or self.last.is_tail:
            assert flit.number == 0
        else:
            assert flit == Flit(self.last.packet, self.last.number + 1)
        self.last = flit
        self.buffer.append(flit)
        assert len(self.buffer) <= self.wire.buffer_flits

    def holds_whole_packet(self):
        packet = self.buffer[0].packet
        return any(flit.packet is packet and flit.is_tail for flit in self.buffer)


@dataclass(eq=False)
class OutputSlot:
    """The sender's view of one VC behind an output port: who owns it, and its free places."""

    credits: Credits
    owner: Packet | None = None


@dataclass(eq=False)
class OutputPort:
    """An output port and its wire, which leads to a router's input port, or to a sink."""

    wire: Wire
    slots: list[OutputSlot]  # by VC
    router: object = None  # None leads to a sink
    in_port: int = -1

    @property
    def is_ejection(self):
        return self.router is None

    @property
    def used(self):
        """Flits sent to a router whose credits have not come back, those of all VCs."""
        return 0 if self.is_ejection else sum(slot.credits.used for slot in self.slots)


@dataclass
class Outcome:
    """State after the last cycle. An arrival that is due later has not happened yet."""

    delivered: list  # (number, birth, entry, arrival, source, target, hops, flits)
    link_hops: int  # flits that won the switch to a network channel, all channels together
    channel_flits: list  # flits sent into each listed channel
    injected_flits: int  # sent by the sources; probes count
    ejected_flits: int  # arrived at the sinks
    buffered_flits: int
    flying_flits: int  # on any channel, those of injection and ejection included
    queued_packets: int  # born, and the head not yet sent
    buffers: dict  # {(router, input port, VC): flits}
    credits: dict  # {(router, output port, VC): credits left}, where there is a channel
    owned: dict  # {(router, output port, VC): whether a packet owns it}, sinks' ports too


def first_after(last, places):
    """Return the first place after ``last``; the lowest if there is none."""
    return min(places, key=lambda place: (place <= last, place))


def drawn(coin, number, t):
    """Return 31 bits that look random, a packet's own in every cycle, by SplitMix64's last steps.

    So a head that may leave by several ports asks for each of them as often as for any other.
    """
    return drawn_bits(coin * GOLDEN + number * 0xD1B54A32D192ED03 + t * 0x8CB92BA72F3D8DD7)


def drawn_ports(topology, source, target, coin):
    """Return the host ports that a packet is sent and received by, of all that its hosts have."""
    ports = []
    for number, host in enumerate((source, target)):
        first, after = topology.port_offsets[host : host + 2].tolist()
        ports.append(first + drawn(coin, number, 0) % (after - first))
    return ports
