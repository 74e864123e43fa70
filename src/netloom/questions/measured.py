"""Measured times of a collective beside expected ones: which are right, how far are others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import inf, log
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.arrays import distinct
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, derived, figure
from netloom.base.words import begun, counted, listed, number, percent
from netloom.machines.logs import Log
from netloom.questions.answers import Verdict
from netloom.questions.collective_prepared import (
    SIZES,
    CollectiveQuestion,
    PreparedCollective,
    logs_of,
    prepare,
)
from netloom.workload.programs.collectives.program import bus_factor, parse_sizes

if TYPE_CHECKING:
    import polars as pl

ASSUMED_ERROR = 0.25
"""How far measured times may be where a machine says nothing."""

AS_PRINTED = 0.995
"""Measured times over bounds that are still not below them: benchmarks print four digits."""

FINE, SLOW, FAST, IMPOSSIBLE = "✓", "✗ slow", "✗ fast", "✗ < bound"
"""What a measured time may be."""

CLASSES = (64 * 2**10, 8 * 2**20, inf)
"""Bytes up to which sizes are small, medium and large: start, mixture and bandwidth."""

OF_LIBRARIES = {
    "ring": ("rings", "ring"),
    "tree": ("double-trees", "double-binary-tree"),
    "nvls": ("in-switch",),
}
"""Algorithms of netloom, by how libraries call them, if that is another name: the first is run."""

AROUND = ("allreduce-nccl-", "nccl-", "default-", "-ompi", "-mpich", "-over")
"""What PICO writes round the name of an algorithm."""


class Explanation(Figures):
    """A class of defect that fits what was measured.

    Attributes
    ----------
    name, words
        The class, and its causes.
    ratio_by_size
        Expected times with the defect over those without, one per measured point.
    misfit
        Root mean square of log(measured / (expected × ratio)).
    next_test
        The measurement that parts it from others. "" if none is needed.
    """

    name: str
    words: str
    ratio_by_size: tuple[float, ...]
    misfit: float
    next_test: str


class MeasuredPoint(Figures):
    """One measured size beside what is expected of it.

    Attributes
    ----------
    run
        The run, by its file, and by its algorithm if the file has several.
    algorithm
        Whose time is expected: the algorithm of the log, or else the fastest.
    band
        Measured over expected times, or the reverse, may be 1 + band.
    """

    run: str
    file: str
    line: int
    ranks: int
    size: float = figure(unit="bytes", lead=True)
    measured: float = figure("measured", "seconds", lead=True)
    expected: float = figure("expected", "seconds", lead=True)
    ratio: float = figure("measured over expected", head="× expected", lead=True)
    bus_bandwidth: float = figure("measured bus bandwidth", "bytes/s", lead=True)
    expected_bus_bandwidth: float = figure("expected bus bandwidth", "bytes/s", lead=True)
    algorithm: str
    bound: float = figure(unit="seconds")
    band: float = figure(unit=SHARE)

    @derived("right", lead=True)
    def right(self) -> str:
        """``✓``, or what is wrong: faster than the bound, or outside of the band."""
        if self.measured < self.bound * AS_PRINTED:
            return IMPOSSIBLE
        if self.ratio > 1 + self.band:
            return SLOW
        return FAST if self.ratio < 1 / (1 + self.band) else FINE


class Measured(Figures):
    """What was measured, beside what is expected, and what may be wrong."""

    points: tuple[MeasuredPoint, ...]
    band_source: str
    explanations: tuple[Explanation, ...]
    skipped: tuple[str, ...]

    def judged(self) -> Verdict:
        """Return whether measured times are right. What is wrong at a few sizes is told only."""
        last = max(self.points, key=lambda each: (each.size, each.ranks))
        kind, some = self.wrong
        worst = last if last in some else max(some, key=lambda each: abs(log(each.ratio)))
        bus, size = units.rate(last.bus_bandwidth), units.size(last.size)
        mark, how = ("act", "too slow") if kind == SLOW else ("limited", "faster than expected")
        if kind == IMPOSSIBLE:
            mark, least = "act", f"where {units.seconds(worst.bound)} is the least possible"
            took = f"{units.seconds(worst.measured)} for {units.size(worst.size)}"
            sentence = f"Faster than any network like this could be: {took}, {least}."
        elif kind == FINE:
            off, out = 1 / last.ratio - 1, sum(each.right != FINE for each in self.points)
            mark = "limited" if out else "fine"
            than = f"{percent(abs(off))} {'above' if off > 0 else 'below'} what is expected"
            are = f"{out} of {counted(len(self.points), 'size')} {'is' if out == 1 else 'are'} not"
            sentence = f"As expected: {bus} bus bandwidth at {size}, {than}"
            sentence += f"; {are}." if out else "."
        else:
            if last.right == FINE:
                how = f"as expected at the largest size ({bus} at {size}), {how} at others"
            run = f" in {worst.run}" * (len(self.runs) > 1)
            sentence = f"{begun(how)}{run}: {_beside(worst)}."
        apart = self.runs.values() if len(self.runs) > 1 else self._classes()
        lines = {
            "sizes": " · ".join(map(self._told, apart)),
            "expects": listed([*dict.fromkeys(each.algorithm for each in self.points)]),
            "band": self.band,
            "why": "the machine is not this one, or units differ" * (kind == IMPOSSIBLE),
        }
        for label, each in zip(("fits", "or"), self.causes, strict=False):
            lines[label] = f"{each.words} (within {percent(each.misfit)})"
        if kind == SLOW and not self.explanations:
            lines["fits"] = "no single defect that netloom knows"
        lines["test"] = self.causes[0].next_test if self.causes else ""
        lines["bound"] = f"{units.seconds(last.bound)} at {size}"
        return Verdict(mark, sentence, lines)

    @property
    def causes(self) -> tuple[Explanation, ...]:
        """The explanations, if times are too long, or runs may differ within their bands."""
        return self.explanations if len(self.runs) > 1 or self.wrong[0] == SLOW else ()

    @property
    def wrong(self) -> tuple[str, Sequence[MeasuredPoint]]:
        """What is wrong at half of the sizes of a class, or impossible at one, and there."""
        for kind in (IMPOSSIBLE, SLOW, FAST):
            found = list[MeasuredPoint]()
            for some in self._classes():
                odd = [each for each in some if each.right == kind]
                found += odd * (2 * len(odd) >= len(some) or kind == IMPOSSIBLE)
            if found:
                return kind, found
        return FINE, self.points

    @property
    def runs(self) -> dict[str, list[MeasuredPoint]]:
        """The points of each run, by its name."""
        found: dict[str, list[MeasuredPoint]] = {}
        for each in self.points:
            found.setdefault(each.run, []).append(each)
        return found

    @property
    def band(self) -> str:
        """How far from the expected time is right, and who says so."""
        said = [*dict.fromkeys(percent(each.band) for each in self.points)]
        band = f"±{' to '.join(said[:: max(len(said) - 1, 1)])}"
        if not self.band_source:
            return f"no band: this machine's error is not known; {band} is assumed"
        return f"{band}, the error of {self.band_source}"

    def _classes(self) -> Iterator[list[MeasuredPoint]]:
        """Yield the points of each run and class of sizes."""
        for some, (low, high) in product(self.runs.values(), pairwise((0, *CLASSES))):
            if found := [each for each in some if low < each.size <= high]:
                yield found

    def _told(self, some: Sequence[MeasuredPoint]) -> str:
        """Return the median ratio of a class of sizes, and how many of them are outside."""
        out = sum(each.right != FINE for each in some)
        ends = dict.fromkeys(units.size(each.size) for each in (some[0], some[-1]))
        what = some[0].run if len(self.runs) > 1 else " to ".join(ends)
        marked = f"✗ ({out} of {len(some)} outside)" if out else "✓"
        times = number(median(each.ratio for each in some))
        return f"{what}: {times} times the expected time {marked}"

    def curves(self) -> pl.DataFrame:
        """Return the lines of the picture: what is measured, expected, and two explanations.

        Columns curve, role (measured, expected or why), size and bus_bandwidth. Expected ones have
        the edges of the band, low and high.
        """
        import polars as pl

        rows, first = list[tuple[Any, ...]](), self.points[0].run
        for at, each in enumerate(self.points):
            band, speed = 1 + each.band, each.expected_bus_bandwidth
            name = "expected" + f" of {each.run}" * (each.run != first)
            rows.append((each.run, "measured", each.size, each.bus_bandwidth, None, None))
            rows.append((name, "expected", each.size, speed, speed / band, speed * band))
            for why in self.causes[:2] if each.run == first else ():
                rows.append((why.name, "why", each.size, speed / why.ratio_by_size[at], None, None))
        columns = ["curve", "role", "size", "bus_bandwidth", "low", "high"]
        return pl.DataFrame(rows, columns, orient="row", infer_schema_length=None)


def _beside(point: MeasuredPoint) -> str:
    """Return what was measured and expected: times of small sizes, else bus bandwidth."""
    size = units.size(point.size)
    if point.size <= CLASSES[0]:
        took, expected = units.seconds(point.measured), units.seconds(point.expected)
        return f"{took} at {size}, {number(point.ratio)} times the expected {expected}"
    speed, expected = map(units.rate, (point.bus_bandwidth, point.expected_bus_bandwidth))
    return f"{speed} bus bandwidth at {size}, {percent(1 / point.ratio)} of the expected {expected}"


# -- preparation -----------------------------------------------------------------------------------


def prepare_measured(question: CollectiveQuestion) -> PreparedCollective:
    """Do what ``prepare`` does. Sizes, and runs to compare with, are those of measured logs.

    Raises
    ------
    InputError
        If no log is of the collective, or the ranks of one are not those of the network.
    """
    if not question.measured:
        return prepare(question)
    if question.size != SIZES:
        raise InputError("size", f"{question.size} beside measured", "none: the log says sizes")
    if question.engine != "flow":
        raise InputError("engine", f"{question.engine} beside measured", "flow")
    every = logs_of(question.measured)
    logs = [each for each in every if question.collective in each.collectives]
    for odd in _of_no_file(every, logs):
        seen = f"times of {listed(odd.collectives) or 'no known collective'}"
        raise InputError(odd.where, seen, question.collective)
    first = [each.size for each in logs[0].rows]
    asked = question.model_copy(update={"size": first, "measured": None})
    ready = replace(prepare(asked), exchange=None)
    ranks, parts = len(ready.host_of), dict[int | None, PreparedCollective]()
    known = [log.whole(question.collective, log.ranks or ranks) for log in logs]
    runs = [log for log in known if _fits(log, ready)]
    for odd in _of_no_file(known, runs if any(each.ranks == ranks for each in runs) else ()):
        found = f"a run of {counted(odd.ranks or 0, 'rank', ',')}"
        wanted = f"{ranks:,}, which {ready.network.name} has; or --ranks {odd.ranks}"
        raise InputError(odd.where, found, wanted)
    for own in dict.fromkeys(run.ranks for run in runs):
        sizes = parse_sizes([row.size for run in runs if run.ranks == own for row in run.rows])
        part = ready if own == ranks else prepare(asked.model_copy(update={"ranks": own}))
        parts[own] = replace(part, exchange=None, sizes=sizes)
    return replace(parts[ranks], runs=tuple((run, parts[run.ranks]) for run in runs))


def _of_no_file(every: Sequence[Log], chosen: Sequence[Log]) -> Iterator[Log]:
    """Yield runs of files of which none is chosen."""
    paths = {log.path for log in chosen}
    yield from (log for log in every if log.path not in paths)


def _fits(log: Log, ready: PreparedCollective) -> bool:
    """Return whether a run is of all ranks, or of a whole part of them such as half.

    Raises
    ------
    InputError
        If it has as many ranks, but on another number of computers.
    """
    ranks, hosts, network = len(ready.host_of), len(set(log.hosts)), ready.network
    computers = len(distinct(network.node_of_host[ready.host_of]))
    apart = network.num_nodes < network.num_hosts and hosts not in (0, computers)
    if log.ranks == ranks and apart:
        found = f"{counted(ranks, 'rank', ',')} on {counted(hosts, 'host', ',')}"
        wanted = f"{counted(computers, 'computer', ',')}, as {network.name} has them"
        raise InputError(log.where, found, wanted)
    return ranks % (log.ranks or ranks) == 0


# -- comparison ------------------------------------------------------------------------------------


Times = Mapping[str, Mapping[float, float]]
"""Seconds, by algorithm and size."""


def compared(
    question: CollectiveQuestion, ready: PreparedCollective, times: Mapping[int, Times]
) -> Measured:
    """Return what was measured beside what is expected.

    Parameters
    ----------
    times
        By number of ranks what each algorithm takes.

    Raises
    ------
    InputError
        If no algorithm of the logs is one that was run.
    """
    points, skipped = list[MeasuredPoint](), list[str]()
    error = ready.machine.error if ready.machine else ()
    several = len({run.algorithm for run, _ in ready.runs}) > 1
    named = [f"{Path(run.path).name} {run.algorithm * several}".strip() for run, _ in ready.runs]
    exact = [f"{name}, {run.ranks} ranks" for name, (run, _) in zip(named, ready.runs, strict=True)]
    for name, longer, (run, part) in zip(named, exact, ready.runs, strict=True):
        label = longer if exact.count(longer) == 1 else run.where
        ranks, took = len(part.host_of), times[len(part.host_of)]
        bound = part.bound(question.collective, question.root, part.host_of)
        factor, names = bus_factor(question.collective, ranks), _names_of(run.algorithm, took)
        if not names:
            skipped.append(f"{run.algorithm} ({run.where})")
        for line, size, seconds in run.rows if names or not several else ():
            best = min(names or took, key=lambda name: took[name][size])
            expected = took[best][size]
            bands = (each.share for each in error if size <= each.up_to_bytes)
            point = MeasuredPoint(
                run=name if named.count(name) == 1 else label,
                file=run.path,
                line=line,
                ranks=ranks,
                size=size,
                measured=seconds,
                expected=expected,
                ratio=seconds / expected,
                bus_bandwidth=size / seconds * factor,
                expected_bus_bandwidth=size / expected * factor,
                algorithm=best,
                bound=bound.seconds(size),
                band=next(bands, ASSUMED_ERROR),
            )
            points.append(point)
    if not points:
        wanted = f"one that runs here: {listed([*times[len(ready.host_of)]], 9)}"
        raise InputError("measured", f"the algorithms {listed(skipped)}", wanted)
    source = ready.machine.name if ready.machine and error else ""
    told = tuple(skipped)
    return Measured(points=tuple(points), band_source=source, explanations=(), skipped=told)


def _names_of(said: str, known: Collection[str]) -> list[str]:
    """Return the algorithms of which a run may be the time: all known ones if it names none.

    Examples
    --------
    >>> _names_of("allreduce_nccl_tree", ["ring", "double-binary-tree"]), _names_of("", ["ring"])
    (['double-binary-tree'], ['ring'])
    >>> _names_of("recursive_doubling_ompi", ["recursive-doubling"]), _names_of("odd", ["ring"])
    (['recursive-doubling'], [])
    """
    wanted = [each for each in spoken(said) if each in known]
    return wanted[:1] if said else [*known]


def spoken(said: str) -> tuple[str, ...]:
    """Return what a library's name of an algorithm may mean here, the likeliest first.

    Examples
    --------
    >>> spoken("allreduce_nccl_ring"), spoken("bruck_over")
    (('rings', 'ring'), ('bruck',))
    """
    name = said.lower().replace("_", "-")
    for each in AROUND:
        name = name.removeprefix(each).removesuffix(each)
    return OF_LIBRARIES.get(name, (name,))
