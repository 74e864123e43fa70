"""Progress of long work: shown on a terminal once it has lasted two seconds, never elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.progress import Progress, TaskID

Item = TypeVar("Item")

PATIENCE_SECONDS = 2.0

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
    """Yield ``items``; show a bar named ``what`` on a terminal when that takes over two seconds.

    Examples
    --------
    >>> list(track(range(3), "squares"))
    [0, 1, 2]
    """
    if not _watched():
        yield from items
        return
    start = time.monotonic()
    bar: Progress | None = None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - start > PATIENCE_SECONDS:
                bar, task = _open_bar(what, total=len(items))
            if bar is not None:
                bar.update(task, completed=done)
            yield item
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Give a function to be told how many of ``total`` things are done; show a bar as ``track``.

    For work that goes on in other threads, in any order.

    Examples
    --------
    >>> with counting(3, "squares") as tell:
    ...     tell(1)
    """
    if not _watched():
        yield lambda _: None
        return
    bars: list[tuple[Progress, TaskID]] = []
    done = 0

    def tell(count: int) -> None:
        nonlocal done
        done = count
        for bar, task in bars:
            bar.update(task, completed=count)

    def show() -> None:
        bars.append(_open_bar(what, total))
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


def _open_bar(what: str, total: int) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task(what, total=total)


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Show on a terminal that ``what`` is being worked on, once it has lasted two seconds.

    For one long step that nothing can be counted in. The step must let other threads run.

    Examples
    --------
    >>> with patience("nothing"):
    ...     pass
    """
    if not _watched():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(f"{what} ...")
    timer = Timer(PATIENCE_SECONDS, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
