"""Packets on virtual channels take the paths of a listed routing, on any network of hosts."""

import hypothesis.strategies as st
import networkx as nx
import numpy as np
from hypothesis import given, settings

from netloom.base.errors import NoRouteError
from netloom.routing import ShortestPath, Spread, UpDown, draw_aux, hosted_ports, paths
from netloom.routing.by_hop.listed import listed_routing
from netloom.routing.rules import Layered
from netloom.topology.core import Topology, attach_hosts
from tests.properties.several_strategies import router_graphs
from tests.reference.walks import Walker


@st.composite
def hosted(draw):
    """Hosts of one port or more on routers whose channels have bandwidths up to 3."""
    plain = draw(router_graphs())
    rates = draw(
        st.lists(
            st.sampled_from([0.5, 1.0, 2.5, 3.0]),
            min_size=plain.num_channels, max_size=plain.num_channels,
        )
    )  # fmt: skip
    ends = plain.channel_source, plain.channel_target
    routers = Topology("any", plain.num_routers, *ends, channel_bandwidth=np.array(rates))
    hosts = draw(st.integers(2, 6))
    one = st.integers(0, routers.num_routers - 1)
    ports = sorted([*range(hosts), *draw(st.lists(st.integers(0, hosts - 1), max_size=3))])
    into = np.array([draw(one) for _ in ports])
    apart = draw(st.booleans())
    out_of = np.array([draw(one) for _ in ports]) if apart else into
    return attach_hosts(
        routers, into, name="any", ejection=out_of, port_host=np.array(ports),
        bandwidth=draw(st.sampled_from([0.5, 1.0, 2.0])),
    )  # fmt: skip


@given(hosted(), st.sampled_from([Spread(), UpDown(), ShortestPath(), Layered()]))
@settings(max_examples=150, deadline=None)
def test_every_packet_takes_its_path_and_none_waits_in_a_circle(network, routing):
    found = listed_routing(network, routing, 16)
    walker, wired, waits = Walker(found), hosted_ports(network), nx.DiGraph()
    source, target = np.divmod(np.arange(network.num_hosts**2, dtype=np.int32), network.num_hosts)
    wanted = paths(network, routing, source, target).whole(network)
    for pair, ends in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        one = np.array([ends], np.int32)
        try:
            coin, aux = draw_aux(found, np.random.default_rng(pair), one[:, 0], one[:, 1])
        except NoRouteError:
            assert ends[0] == ends[1]  # what a host sends to itself may have no path
            continue
        crossed, choices = walker.walk(*ends, coin[0], aux[0])
        if ends[0] != ends[1]:
            assert crossed == wanted[pair].tolist()
        for channel, slots in zip(crossed[1:], choices, strict=True):
            lanes = wired.out_port[channel] + np.arange(wired.lanes[channel])
            assert {port for port, _ in slots} == set(lanes.tolist())
        vcs = [frozenset(vc for _, vc in slots) for slots in choices[:-1]]
        nx.add_path(waits, zip(crossed[1:-1], vcs, strict=True))
    assert nx.is_directed_acyclic_graph(waits)
    assert all(one == other or not one & other for _, one in waits for _, other in waits)
