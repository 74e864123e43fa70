"""A trace on the flow engine: when it finishes, what messages waited for, and what it is bound by.

Times and sizes are those of the network: seconds and bytes, or cycles and flits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.simulation.flow import FlowNetwork, run_flows, run_paths, trust
from netloom.simulation.traces import TimedRun, critical_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.routing import Routing
    from netloom.simulation.flow import FlowRun, GivenPaths, Trust
    from netloom.workload.programs.messages import Messages
    from netloom.workload.programs.traces import Replay

Injection: TypeAlias = Literal["in-order", "shared"]

ROW = np.dtype(
    [
        *((name, "f8") for name in ("ready", "sent", "entered", "arrived", "complete", "flits")),
        ("last", "i8"),
        *((name, "i4") for name in ("source", "target")),
    ]
)
"""One record a row, as ``traces.TimedRun`` takes them."""

SLACK = 20.0
"""How many times the tolerance a message may seem too early."""

CHEAP_SECONDS = 5.0
"""Work of the run with the other kind of injection above which it is left out."""


@dataclass(frozen=True, eq=False)
class FlowTraceRun(TimedRun):
    """What a run of a trace found on the flow engine.

    Attributes
    ----------
    flows
        What the engine returned.
    links
        The network that it ran on.
    interrupted
        Whether it was stopped before it was complete.
    alone_finish
        When it would have finished had no message met another, and each entered the network when
        it was sent. None if the trace did not finish.
    injection, other_finish
        How hosts sent their messages, and when the trace would have finished had they done so in
        the other way, None if that is not known.
    by_turns_finish
        When the trace would have finished, sent in order, had channels been shared by turns
        (``lossless``). None if that is not known.
    """

    flows: FlowRun
    links: FlowNetwork
    interrupted: bool
    alone_finish: float | None
    injection: Injection
    other_finish: float | None
    by_turns_finish: float | None

    @property
    def finish_by_injection(self) -> dict[Injection, float | None]:
        """When the trace finishes with each kind of injection. None if that is not known."""
        other: Injection = "shared" if self.injection == "in-order" else "in-order"
        return {self.injection: self.finish, other: self.other_finish}

    @property
    def trust(self) -> Trust | None:
        """How far the finish can be trusted. None if it is not known how it depends on order."""
        ends, bound = self.finish_by_injection, self.bound
        if ends["in-order"] is None or ends["shared"] is None or bound is None:
            return None
        moved = np.flatnonzero(self.flows.way >= 0)
        latency = self.flows.ways.latency[self.flows.way[moved]]
        short = latency > self.flows.alone[moved] - latency
        part = float(short.mean()) if len(moved) else 0.0
        return trust(
            ends["in-order"], ends["shared"], bound,
            lossless_finish=self.by_turns_finish, short=part,
        )  # fmt: skip

    @property
    def link_times(self) -> Floats:
        """What has crossed each link over its bandwidth: the time that it is busy at least."""
        return self.flows.link_sizes / self.links.capacity

    @property
    def bound(self) -> float | None:
        """The earliest possible finish: of the busiest link, and of the longest chain of rows."""
        if self.ideal_finish is None:
            return None
        return float(max(self.link_times.max(initial=0.0), self.ideal_finish))

    def slowdown(self, chosen: Ints) -> Floats:
        """Return the time of messages in the network over that alone; -1 if one has not arrived.

        What a message waits for others of its own node, before it enters, does not count.
        """
        times = self.message_times(chosen)
        alone = np.where(times.unhindered > 0, times.unhindered, 1)
        crossed = self.rows["source"][chosen] != self.rows["target"][chosen]
        inside = times.latency - times.source_wait
        found = np.where(crossed, np.maximum(inside / alone, 1), 1.0)
        return np.where(times.latency >= 0, found, -1)


def run_flow_trace(
    links: FlowNetwork,
    routing: Routing | GivenPaths,
    program: Replay,
    *,
    injection: Injection = "in-order",
    sharing: Literal["max-min", "by-latency", "lossless"] = "max-min",
    tolerance: float = 0.0,
    tell: Callable[[int], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> FlowTraceRun:
    """Run a trace as flows. Return what was found.

    The times and lengths of the program are those of ``links``. See ``flow.run_flows`` for the
    other parameters.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.many_lists import lists
    >>> from netloom.workload.programs.traces import ordered_trace
    >>> network = topology("leaf-spine:2x1x2")
    >>> zero = np.zeros(2)
    >>> columns = dict(start=zero, run=zero, hold=zero, receive=zero, source=np.array([0, 1]),
    ...                flits=np.full(2, 1e6))
    >>> trace = ordered_trace("two", 4, ["a", "b"], columns, lists([[2], [2]]), lists([[], []]),
    ...                       str, unit="seconds")
    >>> program = trace.placed(network, range(4), flit_time=1e-9)
    >>> links = flow_network(network, bandwidth=1e9, latency=0)
    >>> run_flow_trace(links, DModK(), program).critical_path
    <finish 0.002, ideally 0.001: 1 rows, message 0.001, contention 0.001>
    """
    table = program.messages
    run = partial(run_flows, links, routing, table, sharing=sharing, stopped=stopped)
    found = run(injection=injection, tolerance=tolerance, tell=tell)
    rows = np.zeros(len(table), ROW)
    for name in ROW.names or ():
        rows[name] = getattr(table if name in ("source", "target", "flits") else found, name)
    sends = (table.flits > 0) & (table.source != table.target)
    alone = np.where(sends & (found.arrived >= 0), found.alone, -1.0)
    path = alone_finish = other = by_turns = None
    if found.done:
        slack = SLACK * tolerance
        path = critical_path(table, rows, lambda some: alone[some], slack=slack)
        alone_finish = path.ideal_finish
        if any(times.any() for times in (table.run, table.hold, table.receive)):
            alone_finish = _alone_finish(links, table, found.alone, sends)
        other = found.finish
        if injection == "shared" or (found.entered > found.sent).any():
            kind: Injection = "in-order" if injection == "shared" else "shared"
            other = _cheap_finish(run, injection=kind, tolerance=tolerance * (kind == "shared"))
        if sharing == "max-min":
            by_turns = _cheap_finish(run, sharing="lossless")
    return FlowTraceRun(
        program, rows, alone, path, found, links, not found.done, alone_finish, injection, other,
        by_turns,
    )  # fmt: skip


def _cheap_finish(run: Callable[..., FlowRun], **options: Any) -> float | None:
    """Return when a program finishes under other options, if that is cheap to find."""
    try:
        found = run(**options, most_seconds=CHEAP_SECONDS)
    except InputError:  # it takes too long, or its paths cannot be shared so
        return None
    return found.finish if found.done else None


def _alone_finish(links: FlowNetwork, table: Messages, alone: Floats, sends: Bools) -> float:
    """Return when a program finishes if each message has a link of its own, as fast as its way."""
    many = int(sends.sum()) + 1  # no network has no links
    own = FlowNetwork(links.topology, np.ones(many), np.zeros(many), end_channels=False)
    path = np.where(sends, np.cumsum(sends) - 1, -1)
    each = np.arange(many + 1)
    return run_paths(own, each, each[:-1], replace(table, flits=alone), path).finish
