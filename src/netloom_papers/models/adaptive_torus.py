"""Wormhole messages under Duato's adaptive routing on a torus, as netloom's simulator has them."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.spec import check_size
from netloom_papers.models.kernels.adaptive_torus import CLASSES, HELD_FROM, solve_all, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Floats

SIDES_ALIKE = 64
"""Sides from which rings have the same share of crossing messages, to a thousandth."""


class Ways(NamedTuple):
    """What the heads of unicast messages to uniform targets do, by hops.

    Attributes
    ----------
    hops
        float64[n]: mean hops in each dimension.
    choices
        float64[n, n]: of the hops in a dimension, those where 1, 2, ... n dimensions are left.
    same
        Of the messages that one meets on a channel, those that one met on the channel before: the
        probability that two messages on a channel go on the same way.
    behind
        Mean hops still to come after a channel of a message.
    """

    hops: Floats
    choices: Floats
    same: float
    behind: float


class Setup(NamedTuple):
    """A network as the kernel sees it."""

    axes: int
    vcs: int
    adaptive: int
    ports: int
    flits: float
    distance: float
    behind: float
    elsewhere: float
    hops: Floats
    channels: Floats
    choices: Floats
    left: Floats
    fresh: Floats
    free: Floats


class Scratch(NamedTuple):
    """What the kernel works with. See there."""

    matrix: Floats
    values: Floats
    states: Floats
    fit: Floats
    held: Floats
    busy: Floats
    below: Floats
    counts: Floats
    mine: Floats
    path: Floats
    ends: Floats
    slower: Floats
    wanted: Floats


@lru_cache(maxsize=64)
def ways(sides: tuple[int, ...]) -> Ways:
    """Return what heads do that take any dimension left with the same probability.

    Examples
    --------
    >>> found = ways((8, 8))
    >>> found.hops.round(3), round(found.same, 3)
    (array([2.032, 2.032]), 0.3)
    """
    axes = len(sides)
    shape = tuple(side // 2 + 1 for side in sides)
    check_size(prod(shape) * (axes + 1) * (axes**2 + 2), where="sides", what="numbers")
    strides = np.array([prod(shape[axis + 1 :]) for axis in range(axes)])
    hops = np.stack(np.unravel_index(np.arange(prod(shape)), shape), axis=1)
    found = np.zeros((prod(shape), axes + 1, axes * axes + 2))
    walk(np.array(sides), strides, hops, found)
    # How many targets there are at each offset: two on both sides of a ring, but the farthest.
    many = np.ones(prod(shape))
    for axis, side in enumerate(sides):
        both = (hops[:, axis] > 0) & (2 * hops[:, axis] < side)
        many *= np.where(both, 2, 1)
    many[0] = 0
    mean = (many[:, None] * found[:, 0]).sum(axis=0) / many.sum()
    choices = mean[: axes * axes].reshape(axes, axes)
    straight, turns = mean[axes * axes :]
    each = choices.sum(axis=1)
    distance = float(each.sum())
    far = hops.sum(axis=1)
    behind = float((many * far * (far - 1)).sum() / many.sum() / 2 / distance)
    on, aside = straight / distance, turns / distance / max(2 * (axes - 1), 1)
    going = straight + turns
    same = (straight * on + turns * aside) / going if going else 0.0
    return Ways(each, choices / each[:, None], float(same), behind)


@lru_cache(maxsize=64)
def same_class(side: int) -> float:
    """Return how often two messages on a channel of a ring want the same escape VC.

    One class is for messages whose way from here crosses the ring's dateline, one for the others.
    Channels differ in their shares s, and s² + (1 − s)² is averaged over them.

    Examples
    --------
    >>> round(same_class(8), 4)
    0.877
    """
    side = min(side, SIDES_ALIKE + side % 2)
    crossing, all_of_them = np.zeros(side), np.zeros(side)
    for hops in range(1, side // 2 + 1):
        weight = 0.5 if 2 * hops == side else 1.0
        for hop in range(hops):
            channel = (np.arange(side) + hop) % side
            all_of_them[channel] += weight
            crossing[channel] += weight * (channel + hops - hop >= side)
    share = crossing / all_of_them
    return float((share**2 + (1 - share) ** 2).mean())


def tree_loads(sides: Sequence[int]) -> tuple[Floats, float]:
    """Return the messages of a broadcast in each dimension, and the squares of batches, summed.

    A batch is all that a node sends at once. At the root it is a copy each way in all dimensions.
    Consider a node reached in the j-th dimension of the tree's order. It sends copies both ways in
    all later dimensions and, unless it is the last of its line, one copy onward. The order is drawn
    uniformly for each broadcast.

    Examples
    --------
    >>> messages, squares = tree_loads((8, 8))
    >>> messages.tolist(), squares
    ([31.5, 31.5], 109.0)
    """
    both = [1 if side == 2 else 2 for side in sides]
    messages, squares, orders = np.zeros(len(sides)), 0.0, 0
    for order in permutations(range(len(sides))):
        orders += 1
        reached, later = 1, sum(both)
        squares += later**2
        for axis in order:
            later -= both[axis]
            messages[axis] += reached * (sides[axis] - 1)
            ends = min(both[axis], sides[axis] - 1)
            squares += reached * ends * later**2
            squares += reached * (sides[axis] - 1 - ends) * (later + 1) ** 2
            reached *= sides[axis]
    return messages / orders, squares / orders


def prepare(sides: tuple[int, ...], flits: float, vcs: int) -> Setup:
    """Return a torus, its messages and its VCs as the kernel needs them."""
    found = ways(sides)
    distance = float(found.hops.sum())
    channels = np.array([1.0 if side == 2 else 2.0 for side in sides])
    fresh_hops = 1 + (distance - 1) * (1 - found.same)
    free = np.array([[1.0, 1 - same_class(side) if side > 2 else 0.5, 0.0] for side in sides])
    return Setup(
        axes=len(sides),
        vcs=vcs,
        adaptive=vcs - 2,
        ports=int(channels.sum()),
        flits=float(flits),
        distance=distance,
        behind=found.behind,
        elsewhere=(fresh_hops - 1) / fresh_hops,
        hops=found.hops,
        channels=channels,
        choices=found.choices,
        left=found.hops @ found.choices / distance,
        fresh=fresh_hops * found.hops / distance,
        free=free,
    )


def scratch_of(setup: Setup) -> Scratch:
    """Return arrays for the kernel to work with."""
    size = (setup.adaptive + 1) * CLASSES
    by_axis = (setup.axes, setup.vcs + 1)
    alone = [np.zeros(setup.vcs) for _ in range(6)]
    return Scratch(
        np.zeros((size, size)), np.zeros(size), np.zeros((setup.axes, size)), np.ones(setup.axes),
        np.zeros(by_axis), np.zeros(by_axis), np.zeros((setup.axes, setup.vcs)), *alone,
    )  # fmt: skip


def solved(
    setup: Setup, sides: Sequence[int], broadcast: float, injection: int, rates: Floats
) -> Floats:
    """Return the kernel's answers, one row per rate. See ``kernels.adaptive_torus.solve``."""
    copies, squares = tree_loads(sides)
    one = 1 - broadcast
    shares = np.concatenate([
        one * setup.hops / setup.channels,
        broadcast * copies / setup.channels,
        [one, broadcast * copies.sum(), one + broadcast * squares, injection],
    ])  # fmt: skip
    answers = np.zeros((len(rates), HELD_FROM + setup.vcs + 1))
    solve_all(setup, scratch_of(setup), rates, shares, answers)
    return answers
