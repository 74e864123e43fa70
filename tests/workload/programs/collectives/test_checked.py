"""The checker: what a collective means, told apart from what almost does it."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.program import CollectiveProgram, owners, single
from netloom.workload.programs.messages import Lists, lists
from tests.reference.collectives_checked import check


def program(collective, rows, ranks, root=0, chunks=1):
    """Return a program of rows (step, source, target, chunks, whether it sums)."""
    size, first, final = owners(collective, ranks, chunks, root)
    columns = [np.array([row[place] for row in rows], np.int32) for place in (1, 2, 0)]
    sums = np.array([row[4] for row in rows], bool)
    carried = lists([row[3] for row in rows])
    return CollectiveProgram(
        collective, "by hand", ranks, size, root, *columns, carried, sums, first, final
    )


def ring(ranks, sums=False):
    """Return a ring: reduce-scatter if it sums, else all-gather."""
    rows = [
        (step, rank, (rank + 1) % ranks, [(rank - step - sums) % ranks], sums)
        for step in range(ranks - 1)
        for rank in range(ranks)
    ]
    return program("reduce-scatter" if sums else "all-gather", rows, ranks)


def without(given, message):
    """Return a program that lacks a message."""
    kept = np.delete(np.arange(given.num_messages), message)
    columns = {name: getattr(given, name)[kept] for name in ("source", "target", "step", "sums")}
    return replace(given, chunks=given.chunks.taken(kept), **columns)


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("sums", [False, True])
def test_rings_are_right(ranks, sums):
    check(ring(ranks, sums))


@pytest.mark.parametrize("sums", [False, True])
def test_every_message_of_a_ring_is_needed(sums):
    given = ring(4, sums)
    for message in range(given.num_messages):
        with pytest.raises(InputError):
            check(without(given, message))


def test_nothing_is_sent_in_the_step_in_which_it_arrives():
    rows = [(0, 0, 1, [0], False), (0, 1, 2, [0], False)]
    with pytest.raises(InputError, match=r"message 1 \(step 0, 1 to 2\): found chunk 0, which 1"):
        check(program("broadcast", rows, 3))
    every = [0, 1, 2]
    check(program("broadcast", [(0, 0, 1, every, False), (1, 1, 2, every, False)], 3))


def test_a_contribution_that_is_added_twice_is_found():
    rows = [(0, 1, 0, [0, 1], True), (1, 1, 0, [0], True)]
    with pytest.raises(InputError, match="contribution of rank 1 to chunk 0 twice"):
        check(program("reduce", rows, 2))
    check(program("reduce", rows[:1], 2))


def test_ranks_that_both_sum_at_once_have_all():
    rows = [(0, 0, 1, [0, 1], True), (0, 1, 0, [0, 1], True)]
    check(program("all-reduce", rows, 2))


def test_a_partial_sum_taken_as_it_is_does_not_suffice():
    rows = [(0, 1, 0, [0, 1, 2], True), (1, 0, 2, [0, 1, 2], False), (1, 0, 1, [0, 1, 2], False)]
    with pytest.raises(InputError, match="rank 0 with 2 of 3 contributions to chunk 0"):
        check(program("all-reduce", rows, 3))


def test_a_message_to_its_own_rank_or_to_none_is_refused():
    for target in (0, 2):
        with pytest.raises(InputError, match="expected two of 2 ranks"):
            check(program("broadcast", [(0, 0, target, [0, 1], False)], 2))


def test_all_to_all_needs_each_pair():
    rows = [(0, s, t, [3 * s + t], False) for s in range(3) for t in range(3) if s != t]
    check(program("all-to-all", rows, 3))
    with pytest.raises(InputError, match="rank 0 without chunk 3 in the end"):
        check(program("all-to-all", rows[:2] + rows[3:], 3))


def test_a_barrier_by_dissemination_may_hear_of_a_rank_twice():
    rows = [(s, r, (r + 2**s) % 3, [0], True) for s in range(2) for r in range(3)]
    check(program("barrier", rows, 3))


@pytest.mark.parametrize(
    ("collective", "sums_to"),
    [("all-gather", 1), ("scatter", 1), ("all-reduce", 1), ("all-to-all", 4), ("barrier", 0)],
)
def test_chunks_of_a_size_are_1_together(collective, sums_to):
    size, first, final = owners(collective, 4, 3, 1)
    assert size.sum() == pytest.approx(sums_to)
    assert len(size) == len(first) == len(final)


def test_owners_refuse_what_is_none():
    for given in (("all-mixed", 4, 1, 0), ("reduce", 0, 1, 0), ("reduce", 2, 0, 0),
                  ("reduce", 2, 1, 2)):  # fmt: skip
        with pytest.raises(InputError):
            owners(*given)


def test_lists_are_taken_in_any_order():
    given = lists([[1, 2], [], [3]])
    assert [given.taken(np.array([2, 0])).of(place).tolist() for place in (0, 1)] == [[3], [1, 2]]
    assert single([5, 6]).lengths.tolist() == [1, 1]
    assert isinstance(given.taken(np.zeros(0, np.int64)), Lists)


def test_sizes_of_messages_are_those_of_their_chunks():
    given = program("all-gather", [(0, 0, 1, [0, 1], False), (0, 1, 0, [2], False)], 2, chunks=2)
    assert given.message_size.tolist() == pytest.approx([0.5, 0.25])
    assert repr(given) == "<all-gather, by hand: 2 ranks, 4 chunks, 2 messages in 1 steps>"
