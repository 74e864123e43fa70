"""One figure of a page: a chart with its words, its data as a table, and what it says in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import altair as alt
import polars as pl

from netloom.base.words import counted, listed, number
from netloom.drawing.axes import (
    DASHED,
    LOAD_STEPS,
    SOLID,
    Axis,
    Look,
    axis,
    looks_of,
    ordered,
    panel,
)
from netloom.drawing.frame import narrow_page, room
from netloom.drawing.names import base_names
from netloom.pages.curves import MEASURED, Curve, CurveGroup, runs_said, said_field, shared_words

MOST_ROWS = 200
"""Rows of a figure's data that a page shows as a table."""

DIGITS = 6
"""Digits of the numbers that a chart is drawn from."""

SHOWN = ("x", "x2", "y", "color")
"""Encodings whose numbers and names a reader sees, where they have axes and scales."""

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
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int


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
    with alt.data_transformers.enable("default", max_rows=None):
        spec = _rounded(chart.to_dict())
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


def narrowed(wide: Figure, narrow: Mapping[str, Any]) -> Figure:
    """Return a figure with how it is drawn in narrow windows, where that differs."""
    if narrow == wide.spec:
        return wide
    known = wide.spec["datasets"]
    own = {key: rows for key, rows in narrow["datasets"].items() if key not in known}
    return replace(wide, narrow={**narrow, "datasets": own})


def describe(spec: Mapping[str, Any], title: str) -> str:
    """Return what a chart shows, in words and numbers: the range of each axis, and the most."""
    names, numbers, rows = _columns(spec)
    names.pop(TOLD, None)
    parts, along = [], next(iter(numbers), "")
    for field, head in numbers.items():
        known = [row for row in rows if _is_number(row.get(field))]
        low, high = (pick(known, key=itemgetter(field)) for pick in (min, max))
        said = f"{head} from {number(low[field])} to {number(high[field])}"
        if low[field] != high[field] and (field != along or len(numbers) == 1):
            most = [number(high[name]) for name in names if high.get(name)]
            if field != along and _is_number(high.get(along)):
                most.append(f"{numbers[along]} {number(high[along])}")
            said += f", most at {', '.join(most)}" if most else ""
        parts.append(said)
    for field, head in names.items():
        values = list(dict.fromkeys(number(row[field]) for row in rows if row.get(field)))
        if 1 < len(values) <= 12:
            parts.append(f"{head}: {listed(values)}")
    said = f"{counted(len(rows), 'row', ',')} of data."
    return ". ".join(filter(None, [title, "; ".join(parts), said]))


TOLD = "tips"
"""The field of what else is said of a row: last in tables, and left out of the sentence."""


def data_of(spec: Mapping[str, Any]) -> DataTable:
    """Return what a chart is drawn from: of its largest data set the columns that it shows.

    Names come first. If there is but one number per row, the largest come first. Of what is drawn
    in the colors of a load, what is drawn last.
    """
    names, numbers, rows = _columns(spec)
    if any("stroke" in encoding for encoding, _ in units_of(spec)):
        rows = rows[::-1]
    if len(numbers) == 1:
        rows = sorted(rows, key=lambda row: -(row.get(next(iter(numbers))) or 0))
    told = {TOLD: names.pop(TOLD)} if TOLD in names else {}
    heads = names | numbers | told
    return table_of([*heads.values()], ([row.get(field) for field in heads] for row in rows))


def table_of(columns: Sequence[str], rows: Any) -> DataTable:
    """Return a table of a page: its cells in words, and not too many rows.

    Examples
    --------
    >>> table_of(["load", "stable"], [(0.1, True)] * 300).rows[-1]
    ('0.1', 'yes')
    """
    said = [tuple(map(number, row)) for row in rows]
    return DataTable(tuple(columns), tuple(said[:MOST_ROWS]), len(said))


def turned(table: DataTable) -> DataTable:
    """Return a table whose rows are the columns of another: of few rows it is narrower.

    Examples
    --------
    >>> turned(table_of(["curve", "idle", "most"], [("a", 20, 0.4), ("b", 30, 0.6)])).rows
    (('idle', '20', '30'), ('most', '0.4', '0.6'))
    """
    columns = list(zip(table.columns, *table.rows, strict=True))
    if len(table.rows) == 1:  # nothing is told from anything: its first column is no name
        return DataTable(("", "value"), tuple(columns), len(columns))
    return DataTable(("", *columns[0][1:]), tuple(columns[1:]), len(columns) - 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _columns(
    spec: Mapping[str, Any],
) -> tuple[dict[str, str], dict[str, str], list[dict[str, Any]]]:
    """Return names and numbers that a chart shows of its largest data set, and the rows of that.

    Each is a field with its head: of an axis, or what is said where somebody points.
    """
    sets = spec.get("datasets", {})
    main = max(sets, key=lambda name: len(sets[name]), default="")
    rows, heads = sets.get(main, []), dict[str, str]()
    for encoding in (encoding for encoding, name in units_of(spec) if name == main):
        tips = encoding.get("tooltip", [])
        told = tips if isinstance(tips, list) else [tips]
        for each in (*told, *(encoding.get(place, {}) for place in SHOWN)):
            if "field" in each and None not in (each.get("axis", ""), each.get("scale", "")):
                field = each["field"].replace("\\", "")
                heads[field] = each.get("title") or heads.get(field, "")
    names, numbers = dict[str, str](), dict[str, str]()
    for field, title in heads.items():
        head = title or field.replace("_", " ")
        values = [row.get(field) for row in rows]
        if head not in (names | numbers).values() and (title or len(set(map(str, values))) > 1):
            (numbers if any(map(_is_number, values)) else names)[field] = head
    return names, numbers, rows


def units_of(
    spec: Mapping[str, Any], encoding: Mapping[str, Any] | None = None, data: str | None = None
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


Labelled: TypeAlias = list[tuple[Curve, str]]
"""Curves, each with the name that its color has."""

SIMULATED, MODEL = "simulated", "model"
"""Who says what a curve says."""

ONE_PANEL = 6
"""Most curves of one pair of axes. More are drawn in panels."""

MOST_PANELS = 12

HIGHEST = 6.0
"""Where the axis of latencies ends, in multiples of the idle network's, if curves go on."""

WIDTH, HEIGHT = 620, 310
PANEL_WIDTH, PANEL_HEIGHT = 300, 210

COLUMNS = 2
"""Panels side by side, where there is room."""

WIDE = 700.0
"""Pixels from which on there is room for two."""


def curve_figures(group: CurveGroup) -> list[Figure]:
    """Return the figures of curves: latency by load, and throughput by load if it is known."""
    made = [_latency]
    if any(len(curve.accepted) for curve in group.simulated):
        made.append(_throughput)
    figures = [make(group) for make in made]
    with narrow_page():
        narrow = [make(group) for make in made]
    return [narrowed(wide, other.spec) for wide, other in zip(figures, narrow, strict=True)]


def panels(group: CurveGroup) -> dict[str, Labelled]:
    """Return the curves of each pair of axes, each with the name that its color has.

    Few curves have a color each. Many have the color of what differs first among them, and a
    panel for every combination of the rest. Of more than twelve panels the first are drawn.
    """
    told = group.simulated or group.models
    if len(told) <= ONE_PANEL or len(group.differ) < 2:
        return {"": [(curve, curve.label) for curve in group.curves]}
    first, *rest = group.differ
    found: dict[str, Labelled] = {}
    for curve in group.curves:
        name = ", ".join(said_field(field, curve.about.get(field)) for field in rest)
        found.setdefault(name, []).append((curve, said_field(first, curve.about.get(first))))
    return dict(list(found.items())[:MOST_PANELS])


def _latency(group: CurveGroup) -> Figure:
    latencies: list[Any] = [curve.table["latency"].max() for curve in group.curves]
    highest = max((value for value in latencies if value is not None), default=1.0)
    idle = max((curve.idle for curve in group.curves if curve.idle), default=highest)
    first = [curve.table["latency"][0] for curve in group.curves if len(curve.table)]
    end = HIGHEST * max([idle, *first])
    cut = highest > end  # curves go on beyond the axis
    top = end if cut else 1.05 * highest
    rows = [
        (curve.label, _whose(curve), *(row[name] for name in MEASURED[:4]), runs_said(row))
        for curve in group.curves
        for row in curve.table.iter_rows(named=True)
    ]
    latency = f"{group.axes.latency}, {group.axes.latency_unit}"
    heads = ["curve", "whose", group.axes.load, latency, "95 % from", "to", "runs"]
    y = Axis("latency", _with_unit(latency), 0.0, top)
    return make_figure(
        _drawn(group, _latency_rows, lambda _: y, saturates=True),
        title=f"{group.axes.latency.capitalize()} by load: {group.name}",
        caption=_latency_caption(group, top, cut=cut),
        alternative=_latency_alternative(group),
        data=table_of(heads, rows),
    )


def _throughput(group: CurveGroup) -> Figure:
    """Return which share of the load is accepted."""

    def y(table: pl.DataFrame) -> Axis:
        return axis("latency", "share that gets through", table["latency"].to_list(), share=True)

    what = group.axes.accepted.partition(",")[0]
    said = [
        f"{curve.label}: at most {number(curve.accepted['accepted'].max())}, offered "
        f"{number(curve.accepted.sort('accepted')['load'][-1])}"
        for curve in group.simulated
        if len(curve.accepted)
    ]
    rows = [
        (curve.label, row["load"], row["accepted"], row["accepted_low"], row["accepted_high"])
        for curve in group.simulated
        for row in curve.accepted.iter_rows(named=True)
    ]
    heads = ["curve", group.axes.load, group.axes.accepted, "95 % from", "to"]
    return make_figure(
        _drawn(group, _accepted_rows, y),
        title=f"{what.capitalize()} by load: {group.name}",
        caption=f"{what.capitalize()} as a share of {group.axes.load.partition(',')[0]}.",
        alternative=f"Line chart of {group.axes.accepted} by {group.axes.load}. {'; '.join(said)}.",
        data=table_of(heads, rows),
    )


def _latency_rows(curves: Labelled) -> pl.DataFrame:
    return pl.concat(
        curve.table.select(*MEASURED[:4], "behind", curve=pl.lit(name), kind=pl.lit(_whose(curve)))
        for curve, name in curves
    )


def _accepted_rows(curves: Labelled) -> pl.DataFrame:
    ends = {"latency": "accepted", "low": "accepted_low", "high": "accepted_high"}
    parts = {name: pl.col(column) / pl.col("load") for name, column in ends.items()}
    return pl.concat(
        curve.accepted.filter(pl.col("load") > 0).select(
            "load", **parts, behind=0, curve=pl.lit(name), kind=pl.lit(SIMULATED)
        )
        for curve, name in curves
    )


def _whose(curve: Curve) -> str:
    return MODEL if curve.model else SIMULATED


def _with_unit(words: str) -> str:
    """Return the words of an axis with their unit in brackets."""
    what, _, unit = words.partition(", ")
    return f"{what} ({unit})" if unit else what


def _drawn(
    group: CurveGroup,
    rows: Callable[[Labelled], pl.DataFrame],
    y: Callable[[pl.DataFrame], Axis],
    *,
    saturates: bool = False,
) -> Any:
    """Return the curves of a group with their intervals, points and names, in panels.

    Where networks saturate there is a band, on whose sides no name stands.
    """
    loads: list[Any] = [curve.table["load"].max() for curve in group.curves]
    loads += [curve.accepted["load"].max() for curve in group.simulated]
    x = axis("load", _with_unit(group.axes.load), loads, whole=False)
    shown, looks, drawn = _named(group), _looks(group), []
    size = (WIDTH, HEIGHT) if len(shown) == 1 else (PANEL_WIDTH, PANEL_HEIGHT)
    names = [name for name, look in looks.items() if look.named]
    dashed = {name: look._replace(dash=DASHED) for name, look in looks.items()}
    for title, curves in shown.items():
        table = rows(curves)
        where = panel(replace(x, steps=LOAD_STEPS), y(table), names, *size)
        known = [curve.saturation for curve, _ in curves if saturates and not curve.model]
        spans = dict.fromkeys(each for each in known if each is not None)
        simulated, models = (table.filter(kind=kind) for kind in (SIMULATED, MODEL))
        layers = [layer for low, high in spans for layer in where.band(low, high)]
        layers += where.areas(simulated, "curve", looks)
        layers += where.lines(models, "curve", dashed, points=0)
        layers += where.lines(simulated.filter(pl.col("behind") == 0), "curve", looks, points=46)
        some = simulated.filter(pl.col("behind") > 0)
        if some.height:  # the line goes on, and its points are hollow
            layers += where.lines(simulated, "curve", looks, points=0)
            layers += where.hollow(some, "curve", looks)
        told = simulated if simulated.height else models
        layers += where.ends_of(told, "curve", looks)
        drawn.append(where.drawn(layers, title))
    columns = COLUMNS if room() >= WIDE else 1
    in_rows = [
        alt.hconcat(*drawn[at : at + columns], spacing=24) for at in range(0, len(drawn), columns)
    ]
    return drawn[0] if len(drawn) == 1 else alt.vconcat(*in_rows, spacing=24)


def _looks(group: CurveGroup) -> dict[str, Look]:
    """Return how curves look by their names, the same in all figures of a group.

    Values of a field that is a number are in order, from light to dark.
    """
    told = [each for some in _named(group).values() for each in some]
    names = list(dict.fromkeys(name for _, name in told))
    values = (
        {name: curve.about.get(group.differ[0]) for curve, name in told} if group.differ else {}
    )
    numbers = [each for each in values.values() if isinstance(each, int | float)]
    in_order = len(numbers) == len(names) > 1 and not any(isinstance(x, bool) for x in numbers)
    if in_order and len(set(numbers)) == len(numbers):
        names.sort(key=lambda name: float(values[name]))  # type: ignore[arg-type]
        looks = ordered(names)
    else:
        looks = looks_of(names)
    named = len(names) > 1
    return {name: look._replace(dash=SOLID, named=named) for name, look in looks.items()}


def _named(group: CurveGroup) -> dict[str, Labelled]:
    """Return the curves of each panel, their names without the words that all share."""
    found, (_, short) = panels(group), _shared(group)
    return {
        panel: [(curve, short[name].strip(", ")) for curve, name in some]
        for panel, some in found.items()
    }


def _shared(group: CurveGroup) -> tuple[str, dict[str, str]]:
    """Return the words that all names share, and the names without them."""
    names = (name for some in panels(group).values() for _, name in some)
    return shared_words(list(dict.fromkeys(names)))


def _latency_caption(group: CurveGroup, top: float, *, cut: bool) -> str:
    said = []
    many = {each for curve in group.simulated for each in curve.table["runs"]}
    if title := _shared(group)[0]:
        said.append(f'Names leave out "{title}".')
    if any(curve.table["high"].drop_nulls().len() for curve in group.simulated):
        runs = f"{'up to ' * (len(many) > 1)}{max(many)} runs with different seeds"
        of = f"of {runs}" if max(many) > 1 else "of one run each"
        said.append(f"Bands: 95 % intervals, {of}.")
    if any((curve.table["behind"] > 0).any() for curve in group.simulated):
        said.append("Hollow: some runs fell behind there; the mean is that of the others.")
    if any(curve.saturation for curve in group.simulated):
        said.append("Shaded: where the network saturates.")
    if group.models and group.simulated:
        said.append("Dashed: the model.")
    beside = zip(group.models, group.of, strict=True)
    if ends := max((model.ends for model, of in beside if of is not None), default=0):
        unit = group.axes.latency_unit
        said.append(f"Its latencies have the {number(ends)} {unit} at the ends added.")
    if cut:
        said.append(f"Cut at {number(top)}; the table below goes on.")
    drawn = sum(map(len, panels(group).values()))
    if drawn < len(group.curves):
        said.append(f"{drawn} of {len(group.curves)} curves are drawn; the table has all.")
    return " ".join(said)


def _latency_alternative(group: CurveGroup) -> str:
    said = [f"Line chart of {group.axes.latency}, {group.axes.latency_unit}, by {group.axes.load}."]
    for curve in group.curves:
        if curve.table.is_empty():
            said.append(f"{curve.label}: falls behind at {number(curve.fell_behind)}, no latency.")
            continue
        first, last = curve.table.row(0, named=True), curve.table.row(-1, named=True)
        whose = "model of " if curve.model else ""
        line = f"{whose}{curve.label}: from {number(first['latency'])} at {number(first['load'])}"
        line += f" to {number(last['latency'])} at {number(last['load'])}"
        place = curve.saturation
        if place is not None:
            low, high = map(number, place)
            line += f"; saturates at {low}" if low == high else f"; saturates from {low} to {high}"
        said.append(f"{line}.")
    return " ".join(said)
