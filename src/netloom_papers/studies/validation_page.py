"""All rows of ``netloom validate`` on one page: rates by kind, and everything that is outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from netloom._version import __version__
from netloom_papers import ledger

NOT_TO_BE_MET = frozenset({"misprint", "unpublished"})
"""Causes with which no computation could reproduce a number, unless by chance."""


def page(found: ledger.Validation) -> str:
    """Return a page of Markdown about all rows.

    Parameters
    ----------
    found
        What ``validate`` found.
    """
    head = files("netloom_papers.studies").joinpath("data", "validation.md").read_text("utf-8")
    kinds = "".join(f"- **{kind}**: {what}.\n" for kind, what in ledger.KINDS.items())
    rates = [[f"**{kind}**", *cells] for kind, *cells in ledger.rates_told(found.rows)]
    parts = [
        head.format(
            sentence=found.sentence,
            version=__version__,
            kinds=kinds,
            rates=_table(ledger.RATES, rates),
            papers=_papers(found.rows),
            causes=_causes(found.rows),
        )
    ]
    for paper, rows in ledger.grouped(found.rows, "paper").items():
        lines: list[Sequence[object]] = []
        for item, of_it in ledger.grouped(rows, "item").items():
            for kind, some in ledger.grouped(of_it, "kind").items():
                within = sum(row.within for row in some)
                lines.append([item, kind, len(some), within, len(some) - within or ""])
        title = ledger.published(paper)["title"] if paper in ledger.PAPERS else paper
        counts = _table(("item", ":kind", "rows", "within", "outside"), lines)
        parts.append(f"## {title}\n\n{counts}")
        outside = ledger.grouped((row for row in rows if not row.within), "reason")
        if outside:
            parts.append(f"### {paper}: what does not agree\n")
        for reason, some in outside.items():
            lines = []
            for row in some:
                values = f"{row.printed:.6g}", f"{row.computed:.4g}"
                lines.append([row.item, row.quantity, row.kind, row.cause, *values])
            said = reason or "**No reason is known.**"
            heads = ("item", ":quantity", ":kind", ":cause", "compared with", "computed")
            parts += [f"{said[0].upper()}{said[1:]}", "", _table(heads, lines)]
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
