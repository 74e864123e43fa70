from netloom.routing import DimensionOrder, find_deadlock
from netloom.topology import hypercube, mesh, torus


def test_dimension_order_deadlocks_on_rings_of_four_and_no_others():
    assert find_deadlock(mesh(8, 8), DimensionOrder()) == ()
    assert find_deadlock(hypercube(5), DimensionOrder()) == ()
    assert find_deadlock(torus(3, 3), DimensionOrder()) == ()
    assert len(find_deadlock(torus(8, 8), DimensionOrder())) == 8
