"""All-gathers and broadcasts of few steps: by integer programming, bounded by prices, with times.

If messages are short, steps cost more than bytes. A schedule of S steps, R rounds and C chunks
sends C chunks of every rank, or of the root of a broadcast. Step s lasts r_s rounds, R in all, and
in a round a link carries as many chunks as its capacity. Its time is S α + R/C · (M/N) / unit.
Cai et al., *Synthesizing optimal collective algorithms*, PPoPP 2021, ask an SMT solver for
(S, R, C). Here HiGHS answers, and prices bound the rounds per chunk of *all* schedules of S steps.

Any all-gather of S steps, averaged over the chunks of each rank, gives numbers x[i,e,s]: how much
of rank i's data crosses link e = (a, b) in step s. (In a broadcast, i is the root alone.) Every
other rank b gets each rank's data once: Σ_e,s x[i,e,s] = 1. Data that crosses e up to s came to a
before: ``Σ_{s' ≤ s} x[i,e,s'] ≤ Σ_{s' < s} x[i,(·,a),s']``. A step of r rounds per chunk carries
Σ_i x[i,e,s] ≤ c_e r_s. The least Σ r_s is a linear program, whose dual values are prices. Each
rank's data has a *worth* at each other rank. Each link has a *price* in each step, and having data
for a link up to a step has a *forwarding* value. Let no send be worth more than it costs, and let a
round of each step cost at most 1. Then the sum of the worths is at most the rounds per chunk.
``schedules`` checks such prices.

All messages of a step leave together, once all of the step before have arrived. A step thus costs
a latency, and as many rounds as it lasts: a round is the time of a chunk at the network's unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, lcm
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.base import units
from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.words import counted, listed
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.pipelines import BACKWARDS, Timed
from netloom.phases.collectives.schedules import Schedule, StepBound, StepProof, steps_seconds
from netloom.phases.collectives.synthesis import proven
from netloom.phases.collectives.trees import Optimum, optimum
from netloom.workload.programs.collectives.program import EVERYBODY, CollectiveProgram, single
from netloom.workload.programs.messages import lists

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MOST_SENDS = 1_000_000
"""Unknowns of the largest program that is tried: ranks x chunks x links x steps."""

MOST_CAPACITY = 64
"""How many times faster than their common unit channels may be: a round of it carries a chunk."""

MOST_PRICED = 30_000
"""Sends of the largest linear program that is tried: 12,000 take some 10 s."""

MOST_SECONDS = 120.0
"""How long prices are sought."""

FINEST = 5040
"""Largest denominator to which the solver's prices are rounded."""


class Sends(NamedTuple):
    """Every send that can be part of a schedule: its chunk, link and step.

    ``roots``: int32[num_roots], the ranks that have data to send. ``distance``: int32[num_roots,
    num_ranks], steps from each of them to each rank. ``origin``: the rank that has each chunk at
    first. ``chunk``, ``link``, ``step``: int32[num_sends]. A send is
    left out if the chunk cannot have come so far, or comes back to its origin.
    """

    network: RankNetwork
    steps: int
    roots: Ints
    distance: Ints
    origin: Ints
    chunk: Ints
    link: Ints
    step: Ints

    @property
    def waits(self) -> Ints:
        """The sends of what its rank must have received before, int64[…]."""
        return np.flatnonzero(self.network.source[self.link] != self.origin[self.chunk])

    def constraints(self) -> tuple[csr_array, csr_array]:
        """Return equations (= 1) and inequalities (<= 0) over the sends, and each step's rounds.

        Rows of the first: chunk · num_ranks + rank, without the origins, for who receives what.
        Rows of the second: ``waits``, what has crossed the link up to its step minus what has come
        to the rank before. Then link · steps + step, what each link carries in each step.
        """
        from scipy.sparse import csr_array, hstack, vstack

        net, many = self.network, len(self.chunk)
        ranks, columns, ones = net.num_ranks, np.arange(many), np.ones(many)
        to = self.chunk.astype(np.int64) * ranks + net.target[self.link]
        wanted = np.setdiff1d(
            np.arange(len(self.origin) * ranks), np.arange(len(self.origin)) * ranks + self.origin
        )
        arrive = csr_array((ones, (np.searchsorted(wanted, to), columns)), (len(wanted), many))
        waits = self.waits
        after = to * self.steps + self.step
        order = np.argsort(after, kind="stable")
        source = net.source[self.link[waits]]
        at = (self.chunk[waits].astype(np.int64) * ranks + source) * self.steps
        came = _ranges(after[order], at, at + self.step[waits])
        over = (self.chunk * np.int64(net.num_links) + self.link) * self.steps + self.step
        sorted_over = np.argsort(over, kind="stable")
        begin = over[waits] - self.step[waits]
        left = _ranges(over[sorted_over], begin, over[waits] + 1)
        rows = np.append(left[0], came[0])
        cols = np.append(sorted_over[left[1]], order[came[1]])
        values = np.append(np.ones(len(left[0])), -np.ones(len(came[0])))
        possess = csr_array((values, (rows, cols)), (len(waits), many))
        used, every = (
            self.link.astype(np.int64) * self.steps + self.step,
            net.num_links * self.steps,
        )
        carry = csr_array((ones, (used, columns)), (every, many))
        room = -np.repeat(net.capacity, self.steps).astype(np.float64)
        place = np.arange(every)
        rounds = csr_array((room, (place, place % self.steps)), (every, self.steps))
        equal, before = (
            hstack([each, csr_array((each.shape[0], self.steps))]) for each in (arrive, possess)
        )
        return equal.tocsr(), vstack([before, hstack([carry, rounds])]).tocsr()


def _ranges(keys: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of a range and a place in ascending keys from its low to below its high."""
    first = np.searchsorted(keys, low)
    counts = np.searchsorted(keys, high) - first
    within = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
    return np.repeat(np.arange(len(low)), counts), np.repeat(first, counts) + within


def roots_of(network: RankNetwork, root: int | None) -> Ints:
    """Return who has data to send: every rank, or the root of a broadcast."""
    every = np.arange(network.num_ranks, dtype=np.int32)
    return every if root is None else every[root : root + 1]


def check_network(network: RankNetwork) -> None:
    """Refuse networks in which steps and rounds are not all.

    Raises
    ------
    InputError
        If ranks are joined by what only forwards, or bandwidths have no simple ratios.
    """
    if network.num_vertices > network.num_ranks:
        name = network.name_of(network.num_ranks)
        raise InputError(network.topology.name, f"{name}, which only forwards", "ranks alone")
    if (fast := int(network.capacity.max())) > MOST_CAPACITY:
        ratio = fast / int(network.capacity.min())
        wanted = f"whole multiples of one rate, up to {MOST_CAPACITY} times it"
        raise InputError("bandwidths", f"some {ratio:.4g} times others", wanted)
    if (network.capacity != network.single * network.channels.lengths).any():
        raise InputError("bandwidths", "parallel channels of several rates", "one rate for all")


def possible_sends(
    network: RankNetwork, steps: int, chunks: int = 1, root: int | None = None
) -> Sends:
    """Return every send that can be part of an all-gather of so many steps and chunks per rank.

    Or, with a root, of a broadcast from it.

    Raises
    ------
    InputError
        If ranks are joined by what only forwards, some rank is more steps away, bandwidths have no
        simple ratios, or there would be over ``MOST_SENDS`` sends.
    """
    ranks, roots = network.num_ranks, roots_of(network, root)
    unknowns = len(roots) * chunks * network.num_links * steps
    if unknowns > MOST_SENDS:
        raise InputError("ranks x chunks x links x steps", str(unknowns), f"<= {MOST_SENDS}")
    check_network(network)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    ones = np.ones(network.num_links)
    linked = csr_array((ones, (network.source, network.target)), (ranks, ranks))
    distance = shortest_path(linked, unweighted=True, indices=roots)
    if (most := distance.max()) > steps:
        far = "which no steps join" if np.isinf(most) else f"{most:.0f} apart"
        row, other = (int(each) for each in np.unravel_index(distance.argmax(), distance.shape))
        one = int(roots[row])
        found = f"{network.name_of(one)} and {network.name_of(other)}, {far}"
        raise InputError("steps", f"{steps}, with {found}", "as many as the farthest are apart")
    origin = roots.repeat(chunks)
    chunk, link, step = (
        each.ravel().astype(np.int32)
        for each in np.meshgrid(
            np.arange(len(origin)), np.arange(network.num_links), np.arange(steps), indexing="ij"
        )
    )
    come = distance[chunk // chunks, network.source[link]] <= step
    keep = come & (network.target[link] != origin[chunk])
    return Sends(
        network, steps, roots, distance.astype(np.int32), origin,
        chunk[keep], link[keep], step[keep],
    )  # fmt: skip


def priceable_sends(network: RankNetwork, steps: int, root: int | None = None) -> Sends:
    """Return every send of one chunk per rank, few enough for a linear program.

    Raises
    ------
    InputError
        As ``possible_sends`` does, or if there are over ``MOST_PRICED``.
    """
    sends = possible_sends(network, steps, root=root)
    if (many := len(sends.chunk)) > MOST_PRICED:
        found = f"{steps}, in which ranks can send {many:,} times"
        wanted = f"at most {MOST_PRICED:,} (a minute of computing): fewer ranks or steps"
        raise InputError("steps", found, wanted)
    return sends


@dataclass(frozen=True, eq=False)
class StepPrices:
    """A proof that an all-gather of at most ``steps`` steps takes ``bound`` rounds per chunk.

    All numbers are parts of ``whole``.

    Attributes
    ----------
    network, steps
        What the proof is for.
    root
        Of a broadcast. None for an all-gather.
    whole
        The number that stands for 1.
    worth
        int64[num_ranks, num_ranks], of the data of each rank (row) at each other rank; 0 at itself.
    price
        int64[num_links, steps], at least 0.
    forwarding
        int64[num_ranks, num_links, steps], at least 0: of having the data of a rank for a link up
        to a step; 0 for links that leave that rank.
    """

    network: RankNetwork
    steps: int
    root: int | None
    whole: int
    worth: Ints
    price: Ints
    forwarding: Ints

    @property
    def bound(self) -> Fraction:
        """The least rounds per chunk."""
        return Fraction(int(self.worth.sum()), self.whole)

    @property
    def proof(self) -> StepProof:
        """The numbers that are not 0, which stand for themselves."""
        net, tables = self.network, (self.worth, self.price, self.forwarding)
        worth, price, held = (np.argwhere(each) for each in tables)
        ends = np.stack([net.source, net.target], axis=1)
        rows = (
            worth,
            np.concatenate([ends[price[:, 0]], price[:, 1:]], axis=1),
            np.concatenate([held[:, :1], ends[held[:, 1]], held[:, 2:]], axis=1),
        )
        return StepProof(
            self.steps,
            *(
                np.append(where, each[each != 0][:, None], axis=1).astype(np.int64)
                for where, each in zip(rows, tables, strict=True)
            ),
        )

    def __repr__(self) -> str:
        count = counted(self.proof.count, "number")
        return f"<{self.bound} rounds per chunk in {self.steps} steps, proven by {count}>"


def step_prices(network: RankNetwork, steps: int, root: int | None = None) -> StepPrices:
    """Return the best such proof for all-gathers, or broadcasts, of at most so many steps.

    The solver's prices are rounded to fractions and made to hold exactly, so that ``bound`` is
    proven. It is slightly below the linear program's optimum if that has no small denominators.

    Raises
    ------
    InputError
        As ``possible_sends`` does, or if the network is too large to find prices.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> step_prices(rank_network(topology("ring:4")), 2).bound
    Fraction(3, 2)
    """
    from scipy import optimize

    linprog: Any = optimize.linprog

    sends = priceable_sends(network, steps, root)
    equal, most = sends.constraints()
    found = linprog(
        np.append(np.zeros(len(sends.chunk)), np.ones(steps)), A_ub=most,
        b_ub=np.zeros(most.shape[0]), A_eq=equal, b_eq=np.ones(equal.shape[0]),
        method="highs-ipm", options={"time_limit": MOST_SECONDS},
    )  # fmt: skip
    if found.status == 1:
        said = f"no prices within {MOST_SECONDS:g} s for {network.num_ranks} ranks"
        raise InputError("steps", f"{steps}, but {said}", "fewer ranks")
    assert found.status == 0, found.message
    waits = sends.waits
    origin = sends.origin[sends.chunk]
    forwarding = np.zeros((network.num_ranks, network.num_links, steps))
    held = -found.ineqlin.marginals[: len(waits)]
    forwarding[origin[waits], sends.link[waits], sends.step[waits]] = held
    price = -found.ineqlin.marginals[len(waits) :].reshape(network.num_links, steps)
    worth = np.zeros((network.num_ranks, network.num_ranks))
    wanted = np.zeros(worth.shape, np.bool_)
    wanted[sends.roots] = True
    np.fill_diagonal(wanted, val=False)
    worth[wanted] = found.eqlin.marginals
    # rounded to fractions, then the worths are lowered until all holds
    parts = [
        [Fraction(float(value)).limit_denominator(FINEST) for value in array.ravel()]
        for array in (np.maximum(price, 0), worth, np.maximum(forwarding, 0))
    ]
    whole = lcm(*(value.denominator for array in parts for value in array))
    if whole > 10**9:
        whole = 720720
    prices, worths, held = (
        np.array([int(value * whole) for value in array], np.int64).reshape(like.shape)
        for array, like in zip(parts, (price, worth, forwarding), strict=True)
    )
    whole = max(whole, int((network.capacity[:, None] * prices).sum(axis=0).max()))
    rank, link, step = sends.origin[sends.chunk], sends.link, sends.step
    enabled = np.zeros((network.num_ranks, network.num_ranks, steps + 1), np.int64)
    np.add.at(enabled, (rank, network.source[link], step), held[rank, link, step])
    later = enabled[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    value = worths[rank, network.target[link]] + later[rank, network.target[link], step + 1]
    excess = np.zeros_like(worths)
    own = held[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    over = value - prices[link, step] - own[rank, link, step]
    np.maximum.at(excess, (rank, network.target[link]), over)
    return StepPrices(network, steps, root, whole, worths - excess, prices, held)


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

    @property
    def by(self) -> str:
        """What proves the larger."""
        return "prices" if self.prices.bound >= 1 / self.cut.rate else "bottleneck cut"

    def __repr__(self) -> str:
        by = "prices" if self.by == "prices" else "the bottleneck cut"
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
    weights = np.zeros(network.num_ranks, np.int64)
    weights[roots_of(network, root)] = 1
    cut = optimum(network, weights)
    for steps in range(first, most_steps + 1):
        bounds.append(RoundBound(step_prices(network, steps, root), cut))
        least, end = bounds[-1].rounds_per_chunk, perf_counter() + seconds
        for wanted in dict.fromkeys((1, most_chunks)):
            most = Fraction(steps * network.num_ranks + 1)  # all at once in every step is less
            before = points[-1].rounds_per_chunk if points else most
            tried = [  # what may be better than before
                (rounds, chunks)
                for chunks in range(1, wanted + 1)
                for rounds in range(max(steps, ceil(least * chunks)), ceil(before * chunks))
            ]
            for rounds, chunks in sorted(tried, key=lambda each: (Fraction(*each), each)):
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
    from scipy.sparse import csr_array, vstack

    equal, most = sends.constraints()
    sent = len(sends.chunk)
    least_of, most_of = np.zeros(sent + steps), np.ones(sent + steps)
    least_of[sent:], most_of[sent:] = 1, rounds
    wanted = np.append(np.ones(equal.shape[0]), rounds)
    found = milp(
        np.zeros(sent + steps), integrality=np.ones(sent + steps, np.int64),
        bounds=Bounds(least_of, most_of),
        constraints=[
            LinearConstraint(vstack([equal, csr_array(least_of[None])]).tocsr(), wanted, wanted),
            LinearConstraint(most, -np.inf, np.zeros(most.shape[0])),
        ],
        options={"time_limit": seconds},
    )  # fmt: skip
    if found.status == 2:
        return FewSteps(*asked, "impossible", "an exhaustive search finds none", nothing, None)
    if found.x is None:
        return FewSteps(*asked, "undecided", f"none found in {seconds:g} s", nothing, None)
    chosen = np.flatnonzero(found.x[:sent] > 0.5)
    lengths = np.rint(found.x[sent:]).astype(np.int64)
    # one message per link and step that is used
    order = chosen[np.lexsort((sends.chunk[chosen], sends.link[chosen], sends.step[chosen]))]
    key = sends.step[order].astype(np.int64) * network.num_links + sends.link[order]
    known, first = np.unique(key, return_index=True)
    link = known % network.num_links
    collective = "all-gather" if root is None else "broadcast"
    many = len(sends.origin)
    program = CollectiveProgram(
        collective, "synthesised", network.num_ranks, np.full(many, 1 / many), root or 0,
        network.source[link], network.target[link], (known // network.num_links).astype(np.int32),
        lists([part.tolist() for part in np.split(sends.chunk[order], first[1:])], np.int32),
        np.zeros(len(known), np.bool_), sends.origin, np.full(many, EVERYBODY, np.int32),
    )  # fmt: skip
    return FewSteps(*asked, "schedule", "", lengths, program)


GATHERING = ("all-gather", "reduce-scatter", "broadcast", "reduce")
"""Collectives that have schedules of few steps."""

MOST_CHUNKS = 8
"""Most chunks per rank that are tried unless said otherwise."""


@dataclass(frozen=True, eq=False)
class InSteps:
    """Schedules of few steps at a size.

    Attributes
    ----------
    collective, size_bytes, root
        What they do.
    network
        In the direction in which the data goes out of its roots: reversed for reduce-scatter.
    frontier
        The points, and the bound at each number of steps.
    timed
        A schedule for each point.
    """

    collective: str
    size_bytes: float
    root: int
    network: RankNetwork
    frontier: Frontier
    timed: tuple[Timed, ...]

    @property
    def best(self) -> int:
        """The fastest point, and of equal ones the first: the one of fewest steps and chunks."""
        return min(range(len(self.timed)), key=lambda place: self.timed[place].finish_seconds)

    @property
    def round_rate(self) -> float:
        """The rate of a channel that carries one chunk per round, in bytes/s."""
        return float(self.network.unit) * self.network.bytes_per_second

    @property
    def formula(self) -> str:
        """What times are made of."""
        latency = self.network.latency
        parts = 1 if self.collective in ("broadcast", "reduce") else self.network.num_ranks
        chunk = self.size_bytes / parts
        alpha = units.seconds(float(latency.max()))
        if (latency != latency[0]).any():
            alpha = f"{alpha} at most"
        each, speed = units.seconds(chunk / self.round_rate), units.rate(self.round_rate)
        part = f"{units.size(chunk)} at {speed}"
        return f"time = steps x {alpha} + rounds / chunks x {each} ({part})"

    def proof_lines(self, bound: RoundBound) -> list[str]:
        """Return the proof of a bound as text, which a person can check by hand."""
        prices, steps = bound.prices, counted(bound.prices.steps, "step")
        names = [self.network.name_of(rank) for rank in range(self.network.num_ranks)]
        cost = (self.network.capacity[:, None] * prices.price).sum(axis=0).tolist()
        rounds = "1 round" if prices.bound == 1 else f"{prices.bound} rounds"
        head = f"At most {steps} need {rounds} per chunk, as these numbers prove"
        if self.collective in BACKWARDS:
            head += "; channels and steps are those of the same schedule run backwards"
        return [
            f"{head}:",
            *prices.proof.lines(names),
            "No send pays: worth at its target, with the forwarding values from there in later "
            "steps, is at most its price, with the forwarding values of its channel from its step "
            "on.",
            f"A round costs at most {max(cost)} in a step: the sum of price x rate / "
            f"({units.rate(self.round_rate)}). All worths are {int(prices.worth.sum())} together, "
            f"and {int(prices.worth.sum())}/{max(cost)} = {prices.bound}.",
        ]

    @property
    def schedule(self) -> Schedule:
        """The fastest, with the bound of its number of steps and the prices that prove it."""
        found = proven(self.timed[self.best])
        proof = self.frontier.bound(self.frontier.points[self.best].steps).prices.proof
        few = StepBound(float(steps_seconds(found, proof)), proof)
        return replace(found, few=few)


def in_steps(
    network: RankNetwork,
    collective: str,
    size_bytes: float,
    *,
    steps: int,
    chunks: int | None = None,
    root: int = 0,
    seconds: float = SECONDS,
) -> InSteps:
    """Return the schedules of at most so many steps that matter, with times and bounds.

    Parameters
    ----------
    network
        Ranks joined directly to each other.
    collective
        One of ``GATHERING``.
    size_bytes
        As ``CollectiveProgram`` has it.
    steps
        The most steps.
    chunks
        The most chunks per rank. None: up to ``MOST_CHUNKS``.
    root
        Of broadcast and reduce.
    seconds
        How long schedules of each number of steps are sought.

    Raises
    ------
    InputError
        As ``frontier`` does, or if no schedule was found in time.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> found = in_steps(net, "reduce-scatter", 1e6, steps=2)
    >>> found.frontier.points
    (<(2, 2, 1) schedule>, <(2, 3, 2) schedule>)
    >>> [round(each.finish_seconds * 1e6, 3) for each in found.timed]
    [22.0, 17.0]
    """
    if collective not in GATHERING:
        wanted = f"{listed(GATHERING)}, or no steps"
        raise InputError("steps", f"{steps} for {collective}", wanted)
    used = network.reversed() if collective in BACKWARDS else network
    rooted = root if collective in ("broadcast", "reduce") else None
    check_network(used)
    sends = len(roots_of(used, rooted)) * used.num_links * steps
    most = chunks or min(MOST_CHUNKS, max(MOST_SENDS // sends, 1))
    found = frontier(used, most_steps=steps, most_chunks=most, root=rooted, seconds=seconds)
    if not found.points:
        wanted = "more time, fewer ranks, or no steps"
        raise InputError("steps", f"{steps}, and no schedule in {seconds:g} s", wanted)
    timed = tuple(_timed(network, used, each, collective, size_bytes) for each in found.points)
    return InSteps(collective, size_bytes, root, used, found, timed)


def _timed(
    network: RankNetwork, used: RankNetwork, point: FewSteps, collective: str, size_bytes: float
) -> Timed:
    """Return a point as a schedule in time. Backwards, copies become sums."""
    program = point.program
    assert program is not None
    # messages that take one channel each: a link that is several divides its chunks among them
    link = np.searchsorted(
        used.source.astype(np.int64) * used.num_vertices + used.target,
        program.source.astype(np.int64) * used.num_vertices + program.target,
    )
    messages, taken, carried = [], [], []
    for message, where in enumerate(link.tolist()):
        ways, chunks = used.channels.of(where), program.chunks.of(message)
        for place, way in enumerate(ways[: len(chunks)].tolist()):
            messages.append(message)
            taken.append(way)
            carried.append(chunks[place :: len(ways)].tolist())
    rows, channels = np.array(messages, np.int64), np.array(taken, np.int32)
    program = replace(
        program, source=program.source[rows], target=program.target[rows], step=program.step[rows],
        chunks=lists(carried, np.int32), sums=program.sums[rows],
    )  # fmt: skip
    if collective in BACKWARDS:
        order = np.argsort(-program.step, kind="stable")
        program = replace(
            program, collective=collective, source=program.target[order],
            target=program.source[order], step=program.step.max() - program.step[order],
            chunks=program.chunks.taken(order), sums=np.ones(len(order), np.bool_),
            first_owner=program.final_owner, final_owner=program.first_owner,
        )  # fmt: skip
        channels = channels[order]
    rate = network.topology.channel_bandwidth[channels] * network.bytes_per_second
    latency = np.zeros(network.topology.num_channels)
    latency[network.channels.values] = np.repeat(network.latency, network.channels.lengths)
    lasting = program.message_size * size_bytes / rate + latency[channels]
    _, step = np.unique(program.step, return_inverse=True)
    longest = np.zeros(step.max() + 1)
    np.maximum.at(longest, step, lasting)
    start = np.append(0.0, np.cumsum(longest))[step]
    return Timed(
        replace(program, step=step.astype(np.int32)), network, size_bytes, start, start + lasting,
        single(channels), 0.0,
    )  # fmt: skip
