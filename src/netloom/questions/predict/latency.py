"""Predict the latency of packets by load, and where a network saturates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, FLITS, SHARE, Figures, figure, unseen
from netloom.base.progress import patience
from netloom.base.spec import split_spec
from netloom.base.words import counted, number, percent
from netloom.contention import channel_queueing as queueing
from netloom.contention.busiest import USED, ChannelUse, channel_uses
from netloom.machines import Machine
from netloom.questions import fields, named
from netloom.questions.answers import Columns, Mark, Parts, Verdict, table
from netloom.questions.base import Numbers, ask, option, parse_rates
from netloom.questions.curves import CurveKind, in_figures
from netloom.questions.outputs import PLOT
from netloom.questions.predict import shared
from netloom.questions.register import asks
from netloom.questions.simulate.engines import OnTopology
from netloom.questions.simulate.load import BY_LOAD, simulate
from netloom.questions.simulate.programs import pattern_asked
from netloom.questions.terminal import arrow, order_named, subject
from netloom.routing import VirtualChannelRouting, parse, parse_routing, virtual_channel_routing
from netloom.routing.virtual_channel_tables import CHOOSING
from netloom.routing.virtual_channels import VirtualRouting, named_routing
from netloom.simulation.network.bound import Bound, throughput_bound
from netloom.simulation.network.routers import Router
from netloom.topology import Cube, Topology, average_distance
from netloom.topology.measures import check_alike
from netloom.workload import Traffic
from netloom.workload.traffic import from_process_graph
from netloom.workload.traffic.patterns import Fixed, Weighted

LATENCY_FACTOR = 3.0
"""Times the latency of an idle network, from which one is called saturated, as in simulations."""

MOST_HOPS = 2**24
"""Hops of all pairs of nodes times VCs: what the model holds in memory."""

STEADY, AT_THE_KNEE, SATURATED = "steady", "knee: simulate", "saturated"
"""What a network is at a load, by the model."""

NEW_MAPPING = ("app", "on", "messages", "parts", "nodes")
"""Fields that a search for a better mapping takes over."""


class LatencyQuestion(
    shared.Simulated,
    fields.EdgeWeight,
    fields.Placed,
    fields.ProgramFile,
    fields.PatternTraffic,
    fields.NetworkQuestion,
):
    """A network whose routing leaves no choice, and the packets of a program or pattern."""

    app: fields.Program | None = option(
        "Process graph, as for analyze (default: the pattern of traffic).",
        default=None,
        panel="Program",
        file=True,
    )
    routing: fields.AnyPath = fields.routing_option(
        "Routing without a choice of channels: default, dimension-order, shortest-"
        "path, layered, up-down or routes:FILE."
    )
    offered: Numbers = option(
        f"Offered load of the average sending node: 0.2, several, {shared.RATES}.",
        default="0:auto",
        panel="Traffic",
        unit="flits/node/cycle",
    )
    packet_flits: int = option(
        "Length of all packets.", default=5, ge=1, le=2**14, panel="Traffic", unit="flits"
    )


class PredictedLoad(Figures):
    """What the model says of one load, and what was simulated beside it.

    Latencies are None near saturation and past it. Nine of ten latencies of such networks are off
    by less than ``expected_error``, which is between ``latency_low`` and ``latency_high``.
    ``tightest`` is the resource that has least to spare.
    """

    offered: float = figure(unit=FLITS, head="load", lead=True, key=True)
    saturated: bool
    state: str = figure(lead=True, key=True)
    latency: float | None = figure(unit=CYCLES, lead=True, key=True)
    network_latency: float | None = figure(
        "in the network", CYCLES, head="in network", lead=True, key=True
    )
    source_wait: float | None = figure("in the source queue", CYCLES, key=True)
    worst_path_latency: float | None = figure(
        "on the worst path", CYCLES, head="worst path", lead=True
    )
    expected_error: float | None = figure(
        "nine of ten are off by less than", SHARE, head="error", lead=True, key=True
    )
    latency_low: float | None = figure("nine of ten from", CYCLES)
    latency_high: float | None = figure("nine of ten to", CYCLES)
    utilisation_mean: float = figure("mean channel", USED)
    utilisation_max: float = figure("busiest channel", USED, head="busiest", lead=True)
    tightest: str | None = figure("least to spare")
    tightest_utilisation: float | None = figure("what has least to spare is busy", SHARE)
    simulated: shared.Checked | None = figure(flat="simulated_", lead=True, key=True)


class Resource(Figures):
    """What limits a network where it saturates. ``told``: whether the model has answers above."""

    what: str
    where: str
    utilisation: float = figure("busy", SHARE)
    told: bool


class Channel(Figures):
    """A channel at one load."""

    offered: float = figure(unit=FLITS, key=True)
    use: ChannelUse = figure(at=".")


class LatencyPrediction(shared.CurveAnswer, OnTopology):
    """What ``predict_latency`` says, at one load or at several.

    Attributes
    ----------
    saturation
        The offered load at which latency is three times that of the idle network, or there is no
        steady state: what ``find_saturation`` looks for. An estimate, at most
        ``throughput_bound``. Nine of ten such networks saturate in ``saturation_range``.
    busiest_channel
        The channel that carries most. None where none is used. It need not be what limits the
        network: see ``limiting_resource``.
    flags
        Why to expect more than the usual error, a line each.
    trust
        How far the model can be trusted, in a line: measured on such networks.
    """

    traffic: str
    inside_nodes: float
    mapping: str | None
    routing: str
    vc_layers: int = figure("layers of VCs")
    router: dict[str, object]
    packet_flits: int = figure(unit="flits")
    zero_load_latency: float = figure("idle", CYCLES, lead=True)
    saturation: float = figure("saturates at", FLITS, at="saturation_offered", lead=True)
    saturation_expected_error: float = figure("nine of ten saturate within", SHARE)
    saturation_range: tuple[float, ...]
    saturation_limit: Resource
    latency_factor: float
    throughput_bound: Bound
    busiest_channel: str | None
    flags: tuple[str, ...]
    router_kind: str
    trust: str
    interrupted: bool
    points: tuple[PredictedLoad, ...]
    network: PredictedNetwork = unseen()
    found: tuple[queueing.ChannelPrediction, ...] = unseen(default=())

    @property
    def of(self) -> str:
        """The traffic, the network and the mapping."""
        return subject(self.traffic, self.topology, self.mapping)

    def judged(self) -> Verdict:
        """Return what one load, or several, come to."""
        mark, said = self._several() if self.several else self._one(self.points[0])
        limit, bound = self.saturation_limit, self.throughput_bound
        where = f"{arrow(limit.where)} saturates first, busy {percent(limit.utilisation)}"
        if not limit.told:
            where = f"not known: the model has no answer above {_flits(self.saturation)}"
        full = f"nothing beyond {number(bound.load)} ({bound.what.replace(' -> ', '→')})"
        lines = {
            "where": where,
            "limits": f"saturates at {self._range}* · {full}",
            "checked": self.checked,
            "care": "; ".join(self.flags),
        }
        note = "* estimate. Nine of ten simulated meshes and tori with such routers saturate within"
        note += f" {shared.rounded(self.saturation_expected_error)} of it."
        return Verdict(mark, said, lines, self._next(mark), note)

    def _one(self, point: PredictedLoad) -> tuple[Mark, str]:
        """Return the mark of one load, and what it comes to."""
        load, (low, high) = point.offered, self.saturation_range
        bound = self.throughput_bound.load
        if point.state == STEADY:
            mark: Mark = "limited" if load >= low else "fine"
            return mark, f"About {self._takes(point)}. Saturates near {_flits(self.saturation)}."
        if load > bound:
            most = f"at most {_flits(bound)} can be carried"
            return "act", f"Overloaded: {number(load)} is offered, {most}."
        if load > high:
            near = f"saturates near {_flits(self.saturation)} ({self._range})"
            return "act", f"Overloaded at {number(load)}: {near}."
        near = f"too near saturation for a model ({self._range} {FLITS})"
        return "unknown", f"{number(load)} is {near}: simulate it."

    def _several(self) -> tuple[Mark, str]:
        """Return the mark of several loads, and what they come to."""
        steady, last = [each for each in self.points if each.state == STEADY], self.points[-1]
        if not steady:
            return self._one(self.points[0])
        limit = _flits(self.saturation)
        if last.state == STEADY and last.offered < self.saturation_range[0]:
            all_of = f"All {len(self.points)} loads are carried: about {self._takes(last)}"
            return "fine", f"{all_of}. Saturates near {limit}."
        near = min(steady, key=lambda each: abs(each.offered - self.saturation / 2))
        idle = counted(number(self.zero_load_latency), "cycle")
        said = f"Saturates near {limit} ({self._range}): {idle} idle"
        if near.offered > 0:
            said += f", about {number(near.latency)} at {number(near.offered)}"
        return "limited", f"{said}."

    def _takes(self, point: PredictedLoad) -> str:
        """Return a latency with that of the idle network and its expected error."""
        idle = f"{number(self.zero_load_latency)} idle"
        error = "" if point.expected_error is None else shared.rounded(point.expected_error)
        at = f"{number(point.latency)} cycles at {number(point.offered)}"
        return f"{at} ({idle}, model error {error})"

    @property
    def _range(self) -> str:
        low, high = self.saturation_range
        return f"{number(low)} to {number(high)}"

    def _next(self, mark: Mark) -> str:
        """Return the command that checks the model, or that lowers the load of what saturates."""
        if mark == "act" and self.asked["app"] is not None:
            return self.again("map", but=[each for each in self.asked if each not in NEW_MAPPING])
        if self.checked or mark == "fine":
            return ""
        return self.again(offered="0:auto") if mark == "act" else self.again(simulate=True)

    def remarks(self) -> Iterator[str]:
        """Yield how busy channels are, of which routers the model is, and what was simulated."""
        if self.busiest_channel:
            yield f"busiest channel: {arrow(self.busiest_channel)}"
        last = self.points[-1]
        if not self.several and last.tightest is not None:
            busy = f"busy {percent(last.tightest_utilisation)} of the time"
            yield f"least to spare: {arrow(last.tightest)}, {busy}"
        yield f"{self.size}, {self._routers}"
        yield from self.simulation_remarks("the same network")

    @property
    def _routers(self) -> str:
        """The routing, the layers of VCs that its paths are in, the router and its packets."""
        layers = self.vc_layers
        router, packets = self.router, f"packets of {counted(self.packet_flits, 'flit')}"
        routing = self.routing + (f" in {layers} layers of VCs" if layers > 1 else "")
        named = f"{router['name']} router, {router['switching']}"
        vcs, flits = f"{router['vcs']}", f"{router['buffer_flits']}"
        return f"{routing}, {named}, {counted(vcs, 'VC')} of {counted(flits, 'flit')}, {packets}"

    @table(Channel)
    def channels(self) -> Columns:
        """Return one row per load and channel: its two nodes, and flits per cycle on it."""
        runs = ((each.load, each.utilisation) for each in self.found)
        return channel_uses("offered", runs, self.network.topology)

    @property
    def _carried(self) -> float:
        """The highest load with a steady state, or the lowest if none has one."""
        steady = [each.offered for each in self.points if not each.saturated]
        return steady[-1] if steady else self.points[0].offered

    def footer(self) -> list[str]:
        """Return what was predicted, on which routers, and where it saturates."""
        bound = self.throughput_bound
        mapped = "" if self.mapping is None else f", {order_named(self.mapping)}"
        return [
            f"{self.traffic} on {self.topology}{mapped}; {self._routers}; channels at load "
            f"{number(self._carried)}",
            f"Estimate of saturation (*): {number(self.saturation)} ({self._range}) by "
            f"{self.saturation_limit.where}; limit {number(bound.load)} by {bound.what}",
            *self.flags,
        ]

    def parts(self) -> Parts:
        """Return the latency by load, or what one is made of, and the channels."""
        from netloom.drawing.axes import LOAD_STEPS, axis
        from netloom.drawing.load_curves import latency_curve, made_of
        from netloom.drawing.networks.chart import USE
        from netloom.drawing.networks.traffic import Delays

        left = made_of(self.points[0])
        if self.several:
            low, high = self.saturation_range
            reached, limit = 1.3 * self.points[-1].offered, self.throughput_bound.load
            known = [each for each in (low, high, limit) if each <= reached]
            ends = [self.points[-1].offered, *known]
            along = replace(axis("offered", f"offered traffic ({FLITS})", ends), steps=LOAD_STEPS)
            near = limit if limit <= reached else None
            left = latency_curve(self.table(), along, self.zero_load_latency, (low, high), near)
        at = self._carried
        channels = self.channels().filter(offered=at)
        delays = Delays(self.saturation / at, 1.0) if at > 0 else None
        drawn = self.network_drawn(channels, "utilisation", USE, delays=delays)
        return {"latency": left, "channels": drawn}


def _flits(load: float) -> str:
    return f"{number(load)} {FLITS}"


CURVE = CurveKind(
    BY_LOAD,
    "offered",
    "latency",
    "zero_load_latency",
    stable="-saturated",
    model=True,
    besides=("offered", "simulate"),
    found=in_figures("saturation_offered"),
)


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
        The offered load at which it saturates: see ``LatencyPrediction``.
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
    prepared: queueing.PreparedChannels
    saturation: float
    limit: queueing.Busy
    limit_told: bool
    bound: Bound
    inside_nodes: float

    @cached_property
    def kind(self) -> str:
        """Which of ``channel_queueing.KINDS`` the router is of."""
        return queueing.router_kind(self.prepared.router, self.prepared.flits)

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Why to expect more than the usual error, a line each."""
        network = self.prepared, self.topology, self.traffic, self.routing, asdict(self.router)
        return tuple(queueing.accuracy_flags(*network, limit_told=self.limit_told))

    def place(self, busy: queueing.Busy) -> str:
        """Name a resource: ``injection at node (0,3)``, ``channel (4,4) -> (4,3)``."""
        return queueing.resource_name(busy, self.prepared, self.topology)

    def load(
        self, found: queueing.ChannelPrediction, simulated: Mapping[str, Any] | None
    ) -> PredictedLoad:
        """Return what is said of one load, and of its run in a simulation, if there is one."""
        saturated = found.saturated or found.load >= self.saturation
        steady = not saturated and found.load <= queueing.KNEE * self.saturation
        latency = float(found.latency) if steady else None
        part = min(found.load / self.saturation, queueing.KNEE)
        error = queueing.latency_band(self.kind, part) if steady else None
        low, high = None, None
        if latency is not None and error is not None:
            least = found.zero_load_latency
            low, high = queueing.off_by(latency, error.below, error.above, least=least, most=inf)
        checked = None
        if simulated is not None:
            mean, half = simulated["packet_latency_mean"], simulated["packet_latency_ci95"]
            checked = shared.Checked.of(mean, half, latency, stable=simulated["stable"])
        used = found.utilisation
        return PredictedLoad(
            offered=found.load,
            saturated=saturated,
            state=SATURATED if saturated else STEADY if steady else AT_THE_KNEE,
            latency=latency,
            latency_low=low,
            latency_high=high,
            network_latency=found.network_latency if steady else None,
            source_wait=found.source_wait if steady else None,
            worst_path_latency=float(found.path_latency.max()) if steady else None,
            expected_error=error.within if error else None,
            utilisation_mean=float(used.sum() / max(len(used), 1)),
            utilisation_max=float(used.max(initial=0.0)),
            tightest=None if saturated else self.place(found.tightest),
            tightest_utilisation=None if saturated else found.tightest.utilisation,
            simulated=checked,
        )


def prepare(question: LatencyQuestion) -> PredictedNetwork:
    """Return the network, ready to be predicted at any load, and where the model saturates."""
    question.refuse_limits_alone()
    topology, on_machine = named.network_of(question)
    check_alike(topology, "the model of latency")
    router_name, router = fields.asked_router(question, on_machine)
    if question.switching is not None:
        router = replace(router, switching=question.switching)  # type: ignore[arg-type]
    if router.switching not in ("wormhole", "virtual-cut-through"):
        wanted = "wormhole or virtual-cut-through, which the model is of"
        raise InputError("switching", f"'{router.switching}'", wanted)
    for field in ("injection_channels", "ejection_channels", "switch_allocation_cycles"):
        if getattr(router, field) != 1:
            raise InputError(field, f"{getattr(router, field)}", "1, as the model has it")
    traffic, inside = _traffic(question, topology)
    with patience(f"{traffic.name} on {topology.name}: channel queueing"):
        given = question.routing
        if isinstance(given, str):
            _refuse_choices(topology, given, router, traffic)
            if topology.direct:
                given = named_routing(topology, given)
            else:
                given = parse_routing(given, topology)
        law, count = traffic.law, traffic.num_nodes**2  # pairs that may communicate, not yet listed
        if isinstance(law, Fixed | Weighted):
            count = len(law.target) if isinstance(law, Weighted) else traffic.num_nodes
        hops = average_distance(topology) if isinstance(topology, Cube) else 1
        if count * hops * router.vcs > MOST_HOPS:
            found = f"{count:,} pairs of nodes that communicate, with {counted(router.vcs, 'VC')}"
            wanted = f"at most {counted(MOST_HOPS, 'hop', ',')} of all pairs, times VCs"
            wanted += "; simulate it" if topology.direct else ""
            raise InputError(topology.name, found, wanted)
        pairs = traffic.matrix()
        rates = pairs.source, pairs.target, pairs.weight * np.count_nonzero(traffic.rate)
        own, flits = queueing.ChannelRouter.of(router), question.packet_flits
        if topology.direct:
            routing = virtual_channel_routing(topology, given, num_vcs=router.vcs)
            prepared = queueing.prepare_channels(
                queueing.follow_flows(routing, *rates), own, flits=flits
            )
            bound = throughput_bound(topology, routing, traffic, router)
            name, layers = routing.name, 1
        else:  # the bound is the channels', hosts' included
            if isinstance(given, str | VirtualChannelRouting):
                found = given if isinstance(given, str) else f"the table {given.name}"
                wanted = "paths between hosts, such as up-down or routes:FILE"
                raise InputError("routing", found, wanted)
            flows = queueing.host_flows(
                topology, given, *rates, vcs=router.vcs, most_hops=MOST_HOPS
            )
            prepared = queueing.prepare_channels(flows, own, flits=flits)
            load = np.bincount(prepared.turns.channel, prepared.turn_rate * prepared.flits)
            fullest = queueing.Busy(queueing.LIMITS[0], int(np.argmax(load)), 1.0)
            what = queueing.resource_name(fullest, prepared, topology)
            bound = Bound(load=prepared.full_load, what=what)
            name, layers = str(given), flows.layers
        saturation = min(
            queueing.channel_saturation(prepared, latency_factor=LATENCY_FACTOR), bound.load
        )
        limit, told = queueing.limiting_resource(prepared, saturation)
    return PredictedNetwork(
        topology=topology,
        traffic=traffic,
        routing=name,
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
    curve=CURVE,
)
def predict_latency(question: LatencyQuestion, network: PredictedNetwork) -> LatencyPrediction:
    """Predict the latency of packets by load, and where a network saturates.

    Queueing theory gives the latency from the rates of all channels, VCs and buffers: see
    ``models.channel_queueing``. Every figure has its expected error, from a study of random
    networks with such routers, and the answer names what limits the network. Above nine tenths of
    the predicted saturation the model gives no latency: simulate. ``simulate`` also runs the
    network and shows progress. Ctrl-C ends the runs, and the answer contains what is known by then.

    Raises
    ------
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> found = predict_latency("mesh:8x8", app="examples/lammps-64.mtx", offered=[0.1, 0.2])
    >>> found.table()["latency"].is_sorted()
    True
    >>> round(predict_latency("mesh:4x4", offered=0).latency, 2)  # 2.67 hops
    20.67
    """
    topology, router, bound = network.topology, network.router, network.bound
    loads = parse_rates(
        question.offered, "offered", lambda: network.saturation, nearly=queueing.KNEE
    )
    if loads[-1] > 1:
        raise InputError("offered", f"{loads[-1]:g}", "at most 1 (flits/node/cycle)")
    with patience(f"{network.traffic.name} on {topology.name}: channel queueing"):
        found = tuple(
            queueing.predict_channels(network.prepared, load, crowded=True) for load in loads
        )
    error = queueing.saturation_band(network.kind).within
    busiest = [each.busiest_channel for each in found if each.busiest_channel >= 0]
    runs = {}  # what the simulator says of loads that can be carried
    interrupted = False
    if question.simulate:
        offered = [load for load in loads if 0 < load <= bound.load]
        if not offered:
            wanted = f"above 0, at most {bound.load:.4g} (by {bound.what}), to simulate"
            raise InputError("offered", f"{loads[0]:g}", wanted)
        simulated = simulate(
            topology,
            count_inside_nodes=question.count_inside_nodes,
            traffic=network.traffic,
            load=shared.some_of(offered),
            routing=network.given_routing,
            router=router,
            packet_flits=question.packet_flits,
            cycles=question.cycles,
            precision=question.precision,
            most_cycles=question.most_cycles,
            seed=question.seed,
        )
        rows = simulated.table().iter_rows(named=True)
        runs = {row["offered"]: row for row in rows if row["packets"]}
        interrupted = simulated.interrupted
    return LatencyPrediction(
        **vars(OnTopology.of_topology(topology)),
        traffic=network.traffic.name,
        inside_nodes=network.inside_nodes,
        mapping=None if question.app is None else named.mapping_name(question.mapping),
        routing=network.routing,
        vc_layers=network.layers,
        router={"name": network.router_name, "switching": router.switching}
        | {name: getattr(router, name) for name in fields.ROUTER_FIELDS},
        packet_flits=question.packet_flits,
        zero_load_latency=found[0].zero_load_latency,
        saturation=network.saturation,
        saturation_expected_error=error,
        saturation_range=queueing.off_by(network.saturation, -error, error, most=bound.load),
        saturation_limit=Resource(
            what=network.limit.what,
            where=network.place(network.limit),
            utilisation=network.limit.utilisation,
            told=network.limit_told,
        ),
        latency_factor=LATENCY_FACTOR,
        throughput_bound=bound,
        busiest_channel=topology.channel_name(busiest[-1]) if busiest else None,
        flags=network.flags,
        router_kind=network.kind,
        trust=queueing.trust(network.kind),
        interrupted=interrupted,
        points=tuple(network.load(each, runs.get(each.load)) for each in found),
        network=network,
        found=found,
        provenance=named.provenance_of(question, "predict_latency", topology),
    )


def _traffic(question: LatencyQuestion, topology: Topology) -> tuple[Traffic, float]:
    """Return the traffic, and the share that stays inside nodes."""
    if (pattern := pattern_asked(question, topology)) is not None:
        return pattern
    graph = named.program_on(question, topology)
    node_of = named.placed(question, graph, topology)
    sent, inside = named.entering(graph, topology, node_of, question.weight)
    traffic = from_process_graph(sent, node_of, topology.num_hosts, weight=question.weight)
    return traffic, inside


def _refuse_choices(topology: Topology, name: str, router: Router, traffic: Traffic) -> None:
    """Refuse a routing whose packets choose channels, with the limit that holds for all choices."""
    kind = split_spec(name)[0]
    kind = parse.SYNONYMS.get(kind, kind)
    if kind not in (*parse.SIMULATED, *CHOOSING):
        return
    routing = virtual_channel_routing(topology, name, num_vcs=router.vcs)
    bound = throughput_bound(topology, routing, traffic, router)
    found = f"'{name}', whose packets choose among channels: {bound.sentence}"
    wanted = "one that leaves no choice of channels, such as up-down; or simulate it"
    raise InputError("routing", found, wanted)
