from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError
from netloom.experiments.file import values_of
from netloom.questions.register import kind_of

LOADS = partial(kind_of("simulate.load").levels, field="load")


@given(st.integers(1, 50), st.integers(0, 500), st.integers(1, 40))
def test_ranges_have_both_ends_and_equal_steps(first, length, step):
    found = values_of("vcs", {"from": first, "to": first + length, "step": step})
    assert found[0] == first
    assert first + length - step < found[-1] <= first + length
    assert all(after - before == step for before, after in pairwise(found))


@pytest.mark.parametrize(
    ("field", "value", "values"),
    [
        ("vcs", 2, None),
        ("vcs", [1, 2], [1, 2]),
        ("app", [["a@0", "b@1"], "c"], [["a@0", "b@1"], "c"]),
        ("router", {"vcs": 2}, None),
        ("vcs", {"from": 1, "to": 8, "step": 3}, [1, 4, 7]),
        ("nodes", {"from": 16, "to": 1024, "factor": 4}, [16, 64, 256, 1024]),
        ("load", [0.2, 0.1, 0.2], [0.1, 0.2]),
        ("load", "0.1,0.2", [0.1, 0.2]),
        ("load", {"from": 0.1, "to": 0.3, "step": 0.1}, [0.1, 0.2, 0.3]),
    ],
)
def test_lists_and_ranges(field, value, values):
    assert values_of(field, value, LOADS if field == "load" else None) == values


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"from": 3, "to": 1},
        {"from": 1, "to": 3, "step": 0},
        {"from": 1, "to": 3, "step": 1, "factor": 2},
        {"from": 0, "to": 3, "factor": 2},
        {"from": 1, "to": 3, "factor": 1},
        {"from": "1", "to": 3},
        {"from": 1, "to": float("inf")},
        {"from": 1, "to": 1e6},
    ],
)
def test_what_is_no_list_or_range(value):
    with pytest.raises(InputError, match="vcs"):
        values_of("vcs", value, None)
