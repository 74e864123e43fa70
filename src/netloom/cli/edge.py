"""The one edge at which a command fails: a line or silence, and the right exit code.

2 is a user's mistake. 1 is a machine that could not (memory, a full disk) or a plan that breaks a
rule. 130 is Ctrl-C, and 141 a reader that went away. A bug of netloom's own keeps its traceback.
"""

import codecs
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from netloom.base.errors import MOST_WORDS, InputError, shown

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
        _say(said)
        if code in (INTERRUPTED, NO_READER) or _is_output_full(error):
            _discard_output()
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
        return MISTAKE, shown(_usage(" ".join(error.format_message().split())), MOST_WORDS)
    return FAILED, None


def _usage(said: str) -> str:
    """Return what is wrong with an option, with the way to ask for several values at once."""
    where, sign, wrong = said.partition(": Input should be a valid ")
    if not sign:
        return said
    kind = "whole number" if wrong.startswith("integer") else wrong.split(",")[0]
    return f"{where}: expected one {kind} (several: write an experiment file, see netloom run -h)"


def _say(text: str) -> None:
    if text:
        with suppress(OSError):
            sys.stderr.write(f"netloom: {text.replace('->', '→')}\n")


def _is_output_full(error: BaseException) -> bool:
    """Whether a failure may be that of standard output: no file is named."""
    return isinstance(error, OSError) and error.filename is None


def _discard_output() -> None:
    """Let what is still to be written to standard output go, or Python complains at its end."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


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
