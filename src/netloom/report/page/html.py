"""A page as HTML: a template, its style, its script and everything that they draw, in one file."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from netloom.base.words import counted
from netloom.drawing.pages import Inline, as_json, charts_shown, html_page, own_file
from netloom.explore.page_file import inline as framed
from netloom.explore.page_file import shell
from netloom.questions.verdict import MARKS
from netloom.report.page.figure import turned
from netloom.report.page.pages import figures_on
from netloom.report.page.themes import THEMES

if TYPE_CHECKING:
    from netloom.report.page.figure import Figure
    from netloom.report.page.pages import Page

NAMED_MARKS = {"fine": "Fine", "limited": "Limited", "act": "To be changed", "unknown": "Open"}
"""What marks are called where they are read aloud."""


def render(page: Page) -> str:
    """Return a page as the text of one HTML file.

    The specifications of charts stand in it as JSON, with Vega, Vega-Lite and Vega-Embed beside
    them once.
    """
    figures = list(figures_on(page.sections))
    number = {id(figure): place for place, figure in enumerate(figures, 1)}
    anchor = {id(section): f"part-{place}" for place, section in enumerate(page.sections, 1)}
    style = own_file("page.css") + own_file("tooltip.css") + _file("page.css")
    return html_page(
        _file("page.html"),
        title=page.title,
        inline=Inline(style, charts_shown(_file("page.js"))),
        data={
            "themes": THEMES,
            "specs": {f"figure-{number[id(figure)]}": _with_narrow(figure) for figure in figures},
            "csv": [{"file": each.file, "text": each.csv} for each in page.numbers],
            "explorers": _explorers(page),
        },
        frames=[framed()] if page.explorers else [],
        page=page,
        verdict=page.answer.verdict,
        marks=MARKS,
        named_mark=NAMED_MARKS,
        is_number=_is_number,
        turned=turned,
        rows_said=lambda many: counted(many, "row", ","),
        number=lambda figure: number[id(figure)],
        anchor=lambda section: anchor[id(section)],
    )


def _explorers(page: Page) -> dict[str, Any]:
    """Return the explorers of a page: what they have in common once, and the data of each."""
    if not page.explorers:
        return {}
    return {
        "shell": shell("the title", "the data"),
        "each": [[each.title, as_json(each.data)] for each in page.explorers],
    }


def _is_number(cell: str) -> bool:
    """Whether a cell of a table stands on the right: a number, or what takes its place.

    Examples
    --------
    >>> [_is_number(cell) for cell in ("1,202", "−6.2\u00a0%", "0.1 to 0.2", "–", "torus:8x8")]
    [True, True, True, True, False]
    """
    return bool(re.match(r"(above |below )?[+−-]?[\d.]+([\s,\d.%±–]|to|e-?\d|[kMGTP]$)*$|–$", cell))


def _with_narrow(figure: Figure) -> dict[str, Any]:
    """Return the chart of a figure, with the one for narrow windows where the script finds it."""
    more = {"usermeta": {"narrow": figure.narrow}} if figure.narrow else {}
    return {**figure.spec, **more}


def _file(name: str) -> str:
    return files("netloom.report.page").joinpath(name).read_text(encoding="utf-8")
