"""Programs that repeat: however a run is cut, the same rows are there when they are wanted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloom.errors import InputError
from netloom.workload import rounds
from netloom.workload.messages import messages
from netloom.workload.rounds import Rounds, second_half
from tests.reference.free_network import played


def two_chains():
    """Nodes 0 and 1 send to each other, taking turns; node 2 sends to node 3, ever later."""
    one = messages(
        4, first=3, source=[0, 1, 2], target=[1, 0, 3], flits=[5, 3, 2], after=[[1], [3], [2]]
    )

    def draw(numbers):
        delay = np.zeros((len(numbers), 3), np.int32)
        delay[:, 2:] = numbers
        return {"delay": delay}

    return Rounds(one, draw)


def test_times_of_a_program_that_repeats():
    source = two_chains()
    rows = played(source, 200)
    done = source.of_rounds(rows["complete"], np.arange(3))[:5]
    # A message of L flits takes L + 1 cycles: a round of the first chain 6 + 4. The second
    # takes 3, after 0, 1, 2, … cycles.
    assert done[:, 0].tolist() == [6, 16, 26, 36, 46]
    assert done[:, 1].tolist() == [10, 20, 30, 40, 50]
    assert done[:, 2].tolist() == [3, 7, 12, 18, 25]


def test_rows_are_there_when_they_are_wanted():
    """Exactly the rounds that can begin before a cycle have to be there: not one is missing."""
    source = two_chains()
    table = source.extend(np.zeros(0, np.int64), until=40)
    assert len(table) % 3 == 0
    assert len(table) >= 3 * 5  # without contention the first chain takes 8 cycles a round
    assert len(source.extend(np.full(len(table), -1), until=40)) == 0
    assert table.first == 0
    assert table.after_offsets[:4].tolist() == [0, 0, 1, 1]  # the first round waits for itself only


@settings(max_examples=60)
@given(st.data())
def test_however_a_run_is_cut(data):
    rows = data.draw(st.integers(1, 5))
    nodes = st.lists(st.integers(0, 3), min_size=rows, max_size=rows)
    after = [data.draw(st.lists(st.integers(0, rows + i - 1), max_size=3)) for i in range(rows)]
    for i, waits in enumerate(after):  # each goes on from its own round or the one before
        if not any(row >= rows for row in waits):
            waits.append(i)
    one = messages(
        4,
        first=rows,
        source=data.draw(nodes),
        target=data.draw(nodes),
        flits=data.draw(nodes),
        run=data.draw(nodes),
        hold=data.draw(nodes),
        receive=data.draw(nodes),
        after=after,
    )
    low, high = sorted(data.draw(st.lists(st.integers(1, 20), min_size=2, max_size=2)))

    def draw(numbers):
        return {"delay": (low + (numbers * 7 + np.arange(rows) * 3) % high).astype(np.int32)}

    whole = played(Rounds(one, draw), 120)
    cut = played(Rounds(one, draw), 120, step=data.draw(st.integers(1, 50)))
    common = min(len(whole), len(cut))
    for name in ("ready", "sent", "arrived", "complete", "last"):
        assert whole[name][:common].tolist() == cut[name][:common].tolist()
    assert not (whole["complete"][common:] >= 0).any()
    assert not (cut["complete"][common:] >= 0).any()


def test_a_blocked_chain_asks_for_no_rows_in_vain():
    """What is not complete by now will not have been complete before."""
    source = two_chains()
    table = source.extend(np.zeros(0, np.int64), until=20)
    complete = np.full(len(table), -1)
    complete[2] = 1000  # the second chain's first row took 1000 cycles; of the first, none is done
    more = source.extend(complete, until=1010)
    assert len(table) + len(more) < 3 * 25


def test_rows_of_a_run_that_would_not_end(monkeypatch):
    monkeypatch.setattr(rounds, "MOST_ROWS", 100)
    source = Rounds(
        messages(2, first=1, source=0, target=0, flits=1, after=[[0]]), lambda numbers: {}
    )
    with pytest.raises(InputError, match="cycles: found 10, before which a program of 1 messages"):
        source.extend(np.zeros(0, np.int64), until=10)


def test_second_half_of_two_rounds():
    two = messages(2, source=0, target=1, flits=[1, 2, 1, 2], after=[[], [0], [1, 0], [2]])
    half = second_half(two)
    assert half.first == 2
    assert half.flits.tolist() == [1, 2]
    assert half.after_offsets.tolist() == [0, 2, 3]
    assert half.after.tolist() == [1, 0, 2]
