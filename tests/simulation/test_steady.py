from itertools import count

import pytest

from netloom.simulation.steady import run_to, watched


class Clock:
    """What can be run on; notes its steps, and when it was looked at."""

    def __init__(self, answers=None):
        self.cycle, self.steps, self.looks, self.answers = 0, [], [], answers

    def advance(self, until):
        self.steps.append(until - self.cycle)
        self.cycle = until

    def look(self):
        self.looks.append(self.cycle)
        return next((said for cycle, said in self.answers.items() if self.cycle >= cycle), None)


def after(times):
    asked = count(1)
    return lambda: next(asked) > times


def test_the_last_step_to_a_cycle_is_as_short_as_need_be():
    clock = Clock()
    assert run_to(clock, 25, step=10)
    assert clock.steps == [10, 10, 5]
    assert not run_to(clock, 95, step=10, stopped=after(3))
    assert clock.cycle == 55


@pytest.mark.parametrize(
    ("answers", "looks", "found"),
    [
        ({70: True}, [20, 40, 80], True),
        ({10: True}, [20], True),
        ({}, [20, 40, 80, 100], False),
        ({500: True, 40: False}, [20, 40], False),
    ],
)
def test_it_is_looked_at_in_twice_the_time(answers, looks, found):
    clock = Clock(answers)
    assert watched(clock, clock.look, first=20, most=100, step=7, stopped=after(99)) is found
    assert clock.looks == looks


@pytest.mark.parametrize(("stop", "found"), [(99, True), (9, None)])
def test_a_window_grows_as_asked_from_where_it_begins(stop, found):
    clock = Clock({65: True})
    clock.advance(10)
    grown = {"first": 30, "longer": lambda cycles: cycles * 8 // 5, "most": 100}
    assert watched(clock, clock.look, **grown, step=5, stopped=after(stop)) is found
    assert clock.looks == [40, 58, 86][: 3 if found else 1]
