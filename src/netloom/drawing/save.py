"""Charts as pictures or as pages that need nothing else, tables as files, and HTML as such.

This is the one place that embeds data in HTML, and that writes what a page may do.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from errno import EACCES, ENOTDIR
from functools import cache
from hashlib import sha256
from importlib.resources import files
from os import W_OK, access, strerror
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom._version import __version__
from netloom.base.errors import InputError
from netloom.base.textfiles import KINDS, file_kind, replacing, unwritable
from netloom.base.words import held_together

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


FORMATS = (".png", ".svg", ".pdf", ".html")
TABLES = (".csv", ".parquet")

ENGINE_ADDRESSES = 65 << 30
"""Bytes of addresses that the JavaScript engine behind pictures (V8) reserves at first."""


def check_picture(path: str | Path) -> Path:
    """Return the path of a picture to write, or refuse it before any work is done.

    Folders that are not there yet will be made: the nearest that is must be writable.

    Raises
    ------
    InputError
        If the suffix is not one of ``FORMATS``, or nothing can be written there.

    Examples
    --------
    >>> check_picture("hot.png").suffix
    '.png'
    """
    return check_suffix(Path(path), FORMATS)


def check_writable(path: str | Path, *, folder: bool = False) -> Path:
    """Return the path of a file, or ``folder``, to write, or refuse it before any work is done.

    Folders that are not there yet will be made: the nearest that is must be writable.

    Raises
    ------
    InputError
        If nothing can be written there.

    Examples
    --------
    >>> check_writable("plan.json").name
    'plan.json'
    """
    path = Path(path)
    kind = file_kind(path)
    if kind in KINDS.values() and not (folder and kind == "a folder"):
        raise InputError(str(path), kind, "a folder" if folder else "a file, or a free name")
    there = (each for each in path.absolute().parents if file_kind(each) != "no such file")
    parent = next(there)
    try:
        path.absolute().lstat()
    except FileNotFoundError:
        pass
    except OSError as error:  # a name too long, a folder that may not be entered
        raise unwritable(path, error) from None
    except ValueError:
        raise InputError(str(path), "a null character", "the name of a file") from None
    if not parent.is_dir():
        raise unwritable(path, NotADirectoryError(ENOTDIR, strerror(ENOTDIR)))
    if not access(path if kind in ("a file", "a folder") else parent, W_OK):
        raise unwritable(path, PermissionError(EACCES, strerror(EACCES)))
    return path


def make_folder(path: Path) -> None:
    """Make a folder, and those that it is in, unless it is there.

    Raises
    ------
    InputError
        If that is not possible.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None


@cache
def check_address_space() -> None:
    """Refuse to draw where the JavaScript engine that draws would end the whole process.

    It reserves addresses, not memory, when it starts. A limit on them (``ulimit -v``, or a batch
    system's) makes it abort without a word that says why.

    Raises
    ------
    InputError
        If the process may not reserve as many addresses as it needs.
    """
    try:
        from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # a system without such limits
        return
    limit = getrlimit(RLIMIT_AS)[0]
    if limit == RLIM_INFINITY:
        return
    try:
        mmap(-1, ENGINE_ADDRESSES, flags=MAP_PRIVATE | MAP_ANONYMOUS, prot=0).close()
    except OSError:
        found = f"a limit of {limit / 2**30:.3g} GiB of addresses, which pictures do not fit in"
        wanted = f"ulimit -v unlimited, or {ENGINE_ADDRESSES >> 30} GiB more than the program takes"
        raise InputError("picture", found, wanted) from None


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> Path:
    """Write ``chart`` to a .png, .svg, .pdf or self-contained .html file, and return its path.

    Raises
    ------
    InputError
        If the suffix is none of these, or the file cannot be written.
    """
    import altair as alt

    path = check_picture(path)
    check_address_space()
    make_folder(path.parent)
    scale = 1.0 if path.suffix == ".pdf" else 2.0
    with replacing(path) as new, alt.data_transformers.enable("default", max_rows=None):
        if path.suffix == ".html":
            spec = chart.to_dict()
            said = spec.get("title", {})
            lines = said.get("text", "") if isinstance(said, dict) else said
            title = lines if isinstance(lines, str) else " ".join(lines)
            inline = Inline(own_file("tooltip.css"), charts_shown(own_file("chart.js")))
            main = '<main id="chart"></main>'
            page = html_page(main, title=title, inline=inline, data={"spec": spec})
            new.write_text(page, encoding="utf-8")
        else:
            chart.save(str(new), scale_factor=scale)
    return path


def check_table(path: str | Path) -> Path:
    """Return the path of a table to write, or refuse it before any work is done.

    Raises
    ------
    InputError
        If the suffix is not one of ``TABLES``, or nothing can be written there.

    Examples
    --------
    >>> check_table("times.csv").suffix
    '.csv'
    """
    return check_suffix(Path(path), TABLES)


def save_table(table: pl.DataFrame, path: str | Path) -> Path:
    """Write ``table`` to a .csv or .parquet file, and return its path.

    Raises
    ------
    InputError
        If the suffix is neither, or the file cannot be written.
    """
    path = check_table(path)
    make_folder(path.parent)
    with replacing(path) as new, new.open("wb") as stream:
        if path.suffix == ".csv":
            table.write_csv(stream)
        else:
            table.write_parquet(stream)
    return path


def check_suffix(path: Path, suffixes: tuple[str, ...]) -> Path:
    """Return the path of a file to write, or refuse it: by its suffix, or as it cannot be written.

    Raises
    ------
    InputError
        If it ends in none of the suffixes, or nothing can be written there.
    """
    if not path.name.endswith(suffixes):
        raise InputError(str(path), f"suffix '{path.suffix}'", f"one of {', '.join(suffixes)}")
    return check_writable(path)


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
    blocks: Any = {"trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    environment = Environment(loader=DictLoader(templates), autoescape=True, **blocks)
    environment.filters["together"] = held_together
    return environment.get_template("page").render(
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
def own_file(name: str, package: str = "netloom.drawing") -> str:
    """Return the text of a file of a package: by default of this one."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which makes no code of expressions."""
    import vl_convert
    from altair.utils._importers import vl_version_for_vl_convert

    version = vl_version_for_vl_convert()
    return vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]


def charts_shown(own: str) -> tuple[str, ...]:
    """Return the scripts of a page of charts: the libraries, then its ``own`` with what it calls.

    ``showChart`` draws a chart, and ``byKeyboard`` makes channels reachable by keyboard.
    """
    return vega(), f"{own_file('show_chart.js')}{own_file('keyboard.js')}{own}"
