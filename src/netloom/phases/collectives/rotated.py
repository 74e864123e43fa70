"""All-to-all on tori: every block in equal parts, each by another order of the dimensions.

Part p of a block crosses the dimensions from dimension p on, and half of the parts go either way
where both are as short. So all channels of a dimension carry the same, on shortest paths. What is
sent when is a timetable of one root's messages on as many machines as there are directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.collectives.listed import MOST_MESSAGES
from netloom.workload.programs.collectives.program import CollectiveProgram, owners, single

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints


@dataclass(frozen=True, eq=False)
class Rotated:
    """The messages of vertex 0 of a torus to all others, which every vertex sends translated.

    Attributes
    ----------
    sides
        Of the torus. Sides of 2 have one cable.
    parts
        Into how many each block is cut.
    path
        int32[num_messages], the path, target · parts + part, that each is of. Hops in order.
    here, there
        int32[num_messages], the vertices that it leaves and enters.
    round_of
        int32[num_messages], its round.
    bound
        Fewest rounds: what the busiest direction carries.
    """

    sides: tuple[int, ...]
    parts: int
    path: Ints
    here: Ints
    there: Ints
    round_of: Ints
    bound: int

    @property
    def rounds(self) -> int:
        """Rounds, in each of which every channel carries at most one part of a block."""
        return int(self.round_of.max()) + 1

    def program(self) -> CollectiveProgram:
        """Return the all-to-all, in rounds.

        Raises
        ------
        InputError
            If it has too many messages.
        """
        vertices, many = int(np.prod(self.sides)), len(self.path)
        if many * vertices > MOST_MESSAGES:
            found = f"{many * vertices:,} messages"
            raise InputError("schedule", found, f"at most {MOST_MESSAGES:,}: fewer ranks")
        order = np.argsort(self.round_of, kind="stable")
        at = np.array(np.unravel_index(np.arange(vertices), self.sides))
        moved = np.ravel_multi_index(
            tuple((at[:, :, None] + at[:, None, :]) % np.array(self.sides)[:, None, None]),
            self.sides,
        )  # row v, column r: where v is from root r
        to, part = np.divmod(self.path[order], self.parts)
        chunk = (np.arange(vertices) * vertices + moved[to]) * self.parts + part[:, None]
        size, first, final = owners("all-to-all", vertices, self.parts)
        return CollectiveProgram(
            "all-to-all", "synthesised", vertices, size, 0,
            moved[self.here[order]].ravel().astype(np.int32),
            moved[self.there[order]].ravel().astype(np.int32),
            self.round_of[order].repeat(vertices), single(chunk.ravel()),
            np.zeros(many * vertices, np.bool_), first, final,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<{self.parts} parts of each block, {self.rounds} rounds of {self.bound}>"


def rotated(sides: Sequence[int]) -> Rotated:
    """Return the paths of an all-to-all on a torus, and the rounds in which they are taken.

    Raises
    ------
    InputError
        If there is one vertex alone.

    Examples
    --------
    >>> rotated((4, 4)), rotated((8, 8))
    (<4 parts of each block, 32 rounds of 32>, <4 parts of each block, 256 rounds of 256>)
    """
    sides = tuple(int(side) for side in sides)
    vertices, axes = int(np.prod(sides)), len(sides)
    if vertices < 2 or min(sides) < 1:
        raise InputError("torus", f"sides {sides}", "at least 2 vertices")
    strides = vertices // np.cumprod(sides)
    hops: list[tuple[int, int, int, int]] = []  # path, from, to, direction
    for target in range(1, vertices):
        offsets = [
            target // int(stride) % side for stride, side in zip(strides, sides, strict=True)
        ]
        for part in range(2 * axes):
            here = [0] * axes
            for turn in range(axes):
                axis = (part + turn) % axes
                side, offset = sides[axis], offsets[axis]
                ahead = 2 * offset < side or (2 * offset == side and (part < axes or side == 2))
                for _ in range(offset if ahead else side - offset):
                    before = int(np.dot(here, strides))
                    here[axis] = (here[axis] + (1 if ahead else -1)) % side
                    after = int(np.dot(here, strides))
                    hops.append((target * 2 * axes + part, before, after, 2 * axis + (not ahead)))
    table = np.array(hops, np.int32)
    path, direction = table[:, 0], table[:, 3]
    bound = int(np.bincount(direction).max())
    return Rotated(sides, 2 * axes, path, table[:, 1], table[:, 2], _rounds(path, direction), bound)


def _rounds(path: Ints, direction: Ints) -> Ints:
    """Return the round of each hop: in each direction the path with most hops left goes first."""
    last = np.append(np.flatnonzero(np.diff(path)), len(path) - 1)
    ends = np.repeat(last, np.diff(np.append(-1, last)))
    left = (ends - np.arange(len(path))).tolist()
    ready: list[list[tuple[int, int]]] = [[] for _ in range(int(direction.max()) + 1)]
    way = direction.tolist()
    for hop in np.append(0, last[:-1] + 1).tolist():
        heappush(ready[way[hop]], (-left[hop], hop))
    found, now = np.zeros(len(path), np.int32), 0
    while any(ready):
        taken = [heappop(queue)[1] for queue in ready if queue]
        for hop in taken:
            found[hop] = now
            if left[hop]:
                heappush(ready[way[hop + 1]], (-left[hop + 1], hop + 1))
        now += 1
    return found
