"""What a page says of one answer: its verdict, its key numbers, and its figures."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from netloom.drawing.room import HALF, NARROW, WIDE, narrow_page
from netloom.questions.register import key_columns, parts_of
from netloom.questions.shown import MARKS, Verdict, ended, short_name
from netloom.report.page.curves import THEMSELVES, said_field
from netloom.report.page.figure import Figure, make_figure, table_of, units_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.register import Recorded
    from netloom.report.page.figure import DataTable

NO_FIGURES = ("seed", "reason", "note")
"""Columns that a page has elsewhere."""

ASIDE = frozenset({"latencies", "path contention"})
"""Parts that are left out on paper where several answers are compared."""

CHANNELS = {"channels": "Channels by load"}
"""What the part is called that most pictures have."""

PLOT, FLAT = 262, 210
"""Pixels of the widest axes in a narrow window, and of the highest."""

LETTER, LINE, NUMBER = 6.6, 14, 6
"""Pixels of a letter and a line of an axis, about, and the letters that have room beside one."""


def name_of(record: Recorded) -> str:
    """Return what an answer is of: the program or traffic, and the network. Perhaps "".

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.register import record
    >>> name_of(record(analyze("ring:4", "mesh:2x2", random_mappings=0)))
    'ring:4 on mesh:2x2'
    """
    found = record.figures
    what = found.get("app") or found.get("program") or found.get("traffic")
    where = found.get("topology") or (f"omega:{found['pes']}" if "pes" in found else None)
    return " on ".join(short_name(str(each)) for each in (what, where) if each)


def verdict_of(record: Recorded) -> Verdict | None:
    """Return what an answer comes to, as it is recorded or follows from its figures, or None.

    A sentence without a mark has the mark "".
    """
    found = record.figures.get("verdict")
    if isinstance(found, dict) and found.get("mark") in MARKS:
        kept = {name: found.get(name) or "" for name in ("mark", "sentence", "next", "note")}
        return Verdict(**kept, lines=found.get("lines") or {})
    if (own := record.kind.verdict(record.figures)) is not None:
        return own
    said = found.get("sentence") if isinstance(found, dict) else found
    return Verdict("", ended(str(said))) if said else None


def key_table(records: Sequence[tuple[Mapping[str, Any], Recorded]], name: str = "") -> DataTable:
    """Return the key numbers of answers of one verb, one below the other, or those of a table."""
    first = records[0][1]
    name = name or first.answer.key_table
    varied = list(dict.fromkeys(name for fields, _ in records for name in fields))
    columns = key_columns(first, name, but=[*varied, *NO_FIGURES])
    rows = [
        [
            *(_said(each, fields.get(each)) for each in varied),
            *(row.get(each.name) for each in columns),
        ]
        for fields, record in records
        for row in record.tables[name].iter_rows(named=True)
    ]
    heads = [*(each.replace("_", " ") for each in varied), *(each.head for each in columns)]
    return table_of(heads, rows)


def figures_of(record: Recorded) -> list[Figure]:
    """Return the figures of one answer that has the page for itself."""
    return list(figures_by_part(record).values())


def figures_by_part(record: Recorded, beside: int = 1) -> dict[str, Figure]:
    """Return the figures of one answer by their parts, also for a narrow window.

    Parameters
    ----------
    beside
        How many answers stand side by side: their figures share the width of the page.
    """
    figures = {}
    titles = CHANNELS | record.kind.part_titles
    with narrow_page(NARROW):
        narrow = parts_of(record)
    with narrow_page(WIDE if beside == 1 else HALF):
        parts = parts_of(record)
    for part, chart in parts.items():
        figure = make_figure(chart)
        title = figure.title or titles.get(part, part.capitalize())
        spec, small = _alone(figure.spec), narrowed(_alone(make_figure(narrow[part]).spec))
        if beside > 2:
            spec = small
        span = 4 if beside > 2 else 12 if _width(spec) > HALF else 6
        figures[part] = replace(
            figure, title=title, spec=spec, narrow=_differing(spec, small), span=span,
            aside=beside > 1 and part in ASIDE,
        )  # fmt: skip
    return figures


def for_all_windows(figure: Figure) -> Figure:
    """Return a figure with the columns that it needs, and with a chart for narrow windows."""
    span = 12 if "facet" in figure.spec else 8 if _width(figure.spec) > HALF else 6
    narrow = figure.narrow or _differing(figure.spec, narrowed(figure.spec))
    return replace(figure, narrow=narrow, span=span)


def narrowed(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart whose axes and legends fit a narrow window. Panels stand in one column."""
    found: dict[str, Any] = deepcopy(dict(spec))
    _narrow(found, found.get("datasets", {}))
    return found


def _narrow(spec: Any, sets: Mapping[str, Any]) -> None:
    """Make what is wide in a specification narrow, in place."""
    if isinstance(spec, list):
        for each in spec:
            _narrow(each, sets)
    if not isinstance(spec, dict):
        return
    wide, high = (spec.get(name) for name in ("width", "height"))
    if isinstance(wide, int | float) and ("mark" in spec or "layer" in spec) and _has_axes(spec):
        names = _names(spec, sets)
        longest = max(map(len, names), default=0)
        spec["width"] = min(wide, PLOT - LETTER * max(longest - NUMBER, 0))
        _wrap_titles(spec, "x", spec["width"])
        _stack_legends(spec, every=spec["width"] < PLOT)
        if isinstance(high, int | float):
            spec["height"] = min(high, max(FLAT, LINE * len(names)))
            _wrap_titles(spec, "y", spec["height"])
    if "facet" in spec and "columns" in spec:
        spec["columns"] = 1
    legend = spec.get("legend")
    if isinstance(legend, dict) and legend.get("columns", 1) > 1:
        legend["columns"] = max(1, legend["columns"] // 2)
    for name, below in spec.items():
        if name not in ("datasets", "data", "usermeta"):
            _narrow(below, sets)


def _stack_legends(spec: Mapping[str, Any], *, every: bool) -> None:
    """Have legends that stand beside a chart above it, entry by entry, in place, or every one."""
    for encoding, _ in units_of(spec):
        for channel in encoding.values():
            legend = channel.get("legend") if isinstance(channel, dict) else None
            if isinstance(legend, dict) and (every or "orient" not in legend):
                legend |= {"orient": "top", "columns": 1}


def _wrap_titles(spec: Mapping[str, Any], place: str, pixels: float) -> None:
    """Break the titles of axes that are longer than their axis, in place."""
    for encoding, _ in units_of(spec):
        axis = encoding.get(place)
        title = axis.get("title") if isinstance(axis, dict) else None
        if axis and title:
            whole = title if isinstance(title, str) else " ".join(title)
            axis["title"] = wrap(whole, max(int(pixels / LETTER), 12))


def _names(spec: Mapping[str, Any], sets: Mapping[str, Any]) -> set[str]:
    """Return the names on the vertical axis of a chart, none if it has numbers."""
    return {
        str(row.get(encoding["y"].get("field")))
        for encoding, data in units_of(spec)
        if encoding.get("y", {}).get("type") in ("nominal", "ordinal")
        for row in sets.get(data or "", ())
    }


def _has_axes(spec: Mapping[str, Any]) -> bool:
    """Whether a chart has axes: drawings of networks have none, and keep their shape."""
    return not any(
        encoding.get(place, {}).get("axis", "") is None
        for encoding, _ in units_of(spec)
        for place in ("x", "y")
    )


def _width(spec: Mapping[str, Any]) -> float:
    """Return how wide the axes of a chart are, in pixels, about."""
    own = spec.get("width")
    inner = [_width(each) for each in (*spec.get("layer", ()), *spec.get("vconcat", ()))]
    beside = sum(_width(each) + 30 for each in (*spec.get("hconcat", ()), *spec.get("concat", ())))
    below = _width(spec["spec"]) * min(spec.get("columns", 1), 3) if "spec" in spec else 0.0
    wide = float(own) if isinstance(own, int | float) else 0.0
    return max([wide, beside - 30, below, *inner])


def height_of(spec: Mapping[str, Any]) -> float:
    """Return how high the axes of a chart are, in pixels, about."""
    own = spec.get("height")
    inner = [height_of(each) for name in ("layer", "hconcat") for each in spec.get(name, ())]
    below = sum(height_of(each) + 60 for each in spec.get("vconcat", ()))
    return max([float(own) if isinstance(own, int | float) else 0.0, below, *inner])


def _differing(spec: Mapping[str, Any], narrow: dict[str, Any]) -> dict[str, Any] | None:
    """Return a narrow chart without the data that the wide one has. None where they are alike."""
    if narrow == spec:
        return None
    sets = narrow["datasets"].items()
    return narrow | {"datasets": {key: rows for key, rows in sets if key not in spec["datasets"]}}


def _alone(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a part as it is in a picture: with legends of its own.

    By itself, Vega-Lite would merge the legend of a color with the one that a size of the same
    field has not.
    """
    inside = {name: value for name, value in spec.items() if name != "datasets"}
    resolve = {"scale": {"color": "independent", "stroke": "independent"}}
    return {"datasets": spec.get("datasets", {}), "hconcat": [inside], "resolve": resolve}


def _said(name: str, value: Any) -> Any:
    """Return a field's value for a cell of a table."""
    if isinstance(value, str) and (name == "mapping" or name in THEMSELVES):
        return said_field(name, value)
    return str(value) if isinstance(value, list | dict) else value
