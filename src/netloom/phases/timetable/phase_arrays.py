"""One phase of a plan at a time, as the arrays that timetable kernels take."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.phases.plan.plans import Plan


class Phase(NamedTuple):
    """The connections of a phase, numbered within it; ``members`` are their own numbers."""

    members: NDArray[np.int64]
    # one, other: int64[n], the two processors that each occupies, numbered from 0 as they occur.
    # Where a processor sends and receives at once, its two sides are processors of their own.
    one: NDArray[np.int64]
    other: NDArray[np.int64]
    num_processors: int  # how many of them occur
    words: NDArray[np.int64]  # int64[n]
    # first, later: int64[n + 1], int64[…]: those that wait for c are later[first[c]:first[c + 1]].
    first: NDArray[np.int64]
    later: NDArray[np.int64]
    waits: NDArray[np.int64]  # int64[n], how many of the phase each waits for
    rank: NDArray[np.int64]  # int64[n], of the longest chain of connections before it

    def heaviest(self) -> int:
        """Return the most words of a processor."""
        load = np.zeros(self.num_processors, np.int64)
        np.add.at(load, self.one, self.words)
        np.add.at(load, self.other, self.words)
        return int(load.max(initial=0))


def each_phase(plan: Plan, rank: NDArray[np.int32], *, both_ways: bool) -> Iterator[Phase]:
    """Yield every phase in turn; ``rank`` is that of all its connections."""
    given = plan.connections
    number = np.empty(len(given), np.int64)
    by_phase = np.argsort(plan.phase, kind="stable").astype(np.int64)
    bounds = np.searchsorted(plan.phase[by_phase], np.arange(plan.num_phases + 1))
    number[by_phase] = np.arange(len(given)) - bounds[plan.phase[by_phase]]
    inside = plan.phase[given.before] == plan.phase[given.after]
    before, after = given.before[inside], given.after[inside]
    pair_phase = plan.phase[before]
    for phase, (start, end) in enumerate(pairwise(bounds)):
        members = by_phase[start:end]
        here = pair_phase == phase
        one, other, used = _processors(plan, members, both_ways=both_ways)
        former, latter = number[before[here]], number[after[here]]
        later = latter[np.argsort(former, kind="stable")]
        first = np.searchsorted(np.sort(former), np.arange(len(members) + 1))
        waits = np.bincount(latter, minlength=len(members))
        yield Phase(
            members=members,
            one=one,
            other=other,
            num_processors=used,
            words=given.words[members],
            first=first.astype(np.int64),
            later=later,
            waits=waits.astype(np.int64),
            rank=rank[members].astype(np.int64),
        )


def _processors(
    plan: Plan, members: NDArray[np.int64], *, both_ways: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the processors of the connections of a phase, and how many there are."""
    source = plan.connections.source[members].astype(np.int64)
    target = plan.connections.target[members] + (plan.connections.num_nodes if both_ways else 0)
    used, both = np.unique(np.concatenate([source, target]), return_inverse=True)
    both = both.astype(np.int64)
    return both[: len(members)], both[len(members) :], len(used)
