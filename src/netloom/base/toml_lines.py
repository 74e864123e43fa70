"""Where in a TOML file a key stands: its parser forgets that."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''''  # strings
    r"""|\#[^\n]*|\n|[\[\]{}=.,]|[^\s\[\]{}=.,#"']+""",
    re.DOTALL,
)


def find_lines(text: str) -> dict[tuple[str, int, str], int]:
    r"""Return the line of every key of valid TOML, by table, which of that name, and key.

    The key "" stands for the head of the table. The table "" is what comes before all others.
    Keys with dots are in tables of their own. Those between braces are not looked for.

    Examples
    --------
    >>> lines = find_lines('title = "x"\n[[simulate]]\nload = 0.1\n[[simulate]]\nload = 0.2')
    >>> lines["", 0, "title"], lines["simulate", 1, "load"]
    (1, 5)
    """
    found: dict[tuple[str, int, str], int] = {}
    seen: Counter[str] = Counter()
    table, place = "", 0
    for number, parts, is_head in _statements(text):
        if is_head:
            table = ".".join(parts)
            place = seen[table]
            seen[table] += 1
            found[table, place, ""] = number
            continue
        inner, which = table, place
        for depth, name in enumerate(parts):
            if depth:  # the table that a key with dots is in
                found.setdefault((inner, which, ""), number)
            found.setdefault((inner, which, name), number)
            inner, which = f"{inner}.{name}".removeprefix("."), 0
    return found


def _statements(text: str) -> Iterator[tuple[int, list[str], bool]]:
    """Yield the line, the names and whether it is a head, of every head and key of a file."""
    names: list[str] = []
    line, began, depth, is_head, in_value = 1, 1, 0, False, False
    for piece in (found[0] for found in TOKEN.finditer(text + "\n")):
        if piece == "\n" and not depth:
            if names:
                yield began, names, is_head
            names, is_head, in_value = [], False, False
        elif in_value:
            depth += (piece in "[{") - (piece in "]}")
        elif piece == "=":
            in_value = True
        elif piece == "[":
            is_head = True
        elif piece[0] not in "].#\n":
            began = began if names else line
            names.append(piece.strip("\"'"))
        line += piece.count("\n")
