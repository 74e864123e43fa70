"""All numbers of a page: a table of each question, to read, to sort, and to download."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.questions.subject import short_name
from netloom.report.page.answers import key_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from netloom.questions.recorded import Recorded
    from netloom.report.page.figure import DataTable
    from netloom.report.page.sections import Asked

MOST_BYTES = 1_000_000
"""Bytes of CSV that one table of a page holds. Of a longer one the first rows."""


class Numbers(NamedTuple):
    """All answers to one question.

    Attributes
    ----------
    title
        What was asked.
    table
        The key figures, to be shown.
    file
        What the file is called that has all of them.
    csv
        That file: every column of the answers, with all digits.
    cut
        Whether that has the first rows only.
    """

    title: str
    table: DataTable
    file: str
    csv: str
    cut: bool


def numbers_of(asked: Sequence[Asked]) -> list[Numbers]:
    """Return the numbers of all answers, by what was asked together."""
    together: dict[str, list[Asked]] = {}
    for each in asked:
        together.setdefault(each.section, []).append(each)
    found = []
    for section, answers in together.items():
        record = answers[0].record
        for name in dict.fromkeys((record.answer.key_table, "table")):
            what = _what([each.record for each in answers]) or section
            title = record.kind.title + (f": {what}" if len(together) > 1 else "")
            more = "" if name == record.answer.key_table else "-all"
            title += ", every row" if more else ""
            found.append(_numbers(answers, name, title, f"{_slug(section)}{more}.csv"))
    return found


def _numbers(asked: Sequence[Asked], name: str, title: str, file: str) -> Numbers:
    """Return the numbers of one table of several answers."""
    text = _csv(asked, name)
    cut = len(text) > MOST_BYTES
    text = text[: text.rindex("\n", 0, MOST_BYTES) + 1] if cut else text
    shown = key_table([(each.varied, each.record) for each in asked], name)
    return Numbers(title, shown, file, text, cut)


def _what(records: Sequence[Recorded]) -> str:
    """Return which program or traffic answers are of, if they have one in common, else ""."""
    names = {
        str(found.get("app") or found.get("program") or found.get("traffic") or "")
        for found in (each.figures for each in records)
    }
    return short_name(names.pop()) if len(names) == 1 else ""


def _slug(section: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", section.lower()).strip("-") or "answers"


def _csv(asked: Sequence[Asked], name: str) -> str:
    """Return the rows of answers as CSV: how their questions differ, then what was found."""
    import polars as pl

    whole = pl.concat([_rows(each, name) for each in asked], how="diagonal_relaxed")
    text: str = whole.write_csv()
    return text


def _rows(asked: Asked, name: str) -> pl.DataFrame:
    import polars as pl

    table = asked.record.tables[name]
    first = {name: _plain(value) for name, value in asked.varied.items()}
    nested = [name for name, kind in table.schema.items() if kind.is_nested()]
    own = table.drop(*first, *nested, strict=False)
    return own.select(*(pl.lit(value).alias(name) for name, value in first.items()), pl.all())


def _plain(value: Any) -> Any:
    """Return the value of a field as a table has it: a word or a number."""
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
