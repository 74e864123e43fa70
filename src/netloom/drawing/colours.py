"""The colors of all pictures: by what they mean, to be told apart on white and near-black.

Each has a contrast of 3 at least to white and to near-black, and each pair a distance (ΔE of 1976)
of 20 at least, also to eyes that lack red or green.
"""

from __future__ import annotations

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

GREY = REFERENCE

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
DARK_RANGES = {
    "heatmap": DARK_HEAT_COLOURS, "ordinal": DARK_ORDER_COLOURS, "diverging": DARK_CHANGE_COLOURS,
}  # fmt: skip
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
