"""Random networks, pairs of nodes and traffic, for property tests."""

import hypothesis.strategies as st
import numpy as np

from netloom.topology import cube
from netloom.workload import traffic

MOST_NODES = 200


@st.composite
def cubes(draw, most_dimensions=4, most_nodes=MOST_NODES):
    sides, nodes = [], 1
    for _ in range(draw(st.integers(1, most_dimensions))):
        side = draw(st.integers(1, max(1, min(9, most_nodes // nodes))))
        sides.append(side)
        nodes *= side
    wraps = draw(st.lists(st.booleans(), min_size=len(sides), max_size=len(sides)))
    return cube(sides, wraps)


@st.composite
def pairs(draw, num_nodes, most=60):
    node = st.integers(0, num_nodes - 1)
    drawn = draw(st.lists(st.tuples(node, node), max_size=most))
    ends = np.array(drawn, np.int32).reshape(-1, 2)
    return ends[:, 0].copy(), ends[:, 1].copy()


@st.composite
def traffics(draw, nodes, *, weighted=True):
    """Return traffic of any law, at any rates, perhaps with hot spots, which may weigh more."""
    node = st.integers(0, nodes - 1)
    law = draw(st.sampled_from(["uniform", "uniform-self", "fixed", "pairs"]))
    if law == "fixed":
        targets = draw(st.lists(node, min_size=nodes, max_size=nodes))
        base = traffic.permutation(targets, to_self=True)
    elif law == "pairs":
        ends = st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])
        listed = np.array(draw(st.lists(ends, min_size=1, max_size=30)))
        weights = st.lists(st.floats(1e-3, 50), min_size=len(listed), max_size=len(listed))
        base = traffic.pairs(nodes, *listed.T, weights=draw(weights))
    else:
        base = traffic.uniform(nodes, to_self=law == "uniform-self")
    if draw(st.booleans()):
        hot = draw(st.lists(node, min_size=1, max_size=3, unique=True))
        weight = st.sampled_from([0.25, 1, 1, 3] if weighted else [1])
        weights = draw(st.lists(weight, min_size=len(hot), max_size=len(hot)))
        fraction, to_self = draw(st.floats(0.01, 1)), draw(st.booleans())
        base = traffic.hot_spot(base, fraction, hot, weights=weights, to_self=to_self)
    rate = st.sampled_from([0, 0.01, 0.3, 1, 2.5, 7.5])
    rates = np.array(draw(st.lists(rate, min_size=nodes, max_size=nodes))) * base.law.can_send()
    return traffic.with_rates(base, rates) if rates.any() else base
