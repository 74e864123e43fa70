"""What do broadcasts cost, and what do they cost the other messages, at this rate?"""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from netloom.machines import Machine
from netloom.progress import counting_runs
from netloom.simulation.broadcasts import run_broadcasts
from netloom.simulation.side_by_side import run_all
from netloom.simulation.steady import Limits
from netloom.spec import MAX_ELEMENTS
from netloom.topology import Topology
from netloom.verbs.broadcast_simulation import BroadcastSimulation
from netloom.verbs.network_question import refuse
from netloom.verbs.numbers import parse_numbers
from netloom.verbs.program_network import ProgramQuestion, prepare_program
from netloom.verbs.programs import read_traffic
from netloom.verbs.question import InstanceOf, ask
from netloom.verbs.record import provenance_of
from netloom.workload import Arrivals, Lengths, Traffic, parse_lengths
from netloom.workload.broadcast import BroadcastTraffic
from netloom.workload.lengths import LONGEST


class BroadcastQuestion(ProgramQuestion):
    """The question that ``simulate_broadcast`` answers.

    Attributes
    ----------
    rate
        Messages a cycle that the average sending node generates, above 0: a number, a list, or a
        range ``START:STOP:STEP`` that includes both ends.
    broadcast
        Part of the messages that are broadcast, 0 to 1.
    multicast_targets
        So many nodes, drawn for each broadcast, are its targets; 0: all.
    tree
        ``balanced``: the order of the dimensions is drawn for each broadcast; ``row-first``: along
        the rows, then along the columns.
    startup_cycles
        Cycles that every message, and every copy from node to node, takes before it is sent.
    traffic
        Who generates messages, and to whom the others go: a ``Traffic``, a pattern (see
        ``workload.parse_traffic``), or a dict as provenance records it; uniform by default.
    packet_flits
        Length of a message, which is one packet: a number of flits, a law such as
        ``bimodal:1,9,0.5``, or ``Lengths``.
    arrivals
        When messages are generated: ``bernoulli``, ``poisson``, ``on-off:CYCLES,DUTY``, or
        ``Arrivals``.
    cycles
        Cycles to measure; by default as many as ``precision`` needs.
    precision
        Half-width of the 95 % confidence interval of the mean unicast latency, as a fraction of
        it, that is narrow enough.
    most_cycles
        Measured cycles after which a run ends whatever its precision.
    """

    rate: Any = None
    broadcast: float = Field(0.04, ge=0, le=1)
    multicast_targets: int = Field(0, ge=0, le=MAX_ELEMENTS)
    tree: Literal["balanced", "row-first"] = "balanced"
    startup_cycles: int = Field(0, ge=0, le=2**20)
    traffic: str | dict[str, Any] | InstanceOf[Traffic] = "uniform"
    packet_flits: Annotated[int, Field(ge=1, le=LONGEST)] | str | InstanceOf[Lengths] = 5  # type: ignore[assignment]
    arrivals: str | InstanceOf[Arrivals] = "bernoulli"
    cycles: int | None = Field(None, ge=1, le=2**30)
    precision: float = Field(0.02, gt=0, lt=1)
    most_cycles: int = Field(200_000, ge=1, le=2**30)


def simulate_broadcast(on: str | Topology | Machine, **options: Any) -> BroadcastSimulation:
    """Simulate traffic of which a part is broadcast, by trees of messages from node to node.

    Every node that a broadcast reaches sends copies on (Shahrabi, Ould-Khaoua & Mackenzie 2002).
    Runs at several rates go on at once, on all processors. Ctrl-C ends them, and what was known by
    then is the answer.

    Parameters
    ----------
    on, rate, broadcast
        The network, the messages, and which part of them is broadcast; see ``BroadcastQuestion``,
        as for all other options.

    Raises
    ------
    InputError
        If a field or their combination cannot be used.
    DeadlockError
        If packets could block each other for good, or have.

    Examples
    --------
    >>> found = simulate_broadcast(
    ...     "torus:4x4", rate=0.002, broadcast=0.1, packet_flits=8, cycles=20_000)
    >>> run = found.point
    >>> run.stable, run.broadcast.mean > run.unicast.mean
    (True, True)
    """
    question = ask(BroadcastQuestion, {"on": on, **options})
    refuse(question, ("switch_cycles",), "transactions: these messages have no contexts")
    rates = parse_numbers(question.rate, "rate", unit="messages/node/cycle")
    law = _lengths(question)
    whole = question.model_copy(update={"packet_flits": None})  # messages are not cut
    network = prepare_program(whole, longest_flits=law.longest)
    traffic = read_traffic(question.traffic, network.topology)
    programs = [
        BroadcastTraffic(
            network.topology,
            traffic,
            rate,
            question.broadcast,
            lengths=law,
            arrivals=question.arrivals,
            tree=question.tree,
            startup_cycles=question.startup_cycles,
            multicast_targets=question.multicast_targets,
            seed=question.seed,
        )
        for rate in rates
    ]
    limits = Limits(question.cycles, question.precision, question.most_cycles)
    runs = [
        partial(run_broadcasts, network, traffic, program, rate, law.mean, limits)
        for rate, program in zip(rates, programs, strict=True)
    ]
    what = f"{traffic.name} with broadcasts on {network.topology.name}"
    with counting_runs(len(runs), what) as tell:
        found = run_all(runs, tell=tell)
    return BroadcastSimulation(
        network=network,
        traffic=traffic,
        lengths=law,
        broadcast=question.broadcast,
        multicast_targets=question.multicast_targets,
        tree=question.tree,
        startup_cycles=question.startup_cycles,
        points=tuple(found),
        asked=rates,
        provenance=provenance_of(question, "simulate_broadcast", network.topology),
    )


def _lengths(question: BroadcastQuestion) -> Lengths:
    asked: Any = question.packet_flits
    return asked if isinstance(asked, Lengths) else parse_lengths(asked)
