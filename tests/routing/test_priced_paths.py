"""The priced-path search against Dijkstra's algorithm of another library."""

import networkx as nx
import numpy as np
import pytest

from netloom.routing.kernels.priced_paths import find
from netloom.topology import mesh, to_networkx, torus


@pytest.mark.parametrize("per_node", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_path_is_found(seed, per_node):
    net = [mesh(4, 4), torus(5, 3)][seed % 2]
    rng = np.random.default_rng(seed)
    nodes, num_channels = net.num_nodes, net.num_channels
    offsets, leaving = net.outgoing()
    hops = dict(nx.all_pairs_shortest_path_length(to_networkx(net)))
    distance = np.array([[hops[a][b] for a in range(nodes)] for b in range(nodes)], float)
    enters = net.target_end.astype(np.int64) if per_node else np.arange(num_channels)
    starts = np.arange(nodes) if per_node else np.full(nodes, -1)
    ends = net.source_end, net.target_end
    price = 1 + 3 * rng.random(nodes if per_node else num_channels)
    surcharge = rng.random(num_channels)
    heap = num_channels + nodes + 1
    scratch = (
        np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(heap),
        np.zeros(heap, np.int64), np.zeros(nodes, np.bool_),
    )  # fmt: skip
    priced = nx.DiGraph()
    for channel, (a, b) in enumerate(zip(*ends, strict=True)):
        priced.add_edge(int(a), int(b), weight=price[enters[channel]] + surcharge[channel])
    wiring = (*ends, offsets, leaving, enters, starts, distance)
    for source in range(nodes):
        expected = nx.single_source_dijkstra_path_length(priced, source)
        for target in range(nodes):
            route = np.zeros(nodes, np.int32)
            paid, count = find(wiring, scratch, price, surcharge, source, target, np.inf, route)
            first = price[source] if per_node else 0.0
            assert paid == pytest.approx(expected[target] + first)
            at = source
            for channel in route[:count]:
                assert net.source_end[channel] == at
                at = net.target_end[channel]
            assert at == target
            again = find(wiring, scratch, price, surcharge, source, target, paid, route)
            assert again == (np.inf, 0)  # not below what it costs
