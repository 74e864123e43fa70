"""Trees on meshes: every promise against what the paths really meet."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.contention import measure, measure_paths
from netloom.routing import DimensionOrder, SourceRoutes, find_deadlock, paths
from netloom.topology import hypercube, mesh, torus, without
from netloom.workload import binary_tree, ring
from netloom_papers.layouts import h_tree, tiles


def by_dimension_order(layout, app, network):
    ends = layout.node_of[app.source], layout.node_of[app.target]
    return measure(network, DimensionOrder(), *ends)


def as_routing(layout, app, network):
    """The layout's own routes, as a routing of the network."""
    source, target = (layout.node_of[end].astype(np.int64) for end in (app.source, app.target))
    pairs = source * network.num_nodes + target
    order = np.argsort(pairs)
    lengths = layout.routes.lengths[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    channels = np.concatenate([layout.routes[edge] for edge in order])
    return SourceRoutes("tiles", pairs[order], type(layout.routes)(offsets, channels))


@pytest.mark.parametrize("levels", range(2, 13))
@pytest.mark.parametrize("make", [mesh, torus])
def test_tiles_have_one_spare_node_and_no_channel_of_more_than_two_paths(levels, make):
    side = 2 ** ((levels + 1) // 2)
    network = make(side, 2**levels // side)
    app = binary_tree(2**levels - 1)
    layout = tiles(app, network)
    assert layout.node_of.dtype == np.int32
    assert len(set(layout.node_of.tolist())) == app.num_tasks == network.num_nodes - 1
    found = measure_paths(layout.routes, network.num_channels)
    assert found.channel_load.max() == layout.chi_max == (2 if levels > 2 else 1)


@pytest.mark.parametrize("levels", [2, 5, 8, 9, 14])
def test_own_routes_lead_from_task_to_task_both_ways_and_never_wait_in_a_circle(levels):
    side = 2 ** ((levels + 1) // 2)
    app, network = binary_tree(2**levels - 1), mesh(side, side)
    layout = tiles(app, network)
    routing = as_routing(layout, app, network)
    assert find_deadlock(network, routing) == ()
    ends = layout.node_of[app.source], layout.node_of[app.target]
    routed = paths(network, routing, *ends)
    shortest = paths(network, DimensionOrder(), *ends)
    assert routed.lengths.tolist() == shortest.lengths.tolist()
    first, last = routed.offsets[:-1], routed.offsets[1:] - 1
    hop_from = network.source_end[routed.channels]
    hop_to = network.target_end[routed.channels]
    assert (hop_from[first] == ends[0]).all()
    assert (hop_to[last] == ends[1]).all()
    inner = np.delete(np.arange(len(hop_from)), first)
    assert (hop_from[inner] == hop_to[inner - 1]).all()


def test_tiles_by_hand_of_three_tasks():
    """The root takes the upper right corner, its children the lower; the left path bends once."""
    app, network = binary_tree(3), mesh(2, 2)
    layout = tiles(app, network)
    assert layout.node_of.tolist() == [1, 2, 3]
    hops = [network.channel_name(channel) for channel in layout.routes[0]]
    assert hops == ["(0,1) -> (0,0)", "(0,0) -> (1,0)"]


@pytest.mark.parametrize(
    ("tasks", "side", "load"), [(15, 4, 3), (63, 8, 3), (255, 16, 3), (1023, 32, 4)]
)
def test_without_their_own_routes_tiles_have_more_than_two_paths(tasks, side, load):
    app, network = binary_tree(tasks), mesh(side, side)
    found = by_dimension_order(tiles(app, network), app, network)
    assert found.channel_load.max() == load


@pytest.mark.parametrize(
    ("tasks", "sides"),
    [
        (1, (1, 1)),
        (3, (1, 3)),
        (7, (3, 3)),
        (15, (3, 7)),
        (31, (7, 7)),
        (63, (15, 7)),
        (100, (15, 15)),
        (127, (15, 15)),
        (255, (40, 20)),
        (511, (31, 31)),
    ],
)
@pytest.mark.parametrize("make", [mesh, torus])
def test_no_path_of_an_h_tree_meets_another(tasks, sides, make):
    app, network = binary_tree(tasks), make(*sides)
    layout = h_tree(app, network)
    assert len(set(layout.node_of.tolist())) == tasks
    found = by_dimension_order(layout, app, network)
    assert found.channel_load.max(initial=0) == layout.chi_max == min(1, app.num_edges)
    assert not found.path_contention.any()


@pytest.mark.parametrize(
    ("make", "tasks", "network", "text"),
    [
        (tiles, 255, mesh(8, 32), "found mesh:8x32 for 255 tasks; expected at least 16 x 16 nodes"),
        (h_tree, 63, mesh(8, 8), "found mesh:8x8 for 63 tasks; expected at least 7 x 15 nodes"),
        (h_tree, 7, hypercube(4), "found the network hypercube:4; expected a mesh or torus of 2"),
        (tiles, 15, without(mesh(4, 4), nodes="5"), "found the network mesh:4x4 without node 5;"),
    ],
)
def test_mistakes(make, tasks, network, text):
    name = make.__name__.replace("_", "-")
    with pytest.raises(InputError, match=f"^layout '{name}': {text}"):
        make(binary_tree(tasks), network)
    with pytest.raises(
        InputError, match=f"^layout '{name}': found the program ring:15; expected a"
    ):
        make(ring(15), mesh(4, 4))
