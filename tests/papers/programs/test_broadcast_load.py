import itertools

import numpy as np
import pytest

from netloom.topology import cube, mesh, torus
from netloom.workload.programs.traces import Orientation, branches, row_first
from netloom.workload.traffic import pairs, uniform, with_rates
from netloom_papers.programs.broadcast import broadcast_load, unicast_load


def hops_by_direction(network, source, target, weight):
    """Mean load of the channels of each direction, of one-hop messages, counted one by one."""
    found = np.zeros((len(network.sides), 2))
    for here, there, flits in zip(source.tolist(), target.tolist(), weight, strict=True):
        first, second = network.coordinates(here), network.coordinates(there)
        axis = next(axis for axis in range(len(first)) if first[axis] != second[axis])
        step = second[axis] - first[axis]
        side, wraps = network.sides[axis], network.wraps[axis]
        grows = step == 1 or (wraps and step == 1 - side)
        found[axis, 0 if grows else 1] += flits
    channels = network.num_nodes // np.array(network.sides) * network.line_channels
    return found / np.maximum(channels, 1)[:, np.newaxis]


CUBES = [torus(4, 6), torus(5, 3, 4), mesh(3, 4), cube([4, 3, 1], [True, False, True])]


@pytest.mark.parametrize("network", CUBES, ids=str)
def test_the_load_of_broadcasts_is_that_of_all_their_trees(network):
    rate = np.random.default_rng(1).random(network.num_nodes)
    dimensions = len(network.sides)
    every = [
        Orientation(order, lean)
        for order in itertools.permutations(range(dimensions))
        for lean in itertools.product((0, 1), repeat=dimensions)
    ]
    for tree, orientations in (("balanced", every), ("row-first", [row_first(network)])):
        counted = np.zeros((dimensions, 2))
        for root, orientation in itertools.product(range(network.num_nodes), orientations):
            part = branches(network, root, None, orientation)
            weight = np.full(len(part.source), rate[root] / len(orientations))
            counted += hops_by_direction(network, part.source, part.target, weight)
        assert broadcast_load(network, rate, tree) == pytest.approx(counted)


@pytest.mark.parametrize("network", CUBES, ids=str)
@pytest.mark.parametrize("kind", ["uniform", "pairs", "rates"])
def test_the_load_of_unicast_messages_is_that_of_all_pairs(network, kind):
    nodes = network.num_nodes
    if kind == "pairs":
        traffic = pairs(nodes, [0, 1, 5], [7, 4, 2], weights=[1, 2, 4])
    else:
        traffic = uniform(nodes)
        if kind == "rates":
            traffic = with_rates(traffic, np.arange(nodes))
    found = unicast_load(network, traffic)
    counted = np.zeros(found.shape)
    source, target, weight = traffic.matrix()
    weight = weight * traffic.rate.sum()
    for axis, (side, stride) in enumerate(zip(network.sides, network.strides, strict=True)):
        apart = target // stride % side - source // stride % side
        if network.wraps[axis]:
            near = (apart + side // 2) % side - side // 2
            half = 2 * np.abs(near) == side
            counted[axis, 0] = weight @ np.where(half, side / 4, np.maximum(near, 0))
            counted[axis, 1] = weight @ np.where(half, side / 4, np.maximum(-near, 0))
        else:
            counted[axis] = weight @ np.maximum(apart, 0), weight @ np.maximum(-apart, 0)
    channels = nodes // np.array(network.sides) * network.line_channels
    assert found == pytest.approx(counted / np.maximum(channels, 1)[:, np.newaxis])
