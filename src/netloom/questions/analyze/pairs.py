"""The table of channels, and which pairs of tasks load each most: what a picture tells of it."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from netloom.questions.columns import Column, Columns
from netloom.questions.shown import percent

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.questions.analyze.mapped import MappedProgram
    from netloom.routing import Paths
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

CHANNELS = Columns(
    Column("source_node", kind=int),
    Column("target_node", kind=int),
    Column("channel_load", "channel load χ", "paths", kind=Real),
    Column("weighted_channel_load", "channel load", "weight"),
    Column("name", "channel", kind=str, optional=True),
    Column("kind", kind=str, optional=True),
    Column("bandwidth", unit="flits/cycle", optional=True),
    Column("time", unit="weight over bandwidth", optional=True),
    Column("pairs", "pairs with most traffic", kind=str, optional=True),
)
"""Name, kind, bandwidth and time only if hosts have channels of their own, which are among them."""

MOST_SORTED = 2**22
"""Most hops of all paths that are sorted by channel."""

FEW = 3
"""Pairs of a channel that are named."""


def pairs_by_channel(
    graph: ProcessGraph, topology: Topology, mapped: MappedProgram, routed: Paths
) -> list[str]:
    """Return the pairs of tasks that load each channel most, with their shares, in words.

    In a network from a file that names hosts and ports the pairs are those of hosts.
    """
    many = topology.num_channels
    pair = np.repeat(np.arange(len(routed.offsets) - 1), np.diff(routed.offsets))
    part = np.ones(len(pair)) if routed.probability is None else routed.probability[pair]
    edge = pair if routed.pair is None else routed.pair[pair]
    keys, place = np.unique(routed.channels.astype(np.int64) * graph.num_edges + edge,
                            return_inverse=True)  # fmt: skip
    load: Floats = np.zeros(len(keys))
    np.add.at(load, place, mapped.weights[edge] * part)
    channel, edge = np.divmod(keys, max(graph.num_edges, 1))
    order = np.lexsort((edge, -load, channel))
    channel, edge, load = channel[order], edge[order], load[order]
    counts = np.bincount(channel, minlength=many)
    total = np.bincount(channel, load, many)
    first = np.cumsum(counts) - counts
    top = np.arange(len(channel)) - first[channel] < FEW
    words: list[list[str]] = [[] for _ in range(many)]
    share = load / np.maximum(total[channel], 1e-300)
    for at, each, part_of in zip(*(x[top].tolist() for x in (channel, edge, share)), strict=True):
        words[at].append(f"{_ends(graph, topology, mapped, each)} ({percent(part_of)})")
    return [", ".join(each) for each in words]


def _ends(graph: ProcessGraph, topology: Topology, mapped: MappedProgram, edge: int) -> str:
    if topology.cabling is not None:
        hosts = (topology.name_of(int(end[edge])) for end in (mapped.source, mapped.target))
        return "→".join(hosts)
    return f"{graph.source[edge]}→{graph.target[edge]}"
