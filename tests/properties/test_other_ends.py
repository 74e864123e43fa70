"""Ways to further ends, against a slow twin."""

import numpy as np
from hypothesis import given, strategies as st

from netloom.fabrics.kernels.ways import fill_ways, keep_crossed, use_ways
from netloom.routing.forwarding.tables import dependency_graph
from netloom.routing.rules import spread_table
from netloom.topology import topology
from tests.reference import other_ends as slow

NETWORKS = ("leaf-spine:4x3x2", "fat-tree:2x3", "hyperx:3x3/1", "ring:5/1", "jellyfish:8x5x3/1")


@given(st.sampled_from(NETWORKS), st.data())
def test_ways_are_those_of_the_twin(spec, data):
    net = topology(spec)
    routers, target = net.num_routers, net.routers.channel_target
    table = spread_table(net).copy()
    several = st.lists(st.booleans(), min_size=routers, max_size=routers)
    hosts, ends = (np.array(data.draw(several)) for _ in range(2))
    order = np.array(data.draw(st.permutations(range(routers))))
    more = data.draw(st.lists(st.integers(0, routers - 1), max_size=4))
    exits = np.append(net.ejection_router, more).astype(np.int32)
    rows = np.append(table, np.full((len(more), routers), -1, np.int32), axis=0)
    entered = np.broadcast_to(hosts, table.shape)

    leaving = [np.flatnonzero(net.routers.channel_source == r).tolist() for r in range(routers)]
    twin, waits = rows.tolist(), slow.Waits()
    at_hosts = twin[: len(table)]
    slow.keep_crossed(at_hosts, hosts.tolist(), target.tolist())
    slow.use_ways(at_hosts, entered.tolist(), target.tolist(), waits)
    slow.fill_ways(twin, exits.tolist(), (hosts | ends).tolist(), order.tolist(), leaving,
                   target.tolist(), waits)  # fmt: skip

    graph = dependency_graph(net)
    keep_crossed(rows[: len(table)], hosts, target)
    use_ways(rows[: len(table)], entered, graph)
    fill_ways(rows, exits, hosts | ends, order, graph)
    assert rows.tolist() == twin
