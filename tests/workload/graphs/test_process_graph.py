import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError
from netloom.workload import process_graph

edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 99)), max_size=40)


@given(edges)
def test_edges_are_sorted_added_up_and_lead_to_others(given_edges):
    source, target, sent = np.array(given_edges, int).reshape(-1, 3).T
    graph = process_graph(6, source, target, bytes=sent)
    dense = np.zeros((6, 6))
    np.add.at(dense, (source, target), sent)
    np.fill_diagonal(dense, 0)
    keys = graph.source.astype(int) * 6 + graph.target
    assert np.all(np.diff(keys) > 0)
    assert not np.any(graph.source == graph.target)
    assert graph.bytes.sum() == dense.sum()
    assert np.array_equal(graph.bytes, dense[graph.source, graph.target])


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"source": [0, 3], "target": [1, 1]}, "app, edge 1: found source task 3; expected 0 to 2"),
        ({"source": [0], "target": [-1]}, "app, edge 0: found target task -1"),
        ({"source": [0], "target": [1, 2]}, "app: found targets of shape"),
        ({"source": [0], "target": [1], "bytes": [1, 2]}, "app: found bytes of shape"),
        ({"source": [0], "target": [1], "messages": [-1]}, "app, edge 0: found messages = -1"),
    ],
)
def test_a_wrong_edge_is_named(arguments, wrong):
    with pytest.raises(InputError, match=wrong):
        process_graph(3, **arguments, name="app")
