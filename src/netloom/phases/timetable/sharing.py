"""How long the connections of a phase take that share channels and network access fairly.

Words are a fluid: whatever connections are active at a moment have max-min fair rates. Two ways to
use connections: ``exclusive``, a processor sends on one at a time and receives on one; or all of
them at once, word by word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.models import ConSetCosts
    from netloom.phases.plan.plans import Plan
    from netloom.phases.timetable.phase_arrays import Phase


class Places(NamedTuple):
    """What the connections of a phase share: channels, and the accesses of processors."""

    # first_use, uses: int64[n + 1], int64[…], the places of each connection.
    first_use: NDArray[np.int64]
    uses: NDArray[np.int64]
    # first_user, users: int64[places + 1], int64[…], the connections of each place.
    first_user: NDArray[np.int64]
    users: NDArray[np.int64]
    capacity: NDArray[np.float64]  # float64[places], words per clock

    def least_clocks(self, words: NDArray[np.int64]) -> float:
        """Return the clocks that the busiest place takes for all its words."""
        owner = np.repeat(np.arange(len(words)), np.diff(self.first_use))
        load = np.bincount(self.uses, words[owner].astype(np.float64))
        return float((load / self.capacity).max(initial=0.0))


def places_of(plan: Plan, phase: Phase, costs: ConSetCosts) -> Places:
    """Return the channels and accesses that the connections of a phase use.

    A processor has an access to send and another to receive where it can do both at once, else
    one for both.
    """
    nodes, members = plan.connections.num_nodes, phase.members
    source = plan.connections.source[members].astype(np.int64)
    target = plan.connections.target[members] + (nodes if costs.both_ways else 0)
    routes = plan.routes.taken(members)
    channel = routes.channels + 2 * nodes
    number = np.arange(len(members))
    owner = np.concatenate([number, number, np.repeat(number, routes.lengths)])
    named, place = np.unique(np.concatenate([source, target, channel]), return_inverse=True)
    by_owner, by_place = np.argsort(owner, kind="stable"), np.argsort(place, kind="stable")
    clocks = np.where(named < 2 * nodes, costs.clocks_per_word, costs.channel_clocks_per_word)
    return Places(
        first_use=np.searchsorted(owner[by_owner], np.arange(len(members) + 1)),
        uses=place[by_owner].astype(np.int64),
        first_user=np.searchsorted(place[by_place], np.arange(len(named) + 1)),
        users=owner[by_place],
        capacity=1.0 / clocks,
    )


def shared_times(
    phase: Phase, places: Places, sequence: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when connections start and end if a processor uses one at a time, as ``sequence`` has.

    A connection needs both its ends free. Where the next in sequence of a processor has to wait
    for its other end, the processor may wait with it (its program then runs in the sequence
    given), or take the first of the others that need not. Both are tried, and the sooner to end
    is returned: either way, processors that use their connections by order of start, each waiting
    for the other end, keep to these times.

    Starts and ends are float64[n] clocks. ``sequence``: int64[n], all connections; none before
    one that it waits for.
    """
    waited = flow_times(phase, places, sequence, exclusive=True, in_turn=True)
    passed = flow_times(phase, places, sequence, exclusive=True, in_turn=False)
    return min(waited, passed, key=lambda times: float(times[1].max(initial=0.0)))


def flow_times(
    phase: Phase,
    places: Places,
    sequence: NDArray[np.int64],
    *,
    exclusive: bool,
    in_turn: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when connections start and end; see ``flow`` and ``admit`` of the kernel."""
    from netloom.phases.kernels.sharing import flow

    start, end = np.empty(len(sequence)), np.empty(len(sequence))
    complete = flow(
        sequence, exclusive, in_turn, phase.num_processors, phase.one, phase.other, phase.words,
        phase.first, phase.later, phase.waits, *places, start, end,
    )  # fmt: skip
    assert complete
    return start, end
