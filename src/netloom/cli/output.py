"""What the commands print beside their tables: JSON, advice, and why the first run takes longer."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer


def print_json(data: Any) -> None:
    """Print JSON that any reader takes: no NaN, no infinity."""
    typer.echo(json.dumps(_finite(data), indent=2, allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and data - data != 0:
        return None
    return data


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
        sys.stderr.write(f"netloom: {message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
