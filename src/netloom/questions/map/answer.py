"""The answer of ``find_mapping``: a mapping, and what it gains."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.questions.analyze.mapped import CHANNELS as ANALYSED_CHANNELS
from netloom.questions.analyze.mapped import FIGURES as ANALYSED
from netloom.questions.analyze.question import PATH_CONTENTION
from netloom.questions.columns import Column, Columns, asked, table
from netloom.questions.named import entering
from netloom.questions.register import Answer
from netloom.routing.rules import layers
from netloom.simulation.intervals import batch_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.mapping import FoundMapping, Layout
    from netloom.questions.analyze.question import Analysis
    from netloom.questions.simulate.load.answer import Simulation
    from netloom.routing import Routing, SourceRoutes
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph


Kind: TypeAlias = Literal["bound", "better", "none", "worse"]

CLOSE = 1e-9
"""Relative difference of two values of an objective that is none."""

WORTH = 0.01
"""Share of an objective, or of hop-bytes, from which on less of it is a gain."""

SHARE, LATENCY = "worst-node share", "packet latency"
"""What pairs of runs are compared by."""


class MappingVerdict(NamedTuple):
    """Whether the mapping helps.

    ``kind`` is ``bound`` if nothing can be better, ``better`` if the mapping is better than rank
    order, ``worse`` if it is worse by simulation. It is ``none`` if nothing better was found, or
    no difference was measured. ``gains`` is whether the mapping is worth applying: better than
    rank order as simulated, or by 1 % of the objective. If that is the same, hop-bytes and path
    contention decide.
    """

    kind: Kind
    gains: bool


@dataclass(frozen=True)
class PairedRuns:
    """Pairs of simulations, before and after, each pair with one seed.

    Attributes
    ----------
    quantity
        ``packet latency``, mean, in cycles, if all runs carry what is offered. Else ``worst-node
        share``, what the worst node gets accepted of what it offers.
    pairs
        How many.
    before, after
        Means over the runs.
    difference, half_width
        Of the pairs, after less before: the mean, and half of its 95 % confidence interval.
    """

    quantity: str
    pairs: int
    before: float
    after: float
    difference: float
    half_width: float

    @property
    def kind(self) -> Literal["better", "none", "worse"]:
        """What was measured. ``none`` if the interval has both signs."""
        if not abs(self.difference) > self.half_width:
            return "none"
        return "better" if (self.difference < 0) == (self.quantity == LATENCY) else "worse"


def worst_share(simulation: Simulation) -> float:
    """Return how much of what it offers the worst node gets accepted."""
    run, rate = simulation.point.run, simulation.network.traffic.rate
    return float(run.accepted_worst_node / (run.load * rate[run.worst_node]))


def paired(before: Sequence[Simulation], after: Sequence[Simulation]) -> PairedRuns | None:
    """Compare runs of two mappings, pair by pair.

    If all runs carry all that is offered, packets' latencies are compared. Else it is what the
    worst node gets accepted. None if nothing was measured.
    """
    quantity, values = SHARE, [[worst_share(run) for run in runs] for runs in (before, after)]
    latencies = [[run.packet_latency for run in runs] for runs in (before, after)]
    if all(each is not None for runs in latencies for each in runs):
        quantity = LATENCY
        values = [[float(each or 0.0) for each in runs] for runs in latencies]
    first, second = np.array(values[0]), np.array(values[1])
    if not (np.isfinite(first).all() and np.isfinite(second).all() and len(first) > 1):
        return None
    difference, half_width = batch_interval(second - first, np.ones(len(first)))
    means = float(first.mean()), float(second.mean())
    return PairedRuns(quantity, len(first), *means, difference, half_width)


def mapping_verdict(
    found: FoundMapping,
    before: Analysis | None,
    after: Analysis | None,
    simulated: SimulatedMappings | None = None,
) -> MappingVerdict:
    """Return whether a mapping helps: as simulated, if that was run, else by the objective.

    ``before`` and ``after`` are analyses of rank order and of the mapping.
    """
    counted = _counted(found, before, after)
    compared = None if simulated is None else simulated.compared
    if compared is None:
        return counted
    kind: Kind = compared.kind
    if (kind, counted.kind) == ("better", "bound"):
        kind = "bound"
    return MappingVerdict(kind, gains=compared.kind == "better")


def _counted(
    found: FoundMapping, before: Analysis | None, after: Analysis | None
) -> MappingVerdict:
    """Return whether a mapping helps by what is counted, without a simulation."""
    first, value, bound = found.starts["identity"], found.value, found.bound
    at_bound = value <= bound * (1 + CLOSE)
    worse = value > first * (1 + CLOSE)
    gains = value < first * (1 - WORTH) or (not worse and better_in_ties(before, after))
    if value < first * (1 - CLOSE):
        return MappingVerdict("bound" if at_bound else "better", gains)
    return MappingVerdict("bound" if at_bound and not worse else "none", gains)


def better_in_ties(before: Analysis | None, after: Analysis | None) -> bool:
    """Whether a mapping with the same objective has clearly less of what decides then."""
    if before is None or after is None:
        return False
    hops = [each.own["hop_bytes"] for each in (before, after)]
    if None not in hops and hops[1] < hops[0] * (1 - WORTH):
        return True
    met = [each.own["path_contention_max"] or 0 for each in (before, after)]
    return bool(met[1] < met[0])


KEY = ("hop_bytes", "channel_load_max", "weighted_channel_load_max", "saturation_upper_bound")

FIGURES = (
    "hop_bytes",
    "channel_load_max",
    "weighted_channel_load_max",
    "path_contention_mean",
    "path_contention_max",
    "saturation_worst_node",
    "saturation_upper_bound",
)
"""By which mappings are compared: figures of ``analyze``."""


def _compared(name: str) -> Column:
    """Return a figure of ``analyze`` as one of a mapping, or the mean of several."""
    return replace(ANALYSED[name], kind=float, key=name in KEY)


COLUMNS = Columns(
    Column("mapping", kind=str, key=True),
    Column("objective", key=True),
    *map(_compared, FIGURES),
)
"""Of each mapping compared."""

CHANNELS = Columns(Column("mapping", kind=str)) + ANALYSED_CHANNELS


@dataclass(frozen=True, eq=False)
class SimulatedMappings:
    """The program simulated under identity and under the mapping that was found.

    Attributes
    ----------
    load
        Offered traffic of the average sending node, flits/node/cycle. None where nothing ran.
    before, after
        What came of it, with the seed of the question. None where it was not run to its end.
    note
        Why it was not.
    compared
        All pairs of runs. None where there are none.
    """

    load: float | None
    before: Simulation | None
    after: Simulation | None
    note: str | None
    compared: PairedRuns | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of both runs as plain data."""
        before, after = (
            None if run is None else _row_of(run) | {"worst_node_share": worst_share(run)}
            for run in (self.before, self.after)
        )
        compared = self.compared and asdict(self.compared) | {"kind": self.compared.kind}
        known = {"load": self.load, "before": before, "after": after}
        return known | {"compared": compared, "note": self.note}


def _row_of(run: Simulation) -> dict[str, Any]:
    """Return the figures of a simulation at one load."""
    return run.table().row(0, named=True)


def _json_of(part: str) -> Callable[[ProgramMapping], dict[str, Any] | None]:
    """Return what gives a part of an answer, if it is there, as JSON has it."""
    return lambda found: (each := getattr(found, part)) and each.to_dict()


@dataclass(frozen=True, eq=False)
class ProgramMapping(Answer):
    """A mapping of a program onto a network, and what it gains.

    Attributes
    ----------
    graph, topology, routing
        What was asked about.
    nodes
        int32[], the nodes that may be used.
    found
        The mapping, the value of the objective and its lower bound, and how it was found.
    scale
        Of several objectives, what each was divided by. Empty where there is only one.
    routes
        Routes that belong to the mapping, one for each pair of nodes that communicate. None where
        packets take those of ``routing``.
    layout
        The layout that was asked for, with what it claims. None after a search.
    before, after
        What ``analyze`` says of identity and of the mapping. None where nothing is left that
        crosses the network.
    starts
        One row for each mapping that it is compared with, identity first and the result last:
        value of the objective, and figures as ``analyze`` has them. ``random`` is the mean of 25.
    simulated
        Both simulated at one load. None where that was not asked for.
    counts_hosts
        Whether the objective is of hosts' own channels as well: several tasks run on each, or
        their ports differ.
    """

    graph: ProcessGraph
    topology: Topology
    routing: Routing
    nodes: Ints
    found: FoundMapping
    scale: dict[str, float]
    routes: SourceRoutes | None
    layout: Layout | None
    before: Analysis | None
    after: Analysis | None
    starts: list[dict[str, Any]]
    simulated: SimulatedMappings | None
    verdict: MappingVerdict
    provenance: Provenance
    counts_hosts: bool = False

    columns: ClassVar = COLUMNS
    in_json: ClassVar = Columns()
    about: ClassVar = Columns(
        Column("app", kind=str, value="graph.name"),
        Column("topology", kind=str, value="topology.name"),
        Column("tasks", kind=int, value="graph.num_tasks"),
        Column("nodes", kind=int, value="topology.num_hosts"),
        Column("allocated_nodes", kind=int, value=lambda found: len(found.nodes)),
        Column("routing", kind=str),
        Column("weight", kind=str, value=asked("weight")),
        Column("inside_nodes"),
        Column(
            "between_before",
            unit="bytes",
            value=lambda found: found.between()[0],
            json="between_nodes.before",
        ),
        Column(
            "between_after",
            unit="bytes",
            value=lambda found: found.between()[1],
            json="between_nodes.after",
        ),
        Column("objective", kind=str, value="found.objective", json="objective.name"),
        Column(
            "objective_before",
            value=lambda each: each.found.starts["identity"],
            json="objective.before",
        ),
        Column("objective_after", value="value", json="objective.after"),
        Column("objective_bound", value="bound", json="objective.bound"),
        Column("objective_timed", kind=bool, value="timed", json="objective.timed"),
        Column("objective_hosts", kind=bool, value="counts_hosts", json="objective.hosts"),
        Column("objective_scale", kind=dict, value="scale", json="objective.scale"),
        Column("before", kind=dict, value=_json_of("before")),
        Column("after", kind=dict, value=_json_of("after")),
        Column("starts", kind=list),
        Column("layout", kind=dict, value=lambda found: found.promise()),
        Column("unchanged", kind=bool),
        Column("own_routes", kind=bool, value=lambda found: found.routes is not None),
        Column("virtual_channels", kind=int),
        Column("simulated", kind=dict, value=_json_of("simulated")),
        Column("verdict", kind=dict, value=lambda found: found.verdict._asdict()),
        Column("found_by", kind=str, value="found.found_by"),
        Column("rounds", kind=int, value="found.rounds"),
        Column("seconds", unit="seconds", value="found.seconds"),
        Column("interrupted", kind=bool),
        Column("seed", kind=int, value="provenance.seed"),
        Column("mapping", kind=list, value="node_of"),
    )

    @property
    def table_rows(self) -> list[dict[str, Any]]:
        """Every mapping that is compared."""
        return self.starts

    @property
    def mapping(self) -> Ints:
        """The node of each task: what other questions take as ``mapping``."""
        return self.found.node_of

    @property
    def node_of(self) -> Ints:
        """The node of each task, as analyses call it."""
        return self.found.node_of

    @property
    def value(self) -> float:
        """Of the objective: the smaller, the better."""
        return self.found.value

    @property
    def bound(self) -> float:
        """No mapping is below. 0 if nothing better is known."""
        return self.found.bound

    @property
    def inside_nodes(self) -> float:
        """The share of the traffic that stays inside nodes, as files have the mapping."""
        weight = self.provenance.configuration["weight"]
        return entering(self.graph, self.topology, self.applied, weight)[1]

    def between(self) -> tuple[float, float]:
        """Return the bytes between nodes in rank order, and with the mapping: never more."""
        places = (self.found.mappings["identity"], self.applied)
        node = self.topology.node_of_host
        before, after = (float(self.graph.across(node[each]).bytes.sum()) for each in places)
        return before, after

    @property
    def unchanged(self) -> bool:
        """Whether ranks stay in order: nothing better was found, by the objective or its ties."""
        return bool((self.found.node_of == self.found.mappings["identity"]).all())

    @property
    def applied(self) -> Ints:
        """The node of each task as files have it: rank order if the verdict keeps that.

        A layout that was asked for, and routes of a mapping's own, are written as they are.
        """
        kept = not (self.as_asked or self.gains)
        return self.found.mappings["identity"] if kept else self.found.node_of

    @property
    def as_asked(self) -> bool:
        """Whether files hold the mapping even if it gains nothing: a layout, or with routes."""
        return self.layout is not None or self.routes is not None

    @property
    def gains(self) -> bool:
        """Whether the mapping is better than rank order. See ``MappingVerdict``."""
        return self.verdict.gains

    @property
    def timed(self) -> bool:
        """Whether the objective is of more than loads between routers: of times, or of hosts."""
        between = self.topology.routers.channel_bandwidth
        return self.counts_hosts or bool((between != 1).any())

    @cached_property
    def virtual_channels(self) -> int | None:
        """How many a channel needs, for the mapping's own routes to be free of deadlock.

        Paths are put into layers of them. See ``routing.layered``. None where there are no routes.
        """
        if self.routes is None:
            return None
        between = self.routes.routes.taken(np.flatnonzero(self.routes.routes.lengths))
        return int(layers(self.topology.routers, between).max(initial=0)) + 1

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search or the simulation."""
        runs = () if self.simulated is None else (self.simulated.before, self.simulated.after)
        return self.found.interrupted or any(run.interrupted for run in runs if run is not None)

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per channel under identity (``before``) and under the mapping (``after``).

        As ``Analysis.channels`` has them, with loads of 0 if nothing crosses the network.
        """
        import polars as pl

        known = [analysis.channels() for _, analysis in self._both() if analysis is not None]
        if known:
            loads = pl.col("^(weighted_)?channel_load|time$") * 0
            idle = known[0].with_columns(loads).drop("pairs", strict=False)
        else:
            idle = pl.DataFrame(
                {
                    "source_node": self.topology.source_end,
                    "target_node": self.topology.target_end,
                    "channel_load": pl.Series([0] * self.topology.num_channels, dtype=pl.Int64),
                    "weighted_channel_load": [0.0] * self.topology.num_channels,
                }
            )
        tables = [
            (idle if analysis is None else analysis.channels()).select(
                pl.lit(when).alias("mapping"), pl.all()
            )
            for when, analysis in self._both()
        ]
        return pl.concat(tables, how="diagonal_relaxed")

    @table(PATH_CONTENTION)
    def path_contention(self) -> pl.DataFrame:
        """Return how many paths meet how many others, ``before`` and ``after``."""
        import polars as pl

        tables = [
            analysis.path_contention().filter(mapping="own").with_columns(mapping=pl.lit(when))
            for when, analysis in self._both()
            if analysis is not None
        ]
        schema = {"mapping": pl.String, "path_contention": pl.Int64, "paths": pl.Int64}
        return pl.concat(tables) if tables else pl.DataFrame(schema=schema)

    def _both(self) -> tuple[tuple[str, Analysis | None], ...]:
        return ("before", self.before), ("after", self.after)

    def promise(self) -> dict[str, Any] | None:
        """Return what a layout promises of its largest channel load, and what was measured."""
        if self.layout is None:
            return None
        after = self.after
        measured = 0 if after is None else int(after.mapped.contention.channel_load.max())
        return {
            "name": self.layout.name,
            "promised_channel_load": self.layout.chi_max,
            "measured_channel_load": measured,
            "source": self.layout.source,
        }

    def __repr__(self) -> str:
        found = self.found
        return (
            f"<{self.graph.name} mapped onto {self.topology.name} for {found.objective}, by "
            f"{found.found_by}; {self.origin}>\n"
            f"{self.to_dict()['verdict']['sentence']}"
        )
