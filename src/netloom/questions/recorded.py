"""What is kept of an answer: its JSON and its tables, from which the answer can be read again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.base.figures import leaves, plain
from netloom.questions.register import by_verb

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import polars as pl

    from netloom.base.figures import Leaf
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

    @cached_property
    def answer(self) -> Answer:
        """The answer."""
        found: Answer = self.kind.read(self.figures, kept=self.tables)
        return found

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The question, with every default filled in."""
        found: Mapping[str, Any] = self.figures["provenance"]["configuration"]
        return found


def record(answer: Answer) -> Recorded:
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


def key_columns(record: Recorded, table: str = "table", *, but: Collection[str] = ()) -> list[Leaf]:
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
    found = record.tables[table]
    declared = leaves(record.answer.tables()[table])
    marked = [each for each in declared if each.key]
    chosen = [
        each
        for each in marked or declared
        if each.name not in but and not (each.optional and each.name not in found.columns)
    ]
    if gone := [each.name for each in chosen if each.name not in found.columns]:
        raise InputError(f"{record.verb}, {table}", f"no column '{gone[0]}'", "a new run")
    if not marked:
        chosen = [each for each in chosen if found[each.name].null_count() < len(found)]
        chosen = chosen[:MOST_COLUMNS]
    return chosen


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
    answer = result.answer if isinstance(result, Recorded) else result
    found = answer.picture()
    if found is None:
        verb = answer.provenance.verb
        raise InputError(verb, "an answer without a picture", "another question")
    return found


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
        import_module("pandas")
        import_module("pyarrow")
    except ImportError as error:
        raise InputError("to_pandas", f"no {error.name}", EXTRA) from None
    return found.to_pandas()


def _known(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with null for NaN, with columns of numbers where nothing is known, no -0.0."""
    import polars as pl
    import polars.selectors as cs

    unknown = [name for name, dtype in table.schema.items() if dtype == pl.Null]
    return table.cast(dict.fromkeys(unknown, pl.Float64)).with_columns(
        cs.float().fill_nan(None) + 0.0
    )
