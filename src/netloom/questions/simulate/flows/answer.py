"""The answer of ``simulate_flows``: when flows end, and which channels hold them back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.words import counted
from netloom.contention.ties import FEW, tie_named, tied
from netloom.questions.columns import INSIDE, Column, Columns, table
from netloom.questions.register import Answer
from netloom.questions.simulate.engines import FLOWS
from netloom.simulation.flow import trust
from netloom.simulation.flow.run import TOLERATED, expected_error

if TYPE_CHECKING:
    import polars as pl

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.questions.shown import Verdict
    from netloom.questions.simulate.engines import PreparedFlows
    from netloom.simulation.flow import Trust
    from netloom.simulation.flow.run import AtOnce
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

SECONDS, BYTES = "s", "bytes"

MOST_LISTED = 10
"""Busiest channels that go into JSON, and flows of the critical path: the last ones."""

QUANTILES = 200
"""Rows of the table of slow-downs."""

CHANNELS = Columns(
    Column("channel", kind=int),
    Column("source_node", kind=int),
    Column("target_node", kind=int),
    Column("name", kind=str),
    Column("bytes", unit=BYTES),
    Column("flows", kind=int),
    Column("utilisation"),
    Column("held_flows", "flows held back", kind=int),
    Column("held_seconds", "for", SECONDS),
)
BUSIEST = Columns(
    *CHANNELS.pick("name", "bytes", "flows", "utilisation", "held_flows", "held_seconds"),
    Column("between", kind=str),
)
"""The last: between ``routers``, or a host's own channel (``hosts``)."""
SLOWDOWNS = Columns(Column("share", "share of the flows"), Column("slowdown", "times as long"))


def _seconds(name: str, title: str, *, key: bool = False) -> Column:
    return Column(name, title, SECONDS, key=key)


def _slowdown(part: str, title: str) -> Column:
    def value(found: FlowsAnswer) -> float | None:
        return found.slowdown[part] if found.slowdown else None

    return Column(f"slowdown_{part}", title, "", value, key=part != "p99", json=f"slowdown.{part}")


def _end(name: str) -> Column:
    return Column(f"{name}_finish_seconds", unit=SECONDS, value=lambda found: found.ends[name])


NOISE = 1e-12
"""Of a run's time, less than this is what additions round."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FlowsAnswer(Answer):
    """What ``simulate_flows`` found.

    Attributes
    ----------
    found
        The flows, and when each ended.
    ends
        When the last flow ends ``in_order`` and ``shared``, and in order in a ``lossless`` network.
        None where that is not known.
    graph
        The edges that are flows.
    edges_within_nodes, empty_edges
        Edges that are not: between tasks of one node, and of no bytes.
    inside_nodes
        The share of the bytes between tasks of one node.
    """

    network: PreparedFlows
    found: AtOnce
    ends: dict[str, float | None]
    graph: ProcessGraph
    mapping: str
    edges_within_nodes: int
    empty_edges: int
    inside_nodes: float
    provenance: Provenance

    columns: ClassVar = Columns(
        _seconds("finish_seconds", "finish", key=True),
        _seconds("alone_seconds", "longest flow alone", key=True),
        _seconds("bound_seconds", "fullest channel at full speed", key=True),
        Column("finish_over_bound", "finish over that", key=True),
        _slowdown("mean", "slow-down, mean"),
        _slowdown("p99", "slow-down, 99 % up to"),
        _slowdown("max", "slow-down, largest"),
        Column("num_flows", "flows", kind=int, key=True, json="flows"),
        Column("bytes", unit=BYTES, value=lambda it: it.found.size.sum()),
        Column("interrupted", kind=bool),
    )
    about: ClassVar = (
        FLOWS
        + INSIDE
        + Columns(
            Column("program", kind=str, value="graph.name"),
            Column("mapping", kind=str),
            Column("edges_within_nodes", kind=int),
            Column("empty_edges", kind=int),
            Column("ended_flows", kind=int),
            Column("tolerance_error"),
            *map(_end, ("in_order", "shared", "lossless")),
            Column("expected_error", kind=dict),
            Column("critical_path", kind=dict),
            Column("busiest", kind=list, value=lambda found: found.busiest().to_dicts()),
            Column("busiest_together", kind=str),
            Column("note", kind=str),
        )
    )

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.network.topology

    @property
    def num_flows(self) -> int:
        """How many flows there are."""
        return len(self.found.size)

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before all flows had ended."""
        return not self.found.done

    @property
    def finish_seconds(self) -> float | None:
        """When the last flow ended. None if the run was interrupted."""
        return self.found.finish if self.found.done else None

    @property
    def alone_seconds(self) -> float:
        """The longest time that a flow takes if it is alone."""
        return float(self.found.least.max(initial=0.0))

    @property
    def bound_seconds(self) -> float | None:
        """What the fullest channel has to carry, over its bandwidth: no sharing is quicker."""
        return self.found.bound if self.found.done else None

    @property
    def finish_over_bound(self) -> float | None:
        """The finish over that bound."""
        return self.found.finish / self.found.bound if self.found.done else None

    @cached_property
    def slowdown(self) -> dict[str, float] | None:
        """Mean, 99th percentile and largest of flows' times in the network over those alone."""
        if not self.found.done:
            return None
        values = self.found.slowdown
        high = float(np.percentile(values, 99, method="inverted_cdf"))
        return {"mean": float(values.mean()), "p99": high, "max": float(values.max())}

    @property
    def trust(self) -> Trust | None:
        """How far the finish in order can be trusted. None if it is not known what it hangs on."""
        in_order, shared = self.ends["in_order"], self.ends["shared"]
        if in_order is None or shared is None:
            return None
        clock = self.network.clock
        overheads = 2 * clock.overhead_seconds if clock else 0.0
        latency = self.found.least - overheads - self.found.sending
        short = float(np.mean(latency > self.found.sending))
        lossless = self.ends["lossless"]
        return trust(in_order, shared, self.found.bound, lossless_finish=lossless, short=short)

    @property
    def expected_error(self) -> dict[str, Any]:
        """How far the finish in order can be trusted, as plain data."""
        return expected_error(self.trust, done=self.found.done)

    @property
    def tolerance_error(self) -> float | None:
        """By which part the tolerance makes a flow's end wrong at most, as measured."""
        return TOLERATED * self.network.tolerance if self.network.tolerance else 0.0

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.interrupted:
            return f"interrupted: {self.ended_flows} of {counted(self.num_flows, 'flow')} had ended"
        counted_inside = self.provenance.configuration["count_inside_nodes"]
        where = "on one host" if counted_inside else "within a node"
        left = {where: self.edges_within_nodes, "of 0 bytes": self.empty_edges}
        words = [f"{counted(many, 'edge')} {which}" for which, many in left.items() if many]
        return f"left out: {', '.join(words)}" if words else None

    @property
    def ended_flows(self) -> int:
        """How many flows had ended when the run was over."""
        return int(np.count_nonzero(self.found.complete >= 0))

    @property
    def verdict(self) -> Verdict:
        """How long it takes, how much longer than it must, and which channel holds it back."""
        from netloom.questions.simulate.flows.verdict import verdict

        return verdict(self.to_dict())

    @cached_property
    def critical_path(self) -> dict[str, Any] | None:
        """The flows that followed each other at the last host's channel, and what they took.

        ``sending_seconds`` is what their bytes take alone, ``held_seconds`` what sharing adds, and
        ``other_seconds`` latencies, overheads and waits for processors. None if not all ended.
        """
        found, chain = self.found, self.found.chain
        if not found.done or not len(chain):
            return None
        sending = float(found.sending[chain].sum())
        held = float(found.held_longer[chain].sum())
        held = held if held > NOISE * found.finish else 0.0
        flows = self._table(chain[-MOST_LISTED:]).to_dicts()
        return {
            "length": len(chain),
            "finish_seconds": found.finish,
            "sending_seconds": sending,
            "held_seconds": held,
            "other_seconds": max(found.finish - sending - held, 0.0),
            "flows": flows,
        }

    def flows(self) -> pl.DataFrame:
        """Return one row per flow: its tasks, nodes and bytes, its times, and what held it back.

        Times are seconds. All flows start at 0, and at ``entered`` their bytes began to leave. The
        time from then on, divided by ``alone``, is ``slowdown``. The channel that held the flow
        back for longest is ``held_by``, null if none did. If something had not happened when a run
        was interrupted, it is null.
        """
        return self._table(np.arange(self.num_flows))

    def _table(self, chosen: Ints) -> pl.DataFrame:
        import polars as pl

        found, graph = self.found, self.graph
        ended = found.complete[chosen] >= 0
        return pl.DataFrame(
            {
                "source_task": graph.source[chosen],
                "target_task": graph.target[chosen],
                "source_node": found.rows["source"][chosen],
                "target_node": found.rows["target"][chosen],
                "bytes": found.size[chosen],
                "start_seconds": np.zeros(len(chosen)),
                "entered_seconds": np.where(
                    found.entered[chosen] >= 0, found.entered[chosen], np.nan
                ),
                "finish_seconds": np.where(ended, found.complete[chosen], np.nan),
                "alone_seconds": found.least[chosen],
                "slowdown": np.where(ended, found.slowdown[chosen], np.nan),
                "hops": found.hops[chosen],
                "held_by": self._names(found.holder[chosen]),
            },
            nan_to_null=True,
        )

    def _names(self, links: Ints) -> pl.Series:
        """Return the names of links. Null for -1."""
        import polars as pl

        some, place = np.unique(links, return_inverse=True)
        named = self.found.network.link_name
        return pl.Series(
            [None if link < 0 else named(link) for link in some.tolist()], dtype=pl.String
        ).gather(place)

    def _links(self, chosen: Ints) -> dict[str, Any]:
        flows, held_flows, held_time = (each[chosen] for each in self.found.of_links())
        return {
            "name": self._names(chosen),
            "bytes": self.found.link_sizes[chosen],
            "flows": flows,
            "utilisation": self.found.utilisation[chosen],
            "held_flows": held_flows,
            "held_seconds": held_time,
        }

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per channel of the network, those of hosts that hang on routers last."""
        import polars as pl

        topology = self.topology
        each = np.arange(topology.num_channels)
        ends = {
            "channel": each,
            "source_node": topology.source_end,
            "target_node": topology.target_end,
        }
        return pl.DataFrame(ends | self._links(each))

    @table(BUSIEST)
    def busiest(self) -> pl.DataFrame:
        """Return the channels that are busiest, those of hosts too, the first first."""
        import polars as pl

        found = self.found
        first = np.lexsort([-found.of_links()[2], -found.utilisation])[:MOST_LISTED]
        inside = self.topology.num_network_channels
        between = ["routers" if link < inside else "hosts" for link in first.tolist()]
        return pl.DataFrame(self._links(first) | {"between": between})

    @property
    def busiest_together(self) -> str:
        """What the busiest channels are called if many are used alike, else "". See ``ties``."""
        alike = tied(self.found.utilisation)
        own = alike >= self.topology.num_channels  # of nodes: no network has those
        if not own.any():
            return tie_named(self.topology, alike)
        kind = "of the nodes' own channels" if own.all() else "channels, nodes' own among them,"
        return f"{len(alike):,} {kind}" if len(alike) > FEW else ""

    @table(SLOWDOWNS)
    def slowdowns(self) -> pl.DataFrame:
        """Return how many times as long as alone which share of the flows took at most."""
        import polars as pl

        values = np.sort(self.found.slowdown) if self.found.done else np.zeros(0)
        place = np.unique(np.linspace(0, max(len(values) - 1, 0), QUANTILES).astype(np.int64))
        place = place[: len(values)]
        return pl.DataFrame({"share": (place + 1) / max(len(values), 1), "slowdown": values[place]})

    def __repr__(self) -> str:
        network, verdict = self.network, self.verdict
        head = f"{self.graph.name} on {self.topology.name} ({network.routing_name})"
        lines = [f"<Flows of {head}, mapping {self.mapping}; {self.origin}>", verdict.marked]
        lines += [verdict.note] if verdict.note else []
        return "\n".join(lines + ([self.note] if self.note else []))
