"""The ledger: what papers and other references say, recomputed, and their pictures drawn again.

An ``Item`` is a table, figure, equation or statement. The data file of its paper has what is
printed, how far off is close enough, and why what is outside is. The module of the paper has the
functions that recompute it, and that draw it from what was recomputed. ``netloom validate`` prints
the rows of all items, ``netloom study`` shows their pictures, ``page`` counts them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from math import isnan
from typing import Any, NamedTuple, TypeAlias

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from netloom._version import __version__
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.questions.answers import Verdict
from netloom.simulation.steady import batch_interval
from netloom_papers.exhibits import PRINTED, Cell, Grid, Plot, exhibit_chart

PAPERS = ("chittor", "shahrabi", "rosenblum-mayr", "feldmann", "johnson", "router")
"""Papers, and another reference, by the names that the command line takes. A module of almost the
same name has the ``ITEMS`` that recompute it."""

KINDS = {
    "printed": "a number that the paper prints, in digits or as a word such as *twice*",
    "words": "a statement without a number (*almost identical*), read as one with a tolerance",
    "formula": "a formula or bound, evaluated where the paper prints no number",
    "implementation": "the result of another implementation, which the paper does not print",
    "input": "a number that parameters were inferred from, so that agreement never counts",
}
"""What a row compares with."""

NOUNS = {
    "printed": "printed numbers",
    "words": "statements in words",
    "formula": "formulas evaluated",
    "implementation": "results of other implementations",
}
"""The kinds that count, as the verdict names them."""

CLASSES = ("exact", "≤ 2 %", "≤ 10 %", "more")
"""Classes of tolerances. ``more`` also holds one-sided ones (at most)."""

LIMITS = (1e-6, 0.02, 0.1)
"""Largest tolerance of each class but the last. The first leaves room for rounded floats."""

CAUSES = {
    "misprint": "the paper contradicts itself: its own formula, table or text gives another number",
    "claim": "a statement or approximation of the paper that does not hold that far",
    "unpublished": "the data behind the number are not published: a mapping, a mesh, a policy",
    "one run": "one run with one seed, beyond what 40 other seeds give",
    "not modeled": "the measured system did something that no text describes and netloom does not "
    "model",
    "unexplained": "no cause is known",
}
"""Why rows are outside."""


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
        One of ``CAUSES``: what the reason comes to.
    kind
        One of ``KINDS``: what the row compares with.
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
        """The class of the tolerance, one of ``CLASSES``."""
        if self.at_most:
            return CLASSES[-1]
        return CLASSES[sum(self.tolerance > most for most in LIMITS)]

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

    @property
    def cell(self) -> Cell:
        """The row as a cell of a table."""
        return Cell(self.printed, self.computed, self.within)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        compared = ("paper", "item", "quantity", "kind", "number", "printed", "computed")
        judged = ("deviation", "tolerance", "tolerance_class", "at_most", "cause", "misprint")
        names = (*compared, *judged, "within", "reason")
        row = {name: getattr(self, name) for name in names}
        unknown = {name: None for name in ("computed", "deviation") if isnan(row[name])}
        return row | unknown


# -- counting ------------------------------------------------------------------------------------


class Count(NamedTuple):
    """How many distinct numbers there are, and how many of them are reproduced."""

    numbers: int
    reproduced: int

    @property
    def percent(self) -> float:
        """The share that is reproduced, in per cent. 100 of none."""
        return 100 * self.reproduced / self.numbers if self.numbers else 100.0


def distinct(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the rows of each distinct number: most have one, and some share theirs."""
    groups: dict[object, list[Row]] = {}
    for place, row in enumerate(rows):
        groups.setdefault((row.paper, row.number) if row.number else place, []).append(row)
    return list(groups.values())


def grouped(rows: Iterable[Row], by: str) -> dict[str, list[Row]]:
    """Return rows by an attribute of theirs, in the order in which its values come first."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, by), []).append(row)
    return groups


def count(rows: Iterable[Row], kind: str = "printed", allowed: str = "") -> Count:
    """Count the distinct numbers of a kind. One is reproduced if all its rows are.

    Parameters
    ----------
    rows, kind
        Rows, and the kind that counts.
    allowed
        One of ``CLASSES``: only numbers whose loosest row is of it. All if empty.
    """
    groups = distinct(row for row in rows if row.kind == kind)
    if allowed:
        groups = [
            group
            for group in groups
            if allowed == max((row.tolerance_class for row in group), key=CLASSES.index)
        ]
    return Count(len(groups), sum(all(row.within for row in group) for group in groups))


def causes(rows: Iterable[Row]) -> dict[str, int]:
    """Count the distinct printed numbers that are outside, by cause, the most frequent first."""
    groups = distinct(row for row in rows if row.kind == "printed")
    outside = ([row for row in group if not row.within] for group in groups)
    found = Counter(some[0].cause or "unexplained" for some in outside if some)
    return dict(found.most_common())


def rates(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return one line per kind that occurs: rows, distinct numbers, reproduced, and by class.

    Inputs have rows only.
    """
    by_kind, lines = grouped(rows, "kind"), []
    for kind in (each for each in KINDS if each in by_kind):
        some = by_kind[kind]
        line: dict[str, Any] = {"kind": kind, "rows": len(some)}
        if kind != "input":
            line |= count(some, kind)._asdict()
            line["by_tolerance"] = {name: count(some, kind, name)._asdict() for name in CLASSES}
        lines.append(line)
    return lines


RATES = ("kind", "rows", "numbers", "reproduced", "rate", *CLASSES)
"""The heads of ``rates_told``."""


def rates_told(rows: Iterable[Row]) -> list[list[str]]:
    """Return the same in words, as people read it."""
    told = []
    for line in rates(rows):
        cells = [line["kind"], f"{line['rows']}"]
        if line["kind"] != "input":
            found = Count(line["numbers"], line["reproduced"])
            cells += [f"{found.numbers}", f"{found.reproduced}", f"{found.percent:.1f} %"]
            for each in line["by_tolerance"].values():
                cells.append(f"{each['reproduced']}/{each['numbers']}" * bool(each["numbers"]))
        told.append(cells + [""] * (len(RATES) - len(cells)))
    return told


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
        return " ".join(filter(None, (self._reproduced, self._outside)))

    @property
    def verdict(self) -> Verdict:
        """The result: ``act`` if a number is outside and nobody knows why."""
        mark = "limited" if self._outside else "fine"
        lines = {"outside": self._outside.removeprefix("Outside: ")} if self._outside else {}
        return Verdict("act" if self.failures else mark, self._reproduced, lines=lines)

    @property
    def _reproduced(self) -> str:
        """How many numbers of each kind are reproduced."""
        parts = []
        for kind, noun in NOUNS.items():
            found = count(self.rows, kind)
            share = f" ({found.percent:.1f} %)" if kind == "printed" else ""
            if found.numbers:
                parts.append(f"{found.reproduced} of {found.numbers} {noun}{share}")
        inputs = sum(row.kind == "input" for row in self.rows)
        words = f"Reproduced: {', '.join(parts)}" if parts else "Nothing here is a test"
        return f"{words}. Not counted: {counted(inputs, 'input')}." if inputs else f"{words}."

    @property
    def _outside(self) -> str:
        """How many rows are outside. "" if none is."""
        outside = [row for row in self.rows if not row.within]
        if not outside:
            return ""
        unknown = sum(not row.reason for row in outside)
        reasons = f"{unknown} without a known reason" if unknown else "each with its reason"
        misprints = causes(outside).get("misprint", 0)
        slips = f", {counted(misprints, 'misprint')} of the paper" if misprints else ""
        return f"Outside: {counted(len(outside), 'row')}, {reasons}{slips}."

    def table(self) -> pl.DataFrame:
        """Return one line per row, as ``Row.to_dict`` has it."""
        return pl.DataFrame([row.to_dict() for row in self.rows], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return all rows as plain data."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "rates": rates(self.rows),
            "verdict": self.verdict.to_dict(),
        }


# -- the page of what was found --------------------------------------------------------------------

NOT_TO_BE_MET = frozenset({"misprint", "unpublished"})
"""Causes with which no computation could reproduce a number, unless by chance."""


def page(found: Validation) -> str:
    """Return a page of Markdown about what was found.

    Parameters
    ----------
    found
        What ``validate`` found.
    """
    head = files("netloom_papers.studies").joinpath("data", "validation.md").read_text("utf-8")
    kinds = "".join(f"- **{kind}**: {what}.\n" for kind, what in KINDS.items())
    rates = [[f"**{kind}**", *cells] for kind, *cells in rates_told(found.rows)]
    said = {"sentence": found.sentence, "version": __version__, "kinds": kinds}
    tables = {"papers": _papers(found.rows), "causes": _causes(found.rows)}
    parts = [head.format(**said, rates=table_of(RATES, rates), **tables)]
    for paper, rows in grouped(found.rows, "paper").items():
        title = published(paper)["title"] if paper in PAPERS else paper
        lines = []
        failed = [row for row in rows if not row.within]
        for reason, some in grouped(failed, "reason").items():
            why = reason or "**No reason is known.**"
            items = ", ".join(dict.fromkeys(row.item for row in some))
            lines.append((f"{why[0].upper()}{why[1:]}", items, len(some)))
        outside = table_of(("why it is outside", ":of", "rows"), lines) if lines else ""
        within = len(rows) - len(failed)
        parts.append(f"## {title}\n\n{within} of {len(rows)} rows are within.\n\n{outside}")
    return "\n".join(parts)


def _papers(rows: Sequence[Row]) -> str:
    lines: list[Sequence[object]] = []
    papers = grouped(rows, "paper").items()
    for name, some in (*((f"`{paper}`", some) for paper, some in papers), ("**all**", rows)):
        found = count(some)
        counts = (*found, f"{found.percent:.1f} %") if found.numbers else (0, "", "")
        lines.append((name, *counts))
    return table_of(("reference", "printed numbers", "reproduced", "rate"), lines)


def _causes(rows: Sequence[Row]) -> str:
    found = causes(rows)
    if not found:
        return ""
    lines = [[f"**{cause}**", CAUSES[cause], many] for cause, many in found.items()]
    text = "Printed numbers that are outside, by cause:\n\n"
    text += table_of(("cause", ":meaning", "numbers"), lines)
    groups = [
        group
        for group in distinct(row for row in rows if row.kind == "printed")
        if not any(not row.within and row.cause in NOT_TO_BE_MET for row in group)
    ]
    kept = count(row for group in groups for row in group)
    text += (
        f"\nWithout the misprints and those whose origin is unpublished, {kept.reproduced} of "
        f"{kept.numbers} are reproduced ({kept.percent:.1f} %).\n"
    )
    if any(row.cause == "one run" and row.kind == "printed" for row in rows):
        text += f"\n{published('rosenblum-mayr')['on one run']}"
    return text


def table_of(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table. The first column and those whose heads begin with a colon are text."""
    rules = ["---" if not at or head.startswith(":") else "---:" for at, head in enumerate(heads)]
    names = [head.lstrip(":") for head in heads]
    rows = [
        " | ".join(str(cell).replace("|", "\\|") for cell in line)
        for line in (names, rules, *lines)
    ]
    return "\n".join([*(f"| {row} |" for row in rows), ""])


# -- items ---------------------------------------------------------------------------------------

Known: TypeAlias = Mapping[str, Any]
"""What the data file says of an item. See ``published``."""

Found: TypeAlias = Iterable[tuple[str, Any]]
"""What netloom finds of each quantity: one or more samples, or ``Against``."""

Drawn: TypeAlias = Iterable[Plot | Grid | str]
"""The panels of a picture, in the paper's order, and remarks on what was found."""


class Against(NamedTuple):
    """Something found, where the data file does not have all that it is compared with.

    Attributes
    ----------
    value
        What to compare with: a formula that was evaluated, or a printed number.
    found
        One or more samples.
    room
        How far off it may be, in its unit. What the data file says if None.
    """

    value: float
    found: ArrayLike
    room: float | None = None


def in_order(known: Known, found: Iterable[Any]) -> Found:
    """Return what is found of all quantities, in the order in which the data file has them."""
    return zip(known["values"], found, strict=True)


class Made(NamedTuple):
    """What a picture is drawn from.

    Attributes
    ----------
    rows
        Of the items that it shows, recomputed.
    known
        What the data file says of the item.
    quick
        Whether to take less than half a minute, with the machine cold.
    """

    rows: tuple[Row, ...]
    known: Known
    quick: bool


@dataclass(frozen=True)
class Item:
    """A table, figure, equation or statement.

    Attributes
    ----------
    id
        Its name in the data file, such as ``figure 5.12``.
    recompute
        Takes what the data file says of it, and yields what netloom finds of each quantity that has
        a printed value there. None if there is nothing to compare.
    draw
        Yields the picture. None if there is none.
    takes_table
        Whether it recomputes a table of the user's as well, ``reference`` of what is known. Then it
        yields rows that it made.
    """

    id: str
    recompute: Callable[[Known], Found | Iterable[Row]] | None = None
    draw: Callable[[Made], Drawn] | None = None
    takes_table: bool = False

    @property
    def name(self) -> str:
        """What ``netloom study`` calls its picture."""
        return self.id.replace("figure ", "fig-").replace("table ", "table-")


@cache
def published(paper: str) -> dict[str, Any]:
    """Return the data file of a paper.

    Its ``title`` is that of the page. Its ``items`` say by name what the paper prints, and what is
    known of it:

    - ``kind`` of its rows, and ``kinds``: of those that contain a text, the first that ``match``.
      ``number``: the printed number that rows share.
    - ``values``: printed numbers by quantity.
    - ``within``: half of the last printed digit, or what a word such as "almost" is taken to mean,
      in the unit of the value. Or ``tolerance``: the same as a share of the value. One number, or
      several by the quantity or a text in it. ``at most``: quantities that may be anything below,
      or true for all.
    - ``outside``: a list of reasons, each with the ``rows`` that it keeps outside, and its
      ``cause``.
    - ``shows``: what its picture shows, in one line. ``remarks``: what to know before comparing.
      ``quick`` and ``full``: a remark on either. ``{name}`` in them stands for one of the paper's
      ``notes``.
    - ``rows of``: the items whose rows stand below the picture, its own if not said, and how the
      quantities of these ``rows begin``. ``in a quick run``: what is known otherwise then, such as
      fewer ``seeds``.
    - ``item``: how rows call it, if not by its name. ``note``: where tolerances come from.

    All else is what the recomputation needs: sizes, seeds.
    """
    text = files("netloom_papers.studies").joinpath("data", f"{paper}.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def items(paper: str) -> dict[str, Item]:
    """Return all items of a paper, by name."""
    module = import_module(f"netloom_papers.studies.{paper.replace('-', '_')}")
    return {item.id: item for item in module.ITEMS}


def compare(paper: str, item: Item, **changes: Any) -> tuple[Row, ...]:
    """Recompute an item, and return a row for each of its numbers.

    Parameters
    ----------
    paper, item
        Which.
    changes
        What is known of it in place of what the data file says, such as fewer ``seeds``. Then some
        values may be left out.
    """
    known = {**published(paper)["items"].get(item.id, {}), **changes}
    if item.recompute is None:
        return ()
    recomputed: Any = item.recompute(known)
    if item.takes_table:
        return tuple(recomputed)
    found: dict[str, Any] = dict(recomputed)
    values = known.get("values", {})
    assert changes or values.keys() <= found.keys(), f"{item.id}: {values.keys() - found.keys()}"
    outside = {quantity: part for part in known.get("outside", ()) for quantity in part["rows"]}
    most = known.get("at most", ())
    rows = []
    for quantity in (each for each in {**values, **found} if each in found):
        each = found[quantity]
        if not isinstance(each, Against):
            each = Against(values[quantity], each)
        samples = np.atleast_1d(np.asarray(each.found, np.float64))
        mean, half = batch_interval(samples, np.ones(len(samples)))
        value, room = float(each.value), each.room
        is_share = room is None and "tolerance" in known
        if room is None:
            room = of_quantity(known["tolerance" if is_share else "within"], quantity)
        tolerance = float(room if is_share or not value else room / abs(value))
        if len(samples) > 1:
            tolerance += half / abs(value)
        kind = next((part for part in known.get("kinds", ()) if part["match"] in quantity), known)
        part = outside.get(quantity, {})
        of = paper, known.get("item", item.id), quantity
        at_most = most is True or quantity in most
        why = part.get("reason", ""), at_most, part.get("cause", "")
        which = kind.get("kind", known["kind"]), kind.get("number", "")
        rows.append(Row(*of, value, mean, tolerance, *why, *which))
    return tuple(rows)


def of_quantity(known: Any, quantity: str) -> float:
    """Return one number, or that of a quantity, or of the first text that is in it.

    Examples
    --------
    >>> of_quantity({"d, p = 1": 3, "p = 1": 2}, "c, p = 1"), of_quantity(0.5, "d")
    (2.0, 0.5)
    """
    if isinstance(known, Mapping):
        if quantity not in known:
            quantity = next(text for text in known if text in quantity)
        known = known[quantity]
    return float(known)


@cache
def rows_of(paper: str, name: str, *, quick: bool = False) -> tuple[Row, ...]:
    """Return the rows of an item, recomputed once. Quickly if it knows how to."""
    item = items(paper)[name]
    changes = published(paper)["items"].get(name, {}).get("in a quick run", {})
    if quick and not changes:
        return rows_of(paper, name)
    return compare(paper, item, **changes if quick else {})


def validate(paper: str = "", *, reference: str | None = None) -> Validation:
    """Recompute what is compared with ``paper``, or with all papers.

    Parameters
    ----------
    paper
        A name of ``PAPERS``. All of them if empty.
    reference
        A file whose numbers are recomputed in place of the recorded ones. See ``studies.router``.

    Raises
    ------
    InputError
        If the paper is not known, has no use for a table, or the table cannot be read.
    """
    if paper and paper not in PAPERS:
        raise InputError("paper", f"'{paper}'", f"one of {', '.join(PAPERS)}")
    if reference is None:
        papers = [paper] if paper else list(PAPERS)
        return Validation(
            tuple(row for each in papers for name in items(each) for row in rows_of(each, name))
        )
    takers = {each: item for each in PAPERS for item in items(each).values() if item.takes_table}
    if paper not in takers:
        found = f"a reference for '{paper}'" if paper else "a reference for all papers"
        raise InputError("reference", found, f"one for {', '.join(takers)}")
    return Validation(compare(paper, takers[paper], reference=reference))


# -- pictures ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Picture:
    """A table or figure that was recomputed.

    Attributes
    ----------
    name, line, quick
        Which, what it shows, and whether it was the quick variant.
    panels
        In the paper's order: pairs of axes, or tables.
    rows
        What is compared, as ``netloom validate`` has it. ``kind`` says what the paper prints.
    remarks
        What to know before comparing: errata, what the paper leaves open, what a quick run leaves
        out.
    """

    name: str
    line: str
    quick: bool
    panels: tuple[Plot | Grid, ...]
    rows: tuple[Row, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """How the printed and the computed numbers compare, in one line."""
        if self.rows:
            return Validation(self.rows).sentence
        if any(isinstance(panel, Grid) for panel in self.panels):
            return "No number here is held to a tolerance."
        if any(PRINTED in panel.table["whose"] for panel in self.panels):
            return "What is printed stands beside what is computed; none is held to a tolerance."
        return "The paper prints no numbers here to compare with; the shape is what it shows."

    @property
    def verdict(self) -> Verdict:
        """The same with its mark, what it is of, and what is outside.

        If nothing is compared, nothing is confirmed.
        """
        of = f"{self.name}: {self.line}"
        if self.rows:
            return replace(Validation(self.rows).verdict, of=of)
        return Verdict("unknown", self.sentence, of=of)

    def chart(self) -> alt.VConcatChart | None:
        """Return its axes drawn. None of a table, which is shown in words."""
        plots = [each for each in self.panels if isinstance(each, Plot)]
        if not plots:
            return None
        return exhibit_chart(self.verdict.of, plots, [self.sentence], self.remarks)

    def table(self) -> pl.DataFrame:
        """Return everything shown, one row per point or cell, with the panel it belongs to."""
        named = ((pl.lit(panel.title).alias("panel"), panel.table) for panel in self.panels)
        parts = [table.select(title, pl.all()) for title, table in named]
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame({"panel": []})

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, the JSON of ``netloom study run``."""
        return {
            "study": self.name,
            "shows": self.line,
            "quick": self.quick,
            "panels": [
                {"title": panel.title, "table": panel.table.to_dicts()} for panel in self.panels
            ],
            "rows": [row.to_dict() for row in self.rows],
            "remarks": list(self.remarks),
            "verdict": self.verdict.to_dict(),
            "netloom": __version__,
        }

    def __repr__(self) -> str:
        return f"<{self.name}: {self.line}{', quick' * self.quick}>\n{self.sentence}"


def pictures() -> dict[str, str]:
    """Return what each picture shows, by names such as ``chittor/fig-5.12``, in their order."""
    return {
        f"{paper}/{item.name}": published(paper)["items"][item.id]["shows"]
        for paper in PAPERS
        for item in items(paper).values()
        if item.draw
    }


def picture(name: str, *, quick: bool = False) -> Picture:
    """Recompute a table or figure of a paper.

    Parameters
    ----------
    name
        Such as ``chittor/fig-5.12``. See ``pictures``.
    quick
        Only as much as takes less than half a minute: fewer mappings, seeds or points.

    Raises
    ------
    InputError
        If there is no such table or figure.

    Examples
    --------
    >>> picture("johnson/table-1").panels[0].columns
    ('network speed', '10³ processors', '10⁶ processors')
    """
    paper, _, short = name.partition("/")
    drawn = (item for item in items(paper).values() if item.draw) if paper in PAPERS else ()
    item = next((item for item in drawn if item.name == short), None)
    if item is None or item.draw is None:
        from netloom_papers.studies.running import STUDIES

        wanted = "one of netloom study list"
        if near := get_close_matches(name, [*pictures(), *STUDIES], n=1, cutoff=0.5):
            wanted = f"'{near[0]}' perhaps; all: netloom study list"
        raise InputError("study", f"'{name}'", wanted)
    known, notes = published(paper)["items"][item.id], published(paper).get("notes", {})
    named, begin = known.get("rows of", [item.id]), known.get("rows begin", "")
    every = (row for each in named for row in rows_of(paper, each, quick=quick))
    rows = tuple(row for row in every if row.quantity.startswith(begin))
    known = {**known, **known.get("in a quick run", {})} if quick else known
    shown = list(item.draw(Made(rows, known, quick)))
    said = [*known.get("remarks", ()), known.get("quick" if quick else "full", "")]
    remarks = [each for each in shown if isinstance(each, str)]
    remarks += [each.format_map(notes) for each in said if each]
    panels = tuple(each for each in shown if not isinstance(each, str))
    return Picture(name, known["shows"], quick, panels, rows, tuple(remarks))
