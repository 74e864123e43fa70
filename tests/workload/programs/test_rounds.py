"""Programs that repeat: however a run is cut, rows are there when they are wanted, few others."""

import numpy as np
from hypothesis import given, settings, strategies as st

from netloom.workload.programs.messages import messages
from netloom.workload.programs.rounds import Rounds
from tests.reference.free_network import played


def two_chains():
    """Nodes 0 and 1 send to each other, taking turns; node 2 sends to node 3, ever later."""
    one = messages(
        4, first=3, source=[0, 1, 2], target=[1, 0, 3], flits=[5, 3, 2], after=[[1], [3], [2]]
    )

    return Rounds(one, lambda number, row: {"delay": np.where(row == 2, number, 0)})


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
    # Without contention the first chain takes 8 cycles a round, the second 2, 3, 4, …: its
    # rounds begin in cycles 0, 2, 5, 9, 14, 20, 27 and 35.
    assert source.row_of(range(len(table))).tolist() == [0, 1, 2] * 5 + [2] * 3
    assert table.delay.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 5, 6, 7]
    assert len(source.extend(np.full(len(table), -1), until=40)) == 0
    assert table.first == 0
    waits = {row: row - 3 for row in range(5, 15, 3)} | {15: 14, 16: 15, 17: 16}  # the second's
    for row in range(0, 15, 3):
        waits |= {row: row - 2, row + 1: row} if row else {1: 0}  # nothing is before the first
    assert dict(zip(table.waits().tolist(), table.after.tolist(), strict=True)) == waits
    more = source.extend(np.full(len(table), -1), until=45)
    assert source.row_of(range(len(table), len(table) + len(more))).tolist() == [0, 1, 2]
    assert more.after.tolist() == [13, 18, 17]
    assert source.num_rounds == 9


@settings(max_examples=60)
@given(st.data(), st.booleans())
def test_however_a_run_is_cut(data, together):
    """The same happens to the same row of a round; on shared nodes, if all rows are one part."""
    rows = data.draw(st.integers(1, 5))
    nodes = st.lists(st.integers(0, 3), min_size=rows, max_size=rows)
    after = [data.draw(st.lists(st.integers(0, rows + i - 1), max_size=3)) for i in range(rows)]
    for i, waits in enumerate(after):  # each goes on from its own round or the one before
        if not any(row >= rows for row in waits):
            waits.append(i)
    if together:
        after[0] += range(rows)
    nothing = st.just([0] * rows)
    cycles = nodes if together else nothing
    one = messages(
        4,
        first=rows,
        source=data.draw(nodes),
        target=data.draw(nodes),
        flits=data.draw(nodes),
        run=data.draw(cycles),
        hold=data.draw(cycles),
        receive=data.draw(cycles),
        after=after,
    )
    low, high = sorted(data.draw(st.lists(st.integers(1, 20), min_size=2, max_size=2)))

    def draw(number, row):
        return {"delay": low + (number * 7 + row * 3) % high}

    whole, cut = Rounds(one, draw), Rounds(one, draw)
    rows_of_whole = played(whole, 120)
    rows_of_cut = played(cut, 120, step=data.draw(st.integers(1, 50)))
    assert len(cut.row_of(range(len(rows_of_cut)))) <= len(rows_of_whole)
    for name in ("ready", "sent", "arrived", "complete"):
        wanted = whole.of_rounds(rows_of_whole[name], np.arange(rows))
        found = cut.of_rounds(rows_of_cut[name], np.arange(rows))
        assert found.tolist() == wanted[: len(found)].tolist()
        assert not (wanted[len(found) :] >= 0).any()
        done = cut.rounds_done(rows_of_cut[name], np.arange(rows))
        assert done.tolist() == (wanted >= 0).sum(axis=0).tolist()
    if together:
        assert rows_of_whole[: len(rows_of_cut)].tolist() == rows_of_cut.tolist()


def test_a_blocked_chain_asks_for_no_rows_in_vain():
    """What is not complete by now will not have been complete before."""
    source = two_chains()
    table = source.extend(np.zeros(0, np.int64), until=20)
    complete = np.full(len(table), -1)
    complete[2] = 1000  # the second chain's first row took 1000 cycles; of the first, none is done
    more = source.extend(complete, until=1010)
    assert source.row_of(range(len(table))).tolist() == [0, 1, 2] * 3 + [2] * 2
    assert len(more) == 0  # after 1000, the first is in its round 1 by 1010, the second in round 3
    assert len(source.extend(complete, until=1018)) == 0
    assert source.extend(complete, until=1019).delay.tolist() == [5]  # 1000 + 3 + 4 + 5 + 6 = 1018
    more = source.extend(np.append(complete, -1), until=1020)  # 1000 + 3 + 8 + 8 = 1019
    assert more.flits.tolist() == [5, 3]


def test_a_part_that_starves_has_few_rows():
    """The first chain never gets its message; the second goes round a hundred times."""
    source = two_chains()
    complete = np.zeros(0, np.int64)
    for until in range(50, 5001, 50):
        new = source.extend(complete, until)
        complete = np.concatenate([complete, np.full(len(new), -1)])
        ends = np.cumsum(np.arange(200) + 3)
        of_second = np.flatnonzero(source.row_of(np.arange(len(complete))) == 2)
        ends = ends[: len(of_second)]
        complete[of_second] = np.where(ends < until, ends, -1)
    made = np.bincount(source.row_of(np.arange(len(complete))))
    assert made[2] == source.num_rounds == 98
    assert made[0] == made[1] <= 150 / 8 + 1  # what could begin in the cycles not yet heard of
    ends = source.of_rounds(complete, np.arange(3))
    assert ends.shape == (98, 3)
    assert (ends[:, :2] == -1).all()
    assert source.rounds_done(complete, np.array([2, 0])).tolist() == [97, 0]
    assert source.of_rounds(complete, np.array([2]), most=3).tolist() == [[3], [7], [12]]
