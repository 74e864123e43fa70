"""All rows of ``netloom validate`` on one page: rates by kind, and everything that is outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from netloom._version import __version__
from netloom_papers import ledger

NOT_TO_BE_MET = frozenset({"misprint", "unpublished"})
"""Causes with which no computation could reproduce a number, unless by chance."""

CHANCE = """The tables of the Ultracomputer print one run with one seed per line. Such a number is
reproduced if it lies between the least and the greatest of 40 runs with other seeds. A 41st run of
the same simulator would be outside in 2 of 41 cases (4.9 %) by chance alone, less where results
repeat.
"""


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
    for paper, rows in _grouped(found.rows, "paper").items():
        lines: list[list[object]] = []
        for item, of_it in _grouped(rows, "item").items():
            for kind, some in _grouped(of_it, "kind").items():
                within = sum(row.within for row in some)
                lines.append([_cell(item), kind, len(some), within, len(some) - within or ""])
        title = ledger.PAPERS[paper].title if paper in ledger.PAPERS else paper
        counts = _table(("item", ":kind", "rows", "within", "outside"), lines)
        parts.append(f"## {title}\n\n{counts}")
        outside = [row for row in rows if not row.within]
        if outside:
            parts.append(f"### {paper}: what does not agree\n")
        for reason, some in _grouped(outside, "reason").items():
            lines = [
                [_cell(row.item), _cell(row.quantity), row.kind, row.cause, *_values(row)]
                for row in some
            ]
            said = reason or "**No reason is known.**"
            heads = ("item", ":quantity", ":kind", ":cause", "compared with", "computed")
            parts += [f"{said[0].upper()}{said[1:]}", "", _table(heads, lines)]
    return "\n".join(parts)


def _papers(rows: Sequence[ledger.Row]) -> str:
    parts = {f"`{paper}`": of_it for paper, of_it in _grouped(rows, "paper").items()}
    lines: list[list[object]] = []
    for paper, of_it in [*parts.items(), ("**all**", rows)]:
        found = ledger.count(of_it)
        said = [*found, f"{found.percent:.1f} %"] if found.numbers else [0, "", ""]
        lines.append([paper, *said])
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
    one_run = any(row.cause == "one run" and row.kind == "printed" for row in rows)
    return text + (f"\n{CHANCE}" if one_run else "")


def _table(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table. The first column and those that begin with a colon are text."""
    rules = ["---" if not at or head.startswith(":") else "---:" for at, head in enumerate(heads)]
    names = [head.lstrip(":") for head in heads]
    rows = [" | ".join(map(str, line)) for line in ([*names], rules, *lines)]
    return "\n".join([*(f"| {row} |" for row in rows), ""])


def _grouped(rows: Iterable[ledger.Row], by: str) -> dict[str, list[ledger.Row]]:
    groups: dict[str, list[ledger.Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, by), []).append(row)
    return groups


def _values(row: ledger.Row) -> tuple[str, str]:
    return f"{row.printed:.6g}", f"{row.computed:.4g}"


def _cell(text: str) -> str:
    """Return text that stays in its cell."""
    return text.replace("|", "\\|")
