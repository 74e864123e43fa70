"""Routing by hop: the kernel equals its twin, tables equal brute force, no circle is overlooked."""

from types import SimpleNamespace

import hypothesis.strategies as st
import networkx
import numpy as np
from hypothesis import assume, given, settings

from netloom.base.errors import InputError
from netloom.routing import draw_aux, hosted_ports, virtual_channel_routing
from netloom.routing.by_hop.hosted import followed, hop_circle
from netloom.routing.by_hop.tables import GIVEN, channels_at_ports, next_ports
from netloom.routing.rules import shortest_ways
from netloom.topology import topology
from tests.networks import HOSTED
from tests.properties.hosted_networks import uneven_graphs
from tests.reference.by_hop import Twin, distances, every_wait, port_lists
from tests.reference.walks import PACKET, ask, place_ends

FAMILIES = (
    *HOSTED, "dragonfly:1x3x1", "dragonfly:1x2x2/3", "dragonfly+:2x2x1x1", "hyperx:3x3/2",
    "hyperx:2x3/1/2", "butterfly:2x3", "mesh:3x3/2", "torus:4x3/1",
)  # fmt: skip

ANY = st.one_of(
    st.sampled_from(FAMILIES).map(topology), uneven_graphs().filter(lambda net: net.num_hosts > 1)
)
"""Networks of families, and routers joined at random with hosts on some of them."""

NAMES = (
    "default", "nca", "nca-adaptive", "nca-adaptive:all", "minimal", "minimal-group", "ecmp",
    "dimension-order", "min-adaptive", "valiant", "valiant-group", "ugal-l", "ugal-g",
    "ugal-l:threshold=0", "ugal-g:threshold=4", "par", "par:threshold=0",
    "up-down", "spread", "layered", "d-mod-k",
)  # fmt: skip


def routed(net, name, vcs):
    try:
        routing = virtual_channel_routing(net, name, num_vcs=vcs)
    except InputError:  # it does not fit the network, or needs more VCs
        assume(False)
    assume(routing.between is None)  # by a rule between routers
    return routing


@settings(max_examples=500)
@given(ANY, st.sampled_from(NAMES), st.integers(1, 9), st.integers(0, 2**32))
def test_a_packet_may_ask_for_what_the_twin_says(net, name, vcs, seed):
    rng = np.random.default_rng(seed)
    routing = routed(net, name, vcs)
    tables = routing.tables
    twin, (outward, inward) = Twin(tables), channels_at_ports(net)
    words = (outward.shape[1] << tables.lane_shift) // 64 + 1
    for _ in range(5):
        used = rng.integers(0, 5, (net.num_routers, 1 << tables.port_shift)).astype(np.int32)
        source, target = rng.choice(net.num_hosts, 2, replace=False)
        coin, aux = draw_aux(routing, rng, [source], [target])
        packet = np.array([(source, target, 0, coin[0], aux[0], 0, 0)], PACKET)
        place_ends(tables, net.port_offsets, packet)
        same = SimpleNamespace(**{each: int(packet[each][0]) for each in PACKET.names})
        channel, vc = net.num_network_channels + same.entry, int(rng.integers(vcs))
        for hops in range(40):
            router = net.target_end[channel] - net.num_hosts
            in_port = int(np.argmax(inward[router] == channel))
            allowed = np.zeros(words, np.int64)
            ask(tables, used.ravel(), allowed, router, in_port, vc, packet, hops)
            bits = [
                (int(slot) >> tables.lane_shift, int(slot) & (1 << tables.lane_shift) - 1)
                for slot in np.flatnonzero(np.unpackbits(allowed.view(np.uint8), bitorder="little"))
            ]
            wanted = twin.next_hop(used, router, in_port, vc, same, hops)
            assert bits == sorted((int(port), vc) for port, vc in wanted)
            assert bits, "a packet that finds no way"
            assert (packet["aux"][0], packet["way"][0]) == (same.aux, same.way)
            port, vc = bits[rng.integers(len(bits))]
            assert vc < vcs
            channel = outward[router, port]
            if net.target_end[channel] < net.num_hosts:
                assert net.target_end[channel] == target
                break
        else:
            raise AssertionError("a packet that does not arrive")


@settings(max_examples=200)
@given(ANY)
def test_next_ports_are_those_of_shortest_paths(net):
    wired, hops = hosted_ports(net), distances(net)
    found = next_ports(net, shortest_ways(net.routers))
    for router in range(net.num_routers):
        for goal in range(net.num_routers):
            place = router * found.num_goals + goal
            start = found.starts[place]
            listed = found.ports[start + 1 :][: found.ports[start]].tolist()
            wanted = port_lists(net, wired.out_port, wired.lanes, hops, router, goal)
            assert listed == wanted
            assert found.lengths[place] == hops[router][goal]


@settings(max_examples=200)
@given(ANY, st.sampled_from(NAMES), st.integers(1, 5))
def test_all_that_packets_wait_for_is_found(net, name, vcs):
    assume(net.num_network_channels * vcs < 150)
    tables = routed(net, name, vcs).tables
    assume(tables.choice != GIVEN and len(tables.lengths))  # others are listed
    waits = every_wait(net, tables, channels_at_ports(net)[0].tolist())
    if tables.escape_vcs:
        waits = {pair for pair in waits if all(tables.escape_vcs >> vc & 1 for _, vc in pair)}
    _, holds, asks, masks = followed(net, tables)
    sets = [[vc for vc in range(64) if int(mask) >> vc & 1] for mask in masks]
    listed = {
        ((held, vc), (asked, other))
        for (held, one), (asked, two) in zip(holds, asks, strict=True)
        for vc in sets[one]
        for other in sets[two]
    }
    assert waits <= listed
    if not tables.detour and not tables.escape_vcs:  # these may be asked for anywhere
        assert waits == listed
    graph = networkx.DiGraph(waits)
    assert networkx.is_directed_acyclic_graph(graph)
    assert hop_circle(net, tables) == ()
