"""Random networks and random pairs of nodes, for property tests."""

import hypothesis.strategies as st
import numpy as np

from netloom.topology import cube

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
