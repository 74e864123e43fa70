"""Run a case as the command line does, in this process, and say what is wrong with how it ends."""

from __future__ import annotations

from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from traceback import format_exc

from netloom.cli.app import app
from netloom.cli.edge import advice_shown, run_guarded
from tests.attack.commands import case

MOST_CPU_SECONDS = 120
"""Of one case; with kernels that are not compiled yet."""

LONGEST_LINE = 2000


def wrong_with(number: int) -> str:
    """Return what is wrong with a case, and its arguments; "" if nothing is."""
    with TemporaryDirectory() as name, chdir(name):
        arguments = case(number, Path(name))
        problem = wrong_end(arguments)
    return f"case {number}: {arguments}: {problem}" if problem else ""


def wrong_end(arguments: list[str]) -> str:
    """Return what is wrong with how a command ends; "" if nothing is."""
    said = StringIO()
    began = process_time()
    try:
        with redirect_stdout(StringIO()), redirect_stderr(said), advice_shown():
            code = run_guarded(lambda: app(arguments, standalone_mode=False))
        problem = _problem(code, said.getvalue())
    except BaseException:  # noqa: BLE001  # a bug, of whatever kind
        problem = format_exc()
    took = process_time() - began
    if not problem and took > MOST_CPU_SECONDS:
        problem = f"{took:.0f} CPU seconds"
    return problem


def _problem(code: int, said: str) -> str:
    lines = said.splitlines()
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if code == 2 and not lines:
        return "exit code 2 without a word"
    for line in lines:
        if not line.startswith("netloom: "):
            return f"a line on standard error that is not netloom's: {line[:200]!r}"
        if len(line) > LONGEST_LINE or not line.isprintable():
            return f"a line too long, or with control characters: {line[:200]!r}"
    return ""
