"""Paths as one ragged array of channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Paths:
    """The channels of many paths, one path after the other.

    Attributes
    ----------
    offsets
        int64[num_paths + 1]; path p is ``channels[offsets[p]:offsets[p + 1]]``.
    channels
        int32[offsets[-1]], in the order in which a packet crosses them. A path from a node to
        itself is empty.
    """

    offsets: NDArray[np.int64]
    channels: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, path: int) -> NDArray[np.int32]:
        return self.channels[self.offsets[path] : self.offsets[path + 1]]

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Path length of each path, in hops (int32[num_paths])."""
        return np.diff(self.offsets).astype(np.int32)

    def __repr__(self) -> str:
        return f"<{len(self)} paths, {len(self.channels)} hops>"
