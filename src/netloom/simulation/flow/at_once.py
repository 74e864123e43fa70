"""Flows that are all sent at once: when each ends, and which links held it back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.simulation.flow.run import run_flows
from netloom.workload.programs.messages import messages

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.routing import Routing
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.simulation.flow.run import FlowRun

SAME = 1e-12
"""Times that differ by such a part are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class AtOnce:
    """Flows that were all sent at time 0, in the order in which they were given.

    Times and sizes are in the units of the network. A time that is not known is -1.

    Attributes
    ----------
    network
        The links.
    source, target, size
        int32[num_flows] twice, the hosts of each flow, and float64[num_flows].
    entered, finish, alone
        float64[num_flows]: when its bytes began to leave its host, when the last was received, and
        when the last would have been received on an idle network.
    overhead
        Of the processors at both ends of a flow, each.
    sending, held
        float64[num_flows], what its bytes take alone, and how much longer they took as others were
        there.
    hops
        float64[num_flows], channels between routers that it crosses. A mean over its paths.
    holder
        int64[num_flows], the link that held it back for longest; -1 if none did.
    link_sizes, link_flows
        float64[num_links], what has crossed each link, and int64[num_links], flows over it.
    held_flows, held_time
        int64[num_links], the flows that each link held back, and float64[num_links], for how long
        in all. A link holds a flow back while it is full, and the flow has the largest rate on it
        that it shares, though it would have a larger one alone.
    chain
        int64[], the flow that ended last, and before it those that it waited for at its injection
        channel, the first first.
    run
        The run that found it, whose rows are in another order.
    """

    network: FlowNetwork
    source: Ints
    target: Ints
    size: Floats
    entered: Floats
    finish: Floats
    alone: Floats
    overhead: float
    sending: Floats
    held: Floats
    hops: Floats
    holder: Ints
    link_sizes: Floats
    link_flows: Ints
    held_flows: Ints
    held_time: Floats
    chain: Ints
    run: FlowRun

    @property
    def done(self) -> bool:
        """Whether all flows have ended."""
        return self.run.done

    @property
    def end(self) -> float:
        """When the last flow ended."""
        return float(self.finish.max(initial=0.0))

    @property
    def bound(self) -> float:
        """Time in which no sharing can be quicker: most size over capacity of any link.

        Only where all flows have ended.
        """
        return float((self.link_sizes / self.network.capacity).max(initial=0.0))

    @property
    def slowdown(self) -> Floats:
        """float64[num_flows], time in the network over that alone. All flows have ended.

        What a flow waits for others of its own host, before it enters, does not count.
        """
        inside = self.finish - self.entered + self.overhead
        found = np.divide(inside, self.alone, out=np.ones(len(inside)), where=self.alone > 0)
        return np.maximum(found, 1.0)

    @property
    def utilisation(self) -> Floats:
        """float64[num_links], what each link carried, as a part of what it could until the end."""
        end = self.end
        return self.link_sizes / (self.network.capacity * end) if end else 0 * self.link_sizes

    def __repr__(self) -> str:
        return f"<{len(self.size)} flows at once, the last ends at {self.end:.6g}>"


def send_order(source: ArrayLike, target: ArrayLike, num_tasks: int) -> Ints:
    """Return the order in which tasks send: each to the next task first, then to those after it.

    So do the all-to-all collectives of MPI libraries. Would all send to task 0 first, all would
    wait for its host.

    Examples
    --------
    >>> order = send_order([0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1], 3)
    >>> order  # 0 to 1, 1 to 2 and 2 to 0; then 0 to 2, 1 to 0 and 2 to 1
    array([0, 3, 4, 1, 2, 5])
    """
    sources = np.asarray(source, np.int64)
    return np.lexsort([sources, (np.asarray(target, np.int64) - sources) % num_tasks])


def run_at_once(
    network: FlowNetwork,
    routing: Routing,
    source: ArrayLike,
    target: ArrayLike,
    size: ArrayLike,
    *,
    order: Ints | None = None,
    overhead: float = 0.0,
    injection: Literal["in-order", "shared"] = "in-order",
    tolerance: float = 0.0,
    **more: Any,
) -> AtOnce:
    """Send flows between different hosts all at once, and return when each ends.

    Parameters
    ----------
    network, routing, injection, tolerance
        As for ``run_flows``.
    source, target, size
        The hosts of each flow, which are two, and its size. Above 0.
    order
        The order in which a host sends its flows. By default that in which they are given.
    overhead
        Time that the processor of each host takes to send a flow, and to receive it.
    more
        What else ``run_flows`` takes.

    Raises
    ------
    NoRouteError, InputError
        As ``run_flows`` does.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:3x1x2"), bandwidth=1e9, latency=1e-6)
    >>> found = run_at_once(network, DModK(), [0, 1], [2, 4], [1000, 1000], injection="shared")
    >>> found.finish, found.alone  # both over one uplink: four channels of 1 µs, 1 µs of bytes
    (array([6.e-06, 6.e-06]), array([5.e-06, 5.e-06]))
    >>> network.link_name(found.holder[0]), found.bound
    ('leaf0 -> spine0', 2e-06)
    """
    sources, targets = np.asarray(source, np.int32), np.asarray(target, np.int32)
    sizes = np.asarray(size, np.float64)
    sent = np.arange(len(sources)) if order is None else order
    table = messages(
        network.topology.num_hosts, source=sources[sent], target=targets[sent], flits=0
    )
    each = np.full(len(sent), overhead)
    table = replace(table, flits=sizes[sent], run=each, receive=each)
    run = run_flows(
        network, routing, table, injection=injection, tolerance=tolerance, noting=True, **more
    )
    back = np.empty(len(sent), np.int64)
    back[sent] = np.arange(len(sent))
    sending = table.flits / run.ways.capacity(network.capacity)[run.way]
    held = np.where(run.arrived >= 0, np.maximum(run.arrived - run.entered - run.alone, 0), -1.0)
    holder, held_flows, held_time, link_flows = _holders(network, run)
    return AtOnce(
        network=network,
        source=sources,
        target=targets,
        size=sizes,
        entered=run.entered[back],
        finish=run.complete[back],
        alone=(run.alone + 2 * overhead)[back],
        overhead=overhead,
        sending=sending[back],
        held=held[back],
        hops=run.ways.hops(network)[run.way][back],
        holder=holder[back],
        link_sizes=run.link_sizes,
        link_flows=link_flows,
        held_flows=held_flows,
        held_time=held_time,
        chain=sent[_chain(run, in_order=injection == "in-order")],
        run=run,
    )


def _holders(network: FlowNetwork, run: FlowRun) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the link that held each row, and of each link flows held, for how long, and flows."""
    ways, held = run.ways, run.held
    assert held is not None
    count, lengths = len(ways), np.diff(ways.offsets)
    owner = np.repeat(np.arange(count), lengths)
    flows = np.bincount(run.way, minlength=count)[owner]
    longest = np.lexsort([-held, owner])[ways.offsets[:-1]]  # the first of equal ones
    holder = np.where(held[longest] > 0, ways.links[longest], -1)
    links = network.num_links
    return (
        holder[run.way].astype(np.int64),
        np.bincount(ways.links, np.where(held > 0, flows, 0), links).astype(np.int64),
        np.bincount(ways.links, held, links).astype(np.float64),
        np.bincount(ways.links, flows, links).astype(np.int64),
    )


def _chain(run: FlowRun, *, in_order: bool) -> Ints:
    """Return the row that ended last, and those before it that it waited for to enter."""
    if not len(run.complete):
        return np.zeros(0, np.int64)
    last = int(np.argmax(run.complete))
    queue = run.ways.queue[run.way]
    if not in_order or queue[last] < 0:
        return np.array([last])
    same = np.flatnonzero(queue == queue[last])
    same = same[np.lexsort([same, run.entered[same]])]
    same = same[: int(np.flatnonzero(same == last)[0]) + 1]
    waited = (run.entered - run.sent)[same]
    begins = int(np.flatnonzero(waited <= SAME * run.entered[same])[-1])
    return same[begins:]
