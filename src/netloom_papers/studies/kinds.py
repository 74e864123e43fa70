"""What a row of ``netloom validate`` compares with, how loosely, and why it may be outside.

A row compares a value with netloom's result. A paper's value is not always printed in the paper.
The data files mark this for each row. They also mark rows that compare with the same printed
number, so that it counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netloom_papers.studies.validation import Row

KINDS = {
    "printed": "a number that the paper prints, in digits or as a word such as *twice*",
    "words": "a statement without a number (*almost identical*), read as one with a tolerance",
    "formula": "a formula or bound, evaluated where the paper prints no number",
    "implementation": "the result of another implementation, which the paper does not print",
    "input": "a number that parameters were inferred from, so that agreement never counts",
}
"""The kinds of rows, and what each is."""

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


class Count(NamedTuple):
    """How many distinct numbers there are, and how many of them are reproduced."""

    numbers: int
    reproduced: int

    @property
    def percent(self) -> float:
        """The share that is reproduced, in per cent. 100 of none."""
        return 100 * self.reproduced / self.numbers if self.numbers else 100.0


def kind_of(known: Mapping[str, Any], quantity: str) -> tuple[str, str]:
    """Return the kind of a row, and the number that it shares with others (empty if none).

    Parameters
    ----------
    known
        An item of a data file: ``kind`` of its rows, and ``kinds``, of those that contain a text,
        the first that fits.
    quantity
        Of the row.

    Examples
    --------
    >>> known = {"kind": "printed", "kinds": [{"match": "R²", "kind": "words"}]}
    >>> kind_of(known, "R² for p = 1"), kind_of(known, "slope")
    (('words', ''), ('printed', ''))
    """
    for part in known.get("kinds", ()):
        if part["match"] in quantity:
            return part.get("kind", known["kind"]), part.get("number", "")
    return known["kind"], known.get("number", "")


def tolerance_class(tolerance: float, *, at_most: bool) -> str:
    """Return the class of a relative tolerance.

    Examples
    --------
    >>> tolerance_class(0.05, at_most=False), tolerance_class(0, at_most=True)
    ('≤ 10 %', 'more')
    """
    if at_most:
        return CLASSES[-1]
    return next(
        (name for name, most in zip(CLASSES, LIMITS, strict=False) if tolerance <= most),
        CLASSES[-1],
    )


def distinct(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the rows of each distinct number: most have one, and some share theirs."""
    groups: dict[object, list[Row]] = {}
    for place, row in enumerate(rows):
        groups.setdefault((row.paper, row.number) if row.number else place, []).append(row)
    return list(groups.values())


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
    found: dict[str, int] = {}
    for group in distinct(row for row in rows if row.kind == "printed"):
        outside = [row.cause or "unexplained" for row in group if not row.within]
        if outside:
            found[outside[0]] = found.get(outside[0], 0) + 1
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def rates(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return one line per kind that occurs: rows, distinct numbers, reproduced, and by class.

    Inputs have rows only.
    """
    rows = list(rows)
    lines = []
    for kind in KINDS:
        of_kind = [row for row in rows if row.kind == kind]
        line: dict[str, Any] = {"kind": kind, "rows": len(of_kind)}
        if kind != "input":
            all_of_it = count(of_kind, kind)
            line |= {
                "numbers": all_of_it.numbers,
                "reproduced": all_of_it.reproduced,
                "by_tolerance": {name: count(of_kind, kind, name)._asdict() for name in CLASSES},
            }
        if of_kind:
            lines.append(line)
    return lines


def verdict(rows: Iterable[Row]) -> str:
    """Return in one sentence how many numbers of each kind are reproduced.

    Examples
    --------
    >>> from netloom_papers.studies.validation import Row
    >>> verdict([Row("p", "i", "a", 1, 1, 0), Row("p", "i", "b", 1, 2, 0, kind="input")])
    'Reproduced: 1 of 1 printed numbers (100.0 %). Not counted: 1 input.'
    """
    rows = list(rows)
    parts = []
    for kind, noun in NOUNS.items():
        found = count(rows, kind)
        if found.numbers:
            share = f"{found.reproduced} of {found.numbers} {noun}"
            parts.append(f"{share} ({found.percent:.1f} %)" if kind == "printed" else share)
    inputs = sum(row.kind == "input" for row in rows)
    words = f"Reproduced: {', '.join(parts)}" if parts else "Nothing here is a test"
    if inputs:
        words += f". Not counted: {inputs} input{'s' * (inputs != 1)}"
    return f"{words}."
