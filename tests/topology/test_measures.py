from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from netloom.base.errors import InputError
from netloom.topology import (
    Topology,
    average_distance,
    bisection_width,
    cube,
    degree,
    diameter,
    graph_topology,
    hypercube,
    mesh,
    num_links,
    to_networkx,
    torus,
)
from netloom.topology.measures import check_alike
from tests.properties.strategies import cubes


@given(cubes(most_nodes=60))
def test_closed_forms_agree_with_a_search(network):
    searched = graph_topology(to_networkx(network))
    assert diameter(network) == diameter(searched)
    assert average_distance(network) == pytest.approx(average_distance(searched))
    assert num_links(network) == network.num_channels // 2


def exhaustive_bisection(network):
    nodes = range(network.num_nodes)
    links = [(s, t) for s, t in zip(network.source_end, network.target_end, strict=True) if s < t]
    widths = []
    for half in combinations(nodes, network.num_nodes // 2):
        inside = np.zeros(network.num_nodes, bool)
        inside[list(half)] = True
        widths.append(sum(inside[s] != inside[t] for s, t in links))
    return min(widths)


SMALL = [
    ((n,), (w,)) for n in (2, 3, 4, 5, 6, 7, 8) for w in (False, True)
] + [
    (sides, wraps)
    for sides in ((2, 3), (3, 3), (2, 5), (3, 4), (4, 3), (2, 7), (2, 2, 3), (5, 3), (4, 4))
    for wraps in np.ndindex(*(2,) * len(sides))
]  # fmt: skip


@pytest.mark.parametrize(("sides", "wraps"), SMALL)
def test_bisection_width_by_exhaustion(sides, wraps):
    network = cube(sides, [bool(wrap) for wrap in wraps])
    assert bisection_width(network) == exhaustive_bisection(network)


def test_bounds_that_meet_are_the_width_of_a_general_graph():
    assert bisection_width(graph_topology(nx.petersen_graph())) == 5


def test_table_1_1():
    for dimension in (4, 6, 8):
        net, nodes = hypercube(dimension), 2**dimension
        assert degree(net) == diameter(net) == dimension
        assert num_links(net) == nodes * dimension // 2
        assert bisection_width(net) == nodes // 2
        side = 2 ** (dimension // 2)
        assert num_links(mesh(side, side)) == 2 * (nodes - side)
        assert bisection_width(mesh(side, side)) == side
        assert bisection_width(torus(side, side)) == (2 * side if side > 2 else 2)


def test_a_lone_node_has_no_distance():
    assert average_distance(mesh(1)) == 0
    assert bisection_width(mesh(1)) == 0


@pytest.mark.parametrize("field", ["channel_bandwidth", "channel_cycles"])
@pytest.mark.parametrize("channel", [0, 5])
def test_the_first_channel_that_differs_is_named(field: str, channel: int) -> None:
    line = mesh(4)
    values = np.array(getattr(line, field))
    values[channel:] *= 2
    changed = Topology("slow", 4, line.channel_source, line.channel_target, **{field: values})
    name = changed.channel_name(channel)
    with pytest.raises(InputError, match=f"channel {name} of bandwidth"):
        check_alike(changed, "compiled phases")
