import signal
import threading

import pytest

from netloom.simulation.side_by_side import run_all


def test_answers_come_in_the_order_of_the_runs(monkeypatch):
    monkeypatch.setattr("netloom.simulation.side_by_side.processors", lambda: 2)
    told, second = [], threading.Event()

    def slow(stopped):
        second.wait()
        return 0

    def fast(stopped):
        second.set()
        return 1

    runs = [slow, fast, *(lambda _, n=n: n for n in range(2, 5))]
    assert run_all(runs, tell=told.append) == [0, 1, 2, 3, 4]
    assert told == [1, 2, 3, 4, 5]


def test_the_first_mistake_is_raised_and_the_others_end():
    ended = []

    def wrong(_):
        raise ValueError("no such thing")

    def patient(stopped):
        while not stopped():
            pass
        ended.append(True)

    with pytest.raises(ValueError, match="no such thing"):
        run_all([wrong, patient])


def test_ctrl_c_ends_what_runs_and_keeps_what_it_had(ctrl_c_after):
    def patient(stopped):
        while not stopped():
            pass
        return "as far as it came"

    ctrl_c_after(100)
    assert set(run_all([patient] * 50)) == {"as far as it came"}


def test_ctrl_c_while_runs_are_handed_out_stops_those_that_have_begun():
    began = threading.Event()

    def until_stopped(stopped):
        began.set()
        while not stopped():
            pass
        return "stopped"

    class Interrupted(list):
        def __iter__(self):
            yield from super().__iter__()
            began.wait()
            signal.raise_signal(signal.SIGINT)
            yield until_stopped

    found = run_all(Interrupted([until_stopped] * 100))
    assert set(found) == {"stopped"}
    assert len(found) < 100


def test_ctrl_c_between_two_runs_keeps_what_is_finished():
    told = []

    def tell(count):
        told.append(count)
        if count == 2:
            signal.raise_signal(signal.SIGINT)

    found = run_all([lambda _: "done"] * 1000, tell=tell)
    assert 2 <= len(found) <= 1000
    assert told[:2] == [1, 2]
    assert set(found) == {"done"}
