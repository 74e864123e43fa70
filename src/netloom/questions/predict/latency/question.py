"""What latency will this program's packets have at this load, and where does it saturate?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.spec import split_spec
from netloom.base.words import counted
from netloom.models.channel_accuracy import KNEE
from netloom.models.channel_flows import follow_flows
from netloom.models.channel_queueing import (
    LIMITS,
    Busy,
    channel_saturation,
    predict_channels,
    prepare_channels,
    resource_name,
    saturation_limit,
)
from netloom.models.channel_turns import ChannelRouter
from netloom.models.host_flows import host_flows
from netloom.questions.base import Numbers, ask, option, parse_rates
from netloom.questions.fields import (
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
from netloom.questions.predict.latency.answer import (
    LATENCY_FACTOR,
    LatencyPrediction,
    PredictedNetwork,
)
from netloom.questions.predict.shared import RATES, Simulated, some_of
from netloom.questions.register import asks
from netloom.questions.simulate.load.question import simulate
from netloom.routing import (
    RouteTable,
    VirtualChannelRouting,
    parse_routing,
    virtual_channel_routing,
)
from netloom.routing.parse import SIMULATED, SYNONYMS
from netloom.routing.virtual_channel_tables import CHOOSING
from netloom.routing.virtual_channels import named_routing
from netloom.simulation.network.bound import Bound, throughput_bound
from netloom.simulation.network.routers import Router
from netloom.topology import Cube, average_distance
from netloom.topology.alike import check_alike
from netloom.workload import Traffic
from netloom.workload.programs.shared import between_groups
from netloom.workload.traffic import from_process_graph
from netloom.workload.traffic.targets import Fixed, Weighted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats
    from netloom.machines import Machine
    from netloom.models.channel_flows import Flows
    from netloom.models.channel_queueing import PreparedChannels
    from netloom.questions.simulate.load.answer import Simulation
    from netloom.routing import Routing
    from netloom.routing.virtual_channels import VirtualRouting
    from netloom.topology import Topology


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
    if isinstance(given, str | RouteTable | VirtualChannelRouting):
        found = given if isinstance(given, str) else f"the table {given.name}"
        raise InputError("routing", found, "paths between hosts, such as up-down or routes:FILE")
    flows = host_flows(topology, given, *_rates(traffic), vcs=router.vcs, most_hops=MOST_HOPS)
    prepared = prepare_channels(flows, channel_router(router), flits=question.packet_flits)
    load = np.bincount(prepared.turns.channel, prepared.turn_rate * prepared.flits)
    fullest = Busy(LIMITS[0], int(np.argmax(load)), 1.0)
    bound = Bound(prepared.full_load, resource_name(fullest, prepared, topology))
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
    if kind not in SIMULATED and (not topology.direct or kind not in CHOOSING):
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
