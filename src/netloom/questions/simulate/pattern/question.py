"""What do the nodes of a machine and their channels make of a pattern of messages, in µs?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from netloom.errors import InputError
from netloom.machines import node_costs
from netloom.progress import counting
from netloom.questions.answers import Answer
from netloom.questions.base import InstanceOf, argument, option
from netloom.questions.numbers import parse_positive, plainly
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.simulation.patterns import PatternTimes, run_pattern
from netloom.simulation.side_by_side import run_all
from netloom.topology import Cube, Topology
from netloom.workload.programs.neighbour_patterns import PATTERNS, pattern
from netloom.workload.programs.node_costs import NodeCosts

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.provenance import Provenance
    from netloom.questions.simulate.engines import PreparedNetwork

PATTERN = "Machine experiment: what nodes and their channels take"


class PatternQuestion(ProgramQuestion):
    """A machine's nodes that exchange messages in a pattern."""

    pattern: str = argument(
        "Who sends to whom, in which order: ab-1nn, aa-1nn, ab-4nn, aa-4nn, diagonal or transpose "
        "(thesis, chapter 4).",
        default="transpose",
        kw_only=True,
    )
    engine: Literal["network", "worm"] = option(
        "worm: lockstep worms (Chittor's simulator); network: routers with virtual channels.",
        default="worm",
    )
    message_bytes: Any = option(
        "Message length: a number of bytes, or several with commas.", default=4096, panel=PATTERN
    )
    think_us: Any = option(
        "Mean computation of a loop, µs, uniform on 0 to twice as much: one, several with commas, "
        "or START:STOP:STEP.",
        default=1000,
        panel=PATTERN,
    )
    costs: InstanceOf[NodeCosts] | None = option(
        "What a message costs at its ends.", default=None, shown_default="the machine's"
    )
    loops: int = option(
        "Loops of every node that count.", default=100, ge=1, le=10**6, panel=PATTERN
    )
    skip: int = option("Loops before them that do not.", default=10, ge=0, le=10**6, panel=PATTERN)


@dataclass(frozen=True, eq=False)
class PatternSimulation(Answer):
    """What ``simulate_pattern`` found.

    Attributes
    ----------
    network, pattern, costs
        What ran which pattern, and what messages cost at their ends.
    nodes
        int64[num_active], the nodes that take part.
    points
        One for each message length and computation that ended.
    asked
        How many were asked for.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table",)

    network: PreparedNetwork
    pattern: str
    costs: NodeCosts
    nodes: NDArray[np.int64]
    points: tuple[PatternTimes, ...]
    asked: int
    provenance: Provenance

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        return len(self.points) < self.asked

    def table(self) -> pl.DataFrame:
        """Return one row a message length and computation; times in µs, traffic in shares of B."""
        import polars as pl

        return pl.DataFrame([_row(point) for point in self.points], infer_schema_length=None)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom simulate --pattern``."""
        return self.network.describe(self.provenance) | {
            "flit_bytes": self.costs.flit_bytes,
            "cycle_us": self.costs.cycle_us,
            "pattern": self.pattern,
            "active_nodes": len(self.nodes),
            "interrupted": self.interrupted,
            "points": [_row(point) for point in self.points],
        }

    def __repr__(self) -> str:
        lines = [
            f"{point.message_bytes} bytes, computing {point.think_us:g} us: loop "
            f"{point.loop_us.mean():.1f} us (worst node {point.loop_us.max():.1f})"
            for point in self.points
        ]
        head = f"<{self.pattern} on {self.network.topology.name}; seed {self.provenance.seed}, "
        return "\n".join([f"{head}netloom {self.provenance.version}>", *lines])


def _row(point: PatternTimes) -> dict[str, Any]:
    """Return the figures of one message length and computation as one row of a table."""
    mean, most = (point.of_busiest(figure)._asdict() for figure in (np.mean, np.max))
    names = ("loop_us", "communication_us", "slowdown")
    return {
        "message_bytes": point.message_bytes,
        "think_us": point.think_us,
        "message_us": point.alone_us,
        "applied": point.applied,
        **{f"{name}_mean": mean[name] for name in names},
        **{f"{name}_max": most[name] for name in names},
        "average_node": mean["traffic"],
        "worst_node": most["traffic"],
    }


@asks(
    PatternQuestion,
    title="Simulated pattern of a machine",
    example="netloom simulate pattern transpose --on symult2010:12x12",
    page="run-a-program.md",
    outputs=(PLOT,),
)
def simulate_pattern(question: PatternQuestion) -> PatternSimulation:
    """Simulate a machine's nodes that exchange messages in a pattern (Chittor 1991, chapter 4).

    A message costs its two nodes α + β L, and the one channel between a node and its router
    carries all that enters and leaves. Runs go on at once, on all processors.

    Raises
    ------
    InputError
        If a field or their combination cannot be used.
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = simulate_pattern("symult2010:4x4", pattern="ab-1nn", message_bytes=100, loops=20)
    >>> round(found.points[0].alone_us)
    216
    """
    sizes = parse_positive(question.message_bytes, "message_bytes", whole=True)
    thinks = parse_positive(question.think_us, "think_us", zero=True)
    name = question.pattern.lower()
    if name not in PATTERNS:
        raise InputError("pattern", f"'{question.pattern}'", f"one of {', '.join(PATTERNS)}")
    network = prepare_program(question, longest_flits=1)
    side = _side(network.topology)
    costs = _costs(question, network)
    cases = [
        pattern(
            name, side, message_bytes=int(size), think_us=think, costs=costs, seed=question.seed
        )
        for size, think in product(sizes, thinks)
    ]
    longest = max(int(case.rounds.one.flits.max()) for case in cases)
    network = prepare_program(question, longest_flits=longest, flit_bytes=costs.flit_bytes)
    runs = [
        partial(
            run_pattern,
            network,
            program,
            costs,
            int(size),
            think,
            skip=question.skip,
            loops=question.loops,
            most_cycles=question.most_cycles,
        )
        for program, (size, think) in zip(cases, product(sizes, thinks), strict=True)
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
        nodes=cases[0].nodes,
        points=points,
        asked=len(runs),
        provenance=provenance_of(question, "simulate_pattern", network.topology),
    )


def _costs(question: PatternQuestion, network: PreparedNetwork) -> NodeCosts:
    """Return what messages cost at the nodes, no byte less than it takes on a channel."""
    costs = question.costs or node_costs(network.machine)
    least = costs.channel_byte_us
    if network.machine is not None:
        least = max(least, 1 / network.machine.bandwidth_bytes_per_us)
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
