"""Flows that are all sent at once: when each ends, and which channels hold it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints
from netloom.base.figures import records
from netloom.contention.busiest import FEW_TIED as FEW, tie_named, tied
from netloom.routing import Routing
from netloom.simulation.figures import (
    MOST_LISTED,
    Finishes,
    FlowsOnBusy,
    InTurn,
    SentFlow,
    Spread,
    Trust,
)
from netloom.simulation.flow.engine import FAIR, FlowLaw, FlowRun, Injection, Sharing
from netloom.simulation.flow.network import FlowNetwork
from netloom.simulation.flow.run import cheap_finish, run_flows, trust
from netloom.workload.programs.messages import messages

NOISE = 1e-12
"""Times that differ by such a part are the same but for rounding."""

QUANTILES = 200
"""Rows of the table of slow-downs."""


@dataclass(frozen=True, eq=False)
class AtOnce(FlowRun):
    """Flows that were all sent at time 0, in the order in which they were given.

    Attributes
    ----------
    chain
        int64[], the flow that ended last, and before it those that it waited for at its injection
        channel, the first first.
    """

    chain: Ints

    @property
    def size(self) -> Floats:
        """float64[num_flows], of each flow."""
        return np.asarray(self.rows["flits"])

    @property
    def sending(self) -> Floats:
        """float64[num_flows], what the bytes of each take alone."""
        return self.size / self.ways.capacity(self.network.capacity)[self.way]

    @property
    def least(self) -> Floats:
        """float64[num_flows], when each would have ended on an idle network."""
        return np.asarray(self.alone + (self.rows["run"] + self.rows["receive"]))

    @property
    def held_longer(self) -> Floats:
        """float64[num_flows], how much longer the bytes of each took as others were there; or -1.

        That is unknown of flows that have not arrived.
        """
        more = np.maximum(self.arrived - self.entered - self.alone, 0)
        return np.asarray(np.where(self.arrived >= 0, more, -1.0))

    @property
    def slowdown(self) -> Floats:
        """float64[num_flows], time in the network over that alone. All flows have ended.

        What a flow waits for others of its own host, before it enters, does not count.
        """
        inside = self.complete - self.entered + self.rows["run"]
        found = np.divide(inside, self.least, out=np.ones(len(inside)), where=self.least > 0)
        return np.asarray(np.maximum(found, 1.0))

    @property
    def utilisation(self) -> Floats:
        """float64[num_links], what each link carried, as a part of what it could until the end."""
        end = self.finish
        return self.link_sizes / (self.network.capacity * end) if end else 0 * self.link_sizes

    @cached_property
    def _held(self) -> tuple[Ints, Floats]:
        """The way of each hop of ways, and for how long its link held flows back."""
        assert self.held is not None
        return np.repeat(np.arange(len(self.ways)), np.diff(self.ways.offsets)), self.held

    @property
    def holder(self) -> Ints:
        """int64[num_flows], the link that held each back for longest; -1 if none did."""
        way, held = self._held
        longest = np.lexsort([-held, way])[self.ways.offsets[:-1]]  # the first of equal ones
        found = np.where(held[longest] > 0, self.ways.links[longest], -1)
        return found[self.way].astype(np.int64)

    def of_links(self) -> tuple[Ints, Ints, Floats]:
        """Return int64[num_links], flows over each, those that it held back, and for how long.

        A link holds a flow back while it is full, and the flow has the largest rate on it that it
        shares, though it would have a larger one alone.
        """
        way, held = self._held
        flows = np.bincount(self.way, minlength=len(self.ways))[way]
        links, count = self.ways.links, self.network.num_links
        return (
            np.bincount(links, flows, count).astype(np.int64),
            np.bincount(links, np.where(held > 0, flows, 0), count).astype(np.int64),
            np.bincount(links, held, count).astype(np.float64),
        )

    @property
    def num_ended(self) -> int:
        """How many flows had ended when the run was over."""
        return int(np.count_nonzero(self.complete >= 0))

    @property
    def slower(self) -> Spread | None:
        """Times of flows in the network over those alone. None if not all have ended."""
        return Spread.of(self.slowdown) if self.done else None

    def trust(self, ends: Finishes) -> Trust:
        """Return how far the finish in order can be trusted."""
        short = float(np.mean(self.alone - self.sending > self.sending))
        return trust(
            ends.in_order,
            ends.shared,
            self.bound,
            lossless_finish=ends.lossless,
            short=short,
            done=self.done,
        )

    def sent_flows(self, tasks: tuple[Ints, Ints], chosen: Ints) -> dict[str, Any]:
        """Return the columns of ``SentFlow`` for some flows, between such tasks.

        If something had not happened when the run was interrupted, it is NaN.
        """
        ended = self.complete[chosen] >= 0
        return {
            "source_task": tasks[0][chosen],
            "target_task": tasks[1][chosen],
            "source_node": self.rows["source"][chosen],
            "target_node": self.rows["target"][chosen],
            "bytes": self.size[chosen],
            "start_seconds": np.zeros(len(chosen)),
            "entered_seconds": np.where(self.entered[chosen] >= 0, self.entered[chosen], np.nan),
            "finish_seconds": np.where(ended, self.complete[chosen], np.nan),
            "alone_seconds": self.least[chosen],
            "slowdown": np.where(ended, self.slowdown[chosen], np.nan),
            "hops": self.hops[chosen],
            "held_by": self._names(self.holder[chosen]),
        }

    def in_turn(self, tasks: tuple[Ints, Ints]) -> InTurn | None:
        """Return the flows that followed each other at the last host. None if not all ended."""
        if not self.done or not len(self.chain):
            return None
        sending = float(self.sending[self.chain].sum())
        held = float(self.held_longer[self.chain].sum())
        held = held if held > NOISE * self.finish else 0.0
        columns = self.sent_flows(tasks, self.chain[-MOST_LISTED:])
        return InTurn(
            length=len(self.chain),
            sending=sending,
            held=held,
            other=max(self.finish - sending - held, 0.0),
            flows=records(SentFlow, columns),
        )

    def _names(self, links: Ints) -> list[str | None]:
        """Return the names of links. None for -1."""
        some, place = np.unique(links, return_inverse=True)
        known = [None if each < 0 else self.network.link_name(each) for each in some.tolist()]
        return [known[each] for each in place.tolist()]

    def on_links(self, chosen: Ints) -> dict[str, Any]:
        """Return the columns of ``FlowsOnLink`` for some links."""
        flows, held_flows, held_time = (each[chosen] for each in self.of_links())
        return {
            "name": self._names(chosen),
            "bytes": self.link_sizes[chosen],
            "flows": flows,
            "utilisation": self.utilisation[chosen],
            "held_flows": held_flows,
            "held_seconds": held_time,
        }

    @property
    def busiest(self) -> tuple[FlowsOnBusy, ...]:
        """The links that are busiest, those of hosts too, the first first."""
        first = np.lexsort([-self.of_links()[2], -self.utilisation])[:MOST_LISTED]
        inside = self.network.topology.num_network_channels
        columns = self.on_links(first)
        columns["between"] = np.where(first < inside, "routers", "hosts")
        return records(FlowsOnBusy, columns)

    @property
    def alike(self) -> tuple[int, str]:
        """How many links are used as much as the busiest, and what they are called together.

        "" of a few. See ``contention.busiest``.
        """
        topology, alike = self.network.topology, tied(self.utilisation)
        own = alike >= topology.num_channels  # of nodes: no network has those
        if not own.any():
            return len(alike), tie_named(topology, alike)
        kind = "of the nodes' own channels" if own.all() else "channels, nodes' own among them,"
        return len(alike), f"{len(alike):,} {kind}" if len(alike) > FEW else ""

    def shares_slower(self) -> dict[str, Any]:
        """Return the columns of ``ShareSlower``."""
        values = np.sort(self.slowdown) if self.done else np.zeros(0)
        place = np.unique(np.linspace(0, max(len(values) - 1, 0), QUANTILES).astype(np.int64))
        place = place[: len(values)]
        return {"share": (place + 1) / max(len(values), 1), "slowdown": values[place]}


def each_way(
    send: Callable[..., AtOnce], law: FlowLaw, *, stopped: Callable[[], bool], **more: Any
) -> tuple[AtOnce, Finishes]:
    """Send flows as asked, and find when they would end if sent or shared in other ways.

    Parameters
    ----------
    send
        ``run_at_once`` with its flows.
    law, stopped, more
        As for ``run_flows``, of the run that is returned.
    """
    found = send(law=law, stopped=stopped, **more)
    fair = "max-min" if law.sharing == "lossless" else law.sharing

    def end(injection: Injection, sharing: Sharing | None) -> float | None:
        if not found.done:
            return None
        if (injection, sharing) == (law.injection, law.sharing):
            return found.finish
        other = replace(law, injection=injection, sharing=sharing, tolerance=0.0)
        return cheap_finish(send, law=other, stopped=stopped)

    return found, Finishes(
        in_order=end("in-order", fair),
        shared=end("shared", fair),
        lossless=end("in-order", "lossless"),
    )


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
    law: FlowLaw = FAIR,
    **more: Any,
) -> AtOnce:
    """Send flows between different hosts all at once, and return when each ends.

    Parameters
    ----------
    network, routing, law
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
    >>> from netloom.simulation.flow import FlowLaw, flow_network
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:3x1x2"), bandwidth=1e9, latency=1e-6)
    >>> all_at_once = FlowLaw(injection="shared")
    >>> found = run_at_once(network, DModK(), [0, 1], [2, 4], [1000, 1000], law=all_at_once)
    >>> found.complete, found.alone  # both over one uplink: four channels of 1 µs, 1 µs of bytes
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
    run = run_flows(network, routing, table, law, noting=True, **more)
    chain = np.zeros(0, np.int64)
    if len(sent):
        last = int(np.argmax(run.complete))
        chain, queue = np.array([last]), run.ways.queue[run.way]
        if law.in_order and queue[last] >= 0:  # and those before it that it waited for to enter
            same = np.flatnonzero(queue == queue[last])
            same = same[np.lexsort([same, run.entered[same]])]
            same = same[: int(np.flatnonzero(same == last)[0]) + 1]
            waited = (run.entered - run.sent)[same]
            chain = same[int(np.flatnonzero(waited <= NOISE * run.entered[same])[-1]) :]
    back = np.empty(len(sent), np.int64)
    back[sent] = np.arange(len(sent))
    return AtOnce(**vars(run) | {"rows": run.rows[back]}, chain=sent[chain])
