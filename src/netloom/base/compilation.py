"""How kernels are compiled, and where they are kept: the decorators of all Numba functions.

Functions that share one hot loop take all arrays of a state as one tuple. Counting references to
each of them at every access costs twenty times as much as the work. So they have ``_nrt=False``,
because these functions allocate nothing. ``inlined`` ones are compiled into their callers, because
the same tuple would be copied at every call.

A checkout keeps compiled kernels by their content (``netloom.base.kept_kernels``). Elsewhere Numba
keeps them beside the module, else below the user's home. If neither can be written (a read-only
installation in a container or a batch job), they are kept in a temporary folder of the user's own.
If there is none, they are compiled by each process anew.
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numba

from netloom.base.held import Compiler
from netloom.base.kept_kernels import Kept, KeptByContent, in_checkout

FOLDER = "NUMBA_CACHE_DIR"
"""The environment variable that names where kernels are kept. Worker processes inherit it."""

_kept = True
"""Whether compiled kernels can be kept anywhere."""


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function when it is first called, and keep it: a decorator, perhaps with options.

    ``options`` are Numba's. Other threads run meanwhile.
    """
    if function is None:
        return partial(njit, **options)
    found: Any = numba.njit(**{"nogil": True} | options)(function)
    if not _kept:
        return found
    by_content = FOLDER not in os.environ and in_checkout()
    for cache in (KeptByContent, Kept) if by_content else (Kept,):
        with suppress(RuntimeError):  # no folder can be written
            found._cache = cache(function)  # what Numba's enable_caching() does
            return found
    _keep_elsewhere()
    return njit(function, **options)


def _keep_elsewhere() -> None:
    """Let kernels be kept in a temporary folder, or not at all. Say so."""
    global _kept  # noqa: PLW0603 (where kernels are kept is a matter of the process)
    folder = None  # that nobody else can write: kernels are code
    with suppress(OSError, AttributeError):  # none can be written; a system without user numbers
        own = Path(tempfile.gettempdir(), f"netloom-kernels-{os.getuid()}")
        own.mkdir(mode=0o700, exist_ok=True)
        found = own.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            folder = None if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else own
    if folder is None or os.environ.get(FOLDER) == str(folder):
        _kept = False
        place = "compiled anew in each process"
    else:
        os.environ[FOLDER] = str(folder)
        numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
        place = f"kept in {folder}"
    warnings.warn(
        f"neither the installation nor the home folder can be written: kernels are {place}; "
        f"set {FOLDER} to a folder that lasts",
        stacklevel=2,
    )


def is_kept(kernel: Any, *arguments: Any) -> bool:
    """Tell whether a kernel was compiled for such arguments, by this process or one before."""
    signature = tuple(map(kernel.typeof_pyval, arguments))
    if signature in kernel.overloads or not _kept:
        return signature in kernel.overloads
    key = kernel._cache._index_key(signature, kernel.targetctx.codegen())
    return key in kernel._cache._cache_file._load_index()


kernel: Any = njit(_nrt=False)

INLINED: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": Compiler,
}
"""Options of functions that compiled ones alone call. Without what Python would call them by, and
without being kept apart from their callers, they compile in less than half the time."""

inlined: Any = numba.njit(**INLINED)

part: Any = numba.njit(**{**INLINED, "forceinline": False})
"""As ``inlined``, for what is called from several places: a call stays a call if it is long."""


def overloaded(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of a function that chooses what compiled callers of ``plain`` call.

    It is given the types of the arguments, and returns a function, which is inlined.
    """
    from numba.extending import overload

    options: Any = INLINED
    return overload(plain, jit_options=options)
