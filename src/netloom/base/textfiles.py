"""Files: read whole, written beside and then in place, and where a key of TOML stands.

Small files of text are read whole, and large ones are refused. All are written beside, and then
moved in place. Python's parser of TOML forgets where a key stands, so that is looked for apart.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from netloom.base.errors import InputError

# -- lines of TOML ---------------------------------------------------------------------------------


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
    found = {}
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


# -- reading and writing ---------------------------------------------------------------------------


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""What is no file that can be read whole, or replaced."""


def file_kind(path: str | Path) -> str:
    """Return "a file", what else is there, or "no such file" (a name too long is none either).

    Examples
    --------
    >>> file_kind("."), file_kind("/dev/null"), file_kind("nowhere/" + 300 * "x")
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
    kind = file_kind(path)
    if kind != "a file":
        raise InputError(path, kind, wanted)
    return Path(path)


GZIP = b"\x1f\x8b"
"""How a file that gzip compressed begins."""

MOST_BYTES = 2**28
"""Most bytes of a text file."""

MOST_LINE_BYTES = 2**22
"""Most bytes of a line of a file that is read line by line."""

MOST_BLANK_LINES = 2**20
"""Most blank lines of such a file."""

MOST_ELEMENTS = 2**22
"""Most XML elements of a GraphML file."""

MOST_DEPTH = 64
"""Most XML elements of a GraphML file inside each other."""

CHUNK_BYTES = 2**20
"""Bytes that are looked at at a time."""


def read_text(path: str | Path, *, wanted: str, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a file of moderate size, or say that ``wanted`` was expected.

    A file that gzip compressed is unpacked, whatever its name.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read or is larger than ``most_bytes``.
    """
    data = read_bytes(path, wanted=wanted, most_bytes=most_bytes)
    text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_bytes(path: str | Path, *, wanted: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Return what is in a file of moderate size, as ``read_text`` does.

    Raises
    ------
    InputError
        As ``read_text`` does.
    """
    path = check_file(path, wanted=wanted)
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size  # what is asked for is allocated
            data = stream.read(min(size, most_bytes) + 1)
            if len(data) > size:  # it has grown, or has no size
                data += b"".join(_chunks(stream, most_bytes - size))
            if data.startswith(GZIP):
                stream.seek(0)
                with gzip.open(stream) as unpacked:
                    data = b"".join(_chunks(unpacked, most_bytes))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(path, "a broken gzip file", wanted) from None
    except OSError as error:
        raise InputError(path, f"an unreadable file ({error.strerror})", wanted) from None
    if len(data) > most_bytes:
        raise InputError(path, f"over {most_bytes} bytes", f"at most {most_bytes}")
    return data


def _chunks(stream: IO[bytes] | gzip.GzipFile, most_bytes: int) -> Iterator[bytes]:
    """Yield what is left of a stream, until there was more than ``most_bytes`` of it."""
    while most_bytes >= 0 and (chunk := stream.read(CHUNK_BYTES)):
        most_bytes -= len(chunk)
        yield chunk


def text_lines(path: str | Path, *, wanted: str) -> Iterator[tuple[int, str]]:
    r"""Yield number and text of every line of a file, read one at a time.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, or ``check_lines`` refuses it.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "nodes"
    >>> _ = file.write_text("3\n\n1")
    >>> list(text_lines(file, wanted="nodes"))
    [(1, '3\n'), (2, '\n'), (3, '1')]
    """
    path = check_file(path, wanted=wanted)
    try:
        with path.open("rb") as stream:
            check_lines(stream, str(path))
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            yield from enumerate(lines, start=1)
    except OSError as error:
        raise InputError(path, f"an unreadable file ({error.strerror})", wanted) from None


def check_lines(stream: IO[bytes], where: str, *, most_bytes: int = MOST_BYTES) -> int:
    r"""Return the size of a text. Refuse what would take much memory, or long, to read.

    Parameters
    ----------
    stream, where
        What is to be read, perhaps while it is unpacked, and the name of the file.
    most_bytes
        Most bytes in all.

    Raises
    ------
    InputError
        If there are more bytes, a line is longer than ``MOST_LINE_BYTES``, more than
        ``MOST_BLANK_LINES`` are blank, or a byte is zero, on which some parsers crash.

    Examples
    --------
    >>> from io import BytesIO
    >>> check_lines(BytesIO(b"0 1\n" * 9), "edges.txt", most_bytes=20)
    Traceback (most recent call last):
        ...
    netloom.InputError: edges.txt: found over 20 bytes of text; expected at most 20
    """
    size = line = blank = 0
    number = 1
    before = b""
    while chunk := stream.read(CHUNK_BYTES):
        size += len(chunk)
        if size > most_bytes:
            raise InputError(where, f"over {most_bytes} bytes of text", f"at most {most_bytes}")
        if b"\0" in chunk:
            raise InputError(where, "a byte that is zero", "a text, in UTF-8")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        line = line + len(chunk) if first < 0 else max(line + first, len(chunk) - last - 1)
        if line > MOST_LINE_BYTES:
            found = f"a line of over {MOST_LINE_BYTES} bytes"
            raise InputError(f"{where}:{number}", found, "shorter lines")
        number += chunk.count(b"\n")
        line = line if first < 0 else len(chunk) - last - 1
        dense = before + chunk.translate(None, b" \t")
        blank += dense.count(b"\n\n")  # every second of a run of them
        before = dense[-1:]
        if 2 * blank > MOST_BLANK_LINES:
            raise InputError(where, f"over {MOST_BLANK_LINES} blank lines", "fewer")
    return size


def check_graphml(path: Path) -> None:
    """Refuse a GraphML file that would take far more memory than such graphs need.

    What is no XML is left to the parser that reads it.

    Raises
    ------
    InputError
        If it is larger than ``MOST_BYTES``, defines entities, has more than ``MOST_ELEMENTS`` or
        one tag of over ``MOST_LINE_BYTES``, or nests deeper than ``MOST_DEPTH``.
    """
    from xml.parsers import expat

    depth = count = 0

    def start(*_: object) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > MOST_DEPTH:
            raise InputError(at(), f"over {MOST_DEPTH} elements inside each other", "GraphML")
        if count > MOST_ELEMENTS:
            wanted = f"at most {MOST_ELEMENTS}; an edge list, .mtx or .csv takes more"
            raise InputError(at(), f"over {MOST_ELEMENTS} XML elements", wanted)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(name: str, *_: object) -> None:
        raise InputError(at(), f"an entity '{name}' of its own", "GraphML without entities")

    def at() -> str:
        return f"{path}:{parser.CurrentLineNumber}"

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler, parser.DefaultHandler = entity, lambda _: None
    size = 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            size += len(chunk)
            if size > MOST_BYTES:
                raise InputError(path, f"over {MOST_BYTES} bytes", f"at most {MOST_BYTES}")
            try:
                parser.Parse(chunk)
            except expat.ExpatError:
                return
            if size - parser.CurrentByteIndex > MOST_LINE_BYTES:
                raise InputError(at(), f"a tag of over {MOST_LINE_BYTES} bytes", "shorter ones")


AT_ONCE = 2**16
"""Bytes of JSON that are measured at a time: arrays of them stay in a processor's cache."""

MOST_VALUES = 2**22
"""Most values, lists and records of a file in JSON."""


def parse_json(
    text: str,
    path: str | Path,
    *,
    wanted: str,
    most_values: int = MOST_VALUES,
    record: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Return what a text in JSON says, as plain data. Its size is checked before it is read.

    Parameters
    ----------
    path, wanted
        The file, and what errors say was expected.
    most_values
        Most values, lists and records.
    record
        What makes a record of its keys and values. By default a dict.

    Raises
    ------
    InputError
        If there are more values, over ``MOST_DEPTH`` lists and records inside each other, or it is
        no JSON. The error names the line.

    Examples
    --------
    >>> parse_json('{"a": [1, 2]}', "a.json", wanted="JSON")
    {'a': [1, 2]}
    >>> parse_json("[" * 99 + "]" * 99, "a.json", wanted="JSON")
    Traceback (most recent call last):
        ...
    netloom.InputError: a.json: found over 64 lists and records inside each other; \
expected JSON
    """
    deepest, values = _nesting(text)
    if deepest > MOST_DEPTH:
        found = f"over {MOST_DEPTH} lists and records inside each other"
        raise InputError(path, found, wanted)
    if values > most_values:
        found = f"over {most_values:,} values"
        raise InputError(path, found, f"at most {most_values:,}: {wanted}")
    try:
        return json.loads(text, object_pairs_hook=record)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}", f"no JSON ({error.msg})", wanted) from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, "a number of too many digits", wanted) from None


def _nesting(text: str) -> tuple[int, int]:
    """Return how deep JSON is, and about how many values, lists and records it has."""
    import numpy as np

    data = text.encode("utf-8", "replace").replace(b"\\\\", b"").replace(b'\\"', b"")
    deepest = depth = values = quotes = 0
    for start in range(0, len(data), AT_ONCE):
        sign = np.frombuffer(data, np.uint8, min(AT_ONCE, len(data) - start), start)
        before = np.cumsum(sign == ord('"'), dtype=np.int32) + quotes
        sign = np.where(before % 2, 0, sign)  # of strings nothing counts
        opens, closes = ((sign == ord(a)) | (sign == ord(b)) for a, b in ("[{", "]}"))
        steps = np.cumsum(opens.astype(np.int32) - closes) + depth
        values += int(opens.sum() + (sign == ord(",")).sum())
        deepest, depth, quotes = max(deepest, int(steps.max())), int(steps[-1]), int(before[-1] % 2)
    return deepest, values


def read_lines(path: str | Path, *, wanted: str) -> Iterator[tuple[str, str]]:
    r"""Yield ``file:line`` and words of every line that is not blank once ``#`` comments are cut.

    Raises
    ------
    InputError
        As ``text_lines`` does.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "nodes"
    >>> _ = file.write_text("# nodes\n 3\n\n1  # spare\n")
    >>> [(where.split(":")[-1], words) for where, words in read_lines(file, wanted="nodes")]
    [('2', '3'), ('4', '1')]
    """
    for number, line in text_lines(path, wanted=wanted):
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
    return InputError(path, found, "a writable folder")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a new file beside ``path`` to write, and move it there once it is whole.

    Whoever reads ``path`` finds the old file or the new one, never a part. If writing fails, the
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
    kind = file_kind(target)
    if kind in KINDS.values():
        raise InputError(path, kind, "a file, or a name that is free")
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
