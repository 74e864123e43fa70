"""Random small networks whose hosts hang on routers, and packets of any network, for properties."""

from dataclasses import dataclass, replace

import hypothesis.strategies as st
import numpy as np

from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom.routing.virtual_channels import draw_aux
from netloom.simulation.network.routers import PRESETS, Router
from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts
from tests.networks import COMPUTERS, HOSTED

REACHED = [each for each in HOSTED if each not in COMPUTERS]
"""Networks on which any port of a host reaches any other. Routings are drawn with any ports."""

FAMILIES = [
    *REACHED, "fat-tree:2x2", "fat-tree:4x2", "leaf-spine:3x2x2", "dragonfly:2x2x1",
    "dragonfly+:1x1x1x2", "butterfly:2x3", "hyperx:4/3/2", "torus:4/1", "torus:3x3/1",
]  # fmt: skip

WHOLE = ("virtual-cut-through", "store-and-forward")

SLOTS = 1_500
"""Most VCs of all routers together, about: the readable network looks at them one by one."""

MOST_PACKETS = 400

bandwidths = st.sampled_from([1.0, 1.0, 0.5, 2 / 3, 0.25, 3 / 7, 2.0, 2.5])
"""Those that netloom takes for a flit every few cycles, and those of bundles."""

latencies = st.one_of(st.integers(0, 7), st.integers(0, 7), st.integers(100, 400))


@dataclass(frozen=True, eq=False)
class Case:
    """A network, its packets (int32[n, 6], as ``Engine.advance`` takes them), and how long to run.

    ``until`` is a cycle in which a run may stop and go on. Credits are ``exact`` where the engine
    returns none early. ``connections`` are the VCs that sources send on, where VCs are reserved.
    """

    topology: Topology
    routing: VirtualChannelRouting
    router: Router
    packets: np.ndarray
    cycles: int
    until: int
    exact: bool
    connections: np.ndarray | None = None

    def __repr__(self):
        net = self.topology
        given = f"{net.name}: {net.source_end.tolist()} -> {net.target_end.tolist()}, "
        given += f"ports of {net.port_host.tolist()}, bandwidth {net.channel_bandwidth.tolist()}, "
        given += f"cycles {net.channel_cycles.tolist()}, {self.routing.name}, {self.router}, "
        given += f"{self.cycles} cycles, stop at {self.until}, exact={self.exact}, "
        return given + str(self.packets.tolist())


@st.composite
def hosted_networks(draw):
    """Return a network of any kind; packets can go from everywhere to everywhere they should."""
    kind = draw(st.sampled_from(["graph", "graph", "graph", "family", "family", "big"]))
    if kind == "family":
        net = topology(draw(st.sampled_from(FAMILIES)))
    else:
        net = draw(big_routers() if kind == "big" else graphs())
    return with_channels(net, *draw(channels(net.num_channels)))


@st.composite
def uneven_graphs(draw):
    """Return such routers and hosts, by channels that differ in bandwidth and latency."""
    net = draw(graphs())
    return with_channels(net, *draw(channels(net.num_channels)))


@st.composite
def graphs(draw):
    """Return routers joined in any way, hosts of one port or several anywhere."""
    routers = draw(st.integers(1, 6))
    node = st.integers(0, routers - 1)
    joined = [pair for at in range(1, routers) for pair in both(at, draw(st.integers(0, at - 1)))]
    more = draw(st.lists(st.tuples(node, node), max_size=8))
    joined += [(one, other) for one, other in more if one != other]  # twins, ways back or none
    joined = draw(st.permutations(joined))
    inside = routers_of(routers, joined)
    ports = draw(st.lists(node, min_size=1, max_size=8))
    ejection = draw(st.one_of(st.none(), st.permutations(ports)))
    owner = np.cumsum([0, *draw(st.lists(st.booleans(), min_size=len(ports) - 1,
                                         max_size=len(ports) - 1))])  # fmt: skip
    return attach_hosts(
        inside, np.array(ports), name="graph",
        ejection=None if ejection is None else np.array(ejection), port_host=owner,
    )  # fmt: skip


@st.composite
def big_routers(draw):
    """Return one to three routers in a row, with many hosts each: some words of slots."""
    routers, each = draw(st.integers(1, 3)), draw(st.integers(17, 40))
    joined = [pair for at in range(1, routers) for pair in both(at, at - 1)]
    inside = routers_of(routers, draw(st.permutations(joined * draw(st.integers(1, 4)))))
    return attach_hosts(inside, np.arange(routers * each) % routers, name="big")


def both(one, other):
    return (one, other), (other, one)


def routers_of(number, joined):
    ends = np.array(joined, np.int32).reshape(-1, 2)
    return Topology("routers", number, ends[:, 0].copy(), ends[:, 1].copy())


def channels(number):
    """Return bandwidths and latencies: all alike, or each channel its own."""
    each = {"min_size": number, "max_size": number}
    return st.tuples(
        st.one_of(bandwidths.map(lambda one: [one] * number), st.lists(bandwidths, **each)),
        st.one_of(latencies.map(lambda one: [one] * number), st.lists(latencies, **each)),
    )


def with_channels(net, bandwidth, cycles):
    """Return a network with other bandwidths and latencies of its channels."""
    speed, delay = np.array(bandwidth, float), np.array(cycles, np.int32)
    inside = net.num_network_channels
    routers = replace(net.routers, channel_bandwidth=speed[:inside], channel_cycles=delay[:inside])
    return replace(net, channel_bandwidth=speed, channel_cycles=delay, router_network=routers)


@st.composite
def routers(draw, net, switchings):
    """Return routers of so few VCs that the readable network can look at them all."""
    ports = np.ceil(net.channel_bandwidth).sum()
    vcs = draw(st.integers(1, int(np.clip(SLOTS / ports, 1, 16))))
    fields = {
        "vcs": vcs,
        "buffer_flits": draw(st.one_of(st.integers(1, 8), st.integers(1, 60))),
        "switching": draw(st.sampled_from(switchings)),
        "oldest_first": draw(st.booleans()),
        "channel_cycles": draw(st.sampled_from([1, 1, 0, 2])),
        "fill_channels": draw(st.booleans()),
    }
    preset = draw(st.sampled_from([*PRESETS, None]))
    if preset is not None:
        return replace(PRESETS[preset], **fields)
    cycles = st.integers(1, 3)
    return Router(
        **fields,
        route_cycles=draw(st.integers(0, 2)),
        vc_allocation_cycles=draw(cycles),
        switch_allocation_cycles=draw(cycles),
        traversal_cycles=draw(st.integers(0, 2)),
        speculative=draw(st.booleans()),
        credit_cycles=draw(st.integers(0, 3)),
    )


@st.composite
def births(draw, hosts, router, slowest=1):
    """Return how long to run, and the packets: int32[n, 5], birth, source, target, flits, coin.

    ``slowest`` are the most cycles of a channel.
    """
    cycles = draw(st.one_of(st.integers(50, 120), st.integers(50, 400)))
    if slowest > 7:
        cycles *= 4
    most = router.buffer_flits if router.switching in WHOLE else 10
    lengths = draw(st.lists(st.integers(1, most), min_size=1, max_size=4))
    load = draw(st.sampled_from([0.02, 0.1, 0.3, 0.6, 1.5]))
    last = draw(st.sampled_from([cycles, cycles // 2]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    packets = born(rng, hosts, load, lengths, last)[:MOST_PACKETS]
    if draw(st.booleans()):  # some hosts are hot
        packets[:, 2] //= 2
    return cycles, packets


def born(rng, hosts, load, lengths, last):
    """Return packets born before cycle ``last``, at a load of so many flits a host and cycle."""
    number = rng.poisson(load / np.mean(lengths), (last, hosts))
    birth, source = np.nonzero(number)
    birth, source = np.repeat([birth, source], number[birth, source], axis=1)
    target, coin = (rng.integers(0, most, len(birth)) for most in (hosts, 2**31))
    columns = [birth, source, target, rng.choice(lengths, len(birth)), coin]
    return np.stack(columns, axis=1).astype(np.int32).reshape(-1, 5)


def led(routing, packets):
    """Return packets with the coin and the detour that a routing draws for each: int32[n, 6]."""
    drawn = draw_aux(routing, np.random.default_rng(1), packets[:, 1], packets[:, 2])
    return np.column_stack([packets[:, :4], *drawn]).astype(np.int32)
