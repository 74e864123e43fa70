"""Plan files: whether they break a rule, what that proves, and when their words move."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base import units
from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure, unseen
from netloom.base.progress import patience
from netloom.base.textfiles import read_text
from netloom.base.words import counted
from netloom.contention import ConSetCosts
from netloom.drawing.save import make_folder
from netloom.drawing.timelines import Timeline, with_phases
from netloom.phases.collectives.figures import ScheduleSpeed, StepsProven
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.schedules import Schedule
from netloom.phases.violations import InvalidPlanError, Violation
from netloom.questions.answers import Verdict
from netloom.questions.outputs import Output
from netloom.questions.register import by_verb
from netloom.questions.terminal import short_name
from netloom.simulation.figures import Crossed
from netloom.workload.programs.collectives.program import waits
from netloom.workload.programs.messages import Lists

if TYPE_CHECKING:
    from netloom.phases import Plan, PlanFile, Timetable
    from netloom.phases.execution import Execution


class OfPlan(Figures):
    """What a plan file comes to."""

    plan: str

    @property
    def verdict(self) -> Verdict:
        """What it comes to: one sentence, its mark, and what goes with it."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return self.to_json() | {"verdict": self.verdict.to_dict()}

    def __repr__(self) -> str:
        lines = [f"{label}: {said}" for label, said in self.verdict.lines.items()]
        return "\n".join([f"<{self.plan}>", self.verdict.marked, *lines])


class Verified(OfPlan):
    """A plan file that breaks no rule."""

    verified: bool = figure(default=True)
    violation: str | None = figure(default=None)


class VerifiedPlan(Verified):
    """A file of phases that breaks no rule.

    Attributes
    ----------
    lower_bound_phases
        No plan of its connections has fewer phases: computed anew.
    max_channels_used
        Most virtual channels that a node, or channel, has in use in a phase.
    file
        What it holds.
    """

    topology: str
    connections: int
    phases: int
    lower_bound_phases: int
    max_channels_used: int
    schedule: str
    file: PlanFile = unseen()

    def timeline(self) -> Timeline:
        """Return when each connection moves its words, and the phases, on tracks of nodes."""
        return phases_timeline(self.file.plan, self.file.timetable, self.file.costs)

    @property
    def verdict(self) -> Verdict:
        """That no rule is broken, and how few phases there can be."""
        limit = self.file.plan.capacity
        many = counted(self.phases, "phase", ",")
        connections = counted(self.connections, "connection", ",")
        lines = {
            "proven": f"at most {self.max_channels_used} of {limit.virtual_channels} virtual "
            f"channels per {limit.per} are in use; the {self.schedule} times are kept",
            "limits": beside_fewest(self.phases, self.lower_bound_phases),
        }
        runs = self.connections and "run_plan" in declared("functions")
        run = f"netloom compile run {self.plan}" if runs else ""
        said = f"Verified: {connections} in {many} break no rule."
        return Verdict("fine", said, lines, run, of=of_what(self.file.plan))


class Replayed(Figures):
    """What a schedule takes as flows on a network that was named."""

    topology: str
    finish_seconds: float | None = figure(unit="seconds")
    algorithm_bandwidth: float | None = figure(unit="bytes/s")
    note: str | None

    def proof(self, more: str | None) -> list[str]:
        """Return it in a sentence, and more. Nothing if it did not finish."""
        if self.finish_seconds is None or self.algorithm_bandwidth is None:
            return []
        took = units.seconds(self.finish_seconds, 4)
        said = f"Fabric: as flows it takes {took} ({units.rate(self.algorithm_bandwidth, 4)}) on "
        return [f"{said}{short_name(self.topology)}.{f' {more}' if more else ''}"]


class VerifiedSchedule(Verified):
    """A schedule of a collective that breaks no rule.

    Attributes
    ----------
    replayed
        What it takes on a network that was named.
    proves
        What was checked, in sentences.
    """

    replayed: Replayed | None
    proves: tuple[str, ...]

    @property
    def proven(self) -> dict[str, str]:
        """What was proven by label."""
        said = (each.partition(": ") for each in self.proves)
        return {label.lower().replace("channels", "routes"): what for label, _, what in said}


class VerifiedCollective(VerifiedSchedule):
    """A plan file of a collective that breaks no rule.

    Attributes
    ----------
    speed
        How fast it is.
    bound_verified
        Whether the file has a cut or prices, from which the bound was computed anew.
    few_steps
        What prices prove of few steps, if there are some.
    schedule
        What the file holds.
    """

    topology: str
    speed: ScheduleSpeed = figure(at=".")
    bound_verified: bool
    few_steps: StepsProven | None
    schedule: Schedule = unseen()

    def timeline(self) -> Timeline:
        """Return when each message leaves and arrives, rank by rank."""
        return schedule_timeline(self.schedule)

    @property
    def verdict(self) -> Verdict:
        """That no rule is broken, and how near the best possible it is: by steps, time or bytes."""
        speed = self.speed
        best = "the best possible" if self.bound_verified else "the bound in the file"
        near = f", {part_of(speed.efficiency)} of {best}"
        if self.few_steps is not None:
            near = f" and {counted(self.few_steps.steps, 'step')}"
        elif speed.by_latency:
            near = ", as fast as latencies allow"
        took = f"{units.size(speed.size)} in {units.seconds(speed.finish_seconds)}"
        said = f"Verified: {speed.collective} of {took}{near}."
        of = on_network(counted(speed.ranks, "rank", ","), self.topology)
        note = "" if self.bound_verified else "* the file does not prove its bound"
        return Verdict("fine", said, self.proven, note=note, of=of)


class VerifiedProgram(VerifiedSchedule):
    """MSCCL XML that does what its collective means. It has times only on a network.

    Attributes
    ----------
    steps
        The most messages that wait for each other.
    size, padded_size
        If a size was named, that, and the one with which all chunks are whole bytes.
    """

    collective: str
    ranks: int
    messages: int
    chunks: int
    steps: int
    size: float | None = figure(unit="bytes")
    padded_size: float | None = figure(unit="bytes")

    def timeline(self) -> Timeline:
        """Raise InputError: there are no times."""
        raise InputError("perfetto", "MSCCL XML, which has no times", "a plan file")

    @property
    def verdict(self) -> Verdict:
        """That it does what its collective means."""
        messages = counted(self.messages, "message", ",")
        said = f"Verified: {messages} do what {self.collective} means."
        return Verdict("fine", said, self.proven, of=counted(self.ranks, "rank", ","))


def broken(plan: str | Path) -> Verdict:
    """Return what a plan comes to that breaks a rule: which one is said elsewhere."""
    return Verdict("act", f"Not verified: {Path(plan).name} breaks a rule.")


def part_of(efficiency: float) -> str:
    r"""Return a part of the best in percent, never rounded up.

    Examples
    --------
    >>> part_of(0.99999), part_of(0.5)
    ('99.99\xa0%', '50\xa0%')
    """
    return f"{floor(efficiency * 1e4) / 100:g}\u00a0%"


def beside_fewest(phases: int, least: int) -> str:
    """Return how many phases there are, and whether there could be fewer."""
    many = counted(phases, "phase", ",")
    return f"{many}, and no plan has fewer" if phases == least else f"{many} of at least {least:,}"


def of_what(plan: Plan) -> str:
    """Return what is connected, on which network."""
    return on_network(plan.connections.name, plan.topology.name)


def on_network(what: str, network: str) -> str:
    """Return what is done, and on which network, by short names."""
    return f"{short_name(what)} on {short_name(network)}"


def verify_plan(
    path: str | Path,
    *,
    on: Any = None,
    size: float | str | None = None,
    bandwidth: float | str | None = None,
    latency: float | str | None = None,
) -> VerifiedPlan | VerifiedCollective | VerifiedProgram:
    """Read a plan file or MSCCL XML and verify it: its routes, phases, order and times.

    A collective is executed on data as well. The verifier shares no code with the compiler. See
    ``phases.first_violation`` and ``phases.collectives.judged``.

    Parameters
    ----------
    on, size, bandwidth, latency
        The network on which a collective is replayed as flows, the size of MSCCL XML, and its
        channels' rate and latency. As ``replay`` takes them.

    Raises
    ------
    InputError
        If the file cannot be read, or is of another number of ranks than the network.
    InvalidPlanError
        With the first rule that it breaks.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom import compile_phases
    >>> file = Path(mkdtemp()) / "plan.json"
    >>> compile_phases("ring:4", "torus:4", words=8).write(file)
    >>> verify_plan(file).to_dict()["phases"]
    1
    """
    from netloom.phases.collectives.schedules import MOST_CHARACTERS, names_collective
    from netloom.phases.plan_files import WANTED

    asked = {"on": on, "size": size, "bandwidth": bandwidth, "latency": latency}
    fabric = {name: value for name, value in asked.items() if value is not None}
    if fabric and on is None:
        name, value = next(iter(fabric.items()))
        raise InputError(name, f"{value}", "a network too: on")
    if str(path).lower().endswith(".xml"):
        return _verified_msccl(str(path), fabric)
    text = read_text(path, wanted=WANTED, most_bytes=MOST_CHARACTERS)
    if names_collective(text):
        return _verified_collective(str(path), text, fabric)
    if fabric:
        raise InputError("on", f"{on}", "none: only plans of collectives are replayed")
    return verified_phases(path)


def verified_phases(path: str | Path) -> VerifiedPlan:
    """Return a file of phases that breaks no rule."""
    from netloom.phases import least_phases, read_plan, verify

    held = read_plan(path)
    plan = held.plan
    with patience("Verifying a plan"):
        verify(plan, held.timetable, held.costs)
        bound = least_phases(plan.connections, plan.topology, plan.capacity)
    return VerifiedPlan(
        plan=str(path),
        topology=plan.topology.name,
        connections=len(plan.connections),
        phases=plan.num_phases,
        lower_bound_phases=bound.phases,
        max_channels_used=int(plan.use().max(initial=0)),
        schedule=held.timetable.kind,
        file=held,
    )


def _verified_collective(path: str, text: str, fabric: Mapping[str, Any]) -> VerifiedCollective:
    """Return a plan file of a collective that breaks no rule, replayed if a network was named."""
    from netloom.phases.collectives.schedules import read_schedule

    schedule = read_schedule(path, text).schedule
    with patience("Verifying a plan"):
        judged = judge(schedule)
    if "size" in fabric:
        raise InputError("size", f"{fabric['size']}", "none: the plan has its own")
    speed, name = ScheduleSpeed.of(schedule, judged), short_name(schedule.network.name)
    few, bound = StepsProven.of(schedule, judged), f"{part_of(speed.efficiency)} of the bound"
    verified = judged.bound_seconds > 0
    run = _replayed(path, fabric, speed.size) if fabric else None
    from_what = "its cut" if schedule.bound.prices is None else "its prices of channels"
    anew = f", computed anew from {from_what}"
    how = anew if verified else " in the file, which was not computed anew"
    proves = [
        f"Data: all {counted(speed.messages, 'message', ',')} were executed. Each rank ends with "
        f"what {speed.collective} means, no contribution counts twice, and nothing is sent before "
        "it has arrived.",
        f"Channels: every route is a way on {name}, and no channel carries more than its rate at "
        "any time.",
        f"Time: {units.seconds(speed.finish_seconds, 4)}, {bound}{how}: {speed.bound}",
    ]
    if few is not None:
        times = Fraction(few.times_slowest).limit_denominator(10**6)
        steps, least = counted(few.most_steps, "step"), units.seconds(few.bound_seconds, 4)
        rate = units.rate(float(schedule.network.rate.min()))
        said = f"Steps: {few.steps}, one after the other. No schedule of at most {steps} sends for "
        said += f"less than {least}, checked with exact fractions from "
        said += f"{counted(few.numbers, 'number', ',')}: {times} times what a channel of {rate} "
        proves.append(f"{said}takes for the data of a rank.")
    return VerifiedCollective(
        plan=path,
        topology=schedule.network.name,
        speed=speed,
        bound_verified=verified,
        few_steps=few,
        replayed=run,
        proves=(*proves, *(run.proof(run.note) if run else ())),
        schedule=schedule,
    )


def _verified_msccl(path: str, fabric: Mapping[str, Any]) -> VerifiedProgram:
    """Return MSCCL XML that does what its collective means, replayed if a network was named.

    It neither deadlocks nor do its thread blocks race: see ``collectives.msccl.executed``.
    """
    from netloom.workload.programs.collectives.msccl import executed, parse_msccl

    program = parse_msccl(path)
    try:
        with patience("Verifying a program"):
            execution = executed(program)
    except InputError as error:
        wrong = Violation("data", error.where, error.found, error.wanted)
        raise InvalidPlanError(wrong) from None
    size = units.parse_bytes(fabric["size"], where="size") if "size" in fabric else None
    run = _replayed(execution, fabric, size or 0.0) if fabric else None
    both = len(execution.sent), execution.depth
    messages, depth = (counted(many, "message", ",") for many in both)
    data = f"Data: {messages}, at most {depth} one after the other, were executed by their thread "
    data += f"blocks without deadlock. Each rank ends with what {program.collective} means."
    padded = execution.padding(size) if size else None
    return VerifiedProgram(
        plan=path,
        collective=program.collective,
        ranks=program.num_gpus,
        messages=len(execution.sent),
        chunks=program.per_loop,
        steps=execution.depth,
        size=size,
        padded_size=execution.padded_bytes(size) if size else None,
        replayed=run,
        proves=(data, *(run.proof(padded) if run else ())),
    )


def _replayed(trace: Any, fabric: Mapping[str, Any], size: float) -> Replayed:
    """Return what a collective of a size takes as flows on a network."""
    run = by_verb("replay").function(trace=trace, engine="flow", **fabric)
    took = run.finish
    return Replayed(
        topology=run.setup.topology,
        finish_seconds=took,
        algorithm_bandwidth=None if took is None else size / took,
        note=run.note,
    )


def plan_output(said: str) -> Output:
    """Return the output of the plan file of an answer."""

    def write(answer: Any, path: Path) -> str:
        make_folder(path.parent)
        answer.write(path)
        return f"Plan: {path}"

    return Output("out", said, write)


def phases_timeline(
    plan: Plan, timetable: Timetable, costs: ConSetCosts, run: Execution | None = None
) -> Timeline:
    """Return the phases one after the other, by simulation if there was one, else by timetable.

    Each begins with a switch. A connection lasts from when it may send until its last word is
    there. Clocks are shown as µs.
    """
    from netloom.drawing.programs import messages_sent, timeline_of

    given, network, times = plan.connections, plan.topology, timetable if run is None else run
    lasting = timetable.makespan if run is None else run.phase_cycles * run.cycle_clocks
    ends = np.asarray(np.cumsum(lasting + costs.switch_clocks), np.float64)
    begin = np.asarray(ends - lasting, np.float64)
    happened = messages_sent(
        [f"node {network.name_of(node)}" for node in range(network.num_hosts)],
        (given.source, given.target),
        (begin[plan.phase] + times.start, begin[plan.phase] + times.end),
        given.words,
        ids=[given.describe(each) for each in range(len(given))],
    )
    routes = Lists(plan.routes.offsets, plan.routes.channels)
    word = max(costs.channel_clocks_per_word, 1e-300)
    capacity = np.full(network.num_channels, 1 / word)
    found = timeline_of(
        happened,
        program=f"{given.name} in phases on {network.name}",
        unit="clocks",
        size="words",
        crossed=Crossed(routes, np.ones(len(routes.values)), capacity, network.channel_name),
        about={
            "times": timetable.kind if run is None else "simulated",
            "clocks": float(ends[-1]) if len(ends) else 0.0,
        },
    )
    return with_phases(found, begin, ends, costs.switch_clocks)


def schedule_timeline(schedule: Schedule) -> Timeline:
    """Return when each message leaves and arrives, and what the busiest channels carry."""
    from netloom.drawing.programs import messages_sent, timeline_of

    program, network, routes = schedule.program, schedule.network, schedule.routes
    awaited = np.zeros(program.num_messages, np.bool_)
    awaited[waits(program, stepwise=False)[1]] = True
    happened = messages_sent(
        network.labels,
        (program.source, program.target),
        (schedule.start, schedule.end),
        program.message_size * schedule.size_bytes,
        awaited,
    )
    ones = np.ones(len(routes.values))
    return timeline_of(
        happened,
        program=f"{program.collective} on {network.name}",
        unit="seconds",
        size="bytes",
        unit_us=1e6,
        crossed=Crossed(routes, ones, network.rate, network.channel_name, schedule.sending),
    )
