"""Closed loops: who sends to whom, after how long, and what the loops then take."""

import numpy as np
import pytest
from scipy import stats

from netloom.workload import binary_tree, line, process_graph, ring, shuffle, transpose
from netloom.workload.programs.loops import ClosedLoop, loop_times, loops_done, think_cycles
from tests.reference.free_network import played

NONE = np.zeros(0, np.int64)


def closed_loop(graph, num_tasks, **changes):
    options = {"applied": 0.2, "message_flits": 10, "seed": 3, **changes}
    return ClosedLoop(graph, np.arange(num_tasks), num_tasks, **options)


def test_applied_traffic_sets_the_computation():
    assert think_cycles(0.25, 50) == 150
    assert think_cycles(0.5, 30) == 30
    assert closed_loop(ring(4), 4, applied=0.1).think_cycles == pytest.approx(90)


def test_a_task_computes_and_sends_and_waits():
    """t = 40, L = 10, one hop: 51 cycles a loop, the first one too."""
    loop = closed_loop(ring(4), 4, think="fixed")
    rows = played(loop, 1000)
    ends = loop.loop_ends(rows["complete"])
    assert ends[:5].tolist() == [[51 * n] * 4 for n in range(1, 6)]
    assert loops_done(ends).tolist() == [19] * 4
    times = loop_times(ends, message_flits=10, skip=3, loops=10)
    assert times.cycles.tolist() == [51] * 4
    assert times.average_node == times.worst_node == pytest.approx(10 / 51)


def test_messages_wait_for_those_before_and_for_no_others():
    loop = closed_loop(ring(6), 6)
    table = loop.extend(NONE, until=500)
    waits = dict(zip(table.waits().tolist(), table.after.tolist(), strict=True))
    chain = chain_of(loop, np.arange(len(table)))
    assert chain[:6].tolist() == [*range(6)]
    for task in range(6):
        rows = np.flatnonzero(chain == task).tolist()
        assert len(rows) >= 5  # of 50 cycles on average
        assert rows[0] not in waits
        assert [waits.pop(row) for row in rows[1:]] == rows[:-1]
    assert not waits
    assert set(zip(chain.tolist(), table.source.tolist(), strict=True)) == {
        (i, i) for i in range(6)
    }
    assert set(table.flits.tolist()) == {10}
    assert not table.run.any()  # each task has a processor of its own
    assert (table.context == -1).all()


def test_packets_follow_each_other():
    """25 flits as 10, 10 and 5, gap 4: 11 + 4 + 11 + 4 + 6 cycles after each computation."""
    loop = closed_loop(
        line(2), 2, message_flits=25, applied=0.5, think="fixed", packet_flits=10, gap_cycles=4
    )
    rows = played(loop, 400)
    ends = loop.loop_ends(rows["complete"])
    assert ends[:3].tolist() == [[61, 61], [122, 122], [183, 183]]
    first, second = rows[:3], rows[3:6]
    assert first["sent"].tolist() == [25, 40, 55] == second["sent"].tolist()
    table = closed_loop(line(2), 2, message_flits=25, packet_flits=10).extend(NONE, until=1)
    assert table.flits[:6].tolist() == [10, 10, 5, 10, 10, 5]
    assert chain_of(loop, [0, 2, 3, 5, 6]).tolist() == [0, 0, 1, 1, 0]
    targets = loop.extend(rows["complete"], 500).target.reshape(-1, 3)
    assert (targets == targets[:, :1]).all()  # all packets of a message go to the same task


def test_neighbours_on_the_same_node_are_there_at_once():
    loop = ClosedLoop(ring(4), [0, 0, 0, 0], 1, applied=0.2, message_flits=10, think="fixed")
    assert loop.loop_ends(played(loop, 100)["complete"])[:2].tolist() == [[40] * 4, [80] * 4]


def chain_of(loop, rows):
    return loop.row_of(rows) // loop.packets


def drawn_targets(graph, num_tasks, count, **options):
    loop = closed_loop(graph, num_tasks, **options)
    table = loop.extend(NONE, until=51 * count)
    chain = chain_of(loop, np.arange(len(table)))
    each = [table.target[chain == task] for task in range(len(loop.tasks))]
    return np.stack([targets[: min(map(len, each))] for targets in each], axis=1)


def test_neighbours_are_drawn_evenly():
    graph = binary_tree(7)
    targets = drawn_targets(graph, 7, 3000)
    for task in range(7):
        wanted = graph.target[graph.source == task]
        found, counts = np.unique(targets[:, task], return_counts=True)
        assert found.tolist() == wanted.tolist()
        assert len(wanted) == 1 or stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("choice", ["bytes", "messages"])
def test_neighbours_are_drawn_by_weight(choice):
    """Edges of no weight, first, last or between, are never drawn."""
    weights = {"bytes": [0, 3, 0, 1, 0, 5, 5], "messages": [2, 0, 6, 0, 0, 1, 3]}
    graph = process_graph(5, [0, 0, 0, 0, 1, 1, 2], [1, 2, 3, 4, 0, 2, 3], **weights)
    targets = drawn_targets(graph, 5, 4000, choice=choice)
    assert targets.shape[1] == 3  # tasks 3 and 4 only receive
    for chain in range(3):
        edges = graph.source == chain
        weight = np.array(weights[choice])[edges]
        counts = np.bincount(targets[:, chain], minlength=5)[graph.target[edges]]
        assert counts.sum() == len(targets)
        assert counts[weight == 0].sum() == 0
        expected = len(targets) * weight[weight > 0] / weight.sum()
        assert len(expected) == 1 or stats.chisquare(counts[weight > 0], expected).pvalue > 1e-4


def test_a_mapping_moves_senders_and_receivers():
    loop = ClosedLoop(line(2), [5, 3], 8, applied=0.2, message_flits=10)
    table = loop.extend(NONE, until=100)
    assert table.num_nodes == loop.num_nodes == 8
    assert set(zip(table.source.tolist(), table.target.tolist(), strict=True)) == {(5, 3), (3, 5)}


def test_however_a_run_is_cut_it_is_the_same():
    def ends_of(*, step=None, seed=3):
        loop = closed_loop(binary_tree(7), 7, seed=seed)
        complete = played(loop, 4000, step=step)["complete"]
        ends = loop.loop_ends(complete)
        done = loop.loops_done(complete)
        assert done.tolist() == loops_done(ends).tolist()
        assert loop.loop_ends(complete, 9).tolist() == ends[:9].tolist()
        return ends[: done.max()].tolist()

    wanted = ends_of()
    for step in (13, 97, 1000):
        assert ends_of(step=step) == wanted
    assert ends_of(seed=4) != wanted


def test_the_mean_loop_is_the_mean_computation_and_the_message():
    for think, deviation in (("uniform", 80 / 12**0.5), ("exponential", 40)):
        loop = closed_loop(ring(8), 8, think=think)
        ends = loop.loop_ends(played(loop, 60_000, step=5000)["complete"])
        times = loop_times(ends, message_flits=10, skip=10, loops=1000)
        assert times.cycles.mean() == pytest.approx(51, abs=4.5 * deviation / 8000**0.5)


def test_three_kinds_of_mean_traffic():
    ends = np.array([[10, 40], [20, 80], [30, 120]])
    times = loop_times(ends, message_flits=6, skip=0, loops=3)
    assert times.cycles.tolist() == [10, 40]
    assert times.average_node == pytest.approx(6 / 25)
    assert times.worst_node == pytest.approx(6 / 40)
    assert times.accepted == pytest.approx((6 / 10 + 6 / 40) / 2)


@pytest.mark.parametrize(
    ("graph", "wanted"), [(transpose(3), [1, 2, 3, 5, 6, 7]), (shuffle(4), [1, 2])]
)
def test_what_a_permutation_leaves_in_its_place_is_idle(graph, wanted):
    loop = ClosedLoop(graph, np.arange(graph.num_tasks), 16, applied=0.2, message_flits=5)
    assert loop.tasks.tolist() == wanted
    table = loop.extend(NONE, until=100)
    pairs = zip(table.source.tolist(), table.target.tolist(), strict=True)
    assert set(pairs) == set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    assert chain_of(loop, np.arange(len(wanted))).tolist() == list(range(len(wanted)))
