"""Transactions: their messages, what they wait for, and Johnson's statistics of them."""

from collections import Counter

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.workload import process_graph, ring, torus
from netloom_papers.programs.transactions import (
    Protocol,
    Step,
    Transaction,
    Transactions,
    coherence,
    request_reply,
)
from tests.reference.free_network import played

NONE = np.zeros(0, np.int64)

THREE_HOPS = Protocol(
    "forwarding",
    (
        Transaction(
            "write",
            (
                Step("REQ", "thread", 8),
                Step("FETCH", "neighbour", 4, after="REQ", delay_cycles=5),
                Step("DATA", "thread", 24, after="FETCH"),
                Step("NOTE", "neighbour", 2, after="REQ"),
            ),
        ),
    ),
)


def one_step(*steps):
    return Protocol("p", (Transaction("t", steps),))


def pair(**options):
    """Two threads, on nodes 0 and 1, each with the other as its only neighbour."""
    return Transactions(ring(2), [0, 1], 2, **{"run_cycles": 10, **options})


def test_a_thread_runs_asks_and_goes_on():
    """Ten cycles, 12 flits there, 7 at the memory, 12 back, one hop each; 5 until it can run."""
    program = pair(protocol=request_reply(memory_cycles=7), fixed_cycles=5)
    rows = played(program, 500).reshape(-1, 2, 3)
    start = rows["ready"][0, :, 0].tolist()
    for thread in (0, 1):
        run, request, reply = (rows[:, thread, column] for column in range(3))
        period = 10 + 13 + 7 + 13 + 5
        begin = start[thread] + period * np.arange(5)
        assert run["ready"][:5].tolist() == begin.tolist()
        assert request["sent"][:5].tolist() == (begin + 10).tolist()
        assert request["complete"][:5].tolist() == (begin + 23).tolist()
        assert reply["sent"][:5].tolist() == (begin + 30).tolist()
        assert reply["complete"][:5].tolist() == (begin + 43).tolist()
    assert 0 <= min(start) < max(start) < 2 * 15


def test_statistics_of_a_pair():
    program = pair(protocol=request_reply(), fixed_cycles=5)
    found = program.statistics(played(program, 5000), begin=410, end=410 + 41 * 100)
    assert found.inter_transaction_cycles == 41  # 10 + 13 + 13 + 5
    assert found.transaction_latency == 31
    assert found.message_latency == 13
    assert found.message_rate == pytest.approx(2 / 41)
    assert found.messages == 400
    assert found.transactions == 200


@pytest.mark.parametrize("contexts", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("switch", [0, 5, 22])
def test_a_switch_counts_as_in_the_locality_model(contexts, switch):
    """Nothing while processors wait, T_s where they do not (Johnson 1992, eqs. 1 to 5)."""
    program = pair(contexts=contexts, protocol=request_reply(), fixed_cycles=64)
    rows = played(program, 40_000, step=4000, switch_cycles=switch)
    found = program.statistics(rows, begin=5000, end=40_000)
    hidden = 10 + switch if contexts > 1 else 10
    by_model = max((10 + found.transaction_latency) / contexts, hidden)
    assert found.inter_transaction_cycles >= by_model * (1 - 1e-3)
    least = max((10 + 90) / contexts, hidden)  # what a transaction takes whose context is at once
    assert found.inter_transaction_cycles < least * 1.06


def test_contexts_are_taken_one_at_a_time():
    program = pair(contexts=3)
    table = program.extend(NONE, until=1000)
    runs = table.flits == 0
    assert Counter(table.context[runs].tolist()) == dict.fromkeys(range(3), runs.sum() // 3)
    assert (table.context[~runs] == -1).all()
    assert (table.run[runs] == 10).all()
    assert not table.run[~runs].any()


def test_coherency_traffic_is_the_papers():
    """16 messages and 5 transactions a pass: g = 3.2, B = 12 flits (section 3.2)."""
    program = Transactions(torus(8, 8), np.arange(64), 64, contexts=2, run_cycles=16)
    table = program.extend(NONE, until=1)
    one = slice(0, 64 * 2 * 21)
    flits = table.flits[one]
    assert Counter(flits.tolist()) == {0: 128 * 5, 8: 128 * 12, 24: 128 * 4}
    assert flits[flits > 0].mean() == 12
    assert np.count_nonzero(flits) / np.count_nonzero(flits == 0) == 3.2
    sent = flits > 0
    pairs = Counter(zip(table.source[one][sent], table.target[one][sent], strict=True))
    graph = torus(8, 8)
    assert set(pairs) == set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    assert set(pairs.values()) == {2 * 2 * 2}  # contexts; read and written; asked and asking


def waits_of(table):
    return [each.tolist() for each in np.split(table.after, table.after_offsets[1:-1])]


def test_what_each_message_waits_for():
    """Two reads, one after the other, then a write to both neighbours of a ring at once."""
    program = Transactions(ring(3), [2, 0, 1], 3, run_cycles=5, protocol=coherence(memory_cycles=9))
    table = program.extend(NONE, until=200)
    waits = waits_of(table)
    for begin in range(0, len(table), 11):
        before = [] if begin < 33 else [begin - 33 + 8, begin - 33 + 10]
        read, again = [[begin], [begin + 1]], [[begin + 3], [begin + 4]]
        write = [[begin + 6], [begin + 7], [begin + 6], [begin + 9]]
        wanted = [before, *read, [begin + 2], *again, [begin + 5], *write]
        assert waits[begin : begin + 11] == wanted
    # task 1 is on node 0; its neighbours 0 and 2 are on nodes 2 and 1
    ends = list(zip(table.source[11:22].tolist(), table.target[11:22].tolist(), strict=True))
    ask = [(0, 0), (0, 2), (2, 0)], [(0, 0), (0, 1), (1, 0)]
    assert ends == [*ask[0], *ask[1], (0, 0), (0, 2), (2, 0), (0, 1), (1, 0)]
    assert table.flits[11:22].tolist() == [0, 8, 24, 0, 8, 24, 0, 8, 8, 8, 8]
    assert table.delay[33:44].tolist() == [0, 0, 9, 0, 0, 9, 0, 0, 0, 0, 0]


def test_a_protocol_of_ones_own():
    """A thread goes on after all messages that none answers: here DATA and NOTE."""
    program = pair(protocol=THREE_HOPS)
    table = program.extend(NONE, until=100)
    waits = waits_of(table)
    assert waits[:5] == [[], [0], [1], [2], [1]]
    assert waits[10] == [3, 4]
    assert table.flits[:5].tolist() == [0, 8, 4, 24, 2]
    assert table.source[:5].tolist() == [0, 0, 1, 0, 1]
    assert table.delay[1:5].tolist() == [0, 5, 0, 0]


def test_tasks_with_different_numbers_of_neighbours():
    """A star: the middle has three transactions a pass, the others one; task 4 only answers."""
    star = process_graph(5, [0, 0, 0, 1, 2, 3, 3], [1, 2, 3, 0, 0, 0, 4])

    def fresh():
        options = {"run_cycles": 10, "contexts": 2, "protocol": request_reply()}
        return Transactions(star, np.arange(5), 5, **options)

    table = fresh().extend(NONE, until=1)
    program = fresh()
    rows = played(program, 20_000)
    one = slice(0, 2 * (3 + 1 + 1 + 2) * 3)  # a run, a request and a reply each
    runs = Counter(table.source[one][table.flits[one] == 0].tolist())
    assert runs == {0: 6, 1: 2, 2: 2, 3: 4}
    assert program.num_nodes_used == 4
    found = program.statistics(rows, begin=2000, end=20_000)
    assert found.message_rate * found.inter_transaction_cycles == pytest.approx(2, abs=0.02)


def test_laws_of_the_run():
    for law, deviation in (("fixed", 0), ("uniform", 40 / 12**0.5), ("exponential", 20)):
        program = Transactions(ring(8), np.arange(8), 8, run_cycles=20, law=law)
        table = program.extend(NONE, until=30_000)
        run = table.run[table.flits == 0]
        assert len(run) > 5000
        assert run.mean() == pytest.approx(20, abs=4.5 * deviation / len(run) ** 0.5 + 1e-9)
        assert run.std() == pytest.approx(deviation, rel=0.06, abs=1e-9)


def test_however_a_run_is_cut_it_is_the_same():
    """But for threads that ask for a processor in the same cycle: they go by their row numbers."""

    def found(contexts, step=None):
        program = Transactions(
            torus(3, 3), np.arange(9), 9, contexts=contexts, run_cycles=9, law="exponential"
        )
        rows = played(program, 3000, step=step, switch_cycles=3)
        return program.statistics(rows, end=3000)

    for step in (17, 900):
        assert found(1, step).to_json() == found(1).to_json()
        several, wanted = found(3, step), found(3)
        for name in ("message_rate", "inter_transaction_cycles", "transaction_latency"):
            assert getattr(several, name) == pytest.approx(getattr(wanted, name), rel=0.03)


def test_a_neighbour_on_the_same_node_costs_nothing():
    program = Transactions(ring(2), [0, 0], 1, run_cycles=10, fixed_cycles=3)
    rows = played(program, 1000)
    with pytest.raises(InputError, match="cycles: found 100 to 1000, in which no message"):
        program.statistics(rows, begin=100, end=1000)  # there are no messages


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Transactions(process_graph(3, [], []), [0, 1, 2], 3, run_cycles=1),
            "no task that sends",
        ),
        (lambda: Protocol("p", ()), "protocol p: found no transactions"),
        (one_step, "protocol p, t: found no steps"),
        (lambda: one_step(Step("A", "thread", 0)), "found A of 0 flits after 0 cycles"),
        (lambda: one_step(Step("A", "home", 1)), "found A sent by 'home'; expected thread or"),
        (lambda: one_step(Step("A", "thread", 1, after="B")), "found A after 'B'"),
        (
            lambda: one_step(Step("A", "thread", 1), Step("A", "neighbour", 1)),
            "found two steps A; expected a name for each",
        ),
        (
            lambda: Protocol("p", (Transaction("t", (Step("A", "thread", 1),), "some"),)),
            "found partners 'some'; expected each or all",
        ),
        (lambda: pair().statistics(played(pair(), 3), end=3), "cycles: found 0 to 3"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
