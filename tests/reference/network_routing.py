"""What the network of ``network.py`` is told: options, packets, where channels plug in, a route;
and what it answers.

Ports 0 … D − 1 of every router are its network ports. On a k-ary n-cube each axis has two of them,
first the growing direction, then the falling one (a side of 2 has one port for both, a side of 1
none), and a channel enters the next router by the port of the same number as the one it left by.
On any other network ports count the channels that leave a node, and those that enter it, lowest
channel first. Injection ports (input) and ejection ports (output) follow from D on.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from netloom.topology import Cube

WHOLE_PACKETS = ("virtual-cut-through", "store-and-forward")


@dataclass(kw_only=True)
class Options:
    """What a network is made of and how it works.

    timing
        head_wait, flit_delay, credit_delay, injection_delay, injection_credit_delay,
        ejection_delay.
    allowed(node, in_slot, packet)
        The output slots that the packet may take at this node; at its target, ejection slots.
    preferred
        Adaptive output slots: a head asks for these alone, while its route allows one that it
        could have, and only for those with room for all of the packet, or with nothing in them.
    arrived(node, packet)
        Called before ``allowed``, once a node; may change ``packet.aux``.
    choose_order
        Whether the source's router sets the lowest bit of ``packet.coin``, by the credits that are
        left at the ports to which either way leads first; if there are as many, the coin decides.
    switching
        "wormhole"; "virtual-cut-through" (a buffer is taken only with room for the whole packet);
        "store-and-forward" (so too, and a packet goes on only when all of it is there);
        "circuit" (a probe of one flit reserves the way, the data follow the acknowledgement).
    reserved
        Connections own their VCs for ever: ``packet.aux`` is the connection, ``allowed`` gives one
        slot, and ``injection_slot_of(connection)`` the (injection port from 0, VC) of its own.
    """

    num_vcs: int
    buffer_flits: int
    timing: object
    allowed: Callable
    preferred: set | None = None
    arrived: Callable | None = None
    choose_order: bool = False
    injection_slot_of: Callable | None = None
    switching: str = "wormhole"
    speculative: bool = False
    oldest_first: bool = False
    reserved: bool = False
    injection_channels: int = 1
    ejection_channels: int = 1

    def __post_init__(self):
        t = self.timing
        assert t.head_wait >= 0
        assert min(t.flit_delay, t.credit_delay, t.injection_delay) >= 1
        assert min(t.injection_credit_delay, t.ejection_delay) >= 1
        assert self.switching in WHOLE_PACKETS or self.switching in ("wormhole", "circuit")
        assert not self.reserved or self.switching == "wormhole"

    @property
    def whole_packets(self):
        """Whether a packet enters a buffer only where all of it fits."""
        return self.switching in WHOLE_PACKETS


@dataclass(eq=False)
class Packet:
    number: int
    birth: int
    source: int
    target: int
    flits: int
    coin: int
    aux: int
    length: int  # flits that move: a circuit's probe is one more
    hops: int = 0
    entry: int = -1  # cycle in which the head was sent
    sent: int = 0
    received: int = 0
    data_from: float = inf  # circuit switching: when the acknowledgement is back at the source

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


@dataclass
class Outcome:
    """State after the last cycle. An arrival that is due later has not happened yet."""

    delivered: list  # (number, birth, entry, arrival, source, target, hops, flits)
    link_hops: int  # flits that won the switch to a network channel, all channels together
    channel_flits: list  # the same for each channel
    injected_flits: int  # sent by the sources; probes count
    ejected_flits: int  # arrived at the sinks
    buffered_flits: int
    flying_flits: int  # on any channel, those of injection and ejection included
    queued_packets: int  # born, and the head not yet sent
    credits: dict  # {(node, output slot): credits left}, where there is a channel
    free_output_slots: int  # without an owner, of all slots with a channel or a sink


def axis_ports(cube):
    """Return {(axis, direction): port} and the number of network ports."""
    ports, count = {}, 0
    for axis, side in enumerate(cube.sides):
        if side >= 2:
            ports[axis, 0] = count
            ports[axis, 1] = count + (side > 2)
            count = ports[axis, 1] + 1
    return ports, count


def axis_of_channel(cube, channel):
    """Return the (axis, direction) along which ``channel`` travels."""
    return max(
        (int(base), axis, direction)
        for axis, bases in enumerate(cube.line_base)
        for direction, base in enumerate(bases)
        if base <= channel and cube.line_channels[axis] > 0
    )[1:]


def number_ports(topology):
    """Return D and, of every channel, the output port it leaves by and the input port it enters."""
    if isinstance(topology, Cube):
        ports, count = axis_ports(topology)
        by_axis = [ports[axis_of_channel(topology, c)] for c in range(topology.num_channels)]
        return count, by_axis, by_axis
    leaving, entering, out_port, in_port = Counter(), Counter(), [], []
    for source, target in zip(topology.channel_source, topology.channel_target, strict=True):
        out_port.append(leaving[int(source)])
        in_port.append(entering[int(target)])
        leaving[int(source)] += 1
        entering[int(target)] += 1
    return max([0, *leaving.values(), *entering.values()]), out_port, in_port


def dimension_order(mesh, num_vcs, *, ejection_channels=1):
    """Return ``allowed`` for dimension order on an open mesh, last axis first, on every VC."""
    ports, num_network_ports = axis_ports(mesh)

    def allowed(node, in_slot, packet):
        at, goal = mesh.coordinates(node), mesh.coordinates(packet.target)
        wanted = range(num_network_ports, num_network_ports + ejection_channels)
        for axis in range(len(at)):  # the last axis that is not right yet overrules the others
            if at[axis] != goal[axis]:
                wanted = [ports[axis, int(goal[axis] < at[axis])]]
        return {port * num_vcs + vc for port in wanted for vc in range(num_vcs)}

    return allowed
