"""What ``netloom validate`` found, on one page: rates by kind, and why rows are outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from netloom._version import __version__
from netloom_papers import ledger

NOT_TO_BE_MET = frozenset({"misprint", "unpublished"})
"""Causes with which no computation could reproduce a number, unless by chance."""


def page(found: ledger.Validation) -> str:
    """Return a page of Markdown about what was found.

    Parameters
    ----------
    found
        What ``validate`` found.
    """
    head = files("netloom_papers.studies").joinpath("data", "validation.md").read_text("utf-8")
    kinds = "".join(f"- **{kind}**: {what}.\n" for kind, what in ledger.KINDS.items())
    rates = [[f"**{kind}**", *cells] for kind, *cells in ledger.rates_told(found.rows)]
    said = {"sentence": found.sentence, "version": __version__, "kinds": kinds}
    tables = {"papers": _papers(found.rows), "causes": _causes(found.rows)}
    parts = [head.format(**said, rates=_table(ledger.RATES, rates), **tables)]
    for paper, rows in ledger.grouped(found.rows, "paper").items():
        title = ledger.published(paper)["title"] if paper in ledger.PAPERS else paper
        lines = []
        failed = [row for row in rows if not row.within]
        for reason, some in ledger.grouped(failed, "reason").items():
            why = reason or "**No reason is known.**"
            items = ", ".join(dict.fromkeys(row.item for row in some))
            lines.append((f"{why[0].upper()}{why[1:]}", items, len(some)))
        outside = _table(("why it is outside", ":of", "rows"), lines) if lines else ""
        within = len(rows) - len(failed)
        parts.append(f"## {title}\n\n{within} of {len(rows)} rows are within.\n\n{outside}")
    return "\n".join(parts)


def _papers(rows: Sequence[ledger.Row]) -> str:
    lines: list[Sequence[object]] = []
    papers = ledger.grouped(rows, "paper").items()
    for name, some in (*((f"`{paper}`", some) for paper, some in papers), ("**all**", rows)):
        found = ledger.count(some)
        counts = (*found, f"{found.percent:.1f} %") if found.numbers else (0, "", "")
        lines.append((name, *counts))
    return _table(("reference", "printed numbers", "reproduced", "rate"), lines)


def _causes(rows: Sequence[ledger.Row]) -> str:
    found = ledger.causes(rows)
    if not found:
        return ""
    lines = [[f"**{cause}**", ledger.CAUSES[cause], many] for cause, many in found.items()]
    text = "Printed numbers that are outside, by cause:\n\n"
    text += _table(("cause", ":meaning", "numbers"), lines)
    groups = [
        group
        for group in ledger.distinct(row for row in rows if row.kind == "printed")
        if not any(not row.within and row.cause in NOT_TO_BE_MET for row in group)
    ]
    kept = ledger.count(row for group in groups for row in group)
    text += (
        f"\nWithout the misprints and those whose origin is unpublished, {kept.reproduced} of "
        f"{kept.numbers} are reproduced ({kept.percent:.1f} %).\n"
    )
    if any(row.cause == "one run" and row.kind == "printed" for row in rows):
        text += f"\n{ledger.published('rosenblum-mayr')['on one run']}"
    return text


def _table(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table. The first column and those whose heads begin with a colon are text."""
    rules = ["---" if not at or head.startswith(":") else "---:" for at, head in enumerate(heads)]
    names = [head.lstrip(":") for head in heads]
    rows = [
        " | ".join(str(cell).replace("|", "\\|") for cell in line)
        for line in (names, rules, *lines)
    ]
    return "\n".join([*(f"| {row} |" for row in rows), ""])
