from itertools import count

import pytest

from netloom.simulation.steady import measure_window, run_to, warm_up


class Clock:
    """Something that settles and suffices at given cycles; notes when it was looked at."""

    def __init__(self, settles=0, suffices=0, hopeless=10**9):
        self.cycle, self.steps, self.looks = 0, [], []
        self.settles, self.suffices, self.hopeless = settles, suffices, hopeless

    def advance(self, until):
        self.steps.append(until - self.cycle)
        self.cycle = until

    def has_settled(self):
        self.looks.append(self.cycle)
        return self.cycle >= self.settles

    def is_hopeless(self):
        return self.cycle >= self.hopeless

    def is_enough(self):
        self.looks.append(self.cycle)
        return self.cycle >= self.suffices


def never():
    return False


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
    ("settles", "hopeless", "looks", "found"),
    [
        (70, 10**9, [20, 40, 80], True),
        (10, 10, [20], True),
        (500, 10**9, [20, 40, 80, 100], False),
        (500, 40, [20, 40], False),
    ],
)
def test_a_start_up_is_looked_for_in_twice_the_time(settles, hopeless, looks, found):
    clock = Clock(settles=settles, hopeless=hopeless)
    assert warm_up(clock, least=20, most=100, step=7, stopped=never) == found
    assert clock.looks == looks


@pytest.mark.parametrize(("suffices", "looks"), [(65, [40, 58, 86]), (500, [40, 58, 86, 110])])
def test_a_window_grows_until_it_is_enough(suffices, looks):
    clock = Clock(suffices=suffices)
    clock.advance(10)
    grown = {"first": 30, "longer": lambda cycles: cycles * 8 // 5, "most": 100}
    assert measure_window(clock, **grown, step=5, stopped=never)
    assert clock.looks == looks
