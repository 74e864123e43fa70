import numpy as np
import pytest

from netloom.topology import Cube, topology
from tests.topology.families.joins import check_network, links


@pytest.mark.parametrize(("spec", "sides", "lanes"), [
    ("hyperx:4x4/4", (4, 4), 1), ("hyperx:3x2x4/1/2", (3, 2, 4), 2), ("hyperx:5/3", (5,), 1),
    ("hyperx:1x3/2", (1, 3), 1),
])  # fmt: skip
def test_routers_that_differ_in_one_coordinate_are_joined_by_all_lanes(spec, sides, lanes):
    net = topology(spec)
    check_network(net)
    at = np.stack(np.unravel_index(np.arange(net.num_routers), sides))
    differ = (at[:, :, None] != at[:, None, :]).sum(axis=0)
    found = np.zeros_like(differ)
    for (a, b), many in links(net).items():
        found[a, b] = many
    assert (found == lanes * (differ == 1)).all()
    assert (net.name, net.routers.family.sides, net.family.lanes) == (spec, sides, lanes)


@pytest.mark.parametrize(
    "spec", ["mesh:4x4/4", "torus:3x4/2", "line:5/3", "ring:4/1", "hypercube:3/2", "cube:3wx2/2"]
)
def test_several_hosts_on_each_router_of_a_cube(spec):
    net = topology(spec)
    plain, _, hosts = spec.partition("/")
    check = topology(plain)
    assert isinstance(net.routers, Cube)
    assert net.name == spec
    assert net.routers.name == plain
    assert np.array_equal(net.routers.channel_source, check.channel_source)
    assert np.array_equal(net.routers.channel_target, check.channel_target)
    assert net.injection_router.tolist() == np.arange(check.num_hosts).repeat(int(hosts)).tolist()
    assert net.name_of(net.num_ends - 1) == check.name_of(check.num_hosts - 1)
