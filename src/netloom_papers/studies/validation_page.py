"""All rows of ``netloom validate`` on one page: rates by kind, and everything that is outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netloom._version import __version__
from netloom_papers import ledger

HEAD = """# The validation table

netloom recomputes results of five papers and of another simulator. {sentence}

`netloom validate` repeats all of it, and writes this page: `netloom validate --markdown
docs/validation.md`. This one is of netloom {version}.

## What a row compares with

{kinds}
Only the first kind measures how well the papers are reproduced. Several rows may compare with one
printed number. It then counts once, and is reproduced only if all of these rows are. The columns on
the right count reproduced and all numbers by tolerance. *More* includes one-sided ones (at most).

{rates}
Tolerances, and where they come from, are in the data files and the modules beside them. Many are
half of the last printed digit. Others are a few per cent, or read from a word such as *about*. If
the computed value is a mean of samples, its 95 % confidence interval is added. Some tolerances for
words were chosen after the computed value was known, as the notes of the data files report.

Published numbers do enter computations. A number that a parameter was inferred from is an input: it
is in the table above and never counts. Rules can be inferred as well. How a step of the
Ultracomputer works was found with the tables of that report, so that its numbers test only whether
one set of rules gives all of them. Other choices that a paper leaves open are named in the notes of
the data files. Some were made with the printed numbers in view.

## Printed numbers by reference

{papers}
{causes}"""

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
    parts = [
        HEAD.format(
            sentence=found.sentence,
            version=__version__,
            kinds="\n".join(
                [*(f"- **{kind}**: {what}." for kind, what in ledger.KINDS.items()), ""]
            ),
            rates=_rates(found.rows),
            papers=_papers(found.rows),
            causes=_causes(found.rows),
        )
    ]
    for paper in dict.fromkeys(row.paper for row in found.rows):
        rows = [row for row in found.rows if row.paper == paper]
        lines = []
        for item, of_it in _grouped((row.item, row) for row in rows).items():
            for kind, some in _grouped((row.kind, row) for row in of_it).items():
                within = sum(row.within for row in some)
                lines.append([_cell(item), kind, len(some), within, len(some) - within or ""])
        counts = _table(("item", ":kind", "rows", "within", "outside"), lines)
        parts.append(
            f"## {ledger.PAPERS[paper].title if paper in ledger.PAPERS else paper}\n\n{counts}"
        )
        outside = [row for row in rows if not row.within]
        if outside:
            parts.append(f"### {paper}: what does not agree\n")
        for reason, some in _grouped((row.reason, row) for row in outside).items():
            lines = [
                [_cell(row.item), _cell(row.quantity), row.kind, row.cause,
                 f"{row.printed:.6g}", f"{row.computed:.4g}"]
                for row in some
            ]  # fmt: skip
            said = reason or "**No reason is known.**"
            heads = ("item", ":quantity", ":kind", ":cause", "compared with", "computed")
            parts += [f"{said[0].upper()}{said[1:]}", "", _table(heads, lines)]
    return "\n".join(parts)


def _rates(rows: Iterable[ledger.Row]) -> str:
    lines = []
    for line in ledger.rates(rows):
        if line["kind"] == "input":
            lines.append([f"**{line['kind']}**", line["rows"], *[""] * (3 + len(ledger.CLASSES))])
            continue
        by_class = [
            f"{each['reproduced']}/{each['numbers']}" if each["numbers"] else ""
            for each in line["by_tolerance"].values()
        ]
        share = f"{100 * line['reproduced'] / line['numbers']:.1f} %"
        lines.append(
            [f"**{line['kind']}**", line["rows"], line["numbers"], line["reproduced"], share,
             *by_class]
        )  # fmt: skip
    return _table(("kind", "rows", "numbers", "reproduced", "rate", *ledger.CLASSES), lines)


def _papers(rows: Sequence[ledger.Row]) -> str:
    lines = []
    for paper, of_it in _grouped((row.paper, row) for row in rows).items():
        found = ledger.count(of_it)
        said = [*found, f"{found.percent:.1f} %"] if found.numbers else [0, "", ""]
        lines.append([f"`{paper}`", *said])
    found = ledger.count(rows)
    lines.append(["**all**", *found, f"{found.percent:.1f} %"])
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


def _grouped(pairs: Iterable[tuple[str, ledger.Row]]) -> dict[str, list[ledger.Row]]:
    groups: dict[str, list[ledger.Row]] = {}
    for name, row in pairs:
        groups.setdefault(name, []).append(row)
    return groups


def _cell(text: str) -> str:
    """Return text that stays in its cell."""
    return text.replace("|", "\\|")
