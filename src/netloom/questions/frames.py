"""Tables of answers for those who use pandas."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.questions.recorded import Recorded, record

if TYPE_CHECKING:
    import polars as pl

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
    chosen: pl.DataFrame = _table(found, table)
    for package in ("pandas", "pyarrow"):
        try:
            import_module(package)
        except ImportError:
            raise InputError("to_pandas", f"no {package}", EXTRA) from None
    return chosen.to_pandas()


def _table(found: Any, name: str) -> Any:
    import polars as pl

    if isinstance(found, pl.DataFrame):
        return found
    tables = (found if isinstance(found, Recorded) else record(found)).tables
    if name not in tables:
        raise InputError("table", f"'{name}'", ", ".join(sorted(tables)))
    return tables[name]
