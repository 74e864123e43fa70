"""A page as HTML: a template, its style, its script and everything that they draw, in one file."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from netloom._version import __version__
from netloom.drawing.save import by_keyboard, page_style
from netloom.explore.blobs import as_json
from netloom.explore.page_file import shell
from netloom.questions.verdict import MARKS
from netloom.report.page.figure import turned
from netloom.report.page.pages import figures_on
from netloom.report.page.themes import THEMES
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.report.page.figure import Figure
    from netloom.report.page.pages import Page

NAMED_MARKS = {"fine": "Fine", "limited": "Limited", "act": "To be changed", "unknown": "Open"}
"""What marks are called where they are read aloud."""


def render(page: Page) -> str:
    """Return a page as the text of one HTML file.

    Whatever comes from data or users is escaped. The specifications of charts stand in it as JSON,
    with Vega, Vega-Lite and Vega-Embed beside them once.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    figures = list(figures_on(page.sections))
    number = {id(figure): place for place, figure in enumerate(figures, 1)}
    anchor = {id(section): f"part-{place}" for place, section in enumerate(page.sections, 1)}
    specs = {f"figure-{number[id(figure)]}": _with_narrow(figure) for figure in figures}

    def inlined(name: str) -> Any:
        return Markup(_file(name))  # noqa: S704 (netloom's own file)

    files = [{"file": each.file, "text": each.csv} for each in page.numbers]
    found: str = environment.from_string(_file("page.html")).render(
        page=page,
        verdict=page.answer.verdict,
        marks=MARKS,
        named_mark=NAMED_MARKS,
        is_number=_is_number,
        turned=turned,
        rows_said=lambda many: counted(many, "row", ","),
        version=__version__,
        number=lambda figure: number[id(figure)],
        anchor=lambda section: anchor[id(section)],
        style=Markup(page_style() + _file("page.css")),  # noqa: S704 (netloom's own files)
        script=inlined("page.js"),
        keyboard=Markup(by_keyboard()),  # noqa: S704 (netloom's own file)
        vega=Markup(_vega()),  # noqa: S704 (the libraries, which contain no end of a script)
        themes=Markup(as_json(THEMES)),  # noqa: S704 (escaped by as_json)
        specs=Markup(as_json(specs)),  # noqa: S704 (escaped by as_json)
        csv=Markup(as_json(files)),  # noqa: S704 (escaped by as_json)
        explorers=Markup(as_json(_explorers(page))),  # noqa: S704 (escaped by as_json)
    )
    return found


def _explorers(page: Page) -> dict[str, Any]:
    """Return the explorers of a page: what they have in common once, and the data of each."""
    if not page.explorers:
        return {}
    return {
        "shell": shell("the title", "the data"),
        "each": [[each.title, each.data] for each in page.explorers],
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


@lru_cache(maxsize=1)
def _vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert
    from altair.utils._importers import vl_version_for_vl_convert

    version = vl_version_for_vl_convert()
    bundle: str = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]
    assert "</script" not in bundle.lower()
    return bundle
