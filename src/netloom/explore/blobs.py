"""Arrays as text of a page: compressed, in the smallest integers that hold them."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

UNSIGNED: dict[str, Any] = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32}
"""Types of whole numbers, the smallest first."""


def packed(values: NDArray[Any], *, delta: bool = False) -> dict[str, Any]:
    """Return an array as JSON: its type, its length, and its bytes, compressed, in base64.

    Whole numbers from 0 are kept in as few bytes as they need. Other numbers are kept in four if
    seven digits are all they have, else in eight. With
    ``delta`` each but the first is the difference to the one before, modulo the type, which
    compresses what rises steadily.

    Examples
    --------
    >>> packed(np.array([0, 1, 300]))["type"], packed(np.array([0.1]))["type"]
    ('u2', 'f8')
    """
    kind, flat = _smallest(np.ravel(values))
    delta = delta and kind in UNSIGNED
    if delta:
        flat = np.diff(flat, prepend=flat.dtype.type(0))
    raw = flat.astype(flat.dtype.newbyteorder("<")).tobytes()
    if kind in UNSIGNED and flat.itemsize > 1:  # bytes of one weight together compress better
        raw = np.frombuffer(raw, np.uint8).reshape(-1, flat.itemsize).T.tobytes()
    text = base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
    return {"type": kind, "many": len(flat), "delta": delta, "data": text}


def _smallest(values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    if not len(values):
        return "u1", np.zeros(0, np.uint8)
    low, high = values.min(), values.max()
    whole = values.dtype.kind in "iub" or bool((values == np.floor(values)).all())
    for kind, dtype in UNSIGNED.items():
        if whole and low >= 0 and high <= np.iinfo(dtype).max:
            return kind, values.astype(dtype)
    with np.errstate(over="ignore"):  # what is too large is not equal below
        single = values.astype(np.float32)
    if np.array_equal(single.astype(np.float64), values):
        return "f4", single
    return "f8", values.astype(np.float64)


def packed_words(words: Sequence[str]) -> dict[str, Any]:
    """Return words as JSON: one per line, compressed, in base64."""
    raw = "\n".join(word.replace("\n", " ") for word in words).encode("utf-8")
    text = base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
    return {"type": "words", "many": len(words), "data": text}
