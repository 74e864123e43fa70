"""Balanced tables: every pair routed, no circle, as good as the best on full trees."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from netloom.contention import effective_bisection, shift_loads
from netloom.fabrics.balancing import balanced
from netloom.routing.forwarding.tables import lane_circle, lanes_used
from netloom.topology import topology
from tests.reference.forwarding import table_waits, walked


@pytest.mark.parametrize(
    ("spec", "busiest"),
    [
        ("fat-tree:4x3", 60),
        ("leaf-spine:4x4x4", 12),
        ("xgft:2x3x4/1x2x3", 22),
        ("xgft:4x4/1x2", 24),
    ],
)
def test_full_trees_are_free_of_circles_and_as_even_as_can_be(spec, busiest):
    net = topology(spec)
    table = balanced(net).table
    assert nx.is_directed_acyclic_graph(table_waits(net, table.next_channel))
    for row, end in zip(table.next_channel, net.ejection_router.tolist(), strict=True):
        assert all(
            walked(net, row, router, end) is not None
            for router in set(net.ejection_router.tolist())
        )
    shifts = shift_loads(net, table)
    assert shifts.total_load[: net.num_network_channels].max() == busiest


def test_a_real_subnet_is_one_percent_from_its_bound_and_free_of_circles_for_all_end_points():
    net = topology(f"fabric:{Path(__file__).parents[2] / 'examples' / 'dgx-40.ibnetdiscover'}")
    best = balanced(net)
    table = best.table
    assert table.lanes is None
    shifts = shift_loads(net, table)
    assert shifts.total_load[: net.num_network_channels].max() <= 632  # 628.8, by cuts
    assert best.front[0].all_to_all <= 632
    assert effective_bisection(net, table).mean >= 0.788
    rows = np.concatenate([table.next_channel, table.others])
    ends = [
        *net.ejection_router.tolist(),
        *net.cabling.others.router.tolist(),
        *range(net.num_routers),
    ]
    assert nx.is_directed_acyclic_graph(table_waits(net, rows))
    for row, end in zip(rows, ends, strict=True):
        assert all(walked(net, row, router, end) is not None for router in range(net.num_routers))
    assert lane_circle(net, table, everyone=True) == ()


@pytest.mark.parametrize(
    ("spec", "busiest", "share", "lanes"),
    [("torus:4x4x4", 34, 0.88, 2), ("dragonfly:2x4x2", 72, 0.71, 2), ("mesh:4x4", 16, 0.82, 1)],
)
def test_direct_networks_take_few_lanes(spec, busiest, share, lanes):
    net = topology(spec)
    found = balanced(net)
    assert lane_circle(net, found.table) == ()
    assert lanes_used(found.table) <= lanes
    load = shift_loads(net, found.table).total_load[: net.num_network_channels].max()
    assert load <= busiest
    assert effective_bisection(net, found.table).mean >= share


def test_frozen_rows_stay_and_the_same_seed_gives_the_same_table():
    net = topology("leaf-spine:5x3x4")
    start = balanced(net, seed=5).table
    assert (balanced(net, seed=5).table.next_channel == start.next_channel).all()
    start.next_channel[:4] = start.next_channel[[1, 2, 3, 0]]
    frozen = np.arange(net.num_hosts) < 4
    found = balanced(net, start=start, frozen=frozen).table
    assert (found.next_channel[:4] == start.next_channel[:4]).all()


def test_objectives_choose_from_the_front():
    net = topology("leaf-spine:5x3x4")
    front = balanced(net).front
    for objective, key in (
        ("all-to-all", lambda each: each.all_to_all),
        ("shifts", lambda each: each.shift_max),
        ("permutations", lambda each: -each.bisection),
    ):
        table = balanced(net, objective=objective).table.next_channel
        chosen = next(each for each in front if (each.table.next_channel == table).all())
        assert key(chosen) <= min(map(key, front)) * (1.012 if objective == "all-to-all" else 1)
