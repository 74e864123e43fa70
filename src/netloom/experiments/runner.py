"""Run an experiment: answer what has no answer yet, and keep every answer at once.

Who answers points are the processors of this machine, or a Dask cluster.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from statistics import fmean
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.progress import counting, hush, track
from netloom.base.provenance import code_version
from netloom.base.words import counted, rounded
from netloom.experiments.file import Experiment, Point, read_experiment, renamed, unpack
from netloom.experiments.findings import Curve, Results, curves_of, load_kept, next_step
from netloom.experiments.store import KeptAnswer, Store
from netloom.questions.answers import Verdict
from netloom.questions.base import ask
from netloom.questions.recorded import record
from netloom.questions.register import by_verb
from netloom.simulation.side_by_side import LIMIT, processors

if TYPE_CHECKING:
    import polars as pl

# -- who answers points ----------------------------------------------------------------------------


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
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    cost = time.perf_counter() - wall, time.process_time() - cpu
    return KeptAnswer(figures, refusal, saturated, code_version(), finished, *cost, tables)


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

SLURM = "slurm"
EXTRA = "the extra 'cluster': pip install 'netloom[cluster]'"
MOST_WORKERS = 10_000
"""Workers of a run: a larger number is a mistake."""

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
    begin = {"initializer": _begin, "initargs": (os.getpid(),), "env": dict.fromkeys(names, each)}
    executor = ProcessPoolExecutor(number, timeout=None, **begin)
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
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


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
            distributed = import_module("distributed")
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
        jobqueue = import_module("dask_jobqueue")
    except ImportError:
        raise InputError("cluster", "no dask-jobqueue", EXTRA) from None
    config = import_module("dask.config")
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


# -- a run ---------------------------------------------------------------------------------------


BEAT_SECONDS = 2.0
"""How often a run says that it is alive, and looks what others have done."""


def run(
    file: str | Path | Experiment,
    *,
    store: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
) -> Results:
    """Run an experiment, and return what it has found.

    What the store has is not answered again. Finished points stay whatever happens: Ctrl-C, or
    ``kill -9``, costs what was being worked on. Several processes may run the same experiment at
    once. They share the work.

    Parameters
    ----------
    file
        The experiment file. See ``read_experiment``.
    store
        Where answers are kept: by default beside the file, with the suffix ``.sqlite``.
    workers
        Processes on this machine. One a processor by default. With ``slurm``, jobs.
    cluster
        Instead of these a Dask scheduler, ``tcp://HOST:PORT``, or ``slurm``.

    Raises
    ------
    InputError
        If the file, the store or the cluster cannot be used. ``LostError`` if a worker or the
        cluster's scheduler is lost for good. What is finished is kept.
    """
    experiment = read_experiment(file)
    worker_count(workers)  # refused before there is a store
    with Store(store_of(experiment.path, store), create=True) as opened:
        kept = opened.register(experiment)
        known = opened.outcomes(experiment.key)
        steps = [next_step(curve, known) for curve in curves_of(experiment.points)]
        opened.ask(experiment.key, [point for step in steps for point in step.added])
        if any(step.wanted for step in steps):
            opened.check_writable()
            hire = local_workers if cluster is None else partial(cluster_workers, cluster)
            with hire(workers) as hired:
                _Run(experiment, opened, hired).finish()
        found = load_kept(opened, kept)
        before = sum(each.point.key in known for each in found.answered)
        before += sum(each.point.key in known for each in found.refused)
        return replace(found, from_store=before, unused=opened.of_other_code())


def store_of(file: str | Path, store: str | Path | None = None) -> Path:
    """Return the store of an experiment file: the one named, or the one beside it.

    Raises
    ------
    InputError
        If that is no name of a file.

    Examples
    --------
    >>> print(store_of("sweeps/torus.toml"))
    sweeps/torus.sqlite
    """
    if store is not None:
        return Path(store)
    if not Path(file).name:
        raise InputError(str(file), "a folder", "an experiment file, .toml")
    return Path(file).with_suffix(".sqlite")


def asked_of(point: Point, experiment: Experiment, *, elsewhere: bool) -> AskedPoint:
    """Return what a worker is told of a point. With the content of files if it is elsewhere."""
    inputs = [experiment.inputs[name] for name in point.files]
    module = by_verb(point.verb).module
    if not elsewhere:
        paths = {each.name: str(each.path) for each in inputs}
        return AskedPoint(module, point.verb, point.fields, paths, {})
    contents = {each.name: (each.digest, each.contents()) for each in inputs}
    return AskedPoint(module, point.verb, point.fields, {}, contents)


class _Run:
    """One run of an experiment: what is known, what is being worked on, what comes next.

    Curves go on side by side. Workers that would be idle take the next points up a curve, which are
    for nothing if it ends before.
    """

    def __init__(self, experiment: Experiment, store: Store, workers: Workers) -> None:
        self.experiment, self.store, self.workers = experiment, store, workers
        self.known = store.outcomes(experiment.key)
        self.curves_with: dict[str, list[Curve]] = {}
        self.open: dict[Curve, list[Point]] = {}  # with what each perhaps needs
        self.wanted: dict[Curve, set[str]] = {}  # of an open curve: what it cannot go on without
        self.ready: deque[Point] = deque()
        self.asked: set[str] = set()
        self.flying: dict[Future[KeptAnswer], Point] = {}
        self.elsewhere: dict[str, Point] = {}
        self.done = 0  # points of the file that are answered, or past the end of their curve
        self.bugs: dict[str, Exception] = {}  # by the key of the point
        self.stopped: list[Exception] = []  # those that a curve cannot go on for
        self.alive = 0.0

    def finish(self) -> None:
        """Answer all that is to be answered. Show how far it is.

        A bug ends the curve that it is on. It is raised when the others are complete.
        """
        curves = curves_of(self.experiment.points)
        for curve in curves:
            self._belong(curve, curve.points)
        title = self.experiment.title or self.experiment.path.name
        with counting(len(self.experiment.points), title) as tell:
            for curve in curves:
                self._go_on(curve)
            while self.open:
                self._hand_out()
                self._hear()
                tell(self.done)
        if self.stopped:
            raise self.stopped[0]

    def _belong(self, curve: Curve, points: Iterable[Point]) -> None:
        for point in points:
            self.curves_with.setdefault(point.key, []).append(curve)

    def _go_on(self, curve: Curve) -> None:
        """Find out what a curve needs next, if anything."""
        step = next_step(curve, self.known)
        added = [each for each in step.added if curve not in self.curves_with.get(each.key, [])]
        if added:  # another curve may have asked for them before: they are this one's too
            self.store.ask(self.experiment.key, added)
            self._belong(curve, added)
        bugs = [self.bugs[point.key] for point in step.wanted if point.key in self.bugs]
        self.stopped += bugs
        if bugs or not step.wanted:
            self.open.pop(curve, None)
            self.done += len(curve.points)
            for future, point in list(self.flying.items()):
                # what nobody has begun of it and no other curve has is taken back
                if self.curves_with[point.key] == [curve] and future.cancel():
                    del self.flying[future]
                    self.asked.discard(point.key)  # another curve may want it at its knee
                    self.store.release(point.key)
            return
        new = [point for point in step.wanted if point.key not in self.asked]
        self.asked |= {point.key for point in new}
        self.ready.extend(new)
        self.open[curve] = step.perhaps
        self.wanted[curve] = {point.key for point in step.wanted}

    def _hand_out(self) -> None:
        """Hand out points while there are idle workers, those that are wanted first."""
        count = self.workers.count()
        while self.ready and len(self.flying) < AHEAD * count:
            self._hand(self.ready.popleft())
        if len(self.flying) >= count:
            return
        for points in list(self.open.values()):
            for point in points:
                if len(self.flying) >= count:
                    return
                if point.key not in self.asked:
                    self.asked.add(point.key)
                    self._hand(point)

    def _hand(self, point: Point) -> None:
        if not self.store.claim(point.key):
            self.elsewhere[point.key] = point
            self._look_at(point)
            return
        asked = asked_of(point, self.experiment, elsewhere=self.workers.elsewhere)
        self.flying[self.workers.executor.submit(work, asked)] = point

    def _hear(self) -> None:
        """Wait until a point is answered, here or elsewhere, or for a while."""
        if self.flying:
            ended = wait(self.flying, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED).done
        else:
            ended = set()
            time.sleep(BEAT_SECONDS / 4)
        # what is finished is kept, whatever follows
        for future in sorted(ended, key=lambda each: each.cancelled() or bool(each.exception())):
            self._take_in(self.flying.pop(future), future)
        if time.monotonic() - self.alive > BEAT_SECONDS or not ended:
            self.alive = time.monotonic()
            self.store.show_life()
            for point in list(self.elsewhere.values()):
                self._look_at(point)

    def _take_in(self, point: Point, future: Future[KeptAnswer]) -> None:
        """Keep what a worker has found. Of a bug, end the curves that cannot do without."""
        try:
            found = _result(future)
        except (InputError, BrokenExecutor):
            raise
        except Exception as bug:  # noqa: BLE001 (raised in the end, by finish)
            bug.add_note(f"at the point [{point.section}] {dict(point.varied)}")
            self.bugs[point.key] = bug
            self.store.release(point.key)
            for curve in self.curves_with[point.key]:
                if curve in self.open and point.key in self.wanted[curve]:
                    self._go_on(curve)
            return
        for name in point.files:
            self.experiment.inputs[name].check_unchanged()
        self.store.keep(point, found)
        self._learn(point)

    def _look_at(self, point: Point) -> None:
        if self.store.outcome(point.key):
            del self.elsewhere[point.key]
            self._learn(point)
        elif self.store.claim(point.key):  # whoever was at it is no more
            del self.elsewhere[point.key]
            self.ready.append(point)

    def _learn(self, point: Point) -> None:
        """Take in an answer, and what follows from it for its curves."""
        outcome = self.store.outcome(point.key)
        assert outcome is not None
        self.known[point.key] = outcome
        for curve in self.curves_with[point.key]:
            if curve in self.open:
                self.wanted[curve].discard(point.key)
                if not self.wanted[curve]:
                    self._go_on(curve)


def _result(future: Future[KeptAnswer]) -> KeptAnswer:
    """Return what a worker has found, or say in one line why there is none."""
    try:
        found = future.result()
    except Interrupted:
        raise KeyboardInterrupt from None
    except Exception as error:
        if not (
            isinstance(error, CancelledError) or type(error).__module__.startswith("distributed")
        ):
            raise
        if isinstance(error, CancelledError):  # by nobody here
            raise no_scheduler() from None
        raise LostError("cluster", f"a point that is lost ({error})", LOST) from None
    if found.version != code_version():
        raise InputError("cluster", f"netloom {found.version}", f"{code_version()} there too")
    return found


# -- what a run will cost --------------------------------------------------------------------------


MOST_SECONDS = 20.0
"""How long a calibration takes at most."""

MOST_CHECKING_SECONDS = 60.0
"""How long points are looked at, at most, to see whether they can be asked."""


class SectionCost(NamedTuple):
    """What a table of an experiment asks, and what it costs.

    Attributes
    ----------
    points, answered, refused
        How many points it has, how many of them need not be asked, because they are answered or
        past saturation, and how many cannot be asked.
    point_seconds
        What a point takes, the mean of those that were tried. None where none was needed.
    at_least
        Whether one of them was not finished in time.
    """

    section: str
    points: int
    answered: int
    refused: int
    point_seconds: float | None
    tried: int
    at_least: bool

    @property
    def seconds(self) -> float:
        """What the rest of the table takes on one processor."""
        return self.left * (self.point_seconds or 0.0)

    @property
    def left(self) -> int:
        """How many points are to be answered."""
        return self.points - self.answered - self.refused


class Estimate(NamedTuple):
    """What an experiment will cost.

    Attributes
    ----------
    workers
        How many processes share the work.
    start_seconds
        What they take to be ready.
    reasons
        Why points cannot be asked, and how many of them for each reason.
    unchecked
        How many points there was no time to look at.
    """

    sections: tuple[SectionCost, ...]
    workers: int
    start_seconds: float
    reasons: dict[str, int]
    unchecked: int

    @property
    def seconds(self) -> float:
        """About how long it takes: more where points are added at knees, less where curves end."""
        return self.start_seconds + sum(each.seconds for each in self.sections) / self.workers

    @property
    def sentence(self) -> str:
        """What there is to do, and how long that takes, in one line."""
        points = sum(each.points for each in self.sections)
        left = sum(each.left for each in self.sections)
        words = f"{counted(points, 'point', ',')}, {left:,} of them to be answered"
        if refused := sum(self.reasons.values()):
            least = "at least " if self.unchecked else ""
            words += f", {least}{refused:,} that cannot be asked"
        if not left:
            return f"{words}."
        about = "at least" if any(each.at_least for each in self.sections) else "about"
        processes = counted(self.workers, "process")
        return f"{words}: {about} {_time(self.seconds)} on {processes} here."

    @property
    def verdict(self) -> Verdict:
        """The same with its mark: ``fine``, as an estimate decides nothing, if all can be asked."""
        return Verdict("limited" if self.reasons else "fine", self.sentence)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain data, the JSON of ``netloom run --dry-run``."""
        return {
            "points": sum(each.points for each in self.sections),
            "answered": sum(each.answered for each in self.sections),
            "refused": self.reasons,
            **{name: getattr(self, name) for name in ("unchecked", "workers", "start_seconds")},
            "seconds": self.seconds,
            "sections": [each._asdict() for each in self.sections],
            "verdict": self.verdict.to_dict(),
        }


def estimate(
    file: str | Path | Experiment, *, store: str | Path | None = None, workers: int | None = None
) -> Estimate:
    """Count the points of an experiment, and estimate what they cost here.

    Points without an answer are made ready first, one of each curve, for 60 s at most: what cannot
    be asked is found there. Of those that can, the first, a middle and the last of every table are
    tried, one after the other and for 20 s at most. Nothing is kept of that, and no file is
    written. What is given is as for ``run``.

    Raises
    ------
    InputError
        If the file or the store cannot be used.
    """
    experiment = read_experiment(file)
    known, kept = {}, store_of(experiment.path, store)
    if kept.exists():
        with Store(kept) as opened:
            answered = ((point.key, opened.outcome(point.key)) for point in experiment.points)
            known = {key: found for key, found in answered if found}
    steps = (next_step(curve, known) for curve in curves_of(experiment.points))
    # the points that may still have to be answered
    left = {
        point.key for step in steps if not step.added for point in (*step.wanted, *step.perhaps)
    }
    sections: dict[str, list[Point]] = {}
    for point in experiment.points:
        sections.setdefault(point.section, []).append(point)
    number = worker_count(workers)
    began = time.monotonic()
    with local_workers(1) as hired:  # no process is started before it has something to do
        if left:
            hired.executor.submit(be_ready).result()
        start_seconds = time.monotonic() - began if left else 0.0
        refused, unchecked = _refused(experiment, hired, left)

        def ask(point: Point) -> Future[KeptAnswer]:
            return hired.executor.submit(work, asked_of(point, experiment, elsewhere=False))

        until = time.monotonic() + MOST_SECONDS
        costs = [
            _cost(section, points, left, refused, ask, until)
            for section, points in track(list(sections.items()), "trying points")
        ]
    reasons = dict(Counter(refused.values()).most_common())
    return Estimate(tuple(costs), number, start_seconds, reasons, unchecked)


def _refused(
    experiment: Experiment, workers: Workers, left: set[str]
) -> tuple[dict[str, str], int]:
    """Return why points cannot be asked, by their keys, and how many were not looked at in time.

    If the lowest point of a curve cannot be asked, none of it can.
    """
    until = time.monotonic() + MOST_CHECKING_SECONDS
    found: dict[str, str] = {}
    unchecked = 0
    for curve in track(curves_of(experiment.points), "looking at points"):
        points = [point for point in curve.points if point.key in left]
        for point in [points[0], points[-1]] if len(points) > 1 else points:
            if time.monotonic() > until:
                unchecked += len(points)
                break
            asked = asked_of(point, experiment, elsewhere=False)
            if reason := workers.executor.submit(prepare, asked).result():
                several = points if point is points[0] else [point]
                found |= {each.key: reason for each in several}
                break
    return found, unchecked


def _cost(
    section: str,
    points: Sequence[Point],
    left: set[str],
    refused: Mapping[str, str],
    ask: Callable[[Point], Future[KeptAnswer]],
    until: float,
) -> SectionCost:
    """Try some points of a table: the first one twice, since at first kernels are loaded."""
    wanted = [point for point in points if point.key in left]
    rest = [point for point in wanted if point.key not in refused]
    counts = len(points), len(points) - len(wanted), len(wanted) - len(rest)
    if not rest:
        return SectionCost(section, *counts, None, 0, at_least=False)
    seconds, late = [], False
    for place in (0, *sorted({0, len(rest) // 2, len(rest) - 1})):
        began = time.monotonic()
        try:
            found = ask(rest[place]).result(timeout=max(0.1, until - began))
        except TimeoutError:
            seconds.append(time.monotonic() - began)
            late = True
            break
        seconds.append(found.wall_seconds)
    seconds = seconds[1:] or seconds
    return SectionCost(section, *counts, fmean(seconds), len(seconds), at_least=late)


def _time(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> _time(0.4), _time(75), _time(7300)
    ('1 s', '1.2 min', '2 h')
    """
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{rounded(seconds / 60)} min" if seconds < 600 else f"{seconds / 60:.0f} min"
    return f"{rounded(seconds / 3600)} h"
