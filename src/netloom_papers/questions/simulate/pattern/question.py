"""What do the nodes of a machine and their channels make of a pattern of messages, in µs?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.machines import node_costs
from netloom.questions.base import InstanceOf, Numbers, Question, argument, option
from netloom.questions.named import network_of
from netloom.questions.numbers import parse_positive
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.simulation.side_by_side import run_all
from netloom.topology import Cube, Topology
from netloom.workload.programs.node_costs import NodeCosts
from netloom_papers.programs.neighbour_patterns import PATTERNS, pattern, run_pattern
from netloom_papers.questions.simulate.pattern.answer import PatternSimulation

if TYPE_CHECKING:
    from netloom.machines import Machine
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom_papers.programs.neighbour_patterns import Pattern


class PatternFields(Question, panel="Experiment"):
    """What the nodes do in a loop, and how many loops there are."""

    pattern: str = argument(
        "Pattern of messages: ab-1nn, aa-1nn, ab-4nn, aa-4nn, diagonal or transpose "
        "(thesis, chapter 4).",
        default="transpose",
        kw_only=True,
        panel="Arguments",
    )
    message_bytes: Numbers = option(
        "Message length: one, or several with commas.", default=4096, unit="bytes"
    )
    think_us: Numbers = option(
        "Mean computation of a loop: one, several with commas, or START:STOP:STEP. "
        "Drawn from 0 to twice that.",
        default=1000,
        unit="µs",
    )
    costs: InstanceOf[NodeCosts] | None = option(
        "Cost of a message at its two ends.", default=None, shown_default="the machine's"
    )
    loops: int = option("Measured loops of each node.", default=100, ge=1, le=10**6)
    skip: int = option("Loops of each node before the measured ones.", default=10, ge=0, le=10**6)


class PatternQuestion(ProgramQuestion, PatternFields):
    """A machine's nodes that exchange messages in a pattern."""

    engine: Literal["network", "worm", "flow"] = option(
        "Engine: worm (Chittor's lockstep worms), network (virtual-channel routers) or "
        "flow (flows that share channels fairly).",
        default="worm",
        panel="Engine",
    )


@dataclass(frozen=True, eq=False)
class PreparedPattern:
    """The network of a question, what messages cost at their ends, and what is run on it.

    ``cases`` are the program for each message length and computation, with both.
    """

    network: PreparedNetwork
    costs: NodeCosts
    cases: list[tuple[Pattern, int, float]]


def prepare(question: PatternQuestion) -> PreparedPattern:
    """Build the network and the programs that run on it."""
    sizes = parse_positive(question.message_bytes, "message_bytes", whole=True)
    thinks = parse_positive(question.think_us, "think_us", zero=True)
    name = question.pattern.lower()
    if name not in PATTERNS:
        raise InputError("pattern", f"'{question.pattern}'", f"one of {', '.join(PATTERNS)}")
    found = network_of(question)
    side, costs = _side(found[0]), _costs(question, found[1])
    cases = []
    for size, think in product(map(int, sizes), thinks):
        made = pattern(
            name, side, message_bytes=size, think_us=think, costs=costs, seed=question.seed
        )
        cases.append((made, size, think))
    longest = max(int(made.rounds.one.flits.max()) for made, _, _ in cases)
    network = prepare_program(
        question, longest_flits=longest, flit_bytes=costs.flit_bytes, found=found
    )
    return PreparedPattern(network, costs, cases)


@asks(
    PatternQuestion,
    prepare=prepare,
    title="Simulated pattern of a machine",
    example="netloom simulate pattern transpose --on symult2010:12x12",
    page="run-a-program.md",
    outputs=(PLOT,),
)
def simulate_pattern(question: PatternQuestion, ready: PreparedPattern) -> PatternSimulation:
    """Simulate a machine whose nodes exchange messages in a pattern (Chittor 1991, chapter 4).

    A message costs its two nodes α + β L, and the one channel between a node and its router
    carries all that enters and leaves. Runs go on at once, on all processors.

    Raises
    ------
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = simulate_pattern("symult2010:4x4", pattern="ab-1nn", message_bytes=100, loops=20)
    >>> round(found.points[0].alone_us)
    216
    """
    network, costs, name = ready.network, ready.costs, question.pattern.lower()
    limits = {field: getattr(question, field) for field in ("skip", "loops", "most_cycles")}
    runs = [
        partial(run_pattern, network, program, costs, size, think, **limits)
        for program, size, think in ready.cases
    ]
    with counting(len(runs), f"{name} on {network.topology.name}") as tell:
        found = run_all(runs, tell=tell)
    points = tuple(point for point in found if len(point.loop_us))
    if not points:
        raise KeyboardInterrupt  # as of any run that was stopped before anything was known
    return PatternSimulation(
        network=network,
        pattern=name,
        costs=costs,
        nodes=ready.cases[0][0].nodes,
        points=points,
        asked=len(runs),
        provenance=provenance_of(question, "simulate_pattern", network.topology),
    )


def _costs(question: PatternQuestion, on_machine: Machine | None) -> NodeCosts:
    """Return what messages cost at the nodes, no byte less than it takes on a channel."""
    costs = question.costs or node_costs(on_machine)
    least = costs.channel_byte_us
    if on_machine is not None:
        least = max(least, 1 / on_machine.bandwidth_bytes_per_us)
    if costs.byte_us < least * (1 - 1e-9):
        found = f"{costs.byte_us:g} µs a byte, where a channel takes {least:g}"
        raise InputError("costs", found, f"at least {least:g} µs a byte")
    return costs


def _side(topology: Topology) -> int:
    """Return the side of a square mesh."""
    square = isinstance(topology, Cube) and len(set(topology.sides)) == 1
    if not (isinstance(topology, Cube) and square and len(topology.sides) == 2):
        raise InputError("on", topology.name, "a square mesh, for these patterns")
    return int(topology.sides[0])
