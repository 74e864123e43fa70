"""Progress of long work: a bar on a terminal after two seconds, elsewhere a line now and then.

The first line comes after half a minute, the next after twice as long, and so on up to ten minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Event, Thread
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")

Counting: TypeAlias = AbstractContextManager[Callable[[int], None]]

PATIENCE_SECONDS = 2.0

BAR_SECONDS = 0.1
"""Between two pictures of a bar."""

LINE_SECONDS, MOST_LINE_SECONDS = 30.0, 600.0
"""Between lines where there is no terminal: at first, and at most."""

_hushed = False
"""Whether this process is to show nothing: another one shows how far all are."""


def hush() -> None:
    """Show nothing in this process from now on."""
    global _hushed  # noqa: PLW0603 (a process is a worker, or is not)
    _hushed = True


class _Work:
    """Work that is being waited for: how far it is, in number or in words."""

    def __init__(self, what: str, total: int | None) -> None:
        self.what, self.total = what, total
        self.done, self.words, self.told = 0, "", False
        self.began, self.ended = time.monotonic(), Event()

    def show(self) -> None:
        """Show how far it is until it ends."""
        if sys.stderr.isatty():
            self._bar()
            return
        wait = LINE_SECONDS
        while not self.ended.wait(wait):
            self._write(self._said())
            wait = min(2 * wait, MOST_LINE_SECONDS)

    def count(self, done: int) -> None:
        """Take in how many are done."""
        self.done = done

    def say(self, words: str) -> None:
        """Take in how far it is in words. The first are a line, once it has lasted a while."""
        self.words = words
        lasted = time.monotonic() - self.began > PATIENCE_SECONDS
        if lasted and not (self.told or _hushed or sys.stderr.isatty()):
            self.told = True
            self._write(f"{self.what}: {words}")

    def _bar(self) -> None:
        if self.ended.wait(PATIENCE_SECONDS):
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn

        words = SpinnerColumn(), TextColumn("{task.description}")
        columns = words if self.total is None else Progress.get_default_columns()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(self.what, total=self.total)
            while not self.ended.wait(BAR_SECONDS):
                said = self.what if self.total is not None else self._said()
                bar.update(task, completed=self.done, description=said)

    def _said(self) -> str:
        if self.total is not None:
            return f"{self.what}: {self.done} of {self.total}"
        return f"{self.what}: {self.words} ..." if self.words else f"{self.what} ..."

    def _write(self, said: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads it any more
            sys.stderr.write(f"netloom: {said} ({time.monotonic() - self.began:.0f} s)\n")
            sys.stderr.flush()


def track(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield ``items``, and show how many are done under the name ``what``, as ``counting`` does.

    Examples
    --------
    >>> list(track(range(3), "squares"))
    [0, 1, 2]
    """
    with counting(len(items), what) as tell:
        for done, item in enumerate(items):
            tell(done)
            yield item


_waited_for: list[_Work] = []
"""What is told how far it is in words, the innermost last."""


@contextmanager
def counting(total: int | None, what: str) -> Iterator[Callable[[int], None]]:
    """Give a function to be told how many of ``total`` things are done, and show it.

    For work that goes on in other threads, in any order. None: nothing can be counted.

    Examples
    --------
    >>> with counting(3, "squares") as tell:
    ...     tell(1)
    """
    work = _Work(what, total)
    thread = Thread(target=work.show, daemon=True)
    if total is None:
        _waited_for.append(work)
    if not _hushed:
        thread.start()
    try:
        yield work.count
    finally:
        if total is None:
            _waited_for.remove(work)
        work.ended.set()
        if thread.is_alive():
            thread.join()


def counting_runs(total: int, what: str) -> Counting:
    """Count runs as ``counting`` does. Of a single one show only that it is being worked on."""
    return counting(total if total > 1 else None, what)


def patience(what: str) -> Counting:
    """Show that ``what`` is being worked on, once it has lasted a while, and ``tell_so_far``.

    For one long step that nothing can be counted in. The step must let other threads run.

    Examples
    --------
    >>> with patience("nothing"):
    ...     pass
    """
    return counting(None, what)


def tell_so_far(said: str) -> None:
    """Show how far the work is that ``patience`` waits for, in words. The first are a line.

    Examples
    --------
    >>> with patience("a search"):
    ...     tell_so_far("97 % of the bound so far")
    """
    if _waited_for:
        _waited_for[-1].say(said)
