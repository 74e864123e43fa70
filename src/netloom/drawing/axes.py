"""Axes: where each begins and ends, and pairs of them whose lines have their names at their ends.

So pictures need no legend. An axis has few ticks, and each of these has a label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite, log10
from typing import Any, NamedTuple, TypeAlias, TypeVar

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Floats
from netloom.base.words import number
from netloom.drawing.frame import (
    BEST,
    BOUND_DASH,
    COLOURS,
    REFERENCE,
    THIS,
    layered,
    room,
    word_style,
)
from netloom.drawing.names import GAP, NAME_LINE, Lines, fitted, look_alike, named, places, width_of

Way = TypeVar("Way", bound=alt.X | alt.Y)

STEPS = 5
"""Steps between the ticks of an axis, at most."""

LOAD_STEPS = 6
"""Steps between the ticks of an axis of loads, at most: it is where saturation is read off."""

STEP_SIZES = (1.0, 2.0, 2.5, 5.0, 10.0)
WHOLE_SIZES = (1.0, 2.0, 5.0, 10.0)
"""What a step may be, times a power of ten."""

ROOM = 0.06
"""How much of its length an axis goes on beyond the largest value."""


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes
    ----------
    field, title
        The column that it shows, and its name with its unit in brackets.
    low, high
        Where it begins and ends.
    marks, names
        The values that have ticks, by default chosen ones, and what these are called, if not by
        their values.
    steps
        Steps between ticks, at most.
    log, whole, share
        Whether it is logarithmic, whether its values are whole numbers, and whether they are parts
        of one, shown in percent.
    """

    field: str
    title: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    share: bool = False
    marks: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    steps: int = STEPS

    def at(self, value: float) -> float:
        """Return how far along the axis a value is: 0 where it begins, 1 where it ends.

        A value that has no logarithm is where a logarithmic axis begins.

        Examples
        --------
        >>> Axis("x", "", 0, 4).at(1), Axis("x", "", 1, 100, log=True).at(10)
        (0.25, 0.5)
        """
        if self.log:
            if value <= 0:
                return 0.0
            return log10(value / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """The values that have ticks, seven at most.

        Examples
        --------
        >>> Axis("x", "", 0, 3.2, whole=True).ticks, Axis("x", "", 0, 0.7).ticks
        ([0, 1, 2, 3], [0.0, 0.2, 0.4, 0.6])
        >>> Axis("x", "", 10, 3000, log=True).ticks, Axis("x", "", 20, 90, log=True).ticks
        ([10.0, 100.0, 1000.0], [20.0, 50.0])
        """
        if self.marks:
            return list(self.marks)
        if self.log:
            return _of_decades(self.low, self.high, self.steps)
        least = (self.high - self.low) / self.steps
        power = 10.0 ** floor(log10(least))
        sizes = WHOLE_SIZES if self.whole else STEP_SIZES
        step = next(each * power for each in sizes if each * power >= least * (1 - 1e-9))
        if self.whole:
            step = max(step, 1.0)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        found = [float(f"{place * step:.12g}") for place in range(first, last + 1)]
        return [round(each) for each in found] if self.whole else found

    def encoding(self, way: type[Way], **more: Any) -> Way:
        """Return the encoding of a place on the axis: ``way`` is ``alt.X`` or ``alt.Y``.

        Labels name numbers as sentences do.
        """
        ticks = self.ticks
        kind: Any = "log" if self.log else "linear"
        said = list(self.names) or [
            f"{number(100 * each)}\u00a0%" if self.share else number(each) for each in ticks
        ]
        chosen = "".join(
            f"abs(datum.value - {ticks[at]!r}) <= {abs(ticks[at]) * 1e-9!r} ? '{said[at]}' : "
            for at in range(len(said))
        )
        axis = alt.Axis(values=ticks, labelExpr=f"{chosen}''", **more)
        scale = alt.Scale(domain=[self.low, self.high], nice=False, zero=False, type=kind)
        return way(f"{self.field}:Q", title=self.title or None, scale=scale, axis=axis)


def axis(
    field: str,
    title: str,
    values: Iterable[float | None],
    *,
    zero: bool = True,
    log: bool = False,
    room: float = ROOM,
    share: bool = False,
    full: bool = True,
    whole: bool | None = None,
) -> Axis:
    """Return an axis that has room for some values, of which those that are not known are None.

    Parameters
    ----------
    field, title
        See ``Axis``.
    values
        All that is to be seen, also where lines across are.
    zero
        Whether it begins at 0, if no value is below.
    log, share
        See ``Axis``.
    full
        Whether an axis of shares goes to 100 % at least.
    room
        How much of its length it goes on beyond the largest value.
    whole
        Whether all values are whole numbers. By default that of ``values`` counts.

    Examples
    --------
    >>> axis("x", "steps", [1, 2, 4]).ticks, axis("x", "used", [0.4], share=True).high
    ([0, 1, 2, 3, 4], 1.03)
    """
    known = [float(each) for each in values if each is not None and isfinite(each)]
    known = [each for each in known if each > 0] if log else known
    least, most = min(known, default=0.0), max(known, default=1.0)
    if whole is None:
        whole = bool(known) and not share and all(each.is_integer() for each in known)
    if log:
        least, most = (least, most) if known else (1.0, 10.0)
        wide = max(most / least, 1.5)
        return Axis(field, title, least, least * wide ** (1 + room), log=True)
    if zero:
        least = min(least, 0.0)
    if share and full:
        return Axis(
            field, title, least, least + (1 + room / 2) * (max(most, 1.0) - least), share=True
        )
    wide = (most - least) or abs(most) or 1.0
    below = 0.0 if zero and least >= 0 else room * wide
    return Axis(field, title, least - below, least + (1 + room) * wide, whole=whole, share=share)


_SHARED: ContextVar[dict[tuple[str, str], tuple[float, float]] | None] = ContextVar(
    "shared", default=None
)


@contextmanager
def one_axis() -> Iterator[None]:
    """Have all axes of one title go from the least to the most that any had so far, meanwhile.

    What is drawn twice has one axis a title the second time.
    """
    before = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(before)


def shared(one: Axis) -> Axis:
    """Return an axis as ``one_axis`` has it.

    Examples
    --------
    >>> with one_axis():
    ...     [shared(Axis("x", "cycles", 0, most)).high for most in (2, 8, 4)]
    [2, 8, 8]
    >>> shared(Axis("x", "cycles", 0, 4)).high
    4
    """
    if (known := _SHARED.get()) is None:
        return one
    ends = one.low, one.high, *known.get((one.field, one.title), ())
    low, high = known[one.field, one.title] = min(ends), max(ends)
    return replace(one, low=low, high=high)


def _of_decades(low: float, high: float, steps: int) -> list[float]:
    """Return the powers of ten from one value to another, with steps between if they are few.

    Of more than seven powers every second or third is named.
    """
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    every = -(-(last - first + 1) // (steps + 2)) or 1
    found = [10.0**power for power in range(first, last + 1, max(every, 1))]
    if len(found) > 1:
        return found
    powers = range(floor(log10(low)), last + 1)
    between = [float(f"{size * 10.0**power:.12g}") for power in powers for size in (1, 2, 5)]
    return [each for each in between if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)] or [low]


WIDTH, HEIGHT = 430.0, 300.0

BESIDE = 78.0
"""Pixels beside the axes, for the numbers and the title of the vertical one."""

NARROWEST = 190.0
"""Pixels of axes that have names beside them. Of narrower ones names stand below."""

FEW_STEPS = 4
"""Steps between the ticks of narrow axes."""

BELOW = 54.0
"""Pixels from the horizontal axis to names below."""

SAMPLE = 26.0
"""Pixels of a piece of a line before its name."""

SOLID, DASHED, DOTTED = (1, 0), (6, 4), (2, 3)


class Look(NamedTuple):
    """How a line looks.

    Attributes
    ----------
    colour, dash, width
        Of the line. A number from 0 to 1 is a color of the ramp of ordered series.
    named
        Whether its name stands at its end.
    """

    colour: str | float = THIS
    dash: tuple[int, ...] = SOLID
    width: float = 2.2
    named: bool = True


Spans: TypeAlias = Mapping[str, tuple[float, float]]
"""Intervals, by their names."""

Looks: TypeAlias = Mapping[str, Look]
"""How lines look, by their names."""

MINE, OTHERS, AFTER = Look(THIS), Look(REFERENCE), Look(BEST)
MODEL = Look(THIS, DASHED)
"""What is asked about, what it is compared with, what is best, and what a model has for it."""

DASHES = (SOLID, DASHED, DOTTED, (10, 3, 2, 3), (4, 2), (1, 2))
"""Of series, beside their colors."""


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """Return how series look that nothing tells apart but their names: by color and by dash."""
    return {
        name: Look(COLOURS[at % len(COLOURS)], DASHES[at % len(DASHES)])
        for at, name in enumerate(names)
    }


def ordered(names: Sequence[str]) -> dict[str, Look]:
    """Return how series in an order look: from light to dark, and told apart by dashes."""
    last = max(len(names) - 1, 1)
    return {name: Look(at / last, DASHES[at % len(DASHES)]) for at, name in enumerate(names)}


class End(NamedTuple):
    """The end of a line: its name, where it is, and how it looks.

    Without a color it has that of words. Without dashes it is a point.
    """

    name: str
    x: float
    y: float
    colour: str | float | None = None
    dash: tuple[int, ...] = SOLID
    width: float = 2.2

    @classmethod
    def of_bound(cls, name: str, x: float, y: float) -> End:
        """Return the end of a bound."""
        return cls(name, x, y, None, tuple(BOUND_DASH), 1.5)


@dataclass(frozen=True)
class Panel:
    """A pair of axes of some pixels, and room for names beside them or below: see ``panel``."""

    x: Axis
    y: Axis
    width: float
    height: float
    beside: float = 0.0
    below: bool = False

    def chart(self, table: pl.DataFrame, **more: Any) -> alt.Chart:
        """Return a chart of a table with these axes."""
        return alt.Chart(table).encode(x=self.x.encoding(alt.X), y=self.y.encoding(alt.Y), **more)

    def lines(
        self, table: pl.DataFrame, by: str, looks: Looks, *, points: float = 32, **mark: Any
    ) -> list[alt.Chart]:
        """Return the lines of a table, one for each name of its column ``by``, and their points."""
        drawn = []
        for name, look in looks.items():
            mine = {name: look}
            line: dict[str, Any] = {"strokeDash": list(look.dash), "strokeWidth": look.width}
            drawn += self._marks(table, by, mine, "line", **line, **mark)
            if points:
                size = points if look.width > 2 else points / 2
                drawn += self._marks(table, by, mine, "circle", opacity=1, size=size)
        return drawn

    def areas(self, table: pl.DataFrame, by: str, looks: Looks) -> list[alt.Chart]:
        """Return the intervals from ``low`` to ``high``, of each series."""
        known = table.drop_nulls("high").with_columns(pl.col("low").alias(self.y.field))
        return self._marks(known, by, looks, "area", y2="high:Q", opacity=0.2)

    def hollow(self, table: pl.DataFrame, by: str, looks: Looks) -> list[alt.Chart]:
        """Return hollow points, of what is not known well."""
        return self._marks(table, by, looks, "point", filled=False, size=60, strokeWidth=2)

    def _marks(
        self,
        table: pl.DataFrame,
        by: str,
        looks: Looks,
        kind: str,
        y2: str | None = None,
        **mark: Any,
    ) -> list[alt.Chart]:
        drawn, there = [], set(table[by].to_list())
        colours = {name: look.colour for name, look in looks.items()}
        ramp = {name: shade for name, shade in colours.items() if not isinstance(shade, str)}
        if ramp:  # series in an order
            shade = pl.col(by).replace_strict(ramp, default=0.0, return_dtype=pl.Float64)
            table = table.with_columns(shade=shade)
        more = {} if y2 is None else {"y2": y2}
        for name in (name for name in looks if name in there):
            base = self.chart(table, detail=f"{by}:N", tooltip=table.columns, **more)
            base = base.transform_filter(alt.FieldEqualPredicate(field=by, equal=name))
            colour = {} if name in ramp else {"color": colours[name]}
            line = getattr(base, f"mark_{kind}")(clip=True, **mark, **colour)
            drawn.append(line.encode(color=shades()) if name in ramp else line)
        return drawn

    def ends(self, ends: Iterable[End], lines: Lines = ()) -> list[alt.Chart]:
        """Return names at the ends of lines, clear of ``lines``, in pixels, and of each other.

        Those of lines that end near the right side stand beside the axes. On narrow pages all stand
        below, in the order of the lines, each after a piece of its own.
        """
        drawn, falling = [], sorted(ends, key=lambda each: -self.y.at(each.y))
        size = np.array([self.width, self.height])
        said = [each.name if each.dash else f"● {each.name}" for each in falling]
        tips = [np.clip(self._drawn_at(each.x, each.y), 0, size) for each in falling]
        at_ends = [(name, *tip.tolist()) for name, tip in zip(said, tips, strict=True)]
        places = named(at_ends, self.width, self.height, lines)
        for at, (each, name, (left, down)) in enumerate(zip(falling, said, places, strict=True)):
            if self.below:
                left, down = SAMPLE + 6.0, self.height + BELOW + NAME_LINE * at
                name = fitted(each.name, room() - SAMPLE - 24, bold=True)
                drawn.append(_sample(each, down))
            # the colors of ramps are too light or dark for words
            colour = each.colour if isinstance(each.colour, str) else None
            drawn += words([(left, down, name)], colour=colour, bold=True)
        return drawn

    def _drawn_at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is in pixels, also outside of the axes."""
        return self.width * self.x.at(x), self.height * (1 - self.y.at(y))

    def ends_of(
        self, table: pl.DataFrame, by: str, looks: Looks, more: Sequence[End] = ()
    ) -> list[alt.Chart]:
        """Return the names of the lines of a table at their last points, and ``more``.

        Names stand on no line of the table. Lines that lie on each other have their names together,
        each after the first with "=", or "≈" if they only look like one.
        """
        found: list[tuple[list[tuple[float, float]], list[End]]] = []
        lines = []
        for name, look in looks.items():
            mine = table.filter(table[by] == name).drop_nulls([self.x.field, self.y.field])
            mine = mine.sort(self.x.field)
            if not mine.height:
                continue
            line = [
                self._drawn_at(*each) for each in mine.select(self.x.field, self.y.field).rows()
            ]
            lines.append(line)
            if look.named:
                x, y = self._last_seen(mine)
                known = (each for each in found if look_alike(line, each[0]))
                first, alike = next(known, (line, []))
                sign = ("= " if line == first else "≈ ") if alike else ""
                alike.append(End(f"{sign}{name}", x, y, look.colour, look.dash, look.width))
                if len(alike) == 1:
                    found.append((line, alike))
        return self.ends([*(end for _, alike in found for end in alike), *more], lines)

    def _last_seen(self, table: pl.DataFrame) -> tuple[float, float]:
        """Return where a line ends, or leaves the axes at the top."""
        xs, ys = table[self.x.field].to_list(), table[self.y.field].to_list()
        for at in range(1, len(ys)):
            if ys[at] > self.y.high >= ys[at - 1]:
                part = (self.y.high - ys[at - 1]) / (ys[at] - ys[at - 1])
                return xs[at - 1] + part * (xs[at] - xs[at - 1]), self.y.high
        return float(xs[-1]), float(ys[-1])

    def across(self, value: float, look: Look | None = None) -> list[alt.Chart]:
        """Return a line across. Without a look it is a bound: in ink, with dashes and dots."""
        return [_rule(self.y, alt.Y, value, look)] if self.y.low <= value <= self.y.high else []

    def upright(self, marks: Mapping[str, float], look: Look | None = None) -> list[alt.Chart]:
        """Return upright lines at values, by their words, which stand above the axes."""
        shown = {name: at for name, at in marks.items() if self.x.low <= at <= self.x.high}
        rules = [rule for at in shown.values() for rule in self.rule(at, look)]
        return [*rules, *self.above({name: (at, at) for name, at in shown.items()})]

    def rule(self, value: float, look: Look | None = None) -> list[alt.Chart]:
        """Return an upright line. Without a look it is a bound."""
        return [_rule(self.x, alt.X, value, look)]

    def band(self, low: float, high: float) -> list[alt.Chart]:
        """Return a shaded interval of the horizontal axis, with its edges."""
        low, high = max(low, self.x.low), min(high, self.x.high)
        if low > high:
            return []
        x = self.x.encoding(alt.X)
        whole = _of_one(**{self.x.field: low, "until": high})
        grey = whole.mark_rect(color=REFERENCE, opacity=0.18)
        edges = [
            _of_one(**{self.x.field: edge}).mark_rule(color=REFERENCE, strokeWidth=1).encode(x=x)
            for edge in sorted({low, high})
        ]
        return [grey.encode(x=x, x2="until:Q"), *edges]

    def above(self, spans: Spans, colours: Mapping[str, str] | None = None) -> list[alt.Chart]:
        """Return words above the axes, over the middle of intervals, in rows if they would touch.

        Words of the same interval stand side by side. Those that have a color are bold. A line
        leads from these, and from upper rows, down to what they name.
        """
        together: dict[tuple[float, float], list[str]] = {}
        for name, span in spans.items():
            together.setdefault(span, []).append(name)
        said = {", ".join(names): (colours or {}).get(names[0]) for names in together.values()}
        middles = [
            self.width * min(max(self.x.at((low + high) / 2), 0.0), 1.0) for low, high in together
        ]
        wide = [width_of(name, bold=colour is not None) for name, colour in said.items()]
        drawn, lines = [], []
        found = places(list(zip(middles, wide, strict=True)), self.width)
        for (name, colour), middle, place in zip(said.items(), middles, found, strict=True):
            down = -10 - NAME_LINE * place.row
            at = ((place.left + place.right) / 2, down, name)
            drawn += words([at], align="center", colour=colour, bold=colour is not None)
            if place.led and (place.row or colour):
                lines.append({"across": middle, "down": down + 6, "until": -1.0})
        if lines:  # thin, from the words down to the axes
            leaders = _in_pixels(lines).mark_rule(color=REFERENCE, strokeWidth=1)
            return [leaders.encode(y2="until:Q"), *drawn]
        return drawn

    def drawn(self, layers: Sequence[alt.Chart], title: str = "") -> alt.LayerChart:
        """Return layers one over the other, under a title.

        The room beside is taken by words that are not seen, or a wider font than the one that is
        measured would have its names cut off.
        """
        layers = list(layers)
        if self.beside:
            taken = _in_pixels([{"across": self.width + self.beside, "down": 0.0}])
            layers.append(taken.mark_point(opacity=0, size=1))
        return layered(layers, title, self.width, self.height, self.beside)


def panel(
    x: Axis, y: Axis, names: Iterable[str] = (), width: float = WIDTH, height: float = HEIGHT
) -> Panel:
    """Return a pair of axes that leaves room for names at the ends of its lines.

    Examples
    --------
    >>> panel(Axis("x", "", 0, 1), Axis("y", "", 0, 1), ["worst node"]).width
    430.0
    """
    x, y = shared(x), shared(y)
    beside = max((GAP + width_of(each, bold=True) for each in names), default=0.0)
    fits = min(width, room() - BESIDE - beside)
    below = fits < NARROWEST
    if below:
        beside, fits = 0.0, min(width, room() - BESIDE)
    if fits < 1.2 * NARROWEST:
        x = replace(x, steps=FEW_STEPS)
    return Panel(x, y, fits, height, beside, below)


def named_rows(field: str, names: Sequence[str], **scale: Any) -> alt.Y:
    """Return the encoding of rows by their names, from the top down."""
    beside = alt.Axis(labelLimit=1000, ticks=False, domain=False)
    scales = alt.Scale(domain=list(names), **scale)
    return alt.Y(f"{field}:N", title=None, sort=list(names), scale=scales, axis=beside)


def words(
    texts: Iterable[tuple[float, float, str]],
    *,
    align: str = "left",
    colour: str | None = None,
    bold: bool = False,
) -> list[alt.Chart]:
    """Return words at places in pixels. Without a color of a series they have that of words."""
    rows = [{"across": x, "down": y, "said": said} for x, y, said in texts]
    if not rows:
        return []
    style: dict[str, Any] = {"fontSize": 12, "baseline": "middle", "align": align}
    style |= {"style": word_style(colour)} if colour is not None else {}
    style |= {"fontWeight": 600} if bold else {}
    return [_in_pixels(rows).mark_text(**style).encode(text="said:N")]


def _in_pixels(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """Return a chart of rows, each at its place in pixels: ``across`` and ``down``."""
    return alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("across:Q", scale=None, axis=None), y=alt.Y("down:Q", scale=None, axis=None)
    )


def shades() -> alt.Color:
    """Return the colors of ordered series, by a column ``shade`` of numbers from 0 to 1."""
    scale = alt.Scale(domain=[0, 1], range="ordinal", interpolate="rgb")
    return alt.Color("shade:Q", scale=scale, legend=None)


def _sample(end: End, down: float) -> alt.Chart:
    """Return a piece of a line as it looks, or a point, left of names below."""
    drawn: alt.Chart
    ramp = isinstance(end.colour, float | int)
    shade = float(end.colour or 0.0) if ramp else 0.0
    colour: dict[str, Any] = {"color": end.colour} if isinstance(end.colour, str) else {}
    colour |= {} if end.colour is not None else {"style": "bound"}
    base = _in_pixels([{"across": 0.0, "until": SAMPLE, "down": down, "shade": shade}])
    if not end.dash:
        middle = base.transform_calculate(across=f"{SAMPLE / 2}")
        drawn = middle.mark_circle(size=46, opacity=1, **colour)
    else:
        line = base.mark_rule(strokeDash=list(end.dash), strokeWidth=end.width, **colour)
        drawn = line.encode(x2="until:Q")
    return drawn.encode(color=shades()) if ramp else drawn


def _of_one(**columns: float) -> alt.Chart:
    """Return a chart of one row."""
    return alt.Chart(pl.DataFrame({name: [float(value)] for name, value in columns.items()}))


def _rule(axis: Axis, way: type[alt.X | alt.Y], value: float, look: Look | None) -> alt.Chart:
    """Return a rule at a value of an axis: of a look, or of a bound."""
    how: dict[str, Any] = {"style": "bound"}
    if look is not None:
        how = {"color": str(look.colour), "strokeDash": list(look.dash)}
        how["strokeWidth"] = min(look.width, 1.4)
    drawn: alt.Chart = _of_one(**{axis.field: value}).mark_rule(**how)
    return drawn.encode(axis.encoding(way))


# -- loads in falling order ------------------------------------------------------------------------


MOST_POINTS = 1000
"""Points of a line."""


def ranked(
    loads: Mapping[str, Floats | pl.Series],
    looks: Looks,
    title: str,
    *,
    along: str = "channels, busiest first",
    up: str = "paths of an all-to-all",
    most: float | None = None,
    bound: float | None = None,
    busiest: str = "",
    size: tuple[float, float] = (600.0, 270.0),
) -> alt.LayerChart:
    """Return loads in falling order, a line per name.

    Parameters
    ----------
    loads, looks, title
        The loads and the look of the line, by name, and what the picture says.
    along, up, size
        What the axes show, and their pixels.
    most
        What the vertical axis reaches at least.
    bound
        What the busiest must carry at least: a line across.
    busiest
        The name of the busiest channel, where that stands at its point.
    """
    tables = []
    for name, each in loads.items():
        known = np.asarray(each, np.float64)
        falling = np.sort(known[~np.isnan(known)])[::-1]
        at = np.unique(np.linspace(0, len(falling) - 1, MOST_POINTS).astype(int))[: len(falling)]
        tables.append(pl.DataFrame({"place": at + 1, "load": falling[at], "of": [name] * len(at)}))
    curves = pl.concat(tables)
    last = float(curves["place"].max() or 1)  # type: ignore[arg-type]
    said = f"busiest: {number(bound)} at least" if bound else ""
    names = [name for name, look in looks.items() if look.named]
    names += [said] if said else []
    x = Axis("place", along, 0.0, 1.02 * last, whole=True)
    where = panel(x, axis("load", up, [*curves["load"], bound, most, 1]), names, *size)
    ends = [End.of_bound(said, where.x.high, bound)] if bound else []
    layers = [
        *(where.across(bound) if bound else []),
        *where.lines(curves, "of", looks, points=0),
        *where.ends_of(curves, "of", looks, ends),
    ]
    if busiest:
        point = pl.DataFrame({"place": [1], "load": [curves["load"].max()], "said": [busiest]})
        base = where.chart(point)
        text = base.mark_text(
            align="left", dx=7, dy=-3, fontSize=12, baseline="bottom", lineBreak="\n"
        )
        layers += [base.mark_circle(size=70, opacity=1, color=THIS), text.encode(text="said:N")]
    return where.drawn(layers, title)
