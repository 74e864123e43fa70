"""A proof that few steps need many rounds: prices that anybody can check with whole numbers.

Any all-gather of S steps, averaged over the chunks of each rank, gives numbers x[i,e,s]: how much
of rank i's data crosses link e = (a, b) in step s. (In a broadcast, i is the root alone.) Every
other rank b gets each rank's data once: Σ_e,s x[i,e,s] = 1. Data that crosses e up to s came to a
before: ``Σ_{s' ≤ s} x[i,e,s'] ≤ Σ_{s' < s} x[i,(·,a),s']``. A step of r rounds per chunk carries
Σ_i x[i,e,s] ≤ c_e r_s. The least Σ r_s is a linear program, whose dual values are prices. Each
rank's data has a *worth* at each other rank. Each link has a *price* in each step, and having data
for a link up to a step has a *forwarding* value. Let no send be worth more than it costs, and let a
round of each step cost at most 1. Then the sum of the worths is at most the rounds per chunk.
``step_proofs`` checks such prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.phases.collectives.step_proofs import StepProof

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from netloom.base.arrays import Floats, Ints
    from netloom.phases.collectives.network import RankNetwork

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

    def matrices(self) -> tuple[csr_array, csr_array, csr_array]:
        """Return who receives what, what sends wait for, and what each link carries in each step.

        Rows of the first: chunk · num_ranks + rank, without the origins. Of the second: ``waits``,
        what has crossed the link up to its step minus what has come to the rank before. Of the
        third: link · steps + step.
        """
        from scipy.sparse import csr_array

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
        used = self.link.astype(np.int64) * self.steps + self.step
        carry = csr_array((ones, (used, columns)), (net.num_links * self.steps, many))
        return arrive, possess, carry


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
    from scipy.sparse import csr_array, hstack, vstack

    linprog: Any = optimize.linprog

    sends = priceable_sends(network, steps, root)
    arrive, possess, carry = sends.matrices()
    rows = np.arange(network.num_links * steps)
    rounds = csr_array(
        (-np.repeat(network.capacity, steps).astype(np.float64), (rows, rows % steps)),
        (len(rows), steps),
    )
    most = vstack(
        [hstack([possess, csr_array((possess.shape[0], steps))]), hstack([carry, rounds])]
    )
    equal = hstack([arrive, csr_array((arrive.shape[0], steps))])
    found = linprog(
        np.append(np.zeros(len(sends.chunk)), np.ones(steps)), A_ub=most.tocsr(),
        b_ub=np.zeros(most.shape[0]), A_eq=equal.tocsr(), b_eq=np.ones(equal.shape[0]),
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
    return _exact(sends, root, worth, price, forwarding)


def _exact(
    sends: Sends,
    root: int | None,
    worth: Floats,
    price: Floats,
    forwarding: Floats,
) -> StepPrices:
    """Round prices to fractions, then lower the worths until all holds."""
    net, steps = sends.network, sends.steps
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
    whole = max(whole, int((net.capacity[:, None] * prices).sum(axis=0).max()))
    rank, link, step = sends.origin[sends.chunk], sends.link, sends.step
    enabled = np.zeros((net.num_ranks, net.num_ranks, steps + 1), np.int64)
    np.add.at(enabled, (rank, net.source[link], step), held[rank, link, step])
    later = enabled[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    value = worths[rank, net.target[link]] + later[rank, net.target[link], step + 1]
    most = np.zeros_like(worths)
    own = held[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    over = value - prices[link, step] - own[rank, link, step]
    np.maximum.at(most, (rank, net.target[link]), over)
    return StepPrices(net, steps, root, whole, worths - most, prices, held)
