"""What do shared words, such as counters and locks, do to a network whose switches combine?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from netloom.base.errors import InputError
from netloom.base.progress import counting_runs
from netloom.base.provenance import Provenance
from netloom.base.spec import MAX_ELEMENTS, whole_number
from netloom.base.words import counted, give_or_take, number
from netloom.questions.base import Numbers, Question, option, parse_positive
from netloom.questions.columns import Axes, Column, Columns, CurveKind, asked, known, table, tidy
from netloom.questions.fields import Seeded
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks, command_line, kind_of
from netloom.questions.shown import (
    Verdict,
    figures_table,
    interruption,
    pairs,
    percent,
    plain_table,
)
from netloom.simulation.intervals import interval_over_runs
from netloom.simulation.side_by_side import run_all
from netloom_papers.combining import CombiningNetwork, run_combining
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots
from netloom_papers.combining.network import MOST_STEPS
from netloom_papers.combining.runs import Replications, Steps
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl
    from rich.table import Table

    from netloom.questions.register import Recorded
    from netloom_papers.combining import CombiningRun


def steps_interval(run: CombiningRun) -> float | None:
    """Return half the interval of one run's mean steps. None where the mean never settles."""
    return None if run.piles_up else known(run.steps_ci95)


MOST_RUNS = 100_000
"""Most rates times replications of one question."""


class Network(Question, panel="Network"):
    """An Omega network between processing elements and memory modules."""

    pes: int = option(
        "Processing elements (PEs) and memory modules, each: a power of the switch "
        "size.",
        default=512, kw_only=False, ge=1, le=MAX_ELEMENTS,
    )  # fmt: skip
    switch_size: int = option("Inputs of a switch: 2, 4 or 8.", default=2, ge=1, le=64)
    digits: Literal["most-significant-first", "least-significant-first"] = option(
        "Order of a module number's digits by stage: most-significant-first or "
        "least-significant-first.",
        default="most-significant-first",
    )


class HotSpots(Question, panel="Hot spots, and who asks for them"):
    """Words that many processing elements ask for."""

    hot_spots: int = option(
        "Number of modules with one shared word each.",
        default=8,
        flags=("--hotspots", "--hot-spots"),
        kw_only=False,
        ge=0,
        le=MAX_ELEMENTS,
    )
    per_pe: int | None = option(
        "Hot spots that each PE draws.", default=None, ge=1, le=MAX_ELEMENTS,
        shown_default="2, or as many as there are",
    )  # fmt: skip
    assign: float = option(
        "Probability that a PE gets a hot spot it draws.", default=0.95, ge=0, le=1
    )
    rate: Numbers = option(
        "Probability that a PE makes a request in a step: 0.15, 0.05,0.1 or START:STOP:STEP.",
        default=0.15,
    )
    policy: Literal["no-wait", "wait"] = option(
        "Policy of a PE: wait (for its last reply from a hot spot) or no-wait.", default="no-wait"
    )
    spacing: int | None = option(
        "Distance between hot spots.",
        unit="modules",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="at random",
    )
    deviation: int = option(
        "Largest deviation from the spacing, either way.",
        unit="modules",
        default=0,
        ge=0,
        le=MAX_ELEMENTS,
    )
    hot_fraction: float = option(
        "Share of the requests that go to hot spots.",
        default=1.0, ge=0, le=1,
    )  # fmt: skip
    new: float = option("Probability of a new hot spot in a step.", default=0.0, ge=0, le=1)
    remove: float = option(
        "Probability that a hot spot disappears in a step.", default=0.0, ge=0, le=1
    )


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
    service_steps: int = option("Steps of a module per request.", default=1, ge=1, le=MAX_ELEMENTS)
    operation: Literal["add", "or", "and", "xor", "max", "min", "swap", "load"] = option(
        "Operation, fetch-and-...: add, or, and, xor, max, min, swap or load.", default="add"
    )


class Runs(Question, panel="Runs"):
    """How long, and how often."""

    steps: int = option(
        "Number of steps in which requests are made.",
        default=1000, ge=1, le=MOST_STEPS,
    )  # fmt: skip
    replications: int = option(
        "Number of runs, each with its seed and hot spots.", default=1, ge=1, le=10_000
    )


class HotSpotSystem(Seeded, Runs, Rules, HotSpots, Network):
    """A network whose switches combine, its hot spots, and who asks for them."""


def rates_of(question: HotSpotSystem) -> tuple[float, ...]:
    """Return the rates of a question, rising."""
    rates = parse_positive(question.rate, "rate", zero=True)
    if rates[-1] > 1:
        raise InputError("rate", f"{rates[-1]:g}", "a probability from 0 to 1")
    if len(rates) * question.replications > MOST_RUNS:
        found = f"{len(rates)} rates * {question.replications}"
        raise InputError("replications", found, f"at most {counted(MOST_RUNS, 'run')}")
    return rates


class PreparedSystem(NamedTuple):
    """The network of a question, and the rates at which it is asked."""

    network: CombiningNetwork
    rates: tuple[float, ...]


def seeds_of(question: HotSpotSystem) -> range:
    """Return the seeds of its replications."""
    return range(question.seed, question.seed + question.replications)


def network_of(question: HotSpotSystem, queue: int | None, pool: int | None) -> CombiningNetwork:
    """Return its network, with queues and wait buffers of these sizes."""
    own = (*Rules.model_fields, "switch_size", "digits")
    fields = {name: getattr(question, name) for name in own}
    return CombiningNetwork(question.pes, queue=queue, wait_buffer=pool, **fields)


def traffic_of(question: HotSpotSystem, rate: float, seed: int) -> HotSpotTraffic:
    """Return the hot spots of a replication, and who asks for which of them how often."""
    per_pe = min(2, question.hot_spots) if question.per_pe is None else question.per_pe
    places = place_hot_spots(
        question.pes,
        question.hot_spots,
        spacing=question.spacing,
        deviation=question.deviation,
        seed=seed,
    )
    return HotSpotTraffic(
        places,
        assign_hot_spots(question.pes, places, per_pe, question.assign, seed=seed),
        rate,
        wait=question.policy == "wait",
        hot_fraction=question.hot_fraction,
        assign=question.assign,
        new=question.new,
        remove=question.remove,
    )


class OneRun(NamedTuple):
    """One run: its rate, its seed, and what it found."""

    rate: float
    seed: int
    run: CombiningRun


@dataclass(frozen=True, eq=False, kw_only=True)
class HotSpotLoad(Replications):
    """What a network does with requests at one rate.

    ``rate`` is the probability that a processing element makes a request in a step.
    """

    rate: float

    @property
    def reason(self) -> str:
        """Why it keeps up, or does not. Of several runs the first that does not."""
        which = [place for place, run in enumerate(self.runs) if run.stable is self.stable]
        said, many = self.runs[which[0]].reason, len(self.runs)
        if many == 1:
            return said
        count = f"all {many}" if len(which) == many else f"{len(which)} of {many}"
        return f"in {count} replications; with seed {self.seeds[which[0]]}, {said}"

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.interrupted:
            return "interrupted: figures are of the steps it came to"
        if any(run.piles_up for run in self.runs):
            return (
                "figures depend on how long a run lasts: requests pile up, and means of queues "
                "take in the time until the last is answered"
            )
        if self.stable is False:
            return "figures are of the requests that are not refused"
        return None

    @property
    def piled_up(self) -> float | None:
        """By how much requests in flight grow, as a share of those made: mean of all runs."""
        known_of = [run.growth for run in self.runs if not np.isnan(run.growth)]
        return float(np.mean(known_of)) if known_of else None

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data: means over runs with their intervals, largest maxima.

        Means of steps are over all requests alike, other means over all runs alike. Of one run
        the intervals are from batch means, where there are any: steps have none where requests
        pile up.
        """
        plain: dict[str, Any] = tidy(LOAD.nested(self))
        return plain

    @property
    def each_run(self) -> list[OneRun]:
        """Its runs one by one."""
        pairs = zip(self.runs, self.seeds, strict=True)
        return [OneRun(self.rate, seed, run) for run, seed in pairs]

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The figures of steps, queues and wait buffers: of all together, and stage by stage."""
        runs, stages, steps = self.runs, self.network.stages, self.steps_taken

        def plain(place: int, names: tuple[str, str, str]) -> dict[str, Any]:
            found = self.lengths(*names, place)
            used = int(found.used) if found.used.is_integer() else found.used
            return found._asdict() | {"ci95": known(found.ci95), "used": used}

        def together(means: list[float], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
            mean, half = interval_over_runs(means)
            return {"mean": mean, "ci95": known(half), "max": max(part["max"] for part in parts)}

        took: dict[str, Any] = dict.fromkeys(Steps._fields)
        if steps is not None:
            half = steps_interval(runs[0]) if len(runs) == 1 else known(steps.ci95)
            took = steps._asdict() | {"ci95": half}
        names = ("queue_mean", "queue_max", "queues_used")
        queue = [plain(level, names) for level in range(2 * stages + 2)]
        names = ("wait_mean", "wait_max", "pools_used")
        wait = [plain(stage, names) for stage in range(stages)]
        rates = np.array([run.combining_rate for run in runs]).mean(axis=0)
        return {
            "steps": took | {"unhindered": self.network.unhindered_steps},
            "queue": together([run.mean_queue for run in runs], queue),
            "wait_buffer": together([run.mean_wait for run in runs], wait),
            "pe_queue": queue[0],
            "module_queue": queue[stages + 1],
            "stages": [
                {
                    "stage": stage,
                    "requests": queue[stage + 1],
                    "replies": queue[2 * stages + 1 - stage],
                    "wait": wait[stage],
                    "combining_rate": float(rates[stage]),
                }
                for stage in range(stages)
            ],
        }

    @property
    def hot_spots(self) -> list[dict[str, Any]]:
        """The hot spots of each run, in the order drawn.

        Requests for one, and those that its module executed, each of which stands for all that had
        combined. Both also a step, over all steps of the run, and the part of them in which the
        module was busy.
        """
        found = []
        for _, seed, run in self.each_run:
            steps = max(run.steps + run.finalisation_steps, 1)
            names = ("module", "elements", "requests", "accesses")
            columns = (run.modules, run.elements, run.requests_to, run.accesses_of)
            for values in zip(*(column.tolist() for column in columns), strict=True):
                each = {"seed": seed} | dict(zip(names, values, strict=True))
                each |= {f"{name}_per_step": each[name] / steps for name in names[2:]}
                each["busy"] = each["accesses"] * self.network.service_steps / steps
                found.append(each)
        return found

    @property
    def wanted(self) -> int:
        """How many requests were made or discarded."""
        return sum(run.requests + run.discarded_waiting + run.discarded_full for run in self.runs)

    @property
    def throughput_interval(self) -> float:
        """Half the interval of the throughput. Of one run from batch means."""
        if len(self.runs) == 1:
            return self.runs[0].throughput_ci95
        return interval_over_runs([run.throughput for run in self.runs])[1]


def _sum(name: str) -> Callable[[HotSpotLoad], Any]:
    """Return what adds up a figure of all runs."""
    return lambda load: sum(getattr(run, name) for run in load.runs)


def _over_runs(name: str, place: int = 0) -> Callable[[HotSpotLoad], Any]:
    """Return what gives the mean of a figure over runs, or half of its interval."""
    return lambda load: interval_over_runs([getattr(run, name) for run in load.runs])[place]


def _share(name: str) -> Callable[[HotSpotLoad], Any]:
    """Return what gives the share of the requests that were discarded for a reason."""
    return lambda load: _sum(name)(load) / max(load.wanted, 1)


THROUGHPUT = "requests/PE/step"

RATE = Column("rate", unit=THROUGHPUT, key=True)

RUN = Columns(
    RATE,
    Column("seed", kind=int),
    Column("stable", "keeps up", value="run.stable", kind=bool, key=True),
    Column("requests", value="run.requests", kind=int),
    Column("requests_per_pe", value="run.requests_per_pe"),
    Column("discarded_waiting", value="run.discarded_waiting", kind=int),
    Column("discarded_full", value="run.discarded_full", kind=int),
    Column("steps_mean", "round trip", "steps", "run.steps_mean", key=True),
    Column("steps_min", "shortest", "steps", "run.steps_min"),
    Column("steps_p50", "half up to", "steps", "run.steps_p50"),
    Column("steps_p99", "99 % up to", "steps", "run.steps_p99", key=True),
    Column("steps_max", "longest", "steps", "run.steps_max"),
    Column("steps_ci95", "± 95 %", "steps", lambda each: steps_interval(each.run)),
    Column("queue_mean", "mean queue", "packets", "run.mean_queue", key=True),
    Column(
        "queue_max", "longest queue", "packets", lambda each: each.run.queue_max.max(), int,
        key=True,
    ),
    Column("wait_buffer_mean", "mean wait buffer", "packets", "run.mean_wait"),
    Column(
        "wait_buffer_max", "longest wait buffer", "packets", lambda each: each.run.wait_max.max(),
        int,
    ),
    Column("throughput", unit=THROUGHPUT, value="run.throughput", key=True),
    Column("throughput_ci95", "± 95 %", THROUGHPUT, "run.throughput_ci95"),
    Column("finalisation_steps", "until all are answered", "steps", "run.finalisation_steps", int),
    Column("reason", value="run.reason", kind=str),
    Column("interrupted", value="run.interrupted", kind=bool),
    Column("moves", value="run.moves", kind=int),
    Column("cpu_seconds", unit="s", value="run.cpu_seconds"),
)  # fmt: skip
"""Of one run: see ``OneRun``."""

SPREADS = {
    "steps": (*Steps._fields, "unhindered"),
    "queue": ("mean", "ci95", "max"),
    "wait_buffer": ("mean", "ci95", "max"),
}
"""What is known of the steps of requests, and of the lengths of queues."""

LOAD = Columns(
    RATE,
    Column("stable", "keeps up", kind=bool),
    Column("replications", value=lambda load: len(load.runs), kind=int),
    Column("requests_total", value=_sum("requests"), kind=int, json="requests.total", table=False),
    Column("requests_per_pe", value=_over_runs("requests_per_pe"), json="requests.mean_per_pe"),
    Column(
        "requests_ci95", value=_over_runs("requests_per_pe", 1), json="requests.mean_per_pe_ci95",
        table=False,
    ),
    *(
        Column(
            f"{of}_{part}", f"{of.replace('_', ' ')}, {part}", "" if of == "steps" else "packets",
            f"figures.{of}.{part}", float if part in ("mean", "ci95") else int, json=f"{of}.{part}",
        )
        for of, parts in SPREADS.items()
        for part in parts
    ),
    Column("throughput", unit=THROUGHPUT, value=_over_runs("throughput")),
    Column("throughput_ci95", unit=THROUGHPUT, value="throughput_interval"),
    Column("refused", value=_share("discarded_full"), json="discarded.full_share"),
    Column("waited", value=_share("discarded_waiting"), json="discarded.waiting_share"),
    Column("full", value=_sum("discarded_full"), kind=int, json="discarded.full", table=False),
    Column(
        "waiting", value=_sum("discarded_waiting"), kind=int, json="discarded.waiting", table=False
    ),
    Column("finalisation_steps", unit="steps", value=_over_runs("finalisation_steps")),
    Column("piled_up", "requests that pile up, share"),
    Column("fullest", "longest queues", kind=str, value=lambda load: load.fullest[0]),
    Column("fullest_mean", "their mean", "packets", value=lambda load: load.fullest[1]),
    Column("combined_share", table=False),
    Column("pe_queue", kind=dict, value="figures.pe_queue", table=False),
    Column("module_queue", kind=dict, value="figures.module_queue", table=False),
    Column("stages", kind=list, value="figures.stages", table=False),
    Column("hot_spots", kind=list, table=False),
    Column("moves", kind=int, value=_sum("moves"), table=False),
    Column("cpu_seconds", unit="s", value=_sum("cpu_seconds"), table=False),
    Column("reason", kind=str, table=False),
    Column("note", kind=str, table=False),
    Column(
        "runs", kind=list, value=lambda load: [RUN.row(each) for each in load.each_run],
        table=False,
    ),
)  # fmt: skip
"""Of one rate: means over its runs with their intervals, and the largest maxima."""

STAGES = Columns(
    RATE,
    Column("seed", kind=int),
    Column("kind", kind=str),
    Column("stage", kind=int),
    Column("mean", "mean length", "packets"),
    Column("max", "most ever", "packets", kind=int),
    Column("used", "ever used", "queues", kind=int),
    Column("combining_rate", "combined, share"),
)

LATENCIES = Columns(RATE, Column("steps", kind=int), Column("requests", kind=int))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HotSpotSimulation(Told):
    """What ``simulate_hot_spots`` found, at one rate or at several."""

    columns: ClassVar = RUN
    in_json: ClassVar = LOAD
    about: ClassVar = Columns(
        Column("pes", kind=int, value="network.pes"),
        Column("switch_size", kind=int, value="network.switch_size"),
        Column("network_stages", kind=int, value="network.stages"),
        Column("capacity", kind=dict),
        *(
            Column(name, kind=str, value=asked(name))
            for name in ("policy", "combining", "operation")
        ),
        Column("assign", value=asked("assign")),
        Column("asked", kind=list),
        Column("unhindered_steps", kind=int, value="network.unhindered_steps"),
        Column("requested_steps", kind=int, value=asked("steps")),
        Column("asked_replications", kind=int, value=asked("replications")),
        Column("seed", kind=int, value="provenance.seed"),
        Column("interrupted", kind=bool),
    )

    network: CombiningNetwork
    points: tuple[HotSpotLoad, ...]
    asked: tuple[float, ...]
    interrupted: bool
    provenance: Provenance

    @property
    def point(self) -> HotSpotLoad:
        """The one point. InputError if several rates were asked for, or none was come to."""
        return self.only(self.points, f"{len(self.points)} rates")

    @property
    def several(self) -> bool:
        """Whether several rates were asked for, or none was come to."""
        return len(self.asked) > 1 or not self.points

    @property
    def table_rows(self) -> list[OneRun]:
        """Each rate and replication."""
        return [each for point in self.points for each in point.each_run]

    @property
    def capacity(self) -> dict[str, int | None]:
        """Packets that a queue and a wait buffer hold. None: any number."""
        return {"queue": self.network.queue, "wait_buffer": self.network.wait_buffer}

    @table(LOAD)
    def rates(self) -> pl.DataFrame:
        """Return one row per rate: means over its runs with their intervals, largest maxima."""
        return LOAD.frame(self.points)

    @table(LATENCIES)
    def latencies(self) -> pl.DataFrame:
        """Return one row per rate and number of steps: how many requests took that many."""
        return LATENCIES.frame_of(
            [
                {"rate": point.rate, "steps": steps, "requests": int(counts[steps])}
                for point in self.points
                for counts in [point.latency_counts]
                for steps in np.flatnonzero(counts).tolist()
            ]
        )

    @table(STAGES)
    def stages(self) -> pl.DataFrame:
        """Return one row per run, stage and kind of queue: requests, replies or waiting.

        Stage −1 are the processing elements (requests only), stage K the modules (replies only).
        Mean and maximum are over the ``used`` queues that ever held a packet.
        """
        stages = self.network.stages
        kinds = ["requests"] * (stages + 1) + ["replies"] * (stages + 1) + ["waiting"] * stages
        places = [*range(-1, stages), *range(stages, -1, -1), *range(stages)]
        rows = []
        for rate, seed, run in self.table_rows:
            means = [*run.queue_mean.tolist(), *run.wait_mean.tolist()]
            longest = [*run.queue_max.tolist(), *run.wait_max.tolist()]
            used = [*run.queues_used.tolist(), *run.pools_used.tolist()]
            combined = [None, *run.combining_rate.tolist(), *[None] * (2 * stages + 1)]
            rows += [
                dict(zip(STAGES.names, (rate, seed, *values), strict=True))
                for values in zip(kinds, places, means, longest, used, combined, strict=True)
            ]
        return STAGES.frame_of(rows)


BY_RATE = Axes(f"rate, {THROUGHPUT}", "round trip", "steps", f"throughput, {THROUGHPUT}")


def detail(record: Recorded, load: float, technique: str) -> Recorded | None:  # noqa: ARG001
    """Return an answer of one rate. The picture of several is of them all."""
    return None if record.several else record


CURVE = CurveKind(
    BY_RATE, "rate", "steps_mean", "unhindered_steps", "steps_ci95", "throughput", "stable",
    besides=("rate", "steps", "replications"), detail=detail,
)  # fmt: skip


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


def prepare(question: HotSpotQuestion) -> PreparedSystem:
    """Return the network, and refuse traffic that is not possible on it."""
    rates = rates_of(question)
    queue = _capacity(question.queue, "queue")
    as_queue = question.wait_buffer == AS_QUEUE
    pool = queue if as_queue else _capacity(question.wait_buffer, "wait_buffer")
    network = network_of(question, queue, pool)
    traffic_of(question, rates[0], question.seed)
    return PreparedSystem(network, rates)


@asks(
    HotSpotQuestion,
    prepare=prepare,
    title="Hot spots in a combining network",
    example="netloom hotspot --pes 512 --hotspots 8 --rate 0.05:0.2:0.05 --plot stages.svg",
    page="combining-network.md",
    sweep="rate",
    outputs=(PLOT,),
)
def simulate_hot_spots(question: HotSpotQuestion, ready: PreparedSystem) -> HotSpotSimulation:
    """Simulate an Omega network that combines requests to shared words of memory.

    The network is that of Rosenblum & Mayr's Ultracomputer (1986). Replications and rates use all
    processors. Ctrl-C ends them, and the answer contains those that are finished.

    Examples
    --------
    >>> found = simulate_hot_spots(16, 1, assign=1.0, rate=0.15)
    >>> found.point.to_dict()["steps"]["mean"]  # nothing is ever held up: 2 K + 2
    10.0
    """
    network, rates = ready
    seeds = seeds_of(question)
    jobs = [(rate, seed) for rate in rates for seed in seeds]

    def one(rate: float, seed: int, stopped: Callable[[], bool]) -> CombiningRun:
        traffic = traffic_of(question, rate, seed)
        return run_combining(network, traffic, question.steps, seed=seed, stopped=stopped)

    with counting_runs(len(jobs), f"hot spots on omega:{question.pes}") as tell:
        found = run_all([partial(one, *job) for job in jobs], tell=tell)
    points = []
    for place, rate in enumerate(rates):
        pairs_of = zip(found[place * len(seeds) :], seeds, strict=False)
        begun = [each for each in pairs_of if each[0].steps]
        if kept := [each for each in begun if not each[0].interrupted] or begun:
            runs, own = zip(*kept, strict=True)
            points.append(HotSpotLoad(network=network, runs=runs, seeds=own, rate=rate))
    return HotSpotSimulation(
        network=network,
        points=tuple(points),
        asked=rates,
        interrupted=len(found) < len(jobs) or any(run.interrupted for run in found),
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


FULL = 0.9
"""Share of its time from which a busy module counts as what limits the network."""

STEPS = 1000
"""Steps of a run that tells whether a network keeps up."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what one rate, or several, come to."""
    asked = figures["provenance"]["configuration"]
    of = f"{counted(asked['hot_spots'], 'hot spot')} on omega:{figures['pes']}"
    points = figures.get("points", [figures])
    if not points:
        return Verdict("unknown", "Interrupted before the first of the runs was finished, 0 "
                       "steps are known.", of)  # fmt: skip
    bad = next((each for each in points if each["stable"] is False), None)
    kept = [each for each in points if each["stable"] and each["steps"]["mean"] is not None]
    if len(points) == 1 or not (kept or bad):
        point, said = points[0], sentence_of(points[0])
        mark = "fine" if point["stable"] else "act"
        if point["stable"] is None or point["steps"]["mean"] is None:
            mark = "unknown"
    elif bad is None:
        point, mark = kept[-1], "fine"
        said = (
            f"Keeps up at {counted(len(kept), 'rate')}, up to {number(point['rate'])}: "
            f"{_steps(point)}. {_most_held(point)}."
        )
    elif not kept or kept[0]["rate"] > bad["rate"]:
        point, mark, said = bad, "act", sentence_of(bad)
    else:
        point, mark = bad, "limited"
        below = [each for each in kept if each["rate"] < bad["rate"]][-1]
        said = (
            f"Keeps up to rate {number(below['rate'])}: {_steps(below)}. At rate "
            f"{number(bad['rate'])}, {_too_much(bad)}."
        )
    note = point["note"] or ""
    return Verdict(
        mark, said, of, _lines(point, asked), _next(point, asked, figures),
        f"{note[:1].upper()}{note[1:]}." if note else "",
    )  # fmt: skip


def sentence_of(point: Mapping[str, Any]) -> str:
    """Return what one rate comes to."""
    rate = f"at rate {number(point['rate'])}"
    if point["steps"]["mean"] is None:
        return f"No request was completed {rate}: 0 messages are known."
    if point["stable"] is None:
        return f"Too short to tell {rate}: {_steps(point)} so far."
    if point["stable"]:
        return f"Keeps up {rate}: {_steps(point)}. {_most_held(point)}."
    return f"Cannot keep up {rate}: {_too_much(point)}."


def _steps(point: Mapping[str, Any]) -> str:
    found = point["steps"]
    return f"{counted(number(found['mean']), 'step')} ({found['unhindered']} idle)"


def _most_held(point: Mapping[str, Any]) -> str:
    """Say the most packets that were ever in a queue, and in a wait buffer."""
    said = f"Most ever held: {counted(point['queue']['max'], 'packet')} in a queue"
    waiting = point["wait_buffer"]["max"]
    return f"{said}, {waiting} in a wait buffer" if waiting else said


def _too_much(point: Mapping[str, Any]) -> str:
    refused = point["discarded"]["full_share"]
    if refused > (point["piled_up"] or 0):
        return f"{percent(refused)} of the requests are refused, because the PE's queue is full"
    where = point["fullest"].removeprefix("requests ").removeprefix("replies ")
    return f"{percent(point['piled_up'])} of the requests pile up {where}"


def _lines(point: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, str]:
    """Return where queues are longest, why, and how long requests take."""
    steps = point["steps"]
    if steps["mean"] is None:
        return {}
    found = {"where": f"longest queues: {point['fullest']}, "
             f"{counted(number(point['fullest_mean']), 'packet')} on average"}  # fmt: skip
    busiest = max(point["hot_spots"], key=lambda each: each["busy"], default=None)
    if busiest and point["stable"] is False and busiest["busy"] >= FULL:
        serves = counted(asked["service_steps"], "step")
        found["why"] = (
            f"module {busiest['module']} is busy {percent(busiest['busy'])} of the time, at "
            f"{serves} an access"
        )
    found["steps"] = (
        f"{give_or_take(steps['mean'], steps['ci95'])}; p50 {number(steps['p50'])}  "
        f"p99 {number(steps['p99'])}  max {number(steps['max'])} steps"
    )
    return found


def _next(point: Mapping[str, Any], asked: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """Return the command that finds the sizes, or that mends what limits the network."""
    same = dict(asked) | {"rate": point["rate"]}
    hotspot = kind_of("hotspot")
    if point["steps"]["mean"] is None:
        return command_line(hotspot, same | {"rate": 0.15}) if not point["rate"] else ""
    if point["stable"] is None:
        return command_line(hotspot, same | {"steps": max(STEPS, 2 * asked["steps"])})
    if point["stable"] is False and asked["combining"] == "none":
        return command_line(hotspot, same | {"combining": "waiting"})
    bounded = any(each is not None for each in figures["capacity"].values())
    if point["stable"] is False and not bounded:
        more = 2 * asked["hot_spots"]
        return command_line(hotspot, same | {"hot_spots": more}) if more <= asked["pes"] else ""
    sizes = {name: same[name] for name in same if name not in ("replications", "steps")}
    if asked["combining"] == "none":
        return ""
    return command_line(kind_of("hotspot.critical-queue"), sizes)


def lines(result: HotSpotSimulation) -> list[Any]:
    """Return the figures by stage or by rate, and what was simulated."""
    found = _rates(result) if result.several else _one(result)
    return [*found, *system_of(result), *interruption(result, "finished")]


def system_of(result: Any) -> list[str]:
    """Return what was simulated, whatever was asked of it."""
    asked, network = result.provenance.configuration, result.network
    rate = f", at rate {number(result.asked[0])} a step" if len(result.asked) == 1 else ""
    per_pe = min(2, asked["hot_spots"]) if asked["per_pe"] is None else asked["per_pe"]
    share = "" if asked["hot_fraction"] == 1 else (
        f", with {percent(asked['hot_fraction'])} of its requests"
    )  # fmt: skip
    odds = f", each with probability {number(asked['assign'])}" if asked["assign"] != 1 else ""
    places = ""
    if asked["spacing"] is not None:
        give = f" ± {asked['deviation']}" if asked["deviation"] else ""
        places = f"; spaced by {asked['spacing']}{give}"
    if asked["new"] or asked["remove"]:
        new, gone = number(asked["new"]), number(asked["remove"])
        places += f"; in a step a new one with probability {new}, one gone with {gone}"
    runs = counted(asked["replications"], "replication")
    size = network.switch_size
    return [
        f"[dim]{counted(asked['hot_spots'], 'hot spot')} of {network.pes} memory modules; each "
        f"PE asks for {per_pe}{odds}{rate}{share}, "
        f"{asked['policy']}{places}[/]",
        f"[dim]omega:{network.pes}, {counted(network.stages, 'stage')} of "
        f"{size} × {size} switches, "
        f"{_rules(network, sized=isinstance(result, HotSpotSimulation))}; "
        f"{asked['steps']:,} steps, {runs}, seed {asked['seed']}[/]",
    ]


def _rules(network: CombiningNetwork, *, sized: bool) -> str:
    words = [f"queues {_size(network.queue)}"] if sized else []
    if network.combining == "none":
        words.append("no combining")
    elif sized:
        words.append(f"wait buffers {_size(network.wait_buffer)}")
    unusual = {
        "combining": network.combining not in ("waiting", "none"),
        "order": network.order != "forward",
        "digits": network.digits != "most-significant-first",
        "operation": network.operation != "add",
    }
    words += [f"{name} {getattr(network, name)}" for name in unusual if unusual[name]]
    words += ["unlimited combining"] * (network.unlimited and network.combining != "none")
    if network.service_steps > 1:
        words.append(f"{network.service_steps} steps a request in memory")
    return ", ".join(words) or "combining"


def _size(capacity: int | None) -> str:
    return "unbounded" if capacity is None else f"of {capacity}"


def _one(result: HotSpotSimulation) -> list[Any]:
    """Return mean and maximum of queues and wait buffers, from the PEs to the modules, and more."""
    data, combines = result.to_dict(), result.network.combining != "none"
    note = "Packets in the queues and wait buffers that were used. Combined: share of the requests "
    note += "that come to a stage."
    columns = ["stage", "requests\nmean", "\nmax", "waiting\nmean", "\nmax ", "combined"]
    if not combines:
        note, columns = "Packets in the queues that were used.", columns[:3]
    table = plain_table([*columns, "replies\nmean", "\nmax  "], words=("stage",))

    def cells(queue: dict[str, Any]) -> list[str]:
        return [number(queue["mean"]), number(queue["max"])]

    none = [""] * (3 * combines)
    table.add_row("PEs", *cells(data["pe_queue"]), *none, "", "")
    for stage in data["stages"]:
        waits = [*cells(stage["wait"]), percent(stage["combining_rate"])] if combines else []
        table.add_row(
            str(stage["stage"]), *cells(stage["requests"]), *waits, *cells(stage["replies"])
        )
    table.add_row("modules", "", "", *none, *cells(data["module_queue"]))
    return [table, f"[dim]{note}[/]", "", _figures(data, result)]


def _figures(data: dict[str, Any], result: HotSpotSimulation) -> Table:
    lost = data["discarded"]
    busiest = max(data["hot_spots"], key=lambda each: each["busy"])
    asked = result.provenance.configuration
    answered = f"answered {number(data['finalisation_steps'])} steps after the last was made"
    if result.points[0].interrupted:
        answered = "not all of them answered"
    rows = {
        "throughput": f"{give_or_take(data['throughput'], data['throughput_ci95'])}"
        " requests/PE/step",
        "discarded": f"{percent(lost['full_share'])} find the queue of their PE full",
        "combined": f"{percent(data['combined_share'])} of the requests reach memory in another",
        "busiest module": f"{busiest['module']}: busy {percent(busiest['busy'])} of the time",
        "measured": f"{data['requests']['total']:,} requests, "
        f"{number(data['requests']['mean_per_pe'])} per PE; {answered}; "
        f"{number(data['cpu_seconds'])} CPU s",
    }
    if asked["policy"] == "wait":
        rows["discarded"] += f", {percent(lost['waiting_share'])} await the one before"
    if result.network.combining == "none":
        del rows["combined"]
    elif asked["hot_fraction"] == 1 and busiest["accesses"]:
        stands = busiest["requests"] / busiest["accesses"]
        rows["busiest module"] += f", one access per {number(stands)} requests"
    return pairs(rows)


def _rates(result: HotSpotSimulation) -> list[Any]:
    columns = {
        "rate": "rate", "steps\nmean": "steps_mean", "\n± 95 %": "steps_ci95",
        "\np99": "steps_p99", "\nmax": "steps_max", "throughput": "throughput",
        "queue\nmean": "queue_mean", "\nmax ": "queue_max",
        "wait buffer\nmean": "wait_buffer_mean", "\nmax  ": "wait_buffer_max",
    }  # fmt: skip
    if result.network.combining == "none":
        columns = {name: of for name, of in columns.items() if not of.startswith("wait")}
    lost = ["refused"] + ["waited"] * (result.provenance.configuration["policy"] == "wait")
    verdicts = {True: "", False: "[red]✗ overloaded[/]", None: "[cyan]? too short[/]"}
    rows = [
        LOAD.row(each) | {"said": "? interrupted" if each.interrupted else verdicts[each.stable]}
        for each in result.points
    ]
    shares = dict(zip(lost, lost, strict=True))
    table = figures_table(columns, shares, rows, lambda row: str(row["said"]))
    what = "queues" if result.network.combining == "none" else "queues and wait buffers"
    waited = " Waited: the one before is on its way." if "waited" in lost else ""
    note = (
        f"[dim]{result.network.unhindered_steps} steps in an idle network. Throughput in "
        f"requests/PE/step, {what} in packets (all stages alike). Refused: the queue of its PE is "
        f"full.{waited}[/]"
    )
    return [table, note]
