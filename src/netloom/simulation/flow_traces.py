"""A trace on the flow engine: when it finishes, what messages waited for, and what it is bound by.

Times and sizes are those of the network: seconds and bytes, or cycles and flits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.simulation.flow import FlowNetwork, run_flows, run_paths
from netloom.simulation.traces import TimedRun, critical_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from netloom.routing import Routing
    from netloom.simulation.flow import FlowRun
    from netloom.workload.programs.messages import Messages
    from netloom.workload.programs.traces import Replay

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
        it was sent; None if the trace did not finish.
    """

    flows: FlowRun
    links: FlowNetwork
    interrupted: bool
    alone_finish: float | None

    @property
    def link_times(self) -> NDArray[np.float64]:
        """What has crossed each link over its bandwidth: the time that it is busy at least."""
        return self.flows.link_sizes / self.links.capacity

    @property
    def bound(self) -> float | None:
        """The earliest possible finish: of the busiest link, and of the longest chain of rows."""
        if self.ideal_finish is None:
            return None
        return float(max(self.link_times.max(initial=0.0), self.ideal_finish))

    def slowdown(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the latency of messages over their latency alone; -1 if one has not arrived."""
        times = self.message_times(chosen)
        alone = np.where(times.unhindered > 0, times.unhindered, 1)
        crossed = self.rows["source"][chosen] != self.rows["target"][chosen]
        found = np.where(crossed, np.maximum(times.latency / alone, 1), 1.0)
        return np.where(times.latency >= 0, found, -1)


def run_flow_trace(
    links: FlowNetwork,
    routing: Routing,
    program: Replay,
    *,
    injection: Literal["in-order", "shared"] = "in-order",
    sharing: Literal["max-min", "by-latency"] = "max-min",
    tolerance: float = 0.0,
    tell: Callable[[int], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> FlowTraceRun:
    """Run a trace as flows; return what was found.

    The times and lengths of the program are those of ``links``. See ``flow.run_flows`` for the
    other parameters.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.traces import listed, ordered_trace
    >>> network = topology("leaf-spine:2x1x2")
    >>> zero = np.zeros(2)
    >>> columns = dict(start=zero, run=zero, hold=zero, receive=zero, source=np.array([0, 1]),
    ...                flits=np.full(2, 1e6))
    >>> trace = ordered_trace("two", 4, ["a", "b"], columns, listed([[2], [2]]), listed([[], []]),
    ...                       str, unit="seconds")
    >>> program = trace.placed(network, range(4), flit_time=1e-9)
    >>> links = flow_network(network, bandwidth=1e9, latency=0)
    >>> run_flow_trace(links, DModK(), program).critical_path
    <finish 0.002, ideally 0.001: 1 rows, message 0.001, contention 0.001>
    """
    table = program.messages
    found = run_flows(
        links, routing, table, injection=injection, sharing=sharing, tolerance=tolerance,
        stopped=stopped, tell=tell,
    )  # fmt: skip
    rows = np.zeros(len(table), ROW)
    for name in ROW.names or ():
        rows[name] = getattr(table if name in ("source", "target", "flits") else found, name)
    sends = (table.flits > 0) & (table.source != table.target)
    alone = np.where(sends & (found.arrived >= 0), found.alone, -1.0)
    path = alone_finish = None
    if found.done:
        slack = SLACK * tolerance
        path = critical_path(table, rows, lambda some: alone[some], slack=slack)
        alone_finish = path.ideal_finish
        if any(times.any() for times in (table.run, table.hold, table.receive)):
            alone_finish = _alone_finish(links, table, found.alone, sends)
    return FlowTraceRun(program, rows, alone, path, found, links, not found.done, alone_finish)


def _alone_finish(
    links: FlowNetwork, table: Messages, alone: NDArray[np.float64], sends: NDArray[np.bool_]
) -> float:
    """Return when a program finishes if each message has a link of its own, as fast as its way."""
    many = int(sends.sum()) + 1  # no network has no links
    own = FlowNetwork(links.topology, np.ones(many), np.zeros(many), end_channels=False)
    path = np.where(sends, np.cumsum(sends) - 1, -1)
    each = np.arange(many + 1)
    return run_paths(own, each, each[:-1], replace(table, flits=alone), path).finish
