"""Many lists of whole numbers in one array: what rows wait for, where they go, what they carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import DTypeLike, NDArray

    from netloom.base.arrays import Ints


class Lists(NamedTuple):
    """Lists of numbers, one after the other: list i is ``values[offsets[i]:offsets[i + 1]]``.

    ``offsets``: int64[num_lists + 1]. ``values``: int64 or int32[offsets[-1]].
    """

    offsets: Ints
    values: NDArray[Any]

    @property
    def lengths(self) -> Ints:
        """Return int64[num_lists]."""
        return np.diff(self.offsets)

    def of(self, number: int) -> NDArray[Any]:
        """Return the list of this number."""
        return self.values[self.offsets[number] : self.offsets[number + 1]]

    def owners(self) -> Ints:
        """Return int64[len(values)], the list that each value is in."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    def taken(self, order: Ints) -> Lists:
        """Return the lists of these numbers, in this order."""
        lengths = self.lengths[order]
        offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[order] - offsets[:-1], lengths)
        return Lists(offsets, self.values[places])


def lists(rows: Iterable[Sequence[int]], dtype: DTypeLike = np.int64) -> Lists:
    """Return lists of numbers as one array.

    Examples
    --------
    >>> lists([[3], [], [1, 2]]).offsets
    array([0, 1, 1, 3])
    """
    kept = list(rows)
    offsets = np.append(0, np.cumsum([len(each) for each in kept], dtype=np.int64))
    values = np.fromiter((value for each in kept for value in each), dtype, int(offsets[-1]))
    return Lists(offsets, values)
