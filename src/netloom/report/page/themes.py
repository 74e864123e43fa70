"""The colors of charts on white and on near-black: Vega's configuration."""

from __future__ import annotations

from typing import Any

from netloom.drawing.colours import (
    CHANGE_COLOURS,
    DARK_CHANGE_COLOURS,
    DARK_HEAT_COLOURS,
    DARK_ORDER_COLOURS,
    DARK_STYLES,
    HEAT_COLOURS,
    ORDER_COLOURS,
    STYLES,
)

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def _theme(
    ink: str, quiet: str, grid: str, ranges: dict[str, list[str]], styles: dict[str, Any]
) -> dict[str, Any]:
    """Return the configuration of charts for one background."""
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "labelColor": quiet, "titleColor": ink, "gridColor": grid, "domainColor": quiet,
            "tickColor": quiet, "labelFontSize": 12, "titleFontSize": 12.5,
            "titleFontWeight": 500, "titlePadding": 9, "labelPadding": 5, "tickSize": 4,
        },
        "legend": {
            "labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12.5,
            "titleFontWeight": 500,
        },
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12},
        "title": {"color": ink, "subtitleColor": quiet, "fontSize": 13.5, "fontWeight": 600,
                  "anchor": "start"},
        "text": {"color": quiet},
        "range": ranges,
        "style": styles,
    }  # fmt: skip


LIGHT = {
    "heatmap": HEAT_COLOURS,
    "ordinal": ORDER_COLOURS,
    "diverging": CHANGE_COLOURS,
}
DARK = {
    "heatmap": DARK_HEAT_COLOURS,
    "ordinal": DARK_ORDER_COLOURS,
    "diverging": DARK_CHANGE_COLOURS,
}
"""The ranges of colors of loads and of changes, on each background."""

THEMES = {
    "light": _theme("#1c232b", "#4f5a66", "#e4e8ec", LIGHT, STYLES),
    "dark": _theme("#e8ebef", "#a9b3be", "#2b323b", DARK, DARK_STYLES),
}
"""Vega's configuration on white and on near-black."""
