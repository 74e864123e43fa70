"""One run of a program on the flow engine, and what it found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.simulation.flow import blocking
from netloom.simulation.flow.engine import ROUNDING, FlowEngine
from netloom.simulation.flow.ways import (
    GivenPaths,
    Ways,
    capped,
    latency_weights,
    made_ways,
    ways_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.routing import Routing
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.workload.programs.messages import Messages

BATCHES, FIRST_BATCHES = 2**14, 64
"""Batches of events between two looks at whether to stop, and at first, until they tell enough."""

MOST_WEIGHT = 2**31 - 1

CLASS_SECONDS, BATCH_SECONDS = 5e-8, 2.5e-6
"""What a class that is looked at and a batch cost, on a core of 2024."""

MOST_SECONDS = 600.0
"""Runs that would take longer by these are refused."""

TELLING = 32
"""Flows that end by which it is told how long those that are left take."""

TOLERATED = 2.5
"""Largest error of a finish, as a multiple of the tolerance, if flows share their hosts' channels.
Measured: up to 2.3, on all-to-all traffic of unequal sizes on 54 to 128 hosts."""


@dataclass(frozen=True, eq=False)
class FlowRun:
    """When the rows of a program were ready, sent, entered the network, arrived and were complete.

    Times are in the units of the network's capacities; -1 stands for what has not happened.

    Attributes
    ----------
    ready, sent, entered, arrived, complete
        float64[num_rows]. ``entered`` is when the bytes of a message began to leave its host.
    last
        int64[num_rows], the row that released each, or -1 for none.
    alone
        float64[num_rows], the time of each message in an idle network: the latency of its path +
        size / bandwidth of the narrowest link. It is 0 for rows that do not use the network.
    link_sizes
        float64[num_links], what has crossed each link.
    ways, way
        The ways of rows, and int64[num_rows], which one each has; -1: it does not use the network.
    held
        float64[hops of all ways], how long each link held back the flows of a way, in flows times
        time. See ``FlowEngine.held``. None where that was not noted.
    batches, work
        How often rates were found anew, and how many classes of flows were looked at for it.
    done
        Whether all rows are complete.
    """

    ready: Floats
    sent: Floats
    entered: Floats
    arrived: Floats
    complete: Floats
    last: Ints
    alone: Floats
    link_sizes: Floats
    ways: Ways
    way: Ints
    held: Floats | None
    batches: int
    work: int
    done: bool

    @property
    def finish(self) -> float:
        """When the last row was complete."""
        return float(self.complete.max(initial=0.0))

    def __repr__(self) -> str:
        rows = f"{len(self.complete)} rows, {self.batches} times of change"
        return f"<flows: {rows}, finished at {self.finish:.6g}>"


def run_flows(
    network: FlowNetwork,
    routing: Routing | GivenPaths,
    messages: Messages,
    *,
    cycle: float = 1.0,
    flit: float = 1.0,
    injection: Literal["in-order", "shared"] = "in-order",
    tolerance: float = 0.0,
    switch: float = 0.0,
    sharing: Literal["max-min", "by-latency", "lossless"] = "max-min",
    weights: ArrayLike = 1,
    caps: ArrayLike = inf,
    noting: bool = False,
    most_seconds: float = MOST_SECONDS,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[int], None] = lambda _: None,
) -> FlowRun:
    """Run a table of messages as flows that share links max-min fairly.

    A message is sent, and its bytes begin to move once the latency of its path is over, at the
    max-min fair rate. It arrives when all have moved. Shared ``by-latency``, that is SimGrid's
    model CM02 without its corrections (Velho & Legrand 2009).

    Parameters
    ----------
    network, routing
        The links, and the routing of whose paths they are part, or the path of each message.
    messages
        The program. Times are multiplied by ``cycle`` and lengths by ``flit`` to be in the
        network's units.
    injection
        ``in-order``: the injection channel of a host sends one message after the other, in the
        order in which they were sent, as routers do. ``shared``: all at once.
    tolerance
        Events so much later, as a part of the time, count as one. A finish may be off by a few
        times as much.
    switch
        Time of a processor that goes from one context to another.
    sharing
        ``max-min``: all flows on a full link are equal. ``by-latency``: a flow of twice the latency
        has half the weight there, as of TCP connections the one of the longer round trip gets less.
        ``lossless``: links share by turns, and what waits blocks what comes behind it. See
        ``blocking``.
    weights
        int[num_rows] or one for all: a flow of weight 2 has twice the rate.
    caps
        float64[num_rows] or one for all, the highest rate of each flow.
    noting
        Whether to find for how long each link held flows back.
    most_seconds
        Of work, counted rather than timed: what would take longer is refused.
    stopped, tell
        Asked now and then whether to stop. Told how many rows are complete.

    Raises
    ------
    NoRouteError
        If the routing has no path for a message.
    TooMuchWorkError
        If it would take longer than ``most_seconds``.
    InputError
        If an argument cannot be used.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.messages import messages
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=1e9, latency=1e-6)
    >>> two = messages(4, source=[0, 1], target=[2, 2], flits=1000)
    >>> run_flows(network, DModK(), two).complete  # both into host 2
    array([6.e-06, 6.e-06])
    """
    if injection not in ("in-order", "shared"):
        raise InputError("injection", f"'{injection}'", "in-order or shared")
    assert messages.num_nodes == network.topology.num_hosts
    ways, path = _ways_of_rows(network, routing, messages)
    by_latency = False
    if sharing == "by-latency":
        more = _weights(ways, path)
        by_latency = more is None
        weights = np.asarray(weights) * (1 if more is None else more)
    elif sharing not in ("max-min", "lossless"):
        raise InputError("sharing", f"'{sharing}'", "max-min, by-latency or lossless")
    limits = _each("caps", caps, len(path))
    circles = None
    if sharing == "lossless":
        if np.isfinite(limits).any():
            raise InputError("caps", "rates of flows of their own", "none if sharing is lossless")
        ways = blocking.in_path_order(network, ways)
        known = None if isinstance(routing, GivenPaths) else routing
        circles = blocking.circles(network, known, ways)
    longer, ways, path = capped(network, ways, path, limits)
    engine = FlowEngine(
        longer,
        in_order=injection == "in-order",
        tolerance=tolerance,
        switch=switch,
        noting=noting,
        circles=circles,
        by_latency=by_latency,
    )
    found = _run(engine, messages, ways, path, cycle, flit, weights, most_seconds, stopped, tell)
    return replace(found, link_sizes=found.link_sizes[: network.num_links])


def _ways_of_rows(
    network: FlowNetwork, routing: Routing | GivenPaths, messages: Messages
) -> tuple[Ways, Ints]:
    """Return ways, and int64[num_rows], the way of each row, or -1 for one that does not move."""
    moving = (messages.flits > 0) & (messages.source != messages.target)
    if isinstance(routing, GivenPaths):
        return routing.ways(network), np.where(moving, routing.path, -1)
    hosts = np.int64(network.topology.num_hosts)
    key = messages.source[moving] * hosts + messages.target[moving]
    pairs, number = np.unique(key, return_inverse=True)
    source, target = np.divmod(pairs, hosts)
    path = np.full(len(messages), -1, np.int64)
    path[moving] = number
    ends = source.astype(np.int32), target.astype(np.int32)
    return ways_of(network, routing, *ends), path


def run_paths(
    network: FlowNetwork,
    offsets: ArrayLike,
    links: ArrayLike,
    messages: Messages,
    path: ArrayLike,
    *,
    weights: ArrayLike = 1,
    tolerance: float = 0.0,
) -> FlowRun:
    """Run messages over given paths, all at once where they are sent at once.

    Parameters
    ----------
    network
        The links.
    offsets, links
        Path p is ``links[offsets[p]:offsets[p + 1]]``.
    messages, path
        The program, and int[num_rows], the path of each row, or -1 for none.
    weights, tolerance
        As in ``run_flows``.

    Raises
    ------
    InputError
        If a path has no links, or links that are none. If a row has a path that is none.
    """
    begins, hops = np.asarray(offsets, np.int64), np.asarray(links, np.int32)
    if len(hops) and not (hops.min() >= 0 and hops.max() < network.num_links):
        raise InputError("path", "a link that is none", f"0 to {network.num_links - 1}")
    rows = np.asarray(path)
    if len(rows) and not (rows.min() >= -1 and rows.max() < len(begins) - 1):
        raise InputError("path", "a path that is none", f"0 to {len(begins) - 2}, or -1")
    owner = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    ways = made_ways(network, owner, hops, np.ones(len(hops)), len(begins) - 1)
    engine = FlowEngine(network, in_order=False, tolerance=tolerance)
    return _run(engine, messages, ways, rows, 1.0, 1.0, weights)


def _each(name: str, given: ArrayLike, count: int) -> Floats:
    """Return one value a row, where one or all may be given."""
    values = np.asarray(given, np.float64)
    if values.ndim and values.shape != (count,):
        raise InputError(name, f"{values.size} for {count} rows", "one, or one per row")
    return np.broadcast_to(values, count)


def _weights(ways: Ways, path: Ints) -> Ints | None:
    """Return the weights of rows that are shared by latency, or 1 if all latencies are 0.

    None if no whole numbers are exact.
    """
    found, uses = np.ones(len(path), np.int64), path >= 0
    latency = ways.latency[path[uses]]
    if latency.any():
        if not latency.all():
            raise InputError("sharing", "by-latency with paths of latency 0", "latencies above 0")
        exact = latency_weights(latency)
        if exact is None:
            return None
        found[uses] = exact
    return found


def _run(
    engine: FlowEngine,
    messages: Messages,
    ways: Ways,
    path: NDArray[Any],
    cycle: float,
    flit: float,
    weights: ArrayLike,
    most_seconds: float = MOST_SECONDS,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[int], None] = lambda _: None,
) -> FlowRun:
    weight = _each("weights", weights, len(messages))
    fine = (weight >= 1) & (weight <= MOST_WEIGHT) & (weight == np.rint(weight))
    if not fine.all():
        raise InputError("weights", f"{weight[~fine][0]:g}", f"whole numbers, 1 to {MOST_WEIGHT}")
    engine.append(messages, ways, path, cycle=cycle, flit=flit, weight=weight)
    batches, before = FIRST_BATCHES, _seen(engine)
    while not engine.advance(batches=batches):
        tell(engine.completed)
        if stopped():
            break
        before = _check_work(engine, before, most_seconds)
        batches = min(2 * batches, BATCHES)
    rows = engine.rows
    uses = rows["path"] >= 0
    alone = np.zeros(len(rows))
    rate = ways.capacity(engine.network.capacity)
    alone[uses] = rows["latency"][uses] + rows["size"][uses] / rate[rows["path"][uses]]
    return FlowRun(
        **{name: rows[name].copy() for name in ("ready", "sent", "entered", "arrived", "complete")},
        last=rows["last"].copy(),
        alone=alone,
        link_sizes=engine.link_sizes(),
        ways=ways,
        way=rows["path"].astype(np.int64),
        held=engine.held() if engine.noting else None,
        batches=int(engine.state.clock["batches"][0]),
        work=int(engine.state.clock["work"][0]),
        done=engine.completed == len(rows),
    )


class TooMuchWorkError(InputError):
    """A run that would take too long."""


class _Seen(NamedTuple):
    """Rows that are complete, and seconds of work so far."""

    completed: int
    seconds: float


def _seen(engine: FlowEngine) -> _Seen:
    clock = engine.state.clock
    seconds = CLASS_SECONDS * clock["work"][0] + BATCH_SECONDS * clock["batches"][0]
    return _Seen(engine.completed, float(seconds))


def _check_work(engine: FlowEngine, before: _Seen, most_seconds: float) -> _Seen:
    """Refuse what would take too long, told from the work since a look before, or return this look.

    A flow that ends costs the more, the more are active: half as much on average if all are.
    """
    now = _seen(engine)
    done, left = now.completed - before.completed, engine.num_rows - now.completed
    if done < TELLING:
        return before
    each = (now.seconds - before.seconds) / done
    active = min(engine.active / max(left, 1), 1.0)
    more = now.seconds + each * left * (1 - active / 2)
    if more > most_seconds:
        tolerance = float(engine.state.clock["tolerance"][0])
        given = f"{tolerance:g}" if tolerance > ROUNDING else "0"
        wanted = "1e-3 or more: flows that share their hosts' channels then end within "
        wanted += f"{100 * TOLERATED * 1e-3:g} % of exact"
        raise TooMuchWorkError("tolerance", f"{given}, with which it takes {_long(more)}", wanted)
    return now


def _long(seconds: float) -> str:
    """Return a time of work in words."""
    if seconds < 7200:
        return f"about {seconds / 60:.0f} minutes"
    return f"about {seconds / 3600:,.0f} hours"
