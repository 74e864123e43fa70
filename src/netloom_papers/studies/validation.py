"""Published numbers side by side with what netloom computes."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.questions.verdict import Verdict
from netloom.simulation.intervals import batch_interval
from netloom_papers.studies.kinds import causes, kind_of, rates, tolerance_class, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import ArrayLike

    Part: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]

PAPERS = {
    "chittor": ("chittor", "chittor_machine", "chittor_simulator"),
    "johnson": ("johnson", "johnson_model"),
    "shahrabi": ("shahrabi", "shahrabi_model"),
    "router": ("router",),
    "rosenblum-mayr": ("rosenblum_mayr_tables", "rosenblum_mayr_queues"),
    "feldmann": ("feldmann",),
}
"""The modules of this package that recompute each paper (or other reference), by the name that the
command line takes."""

TABLES = ("router",)
"""Those that can be compared with a table of the user's as well."""


@dataclass(frozen=True)
class Row:
    """One value beside netloom's.

    Attributes
    ----------
    paper, item, quantity
        Where it is from (table, figure, equation or theorem), and what it is.
    printed, computed
        The value to compare with and netloom's. NaN where netloom refuses to compute it. Whether
        the paper prints it is what ``kind`` says.
    tolerance
        Largest relative deviation that counts as reproduced.
    reason
        Why the number is known not to reproduce. Empty for all that should. It never makes a row
        pass, and rows not recorded as outside have none, so that a new deviation is a failure.
    at_most
        Whether anything below the published number will do as well.
    cause
        One of ``kinds.CAUSES``: what the reason comes to.
    kind
        One of ``kinds.KINDS``: what the row compares with.
    number
        The printed number that the row shares with others, which counts once. Empty if it is the
        only one.
    """

    paper: str
    item: str
    quantity: str
    printed: float
    computed: float
    tolerance: float
    reason: str = ""
    at_most: bool = False
    cause: str = ""
    kind: str = "printed"
    number: str = ""

    @property
    def misprint(self) -> bool:
        """Whether the paper contradicts itself here."""
        return self.cause == "misprint"

    @property
    def tolerance_class(self) -> str:
        """The class of the tolerance, one of ``kinds.CLASSES``."""
        return tolerance_class(self.tolerance, at_most=self.at_most)

    @property
    def deviation(self) -> float:
        """Relative deviation of the computed from the printed number."""
        difference = abs(self.computed - self.printed)
        return difference / abs(self.printed) if self.printed else difference

    @property
    def within(self) -> bool:
        """Whether the deviation is within the tolerance (rounding of floats aside)."""
        if self.at_most and self.computed <= self.printed:
            return True
        return self.deviation <= self.tolerance + 1e-12

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        names = (
            "paper", "item", "quantity", "kind", "number", "printed", "computed", "deviation",
            "tolerance", "tolerance_class", "at_most", "cause", "misprint", "within", "reason",
        )  # fmt: skip
        row = {name: getattr(self, name) for name in names}
        unknown = {name: None for name in ("computed", "deviation") if isnan(row[name])}
        return row | unknown


@dataclass(frozen=True)
class Validation:
    """All rows that were recomputed."""

    rows: tuple[Row, ...]

    @property
    def failures(self) -> tuple[Row, ...]:
        """Rows that fall outside and have no known reason to."""
        return tuple(row for row in self.rows if not row.within and not row.reason)

    @property
    def sentence(self) -> str:
        """The result in one line: reproduced by kind, and how many rows are outside."""
        return " ".join(filter(None, (verdict(self.rows), self._outside)))

    @property
    def verdict(self) -> Verdict:
        """The result: ``act`` if a number is outside and nobody knows why."""
        mark = "limited" if self._outside else "fine"
        lines = {"outside": self._outside.removeprefix("Outside: ")} if self._outside else {}
        return Verdict("act" if self.failures else mark, verdict(self.rows), lines=lines)

    @property
    def _outside(self) -> str:
        """How many rows are outside. "" if none is."""
        outside = [row for row in self.rows if not row.within]
        if not outside:
            return ""
        unknown = sum(not row.reason for row in outside)
        reasons = f"{unknown} without a known reason" if unknown else "each with its reason"
        rows = f"{len(outside)} row{'s' * (len(outside) != 1)}"
        misprints = causes(outside).get("misprint", 0)
        slips = f", {misprints} misprint{'s' * (misprints != 1)} of the paper" if misprints else ""
        return f"Outside: {rows}, {reasons}{slips}."

    def table(self) -> pl.DataFrame:
        """Return one line per row, as ``Row.to_dict`` has it."""
        import polars as pl

        return pl.DataFrame([row.to_dict() for row in self.rows], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return all rows as plain data."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "rates": rates(self.rows),
            "verdict": self.verdict.to_dict(),
        }


def validate(paper: str = "", *, reference: str | None = None) -> Validation:
    """Recompute what is compared with ``paper``, or with all papers.

    Parameters
    ----------
    paper
        A name of ``PAPERS``. All of them if empty.
    reference
        A file whose numbers are recomputed in place of the recorded ones. See
        ``studies.router.rows``.

    Raises
    ------
    InputError
        If the paper is not known, has no use for a table, or the table cannot be read.
    """
    if paper and paper not in PAPERS:
        raise InputError("paper", f"'{paper}'", f"one of {', '.join(PAPERS)}")
    if reference is not None and paper not in TABLES:
        found = f"a reference for '{paper}'" if paper else "a reference for all papers"
        raise InputError("reference", found, f"one for {', '.join(TABLES)}")
    rows: list[Row] = []
    for name in [paper] if paper else PAPERS:
        for module in PAPERS[name]:
            recompute: Callable[..., Iterable[Row]]
            recompute = import_module(f"netloom_papers.studies.{module}").rows
            rows.extend(recompute() if reference is None else recompute(reference))
    return Validation(tuple(rows))


def published(paper: str) -> dict[str, Any]:
    """Return the printed numbers of a paper, with tolerances and reasons, from its data file."""
    text = files("netloom_papers.studies").joinpath("data", f"{paper}.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def compare(
    paper: str, item: str, known: Mapping[str, Any], found: Mapping[str, ArrayLike]
) -> Iterator[Row]:
    """Yield a row for each printed number of an item.

    Parameters
    ----------
    paper, item
        As in the rows.
    known
        Of the data file. ``values``: printed numbers by quantity. ``within``: half of the last
        printed digit, or what a word such as "almost" is taken to mean, in the unit of the value.
        One number, or by quantity. ``percent`` instead: of the value. One number, or by the part of
        a quantity before its comma. ``at most``: quantities that may be anything below.
        ``outside``: a list of reasons, each with the quantities that it keeps outside, and its
        ``cause``. ``kind``, ``kinds`` and ``number``: see ``kinds.kind_of``.
    found
        One or more samples of each quantity. The computed number is their mean. Its 95 %
        confidence interval widens the tolerance.

    Examples
    --------
    >>> known = {"kind": "printed", "values": {"loop (cycles)": 100}, "within": 0.5}
    >>> (row,) = compare("p", "table 1", known, {"loop (cycles)": 100.4})
    >>> row.within, row.tolerance, row.kind
    (True, 0.005, 'printed')
    """
    outside = {quantity: part for part in known.get("outside", ()) for quantity in part["rows"]}
    assert known["values"].keys() == found.keys(), (
        f"{item}: {known['values'].keys() ^ found.keys()}"
    )
    for quantity, value in known["values"].items():
        samples = np.atleast_1d(np.asarray(found[quantity], np.float64))
        mean, half = batch_interval(samples, np.ones(len(samples)))
        room = _room(known, quantity, value) + (half if len(samples) > 1 else 0)
        part, at_most = outside.get(quantity, {}), quantity in known.get("at most", ())
        kind, number = kind_of(known, quantity)
        yield Row(
            paper, item, quantity, value, mean, room / abs(value), part.get("reason", ""), at_most,
            part.get("cause", ""), kind, number,
        )  # fmt: skip


def _room(known: Mapping[str, Any], quantity: str, value: float) -> float:
    """Return how far a quantity may be off, in its unit."""
    if "percent" not in known:
        within = known["within"]
        return float(within[quantity] if isinstance(within, dict) else within)
    percent = known["percent"]
    if isinstance(percent, dict):
        percent = percent[quantity.partition(",")[0]]
    return float(value * percent / 100)


def compare_all(
    paper: str,
    printed: str | Mapping[str, Any],
    parts: Mapping[str, Part],
    *items: str,
    **changes: Any,
) -> tuple[Row, ...]:
    """Return the rows of items of a data file, each recomputed by its part. See ``compare``.

    Parameters
    ----------
    paper
        As in the rows.
    printed
        The data file's name, or its content.
    parts
        What recomputes each item, from what the file says of it.
    items
        Those wanted. All of ``parts`` if none.
    changes
        What the items have in place of what the file says, such as fewer ``seeds``.
    """
    if isinstance(printed, str):
        printed = published(printed)
    rows: list[Row] = []
    for item in items or parts:
        known = printed[item] | changes
        rows += compare(paper, item, known, parts[item](known))
    return tuple(rows)


def run_side_by_side(runs: Sequence[Callable[[], Any]], what: str = "") -> list[Any]:
    """Return what each run finds, on all processors. Ctrl-C ends them all, without an answer.

    ``what`` is said of the progress. Nothing is if it is empty.
    """
    from netloom.simulation.side_by_side import run_all

    def deaf(run: Callable[[], Any]) -> Callable[[Callable[[], bool]], Any]:
        return lambda _: run()  # a run cannot be stopped half-way

    progress = counting(len(runs), what) if what else nullcontext(lambda _: None)
    with progress as tell:
        found = run_all([deaf(run) for run in runs], tell=tell)
    if len(found) < len(runs):
        raise KeyboardInterrupt
    return found
