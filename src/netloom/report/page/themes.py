"""The colours of charts on white and on near-black: Vega's configuration."""

from __future__ import annotations

from typing import Any

from netloom.drawing.colours import (
    DARK_HEAT_COLOURS,
    DARK_LOAD_COLOURS,
    DARK_STYLES,
    HEAT_COLOURS,
    LOAD_COLOURS,
    STYLES,
)

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def _theme(
    ink: str, quiet: str, grid: str, ramp: list[str], heat: list[str], styles: dict[str, Any]
) -> dict[str, Any]:
    """Return the configuration of charts for one background."""
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "labelColor": quiet, "titleColor": ink, "gridColor": grid, "domainColor": quiet,
            "tickColor": quiet, "labelFontSize": 11.5, "titleFontSize": 12.5,
            "titleFontWeight": 500, "titlePadding": 9, "labelPadding": 5, "tickSize": 4,
        },
        "legend": {
            "labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12.5,
            "titleFontWeight": 500,
        },
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12},
        "title": {"color": ink, "subtitleColor": quiet, "fontSize": 13.5, "fontWeight": 600},
        "text": {"color": quiet},
        "range": {"ramp": ramp, "heatmap": heat},
        "style": styles,
    }  # fmt: skip


THEMES = {
    "light": _theme("#1c232b", "#4f5a66", "#e4e8ec", LOAD_COLOURS, HEAT_COLOURS, STYLES),
    "dark": _theme(
        "#e8ebef", "#a9b3be", "#2b323b", DARK_LOAD_COLOURS, DARK_HEAT_COLOURS, DARK_STYLES
    ),
}
"""Vega's configuration on white and on near-black."""
