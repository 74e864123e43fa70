"""Packets on virtual channels take the paths of a listed routing, on any network of hosts."""

import hypothesis.strategies as st
import networkx as nx
import numpy as np
from hypothesis import given, settings

from netloom.base.errors import NoRouteError
from netloom.routing import ShortestPath, Spread, UpDown, draw_aux, hosted_ports, paths
from netloom.routing.by_hop.listed import listed_routing
from netloom.routing.rules import Layered
from tests.properties.hosted_networks import uneven_graphs
from tests.reference.walks import Walker


@given(uneven_graphs(), st.sampled_from([Spread(), UpDown(), ShortestPath(), Layered()]))
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
