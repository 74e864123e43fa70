"""What latency will this program's packets have at this load, and where does it saturate?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.spec import split_spec
from netloom.base.words import counted, number
from netloom.models.channel_queueing import (
    KNEE,
    LIMITS,
    NOT_FOUND,
    PARTS,
    Band,
    Busy,
    ChannelRouter,
    accuracy_flags,
    channel_saturation,
    follow_flows,
    host_flows,
    latency_band,
    off_by,
    predict_channels,
    prepare_channels,
    provenance,
    resource_name,
    router_kind,
    saturation_band,
    saturation_limit,
)
from netloom.questions.base import Numbers, ask, option, parse_rates
from netloom.questions.columns import (
    CYCLES,
    FLITS,
    Column,
    Columns,
    CurveKind,
    channel_columns,
    channels_by,
    in_figures,
    known,
    table,
)
from netloom.questions.fields import (
    ROUTER_FIELDS,
    AnyPath,
    EdgeWeight,
    NetworkQuestion,
    PatternTraffic,
    Placed,
    Program,
    ProgramFile,
    asked_router,
    refuse,
)
from netloom.questions.named import (
    entering,
    mapping_name,
    network_of,
    num_places,
    placed,
    provenance_of,
    read_program,
    read_traffic,
)
from netloom.questions.outputs import PLOT
from netloom.questions.predict.shared import (
    AT_THE_KNEE,
    RATES,
    SATURATED,
    SIMULATED,
    STEADY,
    Beside,
    CurveAnswer,
    Simulated,
    beside,
    some_of,
)
from netloom.questions.register import asks
from netloom.questions.simulate.load import BY_LOAD, simulate
from netloom.routing import (
    VirtualChannelRouting,
    parse,
    parse_routing,
    virtual_channel_routing,
)
from netloom.routing.parse import SYNONYMS
from netloom.routing.virtual_channel_tables import CHOOSING
from netloom.routing.virtual_channels import named_routing
from netloom.simulation.capacity import Bound
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.routers import Router
from netloom.topology import Cube, average_distance
from netloom.topology.alike import check_alike
from netloom.topology.faults import broken_parts
from netloom.workload import Traffic
from netloom.workload.programs.shared import between_groups
from netloom.workload.traffic import from_process_graph
from netloom.workload.traffic.targets import Fixed, Weighted

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats
    from netloom.base.provenance import Provenance
    from netloom.machines import Machine
    from netloom.models.channel_queueing import ChannelPrediction, Flows, PreparedChannels
    from netloom.questions.simulate.load import Simulation
    from netloom.routing import Routing
    from netloom.routing.virtual_channels import VirtualRouting
    from netloom.topology import Topology


LATENCY_FACTOR = 3.0
"""Times the latency of an idle network, from which one is called saturated, as in simulations."""


@dataclass(frozen=True, eq=False)
class PredictedNetwork:
    """What is the same at all loads.

    Attributes
    ----------
    topology, traffic, routing, given_routing, router_name, router
        What was asked about. ``given_routing`` is what ``routing`` is the name of.
    layers
        Layers of VCs that keep paths free of deadlock which could wait in a circle; else 1.
    saturation
        The offered load at which latency is three times that of the idle network, or there is no
        steady state: what ``find_saturation`` looks for. An estimate, at most ``bound``.
    limit
        The resource that has least to spare there.
    limit_told
        Whether the model also has an answer above that load. If not, the search may have ended
        where the model cannot be solved, and not where the network saturates.
    bound
        The load that no router could go beyond, and what limits it.
    inside_nodes
        The share of the traffic that stays inside nodes.
    """

    topology: Topology
    traffic: Traffic
    routing: str
    layers: int
    given_routing: VirtualRouting
    router_name: str
    router: Router
    prepared: PreparedChannels
    saturation: float
    limit: Busy
    limit_told: bool
    bound: Bound
    inside_nodes: float

    @cached_property
    def kind(self) -> str:
        """Which of ``channel_accuracy.KINDS`` the router is of."""
        return router_kind(self.prepared.router, self.prepared.flits)

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Why to expect more than the usual error, a line each."""
        network = self.prepared, self.topology, self.traffic, self.routing, asdict(self.router)
        return tuple(accuracy_flags(*network, limit_told=self.limit_told))

    @property
    def saturation_error(self) -> Band:
        """The errors of saturations of such networks."""
        return saturation_band(self.kind)

    @property
    def saturation_range(self) -> tuple[float, float]:
        """Where nine of ten such networks saturate, nowhere beyond what bounds it."""
        error = self.saturation_error.within
        return off_by(self.saturation, -error, error, most=self.bound.load)

    def latency_error(self, load: float) -> Band | None:
        """Return the errors of latencies at a load of such networks. None above the knee."""
        part = load / self.saturation
        return latency_band(self.kind, part) if part <= KNEE else None

    def state(self, load: float, *, steady: bool) -> str:
        """Return ``STEADY``, ``AT_THE_KNEE`` or ``SATURATED``."""
        if not steady or load >= self.saturation:
            return SATURATED
        return STEADY if load <= KNEE * self.saturation else AT_THE_KNEE

    def place(self, busy: Busy) -> str:
        """Name a resource: ``injection at node (0,3)``, ``channel (4,4) -> (4,3)``."""
        return resource_name(busy, self.prepared, self.topology)

    def busy(self, busy: Busy) -> dict[str, Any]:
        """Return a resource as plain data."""
        return {
            "what": busy.what,
            "where": self.place(busy),
            "utilisation": busy.utilisation,
        }

    @property
    def router_fields(self) -> dict[str, Any]:
        """The router as plain data."""
        fields = asdict(self.router)
        kept = {name: fields[name] for name in ROUTER_FIELDS}
        return {"name": self.router_name, "switching": self.router.switching} | kept

    @property
    def limit_in_words(self) -> dict[str, Any]:
        """What limits the network where it saturates, as plain data."""
        return self.busy(self.limit) | {"told": self.limit_told}

    @property
    def limit_sentence(self) -> str:
        """What limits the network where it saturates, in words."""
        where, busy = self.place(self.limit), f"busy {self.limit.utilisation:.0%} of the time"
        busy = busy.replace("%", " %")
        if self.limit_told:
            return f"{where}, {busy}"
        return f"{NOT_FOUND} above this load, which may be the model's doing; {where} is {busy}"


@dataclass(frozen=True, eq=False)
class PredictedLoad:
    """One load: what the model says, and what was simulated beside it.

    Attributes
    ----------
    network, found
        The network, and what the model says: also near saturation, where it gives no latency.
    simulated
        What was simulated. None where nothing was.
    """

    network: PredictedNetwork
    found: ChannelPrediction
    simulated: Beside | None = None

    @property
    def state(self) -> str:
        """``steady``, ``knee: simulate`` or ``saturated``."""
        return self.network.state(self.found.load, steady=not self.found.saturated)

    @property
    def saturated(self) -> bool:
        """Whether the load is past saturation."""
        return self.state == SATURATED

    @property
    def latency(self) -> float | None:
        """Mean packet latency in cycles. None near and past saturation."""
        return known(self.found.latency) if self.state == STEADY else None

    @property
    def error(self) -> Band | None:
        """The errors of such latencies. None where there is no latency."""
        return self.network.latency_error(self.found.load) if self.state == STEADY else None

    @cached_property
    def range(self) -> tuple[float | None, float | None]:
        """Between which latencies nine of ten such networks are."""
        if self.error is None:
            return None, None
        least = self.found.zero_load_latency
        error = self.error
        return off_by(self.found.latency, error.below, error.above, least=least, most=inf)

    @cached_property
    def tightest(self) -> dict[str, Any]:
        """The resource that has least to spare. Nothing past saturation."""
        return {} if self.saturated else self.network.busy(self.found.tightest)

    @property
    def sentence(self) -> str:
        """What the load comes to."""
        said = self.state
        if self.error is not None:
            low, high = map(number, self.range)
            said = f"{number(self.found.latency)} cycles ({low} to {high})"
        beside = "" if self.simulated is None else self.simulated.sentence
        return f"offered {number(self.found.load)}: {said}{beside}"


def _steady(value: Callable[[PredictedLoad], Any]) -> Callable[[PredictedLoad], Any]:
    """Return what gives a value where there is a steady state, and None elsewhere."""
    return lambda each: value(each) if each.state == STEADY else None


OFFERED = Column("offered", unit=FLITS, value="found.load", key=True)


@dataclass(frozen=True, eq=False)
class LatencyPrediction(CurveAnswer):
    """What ``predict_latency`` says, at one load or at several.

    Nine of ten latencies of such networks are off by less than ``expected_error``, which is
    between ``latency_low`` and ``latency_high``. ``tightest`` is the resource that has least to
    spare.

    Attributes
    ----------
    network
        What was asked about, where it saturates and by what, its bound, and how far the model is
        off on such networks.
    mapping, packet_flits
        The name of the mapping (None without a program), and what was asked.
    points
        What the model says, one for each load, rising: also of loads near saturation, of which
        ``table`` has no latency.
    simulated
        The network, simulated at some of the loads. None where it was not asked for.
    """

    columns: ClassVar = Columns(
        OFFERED,
        Column("saturated", kind=bool),
        Column("state", kind=str, key=True),
        Column("latency", unit=CYCLES, key=True),
        Column(
            "network_latency", "in the network", CYCLES, key=True,
            value=_steady(lambda each: each.found.network_latency),
        ),
        Column(
            "source_wait", "in the source queue", CYCLES, key=True,
            value=_steady(lambda each: each.found.source_wait),
        ),
        Column(
            "worst_path_latency", "on the worst path", CYCLES,
            value=_steady(lambda each: each.found.path_latency.max()),
        ),
        Column(
            "expected_error", "nine of ten are off by less than, share", key=True,
            value=lambda each: each.error and each.error.within,
        ),
        Column("latency_low", "nine of ten from", CYCLES, lambda each: each.range[0]),
        Column("latency_high", "nine of ten to", CYCLES, lambda each: each.range[1]),
        Column(
            "utilisation_mean", "mean channel", "flits/cycle",
            lambda each: each.found.utilisation.sum() / max(len(each.found.utilisation), 1),
        ),
        Column(
            "utilisation_max", "busiest channel", "flits/cycle",
            lambda each: each.found.utilisation.max(initial=0.0),
        ),
        Column("tightest", "least to spare", "", lambda each: each.tightest.get("where"), str),
        Column(
            "tightest_utilisation", "it is busy, share",
            value=lambda each: each.tightest.get("utilisation"),
        ),
        *SIMULATED,
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("topology", kind=str, value="topology.name"),
        Column("nodes", kind=int, value="topology.num_hosts"),
        Column("channels", kind=int, value="topology.num_network_channels"),
        Column("failures", kind=dict, value=lambda answer: broken_parts(answer.topology)),
        Column("traffic", kind=str, value="network.traffic.name"),
        Column("inside_nodes", value="network.inside_nodes"),
        Column("mapping", kind=str),
        Column("routing", kind=str, value="network.routing"),
        Column("vc_layers", "layers of VCs", kind=int, value="network.layers"),
        Column("router", kind=dict, value="network.router_fields"),
        Column("packet_flits", unit="flits", kind=int),
        Column(
            "zero_load_latency", unit=CYCLES, value=lambda each: each.points[0].zero_load_latency
        ),
        Column("saturation_offered", unit=FLITS, value="saturation"),
        Column("saturation_expected_error", value="network.saturation_error.within"),
        Column("saturation_range", kind=list, value="network.saturation_range"),
        Column("saturation_limit", kind=dict, value="network.limit_in_words"),
        Column("latency_factor", value=lambda _: LATENCY_FACTOR),
        Column("throughput_bound", kind=dict, value=lambda each: each.network.bound.to_json()),
        Column("busiest_channel", kind=str),
        Column("flags", kind=list),
        Column("router_kind", kind=str, value="network.kind"),
        Column("trust", kind=str),
        Column("interrupted", kind=bool),
    )

    network: PredictedNetwork
    mapping: str | None
    packet_flits: int
    points: tuple[ChannelPrediction, ...]
    simulated: Simulation | None
    provenance: Provenance

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.network.topology

    @property
    def router(self) -> Router:
        """The router."""
        return self.network.router

    @property
    def saturation(self) -> float:
        """The offered load at which it saturates. See ``PredictedNetwork``."""
        return self.network.saturation

    @property
    def flags(self) -> tuple[str, ...]:
        """Why to expect more than the usual error, a line each."""
        return self.network.flags

    @property
    def name(self) -> str:
        """What a person calls it: ``app.mtx on mesh:8x8, mapping random``."""
        mapped = "" if self.mapping is None else f", mapping {self.mapping}"
        return f"{self.network.traffic.name} on {self.topology.name}{mapped}"

    @property
    def observations(self) -> tuple[PredictedLoad, ...]:
        """What is known of each load."""
        loads = (PredictedLoad(self.network, point) for point in self.points)
        return tuple(replace(each, simulated=self._beside(each)) for each in loads)

    def _beside(self, load: PredictedLoad) -> Beside | None:
        points = self.simulated.points if self.simulated else ()
        point = next((each for each in points if each.run.load == load.found.load), None)
        if point is None or not point.run.measured.packets:
            return None
        latency, half = point.packet_latency_mean, point.packet_latency_ci95
        return beside(latency, half, load.latency, stable=point.run.stable)

    @table(channel_columns(OFFERED))
    def channels(self) -> pl.DataFrame:
        """Return one row per load and channel: its two nodes, and flits per cycle on it."""
        runs = ((point.load, point.utilisation) for point in self.points)
        return channels_by("offered", runs, self.topology)

    @property
    def busiest_channel(self) -> str | None:
        """The channel that carries most: ``(0,6) -> (0,7)``. None where none is used.

        It need not be what limits the network: see ``network.limit``.
        """
        used = next((point for point in reversed(self.points) if point.busiest_channel >= 0), None)
        if used is None:
            return None
        return self.topology.channel_name(used.busiest_channel)

    @property
    def trust(self) -> str:
        """How far the model can be trusted, in a line: measured on such networks."""
        network, saturation = self.network, self.network.saturation_error
        latencies = ", ".join(
            f"{100 * band.below:+.2g} to {100 * band.above:+.2g} % up to {part:g}"
            for part in PARTS
            for band in [latency_band(network.kind, part)]
        ).replace("-", "−")
        return (
            f"{network.kind}: nine of ten of {saturation.compared} simulated networks saturate "
            f"within {100 * saturation.within:.2g} % of what the model says; latency, at parts of "
            f"the saturation: {latencies} ({provenance()})"
        )

    def __repr__(self) -> str:
        network, router = self.network, self.router
        low, high = network.saturation_range
        head = (
            f"<{self.name}, {network.routing}, {router.vcs} VCs of {router.buffer_flits} flits, "
            f"{self.packet_flits}-flit packets: {self.points[0].zero_load_latency:.4g} cycles "
            f"idle, saturates at {self.saturation:.4g} ({low:.4g} to {high:.4g}) "
            f"flits/node/cycle by {network.limit_sentence}, at most {network.bound.load:.4g} by "
            f"{network.bound.what}; {self.origin}>"
        )
        loads = (each.sentence for each in self.observations)
        return "\n".join([head, *(f"! {flag}" for flag in self.flags), *loads])


CURVE = CurveKind(
    BY_LOAD, "offered", "latency", "zero_load_latency", stable="-saturated", model=True,
    besides=("offered", "simulate"), found=in_figures("saturation_offered"),
)  # fmt: skip


MOST_HOPS = 2**24
"""Hops of all pairs of nodes times VCs: what the model holds in memory."""

OF_A_PROGRAM = ("messages", "parts", "mapping", "weight", "tasks_per_node")
"""Fields that say something of ``app`` only."""


class LatencyQuestion(Simulated, EdgeWeight, Placed, ProgramFile, PatternTraffic, NetworkQuestion):
    """A network whose routing leaves no choice, and the packets of a program or pattern."""

    app: Program | None = option(
        "Process graph, as for analyze (default: the pattern of traffic).",
        default=None,
        panel="Program",
        file=True,
    )
    routing: AnyPath = option(
        "Routing without a choice of channels: default, dimension-order, shortest-"
        "path, layered, up-down or routes:FILE.",
        default="default",
        flags=("--routing", "--routes"),
        panel="Network",
        file=True,
    )
    offered: Numbers = option(
        f"Offered load of the average sending node: 0.2, several, {RATES}.",
        default="0:auto",
        panel="Traffic",
        unit="flits/node/cycle",
    )
    packet_flits: int = option(
        "Length of all packets.", default=5, ge=1, le=2**14, panel="Traffic", unit="flits"
    )


def prepare(question: LatencyQuestion) -> PredictedNetwork:
    """Return the network, ready to be predicted at any load, and where the model saturates."""
    question.refuse_limits_alone()
    topology, on_machine = network_of(question)
    check_alike(topology, "the model of latency")
    router_name, router = _router(question, on_machine)
    traffic, inside = _traffic(question, topology)
    with patience(f"{traffic.name} on {topology.name}: channel queueing"):
        given = question.routing
        if isinstance(given, str):
            _refuse_choices(topology, given, router, traffic)
            given = (named_routing if topology.direct else _named)(topology, given)
        prepared, bound, routing, layers = _prepared(question, topology, given, router, traffic)
        saturation = min(channel_saturation(prepared, latency_factor=LATENCY_FACTOR), bound.load)
        limit, told = saturation_limit(prepared, saturation)
    return PredictedNetwork(
        topology=topology,
        traffic=traffic,
        routing=routing,
        layers=layers,
        given_routing=given,
        router_name=router_name,
        router=router,
        prepared=prepared,
        saturation=saturation,
        limit=limit,
        limit_told=told,
        bound=bound,
        inside_nodes=inside,
    )


def predicted_network(on: str | Topology | Machine, **options: Any) -> PredictedNetwork:
    """Return the network of ``predict_latency(on, **options)``, ready to be predicted."""
    return prepare(ask(LatencyQuestion, {"on": on, **options}))


@asks(
    LatencyQuestion,
    prepare=prepare,
    title="Model of latency",
    example="netloom predict latency --on mesh:8x8 --app examples/lammps-64.mtx --plot curve.svg",
    page="predict.md",
    outputs=(PLOT,),
)
def predict_latency(question: LatencyQuestion, network: PredictedNetwork) -> LatencyPrediction:
    """Predict the latency of packets by load, and where a network saturates.

    Queueing theory gives the latency from the rates of all channels, VCs and buffers: see
    ``models.channel_queueing``. Every figure has its expected error, from a study of random
    networks with such routers (``models.channel_accuracy``), and the answer names what limits the
    network. Above nine tenths of the predicted saturation the model gives no latency: simulate.
    ``simulate`` also runs the network and shows progress. Ctrl-C ends the runs, and the answer
    contains what is known by then.

    Raises
    ------
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> found = predict_latency("mesh:8x8", app="examples/lammps-64.mtx", offered=[0.1, 0.2])
    >>> found.table()["latency"].is_sorted()
    True
    >>> round(predict_latency("mesh:4x4", offered=0).to_dict()["latency"], 2)  # 2.67 hops
    20.67
    """
    loads = parse_rates(question.offered, "offered", lambda: network.saturation, nearly=KNEE)
    if loads[-1] > 1:
        raise InputError("offered", f"{loads[-1]:g}", "at most 1 (flits/node/cycle)")
    with patience(f"{network.traffic.name} on {network.topology.name}: channel queueing"):
        points = tuple(predict_channels(network.prepared, load, crowded=True) for load in loads)
    return LatencyPrediction(
        network=network,
        mapping=None if question.app is None else mapping_name(question.mapping),
        packet_flits=question.packet_flits,
        points=points,
        simulated=_simulated(question, network, loads),
        provenance=provenance_of(question, "predict_latency", network.topology),
    )


def _router(question: LatencyQuestion, on_machine: Machine | None) -> tuple[str, Router]:
    """Return the router, if the model knows what it does."""
    name, router = asked_router(question, on_machine)
    if question.switching is not None:
        router = replace(router, switching=question.switching)  # type: ignore[arg-type]
    if router.switching not in ("wormhole", "virtual-cut-through"):
        wanted = "wormhole or virtual-cut-through, which the model is of"
        raise InputError("switching", f"'{router.switching}'", wanted)
    for field in ("injection_channels", "ejection_channels", "switch_allocation_cycles"):
        if getattr(router, field) != 1:
            raise InputError(field, f"{getattr(router, field)}", "1, as the model has it")
    return name, router


def _traffic(question: LatencyQuestion, topology: Topology) -> tuple[Traffic, float]:
    """Return the traffic, and the share that stays inside nodes."""
    if question.app is None:
        refuse(question, OF_A_PROGRAM, "app, which this says something of")
        asked = read_traffic(question.traffic, topology, question.nodes)
        return between_groups(asked, topology.local_group)
    if question.traffic is not None:
        raise InputError("traffic", "traffic as well as app", "one of them")
    graph = read_program(
        question.app, messages=question.messages, parts=question.parts,
        tasks=num_places(question, topology), seed=question.seed,
    )  # fmt: skip
    node_of = placed(question, graph, topology)
    sent, inside = entering(graph, topology, node_of, question.weight)
    traffic = from_process_graph(sent, node_of, topology.num_hosts, weight=question.weight)
    return traffic, inside


def _prepared(
    question: LatencyQuestion,
    topology: Topology,
    given: VirtualRouting,
    router: Router,
    traffic: Traffic,
) -> tuple[PreparedChannels, Bound, str, int]:
    """Return what the model starts from, what limits the traffic, the routing, and its layers."""
    count = _pairs(traffic)
    hops = average_distance(topology) if isinstance(topology, Cube) else 1
    if count * hops * router.vcs > MOST_HOPS:
        found = f"{count:,} pairs of nodes that communicate, with {counted(router.vcs, 'VC')}"
        wanted = f"at most {counted(MOST_HOPS, 'hop', ',')} of all pairs, times VCs"
        wanted += "; simulate it" if topology.direct else ""
        raise InputError(topology.name, found, wanted)
    if not topology.direct:
        return _prepared_hosts(question, topology, given, router, traffic)
    routing = virtual_channel_routing(topology, given, num_vcs=router.vcs)
    flows = follow_flows(routing, *_rates(traffic))
    prepared = prepare_channels(flows, channel_router(router), flits=question.packet_flits)
    return prepared, throughput_bound(topology, routing, traffic, router), routing.name, 1


def _prepared_hosts(
    question: LatencyQuestion,
    topology: Topology,
    given: VirtualRouting,
    router: Router,
    traffic: Traffic,
) -> tuple[PreparedChannels, Bound, str, int]:
    """Return the same where hosts hang on routers: the bound is the channels', hosts' included."""
    if isinstance(given, str | VirtualChannelRouting):
        found = given if isinstance(given, str) else f"the table {given.name}"
        raise InputError("routing", found, "paths between hosts, such as up-down or routes:FILE")
    flows = host_flows(topology, given, *_rates(traffic), vcs=router.vcs, most_hops=MOST_HOPS)
    prepared = prepare_channels(flows, channel_router(router), flits=question.packet_flits)
    load = np.bincount(prepared.turns.channel, prepared.turn_rate * prepared.flits)
    fullest = Busy(LIMITS[0], int(np.argmax(load)), 1.0)
    what = resource_name(fullest, prepared, topology)
    bound = Bound(load=prepared.full_load, what=what)
    return prepared, bound, str(given), _layers(flows)


def _layers(flows: Flows) -> int:
    """Return in how many layers of VCs paths are that could deadlock, or 1 if in none."""
    used = np.unique(flows.vc_share, axis=0)
    disjoint = len(used) > 1 and ((used > 0).sum(axis=0) <= 1).all()
    return len(used) if disjoint else 1


def _refuse_choices(topology: Topology, name: str, router: Router, traffic: Traffic) -> None:
    """Refuse a routing whose packets choose channels, with the limit that holds for all choices."""
    kind = split_spec(name)[0]
    kind = SYNONYMS.get(kind, kind)
    if kind not in (*parse.SIMULATED, *CHOOSING):
        return
    routing = virtual_channel_routing(topology, name, num_vcs=router.vcs)
    bound = throughput_bound(topology, routing, traffic, router)
    found = f"'{name}', whose packets choose among channels: {bound.sentence}"
    wanted = "one that leaves no choice of channels, such as up-down; or simulate it"
    raise InputError("routing", found, wanted)


def _named(topology: Topology, spec: str) -> Routing:
    return parse_routing(spec, topology)


def _rates(traffic: Traffic) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Return the pairs of nodes, and flits per cycle of each if the average sender sends 1."""
    pairs = traffic.matrix()
    return pairs.source, pairs.target, pairs.weight * np.count_nonzero(traffic.rate)


def _pairs(traffic: Traffic) -> int:
    """Return how many pairs of nodes may communicate, before they are listed."""
    if isinstance(traffic.law, Weighted):
        return len(traffic.law.target)
    return traffic.num_nodes if isinstance(traffic.law, Fixed) else traffic.num_nodes**2


def channel_router(router: Router) -> ChannelRouter:
    """Return a router's properties as the model needs them."""
    times = router.timing()
    head = times.head_wait + (0 if router.speculative else 1)
    return ChannelRouter(
        vcs=router.vcs,
        buffer_flits=router.buffer_flits,
        switching=router.switching,  # type: ignore[arg-type]
        hop_cycles=head + times.flit,
        end_cycles=head + times.injection + times.ejection,
        credit_cycles=times.credit,
        head_cycles=head,
        entry_loop_cycles=times.injection + times.injection_credit,
    )


def _simulated(
    question: LatencyQuestion, network: PredictedNetwork, loads: tuple[float, ...]
) -> Simulation | None:
    """Return what the simulator says of some loads that the network could carry, if asked."""
    if not question.simulate:
        return None
    bound = network.bound
    offered = [load for load in loads if 0 < load <= bound.load]
    if not offered:
        wanted = f"above 0, at most {bound.load:.4g} (by {bound.what}), to simulate"
        raise InputError("offered", f"{loads[0]:g}", wanted)
    return simulate(
        network.topology,
        count_inside_nodes=question.count_inside_nodes,
        traffic=network.traffic,
        load=some_of(offered),
        routing=network.given_routing,
        router=network.router,
        packet_flits=question.packet_flits,
        cycles=question.cycles,
        precision=question.precision,
        most_cycles=question.most_cycles,
        seed=question.seed,
    )
