"""A schedule of any collective that can be made for a network, by the method that suits it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.collectives.all_to_all import all_to_all
from netloom.phases.collectives.joint import FUZZ, all_reduce
from netloom.phases.collectives.least_time import least_time
from netloom.phases.collectives.listed import MOST_MESSAGES
from netloom.phases.collectives.optimum import optimum
from netloom.phases.collectives.pipelines import BACKWARDS, along_trees
from netloom.phases.collectives.schedules import schedule_of
from netloom.phases.collectives.translates import translatable, translated

if TYPE_CHECKING:
    from netloom.phases.collectives.listed import Timed
    from netloom.phases.collectives.network import RankNetwork
    from netloom.phases.collectives.schedules import Schedule

SYNTHESISED = ("all-gather", "reduce-scatter", "broadcast", "reduce", "all-reduce", "all-to-all")
"""Collectives that ``synthesised`` makes schedules of."""


ALONG_TREES, TRANSLATES = "packed trees", "translates of one root's trees"
PAIRS, PATHS = "pairs of trees", "paths of a flow"
BY_TREES = "A linear program over pairs of in-trees and out-trees has no better solution."
"""What no pairs of trees exceed, although other ways to add might."""

ON_TABLES = "trees over the routes of the routing"
IN_STEPS = "steps one after the other"
"""What schedules are made of."""


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
    if method == PAIRS:
        return all_reduce(network, size_bytes, until=until, **tried)
    if method == PATHS:
        parts = {"parts": (chunks,)} if chunks else {}
        return all_to_all(network, size_bytes, until=until, **parts)
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
        return schedule_of(timed, why=_holds_any(timed) or BY_TREES)
    if program.collective == "all-to-all":
        return schedule_of(timed, why="A linear program over all flows has no better solution.")
    weights = np.ones(network.num_ranks, np.int64)
    if program.collective in ("broadcast", "reduce"):
        weights = (np.arange(network.num_ranks) == program.root).astype(np.int64)
    used = network.reversed() if program.collective in BACKWARDS else network
    return schedule_of(timed, optimum(used, weights))


def _holds_any(timed: Timed) -> str:
    """Return what holds any all-reduce back as much as pairs of trees. "" if nothing is known."""
    network = timed.network
    found = least_time(
        "all-reduce", network.topology, network.vertices[: network.num_ranks],
        bytes_per_second=network.bytes_per_second, by_node=len(network.inside) > 0,
    )  # fmt: skip
    held = found.per_byte * timed.size_bytes >= timed.bound_seconds * (1 - FUZZ)
    return found.why if held else ""
