"""Simulate an Omega network that combines requests to shared words of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from pydantic import Field

from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, Number, figure, framed, known, records
from netloom.base.progress import counting_runs
from netloom.base.provenance import Provenance
from netloom.base.spec import MAX_ELEMENTS, whole_number
from netloom.base.words import begun, counted, give_or_take, number, percent
from netloom.questions import terminal
from netloom.questions.answers import Answer, Mark, Verdict, only, table
from netloom.questions.base import Numbers, Question, option, parse_positive
from netloom.questions.curves import Axes, CurveKind
from netloom.questions.fields import Seeded
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.simulation.side_by_side import run_all
from netloom.simulation.steady import batch_interval, interval_over_runs
from netloom_papers.combining import CombiningNetwork, CombiningRun, run_combining
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots
from netloom_papers.combining.network import MOST_STEPS, THROUGHPUT, steps_of

if TYPE_CHECKING:
    import polars as pl

FULL = 0.9
"""Share of its time from which a busy module counts as what limits the network."""

STEPS = 1000
"""Steps of a run that tells whether a network keeps up."""

MOST_RUNS = 100_000
"""Most rates times replications of one question."""


def many(said: str, *, least: int = 1, **more: Any) -> Any:
    """Declare an option that counts something."""
    return option(said, ge=least, le=MAX_ELEMENTS, **more)


def chance(said: str, *, default: float) -> Any:
    """Declare an option that is a probability."""
    return option(said, default=default, ge=0, le=1)


class Network(Question, panel="Network"):
    """An Omega network between processing elements and memory modules."""

    pes: int = many(
        "Processing elements (PEs) and memory modules, each: a power of the switch size.",
        default=512,
        kw_only=False,
    )
    switch_size: int = option("Inputs of a switch: 2, 4 or 8.", default=2, ge=1, le=64)
    digits: Literal["most-significant-first", "least-significant-first"] = option(
        "Order of a module number's digits by stage: most-significant-first or "
        "least-significant-first.",
        default="most-significant-first",
    )


class HotSpots(Question, panel="Hot spots, and who asks for them"):
    """Words that many processing elements ask for."""

    hot_spots: int = many(
        "Number of modules with one shared word each.",
        default=8,
        flags=("--hotspots", "--hot-spots"),
        kw_only=False,
        least=0,
    )
    per_pe: int | None = many(
        "Hot spots that each PE draws.", default=None, shown_default="2, or as many as there are"
    )
    assign: float = chance("Probability that a PE gets a hot spot it draws.", default=0.95)
    rate: Numbers = option(
        "Probability that a PE makes a request in a step: 0.15, 0.05,0.1 or START:STOP:STEP.",
        default=0.15,
    )
    policy: Literal["no-wait", "wait"] = option(
        "Policy of a PE: wait (for its last reply from a hot spot) or no-wait.", default="no-wait"
    )
    spacing: int | None = many(
        "Distance between hot spots.", default=None, unit="modules", shown_default="at random"
    )
    deviation: int = many(
        "Largest deviation from the spacing, either way.", default=0, unit="modules", least=0
    )
    hot_fraction: float = chance("Share of the requests that go to hot spots.", default=1.0)
    new: float = chance("Probability of a new hot spot in a step.", default=0.0)
    remove: float = chance("Probability that a hot spot disappears in a step.", default=0.0)


class Rules(Question, panel="Rules of its switches and modules"):
    """How switches combine requests, and how modules answer them."""

    combining: Literal["waiting", "slot", "entering", "none"] = option(
        "Requests that combine: waiting (also with one in the output queue), slot (the "
        "same, if the queue has room), entering (two that enter together) or none.",
        default="waiting",
    )
    unlimited: bool = option("Let requests combine any number of times per switch.", default=False)
    order: Literal["forward", "backward"] = option(
        "Order of stages in a step: forward (along a request's path) or backward.",
        default="forward",
    )
    service_steps: int = many("Steps of a module per request.", default=1)
    operation: Literal["add", "or", "and", "xor", "max", "min", "swap", "load"] = option(
        "Operation, fetch-and-...: add, or, and, xor, max, min, swap or load.", default="add"
    )


class Runs(Question, panel="Runs"):
    """How long, and how often."""

    steps: int = option(
        "Number of steps in which requests are made.", default=1000, ge=1, le=MOST_STEPS
    )
    replications: int = option(
        "Number of runs, each with its seed and hot spots.", default=1, ge=1, le=10_000
    )


class HotSpotSystem(Seeded, Runs, Rules, HotSpots, Network):
    """A network whose switches combine, its hot spots, and who asks for them."""


Prepared: TypeAlias = tuple[CombiningNetwork, tuple[float, ...]]
"""The network of a question, and the rates at which it is asked, rising."""


def seeds_of(question: HotSpotSystem) -> range:
    """Return the seeds of its replications."""
    return range(question.seed, question.seed + question.replications)


def traffic_of(asked: HotSpotSystem, rate: float, seed: int) -> HotSpotTraffic:
    """Return the hot spots of a replication, and who asks for which of them how often."""
    per_pe = min(2, asked.hot_spots) if asked.per_pe is None else asked.per_pe
    apart: dict[str, Any] = {"spacing": asked.spacing, "deviation": asked.deviation}
    places = place_hot_spots(asked.pes, asked.hot_spots, **apart, seed=seed)
    assigned = assign_hot_spots(asked.pes, places, per_pe, asked.assign, seed=seed)
    own = {name: getattr(asked, name) for name in ("hot_fraction", "assign", "new", "remove")}
    return HotSpotTraffic(places, assigned, rate, wait=asked.policy == "wait", **own)


UNBOUNDED = "unbounded"
AS_QUEUE = "as-queue"


class Capacities(Question, panel="Network"):
    """What queues and wait buffers hold."""

    queue: Annotated[int, Field(ge=0, le=MAX_ELEMENTS)] | str | None = option(
        "Size of each queue: a number of packets, or unbounded.",
        default=None,
        shown_default=UNBOUNDED,
    )
    wait_buffer: Annotated[int, Field(ge=0, le=MAX_ELEMENTS)] | str | None = option(
        "Size of each wait buffer: a number of packets, unbounded, or as-queue.", default=AS_QUEUE
    )


class HotSpotQuestion(Capacities, HotSpotSystem):
    """Hot spots behind queues of a size."""


class Steps(Figures):
    """The steps that requests took: their mean, half its 95 % interval over runs, percentiles."""

    mean: float = figure("round trip", "steps", half="ci95", lead=True, key=True)
    ci95: float | None = figure("± 95 %", "steps")
    min: int = figure("shortest", "steps")
    p50: int = figure("half up to", "steps")
    p99: int = figure("99 % up to", "steps", head="p99", lead=True, key=True)
    max: int = figure("longest", "steps", lead=True)


class QueueLengths(Figures):
    """Packets in the queues of a level, or the wait pools of a stage, or in all of them.

    Mean over the runs with half its 95 % interval, the most in any run, and the mean number of
    those that were ever used.
    """

    mean: float = figure(unit="packets", lead=True, key=True)
    ci95: float | None = figure("± 95 %", "packets")
    max: int = figure(unit="packets", lead=True)
    used: Number | None = figure("ever used", "queues", default=None, optional=True)


class HotSpot(Figures):
    """A hot spot of a run.

    Requests for it, and those that its module executed, each of which stands for all that had
    combined. Both also a step, over all steps of the run, and the part of them in which the module
    was busy.
    """

    seed: int = figure()
    module: int = figure()
    elements: int = figure()
    requests: int = figure()
    accesses: int = figure()
    requests_per_step: float = figure()
    accesses_per_step: float = figure()
    busy: float = figure(unit=SHARE)


class Stage(Figures):
    """The queues of a stage of switches, and the share of the requests there that combine.

    None wait for others where no requests combine.
    """

    stage: int = figure(lead=True)
    requests: QueueLengths = figure("requests", flat="requests_", lead=True)
    wait: QueueLengths | None = figure("waiting", flat="wait_", lead=True)
    combining_rate: float = figure("combined", SHARE)
    replies: QueueLengths = figure("replies", flat="replies_", lead=True)


class HotSpotLoad(Figures):
    """What a network does with requests at one rate.

    ``rate`` is the probability that a processing element makes a request in a step. Figures are
    means over runs with their intervals, and the largest maxima. Means of steps are over all
    requests alike, other means over all runs alike. Of one run the intervals are from batch means,
    where there are any: steps have none where requests pile up.
    """

    rate: float = figure(unit=THROUGHPUT, lead=True, key=True)
    stable: bool | None = figure("keeps up", key=True)
    replications: int = figure()
    requests: int = figure("requests in all", at="requests.total", table=False)
    requests_per_pe: float = figure("requests of a PE", at="requests.mean_per_pe")
    requests_ci95: float | None = figure(at="requests.mean_per_pe_ci95", table=False)
    steps: Steps | None = figure(flat="steps_", lead=True, key=True)
    throughput: float | None = figure(unit=THROUGHPUT, half="throughput_ci95", lead=True, key=True)
    throughput_ci95: float | None = figure("± 95 %", THROUGHPUT)
    queue: QueueLengths = figure("queue", flat="queue_", lead=True)
    wait_buffer: QueueLengths | None = figure("wait buffer", flat="wait_buffer_", lead=True)
    refused: float = figure(
        "requests refused", SHARE, head="refused", at="discarded.full_share", lead=True
    )
    waited: float = figure(
        "requests that had to wait", SHARE, head="waited", at="discarded.waiting_share", lead=True
    )
    full: int = figure(at="discarded.full", table=False)
    waiting: int = figure(at="discarded.waiting", table=False)
    finalisation_steps: float = figure("until all are answered", "steps")
    piled_up: float | None = figure("requests that pile up", SHARE)
    fullest: str = figure("longest queues")
    fullest_mean: float = figure("mean of the longest queues", "packets")
    combined_share: float = figure("reach memory in another", SHARE, table=False)
    pe_queue: QueueLengths = figure()
    module_queue: QueueLengths = figure()
    stages: tuple[Stage, ...] = figure()
    hot_spots: tuple[HotSpot, ...] = figure()
    moves: int = figure(table=False)
    cpu_seconds: float = figure(unit="s", table=False)
    reason: str = figure(table=False)
    note: str | None = figure(table=False)
    runs: tuple[CombiningRun, ...] = figure()

    @property
    def busiest(self) -> HotSpot | None:
        """The hot spot whose module is busy most."""
        return max(self.hot_spots, key=lambda each: each.busy, default=None)

    @property
    def most_held(self) -> str:
        """The most packets that were ever in a queue, and in a wait buffer."""
        said = f"Most ever held: {counted(self.queue.max, 'packet')} in a queue"
        waits = self.wait_buffer
        return f"{said}, {waits.max} in a wait buffer" if waits and waits.max else said

    @property
    def too_much(self) -> str:
        """What happens to the requests that are too many."""
        if self.refused > (self.piled_up or 0):
            said = "of the requests are refused, because the PE's queue is full"
            return f"{percent(self.refused)} {said}"
        where = self.fullest.removeprefix("requests ").removeprefix("replies ")
        return f"{percent(self.piled_up)} of the requests pile up {where}"


class Length(Figures):
    """The queues of a kind at a stage in a run: those that ever held a packet."""

    rate: float = figure(unit=THROUGHPUT, key=True)
    seed: int = figure()
    kind: str = figure()
    stage: int = figure()
    mean: float = figure("mean length", "packets")
    max: int = figure("most ever", "packets")
    used: int = figure("ever used", "queues")
    combining_rate: float | None = figure("combined", SHARE)


class OfSystem(Answer):
    """An answer about the hot spots of a network."""

    @property
    def of(self) -> str:
        """The hot spots and the network."""
        return f"{counted(self.asked['hot_spots'], 'hot spot')} on omega:{self.asked['pes']}"

    def relieved(self, **changed: Any) -> str:
        """Return the command that asks each module less often: combined, or more modules."""
        asked = self.asked
        if asked["combining"] == "none":
            return self.again(combining="waiting", **changed)
        more = 2 * asked["hot_spots"]
        return self.again(hot_spots=more, **changed) if more <= asked["pes"] else ""

    def remarks(self) -> Iterator[str]:
        """Yield what was simulated, whatever was asked of it, and whether it was interrupted."""
        asked = self.asked
        usual = HotSpotQuestion.model_fields
        told = ("pes", "hot_spots", "steps", "replications", "seed", "rate", "rise")
        unusual = [
            f"{name.replace('_', ' ')} {number(value)}"
            for name, value in asked.items()
            if name not in told and value != usual[name].default
        ]
        yield (
            f"{counted(asked['hot_spots'], 'hot spot')} of {asked['pes']} memory modules, "
            f"{asked['steps']:,} steps, {counted(asked['replications'], 'replication')}, seed "
            f"{asked['seed']}{''.join(f', {each}' for each in unusual)}"
        )
        if self.interrupted:
            yield "interrupted: what was finished by then"


class HotSpotSimulation(OfSystem):
    """What ``simulate_hot_spots`` found, at one rate or at several."""

    ROWS: ClassVar = CombiningRun

    network_stages: int = figure(table=False)
    queue: int | None = figure(at="capacity.queue", table=False)
    wait_buffer: int | None = figure(at="capacity.wait_buffer", table=False)
    rates_asked: tuple[float, ...] = figure(at="asked")
    unhindered_steps: int = figure("idle", "steps", lead=True)
    interrupted: bool = figure(table=False)
    points: tuple[HotSpotLoad, ...] = figure()

    @property
    def point(self) -> HotSpotLoad:
        """The one point. InputError if several rates were asked for, or none was come to."""
        return only(self, self.points, f"{len(self.points)} rates")

    @property
    def several(self) -> bool:
        """Whether several rates were asked for, or none was come to."""
        return len(self.rates_asked) > 1 or not self.points

    def judged(self) -> Verdict:
        """Return what one rate, or several, come to."""
        if not self.points:
            said = "Interrupted before the first of the runs was finished, 0 steps are known."
            return Verdict("unknown", said)
        bad = next((each for each in self.points if each.stable is False), None)
        kept = [each for each in self.points if each.stable and each.steps is not None]
        below = [each for each in kept if bad is None or each.rate < bad.rate]
        point = bad or (below[-1] if below else self.points[0])
        mark, said = self._of_one(point)
        if len(self.points) > 1 and below:
            last = below[-1]
            if bad:
                mark, said = "limited", f"Keeps up to rate {number(last.rate)}: {self._took(last)}"
                said += f". At rate {number(bad.rate)}, {bad.too_much}."
            else:
                said = f"Keeps up at {counted(len(kept), 'rate')}, up to {number(last.rate)}: "
                said += f"{self._took(last)}. {last.most_held}."
        note = f"{begun(point.note)}." if point.note else ""
        return Verdict(mark, said, self._why(point), self._next(point), note)

    def _of_one(self, point: HotSpotLoad) -> tuple[Mark, str]:
        """Return the mark of one rate, and what it comes to."""
        rate = f"at rate {number(point.rate)}"
        if point.steps is None:
            return "unknown", f"No request was completed {rate}: 0 messages are known."
        if point.stable is None:
            return "unknown", f"Too short to tell {rate}: {self._took(point)} so far."
        if point.stable:
            return "fine", f"Keeps up {rate}: {self._took(point)}. {point.most_held}."
        return "act", f"Cannot keep up {rate}: {point.too_much}."

    def _took(self, point: HotSpotLoad) -> str:
        """Return the steps of a request, and those in an idle network."""
        mean = None if point.steps is None else point.steps.mean
        return f"{counted(number(mean), 'step')} ({self.unhindered_steps} idle)"

    def _why(self, point: HotSpotLoad) -> dict[str, str]:
        """Return where queues are longest, why, and how long requests take."""
        steps, busiest, why = point.steps, point.busiest, ""
        if steps is None:
            return {}
        if busiest and point.stable is False and busiest.busy >= FULL:
            serves = counted(self.asked["service_steps"], "step")
            busy = f"busy {percent(busiest.busy)} of the time"
            why = f"module {busiest.module} is {busy}, at {serves} an access"
        long = counted(number(point.fullest_mean), "packet")
        return {
            "where": f"longest queues: {point.fullest}, {long} on average",
            "why": why,
            "steps": f"{give_or_take(steps.mean, steps.ci95)}; p50 {number(steps.p50)}  "
            f"p99 {number(steps.p99)}  max {number(steps.max)} steps",
        }

    def _next(self, point: HotSpotLoad) -> str:
        """Return the command that finds the sizes, or that mends what limits the network."""
        rate, asked = point.rate, self.asked
        if point.steps is None:
            return "" if rate else self.again(rate=0.15)
        if point.stable is None:
            return self.again(rate=rate, steps=max(STEPS, 2 * asked["steps"]))
        combines = asked["combining"] != "none"
        bounded = combines and (self.queue is not None or self.wait_buffer is not None)
        if point.stable is False and not bounded:
            return self.relieved(rate=rate)
        if not combines:
            return ""
        return self.again("hotspot.critical-queue", but=("replications", "steps"), rate=rate)

    @table(HotSpotLoad)
    def rates(self) -> Sequence[Figures]:
        """Return one row per rate: means over its runs with their intervals, largest maxima."""
        return self.points

    @table(Length)
    def stages(self) -> dict[str, Any]:
        """Return one row per run, stage and kind of queue: requests, replies or waiting.

        Stage −1 are the processing elements (requests only), stage K the modules (replies only).
        Mean and maximum are over the ``used`` queues that ever held a packet.
        """
        stages = self.network_stages
        kinds = ["requests"] * (stages + 1) + ["replies"] * (stages + 1) + ["waiting"] * stages
        places = [*range(-1, stages), *range(stages, -1, -1), *range(stages)]
        rows: list[tuple[Any, ...]] = []
        for run in (run for point in self.points for run in point.runs):
            means = [*run.queue_mean.tolist(), *run.wait_mean.tolist()]
            longest = [*run.queue_max.tolist(), *run.wait_max.tolist()]
            used = [*run.queue_used.tolist(), *run.wait_used.tolist()]
            combined = [None, *run.combining_rate.tolist(), *[None] * (2 * stages + 1)]
            columns = kinds, places, means, longest, used, combined
            rows += [(run.rate, run.seed, *row) for row in zip(*columns, strict=True)]
        names = ("rate", "seed", "kind", "stage", "mean", "max", "used", "combining_rate")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def table(self) -> pl.DataFrame:
        """Return one row per rate and replication."""
        runs = (each for point in self.points for each in point.runs)
        return self._told("table", lambda: framed(CombiningRun, runs))

    def figure_lines(self, width: int) -> list[str]:
        """Return the figures of each rate. Of one, also those of each stage."""
        if self.several:
            return terminal.table(self.points, self, width)
        (point,) = self.points
        stages = terminal.table(point.stages, self, width)
        return [*stages, "", *terminal.pairs(point, self, width)]

    def remarks(self) -> Iterator[str]:
        """Yield the queues at the ends, the module that is busy most, and what was simulated."""
        if not self.several:
            point, busiest = self.points[0], self.points[0].busiest
            for whose, queue in (("PEs", point.pe_queue), ("modules", point.module_queue)):
                long = f"{counted(number(queue.mean), 'packet')} on average, {queue.max} at most"
                yield f"queues of {whose}: {long}"
            if busiest:
                yield f"busiest module: {busiest.module}, {percent(busiest.busy)} of the time"
            if self.asked["combining"] != "none":
                yield f"{percent(point.combined_share)} of the requests reach memory in another"
        yield from super().remarks()

    def footer(self) -> list[str]:
        """Return the network and its hot spots, and how long it ran."""
        sizes = {"queues": self.queue, "wait buffers": self.wait_buffer}
        if self.asked["combining"] == "none":
            del sizes["wait buffers"]
        said = [self.asked["policy"], f"combining {self.asked['combining']}"]
        said += [
            f"{what} {UNBOUNDED if size is None else f'of {size}'}" for what, size in sizes.items()
        ]
        lines = [f"{self.of}; {', '.join(said)}; {self.asked['steps']:,} steps"]
        if len(self.rates_asked) == 1:
            runs = self.asked["replications"]
            band = f"; bands: from the least to the most of {runs} replications" * (runs > 1)
            lines.append(f"rate {number(self.rates_asked[0])} {THROUGHPUT}{band}")
        return lines

    def parts(self) -> dict[str, Any]:
        """Return queues by stage. Of several rates, return steps by rate."""
        from netloom_papers.combining.drawn import by_stage, steps_by_rate

        if len(self.rates_asked) > 1:
            return {"steps": steps_by_rate(self.rates(), self.unhindered_steps)}
        combines = self.asked["combining"] != "none"
        return by_stage(self.stages(), self.network_stages, combining=combines)


BY_RATE = Axes(f"rate, {THROUGHPUT}", "round trip", "steps", f"throughput, {THROUGHPUT}")


COLUMNS = "rate", "steps_mean", "unhindered_steps", "steps_ci95", "throughput", "stable"
CURVE = CurveKind(
    BY_RATE,
    *COLUMNS,
    besides=("rate", "steps", "replications"),
    detail=lambda record, *_: None if record.answer.several else record,  # a picture of one rate
)


def prepare(question: HotSpotSystem) -> Prepared:
    """Return the network and the rates, rising. Refuse traffic that is not possible on it."""
    rates = parse_positive(question.rate, "rate", zero=True)
    if rates[-1] > 1:
        raise InputError("rate", f"{rates[-1]:g}", "a probability from 0 to 1")
    if len(rates) * question.replications > MOST_RUNS:
        found = f"{len(rates)} rates * {question.replications}"
        raise InputError("replications", found, f"at most {counted(MOST_RUNS, 'run')}")
    own = (*Rules.model_fields, *Network.model_fields)
    fields = {name: getattr(question, name) for name in own}
    if isinstance(question, Capacities):
        queue, pool = question.queue, question.wait_buffer
        fields["queue"] = _capacity(queue, "queue")
        fields["wait_buffer"] = _capacity(queue if pool == AS_QUEUE else pool, "wait_buffer")
    network = CombiningNetwork(**fields)
    traffic_of(question, rates[0], question.seed)
    return network, rates


def runs_of(
    question: HotSpotSystem,
    network: CombiningNetwork,
    jobs: Sequence[tuple[float, int]],
    tell: Callable[[int], None] = lambda _: None,
) -> tuple[list[CombiningRun], bool]:
    """Return the runs of rates and seeds that were begun, and whether Ctrl-C cut any short.

    The network is that of the question, perhaps with queues of another size.
    """

    def one(rate: float, seed: int, stopped: Callable[[], bool]) -> CombiningRun:
        traffic = traffic_of(question, rate, seed)
        return run_combining(network, traffic, question.steps, seed=seed, stopped=stopped)

    found = run_all([partial(one, *job) for job in jobs], tell=tell)
    return found, len(found) < len(jobs) or any(run.interrupted for run in found)


@asks(
    HotSpotQuestion,
    prepare=prepare,
    title="Hot spots in a combining network",
    example="netloom hotspot --pes 512 --hotspots 8 --rate 0.05:0.2:0.05 --plot stages.svg",
    page="combining-network.md",
    sweep="rate",
    outputs=(PLOT,),
    curve=CURVE,
)
def simulate_hot_spots(question: HotSpotQuestion, ready: Prepared) -> HotSpotSimulation:
    """Simulate an Omega network that combines requests to shared words of memory.

    The network is that of Rosenblum & Mayr's Ultracomputer (1986). Replications and rates use all
    processors. Ctrl-C ends them, and the answer contains those that are finished.

    Examples
    --------
    >>> found = simulate_hot_spots(16, 1, assign=1.0, rate=0.15)
    >>> found.point.steps.mean  # nothing is ever held up: 2 K + 2
    10.0
    """
    network, rates = ready
    jobs = [(rate, seed) for rate in rates for seed in seeds_of(question)]
    with counting_runs(len(jobs), f"hot spots on omega:{question.pes}") as tell:
        found, interrupted = runs_of(question, network, jobs, tell)
    points = []
    for rate in rates:
        begun = [run for run in found if run.rate == rate and run.steps]
        if kept := [run for run in begun if not run.interrupted] or begun:
            points.append(_load(network, kept))
    return HotSpotSimulation(
        network_stages=network.stages,
        queue=network.queue,
        wait_buffer=network.wait_buffer,
        rates_asked=rates,
        unhindered_steps=network.unhindered_steps,
        interrupted=interrupted,
        points=tuple(points),
        provenance=Provenance(question.configuration(), question.seed, verb="simulate_hot_spots"),
    )


def _capacity(given: int | str | None, field: str) -> int | None:
    """Return how many packets fit. None: any number. Numbers too small are refused elsewhere."""
    if given is None or given == UNBOUNDED:
        return None
    if isinstance(given, str):
        if not given.isdecimal():
            words = UNBOUNDED if field == "queue" else f"{UNBOUNDED} or {AS_QUEUE}"
            raise InputError(field, f"'{given}'", f"a number of packets, or {words}")
        return whole_number(given, where=field)
    return given


def _load(network: CombiningNetwork, runs: Sequence[CombiningRun]) -> HotSpotLoad:
    """Return what several runs at a rate come to."""
    stages, combines = network.stages, network.combining != "none"

    def each(name: str) -> list[Any]:
        return [getattr(run, name) for run in runs]

    def lengths(what: str, place: int) -> QueueLengths:
        """Return those of the queues of a level, or the wait pools of a stage."""
        columns = (np.array(each(f"{what}_{name}")) for name in ("mean", "max", "used"))
        means, most, count = (column[:, place] for column in columns)
        middle, half = interval_over_runs(means)
        used, _ = interval_over_runs(count)
        used = int(used) if used.is_integer() else used
        return QueueLengths(mean=middle, ci95=half, max=int(most.max()), used=used)

    queue = [lengths("queue", level) for level in range(2 * stages + 2)]
    wait = [lengths("wait", stage) for stage in range(stages)]
    combined = np.array(each("combining_rate"))
    hot_spots: list[HotSpot] = []
    for run in runs:
        seeds = np.full(len(run.hot_spots["module"]), run.seed)
        hot_spots += records(HotSpot, run.hot_spots | {"seed": seeds})

    def over_runs(name: str) -> tuple[float | None, float | None]:
        mean, half = interval_over_runs(each(name))
        return known(mean), known(half)

    def together(name: str, parts: list[QueueLengths]) -> QueueLengths:
        mean, half = over_runs(name)
        return QueueLengths(mean=mean or 0.0, ci95=half, max=max(part.max for part in parts))

    per_pe, per_pe_ci95 = over_runs("requests_per_pe")
    throughput, half = over_runs("throughput")
    sums = {name: sum(each(name)) for name in ("requests", "moves", "cpu_seconds")}
    sums |= {name: sum(each(f"discarded_{name}")) for name in ("full", "waiting")}
    wanted = max(sums["requests"] + sums["full"] + sums["waiting"], 1)
    means = np.mean(each("queue_mean"), axis=0)
    means[stages + 1] = 0.0  # the modules' do not count
    level = int(means.argmax())
    where = f"replies at the outputs of stage {2 * stages + 1 - level}"
    if level <= stages:
        where = f"requests {f'at the outputs of stage {level - 1}' if level else 'in the PEs'}"
    keep_up = {*each("stable")}
    stable = False if False in keep_up else None if None in keep_up else True
    grows = [run.growth for run in runs if not np.isnan(run.growth)]
    which = [run for run in runs if run.stable is stable]
    first, many = which[0], len(runs)
    reason = first.reason
    if many > 1:  # of several runs, that of the first which does not keep up
        count = f"all {many}" if len(which) == many else f"{len(which)} of {many}"
        reason = f"in {count} replications; with seed {first.seed}, {reason}"
    return HotSpotLoad(
        rate=runs[0].rate,
        stable=stable,
        replications=len(runs),
        **sums,
        requests_per_pe=per_pe or 0.0,
        requests_ci95=per_pe_ci95,
        steps=_steps(runs),
        throughput=throughput,
        throughput_ci95=known(runs[0].throughput_ci95) if len(runs) == 1 else half,
        queue=together("mean_queue", queue),
        wait_buffer=together("mean_wait", wait) if combines else None,
        refused=sums["full"] / wanted,
        waited=sums["waiting"] / wanted,
        finalisation_steps=over_runs("finalisation_steps")[0] or 0.0,
        piled_up=float(np.mean(grows)) if grows else None,
        fullest=where,
        fullest_mean=float(means[level]),
        combined_share=1 - float(np.mean([np.prod(1 - each) for each in combined])),
        pe_queue=queue[0],
        module_queue=queue[stages + 1],
        stages=tuple(
            Stage(
                stage=stage,
                requests=queue[stage + 1],
                wait=wait[stage] if combines else None,
                combining_rate=float(combined.mean(axis=0)[stage]),
                replies=queue[2 * stages + 1 - stage],
            )
            for stage in range(stages)
        ),
        hot_spots=tuple(hot_spots),
        reason=reason,
        note=_note(runs, stable=stable),
        runs=tuple(runs),
    )


def _steps(runs: Sequence[CombiningRun]) -> Steps | None:
    """Return the steps that requests took, over those of all runs alike. None without any."""
    counts = np.zeros(max(len(run.latency_counts) for run in runs), np.int64)
    if not len(counts):
        return None
    for run in runs:
        counts[: len(run.latency_counts)] += run.latency_counts
    sums = [run.latency_counts @ np.arange(len(run.latency_counts)) for run in runs]
    _, half = batch_interval(sums, [run.latency_counts.sum() for run in runs])
    half = runs[0].steps_ci95 if len(runs) == 1 else half
    return Steps(ci95=known(half), **steps_of(counts))


def _note(runs: Sequence[CombiningRun], *, stable: bool | None) -> str | None:
    """Return what to know before relying on the figures."""
    if any(run.interrupted for run in runs):
        return "interrupted: figures are of the steps it came to"
    if any(run.piles_up for run in runs):
        return (
            "figures depend on how long a run lasts: requests pile up, and means of queues take in "
            "the time until the last is answered"
        )
    if stable is False:
        return "figures are of the requests that are not refused"
    return None
