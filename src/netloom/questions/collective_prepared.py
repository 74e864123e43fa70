"""What a question about a collective names, read and built once: network, ranks, algorithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, SkipValidation, model_validator

from netloom.base import units
from netloom.base.arrays import Ints, distinct
from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.units import parse_seconds
from netloom.base.words import listed
from netloom.machines import Machine
from netloom.machines.libraries import ROWS as OF_LIBRARIES, Library
from netloom.machines.logs import Log, read_logs
from netloom.machines.named_machines import (
    ASSUMED,
    COST_FIELDS,
    Clock,
    Costs,
    clock_of,
    clock_of_engine,
    with_channels,
    with_latencies,
)
from netloom.mapping.allocation import place_program
from netloom.phases import Connections
from netloom.phases.exchanges import OF_PHASES, PHASES, exchange_of, refuse_phases
from netloom.phases.plan.plans import MOST_CHANNELS
from netloom.questions import fields
from netloom.questions.base import InstanceOf, Question, argument, option
from netloom.questions.named import check_apart, computing, network_of, num_places
from netloom.questions.simulate import engines
from netloom.questions.simulate.fields import AnyProgramQuestion
from netloom.simulation.collectives import AT_ONCE, Algorithm, CycleRunner, Runner, alike, fits_of
from netloom.simulation.flow.engine import FlowLaw, Injection
from netloom.simulation.network.routers import Router
from netloom.topology import Topology
from netloom.workload import ring
from netloom.workload.programs.collectives.algorithms import MOST_RANKS, ROOTED, algorithms_of
from netloom.workload.programs.collectives.program import bus_factor, parse_sizes
from netloom.workload.traffic.stream import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.phases.collectives.trees import LeastTime

OWN_FIELDS = ("flit_bytes", "packet_flits", "router")
"""Fields of a question that say something of flits and cycles only."""

FLIT_BYTES = 64
"""Bytes of a flit if nothing says them."""

MOST_WORK = 5e8
"""Most flits times channels of all runs of a question: a minute or two."""

MOST_BESIDE = 512
"""Most ranks of algorithms that nobody named, beside those of libraries."""

MOST_ROWS = 2**21
"""Most messages of all runs of a question."""

if TYPE_CHECKING:
    EngineName: TypeAlias = str
else:
    EngineName = Literal["flow", "network", *engines.OTHERS]

ENGINES = listed(
    [
        "flow (bytes and seconds)",
        "network (flit by flit)",
        *(f"{name} ({each.messages})" for name, each in engines.others().items()),
    ],
    last="or",
)

SIZES = "1KB:1GB"
Sizes = Annotated[str | float | list[Any], SkipValidation]


class WhichCollective(Question, panel="Collective"):
    """The collective, its sizes and its algorithms."""

    collective: str = argument(
        "Collective: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, "
        "gather, scatter or barrier.",
        kw_only=False,
        follows="measured",
    )
    size: Sizes = option(
        "Sizes as nccl-tests count them: 64MB, 1KB,1MB, or 1KB:1GB (by 4; 1KB:1GB:2 by 2).",
        default=SIZES,
    )
    algorithm: str = option("Algorithms: all, or some by name (ring,bruck,swing).", default="all")
    ranks: Annotated[int, Field(ge=1, le=MOST_RANKS)] | None = option(
        "Number of ranks.", default=None, shown_default="as many as the nodes take"
    )
    measured: str | PathLike[str] | list[Any] | None = option(
        "Files of measured times: nccl-tests, OSU or CSV.", default=None, several=True, file=True
    )
    root: int = option(
        "Root of broadcast, reduce, gather or scatter.", default=0, ge=0, lt=MOST_RANKS
    )
    chunks: Annotated[int, Field(ge=1, le=2**16)] | None = option(
        "Number of chunks per vector.",
        default=None,
        shown_default="for chains and trees those that suit a size, else 1",
    )
    reorder: bool = option("Search for a better rank order too.", default=False)
    engine: EngineName = option(f"Engine: {ENGINES}.", default="flow")
    injection: Injection | None = option(
        "Order of a node's messages: in-order (one by one) or shared.",
        default=None,
        shown_default="in-order; shared for a linear all-to-all, which libraries post at once",
    )
    end_channels: int = option(
        "Own channels per node of a mesh or torus: 1, or 0 to use all its links at once.",
        default=0,
        ge=0,
        le=1,
    )

    @model_validator(mode="before")
    @classmethod
    def _of_logs(cls, asked: Any) -> Any:
        """Return the fields, with the collective of measured times if none is asked for."""
        if not isinstance(asked, dict) or asked.get("collective") or not asked.get("measured"):
            return asked
        names = {run.collectives for run in logs_of(asked["measured"])}
        if len(names) != 1 or len(min(names)) != 1:
            seen = listed(sorted({each for some in names for each in some}), 9, "or")
            found = f"none, and measured times of {seen or 'no known one'}"
            raise InputError("collective", found, "its name, before the options")
        return asked | {"collective": min(names)[0]}


class FlitsAndCycles(
    Question, panel=f"Engine{'s' * bool(engines.OTHERS)} {listed(['network', *engines.OTHERS])}"
):
    """How engines of cycles run it."""

    flit_bytes: int | None = option(
        "Size of a flit, which a channel moves per cycle (bytes).",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="the machine's, else 64",
    )
    packet_flits: int | None = option(
        "Limit of a packet, in flits; longer messages are cut.",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default=f"messages are packets, of up to {LONGEST}",
    )
    router: str | dict[str, Any] | InstanceOf[Router] = option(
        "Router of network: three-stage, single-cycle, canonical-4-stage, speculative-2-stage or "
        "a machine's.",
        default="default",
        shown_default="the machine's own, else three-stage",
        file=True,
    )


class OnReservedChannels(Question, panel="Phases on reserved channels"):
    """What a network takes that can reserve channels for phases."""

    reserved_channels: int = option(
        "Virtual channels for phases, per node or per channel (trees).",
        default=12,
        ge=1,
        le=MOST_CHANNELS,
    )
    switch_time: fields.Seconds | None = option(
        "Time before each phase, such as 5us.", default=None, shown_default="a barrier of the ranks"
    )


class CollectiveQuestion(
    fields.HostNames,
    fields.Seeded,
    fields.Costs,
    fields.Timing,
    fields.Placed,
    OnReservedChannels,
    FlitsAndCycles,
    fields.BrokenParts,
    fields.PathRouting,
    fields.OnNetwork,
    WhichCollective,
):
    """A collective on a network, by each algorithm and size."""


def logs_of(paths: Any) -> list[Log]:
    """Return the runs of one file of measured times, or of several."""
    several = paths if isinstance(paths, list | tuple) else [paths]
    return [run for path in several for run in read_logs(path)]


@dataclass(frozen=True, eq=False)
class PreparedCollective:
    """What a question names, read and built once.

    Attributes
    ----------
    flows
        The network, for flows.
    program
        The network in cycles. None for flows.
    clock
        Bytes and seconds. Of a network in cycles its latencies are those of a header that nothing
        delays.
    flit_source
        Who says how many bytes a flit has.
    host_of
        int32[num_ranks], the host of each rank.
    node_of_host
        int32[num_hosts], the node of each host, if messages inside nodes do not use the network.
        None if they do, or each node has one host.
    collective
        Which it is.
    sizes
        Bytes, rising.
    algorithms
        Those that are run.
    left_out
        Those that are not, and why.
    library, library_names
        What runs collectives as libraries do on computers with an inside, and its algorithms that
        are timed. None where computers have no inside.
    exchange
        Connections between hosts that are compiled into phases. None if none are.
    whole
        The same on the network without its failures, by the same routing. None if there are none.
    machine
        The machine, if the network is one.
    runs
        Measured runs, and what is ready for ranks as many as theirs.
    """

    flows: engines.PreparedFlows
    program: engines.PreparedNetwork | None
    clock: Clock
    flit_source: str
    host_of: Ints
    node_of_host: Ints | None
    collective: str
    sizes: tuple[float, ...]
    algorithms: tuple[Algorithm, ...]
    left_out: dict[str, str]
    library: Library | None = None
    library_names: tuple[str, ...] = ()
    exchange: Connections | None = None
    whole: PreparedCollective | None = None
    machine: Machine | None = None
    runs: tuple[tuple[Log, PreparedCollective], ...] = ()

    @property
    def shown(self) -> engines.PreparedFlows | engines.PreparedNetwork:
        """The network and what runs on it."""
        return self.program or self.flows

    @property
    def network(self) -> Topology:
        """The network."""
        return self.shown.topology

    def named(self, name: str) -> Algorithm:
        """Return the algorithm of a name that is run."""
        return next(each for each in self.algorithms if each.name == name)

    def runner(self, host_of: Ints) -> Runner:
        """Return what runs algorithms with ranks on these hosts."""
        runner = _of_flows(self.flows, host_of, self.node_of_host)
        if self.program is None:
            return runner
        cycle = _cycle_seconds(self.program)
        flit = float(self.program.flit_bytes or 1)
        return CycleRunner(runner, self.program, flit_bytes=flit, cycle_seconds=cycle)

    def seconds(self, name: str, size: float) -> float:
        """Return what an algorithm takes, with ranks as mapped."""
        if self.library is not None and name in self.library_names:
            return self.library.timed(self.collective, name, size).seconds
        return self.runner(self.host_of).timed(self.named(name), size).seconds

    def bound(self, collective: str, root: int, host_of: Ints) -> LeastTime:
        """Return what no algorithm, order or routing can beat."""
        from netloom.phases.collectives.trees import least_time

        clock, network = self.clock, self.network
        if self.machine and self.machine.adding_inside and collective == "all-reduce":
            # where switches add, a GPU sends its vector once and receives the sum once
            ranks, inner = len(host_of), network.whole.inner_channels
            less = np.where(inner, bus_factor(collective, ranks), 1.0)
            rates = network.whole.channel_bandwidth * less
            network = with_channels(network, rates, network.whole.channel_cycles)
        return least_time(
            collective,
            network,
            host_of,
            root=root,
            bytes_per_second=clock.bytes_per_second,
            latency_seconds=clock.latency_seconds * self.network.channel_cycles,
            overhead=clock.overhead_seconds,
            port=clock.bytes_per_second if self.flows.links.end_channels else np.inf,
            by_node=self.node_of_host is not None,
        )

    def switch_seconds(self, given: str | float | None) -> float:
        """Return the time before a phase: as given, or that of the fastest barrier of the ranks."""
        if given is not None:
            return parse_seconds(given, where="switch_time")
        runner, times = self.runner(self.host_of), []
        for name in algorithms_of("barrier"):
            each = Algorithm("barrier", name, len(self.host_of), {}, None, self.flows.law)
            try:
                each.outline()
            except InputError:
                continue
            times.append(runner.empty(each))
        return min(times)


def _of_flows(flows: engines.PreparedFlows, host_of: Ints, node_of_host: Ints | None) -> Runner:
    assert flows.clock is not None
    overhead, costs = flows.clock.overhead_seconds, flows.clock.costs or Costs()
    adding, copying = (1 / each if each else 0.0 for each in costs.rates)
    adds, start = (costs.adding_start_seconds, adding), costs.start_seconds
    where = flows.links, flows.routing, overhead, host_of, node_of_host
    return Runner(*where, adding=adds, copying=copying, start=start)


def _cycle_seconds(program: engines.PreparedNetwork) -> float:
    assert program.cycle_us is not None
    return program.cycle_us * 1e-6


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
        fields.refuse(question, OWN_FIELDS, f"{engines.IN_CYCLES}: flows have no flits or routers")
    if question.collective == "barrier" and question.size != SIZES:
        raise InputError("size", f"{question.size} for a barrier", "none: it moves no data")
    if question.root and question.collective not in ROOTED:
        raise InputError("root", f"{question.root} of {question.collective}", "none")
    sizes = (0.0,) if question.collective == "barrier" else parse_sizes(question.size)
    topology, machine = network_of(question, switches=True)
    routing = engines.flow_routing(question.routing, topology)
    clock = clock_of(question, topology, machine, assume=True)
    if question.engine != "flow":
        clock = replace(clock, costs=None)
    at_once = all((question.collective, name) in AT_ONCE for name in names_of(question.algorithm))
    links = engines.timed_links(topology, clock, end_channels=question.end_channels == 1)
    at_once |= links.hosts_are_faster
    flows = engines.PreparedFlows(
        topology=topology,
        routing=routing,
        links=links,
        clock=clock,
        law=FlowLaw(injection=question.injection or ("shared" if at_once else "in-order")),
        seed=question.seed,
    )
    ranks = question.ranks or num_places(question, topology)
    if ranks < 2:
        raise InputError("ranks", f"{ranks}", "at least 2")
    if question.root >= ranks:
        raise InputError("root", f"{question.root}", f"a rank from 0 to {ranks - 1}")
    where = computing(question, topology)
    host_of = place_program(question.mapping, ring(ranks), topology, **where)
    check_apart(topology, host_of)
    alone = topology.num_nodes == topology.num_hosts
    group = topology.local_group
    alone |= len(distinct(group)) == topology.num_hosts  # the network shows the inside of nodes
    owner = None if question.count_inside_nodes or alone else group
    runner = _of_flows(flows, host_of, owner)
    library, library_names = _library(question, flows, host_of, machine)
    beside = ""
    if library_names and question.algorithm == "all":
        many = f"more than {MOST_BESIDE} ranks, message by message" * (ranks > MOST_BESIDE)
        why = "no protocols of the machine" if machine and machine.protocols else many
        beside = why and f"{why}; name it to run it"
    algorithms, left_out = tuple[Algorithm, ...](), dict.fromkeys(known, beside)
    if not beside:
        algorithms, left_out = _algorithms(question, known, library_names, runner, len(sizes))
    program, flit_source = None, ""
    if question.engine != "flow":
        program, flit_source = _in_cycles(question, flows, runner, machine, algorithms, sizes)
        clock = clock_of_engine(
            clock,
            program.topology,
            program.router,
            cycle=_cycle_seconds(program),
            flit_bytes=float(program.flit_bytes or 1),
            engine=program.engine_name,
        )
    found = PreparedCollective(
        flows=flows,
        program=program,
        clock=clock,
        flit_source=flit_source,
        host_of=host_of,
        node_of_host=owner,
        collective=question.collective,
        sizes=sizes,
        algorithms=algorithms,
        left_out=left_out,
        library=library,
        library_names=library_names,
        machine=machine,
    )
    return replace(found, exchange=_exchange(question, found))


def _exchange(question: CollectiveQuestion, ready: PreparedCollective) -> Connections | None:
    """Return the connections of phases, or None, and why in ``left_out``. Raise that if named."""
    named = question.algorithm != "all"
    by_itself = not named and question.collective in OF_PHASES
    if PHASES not in names_of(question.algorithm) and not by_itself:
        return None
    try:
        if question.engine != "flow":
            wanted = "engine flow; netloom compile --execute simulates phases flit by flit"
            raise InputError("algorithm", f"{PHASES} with engine {question.engine}", wanted)
        which, network = (question.collective, question.root), ready.flows.topology
        found = exchange_of(*which, ready.host_of, ready.sizes[-1], network, ready.node_of_host)
        refuse_phases(found, network, named=named)
    except InputError as refused:
        if named:
            raise
        ready.left_out[PHASES] = f"found {refused.found}"
        return None
    return found


def names_of(algorithm: str) -> list[str]:
    """Return the names of algorithms that were asked for."""
    return list(dict.fromkeys(each.strip() for each in algorithm.split(",")))


def _library(
    question: CollectiveQuestion,
    flows: engines.PreparedFlows,
    host_of: Ints,
    machine: Machine | None,
) -> tuple[Library | None, tuple[str, ...]]:
    """Return what runs collectives as libraries do, and which algorithms. None if nothing does."""
    named = [each for each in names_of(question.algorithm) if each in OF_LIBRARIES]
    try:
        if question.engine != "flow":
            found = f"{listed(named)} with engine {question.engine}"
            raise InputError("algorithm", found, "engine flow")
        assert flows.clock is not None
        computer = machine.computer if machine else None
        library = Library.of(
            flows.links,
            flows.routing,
            host_of,
            cards=computer.cards if computer else None,
            protocols=machine.protocols if machine else (),
            overhead=flows.clock.overhead_seconds,
            start=(flows.clock.costs or Costs()).start_seconds,
            adding=machine.adding_inside if machine else 0.0,
        )
    except InputError:
        if named:
            raise
        return None, ()
    able = library.algorithms(question.collective)
    if unable := [each for each in named if each not in able]:
        found = f"{unable[0]} of {question.collective} here"
        raise InputError("algorithm", found, listed(able, last="or") or "others")
    return library, tuple(named) or (able if question.algorithm == "all" else ())


def _algorithms(
    question: CollectiveQuestion,
    known: Sequence[str],
    of_library: Sequence[str],
    runner: Runner,
    sizes: int,
) -> tuple[tuple[Algorithm, ...], dict[str, str]]:
    """Return the algorithms that are run, and why others are not."""
    named, names = question.algorithm != "all", list(known)
    if named:
        apart = PHASES, *of_library
        names = [each for each in names_of(question.algorithm) if each not in apart]
        if not names and of_library:
            return (), {}
    if named and not names:
        wanted = f"{PHASES} beside messages, such as {known[0]},{PHASES}"
        raise InputError("algorithm", f"{PHASES} alone", wanted)
    unknown = [each for each in names if each not in known]
    if unknown:
        more = f", {PHASES}" * (question.collective in OF_PHASES)
        wanted = f"for {question.collective}: all, {', '.join((*known, *of_library))}{more}"
        raise InputError("algorithm", f"'{unknown[0]}'", wanted)
    topology = runner.links.topology
    alone = runner.links.end_channels or topology.ports_listed
    fits = {"root": question.root} | fits_of(topology, runner.host_of)
    fits["several_ports"] = runner.links.hosts_are_faster or not alone
    found, left_out = list[Algorithm](), dict[str, str]()
    posted: Injection
    for name in names:
        at_once = (question.collective, name) in AT_ONCE or runner.links.hosts_are_faster
        posted = "shared" if at_once else "in-order"
        law = FlowLaw(injection=question.injection or posted)
        what = question.collective, name, len(runner.host_of)
        each = Algorithm(*what, fits, question.chunks, law)
        try:
            own = each.outline()
        except InputError as refused:
            if named:
                raise
            left_out[name] = f"found {refused.found}"
            continue
        same = [
            other.name
            for other in found
            if runner.costs(each) == runner.costs(other) and alike(own, other.outline())
        ]
        why = runner.refusal(each, sizes) or (same and f"here the same as {same[0]}")
        if why and not named:
            left_out[name] = str(why)
            continue
        found.append(each)
    if not found and not of_library:
        why = "; ".join(f"{name}: {said}" for name, said in left_out.items())
        none = f"none that can be run ({why})"
        raise InputError("algorithm", none, "fewer ranks, or one by name")
    return tuple(found), left_out


def _in_cycles(
    question: CollectiveQuestion,
    flows: engines.PreparedFlows,
    runner: Runner,
    machine: Machine | None,
    algorithms: Sequence[Algorithm],
    sizes: Sequence[float],
) -> tuple[engines.PreparedNetwork, str]:
    """Return the network in cycles, if all runs together are not too much work.

    Beside it stands who says how many bytes a flit has.

    Raises
    ------
    InputError
        If a field cannot be used, or the runs move too many flits. With an estimate.
    """
    clock, topology = flows.clock, flows.topology
    assert clock is not None
    if machine is not None:
        wanted = "none, since the machine has its own; or engine flow"
        fields.refuse(question, ("bandwidth", "latency"), wanted)
    wanted = "engine flow, of whose flows this says something"
    fields.refuse(question, ("injection", *COST_FIELDS), wanted)
    flits, limited = question.engine == "network", not topology.ports_listed
    if not flits:
        wanted = f"engine network or flow: a {question.engine} takes a cycle per channel"
        fields.refuse(question, ("latency",), wanted)
        engines.refuse_packets(question)
    given: float | None = question.flit_bytes
    if given is None and machine is not None and (machine.flit_bytes != 1 or machine.router):
        given = machine.flit_bytes  # a machine without a router that says 1 has none
    flit_bytes = float(given or FLIT_BYTES)
    per_byte, messages = 0.0, 0
    for each in algorithms:
        per_byte += runner.crossed(each) / flit_bytes
        messages += each.outline().num_messages
    rows, work = messages * (len(sizes) + 1), per_byte * sum(sizes)
    runs = f"{len(algorithms)} algorithms at {len(sizes)} sizes"
    if rows > MOST_ROWS:
        wanted = "in cycles: fewer ranks, algorithms or sizes, or engine flow"
        found = f"{rows:,} messages ({runs})"
        raise InputError("engine", found, f"at most {MOST_ROWS:,} {wanted}")
    if work > MOST_WORK:
        most = units.size(MOST_WORK / per_byte, 2)
        wanted = f"at most {MOST_WORK:.0e}: sizes that add up to {most}, fewer algorithms, larger "
        wanted += "flit_bytes, or engine flow"
        raise InputError("size", f"{work:.2g} flits times channels ({runs})", wanted)
    ends = question.end_channels if limited and not flits else None
    same = ("on", "routing", "engine", "router", "packet_flits", "seed")
    shared = {name: getattr(question, name) for name in same}
    asked = AnyProgramQuestion(**shared, end_channels=ends)
    if flits and limited:
        own = dict.fromkeys(("injection_channels", "ejection_channels"), question.end_channels)
        asked = asked.model_copy(update=own)
    if clock.says_latency and machine is None and flits:
        cycle = flit_bytes / clock.bytes_per_second
        chosen = fields.asked_router(fields.RouterFields(router=question.router), None)[1]
        topology = with_latencies(topology, clock, cycle, chosen)
        asked = asked.model_copy(update={"fill_channels": True, "channel_cycles": 1})
    largest = max(each.largest() for each in algorithms)
    longest = int(np.ceil(max(sizes) * largest / flit_bytes))
    if flits and question.packet_flits is None:
        asked = asked.model_copy(update={"packet_flits": min(max(longest, 1), LONGEST)})
    program = engines.prepare_program(
        asked,
        longest_flits=longest,
        flit_bytes=flit_bytes,
        bytes_per_second=None if machine is not None else clock.bytes_per_second,
        found=(topology, machine),
    )
    return program, "" if given else ASSUMED
