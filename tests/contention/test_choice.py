"""The most even split of traffic: prices, and all ways one by one."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from netloom.contention import expected_load
from netloom.contention.expected_load import CLOSE, best_split
from netloom.routing import virtual_channel_routing
from netloom.routing.by_hop.tables import channels_by_port
from netloom.topology import mesh, torus
from tests.properties.strategies import cubes, pairs
from tests.reference.virtual_channels import Twin

CHOOSING = ("adaptive", "west-first", "negative-first", "odd-even", "o1turn-adaptive")


def all_ways(network, name, source, target):
    """Every way from source to target, hop by hop as the twin of the routing allows."""
    twin = Twin(name.removesuffix("-adaptive"), network.sides, network.wraps, 4)
    channel_at = channels_by_port(network)
    found = set()
    for coin in range(1 << len(network.sides)):
        stack = [(source, ())]
        while stack:
            node, way = stack.pop()
            if node == target:
                found.add(way)
                continue
            slots = twin.allowed(node, (None, 0), source, target, None, False, coin)
            for port in {port for port, _ in slots}:
                channel = channel_at[node, port]
                stack.append((int(network.target_end[channel]), (*way, int(channel))))
    return sorted(found)


def least_by_ways(ways_of, amounts, num_channels):
    """Load of the fullest channel under the best split, one variable a way."""
    ways = [(pair, way) for pair, ways in enumerate(ways_of) for way in ways]
    on, of = np.zeros((num_channels, len(ways) + 1)), np.zeros((len(ways_of), len(ways) + 1))
    on[:, -1] = -1
    for column, (pair, way) in enumerate(ways):
        on[list(way), column] = 1
        of[pair, column] = 1
    cost = np.append(np.zeros(len(ways)), 1)
    return linprog(cost, on, np.zeros(num_channels), of, amounts).fun


@st.composite
def choices(draw):
    name = draw(st.sampled_from(CHOOSING))
    if name == "adaptive":
        network = draw(cubes(most_dimensions=3, most_nodes=18))
    else:
        network = mesh(draw(st.integers(2, 4)), draw(st.integers(2, 4)))
    source, target = draw(pairs(network.num_nodes, most=5))
    apart = source != target
    amounts = draw(st.lists(st.floats(0.1, 4), min_size=len(source), max_size=len(source)))
    return network, name, source[apart], target[apart], np.array(amounts)[apart]


@settings(max_examples=60)
@given(choices())
def test_the_best_split_over_all_ways(chosen):
    network, name, source, target, amounts = chosen
    if not len(source):
        return
    routing = virtual_channel_routing(network, name, num_vcs=4)
    ends = zip(source.tolist(), target.tolist(), strict=True)
    ways_of = [all_ways(network, name, *pair) for pair in ends]
    wanted = least_by_ways(ways_of, amounts, network.num_channels)
    found = best_split(routing, source, target, amounts, np.ones(network.num_channels))
    assert found.exact
    assert (1 - CLOSE) * wanted < found.least < (1 + 1e-9) * wanted
    assert found.prices.sum() == pytest.approx(1)
    # all paths at these prices, which prove the limit
    costs = [min(found.prices[list(way)].sum() for way in ways) for ways in ways_of]
    assert amounts @ costs == pytest.approx(found.least, rel=1e-6)


def test_a_bound_that_suffices_ends_the_search():
    network = mesh(8, 8)
    nodes = np.arange(64, dtype=np.int32)
    source, target = nodes, nodes % 8 * 8 + nodes // 8
    apart = source != target
    routing = virtual_channel_routing(network, "odd-even", num_vcs=1)
    given = routing, source[apart], target[apart], np.ones(56), np.ones(network.num_channels)
    assert best_split(*given).least == pytest.approx(19 / 6)
    easy = best_split(*given, enough=4)
    assert easy.exact
    assert easy.least < 4


def test_too_many_ways(monkeypatch):
    routing = virtual_channel_routing(torus(4, 4), "adaptive", num_vcs=3)
    monkeypatch.setattr(expected_load, "MOST_ARCS", 3)
    assert best_split(routing, np.array([0]), np.array([10]), np.ones(1), np.ones(64)) is None
