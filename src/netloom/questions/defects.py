"""What may spoil a measured collective: defects that fit its curves, and the test that parts them.

A defect changes what a library's runs are made of (``Parts``): a card at half rate doubles the
seconds per byte of cards. One curve of times by size says how much later bytes and starts are, and
no more, so several causes may have one curve. Runs of some of the computers tell where a cause is:
those of a computer strike the runs that it takes part in, those of a cable the runs that cross it.

Each variant of a defect, that is its factor and its place, predicts all measured times. Its misfit
counts noise, and the machine's own errors: of rates, of starts, and of the law between them. These
are the same in all files, so that two halves are compared more exactly than one curve is judged.
Defects are ranked by the mean likelihood of their variants: one with a free factor has to gain more
by it than one without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

import numpy as np

from netloom.base.arrays import Floats
from netloom.base.words import listed, number
from netloom.machines.libraries import DIRECT, ROWS, Library, Parts
from netloom.questions.measured import Explanation, MeasuredPoint

NOISE = 0.03
"""Of a measured time, as a part of it."""

RATE_ERROR, START_ERROR, LAW_ERROR = 0.05, 0.15, 2.0
"""Of a machine's rates, of its starts, and of the part of the law that both have, each as a part
of it."""

SEEN = 0.02
"""The least change of a time that makes a defect one."""

PARTED = 0.1
"""Logarithm of two times from which on a test tells them apart."""

SURE = 2.0
"""Logarithm of the likelihoods from which on a defect is better than none."""

LIKELY = 6.0
"""Logarithm of the likelihoods from which on a defect is not worth naming beside a better one."""

ALIKE = 6.0
"""Squared distance of predicted curves, in their deviations, below which they are one."""

WRONG = 4.0
"""Deviations of the best defect, root mean square, from which on none fits."""


class Inside(NamedTuple):
    """How many computers run, the cards of each, and what each of the parts is of.

    ``names``: algorithm and protocol, such as ``rings LL``.
    """

    computers: int
    cards: int
    names: tuple[str, ...] = ()

    @property
    def choices(self) -> list[str]:
        """The algorithms, and the protocols of each, where there are several."""
        found = [*dict.fromkeys([each.partition(" ")[0] for each in self.names]), *self.names]
        return found if len(self.names) > 1 else []


Change = Callable[[Sequence[Parts], float, Inside], list[Parts]]


class Defect(NamedTuple):
    """What may be wrong, and how it changes the parts of a run that it strikes.

    Attributes
    ----------
    name
        Short. ``{}`` stands for its factor, or for the choice of this number.
    place
        What it is a defect of.
    change
        Returns the parts of a run that has it, by a factor.
    factors
        Those that it may have. One if it is known.
    """

    name: str
    place: Literal["computer", "cable", "all"]
    change: Change
    factors: tuple[float, ...] = (1.0,)


def _scaled(**by: Callable[[float, Inside], float]) -> Change:
    """Return the change that multiplies parts of each protocol."""

    def change(parts: Sequence[Parts], factor: float, run: Inside) -> list[Parts]:
        scale = {name: each(factor, run) for name, each in by.items()}
        return [
            each._replace(**{name: getattr(each, name) * scale[name] for name in scale})
            for each in parts
        ]

    return change


def _steps(low: float, high: float, count: int = 24) -> tuple[float, ...]:
    return tuple(np.geomspace(low, high, count).tolist())


def _less_one(_: float, run: Inside) -> float:
    return run.cards / (run.cards - 1) if run.cards > 1 else 1.0


def _twice(*_: Any) -> float:
    return 2.0


def _times(factor: float, _: Inside) -> float:
    return factor


def _one_of(factor: float, run: Inside) -> float:
    """Return by how much a start grows with the hops of one computer."""
    return 1 + (factor - 1) / run.computers


def _only(parts: Sequence[Parts], run: Inside, choice: str = "") -> list[Parts]:
    """Return the parts of an algorithm or protocol. All if there are none."""
    named = zip(parts, run.names, strict=False)
    return [part for part, name in named if choice in (name, name.partition(" ")[0])] or [*parts]


DEFECTS = (
    Defect("one card at half rate", "computer", _scaled(card=_twice)),
    Defect("one card missing in one computer", "computer", _scaled(card=_less_one)),
    Defect("inner links of one computer at half rate", "computer", _scaled(inside=_twice)),
    Defect(
        "one computer {:.2g} times slower",
        "computer",
        _scaled(start=_one_of, inside=_times, card=_times),
        _steps(1.2, 4),
    ),
    Defect("two flows on an uplink", "cable", _scaled(network=_twice)),
    Defect("half of a leaf's uplinks down", "cable", _scaled(network=_twice)),
    Defect("one card of each computer (a rail) missing", "all", _scaled(card=_less_one)),
    Defect("one card of each computer in use", "all", _scaled(card=lambda _, run: run.cards)),
    Defect(
        "no GPUDirect (bytes between computers {:.2g} times slower)",
        "all",
        _scaled(card=_times),
        _steps(1.3, 4),
    ),
    Defect("hops {:.2g} times later", "all", _scaled(start=_times), _steps(1.4, 8)),
    Defect(
        "each collective {:.2g} µs later",
        "all",
        lambda parts, late, _: [each._replace(start=each.start + late * 1e-6) for each in parts],
        _steps(15, 1000),
    ),
    Defect("no PXN", "all", lambda parts, _, run: _only(parts, run, DIRECT)),
    Defect(
        "nothing but {} at all sizes",
        "all",
        lambda parts, which, run: _only(parts, run, *run.choices[int(which) :][:1]),
        tuple(map(float, range(16))),
    ),
)
"""Those that are looked for."""


@dataclass(frozen=True)
class Run:
    """A run of some of the computers, one after the other.

    Attributes
    ----------
    first, inside
        The first computer, how many there are, and their cards.
    sizes
        float64[n], bytes.
    parts
        Of each protocol and algorithm that may have run.
    """

    first: int
    inside: Inside
    sizes: Floats
    parts: tuple[Parts, ...]

    @property
    def computers(self) -> range:
        """The computers that take part."""
        return range(self.first, self.first + self.inside.computers)

    @property
    def crosses(self) -> bool:
        """Whether it uses cables between routers."""
        return any(each.network > 0 for each in self.parts)

    @cached_property
    def seconds(self) -> Floats:
        """float64[n], expected without a defect."""
        return least_seconds(self.parts, self.sizes)

    def later(self, defect: Defect, factor: float) -> Floats:
        """Return float64[n], logarithm of the time with a defect over that without."""
        changed = defect.change(self.parts, factor, self.inside)
        return np.log(least_seconds(changed, self.sizes) / self.seconds)

    def of_start(self) -> Floats:
        """Return float64[n], the part of a change of starts that a time changes by."""
        step = 1e-3
        slower = [each._replace(start=each.start * (1 + step)) for each in self.parts]
        return np.log(least_seconds(slower, self.sizes) / self.seconds) / step


def least_seconds(parts: Sequence[Parts], sizes: Floats) -> Floats:
    """Return float64[n], the time by the protocol that is fastest at each size."""
    return np.array([min(each.seconds(size) for each in parts) for size in sizes.tolist()])


class Variant(NamedTuple):
    """A defect with its factor and place.

    Attributes
    ----------
    name
        Of the defect with this factor.
    struck
        Whether each run has it.
    weight
        How likely the place is, if the defect is there.
    later
        float64[n], logarithm of the times with it over those without, run by run.
    """

    name: str
    defect: Defect
    factor: float
    struck: tuple[bool, ...]
    weight: float
    later: Floats


def places(defect: Defect, runs: Sequence[Run]) -> dict[tuple[bool, ...], float]:
    """Return which runs a defect may strike, and how likely that is.

    A computer's defect strikes the runs that it takes part in. A cable's strikes the largest run,
    and of the others that cross cables none, one or all.
    """
    if defect.place == "all":
        return {(True,) * len(runs): 1.0}
    if defect.place == "cable":
        crossing = [run.crosses for run in runs]
        most = max(range(len(runs)), key=lambda at: len(runs[at].computers))
        pairs = [
            tuple(has and at in (most, other) for at, has in enumerate(crossing))
            for other in range(len(runs))
        ]
        found = {tuple(crossing), *pairs} if crossing[most] else set()
        return dict.fromkeys(found, 1 / max(len(found), 1))
    among = sorted({each for run in runs for each in run.computers})
    signs = [tuple(each in run.computers for run in runs) for each in among]
    return {each: signs.count(each) / len(signs) for each in dict.fromkeys(signs)}


def variants(runs: Sequence[Run]) -> Iterator[Variant]:
    """Yield the variants of all defects that change some time."""
    for defect in DEFECTS:
        where = places(defect, runs)
        for factor in defect.factors:
            each = [run.later(defect, factor) for run in runs]
            said: Any = factor
            if defect is DEFECTS[-1]:
                said = "".join(runs[0].inside.choices[int(factor) :][:1])
            name = defect.name.format(said)
            for struck, weight in where.items():
                curve = [by * has for by, has in zip(each, struck, strict=True)]
                later = np.concatenate(curve)
                if np.abs(later).max() > SEEN:
                    yield Variant(name, defect, factor, struck, weight, later)


class Cause(NamedTuple):
    """A defect as it fits best.

    ``likely``: logarithm of the mean likelihood of its variants.
    """

    best: Variant
    likely: float


class Suspects:
    """All defects that runs may have, to be held against what they took.

    Parameters
    ----------
    runs
        The first is of all computers.

    Examples
    --------
    >>> parts = Parts(start=1e-4, inside=2e-12, card=5e-12, network=5e-12)
    >>> sizes = 4.0 ** np.arange(5, 17)
    >>> suspects = Suspects([Run(0, Inside(8, 8), sizes, (parts,))])
    >>> twice = parts._replace(card=1e-11)
    >>> slower = np.array([twice.seconds(each) / parts.seconds(each) for each in sizes])
    >>> [[each.best.name for each in group] for group in suspects.ranked(np.log(slower))][0][:3]
    ['one card at half rate', 'two flows on an uplink', "half of a leaf's uplinks down"]
    >>> suspects.ranked(0 * slower)
    []
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs, self.variants = runs, [*variants(runs)]
        start = np.concatenate([run.of_start() for run in runs])
        both = 0.4 * np.sqrt(np.clip(start * (1 - start), 0, 1))  # the law's own middle part
        errors = np.array([RATE_ERROR * (1 - start), START_ERROR * start, LAW_ERROR * both])
        covariance = NOISE**2 * np.eye(len(start)) + errors.T @ errors
        self._white = np.linalg.inv(np.linalg.cholesky(covariance))
        self._curves = np.array([self._white @ each.later for each in self.variants])

    def ranked(self, later: Floats) -> list[list[Cause]]:
        """Return the causes that fit, those with one curve together, the most likely first.

        Parameters
        ----------
        later
            float64[n], logarithm of measured over expected times, run by run.
        """
        if not self.variants:
            return []
        seen = self._white @ later
        misfits = ((self._curves - seen) ** 2).sum(axis=1)
        none, count = float((seen**2).sum()), len(seen)
        scale = max(1.0, min(none, float(misfits.min())) / count)
        if scale > WRONG**2:
            return []
        logs = np.log([each.weight for each in self.variants]) - misfits / (2 * scale)
        found = list[Cause]()
        for defect in DEFECTS:
            of = [at for at, each in enumerate(self.variants) if each.defect is defect]
            if of:
                best = max(of, key=lambda at: logs[at])
                all_ = sum(self.variants[at].weight for at in of)
                likely = float(np.logaddexp.reduce(logs[of]) - np.log(all_))
                found.append(Cause(self.variants[best], likely))
        found.sort(key=lambda each: -each.likely)
        if found[0].likely < SURE - none / (2 * scale):
            return []
        groups = list[list[Cause]]()
        for each in found:
            if each.likely < found[0].likely - LIKELY:
                break
            near = (group for group in groups if self._apart(group[0], each) < ALIKE)
            group = next(near, None)
            groups.append([each]) if group is None else group.append(each)
        return groups

    def _apart(self, one: Cause, other: Cause) -> float:
        return float(((self._white @ (one.best.later - other.best.later)) ** 2).sum())


# -- the next test ---------------------------------------------------------------------------------

Build = Callable[[int, int], Run]
"""Makes the run of so many computers from a first one on."""


def _proposed(runs: Sequence[Run], build: Build) -> Iterator[tuple[str, list[Run]]]:
    """Yield tests that have not been done: their words and runs."""
    done = {run.inside.computers for run in runs}
    most = max(done)
    if most % 2 == 0 and most // 2 not in done:
        half = most // 2
        yield "run each half of the computers", [build(0, half), build(half, half)]
    if 1 not in done:
        yield "run one computer alone", [build(0, 1)]


def _shown(cause: Cause, runs: Sequence[Run], test: Sequence[Run]) -> list[Floats]:
    """Return what a cause may come to in a test, whose runs are one after the other.

    That is a logarithm of times for each place that is as likely as the best by the runs so far.
    """
    found, by = [], cause.best
    each = [run.later(by.defect, by.factor) for run in test]
    for struck in places(by.defect, [*runs, *test]):
        if struck[: len(runs)] == by.struck:
            has = struck[len(runs) :]
            found.append(np.concatenate([one * in_ for one, in_ in zip(each, has, strict=True)]))
    return found


def next_test(groups: Sequence[Sequence[Cause]], runs: Sequence[Run], build: Build) -> str:
    """Return the test that parts most of some causes, and what each predicts. "" for none."""
    causes = [each for group in groups for each in group]
    best, most = "", 0
    for words, test in _proposed(runs, build):
        shown = [_shown(each, runs, test) for each in causes]
        parted = sum(
            all(np.abs(a - b).max() > PARTED for a, b in product(one, other))
            for one, other in combinations(shown, 2)
        )
        if parted > most:
            most, best = parted, f"{words} ({_predicted(causes, shown, len(test))})"
    if best:
        return best
    struck = [run for run, has in zip(runs, causes[0].best.struck, strict=True) if has]
    where = set.intersection(*({*run.computers} for run in struck))
    if causes[0].best.defect.place == "computer" and len(where) > 1:
        return f"run each half of computers {min(where)} to {max(where)}"
    if causes[0].best.defect.place == "cable" and len(groups[0]) > 1:
        return "run the same computers in another order: flows that meet by chance meet elsewhere"
    return ""


def _predicted(causes: Sequence[Cause], shown: Sequence[Sequence[Floats]], runs: int) -> str:
    """Return by what each cause lengthens the runs of a test, those alike together."""
    said = dict[str, list[str]]()
    for cause, curves in zip(causes, shown, strict=True):
        each = [np.exp(run.max()) for run in np.split(curves[0], runs)]
        times = listed([f"×{number(round(by, 2))}" for by in sorted(each, reverse=True)])
        said.setdefault(times, []).append(cause.best.name)
    return "; ".join(f"{times}: {listed(names, last='or')}" for times, names in said.items())


# -- of measured points ----------------------------------------------------------------------------


def part_of(library: Library, first: int, computers: int) -> Library:
    """Return what runs collectives on so many of a library's computers, from a first one on."""
    return replace(library, hosts=library.hosts[first : first + computers], counted={})


def runs_of(
    points: Sequence[MeasuredPoint], collective: str, library: Library
) -> list[tuple[Run, list[int]]]:
    """Return the runs that files are of, and the places of their points.

    A file with one row a size may have run any of its algorithms.
    """
    files, (most, gpus) = dict[tuple[str, int], list[int]](), library.hosts.shape
    for at, point in enumerate(points):
        files.setdefault((point.file, point.ranks), []).append(at)
    taken, found = 0, []
    for of in files.values():
        computers = max(points[of[0]].ranks // gpus, 1)
        first = taken % most if computers < most else 0
        taken += computers % most
        own = part_of(library, first, computers)
        names = [*dict.fromkeys(points[at].algorithm for at in of)]
        once = len({points[at].size for at in of}) == len(of)
        for each in [names] if once else [[name] for name in names]:
            here = [at for at in of if points[at].algorithm in each]
            sizes = np.array([points[at].size for at in here])
            found.append((run_of(own, first, collective, each, sizes), here))
    return found


def run_of(
    own: Library, first: int, collective: str, algorithms: Sequence[str], sizes: Floats
) -> Run:
    """Return a run on a library's computers.

    Cards that GPUs share are channels between routers: their time is that of both parts.
    """
    parts, names = list[Parts](), list[str]()
    for name in algorithms:
        parts += own.parts(collective, name)
        names += [f"{name} {r.name}" for r in own.protocols if r.algorithm == ROWS[name]]
    if len(own.near) < own.hosts.shape[1]:
        parts = [part._replace(card=max(part.card, part.network)) for part in parts]
    inside = Inside(len(own.hosts), len(own.near), tuple(names))
    return Run(first, inside, sizes, tuple(parts))


def explained(
    points: Sequence[MeasuredPoint], collective: str, library: Library
) -> tuple[Explanation, ...]:
    """Return the classes of defect that fit measured times, the most likely first.

    Parameters
    ----------
    points
        All points of one or several files. Files of fewer ranks than the largest are of consecutive
        computers, in the order in which they are given.
    collective
        What they measured.
    library
        That of the ranks of the largest file.

    Returns
    -------
    tuple of Explanation
        Causes with one curve are one class. Empty if no defect is more likely than none, or none
        fits, or points are of algorithms that the library has not.
    """
    if {each.algorithm for each in points} - {*library.algorithms(collective)}:
        return ()
    known = runs_of(points, collective, library)
    order, runs = [each for _, at in known for each in at], [run for run, _ in known]
    later = np.log([points[at].measured / points[at].expected for at in order])
    groups = Suspects(runs).ranked(later)
    if not groups:
        return ()
    largest, at = max(known, key=lambda each: each[0].inside.computers)
    algorithms = [*dict.fromkeys(points[each].algorithm for each in at)]

    def build(first: int, computers: int) -> Run:
        own = part_of(library, first, computers)
        able = [each for each in algorithms if each in own.algorithms(collective)]
        return run_of(own, first, collective, able or [algorithms[0]], largest.sizes)

    test, found = next_test(groups, runs, build), []
    for group in groups:
        best = group[0].best
        ratios = np.ones(len(points))
        ratios[order] = np.exp(best.later)
        said = Explanation(
            name=best.name,
            words=listed([each.best.name for each in group], last="or") + _where(group[0], runs),
            ratio_by_size=tuple(ratios.tolist()),
            misfit=float(np.sqrt(np.mean((later - best.later) ** 2))),
            next_test=test,
        )
        found.append(said)
    return tuple(found)


def _where(cause: Cause, runs: Sequence[Run]) -> str:
    """Return among which computers a cause is, if runs tell."""
    struck = cause.best.struck
    if cause.best.defect.place != "computer" or all(struck):
        return ""
    inside = [{*run.computers} for run, has in zip(runs, struck, strict=True) if has]
    free = [{*run.computers} for run, has in zip(runs, struck, strict=True) if not has]
    among = sorted(set.intersection(*inside).difference(*free))
    one = len(among) == 1
    return f", in computer{f' {among[0]}' if one else f's {among[0]} to {among[-1]}'}"
