"""Files: small ones of text, read whole; and how all are written, beside and then in place."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.spec import check_size

if TYPE_CHECKING:
    from collections.abc import Iterator


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""What is no file that can be read whole, or replaced."""


def kind_of(path: str | Path) -> str:
    """Return "a file", what else is there, or "no such file" (a name too long is none either).

    Examples
    --------
    >>> kind_of("."), kind_of("/dev/null"), kind_of("nowhere/" + 300 * "x")
    ('a folder', 'a device', 'no such file')
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 (Path refuses what is no text)
    except PermissionError as error:
        return f"a place that cannot be entered ({error.strerror})"
    except (OSError, ValueError):  # ValueError: a null character
        return "no such file"
    return KINDS.get(stat.S_IFMT(mode), "a file")


def check_file(path: str | Path, *, wanted: str) -> Path:
    """Return the path of a file to read.

    Raises
    ------
    InputError
        If there is none, or it is a folder, a FIFO, a device or a socket.
    """
    kind = kind_of(path)
    if kind != "a file":
        raise InputError(str(path), kind, wanted)
    return Path(path)


def read_text(path: str | Path, *, wanted: str) -> str:
    """Return the text of a file of moderate size, or say that ``wanted`` was expected.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read or is larger than 256 MiB.
    """
    path = check_file(path, wanted=wanted)
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
    found = f"a place that cannot be written ({error.strerror or error})"
    return InputError(str(path), found, "a writable folder")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a new file beside ``path`` to write, and move it there once it is whole.

    Whoever reads ``path`` finds the old file or the new one, never a part; if writing fails, the
    old one stays. A symbolic link stays one, and a file keeps its permissions and owner.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "ranks"
    >>> with replacing(file) as new:
    ...     _ = new.write_text("0 1 2")
    >>> file.read_text(), len(list(file.parent.iterdir()))
    ('0 1 2', 1)
    """
    target = Path(os.path.realpath(path))
    kind = kind_of(target)
    if kind in KINDS.values():
        raise InputError(str(path), kind, "a file, or a name that is free")
    beside = target.with_name(f".netloom-{token_hex(6)}{target.suffix}")
    try:
        old = target.stat() if kind == "a file" else None
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        try:
            beside.touch(exist_ok=False)
        except PermissionError:
            if old is None:
                raise
            beside = target  # the file may be written, its folder may not
        if old is not None and beside != target:
            with suppress(OSError):  # owners are for root to give
                os.chown(beside, old.st_uid, old.st_gid)
            beside.chmod(stat.S_IMODE(old.st_mode))
        yield beside
        if beside != target:
            beside.replace(target)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        if beside != target:
            beside.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` to ``path``, whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8", newline="\n")
