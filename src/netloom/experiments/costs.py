"""What an experiment will cost, from a few of its points that are answered and thrown away."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import TimeoutError as TooLong
from functools import partial
from statistics import fmean
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.progress import track
from netloom.base.words import counted, rounded
from netloom.experiments.curves import curves_of, next_step
from netloom.experiments.file import Experiment, read_experiment
from netloom.experiments.runner import asked_of, store_of
from netloom.experiments.store import Store
from netloom.experiments.workers import be_ready, local_workers, prepare, work, worker_count
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from netloom.experiments.points import Point
    from netloom.experiments.store import Outcome
    from netloom.experiments.workers import Workers

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
            "unchecked": self.unchecked,
            "workers": self.workers,
            "start_seconds": self.start_seconds,
            "seconds": self.seconds,
            "sections": [each._asdict() for each in self.sections],
            "verdict": self.verdict.to_dict(),
        }


def estimate(
    file: str | Path | Experiment,
    *,
    store: str | Path | None = None,
    workers: int | None = None,
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
    experiment = file if isinstance(file, Experiment) else read_experiment(file)
    left = _left(experiment, store_of(experiment.path, store))
    sections: dict[str, list[Point]] = {}
    for point in experiment.points:
        sections.setdefault(point.section, []).append(point)
    number = worker_count(workers)
    began = monotonic()
    with local_workers(1) as hired:  # no process is started before it has something to do
        if left:
            hired.executor.submit(be_ready).result()
        start_seconds = monotonic() - began if left else 0.0
        refused, unchecked = _refused(experiment, hired, left)
        until = monotonic() + MOST_SECONDS
        costs = [
            _cost(section, points, left, refused, partial(_try, experiment, hired, until))
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
    until = monotonic() + MOST_CHECKING_SECONDS
    found: dict[str, str] = {}
    unchecked = 0
    for curve in track(curves_of(experiment.points), "looking at points"):
        points = [point for point in curve.points if point.key in left]
        for point in [points[0], points[-1]] if len(points) > 1 else points:
            if monotonic() > until:
                unchecked += len(points)
                break
            asked = asked_of(point, experiment, elsewhere=False)
            if reason := workers.executor.submit(prepare, asked).result():
                several = points if point is points[0] else [point]
                found |= {each.key: reason for each in several}
                break
    return found, unchecked


def _left(experiment: Experiment, store: Path) -> set[str]:
    """Return the keys of the points that may still have to be answered."""
    known: dict[str, Outcome] = {}
    if store.exists():
        with Store(store) as opened:
            answered = ((point.key, opened.outcome(point.key)) for point in experiment.points)
            known = {key: found for key, found in answered if found}
    steps = (next_step(curve, known) for curve in curves_of(experiment.points))
    return {
        point.key for step in steps if not step.added for point in (*step.wanted, *step.perhaps)
    }


def _cost(
    section: str,
    points: Sequence[Point],
    left: set[str],
    refused: Mapping[str, str],
    try_point: Callable[[Point], tuple[float, bool]],
) -> SectionCost:
    """Try some points of a table: the first one twice, since at first kernels are loaded."""
    wanted = [point for point in points if point.key in left]
    rest = [point for point in wanted if point.key not in refused]
    counts = len(points), len(points) - len(wanted), len(wanted) - len(rest)
    if not rest:
        return SectionCost(section, *counts, None, 0, at_least=False)
    took, in_time = try_point(rest[0])
    seconds = [] if in_time else [took]
    for place in sorted({0, len(rest) // 2, len(rest) - 1}):
        if not in_time:
            break
        took, in_time = try_point(rest[place])
        seconds.append(took)
    mean = fmean(seconds)
    return SectionCost(section, *counts, mean, len(seconds), at_least=not in_time)


def _try(
    experiment: Experiment, workers: Workers, until: float, point: Point
) -> tuple[float, bool]:
    """Return what a point takes, and whether it was finished in time."""
    began = monotonic()
    future = workers.executor.submit(work, asked_of(point, experiment, elsewhere=False))
    try:
        return future.result(timeout=max(0.1, until - began)).wall_seconds, True
    except TooLong:
        return monotonic() - began, False


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
