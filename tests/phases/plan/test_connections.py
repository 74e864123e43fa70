"""Connections of a mapped process graph: words, ends and order as they were asked for."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases import Capacity, Connections, connections
from netloom.phases.plan.plans import MOST_CHANNELS, MOST_WORDS, ranks
from netloom.workload import process_graph, read


def app(edges, num_tasks=4, **weights):
    source, target = zip(*edges, strict=True)
    return process_graph(num_tasks, source, target, name="an app", **weights)


def test_edges_go_where_their_tasks_run():
    graph = app([(0, 1), (1, 2), (2, 3), (3, 0)], bytes=[8, 9, 4, 0])
    made = connections(graph, [5, 0, 3, 3], 6)
    assert made.source.tolist() == [5, 0, 3]  # 2 -> 3 stays on a node
    assert made.target.tolist() == [0, 3, 5]
    assert made.source_task.tolist() == [0, 1, 3]
    assert made.target_task.tolist() == [1, 2, 0]
    assert made.words.tolist() == [2, 3, 0]
    assert (made.num_nodes, made.name, len(made)) == (6, "an app", 3)
    assert made.describe(2) == "3 -> 0"
    assert [each.dtype for each in (made.source, made.words)] == [np.int32, np.int64]


def test_the_last_word_is_padded():
    graph = app([(0, 1), (1, 2), (2, 3)], bytes=[1, 8, 8.5])
    assert connections(graph, range(4), 4, word_bytes=8).words.tolist() == [1, 1, 2]
    assert connections(graph, range(4), 4, word_bytes=1).words.tolist() == [1, 8, 9]
    assert connections(graph, range(4), 4, words=0).words.tolist() == [0, 0, 0]


def test_tasks_of_one_node_talk_without_the_network():
    made = connections(read("all-to-all:4"), [1, 1, 1, 1], 2)
    assert len(made) == 0
    assert ranks(made).tolist() == []


def test_several_connections_may_join_two_nodes():
    made = connections(app([(0, 2), (0, 3), (1, 2)]), [0, 0, 1, 1], 2)
    assert list(zip(made.source.tolist(), made.target.tolist(), strict=True)) == 3 * [(0, 1)]


def test_an_order_is_kept_once_and_between_nodes_only():
    order = [((0, 1), (1, 2)), ((0, 1), (1, 2)), ((2, 3), (0, 1)), ((1, 2), (3, 0))]
    made = connections(app([(0, 1), (1, 2), (2, 3), (3, 0)]), [5, 0, 3, 3], 6, order=order)
    assert made.before.tolist() == [0, 1]
    assert made.after.tolist() == [1, 2]
    assert ranks(made).tolist() == [0, 1, 2]
    assert repr(made) == "<3 connections of an app, 3 words, 2 in order>"


EDGES = [(0, 1), (1, 2), (2, 0)]

CIRCLE = [((0, 1), (1, 2)), ((1, 2), (2, 0)), ((2, 0), (0, 1))]
MISTAKES = [
    ({"words": -1}, f"words: found -1; expected 0 to {MOST_WORDS}"),
    ({"words": MOST_WORDS + 1}, f"words: found {MOST_WORDS + 1}; expected 0 to {MOST_WORDS}"),
    ({"word_bytes": 0}, "word_bytes: found 0; expected 1 to 1048576 bytes"),
    ({"order": [((0, 1), (1, 3))]}, "order[0]: found 1 -> 3; expected edges of an app"),
    ({"order": CIRCLE}, "order: found connection 0 -> 1 in, or after, a circle of constraints"),
    ({"order": [CIRCLE[1][:1] * 2]}, "order: found connection 1 -> 2 in, or after, a circle of"),
]


@pytest.mark.parametrize(("wrong", "said"), MISTAKES)
def test_mistakes_are_named(wrong, said):
    with pytest.raises(InputError) as caught:
        connections(app(EDGES), range(4), 4, **wrong)
    assert str(caught.value).startswith(said)


def test_too_many_bytes():
    heavy = app(EDGES, bytes=[1, 2, 1e300])
    with pytest.raises(InputError, match=r"an app: found 2.5e\+299 words on an edge; expected at"):
        connections(heavy, range(4), 4)


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.randoms())))
@settings(max_examples=50)
def test_ranks_are_the_longest_chains(drawn):
    count, random = drawn
    names = random.sample(range(count), count)
    pairs = {tuple(sorted(random.choices(range(count), k=2))) for _ in range(2 * count)}
    pairs = [(names[a], names[b]) for a, b in sorted(pairs) if a != b]
    before, after = np.array(pairs, np.int32).reshape(-1, 2).T
    ends = np.zeros(count, np.int32), np.ones(count, np.int32)
    made = Connections(2, *ends, np.ones(count, np.int64), *ends, before, after, "drawn")
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(count))
    expected = {
        node: nx.dag_longest_path_length(graph.subgraph(nx.ancestors(graph, node) | {node}))
        for node in graph
    }
    assert ranks(made).tolist() == [expected[node] for node in range(count)]


@pytest.mark.parametrize("node", [-1, 4])
def test_nodes_that_the_network_does_not_have(node):
    with pytest.raises(InputError) as caught:
        connections(app(EDGES), [*range(app(EDGES).num_tasks - 1), node], 4)
    assert str(caught.value) == f"node_of: found node {node}; expected 0 to 3"


@pytest.mark.parametrize("per", ["node", "channel"])
@pytest.mark.parametrize("count", [0, -3, MOST_CHANNELS + 1])
def test_a_capacity_is_at_least_one(count, per):
    with pytest.raises(InputError) as caught:
        Capacity(count, per)
    wanted = f"1 to {MOST_CHANNELS} virtual channels a {per}"
    assert str(caught.value) == f"channels: found {count}; expected {wanted}"
