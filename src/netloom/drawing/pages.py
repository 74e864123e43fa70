"""Pages: the one place that embeds data in HTML, and that writes what a page may do."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom._version import __version__
from netloom.base.words import held_together

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Inline(NamedTuple):
    """What stands in a page and is netloom's own: its style, and scripts that run in order."""

    style: str
    scripts: tuple[str, ...]


def html_page(
    body: str,
    *,
    title: str,
    inline: Inline,
    data: Mapping[str, Any],
    frames: Iterable[Inline] = (),
    **words: Any,
) -> str:
    """Return the text of one HTML file that loads nothing and runs its own scripts only.

    Parameters
    ----------
    body
        A template of Jinja, which escapes all ``words`` that it shows.
    data
        Plain data for the scripts, by the id of the element that holds them as JSON.
    frames
        What stands in pages that a script shows in frames: a page's policy holds for these too.
    """
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    for each in (inline.style, *inline.scripts):
        assert not any(sign in each.lower() for sign in ("</script", "</style", "<!--", "\r", "\0"))
    templates = {"page": own_file("page.html"), "body": body}
    environment = Environment(
        loader=DictLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["together"] = held_together
    found: str = environment.get_template("page").render(
        title=title,
        policy=policy([inline, *frames]),
        version=__version__,
        style=Markup(inline.style),  # noqa: S704 (checked above)
        scripts=[Markup(each) for each in inline.scripts],  # noqa: S704 (checked above)
        data={
            name: Markup(as_json(each))  # noqa: S704 (escaped by as_json)
            for name, each in data.items()
        },
        **words,
    )
    return found


def policy(own: Iterable[Inline]) -> str:
    """Return the Content-Security-Policy that allows these styles and scripts, and nothing else.

    Examples
    --------
    >>> policy([Inline("", ())])[:56]
    "default-src 'none'; base-uri 'none'; form-action 'none';"
    """
    own = list(own)
    styles = _hashes(each.style for each in own)
    scripts = _hashes(script for each in own for script in each.scripts)
    closed = "default-src 'none'; base-uri 'none'; form-action 'none'"
    return f"{closed}; style-src {styles}; script-src {scripts}"


def _hashes(texts: Iterable[str]) -> str:
    digests = (b64encode(sha256(each.encode()).digest()).decode() for each in texts)
    return " ".join(f"'sha256-{each}'" for each in dict.fromkeys(digests)) or "'none'"


def as_json(data: Any) -> str:
    r"""Return plain data as JSON that can stand in a page: nothing in it ends a script.

    Examples
    --------
    >>> as_json({"name": "</script>"})
    '{"name":"\\u003c/script>"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def own_file(name: str) -> str:
    """Return the text of a file beside this module."""
    return files("netloom.drawing").joinpath(name).read_text(encoding="utf-8")


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which makes no code of expressions."""
    import vl_convert
    from altair.utils._importers import vl_version_for_vl_convert

    version = vl_version_for_vl_convert()
    bundle: str = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]
    return bundle


def charts_shown(own: str) -> tuple[str, ...]:
    """Return the scripts of a page of charts: the libraries, then its ``own`` with what it calls.

    ``showChart`` draws a chart, and ``byKeyboard`` makes channels reachable by keyboard.
    """
    return vega(), f"{own_file('show_chart.js')}{own_file('keyboard.js')}{own}"
