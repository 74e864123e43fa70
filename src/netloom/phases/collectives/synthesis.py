"""A schedule of any collective that can be made for a network, by the method that suits it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.phases.collectives.all_to_all import all_to_all
from netloom.phases.collectives.joint import all_reduce
from netloom.phases.collectives.listed import MOST_MESSAGES
from netloom.phases.collectives.pipelines import along_trees
from netloom.phases.collectives.translates import translatable, translated

if TYPE_CHECKING:
    from netloom.phases.collectives.listed import Timed
    from netloom.phases.collectives.network import RankNetwork

SYNTHESISED = ("all-gather", "reduce-scatter", "broadcast", "reduce", "all-reduce", "all-to-all")
"""Collectives that ``synthesised`` makes schedules of."""


def synthesised(
    network: RankNetwork, collective: str, size_bytes: float, *, root: int = 0
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

    Raises
    ------
    InputError
        If the collective is another, the size is none, a root is no rank, the network is in
        pieces or too large, or a switch has not as much bandwidth in as out.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:4x4"), bytes_per_second=50e9, latency_seconds=1e-6)
    >>> synthesised(net, "all-gather", 1e9).program
    <all-gather, synthesised: 16 ranks, 64 chunks, 960 messages in 15 steps>
    """
    if collective not in SYNTHESISED:
        raise InputError("collective", f"'{collective}'", ", ".join(SYNTHESISED))
    if collective == "all-reduce":
        return all_reduce(network, size_bytes)
    if collective == "all-to-all":
        return all_to_all(network, size_bytes)
    ranks = network.num_ranks
    if collective in ("all-gather", "reduce-scatter") and translatable(network):
        directions = network.num_links // ranks
        if ranks * (ranks - 1) * directions <= MOST_MESSAGES:
            return translated(network, collective, size_bytes)
    return along_trees(network, collective, size_bytes, root=root)
