"""The answer of ``analyze``: figures, tables and a verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention import capacity_fraction, slowdown
from netloom.errors import InputError
from netloom.models import wormhole
from netloom.questions.numbers import plainly
from netloom.routing import half_way_round
from netloom.topology import Cube

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.contention import Contention, Expectation, MeshEstimate, Saturation, Verdict
    from netloom.machines import Machine
    from netloom.provenance import Provenance
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph


SPREADS = (
    "path_length",
    "logical_path_length",
    "channel_load",
    "weighted_channel_load",
    "path_contention",
)
"""Figures of ``Contention`` that are reported by mean and maximum."""

UNKNOWN = ("offered", "slowdown_mean", "slowdown_max")
"""Figures that are known only where offered traffic is."""


@dataclass(frozen=True, eq=False)
class MappedProgram:
    """One mapping's paths, measured.

    ``source`` and ``target`` are nodes, ``weights`` floats, one for each edge of the process graph.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    weights: NDArray[np.float64]
    contention: Contention
    limit: Saturation

    @property
    def moving(self) -> NDArray[np.bool_]:
        """Which edges of the process graph use the network (bool[num_edges])."""
        return self.contention.path_length > 0


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a mapped program makes of a network.

    Attributes
    ----------
    graph, topology, machine, routing, weight, node_of
        What was asked about; ``machine`` is None where only a topology was named, ``weight`` is
        what an edge's share of the traffic is taken from.
    mapped
        Contention and saturation of the mapping, path by path and channel by channel.
    offered
        Traffic of the average sending node, or None where it was not told.
    verdict
        Good enough, some or most nodes affected.
    random
        One row for each random mapping compared with.
    random_limited
        Whether more random mappings would have taken too long: nobody said how many.
    random_path_contention
        int64[ν_max + 1]: how many paths of all random mappings together have each ν.
    estimate
        Table 3.1 of the thesis for a random mapping; None but on square 2D meshes.
    expected
        Exact means over all random mappings; None on general graphs or with several tasks a node.
    deadlock_cycle
        Channels that could wait for each other in a circle without virtual channels; () when
        there is no such circle, None when it was not looked for.
    provenance
        Version, question and seed.
    """

    graph: ProcessGraph
    topology: Topology
    machine: Machine | None
    routing: str
    weight: str
    node_of: NDArray[np.int32]
    mapped: MappedProgram
    offered: float | None
    verdict: Verdict
    random: list[dict[str, Any]]
    random_limited: bool
    random_path_contention: NDArray[np.int64]
    estimate: MeshEstimate | None
    expected: Expectation | None
    deadlock_cycle: tuple[int, ...] | None
    provenance: Provenance

    @property
    def mapping_name(self) -> str:
        """What a person calls the mapping: the name or file that was asked for."""
        mapping = self.provenance.configuration["mapping"]
        return mapping if isinstance(mapping, str) else "as given"

    @cached_property
    def own(self) -> dict[str, Any]:
        """The figures by which this mapping is compared with others: a row like theirs."""
        return figures(self.provenance.seed, self.graph, self.mapped)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom analyze``."""
        limit, row = self.mapped.limit, self.own
        moving = self.mapped.moving
        return {
            "app": self.graph.name,
            "topology": self.topology.name,
            "tasks": self.graph.num_tasks,
            "nodes": self.topology.num_nodes,
            "channels": self.topology.num_channels,
            "paths": int(moving.sum()),
            "local_edges": int((~moving).sum()),
            "routing": self.routing,
            "weight": self.weight,
            **{name: {"mean": row[f"{name}_mean"], "max": row[f"{name}_max"]} for name in SPREADS},
            "hop_bytes": row["hop_bytes"],
            "dilation": row["dilation"],
            "saturation": {
                "average_node": limit.average_node,
                "worst_node": limit.worst_node,
                "upper_bound": limit.upper_bound,
                "lemma_3": limit.lemma_3,
                "of_capacity": self._of_capacity(row["dilation"]),
            },
            "offered": self.offered,
            "slowdown": self._slowdown_summary(),
            "bottleneck": self.bottleneck(),
            "mean_message": self.mean_message(),
            "verdict": self.verdict.to_dict()
            | {"affected": [self.topology.node_name(n) for n in self.verdict.affected_nodes]},
            "random_mapping": self._random_summary(),
            "deadlock_free": None if self.deadlock_cycle is None else not self.deadlock_cycle,
            "deadlock_cycle": [self.topology.channel_name(c) for c in self.deadlock_cycle or ()],
            "note": self.note,
            "provenance": self.provenance.to_dict(),
        }

    @property
    def note(self) -> str | None:
        """What to know before comparing with a simulation."""
        if not isinstance(self.topology, Cube) or not self.routing.startswith("dimension-order"):
            return None
        both = half_way_round(self.topology, self.mapped.source, self.mapped.target)
        if not both.any():
            return None
        share = self.mapped.weights[both].sum() / self.mapped.weights[self.mapped.moving].sum()
        return (
            f"{both.sum()} paths with {share:.0%} of the traffic go half-way round a ring, where "
            "both ways are as short: all take the + direction here, simulated packets take either."
        )

    def bottleneck(self) -> dict[str, Any]:
        """Return the busiest channel beside the busiest node, and how long each must work.

        Whatever the mapping, a node that injects over one channel needs its time to send;
        ``ratio`` is how many times longer the busiest network channel takes. Times are known
        where edges are weighted by bytes: in cycles of one flit, which is the machine's, or one
        byte where only a topology was named; and in µs with a machine.
        """
        load, sent = self.mapped.contention.weighted_channel_load, self._sent()
        channel, node = int(load.argmax()), int(sent.argmax())
        answer: dict[str, Any] = {
            "channel": self.topology.channel_name(channel),
            "channel_load": int(self.mapped.contention.channel_load[channel]),
            "channel_weight": float(load[channel]),
            "node": self.topology.node_name(node),
            "node_weight": float(sent[node]),
            "ratio": float(load[channel] / sent[node]),
        }
        if self.weight != "bytes":
            return answer
        flit_bytes = self.machine.flit_bytes if self.machine else 1
        answer["flit_bytes"] = flit_bytes
        for what, amount in (("channel", load[channel]), ("node", sent[node])):
            cycles = float(np.ceil(amount / flit_bytes))
            answer[f"{what}_busy_cycles"] = cycles
            if self.machine:
                answer[f"{what}_busy_us"] = cycles * self.machine.cycle_us
        return answer

    def mean_message(self) -> dict[str, float]:
        """Return the mean message's size and hops, and its time without contention.

        Cycles are those of wormhole switching (eq. 1.3) at one hop and one flit a cycle; µs are the
        machine's own α + βL, where those are published.
        """
        moving = self.mapped.moving
        messages = self.graph.messages[moving]
        if not messages.sum():
            return {}
        size = float(self.graph.bytes[moving].sum() / messages.sum())
        hops = float(np.average(self.mapped.contention.path_length[moving], weights=messages))
        flits = np.ceil(size / (self.machine.flit_bytes if self.machine else 1))
        cycles = wormhole(hops, flits, startup_us=0, per_byte_us=1, hop_us=1)
        answer = {"bytes": size, "hops": hops, "cycles": float(cycles)}
        if self.machine and self.machine.message_costs:
            answer["us"] = float(self.machine.message_time_us(size, hops))
        return answer

    def slowdown(self) -> NDArray[np.float64]:
        """Return the estimated slow-down of each path (``contention.slowdown``).

        Raises
        ------
        InputError
            If offered traffic is not known.
        """
        if self.offered is None:
            raise InputError("offered", "no offered traffic", "offered, run_seconds or the like")
        return slowdown(self.mapped.contention, self.mapped.limit, self.offered)

    def table(self) -> pl.DataFrame:
        """Return the one row of this mapping's figures: what is compared with other analyses.

        The columns of ``random_table``, and how busy channels and nodes are, offered traffic,
        slow-down and verdict.
        """
        import polars as pl

        slow = self._slowdown_summary() or {}
        row = self.own | {
            "bottleneck_ratio": self.bottleneck()["ratio"],
            "offered": self.offered,
            "slowdown_mean": slow.get("mean"),
            "slowdown_max": slow.get("max"),
            "verdict": self.verdict.level,
        }
        return pl.DataFrame([row], schema_overrides=dict.fromkeys(UNKNOWN, pl.Float64))

    def paths(self) -> pl.DataFrame:
        """Return one row a path: its tasks, nodes, weights, contention, and slow-down if known."""
        import polars as pl

        found = self.mapped.contention
        known = {} if self.offered is None else {"slowdown": self.slowdown()}
        return pl.DataFrame(
            {
                "source_task": self.graph.source,
                "target_task": self.graph.target,
                "source_node": self.mapped.source,
                "target_node": self.mapped.target,
                "bytes": self.graph.bytes,
                "messages": self.graph.messages,
                "path_length": found.path_length,
                "logical_path_length": found.logical_path_length,
                "path_contention": found.path_contention,
                "heaviest_channel_weight": found.heaviest_channel,
            }
            | known,
            nan_to_null=True,
        )

    def channels(self) -> pl.DataFrame:
        """Return one row a channel: its two nodes and its load."""
        import polars as pl

        found = self.mapped.contention
        return pl.DataFrame(
            {
                "source_node": self.topology.channel_source,
                "target_node": self.topology.channel_target,
                "channel_load": found.channel_load,
                "weighted_channel_load": found.weighted_channel_load,
            }
        )

    def nodes(self) -> pl.DataFrame:
        """Return one row a node: what it sends, and its saturation (estimate and bound)."""
        import polars as pl

        limit = self.mapped.limit
        return pl.DataFrame(
            {
                "node": np.arange(self.topology.num_nodes, dtype=np.int32),
                "tasks": np.bincount(self.node_of, minlength=self.topology.num_nodes),
                "sent_weight": self._sent(),
                "share_of_average": limit.node_share,
                "saturation_estimate": limit.node_estimate,
                "saturation_bound": limit.node_bound,
            },
            nan_to_null=True,
        )

    def random_table(self) -> pl.DataFrame:
        """Return one row a random mapping, with the same figures as the mapping's own."""
        import polars as pl

        return pl.DataFrame(self.random, schema=pl.DataFrame([self.own]).schema)

    def path_contention(self) -> pl.DataFrame:
        """Return how many paths meet how many others: of this mapping, and of all random ones.

        One row a mapping (``own`` or ``random``) and path contention level that occurs.
        """
        import polars as pl

        own = np.bincount(self.mapped.contention.path_contention[self.mapped.moving])
        tables = []
        for whose, counts in (("own", own), ("random", self.random_path_contention)):
            levels = np.flatnonzero(counts)
            columns = {"path_contention": levels, "paths": counts[levels].astype(np.int64)}
            tables.append(pl.DataFrame({"mapping": [whose] * len(levels)} | columns))
        return pl.concat(tables, how="vertical_relaxed")

    def standing(self, figure: str) -> int:
        """Return how many of the random mappings this one beats in ``figure``.

        ``figure`` is a column of ``random_table``; more is better for saturation, less elsewhere.
        """
        better = -1 if figure.startswith("saturation") else 1
        return sum(better * row[figure] > better * self.own[figure] for row in self.random)

    def _sent(self) -> NDArray[np.float64]:
        moving = self.mapped.moving
        weights = self.mapped.weights[moving]
        sent = np.bincount(self.mapped.source[moving], weights, minlength=self.topology.num_nodes)
        return sent.astype(np.float64)

    def _of_capacity(self, mean_path_length: float) -> dict[str, float]:
        """Return the limits as fractions of network capacity (eq. 3.32), of this program's hops."""
        channels_per_node = self.topology.num_channels / self.topology.num_nodes
        limit = self.mapped.limit
        return {
            name: float(capacity_fraction(value, mean_path_length, channels_per_node))
            for name, value in (
                ("average_node", limit.average_node),
                ("worst_node", limit.worst_node),
                ("upper_bound", limit.upper_bound),
            )
        }

    def _slowdown_summary(self) -> dict[str, float] | None:
        """Mean (by weight) and maximum of the paths' slow-down; None without offered traffic."""
        if self.offered is None:
            return None
        theta = self.slowdown()
        known = ~np.isnan(theta)
        mean = float(np.average(theta[known], weights=self.mapped.weights[known]))
        return {"mean": mean, "max": float(theta[known].max())}

    def _random_summary(self) -> dict[str, Any]:
        """Mean, least and most of every figure over the random mappings; beaten; expectations."""
        summary: dict[str, Any] = {
            "mappings": len(self.random),
            "limited_by_work": self.random_limited,
        }
        for figure in self.random[0] if self.random else ():
            if figure != "seed":
                values = [row[figure] for row in self.random]
                summary[figure] = {
                    "mean": float(np.mean(values)),
                    "min": min(values),
                    "max": max(values),
                    "beaten": self.standing(figure),
                }
        if self.estimate:
            summary["table_3_1"] = asdict(self.estimate)
        if self.expected:
            summary["expected"] = asdict(self.expected)
        return summary

    def __repr__(self) -> str:
        limit = self.mapped.limit
        offered = "" if self.offered is None else f", offered {self.offered:.4g}"
        return (
            f"<Analysis of {self.graph.name} on {self.topology.name} ({self.routing}){offered}: "
            f"saturation {limit.worst_node:.4g} worst node, {limit.average_node:.4g} average node "
            f"(estimates), {limit.upper_bound:.4g} at most (flits/node/cycle); "
            f"seed {self.provenance.seed}, netloom {self.provenance.version}>\n"
            f"{self.verdict.sentence}"
        )


def figures(seed: int, graph: ProcessGraph, mapped: MappedProgram) -> dict[str, Any]:
    """Return the figures by which mappings are compared.

    Means and maxima of path figures are over the paths that use the network, those of channel
    figures over all channels, used or not.
    """
    found, moving = mapped.contention, mapped.moving
    hop_bytes = float(graph.bytes @ found.path_length)
    moved = float(graph.bytes[moving].sum())
    row: dict[str, Any] = {"seed": seed}
    for name in SPREADS:
        values = getattr(found, name)
        values = values if name.endswith("channel_load") else values[moving]
        row |= {f"{name}_mean": float(values.mean()), f"{name}_max": values.max().item()}
    return row | {
        "hop_bytes": hop_bytes,
        "dilation": hop_bytes / moved if moved else 0.0,
        "saturation_average_node": mapped.limit.average_node,
        "saturation_worst_node": mapped.limit.worst_node,
        "saturation_upper_bound": mapped.limit.upper_bound,
    }
