"""Simulate a machine whose nodes exchange messages in a pattern (Chittor 1991, chapter 4)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, Literal

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import figure, unseen
from netloom.base.progress import counting
from netloom.base.units import seconds, size
from netloom.base.words import counted, number
from netloom.mapping.layouts import cube_of_hosts
from netloom.questions.answers import Answer, Grade, Verdict
from netloom.questions.base import Numbers, Question, argument, option, parse_positive
from netloom.questions.named import network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.simulate.engines import OnEngine, PreparedNetwork, prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.terminal import rough, subject
from netloom.simulation.side_by_side import run_all
from netloom_papers.programs import neighbour_patterns as patterns

ADDED = Grade("what contention adds to a message, over what it takes alone", fine=0.1, act=1.0)


class PatternSimulation(Answer):
    """What ``simulate_pattern`` found: a point for each message length and computation that ended.

    ``nodes``, those that take part, and ``network`` are of an answer that was asked just now.
    """

    setup: OnEngine = figure(at=".", table=False)
    pattern: str = figure(table=False)
    active_nodes: int = figure("nodes of the pattern", lead=True)
    interrupted: bool = figure(table=False)
    points: tuple[patterns.Point, ...] = figure()
    nodes: Ints = unseen(default=None)
    network: PreparedNetwork = unseen(default=None)

    @property
    def several(self) -> bool:
        """True: JSON has a list of points even if there is one."""
        return True

    @property
    def of(self) -> str:
        """Pattern and network."""
        return subject(self.pattern, self.setup.topology)

    def judged(self) -> Verdict:
        """Return what contention adds to messages, in the case in which it adds most."""
        worst = max(self.points, key=lambda each: each.added_mean)
        alone, loop = seconds(worst.message_us / 1e6), seconds(worst.loop_us_mean / 1e6)
        think, takes = seconds(worst.think_us / 1e6), seconds(worst.communication_us_mean / 1e6)
        lines = {
            "where": f"messages of {counted(worst.message_bytes, 'byte', ',')} after {think} of "
            f"computation ({rough(worst.applied)} of a link)",
            "why": f"alone a message takes {alone}, a loop takes {loop} here",
        }
        longer = rough(max(worst.added_mean, 0))
        if self.interrupted:
            said = f"Interrupted: messages take up to {takes} so far, {longer} longer than alone."
            return Verdict("unknown", said, lines, self.again())
        mark = ADDED.mark(worst.added_mean, worst=worst.added_max)
        if mark == "fine":
            said = f"Messages hardly meet: they take {takes}, {longer} longer than alone."
        else:
            said = f"Messages take {takes}, {longer} longer than alone, and "
            said += f"{rough(worst.added_max)} longer at the slowest node."
        return Verdict(mark, said, lines)

    def remarks(self) -> Iterator[str]:
        """Yield how it was run."""
        yield self.setup.how

    def footer(self) -> list[str]:
        """Return what ran, on how many nodes."""
        return [
            f"{self.pattern} on {self.setup.topology}, {number(self.active_nodes)} nodes take "
            f"part; {self.setup.router['name']}"
        ]

    def parts(self) -> dict[str, Any]:
        """Return how much longer than alone messages take, by applied traffic and size."""
        import polars as pl

        from netloom.drawing.axes import axis, ordered, panel

        table = self.table().sort("message_bytes", "applied")
        said = pl.col("message_bytes").map_elements(size, return_dtype=pl.String)
        table = table.with_columns(of=said)
        looks = ordered(table["of"].unique(maintain_order=True).to_list())
        title = "applied traffic (share of a channel)"
        applied = axis("applied", title, table["applied"].to_list(), whole=False)
        slower = [1.0, *table["slowdown_max"].to_list()]
        title = "longest message, times unhindered"
        where = panel(applied, axis("slowdown_max", title, slower, zero=False, whole=False), looks)
        layers = [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
        most = number(max(slower[1:]))
        title = f"A message of the worst node takes up to {most} times as long as alone"
        return {"slowdown": where.drawn([*where.across(1.0), *layers], title)}


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


def prepare(question: PatternQuestion) -> tuple[PreparedNetwork, list[patterns.Pattern]]:
    """Build the network and the programs that run on it."""
    sizes = parse_positive(question.message_bytes, "message_bytes", whole=True)
    thinks = parse_positive(question.think_us, "think_us", zero=True)
    name = question.pattern.lower()
    if name not in patterns.PATTERNS:
        raise InputError(
            "pattern", f"'{question.pattern}'", f"one of {', '.join(patterns.PATTERNS)}"
        )
    found = network_of(question)
    own = cube_of_hosts(found[0])
    sides = () if own is None else own[0].sides
    if len(sides) != 2 or sides[0] != sides[1]:
        raise InputError("on", found[0].name, "a square mesh, for these patterns")
    costs = patterns.node_costs(found[1])
    made = partial(patterns.Pattern, name, sides[0], costs=costs, seed=question.seed)
    cases = product(map(int, sizes), thinks)
    programs = [made(message_bytes=length, think_us=think) for length, think in cases]
    longest = max(int(program.one.flits.max()) for program in programs)
    return prepare_program(question, longest_flits=longest, found=found), programs


@asks(
    PatternQuestion,
    prepare=prepare,
    title="Simulated pattern of a machine",
    example="netloom simulate pattern transpose --on symult2010:12x12",
    page="run-a-program.md",
    outputs=(PLOT,),
)
def simulate_pattern(
    question: PatternQuestion, ready: tuple[PreparedNetwork, list[patterns.Pattern]]
) -> PatternSimulation:
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
    >>> round(found.points[0].message_us)
    216
    """
    (network, programs), name = ready, question.pattern.lower()
    limits = {field: getattr(question, field) for field in ("skip", "loops", "most_cycles")}
    runs = [partial(patterns.run_pattern, network, program, **limits) for program in programs]
    with counting(len(runs), f"{name} on {network.topology.name}") as tell:
        points = tuple(point for point in run_all(runs, tell=tell) if point is not None)
    if not points:
        raise KeyboardInterrupt  # as of any run that was stopped before anything was known
    nodes = programs[0].nodes
    return PatternSimulation(
        setup=OnEngine.of(network),
        pattern=name,
        active_nodes=len(nodes),
        interrupted=len(points) < len(runs),
        points=points,
        nodes=nodes,
        network=network,
        provenance=provenance_of(question, "simulate_pattern", network.topology),
    )
