"""Collectives on engines of cycles: the network in cycles, and the work that it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import seconds as seconds_words
from netloom.base.units import size as size_words
from netloom.machines.links import with_channels
from netloom.questions.collective.runs import Runner, graph_of
from netloom.questions.fields import ASSUMED, refuse
from netloom.questions.simulate.engines import (
    PreparedNetwork,
    prepare_program,
    refuse_packets,
)
from netloom.questions.simulate.fields import AnyProgramQuestion
from netloom.routing import paths
from netloom.simulation.network.routers import Router
from netloom.simulation.traces import run_trace
from netloom.workload.programs.collectives.sent import trace_of
from netloom.workload.traffic.stream import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.machines import Machine
    from netloom.questions.collective.runs import Algorithm
    from netloom.questions.fields import Clock
    from netloom.questions.simulate.engines import PreparedFlows
    from netloom.simulation.flow import FlowNetwork
    from netloom.simulation.traces import TraceRun
    from netloom.topology import Topology

OWN_FIELDS = ("flit_bytes", "packet_flits", "router")
"""Fields of a question that say something of flits and cycles only."""

FLIT_BYTES = 64
"""Bytes of a flit if nothing says them."""

MOST_WORK = 5e8
"""Most flits times channels of all runs of a question: a minute or two."""

MOST_ROWS = 2**21
"""Most messages of all runs of a question."""

MOST_PIPED = 2**14
"""Most messages of a pipelined algorithm, by which its chunks are limited."""

MOST_LATENCY = 512
"""Most cycles of a channel: its buffers hold as many flits."""

MOST_CYCLES = 2**31 - 1


@dataclass(frozen=True, eq=False, kw_only=True)
class InCycles(PreparedNetwork):
    """A network whose collectives are run in cycles, as answers describe it.

    Attributes
    ----------
    clock
        Bytes and seconds. Its latencies are those of a header that nothing delays.
    links
        The channels, for bounds and names.
    flit_source
        Who says how many bytes a flit has.
    """

    clock: Clock
    links: FlowNetwork
    flit_source: str

    injection = "in-order"
    sharing = tolerance = None

    @property
    def cycle_seconds(self) -> float:
        """Seconds of a cycle."""
        assert self.cycle_us is not None
        return self.cycle_us * 1e-6

    @property
    def units(self) -> str:
        """How long flits and cycles are, as a person says it."""
        cycle = f"flits of {self.flit_bytes:g} bytes, cycles of {seconds_words(self.cycle_seconds)}"
        return f"{cycle}; {self.clock.words(self.topology)}"

    @property
    def clock_dict(self) -> dict[str, Any]:
        """The clock as plain data."""
        return self.clock.to_dict()


class CycleRunner(Runner):
    """Runs algorithms as traces, on the network flit by flit or on another engine of cycles."""

    def __init__(
        self, flows: PreparedFlows, host_of: Ints,
        node_of_host: Ints | None, network: InCycles,
    ) -> None:  # fmt: skip
        super().__init__(flows, host_of, node_of_host)
        assert network.flit_bytes is not None
        self.network, self.smallest = network, network.flit_bytes
        self.time_seconds, self.size_bytes = network.cycle_seconds, network.flit_bytes
        ends = np.ones(2 * network.topology.num_ports * network.links.end_channels)
        self.capacity = np.append(network.topology.channel_bandwidth, ends)

    def most_chunks(self, algorithm: Algorithm) -> int:
        """Return the most chunks of a pipelined algorithm that are run."""
        return max(MOST_PIPED // max(algorithm.outline(1).num_messages, 1), 1)

    def found(self, algorithm: Algorithm, chunks: int | None, size: float) -> tuple[float, Ints]:
        """Return when some chunks are through, in cycles, and the flits that crossed each link."""
        network, program = self.network, algorithm.program(chunks)
        trace = trace_of(program, size, overhead_seconds=self.overhead)
        sent = ~self.inside(program.source, program.target)
        trace = replace(
            trace, run=trace.run * sent, receive=trace.receive * sent, flits=trace.flits * sent
        )
        rows = trace.in_cycles(self.time_seconds, self.size_bytes).placed(
            network.topology, self.host_of
        )
        run = run_trace(network, rows, MOST_CYCLES, lambda _: None, lambda: False)
        if run.finish is None:
            what = f"more than {MOST_CYCLES:,} cycles of {algorithm.name}"
            raise InputError("size", what, "smaller sizes, larger flit_bytes, or engine flow")
        return run.finish, _crossed(run, network)


def _crossed(run: TraceRun, network: InCycles) -> Ints:
    """Return int64[num_links], the flits of each link, those of hosts of direct networks too."""
    rows = run.rows[(run.rows["flits"] > 0) & (run.rows["source"] != run.rows["target"])]
    ends = [
        np.bincount(rows[end], rows["flits"], network.topology.num_hosts).astype(np.int64)
        for end in ("source", "target")
    ]
    return np.concatenate([run.link_sizes, *(ends if network.links.end_channels else [])])


def prepare_cycles(
    question: Any,
    runner: Runner,
    machine: Machine | None,
    algorithms: Sequence[Algorithm],
    sizes: Sequence[float],
) -> InCycles:
    """Return the network in cycles, if all runs together are not too much work.

    Raises
    ------
    InputError
        If a field cannot be used, or the runs move too many flits. With an estimate.
    """
    flows = runner.flows
    clock = flows.clock
    assert clock is not None
    topology = flows.topology
    if machine is not None:
        wanted = "none, since the machine has its own; or engine flow"
        refuse(question, ("bandwidth", "latency"), wanted)
    refuse(question, ("injection",), "engine flow, of whose flows this says something")
    flits, limited = question.engine == "network", not topology.ports_listed
    if not flits:
        wanted = f"engine network or flow: a {question.engine} takes a cycle per channel"
        refuse(question, ("latency",), wanted)
        refuse_packets(question)
    given = question.flit_bytes
    if given is None and machine is not None and (machine.flit_bytes != 1 or machine.router):
        given = machine.flit_bytes  # a machine without a router that says 1 has none
    flit_bytes = float(given or FLIT_BYTES)
    check_work(algorithms, sizes, runner, flit_bytes)
    asked = AnyProgramQuestion(
        on=question.on, routing=question.routing, engine=question.engine, router=question.router,
        packet_flits=question.packet_flits, seed=question.seed,
        end_channels=question.end_channels if limited and not flits else None,
    )  # fmt: skip
    if flits and limited:
        ends = {"injection_channels": question.end_channels}
        asked = asked.model_copy(update=ends | {"ejection_channels": question.end_channels})
    own = clock.latency_source not in ("", ASSUMED) and machine is None and flits
    if own:
        cycle = flit_bytes / clock.bytes_per_second
        chosen = _router(question)
        topology = _with_latencies(topology, clock, cycle, chosen)
        asked = asked.model_copy(update={"fill_channels": True, "channel_cycles": 1})
    longest = int(np.ceil(max(sizes) * _largest(algorithms) / flit_bytes))
    if flits and question.packet_flits is None:
        asked = asked.model_copy(update={"packet_flits": min(max(longest, 1), LONGEST)})
    program = prepare_program(
        asked,
        longest_flits=longest,
        flit_bytes=flit_bytes,
        bytes_per_second=None if machine is not None else clock.bytes_per_second,
        found=(topology, machine),
    )
    return InCycles(
        **vars(program),
        clock=_clock(program, clock),
        links=flows.links,
        flit_source="" if given else ASSUMED,
    )


def check_work(
    algorithms: Sequence[Algorithm],
    sizes: Sequence[float],
    runner: Runner,
    flit_bytes: float,
) -> None:
    """Refuse what moves too many flits over channels, or sends too many messages, in all runs.

    Raises
    ------
    InputError
        With an estimate, and what would be possible.
    """
    per_byte, messages = 0.0, 0
    for each in algorithms:
        graph = graph_of(each.outline(1))
        sent = ~runner.inside(graph.source, graph.target)
        ends = [runner.host_of[end[sent]] for end in (graph.source, graph.target)]
        found = paths(runner.flows.topology, runner.flows.routing, *ends)
        found = found.whole(runner.flows.topology)
        weight = graph.bytes[sent]
        weight = weight if found.pair is None else weight[found.pair]
        if found.probability is not None:
            weight = weight * found.probability
        per_byte += float((weight * found.lengths).sum()) / flit_bytes
        messages += each.outline().num_messages
    rows = messages * (len(sizes) + 1)
    runs = f"{len(algorithms)} algorithms at {len(sizes)} sizes"
    if rows > MOST_ROWS:
        found_ = f"{rows:,} messages ({runs})"
        wanted = (
            f"at most {MOST_ROWS:,} in cycles: fewer ranks, algorithms or sizes, or engine flow"
        )
        raise InputError("engine", found_, wanted)
    work = per_byte * sum(sizes)
    if work > MOST_WORK:
        most = MOST_WORK / per_byte
        found_ = f"{work:.2g} flits times channels ({runs})"
        wanted = (
            f"at most {MOST_WORK:.0e}: sizes that add up to {size_words(most, 2)},"
            " fewer algorithms, larger flit_bytes, or engine flow"
        )
        raise InputError("size", found_, wanted)


def _largest(algorithms: Sequence[Algorithm]) -> float:
    """Return the largest message of algorithms, as a part of a collective's size."""
    return max(
        float(step.width.max()) * float(each.outline().chunk_size[0])
        for each in algorithms
        for step in each.outline().steps
        if len(step.source) and len(each.outline().chunk_size)
    )


def _router(question: Any) -> Router:
    from netloom.questions.fields import RouterFields, asked_router

    return asked_router(RouterFields(router=question.router), None)[1]


def _with_latencies(topology: Topology, clock: Clock, cycle: float, router: Router) -> Topology:
    """Return a network whose channels, with the routers that they leave, take a clock's latencies.

    Raises
    ------
    InputError
        If a latency is less than that of its router, or too many cycles.
    """
    whole = topology.whole
    taken = np.rint(clock.latency_seconds * topology.channel_cycles / cycle)
    cycles = taken - _cycles_of_routers(topology, router)
    least, most = int(cycles.min(initial=1)), int(cycles.max(initial=1))
    if least < 1 or most > MOST_LATENCY:
        odd = int(np.argmin(cycles) if least < 1 else np.argmax(cycles))
        took = clock.latency_seconds * topology.channel_cycles
        found = f"{seconds_words(float(took[odd]))}, {taken[odd]:.0f} cycles of a flit"
        wanted = f"{router.router_cycles + 1} to {MOST_LATENCY + router.router_cycles} cycles: "
        said = "smaller flit_bytes or another router" if least < 1 else "larger flit_bytes"
        raise InputError("latency", found, wanted + said)
    full = np.ones(whole.num_channels, np.int32)
    full[topology.whole_channel] = cycles
    return with_channels(topology, whole.channel_bandwidth, full)


def _cycles_of_routers(topology: Topology, router: Router) -> Ints:
    """Return int64[num_channels], cycles in the router that each leaves. Hosts take none."""
    port = np.arange(topology.num_channels) - topology.num_network_channels
    return np.where((port >= 0) & (port < topology.num_ports), 0, router.router_cycles)


def _clock(network: PreparedNetwork, clock: Clock) -> Clock:
    """Return a clock with what a header takes for each channel in the engine, and the router."""
    topology, router = network.topology, network.router
    assert network.cycle_us is not None
    cycle = network.cycle_us * 1e-6
    cycles = topology.channel_cycles.astype(np.float64)
    if isinstance(router, Router):
        cycles[: topology.num_network_channels] *= router.channel_cycles
        cycles += _cycles_of_routers(topology, router)
    latency = cycles * cycle / np.maximum(topology.channel_cycles, 1)
    given = clock.latency_source not in ("", ASSUMED)
    source = clock.latency_source if given else f"engine {network.engine_name}"
    return replace(
        clock,
        bytes_per_second=float(network.flit_bytes or 1) / cycle,
        latency_seconds=latency,
        latency_source=source,
        overhead_seconds=float(np.rint(clock.overhead_seconds / cycle) * cycle),
        network=topology,
    )
