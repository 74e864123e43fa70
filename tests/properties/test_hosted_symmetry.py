"""A problem and its image have the same answer where hosts hang on routers, too.

The harness is that of ``test_symmetry``: packets between the images of hosts load the images of
channels, whichever routers look at credits, and whatever is drawn.
"""

import networkx as nx
import numpy as np
import pytest

from netloom.bounds.demand import demand_of
from netloom.contention.decisions import drawn_loads
from netloom.routing import virtual_channel_routing
from netloom.simulation.network.idle import followed
from netloom.topology import topology
from netloom.workload.traffic import pairs
from tests.properties.test_symmetry import FEWEST, SEEDS, WORST, measure, t_values

# Symmetries: the image of every host.


def reversed_(net):
    return np.arange(net.num_hosts)[::-1]


def siblings(net):
    """Hosts of one leaf of a binary tree, exchanged."""
    return np.arange(net.num_hosts) ^ 1


def halves(net):
    return np.arange(net.num_hosts) ^ (net.num_hosts // 2)


def turned(net):
    """Routers of a grid moved along by one, in the last dimension; hosts with them."""
    each, side = net.num_hosts // net.num_routers, net.family.sides[-1]
    router, place = np.divmod(np.arange(net.num_hosts), each)
    row, column = np.divmod(router, side)
    return (row * side + (column + 1) % side) * each + place


def exchanged(net):
    """The two dimensions of a square grid, exchanged."""
    each, side = net.num_hosts // net.num_routers, net.family.sides[-1]
    router, place = np.divmod(np.arange(net.num_hosts), each)
    row, column = np.divmod(router, side)
    return (column * side + row) * each + place


def channel_images(net, image):
    """Return the image of each channel between routers, where hosts have these."""
    graphs = []
    for colour in (image, np.arange(net.num_hosts)):
        graph = nx.DiGraph()
        graph.add_nodes_from((at, {"host": -1}) for at in range(net.num_ends))
        graph.add_nodes_from((at, {"host": int(own)}) for at, own in enumerate(colour))
        ends = net.source_end.tolist(), net.target_end.tolist()
        graph.add_edges_from(zip(*ends, strict=True))
        graphs.append(graph)
    matcher = nx.isomorphism.DiGraphMatcher(
        *graphs, node_match=lambda one, other: one["host"] == other["host"]
    )
    assert matcher.is_isomorphic()
    first = net.num_network_channels
    ends = (net.source_end[:first].tolist(), net.target_end[:first].tolist())
    number = {pair: at for at, pair in enumerate(zip(*ends, strict=True))}
    to = matcher.mapping
    return np.array([number[to[one], to[other]] for one, other in zip(*ends, strict=True)])


def connections(net):
    """Three targets of every host, of no symmetry of their own."""
    rng = np.random.default_rng(3)
    source = np.repeat(np.arange(net.num_hosts), 3)
    return source, (source + rng.integers(1, net.num_hosts, len(source))) % net.num_hosts


CASES = [
    ("fat-tree:2x3", "nca", halves),
    *(("fat-tree:2x3", "nca-adaptive", symmetry) for symmetry in (reversed_, siblings, halves)),
    ("fat-tree:2x3", "nca-adaptive:all", reversed_),
    ("fat-tree:2x3", "nca-adaptive:every", siblings),
    ("hyperx:3x3/2", "minimal", exchanged),
    ("hyperx:3x3/2", "min-adaptive", reversed_),
    # These correct the last dimension first.
    *(("hyperx:3x3/2", name, turned) for name in ("dimension-order", "valiant", "ugal-l")),
    *(
        ("dragonfly:1x4x1", name, reversed_)
        for name in ("minimal-group", "valiant-group", "ugal-l", "ugal-g", "par")
    ),
]


@pytest.mark.parametrize(("spec", "routing", "symmetry"), CASES)
def test_the_image_of_a_problem_has_the_image_of_its_answer(spec, routing, symmetry):
    net = topology(spec)
    image, (source, target) = symmetry(net), connections(net)
    to = channel_images(net, image)
    here = measure(net, routing, (source, target), range(SEEDS), vcs=8)
    ends = image[source], image[target]
    there = measure(net, routing, ends, range(100, 100 + SEEDS), vcs=8)
    there[:, 2:] = there[:, 2:][:, to]
    found = t_values(here, there)
    assert np.abs(found[:2]).max() < FEWEST
    assert np.sqrt(np.mean(found[2:] ** 2)) < WORST


@pytest.mark.parametrize(("spec", "routing", "symmetry"), CASES)
def test_so_have_loads_that_are_reckoned(spec, routing, symmetry):
    net = topology(spec)
    image, (source, target) = symmetry(net), connections(net)
    tables = virtual_channel_routing(net, routing, num_vcs=8).tables

    def loads(*ends):
        demand = demand_of(pairs(net.num_hosts, *ends))
        stages, begin, entries = followed(net, tables, demand, idle=True)
        return drawn_loads(stages, begin, entries.weight, net.num_network_channels)

    there = loads(image[source], image[target])[channel_images(net, image)]
    assert there == pytest.approx(loads(source, target))
