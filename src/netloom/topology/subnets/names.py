"""What descriptions of adapters say: the computer they are in, and which of its adapters."""

from __future__ import annotations

import re

_MODEL = re.compile(r"^(MT\d+|ConnectX|Mellanox|NVIDIA|localhost|ubuntu|\(none\)|node|hca)", re.I)
"""What a description begins with where nobody set it: it names no computer."""

_NUMBER = re.compile(r"(\d+)")


def host_of(description: str, guid: int) -> tuple[str, str]:
    """Return the name of an adapter and of its computer; the latter empty where none is said.

    All adapters whose descriptions begin with the same word are in one computer. An adapter that
    bears the name of its model is called by its GUID.

    Examples
    --------
    >>> host_of("a08-p1-dgx-04-c01 mlx5_5", 0x1)
    ('a08-p1-dgx-04-c01/mlx5_5', 'a08-p1-dgx-04-c01')
    >>> host_of("MT4129 ConnectX7   Mellanox Technologies", 0xE09D730300858D88)
    ('0xe09d730300858d88', '')
    >>> host_of("Hca0", 0x1)
    ('Hca0', '')
    """
    words = description.replace("'", " ").split()
    if not words or (_MODEL.match(words[0]) and len(words) > 1):
        return f"0x{guid:016x}", ""
    return "/".join(words), words[0] if len(words) > 1 else ""


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that orders names as people do, ``node9`` before ``node10``.

    Examples
    --------
    >>> sorted(["node10", "node9", "Node1", "10", "9"], key=natural)
    ['9', '10', 'Node1', 'node9', 'node10']
    """
    parts = _NUMBER.split(name)
    return tuple((0, int(part), part) if part.isdigit() else (1, 0, part) for part in parts if part)
