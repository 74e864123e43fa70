"""An answer as plain data and tables: what a store keeps, and all that a report needs."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.questions.answers import Columns
from netloom.questions.numbers import tidy
from netloom.questions.register import by_verb

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import polars as pl

    from netloom.questions.answers import Answer
    from netloom.questions.register import Kind


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a verb answered, without the objects that it was worked out with.

    Attributes
    ----------
    verb
        The Python function that asked.
    figures
        The JSON of the answer: plain data, its question under ``provenance``. There is no NaN and
        no infinity in it, but None.
    tables
        Its tables by name. ``table`` has one row per observation. What is not known is null.
    """

    verb: str
    figures: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame]

    @property
    def kind(self) -> Kind:
        """What was asked, as it is declared."""
        return by_verb(self.verb)

    @property
    def answer(self) -> type[Answer]:
        """The class of the answer, which declares its columns."""
        return self.kind.answer_of(self.tables["table"].columns)

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The question, with every default filled in."""
        found: Mapping[str, Any] = self.figures["provenance"]["configuration"]
        return found

    @property
    def points(self) -> list[dict[str, Any]]:
        """The figures of each load, rate or size. Of the only one, if there is one."""
        several: list[dict[str, Any]] | None = self.figures.get("points")
        return [dict(self.figures)] if several is None else several

    @property
    def several(self) -> bool:
        """Whether the question was of several loads, rates, sizes or techniques."""
        return "points" in self.figures


def record(answer: Any) -> Recorded:
    """Return what a verb answered as plain data and tables.

    As JSON and as Parquet they come back as they were.

    Examples
    --------
    >>> from netloom import analyze
    >>> kept = record(analyze("ring:4", "mesh:2x2", random_mappings=0))
    >>> kept.verb, kept.tables["channels"]["channel_load"].to_list()
    ('analyze', [1, 1, 1, 1, 2, 2, 2, 2])
    """
    tables = {name: _known(getattr(answer, name)()) for name in answer.tables()}
    return Recorded(answer.provenance.verb, plain(answer.to_dict()), tables)


MOST_COLUMNS = 9
"""Columns that lists of answers show of a table of which none is marked as a key figure."""


def key_columns(record: Recorded, table: str = "table", *, but: Collection[str] = ()) -> Columns:
    """Return the columns of a table by which answers are told: its key figures.

    Of a table of which none is marked, they are the first in which something is known. Columns of
    ``but`` are shown elsewhere.

    Raises
    ------
    LookupError
        If the answer is not declared to have such a table.
    InputError
        If the table lacks a column: another release wrote it.
    """
    found, declared = record.tables[table], record.answer.tables()[table]
    marked = [each for each in declared if each.key]
    chosen = [
        each for each in marked or declared.key
        if each.name not in but and not (each.optional and each.name not in found.columns)
    ]  # fmt: skip
    if gone := [each.name for each in chosen if each.name not in found.columns]:
        raise InputError(f"{record.verb}, {table}", f"no column '{gone[0]}'", "a new run")
    if not marked:
        chosen = [each for each in chosen if found[each.name].null_count() < len(found)]
        chosen = chosen[:MOST_COLUMNS]
    return Columns(*chosen)


def chart_of(result: Any) -> Any:
    r"""Return the picture of an answer, or of what is recorded of it.

    Raises
    ------
    InputError
        If answers to such a question have no picture.

    Examples
    --------
    >>> from netloom import analyze
    >>> chart_of(analyze("ring:4", "mesh:2x2", random_mappings=0)).title.text
    ['ring:4 on mesh:2x2, rank order: Contends above 100\xa0% load.']
    """
    kept = result if isinstance(result, Recorded) else record(result)
    found = kept.kind.chart(kept)
    if found is None:
        raise InputError(kept.verb, "an answer without a picture", "another question")
    return found


def parts_of(kept: Recorded) -> dict[str, Any]:
    """Return what the picture of an answer is made of, part by part, for a page of its own.

    Parts have neither background nor title of their own, and the colors of text and of channel
    loads (Vega's range ``ramp``) are those of the page.

    Examples
    --------
    >>> from netloom import analyze
    >>> list(parts_of(record(analyze("ring:4", "mesh:2x2", random_mappings=2))))
    ['channels', 'loads', 'saturation', 'path contention']
    """
    return kept.kind.parts(kept)


def plain(data: Any) -> Any:
    """Return data as JSON has it: lists, and None for NaN and infinity. No -0.0.

    Examples
    --------
    >>> plain({"at": (1, float("inf"), -0.0)})
    {'at': [1, None, 0.0]}
    """
    return _finite(tidy(data))


EXTRA = "the extra 'pandas': pip install 'netloom[pandas]'"


def to_pandas(found: Any, table: str = "table") -> Any:
    """Return a table of an answer as a ``pandas.DataFrame``.

    pandas and pyarrow must be installed: ``pip install 'netloom[pandas]'``.

    Parameters
    ----------
    found
        An answer, a record of one, or a Polars table.
    table
        Which of its tables: ``table`` has one row per observation. Others, such as ``channels``,
        are those of ``answer.tables()``.

    Raises
    ------
    InputError
        If there is no such table, or pandas or pyarrow is not installed.

    Examples
    --------
    >>> from netloom import analyze
    >>> found = analyze("ring:4", "mesh:2x2", random_mappings=0)
    >>> to_pandas(found, "no such table")
    Traceback (most recent call last):
        ...
    netloom.InputError: table: found 'no such table'; expected ...table
    """
    if not hasattr(found, "to_pandas"):
        tables = (found if isinstance(found, Recorded) else record(found)).tables
        if table not in tables:
            raise InputError("table", f"'{table}'", ", ".join(sorted(tables)))
        found = tables[table]
    try:
        return found.to_pandas()
    except ImportError as error:
        raise InputError("to_pandas", f"no {error.name}", EXTRA) from None


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not isfinite(data) else data


def _known(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with null for NaN, with columns of numbers where nothing is known, no -0.0."""
    import polars as pl
    import polars.selectors as cs

    unknown = [name for name, dtype in table.schema.items() if dtype == pl.Null]
    return table.cast(dict.fromkeys(unknown, pl.Float64)).with_columns(
        cs.float().fill_nan(None) + 0.0
    )
