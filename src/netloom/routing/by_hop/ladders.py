"""Virtual channels for ways of any shape: ladders, which packets climb and never go down.

A rung is a kind of channel with a class of VCs of its own. A packet takes each channel on the next
higher rung of that kind. It may stay on its rung if channels of the kind cannot wait for each other
in a circle. From the goal of a detour it goes on above a separator. So nothing on a rung waits for
a lower one, and no circle closes. These are the rising VC numbers of Günther, *Prevention of
deadlocks in packet-switched data transport systems*, 1981 (on dragonflies, Kim et al. 2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.routing.by_hop.tables import Automaton, bits
from netloom.routing.layered import layer_vcs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints


SEPARATOR = -1
"""In place of the kind of a rung: packets that turn from a detour's goal go on above it."""


class Ladder(NamedTuple):
    """The rungs that the ways of a routing climb.

    Attributes
    ----------
    kind
        int8[num_network_channels], the kind of each channel.
    rungs
        The kind of each rung, lowest first. ``SEPARATOR`` between the parts of a detour.
    repeats
        For each kind, whether channels of a rung may follow each other. Packets that take such
        channels in a row never come round in a circle.
    """

    kind: NDArray[np.int8]
    rungs: tuple[int, ...]
    repeats: tuple[bool, ...]

    def only(self, used: Bools) -> Ladder:
        """Return the ladder without rungs that no packet takes, and without what is behind."""
        last = int(np.flatnonzero(used).max(initial=-1))
        kept = [
            kind for at, kind in enumerate(self.rungs[: last + 1]) if used[at] or kind == SEPARATOR
        ]
        return self._replace(rungs=tuple(kept))

    @property
    def classes(self) -> int:
        """How many classes of VCs it needs: the most rungs of a kind."""
        return max((self.rungs.count(kind) for kind in range(len(self.repeats))), default=1)

    @property
    def turn(self) -> int:
        """The place from which packets go on from the goal of a detour."""
        return self.rungs.index(SEPARATOR) + 1 if SEPARATOR in self.rungs else len(self.rungs)

    def place_vcs(self, num_vcs: int) -> Ints:
        """Return the VCs of the channel by which a packet comes to each place, int64[rungs + 1].

        The rungs of a kind share all VCs evenly. If there are too few, the highest ones share
        the last VC, and a circle may close.
        """
        vcs = np.full(len(self.rungs) + 1, bits(num_vcs), np.int64)
        for kind in range(len(self.repeats)):
            own = np.flatnonzero(np.array(self.rungs) == kind)
            shares = layer_vcs(max(min(len(own), num_vcs), 1), num_vcs)
            vcs[own + 1] = shares[np.minimum(np.arange(len(own)), len(shares) - 1)]
        return vcs

    def climbed(self) -> NDArray[np.int16]:
        """Return int16[rungs + 1, kinds], where a packet is after a channel: 1 is rung 0.

        It is 0 before its first channel. It comes to the last place where there is no rung for it.
        """
        places = len(self.rungs) + 1
        after = np.full((places, len(self.repeats)), places - 1, np.int16)
        for place in range(places):
            for kind, repeats in enumerate(self.repeats):
                above = [rung + 1 for rung in range(place, places - 1) if self.rungs[rung] == kind]
                if repeats and place > 0 and self.rungs[place - 1] == kind:
                    above = [place]
                after[place, kind] = above[0] if above else places - 1
        return after


def straight(ladder: Ladder, num_vcs: int) -> Automaton:
    """Return the states of packets that go where they want to, without a detour."""
    places = len(ladder.rungs) + 1
    zeros, own = np.zeros(places, np.int8), np.arange(places, dtype=np.int16)
    return Automaton(
        ladder.kind, ladder.climbed(), ladder.place_vcs(num_vcs),
        np.full(places, bits(num_vcs), np.int64), zeros, zeros, zeros, own, own, own,
    )  # fmt: skip


def with_detours(ladder: Ladder, num_vcs: int, *, stays: Sequence[int] = ()) -> Automaton:
    """Return the states of packets that decide on a detour where they begin.

    They follow table 0 to the goal of a detour and table 1 to their exit: from that goal on, above
    the separator of the ladder, or from the beginning. Behind channels of the kinds that ``stays``
    names, packets that have taken no other decide again (progressive adaptive routing: Jiang, Kim &
    Dally, *Indirect adaptive routing on large scale interconnection networks*, 2009).
    """
    climbed, vcs = ladder.climbed(), ladder.place_vcs(num_vcs)
    places = len(climbed)
    undecided, away, back = (part * places + np.arange(places) for part in range(3))
    first = climbed + 2 * places
    for kind in stays:
        first[:, kind] -= 2 * places
    flags = np.repeat(np.eye(3, dtype=np.int8), places, axis=1)
    keep = np.concatenate([undecided if stays else back, away, back])
    everything = np.full(places, bits(num_vcs), np.int64)
    return Automaton(
        ladder.kind,
        np.concatenate([first, climbed + places, climbed + 2 * places]).astype(np.int16),
        np.tile(vcs, 3),
        np.concatenate([everything, np.zeros(places, np.int64), everything]),
        (1 - flags[1]).astype(np.int8), flags[1], flags[0],
        keep.astype(np.int16),
        np.concatenate([away, away, back]).astype(np.int16),
        np.concatenate([undecided, np.full(places, back[ladder.turn]), back]).astype(np.int16),
    )  # fmt: skip
