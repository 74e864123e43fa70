"""Rounds in which every destination's paths are laid anew, and how good tables are on the way."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.fabrics.levels import wiring_of
from netloom.routing.forwarding.tables import exits, senders
from netloom.routing.hosted import legs
from netloom.topology.faults import working_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.fabrics.levels import Ways, Wiring
    from netloom.topology import Topology

MATCHINGS = 250
"""Random permutations by which tables are chosen."""

MOST_MATCHED, FEWEST = 2**19, 50
"""Pairs of hosts of all matchings, and how many matchings there are at least."""

GROWTH = 1.3
"""How the price of load over the target grows from round to round."""

PATIENCE = 8
"""Rounds with a growing price after which one that changes nothing is the last."""

MOST_SHIFTED = 2**18
"""Pairs of hosts of all shifts that are looked at."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A network and the ways that paths may take, as the kernels want them.

    ``ends`` is the router of each destination. ``sent``, ``column``: see the kernel ``reroute``.
    """

    topology: Topology
    ways: Ways
    wiring: Wiring
    ends: Ints
    row_of_exit: Ints
    sent: Ints
    column: Ints
    bandwidth: Floats

    @property
    def size(self) -> int:
        """Destinations × channels."""
        return max(len(self.ends) * len(self.bandwidth), 1)

    def loads(self, table: Ints) -> tuple[Ints, Ints]:
        """Return the paths on each channel, and how many go over it from a host of each router.

        Entries that lead nowhere are taken out of the table.
        """
        from netloom.fabrics.kernels.rerouting import count_paths

        load = np.zeros(len(self.bandwidth), np.int64)
        of_router = np.zeros((len(load), max(int(self.column.max()) + 1, 1)), np.int32)
        count_paths(
            table, self.ends, self.sent, self.column, self.wiring[1], np.zeros_like(load),
            of_router, load,
        )  # fmt: skip
        return load, of_router

    def least_longest(self) -> float:
        """Return a lower bound on the busiest channel's time.

        Whatever enters the network at a router, or leaves it there, has to share its channels, and
        all paths together, at their shortest, share all channels.
        """
        source, target = self.wiring[0], self.wiring[1]
        routers = len(self.column)
        left, received, hops = np.zeros(routers), np.zeros(routers), 0.0
        for end, row in zip(self.ways.exits.tolist(), self.ways.near, strict=True):
            mine = np.flatnonzero(self.ends == end)
            if not len(mine):
                continue
            sent = self.sent[:, mine % self.sent.shape[1]].sum(axis=1) * (row > 0)
            left += sent
            received[end] = sent.sum()
            hops += float(sent @ row)
        shares = [hops / max(float(self.bandwidth.sum()), 1e-300)]
        for paths, side in ((left, source), (received, target)):
            rate = np.bincount(side, self.bandwidth, routers)
            shares += (paths[rate > 0] / rate[rate > 0]).tolist()
        return max(shares)

    def least_shift(self) -> float:
        """Return the time that some shift takes at best where a router's hosts all send away."""
        rates = np.bincount(self.wiring[0], self.bandwidth, len(self.column))
        hosts = self.sent.max(axis=1)
        fits = (hosts > 0) & (rates > 0) & (2 * hosts <= hosts.sum())
        return float(np.ceil((hosts[fits] / rates[fits]).max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class Draws:
    """Permutations of hosts as packets meet them: ``permuted`` says what of it is what."""

    firsts: Ints
    entry: Ints
    row: Ints
    alone: Floats


@dataclass(frozen=True, eq=False)
class Judge:
    """What tables are judged by: the same random matchings, and shifts, for all."""

    problem: Problem
    matchings: Draws
    shifts: Draws

    def permuted(self, draws: Draws, table: Ints) -> tuple[Floats, ...]:
        """Return the longest time and the mean share of each permutation, under a table."""
        from netloom.fabrics.kernels.drawn import permuted

        found: tuple[Floats, ...] = permuted(
            table, draws.firsts, draws.entry, draws.row, draws.alone,
            self.problem.wiring[1], self.problem.bandwidth,
        )  # fmt: skip
        return found


def problem_of(topology: Topology, ways: Ways, order: Ints | None = None) -> Problem:
    """Return what the kernels want of a network.

    Of equal ways the one to the router that is first in ``order`` is taken.
    """
    sent = senders(topology)
    column = np.full(topology.num_routers, -1, np.int32)
    bearing = np.flatnonzero(sent.max(axis=1))
    column[bearing] = np.arange(len(bearing))
    row_of_exit = np.empty(topology.num_routers, np.int32)
    row_of_exit[ways.exits] = np.arange(len(ways.exits))
    return Problem(
        topology, ways, wiring_of(topology, order), exits(topology), row_of_exit,
        np.ascontiguousarray(sent), column,
        np.ascontiguousarray(topology.routers.channel_bandwidth, np.float64),
    )  # fmt: skip


def judge_of(problem: Problem, seed: int, most: int = MATCHINGS) -> Judge:
    """Return a judge whose matchings come from ``seed``. At most so many, fewer of many hosts."""
    hosts = working_nodes(problem.topology)
    matchings = int(np.clip(MOST_MATCHED // len(hosts), min(FEWEST, most), most))
    rng = np.random.default_rng(seed)
    half, count = len(hosts) // 2, len(hosts)
    drawn = np.array([rng.permutation(hosts)[: 2 * half] for _ in range(matchings)])
    ahead = np.unique(
        np.linspace(1, count - 1, max(min(MOST_SHIFTED // count, count - 1), 1), dtype=np.int64)
    )
    shifted = (np.arange(count) + ahead[:, None]) % count
    return Judge(
        problem,
        _draws(problem.topology, drawn[:, :half], drawn[:, half:]),
        _draws(problem.topology, np.tile(hosts, (len(ahead), 1)), hosts[shifted]),
    )


def _draws(topology: Topology, source: Ints, target: Ints) -> Draws:
    found = legs(topology, source.ravel(), target.ravel())
    firsts = np.arange(len(source) + 1, dtype=np.int64) * source.shape[1]
    if topology.direct:
        return Draws(firsts, found.entry, found.exit, np.ones(source.size))
    rate = topology.channel_bandwidth
    alone = np.minimum(rate[found.injection], rate[found.ejection])
    row = found.ejection - topology.num_network_channels - topology.num_ports
    return Draws(firsts, found.entry, row.astype(np.int32), alone)


@dataclass(frozen=True, eq=False)
class Rules:
    """How rounds go.

    Attributes
    ----------
    turns, order
        Destinations and routers, in the order in which they choose.
    own
        How much of a source's own paths does not count as colliding; 1 is exact.
    aim
        The load over bandwidth above which a channel costs extra.
    rounds, free
        How many rounds there are, and how many of them do without the target.
    price
        Of load over the target in the first round with it. ``GROWTH`` times as much in each next.
    change
        Price of an entry that is not that of the table to start with.
    large
        Whether hosts choose among few ways, for large networks (``rerouting_large``).
    """

    turns: Ints
    order: Ints
    own: float
    aim: float
    rounds: int = 30
    free: int = 4
    price: float = 1.0
    change: float = 0.0
    large: bool = False


def descended(
    problem: Problem,
    rules: Rules,
    start: Ints | None = None,
    frozen: Bools | None = None,
) -> Iterator[tuple[Ints, float]]:
    """Yield the table after each round, and the time of its busiest channel.

    It is the same array every time. ``frozen`` are destinations whose rows stay. Rounds end where
    one changes nothing.
    """
    table = np.full((len(problem.ends), problem.topology.num_routers), -1, np.int32)
    if start is not None:
        table[:] = start
    old = table.copy() if rules.change else table
    turns = rules.turns if frozen is None else rules.turns[~frozen[rules.turns]]
    rounds = _large_rounds if rules.large else _small_rounds
    strength = 0.0
    again = rounds(problem, rules, table, old, turns)
    next(again)
    for number in range(rules.rounds):
        if number >= rules.free:
            strength = max(strength * GROWTH, rules.price)
        moved, load = again.send(strength)
        longest = float((load / problem.bandwidth).max(initial=0.0))
        yield table, longest
        if not moved and (longest <= rules.aim or number > rules.free + PATIENCE):
            return


Rounds = Generator[tuple[int, "NDArray[Any]"], float, None]
"""Takes the price of load over the target. Gives how many entries changed, and all loads."""


def _small_rounds(
    problem: Problem,
    rules: Rules,
    table: Ints,
    old: Ints,
    turns: Ints,
) -> Rounds:
    """Change the table round by round, by all ways from each router."""
    from netloom.fabrics.kernels.rerouting import reroute

    load, of_router = problem.loads(table)
    order = rules.order[problem.column[rules.order] >= 0].astype(np.int32)
    ways, own, moved = problem.ways, np.zeros_like(load), 0
    while True:
        strength = yield moved, load
        moved = reroute(
            turns, table, old, problem.ends, problem.sent, problem.column, order,
            (ways.near, ways.falls, ways.height, problem.row_of_exit), problem.wiring,
            (load, own, of_router, problem.bandwidth),
            (rules.own, strength, rules.aim, rules.change),
        )  # fmt: skip


def _large_rounds(
    problem: Problem,
    rules: Rules,
    table: Ints,
    old: Ints,
    turns: Ints,
) -> Rounds:
    """Change the table round by round, by few ways from each router."""
    from netloom.fabrics.kernels.rerouting_large import count_flows, reroute_large

    ways, moved = problem.ways, 0
    near = (ways.near, ways.falls, ways.height, problem.row_of_exit)
    load = np.zeros(len(problem.bandwidth))
    count_flows(table, problem.ends, problem.sent, problem.wiring[1], load)
    order = rules.order[problem.column[rules.order] >= 0].astype(np.int32)
    while True:
        strength = yield moved, load
        moved = reroute_large(
            turns, table, old, problem.ends, problem.sent, order, near, problem.wiring, load,
            problem.bandwidth, (rules.own, strength, rules.aim, rules.change),
        )  # fmt: skip


def exits_of_others(topology: Topology) -> Ints:
    """Return the routers of a table's other rows: those of other end points, then all."""
    routers = np.arange(topology.num_routers, dtype=np.int32)
    if topology.cabling is None:
        return routers
    return np.concatenate([topology.cabling.others.router, routers]).astype(np.int32)


def other_rows(
    topology: Topology,
    ways: Ways,
    old: Ints | None = None,
    frozen: Bools | None = None,
) -> Ints | None:
    """Return the rows of end points that run no programs, and of the routers themselves.

    Entries of ``old`` stay where these ways admit them, ``frozen`` rows in any case. None where the
    network is not of a subnet.
    """
    if topology.cabling is None:
        return None
    ends, routers = exits_of_others(topology), np.arange(topology.num_routers)
    problem = replace(
        problem_of(topology, ways), ends=ends, column=routers.astype(np.int32),
        sent=np.ones((len(routers), 1), np.int64),
    )  # fmt: skip
    change = 0.0 if old is None else float(len(ends) * len(routers)) ** 2
    rules = Rules(np.arange(len(ends)), routers, 1.0, np.inf, rounds=2, change=change, large=True)
    *_, (table, _) = descended(problem, rules, old, frozen)
    return table
