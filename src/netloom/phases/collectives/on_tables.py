"""All-gathers and reduce-scatters whose messages take the routes that a fabric has installed.

Switches forward by tables that nobody wants to change for one program. A schedule may still choose
which rank sends to which, and when. Every rank's block enters each router's group of ranks once,
and is passed on within the group. It takes the route whose busiest channel has the lowest load. A
timetable of rounds then keeps every channel within its capacity. In time, it goes round by round,
or each message leaves as soon as there is room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.collectives.network import whole_numbers
from netloom.phases.collectives.pipelines import Jobs, Servers, Timed, listed
from netloom.phases.collectives.trees import Optimum, optimum
from netloom.routing import paths
from netloom.workload.counter_random import stream_keys
from netloom.workload.programs.collectives.program import CollectiveProgram, owners, single
from netloom.workload.programs.collectives.sent import waits
from netloom.workload.programs.messages import Lists, grouped

if TYPE_CHECKING:
    from fractions import Fraction

    from netloom.base.arrays import Ints
    from netloom.phases.collectives.network import RankNetwork
    from netloom.routing import Paths, Routing


MOST_RANKS = 2048
"""Most ranks: routes of all pairs are held at once."""

MOST_MESSAGES = 20_000_000
"""Most messages of a schedule."""

TRIES = 5
"""Sets of trees that are tried. The shallow ones of fewest rounds are taken."""

SLACK = 16
"""How many sends a rank may be ahead of its share of the trees grown so far."""


@dataclass(frozen=True, eq=False)
class TableSchedule:
    """A schedule in rounds, whose messages take installed routes.

    Attributes
    ----------
    network
        Ranks and links.
    program
        The messages. Step = round.
    routes
        The route of every message.
    rounds
        Number of rounds. In one, the slowest channel carries one chunk.
    depth
        The most messages that a block takes one after the other.
    best
        The optimum of the network under any routing.
    bound_rounds
        The least rounds that any schedule takes, whatever its routes.
    """

    network: RankNetwork
    program: CollectiveProgram
    routes: Paths
    rounds: int
    depth: int
    best: Optimum
    bound_rounds: Fraction

    @property
    def of_bound(self) -> float:
        """How much of the best bandwidth the schedule reaches, latencies left out."""
        return float(self.bound_rounds / self.rounds)

    def __repr__(self) -> str:
        what = f"{self.rounds} rounds ({self.of_bound:.3f} of the bound), depth {self.depth}"
        return f"<{self.program.collective} on {self.network.topology.name}: {what}>"


def on_tables(
    network: RankNetwork,
    routing: Routing,
    *,
    collective: str = "all-gather",
    chunks: int = 1,
    seed: int = 1,
) -> TableSchedule:
    """Return an all-gather or a reduce-scatter over the routes of a routing.

    Parameters
    ----------
    network
        Ranks and links.
    routing
        What gives the routes, such as ``lfts:FILE``: one for each pair of ranks.
    collective
        ``all-gather`` or ``reduce-scatter``.
    chunks
        Into how many chunks each block is cut: more fill the rounds better.
    seed
        Of the groups that are looked at.

    Raises
    ------
    InputError
        If the collective is another one, ranks or messages are too many, a pair has several routes
        or one over a broken channel.
    NoRouteError
        If the routing has no route for a pair.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.routing import parse_routing
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = topology("leaf-spine:4x2x4")
    >>> found = on_tables(rank_network(net), parse_routing("d-mod-k", net))
    >>> found.rounds >= found.bound_rounds, found.depth <= 6
    (True, True)
    """
    ranks = network.num_ranks
    if collective not in ("all-gather", "reduce-scatter"):
        raise InputError("collective", collective, "all-gather or reduce-scatter")
    if chunks < 1:
        raise InputError("chunks", str(chunks), "at least 1")
    if ranks > MOST_RANKS or ranks * ranks * chunks > MOST_MESSAGES:
        wanted = f"at most {MOST_RANKS} ranks and {MOST_MESSAGES} messages"
        raise InputError("ranks", f"{ranks} with {chunks} chunks each", wanted)
    outward = collective == "all-gather"
    routes = _routes(network, routing, outward=outward)
    base = network.topology.channel_bandwidth[routes.channels].min()
    room = np.floor(network.topology.channel_bandwidth / base * (1 + 1e-12)).astype(np.int64)
    shallow = (ranks - 1).bit_length()
    tried = []
    for key in stream_keys(seed, TRIES):
        parent = _trees(network, routes, room, key)
        tried.append((parent, *_timed(routes, room, parent, chunks)))
    parent, round_of, rounds, depth = min(tried, key=lambda each: (max(each[3], shallow), each[2]))
    best = optimum(network if outward else network.reversed())
    unit = whole_numbers(np.array([base]))[1]
    bound = unit / (best.rate * network.unit) * chunks
    program, pairs = _program(collective, parent, round_of, rounds, chunks)
    return TableSchedule(network, program, routes.taken(pairs), rounds, depth, best, bound)


def _routes(network: RankNetwork, routing: Routing, *, outward: bool) -> Paths:
    """Return the route of each pair a · ranks + b: from a to b, or if not ``outward`` from b to a.

    Blocks that go inward are grown as trees that go outward, and turned round in the end.
    """
    ranks = network.num_ranks
    hosts = network.vertices[:ranks]
    ends = hosts.repeat(ranks), np.tile(hosts, ranks)
    found = paths(network.topology, routing, *(ends if outward else ends[::-1]))
    found = found.whole(network.topology)
    if found.pair is not None:
        raise InputError("routing", "several routes per pair", "one, as forwarding tables give")
    if not network.topology.channel_up[found.channels].all():
        raise InputError("routing", "a route over a broken channel", "routes that work")
    return found


def _trees(network: RankNetwork, routes: Paths, room: Ints, key: np.uint64) -> Ints:
    """Return the tree of each root, int32[root, rank]: who sends the block to each rank."""
    from netloom.phases.collectives.kernels.on_tables import SPREAD, grow_trees

    ranks, topology = network.num_ranks, network.topology
    hosts = network.vertices[:ranks]
    router = topology.injection_router[topology.port_offsets[hosts]]
    group_of = np.unique(router, return_inverse=True)[1].astype(np.int64)
    members = np.argsort(group_of, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(group_of)))
    within = np.empty(ranks, np.int64)
    within[members] = np.arange(ranks) - first[group_of[members]]
    roots = np.lexsort((group_of, within))  # groups take turns
    parent = np.empty((ranks, ranks), np.int32)
    grow_trees(
        routes.offsets, routes.channels, room, first, members, group_of, roots, float(SLACK),
        key, parent, np.zeros(ranks, np.int64),
        np.zeros(topology.num_channels, np.int64), np.zeros(len(first) - 1, np.int64),
        np.zeros(ranks, np.int64), np.zeros(ranks, np.int64), np.zeros(SPREAD + 1, np.int64),
    )  # fmt: skip
    return parent


def _timed(routes: Paths, room: Ints, parent: Ints, chunks: int) -> tuple[Ints, int, int]:
    """Return the round of each message (root · ranks + target) · chunks + chunk. Rounds, depth."""
    from netloom.phases.collectives.kernels.on_tables import SPREAD, timetable

    ranks = len(parent)
    node = np.arange(ranks * ranks)
    own = parent.ravel() < 0
    above = np.where(own, node, node // ranks * ranks + parent.ravel())
    child_first, child = grouped(above[~own], node[~own], ranks * ranks)
    height, depth = np.zeros(ranks * ranks, np.int64), 0
    layer = above[~own]
    while len(layer):  # those with somebody below them, then those with somebody two below …
        depth += 1
        height[layer] = depth
        layer = above[np.unique(layer[~own[layer]])]
    keys = (depth - height)[:, None] + np.arange(chunks) * (depth + 1)
    # the channel by which each rank sends to all others, −1 if there are several
    away = ~np.eye(ranks, dtype=bool).ravel()
    starts = routes.channels[routes.offsets[:-1][away]].reshape(ranks, ranks - 1)
    exits = np.where((starts == starts[:, :1]).all(axis=1), starts[:, 0], -1).astype(np.int64)
    messages, num_keys = ranks * ranks * chunks, chunks * (depth + 1)
    owes = -np.bincount(parent[parent >= 0], minlength=ranks) * chunks
    round_of = np.full(messages, -1, np.int64)
    lists = np.zeros((2, ranks, num_keys), np.int64)
    rounds = timetable(
        routes.offsets, routes.channels, room, parent, keys.ravel(), chunks,
        np.zeros(len(room), np.int64), exits, np.arange(ranks), owes,
        np.zeros(ranks, np.int64), np.zeros(SPREAD + 1, np.int64), np.zeros(ranks, np.bool_),
        *lists, np.zeros(messages, np.int64), child_first, child, round_of,
        np.zeros(messages, np.int64),
    )  # fmt: skip
    return round_of, int(rounds), depth


def _program(
    collective: str, parent: Ints, round_of: Ints, rounds: int, chunks: int
) -> tuple[CollectiveProgram, Ints]:
    """Return the messages in the order of rounds, and the pair of ranks whose route each takes."""
    ranks = len(parent)
    outward = collective == "all-gather"
    step = round_of if outward else rounds - 1 - round_of
    order = np.argsort(step, kind="stable")
    order = order[round_of[order] >= 0]
    node, part = order // chunks, order % chunks
    root, target = node // ranks, node % ranks
    source = parent[root, target]
    ends = (source, target) if outward else (target, source)
    size, first, final = owners(collective, ranks, chunks)
    program = CollectiveProgram(
        collective, "on-tables", ranks, size, 0, ends[0].astype(np.int32),
        ends[1].astype(np.int32), step[order].astype(np.int32), single(root * chunks + part),
        np.full(len(order), not outward), first, final,
    )  # fmt: skip
    return program, source.astype(np.int64) * ranks + target


def timed_on_tables(found: TableSchedule, size_bytes: float) -> Timed:
    """Return when each message of a schedule in rounds leaves and arrives: what ends first.

    There are two ways. All messages of a round leave together, once those of the round before have
    arrived. Or each leaves as soon as its data is there and its channels have room, earlier rounds
    first.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.routing import parse_routing
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.on_tables import on_tables
    >>> net = topology("leaf-spine:4x2x4")
    >>> given = rank_network(net, bytes_per_second=25e9, latency_seconds=5e-7)
    >>> timed_on_tables(on_tables(given, parse_routing("d-mod-k", net)), 1e9).efficiency > 0.8
    True
    """
    network, program = found.network, found.program
    routes = Lists(found.routes.offsets.astype(np.int64), found.routes.channels.astype(np.int32))
    shared, route = _servers(found, routes)
    awaited = waits(program, stepwise=False)
    jobs = Jobs(
        route, program.message_size, program.chunks.values, program.sums, awaited.values,
        awaited.owners(),
    )  # fmt: skip
    start, end = listed(shared, jobs, program.step, size_bytes)
    lasting = shared.seconds(jobs, size_bytes) + shared.latency[route]
    longest = np.zeros(program.num_steps)
    np.maximum.at(longest, program.step, lasting)
    if longest.sum() < end.max():
        start = np.append(0.0, np.cumsum(longest))[program.step]
        end = start + lasting
    _, step = np.unique(start, return_inverse=True)
    order = np.argsort(step, kind="stable")
    made = replace(
        program, source=program.source[order], target=program.target[order],
        step=step[order].astype(np.int32), chunks=program.chunks.taken(order),
        sums=program.sums[order],
    )  # fmt: skip
    bound = found.best.seconds(size_bytes)
    return Timed(made, network, size_bytes, start[order], end[order], routes.taken(order), bound)


def _servers(found: TableSchedule, routes: Lists) -> tuple[Servers, Ints]:
    """Return how messages share channels, and the route of each: one per pair of ranks."""
    network, program = found.network, found.program
    topology = network.topology
    pair = program.source.astype(np.int64) * network.num_ranks + program.target
    _, first, route = np.unique(pair, return_index=True, return_inverse=True)
    taken = routes.taken(first)
    latency = np.zeros(topology.num_channels)
    latency[network.channels.values] = np.repeat(network.latency, network.channels.lengths)
    rates = topology.channel_bandwidth.astype(np.float64)
    begin = taken.offsets[:-1]
    shared = Servers(
        np.minimum.reduceat(rates[taken.values], begin),
        np.add.reduceat(latency[taken.values], begin),
        taken,
        rates,
        network.bytes_per_second,
    )
    return shared, route.astype(np.int32)
