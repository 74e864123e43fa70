"""Algorithms in the place of collectives: what each rank awaits, and how much is sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom.workload.programs.collectives.algorithms import algorithms_of, collective_program
from netloom.workload.programs.collectives.program import COLLECTIVES
from netloom.workload.programs.training.rank_programs import (
    CALL,
    COMPUTE,
    USUAL,
    Builder,
    Call,
    as_trace,
)

ANY_RANKS = [
    (collective, name)
    for collective in COLLECTIVES
    for name in algorithms_of(collective)
    if name not in ("hierarchical", "torus-rings", "swing-doubling", "torus-doubling")
]


def ancestors(trace: object) -> list[set[int]]:
    """Return for each entry all that it awaits, and what these await."""
    offsets, values = trace.after.offsets, trace.after.values  # type: ignore[attr-defined]
    found: list[set[int]] = []
    for entry in range(len(offsets) - 1):
        awaited = values[offsets[entry] : offsets[entry + 1]].tolist()
        found.append(set(awaited).union(*(found[other] for other in awaited)))
    return found


@settings(max_examples=60, deadline=None)
@given(which=st.sampled_from(ANY_RANKS), ranks=st.permutations(range(9)), count=st.integers(2, 9))
def test_a_rank_goes_on_when_all_it_sends_and_gets_is_there(
    which: tuple[str, str], ranks: list[int], count: int
) -> None:
    collective, algorithm = which
    group = tuple(ranks[:count])
    builder = Builder(9)
    before = {rank: builder.add(f"b{rank}", COMPUTE, rank, [], seconds=1) for rank in group}
    for rank in group:
        called = builder.add(f"c{rank}", CALL, rank, [before[rank]], link=0)
        builder.add(f"a{rank}", COMPUTE, rank, [called], seconds=1)
    builder.calls.append(Call(collective, group, 900.0))
    trace = as_trace(builder.program("by hand"), USUAL | {collective: algorithm}, str)
    program = collective_program(collective, algorithm, count)
    place = np.array(group)
    sent = np.flatnonzero(trace.flits)
    targets = trace.targets.values
    # The messages are those of the algorithm, between the ranks of the group.
    assert sorted(zip(trace.source[sent].tolist(), targets.tolist(), strict=True)) == sorted(
        zip(place[program.source].tolist(), place[program.target].tolist(), strict=True)
    )
    known = ancestors(trace)
    number = {name: entry for entry, name in enumerate(trace.ids)}
    for rank in group:
        mine = sent[(trace.source[sent] == rank) | (targets == rank)].tolist()
        assert known[number[f"a{rank}"]].issuperset([*mine, number[f"b{rank}"]])
        for entry in sent[trace.source[sent] == rank].tolist():
            assert number[f"b{rank}"] in known[entry]


def test_other_ranks_may_be_late() -> None:
    """Rank 0 of a broadcast goes on once its messages are there, whatever the others do."""
    builder = Builder(2)
    slow = builder.add("slow", COMPUTE, 1, [], seconds=1)
    builder.add("root", CALL, 0, [], link=0)
    builder.add("leaf", CALL, 1, [slow], link=0)
    builder.calls.append(Call("broadcast", (0, 1), 900.0))
    trace = as_trace(builder.program("by hand"), USUAL, str)
    known = ancestors(trace)
    assert trace.ids.index("slow") not in known[trace.ids.index("root.end")]
    assert trace.ids.index("slow") in known[trace.ids.index("leaf.end")]


def test_messages_of_nobody_take_no_time() -> None:
    builder = Builder(1)
    called = builder.add("c", CALL, 0, [], link=0)
    builder.add("a", COMPUTE, 0, [called], seconds=2e-6)
    builder.calls.append(Call("all-reduce", (0,), 900.0))
    trace = as_trace(builder.program("alone"), USUAL, str)
    assert len(trace) == 3
    found = nl.replay("line:2", trace=trace, engine="flow", bandwidth="1GB/s", latency="1us")
    assert found.finish == pytest.approx(2e-6)
