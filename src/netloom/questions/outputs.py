"""The files that answers can be written to, each declared once: its option, checks and writer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from netloom.base.errors import InputError
from netloom.drawing.save import check_picture, check_table, check_writable, save_chart, save_table
from netloom.questions.recorded import chart_of

Writer: TypeAlias = Callable[[Any, Path, Mapping[str, str]], str]
"""Writes an answer to a file with some settings, and returns the line that says so."""

PICTURES = ".png, .svg, .pdf or .html"


@dataclass(frozen=True)
class Setting:
    """A choice that says how a file is written: its name, its default, and what it is."""

    name: str
    default: str
    said: str


@dataclass(frozen=True)
class Output:
    """A file that an answer can be written to.

    Attributes
    ----------
    name
        The option that names the file.
    said
        What is in it.
    write
        Writes it.
    check
        Raises InputError before any work is done if such a file cannot be written.
    refuse
        Raises InputError if what the question has made ready cannot be written so: given the
        question, that, and the settings.
    settings
        What else says how it is written.
    asks
        A field of the question that is true where the file is asked for, or "".
    """

    name: str
    said: str
    write: Writer
    check: Callable[[Path], object] = check_writable
    refuse: Callable[[Any, Any, Mapping[str, str]], None] | None = None
    settings: tuple[Setting, ...] = ()
    asks: str = ""


def picture_output(
    name: str, said: str, draw: Callable[[Any], Any], title: str = "Picture"
) -> Output:
    """Return the output of a picture that ``draw`` makes of an answer."""

    def write(answer: Any, path: Path, _: Mapping[str, str]) -> str:
        return f"{title}: {save_chart(draw(answer), path)}"

    return Output(name, f"{said}: {PICTURES}.", write, check_picture)


PLOT = picture_output("plot", "Picture", chart_of)


def table_output(name: str, said: str, method: str) -> Output:
    """Return the output of one of an answer's tables."""

    def write(answer: Any, path: Path, _: Mapping[str, str]) -> str:
        title = name.removeprefix("save_").capitalize()
        return f"{title}: {save_table(getattr(answer, method)(), path)}"

    return Output(name, said, write, check_table)


def check_in_folder(path: Path) -> None:
    """Refuse a file that cannot be written, or whose folder is not there."""
    check_writable(path)
    if not path.absolute().parent.is_dir():
        raise InputError(str(path), "a folder that is not there", "a file in one that is")
