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
from netloom.phases.collectives.pipelines import BACKWARDS, Asked, Timed, timed
from netloom.phases.collectives.schedules import Schedule, StepProof, steps_seconds
from netloom.phases.collectives.synthesis import proven
from netloom.phases.collectives.trees import optimum
from netloom.workload.programs.collectives.program import EVERYBODY, single
from netloom.workload.programs.messages import cut, grouped

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
        from scipy.sparse import block_array, csr_array, hstack

        net, steps, every = self.network, self.steps, np.arange(len(self.chunk))
        ranks, links, ones = net.num_ranks, net.num_links, np.ones(len(every))
        chunk, waits = self.chunk.astype(np.int64), self.waits
        to, over = chunk * ranks + net.target[self.link], chunk * links + self.link
        arrive = csr_array((ones, (np.unique(to, return_inverse=True)[1], every)))
        at = chunk[waits] * ranks + net.source[self.link[waits]]
        crossed = grouped(over, every, len(self.origin) * links).taken(over[waits])
        came = grouped(to, every, len(self.origin) * ranks).taken(at)
        row = np.append(crossed.owners(), came.owners())
        column = np.append(crossed.values, came.values)
        sign = np.repeat([1, -1], [len(crossed.values), len(came.values)])
        kept = self.step[column] < self.step[waits][row] + (sign > 0)
        pairs = row[kept], column[kept]
        possess = csr_array((sign[kept].astype(np.float64), pairs), (len(waits), len(every)))
        place = np.arange(links * steps)
        used = self.link.astype(np.int64) * steps + self.step
        carry = csr_array((ones, (used, every)), (len(place), len(every)))
        room = -np.repeat(net.capacity, steps).astype(np.float64)
        rounds = csr_array((room, (place, place % steps)), (len(place), steps))
        equal = hstack([arrive, csr_array((arrive.shape[0], steps))], format="csr")
        return equal, block_array([[possess, None], [carry, rounds]], format="csr")


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
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    if network.num_vertices > network.num_ranks:
        name = network.name_of(network.num_ranks)
        raise InputError(network.topology.name, f"{name}, which only forwards", "ranks alone")
    if (fast := int(network.capacity.max())) > MOST_CAPACITY:
        ratio = fast / int(network.capacity.min())
        wanted = f"whole multiples of one rate, up to {MOST_CAPACITY} times it"
        raise InputError("bandwidths", f"some {ratio:.4g} times others", wanted)
    if (network.capacity != network.single * network.channels.lengths).any():
        raise InputError("bandwidths", "parallel channels of several rates", "one rate for all")
    every = np.arange(network.num_ranks, dtype=np.int32)
    roots = every if root is None else every[root : root + 1]
    unknowns = len(roots) * chunks * network.num_links * steps
    if unknowns > MOST_SENDS:
        raise InputError("ranks x chunks x links x steps", str(unknowns), f"<= {MOST_SENDS}")
    ends = network.source, network.target
    linked = csr_array((np.ones(network.num_links), ends), (network.num_ranks,) * 2)
    distance = shortest_path(linked, unweighted=True, indices=roots)
    if (most := distance.max()) > steps:
        far = "which no steps join" if np.isinf(most) else f"{most:.0f} apart"
        row, other = (int(each) for each in np.unravel_index(distance.argmax(), distance.shape))
        found = f"{network.name_of(int(roots[row]))} and {network.name_of(other)}, {far}"
        raise InputError("steps", f"{steps}, with {found}", "as many as the farthest are apart")
    origin = roots.repeat(chunks)
    shape = len(origin), network.num_links, steps
    chunk, link, step = (each.ravel().astype(np.int32) for each in np.indices(shape))
    come = distance[chunk // chunks, network.source[link]] <= step
    keep = come & (network.target[link] != origin[chunk])
    sends = chunk[keep], link[keep], step[keep]
    return Sends(network, steps, roots, distance.astype(np.int32), origin, *sends)


@dataclass(frozen=True, eq=False)
class RoundBound:
    """The least rounds per chunk of schedules of at most so many steps, and why.

    Attributes
    ----------
    proof
        The prices that bound them. All of its numbers are parts of ``whole``.
    whole
        The number that stands for 1.
    cost
        What a round costs at most in a step: Σ price × capacity.
    cut
        Rounds per chunk that the bottleneck cut takes in any number of steps.
    """

    proof: StepProof
    whole: int
    cost: int
    cut: Fraction

    @property
    def prices(self) -> Fraction:
        """The least rounds per chunk by prices."""
        return Fraction(self.proof.total, self.whole)

    @property
    def rounds_per_chunk(self) -> Fraction:
        """The larger of the two bounds."""
        return max(self.prices, self.cut)


def round_bound(network: RankNetwork, steps: int, cut: Fraction, root: int | None) -> RoundBound:
    """Return the best bound of all-gathers, or broadcasts, of at most so many steps.

    The solver's prices are rounded to fractions and made to hold exactly, so that the bound is
    proven. It is slightly below the linear program's optimum if that has no small denominators.

    Raises
    ------
    InputError
        As ``possible_sends`` does, or if the network is too large to find prices.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> round_bound(rank_network(topology("ring:4")), 2, Fraction(1), None).prices
    Fraction(3, 2)
    """
    from scipy import optimize

    linprog: Any = optimize.linprog
    sends, ranks = possible_sends(network, steps, root=root), network.num_ranks
    equal, most = sends.constraints()
    found = linprog(
        np.append(np.zeros(len(sends.chunk)), np.ones(steps)),
        A_ub=most,
        b_ub=np.zeros(most.shape[0]),
        A_eq=equal,
        b_eq=np.ones(equal.shape[0]),
        method="highs-ipm",
        options={"time_limit": MOST_SECONDS},
    )
    if found.status == 1:
        said = f"no prices within {MOST_SECONDS:g} s for {ranks} ranks"
        raise InputError("steps", f"{steps}, but {said}", "fewer ranks")
    assert found.status == 0, found.message
    rank, link, step, waits = sends.origin[sends.chunk], sends.link, sends.step, sends.waits
    price = -found.ineqlin.marginals[len(waits) :].reshape(network.num_links, steps)
    wanted = np.isin(np.arange(ranks), sends.roots)[:, None] & ~np.eye(ranks, dtype=np.bool_)
    worth, held = np.zeros((ranks, ranks)), np.zeros((ranks, network.num_links, steps))
    worth[wanted] = found.eqlin.marginals
    held[rank[waits], link[waits], step[waits]] = -found.ineqlin.marginals[: len(waits)]
    # rounded to fractions, then the worths are lowered until all holds
    parts = [
        [Fraction(float(value)).limit_denominator(FINEST) for value in array.ravel()]
        for array in (np.maximum(price, 0), worth, np.maximum(held, 0))
    ]
    whole = lcm(*(value.denominator for array in parts for value in array))
    if whole > 10**9:
        whole = 720720
    prices, worths, holding = (
        np.array([int(value * whole) for value in array], np.int64).reshape(like.shape)
        for array, like in zip(parts, (price, worth, held), strict=True)
    )
    cost = int((network.capacity[:, None] * prices).sum(axis=0).max())
    enabled = np.zeros((ranks, ranks, steps + 1), np.int64)
    np.add.at(enabled, (rank, network.source[link], step), holding[rank, link, step])
    later, own = (each[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] for each in (enabled, holding))
    value = worths[rank, network.target[link]] + later[rank, network.target[link], step + 1]
    excess = np.zeros_like(worths)
    over = value - prices[link, step] - own[rank, link, step]
    np.maximum.at(excess, (rank, network.target[link]), over)
    worths -= excess
    ends = np.stack([network.source, network.target], axis=1)
    at, by, of = (np.argwhere(each) for each in (worths, prices, holding))
    by = np.hstack([ends[by[:, 0]], by[:, 1:]])
    places = at, by, np.hstack([of[:, :1], ends[of[:, 1]], of[:, 2:]])
    rows = (
        np.append(place, table[table != 0][:, None], axis=1).astype(np.int64)
        for place, table in zip(places, (worths, prices, holding), strict=True)
    )
    return RoundBound(StepProof(steps, *rows), max(whole, cost), cost, cut)


SECONDS = 60.0
"""How long the search for one schedule may take unless said otherwise."""


class FewSteps(NamedTuple):
    """What is known of all-gathers of so many steps, rounds and chunks.

    Attributes
    ----------
    steps, rounds, chunks
        What was asked.
    outcome
        ``schedule``: there is one. ``impossible``: it is proven that there is none. ``undecided``:
        the time was up.
    sends, chosen
        All that were possible, and those of the schedule: int64[…], none without one.
    rounds_of_step
        int64[steps], how long each step of the schedule is, or empty without one.
    """

    steps: int
    rounds: int
    chunks: int
    outcome: Literal["schedule", "impossible", "undecided"]
    sends: Sends
    chosen: Ints
    rounds_of_step: Ints

    @property
    def rounds_per_chunk(self) -> Fraction:
        """R/C: what a schedule's time grows with where messages are long."""
        return Fraction(self.rounds, self.chunks)


def searched(
    network: RankNetwork, root: int | None, asked: tuple[int, int, int], seconds: float = SECONDS
) -> FewSteps:
    """Search for an all-gather, or for a broadcast if there is a root.

    Parameters
    ----------
    network
        Ranks joined directly to each other.
    root
        Of a broadcast. None for an all-gather.
    asked
        Steps, rounds and chunks. Every step lasts at least one round.
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
    >>> [searched(square, None, (2, 3, chunks)).outcome for chunks in (2, 3)]
    ['schedule', 'impossible']
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    steps, rounds, chunks = asked
    sends = possible_sends(network, steps, chunks, root)
    equal, most = sends.constraints()
    sent = len(sends.chunk)
    least_of, most_of = np.zeros(sent + steps), np.ones(sent + steps)
    least_of[sent:], most_of[sent:] = 1, rounds
    wanted = np.append(np.ones(equal.shape[0]), rounds)
    found = milp(
        np.zeros(sent + steps),
        integrality=np.ones(sent + steps, np.int64),
        bounds=Bounds(least_of, most_of),
        constraints=[
            LinearConstraint(vstack([equal, csr_array(least_of[None])]).tocsr(), wanted, wanted),
            LinearConstraint(most, -np.inf, np.zeros(most.shape[0])),
        ],
        options={"time_limit": seconds},
    )
    if found.x is None:
        nothing = np.zeros(0, np.int64)
        outcome: Any = "impossible" if found.status == 2 else "undecided"
        return FewSteps(*asked, outcome, sends, nothing, nothing)
    chosen, lasting = np.flatnonzero(found.x[:sent] > 0.5), np.rint(found.x[sent:])
    return FewSteps(*asked, "schedule", sends, chosen, lasting.astype(np.int64))


GATHERING = ("all-gather", "reduce-scatter", "broadcast", "reduce")
"""Collectives that have schedules of few steps."""

MOST_CHUNKS = 8
"""Most chunks per rank that are tried unless said otherwise."""


class InSteps(NamedTuple):
    """The schedules of few steps that none with as few steps and chunks beats, at a size.

    Attributes
    ----------
    asked
        What they do.
    network
        In the direction in which the data goes out of its roots: reversed for reduce-scatter.
    points
        Schedules, by steps, then chunks: each has fewer rounds per chunk than all before.
    bounds
        The bound at each number of steps tried, from the least possible on.
    undecided
        What the time did not suffice for, after which more rounds were not tried: there might be
        points of as many steps and chunks.
    timed
        A schedule for each point.
    """

    asked: Asked
    network: RankNetwork
    points: list[FewSteps]
    bounds: list[RoundBound]
    undecided: list[FewSteps]
    timed: list[Timed]

    def bound(self, point: FewSteps) -> RoundBound:
        """Return the bound at a point's number of steps."""
        return next(each for each in self.bounds if each.proof.steps == point.steps)

    def proven(self, point: FewSteps) -> bool:
        """Return whether no schedule of as few steps has fewer rounds per chunk, for any chunks."""
        return point.rounds_per_chunk == self.bound(point).rounds_per_chunk

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
        chunk = self.asked.size_bytes / int(self.asked.weights.sum())
        alpha = units.seconds(float(latency.max()))
        if (latency != latency[0]).any():
            alpha = f"{alpha} at most"
        each, speed = units.seconds(chunk / self.round_rate), units.rate(self.round_rate)
        part = f"{units.size(chunk)} at {speed}"
        return f"time = steps x {alpha} + rounds / chunks x {each} ({part})"

    def proof_lines(self, bound: RoundBound) -> list[str]:
        """Return the proof of a bound as text, which a person can check by hand."""
        proof, name = bound.proof, self.network.name_of
        rounds = "1 round" if bound.prices == 1 else f"{bound.prices} rounds"
        steps = counted(proof.steps, "step")
        head = f"At most {steps} need {rounds} per chunk, as these numbers prove"
        if self.asked.collective in BACKWARDS:
            head += "; channels and steps are those of the same schedule run backwards"
        price = [
            f"price of {name(a)} -> {name(b)} in step {step + 1}: {value}"
            for a, b, step, value in proof.price.tolist()
        ]
        worth = [
            f"worth of data of {name(root)} at {name(rank)}: {value}"
            for root, rank, value in proof.worth.tolist()
        ]
        forwarding = [
            f"forwarding data of {name(root)} over {name(a)} -> {name(b)} up to step "
            f"{step + 1}: {value}"
            for root, a, b, step, value in proof.forwarding.tolist()
        ]
        return [
            f"{head}:",
            *price,
            *worth,
            *forwarding,
            "No send pays: worth at its target, with the forwarding values from there in later "
            "steps, is at most its price, with the forwarding values of its channel from its step "
            "on.",
            f"A round costs at most {bound.cost} in a step: the sum of price x rate / "
            f"({units.rate(self.round_rate)}). All worths are {proof.total} together, "
            f"and {proof.total}/{bound.cost} = {bound.prices}.",
        ]

    @property
    def schedule(self) -> Schedule:
        """The fastest, with the bound of its number of steps and the prices that prove it."""
        found, proof = proven(self.timed[self.best]), self.bound(self.points[self.best]).proof
        few = replace(proof, seconds=float(steps_seconds(found, proof)))
        return replace(found, few=few)


def in_steps(asked: Asked, steps: int, seconds: float = SECONDS) -> InSteps:
    """Return the schedules of at most so many steps that matter, with times and bounds.

    For each number of steps that is the schedule of one chunk, and the one of fewest rounds per
    chunk that is found, each if it beats all before.

    Parameters
    ----------
    asked
        One of ``GATHERING``, on ranks joined directly to each other. Of at most so many chunks per
        rank. None: up to ``MOST_CHUNKS``.
    steps
        The most steps.
    seconds
        How long schedules of each number of steps are sought.

    Raises
    ------
    InputError
        As ``possible_sends`` does, if the network is too large, or no schedule was found in time.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> found = in_steps(Asked(net, "reduce-scatter", 1e6), 2)
    >>> [(each.steps, each.rounds, each.chunks) for each in found.points]
    [(2, 2, 1), (2, 3, 2)]
    >>> [round(each.finish_seconds * 1e6, 3) for each in found.timed]
    [22.0, 17.0]
    """
    if asked.collective not in GATHERING:
        wanted = f"{listed(GATHERING)}, or no steps"
        raise InputError("steps", f"{steps} for {asked.collective}", wanted)
    used, rooted = asked.outward, None
    if asked.collective in ("broadcast", "reduce"):
        rooted = asked.root
    sends = possible_sends(used, steps, root=rooted)
    if (many := len(sends.chunk)) > MOST_PRICED:
        found = f"{steps}, in which ranks can send {many:,} times"
        wanted = f"at most {MOST_PRICED:,} (a minute of computing): fewer ranks or steps"
        raise InputError("steps", found, wanted)
    unknowns = len(sends.roots) * used.num_links * steps
    most = asked.chunks or min(MOST_CHUNKS, max(MOST_SENDS // unknowns, 1))
    possible_sends(used, steps, most, rooted)  # refuses too many chunks now
    points, bounds, undecided = list[FewSteps](), list[RoundBound](), list[FewSteps]()
    bound = 1 / optimum(used, asked.weights).rate
    for number in range(int(sends.distance.max()), steps + 1):
        bounds.append(round_bound(used, number, bound, rooted))
        end = perf_counter() + seconds
        for wide in dict.fromkeys((1, most)):
            # all at once in every step is less
            most_rounds = Fraction(number * used.num_ranks + 1)
            before = points[-1].rounds_per_chunk if points else most_rounds
            least = bounds[-1].rounds_per_chunk
            tried = [  # what may be better than before
                (rounds, chunks)
                for chunks in range(1, wide + 1)
                for rounds in range(max(number, ceil(least * chunks)), ceil(before * chunks))
            ]
            for rounds, many in sorted(tried, key=lambda each: (Fraction(*each), each)):
                left = (end - perf_counter()) / 2
                point = searched(used, rooted, (number, rounds, many), max(left, seconds / 100))
                if point.outcome == "schedule":
                    points.append(point)
                    break
                if point.outcome == "undecided":
                    undecided.append(point)
                    if left < seconds / 100:
                        break
        if points and points[-1].rounds_per_chunk == bound:
            break
    if not points:
        wanted = "more time, fewer ranks, or no steps"
        raise InputError("steps", f"{steps}, and no schedule in {seconds:g} s", wanted)
    return InSteps(asked, used, points, bounds, undecided, [_timed(asked, each) for each in points])


def _timed(asked: Asked, point: FewSteps) -> Timed:
    """Return a point as a schedule in time. Backwards, copies become sums.

    A message takes one channel: a link that is several divides its chunks among them.
    """
    sends, used = point.sends, point.sends.network
    columns = sends.step, sends.link, sends.chunk
    step, link, chunk = (each[point.chosen] for each in columns)
    order = np.lexsort((chunk, link, step))
    place, chunk = (step.astype(np.int64) * used.num_links + link)[order], chunk[order]
    within = np.arange(len(place)) - np.searchsorted(place, place)
    several = int(used.channels.lengths.max())
    key = place * several + within % used.channels.lengths[link[order]]
    order = np.argsort(key, kind="stable")
    known, count = np.unique(key, return_counts=True)
    place, way = np.divmod(known, several)
    step, link = np.divmod(place, used.num_links)
    carried = cut(chunk[order], count)
    source, target = used.source[link], used.target[link]
    channels = used.channels.values[used.channels.offsets[link] + way]
    many, backwards = len(sends.origin), asked.collective in BACKWARDS
    owners = sends.origin, np.full(many, EVERYBODY, np.int32)
    if backwards:
        order = np.argsort(-step, kind="stable")
        source, target, step = target[order], source[order], step.max() - step[order]
        carried, channels, owners = carried.taken(order), channels[order], owners[::-1]
    step = np.unique(step, return_inverse=True)[1]
    chunks, sums = (np.full(many, 1 / many), *owners), np.full(len(step), backwards)
    program, network = asked.program(chunks, source, target, carried, sums), asked.network
    lasting = program.message_size * asked.size_bytes / network.channel_rate[channels]
    lasting += network.channel_latency[channels]
    longest = np.zeros(step.max() + 1)
    np.maximum.at(longest, step, lasting)
    start = np.append(0.0, np.cumsum(longest))[step]
    times = start, start + lasting
    return timed(asked, program, times, single(channels), 0.0)
