"""Small text files as users write them: read whole, comments and blank lines left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.spec import check_size

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_text(path: str | Path, *, wanted: str) -> str:
    """Return the text of a file of moderate size, or say that ``wanted`` was expected.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read or is larger than 256 MiB.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(str(path), "no such file", wanted)
    try:
        check_size(path.stat().st_size, where=str(path), what="bytes")
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise InputError(str(path), f"an unreadable file ({error.strerror})", wanted) from None


def read_lines(path: str | Path, *, wanted: str) -> Iterator[tuple[str, str]]:
    r"""Yield ``file:line`` and words of every line that is not blank once ``#`` comments are cut.

    Raises
    ------
    InputError
        As ``read_text`` does.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "nodes"
    >>> _ = file.write_text("# nodes\n 3\n\n1  # spare\n")
    >>> [(where.split(":")[-1], words) for where, words in read_lines(file, wanted="nodes")]
    [('2', '3'), ('4', '1')]
    """
    for number, line in enumerate(read_text(path, wanted=wanted).splitlines(), start=1):
        words = line.split("#", 1)[0].strip()
        if words:
            yield f"{path}:{number}", words


def unwritable(path: str | Path, error: OSError) -> InputError:
    """Return the error that says that ``path`` cannot be written.

    Examples
    --------
    >>> print(unwritable("ranks.txt", OSError(13, "Permission denied")))
    ranks.txt: found a place that cannot be written (Permission denied); expected a writable folder
    """
    found = f"a place that cannot be written ({error.strerror})"
    return InputError(str(path), found, "a writable folder")
