"""A schedule of any collective that can be made for a network, by the method that suits it."""

from __future__ import annotations

from typing import Any

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.units import rate, size
from netloom.base.words import counted, listed
from netloom.phases.collectives.flows import FUZZ, all_reduce, all_to_all, on_channels
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.pipelines import BACKWARDS, MOST_MESSAGES, Timed, along_trees
from netloom.phases.collectives.schedules import (
    INTO,
    Bound,
    Schedule,
    ScheduleNetwork,
    cut_seconds,
    priced_seconds,
)
from netloom.phases.collectives.translates import translatable, translated
from netloom.phases.collectives.trees import Optimum, least_time, optimum
from netloom.workload.programs.messages import Lists

SYNTHESISED = ("all-gather", "reduce-scatter", "broadcast", "reduce", "all-reduce", "all-to-all")
"""Collectives that ``synthesised`` makes schedules of."""


ALONG_TREES, TRANSLATES = "packed trees", "translates of one root's trees"
PAIRS, PATHS = "pairs of trees", "paths of a flow"
BY_TREES = "A linear program over pairs of in-trees and out-trees has no better solution."
"""What no pairs of trees exceed, although other ways to add might."""

ON_TABLES = "trees over the routes of the routing"
IN_STEPS = "steps one after the other"
"""What schedules are made of."""

MOST_NAMED = 4
"""Most ranks or channels that a sentence names."""


def method_of(network: RankNetwork, collective: str) -> str:
    """Return what ``synthesised`` makes a schedule of, in words."""
    if collective not in SYNTHESISED:
        raise InputError("collective", f"'{collective}'", ", ".join(SYNTHESISED))
    if collective in ("all-reduce", "all-to-all"):
        return PAIRS if collective == "all-reduce" else PATHS
    ranks = network.num_ranks
    if collective in ("all-gather", "reduce-scatter") and translatable(network):
        directions = network.num_links // ranks
        if ranks * (ranks - 1) * directions <= MOST_MESSAGES:
            return TRANSLATES
    return ALONG_TREES


def synthesised(
    network: RankNetwork,
    collective: str,
    size_bytes: float,
    *,
    root: int = 0,
    chunks: int | None = None,
    until: float = np.inf,
) -> Timed:
    """Return a schedule of a collective, with the bound that no schedule beats.

    All-gather and reduce-scatter go by translates on whole tori and hypercubes, and by packed trees
    elsewhere, as broadcast and reduce do. All-reduce goes by pairs of trees, all-to-all by paths.

    Parameters
    ----------
    network
        The ranks, and links with rates and latencies.
    collective
        One of ``SYNTHESISED``.
    size_bytes
        As ``CollectiveProgram`` has it.
    root
        Of broadcast and reduce.
    chunks
        Into how many chunks data that goes one way is cut. None: as many as end first.
    until
        A time of ``perf_counter`` after which the first schedule, or the best so far, suffices.

    Raises
    ------
    InputError
        If the collective is unknown, the size is no size or a root is no rank. If the network is in
        pieces or too large, or a switch's bandwidths in and out differ.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:4x4"), bytes_per_second=50e9, latency_seconds=1e-6)
    >>> synthesised(net, "all-gather", 1e9).program
    <all-gather, synthesised: 16 ranks, 64 chunks, 960 messages in 15 steps>
    """
    method = method_of(network, collective)
    tried: dict[str, Any] = {} if chunks is None else {"chunks": (chunks,)}
    if method in (PAIRS, PATHS):
        made = all_reduce if method == PAIRS else all_to_all
        return made(network, size_bytes, until=until, **tried)
    if method == TRANSLATES:
        return translated(network, collective, size_bytes, **tried)
    return along_trees(network, collective, size_bytes, root=root, until=until, **tried)


def proven(timed: Timed) -> Schedule:
    """Return a schedule with the bound that ``synthesised`` reaches, and what proves it.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> proven(synthesised(net, "all-reduce", 1e9)).bound.why
    '4 groups of hosts send each other 200 GB/s together at most. All 8 channels set it.'
    """
    network, program = timed.network, timed.program
    if program.collective == "all-reduce":
        held = least_time(  # what holds any all-reduce back as much as pairs of trees, if known
            "all-reduce", network.topology, network.vertices[: network.num_ranks],
            bytes_per_second=network.bytes_per_second, by_node=len(network.inside) > 0,
        )  # fmt: skip
        known = held.per_byte * timed.size_bytes >= timed.bound_seconds * (1 - FUZZ)
        return schedule_of(timed, why=(held.why if known else "") or BY_TREES)
    if program.collective == "all-to-all":
        return schedule_of(timed, why="A linear program over all flows has no better solution.")
    weights = np.ones(network.num_ranks, np.int64)
    if program.collective in ("broadcast", "reduce"):
        weights = (np.arange(network.num_ranks) == program.root).astype(np.int64)
    used = network.reversed() if program.collective in BACKWARDS else network
    return schedule_of(timed, optimum(used, weights))


def schedule_of(timed: Timed, best: Optimum | None = None, why: str = "") -> Schedule:
    """Return a timed program as a schedule that stands for itself.

    Parameters
    ----------
    timed
        What was made.
    best
        The optimum whose bottleneck cut is the bound. None if another is.
    why
        The bound in words, if there is no cut.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.trees import optimum
    >>> from netloom.phases.collectives.synthesis import synthesised
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> found = schedule_of(synthesised(net, "all-gather", 1e9), optimum(net))
    >>> found.bound.seconds, found.bound.why
    (0.015, '0 receives 750 MB through 2 channels of 50 GB/s together: 3 -> 0 and 1 -> 0.')
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    network = timed.network
    used = np.unique(network.channels.values)
    number = np.full(network.num_channels, -1, np.int64)
    link = np.empty(network.num_channels, np.int64)
    link[network.channels.values] = np.repeat(
        np.arange(network.num_links), network.channels.lengths
    )
    number[used] = np.arange(len(used))
    link = link[used]
    kept = ScheduleNetwork(
        network.topology.name,
        tuple(network.name_of(vertex) for vertex in range(network.num_vertices)),
        network.vertices[: network.num_ranks],
        network.source[link], network.target[link],
        network.channel_rate[used],
        network.latency[link],
    )  # fmt: skip
    routes = Lists(timed.routes.offsets, number[timed.routes.values].astype(np.int32))
    nothing = np.zeros(0, np.int32)
    bound = Bound(timed.bound_seconds, why, nothing)
    if timed.prices is not None:
        prices = on_channels(timed.prices, link, network.num_links)
        seconds = priced_seconds(kept, timed.program.collective, timed.size_bytes, prices)
        # the channels that cost something are full in every schedule at the bound
        channels = np.unique(prices.channels.values).tolist()
        many, names = counted(len(channels), "channel"), map(kept.channel_name, channels)
        named = f"{many} set{'s' * (len(channels) == 1)} it: {listed(list(names), MOST_NAMED)}."
        said = f"All {many} set it." if len(channels) == len(kept.rate) else named
        bound = Bound(seconds, f"{why} {said}", nothing, prices)
    if best is not None:
        # the vertices of a bottleneck cut: what its ranks reach without the links that leave. In a
        # network that is reversed this reads backwards, and the cut is the same
        ends, stays = best.network, np.ones(network.num_links, np.bool_)
        stays[best.leaving] = False
        pairs = ends.source[stays], ends.target[stays]
        graph = csr_array((np.ones(len(pairs[0])), pairs), shape=(ends.num_vertices,) * 2)
        away = dijkstra(graph, indices=best.inside, min_only=True, unweighted=True)
        inside = np.flatnonzero(np.isfinite(away)).astype(np.int32)
        of = timed.program.collective, timed.program.root, timed.size_bytes
        seconds = cut_seconds(kept, *of, inside)
        bound = Bound(seconds, _cut_words(kept, *of, inside), inside)
    return Schedule(timed.program, timed.size_bytes, kept, timed.start, timed.end, routes, bound)


def _cut_words(
    network: ScheduleNetwork, collective: str, root: int, size_bytes: float, inside: Ints
) -> str:
    """Return the bottleneck in a sentence, of the side that has fewer ranks."""
    held = np.zeros(len(network.labels), np.bool_)
    held[inside] = True
    into = collective in INTO
    ends = (network.target, network.source) if into else (network.source, network.target)
    channels = np.flatnonzero(held[ends[0]] & ~held[ends[1]])
    total = float(network.rate[channels].sum())
    members = np.flatnonzero(held[: len(network.host)])
    if 2 * len(members) > len(network.host):
        members, into = np.flatnonzero(~held[: len(network.host)]), not into
    who = listed([network.labels[rank] for rank in members.tolist()], MOST_NAMED)
    if len(members) > MOST_NAMED:
        who = f"{counted(len(members), 'rank')} ({who})"
    verb = ("receive" if into else "send") + "s" * (len(members) == 1)
    amount = size(cut_seconds(network, collective, root, size_bytes, inside) * total)
    ways = listed([network.channel_name(channel) for channel in channels.tolist()], MOST_NAMED)
    many = "one channel" if len(channels) == 1 else counted(len(channels), "channel")
    speed = rate(total) + " together" * (len(channels) > 1)
    return f"{who} {verb} {amount} through {many} of {speed}: {ways}."
