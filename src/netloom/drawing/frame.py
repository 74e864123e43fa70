"""What every picture has round its parts: colors, frame and room.

A color says what is drawn, on white and on near-black. Each has a contrast of 3 at least to both,
and each pair a distance (ΔE of 1976) of 20 at least, also to eyes that lack red or green.

The frame is what a picture shows, in words, and its background. Room is what a page has for it, in
a wide window or in a narrow one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import altair as alt

from netloom.base.words import folded
from netloom.drawing.names import base_names, width_of

Part: TypeAlias = alt.Chart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart
"""What stands by itself in a picture, or on a page. Background and text have no colors."""


# -- colors ----------------------------------------------------------------------------------------


THIS = "#c8323a"
"""What is asked about, or the first of two."""

BEST = "#2b6cb0"
"""The best that was found, or the second of two."""

REFERENCE = "#7d8896"
"""What there is to compare with: random mappings, limits, what is not known."""

OTHERS = ["#bd7d00", "#22a872", "#8447e6"]
"""Further series: the orange and the green of Okabe and Ito, darker, and a violet."""

COLOURS = [THIS, BEST, *OTHERS]
"""One a series that has no meaning of its own. More are drawn in panels."""

WORD_COLOURS = {
    THIS: ("#c8323a", "#f2777d"),
    BEST: ("#2b6cb0", "#6aa5e3"),
    OTHERS[0]: ("#8f5f00", "#e0a43a"),
    OTHERS[1]: ("#187a53", "#35bd86"),
    OTHERS[2]: ("#7a3ce0", "#b493f5"),
    REFERENCE: ("#5f6a78", "#a0abb8"),
}
"""The colors of words about series, on white and on near-black: with a contrast of 4.5 at least.

Parts name neither: their style is ``word_style``.
"""

INK, DARK_INK = "#111418", "#e8ebef"
"""Bounds, on white and on near-black. Parts name neither: their style is ``bound``."""

BOUND_DASH = [8, 3, 2, 3]
"""Of lines that nothing can be beyond."""

ORDER_COLOURS = ["#7fb0de", "#4f8dc9", "#2b6cb0", "#154a86", "#0a2c58"]
"""From the least of an ordered factor to the most, on white."""

DARK_ORDER_COLOURS = ["#2f629b", "#4a86c5", "#74abe2", "#a6cdf3", "#dbeeff"]
"""The same on near-black. Parts name neither: their scale is Vega's ``ordinal``."""

HEAT_COLOURS = ["#e4e7eb", "#c3c9d1", "#f0b06c", "#e0632f", "#ab1a27", "#560a22"]
"""From what is idle or empty to what is hottest, on white: of utilization and of all other loads.

Of loads relative to their mean the second is the mean.
"""

DARK_HEAT_COLOURS = ["#353e48", "#525d6a", "#9c6026", "#e8743b", "#ffa182", "#ffe9df"]
"""The same on near-black.

Parts name neither: their scale is Vega's ``heatmap``, so that one part fits both backgrounds.
"""

CHANGE_COLOURS = ["#08306b", "#4a90c9", "#dde1e6", "#e8743b", "#a50f15"]
"""What channels carry less, the same, and more than before, on white."""

DARK_CHANGE_COLOURS = ["#b3dcff", "#3f8fd0", "#3a434e", "#d9622b", "#ffc2a8"]
"""The same on near-black. Parts name neither: their scale is Vega's ``diverging``."""

DELAYED = 0.4
"""Where on the heat colors the load stands that delays: up to it nothing is red. Idle is 0.

One rule for all views: color is load over the load that delays, if that is known. It rises evenly
from idle to here, and from here to the load that fills a channel, at 1.
"""

RANGES = {"heatmap": HEAT_COLOURS, "ordinal": ORDER_COLOURS, "diverging": CHANGE_COLOURS}
DARK_RANGES = dict(
    zip(RANGES, (DARK_HEAT_COLOURS, DARK_ORDER_COLOURS, DARK_CHANGE_COLOURS), strict=True)
)
"""The colors of scales on white and on near-black."""

FULL = [0.0, 1.0]
"""The domain of every scale of utilization: idle channels and full ones."""


def word_style(colour: str) -> str:
    """Return the name of the style of words about a series of a color."""
    return f"words-{colour.removeprefix('#')}"


def _styles(
    background: int, ink: str, quiet: str, paper: str, box: str, bundle: str
) -> dict[str, dict[str, object]]:
    """Return the styles of parts of networks, of bounds and of words, on white (0) or black (1)."""
    bound = (INK, DARK_INK)[background]
    line = {"color": bound, "stroke": bound, "strokeWidth": 1.5, "strokeDash": BOUND_DASH}
    words = {name: shades[background] for name, shades in WORD_COLOURS.items()}
    return {
        "network-box": {"color": box, "fill": box},
        "network-bar": {"color": ink, "fill": ink},
        "network-frame": {"color": quiet, "fill": None, "stroke": quiet, "strokeWidth": 0.6},
        "network-mark": {"color": ink, "strokeWidth": 2},
        "network-bundle": {"color": bundle, "fill": None},
        "network-rim": {"color": ink, "fill": None},
        "network-name": {"color": quiet, "fill": quiet},
        "network-heading": {"color": ink, "fill": ink, "fontWeight": 600},
        "network-disc": {"color": ink, "fill": ink, "stroke": paper, "strokeWidth": 1.5},
        "network-number": {"color": paper, "fill": paper, "fontWeight": 700},
        "bound": line,
        "ink": {"color": bound, "fill": bound},
        "part": {"stroke": paper, "strokeWidth": 1.4},
        **{word_style(name): {"color": shade, "fill": shade} for name, shade in words.items()},
    }


STYLES = _styles(0, "#1c232b", "#4f5a66", "#ffffff", "#eceff3", "#d9dde3")
DARK_STYLES = _styles(1, "#e8ebef", "#a9b3be", "#181c22", "#2b333d", "#39424d")
"""The styles of pictures on white and on near-black."""


# -- frame and room --------------------------------------------------------------------------------


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
    lines = [part for each in footer for part in folded(base_names(each), FOOTER_LINE)]
    said = in_lines(base_names(title), TITLE_LINE)
    wide = max((width_of(line, bold=True, size=TITLE_SIZE) for line in said), default=0.0)
    beside = alt.hconcat(*parts, spacing=36)
    rows = [beside.resolve_scale(color="independent", stroke="independent")]
    if lines:  # small grey words, as a part of its own
        rows.append(
            alt.Chart(alt.InlineData([{}]))
            .mark_text(text=lines, align="left", baseline="top", fontSize=10.5, lineHeight=14)
            .encode(x=alt.value(0), y=alt.value(0), color=alt.value(REFERENCE))
            .properties(width=round(wide), height=14 * len(lines))
        )
    whole: alt.VConcatChart = (
        alt.vconcat(*rows, spacing=22)
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


def layered(
    layers: Sequence[alt.Chart],
    title: str,
    width: float = 430,
    height: float = 320,
    beside: float = 0.0,
) -> alt.LayerChart:
    """Return charts one over the other, under a title, which has room also over words beside."""
    fits = fitting(width)
    lines = in_lines(title, int((fits + beside) / LETTER))
    return alt.LayerChart(layer=list(layers)).properties(
        width=fits, title=lines if len(lines) > 1 else title, height=height
    )


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
    above = alt.vconcat(*parts, spacing=spacing)
    drawn: alt.VConcatChart = above.resolve_scale(color="independent", stroke="independent")
    return drawn


WIDE, HALF, NARROW = 1040.0, 500.0, 328.0
"""Pixels that one part may take: on a page of 1,180 pixels, beside another there, and on 390."""

_ROOM = ContextVar("room", default=WIDE)


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
