"""BookSim 2's networks: against its notes, against loops, and against netloom's own families."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom_papers.studies.booksim import CUBES, KINDS, Shape, network

DATA = Path(__file__).parent / "data"

SHAPES = [
    *(Shape("fattree", k, n) for k, n in ((2, 1), (2, 3), (3, 2), (4, 3))),
    *(Shape("fly", k, n) for k, n in ((2, 1), (2, 4), (3, 3), (8, 2))),
    Shape("flatfly", 4, 2, 4, 4, 2),
    Shape("flatfly", 4, 3, 1, 8),
    Shape("flatfly", 8, 1, 4, 8, 2),
    Shape("flatfly", 3, 2, 9, 3, 3),
    Shape("flatfly", 2, 4, 1, 4),
    *(Shape("cmesh", k, 2, 4, k, 2) for k in (2, 4, 8)),
    *(Shape("dragonflynew", p, 1) for p in (1, 2, 3)),
    Shape("tree4", 4, 3),
    Shape("qtree", 4, 3),
    Shape("anynet", 4, 3, file=str(DATA / "small.net")),
]


def inside(net):
    """Return (router, router, cycles) of every channel between routers."""
    many = net.num_network_channels
    ends = (net.source_end[:many] - net.num_hosts, net.target_end[:many] - net.num_hosts)
    return list(zip(*(each.tolist() for each in (*ends, net.channel_cycles[:many])), strict=True))


def leading(net, router):
    """Return where the channels that leave a router lead, in the order of its ports."""
    return [target for source, target, _ in inside(net) if source == router]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_channels_are_sorted_by_router_and_hosts_have_a_port_each(shape):
    net = network(shape)
    sources = [source for source, _, _ in inside(net)]
    assert sources == sorted(sources)
    assert net.port_host.tolist() == list(range(net.num_hosts))
    assert net.name == shape.name
    assert not net.direct


def test_fat_tree_as_the_reference_prints_it():
    net = network(Shape("fattree", 2, 3))
    assert [leading(net, root) for root in range(4)] == [[4, 6], [5, 7], [4, 6], [5, 7]]
    assert leading(net, 8) == [4, 5]
    assert net.injection_router.tolist() == [8, 8, 9, 9, 10, 10, 11, 11]


def test_fly_and_dragonfly_as_noted():
    net = network(Shape("fly", 2, 3))
    assert [leading(net, router) for router in range(4)] == [[4, 6], [5, 7], [4, 6], [5, 7]]
    assert leading(net, 4) == [8, 9]
    assert (net.injection_router[5], net.ejection_router[5]) == (2, 10)
    net = network(Shape("dragonflynew", 1, 1))  # local ports before global ones
    assert [leading(net, router) for router in range(4)] == [[1, 2], [0, 4], [3, 0], [2, 5]]
    assert {c for a, b, c in inside(net) if a // 2 == b // 2} == {10}
    assert {c for a, b, c in inside(net) if a // 2 != b // 2} == {100}


@pytest.mark.parametrize(
    "shape", [each for each in SHAPES if each.kind == "flatfly"], ids=lambda shape: shape.name
)
def test_flatfly_joins_routers_that_differ_in_one_digit(shape):
    k, n, x, side = shape.k, shape.n, shape.x, shape.xr
    expected = Counter()
    for one in range(k**n):
        for other in range(k**n):
            digits = [(one // k**axis % k, other // k**axis % k) for axis in range(n)]
            if sum(a != b for a, b in digits) == 1:
                away = abs(one % x - other % x) + abs(one // x - other // x)
                expected[one, other, side * away] += 1
    net = network(shape)
    assert Counter(inside(net)) == expected
    for host, router in enumerate(net.injection_router.tolist()):
        row, column = divmod(host, x * side)
        assert (router // x, router % x) == (row // side, column // side)
    alike = network(shape._replace(by_length=False))
    assert (alike.channel_cycles == 1).all()
    assert alike.target_end.tolist() == net.target_end.tolist()


def test_flatfly_ports_and_hosts_as_noted():
    net = network(Shape("flatfly", 4, 2, 4, 4, 2))
    assert np.flatnonzero(net.injection_router == 0).tolist() == [0, 1, 8, 9]
    assert leading(net, 5) == [4, 6, 7, 1, 9, 13]  # itself left out of both dimensions


def test_hosts_far_from_the_middle_of_a_flatfly_router_take_longer():
    """Of 4 x 4 hosts the inner four are near; of 3 x 3 or fewer all are."""
    net = network(Shape("flatfly", 2, 1, 16, 2, 4))
    ends = net.channel_cycles[net.num_network_channels :].reshape(2, 4, 8)
    assert (ends[0] == ends[1]).all()
    far, near = [3, 2, 2, 3, 3, 2, 2, 3], [2, 1, 1, 2, 2, 1, 1, 2]
    assert ends[0].tolist() == [far, near, near, far]
    nine = network(Shape("flatfly", 2, 1, 9, 2, 3))
    assert (nine.channel_cycles[nine.num_network_channels :] == 1).all()


@pytest.mark.parametrize("k", [4, 6, 8])
def test_cmesh_borders_lead_half_way_along(k):
    net = network(Shape("cmesh", k, 2, 4, k, 2))
    expected = Counter()
    for y in range(k):
        for x in range(k):
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if 0 <= x + dx < k and 0 <= y + dy < k:
                    expected[y * k + x, (y + dy) * k + x + dx, 2] += 1
                elif dx:
                    expected[y * k + x, (y + k // 2) % k * k + x, k] += 1
                else:
                    expected[y * k + x, y * k + (x + k // 2) % k, k] += 1
    assert Counter(inside(net)) == expected
    assert np.flatnonzero(net.injection_router == k).tolist() == [
        4 * k, 4 * k + 1, 6 * k, 6 * k + 1
    ]  # fmt: skip
    assert (net.channel_cycles[net.num_network_channels :] == 1).all()
    assert leading(net, 0) == [1, k // 2 * k, k, k // 2]  # +x, -x, +y, -y


def test_tree4_as_noted():
    net = network(Shape("tree4", 4, 3))
    assert leading(net, 0) == list(range(4, 12))  # a root
    assert leading(net, 4 + 3) == [16, 17, 18, 19, 0, 1, 2, 3]  # middle 3: leaves 4 .. 7
    assert leading(net, 12 + 6) == [6, 7]  # leaf 6: middles 2, 3
    assert net.injection_router[[0, 3, 4, 63]].tolist() == [12, 12, 13, 27]


def test_qtree_is_a_plain_tree():
    net = network(Shape("qtree", 4, 3))
    assert leading(net, 0) == [1, 2, 3, 4]
    assert leading(net, 2) == [9, 10, 11, 12, 0]
    assert len(inside(net)) == 2 * (net.num_routers - 1)


def test_anynet_has_the_latency_of_the_direction_written():
    net = network(Shape("anynet", 4, 3, file=str(DATA / "small.net")))
    assert inside(net) == [(0, 1, 5), (0, 2, 2), (1, 0, 1), (1, 2, 1), (2, 0, 3), (2, 1, 4)]
    assert net.injection_router.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (Shape("flatfly", 4, 2, 4, 4, 1), "c = 4 with xr = 1"),
        (Shape("flatfly", 3, 2, 4, 8, 2), "9 routers in rows of x = 8"),
        (Shape("flatfly", 2, 5, 1, 8), "n = 5"),
        (Shape("cmesh", 5, 2, 4, 5, 2), "k = 5"),
        (Shape("cmesh", 4, 2, 1, 4, 1), "c = 1"),
        (Shape("dragonflynew", 2, 2), "n = 2"),
        (Shape("tree4", 2, 3), "k = 2"),
        (Shape("qtree", 4, 2), "n = 2"),
        (Shape("fattree", 64, 8), "hosts and"),
        (Shape("anynet", 4, 3, file=str(DATA / "slow.net")), "a latency of a node's link"),
        (Shape("anynet", 4, 3, file="nowhere.net"), "nowhere.net"),
    ],
)
def test_what_would_fail_there_is_refused(shape, message):
    with pytest.raises(InputError, match=message):
        network(shape)


def test_every_kind_is_tested():
    assert {shape.kind for shape in SHAPES} == {*KINDS} - {*CUBES}
