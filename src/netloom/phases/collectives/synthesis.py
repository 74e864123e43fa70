"""A schedule of any collective that can be made for a network, by the method that suits it."""

from __future__ import annotations

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.units import rate, size
from netloom.base.words import counted, listed
from netloom.phases.collectives.flows import FUZZ, all_reduce, all_to_all
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.pipelines import MOST_MESSAGES, Asked, Timed, along_trees
from netloom.phases.collectives.schedules import (
    INTO,
    Bound,
    Prices,
    Schedule,
    ScheduleNetwork,
    cut_seconds,
    priced_seconds,
)
from netloom.phases.collectives.translates import translatable, translated
from netloom.phases.collectives.trees import least_time, optimum
from netloom.workload.programs.collectives.program import CollectiveProgram
from netloom.workload.programs.messages import Lists, cut, grouped

BLOCKS = ("all-gather", "reduce-scatter")
SYNTHESISED = (*BLOCKS, "broadcast", "reduce", "all-reduce", "all-to-all")
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


def method_of(asked: Asked) -> str:
    """Return what ``synthesised`` makes a schedule of, in words."""
    if asked.collective in ("all-reduce", "all-to-all"):
        return PAIRS if asked.collective == "all-reduce" else PATHS
    ranks, links = asked.network.num_ranks, asked.network.num_links
    alike = asked.collective in BLOCKS and translatable(asked.network)
    return TRANSLATES if alike and links * (ranks - 1) <= MOST_MESSAGES else ALONG_TREES


def synthesised(asked: Asked) -> Timed:
    """Return a schedule of a collective, with the bound that no schedule beats.

    All-gather and reduce-scatter go by translates on whole tori and hypercubes, and by packed trees
    elsewhere, as broadcast and reduce do. All-reduce goes by pairs of trees, all-to-all by paths.

    Raises
    ------
    InputError
        If the network is in pieces or too large, or a switch's bandwidths in and out differ.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:4x4"), bytes_per_second=50e9, latency_seconds=1e-6)
    >>> synthesised(Asked(net, "all-gather", 1e9)).program
    <all-gather, synthesised: 16 ranks, 64 chunks, 960 messages in 15 steps>
    """
    makers = {
        PAIRS: all_reduce,
        PATHS: all_to_all,
        TRANSLATES: translated,
        ALONG_TREES: along_trees,
    }
    return makers[method_of(asked)](asked)


def proven(timed: Timed) -> Schedule:
    """Return a schedule that stands for itself, with its bound and what proves it.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> proven(synthesised(Asked(net, "all-reduce", 1e9))).bound.why
    '4 groups of hosts send each other 200 GB/s together at most. All 8 channels set it.'
    """
    network, program, size = timed.network, timed.program, timed.size_bytes
    used, number = np.unique(network.channels.values), np.zeros(network.num_channels, np.int32)
    number[used] = np.arange(len(used))
    link = network.channels.owners()[np.argsort(network.channels.values)]
    kept = ScheduleNetwork(
        network.topology.name,
        tuple(network.name_of(vertex) for vertex in range(network.num_vertices)),
        network.vertices[: network.num_ranks],
        network.source[link],
        network.target[link],
        network.channel_rate[used],
        network.latency[link],
    )
    routes = Lists(timed.routes.offsets, number[timed.routes.values])
    inside, prices, seconds, why = np.zeros(0, np.int32), timed.prices, timed.bound_seconds, ""
    if program.collective == "all-to-all":
        why = "A linear program over all flows has no better solution."
    elif program.collective == "all-reduce":
        held = least_time(  # what holds any all-reduce back as much as pairs of trees, if known
            "all-reduce",
            network.topology,
            network.vertices[: network.num_ranks],
            bytes_per_second=network.bytes_per_second,
            by_node=len(network.inside) > 0,
        )
        known = held.per_byte * size >= seconds * (1 - FUZZ)
        why = (held.why if known else "") or BY_TREES
    else:
        inside = _bottleneck(network, program)
        seconds = cut_seconds(kept, program.collective, program.root, size, inside)
        why = _cut_words(kept, program.collective, program.root, size, inside)
    if prices is not None:
        # of links, as those of their channels
        each = grouped(link, np.arange(len(link)), network.num_links).taken(prices.channels.values)
        table, channel = prices.channels.owners()[each.owners()], each.values.astype(np.int32)
        order, tables = np.lexsort((channel, table)), len(prices.channels.lengths)
        channels = cut(channel[order], np.bincount(table, minlength=tables))
        prices = Prices(channels, prices.price[each.owners()][order], prices.level)
        seconds = priced_seconds(kept, program.collective, size, prices)
        # the channels that cost something are full in every schedule at the bound
        full = np.unique(channel).tolist()
        many, names = counted(len(full), "channel"), map(kept.channel_name, full)
        named = f"{many} set{'s' * (len(full) == 1)} it: {listed(list(names), MOST_NAMED)}."
        why += f" All {many} set it." if len(full) == len(kept.rate) else f" {named}"
    bound = Bound(seconds, why, inside, prices)
    return Schedule(program, size, kept, timed.start, timed.end, routes, bound)


def _bottleneck(network: RankNetwork, program: CollectiveProgram) -> Ints:
    """Return the vertices of a bottleneck cut, int32[…]: what its ranks reach within it."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    # in a network that is reversed this reads backwards, and the cut is the same
    asked = Asked(network, program.collective, 1.0, program.root)
    used, stays = asked.outward, np.ones(network.num_links)
    best = optimum(used, asked.weights)
    stays[best.leaving] = 0
    graph = csr_array((stays, (used.source, used.target)), shape=(used.num_vertices,) * 2)
    graph.eliminate_zeros()
    away = dijkstra(graph, indices=best.inside, min_only=True, unweighted=True)
    return np.flatnonzero(np.isfinite(away)).astype(np.int32)


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
