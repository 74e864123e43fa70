"""Where the channels of a network plug in, how fast they are, and how deep the buffers behind them.

A channel is one *wire*, or several side by side (*lanes*) where it carries more than one flit a
cycle. Every wire leaves an output port of a router (or a source) and enters an input port (or a
sink). Ports of a router count the wires that leave it, and those that enter it, in order of their
channels: those to other routers first, then those of hosts, lanes next to each other. On a k-ary
n-cube without such lanes, those to other routers are as if it were direct.

Networks are direct or hosted. In a direct network every router has one source and one sink, and
their channels, ``injection_channels`` and ``ejection_channels`` many, are not listed: their wires
have no channel number. On a k-ary n-cube each axis has two ports, first the growing direction, then
the falling one (a side of 2 has one port for both, a side of 1 none); a channel enters the next
router by the port of the same number as the one it left by. In a hosted network every host port is
a source and a sink, which may be at different routers.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf

from netloom.topology import Cube


@dataclass(eq=False)
class Wire:
    """One lane of a channel, and the buffers of ``buffer_flits`` flits at its end.

    A flit that is sent in cycle t can act at the other end in t + ``flit_delay``. Once it has won
    the switch there, its place can be used again ``credit_delay`` later.
    """

    channel: int | None
    flit_delay: int
    credit_delay: int
    rate: Fraction = Fraction(1)  # flits a cycle, at most 1
    buffer_flits: float = inf  # sinks take all
    ready: int = 0  # in parts of a cycle: see ``may_send``

    def may_send(self, t):
        """Whether the rate lets a flit go in cycle t; time is counted in p-th parts of a cycle."""
        return self.ready <= t * self.rate.numerator

    def sent(self, t):
        """Note a flit: the next may go q parts later, and what is unused of one cycle is kept."""
        p, q = self.rate.as_integer_ratio()
        self.ready = max(self.ready, t * p - (p - 1)) + q


@dataclass
class Wiring:
    """All wires of a network: what is at their ends.

    network
        {(router, output port): (wire, router, input port)}.
    injection
        Of each source, a list of its lanes: (wire, router, input port).
    ejection
        {(router, output port): (wire, sink)}.
    """

    num_routers: int
    network: dict
    injection: list
    ejection: dict


def wiring(topology, router, deeper=None):
    """Return the ``Wiring`` of a network of such routers.

    ``deeper`` gives the buffers behind some channels: {channel: flits}.
    """
    return (direct if topology.direct else hosted)(topology, router, deeper or {})


def wire(kind, router, cycles, channel=None, *, bandwidth=1, lanes=1, deeper=()):
    """Return a new wire that takes ``cycles``, with the stages of the routers at its ends.

    A flit goes through the crossbar in the cycles after the one in which it won the switch. A
    source sends in one cycle, and needs none to take a credit. A credit is sent when the flit has
    won.
    """
    flit_delay = cycles + 1 + (0 if kind == "injection" else router.traversal_cycles)
    credit_delay = cycles + 1 + (router.credit_cycles if kind == "network" else 0)
    rate = Fraction(bandwidth / lanes).limit_denominator(1000)
    made = Wire(channel, flit_delay, credit_delay, rate)
    if kind != "ejection":
        made.buffer_flits = router.buffer_flits
        if getattr(
            router, "fill_channels", False
        ):  # so many flits go out before the first one's credit is back
            attempts = (1 if kind == "injection" else 2) * (router.switch_allocation_cycles - 1)
            made.buffer_flits = max(router.buffer_flits, flit_delay + credit_delay + attempts)
        if channel in deeper:
            made.buffer_flits = deeper[channel]
    return made


def direct(topology, router, deeper):
    """Wire a network of vertices that are source, router and sink in one."""
    first, out_port, in_port = number_ports(topology)
    unlimited, vertices = max(first, 1), range(topology.num_ends)
    entries = range(first, first + (router.injection_channels or unlimited))
    exits = range(first, first + (router.ejection_channels or unlimited))
    made = Wiring(topology.num_ends, {}, [], {})
    for channel in range(topology.num_channels):
        source, target = topology.source_end[channel], topology.target_end[channel]
        bandwidth = float(topology.channel_bandwidth[channel])
        cycles = router.channel_cycles * int(topology.channel_cycles[channel])
        cable = wire("network", router, cycles, channel, bandwidth=bandwidth, deeper=deeper)
        made.network[int(source), out_port[channel]] = (cable, int(target), in_port[channel])
    for node in vertices:
        made.injection.append([(wire("injection", router, 1), node, port) for port in entries])
        made.ejection |= {(node, port): (wire("ejection", router, 1), node) for port in exits}
    return made


def hosted(topology, router, deeper):
    """Wire a network whose hosts hang on routers by channels of their own."""
    assert router.injection_channels == router.ejection_channels == 1  # lanes say how many
    out_ports, in_ports = Counter(), Counter()  # of each vertex, those numbered so far
    made = Wiring(topology.num_routers, {}, [[] for _ in range(topology.num_ports)], {})
    inside, by_axis = topology.routers, ()
    if isinstance(inside, Cube) and inside.channel_bandwidth.max(initial=0) <= 1:
        first, by_axis, _ = number_ports(inside)
        for router_vertex in range(topology.num_hosts, topology.num_hosts + topology.num_routers):
            out_ports[router_vertex] = in_ports[router_vertex] = first
    for channel in range(topology.num_channels):
        bandwidth = float(topology.channel_bandwidth[channel])
        cycles = int(topology.channel_cycles[channel])
        behind = channel - topology.num_network_channels
        kind = "network" if behind < 0 else ("injection", "ejection")[behind // topology.num_ports]
        if kind == "network":
            cycles *= router.channel_cycles
        start, end = int(topology.source_end[channel]), int(topology.target_end[channel])
        lanes = ceil(bandwidth)
        for _ in range(lanes):
            cable = wire(
                kind, router, cycles, channel, bandwidth=bandwidth, lanes=lanes, deeper=deeper
            )
            leaves = (start - topology.num_hosts, out_ports[start])
            enters = (end - topology.num_hosts, in_ports[end])
            if kind == "network" and by_axis:
                leaves = (leaves[0], by_axis[channel])
                enters = (enters[0], by_axis[channel])
            else:
                out_ports[start] += 1
                in_ports[end] += 1
            if kind == "network":
                made.network[leaves] = (cable, *enters)
            elif kind == "injection":
                made.injection[behind].append((cable, *enters))
            else:
                made.ejection[leaves] = (cable, behind - topology.num_ports)
    return made


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
    """Return D and, of every channel, the output port it leaves by and the input port it enters.

    D is the most network ports of any router of a direct network: ports of sources and sinks follow
    from D on.
    """
    if isinstance(topology, Cube):
        ports, count = axis_ports(topology)
        by_axis = [ports[axis_of_channel(topology, c)] for c in range(topology.num_channels)]
        return count, by_axis, by_axis
    leaving, entering, out_port, in_port = Counter(), Counter(), [], []
    for source, target in zip(topology.source_end, topology.target_end, strict=True):
        out_port.append(leaving[int(source)])
        in_port.append(entering[int(target)])
        leaving[int(source)] += 1
        entering[int(target)] += 1
    return max([0, *leaving.values(), *entering.values()]), out_port, in_port
