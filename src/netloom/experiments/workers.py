"""Who answers points: the processors of this machine, or a Dask cluster."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.progress import hush
from netloom.base.provenance import code_version
from netloom.experiments.file import renamed, unpack
from netloom.questions.base import ask
from netloom.questions.recorded import Recorded, record
from netloom.questions.register import by_verb
from netloom.simulation.side_by_side import LIMIT, processors

if TYPE_CHECKING:
    import polars as pl


SATURATED = "stable"
"""The column of a table that says whether the network kept up."""


class AskedPoint(NamedTuple):
    """What a worker is told of a point: its question, and the files that this names.

    Attributes
    ----------
    module, verb, fields
        Where the question is declared, and the rest as ``Point`` has it.
    paths
        Where files are, by the names that ``fields`` has for them, on this machine.
    contents
        Their digests and contents by the same names, for other machines. Else empty.
    """

    module: str
    verb: str
    fields: Mapping[str, Any]
    paths: Mapping[str, str]
    contents: Mapping[str, tuple[str, Mapping[str, bytes]]]


class KeptAnswer(NamedTuple):
    """What a worker has found out, as a store keeps it.

    Attributes
    ----------
    figures
        The JSON of the verb's answer. "" where the question was refused.
    refusal
        Why the question has no answer. "" where it has.
    saturated
        Whether the network fell behind. None where that was no matter.
    version, finished, wall_seconds, cpu_seconds
        The netloom that answered, when (UTC), and what it took.
    tables
        Its tables as Parquet, by name.
    """

    figures: str
    refusal: str
    saturated: bool | None
    version: str
    finished: str
    wall_seconds: float
    cpu_seconds: float
    tables: Mapping[str, bytes]

    def record(self, verb: str) -> Recorded:
        """Return the answer as reports take it."""
        return Recorded(verb, json.loads(self.figures), _Tables(self.tables))


class _Tables(Mapping[str, "pl.DataFrame"]):
    """Tables that are read when they are asked for."""

    def __init__(self, data: Mapping[str, bytes]) -> None:
        self.data = data

    def __getitem__(self, name: str) -> pl.DataFrame:
        import polars as pl

        return pl.read_parquet(self.data[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Interrupted(Exception):  # noqa: N818 (nothing is wrong)
    """The point was stopped from outside: what it has found is not what was asked."""


def prepare(asked: AskedPoint) -> str:
    """Return why a point cannot be asked, or "": what is said before any work is done on it."""
    hush()
    paths = dict(asked.paths)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            import_module(asked.module)
            kind = by_verb(asked.verb)
            kind.prepare(ask(kind.question, renamed(dict(asked.fields), paths)))
    except InputError as error:
        return _as_written(str(error), paths)
    return ""


def answer(asked: AskedPoint) -> KeptAnswer:
    """Answer a point. What it finds does not depend on where it runs, or on what else does.

    Raises
    ------
    Interrupted
        If it was stopped by Ctrl-C.
    """
    paths = dict(asked.paths)
    for name, (digest, contents) in asked.contents.items():
        paths[name] = unpack(name, digest, contents)
    wall, cpu = time.perf_counter(), time.process_time()
    figures, tables, refusal, saturated = "", {}, "", None
    try:
        with warnings.catch_warnings():  # advice to a person at one command; figures say it too
            warnings.simplefilter("ignore", UserWarning)
            import_module(asked.module)  # not all questions are netloom's own
            found = by_verb(asked.verb).ask(**renamed(dict(asked.fields), paths))
        if getattr(found, "interrupted", False):
            raise Interrupted
        kept = record(found)
    except InputError as error:
        refusal = _as_written(str(error), paths)
    else:
        text = json.dumps(kept.figures, ensure_ascii=False, allow_nan=False)
        figures = _as_written(text, paths)
        tables = {name: _parquet(table, paths) for name, table in kept.tables.items()}
        table = kept.tables["table"]
        known = table[SATURATED].drop_nulls().to_list() if SATURATED in table.columns else []
        saturated = not any(known) if known else None
    return KeptAnswer(
        figures=figures,
        tables=tables,
        refusal=refusal,
        saturated=saturated,
        version=code_version(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        wall_seconds=time.perf_counter() - wall,
        cpu_seconds=time.process_time() - cpu,
    )


def _as_written(text: str, paths: Mapping[str, str]) -> str:
    """Return text in which files have the names that the experiment has for them."""
    for name, path in sorted(paths.items(), key=lambda each: -len(each[1])):
        text = text.replace(json.dumps(path)[1:-1], json.dumps(name)[1:-1])
    return text


def _parquet(table: pl.DataFrame, paths: Mapping[str, str]) -> bytes:
    import polars as pl

    names = {path: name for name, path in paths.items()}
    plain = table.with_columns(pl.col(pl.String).replace(names)) if names else table
    data = BytesIO()
    plain.write_parquet(data)
    return data.getvalue()


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
    with _hushed():
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
