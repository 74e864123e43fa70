"""All published numbers on one page: how many of each table and figure, and what does not agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom._version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netloom.studies.validation import Row, Validation

SOURCES = {
    "chittor": "Chittor 1991, *Communication performance of multicomputers*",
    "johnson": "Johnson 1992, *The impact of communication locality*",
    "shahrabi": "Shahrabi et al. 2002, broadcast in wormhole tori",
    "router": "Tables of another flit-level simulator, and closed forms",
    "rosenblum-mayr": "Rosenblum & Mayr 1986, the Ultracomputer with several hot spots",
    "feldmann": "Feldmann, Stricker & Warfel 1993, ConSet on iWarp",
}
"""What is compared with, by the names of ``PAPERS``."""

HEAD = """# The validation table

Every number that the papers print and netloom can compute. {sentence}

A number is reproduced if it is within its tolerance: half of the last printed digit, or what the
paper's own words allow, and where it is the mean of samples also their 95 % confidence interval.
No published number enters what it is compared with. Those that do not agree are listed below, each
with the reason; they count as outside. *Misprint* marks those where the paper contradicts itself.

`netloom validate` makes all of it again, and writes this page: `netloom validate --markdown
docs/validation.md`. This one is of netloom {version}.
"""


def page(found: Validation) -> str:
    """Return a page of Markdown about all published numbers.

    Parameters
    ----------
    found
        What ``validate`` found.
    """
    parts = [HEAD.format(sentence=found.sentence, version=__version__), _summary(found)]
    for paper in dict.fromkeys(row.paper for row in found.rows):
        rows = [row for row in found.rows if row.paper == paper]
        parts.append(f"## {SOURCES.get(paper, paper)}\n\n{_items(rows)}")
        outside = [row for row in rows if not row.within]
        if outside:
            parts.append(f"### {paper}: what does not agree\n\n{_reasons(outside)}")
    return "\n".join(parts)


def _summary(found: Validation) -> str:
    groups = _grouped((row.paper, row) for row in found.rows)
    lines = [_counts(f"`{paper}`", rows) for paper, rows in groups.items()]
    return _table("reference", [*lines, _counts("**all**", found.rows)])


def _items(rows: Iterable[Row]) -> str:
    groups = _grouped((row.item, row) for row in rows)
    return _table("item", [_counts(_cell(item), of) for item, of in groups.items()])


def _table(what: str, lines: Iterable[str]) -> str:
    head = f"| {what} | numbers | reproduced | outside | misprints |"
    return "\n".join([head, "| --- | ---: | ---: | ---: | ---: |", *lines, ""])


def _counts(name: str, rows: Iterable[Row]) -> str:
    rows = list(rows)
    outside = [row for row in rows if not row.within]
    misprints = sum(row.misprint for row in outside)
    within = len(rows) - len(outside)
    return f"| {name} | {len(rows)} | {within} | {len(outside) or ''} | {misprints or ''} |"


def _reasons(outside: Iterable[Row]) -> str:
    """Return a table for each reason, in the order in which they come first."""
    parts = []
    for reason, rows in _grouped((row.reason, row) for row in outside).items():
        lines = [
            f"| {_cell(row.item)} | {_cell(row.quantity)} | {row.printed:.6g} "
            f"| {row.computed:.4g} | {'misprint' if row.misprint else ''} |"
            for row in rows
        ]
        head = "| item | quantity | printed | computed | |\n| --- | --- | ---: | ---: | --- |"
        said = reason or "**No reason is known.**"
        parts.append("\n".join([f"{said[0].upper()}{said[1:]}", "", head, *lines, ""]))
    return "\n".join(parts)


def _grouped(pairs: Iterable[tuple[str, Row]]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for name, row in pairs:
        groups.setdefault(name, []).append(row)
    return groups


def _cell(text: str) -> str:
    """Return text that stays in its cell."""
    return text.replace("|", "\\|")
