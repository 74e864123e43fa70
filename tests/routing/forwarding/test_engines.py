"""OpenSM's engines: entries as the genuine one's dumps, and as plain Python says."""

from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.routing.forwarding import engines
from netloom.routing.forwarding.engines import (
    DOWN,
    ENGINES,
    EQUAL,
    UP,
    dnup,
    dor,
    found_roots,
    ftree,
    lash,
    minhop,
    updn,
    updn_falls_back,
    would_fall_back,
)
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import channels_by_port, end_points, lane_circle, lanes_used
from netloom.routing.forwarding.torus_2qos import grid_of, torus_2qos
from netloom.topology import Topology, topology, without
from netloom.topology.cubes import cube
from netloom.topology.measures import router_heights
from tests.networks import with_all
from tests.reference import opensm

DATA = Path(__file__).parent / "opensm"
DUMPS = sorted(DATA.glob("*/*.lfts.gz"))
NETWORKS = (
    "jellyfish:10x4x1/2", "jellyfish:12x3x7/1", "dragonfly:2x4x2", "torus:4x3/2", "mesh:3x4",
    "hyperx:3x3/2", "xgft:3x4/1x3", "xgft:2x2x3/1x2x2", "leaf-spine:4x2x3", "torus:2x4x2",
)  # fmt: skip


def fabric(name):
    return topology(f"fabric:{DATA / name / 'ibnetdiscover.txt.gz'}")


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: f"{dump.parent.name}-{dump.name[:-8]}")
def test_entries_are_those_of_the_genuine_engine(dump):
    net = fabric(dump.parent.name)
    theirs = read_lfts(net, str(dump))
    ours = ENGINES[dump.name.removesuffix(".lfts.gz")](net)
    assert np.array_equal(ours.next_channel, theirs.next_channel)
    assert np.array_equal(ours.others, theirs.others)


def test_there_are_dumps_of_every_engine():
    known = {dump.name.removesuffix(".lfts.gz") for dump in DUMPS}
    assert known >= set(ENGINES) - {"dfsssp", "nue"}  # dfsssp has the entries of sssp


@pytest.mark.parametrize(
    ("name", "engine", "said"),
    [
        ("tor-2h", "updn", "at one distance"),
        ("tor-2h", "ftree", "every switch has adapters"),
        ("rnd2", "updn", "at one distance"),
        ("rnd2", "ftree", "above the lowest level"),
        ("t3-cut", "ftree", "switches below it"),
        ("ls-cut", "ftree", "cables to a switch above it"),
        ("mesh4x4", "ftree", "every switch has adapters"),
        ("dragonfly_p2a4h2", "updn", "at one distance"),
    ],
)
def test_a_fall_back_to_minhop_is_refused_and_told(name, engine, said):
    """OpenSM's logs of these runs say: minhop tables configured."""
    net = fabric(name)
    assert said in would_fall_back(net, engine)
    with pytest.raises(InputError, match="OpenSM configures minhop"):
        ENGINES[engine](net)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: f"{dump.parent.name}-{dump.name[:-8]}")
def test_no_fall_back_is_told_of_what_was_configured(dump):
    engine = dump.name.removesuffix(".lfts.gz")
    assert would_fall_back(fabric(dump.parent.name), engine) == ""


def plain(net, *, direction=None, barred=DOWN, same_neighbour=False):
    """The table of the twin, as an array."""
    inside, ends = net.routers, end_points(net)
    channels = list(zip(inside.channel_source, inside.channel_target, strict=True))
    leaving, entering = (
        [found[1][a:b].tolist() for a, b in pairwise(found[0])]
        for found in (channels_by_port(net, leaving=True), channels_by_port(net))
    )
    table = opensm.least_used(
        ends.order.tolist(), ends.exit.tolist(), ends.num_apart, channels, leaving, entering,
        direction or (lambda _: EQUAL), barred, same_neighbour,
    )  # fmt: skip
    return as_array(table, len(ends.exit), net.num_routers)


def as_array(table, rows, columns):
    found = np.full((rows, columns), -1)
    for place, channel in table.items():
        found[place] = -1 if channel is None else channel
    return found


def whole(table):
    return np.concatenate([table.next_channel, table.others])


@pytest.mark.parametrize("name", with_all(NETWORKS, one_way=False))
def test_counters_are_as_in_plain_python(name):
    net = topology(name)
    assert np.array_equal(whole(minhop(net)), plain(net))
    assert np.array_equal(whole(dor(net)), plain(net, same_neighbour=True))


@pytest.mark.parametrize("name", with_all(NETWORKS, one_way=False))
def test_updn_is_as_in_plain_python(name):
    net = topology(name)
    if updn_falls_back(net):
        return
    rank, inside = router_heights(net, found_roots(net)), net.routers

    def direction(channel):
        here, there = inside.channel_target[channel], inside.channel_source[channel]
        if rank[here] == rank[there] == 0:
            return UP
        return UP if (rank[here], here) > (rank[there], there) else DOWN

    table = updn(net)
    assert np.array_equal(whole(table), plain(net, direction=direction))


@pytest.mark.parametrize("name", with_all(NETWORKS, one_way=False))
def test_dnup_is_as_in_plain_python(name):
    net = topology(name)
    ends, inside = end_points(net), net.routers
    rank = router_heights(net, np.unique(ends.exit[: ends.num_apart]))

    def direction(channel):
        step = rank[inside.channel_target[channel]] - rank[inside.channel_source[channel]]
        return DOWN if step < 0 else UP if step > 0 else EQUAL

    assert np.array_equal(whole(dnup(net)), plain(net, direction=direction, barred=UP))


@pytest.mark.parametrize("name", ["t3-slim", "t3-sib", "ls-x2-fewer", "dual", "k4n3"])
def test_ftree_is_as_in_plain_python(name):
    net = fabric(name)
    tree = engines._tree_of(net)
    ends = end_points(net)
    groups = tuple(
        [[(tree.neighbour[g], tree.cables[g]) for g in own] for own in kind] for kind in tree.groups
    )
    adapters = np.bincount(ends.exit[: ends.num_apart], minlength=net.num_routers)
    twin = opensm.FatTree(groups, tree.place, tree.level, adapters)
    found = {}
    for end, router in zip(*engines._in_turn(net, tree), strict=True):
        ways = twin.ways_to(router, main=end < ends.num_apart, real=end >= 0)
        found |= {(end, other): cable for other, cable in ways.items() if end >= 0}
    assert np.array_equal(whole(ftree(net)), as_array(found, len(ends.exit), net.num_routers))


@pytest.mark.parametrize("name", with_all(NETWORKS, one_way=False))
def test_lash_is_as_in_plain_python_and_free_of_circles(name):
    net = topology(name)
    inside, ends = net.routers, end_points(net)
    offsets, found = channels_by_port(net, leaving=True)
    leaving = [found[a:b].tolist() for a, b in pairwise(offsets)]
    channels = list(
        zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)
    )
    ways = opensm.tree_ways(ends.routers.tolist(), channels, leaving)
    ways = as_array(ways, net.num_routers, net.num_routers)
    table = lash(net)
    assert np.array_equal(whole(table), ways[ends.exit])
    assert lane_circle(net, table) == ()
    hops = [router_heights(net, np.array([router])) for router in range(net.num_routers)]
    for row, end in zip(ways, range(net.num_routers), strict=True):
        for router in range(net.num_routers):
            assert row[router] < 0 or hops[end][channels[row[router]][1]] == hops[end][router] - 1


@pytest.mark.parametrize(
    ("name", "layers"), [("mesh4x4", 1), ("hypercube5", 1), ("dragonfly_p2a4h2", 2), ("k4n3", 4)]
)
def test_lash_needs_as_many_layers_as_opensm_logs(name, layers):
    net = fabric(name)
    table = lash(net)
    assert lanes_used(table) == layers
    assert lane_circle(net, table) == ()


def test_lash_moves_pairs_until_its_two_layers_are_even():
    net = fabric("dragonfly_p2a4h2")
    ends, rows = np.unique(net.ejection_router, return_index=True)
    level = lash(net).lanes.level[rows][:, ends]
    one, other = np.bincount(level[~np.eye(len(ends), dtype=bool)])
    assert one + other == 36 * 35
    assert abs(one - other) < 6


def check_grid(net, grid):
    """Each cable goes one step along one dimension, and each step has at most one neighbour."""
    inside = net.routers
    change = np.abs(grid.place[inside.channel_target] - grid.place[inside.channel_source])
    rings = np.where(grid.wraps, np.array(grid.sides) - 1, -1)
    assert ((change != 0).sum(axis=1) == 1).all()
    assert ((change == 0) | (change == 1) | (change == rings)).all()
    assert len(np.unique(grid.place, axis=0)) == net.num_routers


def shuffled(sides, wraps, lost, seed):
    """A torus or mesh as a graph whose routers are in no order, some cables gone."""
    rng = np.random.default_rng(seed)
    net = cube(sides, wraps)
    ends = zip(net.source_end.tolist(), net.target_end.tolist(), strict=True)
    pairs = sorted({tuple(sorted(pair)) for pair in ends})
    kept = rng.permutation(len(pairs))[lost:]
    number = rng.permutation(net.num_ends)
    ends = number[np.array(pairs)[kept]]
    return Topology(
        "torn", net.num_ends,
        np.concatenate([ends[:, 0], ends[:, 1]]).astype(np.int32),
        np.concatenate([ends[:, 1], ends[:, 0]]).astype(np.int32),
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(5, 5), (4, 4), (6, 3), (5, 4, 3), (3, 3, 3), (7, 2), (4, 4, 4), (6, 5, 4)]),
    st.sampled_from([True, False]),
    st.integers(0, 2),
    st.integers(0, 2**31),
)
def test_coordinates_are_found_again(sides, wraps, lost, seed):
    net = shuffled(sides, wraps, lost if min(sides) > 2 else 0, seed)
    grid = grid_of(net)
    if grid is None:
        assert lost  # a corner that hangs by one cable can lie anywhere
        return
    check_grid(net, grid)
    assert lost or sorted(grid.sides) == sorted(sides)


def test_a_hypercube_is_a_torus_of_side_four():
    assert grid_of(topology("hypercube:5")).sides.count(4) == 2


@pytest.mark.parametrize(
    ("name", "lanes"), [("torus:5x5", 2), ("torus:4x3x5/2", 2), ("mesh:4x4", 2), ("torus:6x4", 2)]
)
def test_torus_2qos_is_free_of_circles_in_two_lanes(name, lanes):
    net = topology(name)
    table = torus_2qos(net)
    assert lanes_used(table) == lanes
    assert lane_circle(net, table) == ()
    hops = [router_heights(net, np.array([router])) for router in range(net.num_routers)]
    for row, end in zip(table.next_channel, net.ejection_router, strict=True):
        for router in np.flatnonzero(row >= 0):
            assert hops[end][net.routers.channel_target[row[router]]] == hops[end][router] - 1


def test_torus_2qos_goes_the_long_way_round_a_broken_ring():
    net = without(topology("torus:5x5"), channels=[0])
    table = torus_2qos(net)
    assert lane_circle(net, table) == ()
    assert (table.next_channel >= 0).sum() == 25 * 24


def test_torus_2qos_refuses_a_ring_in_two_pieces():
    net = shuffled((5, 5), True, 0, 1)
    grid = grid_of(net)
    row = np.flatnonzero(grid.place[:, 0] == 0)
    row = row[np.argsort(grid.place[row, 1])]
    gone = [{row[0], row[1]}, {row[2], row[3]}]
    kept = np.array(
        [{a, b} not in gone for a, b in zip(net.source_end, net.target_end, strict=True)]
    )
    torn = Topology("torn", 25, net.source_end[kept], net.target_end[kept])
    assert "broken in 2 places" in would_fall_back(torn, "torus-2qos")
    with pytest.raises(InputError, match="OpenSM configures minhop"):
        torus_2qos(torn)
