"""The answer of ``find_mapping``: a mapping, and what it gains."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.questions.analyze import answer as analysis
from netloom.questions.analyze import pairs
from netloom.questions.analyze.mapped import FIGURES as ANALYSED
from netloom.questions.columns import Column, Columns, asked, table
from netloom.questions.map.gains import worst_share
from netloom.questions.named import entering
from netloom.questions.register import Answer
from netloom.routing.hosted import between_routers
from netloom.routing.layered import layers

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.mapping import FoundMapping, Layout
    from netloom.questions.analyze.answer import Analysis
    from netloom.questions.map.gains import MappingVerdict, PairedRuns
    from netloom.questions.simulate.load.answer import Simulation
    from netloom.routing import Routing, SourceRoutes
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

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

CHANNELS = Columns(Column("mapping", kind=str)) + pairs.CHANNELS


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

    def worst_shares(self) -> tuple[float | None, float | None]:
        """Return how much of what it offers the worst node gets accepted, before and after."""
        before, after = (
            None if run is None else worst_share(run) for run in (self.before, self.after)
        )
        return before, after

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
        between = between_routers(self.topology, self.routes.routes)
        between = between.taken(np.flatnonzero(between.lengths))
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

        idle = pl.DataFrame(
            {
                "source_node": self.topology.channel_source,
                "target_node": self.topology.channel_target,
                "channel_load": pl.Series([0] * self.topology.num_channels, dtype=pl.Int64),
                "weighted_channel_load": [0.0] * self.topology.num_channels,
            }
        )
        if not self.topology.direct:
            known = [analysis.channels() for _, analysis in self._both() if analysis is not None]
            nothing = pl.col("channel_load", "weighted_channel_load", "time") * 0
            idle = known[0].with_columns(nothing).drop("pairs", strict=False) if known else idle
        tables = [
            (idle if analysis is None else analysis.channels()).select(
                pl.lit(when).alias("mapping"), pl.all()
            )
            for when, analysis in self._both()
        ]
        return pl.concat(tables, how="diagonal_relaxed")

    @table(analysis.PATH_CONTENTION)
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
