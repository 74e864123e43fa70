"""What no forwarding table can beat: bounds of effective bisection bandwidth.

In a random matching, each of the n pairs whose paths cross a channel gets at most its bandwidth /
n. So together they get at most its bandwidth, and nothing if there are none. A router hence gives
the pairs that leave it at most the sum of bandwidths of its *busy* channels. A table that forwards
by destination alone divides the destinations among the channels of a router. A channel with n
destinations is busy if any host of the router sends to one of these. The probability of this
follows from n by counting, and grows more slowly for larger n. The most channels are busy if
destinations are divided evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.faults import working_nodes

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.topology import Topology


def bisection_bound(topology: Topology, *, hosts: Ints | None = None) -> float:
    """Return what the effective bisection bandwidth of no forwarding table exceeds, at most 1.

    See ``contention.effective_bisection``. Chance is taken into account exactly: the mean is that
    over all matchings. If hosts have several ports, then any paths may share a router's channels
    evenly.

    Parameters
    ----------
    topology
        The network.
    hosts
        Those that take part, at least two. All that work by default.

    Raises
    ------
    InputError
        If there are fewer than two hosts.

    Examples
    --------
    Two leaves of two hosts on one uplink: in a third of all matchings both pairs share it.

    >>> from netloom.topology import topology
    >>> round(bisection_bound(topology("leaf-spine:2x1x2")), 4)
    0.8333
    """
    taking = working_nodes(topology) if hosts is None else np.asarray(hosts, np.int32)
    count = len(taking)
    if count < 2:
        raise InputError(topology.name, f"{count} hosts", "at least two for a bisection")
    inside, half = topology.routers, count // 2
    rate = inside.channel_bandwidth / _alone(topology, taking)
    first = np.minimum(topology.port_offsets[:-1], topology.num_ports - 1)
    several = np.diff(topology.port_offsets) != 1
    bounds = []
    for way, ends, router in (
        ("out", inside.channel_source, topology.injection_router),
        ("in", inside.channel_target, topology.ejection_router),
    ):
        own = np.where(several, -1, router[first])[taking].astype(np.int64)  # −1: has several
        total, known = float(half), {}
        for router in np.unique(own[own >= 0]).tolist():
            here = int((own == router).sum())
            rooms = np.sort(rate[ends == router])[::-1]
            key = here, tuple(rooms.tolist())
            if key not in known:
                leaving = pairs_across(count, here)
                parted = way == "out" and bool((own >= 0).all())
                known[key] = float(leaving @ np.arange(len(leaving))) - (
                    _parted(count, here, leaving, rooms) if parted else _shared(leaving, rooms)
                )
            total -= known[key]
        bounds.append(total / half)
    return min(*bounds, 1.0)


def _alone(topology: Topology, hosts: Ints) -> float:
    """Return the least bandwidth that a host could have alone: a share is of that, or of more."""
    rates = topology.port_bandwidth.reshape(2, -1)[:, np.isin(topology.port_host, hosts)]
    return float(np.where(np.isinf(rates), 1.0, rates).min())


def pairs_across(count: int, here: int) -> Floats:
    """Return how likely 0, 1, 2 … pairs lead from a set of hosts to others, in a random matching.

    float64[here + 1]. Of ``count`` hosts half are drawn to send, and half to receive, each from one
    of the former. ``here`` of them are in the set.

    Examples
    --------
    >>> pairs_across(4, 2).round(4).tolist()
    [0.5, 0.3333, 0.1667]
    """
    half = count // 2
    chance = _drawn(count, here, half)
    found = np.zeros(here + 1)
    for senders in np.flatnonzero(chance).tolist():
        staying = _drawn(count - half, senders, here - senders)
        found[: senders + 1] += chance[senders] * staying[::-1]
    return found


def _drawn(count: int, marked: int, drawn: int) -> Floats:
    """Return how likely 0, 1 … of the ``marked`` items of all are among those drawn."""
    hits = np.arange(marked + 1, dtype=np.float64)
    ways = _log_choices(np.array([float(marked)]), hits)
    ways = ways + _log_choices(np.array([float(count - marked)]), drawn - hits)
    found: Floats = np.exp(ways - _log_choices(np.array([float(count)]), np.array([float(drawn)])))
    return found


def _log_choices(items: Floats, taken: Floats) -> Floats:
    """Return the logarithm of how many ways there are to take some of the items."""
    from scipy.special import gammaln

    possible = (taken >= 0) & (items >= taken)
    left = np.where(possible, items - taken, 0)
    whole, part = gammaln(items + 1), gammaln(np.where(possible, taken, 0) + 1)
    return np.where(possible, whole - part - gammaln(left + 1), -np.inf)


def _shared(leaving: Floats, rooms: Floats) -> float:
    """Return what the pairs get at most that cross these channels, one each first."""
    pairs = np.arange(len(leaving))
    return float(leaving @ np.minimum(pairs, rooms.sum()))


def _parted(count: int, here: int, leaving: Floats, rooms: Floats) -> float:
    """Return what pairs get at most that leave a router, if each destination has one channel."""
    away = count - here
    if not len(rooms) or not away:
        return 0.0
    idle = _idle(away, leaving)
    gains = np.sort(np.outer(rooms, -np.diff(idle)).ravel())[::-1]
    return min(float(gains[:away].sum()), _shared(leaving, rooms))


def _idle(away: int, leaving: Floats) -> Floats:
    """Return how likely none of the pairs that leave leads to n given hosts, n = 0 … away.

    Any of the ``away`` hosts outside is equally likely to be in such a pair.
    """
    pairs = np.arange(len(leaving), dtype=np.float64)[:, None]
    others = away - np.arange(away + 1, dtype=np.float64)
    reach = np.minimum(pairs, away)  # more pairs than hosts outside have no chance at all
    all_ways = _log_choices(np.array([float(away)]), reach)
    missed = np.exp(_log_choices(others, reach) - all_ways)
    found: Floats = leaving @ missed
    return found
