"""Write a report: one HTML file for a browser without network, and its charts as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from netloom.base.errors import InputError
from netloom.base.textfiles import file_kind, write_text
from netloom.drawing.save import check_writable, make_folder
from netloom.questions.recorded import Recorded, record
from netloom.report.page.html import render
from netloom.report.page.pages import page_of
from netloom.report.page.pictures import save_pictures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netloom.experiments.findings import Results
    from netloom.report.page.pages import Page

    Source: TypeAlias = Recorded | Results

SUFFIXES = (".html", ".htm")


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
    return write_report(sources, path, title=title, pictures=folder)


def write_report(
    sources: Sequence[Source],
    path: str | Path,
    *,
    title: str = "",
    pictures: Path | None = None,
) -> Path:
    """Write at least one record, or results of experiments, as ``report`` does.

    The same sources give the same bytes.
    """
    check_page(path)
    if pictures is not None:
        check_folder(pictures)
    return write_page(page_of(sources, title), path, pictures)


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


def check_page(path: str | Path) -> Path:
    """Return the path of a page to write, or refuse it before any work is done.

    Raises
    ------
    InputError
        If it is no .html file, or nothing can be written there.

    Examples
    --------
    >>> check_page("report.html").name
    'report.html'
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(str(path), f"suffix '{path.suffix}'", "a page, .html")
    return check_writable(path)


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


def sources_of(given: Any) -> Iterable[Source]:
    """Return what a report can be made of, from whatever a user has of it.

    Raises
    ------
    InputError
        If it is none of these.
    """
    from netloom.experiments.findings import Results, all_results

    if isinstance(given, Recorded | Results):
        return [given]
    if isinstance(given, str | Path):
        if Path(given).suffix not in (".sqlite", ".toml"):
            found = f"suffix '{Path(given).suffix}'"
            raise InputError(str(given), found, "a store, .sqlite, or an experiment file, .toml")
        return all_results(given)
    if hasattr(given, "provenance") and hasattr(given, "to_dict"):
        return [record(given)]
    raise InputError("report", f"a {type(given).__name__}", "answers, or names of stores")
