"""Circles of virtual channels: found where there are some, also in a published scheme."""

import numpy as np
import pytest

from netloom.routing import virtual_channel_routing
from netloom.routing.by_hop.hosted import circle_among, group_kinds, hop_circle, plan
from netloom.routing.by_hop.tables import Automaton, hop_tables
from netloom.routing.forwarding.tables import cycle_of_waits
from netloom.topology import topology


def booksim_ugal(net):
    """UGAL on dragonflies as BookSim 2 deals out its three VCs (``ugal_dragonflynew``).

    On the way to the intermediate router VC 0. From there, or from the source, VC 1 up to the
    global channel and VC 2 on it and behind it; VC 2 within a group.
    """
    start, away, before, behind, inside = range(5)
    own = np.arange(5, dtype=np.int16)
    turn, keep, leave, none = own.copy(), own.copy(), own.copy(), own.copy()
    turn[away], keep[start], leave[start], none[start] = before, before, away, inside
    delta = np.array([own, own], np.int16).T.copy()
    delta[before] = [before, behind]
    flag = np.eye(5, dtype=np.int8)
    automaton = Automaton(
        group_kinds(net).kind, delta, np.array([7, 1, 2, 4, 4], np.int64),
        np.array([7, 0, 7, 7, 7], np.int64), 1 - flag[away], flag[away], flag[start],
        keep, leave, turn, none,
    )  # fmt: skip
    wanted = plan(net, "ugal-l", "")
    return hop_tables(net, 3, [wanted.out, wanted.straight], automaton, **wanted.more)


@pytest.mark.parametrize("name", ["dragonfly:1x4x2", "dragonfly:2x4x2"])
def test_the_three_vcs_of_an_established_simulator_have_a_circle(name):
    net = topology(name)
    circle = hop_circle(net, booksim_ugal(net))
    assert circle
    assert {vc for _, vc in circle} == {0}
    kinds = group_kinds(net).kind[[channel for channel, _ in circle]]
    assert {0, 1} == set(kinds.tolist())
    for (channel, _), (after, _) in zip(circle, circle[1:] + circle[:1], strict=True):
        assert net.target_end[channel] == net.source_end[after]
    ours = virtual_channel_routing(net, "ugal-l", num_vcs=4).tables
    assert hop_circle(net, ours) == ()


def test_on_paper_too_packets_of_the_circle_exist():
    """Each wait in the circle is one of a packet that goes to an intermediate router."""
    net = topology("dragonfly:1x4x2")
    group = np.arange(net.num_routers) // 4
    circle = [channel for channel, _ in hop_circle(net, booksim_ugal(net))]
    source, target = net.routers.channel_source, net.routers.channel_target
    for held, asked in zip(circle, circle[1:] + circle[:1], strict=True):
        ends = group[[source[held], target[held], target[asked]]]
        assert len(set(ends.tolist())) == 2  # local then global, or global then local


def test_sets_of_vcs_that_overlap_are_told_apart():
    masks = np.array([0b011, 0b110], np.int64)
    held, asked = np.array([[0, 0], [1, 1]]), np.array([[1, 0], [0, 1]])
    # channel 0 in VCs 0, 1 waits for 1 in 0, 1; channel 1 in VCs 1, 2 for 0 in 1, 2: by VC 1
    assert circle_among(held, asked, masks) == ((0, 1), (1, 1))
    assert circle_among(held, asked, np.array([0b011, 0b100], np.int64)) == ()
    assert circle_among(held[:0], asked[:0], masks) == ()


@pytest.mark.parametrize("seed", range(40))
def test_circles_of_sets_are_those_of_single_vcs(seed):
    rng = np.random.default_rng(seed)
    masks = rng.integers(1, 16, 3)
    held = np.stack([rng.integers(0, 6, 5), rng.integers(0, 3, 5)], axis=1)
    asked = np.stack([rng.integers(0, 6, 5), rng.integers(0, 3, 5)], axis=1)
    pairs = [
        (4 * one[0] + vc, 4 * two[0] + other)
        for one, two in zip(held, asked, strict=True)
        for vc in range(4)
        for other in range(4)
        if masks[one[1]] >> vc & 1 and masks[two[1]] >> other & 1
    ]
    single = cycle_of_waits(*np.array(pairs).T, 24)
    found = circle_among(held, asked, masks)
    assert bool(found) == bool(single)
    for one, two in zip(found, found[1:] + found[:1], strict=True):
        assert (4 * one[0] + one[1], 4 * two[0] + two[1]) in pairs
