"""Without a terminal, long work says how far it is in a line now and then."""

import io
import sys
import threading

from netloom.base import progress


class Heard(io.StringIO):
    """Standard error that tells when a line has come."""

    def __init__(self):
        super().__init__()
        self.line = threading.Event()

    def write(self, text):
        written = super().write(text)
        self.line.set()
        return written


def test_a_line_says_how_far_it_is(monkeypatch):
    heard = Heard()
    monkeypatch.setattr(sys, "stderr", heard)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.001)
    with progress.counting(8, "points") as tell:
        tell(3)
        heard.line.clear()
        assert heard.line.wait(60)
    assert heard.getvalue().splitlines()[-1].startswith("netloom: points: 3 of 8 (")


def test_short_work_says_nothing(capsys):
    assert list(progress.track(range(3), "squares")) == [0, 1, 2]
    with progress.patience("nothing"):
        pass
    assert capsys.readouterr().err == ""


def test_workers_are_silent(monkeypatch):
    heard = Heard()
    monkeypatch.setattr(sys, "stderr", heard)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.001)
    monkeypatch.setattr(progress, "_hushed", True)
    before = threading.active_count()
    with progress.counting(8, "points") as tell:
        tell(3)
        assert threading.active_count() == before
    assert heard.getvalue() == ""


def test_the_first_word_of_how_far_it_is_comes_at_once(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", -1.0)
    with progress.patience("Compiling"):
        progress.tell_so_far("80 % of the bound so far")
        progress.tell_so_far("90 % of the bound so far")
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("netloom: Compiling: 80 % of the bound so far (")
    progress.tell_so_far("nobody waits for this")
    assert capsys.readouterr().err == ""
