"""The ways of packets that are routed hop by hop, as a graph of stages: by chance, or by choice.

A *stage* is all that a routing needs to know about a packet at a router: where it is going, and
which part of its path it is in. Arcs lead from a stage to others, most of them by a channel.
Packets leave a stage by its arcs in fixed shares (random choices), by the arc that its router
prefers (by credits), or by the better of two randomly drawn arcs. Shares of a stage need not add to
1: traffic that surely takes two paths one after the other follows both arcs at the same time. No
path is a circle.

If nothing is preferred, the load of every channel is known. For the rest see ``choices``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints

SHARED, PREFERRED, BETTER_OF_TWO = 0, 1, 2
"""How a stage is left: see the module."""


class Stages(NamedTuple):
    """Stages and the arcs that lead on from them, as flat arrays.

    Attributes
    ----------
    first
        int64[num_stages + 1]: stage s has the arcs first[s] … first[s + 1] − 1. One without arcs
        is the end of a way.
    head
        int64[num_arcs], the stage that each arc leads to.
    channel
        int64[num_arcs], the channel that it takes; -1 for none.
    share
        float64[num_arcs], of what comes to its stage, where shares are fixed.
    kind
        int8[num_stages], ``SHARED``, ``PREFERRED`` or ``BETTER_OF_TWO``.
    """

    first: Ints
    head: Ints
    channel: Ints
    share: Floats
    kind: NDArray[np.int8]


def drawn_loads(stages: Stages, entry: Ints, weight: Floats, num_channels: int) -> Floats:
    """Return float64[num_channels], what each channel carries, where nothing is preferred.

    Parameters
    ----------
    stages
        Stages of the kind ``SHARED``.
    entry, weight
        int64[], the stages at which packets begin, and how much begins there.
    num_channels
        How many channels there are.

    Examples
    --------
    Half of the packets go by channel 0, the others by channel 1:

    >>> fork = Stages(*map(np.array, ([0, 2, 2], [1, 1], [0, 1], [0.5, 0.5], [0, 0])))
    >>> drawn_loads(fork, np.array([0]), np.array([3.0]), 2)
    array([1.5, 1.5])
    """
    load = np.zeros(num_channels + 1)  # the last is of arcs without a channel
    count, many = np.diff(stages.first), len(stages.kind)
    flow = np.bincount(entry, weight, minlength=many)
    hops = 0
    while True:
        here = np.flatnonzero((flow > 0) & (count > 0))
        if not len(here):
            return load[:-1]
        arc, each = _arcs_of(stages, here)
        sent = flow[here[each]] * stages.share[arc]
        load += np.bincount(stages.channel[arc] % (num_channels + 1), sent, num_channels + 1)
        flow = np.bincount(stages.head[arc], sent, minlength=many)
        hops += 1
        assert hops <= many, "a way leads round in a circle"


def sequences(
    stages: Stages,
    entry: Ints,
    weight: Floats,
    begun: Sequence[tuple[int, ...]],
    kind_of: Ints,
    *,
    most: int,
) -> dict[tuple[int, ...], float] | None:
    """Return the sequences of kinds of channels that packets take, and how many take each.

    Parameters
    ----------
    stages, entry, weight
        As in ``drawn_loads``. Shares of a stage add to 1.
    begun
        What the sequence of the packets of each entry begins with.
    kind_of
        int64[num_channels], the kind of each channel.
    most
        How many sequences are told apart. None is returned where there are more.

    Examples
    --------
    >>> fork = Stages(*map(np.array, ([0, 2, 2], [1, 1], [0, 1], [0.25, 0.75], [0, 0])))
    >>> sequences(fork, np.array([0]), np.array([4.0]), [()], np.array([7, 8]), most=9)
    {(7,): 1.0, (8,): 3.0}
    """
    number = {each: at for at, each in enumerate(dict.fromkeys(begun))}
    every, kinds = list(number), int(kind_of.max(initial=0)) + 1
    kind = np.append(kind_of, -1)[stages.channel]
    at, sequence = entry, np.array([number[each] for each in begun], np.int64)
    amount, ended = weight, np.zeros(0)
    while len(at):
        over = np.diff(stages.first)[at] == 0
        before, ended = ended, np.zeros(len(every))
        ended[: len(before)] = before
        ended += np.bincount(sequence[over], amount[over], len(every))
        at, sequence, amount = at[~over], sequence[~over], amount[~over]
        arc, each = _arcs_of(stages, at)
        after = sequence[each].copy()
        moved = kind[arc] >= 0
        steps, place = np.unique(after[moved] * kinds + kind[arc[moved]], return_inverse=True)
        pairs = (divmod(step, kinds) for step in steps.tolist())
        longer = [(*every[begun_by], next_kind) for begun_by, next_kind in pairs]
        for one in longer:
            if one not in number:
                number[one] = len(every)
                every.append(one)
        if len(every) > most:
            return None
        after[moved] = np.array([number[one] for one in longer], np.int64)[place]
        key, place = np.unique(stages.head[arc] * len(every) + after, return_inverse=True)
        sent = amount[each] * stages.share[arc]
        amount = np.bincount(place, sent, len(key)).astype(np.float64)
        at, sequence = np.divmod(key, len(every))
    return {one: float(many) for one, many in zip(every, ended.tolist(), strict=False) if many}


def _arcs_of(stages: Stages, at: Ints) -> tuple[Ints, Ints]:
    """Return the arcs of some stages, one stage after the other, and the place of the stage."""
    lengths = np.diff(stages.first)[at]
    each = np.repeat(np.arange(len(at)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(len(each)) + np.repeat(stages.first[at] - before, lengths), each
