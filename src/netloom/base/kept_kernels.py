# mypy: disable-error-code="no-untyped-call,misc,no-any-return"
"""Compiled kernels of a checkout, kept by content and outside of it.

A kernel is compiled again if its module changed, or a module of netloom that this one imports at
its top, directly or not. So another clone, branch or CI run compiles only what differs, and no
caller keeps an old version of what it calls. Numba keeps kernels by the file's own path and content
alone. Installations use Numba's way: their files do not change.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

SOURCE = Path(__file__).parents[2]
"""The folder that holds the package."""

MOST_VERSIONS = 12
"""Versions of one module that are kept. The one that was compiled first goes first."""

IMPORTS = re.compile(rb"^from (netloom[\w.]*) import (\([^)]*\)|.*)$|^import (netloom.*)$", re.M)


def in_checkout() -> bool:
    """Tell whether this package is the source of a checkout (on a system that locks files)."""
    owned = SOURCE.name == "src" and Path(SOURCE.parent, "pyproject.toml").is_file()
    return owned and os.name == "posix"


def folder() -> Path:
    """Return where checkouts keep their kernels."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "netloom-kernels")


@cache
def _imported(file: Path) -> tuple[bytes, frozenset[Path]]:
    """Return a module's source, and the modules of netloom that it imports at its top."""
    source = file.read_bytes()
    names = set()
    for origin, members, plain in IMPORTS.findall(source):
        names |= {(origin or plain).decode()}
        names |= {f"{origin.decode()}.{each}" for each in re.findall(r"\w+", members.decode())}
    files = (SOURCE.joinpath(*name.split(".")).with_suffix(".py") for name in names)
    return source, frozenset(each for each in files if each.is_file())


@cache
def version(file: Path) -> str:
    """Return a digest of a module and of all that it imports from netloom's modules."""
    reached, to_read = {file}, [file]
    while to_read:
        found = _imported(to_read.pop())[1] - reached
        reached |= found
        to_read.extend(found)
    whole = hashlib.sha256()
    for each in sorted(reached):
        whole.update(str(each.relative_to(SOURCE)).encode() + b"\0" + _imported(each)[0])
    return whole.hexdigest()[:20]


class _ByContent(_CacheLocator):
    """The folder of one version of a module."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        path = Path(file)
        self.line = function.__code__.co_firstlineno
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        self.path = folder() / module / version(path)

    def get_cache_path(self) -> str:
        return str(self.path)

    def get_source_stamp(self) -> str:
        return self.path.name

    def get_disambiguator(self) -> str:
        return str(self.line)

    def ensure_cache_path(self) -> None:
        if not self.path.is_dir():
            self.path.mkdir(parents=True, exist_ok=True)
            age = {each: each.stat().st_mtime for each in self.path.parent.iterdir()}
            for each in sorted(age, key=age.__getitem__)[:-MOST_VERSIONS]:
                shutil.rmtree(each, ignore_errors=True)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _ByContent | None:
        if not Path(file).is_relative_to(SOURCE):
            return None
        found = cls(function, file)
        with suppress(OSError):
            found.ensure_cache_path()
            return found
        return None


class _ByContentImpl(CompileResultCacheImpl):
    _locator_classes = [_ByContent]  # noqa: RUF012 (as in Numba)


@cache
def _leave_scipy() -> None:
    """Keep Numba from importing SciPy's linear algebra (0.2 CPU s) only to see that it is there."""
    from numba.np import linalg

    asked = getattr(linalg, "ensure_blas", None)  # by a module that comes with the first kernel
    if asked is not None:
        linalg.ensure_blas = lambda: setattr(linalg, "ensure_blas", asked)


class Kept(FunctionCache):
    """Numba's cache of a function. Kernels of types that are not there any more are forgotten."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Load a kernel. With the first one, Numba imports all that it can compile."""
        _leave_scipy()
        return super().load_overload(signature, target)

    def _load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super()._load_overload(signature, target)
        except (ImportError, AttributeError):  # a module of a release before, or a class in it
            self.flush()
            return None


class KeptByContent(Kept):
    """Numba's cache of a function, in a folder for each version of its module.

    Raises RuntimeError if nothing can be kept there.
    """

    _impl_class = _ByContentImpl  # type: ignore[assignment]

    def _save_overload(self, signature: Any, compiled: Any) -> None:
        """Save under a lock: two processes could give two signatures the same file."""
        import fcntl

        with Path(self.cache_path, "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super()._save_overload(signature, compiled)
