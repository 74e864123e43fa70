"""What is kept of an answer: its JSON, the schema of it, and its tables.

From its JSON and its tables the answer can be read again. The schema is of what commands print with
``--json``, and of the tables of stores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from netloom.base.errors import InputError
from netloom.base.figures import (
    TYPES,
    Figures,
    Place,
    leaves,
    object_schema,
    places,
    plain,
    schema,
    titled_schema,
)
from netloom.questions.answers import MARKS, Answer
from netloom.questions.register import Kind, all_kinds, by_verb

if TYPE_CHECKING:
    import polars as pl


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


def key_columns(
    record: Recorded, table: str = "table", *, but: Collection[str] = ()
) -> list[Place]:
    """Return the columns of a table by which answers are told: its key figures.

    Of a table of which none is marked, they are the first in which something is known. Columns of
    ``but`` are shown elsewhere. A table of another release may lack some.

    Raises
    ------
    LookupError
        If the answer is not declared to have such a table.
    InputError
        If the table has none of these columns: another release wrote it.
    """
    found = record.tables[table]
    declared = leaves(record.answer.tables()[table])
    there = [each for each in declared if each.name in found.columns]
    if not there:
        raise InputError(f"{record.verb}, {table}", f"no column '{declared[0].name}'", "a new run")
    marked = any(each.told.key for each in declared)
    chosen = [each for each in there if each.name not in but and (each.told.key or not marked)]
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


# -- the schema of answers -------------------------------------------------------------------------


PROVENANCE = {
    "type": "object",
    "title": "version, question and seed",
    "properties": {
        "netloom": {"type": "string"},
        "seed": {"type": "integer"},
        "configuration": {"type": "object"},
    },
    "required": ["netloom", "seed", "configuration"],
}

VERDICT = {
    "type": "object",
    "title": "what it comes to",
    "properties": {
        "mark": {"enum": list(MARKS)},
        "sentence": {"type": "string"},
        "lines": {"type": "object", "additionalProperties": {"type": "string"}},
        "next": {"type": "string", "title": "the command that comes next"},
        "note": {"type": "string"},
    },
    "required": ["mark", "sentence", "lines", "next", "note"],
}
"""The part of a verdict that all answers have. Some have figures of their own beside it."""


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the answers of all questions.

    ``$defs`` has under the words of a question what its command prints as JSON. The ``$defs`` of
    that are its tables by name, each an array of rows.

    Examples
    --------
    >>> found = results_schema()["$defs"]
    >>> found["analyze"]["properties"]["dilation"]
    {'type': ['number', 'null'], 'title': 'hops per byte'}
    >>> found["analyze"]["$defs"]["table"]["items"]["properties"]["dilation"]["json"]
    'dilation'
    """
    forms = {}
    answers = []
    for kind in all_kinds():
        answer = cast("type[Answer]", kind.answer)
        forms[kind.words] = {"title": kind.title} | _answer(answer)
        answers.append({"$ref": f"#/$defs/{kind.words}"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "answers of netloom",
        "anyOf": answers,
        "$defs": forms,
    }


def _answer(answer: type[Answer]) -> dict[str, Any]:
    """Return what an answer's JSON is: its one observation, or several as ``points``."""
    whole = schema(answer)
    for each in places(answer):
        if each.nested and issubclass(each.nested, Answer):
            whole["properties"][each.name]["anyOf"][0] = _answer(each.nested)
    points = whole["properties"].pop("points", None)
    required = [name for name in whole["required"] if name not in ("points", "verdict")]
    found = whole | {"required": [*required, "verdict", "provenance"]}
    if points is not None:
        (form, _) = points["anyOf"]
        one = form["items"]
        whole["properties"] = one["properties"] | {"points": form} | whole["properties"]
        own = [name for name in one["required"] if name not in required]
        found["anyOf"] = [{"required": own}, {"required": ["points"]}]
    own_of_verdict = whole["properties"].get("verdict", {"properties": {}, "required": []})
    own_of_verdict = own_of_verdict.get("anyOf", [own_of_verdict])[0]  # one record, or None
    verdict = VERDICT | {
        "properties": VERDICT["properties"] | own_of_verdict["properties"],
        "required": [*VERDICT["required"], *own_of_verdict["required"]],
    }
    found["properties"] = whole["properties"] | {"verdict": verdict, "provenance": PROVENANCE}
    rows = answer.tables()
    found["$defs"] = {
        name: {"type": "array", "items": _row(figures, in_json=rows["table"] is figures)}
        for name, figures in rows.items()
    }
    return found


def _row(kind: type[Figures], *, in_json: bool) -> dict[str, Any]:
    """Return what a row of a table is. ``in_json`` says of each column where JSON has it."""
    row = object_schema()
    for each in leaves(kind):
        place = {"json": each.json} if in_json else {}
        form = titled_schema({"type": TYPES[each.kind]}, each.title, each.told.unit)
        row["properties"][each.name] = form | place
        if not each.told.optional:
            row["required"].append(each.name)
    return row
