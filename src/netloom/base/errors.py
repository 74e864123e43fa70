"""What netloom raises when a *user* is mistaken.

Every message names the field (or file and line), what was found there and what would be
right, in one line. The command line prints that line and exits with 2. What a message echoes is
shortened, and control characters in it are escaped. A bug of netloom's own is an assertion instead.
"""

from __future__ import annotations

import re
from typing import ClassVar

MOST_QUOTED = 60
"""Most characters of what is echoed between quotation marks."""

MOST_WORDS = 600
"""Most characters of what a message says was found, or is expected."""

_QUOTED = re.compile(rf"(?<!\w)(['\"])([^'\"]{{{MOST_QUOTED + 1},}})\1(?!\w)")


def shown(text: str, most: int = MOST_QUOTED) -> str:
    r"""Return text as one line shows it: its middle left out if it is long, nothing but print.

    Control characters, ends of lines and halves of surrogate pairs are written as escapes.

    Examples
    --------
    >>> print(shown("a\tb\nc"))
    a\tb\nc
    >>> shown("0123456789" * 10, 11)
    '01234…56789'
    """
    text = _cut(text, most)
    if text.isprintable():
        return text
    escaped = (
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
    return _cut("".join(escaped), most)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}…{text[-((most - 1) // 2) :]}"


def _one_line(text: str) -> str:
    """Return a part of a message: what it quotes is shortened, and if need be the rest as well."""
    text = _QUOTED.sub(lambda found: f"{found[1]}{shown(found[2])}{found[1]}", text)
    return shown(text, MOST_WORDS)


class InputError(ValueError):
    """A field, file or argument that cannot be used as given.

    Parameters
    ----------
    where
        The field, or ``file`` or ``file:line``, that holds the mistake.
    found
        What was found there.
    wanted
        What would be right (optional, but nearly always worth saying).

    Attributes
    ----------
    exit_code
        What a command exits with.

    Examples
    --------
    >>> raise InputError("mesh:4xx4", "an empty side", "sides such as 4x4")
    Traceback (most recent call last):
        ...
    netloom.InputError: mesh:4xx4: found an empty side; expected sides such as 4x4
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, where: object, found: object, wanted: str = "") -> None:
        self.where, self.found, self.wanted = (_one_line(str(x)) for x in (where, found, wanted))
        hint = f"; expected {self.wanted}" if wanted else ""
        super().__init__(f"{self.where}: found {self.found}{hint}")


class NoRouteError(InputError):
    """No path leads from ``source`` to ``target`` (their numbers)."""

    def __init__(self, source: int, target: int, why: str, where: str = "routing") -> None:
        self.source = source
        self.target = target
        super().__init__(where, f"no route from host {source} to host {target}", why)


class DeadlockError(InputError):
    """Packets that can wait, or do wait, for each other in a circle.

    Parameters
    ----------
    where
        The routing and network, or the network and cycle, in which they do.
    cycle
        The channels in a circle: each is held while the next is waited for, the last while the
        first is. Empty where none is known.
    wanted
        What would free them.
    """

    def __init__(self, where: str, cycle: tuple[str, ...], wanted: str = "") -> None:
        self.cycle = cycle
        shown = ", ".join(cycle if len(cycle) <= 8 else (*cycle[:6], f"… {len(cycle) - 6} more"))
        found = f"channels that wait for each other in a circle: {shown}" if cycle else ""
        super().__init__(where, found or "packets that block each other for good", wanted)


class NotAMappingError(InputError):
    """A placement of tasks that is not a mapping onto the nodes of the network."""


for _each in (InputError, NoRouteError, DeadlockError, NotAMappingError):
    _each.__module__ = "netloom"  # where users find them, and where tracebacks say they are
