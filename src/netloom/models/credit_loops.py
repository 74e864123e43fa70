"""What buffers cost that are shorter than the time for which credits are on their way.

A flit cannot be sent before the one B flits ahead of it has left the buffer that both go to, and
the credit for it has come back: from one to the next of these a *loop* takes a flit's way there and
a credit's way back. All times are cycles, of packets that nothing else is in the way of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Loops(NamedTuple):
    """Buffers of ``buffer`` flits and their loops.

    ``inside``: between two routers; ``entry``: between the source and its router. ``head``: for how
    long a head waits at every router, which delays the flits behind it once.
    """

    buffer: int
    inside: int
    entry: int
    head: int


def credit_wait(loops: Loops, hops: ArrayLike, flits: int) -> NDArray[np.float64]:
    """Return for how long lone packets of this many flits wait for credits, over so many hops.

    The tail is delayed by the longest chain of waits. It goes round q = ⌊(P − 1) / B⌋ loops, each
    so much longer than B flits in a row. A chain goes round loops between routers behind the head's
    own way through all of them; one that also goes round the source's loop from there on has the
    waits of the head at as many routers only as it comes back from.

    Examples
    --------
    >>> credit_wait(Loops(buffer=4, inside=6, entry=4, head=1), [0, 1, 3], flits=13)
    array([0., 6., 6.])
    """
    crossed = np.asarray(hops)
    rounds = (flits - 1) // loops.buffer
    if not rounds:
        return np.zeros(crossed.shape)
    inside, entry = loops.inside - loops.buffer, loops.entry - loops.buffer
    behind = np.where(crossed > 0, rounds * inside, 0)
    at_source = rounds * entry - crossed * loops.head
    reach = np.minimum(rounds, crossed + 1)
    both = (reach - 1) * inside + (rounds - reach + 1) * entry
    both -= (crossed + 1 - reach) * loops.head
    return np.asarray(np.maximum(np.maximum(behind, 0), np.maximum(at_source, both)), np.float64)


def time_at_source(loops: Loops, flits: int) -> float:
    """Return for how long the source of a packet of this many flits sends nothing else.

    Examples
    --------
    >>> time_at_source(Loops(buffer=8, inside=6, entry=4, head=1), flits=5)
    5.0
    >>> time_at_source(Loops(buffer=4, inside=6, entry=4, head=1), flits=13)  # 4 at 0, 5, 11; 1
    18.0
    """
    rounds = (flits - 1) // loops.buffer
    last = flits - 1
    if rounds:
        first = max(loops.entry + loops.head, loops.buffer)
        later = max(loops.inside, loops.entry, loops.buffer)
        last = first + (rounds - 1) * later + last % loops.buffer
    return float(1 + last)


def time_between_packets(loops: Loops, loop: int, flits: int) -> float:
    """Return how many cycles, at least, a VC takes a packet where they follow one another.

    Every flit has a slot of the buffer for one loop, those that arrive before their head goes on
    for as long as it waits besides.

    Examples
    --------
    >>> time_between_packets(Loops(buffer=4, inside=6, entry=4, head=1), 6, flits=2)  # 14 / 4
    3.5
    """
    return max(flits, (flits * loop + min(flits, loops.buffer) * loops.head) / loops.buffer)


def stretch(loops: Loops, flits: int) -> float:
    """Return for how long a lone packet is on its way over a channel, from head to tail.

    Examples
    --------
    >>> stretch(Loops(buffer=4, inside=6, entry=4, head=1), flits=13)
    19.0
    """
    longer = max(loops.inside, loops.entry) - loops.buffer
    return float(flits + (flits - 1) // loops.buffer * max(longer, 0))
