"""The files that an experiment names: found, told apart by their content, taken elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from glob import escape
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.questions.base import told_of
from netloom.workload.programs.training.chakra import groups_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netloom.questions.base import Question

PREFIXES = ("graph", "routes", "fabric", "lfts", "machine", "chakra", "kineto")
"""What may stand before a file, with a colon. So may the process graphs of other packages."""


GLOB = "*?["
"""What makes a name one of many, so does ``%d``, which stands for a rank."""

_UNPACKED: dict[str, TemporaryDirectory[str]] = {}
"""Folders of this process, by the digest of what is in them."""


@dataclass(frozen=True)
class Input:
    """A file, or a folder or glob of files, that an experiment names.

    Attributes
    ----------
    name, path
        As it is written in the experiment, and where it is.
    files
        Its files, by their names in its folder.
    """

    name: str
    path: Path
    files: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.path if self.path.is_dir() else self.path.parent

    def contents(self) -> dict[str, bytes]:
        """Return what is in its files."""
        return {name: (self.folder / name).read_bytes() for name in self.files}

    @property
    def digest(self) -> str:
        """A hash of its content, whatever it is called."""
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[str, list[tuple[int, int]]]:
        """The digest, and the stamps of the files just before: what changes later is seen."""
        stamps = self._stamps()
        found = sha256()
        for name in self.files:
            if self.files != (self.path.name,):  # in a folder, names tell files apart
                found.update(sha256(name.encode()).digest())
            with (self.folder / name).open("rb") as stream:
                found.update(file_digest(stream, "sha256").digest())
        return found.hexdigest(), stamps

    def check_unchanged(self) -> None:
        """Raise InputError if its files are no longer those that the digest is of."""
        try:
            same = self._read[1] == self._stamps()
        except OSError:
            same = False
        if not same:
            found = "a file that was changed while it was asked about"
            raise InputError(str(self.path), found, "the same one to the end; run it again")

    def _stamps(self) -> list[tuple[int, int]]:
        found = [(self.folder / name).stat() for name in self.files]
        return [(each.st_mtime_ns, each.st_size) for each in found]


def find_inputs(kind: type[Question], fields: Mapping[str, Any], folder: Path) -> Iterator[Input]:
    """Yield the files that the fields of a question name, relative to the experiment's folder."""
    for field in kind.model_fields:
        if not told_of(kind, field).file:
            continue
        for text in _strings(fields.get(field)):
            for name in _candidates(text):
                path = Path(os.path.abspath(folder / name))  # noqa: PTH100 (keeps links)
                try:
                    found = _input(name, path)
                except (OSError, ValueError) as error:
                    raise InputError(field, f"'{name}' ({error})", "a name of a file") from None
                if found is not None:
                    yield found


def _input(name: str, path: Path) -> Input | None:
    """Return the file, or the files, that are called so. None if it is no file's name."""
    if path.is_file():
        return Input(name, path, (path.name, *_beside(path)))
    if path.is_dir():
        return Input(name, path, _in_folder(path, "*"))
    if "%d" in path.name and path.parent.is_dir():
        files = _in_folder(path.parent, escape(path.name).replace("%d", "[0-9]*"))
        groups = tuple(each.name for each in groups_file(path) if each.is_file())
        return Input(name, path, files + groups) if files else None
    if any(sign in name for sign in GLOB) and path.parent.is_dir():
        files = _in_folder(path.parent, path.name)
        return Input(name, path, files) if files else None
    return None


def _beside(path: Path) -> tuple[str, ...]:
    """Return the file that a machine file names, in its folder or below."""
    from netloom.machines.machine_files import network_file

    named = network_file(path) if path.suffix == ".toml" else ""
    if not named:
        return ()
    if Path(named).is_absolute() or ".." in Path(named).parts:
        wanted = "one in the machine file's folder, which an experiment takes along"
        raise InputError(str(path), f"a network's file elsewhere, '{named}'", wanted)
    return (named,)


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return plain data in which every file has another name.

    Examples
    --------
    >>> renamed({"app": ["a.mtx@0-3", "ring:4"]}, {"a.mtx": "/data/a.mtx"})
    {'app': ['/data/a.mtx@0-3', 'ring:4']}
    """
    if isinstance(value, str):
        for name in _candidates(value):
            if name in names:
                return value.replace(name, names[name], 1)
        return value
    if isinstance(value, dict):
        return {key: renamed(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(each, names) for each in value]
    return value


def unpack(name: str, digest: str, contents: Mapping[str, bytes]) -> str:
    """Write the files of an input, once in a process, and return its path there.

    The folder is this process's own and goes when it ends.
    """
    if digest not in _UNPACKED:
        made = TemporaryDirectory(prefix="netloom-", ignore_cleanup_errors=True)
        for file, data in contents.items():
            place = Path(made.name) / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        _UNPACKED[digest] = made
    folder, last = Path(_UNPACKED[digest].name), Path(name).name
    whole = list(contents)[:1] != [last] and not any(sign in last for sign in (*GLOB, "%d"))
    return str(folder if whole else folder / last)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)


def _candidates(text: str) -> Iterator[str]:
    """Yield what may be the name of a file in a value, the longest first."""
    prefix, _, rest = text.partition(":")
    added = prefix in declared("process-graphs")
    if (prefix in PREFIXES or added) and rest:
        text = rest
    if not text:
        return
    yield text
    if added:
        text = text.rpartition("/")[0]
        yield text
    if prefix == "machine" and ":" in text:
        text = text.rpartition(":")[0]
        yield text
    before, sign, _ = text.rpartition("@")
    if sign and before:
        yield before


def _in_folder(folder: Path, pattern: str) -> tuple[str, ...]:
    return tuple(sorted(each.name for each in folder.glob(pattern) if each.is_file()))
