import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from netloom.simulation.traces import Parts, critical_path
from netloom.workload.programs.messages import messages
from tests.reference.agenda import Agenda

FIELDS = ("ready", "sent", "entered", "arrived", "complete", "last")


def finished(table, latencies, switch_cycles=0, waits=None):
    """All rows, as an engine leaves them, if each message takes the cycles given for it.

    ``waits``: those of them that it waits for its node's channel.
    """
    agenda = Agenda(table.num_nodes, switch_cycles)
    agenda.append(table, 0)
    while agenda.events:
        for number in agenda.run(agenda.events[0][0]):
            row = agenda.rows[number]
            row.entered = row.sent + (waits[number] if waits else 0)
            agenda.put(row.sent + latencies[number], number, 2)
    assert agenda.completed == len(table)
    records = [tuple(getattr(row, name) for name in FIELDS) for row in agenda.rows]
    return np.array(records, [(name, "i8") for name in FIELDS])


def total(path, kind=int):
    return {name: kind(values.sum()) for name, values in path.parts._asdict().items()}


def test_a_chain_of_everything_worked_out_by_hand():
    table = messages(
        4,
        source=[0, 1, 2, 1],
        target=[1, 2, 2, 3],
        flits=[8, 4, 0, 4],
        start=[3, 0, 0, 0],
        delay=[2, 7, 0, 0],
        run=[10, 0, 50, 40],
        receive=[0, 6, 0, 0],
        after=[[], [0], [], []],
    )
    # Row 0: ready 5, sent 15, 30 cycles: 45. Row 1: ready 52, sent at once, 25 cycles, of which 2
    # are for its node's channel and 3 contention: 77. The processor of node 2 is free since 50:
    # received at 83.
    rows = finished(table, [30, 25, 0, 1], waits=[0, 2, 0, 0])
    path = critical_path(table, rows, np.array([30, 20, 0, 1]))
    assert path.rows.tolist() == [0, 1]
    assert total(path) == {
        "compute": 12 + 7,
        "processor_wait": 0,
        "source_wait": 2,
        "message": 50,
        "contention": 3,
        "receive": 6,
    }
    assert (path.start, path.finish, path.ideal_finish) == (3, 83, 78)


def test_a_row_that_waits_for_a_processor_says_so():
    table = messages(
        2, source=[0, 0, 1], target=[1, 1, 1], flits=[1, 1, 0], run=[30, 10, 100], receive=[0, 5, 0]
    )
    rows = finished(table, [9, 9, 0])
    path = critical_path(table, rows, np.full(len(rows), 9))
    # Row 1: sent at 40, arrived at 49, and node 1 computes until 100.
    assert path.rows.tolist() == [1]
    assert total(path) == {
        "compute": 10, "processor_wait": 30 + 51, "source_wait": 0, "message": 9,
        "contention": 0, "receive": 5,
    }  # fmt: skip
    assert (path.finish, path.ideal_finish) == (105, 100)
    assert "processor_wait 81" in repr(path)


def test_a_switch_of_contexts_is_a_wait_for_the_processor():
    table = messages(1, source=[0, 0], target=0, flits=0, run=10, context=[0, 1], after=[[], [0]])
    path = critical_path(table, finished(table, [0, 0], switch_cycles=3), np.arange(len(table)))
    assert path.rows.tolist() == [0, 1]
    assert (path.finish, path.ideal_finish) == (23, 20)


def ideal(table, latencies):
    """Longest path through the rows, written for the reader."""
    least = table.delay + table.run + np.where(table.moving, latencies, 0) + table.receive
    ends = []
    for row in range(len(table)):
        waited = table.after[table.after_offsets[row] : table.after_offsets[row + 1]]
        ends.append(max([table.start[row], *(ends[other] for other in waited)]) + least[row])
    return max(ends)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), count=st.integers(1, 25))
def test_chains_add_up_and_nothing_is_faster_than_ideal(data, count):
    def drawn(low, high):
        return data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    after = [
        data.draw(st.lists(st.integers(0, row - 1), max_size=3, unique=True)) if row else []
        for row in range(count)
    ]
    table = messages(
        3,
        source=drawn(0, 2),
        target=drawn(0, 2),
        flits=drawn(0, 2),
        start=drawn(0, 40),
        delay=drawn(0, 5),
        run=drawn(0, 20),
        hold=drawn(0, 5),
        receive=drawn(0, 5),
        after=after,
    )
    alone, hindered = drawn(1, 30), drawn(0, 10)
    waits = [min(h, w) for h, w in zip(hindered, drawn(0, 5), strict=True)]
    rows = finished(table, [a + h for a, h in zip(alone, hindered, strict=True)], waits=waits)
    path = critical_path(table, rows, np.array(alone))
    assert path.ideal_finish == ideal(table, alone) <= path.finish
    assert sum(total(path).values()) + path.start == path.finish
    for before, row in zip(path.rows[:-1].tolist(), path.rows[1:].tolist(), strict=True):
        assert before in after[row]
        assert rows["complete"][before] == rows["ready"][row] - table.delay[row]
    chain, met = path.rows, np.array(hindered) - waits
    told = (path.parts.message, path.parts.contention, path.parts.source_wait)
    for part, wanted in zip(told, (alone, met, waits), strict=True):
        assert (part == np.where(table.moving, wanted, 0)[chain]).all()
    first = int(chain[0])
    assert path.start == table.start[first]
    assert Parts._fields == tuple(total(path))
