"""Expected loads in closed form, and by every draw of every packet."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.contention.expected_load import (
    dimension_order_loads,
    romm_loads,
    romm_work,
    to_every_node,
    valiant_loads,
)
from netloom.routing import DimensionOrder
from tests.properties.strategies import cubes, pairs
from tests.reference import expected_load as definition


@st.composite
def flows(draw):
    """A small network, an order of its dimensions, pairs of its nodes and what goes between."""
    network = draw(cubes(most_nodes=20))
    order = draw(st.permutations(range(len(network.sides))))
    source, target = draw(pairs(network.num_nodes, most=6))
    amounts = st.lists(st.floats(0.1, 4), min_size=len(source), max_size=len(source))
    return network, order, source, target, np.array(draw(amounts))


def listed(source, target, weight):
    return list(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))


@given(flows())
def test_dimension_order_goes_either_way_round(flow):
    network, order, *pairs_of = flow
    found = dimension_order_loads(network, DimensionOrder(tuple(order)), *pairs_of)
    assert found == pytest.approx(definition.loads(network, listed(*pairs_of), order), abs=1e-9)


@given(flows())
def test_romm_by_way_of_its_minimal_box(flow):
    network, order, *pairs_of = flow

    def box(source, target, coin):
        return definition.minimal_box(network, source, target, coin)

    found = romm_loads(network, DimensionOrder(tuple(order)), *pairs_of)
    assert found == pytest.approx(
        definition.loads(network, listed(*pairs_of), order, box), abs=1e-9
    )
    source, target, _ = pairs_of
    heads = [False] * len(network.sides)
    sizes = [len(box(a, b, heads)) for a, b in zip(source.tolist(), target.tolist(), strict=True)]
    assert romm_work(network, source, target) == sum(sizes)


@given(flows())
def test_valiant_by_way_of_any_node(flow):
    network, order, source, target, weight = flow
    ends = (np.bincount(at, weight, minlength=network.num_nodes) for at in (source, target))
    found = valiant_loads(network, DimensionOrder(tuple(order)), *ends)
    everywhere = range(network.num_nodes)
    wanted = definition.loads(network, listed(source, target, weight), order, lambda *_: everywhere)
    assert found == pytest.approx(wanted, abs=1e-9)


@given(flows())
def test_each_node_to_every_other(flow):
    network, order, source, _, weight = flow
    nodes = network.num_nodes
    sent = np.bincount(source, weight, minlength=nodes)
    found = to_every_node(network, DimensionOrder(tuple(order)), sent)
    every = [(a, b, sent[a]) for a in range(nodes) for b in range(nodes)]
    assert found == pytest.approx(definition.loads(network, every, order), abs=1e-9)
