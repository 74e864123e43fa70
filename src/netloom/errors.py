"""What netloom raises when a *user* is mistaken.

Every message names the field (or file and line), what was found there and what would be
right, in one line; the command line prints that line and exits with 2. A bug of netloom's own
is an assertion instead.
"""

from __future__ import annotations

MOST_WHERE, MOST_FOUND, MOST_WANTED = 200, 400, 600
"""Characters of each part of a message: what users gave is echoed, but not without end."""


def one_line(text: str, most: int = MOST_FOUND) -> str:
    r"""Return text as part of one line: what cannot be printed escaped, a long middle left out.

    Examples
    --------
    >>> one_line("a\tb\x1b[31m")
    'a\\tb\\x1b[31m'
    >>> one_line("x" * 1000, most=9)
    'xxxx…xxxx'
    """
    if len(text) > most:
        half = (most - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


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

    Examples
    --------
    >>> raise InputError("mesh:4xx4", "an empty side", "sides such as 4x4")
    Traceback (most recent call last):
        ...
    netloom.errors.InputError: mesh:4xx4: found an empty side; expected sides such as 4x4
    """

    def __init__(self, where: str, found: str, wanted: str = "") -> None:
        self.where = one_line(where, MOST_WHERE)
        self.found = one_line(found, MOST_FOUND)
        self.wanted = one_line(wanted, MOST_WANTED)
        hint = f"; expected {self.wanted}" if wanted else ""
        super().__init__(f"{self.where}: found {self.found}{hint}")


class NoRouteError(InputError):
    """No path leads from ``source`` to ``target`` (node numbers)."""

    def __init__(self, source: int, target: int, why: str, where: str = "routing") -> None:
        self.source = source
        self.target = target
        super().__init__(where, f"no route from node {source} to node {target}", why)


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
