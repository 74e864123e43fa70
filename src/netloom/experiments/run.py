"""Run an experiment: answer what has no answer yet, and keep every answer at once."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from netloom._version import __version__
from netloom.errors import InputError
from netloom.experiments.answer import Asked, Interrupted
from netloom.experiments.curves import curves_of, next_step
from netloom.experiments.file import Experiment, read_experiment
from netloom.experiments.results import load_results
from netloom.experiments.store import Store
from netloom.experiments.workers import AHEAD, cluster_workers, local_workers, work
from netloom.progress import counting

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from netloom.experiments.answer import Answer
    from netloom.experiments.curves import Curve
    from netloom.experiments.points import Point
    from netloom.experiments.results import Results
    from netloom.experiments.workers import Workers

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
    once; they share the work.

    Parameters
    ----------
    file
        The experiment file; see ``read_experiment``.
    store
        Where answers are kept: by default beside the file, with the suffix ``.sqlite``.
    workers
        Processes on this machine; one a processor by default. With ``slurm``, jobs.
    cluster
        Instead of these a Dask scheduler, ``tcp://HOST:PORT``, or ``slurm``.

    Raises
    ------
    InputError
        If the file, the store or the cluster cannot be used, or a worker is lost for good.
    """
    experiment = file if isinstance(file, Experiment) else read_experiment(file)
    with Store(store_of(experiment.path, store), create=True) as opened:
        opened.register(experiment)
        if _unanswered(experiment, opened):
            with _workers(workers, cluster) as hired:
                _Run(experiment, opened, hired).finish()
        return load_results(opened, experiment.key)


def store_of(file: str | Path, store: str | Path | None = None) -> Path:
    """Return the store of an experiment file: the one named, or the one beside it.

    Examples
    --------
    >>> print(store_of("sweeps/torus.toml"))
    sweeps/torus.sqlite
    """
    return Path(file).with_suffix(".sqlite") if store is None else Path(store)


def asked_of(point: Point, experiment: Experiment, *, elsewhere: bool) -> Asked:
    """Return what a worker is told of a point; with the content of files if it is elsewhere."""
    inputs = [experiment.inputs[name] for name in point.files]
    if not elsewhere:
        return Asked(point.verb, point.fields, {each.name: str(each.path) for each in inputs}, {})
    contents = {each.name: (each.digest, each.contents()) for each in inputs}
    return Asked(point.verb, point.fields, {}, contents)


def _workers(count: int | None, cluster: str | None) -> AbstractContextManager[Workers]:
    return local_workers(count) if cluster is None else cluster_workers(cluster, count)


def _unanswered(experiment: Experiment, store: Store) -> bool:
    known = store.outcomes(experiment.key)
    return any(next_step(curve, known).wanted for curve in curves_of(experiment.points))


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
        self.ready: deque[Point] = deque()
        self.asked: set[str] = set()
        self.flying: dict[Future[Answer], Point] = {}
        self.elsewhere: dict[str, Point] = {}
        self.alive = 0.0

    def finish(self) -> None:
        """Answer all that is to be answered; show how far it is."""
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
                tell(len(self.experiment.points) - self._left())

    def _belong(self, curve: Curve, points: Iterable[Point]) -> None:
        for point in points:
            self.curves_with.setdefault(point.key, []).append(curve)

    def _left(self) -> int:
        """Return how many points of the file are still open."""
        return sum(point.key not in self.known for curve in self.open for point in curve.points)

    def _go_on(self, curve: Curve) -> None:
        """Find out what a curve needs next, if anything."""
        step = next_step(curve, self.known)
        if not step.wanted:
            self.open.pop(curve, None)
            self._take_back(curve)
            return
        new = [point for point in step.wanted if point.key not in self.asked]
        if step.added and new:
            self.store.ask(self.experiment.key, new)
            self._belong(curve, new)
        self.asked |= {point.key for point in new}
        self.ready.extend(new)
        self.open[curve] = step.perhaps

    def _take_back(self, curve: Curve) -> None:
        """Take back what nobody has begun of a curve that has ended."""
        for future, point in list(self.flying.items()):
            if self.curves_with[point.key] == [curve] and future.cancel():
                del self.flying[future]
                self.store.release(point.key)

    def _hand_out(self) -> None:
        """Hand out points while there are idle workers, those that are wanted first."""
        count = self.workers.count()
        while self.ready and len(self.flying) < AHEAD * count:
            self._hand(self.ready.popleft())
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
            sleep(BEAT_SECONDS / 4)
        for future in ended:
            point = self.flying.pop(future)
            self.store.keep(point, _result(future))
            self._learn(point)
        if monotonic() - self.alive > BEAT_SECONDS or not ended:
            self.alive = monotonic()
            self.store.show_life()
            self._look_elsewhere()

    def _look_elsewhere(self) -> None:
        """See what has become of points that other processes were at."""
        for point in list(self.elsewhere.values()):
            self._look_at(point)

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
                self._go_on(curve)


def _result(future: Future[Answer]) -> Answer:
    """Return what a worker has found, or say in one line why there is none."""
    lost = "fewer workers, if memory is short; finished points are kept: run it again"
    try:
        found = future.result()
    except Interrupted:
        raise KeyboardInterrupt from None
    except BrokenExecutor as error:
        raise InputError("workers", f"one that died ({error})", lost) from None
    except Exception as error:
        if not type(error).__module__.startswith("distributed"):
            raise
        raise InputError("cluster", f"a point that is lost ({error})", lost) from None
    if found.version != __version__:
        raise InputError("cluster", f"netloom {found.version}", f"netloom {__version__} there too")
    return found
