"""A proof that few steps need many rounds: prices that anybody can check with whole numbers.

Any all-gather of S steps, averaged over the chunks of each rank, gives numbers: x of rank i, link
e = (a, b) and step s says how much of i's data crosses e in s. Every other rank b gets each rank's
data once: Σ_e,s x[i,e,s] = 1. What leaves a in step s came there before: x[i,(a,b),s] ≤ the sum of
x[i,(·,a),s'] over s' < s. A step of r rounds per chunk carries Σ_i x[i,e,s] ≤ c_e r_s. The least
Σ r_s is a linear program, whose dual values are prices: a *worth* of each rank's data at each other
rank, a *price* of each link in each step, and a *forwarding* value of holding data for a link in a
later step. If no send is worth more than its price and what it enables, and a round of each step
costs at most 1, then the sum of the worths is at most the rounds per chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.words import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from netloom.phases.collectives.network import RankNetwork

MOST_SENDS = 1_000_000
"""Unknowns of the largest program that is tried: ranks x chunks x links x steps."""

MOST_SECONDS = 60.0
"""How long prices are sought."""

FINEST = 5040
"""Largest denominator to which the solver's prices are rounded."""


class Sends(NamedTuple):
    """Every send that can be part of a schedule: its chunk, link and step.

    ``distance``: int32[num_ranks, num_ranks], steps from each rank to each other. ``origin``: the
    rank that has each chunk at first. ``chunk``, ``link``, ``step``: int32[num_sends]; a send is
    left out if the chunk cannot have come so far, or comes back to its origin.
    """

    network: RankNetwork
    steps: int
    distance: NDArray[np.int32]
    origin: NDArray[np.int32]
    chunk: NDArray[np.int32]
    link: NDArray[np.int32]
    step: NDArray[np.int32]

    @property
    def waits(self) -> NDArray[np.int64]:
        """The sends of what its rank must have received before, int64[…]."""
        return np.flatnonzero(self.network.source[self.link] != self.origin[self.chunk])

    def matrices(self) -> tuple[csr_array, csr_array, csr_array]:
        """Return who receives what, what sends wait for, and what each link carries in each step.

        Rows of the first: chunk · num_ranks + rank, without the origins; of the second: ``waits``,
        the send minus what has come to its rank before; of the third: link · steps + step.
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
        place = to * self.steps + self.step
        order = np.argsort(place, kind="stable")
        at = self.chunk[waits].astype(np.int64) * ranks + net.source[self.link[waits]]
        first = np.searchsorted(place[order], at * self.steps)
        last = np.searchsorted(place[order], at * self.steps + self.step[waits])
        counts = last - first
        within = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        rows = np.append(np.arange(len(waits)), np.repeat(np.arange(len(waits)), counts))
        cols = np.append(waits, order[np.repeat(first, counts) + within])
        values = np.append(np.ones(len(waits)), -np.ones(int(counts.sum())))
        possess = csr_array((values, (rows, cols)), (len(waits), many))
        used = self.link.astype(np.int64) * self.steps + self.step
        carry = csr_array((ones, (used, columns)), (net.num_links * self.steps, many))
        return arrive, possess, carry


def possible_sends(network: RankNetwork, steps: int, chunks: int = 1) -> Sends:
    """Return every send that can be part of an all-gather of so many steps and chunks per rank.

    Raises
    ------
    InputError
        If ranks are joined by what only forwards, some rank is more steps away, or there would be
        over ``MOST_SENDS`` sends.
    """
    ranks = network.num_ranks
    unknowns = ranks * chunks * network.num_links * steps
    if unknowns > MOST_SENDS:
        raise InputError("ranks x chunks x links x steps", str(unknowns), f"<= {MOST_SENDS}")
    if network.num_vertices > ranks:
        name = network.name_of(ranks)
        raise InputError(network.topology.name, f"{name}, which only forwards", "ranks alone")
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    ones = np.ones(network.num_links)
    linked = csr_array((ones, (network.source, network.target)), (ranks, ranks))
    distance = shortest_path(linked, unweighted=True)
    if distance.max() > steps:
        far = "which no steps join" if np.isinf(distance.max()) else f"{distance.max():.0f} apart"
        one, other = (int(each) for each in np.unravel_index(distance.argmax(), distance.shape))
        found = f"{network.name_of(one)} and {network.name_of(other)}, {far}"
        raise InputError("steps", f"{steps}, with {found}", "as many as the farthest are apart")
    origin = np.arange(ranks, dtype=np.int32).repeat(chunks)
    chunk, link, step = (
        each.ravel().astype(np.int32)
        for each in np.meshgrid(
            np.arange(len(origin)), np.arange(network.num_links), np.arange(steps), indexing="ij"
        )
    )
    come = distance[origin[chunk], network.source[link]] <= step
    keep = come & (network.target[link] != origin[chunk])
    return Sends(
        network, steps, distance.astype(np.int32), origin, chunk[keep], link[keep], step[keep]
    )


@dataclass(frozen=True, eq=False)
class StepPrices:
    """A proof that an all-gather of at most ``steps`` steps takes ``bound`` rounds per chunk.

    All numbers are parts of ``whole``.

    Attributes
    ----------
    network, steps
        What the proof is for.
    whole
        The number that stands for 1.
    worth
        int64[num_ranks, num_ranks], of the data of each rank (row) at each other rank; 0 at itself.
    price
        int64[num_links, steps], at least 0.
    forwarding
        int64[num_ranks, num_links, steps], at least 0: of having the data of a rank for a link in a
        step; 0 for links that leave that rank.
    """

    network: RankNetwork
    steps: int
    whole: int
    worth: NDArray[np.int64]
    price: NDArray[np.int64]
    forwarding: NDArray[np.int64]

    @property
    def bound(self) -> Fraction:
        """The least rounds per chunk."""
        return Fraction(int(self.worth.sum()), self.whole)

    def lines(self) -> list[str]:
        """Return the proof as text: a line for each number that is not 0."""
        name, net = self.network.name_of, self.network
        ends = zip(net.source, net.target, strict=True)
        ways = [f"{name(a)} -> {name(b)}" for a, b in ends]
        said = [f"at least {self.bound} rounds per chunk in {self.steps} steps; 1 = {self.whole}"]
        for link, step in np.argwhere(self.price):
            said.append(f"price {ways[link]} step {step + 1}: {self.price[link, step]}")
        for rank, other in np.argwhere(self.worth):
            said.append(f"worth {name(rank)} at {name(other)}: {self.worth[rank, other]}")
        for rank, link, step in np.argwhere(self.forwarding):
            value = self.forwarding[rank, link, step]
            said.append(f"forwarding {name(rank)} over {ways[link]} step {step + 1}: {value}")
        return said

    def __repr__(self) -> str:
        count = counted(len(self.lines()) - 1, "number")
        return f"<{self.bound} rounds per chunk in {self.steps} steps, proven by {count}>"


def check_prices(proof: StepPrices) -> None:
    """Check a proof, in whole numbers: shares no code with what makes proofs.

    Raises
    ------
    InputError
        Naming what is wrong.
    """
    net, steps = proof.network, proof.steps
    if proof.whole < 1 or min(proof.price.min(), proof.forwarding.min()) < 0:
        raise InputError("proof", "a price below 0", "none")
    for step in range(steps):
        each = zip(net.capacity.tolist(), proof.price[:, step].tolist(), strict=True)
        cost = sum(capacity * price for capacity, price in each)
        if cost > proof.whole:
            raise InputError(f"proof, step {step + 1}", f"a round of {cost}", f"<= {proof.whole}")
    for rank in range(net.num_ranks):
        _check_rank(proof, rank)


def _check_rank(proof: StepPrices, rank: int) -> None:
    """Refuse prices at which a send of this rank's data is worth more than it costs."""
    net, steps = proof.network, proof.steps
    worth, price, held = proof.worth[rank].tolist(), proof.price, proof.forwarding[rank]
    if worth[rank]:
        raise InputError(f"proof, rank {rank}", "a worth at itself", "none")
    links = list(enumerate(zip(net.source.tolist(), net.target.tolist(), strict=True)))
    came = [0 if vertex == rank else steps for vertex in range(net.num_ranks)]
    for _ in range(steps):
        for _, (source, target) in links:
            came[target] = min(came[target], came[source] + 1)
    enabled = [0] * net.num_ranks
    for step in reversed(range(steps)):
        sends = [each for each in links if came[each[1][0]] <= step and each[1][1] != rank]
        for link, (source, target) in sends:
            own = 0 if source == rank else int(held[link, step])
            if worth[target] + enabled[target] > int(price[link, step]) + own:
                said = f"proof, rank {rank}, link {link}, step {step + 1}"
                raise InputError(said, "a send worth more than it costs", "no such send")
        for link, (source, _) in sends:
            enabled[source] += int(held[link, step])


def step_prices(network: RankNetwork, steps: int) -> StepPrices:
    """Return the best such proof for all-gathers of at most so many steps.

    The solver's prices are rounded to fractions and made to hold exactly, so that ``bound`` is a
    proven bound, if a hair below the linear program's where its solution has no small denominators.

    Raises
    ------
    InputError
        As ``possible_sends`` does, or if the network is too large to find prices.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> proof = step_prices(rank_network(topology("ring:4")), 2)
    >>> check_prices(proof)
    >>> proof.bound
    Fraction(3, 2)
    """
    from scipy import optimize
    from scipy.sparse import csr_array, hstack, vstack

    linprog: Any = optimize.linprog

    sends = possible_sends(network, steps)
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
        method="highs", options={"time_limit": MOST_SECONDS},
    )  # fmt: skip
    if found.status == 1:
        said = f"no prices within {MOST_SECONDS:g} s for {network.num_ranks} ranks"
        raise InputError("steps", f"{steps}, but {said}", "fewer ranks")
    assert found.status == 0, found.message
    waits = sends.waits
    forwarding = np.zeros((network.num_ranks, network.num_links, steps))
    held = -found.ineqlin.marginals[: len(waits)]
    forwarding[sends.chunk[waits], sends.link[waits], sends.step[waits]] = held
    price = -found.ineqlin.marginals[len(waits) :].reshape(network.num_links, steps)
    worth = np.zeros((network.num_ranks, network.num_ranks))
    worth[~np.eye(network.num_ranks, dtype=bool)] = found.eqlin.marginals
    return _exact(sends, worth, price, forwarding)


def _exact(
    sends: Sends,
    worth: NDArray[np.float64],
    price: NDArray[np.float64],
    forwarding: NDArray[np.float64],
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
    chunk, link, step = sends.chunk, sends.link, sends.step
    enabled = np.zeros((net.num_ranks, net.num_ranks, steps + 1), np.int64)
    np.add.at(enabled, (chunk, net.source[link], step), held[chunk, link, step])
    later = enabled[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    value = worths[chunk, net.target[link]] + later[chunk, net.target[link], step + 1]
    most = np.zeros_like(worths)
    over = value - prices[link, step] - held[chunk, link, step]
    np.maximum.at(most, (chunk, net.target[link]), over)
    return StepPrices(net, steps, whole, worths - most, prices, held)
