"""Who answers points: the processors of this machine, or a Dask cluster."""

from __future__ import annotations

import logging
import os
import re
import signal
import time
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.base.progress import hush
from netloom.experiments.answer import answer, refusal
from netloom.simulation.side_by_side import LIMIT, processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

    from netloom.experiments.answer import AskedPoint, KeptAnswer

AHEAD = 2
"""Points that are handed out for each worker: one that it answers, one to go on with."""

CHATTY = ("asyncio", "distributed", "tornado")
"""What logs, at length, that a connection has ended."""

SLURM = "slurm"
EXTRA = "the extra 'cluster': pip install 'netloom[cluster]'"
MOST_WORKERS = 10_000

LOST = "fewer workers, if memory is short; finished points are kept: run it again"
"""What would do where a worker is lost."""


class LostError(InputError):
    """Workers, or the scheduler of a cluster, that are there no more: no mistake of the user's."""


@dataclass(frozen=True)
class Workers:
    """Somebody who answers points.

    Attributes
    ----------
    executor
        Takes calls, and gives futures.
    count
        Returns how many points are answered at a time.
    elsewhere
        Whether they may be on other machines, which do not have the experiment's files.
    """

    executor: Executor
    count: Callable[[], int]
    elsewhere: bool


def worker_count(count: int | None) -> int:
    """Return the number of processes, by default one per processor. InputError if none."""
    number = processors() if count is None else count
    if not 1 <= number <= MOST_WORKERS:
        raise InputError("workers", str(number), f"1 to {MOST_WORKERS}")
    return number


@contextmanager
def local_workers(count: int | None = None) -> Iterator[Workers]:
    """Start processes on this machine, one per processor by default. Stop them in the end.

    Whatever they are at is given up then. They stop by themselves if this process dies.

    Raises
    ------
    InputError
        If there would be none, or too many.
    LostError
        If one of them dies.
    """
    from loky import ProcessPoolExecutor

    number = worker_count(count)
    each = str(max(1, processors() // number))
    names = (LIMIT, "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS")
    executor = ProcessPoolExecutor(
        number, timeout=None, initializer=_begin, initargs=(os.getpid(),),
        env=dict.fromkeys(names, each),
    )  # fmt: skip
    try:
        yield Workers(executor, lambda: number, elsewhere=False)
    except BrokenExecutor as error:  # where a point is handed out, or where its answer is awaited
        codes = re.search(r"\{(.+)\}", str(error))
        why = f" ({codes[1]})" if codes else ""
        raise LostError("workers", f"one that died{why}", LOST) from None
    finally:
        executor.shutdown(kill_workers=True)  # what is still at work is for nothing


def no_scheduler() -> LostError:
    """Return the error that says that a cluster has no scheduler any more."""
    wanted = "one that runs; finished points are kept: run it again"
    return LostError("cluster", "a scheduler that no longer answers", wanted)


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep to itself what Dask logs: what matters of it is told in one line."""
    with suppress(ImportError):
        import_module("distributed")  # which gives its loggers levels of their own
    names = [*logging.root.manager.loggerDict, "asyncio", "tornado"]
    loggers = [logging.getLogger(name) for name in names if name.partition(".")[0] in CHATTY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def cluster_workers(address: str, count: int | None = None) -> Iterator[Workers]:
    """Connect to a Dask cluster, or start one by Slurm. Leave it in the end.

    Parameters
    ----------
    address
        Of a scheduler, such as ``tcp://node0:8786``, or ``slurm``, for jobs as dask-jobqueue is
        configured to submit them.
    count
        Jobs to submit, with ``slurm``; 1 by default.

    Raises
    ------
    InputError
        If Dask is not installed, nobody answers there, or jobs are not configured.
    LostError
        If the scheduler is lost.
    """
    with _hushed(), _cluster(address, count) as found:
        yield found


@contextmanager
def _cluster(address: str, count: int | None) -> Iterator[Workers]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise InputError("cluster", "no Dask", EXTRA) from None
    if address != SLURM and count is not None:
        raise InputError("workers", f"{count} with a cluster that runs", "none: it has its own")
    target: Any = address
    if address == SLURM:
        target = _slurm_jobs(1 if count is None else count)
    try:
        client = distributed.Client(target, timeout="10s")
    except (OSError, ValueError, TimeoutError) as error:
        wanted = "the address of a Dask scheduler, such as tcp://HOST:8786, or slurm"
        raise InputError("cluster", f"'{address}' ({error})", wanted) from None
    try:
        yield Workers(
            client.get_executor(pure=False),
            lambda: sum(client.nthreads().values()) or 1,
            elsewhere=True,
        )
    except Exception as error:
        gone = client.status != "running" or type(error).__name__ == "CommClosedError"
        if isinstance(error, InputError) or not gone:
            raise
        raise no_scheduler() from None
    finally:
        with suppress(Exception):  # there may be nobody to say goodbye to
            client.close()
            if address == SLURM:
                target.close()


def work(asked: AskedPoint) -> KeptAnswer:
    """Answer a point in a process that works for another."""
    hush()
    return answer(asked)


def prepare(asked: AskedPoint) -> str:
    """Return why a point cannot be asked, in a process that works for another."""
    hush()
    return refusal(asked)


def be_ready() -> None:
    """Do nothing: a process that has done so has loaded what points need."""


def _slurm_jobs(count: int) -> Any:
    """Submit jobs, each of which becomes a worker."""
    try:
        jobqueue: Any = import_module("dask_jobqueue")
    except ImportError:
        raise InputError("cluster", "no dask-jobqueue", EXTRA) from None
    config: Any = import_module("dask.config")
    wanted = "cores, memory and queue under jobqueue.slurm in ~/.config/dask/jobqueue.yaml"
    for name in ("cores", "memory"):
        if config.get(f"jobqueue.slurm.{name}", None) is None:
            raise InputError("cluster", f"slurm without jobqueue.slurm.{name}", wanted)
    try:
        cluster = jobqueue.SLURMCluster()
        cluster.scale(jobs=count)
    except (OSError, ValueError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise InputError("cluster", f"jobs that cannot be submitted ({said})", wanted) from None
    return cluster


def _begin(parent: int) -> None:
    """Prepare a process: Ctrl-C is its parent's business, and it does not outlive that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
