"""The charts of a page as pictures, from the same specifications, on white."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from netloom.base.textfiles import replacing, write_text
from netloom.drawing.save import check_address_space, make_folder
from netloom.report.page.pages import figures_on
from netloom.report.page.themes import THEMES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from netloom.report.page.pages import Page


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
