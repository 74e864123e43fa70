"""Write a report: one HTML file for a browser without network, and its charts as pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from netloom.base.errors import InputError
from netloom.base.textfiles import file_kind, replacing, write_text
from netloom.base.words import counted
from netloom.drawing.frame import AXIS, DARK_RANGES, DARK_STYLES, RANGES, STYLES
from netloom.drawing.save import (
    Inline,
    as_json,
    charts_shown,
    check_address_space,
    check_writable,
    html_page,
    make_folder,
    own_file,
)
from netloom.experiments.findings import Results
from netloom.pages.explorer.file import check_page, inline as framed, shell, sources_of
from netloom.pages.figure import turned
from netloom.pages.page import Page, figures_on, page_of
from netloom.questions.answers import MARKS
from netloom.questions.recorded import Recorded

Source: TypeAlias = Recorded | Results

ROOM = "netloom.pages"
"""The package that holds the page's style, script and template."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def _theme(
    ink: str, quiet: str, grid: str, ranges: dict[str, list[str]], styles: dict[str, Any]
) -> dict[str, Any]:
    """Return the configuration of charts for one background."""
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12}
    axis = {"labelColor": quiet, "gridColor": grid, "domainColor": quiet, "tickColor": quiet}
    title = {"color": ink, "subtitleColor": quiet, "fontSize": 13.5, "fontWeight": 600}
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": AXIS | axis | {"titleColor": ink, "labelPadding": 5, "tickSize": 4},
        "legend": words | {"titleFontSize": 12.5, "titleFontWeight": 500},
        "header": words,
        "title": title | {"anchor": "start"},
        "text": {"color": quiet},
        "range": ranges,
        "style": styles,
    }


THEMES = {
    "light": _theme("#1c232b", "#4f5a66", "#e4e8ec", RANGES, STYLES),
    "dark": _theme("#e8ebef", "#a9b3be", "#2b323b", DARK_RANGES, DARK_STYLES),
}
"""Vega's configuration on white and on near-black."""

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
    specs = {f"figure-{place}": dict(each.spec) for place, each in enumerate(figures, 1)}
    for spec, figure in zip(specs.values(), figures, strict=True):
        if figure.narrow:
            spec["usermeta"] = {"narrow": figure.narrow}
    explorers = {}
    if page.explorers:  # what they have in common once, and the data of each
        data = [[each.title, as_json(each.data)] for each in page.explorers]
        explorers = {"shell": shell("the title", "the data"), "each": data}
    style = own_file("page.css") + own_file("tooltip.css") + own_file("page.css", ROOM)
    return html_page(
        own_file("page.html", ROOM),
        title=page.title,
        inline=Inline(style, charts_shown(own_file("page.js", ROOM))),
        data={
            "themes": THEMES,
            "specs": specs,
            "csv": [{"file": each.file, "text": each.csv} for each in page.numbers],
            "explorers": explorers,
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


def _is_number(cell: str) -> bool:
    """Whether a cell of a table stands on the right: a number, or what takes its place.

    Examples
    --------
    >>> [_is_number(cell) for cell in ("1,202", "−6.2\u00a0%", "0.1 to 0.2", "–", "torus:8x8")]
    [True, True, True, True, False]
    """
    return bool(re.match(r"(above |below )?[+−-]?[\d.]+([\s,\d.%±–]|to|e-?\d|[kMGTP]$)*$|–$", cell))


def save_pictures(page: Page, folder: Path) -> list[Path]:
    """Write every chart of a page as .png and .svg, and return their paths.

    They are numbered as on the page, and named by their titles.

    Raises
    ------
    InputError
        If they cannot be written.
    """
    import vl_convert

    paths = []
    make_folder(folder)
    check_address_space()
    for place, figure in enumerate(figures_on(page.sections), 1):
        name = f"{place:02d}-{_slug(figure.title)}"
        spec = on_white(figure.spec, figure.title)
        svg, png = folder / f"{name}.svg", folder / f"{name}.png"
        write_text(svg, vl_convert.vegalite_to_svg(spec))
        with replacing(png) as new:
            new.write_bytes(vl_convert.vegalite_to_png(spec, scale=2.0))
        paths += [svg, png]
    return paths


def on_white(spec: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return the specification of a chart with its title, and with the colors of paper."""
    config = {**THEMES["light"], "background": "white", "padding": 14}
    head = {"text": title, "anchor": "start", "offset": 12}
    return {**spec, "title": head, "config": config}


def _slug(title: str) -> str:
    """Return a title as part of a file's name.

    Examples
    --------
    >>> _slug("torus:8x8: every channel by its load")
    'torus-8x8-every-channel-by-its-load'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "chart"


def report(
    results: Any, path: str | Path, *, title: str = "", pictures: str | Path | None = None
) -> Path:
    """Write answers, or what experiments found, as one HTML page. Return its path.

    Parameters
    ----------
    results
        An answer of a verb, a record of one, or the results of an experiment. It may also be the
        name of a store (.sqlite) or of an experiment file (.toml) with its store beside it, or a
        list of such.
    path
        The page, ``.html``. It needs no network: everything is inside.
    title
        Its title. By default that of the experiment, or what was asked.
    pictures
        A folder for every chart of the page as .png and .svg. By default there are none.

    Raises
    ------
    InputError
        If something is none of these, or a file cannot be read or written.
    """
    several = results if isinstance(results, list | tuple) else [results]
    sources = [source for each in several for source in sources_of(each)]
    folder = None if pictures is None else Path(pictures)
    check_page(path)
    if folder is not None:
        check_folder(folder)
    return write_page(page_of(sources, title), path, folder)


def write_page(page: Page, path: str | Path, pictures: Path | None = None) -> Path:
    """Write a page, and perhaps its charts as pictures. Return its path.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    path = Path(path)
    text = render(page)
    make_folder(path.parent)
    write_text(path, text)
    if pictures is not None:
        save_pictures(page, pictures)
    return path


def check_folder(path: Path) -> Path:
    """Return a folder to write pictures into, or refuse it before any work is done.

    Raises
    ------
    InputError
        If it is a file, or nothing can be written there.
    """
    if (kind := file_kind(path)) not in ("a folder", "no such file"):
        raise InputError(str(path), kind, "a folder for pictures")
    return check_writable(path, folder=True)
