"""Simulate a program whose tasks wait for each of their messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.figures import FLITS, Figures, figure, known, unseen
from netloom.base.progress import counting
from netloom.base.words import counted, number
from netloom.contention import loop_saturation
from netloom.contention.busiest import ChannelUse, channel_uses
from netloom.drawing.timelines import Timeline
from netloom.questions.answers import Answer, Columns, Grade, Parts, Verdict, only, table
from netloom.questions.base import Numbers, Question, option, parse_numbers
from netloom.questions.curves import Axes, CurveKind
from netloom.questions.fields import refuse
from netloom.questions.named import mapping_name, provenance_of
from netloom.questions.outputs import PLOT, perfetto_output
from netloom.questions.register import asks
from netloom.questions.simulate import programs
from netloom.questions.simulate.engines import OnEngine, PreparedNetwork, prepare_program
from netloom.questions.simulate.fields import ProgramQuestion, Programs
from netloom.questions.terminal import order_named, rough, subject
from netloom.routing import VirtualChannelRouting
from netloom.simulation.loops import Point, beside_alone, run_loop
from netloom.simulation.side_by_side import run_all
from netloom.workload.programs.loops import ClosedLoop

LOST = Grade("share of their sending rate that ranks lose", fine=0.1, act=0.5)

NOTABLE = 0.05
"""Share of a loop from which waiting for other messages is worth another mapping."""


class LoopFields(Question, panel="Loop: every task computes, sends, waits, and repeats"):
    """What a task does in its loop, and how many loops are measured."""

    applied: Numbers = option(
        "Applied traffic per task, its share of time spent sending: 0.25, 0.1,0.2 or "
        "START:STOP:STEP.",
        unit="flits/cycle",
    )
    message_flits: int = option("Message length L.", default=50, unit="flits", ge=1, le=2**24)
    think: Literal["fixed", "uniform", "exponential"] = option(
        "Computation times: uniform (0 to twice the mean), fixed or exponential.", default="uniform"
    )
    choice: Literal["uniform", "bytes", "messages"] = option(
        "Choice of the next neighbour: uniform, or by bytes or messages.", default="uniform"
    )
    gap_cycles: int | None = option(
        "Gap after each packet of a message, before the next.",
        unit="cycles",
        default=None,
        ge=0,
        le=2**24,
        shown_default="all at once",
    )
    loops: int = option("Measured loops of each task.", default=100, ge=1, le=10**6)
    skip: int = option("Loops of each task before the measured ones.", default=10, ge=0, le=10**6)
    timeline: bool = option("Keep the times of each message, for a timeline.", default=False)


class LoopQuestion(ProgramQuestion, Programs, LoopFields):
    """Tasks that compute, send a message, wait for it, and repeat."""

    @property
    def program_packet(self) -> int | None:
        """Flits of the packets that the program itself cuts its messages into, if any."""
        if self.gap_cycles is not None and self.packet_flits is None:
            raise InputError("gap_cycles", f"{self.gap_cycles}", "packet_flits as well")
        program_cuts = self.engine != "network" or self.gap_cycles is not None
        return self.packet_flits if program_cuts else None


class Limit(Figures):
    """The applied traffic at which static analysis says that nodes saturate.

    It has no estimates of nodes where channels differ in bandwidth.
    """

    average_node: float | None = figure(unit=FLITS)
    worst_node: float | None = figure(unit=FLITS)
    upper_bound: float = figure(unit=FLITS)


class Channel(Figures):
    """A channel at one applied traffic."""

    applied: float = figure(unit=FLITS, key=True)
    use: ChannelUse = figure(at=".")


class LoopSimulation(Answer):
    """What ``simulate_loop`` found, at one applied traffic or at several."""

    setup: OnEngine = figure(at=".")
    inside_nodes: float
    program: str
    mapping: str
    message_flits: int = figure("messages, each waited for", "flits", lead=True)
    edges_within_nodes: int = figure("edges between tasks of one node")
    silent_tasks: int = figure("tasks that send nothing over the network")
    applied_asked: tuple[float, ...] = figure(at="asked")
    saturation: Limit | None
    points: tuple[Point, ...]
    interrupted: bool
    network: PreparedNetwork = unseen()

    @property
    def several(self) -> bool:
        """Whether several applied traffics were asked for, or none was run."""
        return len(self.applied_asked) > 1 or not self.points

    @property
    def of(self) -> str:
        """Program, network and mapping."""
        mapping = None if self.program == programs.UNIFORM else self.mapping
        return subject(self.program, self.setup.topology, mapping)

    @property
    def point(self) -> Point:
        """The one run that there is, or InputError if several applied traffics were asked for."""
        return only(self, self.points, "several applied traffics")

    def judged(self) -> Verdict:
        """Return what share of their sending rate ranks lose, at the highest applied traffic."""
        limit, limits = self.saturation, {}
        if limit is not None and limit.worst_node is not None:
            said = f"the slowest rank saturates at {number(limit.worst_node)}, the average one at "
            limits["limits"] = f"{said}{number(limit.average_node)} {FLITS} (estimates)"
        last = self.points[-1] if self.points else None
        if last is None or last.lost_mean is None or last.lost_worst is None:
            longer = {} if self.interrupted else {"most_cycles": 10 * self.asked["most_cycles"]}
            return Verdict("unknown", _too_short(last), limits, self.again(**longer))
        at = f" at applied traffic {number(last.applied)}" if len(self.applied_asked) > 1 else ""
        mean, worst = last.lost_mean, last.lost_worst
        if self.interrupted:
            said = f"Interrupted: ranks lose {rough(mean)} of their sending rate so far{at}."
            return Verdict("unknown", said, limits, self.again())
        mark = LOST.mark(mean, worst=worst)
        slower = [(each.slowdown, each.name) for each in last.programs]
        shared = programs.suffers(slower, "its loops take {} times as long as alone")
        lines = {"why": "", "shared": shared} | limits
        if last.message_latency is not None:
            takes, idle = number(last.message_latency), number(last.unhindered_latency)
            lines["why"] = f"a message takes {takes} cycles, {idle} of them also on an idle network"
        if mark == "fine":
            said = f"Ranks keep {rough(1 - mean)} of their sending rate{at}, the slowest "
            return Verdict(mark, f"{said}{rough(1 - worst)}.", lines)
        said = f"Ranks lose {rough(mean)} of their sending rate to the network{at}, the slowest "
        return Verdict(mark, f"{said}{rough(worst)}.", lines, self._next(last))

    def _next(self, last: Point) -> str:
        """Return the command that looks for a better mapping, where waiting for others costs."""
        app = self.asked["app"]
        waits = (last.message_latency or 0.0) - (last.unhindered_latency or 0.0)
        worth = last.loop_cycles is not None and waits > NOTABLE * last.loop_cycles.mean
        movable = (
            isinstance(app, str) and app != programs.UNIFORM and self.asked["mapping"] == "identity"
        )
        return self.again("map", rankfile="ranks.txt") if worth and movable else ""

    def remarks(self) -> Iterator[str]:
        """Yield how it was run, notes of runs, and what is left out."""
        yield self.setup.how
        yield from (f"at {number(each.applied)}: {each.note}" for each in self.points if each.note)
        yield from programs.left_out(self.edges_within_nodes, self.silent_tasks)

    @table(Channel)
    def channels(self) -> Columns:
        """Return one row per applied traffic and channel: its nodes, and flits per cycle on it."""
        runs = ((run.applied, run.channel_flits) for run in self.points)
        return channel_uses("applied", runs, self.network.topology)

    def timeline(self) -> Timeline:
        """Return when each node computed, sent and received at the last applied traffic.

        Raises
        ------
        InputError
            If it was not asked to keep these times, or it did not come to that traffic.
        """
        kept = [(run.kept, run.applied) for run in self.points if run.kept is not None]
        if not kept or self.network is None:
            raise InputError("perfetto", "no times of messages", "timeline=True, and a whole run")
        (rows, applied), *_ = kept
        from netloom.drawing.programs import nodes_timeline

        unit_us = self.network.cycle_us
        return nodes_timeline(self.network, rows, self.program, unit_us, applied=applied)

    def footer(self) -> list[str]:
        """Return what ran, its messages, and at which applied traffic channels are shown."""
        highest = number(max((each.applied for each in self.points), default=None))
        return [
            f"{self.program} on {self.setup.topology}, {order_named(self.mapping)}; messages of "
            f"{counted(self.message_flits, 'flit')}, each waited for; {self.setup.routing}, "
            f"{self.setup.router['name']}; channels at applied traffic {highest}"
        ]

    def parts(self) -> Parts:
        """Return what share of the traffic gets through by load, and the channels at the last."""
        from netloom.drawing.load_curves import applied_shares
        from netloom.drawing.networks.chart import USE

        limit, limits = self.saturation, None
        if limit is not None:
            limits = limit.worst_node, limit.average_node, limit.upper_bound
        channels = self.channels()
        last = channels.filter(channels["applied"] == channels["applied"].max())
        return {
            "traffic": applied_shares(self.table(), max(self.applied_asked), limits),
            "channels": self.network_drawn(last, "utilisation", USE),
        }


def _too_short(last: Point | None) -> str:
    if last is None:
        return "Interrupted after 0 cycles: nothing is known yet."
    ran, applied = counted(last.cycles, "cycle", ","), number(last.applied)
    if last.interrupted:
        return f"Interrupted after {ran} at applied traffic {applied}: nothing is known of it."
    return f"Not known at applied traffic {applied}: after {ran} some rank has too few loops."


APPLIED, ACCEPTED = f"applied traffic, {FLITS}", f"accepted traffic, {FLITS}"
BY_APPLIED = Axes(APPLIED, "message latency", "cycles", ACCEPTED, open=False)

FIGURES = ("applied", "message_latency", "unhindered_latency", "", "accepted")
CURVE = CurveKind(BY_APPLIED, *FIGURES, besides=("applied", "alone", "loops", "skip"))


@dataclass(frozen=True, eq=False)
class PreparedLoop:
    """What a question names, read and built once."""

    applied: tuple[float, ...]
    network: PreparedNetwork
    program: programs.PlacedProgram


def prepare(question: LoopQuestion) -> PreparedLoop:
    """Build the network and its routing, read the program, and place its tasks."""
    if question.app == programs.UNIFORM:
        fields = ("messages", "parts", "mapping", "tasks_per_node", "nodes", "choice")
        refuse(question, fields, f"a process graph, where {programs.UNIFORM} is a task per node")
    applied = parse_numbers(question.applied, "applied", below_one=True)
    longest = question.program_packet or question.message_flits
    network = prepare_program(question, longest_flits=longest)
    program = programs.placed_program(
        question, network.topology, weight=question.choice, uniform=True
    )
    return PreparedLoop(applied, network, program)


@asks(
    LoopQuestion,
    prepare=prepare,
    title="Simulated program of loops",
    example="netloom simulate loop --on mesh:8x8 --app transpose:8 --applied 0.1:0.9:0.2",
    page="run-a-program.md",
    sweep="applied",
    outputs=(perfetto_output(asks="timeline"), PLOT),
    curve=CURVE,
    levels=partial(parse_numbers, below_one=True),
)
def simulate_loop(question: LoopQuestion, ready: PreparedLoop) -> LoopSimulation:
    """Simulate a program whose tasks wait for each of their messages.

    Runs at several applied traffics use all processors. Ctrl-C ends the runs, and the answer
    contains what is known by then. Several programs are also run alone, one by one (see ``alone``).

    Raises
    ------
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = simulate_loop("mesh:4x4", applied=0.9, app="transpose:4", engine="flow")
    >>> round(found.points[0].actual.worst_node, 2)  # three paths share a channel
    0.33
    """
    network, applied, program = ready.network, ready.applied, ready.program

    def loop(of: Any, hosts: Any, applied: float, first: int = 0) -> ClosedLoop:
        return ClosedLoop(
            of,
            hosts,
            network.topology.num_hosts,
            applied=applied,
            message_flits=question.message_flits,
            think=question.think,
            choice=question.choice,
            packet_flits=question.program_packet,
            gap_cycles=question.gap_cycles or 0,
            seed=question.seed,
            first_task=first,
        )

    shared = program.shared  # all tasks at each applied traffic, then each of several programs
    loops = [(loop(program.graph, program.host_of, each), shared) for each in applied]
    if shared is not None and question.alone and len(shared.names) > 1:
        for place in range(len(shared.names)):
            alone, first = shared.alone(place), int(np.searchsorted(shared.program_of, place))
            loops += [(loop(alone.graph, alone.node_of, each, first), None) for each in applied]
    run = partial(
        run_loop,
        network,
        skip=question.skip,
        loops=question.loops,
        most_cycles=question.most_cycles,
        by_node=program.shared is not None,
    )
    with counting(len(loops), f"{program.name} on {network.topology.name}") as tell:
        last = len(applied) - 1  # the others have no timeline
        runs = [
            partial(run, *loop, keep=question.timeline and number == last)
            for number, loop in enumerate(loops)
        ]
        found = run_all(runs, tell=tell)
    points = beside_alone(found[: len(applied)], found[len(applied) :])
    finished = len(found) == len(loops) and not any(one.interrupted for one in found)
    return LoopSimulation(
        setup=OnEngine.of(network),
        inside_nodes=program.inside_nodes,
        program=program.name,
        mapping=mapping_name(question.mapping),
        message_flits=question.message_flits,
        edges_within_nodes=program.edges_within_nodes,
        silent_tasks=program.silent_tasks,
        applied_asked=applied,
        saturation=_limit(question, ready),
        points=points,
        interrupted=not finished,
        network=network,
        provenance=provenance_of(question, "simulate_loop", network.topology),
    )


def _limit(question: LoopQuestion, ready: PreparedLoop) -> Limit | None:
    """Return what static analysis says, or None if the paths are not known."""
    program, routing = ready.program, ready.network.routing
    if program.graph is None or isinstance(routing, VirtualChannelRouting) or routing.several:
        return None
    shares = program.graph.shares(question.choice)
    topology = ready.network.topology
    found = loop_saturation(topology, routing, program.graph, program.host_of, shares)
    if found is None:
        return None
    return Limit(
        average_node=known(found.average_node),
        worst_node=known(found.worst_node),
        upper_bound=found.upper_bound,
    )
