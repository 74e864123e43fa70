from itertools import pairwise

import numpy as np

from netloom.routing import DimensionOrder
from netloom.simulation import agenda
from netloom.simulation.agenda import Ending, run_program
from netloom.topology import mesh
from netloom.workload.programs.messages import Given, messages
from netloom_papers.worms import Worm, WormEngine


class Parts:
    """A chain of messages of 15 cycles each, made a hundred at a time; notes what it was asked."""

    num_nodes = 4

    def __init__(self):
        self.asked = []

    def extend(self, complete, until):
        self.asked.append((len(complete), until))
        first = len(complete)
        left = np.count_nonzero(complete < 0)
        after = [[row - 1] if row else [] for row in range(first, first + 100 - left)]
        return messages(4, source=0, target=1, flits=[13] * len(after), after=after, first=first)


def engine():
    return WormEngine(mesh(4), DimensionOrder(), Worm())


def test_a_program_that_is_given_runs_to_its_end():
    table = messages(4, source=[0, 3], target=[3, 0], flits=10, after=[[], [0]])
    run = engine()
    assert run_program(run, Given(table), most_cycles=1000) == Ending(29, True, False)
    assert run.rows["complete"].tolist() == [14, 28]


def test_parts_are_made_as_the_run_goes_on_and_steps_grow():
    source, told = Parts(), []
    ending = run_program(
        engine(), source, enough=lambda rows: np.count_nonzero(rows["complete"] >= 0) >= 200,
        step=32, most_cycles=10_000, tell=told.append,
    )  # fmt: skip
    assert ending.enough
    assert source.asked[0] == (0, 32)
    assert source.asked[1] == (100, 64)
    untils = [until for _, until in source.asked]
    steps = [until - before for before, until in pairwise(untils)]
    assert steps == [max(32, before // 8) for before in untils[:-1]]
    assert told == [(until - 1) // 15 for until in untils]  # the cycle itself is yet to come
    assert told[-1] >= 200 > told[-2]


def test_it_stops_where_it_is_told_to():
    ending = run_program(
        engine(), Parts(), enough=lambda _: False, step=16, most_cycles=10_000, stopped=lambda: True
    )
    assert ending.interrupted
    assert ending.cycle <= 16


def test_rows_beyond_the_last_cycle_never_come():
    last = agenda.LAST_CYCLE
    table = messages(
        4, source=[0, 1, 2], target=[1, 2, 3], flits=5, start=[last + 20, last - 20, 0],
        delay=[0, 100, 0],
    )  # fmt: skip
    run = engine()
    assert not run_program(run, Given(table), most_cycles=last).enough
    assert run.rows["complete"].tolist() == [-1, -1, 7]
