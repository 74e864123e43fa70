"""Will this mapped program contend on this network, where, and what limits it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import model_validator

from netloom.base.errors import InputError
from netloom.base.progress import patience, track
from netloom.base.words import counted
from netloom.contention import (
    capacity_fraction,
    estimate_mesh,
    expect_random,
    measured,
    offered_by_program,
    offered_by_run,
    saturation,
    slowdown,
    verdict,
)
from netloom.machines import Machine, machine_names
from netloom.mapping.allocation import place_program
from netloom.mapping.layouts.parts import cube_of_hosts
from netloom.questions.analyze.mapped import (
    CHANNELS,
    FIGURES,
    MOST_SORTED,
    MappedProgram,
    bottleneck,
    bounds,
    busiest_channel,
    busiest_router,
    causes,
    each_shift,
    figures,
    followed,
    injection_bandwidth,
    kinds_of_channels,
    oversubscription,
    pairs_by_channel,
    sent_by_node,
)
from netloom.questions.base import MOST, option
from netloom.questions.columns import FLITS, Column, Columns, known, table
from netloom.questions.fields import (
    BrokenParts,
    EdgeWeight,
    HostNames,
    OnePathOrFunction,
    Placed,
    ProgramFile,
    ProgramOnNetwork,
    Seeded,
)
from netloom.questions.named import (
    network_of,
    num_places,
    placed,
    placing,
    provenance_of,
    read_program,
)
from netloom.questions.outputs import PLOT, SAVE_MAPPING, rank_file_output
from netloom.questions.register import Answer, asks
from netloom.routing import (
    DimensionOrder,
    Routing,
    SourceRoutes,
    find_deadlock,
    half_way_round,
    parse_routing,
    routes_by,
)
from netloom.routing.hosted import legs
from netloom.topology import Cube, Topology
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    import polars as pl

    from netloom.base.arrays import Floats, Ints
    from netloom.base.provenance import Provenance
    from netloom.contention import Expectation, MeshEstimate, Verdict
    from netloom.routing import Paths


PATH_CONTENTION = Columns(
    Column("mapping", kind=str),
    Column("path_contention", "path contention ν", "paths", kind=int),
    Column("paths", "paths that meet so many", kind=int),
)


NODES = Columns(
    Column("node", kind=int),
    Column("tasks", kind=int),
    Column("sent_weight", "sent", "weight"),
    Column("share_of_average", "traffic over the average node's"),
    Column("saturation_estimate", unit=FLITS),
    Column("saturation_bound", unit=FLITS),
    Column("name", "host", kind=str, optional=True),
    Column("bandwidth", "bandwidth of its ports", "flits/cycle", optional=True),
)


def _ratio(found: Analysis) -> float:
    return float(found.bottleneck()["ratio"])


def _slowdown(part: str) -> Callable[[Analysis], float | None]:
    return lambda found: (found.slowdown_summary or {}).get(part)


def _of_hosts(part: str) -> Column:
    """Return the mean or the largest load of the channels of hosts. None in a direct network."""

    def value(found: Analysis) -> float | None:
        load = found.mapped.contention.host_channel_load
        known: float | None = getattr(load, part)().item() if len(load) else None
        return known

    name = f"host_channel_load_{part}"
    title = f"paths on a host's channel, {part}"
    return Column(name, title, "paths", value, Real, json=f"host_channel_load.{part}", table=False)


def _own(column: Column) -> Column:
    """Return a column of ``FIGURES`` as one of an analysis."""
    return replace(column, value=lambda found: found.own[column.name])


UNEVEN = (
    "estimates of saturation and slow-down, which are for channels of one bandwidth; the upper "
    "bound holds for any"
)
UNCOUNTED = (
    "path contention and estimates, which are of single paths: loads of channels and bounds are "
    "exact expectations over the several paths of each pair"
)
TOO_MANY = (
    "path contention and estimates: too many paths meet to compare them one by one; loads of "
    "channels and bounds are exact"
)
"""Why figures may be left out."""


@dataclass(frozen=True, eq=False)
class Analysis(Answer):
    """What a mapped program makes of a network.

    Attributes
    ----------
    graph, topology, machine, routing, weight, node_of
        What was asked about. ``machine`` is None where only a topology was named, ``weight`` is
        what an edge's share of the traffic is taken from.
    mapped
        Contention and saturation of the mapping, path by path and channel by channel.
    offered
        Traffic of the average sending node, or None where it was not told.
    verdict
        How the load stands to the limits, and which nodes are delayed.
    random
        One row for each random mapping compared with.
    random_limited
        Whether more random mappings would have taken too long: nobody said how many.
    random_alike
        Whether all mappings are alike, so that none need be measured.
    random_path_contention
        int64[ν_max + 1]: how many paths of all random mappings together have each ν.
    estimate
        Table 3.1 of the thesis for a random mapping. None but on square 2D meshes.
    expected
        Exact means over all random mappings. None on general graphs or with several tasks per node.
    deadlock_cycle
        Channels that could wait for each other in a circle without virtual channels. () when
        there is no such circle, None when it was not looked for.
    several_paths
        Whether the routing has several paths per pair.
    shifts
        What each shift on its own loads, of a program that is several (see ``busiest.each_shift``).
    causes
        Why the busiest channel is busy, as far as figures show that (see ``causes.causes``).
    routed
        The paths of the mapping. None if they are too many to be looked through.
    """

    graph: ProcessGraph
    topology: Topology
    machine: Machine | None
    routing: str
    weight: str
    node_of: Ints
    mapped: MappedProgram
    offered: float | None
    verdict: Verdict
    random: list[dict[str, Any]]
    random_limited: bool
    random_alike: bool
    random_path_contention: Ints
    estimate: MeshEstimate | None
    expected: Expectation | None
    deadlock_cycle: tuple[int, ...] | None
    several_paths: bool
    shifts: list[dict[str, Any]] | None
    causes: dict[str, Any]
    routed: Paths | None
    provenance: Provenance

    @cached_property
    def own(self) -> dict[str, Any]:
        """The figures by which this mapping is compared with others: a row like theirs."""
        return figures(self.provenance.seed, self.graph, self.mapped)

    columns: ClassVar = Columns(*map(_own, FIGURES)) + Columns(
        Column("bottleneck_ratio", "busiest channel over busiest node", value=_ratio, json=None),
        Column("offered", unit=FLITS),
        Column("slowdown_mean", "slow-down, mean", value=_slowdown("mean"), json=None),
        Column("slowdown_max", "slow-down, largest", value=_slowdown("max"), json=None),
        Column("level", kind=str, value="verdict.level", json=None),
        Column(
            "lemma_3",
            unit=FLITS,
            value="mapped.limit.lemma_3",
            json="saturation.lemma_3",
            table=False,
        ),
        Column("of_capacity", kind=dict, json="saturation.of_capacity", table=False),
        _of_hosts("mean"),
        _of_hosts("max"),
    )
    about: ClassVar = Columns(
        Column("app", kind=str, value="graph.name"),
        Column("topology", kind=str, value="topology.name"),
        Column("tasks", kind=int, value="graph.num_tasks"),
        Column("nodes", kind=int, value="topology.num_nodes"),
        Column("hosts", kind=int, value="topology.num_hosts"),
        Column("routers", kind=int, value="topology.num_routers"),
        Column("channels", kind=int, value="topology.num_network_channels"),
        Column("paths", kind=int, value=lambda found: found.mapped.moving.sum()),
        Column("local_edges", kind=int, value=lambda found: (~found.mapped.moving).sum()),
        Column("inside_nodes", value="mapped.inside_nodes"),
        Column("routing", kind=str),
        Column("weight", kind=str),
        Column("slowdown", kind=dict, value="slowdown_summary"),
        Column("bottleneck", kind=dict, value=lambda found: found.bottleneck()),
        Column("busiest_channel", kind=dict),
        Column("busiest_router", kind=dict),
        Column("bounds", kind=dict),
        Column("oversubscription", kind=list),
        Column("mean_message", kind=dict, value=lambda found: found.mean_message()),
        Column("verdict", kind=dict, value="verdict_by_name"),
        Column("random_mapping", kind=dict, value="random_summary"),
        Column("deadlock_free", kind=bool),
        Column("deadlock_cycle", kind=list, value="deadlock_channels"),
        Column("note", kind=str),
        Column("left_out", kind=str),
        Column("shifts", kind=list),
        Column("causes", kind=dict),
    )

    @property
    def deadlock_free(self) -> bool | None:
        """Whether no channels can wait for each other in a circle. None where nobody looked."""
        return None if self.deadlock_cycle is None else not self.deadlock_cycle

    @property
    def deadlock_channels(self) -> list[str]:
        """The names of the channels that can."""
        return [self.topology.channel_name(channel) for channel in self.deadlock_cycle or ()]

    @property
    def verdict_by_name(self) -> dict[str, Any]:
        """The figures of the verdict, and the names of the nodes that it is of."""
        affected = [self.topology.name_of(node) for node in self.verdict.affected_nodes]
        return self.verdict.to_dict() | {"affected": affected}

    @property
    def busiest_channel(self) -> dict[str, Any]:
        """The channel that works longest, those of hosts included."""
        return busiest_channel(self.topology, self.mapped.contention)

    @property
    def busiest_router(self) -> dict[str, Any] | None:
        """The router through which most goes. None in a direct network."""
        return busiest_router(self.topology, self.mapped.contention)

    @cached_property
    def bounds(self) -> dict[str, Any]:
        """What no routing can beat for this mapping."""
        return bounds(self.topology, self.mapped)

    @property
    def oversubscription(self) -> list[dict[str, Any]] | None:
        """What routers of each level have below and above them. None in a direct network."""
        return oversubscription(self.topology)

    @property
    def left_out(self) -> str | None:
        """Which figures are not known, and why. None where all are."""
        if self.mapped.by_path is None:
            return UNCOUNTED if self.several_paths else TOO_MANY
        return None if self.mapped.limit.estimated else UNEVEN

    @property
    def note(self) -> str | None:
        """What to know before comparing with a simulation."""
        cube = self.topology.routers
        if not isinstance(cube, Cube) or not self.routing.startswith("dimension-order"):
            return None
        ends = legs(self.topology, self.mapped.source, self.mapped.target)
        both = half_way_round(cube, ends.entry, ends.exit)
        if not both.any():
            return None
        paths = counted(int(both.sum()), "path", ",")
        return (
            f"{paths} go half-way round a ring. All take the + direction here, simulated packets "
            "take either."
        )

    def bottleneck(self) -> dict[str, Any]:
        """Return the busiest channel between routers beside the busiest node, and their times."""
        in_bytes = self.weight == "bytes"
        return bottleneck(self.topology, self.mapped, self.machine, in_bytes=in_bytes)

    def mean_message(self) -> dict[str, float]:
        """Return the mean message's size and hops, and its time without contention.

        Cycles are those of wormhole switching (eq. 1.3) at one hop and one flit per cycle. µs are
        the machine's own α + βL, if published.
        """
        moving = self.mapped.moving
        messages = self.graph.messages[moving]
        if not messages.sum():
            return {}
        size = float(self.graph.bytes[moving].sum() / messages.sum())
        if self.mapped.by_path is None:
            return {"bytes": size}
        hops = float(np.average(self.mapped.by_path.path_length[moving], weights=messages))
        flits = np.ceil(size / (self.machine.flit_bytes if self.machine else 1))
        cycles = hops + max(flits - 1, 0)
        answer = {"bytes": size, "hops": hops, "cycles": float(cycles)}
        if self.machine and self.machine.message_costs:
            answer["us"] = float(self.machine.message_time_us(size, hops))
        return answer

    def slowdown(self) -> Floats:
        """Return the estimated slow-down of each path (``contention.slowdown``).

        Raises
        ------
        InputError
            If offered traffic is not known, or nothing estimates slow-down on this network.
        """
        if self.offered is None:
            raise InputError("offered", "no offered traffic", "offered, run_seconds or the like")
        if self.mapped.by_path is None or not self.mapped.limit.estimated:
            wanted = "one path per pair, on channels of one bandwidth"
            raise InputError("slow-down", f"no estimates ({self.left_out})", wanted)
        return slowdown(self.mapped.by_path, self.mapped.limit, self.offered)

    def paths(self) -> pl.DataFrame:
        """Return one row per path: tasks, nodes, weights, contention, and slow-down if known."""
        import polars as pl

        found = self.mapped.by_path
        columns = {
            "source_task": self.graph.source,
            "target_task": self.graph.target,
            "source_node": self.node_of[self.graph.source],
            "target_node": self.node_of[self.graph.target],
            "bytes": self.graph.bytes,
            "messages": self.graph.messages,
        }
        if found is not None:
            columns |= {
                "path_length": found.path_length,
                "logical_path_length": found.logical_path_length,
                "path_contention": found.path_contention,
                "heaviest_channel_weight": found.heaviest_channel,
            }
        if self.slowdown_summary is not None:
            columns["slowdown"] = self.slowdown()
        return pl.DataFrame(columns, nan_to_null=True)

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per channel: its two vertices and its load. Those of hosts come last."""
        import polars as pl

        found = self.mapped.contention
        load = np.concatenate([found.channel_load, found.host_channel_load])
        weighted = np.concatenate([found.weighted_channel_load, found.weighted_host_channel_load])
        columns: dict[str, Any] = {
            "source_node": self.topology.source_end,
            "target_node": self.topology.target_end,
            "channel_load": load,
            "weighted_channel_load": weighted,
        }
        if not self.topology.direct:
            columns |= {
                "name": [self.topology.channel_name(each) for each in range(len(load))],
                "kind": kinds_of_channels(self.topology),
                "bandwidth": found.channel_bandwidth,
                "time": found.channel_time,
            }
        if self.routed is not None and len(self.routed.channels) <= MOST_SORTED:
            columns["pairs"] = pairs_by_channel(self.graph, self.topology, self.mapped, self.routed)
        return pl.DataFrame(columns)

    @table(NODES)
    def nodes(self) -> pl.DataFrame:
        """Return one row per node: what it sends, and its saturation (estimate and bound)."""
        import polars as pl

        limit, hosts = self.mapped.limit, self.topology.num_hosts
        columns: dict[str, Any] = {
            "node": np.arange(hosts, dtype=np.int32),
            "tasks": np.bincount(self.node_of, minlength=hosts),
            "sent_weight": sent_by_node(self.topology, self.mapped),
            "share_of_average": limit.node_share,
            "saturation_estimate": limit.node_estimate,
            "saturation_bound": limit.node_bound,
        }
        if not self.topology.direct:
            columns |= {
                "name": [self.topology.name_of(each) for each in range(hosts)],
                "bandwidth": injection_bandwidth(self.topology),
            }
        return pl.DataFrame(columns, nan_to_null=True)

    @table(FIGURES)
    def random_table(self) -> pl.DataFrame:
        """Return one row per random mapping, with the same figures as the mapping's own."""
        return FIGURES.frame_of(self.random)

    @table(PATH_CONTENTION)
    def path_contention(self) -> pl.DataFrame:
        """Return how many paths meet how many others: of this mapping, and of all random ones.

        One row per mapping (``own`` or ``random``) and path contention level that occurs.
        """
        import polars as pl

        found = self.mapped.by_path
        own = np.zeros(0, np.int64)
        if found is not None:
            own = np.bincount(found.path_contention[found.moving])
        tables = []
        for whose, counts in (("own", own), ("random", self.random_path_contention)):
            levels = np.flatnonzero(counts)
            columns = {"path_contention": levels, "paths": counts[levels].astype(np.int64)}
            names = pl.Series([whose] * len(levels), dtype=pl.String)
            tables.append(pl.DataFrame({"mapping": names} | columns))
        return pl.concat(tables, how="vertical_relaxed")

    def standing(self, figure: str) -> int:
        """Return how many of the random mappings this one beats in ``figure``.

        ``figure`` is a column of ``random_table``. More is better for saturation, less elsewhere.
        """
        better = -1 if figure.startswith("saturation") else 1
        return sum(better * row[figure] > better * self.own[figure] for row in self.random)

    @property
    def of_capacity(self) -> dict[str, float | None] | None:
        """The limits as fractions of network capacity (eq. 3.32), of this program's hops.

        None where nobody counted these, or there is but one router.
        """
        rate = self.topology.routers.channel_bandwidth.sum()
        channels_per_node = float(rate) / self.topology.num_hosts
        limit = self.mapped.limit
        if self.own["dilation"] is None or not channels_per_node:
            return None
        return {
            name: known(capacity_fraction(value, self.own["dilation"], channels_per_node))
            for name, value in (
                ("average_node", limit.average_node),
                ("worst_node", limit.worst_node),
                ("upper_bound", limit.upper_bound),
            )
        }

    @cached_property
    def slowdown_summary(self) -> dict[str, float] | None:
        """Mean (by weight) and maximum of the paths' slow-down. None if nothing estimates it."""
        if self.offered is None or not self.mapped.limit.estimated:
            return None
        theta = self.slowdown()
        known = ~np.isnan(theta)
        mean = float(np.average(theta[known], weights=self.mapped.weights[known]))
        return {"mean": mean, "max": float(theta[known].max())}

    @property
    def random_summary(self) -> dict[str, Any]:
        """Mean, least and most of each figure over random mappings, and how many are beaten."""
        summary: dict[str, Any] = {
            "mappings": len(self.random),
            "limited_by_work": self.random_limited,
            **({"alike": True} if self.random_alike else {}),
        }
        for figure in self.random[0] if self.random else ():
            if figure != "seed":
                values = [row[figure] for row in self.random]
                if any(value is None or value != value for value in values):
                    continue  # an estimate, where there is none
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
        estimates = ""
        if limit.estimated:
            estimates = (
                f"{limit.worst_node:.4g} worst node, {limit.average_node:.4g} average node "
                "(estimates), "
            )
        return (
            f"<Analysis of {self.graph.name} on {self.topology.name} ({self.routing}){offered}: "
            f"saturation {estimates}{limit.upper_bound:.4g} at most (flits/node/cycle); "
            f"{self.origin}>\n"
            f"{self.to_dict()['verdict']['sentence']}"
        )


LOAD = "Offered load (said at most one way)"

MOST_RANDOM = 25
"""Random mappings to compare with by default, at least one."""

WORK, PATH_WORK = 3 * 2**30, 300
"""What they may cost in all (about 5 seconds), and what a path does. See ``_work``."""


class AnalyzeQuestion(
    HostNames, Seeded, EdgeWeight, Placed, ProgramFile, BrokenParts, ProgramOnNetwork
):
    """Where a mapped program contends, and what limits it."""

    routing: OnePathOrFunction = option(
        "Routing: default, dimension-order[:0,1], xy, shortest-path, spread, "
        "ecmp[:SEED], layered, up-down, minimal, valiant or "
        "routes:FILE. On trees: d-mod-k, s-mod-k, nca. On dragonflies: "
        "minimal-group, valiant-group. In Python: functions. All: netloom routings.",
        default="default",
        panel="Network",
        flags=("--routing", "--routes"),
        file=True,
    )
    random_mappings: int | None = option(
        "Random mappings to compare with; none with given routes.",
        default=None,
        ge=0,
        le=100_000,
        shown_default="25, fewer if large",
    )
    offered: float | None = option(
        "Offered load per sending node, a fraction of a channel.",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )
    run_seconds: float | None = option(
        "Time of the recorded run on a machine without contention.",
        unit="seconds",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )
    instructions_per_message: float | None = option(
        "Instructions per task between two messages (on a machine).",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )
    mips: float | None = option(
        "Speed of a task, with instructions_per_message.",
        unit="million instructions per second",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )

    @model_validator(mode="after")
    def _one_way_to_say_the_load(self) -> AnalyzeQuestion:
        ways = (self.offered, self.run_seconds, self.instructions_per_message)
        if sum(way is not None for way in ways) > 1:
            raise InputError(
                "offered", "several ways to say the load",
                "one of offered, run_seconds and instructions_per_message",
            )  # fmt: skip
        if (self.instructions_per_message is None) != (self.mips is None):
            raise InputError("mips", "one without the other", "instructions_per_message and mips")
        return self


@dataclass(frozen=True, eq=False)
class MappedNetwork:
    """What a question names, read and built once: hand it on rather than name it again.

    Attributes
    ----------
    node_of
        int32[num_tasks], where each task runs.
    """

    graph: ProcessGraph
    network: Topology
    machine: Machine | None
    routing: Routing
    node_of: Ints

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The hosts of each edge: twice that of its source if it stays inside a node."""
        source, target = self.node_of[self.graph.source], self.node_of[self.graph.target]
        return source, np.where(self.network.crosses(source, target), target, source)

    def weights(self, weight: Literal["bytes", "messages", "uniform"]) -> Floats:
        """Return what each edge weighs. InputError if none weighs anything."""
        found = self.graph.weights(weight)
        if not found.any():
            nothing, wanted = (
                f"no {weight} sent from a task to another",
                "a program that communicates",
            )
            if self.graph.num_edges:
                wanted += f", or another weight than {weight}"
            raise InputError(self.graph.name, nothing, wanted)
        return found

    def measured(self, weight: Literal["bytes", "messages", "uniform"]) -> MappedProgram:
        """Measure the paths of the mapping. Those inside nodes have no channels."""
        weights = self.weights(weight)
        source, target = self.ends
        found = measured(self.network, self.routing, source, target, weights)
        limit = saturation(found, source, weights, self.network.num_hosts)
        return MappedProgram(source, target, weights, found, limit)


def prepare(question: AnalyzeQuestion) -> MappedNetwork:
    """Read the program, build the network and its routing, and place the tasks."""
    network, on_machine = network_of(question)
    graph = read_program(
        question.app, messages=question.messages, parts=question.parts,
        tasks=num_places(question, network), seed=question.seed,
    )  # fmt: skip
    routing = _routing(question.routing, network)
    node_of = placed(question, graph, network)
    return MappedNetwork(graph, network, on_machine, routing, node_of)


@asks(
    AnalyzeQuestion,
    prepare=prepare,
    title="Contention analysis",
    example="netloom analyze examples/lammps-64.mtx --on torus:8x8 --plot hot.png",
    page="will-it-contend.md",
    outputs=(PLOT, SAVE_MAPPING, rank_file_output()),
)
def analyze(question: AnalyzeQuestion, ready: MappedNetwork) -> Analysis:
    """Find where a mapped program contends and what limits it, without simulating.

    Patterns named without a size are of all hosts, or of all that --nodes allows: all-to-all,
    ring, shift:1,5,17 or random-permutation. Several shifts are analyzed as one program in which
    each task sends to several. "shifts" in JSON has each of them on its own. If hosts hang on
    routers, channel loads are of channels between routers, those of hosts' channels apart, and the
    busiest channel is the one of all that works longest.

    Examples
    --------
    >>> from netloom import analyze
    >>> found = analyze("hypercube:10", "mesh:32x32", random_mappings=0)
    >>> found.to_dict()["channel_load"]["max"]
    21
    """
    graph, network, routing = ready.graph, ready.network, ready.routing
    with patience(f"Counting the contention of {counted(graph.num_edges, 'path', ',')}"):
        mapped = ready.measured(question.weight)
    offered = _offered(question, graph, mapped, ready.machine)
    alike = _alike(question, ready)
    rows, path_contention, limited = _random_mappings(question, ready, 0 if alike else MOST_RANDOM)
    routed = followed(network, routing, mapped)
    return Analysis(
        graph=graph,
        topology=network,
        machine=ready.machine,
        routing=str(routing),
        weight=question.weight,
        node_of=ready.node_of,
        mapped=mapped,
        offered=offered,
        verdict=verdict(
            mapped.limit, offered, paths_meet=mapped.paths_meet, hosted=not network.direct
        ),
        random=rows,
        random_limited=limited,
        random_alike=alike,
        random_path_contention=path_contention,
        estimate=None if question.nodes is not None else _estimate(graph, network, routing),
        expected=_expected(question, graph, network, routing),
        deadlock_cycle=_deadlock(network, routing),
        several_paths=routing.several,
        shifts=each_shift(graph, network, routing, mapped),
        causes=causes(graph, network, routing, mapped, routed),
        routed=routed,
        provenance=provenance_of(question, "analyze", network),
    )


def _routing(
    routing: str | Routing | Callable[[Topology, int, int], Iterable[int | str]], network: Topology
) -> Routing:
    if isinstance(routing, str):
        return parse_routing(routing, network)
    return routes_by(network, routing) if callable(routing) else routing


def _alike(question: AnalyzeQuestion, ready: MappedNetwork) -> bool:
    """Return whether every mapping gives this one's traffic between nodes.

    So it is if each task sends the same to every other, and tasks fill all places.
    """
    graph, tasks = ready.graph, ready.graph.num_tasks
    weights = ready.weights(question.weight)
    moving = graph.source != graph.target
    return bool(
        moving.sum() == tasks * (tasks - 1)
        and weights[moving].min(initial=np.inf) == weights[moving].max(initial=-np.inf)
        and tasks == num_places(question, ready.network)
        and np.bincount(ready.node_of).max() == question.tasks_per_node
    )


def _random_mappings(
    question: AnalyzeQuestion, ready: MappedNetwork, most: int
) -> tuple[list[dict[str, Any]], Ints, bool]:
    """Measure seeded random mappings: one row each, and how often each ν occurs in all.

    Also returns whether there were fewer because more would have taken too long. None with given
    routes, which exist for the pairs of nodes of one mapping only. ``most`` if nobody says how
    many.
    """
    graph, rows = ready.graph, list[dict[str, Any]]()
    counts = np.zeros(1, np.int64)
    asked = question.random_mappings
    mappings = 0 if isinstance(ready.routing, SourceRoutes) else most if asked is None else asked
    for seed in track(range(1, mappings + 1), "random mappings"):
        if seed > mappings:
            break
        node_of = place_program(
            "random", graph, ready.network, **placing(question) | {"seed": question.seed + seed}
        )
        drawn = replace(ready, node_of=node_of)
        if np.array_equal(*drawn.ends):
            continue  # several tasks a node: nothing is left that crosses the network
        mapped = drawn.measured(question.weight)
        if asked is None and not rows:
            mappings = min(max(WORK // _work(mapped, ready.routing), 1), MOST_RANDOM)
        rows.append(figures(question.seed + seed, graph, mapped))
        more = np.zeros(0, np.int64)
        if mapped.by_path is not None:
            more = np.bincount(mapped.by_path.path_contention[mapped.moving])
        longest = max(len(counts), len(more))
        counts = np.pad(counts, (0, longest - len(counts)))
        counts[: len(more)] += more
    return rows, counts, asked is None and 0 < mappings < MOST_RANDOM


def _work(mapped: MappedProgram, routing: Routing) -> int:
    """Return what measuring one mapping costs, in units of 1 to 2.5 ns.

    Dimension order is counted path by path. Other paths are compared channel by channel, each with
    all others there.
    """
    found = mapped.contention
    work = PATH_WORK * len(found.moving) + 20 * len(found.channel_bandwidth)
    if mapped.by_path is None:
        return max(work, 1)
    if not isinstance(routing, DimensionOrder):
        work += int((found.channel_load.astype(np.float64) ** 2).sum())
    return max(work, 1)


def _estimate(graph: ProcessGraph, network: Topology, routing: Routing) -> MeshEstimate | None:
    """Table 3.1, which is for dimension order on square meshes."""
    own = cube_of_hosts(network)
    if own is None or not isinstance(routing, DimensionOrder):
        return None
    if any(own[0].wraps) or len(own[0].sides) != 2 or len(set(own[0].sides)) > 1:
        return None
    return estimate_mesh(network.num_hosts, graph.num_edges / graph.num_tasks)


def _expected(
    question: AnalyzeQuestion, graph: ProcessGraph, network: Topology, routing: Routing
) -> Expectation | None:
    """Exact expectations of a random mapping, where they are known."""
    own = cube_of_hosts(network)
    if own is None or not isinstance(routing, DimensionOrder):
        return None
    if not network.even:
        return None
    if question.nodes is not None or question.tasks_per_node > 1 or network.num_hosts < 4:
        return None
    with patience(f"Working out what random mappings do to {graph.num_edges:,} paths"):
        return expect_random(own[0], routing, graph.source, graph.target)


def _deadlock(network: Topology, routing: Routing) -> tuple[int, ...] | None:
    """Return a cycle of channels that can deadlock, () if there is none, None if unknown."""
    try:
        return find_deadlock(network, routing)
    except InputError:  # too large to search, which is no reason to say nothing else
        return None


def _offered(
    question: AnalyzeQuestion, graph: ProcessGraph, mapped: MappedProgram, on: Machine | None
) -> float | None:
    """Offered traffic, from whichever way it was told."""
    if question.run_seconds is None and question.instructions_per_message is None:
        return question.offered
    if on is None:
        raise InputError("on", "no machine", f"one of {', '.join(machine_names())} for this load")
    sent = np.bincount(mapped.source[mapped.moving], graph.bytes[mapped.moving])
    if question.run_seconds is not None:
        mean_sent = float(sent.sum() / np.count_nonzero(sent))
        return offered_by_run(mean_sent, question.run_seconds * 1e6, on.bandwidth_bytes_per_us)
    assert question.instructions_per_message is not None
    assert question.mips is not None
    message_bytes = float(sent.sum() / graph.messages[mapped.moving].sum())
    return offered_by_program(
        message_bytes,
        question.instructions_per_message / question.mips,
        float(on.message_time_us(message_bytes)),
        on.bandwidth_bytes_per_us,
    )
