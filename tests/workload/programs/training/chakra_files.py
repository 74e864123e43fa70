"""Chakra files made by hand: fields by their numbers in ``et_def.proto``, apart from our writer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COMP, SEND, RECEIVE, COLL = 4, 5, 6, 7


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last with the highest bit."""
    digits = []
    while True:
        value, digit = divmod(value, 128)
        digits.append(digit + 128 * (value > 0))
        if not value:
            return bytes(digits)


def told(number: int, value: int | str | bytes) -> bytes:
    """Return a field: a varint, or bytes with their length."""
    if isinstance(value, int):
        return varint(8 * number) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(8 * number + 2) + varint(len(raw)) + raw


def attribute(name: str, value: int | str | bool) -> bytes:
    """Return field 10 of a node: int64, bool or string."""
    if isinstance(value, bool):
        return told(10, told(1, name) + told(27, int(value)))
    return told(10, told(1, name) + told(29 if isinstance(value, str) else 9, value))


def node(
    number: int, kind: int, *, micros: int = 0, after: list[int] | None = None, **said: Any
) -> bytes:
    """Return a node; dependencies are packed."""
    parts = [told(1, number), told(2, f"n{number}"), told(3, kind)]
    if after:
        parts.append(told(5, b"".join(map(varint, after))))
    if micros:
        parts.append(told(7, micros))
    return b"".join([*parts, *(attribute(*each) for each in said.items())])


def trace(*nodes: bytes, metadata: bytes = told(1, "0.0.4")) -> bytes:
    """Return a file."""
    return b"".join(varint(len(each)) + each for each in (metadata, *nodes))


def written(folder: Path, *ranks: list[bytes]) -> str:
    """Write a file per rank, and return the pattern."""
    for rank, nodes in enumerate(ranks):
        (folder / f"t.{rank}.et").write_bytes(trace(*nodes))
    return f"{folder}/t.%d.et"
