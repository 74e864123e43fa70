"""The edge of the command line: where its failures end, and what it prints and writes."""

import codecs
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from netloom.base.errors import MOST_WORDS, InputError, shown
from netloom.base.figures import plain

MISTAKE, FAILED, INTERRUPTED, NO_READER = 2, 1, 130, 141

SPELT = {
    "–": "-", "—": "-", "−": "-", "→": "->", "←": "<-", "×": "x", "·": ".", "•": "*", "…": "...",
    "±": "+-", "≤": "<=", "≥": ">=", "≈": "~", "µ": "u", "μ": "u", "χ": "chi", "ν": "nu",
    "λ": "lambda", "ρ": "rho", "σ": "sigma", "°": " degrees", "÷": "/", "²": "^2", "³": "^3",
    "½": "1/2", "∞": "inf", "√": "sqrt", "✓": "ok", "✗": "no", "─": "-", "━": "-", "│": "|",
    "┃": "|", "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " ",
    "\u202f": " ", "\u2009": " ",
}  # fmt: skip
"""What stands for characters that a terminal's encoding lacks."""


NO_MEMORY = ("can't start new thread", "failed to map segment", "Cannot allocate memory")
"""What errors say that are no MemoryError and yet are one."""


def run_guarded(command: Callable[[], object]) -> int:
    """Run a command and return its exit code. Failures are one line on standard error."""
    _open_streams()
    try:
        code = command()
        sys.stdout.flush()
    except BaseException as error:  # the last to see it
        code, said = _ending(error)
        if said is None:
            raise
        if said:
            with suppress(OSError):
                sys.stderr.write(f"netloom: {said.replace('->', '→')}\n")
        if code in (INTERRUPTED, NO_READER) or _is_output_full(error):
            # what is still to be written may go, or Python complains at its end
            with suppress(OSError, ValueError):
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, sys.stdout.fileno())
                os.close(nothing)
    with suppress(OSError):
        sys.stderr.flush()
    return code if isinstance(code, int) else 0


def _ending(error: BaseException) -> tuple[int, str | None]:
    """Return the exit code of a failure, and what is said of it ("": nothing, None: a bug)."""
    if isinstance(error, InputError):
        return error.exit_code, str(error)
    if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
        return NO_READER, ""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else FAILED, ""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":  # Typer's
        return INTERRUPTED, ""
    if isinstance(error, MemoryError) or any(sign in str(error) for sign in NO_MEMORY):
        asked = f" ({shown(str(error), MOST_WORDS)})" if str(error) else ""
        return FAILED, f"memory does not suffice{asked}: ask for something smaller, or raise limits"
    if isinstance(error, OSError):
        place = error.filename or ("standard output" if _is_output_full(error) else "the system")
        return FAILED, shown(f"{place}: {error.strerror or error}", MOST_WORDS)
    if hasattr(error, "format_message"):  # Typer's usage errors
        said = " ".join(error.format_message().split())
        where, sign, wrong = said.partition(": Input should be a valid ")
        if sign:  # there is a way to ask for several values at once
            kind = "whole number" if wrong.startswith("integer") else wrong.split(",")[0]
            more = "(several: write an experiment file, see netloom run -h)"
            said = f"{where}: expected one {kind} {more}"
        return MISTAKE, shown(said, MOST_WORDS)
    return FAILED, None


def _is_output_full(error: BaseException) -> bool:
    """Whether a failure may be that of standard output: no file is named."""
    return isinstance(error, OSError) and error.filename is None


def _open_streams() -> None:
    """Make all three streams usable: closed ones lead nowhere, others can write any text.

    A file that is opened while a stream is closed would get the stream's number, and everything
    that is printed.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    codecs.register_error("netloom", _spelt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not one that a test put there
            stream.reconfigure(errors="netloom")


def _spelt(error: UnicodeError) -> tuple[str, int]:
    """Return other words for the first character that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return SPELT.get(error.object[error.start], "?"), error.start + 1


FILES = "Files to write"
"""The group of options that name files."""

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(data: Any) -> None:
    """Print JSON that any reader takes: no NaN, no infinity."""
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
    told = set()

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
    seen = set()
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


@contextmanager
def judging(plan: Path, *, as_json: bool) -> Iterator[None]:
    """Print the rule that the plan breaks, if it breaks one, as JSON too where that was asked."""
    from netloom.phases import InvalidPlanError

    try:
        with compilation_announced():
            yield
    except InvalidPlanError as error:
        from netloom.questions.plans import broken

        verdict = broken(plan)
        found = {"plan": str(plan), "verified": False, "violation": str(error)}
        show_found(found | {"verdict": verdict.to_dict()}, verdict, as_json=as_json)
        raise


def show_found(figures: dict[str, Any], verdict: Any, *, as_json: bool) -> None:
    """Print what a plan file came to: its verdict, or all of it as JSON."""
    from netloom.cli.show import console, show_verdict

    if as_json:
        print_json(figures)
    else:
        show_verdict(console(), verdict)
