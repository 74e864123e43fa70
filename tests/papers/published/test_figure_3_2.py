"""Chittor 1991, figures 3.1 and 3.2: the counting rules on the thesis's own worked example.

The figure's placement is lost with its drawing. This one was found by searching placements for
those that agree with the printed table; what the test holds is that the counting rules (a path
leaves itself out of d and ν, averages of χ are over all channels) can give that table at all.
"""

import numpy as np

from netloom.contention import measure
from netloom.routing import DimensionOrder
from netloom.topology import mesh

NODE_OF = np.array([4, 11, 8, 5, 2, 15, 6, 13, 14, 3, 12, 7, 10, 0, 9])


def test_a_random_mapping_of_a_15_node_tree():
    child = np.arange(1, 15)
    found = measure(mesh(4, 4), DimensionOrder(), NODE_OF[(child - 1) // 2], NODE_OF[child])
    for values, mean, largest in (
        (found.path_length, 2.71, 5),
        (found.logical_path_length, 1.00, 2),
        (found.channel_load, 0.79, 2),
        (found.path_contention, 1.00, 2),
    ):
        assert round(float(values.mean()), 2) == mean
        assert values.max() == largest
