"""The fast network and the readable one must agree on hosts that hang on routers, too."""

from dataclasses import replace
from functools import cache

import hypothesis.strategies as st
import numba
import numpy as np
from hypothesis import assume, given, settings

from netloom.base.errors import InputError
from netloom.routing import ShortestPath, paths
from netloom.routing.by_hop.tables import (
    EVERY,
    Automaton,
    bits,
    hop_tables,
    hosted_ports,
    next_ports,
)
from netloom.routing.kernels.by_hop import next_hop
from netloom.routing.rules import shortest_ways
from netloom.routing.source_routing import table
from netloom.routing.virtual_channel_tables import (
    RULES,
    WORD,
    VirtualChannelRouting,
    datelines,
    table_routing,
)
from netloom.routing.virtual_channels import virtual_channel_routing
from netloom.simulation.network.engine import reserve_paths
from netloom.simulation.network.layout import PACKET
from netloom.topology.core import attach_hosts
from tests.properties.hop_routings import given_paths, hop_routings
from tests.properties.hosted_networks import Case, births, hosted_networks, led, routers
from tests.properties.network_runs import check, led_by, run
from tests.properties.test_network import graphs as one_way_graphs, small_cubes
from tests.reference.compiled_rules import allowed
from tests.reference.network import simulate
from tests.reference.network_parts import drawn_ports

SWITCHINGS = ("wormhole", "virtual-cut-through", "store-and-forward", "circuit")


@cache
def asked():
    """Return the kernel of routing by hop, as a function that can be called from outside."""

    @numba.njit
    def call(tables, used, allowed, router, in_port, in_vc, packets, hops):
        allowed[:] = 0
        next_hop(tables, used, allowed, 0, router, in_port, in_vc, packets[0], hops)

    return call


@st.composite
def cases(draw):
    net = draw(hosted_networks())
    router = draw(routers(net, SWITCHINGS))
    cycles, packets = draw(births(net.num_hosts, router, net.channel_cycles.max()))
    if draw(st.integers(0, 5)) == 0:
        routing, packets = draw(on_given_paths(net, router.vcs, packets))
    else:
        routing = draw(hop_routings(net, router.vcs))
        packets = np.column_stack([packets, np.full(len(packets), -1)])
    until, exact = draw(st.integers(0, cycles)), draw(st.booleans())
    return Case(net, routing, router, packets.astype(np.int32), cycles, until, exact)


@st.composite
def on_given_paths(draw, net, vcs, packets):
    """Return a routing with a path for each packet, and the packets."""
    routing = draw(given_paths(net, vcs, packets[:, 1:3].tolist()))
    return routing, np.column_stack([packets, np.arange(len(packets))])


def ports_of(routing, source, target, coin, aux):
    """Return the host ports that a packet is sent and received by."""
    net, tables = routing.topology, routing.tables
    if source == target and (len(tables.path_sink) or len(tables.pair_sink)):
        return (int(net.port_offsets[source]),) * 2
    if len(tables.path_sink):
        return int(tables.path_entry[aux]), int(tables.path_sink[aux])
    if len(tables.pair_sink):
        pair = source * net.num_hosts + target
        return int(tables.pair_entry[pair]), int(tables.pair_sink[pair])
    return drawn_ports(net, source, target, coin)


def by_the_reference(case):
    """Return what the readable network makes of a case."""
    net, tables, router = case.topology, case.routing.tables, case.router
    outputs = all_outputs(net) if case.routing.uses_credits else []
    allowed = np.zeros(-(-(hosted_ports(net).num_ports << tables.lane_shift) // 64), np.int64)
    counts = np.zeros(net.num_routers << tables.port_shift, np.int32)
    record, own = np.zeros(1, PACKET), ("source", "target", "sink", "coin", "aux", "way")

    def route(at, slot, packet, used):
        for there, port in outputs:
            counts[there << tables.port_shift | port] = used(there, port)
        for name in own:
            record[name] = getattr(packet, name)
        asked()(tables, counts, allowed, at, *slot, record, packet.hops)
        for name in ("coin", "aux", "way"):
            setattr(packet, name, int(record[name][0]))
        slots = np.flatnonzero(np.unpackbits(allowed.view(np.uint8), bitorder="little"))
        return {divmod(out, 1 << tables.lane_shift) for out in slots.tolist()}

    rows = case.packets.tolist()
    packets = [(*row, *ports_of(case.routing, row[1], row[2], *row[4:])) for row in rows]
    return simulate(
        net,
        router,
        route,
        packets=packets,
        cycles=case.cycles,
        preferred_vcs={vc for vc in range(router.vcs) if tables.adaptive_vcs >> vc & 1},
        injection_slot_of=lambda aux: tuple(np.argwhere(case.connections == aux)[0, 1:].tolist()),
    )


def all_outputs(net):
    """Return all (router, output port)."""
    wired, found = hosted_ports(net), []
    for channel in np.flatnonzero(net.source_end >= net.num_hosts).tolist():
        router, first = int(net.source_end[channel]), int(wired.out_port[channel])
        found += [(router - net.num_hosts, first + lane) for lane in range(wired.lanes[channel])]
    return found


@settings(max_examples=40)
@given(cases())
def test_the_kernel_equals_the_readable_network(case):
    check(case, by_the_reference(case))


@st.composite
def ruled_cases(draw):
    """Hosts on the routers of a cube, led by a rule: one on each, or any number anywhere."""
    name = draw(st.sampled_from([each for each in RULES if each != "valiant"]))
    rule = RULES[name]
    dimensions = (2, 2) if rule.two_dimensions else (1, 3)
    inside = draw(small_cubes(dimensions=dimensions, wraps=rule.ring_vcs > 0))
    least = rule.ring_vcs if datelines(inside).any() else rule.vcs
    each = np.arange(inside.num_routers)
    if draw(st.booleans()):
        each = np.array(draw(st.lists(st.sampled_from(each.tolist()), min_size=1, max_size=40)))
    net = attach_hosts(inside, each, name=inside.name)
    router = replace(draw(routers(net, SWITCHINGS)), vcs=draw(st.integers(least, 4)))
    if name.endswith("static-dateline"):
        router = replace(router, vcs=router.vcs + router.vcs % 2)
    try:
        routing = virtual_channel_routing(net, name, num_vcs=router.vcs)
    except InputError:  # so many hosts on a router that its adaptive VCs do not fit in a word
        assume(name != "adaptive")
        raise
    cycles, packets = draw(births(net.num_hosts, router, net.channel_cycles.max()))
    until, exact = draw(st.integers(0, cycles)), draw(st.booleans())
    return Case(net, routing, router, led(routing, packets), cycles, until, exact)


def ruled_by_the_reference(case):
    """Return what the readable network makes of it: the rule of the routers, and hosts' ports."""
    net, router, tables = case.topology, case.router, case.routing.between.tables
    wired, hosts = hosted_ports(net), net.injection_router.tolist()
    exits, first = net.num_network_channels + net.num_ports, wired.network_ports

    def way(at, slot, packet, coin):
        in_slot = slot[0] * router.vcs + slot[1] if slot[0] < first else tables.injection_slot
        ends = hosts[packet.source], hosts[packet.target]
        found = allowed(tables, at, in_slot, *ends, packet.aux, coin, packet.hops)
        slots = {divmod(out, router.vcs) for out in range(62) if found >> out & 1}
        if found & tables.ejection:
            lanes = range(wired.lanes[exits + packet.target])
            own = int(wired.out_port[exits + packet.target])
            return {(own + lane, vc) for lane in lanes for vc in range(router.vcs)}
        return slots

    rows = case.packets.tolist()
    return simulate(
        net, router, led_by(way, case.routing, tables),
        packets=[(*row, row[1], row[2]) for row in rows],
        cycles=case.cycles,
        preferred_vcs={vc for vc in range(router.vcs) if tables.adaptive_vcs >> vc & 1},
        by_rule=wired.num_ports * router.vcs <= WORD,
    )  # fmt: skip


@settings(max_examples=60)
@given(ruled_cases())
def test_hosts_on_a_cube_are_led_by_the_rule_of_its_routers(case):
    check(case, ruled_by_the_reference(case))


@st.composite
def reserved_cases(draw):
    """Connections by shortest paths between some hosts, each with VCs of its own."""
    net = draw(hosted_networks())
    router = draw(routers(net, ("reserved",)))
    ends = np.array(draw(st.lists(st.permutations(range(net.num_hosts)), min_size=1, max_size=6)))
    source, target = ends[:, 0].astype(np.int32), ends[:, -1].astype(np.int32)
    assume((source != target).all())
    try:
        routed = paths(net, ShortestPath(), source, target)
        reserved = reserve_paths(net, source, target, routed, router)
    except InputError:  # too many on one channel
        assume(False)
    cycles, packets = draw(births(net.num_hosts, router, net.channel_cycles.max()))
    owner = (packets[:, 4] % len(source)).astype(np.int32)
    packets[:, 1], packets[:, 2] = source[owner], target[owner]
    packets = np.column_stack([packets, owner])[np.lexsort((owner, packets[:, 1], packets[:, 0]))]
    until = draw(st.integers(0, cycles))
    return Case(
        net, reserved.routing, router, packets, cycles, until, True, reserved.connections
    )  # fmt: skip


@settings(max_examples=30)
@given(reserved_cases())
def test_reserved_channels_equal_the_readable_network(case):
    check(case, by_the_reference(case))


@st.composite
def direct_cases(draw):
    """A direct network, packets by all shortest ways in any VC, and the same with hosts hung on."""
    net = draw(small_cubes()) if draw(st.booleans()) else draw(one_way_graphs())
    hung = attach_hosts(net, np.arange(net.num_ends), name=net.name)
    router = replace(draw(routers(hung, SWITCHINGS)), fill_channels=False)
    router = replace(router, vcs=min(router.vcs, 62 // hosted_ports(hung).num_ports))
    cycles, packets = draw(births(hung.num_hosts, router, hung.channel_cycles.max()))
    packets = np.column_stack([packets, np.full(len(packets), -1, np.int32)]).astype(np.int32)
    shortest = next_ports(hung, shortest_ways(net))
    far = shortest.lengths.reshape(net.num_routers, -1)

    def nearer(node, goal):
        leads = far[net.channel_source, goal] == far[net.channel_target, goal] + 1
        return np.flatnonzero(leads & (net.channel_source == node))

    direct = table_routing(net, table(net, nearer, name="shortest"), router.vcs, 1)
    inside = np.zeros(net.num_channels, np.int8)
    alike = np.array([bits(router.vcs)], np.int64)
    none, stay = np.zeros(1, np.int8), np.zeros(1, np.int16)
    states = Automaton(inside, stay[:, None], alike, alike, none, none, none, stay, stay, stay)
    tables = hop_tables(hung, router.vcs, [shortest], states, choice=EVERY)
    by_hop = VirtualChannelRouting("shortest", hung, tables)
    return [
        Case(each, routing, router, packets, cycles, cycles, exact=True)
        for each, routing in ((net, direct), (hung, by_hop))
    ]


@settings(max_examples=40)
@given(direct_cases())
def test_hosts_hung_on_a_direct_network_change_nothing(cases):
    """One host a router, its channels of latency 1: as many cycles and flits, to the packet.

    It is so for one injection and ejection channel a node, however ports are numbered: those of
    both networks are in the same order. (Of several ejection channels of a node a head asks for
    all, of the lanes to a host's port for one that it draws.)
    """
    (one, delivered), (other, same) = (run(case) for case in cases)
    assert same == delivered
    assert other.channel_flits().tolist() == one.channel_flits().tolist()
    assert other.flits() == one.flits()
