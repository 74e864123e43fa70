"""Write a chart as a picture or as a page that needs nothing else, and tables."""

from __future__ import annotations

from errno import EACCES, EISDIR, ENOTDIR
from os import W_OK, access, strerror
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.textfiles import unwritable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import polars as pl

FORMATS = (".png", ".svg", ".html")
TABLES = (".csv", ".parquet")


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
    return _check(Path(path), FORMATS)


def check_writable(path: str | Path) -> Path:
    """Return the path of a file or folder to write, or refuse it before any work is done.

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
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir():
        raise unwritable(path, NotADirectoryError(ENOTDIR, strerror(ENOTDIR)))
    if not access(path if path.exists() else parent, W_OK):
        raise unwritable(path, PermissionError(EACCES, strerror(EACCES)))
    return path


def check_file(path: str | Path) -> Path:
    """Return the path of a file to write, or refuse it before any work is done.

    Raises
    ------
    InputError
        If it is a folder, or nothing can be written there.

    Examples
    --------
    >>> check_file("ranks.txt").name
    'ranks.txt'
    """
    path = Path(path)
    if path.is_dir():
        raise unwritable(path, IsADirectoryError(EISDIR, strerror(EISDIR)))
    return check_writable(path)


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> Path:
    """Write ``chart`` to a .png, .svg or self-contained .html file, and return its path.

    Raises
    ------
    InputError
        If the suffix is none of these, or the file cannot be written.
    """
    path = check_picture(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        chart.save(str(path), scale_factor=2.0, inline=path.suffix == ".html")
    except OSError as error:
        raise unwritable(path, error) from None
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
    return _check(Path(path), TABLES)


def save_table(table: pl.DataFrame, path: str | Path) -> Path:
    """Write ``table`` to a .csv or .parquet file, and return its path.

    Raises
    ------
    InputError
        If the suffix is neither, or the file cannot be written.
    """
    path = check_table(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csv":
            table.write_csv(path)
        else:
            table.write_parquet(path)
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def _check(path: Path, suffixes: Sequence[str]) -> Path:
    if path.suffix not in suffixes:
        raise InputError(str(path), f"suffix '{path.suffix}'", f"one of {', '.join(suffixes)}")
    return check_file(path)
