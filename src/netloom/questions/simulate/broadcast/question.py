"""What do broadcasts cost, and what do they cost the other messages, at this rate?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from netloom.progress import counting, patience
from netloom.questions.base import option
from netloom.questions.fields import Arriving, Measured, PacketLengths, PatternTraffic
from netloom.questions.named import read_traffic
from netloom.questions.numbers import parse_numbers
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.broadcast.answer import BroadcastSimulation
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.simulation.broadcasts import run_broadcasts
from netloom.simulation.side_by_side import run_all
from netloom.simulation.steady import Limits
from netloom.spec import MAX_ELEMENTS
from netloom.workload import Lengths, parse_lengths
from netloom.workload.programs.broadcast import BroadcastTraffic

if TYPE_CHECKING:
    from netloom.simulation.broadcasts import BroadcastRun

BROADCAST = "Broadcast"


class BroadcastQuestion(Measured, Arriving, PatternTraffic, ProgramQuestion):
    """Messages of which a part goes to all nodes, by trees."""

    rate: Any = option(
        "Messages a cycle that the average sending node generates: 0.002, several with commas, or "
        "START:STOP:STEP.",
        panel=BROADCAST,
    )
    broadcast: float = option(
        "Part of the messages that are broadcast.", default=0.04, ge=0, le=1, panel=BROADCAST
    )
    multicast_targets: int = option(
        "Send broadcasts to so many nodes, drawn for each; 0: all.",
        default=0,
        ge=0,
        le=MAX_ELEMENTS,
        panel=BROADCAST,
    )
    tree: Literal["balanced", "row-first"] = option(
        "balanced: the order of dimensions is drawn for each broadcast; row-first: along rows, "
        "then columns.",
        default="balanced",
        panel=BROADCAST,
    )
    startup_cycles: int = option(
        "Cycles that every message, and every copy, takes before it is sent.",
        default=0,
        ge=0,
        le=2**20,
        panel=BROADCAST,
    )
    packet_flits: PacketLengths = option(  # type: ignore[assignment]
        "Length of a message, which is one packet: a number of flits, uniform:1-9, "
        "bimodal:1,9,0.5 or geometric:5.",
        default=5,
        panel=BROADCAST,
    )


@asks(
    BroadcastQuestion,
    title="Simulated broadcasts",
    example="netloom simulate broadcast --on torus:8x8 --rate 0.002 --broadcast 0.04",
    page="simulate-a-network.md",
    sweep="rate",
    outputs=(PLOT,),
)
def simulate_broadcast(question: BroadcastQuestion) -> BroadcastSimulation:
    """Simulate traffic of which a part is broadcast, by trees of messages from node to node.

    Every node that a broadcast reaches sends copies on (Shahrabi, Ould-Khaoua & Mackenzie 2002).
    Runs at several rates go on at once, on all processors. Ctrl-C ends them, and what was known by
    then is the answer.

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
    found = _run(runs, f"{traffic.name} with broadcasts on {network.topology.name}")
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


def _run(runs: list[partial[BroadcastRun]], what: str) -> list[BroadcastRun]:
    if len(runs) == 1:
        with patience(what):
            return run_all(runs)
    with counting(len(runs), what) as tell:
        return run_all(runs, tell=tell)


def _lengths(question: BroadcastQuestion) -> Lengths:
    asked: Any = question.packet_flits
    return asked if isinstance(asked, Lengths) else parse_lengths(asked)
