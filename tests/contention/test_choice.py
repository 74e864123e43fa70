"""The most even split of traffic: prices, and all ways one by one."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from netloom.contention import expected_load
from netloom.contention.expected_load import best_split
from netloom.contention.kernels.expected_load import list_ways, take_cheapest
from netloom.routing import virtual_channel_routing
from netloom.routing.by_hop.tables import channels_by_port
from netloom.topology import mesh
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
@given(choices(), st.integers(0, 2**20))
def test_the_best_split_over_all_ways(chosen, seed):
    network, name, source, target, amounts = chosen
    if not len(source):
        return
    routing = virtual_channel_routing(network, name, num_vcs=4)
    ends = zip(source.tolist(), target.tolist(), strict=True)
    ways_of = [all_ways(network, name, *pair) for pair in ends]
    wanted = least_by_ways(ways_of, amounts, network.num_channels)
    found = best_split(routing, source, target, amounts)
    assert found.exact
    assert found.least == pytest.approx(wanted, rel=1e-5)
    assert found.prices.sum() == pytest.approx(1)
    # any prices prove a limit, and no more than they ask is paid
    price = np.random.default_rng(seed).random(network.num_channels)
    wiring, offsets = (channels_by_port(network), network.target_end), np.arange(len(source) + 1)
    ways = list_ways(routing.tables, wiring, target, offsets, source, 10_000)
    load = np.empty(network.num_channels)
    paid = take_cheapest(ways, amounts, price, load)
    ends = zip(source.tolist(), target.tolist(), strict=True)
    cheapest = [min(price[list(way)].sum() for way in all_ways(network, name, *p)) for p in ends]
    assert paid == pytest.approx(amounts @ cheapest)
    assert load @ price == pytest.approx(paid)


def test_rising_prices_end_a_few_per_cent_below(monkeypatch):
    network = mesh(8, 8)
    nodes = np.arange(64, dtype=np.int32)
    source, target = nodes, nodes % 8 * 8 + nodes // 8
    apart = source != target
    routing = virtual_channel_routing(network, "odd-even", num_vcs=1)
    exact = best_split(routing, source[apart], target[apart], np.ones(56))
    assert exact.least == pytest.approx(19 / 6)
    monkeypatch.setattr(expected_load, "MOST_EXACT", 0)
    near = best_split(routing, source[apart], target[apart], np.ones(56))
    assert not near.exact
    assert 0.97 * exact.least < near.least <= exact.least
