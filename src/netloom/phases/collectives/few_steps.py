"""All-gathers and broadcasts of few steps, by integer programming, bounded by prices.

If messages are short, steps cost more than bytes. A schedule of S steps, R rounds and C chunks
sends C chunks of every rank, or of the root of a broadcast. Step s lasts r_s rounds, R in all, and
in a round a link carries as many chunks as its capacity. Its time is S α + R/C · (M/N) / unit.
Cai et al., *Synthesizing optimal collective algorithms*, PPoPP 2021, ask an SMT solver for
(S, R, C). Here HiGHS answers, and ``step_prices`` bounds the rounds per chunk of *all* schedules of
S steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.collectives.optimum import Optimum, optimum
from netloom.phases.collectives.step_prices import (
    Sends,
    StepPrices,
    possible_sends,
    priceable_sends,
    roots_of,
    step_prices,
)
from netloom.workload.programs.collectives.program import EVERYBODY, CollectiveProgram
from netloom.workload.programs.many_lists import lists

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from netloom.base.arrays import Floats, Ints
    from netloom.phases.collectives.network import RankNetwork

SECONDS = 60.0
"""How long the search for one schedule may take unless said otherwise."""


@dataclass(frozen=True, eq=False)
class RoundBound:
    """The least rounds per chunk of an all-gather of so many steps, and why.

    Attributes
    ----------
    prices
        The proof from steps: holds for schedules of at most ``prices.steps`` steps.
    cut
        The proof from the bottleneck cut: holds for any number of steps.
    """

    prices: StepPrices
    cut: Optimum

    @property
    def rounds_per_chunk(self) -> Fraction:
        """The larger of the two bounds."""
        return max(self.prices.bound, 1 / self.cut.rate)

    def __repr__(self) -> str:
        by = "prices" if self.prices.bound >= 1 / self.cut.rate else "the bottleneck cut"
        what = f"rounds per chunk in {self.prices.steps} steps, by {by}"
        return f"<at least {self.rounds_per_chunk} {what}>"


@dataclass(frozen=True, eq=False)
class FewSteps:
    """What is known of all-gathers of so many steps, rounds and chunks.

    Attributes
    ----------
    steps, rounds, chunks
        What was asked.
    outcome
        ``schedule``: there is one. ``impossible``: it is proven that there is none. ``undecided``:
        the time was up.
    reason
        Why it is impossible or undecided, in words, or empty for a schedule.
    rounds_of_step
        int64[steps], how long each step of the schedule is, or empty without one.
    program
        The schedule, or None.
    """

    steps: int
    rounds: int
    chunks: int
    outcome: Literal["schedule", "impossible", "undecided"]
    reason: str
    rounds_of_step: Ints
    program: CollectiveProgram | None

    @property
    def rounds_per_chunk(self) -> Fraction:
        """R/C: what a schedule's time grows with where messages are long."""
        return Fraction(self.rounds, self.chunks)

    def __repr__(self) -> str:
        why = f": {self.reason}" if self.reason else ""
        return f"<({self.steps}, {self.rounds}, {self.chunks}) {self.outcome}{why}>"


@dataclass(frozen=True, eq=False)
class Frontier:
    """The schedules that none with as few steps and chunks beats, with their bounds.

    Attributes
    ----------
    points
        Schedules, by steps, then chunks: each has fewer rounds per chunk than all before.
    bounds
        The bound at each number of steps tried, from the least possible on.
    undecided
        What the time did not suffice for, after which more rounds were not tried: there might be
        points of as many steps and chunks.
    """

    points: tuple[FewSteps, ...]
    bounds: tuple[RoundBound, ...]
    undecided: tuple[FewSteps, ...]

    def bound(self, steps: int) -> RoundBound:
        """Return the bound at a number of steps."""
        return next(each for each in self.bounds if each.prices.steps == steps)

    def proven(self, point: FewSteps) -> bool:
        """Return whether no schedule of as few steps has fewer rounds per chunk, for any chunks."""
        return point.rounds_per_chunk == self.bound(point.steps).rounds_per_chunk


def _best(network: RankNetwork, root: int | None) -> Optimum:
    weights = np.zeros(network.num_ranks, np.int64)
    weights[roots_of(network, root)] = 1
    return optimum(network, weights)


def frontier(
    network: RankNetwork, *,
    most_steps: int, most_chunks: int, root: int | None = None, seconds: float = SECONDS,
) -> Frontier:  # fmt: skip
    """Return the schedules that matter: fewer rounds per chunk for more steps or more chunks.

    For each number of steps that is the schedule of one chunk, and the one of fewest rounds per
    chunk that is found, each if it beats all before.

    Parameters
    ----------
    network
        Ranks joined directly to each other.
    most_steps, most_chunks
        Up to which schedules are sought.
    root
        Of a broadcast. None for all-gathers.
    seconds
        How long schedules of each number of steps are sought.

    Raises
    ------
    InputError
        As ``searched`` does, or if chunks are below 1.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> found = frontier(rank_network(topology("ring:4")), most_steps=3, most_chunks=2)
    >>> found.points, [found.proven(each) for each in found.points]
    ((<(2, 2, 1) schedule>, <(2, 3, 2) schedule>), [False, True])
    """
    if most_chunks < 1:
        raise InputError("chunks", str(most_chunks), "at least 1")
    points: list[FewSteps] = []
    bounds: list[RoundBound] = []
    undecided: list[FewSteps] = []
    first = int(priceable_sends(network, most_steps, root).distance.max())
    possible_sends(network, most_steps, most_chunks, root)  # refuses too many chunks now
    cut = _best(network, root)
    for steps in range(first, most_steps + 1):
        bounds.append(RoundBound(step_prices(network, steps, root), cut))
        least, end = bounds[-1].rounds_per_chunk, perf_counter() + seconds
        for wanted in dict.fromkeys((1, most_chunks)):
            most = Fraction(steps * network.num_ranks + 1)  # all at once in every step is less
            before = points[-1].rounds_per_chunk if points else most
            for rounds, chunks in _tried(steps, least, wanted, before):
                left = (end - perf_counter()) / 2
                asked = (steps, rounds, chunks)
                found = searched(network, root, asked, least, max(left, seconds / 100))
                if found.outcome == "schedule":
                    points.append(found)
                    break
                if found.outcome == "undecided":
                    undecided.append(found)
                    if left < seconds / 100:
                        break
        if points and points[-1].rounds_per_chunk == 1 / cut.rate:
            break
    return Frontier(tuple(points), tuple(bounds), tuple(undecided))


def _tried(
    steps: int, least: Fraction, most_chunks: int, before: Fraction
) -> list[tuple[int, int]]:
    """Return the rounds and chunks that may be better than before, the best first."""
    found = [
        (rounds, chunks)
        for chunks in range(1, most_chunks + 1)
        for rounds in range(max(steps, ceil(least * chunks)), ceil(before * chunks))
    ]
    return sorted(found, key=lambda each: (Fraction(*each), each))


def searched(
    network: RankNetwork,
    root: int | None,
    asked: tuple[int, int, int],
    least: Fraction,
    seconds: float = SECONDS,
) -> FewSteps:
    """Search for an all-gather unless the bound or the steps rule it out.

    Parameters
    ----------
    network
        Ranks joined directly to each other.
    root
        Of a broadcast. None for an all-gather.
    asked
        Steps, rounds and chunks. Every step lasts at least one round.
    least
        The least rounds per chunk. See ``RoundBound``.
    seconds
        How long to search.

    Raises
    ------
    InputError
        If ranks are joined by what only forwards, or some rank is more steps away.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> square = rank_network(topology("hypercube:2"))
    >>> searched(square, None, (2, 3, 2), Fraction(3, 2))
    <(2, 3, 2) schedule>
    >>> searched(square, None, (2, 4, 3), Fraction(3, 2))
    <(2, 4, 3) impossible: 4/3 rounds per chunk, but all need 3/2>
    """
    steps, rounds, chunks = asked
    nothing = np.zeros(0, np.int64)
    if Fraction(rounds, chunks) < least:
        why = f"{Fraction(rounds, chunks)} rounds per chunk, but all need {least}"
        return FewSteps(*asked, "impossible", why, nothing, None)
    if rounds < steps:
        why = f"{rounds} rounds are not {steps} steps of a round or more"
        return FewSteps(*asked, "impossible", why, nothing, None)
    sends = possible_sends(network, steps, chunks, root)
    from scipy.optimize import Bounds, LinearConstraint, milp

    equal, most, limit = _constraints(network, sends, rounds)
    sent, lasting = len(sends.chunk), steps
    found = milp(
        np.zeros(sent + lasting), integrality=np.ones(sent + lasting, np.int64),
        bounds=Bounds(
            np.append(np.zeros(sent), np.ones(lasting)),
            np.append(np.ones(sent), np.full(lasting, rounds)),
        ),
        constraints=[
            LinearConstraint(equal[0], equal[1], equal[1]),
            LinearConstraint(most, -np.inf, limit),
        ],
        options={"time_limit": seconds},
    )  # fmt: skip
    if found.status == 2:
        return FewSteps(*asked, "impossible", "an exhaustive search finds none", nothing, None)
    if found.x is None:
        return FewSteps(*asked, "undecided", f"none found in {seconds:g} s", nothing, None)
    chosen = np.flatnonzero(found.x[:sent] > 0.5)
    lengths = np.rint(found.x[sent:]).astype(np.int64)
    return FewSteps(*asked, "schedule", "", lengths, _program(network, sends, chosen, root))


def _constraints(
    network: RankNetwork, sends: Sends, rounds: int
) -> tuple[tuple[csr_array, Floats], csr_array, Floats]:
    """Return equations and inequalities over whether each send is made, and each step's rounds."""
    from scipy.sparse import csr_array, hstack, vstack

    arrive, possess, carry = sends.matrices()
    length = sends.steps
    none = csr_array((arrive.shape[0], length))
    total = csr_array(np.append(np.zeros(len(sends.chunk)), np.ones(length))[None])
    equal = vstack([hstack([arrive, none]), total]).tocsr()
    rows = np.arange(network.num_links * length)
    per_round = csr_array(
        (-np.repeat(network.capacity, length).astype(np.float64), (rows, rows % length)),
        (len(rows), length),
    )
    before = hstack([possess, csr_array((possess.shape[0], length))])
    most = vstack([before, hstack([carry, per_round])]).tocsr()
    return (equal, np.append(np.ones(arrive.shape[0]), rounds)), most, np.zeros(most.shape[0])


def _program(
    network: RankNetwork, sends: Sends, chosen: Ints, root: int | None
) -> CollectiveProgram:
    """Return the schedule of these sends: one message per link and step that is used."""
    order = chosen[np.lexsort((sends.chunk[chosen], sends.link[chosen], sends.step[chosen]))]
    key = sends.step[order].astype(np.int64) * network.num_links + sends.link[order]
    known, first = np.unique(key, return_index=True)
    link = known % network.num_links
    collective = "all-gather" if root is None else "broadcast"
    many = len(sends.origin)
    return CollectiveProgram(
        collective, "synthesised", network.num_ranks, np.full(many, 1 / many), root or 0,
        network.source[link], network.target[link], (known // network.num_links).astype(np.int32),
        lists([part.tolist() for part in np.split(sends.chunk[order], first[1:])], np.int32),
        np.zeros(len(known), np.bool_), sends.origin, np.full(many, EVERYBODY, np.int32),
    )  # fmt: skip
