"""What every picture has round its parts, and how much room it has.

What it shows, in words, and its background: on a page in a wide window, or in a narrow one.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from netloom.base.words import folded
from netloom.drawing.colours import GREY, RANGES, STYLES
from netloom.drawing.names import base_names, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt

    Part: TypeAlias = alt.Chart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart
    """What stands by itself in a picture, or on a page. Background and text have no colors."""

TITLE_LINE, FOOTER_LINE = 96, 150
"""Letters of a line of the sentence over a picture, and of the words below it."""

TITLE_SIZE = 17
"""Pixels of the letters of the sentence."""

AXES, LETTER = 75.0, 7.6
"""Pixels beside a panel for its axis, and of a letter of its title, about."""

LEFT = 44
"""Pixels at the left edge: a font wider than the one that names were measured in has room."""

TEXT, QUIET = "#1c232b", "#4f5a66"
"""The colors of words on white, and of those that matter less."""

AXIS: dict[str, Any] = {
    "labelFontSize": 12, "titleFontSize": 12.5, "titleFontWeight": 500, "titlePadding": 9,
    "labelColor": QUIET, "titleColor": TEXT, "gridColor": "#e4e8ec", "domainColor": QUIET,
    "tickColor": QUIET,
}  # fmt: skip
"""How axes are on white."""


def framed(parts: Sequence[Part], title: str, footer: Sequence[str] = ()) -> alt.VConcatChart:
    """Return charts side by side on white: one sentence above, what was asked in grey below.

    Of files the sentence and the footer show names only. A picture is as wide as its sentence in a
    wide font, so that no font has it cut off.
    """
    import altair as alt

    lines = [part for each in footer for part in folded(base_names(each), FOOTER_LINE)]
    said = in_lines(base_names(title), TITLE_LINE)
    wide = max((width_of(line, bold=True, size=TITLE_SIZE) for line in said), default=0.0)
    beside: Any = alt.hconcat(*parts, spacing=36)
    rows = [beside.resolve_scale(color="independent", stroke="independent")]
    whole: alt.VConcatChart = (
        alt.vconcat(*rows, *([_footer(lines, wide)] if lines else []), spacing=22)
        .properties(title=alt.TitleParams(said, anchor="start", fontSize=TITLE_SIZE, offset=18))
        .configure(
            background="white",
            padding={"left": LEFT if room() > NARROW else 18, "right": 18, "top": 18, "bottom": 18},
            view=alt.ViewConfig(stroke=None),
            range=alt.RangeConfig(**RANGES),
            axis=alt.AxisConfig(**AXIS),
            legend=alt.LegendConfig(labelFontSize=12, titleFontSize=12, titleFontWeight=500),
            title=alt.TitleConfig(fontSize=13.5, fontWeight=600, anchor="start", color=TEXT),
            text=alt.MarkConfig(color=QUIET),
            style=STYLES,
        )
    )
    return whole


def _footer(lines: list[str], wide: float) -> alt.Chart:
    """Return lines of small grey words, as a part of its own of so many pixels."""
    import altair as alt

    named: alt.Chart = (
        alt.Chart(alt.InlineData([{}]))
        .mark_text(text=lines, align="left", baseline="top", fontSize=10.5, lineHeight=14)
        .encode(x=alt.value(0), y=alt.value(0), color=alt.value(GREY))
        .properties(width=round(wide), height=14 * len(lines))
    )
    return named


def layered(
    layers: Sequence[alt.Chart],
    title: str,
    width: float = 430,
    height: float = 320,
    beside: float = 0.0,
) -> alt.LayerChart:
    """Return charts one over the other, under a title, which has room also over words beside."""
    import altair as alt

    fits = fitting(width)
    lines = in_lines(title, int((fits + beside) / LETTER))
    drawn: alt.LayerChart = alt.LayerChart(layer=list(layers)).properties(
        width=fits, title=lines if len(lines) > 1 else title, height=height
    )
    return drawn


def in_lines(text: str, letters: int) -> list[str]:
    """Return as few lines as so many letters allow, of about the same length.

    Examples
    --------
    >>> in_lines("Keeps up at rate 0.15: 15.4 steps", 30)
    ['Keeps up at rate', '0.15: 15.4 steps']
    """
    lines = folded(text, letters)
    while letters > 1 and len(folded(text, letters - 1)) == len(lines):
        letters -= 1
    return folded(text, letters)


def fitting(width: float) -> float:
    """Return the width of a panel, no more than there is room for.

    Examples
    --------
    >>> fitting(400.0)
    400.0
    """
    return min(width, room() - AXES)


def column(*parts: Part, spacing: float = 26) -> alt.VConcatChart:
    """Return parts one below the other, each with its own colors and legends."""
    import altair as alt

    above: Any = alt.vconcat(*parts, spacing=spacing)
    drawn: alt.VConcatChart = above.resolve_scale(color="independent", stroke="independent")
    return drawn


WIDE, HALF, NARROW = 1040.0, 500.0, 328.0
"""Pixels that one part may take: on a page of 1,180 pixels, beside another there, and on 390."""

_ROOM: ContextVar[float] = ContextVar("room", default=WIDE)


def room() -> float:
    """Return how many pixels a part of a picture may be wide.

    Examples
    --------
    >>> with narrow_page():
    ...     room()
    328.0
    >>> room()
    1040.0
    """
    return _ROOM.get()


@contextmanager
def narrow_page(pixels: float = NARROW) -> Iterator[None]:
    """Have all parts drawn for a narrow window, or for so many pixels, meanwhile."""
    before = _ROOM.set(pixels)
    try:
        yield
    finally:
        _ROOM.reset(before)
