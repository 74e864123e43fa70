"""Bisection of a weighted graph, into halves of given sizes, with little weight between them."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints

LARGEST_SUM = 2**29
"""Most that all whole-number weights may come to: METIS adds them up in 32 bits."""

FEW_TASKS = 8
"""Tasks up to which all ways to halve them are compared."""

ANCHOR = 2
"""Weight of each of the two vertices that stand for everything outside, in tasks of the part. It is
so large that no balanced bisection puts both on the same side."""


class Part(NamedTuple):
    """The communication within a part of the program, and how it is drawn to places outside."""

    # offsets, others, weights: for each task of the part, the others it talks to, as a ragged
    # array, and int64 weights.
    offsets: Ints
    others: Ints
    weights: Ints
    # float64[tasks], in units of weight: above 0, towards the first half of the network's part.
    drawn: Floats


def whole_weights(weights: Floats) -> Ints:
    """Return weights of at least 1 in the same proportions, that METIS can add up.

    Examples
    --------
    >>> whole_weights(np.array([1e-9, 0.25, 0.75]))
    array([        1, 134217728, 402653184])
    """
    scaled = weights / weights.sum() * LARGEST_SUM  # in this order, the tiniest do not overflow
    return np.asarray(np.maximum(1, np.rint(scaled)), np.int64)


def bisect(part: Part, share: int, seed: int) -> Bools:
    """Return which tasks go to the first half, ``share`` of them, bool[tasks].

    METIS cuts little weight, and then those tasks change sides that it costs least to move. Of a
    few tasks, all halves are compared.

    Examples
    --------
    A line of four, 1 - 0 - 3 - 2, of which the first is drawn to the first half:

    >>> line = [np.array(a) for a in ([0, 2, 3, 4, 6], [1, 3, 0, 3, 0, 2], [1] * 6)]
    >>> bisect(Part(*line, drawn=np.array([0.5, 0, 0, 0])), share=2, seed=1)
    array([ True,  True, False, False])
    """
    tasks = len(part.drawn)
    if share in (0, tasks):
        return np.full(tasks, share > 0)
    if tasks <= FEW_TASKS:
        return _best_of_all(part, share)
    first = np.zeros(tasks, np.bool_)
    if len(part.others):
        first = _cut(part, share, seed)
        if 2 * share == tasks and part.drawn[first].sum() < part.drawn[~first].sum():
            first = ~first
    return _exactly(part, first, share)


def gain(part: Part, first: Bools) -> float:
    """Return how far tasks follow where they are drawn to, less the weight that is cut.

    Examples
    --------
    >>> pair = [np.array(a) for a in ([0, 1, 2], [1, 0], [3, 3])]
    >>> gain(Part(*pair, drawn=np.array([2.0, 1.0])), np.array([True, False]))
    -2.5
    """
    source = np.repeat(np.arange(len(first)), np.diff(part.offsets))
    cut = part.weights @ (first[source] != first[part.others]) / 2
    return float(part.drawn @ np.where(first, 0.5, -0.5) - cut)


def _best_of_all(part: Part, share: int) -> Bools:
    """Return the best of all ways to choose the first half."""
    tasks = len(part.drawn)
    sent = np.zeros((tasks, tasks))
    sent[np.repeat(np.arange(tasks), np.diff(part.offsets)), part.others] = part.weights
    ways = _ways(tasks, share)
    kept = np.einsum("wi,ij,wj->w", ways, sent, ways - 1)  # minus what is cut
    return np.asarray(ways[int(np.argmax(kept + ways @ part.drawn))] > 0)


@lru_cache(maxsize=FEW_TASKS**2)
def _ways(tasks: int, share: int) -> Floats:
    chosen = np.array(list(combinations(range(tasks), share)))
    ways = np.zeros((len(chosen), tasks))
    np.put_along_axis(ways, chosen, 1.0, axis=1)
    return ways


def _cut(part: Part, share: int, seed: int) -> Bools:
    """Return a first half of nearly the wished size that METIS cuts off, as it is drawn."""
    import pymetis

    tasks = len(part.drawn)
    drawn = np.rint(part.drawn).astype(np.int64)
    source = np.repeat(np.arange(tasks), np.diff(part.offsets))
    ends, weights = [source], [part.weights]
    targets, sizes = [part.others], np.ones(tasks, np.int64)
    if drawn.any():  # two more vertices
        sizes = np.append(sizes, [ANCHOR * tasks] * 2)
        moved = np.flatnonzero(drawn)
        anchor, pull = np.where(drawn[moved] > 0, tasks, tasks + 1), np.abs(drawn[moved])
        ends += [moved, anchor]
        targets += [anchor, moved]
        weights += [pull, pull]
    end, target = np.concatenate(ends), np.concatenate(targets)
    order = np.argsort(end, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(end, minlength=len(sizes))))
    width = pymetis.zero_copy_dtype()
    fraction = (share + (len(sizes) > tasks) * ANCHOR * tasks) / int(sizes.sum())
    found = pymetis.part_graph(
        2,
        pymetis.CSRAdjacency(offsets.astype(width), target[order].astype(width)),
        vweights=sizes.astype(width),
        eweights=np.concatenate(weights)[order].astype(width),
        tpwgts=[fraction, 1 - fraction],
        recursive=True,
        options=pymetis.Options(seed=seed % 2**31, ufactor=1),
    )
    side = np.asarray(found.vertex_part)
    return np.asarray(side[:tasks] == (side[tasks] if len(side) > tasks else 0))


def _exactly(part: Part, first: Bools, share: int) -> Bools:
    """Move the tasks that it costs least to move until the first half has its size."""
    first, excess = first.copy(), int(first.sum()) - share
    source = np.repeat(np.arange(len(first)), np.diff(part.offsets))
    cut = np.where(first[source] != first[part.others], part.weights, -part.weights)
    gain = np.bincount(source, cut, len(first)) + np.where(first, -part.drawn, part.drawn)
    for _ in range(abs(excess)):
        movable = first if excess > 0 else ~first
        task = int(np.argmax(np.where(movable, gain, -np.inf)))
        near = slice(part.offsets[task], part.offsets[task + 1])
        same = first[part.others[near]] == first[task]
        gain[part.others[near]] += np.where(same, 2, -2) * part.weights[near]
        gain[task] = -gain[task]
        first[task] = not first[task]
    return first
