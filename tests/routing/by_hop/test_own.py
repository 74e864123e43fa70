"""Functions of users that pick ports."""

import pickle

import numpy as np
import pytest

from netloom.base.errors import DeadlockError, InputError
from netloom.routing import hosted_ports, routing_by_hop, virtual_channel_routing
from netloom.topology import topology
from tests.routing.by_hop.walks import idle, walk


def last(router, goal, ports, used, coin):
    return len(ports) - 1


def least_used(router, goal, ports, used, coin):
    best = coin % len(ports)
    for index in range(len(ports)):
        if used[ports[index]] < used[ports[best]]:
            best = index
    return best


def test_a_function_picks_the_port():
    net = topology("leaf-spine:3x4x2")
    wired = hosted_ports(net)
    ups = np.flatnonzero(net.routers.channel_source == 0)
    found = routing_by_hop(net, last, num_vcs=1)
    assert found.name == "last"
    assert walk(net, found, 0, 5)[0][1] == ups[-1]
    assert found.uses_credits
    weighed = routing_by_hop(net, least_used, num_vcs=1, name="mine")
    assert weighed.name == "mine"
    for way in ups:
        used = idle(net, weighed.tables) + 5
        used[0, wired.out_port[way]] = 2
        assert walk(net, weighed, 0, 5, used=used)[0][1] == way


def test_it_sees_router_goal_and_coin():
    net = topology("leaf-spine:3x5x1")

    def by_numbers(router, goal, ports, used, coin):
        return (10 * router + goal + coin + len(used)) % len(ports)

    found = routing_by_hop(net, by_numbers, num_vcs=2)
    ups = np.flatnonzero(net.routers.channel_source == 1)
    for coin in range(7):
        place = (10 + 2 + coin + idle(net, found.tables).shape[1]) % 5
        assert walk(net, found, 1, 2, coin=coin)[0][1] == ups[place]


def test_places_beyond_the_ports_are_the_nearest_port():
    net = topology("leaf-spine:2x3x1")
    ups = np.flatnonzero(net.routers.channel_source == 0)
    for place, up in ((-5, ups[0]), (99, ups[-1])):

        def beyond(router, goal, ports, used, coin, place=place):
            return place

        assert walk(net, routing_by_hop(net, beyond, num_vcs=1), 0, 1)[0][1] == up


def test_what_can_deadlock_is_refused():
    with pytest.raises(DeadlockError, match="expected at least 2 VCs"):
        routing_by_hop(topology("dragonfly:2x4x2"), last, num_vcs=1, like="minimal-group")


def test_other_mistakes_are_refused():
    net = topology("leaf-spine:2x2x1")

    def opens(router, goal, ports, used, coin):
        return len(open("file").read())  # noqa: PTH123

    with pytest.raises(InputError, match=r"'open'.* expected a function of router, goal, ports"):
        routing_by_hop(net, opens, num_vcs=1)
    with pytest.raises(InputError, match="like: found 'valiant'; expected minimal, nca"):
        routing_by_hop(net, last, num_vcs=1, like="valiant")
    with pytest.raises(InputError, match="num_vcs: found 65"):
        routing_by_hop(net, last, num_vcs=65)
    with pytest.raises(TypeError, match="calls a function of this process"):
        pickle.dumps(routing_by_hop(net, last, num_vcs=1))


def test_what_was_made_before_is_taken_where_it_fits():
    net = topology("leaf-spine:2x2x2")
    made = routing_by_hop(net, last, num_vcs=2)
    assert virtual_channel_routing(net, made, num_vcs=2) is made
    assert virtual_channel_routing(topology(net.name), made, num_vcs=2) is made
    for other, vcs in ((net, 3), (topology("leaf-spine:2x2x3"), 2)):
        with pytest.raises(InputError, match="made for leaf-spine:2x2x2 with 2 VCs"):
            virtual_channel_routing(other, made, num_vcs=vcs)
