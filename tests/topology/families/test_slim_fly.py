import networkx as nx
import numpy as np
import pytest

from netloom.topology import topology
from netloom.topology.families import field, prime_power
from tests.topology.families.joins import check_network, links

PRIME_POWERS = [3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 25, 27]


@pytest.mark.parametrize("q", [2, *PRIME_POWERS])
def test_a_field_is_one(q):
    """Two commutative groups that share the law of distribution."""
    plus, times, powers = field(*prime_power(q))
    every = np.arange(q)
    for table in (plus, times):
        assert (table == table.T).all()
        assert (table[table[:, :, None], every] == table[every[:, None, None], table]).all()
    assert (plus[0] == every).all()
    assert (times[1] == every).all()
    assert (np.sort(plus) == every).all()
    assert (np.sort(times[1:, 1:]) == every[1:]).all()
    assert (times[:, plus] == plus[times[:, :, None], times[:, None, :]]).all()
    assert sorted(powers.tolist()) == list(range(1, q))
    assert all(times[powers[i], powers[1 % (q - 1)]] == powers[i + 1] for i in range(q - 2))


def test_powers_of_primes():
    found = [q for q in range(1, 30) if prime_power(q)]
    assert found == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29]
    assert (prime_power(16), prime_power(25), prime_power(29)) == ((2, 4), (5, 2), (29, 1))


@pytest.mark.parametrize("q", PRIME_POWERS)
def test_degree_and_diameter_are_those_of_the_paper(q):
    net = topology(f"slim-fly:{q}/1")
    delta = {0: 0, 1: 1, 3: -1}[q % 4]
    assert net.num_routers == 2 * q * q
    found = links(net)
    assert set(found.values()) == {1}
    leaving = np.bincount(net.routers.channel_source)
    assert set(leaving.tolist()) == {(3 * q - delta) // 2}
    graph = nx.Graph(list(found))
    assert max(nx.eccentricity(graph, v) for v in (0, q + 1, q * q, 2 * q * q - 1)) == 2
    if q <= 9:
        assert nx.diameter(graph) == 2


def test_a_slim_fly_keeps_the_promises_of_a_network():
    net = topology("slim-fly:5/4")
    check_network(net)
    assert (net.num_hosts, net.num_routers) == (200, 50)
    assert net.name_of(net.router_vertex(25 + 5 * 2 + 3)) == "(1,2,3)"
    # the graph of q = 5 is that of Hoffman and Singleton: 5-cycles, and none shorter
    graph = nx.Graph(list(links(net)))
    assert nx.girth(graph) == 5
    assert nx.is_isomorphic(graph, nx.hoffman_singleton_graph())
