"""What a page says of one answer: in a sentence, in key numbers, and in figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netloom.drawing.names import base_names
from netloom.drawing.room import narrow_page
from netloom.questions.recorded import key_columns, parts_of
from netloom.report.page.figure import Figure, make_figure, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.recorded import Recorded
    from netloom.report.page.figure import DataTable

NO_FIGURES = ("seed", "reason", "note")
"""Columns that a page has elsewhere."""

CHANNELS = {"channels": "Channels by load"}
"""What the part is called that most pictures have."""


def name_of(record: Recorded) -> str:
    """Return what an answer is of: the program or traffic, and the network; perhaps "".

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> name_of(record(analyze("ring:4", "mesh:2x2", random_mappings=0)))
    'ring:4 on mesh:2x2'
    """
    found = record.figures
    what = found.get("app") or found.get("program") or found.get("traffic")
    where = found.get("topology") or (f"omega:{found['pes']}" if "pes" in found else None)
    return base_names(" on ".join(str(each) for each in (what, where) if each))


def key_table(records: Sequence[tuple[Mapping[str, Any], Recorded]]) -> DataTable:
    """Return the key numbers of answers of one verb, one below the other."""
    first = records[0][1]
    name = first.answer.key_table
    varied = list(dict.fromkeys(name for fields, _ in records for name in fields))
    columns = key_columns(first, name, but=[*varied, *NO_FIGURES])
    rows = [
        [*(_said(fields.get(each)) for each in varied), *(row.get(each.name) for each in columns)]
        for fields, record in records
        for row in record.tables[name].iter_rows(named=True)
    ]
    heads = [*(each.replace("_", " ") for each in varied), *(each.head for each in columns)]
    return table_of(heads, rows)


def figures_of(record: Recorded) -> list[Figure]:
    """Return the figures of one answer: the parts of its picture, also for a narrow window."""
    figures = []
    titles = CHANNELS | record.kind.part_titles
    with narrow_page():
        narrow = parts_of(record)
    for part, chart in parts_of(record).items():
        figure = make_figure(chart)
        title = figure.title or titles.get(part, part.capitalize())
        spec = _alone(figure.spec)
        other = _differing(spec, _alone(make_figure(narrow[part]).spec))
        figures.append(replace(figure, title=title, spec=spec, narrow=other))
    return figures


def _differing(spec: Mapping[str, Any], narrow: dict[str, Any]) -> dict[str, Any] | None:
    """Return a narrow chart without the data that the wide one has; None where they are alike."""
    if narrow == spec:
        return None
    sets = narrow["datasets"].items()
    return narrow | {"datasets": {key: rows for key, rows in sets if key not in spec["datasets"]}}


def _alone(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a part as it is in a picture: with legends of its own.

    By itself, Vega-Lite would merge the legend of a colour with the one that a size of the same
    field has not.
    """
    inside = {name: value for name, value in spec.items() if name != "datasets"}
    resolve = {"scale": {"color": "independent", "stroke": "independent"}}
    return {"datasets": spec.get("datasets", {}), "hconcat": [inside], "resolve": resolve}


def _said(value: Any) -> Any:
    """Return a field's value for a cell of a table."""
    return str(value) if isinstance(value, list | dict) else value
