"""Meshes and tori folded into each other, and what all layouts have in common."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.contention import measure, measure_paths
from netloom.mapping import find_layout, fitting_layouts, layouts
from netloom.mapping.layouts import TaskGrid, fold, grid_of, hypercube_dimension
from netloom.routing import DimensionOrder
from netloom.topology import cube, hypercube, mesh, topology as network_of, torus
from netloom.topology.core import attach_hosts
from netloom.workload import mesh as mesh_tasks, process_graph, read, torus as torus_tasks


def measured(layout, app, network):
    ends = layout.node_of[app.source], layout.node_of[app.target]
    return measure(network, DimensionOrder(), *ends)


@pytest.mark.parametrize(
    ("app", "network", "load", "longest"),
    [
        ("mesh:16x8", "mesh:8x20", 1, 1),
        ("torus:8x4", "torus:4x8", 1, 1),
        ("hypercube:5", "hypercube:5", 1, 1),
        ("ring:9", "mesh:9", 2, 2),
        ("torus:5x6", "mesh:5x6", 2, 2),
        ("torus:4x4x4", "mesh:4x4x4", 2, 2),
        ("mesh:16x16", "hypercube:8", 1, 1),
        ("torus:8x4x2", "hypercube:6", 1, 1),
        ("mesh:3x5x6", "hypercube:9", 1, 1),
        ("torus:6x10", "hypercube:7", 1, 1),
        ("ring:64", "mesh:4x4x4", 1, 1),
        ("line:64", "mesh:8x8", 1, 1),
        ("mesh:4x4x4", "mesh:8x8", 3, 2),
        ("torus:8x8x8", "torus:16x32", 5, 4),
        ("torus:8x8", "torus:4x16", 3, 2),
        ("hypercube:8", "mesh:16x16", 10, 8),
    ],
)
def test_foldings_that_are_known(app, network, load, longest):
    """Fits as it is: 1; rings laid flat: 2; Gray codes: 1; 4³ on 8²: as scheme B of the thesis."""
    app, network = read(app), network_of(network)
    layout = fold(app, network)
    found = measured(layout, app, network)
    assert layout.chi_max == found.channel_load.max() == load
    assert found.path_length.max() == longest


@given(
    st.lists(st.integers(2, 6), min_size=1, max_size=3),
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_every_folding_is_a_mapping_and_says_its_load(sides, network_sides, closed, wraps):
    app = (torus_tasks if closed else mesh_tasks)(*sides)
    network = cube(network_sides, wraps)
    try:
        layout = fold(app, network)
    except InputError:
        return
    assert len(set(layout.node_of.tolist())) == app.num_tasks
    assert layout.node_of.dtype == np.int32
    assert layout.chi_max == measured(layout, app, network).channel_load.max()


@given(st.lists(st.integers(2, 5), min_size=1, max_size=4), st.booleans())
def test_grids_are_known_by_their_edges(sides, closed):
    app = (torus_tasks if closed else mesh_tasks)(*sides)
    grid = grid_of(app)
    assert grid.sides == tuple(sides)
    assert grid.closed == (closed and max(sides) > 2)
    assert hypercube_dimension(app) == (len(sides) if max(sides) == 2 else 0)


def test_weights_and_names_do_not_matter_but_edges_do():
    whole = read("mesh:4x4")
    ends = {"source": whole.source, "target": whole.target}
    weights = np.arange(whole.num_edges)
    assert grid_of(process_graph(16, **ends, bytes=weights, name="x.mtx")) == TaskGrid(
        (4, 4), False
    )
    short = {name: column[:-1] for name, column in ends.items()}
    assert grid_of(process_graph(16, **short)) is None
    moved = process_graph(16, [*ends["source"][:-1], 15], [*ends["target"][:-1], 12])
    assert moved.num_edges == whole.num_edges
    assert grid_of(moved) is None


@pytest.mark.parametrize("spec", ["all-to-all:16", "binary-tree:15", "butterfly:4", "transpose:4"])
def test_other_programs_are_no_grids(spec):
    assert grid_of(read(spec)) is None


@pytest.mark.parametrize("name", ["identity", "gray"])
@pytest.mark.parametrize("dimension", range(2, 13, 2))
def test_hypercubes_on_meshes_of_section_3_5_3(name, dimension):
    """⌊2√N/3⌋ of Chittor 1991, for Gray codes as well."""
    side = 2 ** (dimension // 2)
    app, network = read(f"hypercube:{dimension}"), mesh(side, side)
    layout = find_layout(name, app, network)
    found = measured(layout, app, network).channel_load.max()
    assert layout.chi_max == found == 2 * side // 3


def test_gray_codes_make_a_torus_of_fours_a_hypercube():
    assert find_layout("gray", read("hypercube:6"), torus(4, 4, 4)).chi_max == 1


PROGRAMS = ("binary-tree:63", "mesh:8x8", "mesh:4x4x4", "torus:4x16", "hypercube:6", "ring:64")
NETWORKS = (mesh(8, 8), torus(4, 16), mesh(4, 4, 4), hypercube(6), mesh(15, 16))


@pytest.mark.parametrize("spec", PROGRAMS)
@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_all_that_fit_keep_their_promise(spec, network):
    app = read(spec)
    for name, layout in fitting_layouts(app, network).items():
        assert layout.name == name
        assert layout.source
        assert len(set(layout.node_of.tolist())) == app.num_tasks
        if layout.routes is None:
            load = measured(layout, app, network).channel_load.max()
        else:
            load = measure_paths(layout.routes, network.num_channels).channel_load.max()
        assert layout.chi_max in (None, load)


def test_each_layout_fits_something():
    fitting = {
        name for spec in PROGRAMS for net in NETWORKS for name in fitting_layouts(read(spec), net)
    }
    assert fitting == set(layouts.layout_table())


@pytest.mark.parametrize(
    ("app", "network"),
    [
        ("hypercube:6", "mesh:8x8"),
        ("torus:4x4x4", "torus:8x8"),
        ("ring:30", "mesh:4x4x2"),
        ("binary-tree:63", "mesh:8x8"),
    ],
)
def test_hosts_on_routers_are_laid_out_as_routers_are(app, network):
    """On the same routers with one host each, and if these hang in another order."""
    app, network = read(app), network_of(network)
    router = np.random.default_rng(1).permutation(network.num_routers)
    turned = attach_hosts(network, router, name="turned")
    direct = fitting_layouts(app, network)
    hosted = fitting_layouts(app, network_of(f"{network.name}/1"))
    mixed = fitting_layouts(app, turned)
    assert list(direct) == list(hosted) == list(mixed)
    for name, layout in direct.items():
        assert hosted[name].node_of.tolist() == layout.node_of.tolist()
        assert router[mixed[name].node_of].tolist() == layout.node_of.tolist()
        assert hosted[name].chi_max == mixed[name].chi_max == layout.chi_max
        if layout.chi_max is not None and layout.routes is None:
            assert measured(mixed[name], app, turned).channel_load.max() <= layout.chi_max
