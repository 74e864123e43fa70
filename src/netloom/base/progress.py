"""Progress of long work: a bar on a terminal after two seconds, elsewhere a line now and then.

The first line comes after half a minute, the next after twice as long, and so on up to ten minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Item = TypeVar("Item")

PATIENCE_SECONDS = 2.0

LINE_SECONDS, MOST_LINE_SECONDS = 30.0, 600.0
"""Between lines where there is no terminal: at first, and at most."""

_hushed = False
"""Whether this process is to show nothing: another one shows how far all are."""


def hush() -> None:
    """Show nothing in this process from now on."""
    global _hushed  # noqa: PLW0603 (a process is a worker, or is not)
    _hushed = True


def _watched() -> bool:
    """Whether a person is watching."""
    return sys.stderr.isatty() and not _hushed


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


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Give a function to be told how many of ``total`` things are done, and show it.

    For work that goes on in other threads, in any order.

    Examples
    --------
    >>> with counting(3, "squares") as tell:
    ...     tell(1)
    """
    done = 0
    if not _watched():

        def count_only(count: int) -> None:
            nonlocal done
            done = count

        with _lines(lambda: f"{what}: {done} of {total}"):
            yield count_only
        return
    bars: list[tuple[Progress, TaskID]] = []

    def tell(count: int) -> None:
        nonlocal done
        done = count
        for bar, task in bars:
            bar.update(task, completed=count)

    def show() -> None:
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(console=Console(stderr=True), transient=True)
        bar.start()
        bars.append((bar, bar.add_task(what, total=total)))
        tell(done)

    timer = Timer(PATIENCE_SECONDS, show)
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        for bar, _ in bars:
            bar.stop()


_so_far: list[Callable[[str], None]] = []
"""What is told how far the work is that is being waited for, the innermost last."""


def tell_so_far(said: str) -> None:
    """Show how far the work is that ``patience`` waits for, in words. The first are a line.

    Examples
    --------
    >>> with patience("a search"):
    ...     tell_so_far("97 % of the bound so far")
    """
    if _so_far:
        _so_far[-1](said)


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Show that ``what`` is being worked on, once it has lasted a while, and ``tell_so_far``.

    For one long step that nothing can be counted in. The step must let other threads run.

    Examples
    --------
    >>> with patience("nothing"):
    ...     pass
    """
    if not _watched():
        began, told = time.monotonic(), [what]

        def say(said: str) -> None:
            first = len(told) == 1 and time.monotonic() - began > PATIENCE_SECONDS
            if first and not _hushed:
                _write(f"{what}: {said}", began)
            if first or len(told) > 1:
                told[:] = [what, said]

        with _lines(lambda: f"{': '.join(told)} ..."), _told(say):
            yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(f"{what} ...")
    timer = Timer(PATIENCE_SECONDS, status.start)
    timer.start()
    try:
        with _told(lambda said: status.update(f"{what}: {said} ...")):
            yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextmanager
def _told(say: Callable[[str], None]) -> Iterator[None]:
    _so_far.append(say)
    try:
        yield
    finally:
        _so_far.remove(say)


@contextmanager
def counting_runs(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Count runs as ``counting`` does. Of a single one show only that it is being worked on."""
    if total > 1:
        with counting(total, what) as tell:
            yield tell
    else:
        with patience(what):
            yield lambda _: None


def _write(said: str, began: float) -> None:
    with suppress(OSError, ValueError):  # nobody reads it any more
        sys.stderr.write(f"netloom: {said} ({time.monotonic() - began:.0f} s)\n")
        sys.stderr.flush()


@contextmanager
def _lines(said: Callable[[], str]) -> Iterator[None]:
    """Write what is said as a line on standard error now and then, with the time gone by."""
    if _hushed:
        yield
        return
    ended = Event()

    def write() -> None:
        began, wait = time.monotonic(), LINE_SECONDS
        while not ended.wait(wait):
            _write(said(), began)
            wait = min(2 * wait, MOST_LINE_SECONDS)

    thread = Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
