"""Independent runs on all processors: threads, since kernels let other threads run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from typing import TypeVar

Answer = TypeVar("Answer")

HEARING = 0.1
"""Seconds after which Ctrl-C is heard at the latest."""


LIMIT = "NETLOOM_PROCESSORS"
"""The environment variable that says how many processors a process is to use at most."""


def processors() -> int:
    """Return how many processors this process may use. ``NETLOOM_PROCESSORS`` says how many less.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    limit = os.environ.get(LIMIT, "")
    many = os.cpu_count() or 1
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else many
    return min(int(limit), known) if limit.isdecimal() and int(limit) else known


def result(future: Future[Answer], stop: Event) -> Answer:
    """Return what a thread found. On Ctrl-C, have all of them stop and return what it has.

    It looks up now and then, since libraries that handle signals themselves can keep a waiting
    thread from hearing of one.
    """
    while True:
        try:
            return future.result(timeout=HEARING)
        except TimeoutError:
            continue
        except KeyboardInterrupt:
            stop.set()


@contextmanager
def ctrl_c_sets(stop: Event) -> Iterator[None]:
    """Have Ctrl-C set ``stop``, and raise nothing: an exception could be lost on its way.

    Python drops those that are raised while it collects garbage, or in a callback of a library. In
    threads other than the main one, which hear no signals, nothing is done.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run_all(
    runs: Sequence[Callable[[Callable[[], bool]], Answer]],
    *,
    tell: Callable[[int], None] = lambda _: None,
    is_last: Callable[[Answer], bool] = lambda _: False,
) -> list[Answer]:
    """Return what each of several runs finds, in their order.

    Parameters
    ----------
    runs
        Each is called with a function that says whether to stop at once: after Ctrl-C. Those that
        have not begun by then are left out.
    tell
        Called with the number of runs that have ended, whenever one has.
    is_last
        Whether those after a run are not needed any more, nor are they if it finds None.

    Examples
    --------
    >>> run_all([lambda stopped: 1, lambda stopped: 2])
    [1, 2]
    """
    stop = Event()
    found = []
    with ctrl_c_sets(stop), ThreadPoolExecutor(processors()) as pool:

        def one(run: Callable[[Callable[[], bool]], Answer]) -> Answer | None:
            return None if stop.is_set() else run(stop.is_set)

        try:
            waiting = [pool.submit(one, run) for run in runs if not stop.is_set()]
            for future in waiting:
                answer = result(future, stop)
                if answer is None:
                    break
                found.append(answer)
                tell(len(found))
                if is_last(answer):
                    break
        finally:
            stop.set()  # the runs still under way are for nothing
    return found
