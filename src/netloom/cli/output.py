"""What commands print and write beside their tables: JSON, advice, mappings, why it takes long."""

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import typer

from netloom.errors import InputError

DEFAULT_FORMAT = "openmpi-rankfile"
"""Of rank files."""


def print_json(data: Any) -> None:
    """Print JSON that any reader takes: no NaN, no infinity."""
    from netloom.questions.recorded import plain

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
                sys.stderr.write(
                    "Compiling kernels: up to half a minute, once; kept for later runs.\n"
                )
                Announce.told = True

        def on_end(self, event: object) -> None:
            del event

    with event.install_listener("numba:compile", Announce()):
        yield


@contextmanager
def advice_shown() -> Iterator[None]:
    """Print advice as one line on standard error as soon as it is given."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        sys.stderr.write(f"netloom: {' '.join(str(message).split())}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def check_files(picture: Path | None, others: Iterable[Path | None] = ()) -> None:
    """Refuse files that cannot be written, before any work is done; ``None`` is no file.

    Raises
    ------
    InputError
        If the folder of one is not there, nothing can be written there, or two are the same file.
    """
    from netloom.report.save import check_picture, check_writable

    seen: set[Path] = set()
    if picture is not None:
        seen.add(check_picture(picture).resolve())
    for path in others:
        if path is None:
            continue
        check_writable(path)
        if not path.absolute().parent.is_dir():
            raise InputError(str(path), "a folder that is not there", "a file in one that is")
        if path.resolve() in seen:
            raise InputError(str(path), "the same file for two outputs", "a file for each")
        seen.add(path.resolve())


Writer: TypeAlias = Callable[[], str]
"""Writes a file, and returns the line that says so."""


def write_each(writers: Iterable[Writer], *, quiet: bool = False) -> bool:
    """Write files one after the other; one that fails takes no other with it.

    Each file that was written gets its line, except if ``quiet``.

    Returns
    -------
    wrote
        Whether there was anything to write.

    Raises
    ------
    InputError
        The first failure, after all files had their turn; others get a line on standard error.
    """
    failed: list[InputError] = []
    wrote = False
    for write in writers:
        wrote = True
        try:
            line = write()
        except InputError as error:
            failed.append(error)
            continue
        if not quiet:
            typer.echo(line)
    for other in failed[1:]:
        typer.echo(f"netloom: {other}", err=True)
    if failed:
        raise failed[0]
    return wrote


def check_rank_file(form: str, hosts: Path | None) -> None:
    """Refuse a rank file's format, or host names, before any work.

    Raises
    ------
    InputError
        If the format is not known, or the file of host names cannot be read.
    """
    if form != DEFAULT_FORMAT:
        from netloom.mapping import FORMATS

        if form not in FORMATS:
            raise InputError("rankfile_format", f"'{form}'", f"one of {', '.join(FORMATS)}")
    if hosts is not None:
        from netloom.mapping import read_hosts

        read_hosts(hosts)


def mapping_writers(
    result: Any,
    save: Path | None,
    rankfile: Path | None,
    form: str,
    hosts: Path | None,
    nodes: Any = None,
) -> Iterator[Writer]:
    """Yield what writes the files that apply a mapping; each returns a line on how to use its own.

    ``nodes`` are those of the allocation; all by default.
    """
    import numpy as np

    from netloom.mapping import how_to_apply, read_hosts, write_mapping, write_rank_file

    def write_nodes(path: Path) -> str:
        write_mapping(path, result.node_of, result.topology.name)
        return f"Mapping: {path}"

    def write_ranks(path: Path) -> str:
        names = result.topology.node_labels or None if hosts is None else read_hosts(hosts)
        write_rank_file(path, result.node_of, form, names, nodes)
        busiest = int(np.bincount(result.node_of).max())
        return f"Run it: {how_to_apply(form, path, result.graph.num_tasks, busiest)}"

    if save is not None:
        yield partial(write_nodes, save)
    if rankfile is not None:
        yield partial(write_ranks, rankfile)
