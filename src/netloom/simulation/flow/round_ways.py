"""What is looked at before rounds are run: their ways, what crosses links, and whether any meet."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from netloom.simulation.flow.ways import MOST_SHARES, WHOLE, ways_of

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.routing import Routing
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.simulation.flow.ways import Ways
    from netloom.workload.programs.round_programs import Round, RoundProgram

FITS = 1 + 1e-12
"""Flows fit on a link if they need no more than this of it, but for rounding."""


class Survey:
    """What is known of the rounds of a program.

    Attributes
    ----------
    link_sizes
        float64[num_links], what crosses each link in all.
    ahead
        For an entry of ``rounds`` (−1: before all of them), the last entry in which one of its
        hosts sends for the first time afterwards. Rounds up to that one must begin with it.
    num_rounds, num_messages
        Of the whole program.
    apart
        Whether no two messages ever slow each other down.
    """

    def __init__(self, network: FlowNetwork, routing: Routing, *, in_order: bool) -> None:
        self.network, self.routing, self.in_order = network, routing, in_order
        self.link_sizes = np.zeros(network.num_links)
        self.ahead: dict[int, int] = {}
        self.num_rounds, self.num_messages, self.apart = 0, 0, True
        self._whole = 1
        self._pairs: Ints | None = None
        self._last: tuple[Ways, Ints]

    def ways_of(self, one: Round) -> tuple[Ways, Ints]:
        """Return the ways of a round's messages, and the way of each; -1 for one that has none.

        The ways are the same object as of the round before if they are the same.
        """
        pairs = np.where(one.moving, one.source * np.int64(2**31) + one.target, -1)
        if self._pairs is None or not np.array_equal(pairs, self._pairs):
            uses = np.flatnonzero(pairs >= 0)
            path = np.full(len(one), -1, np.int64)
            path[uses] = np.arange(len(uses))
            ways = ways_of(self.network, self.routing, one.source[uses], one.target[uses])
            self._last, self._pairs = (self._shared(ways), path), pairs
        return self._last

    def forget(self) -> None:
        """Make ways anew when they are asked for: those so far may be in fewer shares."""
        self._pairs = None

    def _shared(self, ways: Ways) -> Ways:
        """Return ways in shares that suffice for all rounds so far."""
        common = lcm(self._whole, ways.whole)
        self._whole = common if common <= MOST_SHARES else WHOLE
        return ways.in_shares(self._whole)


def survey(
    network: FlowNetwork, routing: Routing, program: RoundProgram, *, in_order: bool
) -> Survey:
    """Look at all rounds of a program.

    Raises
    ------
    NoRouteError
        If the routing has no path for a message.
    """
    found = Survey(network, routing, in_order=in_order)
    loads = _Loads(found)
    last = np.full(program.num_hosts, -1)
    for index, one in enumerate(program):
        found.num_rounds += one.count
        found.num_messages += one.count * len(one)
        loads.add(one)
        if program.order == "neighbours":
            for before in np.flatnonzero(np.bincount(last[one.source] + 1)) - 1:
                if before < index - 1:
                    found.ahead[int(before)] = index
            last[one.source] = index
            last[one.target] = index
    loads.settle()
    found.forget()
    return found


class _Loads:
    """What crosses links: in all, and at most at a time.

    A host begins its messages of a round when those of the one before are complete. So those on a
    link at a time are, of each host, of one round only. If hosts fit on all links with the most
    that each needs in any round, no message slows another down.
    """

    def __init__(self, found: Survey) -> None:
        self._found = found
        self._ways: Ways | None = None
        self._sent = np.zeros(0)
        self._key = np.zeros(0, np.int64)  # host and link
        self._rate = np.zeros(0)  # the most that the host's flows need of it in any round

    def add(self, one: Round) -> None:
        """Add a round."""
        found = self._found
        ways, path = found.ways_of(one)
        uses = path >= 0
        if ways is not self._ways:
            self.settle()
            self._ways, self._sent = ways, np.zeros(len(ways))
            found.apart = found.apart and self._fits(ways, one.source[uses])
        self._sent += one.bytes[uses] * one.count

    def settle(self) -> None:
        """Add what crossed the latest ways to the links."""
        ways, found = self._ways, self._found
        if ways is not None:
            hops = np.repeat(self._sent, np.diff(ways.offsets)) * ways.shares / ways.whole
            found.link_sizes += np.bincount(ways.links, hops, len(found.link_sizes))

    def _fits(self, ways: Ways, source: Ints) -> bool:
        """Return whether the rounds so far and this one fit."""
        if self._found.in_order and np.bincount(source).max(initial=0) > 1:
            return False  # they wait for each other
        capacity = self._found.network.capacity
        count = np.diff(ways.offsets)
        hops = np.repeat(ways.capacity(capacity), count) * ways.shares / ways.whole
        key = np.repeat(source, count) * np.int64(len(capacity)) + ways.links
        alone, place = np.unique(key, return_inverse=True)
        rate = np.bincount(place, hops, len(alone))
        self._key, place = np.unique(np.append(self._key, alone), return_inverse=True)
        most = np.zeros(len(self._key))
        np.maximum.at(most, place, np.append(self._rate, rate))
        self._rate = most
        need = np.bincount(self._key % len(capacity), most, len(capacity))
        return bool((need <= capacity * FITS).all())
