"""Schedules on installed forwarding tables in time: round by round, or as soon as there is room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.phases.collectives.listed import Jobs, Servers, Timed, listed
from netloom.workload.programs.collectives.waits import waits
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.phases.collectives.on_tables import TableSchedule


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
    offsets, before = waits(program, stepwise=False)
    after = np.repeat(np.arange(program.num_messages), np.diff(offsets))
    jobs = Jobs(
        route, program.message_size, program.chunks.values, program.sums, before, after
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
