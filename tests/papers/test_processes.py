"""Programs run with real words: right ones deliver, wrong ones are found, and nothing hangs."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from netloom.base.errors import InputError
from netloom.contention.messages import ConSetCosts
from netloom.phases import schedule
from netloom.phases.execution import RECEIVE, SEND, NodePhase, node_programs
from netloom.topology import mesh, torus
from netloom_papers.processes import BATCH_WORDS, Worker, run_programs
from tests.phases.hand_made import listed, plan_of

BOTH_WAYS, ONE_WAY = ConSetCosts(), ConSetCosts(both_ways=False)


def all_to_all(words, costs=BOTH_WAYS, kind="timetable"):
    """On a ring of 8, each phase one of three sets of distances."""
    pairs = [(a, b) for a in range(8) for b in range(8) if a != b]
    plan = plan_of(pairs, words, [(b - a) % 8 % 3 for a, b in pairs], on=torus(8))
    return plan, node_programs(plan, schedule(plan, costs, kind=kind), costs)


def edited(programs, node, edit, phase=0):
    """The programs, with the streams of one node and phase as ``edit`` makes them."""
    program = programs[node]
    phases = list(program.phases)
    streams = edit([list(stream) for stream in phases[phase].streams])
    phases[phase] = NodePhase(phases[phase].phase, tuple(tuple(s) for s in streams if s))
    return [*programs[:node], replace(program, phases=tuple(phases)), *programs[node + 1 :]]


@pytest.mark.parametrize(
    ("costs", "kind"),
    [
        (BOTH_WAYS, "timetable"),
        (BOTH_WAYS, "shared"),
        (BOTH_WAYS, "streaming"),
        (ONE_WAY, "timetable"),
    ],
)
def test_a_compiled_program_delivers_without_any_buffers(costs, kind):
    plan, programs = all_to_all(BATCH_WORDS + 10, costs, kind)
    found = run_programs(programs, plan)
    assert found.faults == ()
    assert found.words.tolist() == [BATCH_WORDS + 10] * 56


LINE = mesh(5)
SMALL = plan_of([(2, 3), (2, 1), (1, 2), (3, 2)], 8, on=LINE)
PROGRAMS = node_programs(SMALL, listed(SMALL), BOTH_WAYS)


def first_send(change):
    """An edit of the first action of the stream of sends."""
    return lambda streams: [change(s) if s[0].primitive == SEND else s for s in streams]


def first_receive(change):
    return lambda streams: [change(s) if s[0].primitive == RECEIVE else s for s in streams]


def swapped(sends):
    return [
        replace(sends[0], connection=sends[1].connection),
        replace(sends[1], connection=sends[0].connection),
    ]


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (first_receive(lambda s: s[1:]), "node 1 waits until words of connection 2 (1 -> 2) are"),
        (first_send(lambda s: s[1:]), "node 3 waits to receive from connection 0 (2 -> 3)"),
        (first_send(lambda s: [*s, s[0]]), "node 2 waits until words of connection 0 (2 -> 3) are"),
        (
            first_send(swapped),
            "phase 0, node 2: send_element from 2 to 3 on connection 1 (2 -> 1)",
        ),
        (first_send(lambda s: [replace(s[0], connection=4)]), "on connection 4, which is none"),
        (
            first_receive(lambda s: [replace(s[0], words=7)]),
            "phase 0, node 2: receive_element of 7 words on connection 2 (1 -> 2), which has 8",
        ),
        (lambda _: [], "connection 0 (2 -> 3): 0 of 8 words came, and 3 more connections"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_program_is_said(edit, fault):
    assert run_programs(PROGRAMS, SMALL).faults == ()
    found = run_programs(edited(PROGRAMS, 2, edit), SMALL)
    assert any(fault in each for each in found.faults), found.faults


def test_phases_that_nodes_do_not_share_are_found():
    plan, programs = all_to_all(8)
    stays_behind = [
        *programs[:3],
        replace(programs[3], phases=programs[3].phases[:2]),
        *programs[4:],
    ]
    found = run_programs(stays_behind, plan)
    assert found.faults[0].endswith("waits for all nodes to come to phase 2")
    early = replace(programs[3], phases=(programs[3].phases[1], *programs[3].phases[1:]))
    found = run_programs([*programs[:3], early, *programs[4:]], plan)
    assert any("to come to phase" in fault for fault in found.faults)
    later = replace(programs[0].phases[0], streams=programs[0].phases[1].streams)
    wrong = replace(programs[0], phases=(later, *programs[0].phases[1:]))
    found = run_programs([wrong, *programs[1:]], plan)
    assert any("which is of phase 1" in fault for fault in found.faults)


def test_a_circle_of_receives_is_a_deadlock():
    plan = plan_of([(0, 1), (1, 2), (2, 0)], 8, on=torus(3))
    programs = node_programs(plan, listed(plan), ONE_WAY)
    assert run_programs(programs, plan).faults == ()
    for node in range(3):
        programs = edited(
            programs, node, lambda streams: [sorted(streams[0], key=lambda a: a.primitive)]
        )
    found = run_programs(programs, plan)
    assert sorted(fault.partition(" (")[0] for fault in found.faults[:3]) == [
        f"node {node} waits to receive from connection {(node - 1) % 3}" for node in range(3)
    ]


def test_the_order_of_connections_is_obeyed_across_nodes():
    order = [(0, 1), (1, 2), (2, 3)]  # node 0 hears of others' deliveries, and others of its own
    plan = plan_of([(0, 1), (3, 4), (0, 2), (2, 1)], 8, on=LINE, order=order)
    for kind in ("timetable", "streaming"):
        programs = node_programs(plan, schedule(plan, BOTH_WAYS, kind=kind), BOTH_WAYS)
        assert run_programs(programs, plan).faults == ()

    def silent(streams):
        return [[replace(action, tell=()) for action in stream] for stream in streams]

    found = run_programs(edited(programs, 4, silent), plan)
    assert found.faults[0] == "node 0 waits until words of connection 1 (3 -> 4) are received"


@pytest.mark.parametrize(
    ("send", "fault"),
    [
        (lambda number, element: (number, element[::-1]), "words of another connection, or out"),
        (lambda number, element: (number ^ 1, element), "words of another connection, or out"),
        (lambda number, element: (number, element[:4]), "4 of 8 words came"),
    ],
)
def test_words_that_go_astray_are_seen(monkeypatch, send, fault):
    rightly = Worker._tell

    def wrongly(self, kind, node, number, value=None):
        if kind == "data":
            number, element = send(number, value[-1])
            node, value = self.given.target[number], (*value[:-1], element)
        rightly(self, kind, node, number, value)

    monkeypatch.setattr(Worker, "_tell", wrongly)
    found = run_programs(PROGRAMS, SMALL)
    assert any(fault in each for each in found.faults), found.faults


def test_mistakes_are_named():
    with pytest.raises(InputError, match="programs: found 0 for node 4; expected one for each of"):
        run_programs(PROGRAMS[:4], SMALL)
    with pytest.raises(InputError, match="programs: found 2 for node 1"):
        run_programs([*PROGRAMS, PROGRAMS[1]], SMALL)


class Ranks:
    """Threads as the ranks of an MPI program."""

    def __init__(self, size):
        self.size, self.here, self.said = size, threading.local(), [None] * size
        self.all_here = threading.Barrier(size, timeout=10)

    def Get_size(self):  # noqa: N802  # as mpi4py calls them
        return self.size

    def Get_rank(self):  # noqa: N802
        return self.here.rank

    def allgather(self, said):
        self.said[self.here.rank] = said
        self.all_here.wait()
        found = [*self.said]
        self.all_here.wait()
        return found

    def run(self, call):
        def as_rank(rank):
            self.here.rank = rank
            return call()

        with ThreadPoolExecutor(self.size) as pool:
            return list(pool.map(as_rank, range(self.size)))


@pytest.mark.parametrize("size", [1, 3, 10])
def test_ranks_of_mpi_deliver_as_well(monkeypatch, size):
    ranks = Ranks(size)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", SimpleNamespace(COMM_WORLD=ranks))
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace())
    plan, programs = all_to_all(100)
    for found in ranks.run(lambda: run_programs(programs, plan, on_mpi=True)):
        assert (found.words.tolist(), found.faults) == ([100] * 56, ())


def test_mpi_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(InputError, match=r"mpi4py: found .*; expected an installed mpi4py"):
        run_programs(PROGRAMS, SMALL, on_mpi=True)
