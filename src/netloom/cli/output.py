"""What commands print and write beside their tables: JSON, advice, mappings, why it takes long."""

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from netloom.base.errors import InputError

FILES = "Files to write"
"""The group of options that name files."""

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(data: Any) -> None:
    """Print JSON that any reader takes: no NaN, no infinity."""
    from netloom.questions.register import plain

    typer.echo(json.dumps(plain(data), indent=2, allow_nan=False))


@contextmanager
def compilation_announced() -> Iterator[None]:
    """Say once that kernels are being compiled, when they are and a person is watching."""
    if not sys.stderr.isatty():
        yield
        return
    from numba.core import event

    class Announce(event.Listener):
        told = False

        def on_start(self, event: object) -> None:  # noqa: ARG002
            if not Announce.told:
                sys.stderr.write("Compiling kernels once (about 10 seconds) ...\n")
                Announce.told = True

        def on_end(self, event: object) -> None:
            del event

    with event.install_listener("numba:compile", Announce()):
        yield


@contextmanager
def advice_shown() -> Iterator[None]:
    """Print advice as one line on standard error as soon as it is given, the same line once."""
    told: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        line = f"netloom: {' '.join(str(message).split())}\n"
        if line not in told:
            told.add(line)
            sys.stderr.write(line)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def check_apart(paths: Iterable[Path]) -> None:
    """Refuse to write two outputs to one file.

    Raises
    ------
    InputError
        If two are the same file.
    """
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(str(path), "the same file for two outputs", "a file for each")
        seen.add(path.resolve())


Writer: TypeAlias = Callable[[], str]
"""Writes a file, and returns the line that says so."""


@contextmanager
def files_written(writers: Iterable[Writer], *, quiet: bool = False) -> Iterator[None]:
    """Write files, let the answer be printed, then name the files, except if ``quiet``.

    The files are there even if printing fails. A file that fails takes neither
    another file nor the answer with it: the first failure is raised in the end.
    """
    lines: list[str] = []
    failed: list[BaseException] = []
    for write in writers:
        try:
            lines.append(write())
        except KeyboardInterrupt as error:
            failed.insert(0, error)
            break
        except Exception as error:  # noqa: BLE001 (raised below)
            failed.append(error)
    try:
        yield
        if not quiet:
            for line in lines:
                typer.echo(line)
    except BaseException:
        _say_failed(failed)
        raise
    _say_failed(failed[1:])
    if failed:
        raise failed[0]


def _say_failed(failed: Iterable[BaseException]) -> None:
    for each in failed:
        typer.echo(f"netloom: {each}", err=True)
