"""Whether prices prove that few steps take so long: whole numbers and fractions, no solver.

A schedule goes in steps, one after the other, and each root's data is 1. A send takes data over a
link in a step. Its source needs the data earlier, which has *forwarding* values. The send uses
those of its link from its step on, and provides those of the links from its target in later steps.
Prices are right if no send makes a profit: (*worth* of the data at its target + what it provides) ≤
(*price* of its link in its step + what it uses). Added up over all sends of a schedule, at least as
much forwarding value is provided as used. So the worth of all data is at most the price of all
sends, and a step of length t costs at most t · Σ rate · price.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.base.arrays import Ints

Ends = tuple[int, int]
"""The source and target of a link."""


@dataclass(frozen=True, eq=False)
class StepProof:
    """Prices that bound every schedule of at most ``steps`` steps. What is not listed is 0.

    Attributes
    ----------
    steps
        Number of steps, numbered from 0.
    worth
        int64[…, 3]: a root, a rank, and what the root's data is worth there.
    price
        int64[…, 4]: the source and target of a link, a step, and the price.
    forwarding
        int64[…, 5]: a root, the source and target of a link, a step, and a value. It is the value
        of having the root's data at the source for the link up to that step.
    """

    steps: int
    worth: Ints
    price: Ints
    forwarding: Ints

    @property
    def count(self) -> int:
        """How many numbers it takes."""
        return len(self.worth) + len(self.price) + len(self.forwarding)

    def lines(self, names: Sequence[str]) -> list[str]:
        """Return the proof as text, a line for each number. ``names`` of vertices.

        Steps are numbered from 1 here.
        """
        said = [
            f"price of {names[a]} -> {names[b]} in step {step + 1}: {value}"
            for a, b, step, value in self.price.tolist()
        ]
        said += [
            f"worth of data of {names[root]} at {names[rank]}: {value}"
            for root, rank, value in self.worth.tolist()
        ]
        return said + [
            f"forwarding data of {names[root]} over {names[a]} -> {names[b]} up to step "
            f"{step + 1}: {value}"
            for root, a, b, step, value in self.forwarding.tolist()
        ]


def proven_rounds(
    proof: StepProof, num_ranks: int, roots: Sequence[int], room: Mapping[Ends, Fraction]
) -> Fraction:
    """Return how long every schedule of at most ``proof.steps`` steps sends, if each root sends 1.

    Parameters
    ----------
    proof
        The prices.
    num_ranks
        Ranks that must have the data of all roots.
    roots
        Who has data to send.
    room
        How much each link carries per unit of time, by its source and target, ranks both.

    Raises
    ------
    InputError
        Naming the first price that is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> one = StepProof(1, *(np.array(rows, np.int64) for rows in (
    ...     [[0, 1, 1]], [[0, 1, 0, 1]], np.zeros((0, 5)))))
    >>> proven_rounds(one, 2, [0], {(0, 1): Fraction(25), (1, 0): Fraction(25)})
    Fraction(1, 25)
    """
    tables = (proof.worth, proof.price, proof.forwarding)
    worth, price, held = ({tuple(row[:-1]): row[-1] for row in table.tolist()} for table in tables)
    if len(worth) + len(price) + len(held) != proof.count:
        raise InputError("proof", "a number twice", "each once")
    if min((*price.values(), *held.values()), default=0) < 0:
        raise InputError("proof", "a price below 0", "none")
    for root, rank in worth:
        if root not in roots or rank == root or not 0 <= rank < num_ranks:
            found = f"a worth of data of rank {root} at rank {rank}"
            raise InputError("proof", found, "data that a rank needs")
    for *_, source, target, step in (*price, *held):
        if (source, target) not in room or not 0 <= step < proof.steps:
            found = f"link {source} -> {target} in step {step + 1}"
            raise InputError("proof", found, f"a link and one of {proof.steps} steps")
    for root in roots:
        mine = {place[1:]: value for place, value in held.items() if place[0] == root}
        _check_root(proof.steps, root, (worth, price, mine), list(room))
    cost = [Fraction(0)] * proof.steps
    for (source, target, step), value in price.items():
        cost[step] += room[source, target] * value
    total = sum(worth.values())
    if total <= 0:
        return Fraction(0)
    if not max(cost):
        raise InputError("proof", f"worths of {total} without a price", "prices")
    return Fraction(total) / max(cost)


def _check_root(
    steps: int,
    root: int,
    prices: tuple[
        Mapping[tuple[int, ...], int], Mapping[tuple[int, ...], int], Mapping[tuple[int, ...], int]
    ],
    links: Sequence[Ends],
) -> None:
    """Refuse prices at which a send of this root's data is worth more than it costs."""
    worth, price, held = prices
    came = {root: 0}
    for step in range(steps):
        for source, target in links:
            if came.get(source, steps) <= step:
                came.setdefault(target, step + 1)
    used: dict[tuple[int, ...], int] = {}
    enabled: dict[int, int] = {}
    for step in reversed(range(steps)):
        for place, value in held.items():
            if place[2] == step:
                used[place[:2]] = used.get(place[:2], 0) + value
        sends = [(a, b) for a, b in links if came.get(a, steps) <= step and b != root]
        for source, target in sends:
            own = 0 if source == root else used.get((source, target), 0)
            pays = worth.get((root, target), 0) + enabled.get(target, 0)
            if pays > price.get((source, target, step), 0) + own:
                said = f"proof, data of rank {root}, link {source} -> {target}, step {step + 1}"
                raise InputError(said, "a send worth more than it costs", "no such send")
        for source, target in sends:
            more = held.get((source, target, step), 0)
            enabled[source] = enabled.get(source, 0) + more
