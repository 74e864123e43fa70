"""Jellyfish, rails, butterflies and twisted tori."""

import networkx as nx
import numpy as np
import pytest

from netloom.topology import topology, torus
from tests.topology.families.joins import check_network, links


@pytest.mark.parametrize("spec", ["jellyfish:32x5x3/1", "jellyfish:10x3x1/7", "jellyfish:2x1x2/0",
                                  "jellyfish:6x2x1/3", "jellyfish:6x5x1/1"])  # fmt: skip
def test_a_jellyfish_is_regular_connected_and_the_same_every_time(spec):
    net, again = topology(spec), topology(spec)
    check_network(net)
    assert net.name == spec
    assert np.array_equal(net.source_end, again.source_end)
    assert np.array_equal(net.target_end, again.target_end)
    found = links(net)
    assert set(found.values()) == {1}
    assert set(np.bincount(net.routers.channel_source).tolist()) == {
        int(spec.split(":")[1].split("x")[1])
    }
    assert nx.is_connected(nx.Graph(list(found)))


def test_another_seed_is_another_jellyfish_and_the_links_are_networkx_s():
    one, two = topology("jellyfish:32x5x3/1"), topology("jellyfish:32x5x3/3")
    assert links(one) != links(two)
    assert topology("jellyfish:32x5x3").name == "jellyfish:32x5x3/1"
    graph = nx.random_regular_graph(5, 32, seed=3)
    assert set(links(two)) == set(graph.to_directed().edges)


def test_a_computer_of_a_rail_network_has_a_host_on_each_leaf_of_its_unit():
    net = topology("rail:2x3x4x2/2")
    check_network(net)
    assert (net.num_hosts, net.num_nodes, net.num_routers) == (24, 6, 10)
    leaf = net.injection_router
    for host in range(24):
        computer, nic = divmod(host, 4)
        assert net.node_of_host[host] == computer
        assert leaf[host] == computer // 3 * 4 + nic
    assert set(links(net).values()) == {2}
    assert {b for a, b in links(net) if a < 8} == {8, 9}
    assert net.computer_name(4) == "n4"
    assert net.channel_name(net.num_network_channels + 17) == "n4.1 -> u1rail1"


def walk(net, joined, radix, stages, source, target):
    """The router where each stage sends a packet whose tags are the digits of its target."""
    width, at = radix ** (stages - 1), source // radix
    assert net.injection_router[source] == at
    for stage in range(stages - 1):
        weight = radix ** (stages - 2 - stage)
        tag = target // radix // weight % radix
        to = (stage + 1) * width + at % width - at % width // weight % radix * weight + tag * weight
        assert joined[at, to] == 1
        at = to
    return at


@pytest.mark.parametrize(("radix", "stages"), [(2, 3), (4, 2), (3, 3), (5, 1)])
def test_digits_of_a_target_lead_through_a_butterfly(radix, stages):
    net = topology(f"butterfly:{radix}x{stages}")
    assert net.num_hosts == radix**stages
    assert net.num_network_channels == (stages - 1) * radix**stages
    joined = links(net)
    for source in range(net.num_hosts):
        for target in range(net.num_hosts):
            at = walk(net, joined, radix, stages, source, target)
            assert at == net.ejection_router[target]
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(joined)))


def test_a_butterfly_by_hand():
    # BookSim's fly, k = 2, n = 3: output `port` of address A of the first stage goes to A with
    # its digit of weight 2 in the place of `port`
    net = topology("butterfly:2x3")
    joined = sorted(links(net))
    assert joined[:8] == [(0, 4), (0, 6), (1, 5), (1, 7), (2, 4), (2, 6), (3, 5), (3, 7)]
    assert joined[8:] == [(4, 8), (4, 9), (5, 8), (5, 9), (6, 10), (6, 11), (7, 10), (7, 11)]
    assert net.injection_router.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert net.ejection_router.tolist() == [8, 8, 9, 9, 10, 10, 11, 11]
    assert net.channel_name(0) == "s0.0 -> s1.0"


@pytest.mark.parametrize("sides", [(4, 4, 8), (4, 8, 8), (8, 4), (2, 2, 4), (8, 4, 4), (3, 6)])
def test_a_twisted_torus_is_a_torus_but_for_the_wraps_of_its_short_sides(sides):
    net, plain = topology("twisted-torus:" + "x".join(map(str, sides))), torus(*sides)
    assert net.direct
    assert net.num_channels == 2 * len(sides) * plain.num_routers
    short = min(sides)
    expected = set()
    for node in np.ndindex(*sides):
        for axis in range(len(sides)):
            to = list(node)
            to[axis] += 1
            if to[axis] == sides[axis]:
                to[axis] = 0
                if sides[axis] == short:
                    both = zip(to, sides, strict=True)
                    to = [(t + short) % side if side != short else t for t, side in both]
            expected |= {(node, tuple(to)), (tuple(to), node)}
    at = [tuple(map(int, np.unravel_index(v, sides))) for v in range(net.num_ends)]
    assert {(at[a], at[b]) for a, b in links(net)} == expected
    assert net.name_of(5) == plain.name_of(5)
