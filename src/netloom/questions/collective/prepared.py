"""What a question about a collective names, read and built once: network, ranks, algorithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import parse_seconds
from netloom.base.words import counted
from netloom.mapping.allocation import allocated_hosts, place_program, places_of
from netloom.models import ConSetCosts
from netloom.phases import Capacity, connections, partition, schedule, verify
from netloom.phases.collectives.least_time import least_time
from netloom.phases.timetables import channel_words
from netloom.questions.collective.cycles import OWN_FIELDS, CycleRunner, InCycles, prepare_cycles
from netloom.questions.collective.fields import SIZES, CollectiveQuestion
from netloom.questions.collective.runs import (
    AT_ONCE,
    Algorithm,
    Runner,
    Timed,
    alike,
    parse_sizes,
    refusal,
)
from netloom.questions.fields import assumed_clock, refuse
from netloom.questions.named import computing, find_network
from netloom.questions.simulate.engines import (
    IN_CYCLES,
    PreparedFlows,
    flow_routing,
    timed_links,
)
from netloom.topology import Cube, Topology
from netloom.topology.alike import check_alike
from netloom.workload import process_graph, ring
from netloom.workload.programs.collectives.algorithms import ROOTED, algorithms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Floats, Ints
    from netloom.machines import Machine
    from netloom.phases import Connections, Plan, Timetable
    from netloom.phases.collectives.least_time import LeastTime
    from netloom.questions.fields import Clock


PHASES = "phases"

OF_PHASES = (
    "all-to-all", "all-gather", "reduce-scatter", "gather", "scatter", "broadcast", "reduce",
)  # fmt: skip
"""Collectives that are one exchange: each rank sends what it has, and waits for nobody."""

MOST_WORK = 60_000
"""Most connections times channels that are compiled unless phases are named: some seconds."""

MOST_ON_TORI = 300_000
"""The same on tori, whose patterns look alike from each host."""

MOST_NAMED = 4_000_000
"""The same if phases are named: some minutes."""

FREE = 1e-6
"""The time of a byte at a processor, over that on a channel: only channels limit it."""

MOST_BYTES = 2.0**40
"""Most bytes of a connection."""


@dataclass(frozen=True, eq=False)
class PhasePlan:
    """A verified plan, made for a size. On another its phases last in proportion.

    Attributes
    ----------
    plan, timetable
        In words of a byte, and clocks of a byte on a channel.
    size
        Of the collective that it was made for, in bytes.
    byte_seconds
        Of a channel.
    latency
        float64[num_channels], seconds.
    switch_seconds
        To synchronize all ranks before a phase, and to set it up.
    end_channels
        Whether hosts of direct networks send and receive at the rate of one channel.
    """

    plan: Plan
    timetable: Timetable
    size: float
    byte_seconds: float
    latency: Floats
    switch_seconds: float
    end_channels: bool = False

    @cached_property
    def _way(self) -> Floats:
        """float64[n], seconds of each connection's route."""
        routes = self.plan.routes
        total = np.append(0.0, np.cumsum(self.latency[routes.channels]))
        found: Floats = total[routes.offsets[1:]] - total[routes.offsets[:-1]]
        return found

    def seconds(self, size: float) -> float:
        """Return the time of all phases and switches, until the last byte is there."""
        moved = self.timetable.end * (self.byte_seconds * size / self.size)
        lasting = np.zeros(self.plan.num_phases)
        np.maximum.at(lasting, self.plan.phase, moved + self._way)
        return float(lasting.sum()) + self.plan.num_phases * self.switch_seconds

    def timed(self, size: float) -> Timed:
        """Return what a size takes, and the busiest channel."""
        given = self.plan.connections
        words = channel_words(self.plan).sum(axis=0)
        if self.end_channels:
            ends = (given.source, given.target)
            hosts = [np.bincount(end, given.words, given.num_nodes) for end in ends]
            words = np.concatenate([words, *hosts])
        link = int(np.argmax(words))
        crossed = float(words[link]) * size / self.size
        return Timed(self.seconds(size), 1, link, crossed, crossed * self.byte_seconds)


def exchange_of(
    collective: str, root: int, host_of: Ints, size: float, topology: Topology,
    node_of_host: Ints | None = None,
) -> Connections:  # fmt: skip
    """Return one connection for each pair of hosts whose ranks exchange something, a byte a word.

    Ranks of one host tell each other at once: they share what they receive, and add first. Hosts of
    one node, if ``node_of_host`` names those of all hosts, need no connections.

    Raises
    ------
    InputError
        If the collective is not one exchange, or a connection has too many bytes.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> four = np.arange(4, dtype=np.int32)
    >>> found = exchange_of("scatter", 1, four, 4e6, topology("ring:4"))
    >>> found.source.tolist(), found.target.tolist(), found.words.tolist()
    ([1, 1, 1], [0, 2, 3], [1000000, 1000000, 1000000])
    """
    if collective not in OF_PHASES:
        wanted = f"one of {', '.join(OF_PHASES)}, which are one exchange"
        raise InputError("algorithm", f"{PHASES} of {collective}", wanted)
    used, ranks = np.unique(host_of, return_counts=True)
    share, home = ranks / len(host_of), used == host_of[root]
    part = {
        "all-to-all": np.outer(ranks, share),
        "all-gather": np.outer(share, np.ones_like(ranks)),
        "reduce-scatter": np.outer(np.ones_like(ranks), share),
        "gather": np.outer(share, home),
        "scatter": np.outer(home, share),
        "broadcast": np.outer(home, np.ones_like(ranks)),
        "reduce": np.outer(np.ones_like(ranks), home),
    }[collective]
    place = used if node_of_host is None else node_of_host[used]
    part = part * (place[:, None] != place)
    source, target = np.nonzero(part)
    sent = np.maximum(np.rint(part[source, target] * size), 1)
    if sent.max() > MOST_BYTES:
        found = f"{sent.max():.3g} bytes of a connection"
        raise InputError("size", found, f"at most {MOST_BYTES:.3g} for {PHASES}")
    graph = process_graph(
        topology.num_hosts, used[source], used[target], bytes=sent, name=collective
    )
    hosts = np.arange(topology.num_hosts)
    return connections(graph, hosts, len(hosts), word_bytes=1)


def phase_plans(
    given: Connections,
    topology: Topology,
    size: float,
    *,
    virtual_channels: int,
    bytes_per_second: float,
    latency: Floats,
    switch_seconds: float,
    end_channels: bool,
    seed: int,
) -> list[PhasePlan]:
    """Compile connections twice: into as few phases as possible, and for the least time at a size.

    Parameters
    ----------
    given, topology, size
        What is sent, where, and the size of the collective that it is.
    virtual_channels
        That connections can have at each node, or of each channel if hosts hang on routers.
    bytes_per_second, latency
        Of a channel. float64[num_channels], seconds.
    switch_seconds
        Before each phase.
    end_channels
        Whether hosts of direct networks send and receive at the rate of one channel.

    Raises
    ------
    InputError
        If channels differ, or a connection has no route.
    """
    capacity = Capacity(virtual_channels, "node" if topology.direct else "channel")
    costs = ConSetCosts(
        sync_clocks=switch_seconds * bytes_per_second,
        phase_clocks=0.0,
        clocks_per_word=1.0 if end_channels else FREE,
        channel_clocks_per_word=1.0,
    )
    objectives: tuple[Literal["phases", "time"], ...] = ("phases", "time")
    found = list[PhasePlan]()
    for objective in objectives:
        plan = partition(given, topology, capacity, costs=costs, objective=objective, seed=seed)
        timetable = schedule(plan, costs, kind="streaming", seed=seed)
        verify(plan, timetable, costs)
        found.append(
            PhasePlan(
                plan, timetable, size, 1 / bytes_per_second, latency, switch_seconds, end_channels
            )
        )
        if plan.num_phases == 1:
            break
    return found


def refuse_phases(given: Connections, topology: Topology, *, named: bool) -> None:
    """Raise InputError if the network or the number of connections is not one to compile."""
    if len(topology.switches):
        wanted = "hosts that hang on routers, or a mesh or torus, for compiled phases"
        raise InputError(topology.name, "switches among its nodes", wanted)
    check_alike(topology, "compiled phases")
    torus = isinstance(topology, Cube) and not topology.broken and all(topology.wraps)
    most = MOST_NAMED if named else MOST_ON_TORI if torus else MOST_WORK
    work = len(given) * topology.num_channels
    if work > most:
        found = f"{counted(len(given), 'connection', ',')} on {topology.num_channels:,} channels"
        name = "" if named else ", which takes long to compile; name it to run it"
        wanted = f"at most {most:,} connections times channels"
        raise InputError("algorithm", f"{PHASES} of {found}{name}", wanted)


def switch_seconds(given: str | float | None, runner: Runner) -> float:
    """Return the time before a phase: as given, or that of the fastest barrier of the ranks."""
    if given is not None:
        return parse_seconds(given, where="switch_time")
    times = list[float]()
    for name in algorithms_of("barrier"):
        each = Algorithm("barrier", name, len(runner.host_of), {}, None, runner.flows.injection)
        try:
            each.outline()
        except InputError:
            continue
        times.append(runner.empty(each))
    return min(times)


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
    routing = flow_routing(question.routing, topology)
    clock = assumed_clock(question, topology, machine)
    at_once = all((question.collective, name) in AT_ONCE for name in names_of(question.algorithm))
    flows = PreparedFlows(
        topology=topology,
        routing=routing,
        links=timed_links(topology, clock, end_channels=question.end_channels == 1),
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
    cube, router = topology.whole.routers, topology.whole.injection_router
    if not isinstance(cube, Cube) or not len(host_of) == len(router) == topology.num_hosts:
        return None
    wraps = all(wrap or side <= 2 for side, wrap in zip(cube.sides, cube.wraps, strict=True))
    in_order = np.array_equal(router[host_of], np.arange(cube.num_routers))
    return tuple(map(int, cube.sides)) if wraps and in_order else None


def _ranks_per_node(topology: Topology, host_of: Ints) -> int | None:
    """Return how many ranks follow each other on each computer. None if that differs."""
    owner = topology.node_of_host[host_of]
    blocks = np.flatnonzero(np.diff(owner, prepend=-1))
    lengths = np.diff(blocks, append=len(owner))
    alike_ = (lengths == lengths[0]).all() and len(np.unique(owner[blocks])) == len(blocks)
    return int(lengths[0]) if alike_ else None
