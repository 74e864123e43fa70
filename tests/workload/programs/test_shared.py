import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import mesh
from netloom.workload import all_to_all, line, parse_traffic, process_graph, ring, traffic
from netloom.workload.programs.shared import among, parse_placed, share, shared_traffic


@pytest.mark.parametrize(
    ("spec", "app", "nodes"),
    [
        ("ring:4", "ring:4", None),
        ("ring:4@0-3", "ring:4", [0, 1, 2, 3]),
        ("a@b.mtx@7", "a@b.mtx", [7]),
        ("A.mtx@ 8 - 9 , 0", "A.mtx", [8, 9, 0]),
    ],
)
def test_the_nodes_follow_the_last_at(spec, app, nodes):
    found, listed = parse_placed(spec)
    assert found == app
    assert nodes == (None if listed is None else listed.tolist())


def test_tasks_are_numbered_on_and_edges_stay_within_a_program():
    first = process_graph(2, [0], [1], bytes=[5], messages=[2], name="first")
    both = share([(first, [6, 2]), (line(3), [0, 1, 7])], 8)
    assert both.graph.num_tasks == 5
    assert both.graph.source.tolist() == [0, 2, 3, 3, 4]
    assert both.graph.target.tolist() == [1, 3, 2, 4, 3]
    assert both.graph.bytes.tolist() == [5, 1, 1, 1, 1]
    assert both.graph.messages.tolist() == [2, 1, 1, 1, 1]
    assert both.graph.name == "first@6,2 and line:3@0-1,7"
    assert both.node_of.tolist() == [6, 2, 0, 1, 7]
    assert both.program_of.tolist() == [0, 0, 1, 1, 1]


def test_a_program_alone_is_what_it_was():
    both = share([(ring(3), [0, 1, 2]), (line(3), [5, 4, 3])], 6)
    alone = both.alone(1)
    assert alone.names == ("line:3@5,4,3",)
    assert alone.node_of.tolist() == [5, 4, 3]
    for column in ("source", "target", "bytes", "messages"):
        assert getattr(alone.graph, column).tolist() == getattr(line(3), column).tolist()
    assert alone.alone(0).node_of.tolist() == [5, 4, 3]


def test_a_random_mapping_stays_on_the_nodes_of_the_program():
    programs = [(ring(4), np.arange(8)), (ring(8), np.arange(8, 16))]
    both = share(programs, 16, mapping="random", seed=4)
    assert both.node_of[:4].max() < 8
    assert sorted(both.node_of[4:].tolist()) == list(range(8, 16))
    assert len(set(both.node_of.tolist())) == 12
    again = share(programs, 16, mapping="random", seed=4)
    assert np.array_equal(both.node_of, again.node_of)
    other = share(programs, 16, mapping="random", seed=5)
    assert not np.array_equal(both.node_of, other.node_of)


@pytest.mark.parametrize(
    ("programs", "wrong"),
    [
        ([(ring(3), [0, 1, 2]), (ring(3), [2, 3, 4])], "host 2 in both ring:3@0-2 and ring:3@2-4"),
        ([(ring(3), [0, 1])], "ring:3@0-1: found 2 nodes for 3 tasks; expected at least 3"),
        ([(ring(3), [0, 1, 8])], "host 8; expected 0 to 7"),
        ([(ring(3), [0, 1, 6])], "host 6, which failed"),
        ([(ring(3), None), (ring(3), [0, 1, 2])], "ring:3 without nodes, one of 2 programs; .*@0"),
        ([(ring(8), None)], "7 nodes for 8 tasks"),
    ],
)
def test_programs_that_do_not_fit_are_named(programs, wrong):
    with pytest.raises(InputError, match=wrong):
        share(programs, 8, failed_nodes=[6])


def test_a_program_offers_as_much_beside_another_as_alone():
    heavy = process_graph(2, [0, 1], [1, 0], bytes=[1e6, 3e6], name="heavy")
    both = share([(line(3), [0, 1, 2]), (heavy, [3, 5])], 6)
    together, factor = shared_traffic(both)
    assert factor == 1
    expected = np.zeros(6)
    for program in (0, 1):
        one = both.alone(program)
        alone = traffic.from_process_graph(one.graph, one.node_of, 6)
        assert shared_traffic(one)[0].rate == pytest.approx(alone.rate)
        expected += alone.rate
    assert together.rate == pytest.approx(expected)
    assert together.rate == pytest.approx([0.75, 1.5, 0.75, 0.5, 0, 1.5])
    assert together.matrix().weight.sum() == pytest.approx(1)


def test_on_shared_nodes_the_load_is_that_of_both():
    both = share([(ring(4), [0, 1, 2, 3]), (all_to_all(2), [3, 4])], 5, shared=True)
    together, factor = shared_traffic(both)
    assert factor == pytest.approx(6 / 5)
    assert together.rate * factor == pytest.approx([1, 1, 1, 2, 1])
    sent = dict(
        zip(zip(*together.matrix()[:2], strict=True), together.matrix().weight, strict=True)
    )
    assert sent[3, 4] == pytest.approx(2 * sent[3, 0])


def test_traffic_among_the_nodes_that_work():
    left = among(traffic.uniform(5), [0, 1, 3, 4])
    assert left.rate.tolist() == [1, 1, 0, 1, 1]
    shares = left.matrix()
    assert len(shares.source) == 12
    assert 2 not in shares.source.tolist() + shares.target.tolist()
    assert shares.weight == pytest.approx(1 / 12)

    moved = traffic.permutation([1, 0, 3, 2])
    assert among(moved, [0, 2, 3]).rate.tolist() == [0, 0, 1, 1]
    with pytest.raises(InputError, match="no two hosts"):
        among(moved, [0, 2])

    hot = among(parse_traffic("hot-spot:0.5:3", mesh(4)), [0, 1, 3]).matrix()
    assert hot.target[:2].tolist() == [1, 3]
    assert hot.weight[:2] * 3 == pytest.approx([0.2, 0.8])  # of 1/6, 1/6 and 2/3 the first and last

    uneven = among(traffic.pairs(4, [0, 1, 1], [1, 0, 2], weights=[1, 2, 6]), [0, 1])
    assert uneven.rate == pytest.approx([2 / 9, 16 / 9, 0, 0])
