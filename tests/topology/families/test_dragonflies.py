import numpy as np
import pytest

from netloom.topology import topology
from netloom.topology.families import WIRINGS, global_links
from tests.topology.families.joins import check_network, links


def global_ports(groups, ports, wiring):
    """Which port each port is joined to, from the list of links; -1 where it is free."""
    to = np.full(groups * ports, -1)
    one, other = global_links(groups, ports, wiring)
    to[one], to[other] = other, one
    assert len(np.unique(np.concatenate([one, other]))) == 2 * len(one)
    return to


@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize(
    ("groups", "ports"), [(9, 8), (10, 9), (5, 8), (4, 8), (2, 1), (2, 3), (33, 32)]
)
def test_every_two_groups_are_joined_by_as_many_links_as_fit(groups, ports, wiring):
    to = global_ports(groups, ports, wiring)
    many = np.zeros((groups, groups), int)
    used = np.flatnonzero(to >= 0)
    np.add.at(many, (used // ports, to[used] // ports), 1)
    assert (many == ports // (groups - 1) * (1 - np.eye(groups, dtype=int))).all()


@pytest.mark.parametrize("p", [1, 2, 3])
def test_absolute_wiring_is_that_of_booksim(p):
    """Port c of switch i in group G: o = i p + c, group o if o < G, else o + 1; mirror port."""
    a, groups = 2 * p, 2 * p * p + 1
    to = global_ports(groups, a * p, "absolute")
    for group in range(groups):
        for i in range(a):
            for c in range(p):
                o = i * p + c
                other = o if o < group else o + 1
                back = group if group < other else group - 1
                switch, port = back // p, back % p
                assert to[(group * a + i) * p + c] == (other * a + switch) * p + port


@pytest.mark.parametrize("groups", [4, 5, 9])
def test_palmtree_and_circulant_lead_where_the_literature_says(groups):
    ports = groups - 1
    for group in range(groups):
        palm = global_ports(groups, ports, "palmtree")[group * ports : (group + 1) * ports]
        assert (palm // ports).tolist() == [(group - j - 1) % groups for j in range(ports)]
        ring = global_ports(groups, ports, "circulant")[group * ports : (group + 1) * ports]
        away = [(j // 2 + 1) * (1 - 2 * (j % 2)) for j in range(ports)]
        assert (ring // ports).tolist() == [(group + d) % groups for d in away]


@pytest.mark.parametrize(
    "spec",
    ["dragonfly:2x4x2", "dragonfly:1x2x1/3", "dragonfly:2x4x2/5/palmtree", "dragonfly:3x1x2",
     "dragonfly:2x4x2/circulant", "dragonfly:2x4x2/8", "dragonfly+:2x3x2x2",
     "dragonfly+:4x2x3x3/4/circulant"],
)  # fmt: skip
def test_a_dragonfly_keeps_the_promises_of_a_network(spec):
    net = topology(spec)
    check_network(net)
    assert net.name == spec
    assert net.routers.family is net.family


def test_a_dragonfly_by_hand():
    net = topology("dragonfly:1x2x1")  # three groups of two routers, one global link each
    assert links(net) == {
        pair: 1
        for a, b in [(0, 1), (2, 3), (4, 5), (0, 2), (1, 4), (3, 5)]
        for pair in ((a, b), (b, a))
    }
    assert net.name_of(0) == "h0"
    assert net.channel_name(0) == "g0r0 -> g0r1"


def test_leaves_of_a_dragonfly_plus_have_hosts_and_spines_the_global_links():
    net = topology("dragonfly+:3x2x4x2")
    shape = net.family
    assert (shape.groups, shape.routers, shape.leaves, shape.globals_) == (5, 5, 3, 2)
    leaving = np.bincount(net.routers.channel_source).reshape(5, 5)
    assert (leaving[:, :3] == 2).all()
    assert (leaving[:, 3:] == 3 + 2).all()
    assert (np.bincount(net.injection_router, minlength=25).reshape(5, 5)[:, 3:] == 0).all()
    assert net.name_of(net.router_vertex(3)) == "g0spine0"
