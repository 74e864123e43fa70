"""Programs of rounds whose messages never slow each other down, without an engine.

A host begins its messages of a round when those of the one before are complete. So those on a link
at a time are, of each host, of one round only. If hosts fit on all links with the most that each
needs in any round, no message slows another down. A host's next round then begins when the last of
the messages that it waits for has arrived, each in the time that it takes alone.

Hosts wait for their neighbours: rounds overlap, and a host may be ahead of another. Once all hosts
are as far ahead of each other as some rounds ago, the same rounds follow and are not run again.
Such periods are found by Brent's algorithm (BIT 20, 1980), which keeps one state and replaces it at
powers of two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.routing import Routing
from netloom.simulation.flow.engine import FAIR, ROUNDING, FlowLaw
from netloom.simulation.flow.network import FlowNetwork, Ways, ways_of
from netloom.simulation.flow.run import run_flows
from netloom.workload.programs.rounds import RoundProgram, as_messages

FITS = 1 + 1e-12
"""Flows fit on a link if they need no more than this of it, but for rounding."""

REPEATS, ALIKE = 6, 1e-9
"""Repeats of a round that are run, and how alike the last ones must be for others to follow."""


def rounds_apart(
    network: FlowNetwork,
    routing: Routing,
    program: RoundProgram,
    law: FlowLaw = FAIR,
    *,
    adding: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, Floats] | None:
    """Return when a program of rounds is over whose messages never meet. None if some may.

    Beside it stands float64[num_links], what has crossed each link in all.

    The answer is that of ``run_flows`` with all messages as a table (``as_messages``), but for
    rounding.

    Parameters
    ----------
    network, routing
        The links, in units of bytes, and the routing of whose paths they are part.
    program
        The rounds.
    law
        How flows share the links: max-min.
    adding
        Time, and time per byte, that a target adds, of one message per round.

    Raises
    ------
    NoRouteError
        If the routing has no path for a message.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.rounds import RoundProgram, exchange
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=1e9, latency=1e-6)
    >>> hosts = np.arange(4)
    >>> ring = exchange(hosts, (hosts + 1) % 4, 1e6, count=1000)
    >>> finish, sizes = rounds_apart(network, DModK(), RoundProgram(4, [ring]))
    >>> round(finish, 6), sizes.max()
    (1.004, np.float64(1000000000.0))
    """
    from netloom.simulation.flow.kernels.flows import follow

    finish = origin = 0.0
    ready = np.zeros(program.num_hosts)  # from ``origin`` on
    later, kept = np.empty_like(ready), np.empty_like(ready)
    link_sizes, need = np.zeros(network.num_links), (np.zeros(0, np.int64), np.zeros(0))
    ways = None  # the latest, of ``known`` pairs of hosts
    known, rate, sent = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    for one in program:
        uses = np.flatnonzero(one.moving)
        pairs = np.where(one.moving, one.source * np.int64(2**31) + one.target, -1)
        if ways is None or not np.array_equal(pairs, known):
            if ways is not None:
                link_sizes += _carried(network, ways, sent)
            known, ways = pairs, ways_of(network, routing, one.source[uses], one.target[uses])
            rate, sent = ways.capacity(network.capacity), np.zeros(len(ways))
            follows = law.in_order and np.bincount(one.source[uses]).max(initial=0) > 1
            need = _most_needed(network, need, ways, rate, one.source[uses])
            taken = np.bincount(need[0] % network.num_links, need[1], network.num_links)
            if follows or (taken > network.capacity * FITS).any():
                return None
        sent += one.bytes[uses] * one.count
        cost = np.zeros(len(one))
        cost[uses] = ways.latency + one.bytes[uses] / rate
        if any(adding):
            added = one.moving & one.sums
            if np.bincount(one.target[added]).max(initial=0) > 1:
                return None
            cost += added * (adding[0] + adding[1] * one.bytes)
        taking = np.zeros(len(ready), np.bool_)
        taking[one.source] = taking[one.target] = True
        hosts, left = np.flatnonzero(taking), one.count if len(one) else 0
        while left:
            ended, elapsed = np.zeros(left), np.zeros(2)
            back = ready[hosts].min()
            ready -= back
            origin += back
            done, period = follow(
                ready, later, kept, hosts, one.source, one.target, cost, ROUNDING, ended, elapsed
            )
            over = origin + ended[:done]
            finish = max(finish, over.max())
            left, passed = left - done, elapsed[0]
            if period:
                skipped = left // period * elapsed[1]
                finish = max(finish, over[-period:].max() + skipped)
                passed, left = passed + skipped, left % period
            ready[~taking] -= passed
            origin += passed
    if ways is not None:
        link_sizes += _carried(network, ways, sent)
    return float(finish), link_sizes


def rounds_repeated(
    network: FlowNetwork,
    routing: Routing,
    program: RoundProgram,
    law: FlowLaw = FAIR,
    *,
    overhead: float = 0.0,
    adding: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, Floats] | None:
    """Return what ``rounds_apart`` does, from the first repeats of each round. None if they differ.

    Messages may meet. A round that is repeated is run ``REPEATS`` times. Each repeat that is left
    out takes as long as the last ones do if all messages of these are equally much later than those
    of the repeat before.

    Parameters
    ----------
    network, routing, program, law
        See ``rounds_apart``.
    overhead, adding
        See ``as_messages``.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.rounds import exchange
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=1e9, latency=1e-6)
    >>> both = exchange([0, 1, 2, 3], [2, 3, 0, 1], 1e6, count=1000)
    >>> finish, sizes = rounds_repeated(network, DModK(), RoundProgram(4, [both]))
    >>> round(finish, 6), sizes.max()
    (2.004, np.float64(2000000000.0))
    """
    few = [replace(each, count=min(each.count, REPEATS)) for each in program]
    table = as_messages(RoundProgram(program.num_hosts, few), overhead=overhead, adding=adding)
    run = run_flows(network, routing, table, law)
    finish, sizes, begin = run.finish, run.link_sizes.astype(np.float64), 0
    active = np.unique(np.append(table.source, table.target))
    for every, one in zip(program, few, strict=True):
        end = begin + one.count * len(one)
        complete = run.complete[begin:end].reshape(one.count, -1)
        begin, left = end, every.count - one.count
        if left:
            later = np.diff(complete[REPEATS // 2 - 1 :], axis=0)
            period, spread = float(later[-1].max()), float(np.ptp(later))
            if spread > ALIKE * period or len(np.union1d(one.source, one.target)) < len(active):
                return None
            uses = np.flatnonzero(one.moving)
            ways = ways_of(network, routing, one.source[uses], one.target[uses])
            finish += left * period
            sizes += _carried(network, ways, left * one.bytes[uses])
    return finish, sizes


def _carried(network: FlowNetwork, ways: Ways, sent: Floats) -> Floats:
    """Return float64[num_links], what each link carries if so much is sent over each way."""
    hops = np.repeat(sent, np.diff(ways.offsets)) * ways.shares / ways.whole
    return np.bincount(ways.links, hops, network.num_links).astype(np.float64)


def _most_needed(
    network: FlowNetwork, need: tuple[Ints, Floats], ways: Ways, rate: Floats, source: Ints
) -> tuple[Ints, Floats]:
    """Return the most that hosts need of links in any round, of flows that are alone: keys, rates.

    ``need`` is that of earlier rounds. A key is a host and a link.
    """
    hops = np.repeat(rate, np.diff(ways.offsets)) * ways.shares / ways.whole
    key = np.repeat(source, np.diff(ways.offsets)) * np.int64(network.num_links) + ways.links
    alone, place = np.unique(key, return_inverse=True)
    rates = np.bincount(place, hops, len(alone))
    keys, place = np.unique(np.append(need[0], alone), return_inverse=True)
    most = np.zeros(len(keys))
    np.maximum.at(most, place, np.append(need[1], rates))
    return keys, most
