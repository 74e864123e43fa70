"""Paths as one ragged array of channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import NoRouteError

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Paths:
    """The channels of many paths, one path after the other.

    Attributes
    ----------
    offsets
        int64[num_paths + 1]. Path p is ``channels[offsets[p]:offsets[p + 1]]``.
    channels
        int32[offsets[-1]], in the order in which a packet crosses them. A path from a node to
        itself is empty.
    pair
        int32[num_paths], the pair of source and target that each path joins, ascending, where a
        pair may have several paths. None where path p is that of pair p.
    probability
        float64[num_paths], how likely a packet of the pair takes the path, 1 in all for each pair.
        None where each pair has one path.
    """

    offsets: Ints
    channels: Ints
    pair: Ints | None = None
    probability: Floats | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, path: int) -> Ints:
        return self.channels[self.offsets[path] : self.offsets[path + 1]]

    @property
    def lengths(self) -> Ints:
        """Path length of each path, in hops (int32[num_paths])."""
        return np.diff(self.offsets).astype(np.int32)

    def ends(self, which: Bools) -> tuple[Ints, Ints]:
        """Return the first and the last channels of some paths, none of them empty."""
        first, behind = self.offsets[:-1][which], self.offsets[1:][which]
        return self.channels[first], self.channels[behind - 1]

    def taken(self, order: Ints) -> Paths:
        """Return the paths of these numbers, in this order."""
        lengths = self.lengths[order].astype(np.int64)
        offsets = np.append(0, np.cumsum(lengths))
        hops = np.arange(offsets[-1]) + np.repeat(self.offsets[order] - offsets[:-1], lengths)
        return Paths(offsets, self.channels[hops])

    def __repr__(self) -> str:
        return f"<{len(self)} paths, {len(self.channels)} hops>"


def offsets_of(
    lengths: Ints,
    sources: Ints,
    targets: Ints,
    wanted: str,
) -> Ints:
    """Return the offsets of paths of these lengths, which join sources and targets.

    Raises
    ------
    NoRouteError
        If a length is below 0: what is ``wanted`` is then missing.
    """
    if len(lengths) and lengths.min() < 0:
        path = int(np.argmin(lengths))
        raise NoRouteError(int(sources[path]), int(targets[path]), wanted)
    return np.append(0, np.cumsum(lengths, dtype=np.int64))
