"""What do broadcasts cost, and what do they cost the other messages, at this rate?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from netloom.base.progress import counting_runs
from netloom.base.spec import MAX_ELEMENTS
from netloom.questions.answers import CYCLES
from netloom.questions.base import Numbers, Question, option
from netloom.questions.fields import Arriving, Measured, PacketLengths, PatternTraffic
from netloom.questions.named import network_of, read_traffic
from netloom.questions.numbers import parse_numbers
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.simulation.side_by_side import run_all
from netloom.topology.alike import check_direct
from netloom.workload import Lengths, parse_lengths
from netloom_papers.programs.broadcast import BroadcastTraffic, run_broadcasts
from netloom_papers.questions.simulate.broadcast.answer import BroadcastSimulation

if TYPE_CHECKING:
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload import Traffic


class BroadcastFields(Question, panel="Broadcast"):
    """How many messages there are, and how those to all nodes are sent."""

    rate: Numbers = option(
        "Messages per sending node and cycle: 0.002, several with commas, or START:STOP:STEP."
    )
    broadcast: float = option("Share of the messages that are broadcast.", default=0.04, ge=0, le=1)
    multicast_targets: int = option(
        "Targets drawn per broadcast (0: all nodes).", default=0, ge=0, le=MAX_ELEMENTS
    )
    tree: Literal["balanced", "row-first"] = option(
        "Tree of a broadcast: balanced (dimensions in random order) or row-first (along "
        "rows, then columns).",
        default="balanced",
    )
    startup_cycles: int = option(
        "Start-up time of every message and copy.", default=0, ge=0, le=2**20, unit=CYCLES
    )


class BroadcastQuestion(Measured, ProgramQuestion, Arriving, PatternTraffic, BroadcastFields):
    """Messages of which a part goes to all nodes, by trees."""

    packet_flits: PacketLengths = option(  # type: ignore[assignment]
        "Length of a message, one packet: flits, uniform:1-9, bimodal:1,9,0.5 or geometric:5.",
        default=5,
        panel="Broadcast",
    )


@dataclass(frozen=True, eq=False)
class PreparedBroadcasts:
    """The network of a question, who sends, and how long messages are."""

    network: PreparedNetwork
    traffic: Traffic
    lengths: Lengths


def prepare(question: BroadcastQuestion) -> PreparedBroadcasts:
    """Build the network, its traffic and the lengths of messages."""
    asked: Any = question.packet_flits
    lengths = asked if isinstance(asked, Lengths) else parse_lengths(asked)
    whole = question.model_copy(update={"packet_flits": None})  # messages are not cut
    found = network_of(question)
    check_direct(found[0], "broadcasts from neighbour to neighbour", "simulate trace")
    network = prepare_program(whole, longest_flits=lengths.longest, found=found)
    return PreparedBroadcasts(network, read_traffic(question.traffic, network.topology), lengths)


@asks(
    BroadcastQuestion,
    prepare=prepare,
    title="Simulated broadcasts",
    example="netloom simulate broadcast --on torus:8x8 --rate 0.002 --broadcast 0.04",
    page="run-a-program.md",
    sweep="rate",
    outputs=(PLOT,),
)
def simulate_broadcast(
    question: BroadcastQuestion, ready: PreparedBroadcasts
) -> BroadcastSimulation:
    """Simulate traffic with some broadcasts, sent by trees of messages.

    Every node that a broadcast reaches sends copies on (Shahrabi, Ould-Khaoua & Mackenzie 2002).
    Runs at several rates go on at once, on all processors. Ctrl-C ends them, and what was known by
    then is the answer.

    Raises
    ------
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
    network, traffic, law = ready.network, ready.traffic, ready.lengths
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
    runs = [
        partial(run_broadcasts, network, traffic, program, rate, law.mean, question.limits())
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
