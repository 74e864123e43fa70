"""Where in a TOML file a key stands: its parser forgets that."""

from __future__ import annotations

import re
from collections import Counter

HEAD = re.compile(r"\s*(\[{1,2})\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
KEY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*=""")


def find_lines(text: str) -> dict[tuple[str, int, str], int]:
    r"""Return the line of every key, by the table it is in, which one of that name, and the key.

    The key "" stands for the head of the table; the table "" is what comes before all others.

    Parameters
    ----------
    text
        A TOML file that can be parsed.

    Examples
    --------
    >>> lines = find_lines('title = "x"\n[[simulate]]\nload = 0.1\n[[simulate]]\nload = 0.2')
    >>> lines["", 0, "title"], lines["simulate", 1, "load"]
    (1, 5)
    """
    found: dict[tuple[str, int, str], int] = {}
    seen: Counter[str] = Counter()
    table, place = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if head := HEAD.match(line):
            table = ".".join(part.strip().strip("\"'") for part in head[2].split("."))
            place = seen[table]
            seen[table] += 1
            found[table, place, ""] = number
        elif key := KEY.match(line):
            name = next(each for each in key.groups() if each)
            found.setdefault((table, place, name), number)
    return found
