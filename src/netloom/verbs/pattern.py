"""What do the nodes of a machine and their channels make of a pattern of messages, in µs?"""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from netloom.errors import InputError
from netloom.machines import Machine
from netloom.progress import counting
from netloom.simulation.agenda_kernel import LAST_CYCLE
from netloom.simulation.replay import run_program
from netloom.simulation.side_by_side import run_all
from netloom.topology import Cube, Topology
from netloom.verbs.numbers import parse_positive, plainly
from netloom.verbs.program_network import ProgramQuestion, prepare_program
from netloom.verbs.question import InstanceOf, ask
from netloom.verbs.record import provenance_of
from netloom.workload.loops import loops_done
from netloom.workload.neighbour_patterns import PATTERNS, Pattern, pattern
from netloom.workload.node_costs import NodeCosts

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray

    from netloom.provenance import Provenance
    from netloom.verbs.program_network import PreparedNetwork

STEP_LOOPS = 8
"""Loops that an unhindered node makes between two extensions of the program."""


class PatternQuestion(ProgramQuestion):
    """The question that ``simulate_pattern`` answers.

    Attributes
    ----------
    pattern
        Who sends to whom, and in which order: ``ab-1nn``, ``aa-1nn``, ``ab-4nn``, ``aa-4nn``,
        ``diagonal`` or ``transpose``; see ``workload.neighbour_patterns.pattern``.
    message_bytes
        Message length: a number, or several.
    think_us
        Mean computation of a loop, µs; it is uniform on 0 to twice as much. A number, several,
        or a range ``START:STOP:STEP``.
    costs
        What a message costs at its ends; the machine's own by default.
    loops, skip
        Loops of every node that count, and those before that do not.
    """

    engine: Literal["network", "worm"] = "worm"
    pattern: str = "transpose"
    message_bytes: Any = 4096
    think_us: Any = 1000
    costs: InstanceOf[NodeCosts] | None = None
    loops: int = Field(100, ge=1, le=10**6)
    skip: int = Field(10, ge=0, le=10**6)


@dataclass(frozen=True, eq=False)
class PatternTimes:
    """What the loops of a pattern take, for one message length and computation.

    Attributes
    ----------
    message_bytes, think_us
        As asked.
    loop_us, communication_us
        float64[num_active], the mean loop time of every node, and what of it is not computation;
        empty if it did not come so far.
    messages
        float64[num_active], messages that each node sends in a loop; fewer at a mesh's edges.
    alone_us, alpha_us
        What a message takes that meets no other, α + β L; and α.
    channel_us
        What the bytes of a message take on a channel: L / B.
    """

    message_bytes: int
    think_us: float
    loop_us: NDArray[np.float64]
    communication_us: NDArray[np.float64]
    messages: NDArray[np.float64]
    alone_us: float
    alpha_us: float
    channel_us: float

    def row(self) -> dict[str, Any]:
        """Return the figures as one row of a table.

        Applied traffic is what a node would send if no two messages met (eq. 4.3), actual traffic
        what it does. ``slowdown`` is the thesis's normalised communication time of a message,
        without its start-up: (τ_m − α) / (β L), eq. 4.4. All are of the nodes that send most: those
        at a mesh's edges have fewer neighbours.
        """
        count, alone = float(self.messages.max()), self.alone_us
        whole = self.messages == count  # a mesh's edges have fewer neighbours, and wait for others
        row: dict[str, Any] = {
            "message_bytes": self.message_bytes,
            "think_us": self.think_us,
            "message_us": alone,
            "applied": count * self.channel_us / (self.think_us + 2 * count * alone),
        }
        for part, figure in (("mean", np.mean), ("max", np.max)):
            per_message = float(figure(self.communication_us[whole])) / (2 * count)
            row[f"loop_us_{part}"] = float(figure(self.loop_us[whole]))
            row[f"communication_us_{part}"] = per_message
            row[f"slowdown_{part}"] = (per_message - self.alpha_us) / (alone - self.alpha_us)
        row["average_node"] = count * self.channel_us / row["loop_us_mean"]
        row["worst_node"] = count * self.channel_us / row["loop_us_max"]
        return row


@dataclass(frozen=True, eq=False)
class PatternSimulation:
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

        return pl.DataFrame([point.row() for point in self.points], infer_schema_length=None)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom simulate --pattern``."""
        return self.network.describe(self.provenance) | {
            "flit_bytes": self.costs.flit_bytes,
            "cycle_us": self.costs.cycle_us,
            "pattern": self.pattern,
            "active_nodes": len(self.nodes),
            "interrupted": self.interrupted,
            "points": [point.row() for point in self.points],
        }

    def __repr__(self) -> str:
        lines = [
            f"{point.message_bytes} bytes, computing {point.think_us:g} us: loop "
            f"{point.loop_us.mean():.1f} us (worst node {point.loop_us.max():.1f})"
            for point in self.points
        ]
        head = f"<{self.pattern} on {self.network.topology.name}; seed {self.provenance.seed}, "
        return "\n".join([f"{head}netloom {self.provenance.version}>", *lines])


def simulate_pattern(on: str | Topology | Machine, **options: Any) -> PatternSimulation:
    """Simulate a machine's nodes that exchange messages in a pattern (Chittor 1991, chapter 4).

    A message costs its two nodes α + β L, and the one channel between a node and its router
    carries all that enters and leaves. Runs go on at once, on all processors.

    Parameters
    ----------
    on
        A machine with published start-up times on a square mesh, such as ``symult2010:12x12``; or
        any square mesh, with ``costs``.
    options
        See ``PatternQuestion``.

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
    question = ask(PatternQuestion, {"on": on, **options})
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
        partial(_run, question, network, costs, program, size, think)
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


def costs_of(machine: Machine | None) -> NodeCosts:
    """Return what messages cost at the nodes of a machine, from its published start-up times.

    The first line of its ``message_costs`` holds for a single packet, the last for several.

    Raises
    ------
    InputError
        If it has none, or there is no machine.

    Examples
    --------
    >>> from netloom.machines import machine
    >>> round(float(costs_of(machine("symult2010")).message_us(4096)), 1)
    839.3
    """
    if machine is None or not machine.message_costs or machine.packet_bytes is None:
        found = "a network" if machine is None else f"machine '{machine.name}'"
        wanted = "a machine with start-up times and packets, such as symult2010:12x12; or costs"
        raise InputError("on", f"{found} without start-up times", wanted)
    one, several = machine.message_costs[0], machine.message_costs[-1]
    return NodeCosts(
        alpha_us=several.startup_us,
        packet_bytes=int(machine.packet_bytes),
        packet_us=machine.packet_bytes * several.per_byte_us,
        byte_us=one.per_byte_us,
        cycle_us=machine.cycle_us,
        flit_bytes=int(machine.flit_bytes),
    )


def _costs(question: PatternQuestion, network: PreparedNetwork) -> NodeCosts:
    """Return what messages cost at the nodes, no byte less than it takes on a channel."""
    costs = question.costs or costs_of(network.machine)
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


def _run(
    question: PatternQuestion,
    network: PreparedNetwork,
    costs: NodeCosts,
    program: Pattern,
    size: float,
    think: float,
    stopped: Callable[[], bool],
) -> PatternTimes:
    engine = network.make_engine()
    wanted = question.skip + question.loops
    one = program.rounds.one
    packets = np.bincount(one.source[one.flits > 0], minlength=program.num_nodes)[program.nodes]
    messages = packets / int(costs.packets(int(size)))
    alone = float(costs.message_us(int(size)))
    loop_cycles = (think + 2 * float(messages.max()) * alone) / costs.cycle_us
    ending = run_program(
        engine,
        program,
        enough=lambda rows: bool(
            len(rows) and loops_done(program.loop_ends(rows["complete"])).min() >= wanted
        ),
        step=int(STEP_LOOPS * loop_cycles) + 1,
        most_cycles=min(max(question.most_cycles, int(20 * wanted * loop_cycles)), LAST_CYCLE),
        stopped=stopped,
    )
    ends = program.loop_ends(engine.rows["complete"])
    times = thinking = np.zeros(0)
    if ending.enough:
        begin = ends[question.skip - 1] if question.skip else 0
        times = (ends[wanted - 1] - begin) / question.loops * costs.cycle_us
        delays = program.rounds.of_rounds(engine.rows["delay"].astype(np.int64), program.ends)
        thinking = delays[question.skip : wanted].mean(axis=0) * costs.cycle_us
    return PatternTimes(
        message_bytes=int(size),
        think_us=think,
        loop_us=times,
        communication_us=times - thinking,
        messages=messages,
        alone_us=alone,
        alpha_us=costs.alpha_us,
        channel_us=size * costs.channel_byte_us,
    )
