"""Placements respect capacity, errors name the tasks and the node, and one door opens them all."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import NotAMappingError
from netloom.mapping import check_mapping, random_mapping, write_mapping
from netloom.mapping.allocation import place_program
from netloom.topology import mesh


def placed(mapping, tasks, nodes, *, seed=1, tasks_per_node=1):
    return place_program(mapping, tasks, mesh(nodes), seed=seed, tasks_per_node=tasks_per_node)


@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 10**6), st.data())
def test_named_placements_are_mappings(nodes, per_node, seed, data):
    tasks = data.draw(st.integers(0, nodes * per_node))
    for node_of in (
        placed("identity", tasks, nodes, tasks_per_node=per_node),
        placed("random", tasks, nodes, seed=seed, tasks_per_node=per_node),
    ):
        assert node_of.dtype == np.int32
        assert check_mapping(node_of, tasks, nodes, per_node).tolist() == node_of.tolist()
        assert len(node_of) == tasks
        assert max(Counter(node_of.tolist()).values(), default=0) <= per_node


def test_random_mappings_are_uniform():
    """All 12 ways to put 2 tasks on 4 nodes, each about 500 times in 6000 (σ = 21)."""
    counts = Counter(tuple(random_mapping(2, 4, seed).tolist()) for seed in range(6000))
    assert len(counts) == 12
    assert min(counts.values()) > 400
    assert max(counts.values()) < 600


def test_place_opens_every_kind_of_mapping(tmp_path):
    write_mapping(tmp_path / "m.txt", [2, 0, 1], "line:4")
    for mapping, wanted in (
        ("identity", [0, 1, 2]),
        ("random", random_mapping(3, 4, seed=9).tolist()),
        (str(tmp_path / "m.txt"), [2, 0, 1]),
        (tmp_path / "m.txt", [2, 0, 1]),
        ([3, 2, 1], [3, 2, 1]),
        (np.array([3, 2, 1], np.uint8), [3, 2, 1]),
    ):
        found = placed(mapping, 3, 4, seed=9)
        assert found.dtype == np.int32
        assert found.tolist() == wanted


@pytest.mark.parametrize(
    ("node_of", "per_node", "message"),
    [
        ([0, 1, 2], 1, "mapping: found 3 nodes for 4 tasks; expected one node for each task"),
        ([[0, 1], [2, 3]], 1, r"an array of shape \(2, 2\)"),
        ([0.0, 1.0, 2.0, 3.0], 1, "values of type float64; expected whole node numbers"),
        ([0, 1, 2, 9], 1, "task 3 on host 9; expected hosts 0 to 7"),
        ([0, -1, 2, 3], 1, "task 1 on host -1"),
        ([0, 2**40, 2, 3], 1, "task 1 on host 1099511627776"),
        ([5, 1, 2, 5], 1, "tasks 0 and 3 both on host 5; .* task per node, or tasks_per_node=2"),
        ([6, 6, 6, 6], 2, "4 tasks on host 6, 0 and 1 among them; expected at most 2 per node, or"),
    ],
)
def test_what_is_no_mapping(node_of, per_node, message):
    with pytest.raises(NotAMappingError, match=message):
        check_mapping(node_of, 4, 8, per_node)
