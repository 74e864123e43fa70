"""3D meshes on 2D ones, schemes A and B: the promise is met, neither more nor less."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.contention import measure
from netloom.routing import DimensionOrder
from netloom.topology import cube, mesh
from netloom.workload import mesh as tasks, ring, torus
from netloom_papers.layouts import columns, planes


def measured(layout, app, network):
    ends = layout.node_of[app.source], layout.node_of[app.target]
    return int(measure(network, DimensionOrder(), *ends).channel_load.max(initial=0))


@pytest.mark.parametrize(
    ("side", "network_side", "load"), [(4, 8, 4), (5, 15, 5), (6, 18, 6), (9, 27, 10), (16, 64, 17)]
)
def test_scheme_a_of_chittor_1991(side, network_side, load):
    """χ_max k + 1 where three tiles have to lie in a row, section 3.5.2; rows of two save one."""
    app, network = tasks(side, side, side), mesh(network_side, network_side)
    layout = planes(app, network)
    assert layout.chi_max == measured(layout, app, network) == load


@pytest.mark.parametrize(
    ("side", "network_side", "load"),
    [(4, 8, 3), (5, 15, 4), (6, 18, 4), (7, 21, 4), (8, 24, 4), (9, 27, 4), (16, 64, 5)],
)
def test_scheme_b_of_chittor_1991(side, network_side, load):
    """χ_max m + 1 on tiles of m × m nodes, m = ⌈√k⌉, section 3.5.2."""
    app, network = tasks(side, side, side), mesh(network_side, network_side)
    layout = columns(app, network)
    assert layout.chi_max == measured(layout, app, network) == load


@given(
    st.tuples(*[st.integers(2, 7)] * 3),
    st.tuples(*[st.integers(2, 36)] * 2),
    st.tuples(st.booleans(), st.booleans()),
)
@settings(max_examples=150, deadline=None)
def test_every_promise_is_exact(sides, network_sides, wraps):
    app, network = tasks(*sides), cube(network_sides, wraps)
    for make in (planes, columns):
        try:
            layout = make(app, network)
        except InputError:
            continue
        assert len(set(layout.node_of.tolist())) == app.num_tasks
        assert layout.chi_max == measured(layout, app, network)


def test_planes_by_hand():
    """Two planes of 3 × 3 side by side, the third below the second, the fourth below the first."""
    node_of = planes(tasks(4, 3, 3), mesh(6, 6)).node_of
    task_at = np.argsort(node_of).reshape(6, 6)
    assert task_at[0].tolist() == [0, 1, 2, 9, 10, 11]
    assert task_at[1].tolist() == [3, 4, 5, 12, 13, 14]
    assert task_at[3].tolist() == [27, 28, 29, 18, 19, 20]


def test_columns_by_hand():
    """Nine columns of four tasks, each snaked through 2 × 2 nodes."""
    node_of = columns(tasks(4, 3, 3), mesh(6, 6)).node_of
    task_at = np.argsort(node_of).reshape(6, 6)
    assert task_at[0].tolist() == [0, 9, 1, 10, 2, 11]
    assert task_at[1].tolist() == [27, 18, 28, 19, 29, 20]
    assert task_at[2].tolist() == [3, 12, 4, 13, 5, 14]


@pytest.mark.parametrize(
    ("app", "network", "text"),
    [
        (ring(8), mesh(4, 4), "the program ring:8; expected a 3D mesh such as mesh:4x4x4"),
        (torus(4, 4, 4), mesh(8, 8), "the program torus:4x4x4; expected a 3D mesh such as"),
        (tasks(4, 4, 4), mesh(4, 4, 4), "the network mesh:4x4x4; expected a mesh or torus of 2"),
        (
            tasks(5, 5, 5),
            mesh(11, 12),
            "mesh:11x12 for the planes of mesh:5x5x5; expected room to "
            "fold one dimension, such as mesh:10x15",
        ),
    ],
)
def test_mistakes(app, network, text):
    with pytest.raises(InputError, match=f"^layout 'planes': found {text}"):
        planes(app, network)
