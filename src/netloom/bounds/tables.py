"""What no routing and no forwarding table can beat: load of channels, and bisection bandwidth.

Give every channel a length. If D packets go from s to t, and t is dist(s, t) away from s by these
lengths, then any routing loads the channels such that

    sum over pairs of D dist  <=  sum over channels of load × length
                              <=  (busiest load / bandwidth) × sum of bandwidth × length

so that any lengths give a bound of the busiest channel. With lengths of 1, the bound is the mean
channel. With lengths of 1 on channels that leave a part of the network, and 0 elsewhere, it is the
load of a cut. The best lengths are the dual of a linear program, the least load of the busiest
channel if the traffic of each pair may be split. See Shahrokhi & Matula, *The maximum concurrent
flow problem*, 1990. Bounds are computed from the lengths, so they hold for every tolerance of the
solver.

Effective bisection bandwidth is a mean over random matchings. In one, each of the n pairs whose
paths cross a channel gets at most its bandwidth / n. So together they get at most its bandwidth,
and nothing if there are none. A router hence gives the pairs that leave it at most the sum of
bandwidths of its *busy* channels. A table that forwards by destination alone divides the
destinations among the channels of a router. A channel with n destinations is busy if any host of
the router sends to one of these. The probability of this follows from n by counting, and grows more
slowly for larger n. The most channels are busy if destinations are divided evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.bounds.cuts import fullest_rows, grid_lines, pods, router_sets, undivided
from netloom.bounds.demand import Demand, all_to_all, apart, between, crossing, leading_out
from netloom.routing.ragged import legs, legs_between
from netloom.topology import Topology
from netloom.topology.core import joined
from netloom.topology.faults import working_nodes

# -- the busiest channel ---------------------------------------------------------------------------


MOST_VALUES = 2**18
"""Largest number of coefficients of a linear program that is solved (a few seconds)."""

MOST_HOPS = 2**26
"""Largest routers × channels between routers for which distances are computed."""

TOLERANCE = 1e-6
"""Bounds that differ by less, as a share, are the same."""

_ALL_TO_ALL: WeakKeyDictionary[Topology, Bound] = WeakKeyDictionary()
"""Bounds of all-to-alls of all hosts that work: their linear programs take most of the time."""


@dataclass(frozen=True)
class Bound:
    """What the busiest channel between routers carries at least, whatever the routing.

    Attributes
    ----------
    value
        Load over bandwidth: paths, or what the traffic is counted in.
    why
        Where it comes from, in words.
    exact
        Whether some routing that may split the traffic of each pair reaches it.
    channels
        The channels that are all as busy as that, if a routing reaches the bound.
    """

    value: float
    why: str
    _: KW_ONLY
    exact: bool = False
    channels: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class _Arcs:
    """The channels between routers, those that join the same two routers taken together.

    ``source`` and ``target`` are int64[arcs], ``room`` float64[arcs] the bandwidth of all channels
    of an arc, ``arc`` int64[num_network_channels] the arc of each channel.
    """

    routers: int
    source: Ints
    target: Ints
    room: Floats
    arc: Ints

    def distances(self, lengths: Floats, starts: NDArray[np.intp]) -> Floats:
        """Return float64[starts, routers], how far each router is from each of ``starts``."""
        return apart((self.source, self.target), lengths, self.routers, starts)


def busiest_bound(topology: Topology, *, hosts: Ints | None = None) -> Bound:
    """Return what the busiest channel between routers carries at least in an all-to-all.

    Each host sends to every other, by one path or split over several. Bandwidths count: the load
    of a channel is the number of its paths over its bandwidth.

    Parameters
    ----------
    topology
        The network.
    hosts
        Those that take part. All that work by default.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> busiest_bound(topology("leaf-spine:4x2x4"))
    Bound(value=24.0, why='48 paths leave leaf0 over 2 channels', exact=True, channels=(0, 1))
    >>> busiest_bound(topology("torus:4x4")).why
    'the mean over all channels, if each path is as short as can be'
    """
    every = working_nodes(topology)
    taking = every if hosts is None else np.asarray(hosts, np.int32)
    if not np.array_equal(taking, every):
        return _bound(topology, _all_to_all(topology, taking), "path")
    if topology not in _ALL_TO_ALL:
        _ALL_TO_ALL[topology] = _bound(topology, _all_to_all(topology, taking), "path")
    return _ALL_TO_ALL[topology]


def traffic_bound(topology: Topology, sources: Ints, targets: Ints, weights: Floats) -> Bound:
    """Return what the busiest channel carries at least under this traffic and any table.

    The table forwards by destination alone. What the hosts of a router send to one host of another
    leaves by one channel, and so does each of several such flows.

    Parameters
    ----------
    topology
        The network.
    sources, targets, weights
        Pairs of hosts, and what they send, such as bytes. The bound is counted in the same, over
        bandwidth.

    Examples
    --------
    Three hosts of a leaf send 1 each to one host of the next, by whichever spine:

    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x3x3")
    >>> traffic_bound(net, np.array([0, 1, 2]), np.array([3, 3, 3]), np.ones(3)).value
    3.0
    """
    demand = np.zeros((topology.num_routers, topology.num_routers))
    source, target = (np.asarray(ends, np.int32) for ends in (sources, targets))
    ends = legs(topology, source, target)
    np.add.at(demand, (ends.entry, ends.exit), np.asarray(weights, np.float64))
    whole = _bound(topology, demand, "unit")
    # what a router sends to one host cannot be split: it takes one channel
    inside, away = topology.routers, ends.entry != ends.exit
    keys = ends.entry[away].astype(np.int64) * topology.num_hosts + target[away]
    pairs, flow = np.unique(keys, return_inverse=True)
    flows = np.bincount(flow, weights[away], len(pairs)).astype(np.float64)
    fastest = np.zeros(topology.num_routers)
    np.maximum.at(fastest, inside.channel_source, inside.channel_bandwidth)
    many = np.bincount(inside.channel_source, minlength=topology.num_routers)
    owner = pairs // max(topology.num_hosts, 1)
    value, sharing = undivided(owner, flows, np.maximum(many, 1))
    value = np.divide(value, fastest, out=np.zeros(len(value)), where=fastest > 0)
    router = int(value.argmax())
    if value[router] <= whole.value * (1 + TOLERANCE):
        return whole
    name, together = topology.name_of(topology.router_vertex(router)), int(sharing[router])
    what = "what one host gets" if together == 1 else f"what {together} hosts get each"
    return Bound(float(value[router]), f"{what} from {name} takes one channel")


def _all_to_all(topology: Topology, hosts: Ints) -> Floats:
    """Return float64[num_routers, num_routers], the pairs of hosts by their routers."""
    count = topology.num_routers
    if (np.diff(topology.port_offsets)[hosts] == 1).all():
        ends = np.full((2, topology.num_hosts), -1, np.int64)
        port = topology.port_offsets[hosts]
        ends[:, hosts] = topology.injection_router[port], topology.ejection_router[port]
        return between(all_to_all(hosts, topology.num_hosts), ends[0], ends[1], (count, count))
    demand = np.zeros((count, count))
    for pairs in legs_between(topology, hosts):
        np.add.at(demand, (pairs.entry, pairs.exit), 1.0)
    return demand


def _bound(topology: Topology, demand: Floats, unit: str) -> Bound:
    """Return the largest bound for what routers send each other."""
    inside, count = topology.routers, topology.num_routers
    keys = inside.channel_source.astype(np.int64) * count + inside.channel_target
    pairs, arc = np.unique(keys, return_inverse=True)
    room = np.bincount(arc, inside.channel_bandwidth, len(pairs)).astype(np.float64)
    arcs = _Arcs(count, *np.divmod(pairs, count), room, arc)
    np.fill_diagonal(demand, 0.0)
    candidates: list[Bound] = []
    for _, part, name_of in router_sets(topology):
        candidates += _cuts_of(arcs, demand, unit, part, name_of)
    ends = demand.any(axis=0), demand.any(axis=1)
    for part in pods(np.logical_or(*ends), arcs.source, arcs.target):
        candidates += _cuts_of(arcs, demand, unit, part, _together(topology, part))
    if arcs.routers * len(arcs.source) <= MOST_HOPS and demand.any():
        even = np.ones(len(arcs.source))
        starts = np.flatnonzero(demand.any(axis=1))
        hops = arcs.distances(even, starts)
        demand[starts] = np.where(np.isfinite(hops), demand[starts], 0.0)
        mean = _by_lengths(arcs, demand, even)
        why = f"the mean over all channels, if each {unit} takes a way as short as can be"
        if unit == "path":
            why = "the mean over all channels, if each path is as short as can be"
        candidates.append(Bound(mean, why, channels=_members(arcs, even)))
    for part in _rows(topology, arcs, demand):
        candidates += _cuts_of(arcs, demand, unit, part, _together(topology, part))
    best = max(candidates, key=lambda each: each.value, default=Bound(0.0, ""))
    if best.value == 0:
        return Bound(0.0, "nothing has to cross a channel between routers", exact=True)
    lengths = _best_lengths(arcs, demand, best.value * (1 + TOLERANCE))
    if lengths is None:
        return best
    value = _by_lengths(arcs, demand, lengths)
    if value <= best.value * (1 + TOLERANCE):
        return Bound(best.value, best.why, exact=True, channels=best.channels)
    full = _members(arcs, lengths)
    kept = np.ones(len(arcs.source), np.bool_)
    kept[arcs.arc[list(full)]] = False
    pieces = joined(arcs.routers, arcs.source[kept], arcs.target[kept], both_ways=True)
    for cut in _cuts_of(arcs, demand, unit, pieces, _together(topology, pieces)):
        if cut.value >= value * (1 - TOLERANCE):
            return Bound(value, cut.why, exact=True, channels=cut.channels)
    why = f"a linear program: no routing spreads the load of {len(full)} channels any further"
    return Bound(value, why, exact=True, channels=full)


def _members(arcs: _Arcs, lengths: Floats) -> tuple[int, ...]:
    """Return the channels that have a length."""
    return tuple(np.flatnonzero((lengths > TOLERANCE * lengths.max())[arcs.arc]).tolist())


def _by_lengths(arcs: _Arcs, demand: Floats, lengths: Floats) -> float:
    """Return the bound that these lengths of arcs give."""
    starts = np.flatnonzero(demand.any(axis=1))
    far = arcs.distances(lengths, starts)
    sent = demand[starts]
    return float(sent[sent > 0] @ far[sent > 0]) / float(arcs.room @ lengths)


def _cuts_of(
    arcs: _Arcs, demand: Floats, unit: str, part: Ints, name_of: Callable[[int], str]
) -> Iterator[Bound]:
    """Yield the tightest cut out of one of these parts, and into one; -1 is in none."""
    count = int(part.max(initial=-1)) + 1
    inside = np.where(part < 0, count, part)
    ways = crossing(_pairs_of(demand), inside, inside, count + 1)
    rooms = leading_out(part, arcs.source, arcs.target, arcs.room)
    ends = inside[arcs.source], inside[arcs.target]
    for way, weight, room, own in zip(("leave", "enter"), ways, rooms, ends, strict=True):
        time = np.divide(weight[:count], room, out=np.zeros(count), where=room > 0)
        if not time.any():
            continue
        at = int(time.argmax())
        full = np.flatnonzero(((ends[0] != ends[1]) & (own == at))[arcs.arc])
        noun = unit if weight[at] == 1 else f"{unit}s"
        verb = f"{way}s" if weight[at] == 1 else way
        why = f"{weight[at]:,.6g} {noun} {verb} {name_of(at)} over {counted(len(full), 'channel')}"
        yield Bound(float(time[at]), why, channels=tuple(full.tolist()))


def _pairs_of(demand: Floats) -> Demand:
    starts, stops = np.nonzero(demand)
    return Demand((), starts, stops, demand[starts, stops])


def _rows(topology: Topology, arcs: _Arcs, demand: Floats) -> Iterator[Ints]:
    """Yield the coordinates of a grid in a row that have most to send or to receive."""
    sent, channels = _pairs_of(demand), Demand((), arcs.source, arcs.target, arcs.room)
    for line in grid_lines(topology):
        for _, _, here in fullest_rows(line, sent, (line.place, line.place), channels):
            yield np.where(here, 0, -1)


def _together(topology: Topology, part: Ints) -> Callable[[int], str]:
    def name_of(at: int) -> str:
        members = np.flatnonzero(part == at)
        name = topology.name_of(topology.router_vertex(int(members[0])))
        others = len(members) - 1
        return f"{name} and {counted(others, 'other router')}" if others else name

    return name_of


def _best_lengths(arcs: _Arcs, demand: Floats, enough: float) -> Floats | None:
    """Return lengths that give the best bound, by linear programming. None if that is too large.

    The program has for each router that packets go to a flow from all others, and asks for the
    least time of the busiest arc. First the flows take only ways with the fewest hops: if their
    time is no more than ``enough``, which is a bound already, no lengths give a better one.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, eye_array, hstack, kron

    sinks = np.flatnonzero(demand.any(axis=0))
    count, many = len(arcs.source), len(sinks)
    if 3 * count * many > MOST_VALUES:
        return None
    each = np.arange(count)
    rows, places = np.concatenate([arcs.source, arcs.target]), np.concatenate([each, each])
    signs = np.repeat([1.0, -1.0], count)
    balance = coo_array((signs, (rows, places)), shape=(arcs.routers, count))
    flows = kron(eye_array(many), balance, format="csr")
    sent = demand[:, sinks].T.copy()  # what each router sends to each sink
    keep = np.ones((many, arcs.routers), np.bool_)
    keep[np.arange(many), sinks] = False
    flows, sent = flows[keep.ravel()], sent[keep]
    shared = kron(np.ones((1, many)), eye_array(count), format="csr")
    no_time = coo_array((flows.shape[0], 1))
    hops = arcs.distances(np.ones(count), np.arange(arcs.routers))[:, sinks]
    nearer = (hops[arcs.source] == hops[arcs.target] + 1).T.ravel()
    for used in (nearer, np.ones(count * many, np.bool_)):
        solved: Any = linprog(
            np.append(np.zeros(np.count_nonzero(used)), 1.0),
            A_ub=hstack([shared[:, used], coo_array(-arcs.room[:, None])], format="csr"),
            b_ub=np.zeros(count),
            A_eq=hstack([flows[:, used], no_time], format="csr"),
            b_eq=sent,
            method="highs-ipm",
        )
        if solved.status == 0 and solved.fun <= enough:
            break
    if solved.status != 0:
        return None
    lengths = np.maximum(-solved.ineqlin.marginals, 0.0)
    return lengths if lengths.any() else None


# -- effective bisection bandwidth -----------------------------------------------------------------


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
    # a share is of the least bandwidth that a host could have alone, or of more
    alone = topology.port_bandwidth.reshape(2, -1)[:, np.isin(topology.port_host, taking)]
    rate = inside.channel_bandwidth / float(np.where(np.isinf(alone), 1.0, alone).min())
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
    return np.exp(ways - _log_choices(np.array([float(count)]), np.array([float(drawn)])))


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
    # how likely none of the pairs leads to n given hosts of those outside, all equally likely
    pairs = np.arange(len(leaving), dtype=np.float64)[:, None]
    others = away - np.arange(away + 1, dtype=np.float64)
    reach = np.minimum(pairs, away)  # more pairs than hosts outside have no chance at all
    all_ways = _log_choices(np.array([float(away)]), reach)
    idle = leaving @ np.exp(_log_choices(others, reach) - all_ways)
    gains = np.sort(np.outer(rooms, -np.diff(idle)).ravel())[::-1]
    return min(float(gains[:away].sum()), _shared(leaving, rooms))
