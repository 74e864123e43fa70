"""What commands print and write beside their tables: JSON, advice, mappings, why it takes long."""

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from netloom.errors import InputError


def print_json(data: Any) -> None:
    """Print JSON that any reader takes: no NaN, no infinity."""
    from netloom.verbs.recorded import plain

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
    """Refuse files that cannot be written, before any work is done."""
    from netloom.report.save import check_picture, check_writable

    if picture is not None:
        check_picture(picture)
    for path in others:
        if path is not None:
            check_writable(path)
            if not path.absolute().parent.is_dir():
                raise InputError(str(path), "a folder that is not there", "a file in one that is")


def apply_mapping(
    result: Any, save: Path | None, rankfile: Path | None, form: str, hosts: Path | None
) -> list[str]:
    """Write the files that apply a mapping, and say in one line each how to use them."""
    import numpy as np

    from netloom.mapping import how_to_apply, read_hosts, write_mapping, write_rank_file

    lines = []
    if save is not None:
        write_mapping(save, result.node_of, result.topology.name)
        lines.append(f"Mapping: {save}")
    if rankfile is not None:
        names = result.topology.node_labels or None if hosts is None else read_hosts(hosts)
        write_rank_file(rankfile, result.node_of, form, names)
        tasks = result.graph.num_tasks
        busiest = int(np.bincount(result.node_of).max())
        lines.append(f"Run it: {how_to_apply(form, rankfile, tasks, busiest)}")
    return lines
