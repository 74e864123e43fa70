"""An explorer as HTML: views, their network, and the script that shows them, in one file."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from netloom._version import __version__
from netloom.drawing.colours import (
    CHANGE_COLOURS,
    COLOURS,
    DARK_CHANGE_COLOURS,
    DARK_HEAT_COLOURS,
    DELAYED,
    HEAT_COLOURS,
)
from netloom.drawing.save import page_style
from netloom.explore.blobs import as_json
from netloom.explore.network import network_json
from netloom.explore.views_json import view_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.explore.view import View

MODULES = (
    "walks", "scale", "brushes", "scene", "words", "model", "data", "address", "panel", "matrix",
    "loads", "time", "saved", "side", "main",
)  # fmt: skip
"""The modules of the script, each behind those that it imports from."""


def render(views: Sequence[View]) -> str:
    """Return views of one network as the text of one HTML file.

    Nothing in it is loaded from elsewhere. Whatever comes from data or users is escaped.

    Raises
    ------
    InputError
        If the network cannot be drawn.
    """
    return shell(title_of(views), data_of(views))


def title_of(views: Sequence[View]) -> str:
    """Return what the first answer says, and of what."""
    said = next(each.verdict for each in views if each.verdict.sentence)
    return f"{said.sentence} {said.of}"


def data_of(views: Sequence[View]) -> str:
    """Return all that the script needs of views, as JSON that may stand in a page."""
    return as_json({
        "start": _start(views),
        "network": network_json(views[0].topology),
        "views": [view_json(each) for each in views],
        "colors": {
            "heat": HEAT_COLOURS,
            "dark_heat": DARK_HEAT_COLOURS,
            "change": CHANGE_COLOURS,
            "dark_change": DARK_CHANGE_COLOURS,
            "jobs": COLOURS,
            "delayed": DELAYED,
        },
    })  # fmt: skip


def shell(title: str, data: str) -> str:
    """Return the page with a title around some data, which is JSON that may stand in a page."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    found: str = environment.from_string(_file("page.html")).render(
        title=title,
        style=Markup(page_style() + _file("page.css")),  # noqa: S704 (netloom's own files)
        script=Markup(script()),  # noqa: S704 (netloom's own files)
        data=Markup(data),  # noqa: S704 (escaped by as_json)
        version=__version__,
    )
    return found


def _start(views: Sequence[View]) -> dict[str, Any]:
    """Return what is shown first: what changed, if an answer compares two."""
    if len(views) == 2 and not views[0].verdict.sentence and views[0].unit == views[1].unit:
        return {"mode": "change", "view": 0, "beside": 1}
    return {}


def script() -> str:
    """Return the modules as one script, without imports, exports, comments and indents."""
    joined = "\n".join(
        re.sub(r"(?m)^import [^;]*;\n", "", _file(f"{name}.js")).replace("\nexport ", "\n")
        for name in MODULES
    )
    return re.sub(r"(?m)^ *//.*\n|^ +", "", joined)


def _file(name: str) -> str:
    return files("netloom.explore.page").joinpath(name).read_text(encoding="utf-8")
