"""Files that may be packed: opened, and weighed before what they hold is taken in."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.base.textfiles import check_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_COMMENT_BYTES = 2**20
"""Bytes of such a file besides its entries."""

MOST_UNPACKED = 2**26, 100
"""Bytes that a packed file may unpack to: so many, or so many times its size."""


def check_head(path: Path) -> None:
    """Refuse a file whose first lines are too long to be those of a matrix."""
    with ExitStack() as stack:
        stream = stack.enter_context(opened(path))
        if stream is path:
            stream = stack.enter_context(path.open("rb"))
        left = MOST_COMMENT_BYTES
        while (line := stream.readline(left + 1)).startswith(b"%") or not line.strip():
            left -= len(line)
            if left < 0:
                found = f"over {MOST_COMMENT_BYTES} bytes before its size"
                raise InputError(str(path), found, "comments no longer than that")
            if not line:
                return


def check_bytes(path: Path, most: int) -> int:
    """Return how many bytes a text has, unpacked. Refuse it while it is read if it is too large."""
    if path.suffix != ".gz":
        with path.open("rb") as stream:
            return check_lines(stream, str(path), most_bytes=most)
    unpacked = most_unpacked(path)
    with opened(path) as stream:
        try:
            return check_lines(stream, str(path), most_bytes=min(most, unpacked))
        except InputError as error:
            if most <= unpacked or "bytes of text" not in error.found:
                raise
            raise InputError(str(path), error.found, "an unpacked file: use gunzip") from None


def most_unpacked(path: Path) -> int:
    """Return how many bytes a packed file may unpack to."""
    least, times = MOST_UNPACKED
    return max(least, times * path.stat().st_size)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Yield what scipy reads best: a path, or a stream that we close whatever it comes to.

    Its text ends in a line's end, for scipy reads on past a last line that has none and anything
    behind its number.
    """
    if path.suffix == ".gz":
        import gzip

        with gzip.open(path) as stream:
            yield BufferedReader(_Ended(stream))
        return
    with path.open("rb") as stream:
        stream.seek(max(path.stat().st_size - 1, 0))
        whole = stream.read() == b"\n"
        stream.seek(0)
        yield path if whole else BufferedReader(_Ended(stream))


class _Ended(RawIOBase):
    """A stream of bytes with a line's end behind it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.ended = False

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as one reading gets, and return how far."""
        read = int(self.stream.readinto(buffer))
        if read or self.ended:
            return read
        self.ended = True
        buffer[0:1] = b"\n"
        return 1
