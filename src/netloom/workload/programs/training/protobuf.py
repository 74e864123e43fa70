"""The wire format of protocol buffers: fields with numbers, read without and written to a schema.

A message is a run of fields. Each begins with a varint, 8 · number + wire type: 0 a varint, 1 eight
bytes, 2 a length and so many bytes, 5 four bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
_FIXED = {EIGHT_BYTES: 8, FOUR_BYTES: 4}

MOST_FIELD = 2**29 - 1
"""Highest number of a field."""


class Span(NamedTuple):
    """A part of a file, and the name of the file."""

    data: bytes
    begin: int
    end: int
    where: str

    def error(self, at: int, found: str, wanted: str = "protocol buffers") -> InputError:
        """Return the error that names the file and the byte."""
        return InputError(f"{self.where}, byte {at}", found, wanted)

    def text(self) -> str:
        """Return the bytes as text."""
        return self.data[self.begin : self.end].decode("utf-8", errors="replace")


def read_varint(span: Span, at: int) -> tuple[int, int]:
    """Return a varint and the place behind it: 7 bits a byte, the lowest first, 64 in all.

    Raises
    ------
    InputError
        Naming the byte, if it does not end in the span or has more than 10 bytes.

    Examples
    --------
    >>> read_varint(Span(bytes([0x80, 0x80, 0x40]), 0, 3, "a.et"), 0)
    (1048576, 3)
    """
    value = 0
    for shift in range(0, 70, 7):
        if at + shift // 7 >= span.end:
            raise span.error(at, "a number that is cut off")
        byte = span.data[at + shift // 7]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), at + shift // 7 + 1
    raise span.error(at, "a number of more than 10 bytes")


def fields(span: Span) -> Iterator[tuple[int, int, int | Span]]:
    """Yield number, wire type and value of each field: a number for varints, else its bytes.

    Raises
    ------
    InputError
        Naming the byte, if a field is cut off or of another kind.

    Examples
    --------
    >>> field = bytes([0x08, 0x96, 0x01])
    >>> list(fields(Span(field, 0, 3, "a.et")))
    [(1, 0, 150)]
    """
    at = span.begin
    while at < span.end:
        begin = at
        key, at = read_varint(span, at)
        number, wire = key >> 3, key & 7
        if not 1 <= number <= MOST_FIELD:
            raise span.error(begin, f"a field of number {number}")
        if wire == VARINT:
            value, at = read_varint(span, at)
            yield number, wire, value
            continue
        if wire == BYTES:
            length, at = read_varint(span, at)
        elif wire in _FIXED:
            length = _FIXED[wire]
        else:
            raise span.error(begin, f"a field of wire type {wire}")
        if length > span.end - at:
            raise span.error(begin, f"a field of {length} bytes, of which {span.end - at} are left")
        yield number, wire, Span(span.data, at, at + length, span.where)
        at += length


def varints(value: int | Span) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or not.

    Examples
    --------
    >>> list(varints(Span(bytes([3, 0x96, 0x01]), 0, 3, "a.et"))), list(varints(7))
    ([3, 150], [7])
    """
    if isinstance(value, int):
        yield value
        return
    at = value.begin
    while at < value.end:
        number, at = read_varint(value, at)
        yield number


def varint(value: int) -> bytes:
    """Return a number as a varint. Negative ones as 64 bits.

    Examples
    --------
    >>> varint(150).hex()
    '9601'
    """
    value &= 2**64 - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def number_field(number: int, value: int) -> bytes:
    """Return a field that is a varint."""
    return varint(number << 3 | VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Return a field of bytes: a text, a message, packed numbers.

    Examples
    --------
    >>> bytes_field(2, b"ab").hex()
    '12026162'
    """
    return varint(number << 3 | BYTES) + varint(len(value)) + value
