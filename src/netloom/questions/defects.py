"""What may spoil a measured collective: defects that fit its curves, and the test that parts them.

A defect changes what a library's runs are made of (``Parts``): a card at half rate doubles the
seconds per byte of cards. One curve of times by size says how much later bytes and starts are, and
no more, so several causes may have one curve. Runs of some of the computers tell where a cause is.
That of a computer strikes the runs that it takes part in, that of a cable the runs that cross it.

Each variant of a defect, that is its factor and its place, predicts all measured times. Its misfit
counts noise, and the machine's own errors: of rates, of starts, and of the law between them. These
are the same in all files, so that two halves are compared more exactly than one curve is judged.
Defects are ranked by the mean likelihood of their variants: one with a free factor has to gain more
by it than one without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby, product
from typing import Literal, NamedTuple

import numpy as np

from netloom.base.arrays import Floats
from netloom.base.words import listed, number
from netloom.machines.libraries import DIRECT, PXN, ROWS, Library, Parts
from netloom.questions.measured import Explanation, MeasuredPoint

NOISE, EARLY_NOISE = 0.03, 0.05
"""Of a measured time, as a part of it, and more of times that are starts alone."""

RATE_ERROR, START_ERROR, LAW_ERROR = 0.05, 0.15, 2.0
"""Of a machine's rates, of its starts, and of the part of the law that both have, each as a part
of it."""

SEEN = 0.02
"""The least change of a time that makes a defect one."""

PARTED = 0.1
"""Logarithm of two times from which on a test tells them apart."""

SURE = 2.0
"""Logarithm of the likelihoods from which on a defect is better than none."""

LIKELY = 4.0
"""Logarithm of the likelihoods from which on a defect is not worth naming beside a better one."""

ALIKE = 9.0
"""Squared distance of predicted curves, in their deviations, below which they are one."""

MOSTLY = 0.75
"""The part of the sizes that a defect must bring within their bands."""

WRONG = 4.0
"""Deviations of the best defect, root mean square, from which on none fits."""


@dataclass(frozen=True)
class Run:
    """A run of some of the computers.

    Attributes
    ----------
    members, cards
        The computers that take part, and the cards of each.
    sizes
        float64[n], bytes.
    parts
        Of each algorithm and protocol that may have run, by name: ``rings LL``.
    launch
        Seconds of their start that are no hops.
    """

    members: Sequence[int]
    cards: int
    sizes: Floats
    parts: dict[str, Parts]
    launch: float = 0.0

    @property
    def computers(self) -> int:
        """How many computers take part."""
        return len(self.members)

    @property
    def crosses(self) -> bool:
        """Whether it uses cables between routers."""
        return any(each.network > 0 for each in self.parts.values())

    @property
    def fewer(self) -> float:
        """By what the others of a computer's cards take longer if one is missing."""
        return self.cards / max(self.cards - 1, 1)

    @cached_property
    def seconds(self) -> Floats:
        """float64[n], expected without a defect."""
        return least_seconds([*self.parts.values()], self.sizes)

    def later(self, defect: Defect, factor: float) -> Floats:
        """Return float64[n], logarithm of the time with a defect over that without."""
        named = self.parts.items()
        only = [each for name, each in named if f"{name} ".startswith(f"{defect.only} ")]
        late, hops, *by = defect.change(factor, self)
        late += self.launch * (1 - hops)
        changed = [
            Parts(late + hops * each.start, *(a * b for a, b in zip(each[1:], by, strict=True)))
            for each in only or self.parts.values()
        ]
        return np.log(least_seconds(changed, self.sizes) / self.seconds)


class Defect(NamedTuple):
    """What may be wrong, and how it changes the parts of a run that it strikes.

    Attributes
    ----------
    name
        Short. ``{}`` stands for its factor.
    place
        What it is a defect of.
    change
        By a factor and a run, the seconds that are added to starts, and what is multiplied: hops,
        then the seconds per byte of inner links, cards and the network.
    factors
        Those that it may have. One if it is known.
    only
        The algorithm or protocol that is left. "" for all.
    """

    name: str
    place: Literal["computer", "cable", "all"]
    change: Callable[[float, Run], tuple[float, ...]] = lambda *_: (0, 1, 1, 1, 1)
    factors: tuple[float, ...] = (1.0,)
    only: str = ""


def _steps(low: float, high: float) -> tuple[float, ...]:
    return tuple(np.geomspace(low, high, 24).tolist())


def _slower(by: float, run: Run) -> tuple[float, ...]:
    return 0, 1 + (by - 1) / run.computers, by, by, 1


DEFECTS = (
    Defect("one card at half rate", "computer", lambda *_: (0, 1, 1, 2, 1)),
    Defect("one card missing in one computer", "computer", lambda _, of: (0, 1, 1, of.fewer, 1)),
    Defect("inner links of one computer at half rate", "computer", lambda *_: (0, 1, 2, 1, 1)),
    Defect("one computer {:.2g} times slower", "computer", _slower, _steps(1.2, 4)),
    Defect("two flows on an uplink", "cable", lambda *_: (0, 1, 1, 1, 2)),
    Defect("half of a leaf's uplinks down", "cable", lambda *_: (0, 1, 1, 1, 2)),
    Defect(
        "one card of each computer (a rail) missing", "all", lambda _, of: (0, 1, 1, of.fewer, 1)
    ),
    Defect("one card of each computer in use", "all", lambda _, run: (0, 1, 1, run.cards, 1)),
    Defect(
        "no GPUDirect (bytes between computers {:.2g} times slower)",
        "all",
        lambda by, _: (0, 1, 1, by, 1),
        _steps(1.3, 4),
    ),
    Defect("hops {:.2g} times later", "all", lambda by, _: (0, by, 1, 1, 1), _steps(1.4, 8)),
    Defect(
        "each collective {:.2g} µs later",
        "all",
        lambda late, _: (late * 1e-6, 1, 1, 1, 1),
        _steps(15, 1000),
    ),
)
"""Those that are looked for, beside those that leave one algorithm or protocol of several."""

SLOWER = Defect("all bytes slower", "all", lambda by, _: (0, 1, by, by, by))


def only_one(run: Run) -> list[Defect]:
    """Return the defects that leave one algorithm or protocol of several that a run may take."""
    count = Counter(each.partition(" ")[0] for each in run.parts)
    choices = [each for each in count if len(count) > 1]
    choices += [each for each in run.parts if count[each.partition(" ")[0]] > 1]
    return [
        Defect("no PXN" if each == DIRECT else f"nothing but {each} at all sizes", "all", only=each)
        for each in choices
    ]


def least_seconds(parts: Sequence[Parts], sizes: Floats) -> Floats:
    """Return float64[n], the time by the protocol that is fastest at each size."""
    return np.array([min(each.seconds(size) for each in parts) for size in sizes.tolist()])


class Variant(NamedTuple):
    """A defect with its factor and place.

    Attributes
    ----------
    struck
        Whether each run has it.
    weight
        How likely the place is, if the defect is there.
    later
        float64[n], logarithm of the times with it over those without, run by run.
    """

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
        each = range(len(runs))
        most = max(each, key=lambda at: runs[at].computers)
        pairs = [tuple(crossing[at] and at in (most, other) for at in each) for other in each]
        found = {tuple(crossing), *pairs} if crossing[most] else set()
        return dict.fromkeys(found, 1 / max(len(found), 1))
    among = sorted({each for run in runs for each in run.members})
    signs = [tuple(each in run.members for run in runs) for each in among]
    return {each: signs.count(each) / len(signs) for each in dict.fromkeys(signs)}


def variants(runs: Sequence[Run]) -> Iterator[Variant]:
    """Yield the variants of all defects that change some time."""
    for defect in (*DEFECTS, *only_one(runs[0])):
        where = places(defect, runs)
        for factor in defect.factors:
            each = [run.later(defect, factor) for run in runs]
            for struck, weight in where.items():
                later = _where(each, struck)
                if np.abs(later).max() > SEEN:
                    yield Variant(defect, factor, struck, weight, later)


def _where(later: Sequence[Floats], struck: Sequence[bool]) -> Floats:
    """Return logarithms of times run by run, of those runs that are struck. Of others 0."""
    return np.concatenate([each * has for each, has in zip(later, struck, strict=True)])


class Cause(NamedTuple):
    """A defect as it fits best.

    ``likely``: logarithm of the mean likelihood of its variants.
    """

    best: Variant
    likely: float

    @property
    def name(self) -> str:
        """What it is called, with its factor."""
        return self.best.defect.name.format(self.best.factor)


def whitening(
    runs: Sequence[Run], rate: float, start: float, law: float, *, early_noise: float = 0.0
) -> Floats:
    """Return the matrix that makes errors of the times of runs independent, each of deviation 1.

    Parameters
    ----------
    rate, start, law
        Errors of a machine's rates and starts, and of the law that joins them.
    early_noise
        Deviation of times that are start alone, beside noise.

    Returns
    -------
    float64[n, n], for logarithms of times.
    """
    step = 1e-3
    early = 1 - np.concatenate([run.later(SLOWER, 1 + step) for run in runs]) / step
    both = 0.4 * np.sqrt(np.clip(early * (1 - early), 0, 1))  # the law's own middle part
    errors = np.array([rate * (1 - early), start * early, law * both])
    covariance = np.diag(NOISE**2 + (early_noise * early) ** 2) + errors.T @ errors
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))


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
    >>> suspects = Suspects([Run(range(8), 8, sizes, {"rings": parts})])
    >>> twice = parts._replace(card=1e-11)
    >>> slower = np.array([twice.seconds(each) / parts.seconds(each) for each in sizes])
    >>> [[each.name for each in group] for group in suspects.ranked(np.log(slower))][0][:3]
    ['one card at half rate', 'two flows on an uplink', "half of a leaf's uplinks down"]
    >>> suspects.ranked(0 * slower)
    []
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs, self.variants = runs, [*variants(runs)]
        self._white = whitening(runs, RATE_ERROR, START_ERROR, LAW_ERROR, early_noise=EARLY_NOISE)
        self._curves = np.array([self._white @ each.later for each in self.variants])

    def ranked(self, later: Floats) -> list[list[Cause]]:
        """Return the causes that fit, those with one curve together, the most likely first.

        Causes are of one curve if noise and the machine's errors hardly part them, or both from a
        third.

        Parameters
        ----------
        later
            float64[n], logarithm of measured over expected times, run by run.
        """
        from scipy.sparse.csgraph import connected_components

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
        for _, some in groupby(range(len(logs)), key=lambda at: self.variants[at].defect):
            of = [*some]
            all_of = np.log(sum(self.variants[at].weight for at in of))
            best = self.variants[max(of, key=lambda at: logs[at])]
            found.append(Cause(best, float(np.logaddexp.reduce(logs[of]) - all_of)))
        found.sort(key=lambda each: -each.likely)
        if found[0].likely < SURE - none / (2 * scale):
            return []
        likely = [each for each in found if each.likely >= found[0].likely - LIKELY]
        white = np.array([self._white @ each.best.later for each in likely])
        near = ((white[:, None] - white) ** 2).sum(axis=2) < ALIKE
        group = connected_components(near)[1]
        return [[each for each, of in zip(likely, group, strict=True) if of == number]
                for number in dict.fromkeys(group.tolist())]  # fmt: skip


# -- the next test ---------------------------------------------------------------------------------

Hosts = Mapping[tuple[str, int], Sequence[str]]
"""The computer of each rank, by file and number of ranks."""

Build = Callable[[Sequence[int]], Run]
"""Makes the run of some computers."""


def next_test(
    groups: Sequence[Sequence[Cause]], runs: Sequence[Run], build: Build, names: Sequence[str] = ()
) -> str:
    """Return the test that parts most of some causes, and what each predicts. "" for none.

    ``names``: of the computers, if they are known.
    """
    causes = [each for group in groups for each in group]
    done, old = {run.computers for run in runs}, len(runs)
    every, tests = max(done), dict[str, list[Run]]()
    if every > 1 and every // 2 not in done:
        halves = range(every // 2), range(every // 2, every)
        tests["run each half of the computers"] = [*map(build, halves)]
    if 1 not in done:
        tests["run one computer alone"] = [build(range(1))]
    best, most = "", 0
    for words, test in tests.items():
        shown = list[list[Floats]]()  # of each cause, by the places that the runs so far allow
        for by in (each.best for each in causes):
            later = [run.later(by.defect, by.factor) for run in test]
            where = [(each[:old], each[old:]) for each in places(by.defect, [*runs, *test])]
            shown.append([_where(later, new) for known, new in where if known == by.struck])
        parted = sum(
            all(np.abs(a - b).max() > PARTED for a, b in product(one, other))
            for one, other in combinations(shown, 2)
        )
        if parted > most:
            most, best = parted, f"{words} ({_predicted(causes, shown, len(test))})"
    among, place = _among(causes[0], runs), causes[0].best.defect.place
    if not best and place == "computer" and len(among) > 1:
        return f"run each half of {_called(among, names)}"
    if not best and place == "cable" and len(groups[0]) > 1:
        return "run the same computers in another order: flows that meet by chance meet elsewhere"
    return best


def _called(computers: Sequence[int], names: Sequence[str]) -> str:
    """Return some computers, by their names if they are known."""
    if names:
        return listed([names[each] for each in computers])
    first, *more = computers
    return f"computers {first} to {more[-1]}" if more else f"computer {first}"


def _among(cause: Cause, runs: Sequence[Run]) -> list[int]:
    """Return the computers among which a computer's defect is."""
    struck = [*zip(runs, cause.best.struck, strict=True)]
    inside = set.intersection(*({*run.members} for run, has in struck if has))
    return sorted(inside.difference(*(run.members for run, has in struck if not has)))


def _predicted(causes: Sequence[Cause], shown: Sequence[Sequence[Floats]], runs: int) -> str:
    """Return by what each cause lengthens the runs of a test, those alike together."""
    said = dict[str, list[str]]()
    for cause, curves in zip(causes, shown, strict=True):
        each = [np.exp(run.max()) for run in np.split(max(curves, key=np.max), runs)]
        times = listed([f"×{number(round(by, 2))}" for by in sorted(each, reverse=True)])
        said.setdefault(times, []).append(cause.name)
    return "; ".join(f"{times}: {listed(names, last='or')}" for times, names in said.items())


# -- of measured points ----------------------------------------------------------------------------


def runs_of(
    points: Sequence[MeasuredPoint], collective: str, library: Library, hosts: Hosts | None = None
) -> list[tuple[Run, list[int]]]:
    """Return the runs that files are of, and the places of their points.

    A file with one row per size may have run any of its algorithms.
    """
    files, (most, gpus) = dict[tuple[str, int], list[int]](), library.hosts.shape
    for at, point in enumerate(points):
        files.setdefault((point.file, point.ranks), []).append(at)
    taken, found, names = 0, [], names_of(hosts, most)
    for run, of in files.items():
        own = [*dict.fromkeys((hosts or {}).get(run, ()))]
        computers = max(run[1] // gpus, 1)
        first = taken % most if computers < most else 0
        members: Sequence[int] = range(first, first + computers)
        if own and {*own} <= {*names}:
            members = [names.index(each) for each in own]
        else:
            taken += computers % most
        kinds = [*dict.fromkeys(points[at].algorithm for at in of)]
        once = len({points[at].size for at in of}) == len(of)
        for each in [kinds] if once else [[kind] for kind in kinds]:
            here = [at for at in of if points[at].algorithm in each]
            sizes = np.array([points[at].size for at in here])
            found.append((run_of(library, members, collective, each, sizes), here))
    return found


def names_of(hosts: Hosts | None, computers: int) -> list[str]:
    """Return the names of all computers, if a file of all has them."""
    each = ([*dict.fromkeys(names)] for names in (hosts or {}).values())
    return next((names for names in each if len(names) == computers), [])


def run_of(
    library: Library,
    members: Sequence[int],
    collective: str,
    algorithms: Sequence[str],
    sizes: Floats,
) -> Run:
    """Return a run on some of a library's computers, by the algorithms that these can run.

    Where it may send over the cards of other GPUs (PXN), it may do without.
    """
    own, every = library, [*range(len(library.hosts))]
    if [*members] != every:
        own = replace(library, hosts=library.hosts[[*members]], counted={})
    able = own.algorithms(collective)
    some = [each for each in algorithms if each in able] or [*algorithms]
    parts = dict[str, Parts]()
    for name in dict.fromkeys([*some, *[DIRECT] * (PXN in some)]):
        protocols = [row.name for row in own.protocols if row.algorithm == ROWS[name]]
        names = [f"{name} {protocol}".rstrip() for protocol in protocols]
        parts |= zip(names, own.parts(collective, name), strict=True)
    return Run(members, len(own.near), sizes, parts, own.start)


def explained(
    points: Sequence[MeasuredPoint], collective: str, library: Library, hosts: Hosts | None = None
) -> tuple[Explanation, ...]:
    """Return the classes of defect that fit measured times, the most likely first.

    Parameters
    ----------
    points
        All points of one or several files. Files of fewer ranks than the largest are of the
        computers that ``hosts`` names, or of consecutive ones in the order in which they are given.
    collective
        What they measured.
    library
        That of the ranks of the largest file.
    hosts
        The computer of each rank, by file and number of ranks, if files name them.

    Returns
    -------
    tuple of Explanation
        Causes with one curve are one class. Empty if no defect is more likely than none, or none
        fits, or points are of algorithms that the library has not.
    """
    if {each.algorithm for each in points} - {*library.algorithms(collective)}:
        return ()
    known = runs_of(points, collective, library, hosts)
    names = names_of(hosts, len(library.hosts))
    order, runs = [each for _, at in known for each in at], [run for run, _ in known]
    later = np.log([points[at].measured / points[at].expected for at in order])
    bands = np.log([1 + points[at].band for at in order])
    groups = Suspects(runs).ranked(later)
    if not groups:
        return ()
    largest, at = max(known, key=lambda each: each[0].computers)
    algorithms = [*dict.fromkeys(points[each].algorithm for each in at)]

    def build(members: Sequence[int]) -> Run:
        return run_of(library, members, collective, algorithms, largest.sizes)

    test, found = next_test(groups, runs, build, names), []
    for group in groups:
        best, where = group[0].best, ""
        if not all(best.struck) and {each.best.defect.place for each in group} == {"computer"}:
            where = f", in {_called(_among(group[0], runs), names)}"
        ratios = np.ones(len(points))
        ratios[order] = np.exp(best.later)
        explanation = Explanation(
            name=group[0].name,
            words=listed([each.name for each in group], last="or") + where,
            ratio_by_size=tuple(ratios.tolist()),
            misfit=float(np.sqrt(np.mean((later - best.later) ** 2))),
            next_test=test,
        )
        if (np.abs(later - best.later) <= bands).mean() >= MOSTLY:
            found.append(explanation)
    return tuple(found)
