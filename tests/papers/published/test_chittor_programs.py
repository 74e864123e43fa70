"""Chittor 1991, chapters 4 and 5, with fewer runs than ``netloom validate chittor``."""

import numpy as np
import pytest

from netloom_papers.ledger import compare, items, published
from netloom_papers.studies import chittor as programs

MACHINE = ("figure 4.4", "section 4.2.2", "table 4.1", "figure 4.11", "figure 4.14")


def run(number, cases, applied, runs=1):
    known = published("chittor")["items"][f"figure {number}"]
    return programs.run_loops(known, [(case, each) for case in cases for each in applied], runs)


@pytest.fixture(scope="module")
def machine():
    fewer = {"figure 4.11": {"loops": 500}, "figure 4.14": {"loops": 30}}
    rows = [
        row
        for name in MACHINE
        for row in compare("chittor", items("chittor")[name], **fewer.get(name, {}))
    ]
    return {(row.item, row.quantity): row for row in rows}


def test_the_machine_falls_outside_only_where_it_is_known_to(machine):
    assert {item for item, _ in machine} == set(MACHINE)
    outside = {key for key, row in machine.items() if not row.within}
    assert outside == {key for key, row in machine.items() if row.reason}


def test_four_neighbours_take_eight_messages_one_after_the_other(machine):
    """The channel to the router is the bottleneck: as printed for the longest messages."""
    ratios = [row.computed for (item, name), row in machine.items()
              if item == "table 4.1" and "4nn" in name]  # fmt: skip
    assert len(ratios) == 10
    assert min(ratios) > 7.6
    assert max(ratios) <= 8


def test_a_longer_path_costs_a_cycle_a_hop():
    """0.05 µs a hop, for each of the two: 22 hops against 2 take 1 µs longer."""
    ((_, hops, times),) = programs.figure_4_6([4096], loops=20)
    assert hops.tolist() == [22, 18, 14, 10, 6, 2]
    assert np.ptp(times) == pytest.approx(20 * 0.05, abs=0.01)


def test_saturation_of_the_transpose_is_theory_s():
    table = run("5.6", ["L cycles", "L + 1 cycles"], [0.9])
    assert table["worst_node"].to_list() == pytest.approx(
        [100 / 11, 100 / 11 * 50 / 51], rel=2e-3
    )  # a channel that is held for 51 cycles
    assert table["average_node"][0] == pytest.approx(300 / 23, rel=5e-3)


def test_half_the_traffic_gets_through_where_half_of_saturation_is_asked_for():
    table = run("5.9", ["5 flits", "50 flits", "250 flits"], [0.05])
    assert table["average_node"].to_list() == sorted(table["average_node"])  # D counts less
    assert table["average_node"][2] == pytest.approx(4.96, abs=0.1)  # independent reproduction


GRAPHS = ("binary tree", "2D mesh", "3D mesh", "hypercube")


def test_random_mappings_meet_theory_on_average():
    graphs = run("5.12", [f"{graph}, N = 64" for graph in GRAPHS], [0.5], 3)
    ratio = (graphs["average_node"] / graphs["theory_average_node"]).to_numpy()
    assert len(ratio) == 12
    assert abs(ratio.mean() - 1) < 0.1
    worst = (graphs["worst_node"] / graphs["theory_worst_node"]).to_numpy()
    assert 1.15 < worst.mean() < 1.55  # 1.37 to 1.46 in the independent reproduction


def test_careful_mapping_gets_through_what_is_applied():
    """Offered traffic counts the whole loop. Neighbours are a hop away: t = 150, L + D + 1 = 52."""
    table = run("5.13", [f"{graph}, N = 64" for graph in GRAPHS], [0.25])
    assert (table["average_node"] > 23.5).all()
    assert table.filter(case="2D mesh, N = 64")["offered"].item() == pytest.approx(100 * 50 / 202)


def test_packets_and_whole_messages_offer_the_same_traffic():
    table = run("5.11", ["250 flits at once", "10 packets of 25 flits"], [0.05, 0.2])
    for row in table.iter_rows(named=True):
        assert row["offered"] == pytest.approx(100 * row["applied"], rel=0.01)


def test_first_come_first_served_declines_and_time_stamps_do_not():
    cases = {"timestamp": "5.14", "fifo": "5.14", "biased": "5.15"}
    mean = {
        (policy, traffic): run(number, [f"hypercube, {policy}"], [traffic], 2)[
            "average_node"
        ].mean()
        for policy, number in cases.items()
        for traffic in (0.18, 0.4)
    }
    assert mean["fifo", 0.4] < 0.8 * mean["fifo", 0.18]
    assert mean["timestamp", 0.4] > 0.98 * mean["timestamp", 0.18]
    assert mean["biased", 0.4] == pytest.approx(mean["timestamp", 0.4], rel=0.15)
