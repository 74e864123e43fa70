"""One figure of a page: a chart with its words, its data as a table, and what it says in words."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.words import counted, listed, number
from netloom.drawing.names import base_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt


MOST_ROWS = 200
"""Rows of a figure's data that a page shows as a table."""

DIGITS = 6
"""Digits of the numbers that a chart is drawn from."""

DRAWN = ("shape", "strokeWidth")
"""Encodings that say how something is drawn, where they have no scale."""

INSIDE = ("layer", "hconcat", "vconcat", "concat", "spec")
"""Where the specification of a chart has others in it."""


class DataTable(NamedTuple):
    """A table as a page shows it.

    Attributes
    ----------
    columns
        The heads.
    rows
        The cells, in words. Of long tables the first.
    total
        How many rows there are in all.
    caption
        What it is of. Perhaps "".
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int
    caption: str = ""


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart and all that belongs to it.

    Attributes
    ----------
    title, caption
        What it shows, and how to read it, perhaps "".
    alternative
        What it says, in words and numbers, for those who do not see it.
    data
        What it is drawn from.
    spec
        The chart, as Vega-Lite, without title and colors of its own.
    narrow
        How it differs in a narrow window: a chart whose data are those of ``spec`` where it has
        none. None where it is the same.
    span, tall
        How many of the 12 columns of a page it takes, and whether it takes two rows.
    aside
        Whether it is left out on paper.
    """

    title: str
    caption: str
    alternative: str
    data: DataTable
    spec: Mapping[str, Any]
    narrow: Mapping[str, Any] | None = None
    span: int = 6
    tall: bool = False
    aside: bool = False


def make_figure(
    chart: alt.TopLevelMixin,
    *,
    title: str = "",
    caption: str = "",
    alternative: str = "",
    data: DataTable | None = None,
) -> Figure:
    """Return a figure of a chart.

    Parameters
    ----------
    chart
        Any chart of Altair, without configuration.
    title
        By default the chart's own, which it loses, as its subtitle: the page says them.
    caption, alternative, data
        See ``Figure``. By default the alternative and the data are those of ``describe`` and
        ``data_of``.

    Examples
    --------
    >>> import altair as alt, polars as pl
    >>> table = pl.DataFrame({"load": [0.1, 0.2], "latency": [20.0, 23.00000004]})
    >>> chart = alt.Chart(table, title="Latency").mark_line().encode(x="load:Q", y="latency:Q")
    >>> figure = make_figure(chart)
    >>> figure.alternative
    'Latency. load from 0.1 to 0.2; latency from 20 to 23, most at load 0.2. 2 rows of data.'
    >>> figure.data.rows
    (('0.1', '20'), ('0.2', '23'))
    """
    import altair as alt

    with alt.data_transformers.enable("default", max_rows=None):
        spec = chart.to_dict()
    spec = _rounded(spec)
    for gone in ("$schema", "config"):
        spec.pop(gone, None)
    own = spec.pop("title", "")
    below = own.get("subtitle", "") if isinstance(own, dict) else ""
    own = own.get("text", "") if isinstance(own, dict) else own
    title = base_names(title or (own if isinstance(own, str) else " ".join(own)))
    return Figure(
        title=title,
        caption=caption or (below if isinstance(below, str) else " ".join(below)),
        alternative=alternative or describe(spec, title),
        data=data_of(spec) if data is None else data,
        spec=spec,
    )


def narrowed(wide: Figure, narrow: Figure) -> Figure:
    """Return a figure that differs in a narrow window as another does, without data twice."""
    if narrow.spec == wide.spec:
        return wide
    known = wide.spec.get("datasets", {})
    own = {key: rows for key, rows in narrow.spec.get("datasets", {}).items() if key not in known}
    return replace(wide, narrow={**narrow.spec, "datasets": own})


def describe(spec: Mapping[str, Any], title: str) -> str:
    """Return what a chart shows, in words and numbers: the range of each axis, and the most."""
    columns, rows = _columns(spec)
    columns.pop(TOLD, None)
    parts = []
    numeric = [
        field
        for field, (_, kind) in columns.items()
        if kind == "quantitative" and any(_is_number(row.get(field)) for row in rows)
    ]
    for field in numeric:
        head = columns[field][0]
        values = [row for row in rows if _is_number(row.get(field))]
        low, high = (pick(row[field] for row in values) for pick in (min, max))
        said = f"{head} from {number(low)} to {number(high)}"
        if low != high and (field != numeric[0] or len(numeric) == 1):
            most = next(row for row in values if row[field] == high)
            said += _where(most, columns, field, numeric[0])
        parts.append(said)
    for field, (head, kind) in columns.items():
        if kind in ("nominal", "ordinal") and field not in numeric:
            names = list(dict.fromkeys(number(row[field]) for row in rows if row.get(field)))
            if 1 < len(names) <= 12:
                parts.append(f"{head}: {listed(names)}")
    words = [title] if title else []
    words += ["; ".join(parts)] if parts else []
    return ". ".join([*words, f"{counted(len(rows), 'row', ',')} of data."])


TOLD = "tips"
"""The field of what else is said of a row: last in tables, and left out of the sentence."""


def data_of(spec: Mapping[str, Any]) -> DataTable:
    """Return what a chart is drawn from: of its largest data set the columns that it shows.

    Names come first. If there is but one number per row, the largest come first. Of what is drawn
    in the colors of a load, what is drawn last.
    """
    columns, rows = _columns(spec)
    if any("stroke" in encoding for encoding, _ in units_of(spec)):
        rows = rows[::-1]
    order = sorted(columns, key=lambda field: (field == TOLD, columns[field][1] == "quantitative"))
    numeric = [field for field in order if columns[field][1] == "quantitative"]
    if len(numeric) == 1 and all(_is_number(row.get(numeric[0])) for row in rows):
        rows = sorted(rows, key=lambda row: -row[numeric[0]])
    cells = ([row.get(field) for field in order] for row in rows)
    return table_of([columns[field][0] for field in order], cells)


def table_of(columns: Sequence[str], rows: Any, caption: str = "") -> DataTable:
    """Return a table of a page: its cells in words, and not too many rows.

    Examples
    --------
    >>> table_of(["load", "stable"], [(0.1, True)] * 300).rows[-1]
    ('0.1', 'yes')
    """
    said = [tuple(map(number, row)) for row in rows]
    return DataTable(tuple(columns), tuple(said[:MOST_ROWS]), len(said), caption)


def turned(table: DataTable) -> DataTable:
    """Return a table whose rows are the columns of another: of few rows it is narrower.

    Examples
    --------
    >>> turned(table_of(["curve", "idle", "most"], [("a", 20, 0.4), ("b", 30, 0.6)])).rows
    (('idle', '20', '30'), ('most', '0.4', '0.6'))
    """
    columns = list(zip(table.columns, *table.rows, strict=True))
    if len(table.rows) == 1:  # nothing is told from anything: its first column is no name
        return DataTable(("", "value"), tuple(columns), len(columns), table.caption)
    return DataTable(("", *columns[0][1:]), tuple(columns[1:]), len(columns) - 1, table.caption)


def _where(row: Mapping[str, Any], columns: Mapping[str, Any], field: str, first: str) -> str:
    """Return where the largest value is: at which name, or else at which place of the axis."""
    names = [
        number(row[other])
        for other, (_, kind) in columns.items()
        if kind in ("nominal", "ordinal") and isinstance(row.get(other), str)
    ]
    if first != field and _is_number(row.get(first)):
        names.append(f"{columns[first][0]} {number(row[first])}")
    return f", most at {', '.join(names)}" if names else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _columns(
    spec: Mapping[str, Any],
) -> tuple[dict[str, tuple[str, str]], list[dict[str, Any]]]:
    """Return the fields that a chart shows of its largest data set, and the rows of that."""
    sets: Mapping[str, list[dict[str, Any]]] = spec.get("datasets", {})
    units = list(units_of(spec))
    named = [name for _, name in units if name is not None and name in sets]
    if not named:
        return {}, []
    main = max(named, key=lambda name: len(sets[name]))
    columns: dict[str, tuple[str, str]] = {}
    for encoding, name in units:
        if name != main:
            continue
        for place, channel in encoding.items():
            for each in channel if isinstance(channel, list) else [channel]:
                field = each.get("field") if isinstance(each, dict) else None
                if field is None or ("axis" in each and each["axis"] is None):
                    continue
                if (place in DRAWN and each.get("scale", "") is None) or place == "stroke":
                    continue  # how something is drawn, not what it is
                field = field.replace("\\", "")
                title = each.get("title") or columns.get(field, ("", ""))[0]
                columns[field] = (
                    " ".join(title)
                    if isinstance(title, list)
                    else title or field.replace("_", " "),
                    each.get("type") or columns.get(field, ("", "nominal"))[1],
                )
    hidden = {
        each["field"]
        for encoding, _ in units
        for each in encoding.values()
        if isinstance(each, dict) and "axis" in each and each["axis"] is None and "field" in each
    }
    if hidden:  # a drawing: places mean nothing
        hidden |= {
            each["field"]
            for encoding, _ in units
            for place, each in encoding.items()
            if place in ("x2", "y2") and "field" in each
        }
    heads: set[str] = set()
    shown: dict[str, tuple[str, str]] = {}
    for field, (head, kind) in columns.items():
        values = {str(row.get(field)) for row in sets[main]}
        if field in hidden or head in heads or _is_drawing(field, head, values):
            continue
        heads.add(head)
        shown[field] = head, kind
    return shown, sets[main]


def _is_drawing(field: str, head: str, values: set[str]) -> bool:
    """Whether a column only says how to draw: a color, or a base line that nothing names."""
    return all(value.startswith("#") for value in values) or (
        len(values) == 1 and head == field.replace("_", " ")
    )


def units_of(
    spec: Mapping[str, Any],
    encoding: Mapping[str, Any] | None = None,
    data: str | None = None,
) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Yield the encodings of every mark of a chart with the name of its data."""
    data = (spec.get("data") or {}).get("name", data)
    encoding = {**(encoding or {}), **spec.get("encoding", {})}
    if "mark" in spec:
        yield dict(encoding), data
    for name in INSIDE:
        below = spec.get(name, [])
        for each in [below] if isinstance(below, dict) else below:
            yield from units_of(each, encoding, data)


def _rounded(data: Any) -> Any:
    """Return plain data with as many digits as a chart can show."""
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_rounded(value) for value in data]
    return float(f"{data:.{DIGITS}g}") if isinstance(data, float) else data


COMPUTED = ("aggregate", "bin", "stack", "timeUnit")
"""What makes of a field something that its data do not have."""

ENDS = {"x2": "x", "y2": "y"}
"""Encodings that lie on the scale of another."""

TICKS = ("values", "labelExpr", "format", "tickCount")
"""What of an axis says where its ticks are."""

SCALED = ("x", "y", "color", "size", "opacity", "strokeWidth")


def on_one_scale(figures: Sequence[Figure]) -> list[Figure]:
    """Return figures of one kind whose axes and colors go from the least to the most of all.

    Scales of names, and those whose extent cannot be read from the data, stay as they are.
    """
    if len(figures) < 2:
        return list(figures)
    specs = [deepcopy(dict(each.spec)) for each in figures]
    narrow = [deepcopy(dict(each.narrow)) if each.narrow else None for each in figures]
    extents = [_extents(each, each["datasets"]) for each in specs]
    known = [name for name in extents[0] if all(name in each for each in extents)]
    shared = {
        name: (min(each[name][0] for each in extents), max(each[name][1] for each in extents))
        for name in known
    }
    for kind in (specs, list(filter(None, narrow))):
        ticks = {name: _ticks(kind, extents, name) for name in shared} if kind else {}
        for spec in kind:
            _set_domains(spec, shared, ticks)
    return [
        replace(each, spec=spec, narrow=small)
        for each, spec, small in zip(figures, specs, narrow, strict=True)
    ]


def _extents(spec: Mapping[str, Any], sets: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return from where to where each scale goes: as it says itself, or as its data do."""
    found: dict[str, list[float]] = {}
    unknown = set()
    for channel, encoding, data in _encodings(spec):
        scale = encoding.get("scale") or {}
        domain = scale.get("domain")
        if isinstance(domain, list) and all(_is_number(each) for each in domain) and domain:
            found.setdefault(channel, []).extend(domain if domain[0] < domain[-1] else ())
            unknown |= {channel} if domain[0] >= domain[-1] or len(domain) > 2 else set()
            continue
        values = [row.get(encoding["field"]) for row in sets.get(data or "", ())]
        values = [float(each) for each in values if _is_number(each)]
        if not values or any(name in encoding for name in COMPUTED) or domain is not None:
            unknown.add(channel)
            continue
        zero = scale.get("zero", channel in ("x", "y")) and scale.get("type") not in ("log", "sqrt")
        found.setdefault(channel, []).extend([*values, *([0.0] if zero else [])])
    return {
        channel: (min(values), max(values))
        for channel, values in found.items()
        if channel not in unknown and min(values) < max(values)
    }


def _ticks(
    specs: Sequence[Mapping[str, Any]], extents: Sequence[Mapping[str, Any]], name: str
) -> dict[str, Any]:
    """Return the ticks of the figure whose scale goes furthest, and how they are labeled."""
    widest = max(range(len(specs)), key=lambda place: extents[place][name][1])
    for channel, encoding, _ in _encodings(specs[widest]):
        if channel == name and (axis := encoding.get("axis")):
            return {key: axis[key] for key in TICKS if key in axis}
    return {}


def _set_domains(
    spec: Mapping[str, Any],
    shared: Mapping[str, tuple[float, float]],
    ticks: Mapping[str, Mapping[str, Any]],
) -> None:
    for channel, encoding, _ in _encodings(spec):
        if channel in shared and "type" in encoding:
            encoding["scale"] = {**(encoding.get("scale") or {}), "domain": list(shared[channel])}
            if encoding.get("axis"):
                encoding["axis"] = {**encoding["axis"], **ticks[channel]}


def _encodings(spec: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Yield the scale, the encoding and the name of the data of all that lies on a scale."""
    for unit, data in units_of(spec):
        for place, encoding in unit.items():
            channel = ENDS.get(place, place)
            if channel not in SCALED or "field" not in encoding:
                continue
            drawn = encoding.get("scale", "") is None or encoding.get("axis", "") is None
            if not drawn and (encoding.get("type") == "quantitative" or place in ENDS):
                yield channel, encoding, data
