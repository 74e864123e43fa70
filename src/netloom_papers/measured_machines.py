"""How right netloom is about machines that people measure: ``netloom validate machines``.

Each measured time stands beside the one that netloom predicts and beside the least possible time.
Rows that a constant was taken from are shown and never count. Counted packets of links stand beside
those of netloom's routes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.resources import files
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from netloom._version import __version__
from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.words import counted, number, percent
from netloom.questions.answers import Verdict
from netloom_papers.counted_links import ORDER, counted_links
from netloom_papers.exhibits import COMPUTED, Plot, exhibit_chart
from netloom_papers.ledger import table_of
from netloom_papers.measurements import Folder, Row, read_folder

if TYPE_CHECKING:
    import altair as alt

SHOWN = Path(str(files("netloom.machines").joinpath("measured")))
"""The half of the measurements that netloom was made with."""

KIB, MIB = 2**10, 2**20

SIZES = {
    "all": (0, inf),
    "≤ 64 KiB": (1, 64 * KIB),
    "8 MiB+": (8 * MIB, inf),
    "64 MiB+": (64 * MIB, inf),
}
"""Classes of size, in bytes of one rank's buffer: 0 of packets that were counted."""

GOALS = {
    ("gpu", "≤ 64 KiB"): (0.20, 0.40),
    ("gpu", "8 MiB+"): (0.10, 0.25),
    ("gpu", "64 MiB+"): (0.08, 0.20),
    ("fugaku-1", "8 MiB+"): (0.06, 0.15),
    ("fugaku-6", "8 MiB+"): (inf, 0.25),
}
"""The median of errors and the one that 90 % stay below, at most, by class of rows and size."""

SHARES = (0.10, 0.25, 0.40)
"""Errors that shares of rows stay within."""

NEAR = 1.1
"""A choice is right if it takes at most so many times as long as the best measured one."""


@dataclass(frozen=True)
class Judged:
    """A measured row beside what netloom says: seconds, or packets of links.

    Attributes
    ----------
    set, kind, line
        The set, its class, and the line of its table.
    collective, nodes, ranks, algorithm, bytes
        What was measured.
    netloom
        The algorithm that was predicted. "" if none was.
    unit
        ``s`` or ``packets``.
    measured, predicted, bound
        In that unit. None if netloom says nothing.
    fixes
        The constant that was taken from the row. "" if it counts.
    run
        Of which cell it is.
    """

    set: str
    kind: str
    line: int
    run: str
    collective: str
    nodes: str
    ranks: int
    algorithm: str
    bytes: float
    unit: str
    measured: float
    predicted: float | None = None
    bound: float | None = None
    netloom: str = ""
    fixes: str = ""

    @property
    def error(self) -> float:
        """|predicted − measured| / measured."""
        assert self.predicted is not None
        off = abs(self.predicted - self.measured)
        return off / self.measured if self.measured else inf * off if off else 0.0

    @property
    def counts(self) -> bool:
        """Whether it is predicted, and fixed no constant."""
        return self.predicted is not None and not self.fixes

    @property
    def violated(self) -> bool:
        """Whether it took less than the least possible time."""
        return self.bound is not None and self.bound > self.measured

    @property
    def words(self) -> str:
        """What it is, in one line."""
        what = f"{self.collective} {self.algorithm}".strip()
        size = f", {units.size(self.bytes)}" if self.bytes else ""
        return f"{self.set}, line {self.line}: {what}, {self.nodes} nodes{size}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: times in seconds."""
        ratio = self.predicted / self.measured if self.predicted and self.measured else None
        return asdict(self) | {"calibrates": bool(self.fixes), "ratio": ratio}


class Errors(NamedTuple):
    """The errors of some rows: how many, their median, the one that 90 % stay below, shares."""

    rows: int
    median: float
    ninety: float
    within: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain data."""
        shares = {
            f"within_{share:.0%}": part for share, part in zip(SHARES, self.within, strict=True)
        }
        shares = {name.rstrip("%"): part for name, part in shares.items()}
        return {"rows": self.rows, "median": self.median, "ninety": self.ninety, **shares}

    @property
    def told(self) -> list[str]:
        """The same in words."""
        return [f"{self.rows:,}", *map(percent, (self.median, self.ninety, *self.within))]


def errors_of(rows: Iterable[Judged]) -> Errors | None:
    """Return the errors of the rows that count. None without any."""
    found = np.array([row.error for row in rows if row.counts])
    if not len(found):
        return None
    high = float(np.quantile(found, 0.9, method="inverted_cdf"))
    shares = tuple(float((found <= share).mean()) for share in SHARES)
    return Errors(len(found), float(np.median(found)), high, shares)


def by_size(rows: Sequence[Judged]) -> dict[str, Errors]:
    """Return the errors of each class of size that occurs."""
    found = {}
    for name, (low, high) in SIZES.items():
        errors = errors_of(row for row in rows if low <= row.bytes <= high)
        if errors is not None:
            found[name] = errors
    return found


class Choice(NamedTuple):
    """A cell, of one run and size, in which several algorithms were measured.

    ``longer``: the time of the one that netloom calls fastest over that of the best.
    """

    set: str
    run: str
    collective: str
    nodes: str
    bytes: float
    chosen: str
    best: str
    longer: float


def choices_of(rows: Iterable[Judged]) -> list[Choice]:
    """Return the cells with two algorithms of netloom or more, of which others measured several."""
    cells: dict[tuple[str, str, str, str, float], list[Judged]] = {}
    for row in rows:
        if row.predicted is not None and row.unit == "s":
            cell = row.set, row.run, row.collective, row.nodes, row.bytes
            cells.setdefault(cell, []).append(row)
    found = []
    for cell, some in cells.items():
        best = min(some, key=lambda row: row.measured)
        named = min(some, key=lambda row: (row.predicted, row.measured))
        if len({row.netloom for row in some}) > 1:
            found.append(Choice(*cell, named.netloom, best.netloom, named.measured / best.measured))
    return found


# -- judging ---------------------------------------------------------------------------------------


def judge(folder: Path | None = None) -> Account:
    """Judge the measurements of a folder: by default those that netloom comes with.

    Raises
    ------
    InputError
        Naming the file and the line that cannot be read, or the set that netloom cannot answer.
    """
    read = read_folder(folder or SHOWN)
    found = list[Judged]()
    with counting(len(read.sets), "Measured sets") as tell:
        for which, each in enumerate(read.sets):
            tell(which)
            found += _loads(read, which) if each.use == "loads" else _times(read, which)
    return Account(read, tuple(found))


def _times(folder: Folder, which: int) -> Iterator[Judged]:
    """Yield the rows of a set of times. All that share a network are predicted at once."""
    each, groups = folder.sets[which], dict[tuple[Any, ...], list[Row]]()
    for row in folder.rows(which):
        where = folder.network(which, row), row.collective, row.ranks, folder.hosts(which, row)
        groups.setdefault(where, []).append(row)
    for (network, collective, ranks, hosts), rows in groups.items():
        names = list(dict.fromkeys(name for row in rows for name in each.called(row)))
        sizes = sorted({row.bytes for row in rows})
        asked = {"on": network, "ranks": ranks, "size": sizes, "nodes": hosts} | each.options
        try:
            times, least = _asked(collective, names, asked)
        except InputError as error:
            what = f"{error.where}: {error.found} ({collective} of {ranks} ranks on {network})"
            raise InputError(folder.where(which), what, error.wanted) from None
        for row in rows:
            own = {name: times[name, row.bytes] for name in each.called(row)}
            name = min(own, key=lambda one: own[one], default="")
            yield Judged(
                set=each.name,
                kind=each.kind or each.name,
                line=row.line,
                run=row.run,
                collective=collective,
                nodes=row.nodes,
                ranks=ranks,
                algorithm=row.algorithm,
                bytes=row.bytes,
                unit="s",
                measured=row.seconds,
                predicted=own.get(name),
                bound=least(row.bytes),
                netloom=name,
                fixes=each.fixes(row),
            )


def _asked(
    collective: str, names: Sequence[str], asked: Mapping[str, Any]
) -> tuple[dict[tuple[str, float], float], Callable[[float], float]]:
    """Return the seconds of algorithms by name and size, and the least possible ones of a size."""
    from netloom.questions.collective import compare_collectives
    from netloom.questions.collective_prepared import CollectiveQuestion, prepare
    from netloom.workload.programs.collectives.algorithms import algorithms_of

    if names:
        answer = compare_collectives(collective, algorithm=",".join(names), **asked)
        times = {(each.algorithm, each.size): each.seconds for each in answer.points}
        bounds = {each.size: each.bound_seconds for each in answer.points}
        return times, bounds.__getitem__
    any_one = next(name for name in ("bruck", "binomial") if name in algorithms_of(collective))
    question = CollectiveQuestion(collective=collective, algorithm=any_one, **asked)
    ready = prepare(question)
    return {}, ready.bound(collective, question.root, ready.host_of).seconds


def _loads(folder: Folder, which: int) -> Iterator[Judged]:
    """Yield packets counted on links beside those of netloom's routes."""
    each = folder.sets[which]
    for row in counted_links(folder, which):
        yield Judged(
            set=each.name,
            kind=each.kind or each.name,
            line=row.line,
            run="",
            collective="",
            nodes=each.network.partition(":")[2] if isinstance(each.network, str) else "",
            ranks=row.ranks,
            algorithm=row.what,
            bytes=0.0,
            unit="packets",
            measured=row.counted,
            predicted=row.predicted,
            netloom=ORDER,
        )


# -- the account -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Account:
    """All rows of a folder, judged."""

    folder: Folder
    rows: tuple[Judged, ...]

    @property
    def violations(self) -> tuple[Judged, ...]:
        """Rows that took less than the least possible time."""
        return tuple(row for row in self.rows if row.violated)

    @cached_property
    def kinds(self) -> dict[str, list[Judged]]:
        """The rows of each class, in the order in which they come first."""
        return _grouped(self.rows, "kind")

    @cached_property
    def sets(self) -> dict[str, list[Judged]]:
        """The rows of each set."""
        return _grouped(self.rows, "set")

    @cached_property
    def choices(self) -> dict[str, list[Choice]]:
        """The cells of each class in which several algorithms were measured."""
        found = {kind: choices_of(rows) for kind, rows in self.kinds.items()}
        return {kind: some for kind, some in found.items() if some}

    @property
    def sentence(self) -> str:
        """What was found, in a line or two."""
        bounds = sum(row.bound is not None for row in self.rows)
        beaten = counted(len(self.violations), "bound") if self.violations else "No bound"
        said = [f"{beaten} of {bounds:,} above its measured time."]
        said[0] = said[0].replace("bounds of", "of the bounds of") if self.violations else said[0]
        for kind, rows in self.kinds.items():
            errors = by_size(rows)
            name = "64 MiB+" if "64 MiB+" in errors else "8 MiB+"
            if found := errors.get(name):
                median, high = percent(found.median, 1), percent(found.ninety)
                said.append(f"{kind}, {name}: median error {median}, 90 % within {high}.")
        return " ".join(said)

    @property
    def verdict(self) -> Verdict:
        """The same with its mark: ``act`` if a bound is above its measured time."""
        lines = {f"row {at}": row.words for at, row in enumerate(self.violations[:10], start=1)}
        return Verdict("act" if self.violations else "fine", self.sentence, lines=lines)

    def table(self) -> pl.DataFrame:
        """Return one line per row, as ``Judged.to_dict`` has it."""
        return pl.DataFrame([row.to_dict() for row in self.rows], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return all rows and what they come to, as plain data."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "classes": {name: _errors(rows) for name, rows in self.kinds.items()},
            "sets": {name: _errors(rows) for name, rows in self.sets.items()},
            "choice": {name: _chosen(some) for name, some in self.choices.items()},
            "violations": [row.words for row in self.violations],
            "verdict": self.verdict.to_dict(),
        }

    def summary(self) -> list[list[str]]:
        """Return a line per class of rows and of size: errors, the goal, and whether it is met."""
        return [
            [kind, size, *found.told, *_goal(kind, size, found)]
            for kind, rows in self.kinds.items()
            for size, found in by_size(rows).items()
        ]

    def choice(self) -> list[list[str]]:
        """Return a line per class: cells, right ones, and the worst."""
        found = []
        for kind, some in self.choices.items():
            right, worst = (
                sum(each.longer <= NEAR for each in some),
                max(each.longer for each in some),
            )
            found.append([kind, f"{len(some):,}", percent(right / len(some)), f"{worst:.3g}"])
        return found


SUMMARY = ("class", ":size", "rows", "median", "90 %", "≤ 10 %", "≤ 25 %", "≤ 40 %", ":goal")
"""The heads of ``Account.summary``."""

CHOICE = ("class", "cells", "right", "worst")
"""The heads of ``Account.choice``."""


def _grouped(rows: Iterable[Judged], by: str) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for row in rows:
        found.setdefault(getattr(row, by), []).append(row)
    return found


def _errors(rows: Sequence[Judged]) -> dict[str, Any]:
    return {size: found.to_dict() for size, found in by_size(rows).items()}


def _chosen(some: Sequence[Choice]) -> dict[str, Any]:
    right = sum(each.longer <= NEAR for each in some)
    return {"cells": len(some), "right": right, "share": right / len(some)}


def _goal(kind: str, size: str, found: Errors) -> list[str]:
    """Return a goal in words, and whether it is met. "" without one."""
    if (kind, size) not in GOALS:
        return [""]
    median, high = GOALS[kind, size]
    met = found.median <= median and found.ninety <= high
    said = f"median {percent(median)}, " if isfinite(median) else ""
    return [f"{'✓' if met else '✗'} {said}90 % within {percent(high)}"]


def chart(found: Account) -> alt.VConcatChart:
    """Return the picture: predicted over measured time by size, a pair of axes for each class."""
    plots = []
    for kind, rows in found.kinds.items():
        some = [row for row in rows if row.predicted and row.bytes]
        if some:
            data = {
                "series": [row.set for row in some],
                "x": [row.bytes for row in some],
                "y": [(row.predicted or 0.0) / row.measured for row in some],
                "whose": ["fixed a constant" if row.fixes else COMPUTED for row in some],
            }
            titles = kind, "bytes of a rank's buffer", "predicted over measured time"
            plots.append(Plot(*titles, pl.DataFrame(data), "points", log_x=True, log_y=True))
    if not plots:
        raise InputError("plot", "no predicted times", "a set with algorithms to predict")
    return exhibit_chart("Predicted and measured times", plots, [found.sentence])


def page(found: Account) -> str:
    """Return a page of Markdown about what was found: all sets, and all rows that fixed constants.

    Parameters
    ----------
    found
        What ``judge`` found.
    """
    head = (
        files("netloom_papers.studies").joinpath("data", "measured-machines.md").read_text("utf-8")
    )
    tables = {
        "summary": table_of(SUMMARY, found.summary()),
        "choice": table_of(CHOICE, found.choice()),
    }
    parts = [
        head.format(sentence=found.sentence, version=__version__, rows=len(found.rows), **tables)
    ]
    for each in found.folder.sets:
        rows = found.sets[each.name]
        parts.append(f"## {each.name}\n\n{each.notes}\n" if each.notes else f"## {each.name}\n")
        told = [["network", f"`{each.network}`"], ["rows", f"{len(rows)} of `{each.file}`"]]
        least = [row.measured / row.bound for row in rows if row.bound]
        if least:
            low, high = number(min(least)), number(float(np.median(least)))
            told.append(
                ["measured over least possible time", f"{low} at least, {high} in the median"]
            )
        parts.append(table_of(("", ":"), told))
        if errors := by_size(rows):
            lines = [[size, *some.told] for size, some in errors.items()]
            parts.append(table_of(("size", *SUMMARY[2:-1]), lines))
        if fixed := [row for row in rows if row.fixes]:
            lines = [[row.words, row.fixes] for row in fixed]
            parts.append(table_of(("row that never counts", ":what it fixed"), lines))
        if each.ignored:
            lines = [[f"`{name}`", why] for name, why in each.ignored.items()]
            parts.append(table_of(("algorithms not predicted", ":why"), lines))
    return "\n".join(parts)
