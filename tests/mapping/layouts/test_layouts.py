"""Gray codes: neighbours in the network differ in one bit."""

import numpy as np
from hypothesis import given, settings, strategies as st

from netloom.mapping import gray
from netloom.topology import cube, torus
from netloom.workload import read


@given(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=4), st.data())
@settings(max_examples=30)
def test_neighbours_differ_in_one_bit(sides, data):
    wraps = data.draw(st.lists(st.booleans(), min_size=len(sides), max_size=len(sides)))
    network = cube(sides, wraps)
    node_of = gray(network.num_nodes, network)
    assert node_of.dtype == np.int32
    assert sorted(node_of.tolist()) == list(range(network.num_nodes))
    task_of = np.argsort(node_of)
    differ = task_of[network.source_end] ^ task_of[network.target_end]
    assert all(bits.bit_count() == 1 for bits in differ.tolist())


def test_the_hypercube_of_64_on_8x8_takes_sixteen_channels_of_every_node():
    """Feldmann et al. 1993, section 5.1.2; two thirds of its channels are one hop, others three."""
    network, tasks = torus(8, 8), read("hypercube:6")
    at = gray(64, network)
    hops = np.zeros(len(tasks.source), int)
    for axis in range(2):
        place = [np.unravel_index(at[end], (8, 8))[axis] for end in (tasks.source, tasks.target)]
        apart = (place[1] - place[0]) % 8
        hops += np.minimum(apart, 8 - apart)
    assert np.bincount(hops).tolist() == [0, 256, 0, 128]
    assert (hops + 1).sum() == 64 * 16
