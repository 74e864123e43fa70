"""What do the nodes of a machine and their channels make of a pattern of messages, in µs?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.units import seconds, size
from netloom.base.words import counted, number
from netloom.drawing.axes import axis
from netloom.machines import node_costs
from netloom.mapping.layouts.parts import cube_of_hosts
from netloom.questions.base import InstanceOf, Numbers, Question, argument, option, parse_positive
from netloom.questions.columns import Column, Columns
from netloom.questions.named import network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.shown import Verdict, pairs, subject
from netloom.questions.simulate.engines import NETWORK, prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.simulate.said import again, rough, setup_of, table_with_units
from netloom.simulation.side_by_side import run_all
from netloom.workload.programs.node_costs import NodeCosts
from netloom_papers.programs.neighbour_patterns import PATTERNS, pattern, run_pattern
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.drawing.frame import Part
    from netloom.machines import Machine
    from netloom.questions.register import Recorded
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload.programs.node_costs import NodeCosts
    from netloom_papers.programs.neighbour_patterns import Pattern, PatternTimes

    Figures = Mapping[str, Any]

US, OF_CHANNEL = "µs", "of a channel"


def _nodes(
    name: str, figure: str, title: str, unit: str, of: Callable[..., float], *, key: bool = False
) -> Column:
    """Return the column of a figure of the nodes that send most: their mean, or their worst."""

    def value(point: PatternTimes) -> float:
        return float(getattr(point.of_busiest(of), figure))

    return Column(name, title, unit, value, key=key)


@dataclass(frozen=True, eq=False, repr=False)
class PatternSimulation(Told):
    """What ``simulate_pattern`` found.

    Attributes
    ----------
    nodes
        int64[num_active], the nodes that take part.
    points
        One for each message length and computation that ended.
    asked
        How many were asked for.
    """

    network: PreparedNetwork
    pattern: str
    costs: NodeCosts
    nodes: Ints
    points: tuple[PatternTimes, ...]
    asked: int
    provenance: Provenance

    columns: ClassVar = Columns(
        Column("message_bytes", "message", "bytes", kind=int, key=True),
        Column("think_us", "computation", US, key=True),
        Column("message_us", "alone", US, "alone_us", key=True),
        Column("applied", unit=OF_CHANNEL, key=True),
        _nodes("loop_us_mean", "loop_us", "loop, mean", US, np.mean, key=True),
        _nodes("communication_us_mean", "communication_us", "message, mean", US, np.mean, key=True),
        _nodes("slowdown_mean", "slowdown", "slow-down, mean", "", np.mean),
        _nodes("loop_us_max", "loop_us", "loop, worst", US, np.max, key=True),
        _nodes("communication_us_max", "communication_us", "message, worst", US, np.max, key=True),
        _nodes("slowdown_max", "slowdown", "slow-down, worst", "", np.max),
        _nodes("average_node", "traffic", "traffic, average node", OF_CHANNEL, np.mean),
        _nodes("worst_node", "traffic", "traffic, worst node", OF_CHANNEL, np.max),
    )
    about: ClassVar = NETWORK | Columns(
        Column("flit_bytes", kind=int, value="costs.flit_bytes"),
        Column("cycle_us", value="costs.cycle_us"),
        Column("pattern", kind=str),
        Column("active_nodes", kind=int, value=lambda found: len(found.nodes)),
        Column("interrupted", kind=bool),
    )

    @property
    def several(self) -> bool:
        """True: JSON has a list of points even if there is one."""
        return True

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        return len(self.points) < self.asked


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


Case: TypeAlias = "tuple[Pattern, int, float]"
"""The program for a message length and a computation, with both."""


def prepare(question: PatternQuestion) -> tuple[PreparedNetwork, NodeCosts, list[Case]]:
    """Build the network and the programs that run on it."""
    sizes = parse_positive(question.message_bytes, "message_bytes", whole=True)
    thinks = parse_positive(question.think_us, "think_us", zero=True)
    name = question.pattern.lower()
    if name not in PATTERNS:
        raise InputError("pattern", f"'{question.pattern}'", f"one of {', '.join(PATTERNS)}")
    found = network_of(question)
    own = cube_of_hosts(found[0])
    sides = () if own is None else own[0].sides
    if len(sides) != 2 or sides[0] != sides[1]:
        raise InputError("on", found[0].name, "a square mesh, for these patterns")
    costs = _costs(question, found[1])
    cases = []
    for each, think in product(map(int, sizes), thinks):
        made = pattern(
            name, sides[0], message_bytes=each, think_us=think, costs=costs, seed=question.seed
        )
        cases.append((made, each, think))
    longest = max(int(made.rounds.one.flits.max()) for made, _, _ in cases)
    network = prepare_program(
        question, longest_flits=longest, flit_bytes=costs.flit_bytes, found=found
    )
    return network, costs, cases


@asks(
    PatternQuestion,
    prepare=prepare,
    title="Simulated pattern of a machine",
    example="netloom simulate pattern transpose --on symult2010:12x12",
    page="run-a-program.md",
    outputs=(PLOT,),
)
def simulate_pattern(
    question: PatternQuestion, ready: tuple[PreparedNetwork, NodeCosts, list[Case]]
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
    >>> round(found.points[0].alone_us)
    216
    """
    (network, costs, cases), name = ready, question.pattern.lower()
    limits = {field: getattr(question, field) for field in ("skip", "loops", "most_cycles")}
    runs = [
        partial(run_pattern, network, program, costs, length, think, **limits)
        for program, length, think in cases
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
        nodes=cases[0][0].nodes,
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


LITTLE, MUCH = 0.1, 1.0
"""What contention may add to a message before it limits, and before something is to be changed, in
times that the message takes alone."""


def verdict(found: Figures) -> Verdict:
    """Return what contention adds to messages, in the case in which it adds most."""
    of = subject(found["pattern"], found["topology"])

    def added(point: Figures, part: str) -> float:
        """Return what contention adds to a message, as a share of what it takes alone."""
        return float(point[f"communication_us_{part}"]) / float(point["message_us"]) - 1

    worst = max(found["points"], key=lambda each: added(each, "mean"))
    mean, most = added(worst, "mean"), added(worst, "max")
    alone, loop, think = (
        seconds(worst[name] / 1e6) for name in ("message_us", "loop_us_mean", "think_us")
    )
    long = counted(worst["message_bytes"], "byte", ",")
    lines = {
        "where": f"messages of {long} after {think} of computation "
        f"({rough(worst['applied'])} of a link)",
        "why": f"alone a message takes {alone}, a loop takes {loop} here",
    }
    takes = seconds(worst["communication_us_mean"] / 1e6)
    if found["interrupted"]:
        said = f"Interrupted: messages take up to {takes} so far, {rough(mean)} longer than alone."
        return Verdict("unknown", said, of, lines, again("simulate.pattern", found))
    if most <= LITTLE:
        said = f"Messages hardly meet: they take {takes}, {rough(max(mean, 0))} longer than alone."
        return Verdict("fine", said, of, lines)
    said = f"Messages take {takes}, {rough(max(mean, 0))} longer than alone, and "
    said += f"{rough(most)} longer at the slowest node."
    return Verdict("act" if mean > MUCH else "limited", said, of, lines)


HEADS = {
    "message_bytes": ("size", "bytes"),
    "think_us": ("compute", US),
    "loop_us_mean": ("loop", US),
    "loop_us_max": ("worst loop", US),
    "message_us": ("alone", US),
    "communication_us_mean": ("message", US),
    "communication_us_max": ("worst", US),
    "applied": ("applied", "link, %"),
    "average_node": ("actual", "link, %"),
    "worst_node": ("worst", "link, %"),
}
"""Columns of the terminal, by those of the answer: times, and traffic in shares of a link."""


def lines(result: PatternSimulation) -> list[Any]:
    """Return the times of loops and messages, and the traffic."""
    table = table_with_units(HEADS.values())
    for row in result.table().to_dicts():
        cells = [
            row[name] * (100 if unit.endswith("%") else 1) for name, (_, unit) in HEADS.items()
        ]
        table.add_row(*map(number, cells))
    rows = {
        "nodes": f"{counted(len(result.nodes), 'node')} of the pattern",
        "network": setup_of(result.network),
    }
    return [table, "", pairs(rows)]


def footer(record: Recorded) -> list[str]:
    """Return what ran, on how many nodes."""
    found = record.figures
    return [
        f"{found['pattern']} on {found['topology']}, {number(found['active_nodes'])} nodes take "
        f"part; {found['router']['name']}"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return what gets through, and what contention adds, by applied traffic and size."""
    import polars as pl

    from netloom.drawing.axes import ordered, panel
    from netloom.drawing.load_curves import shares

    table = record.tables["table"].sort("message_bytes", "applied")
    said = pl.col("message_bytes").map_elements(size, return_dtype=pl.String)
    table = table.with_columns(of=said)
    looks = ordered(table["of"].unique(maintain_order=True).to_list())
    title = "applied traffic (share of a channel)"
    applied = axis("applied", title, table["applied"].to_list(), whole=False)
    nodes = {"average_node": ("", 2.8), "worst_node": (", worst", 1.2)}
    through = pl.concat(
        table.select(
            "applied",
            share=pl.col(column) / pl.col("applied"),
            of=pl.format("{}{}", "of", pl.lit(more)),
        )
        for column, (more, _) in nodes.items()
    )
    several = {
        name + more: look._replace(width=width)
        for more, width in nodes.values()
        for name, look in looks.items()
    }
    slower = [1.0, *table["slowdown_max"].to_list()]
    up = axis("slowdown_max", "longest message, times unhindered", slower, zero=False, whole=False)
    where = panel(applied, up, looks)
    layers = [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    most = number(table["slowdown_max"].max())
    title = f"A message of the worst node takes up to {most} times as long as alone"
    return {
        "traffic": shares(through, applied, several),
        "slowdown": where.drawn([*where.across(1.0), *layers], title),
    }


PART_TITLES = {"traffic": "Share that gets through"}
"""What parts are called that have no title of their own."""
