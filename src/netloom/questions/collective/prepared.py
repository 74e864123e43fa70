"""What a question about a collective names, read and built once: network, ranks, algorithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.mapping.named import place_program
from netloom.phases.collectives.least_time import least_time
from netloom.questions.collective.cycles import OWN_FIELDS, CycleRunner, InCycles, prepare_cycles
from netloom.questions.collective.fields import SIZES, CollectiveQuestion
from netloom.questions.collective.phased import (
    OF_PHASES,
    PHASES,
    exchange_of,
    refuse_phases,
)
from netloom.questions.collective.runs import AT_ONCE, Algorithm, Runner, alike, refusal
from netloom.questions.collective.sizes import parse_sizes
from netloom.questions.fields import (
    refuse,
)
from netloom.questions.named import computing, find_network
from netloom.questions.simulate.engines import IN_CYCLES, PreparedFlows
from netloom.questions.timing import assumed_clock
from netloom.routing import VirtualChannelRouting, parse_routing
from netloom.simulation.flow import flow_network
from netloom.topology import Topology
from netloom.workload import ring
from netloom.workload.programs.collectives.algorithms import (
    ROOTED,
    algorithms_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.machines import Machine
    from netloom.phases import Connections
    from netloom.phases.collectives.least_time import LeastTime
    from netloom.questions.timing import Clock


@dataclass(frozen=True, eq=False)
class PreparedCollective:
    """What a question names, read and built once.

    Attributes
    ----------
    flows
        The network, for flows.
    host_of
        int32[num_ranks], the host of each rank.
    node_of_host
        int32[num_hosts], the node of each host, if messages inside nodes do not use the network.
        None if they do, or each node has one host.
    placing
        Where ranks may run, as ``place_program`` takes it.
    sizes
        Bytes, rising.
    algorithms
        Those that are run.
    left_out
        Those that are not, and why.
    cycles
        The network in cycles. None for flows.
    exchange
        Connections between hosts that are compiled into phases. None if none are.
    whole
        The same on the network without its failures, by the same routing. None if there are none.
    """

    flows: PreparedFlows
    host_of: Ints
    node_of_host: Ints | None
    placing: dict[str, Any]
    sizes: tuple[float, ...]
    algorithms: tuple[Algorithm, ...]
    left_out: dict[str, str]
    cycles: InCycles | None = None
    exchange: Connections | None = None
    whole: PreparedCollective | None = None

    @property
    def shown(self) -> PreparedFlows | InCycles:
        """The network and what runs on it."""
        return self.cycles or self.flows

    @property
    def network(self) -> Topology:
        """The network."""
        return self.shown.topology

    @property
    def clock(self) -> Clock:
        """Bytes and seconds."""
        assert self.shown.clock is not None
        return self.shown.clock

    def runner(self, host_of: Ints) -> Runner:
        """Return what runs algorithms with ranks on these hosts."""
        if self.cycles is None:
            return Runner(self.flows, host_of, self.node_of_host)
        return CycleRunner(self.flows, host_of, self.node_of_host, self.cycles)

    def bound(self, collective: str, root: int, host_of: Ints) -> LeastTime:
        """Return what no algorithm, order or routing can beat."""
        clock, links = self.clock, self.flows.links
        return least_time(
            collective, self.network, host_of,
            root=root,
            bytes_per_second=clock.bytes_per_second,
            latency_seconds=clock.latency_seconds * self.network.channel_cycles,
            overhead=clock.overhead_seconds,
            port=clock.bytes_per_second if links.end_channels else np.inf,
            by_node=self.node_of_host is not None,
        )  # fmt: skip


def prepare(question: CollectiveQuestion) -> PreparedCollective:
    """Build the network and its routing, place the ranks, and choose the algorithms.

    A network with failures is answered beside the whole one.
    """
    found = _prepared(question)
    topology = found.flows.topology
    if not topology.broken:
        return found
    change: dict[str, Any] = {"failed_channels": None, "failed_nodes": None}
    if isinstance(question.on, Topology):
        change["on"] = topology.whole
    if question.routing == "default" and question.engine == "flow":
        change["routing"] = found.flows.routing
    whole = _prepared(question.model_copy(update=change))
    left_out = {name: why for name, why in whole.left_out.items() if name != PHASES}
    return replace(found, whole=replace(whole, exchange=None, left_out=left_out))


def _prepared(question: CollectiveQuestion) -> PreparedCollective:
    known = algorithms_of(question.collective)
    if question.engine == "flow":
        refuse(question, OWN_FIELDS, f"{IN_CYCLES}: flows have no flits or routers")
    if question.collective == "barrier" and question.size != SIZES:
        raise InputError("size", f"{question.size} for a barrier", "none: it moves no data")
    if question.root and question.collective not in ROOTED:
        raise InputError("root", f"{question.root} of {question.collective}", "none")
    sizes = (0.0,) if question.collective == "barrier" else parse_sizes(question.size)
    flows, machine = _flows(question)
    where = computing(question, flows.topology)
    ranks = question.ranks
    if ranks is None:
        allocated = allocated_hosts(where["nodes"], flows.topology, where["hosts"])
        ranks = places_of(allocated, flows.topology, question.tasks_per_node).count
    if ranks < 2:
        raise InputError("ranks", f"{ranks}", "at least 2")
    if question.root >= ranks:
        raise InputError("root", f"{question.root}", f"a rank from 0 to {ranks - 1}")
    host_of = place_program(question.mapping, ring(ranks), flows.topology, **where)
    owner = _node_of_host(question, flows.topology)
    _check_apart(flows.topology, host_of, owner)
    algorithms, left_out = _algorithms(question, known, flows.topology, host_of, len(sizes))
    cycles = None
    if question.engine != "flow":
        runner = Runner(flows, host_of, owner)
        cycles = prepare_cycles(question, runner, machine, algorithms, sizes)
    exchange = _exchange(question, flows, host_of, owner, sizes[-1], left_out)
    return PreparedCollective(
        flows, host_of, owner, where, sizes, algorithms, left_out, cycles, exchange
    )


def _node_of_host(question: CollectiveQuestion, topology: Topology) -> Ints | None:
    alone = topology.num_nodes == topology.num_hosts
    return None if question.count_inside_nodes or alone else topology.local_group


def _check_apart(topology: Topology, host_of: Ints, node_of_host: Ints | None) -> None:
    """Raise InputError if nothing is sent over the network."""
    first, ranks = int(host_of[0]), len(host_of)
    if (host_of == first).all():
        found = f"all {ranks} ranks on {topology.name_of(first)}"
        raise InputError("ranks", found, "ranks on two hosts or more, so that something is sent")
    if node_of_host is not None and (node_of_host[host_of] == node_of_host[first]).all():
        name = topology.computer_name(int(topology.node_of_host[first]))
        found = f"all {ranks} ranks on node {name}"
        wanted = "ranks on two nodes or more, or --count-inside-nodes"
        raise InputError("ranks", found, wanted)


def _exchange(
    question: CollectiveQuestion,
    flows: PreparedFlows,
    host_of: Ints,
    node_of_host: Ints | None,
    size: float,
    left_out: dict[str, str],
) -> Connections | None:
    """Return the connections of phases, or None, and why in ``left_out``. Raise that if named."""
    named = question.algorithm != "all"
    if PHASES not in names_of(question.algorithm) and (
        named or question.collective not in OF_PHASES
    ):
        return None
    try:
        if question.engine != "flow":
            wanted = "engine flow; netloom compile --execute simulates phases flit by flit"
            raise InputError("algorithm", f"{PHASES} with engine {question.engine}", wanted)
        found = exchange_of(
            question.collective, question.root, host_of, size, flows.topology, node_of_host
        )
        refuse_phases(found, flows.topology, named=named)
    except InputError as refused:
        if named:
            raise
        left_out[PHASES] = f"found {refused.found}"
        return None
    return found


def names_of(algorithm: str) -> list[str]:
    """Return the names of algorithms that were asked for."""
    return list(dict.fromkeys(each.strip() for each in algorithm.split(",")))


def _flows(question: CollectiveQuestion) -> tuple[PreparedFlows, Machine | None]:
    topology, machine = find_network(
        question.on,
        failed_channels=question.failed_channels,
        failed_nodes=question.failed_nodes,
        switches=True,
        count_inside_nodes=question.count_inside_nodes,
    )
    if isinstance(question.routing, VirtualChannelRouting):
        found = f"the table {question.routing.name}"
        raise InputError("routing", found, "paths for each pair of nodes")
    clock = assumed_clock(question, topology, machine)
    routing = question.routing
    at_once = all((question.collective, name) in AT_ONCE for name in names_of(question.algorithm))
    flows = PreparedFlows(
        topology=topology,
        routing=parse_routing(routing, topology) if isinstance(routing, str) else routing,
        links=flow_network(
            topology,
            bandwidth=clock.bytes_per_second,
            latency=clock.latency_seconds,
            end_channels=question.end_channels == 1,
        ),
        clock=clock,
        injection=question.injection or ("shared" if at_once else "in-order"),
        sharing="max-min",
        tolerance=0.0,
        seed=question.seed,
    )
    return flows, machine


def _algorithms(
    question: CollectiveQuestion,
    known: Sequence[str],
    topology: Topology,
    host_of: Ints,
    sizes: int,
) -> tuple[tuple[Algorithm, ...], dict[str, str]]:
    """Return the algorithms that are run, and why others are not."""
    named = question.algorithm != "all"
    names = [each for each in names_of(question.algorithm) if each != PHASES] if named else known
    if named and not names:
        wanted = f"{PHASES} beside messages, such as {known[0]},{PHASES}"
        raise InputError("algorithm", f"{PHASES} alone", wanted)
    unknown = [each for each in names if each not in known]
    if unknown:
        more = f", {PHASES}" * (question.collective in OF_PHASES)
        wanted = f"for {question.collective}: all, {', '.join(known)}{more}"
        raise InputError("algorithm", f"'{unknown[0]}'", wanted)
    fits: dict[str, Any] = {
        "root": question.root,
        "torus": _torus(topology, host_of),
        "ranks_per_node": _ranks_per_node(topology, host_of),
    }
    made, found, left_out = list[Any](), list[Algorithm](), dict[str, str]()
    posted: Literal["in-order", "shared"]
    for name in names:
        posted = "shared" if (question.collective, name) in AT_ONCE else "in-order"
        each = Algorithm(
            question.collective, name, len(host_of), fits, question.chunks,
            question.injection or posted,
        )  # fmt: skip
        try:
            own = each.outline()
        except InputError as refused:
            if named:
                raise
            left_out[name] = f"found {refused.found}"
            continue
        same = [other.name for other, its in zip(found, made, strict=True) if alike(own, its)]
        why = refusal(own, sizes) or (same and f"here the same as {same[0]}")
        if why and not named:
            left_out[name] = str(why)
            continue
        found.append(each)
        made.append(own)
    if not found:
        why = "; ".join(f"{name}: {said}" for name, said in left_out.items())
        raise InputError(
            "algorithm", f"none that can be run ({why})", "fewer ranks, or one by name"
        )
    return tuple(found), left_out


def _torus(topology: Topology, host_of: Ints) -> tuple[int, ...] | None:
    """Return the sides of the torus on which ranks are numbered row by row. None if not so."""
    sides, wraps = getattr(topology.whole, "sides", None), getattr(topology.whole, "wraps", ())
    if sides is None or not topology.direct or len(host_of) != topology.num_hosts:
        return None
    whole = all(wrap or side <= 2 for side, wrap in zip(sides, wraps, strict=True))
    in_order = (host_of == np.arange(len(host_of))).all()
    return tuple(map(int, sides)) if whole and in_order else None


def _ranks_per_node(topology: Topology, host_of: Ints) -> int | None:
    """Return how many ranks follow each other on each computer. None if that differs."""
    owner = topology.node_of_host[host_of]
    blocks = np.flatnonzero(np.diff(owner, prepend=-1))
    lengths = np.diff(blocks, append=len(owner))
    alike_ = (lengths == lengths[0]).all() and len(np.unique(owner[blocks])) == len(blocks)
    return int(lengths[0]) if alike_ else None
