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
from netloom.drawing.axes import Axis, axis
from netloom.drawing.colours import BEST, OTHERS, REFERENCE, THIS
from netloom.drawing.panel import DASHED, Look
from netloom.questions.answers import Answer, Column, Columns, asked, table
from netloom.questions.base import Numbers, Question, option
from netloom.questions.commands import command_line
from netloom.questions.curve_kind import Axes, CurveKind
from netloom.questions.fields import Seeded
from netloom.questions.numbers import known, parse_positive, tidy
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks, kind_of
from netloom.questions.shown import (
    band_named,
    figures_table,
    interruption,
    pairs,
    percent,
    plain_table,
)
from netloom.questions.verdict import Verdict
from netloom.simulation.intervals import interval_over_runs
from netloom.simulation.side_by_side import run_all
from netloom_papers.combining import CombiningNetwork, run_combining
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots
from netloom_papers.combining.network import MOST_STEPS
from netloom_papers.combining.runs import Replications, Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import altair as alt
    import polars as pl
    from rich.table import Table

    from netloom.drawing.frame import Part
    from netloom.drawing.panel import Panel
    from netloom.questions.recorded import Recorded
    from netloom_papers.combining import CombiningRun
    from netloom_papers.combining.runs import QueueLengths
    from netloom_papers.questions.hotspot.critical_queue.question import CriticalQueues


def queue_figures(point: Replications) -> dict[str, Any]:
    """Return the figures of queues and wait buffers: of all together, and by ``stages``."""
    runs, stages = point.runs, point.network.stages
    queue = [_figures(point.queue(level)) for level in range(2 * stages + 2)]
    wait = [_figures(point.wait_pool(stage)) for stage in range(stages)]
    rates = np.array([run.combining_rate for run in runs]).mean(axis=0)
    return {
        "queue": _all([run.mean_queue for run in runs], queue),
        "wait_buffer": _all([run.mean_wait for run in runs], wait),
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


def _all(means: list[float], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of all parts alike, as the tables of the report have it, and the maximum."""
    mean, half = interval_over_runs(means)
    return {"mean": mean, "ci95": known(half), "max": max(part["max"] for part in parts)}


def _figures(found: QueueLengths) -> dict[str, Any]:
    used = int(found.used) if found.used.is_integer() else found.used
    return found._asdict() | {"ci95": known(found.ci95), "used": used}


def hot_spots_of(
    network: CombiningNetwork, runs: Sequence[CombiningRun], seeds: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the hot spots of each run, in the order drawn.

    Requests for one, those that its module executed, each of which stands for all that had
    combined. Both also a step, over all steps of the run, and the part of them in which the
    module was busy.
    """
    found = []
    for run, seed in zip(runs, seeds, strict=True):
        steps = max(run.steps + run.finalisation_steps, 1)
        columns = (run.modules, run.elements, run.requests_to, run.accesses_of)
        for module, elements, requests, accesses in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            found.append(
                {
                    "seed": seed,
                    "module": module,
                    "elements": elements,
                    "requests": requests,
                    "accesses": accesses,
                    "requests_per_step": requests / steps,
                    "accesses_per_step": accesses / steps,
                    "busy": accesses * network.service_steps / steps,
                }
            )
    return found


def steps_interval(run: CombiningRun) -> float | None:
    """Return half the interval of one run's mean steps. None where the mean never settles."""
    return None if run.piles_up else known(run.steps_ci95)


def stage_rows(rate: float, seed: int, run: CombiningRun) -> list[dict[str, Any]]:
    """Return one row per stage and kind of queue of one run."""
    stages = len(run.wait_mean)
    places = [("requests", level - 1) for level in range(stages + 1)]
    places += [("replies", stages - down) for down in range(stages + 1)]
    places += [("waiting", stage) for stage in range(stages)]
    mean = [*run.queue_mean.tolist(), *run.wait_mean.tolist()]
    longest = [*run.queue_max.tolist(), *run.wait_max.tolist()]
    used = [*run.queues_used.tolist(), *run.pools_used.tolist()]
    rates = run.combining_rate.tolist()
    return [
        {
            "rate": rate,
            "seed": seed,
            "kind": kind,
            "stage": stage,
            "mean": mean[row],
            "max": longest[row],
            "used": used[row],
            "combining_rate": rates[stage] if kind == "requests" and stage >= 0 else None,
        }
        for row, (kind, stage) in enumerate(places)
    ]


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
        "Policy of a PE: wait (for its last reply from a hot spot) or no-wait.",
        default="no-wait",
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

    @property
    def sentence(self) -> str:
        """What it comes to, for whoever has to choose the sizes."""
        return sentence_of(self.to_dict())

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
        return {"steps": self.steps()} | queue_figures(self)

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

    def __repr__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"{self.sentence}{note}"

    def steps(self) -> dict[str, Any]:
        """Return the steps that requests took, over those of all runs alike."""
        found, unhindered = self.steps_taken, {"unhindered": self.network.unhindered_steps}
        if found is None:
            return dict.fromkeys(Steps._fields) | unhindered
        half = steps_interval(self.runs[0]) if len(self.runs) == 1 else known(found.ci95)
        return found._asdict() | {"ci95": half} | unhindered


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
    Column(
        "hot_spots", kind=list, table=False,
        value=lambda load: hot_spots_of(load.network, load.runs, load.seeds),
    ),
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


@dataclass(frozen=True, eq=False, kw_only=True)
class HotSpotSimulation(Answer):
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
        return STAGES.frame_of([row for each in self.table_rows for row in stage_rows(*each)])

    def __repr__(self) -> str:
        hot_spots = self.provenance.configuration["hot_spots"]
        head = f"{hot_spots} hot spots of omega:{self.network.pes}"
        lines = [f"<{head}; {self.origin}>", *map(repr, self.points)]
        return "\n".join(lines)


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
        "Size of each wait buffer: a number of packets, unbounded, or as-queue.",
        default=AS_QUEUE,
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
    runs = [partial(_run, question, network, *job) for job in jobs]
    with counting_runs(len(jobs), f"hot spots on omega:{question.pes}") as tell:
        found = run_all(runs, tell=tell)
    return HotSpotSimulation(
        network=network,
        points=_points(network, rates, seeds, found),
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


def _run(
    question: HotSpotQuestion,
    network: CombiningNetwork,
    rate: float,
    seed: int,
    stopped: Callable[[], bool],
) -> CombiningRun:
    traffic = traffic_of(question, rate, seed)
    return run_combining(network, traffic, question.steps, seed=seed, stopped=stopped)


def _points(
    network: CombiningNetwork,
    rates: Sequence[float],
    seeds: Sequence[int],
    found: Sequence[CombiningRun],
) -> tuple[HotSpotLoad, ...]:
    """Put runs to their rates: those that are finished, or all where none of a rate is."""
    points = []
    for place, rate in enumerate(rates):
        of_rate = found[place * len(seeds) : (place + 1) * len(seeds)]
        with_seeds = list(zip(of_rate, seeds, strict=False))
        finished = [each for each in with_seeds if not each[0].interrupted]
        if kept := finished or [each for each in with_seeds if each[0].steps]:
            runs, own = zip(*kept, strict=True)
            points.append(HotSpotLoad(network, runs, own, rate=rate))
    return tuple(points)


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
        point, mark, said = points[0], mark_of(points[0]), sentence_of(points[0])
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


def mark_of(point: Mapping[str, Any]) -> str:
    """Return the mark of one rate."""
    if point["steps"]["mean"] is None:
        return "unknown"
    return {True: "fine", False: "act", None: "unknown"}[point["stable"]]


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
    found = _rates(result) if len(result.asked) > 1 or not result.points else _one(result)
    return [*found, *system_of(result), *interruption(result, "finished")]


def system_of(result: HotSpotSimulation | CriticalQueues) -> list[str]:
    """Return what was simulated, whatever was asked of it."""
    asked, network = result.provenance.configuration, result.network
    rate = f", at rate {number(result.asked[0])} a step" if len(result.asked) == 1 else ""
    per_pe = min(2, asked["hot_spots"]) if asked["per_pe"] is None else asked["per_pe"]
    share = "" if asked["hot_fraction"] == 1 else (
        f", with {percent(asked['hot_fraction'])} of its requests"
    )  # fmt: skip
    runs = counted(asked["replications"], "replication")
    size = network.switch_size
    return [
        f"[dim]{counted(asked['hot_spots'], 'hot spot')} of {network.pes} memory modules; each "
        f"PE asks for {per_pe}{_odds(asked['assign'])}{rate}{share}, "
        f"{asked['policy']}{_places(asked)}[/]",
        f"[dim]omega:{network.pes}, {counted(network.stages, 'stage')} of "
        f"{size} × {size} switches, "
        f"{_rules(network, sized=isinstance(result, HotSpotSimulation))}; "
        f"{asked['steps']:,} steps, {runs}, seed {asked['seed']}[/]",
    ]


def _odds(assign: float) -> str:
    return "" if assign == 1 else f", each with probability {number(assign)}"


def _places(asked: Mapping[str, Any]) -> str:
    """Say where hot spots are, if not at random, and how they come and go."""
    words = ""
    if asked["spacing"] is not None:
        give = f" ± {asked['deviation']}" if asked["deviation"] else ""
        words += f"; spaced by {asked['spacing']}{give}"
    if asked["new"] or asked["remove"]:
        new, gone = number(asked["new"]), number(asked["remove"])
        words += f"; in a step a new one with probability {new}, one gone with {gone}"
    return words


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
    data = result.to_dict()
    note = "Packets in the queues and wait buffers that were used. Combined: share of the requests "
    note += "that come to a stage."
    if result.network.combining == "none":
        note = "Packets in the queues that were used."
    return [_stages(result.points[0], data), f"[dim]{note}[/]", "", _figures(data, result)]


def _stages(point: HotSpotLoad, data: dict[str, Any]) -> Table:
    """Return mean and maximum of queues and wait buffers, from the PEs to the modules."""
    combines = point.network.combining != "none"
    columns = ["stage", "requests\nmean", "\nmax", "waiting\nmean", "\nmax ", "combined"]
    if not combines:
        columns = columns[:3]
    table = plain_table([*columns, "replies\nmean", "\nmax  "], words=("stage",))

    def cells(queue: dict[str, Any] | None) -> list[str]:
        return ["", ""] if queue is None else [number(queue["mean"]), number(queue["max"])]

    none = ["", "", ""] if combines else []
    table.add_row("PEs", *cells(data["pe_queue"]), *none, *cells(None))
    for stage in data["stages"]:
        waits = [*cells(stage["wait"]), percent(stage["combining_rate"])] if combines else []
        table.add_row(
            str(stage["stage"]), *cells(stage["requests"]), *waits, *cells(stage["replies"])
        )
    table.add_row("modules", *cells(None), *none, *cells(data["module_queue"]))
    return table


def _figures(data: dict[str, Any], result: HotSpotSimulation) -> Table:
    lost = data["discarded"]
    busiest = max(data["hot_spots"], key=lambda each: each["busy"])
    asked = result.provenance.configuration
    answered = f"answered {number(data['finalisation_steps'])} steps after the last was made"
    if result.points[0].interrupted:
        answered = "not all of them answered"
    rows = {
        "throughput": f"{_interval({'mean': data['throughput'], 'ci95': data['throughput_ci95']})}"
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


def _interval(figure: dict[str, Any]) -> str:
    return give_or_take(figure["mean"], figure["ci95"])


REQUESTS, REPLIES, WAITING = "requests", "replies", "wait buffers"

KINDS = {
    "requests": (REQUESTS, Look(THIS)),
    "replies": (REPLIES, Look(BEST, DASHED)),
    "waiting": (WAITING, Look(OTHERS[0], (10, 3, 2, 3))),
}
"""What queues and wait buffers hold, and how that looks."""

QUEUES = {REQUESTS: "Queues of requests", REPLIES: "Queues of replies", WAITING: "Wait buffers"}
"""The same at the beginning of a sentence."""

PES, MODULES = "PEs", "MMs"
STAGE = "stage, from processors (PEs) to memory (MMs)"
LENGTH, MOST = "mean length (packets)", "most packets ever held"
RATE = "rate (requests/PE/step)"
WIDTH, HEIGHT = 400.0, 300.0
MOST_TICKS = 12
"""Named stages at most."""
ROW = 24.0


def footer(record: Recorded) -> list[str]:
    """Return the network and its hot spots, and how long it ran."""
    asked, found = record.configuration, record.figures
    capacity, rates = found["capacity"], found["asked"]
    sizes = {"queues": capacity["queue"], "wait buffers": capacity["wait_buffer"]}
    if found["combining"] == "none":
        del sizes["wait buffers"]
    said = [asked["policy"], f"combining {found['combining']}"]
    said += [f"{what} {'unbounded' if size is None else f'of {size}'}"
             for what, size in sizes.items()]  # fmt: skip
    lines = [
        f"{counted(asked['hot_spots'], 'hot spot')} on omega:{found['pes']}; {', '.join(said)}; "
        f"{asked['steps']:,} steps"
    ]
    if len(rates) == 1:
        runs = asked["replications"]
        band = f"; bands: from the least to the most of {runs} replications" if runs > 1 else ""
        lines.append(f"rate {number(rates[0])} requests/PE/step{band}")
    return lines


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of hot spots, by name."""
    import polars as pl

    if len(record.figures["asked"]) == 1:
        return {"stages": queues_by_stage(record), "longest": longest_by_stage(record)}
    kinds = ("requests", "replies" if record.figures["combining"] == "none" else "waiting")
    drawn: dict[str, Part] = {"steps": steps_by_rate(record)}
    stages = record.tables["stages"].filter(pl.col("kind").is_in(kinds))
    means = stages.group_by("rate", "kind", "stage").agg(pl.col("mean").mean())["mean"]
    most = float(means.max() or 0.0) or 1.0  # type: ignore[arg-type]
    return drawn | {kind: queues_by_rate(record, kind, most) for kind in kinds}


def arranged(record: Recorded) -> list[Part]:
    """Return the parts side by side. The queues of several rates are below each other."""
    from netloom.drawing.frame import column

    first, *others = parts(record).values()
    if len(record.figures["asked"]) == 1:
        return [first, *others]
    return [first, column(*others)]


def queues_by_stage(record: Recorded) -> alt.LayerChart:
    """Return mean lengths of queues and wait buffers by stage, with the range over replications."""
    import polars as pl

    from netloom.drawing.panel import panel

    table, looks = _stages(record)
    top = table.sort("length").row(-1, named=True)
    where = panel(
        stage_axis(table["stage"].to_list(), _modules(record)),
        axis("length", LENGTH, table["high"].to_list(), whole=False),
        looks, WIDTH, HEIGHT,
    )  # fmt: skip
    layers: list[alt.Chart] = []
    for name, look in looks.items():
        mine = table.filter(of=name).with_columns(length=pl.col("low"))
        if (mine["high"] > mine["low"]).any():
            band = where.chart(mine, y2="high:Q")
            layers.append(band.mark_area(color=str(look.colour), opacity=0.16))
    layers += [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    said = "No packet waited in a queue or a wait buffer"
    if top["length"]:
        long = counted(number(top["length"]), "packet")
        said = f"{QUEUES[top['of']]} are longest at {top['where']}: {long} on average"
    return where.drawn(layers, said)


def longest_by_stage(record: Recorded) -> alt.LayerChart:
    """Return the most that a queue or wait buffer of each stage ever held."""
    import polars as pl

    from netloom.drawing.panel import panel

    table, looks = _stages(record)
    table = table.with_columns(length=pl.col("max"))
    where = panel(
        stage_axis(table["stage"].to_list(), _modules(record)),
        axis("length", MOST, table["length"].to_list(), whole=True),
        looks, WIDTH, HEIGHT,
    )  # fmt: skip
    layers = [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    most = counted(int(table["length"].max() or 0), "packet", ",")  # type: ignore[arg-type]
    return where.drawn(layers, f"No queue or wait buffer ever held more than {most}")


def _stages(record: Recorded) -> tuple[pl.DataFrame, dict[str, Look]]:
    """Return the queues that there are, by kind and stage over replications, and their looks."""
    import polars as pl

    table = record.tables["stages"].group_by("kind", "stage", maintain_order=True).agg(
        length=pl.col("mean").mean(), low=pl.col("mean").min(), high=pl.col("mean").max(),
        max=pl.col("max").max(),
    )  # fmt: skip
    combining = record.figures["combining"] != "none"
    shown = {kind: said for kind, said in KINDS.items() if kind != "waiting" or combining}
    table = table.filter(pl.col("kind").is_in(list(shown))).sort("kind", "stage")
    names = {kind: name for kind, (name, _) in shown.items()}
    modules = _modules(record)
    return table.with_columns(
        of=pl.col("kind").replace_strict(names, return_dtype=pl.String),
        where=pl.col("stage").map_elements(
            lambda stage: _place(stage, modules), return_dtype=pl.String),
    ), dict(shown.values())  # fmt: skip


def _modules(record: Recorded) -> int:
    """Return the number that stands for the modules, behind the last stage."""
    return int(record.figures["network_stages"])


def stage_axis(stages: list[int], modules: int) -> Axis:
    """Return the axis of the elements, the stages and the modules, of which some are named."""
    first, last = min(stages, default=0), max(stages, default=1)
    places = list(range(first, last + 1))
    every = -(-(len(places) - 1) // (MOST_TICKS - 1)) or 1
    named = [*places[:-1:every], last] if len(places) > 1 else places
    if len(named) > 1 and named[-1] - named[-2] < every:
        del named[-2]
    labels = [_label(stage, modules) for stage in named]
    return Axis("stage", STAGE, first - 0.2, last + 0.2, whole=True, marks=tuple(named),
                names=tuple(labels))  # fmt: skip


def steps_by_rate(record: Recorded) -> alt.LayerChart:
    """Return the steps of a request by rate: their mean, and what 99 % stay below."""
    from netloom.drawing.panel import DASHED, DOTTED, End, Look, panel

    looks = {"p99": Look(THIS, DASHED, 1.6), "mean": Look(THIS)}
    names = {"steps_mean": "mean", "steps_p99": "p99"}
    table = record.tables["rates"]
    tidy = (
        table.rename(names)
        .unpivot(list(names.values()), index="rate", variable_name="of", value_name="steps")
        .drop_nulls("steps")
        .sort("rate")
    )
    least = record.figures["unhindered_steps"]
    idle = f"idle {number(least)}"
    where = panel(
        axis("rate", RATE, table["rate"].to_list()),
        axis("steps", "steps of a request", [*tidy["steps"].to_list(), least], whole=False),
        [*looks, idle], 300, HEIGHT,
    )  # fmt: skip
    ends = [End(idle, where.x.high, least, REFERENCE, DOTTED)]
    layers = [
        *_behind(record, where),
        *where.across(least, Look(REFERENCE, DOTTED)),
        *where.lines(tidy, "of", looks),
        *where.ends_of(tidy, "of", looks, ends),
    ]
    mean = table.drop_nulls("steps_mean").sort("rate")
    said = "No request was answered"
    if mean.height:
        at = number(mean["rate"][-1])
        said = f"A request takes {number(mean['steps_mean'][-1])} steps at rate {at}"
    return where.drawn(layers, said)


def queues_by_rate(record: Recorded, kind: str, most: float) -> alt.LayerChart:
    """Return mean lengths by stage and rate as colors, and the most of each rate in numbers.

    The last color is that of the length ``most``.
    """
    import altair as alt
    import polars as pl

    from netloom.drawing.frame import layered
    from netloom.drawing.line_names import GAP
    from netloom.drawing.networks.letters import width_of
    from netloom.drawing.panel import BESIDE, words
    from netloom.drawing.room import NARROW, room

    modules = _modules(record)
    stages = record.tables["stages"].filter(kind=kind)
    table = stages.group_by("rate", "stage", maintain_order=True).agg(
        length=pl.col("mean").mean(), max=pl.col("max").max()
    )
    rates = sorted(set(table["rate"].to_list()), reverse=True)
    along = stage_axis(record.tables["stages"]["stage"].to_list(), modules)
    texts = []
    for at, rate in enumerate(rates):
        rows = table.filter(rate=rate).sort("length")
        mine, longest = rows.row(-1, named=True), rows["max"].max()
        wide = f" at {_place(mine['stage'], modules)}" * (room() > NARROW)
        said = f"{number(mine['length'])}{wide}, max {number(longest)}"
        texts.append((ROW * (at + 0.5), said))
    beside = max(width_of(said) for _, said in texts) + GAP
    width = max(120.0, min(330.0, room() - BESIDE - beside))
    cells = table.with_columns(
        rate=pl.format("rate {}", pl.col("rate").map_elements(number, return_dtype=pl.String)),
        stage=pl.col("stage") - 0.5, until=pl.col("stage") + 0.5,
    )  # fmt: skip
    x = Axis("stage", STAGE, along.low - 0.3, along.high + 0.3, marks=along.marks,
             names=along.names)  # fmt: skip
    colour = alt.Color(
        "length:Q", title=LENGTH,
        scale=alt.Scale(range="heatmap", interpolate="rgb", domain=[0, most]),
        legend=alt.Legend(orient="bottom", gradientLength=160, values=[0, most],
                          format=".3~g"),
    )  # fmt: skip
    names = [f"rate {number(rate)}" for rate in rates]
    drawn = alt.Chart(cells).mark_rect().encode(
        x=x.encoding(alt.X, grid=False), x2="until:Q",
        y=alt.Y("rate:N", title=None, sort=names), color=colour,
        tooltip=["rate", "length", "max"],
    )  # fmt: skip
    top = table.sort("length").row(-1, named=True)
    mark = (
        alt.Chart(_cell(cells, top["length"]))
        .mark_rect(style="network-mark", filled=False)
        .encode(x=x.encoding(alt.X, grid=False), x2="until:Q", y=alt.Y("rate:N", sort=names))
    )
    layers = [drawn, mark, *words([(width + GAP, y, said) for y, said in texts])]
    whose = QUEUES[KINDS[kind][0]]
    said = f"{whose} are longest at {_place(top['stage'], modules)}: "
    said += f"{counted(number(top['length']), 'packet')} at rate {number(top['rate'])}"
    said = said if top["length"] else f"{whose} stay empty: 0 packets on average"
    return layered(layers, said, width, ROW * len(rates), beside)


def _cell(cells: pl.DataFrame, longest: float) -> pl.DataFrame:
    """Return the place of the longest queue, or none if nothing waits."""
    import polars as pl

    found = cells.filter((pl.col("length") == longest) & (pl.col("length") > 0)).head(1)
    return found.select("rate", "stage", "until")


def _behind(record: Recorded, where: Panel) -> list[alt.Chart]:
    """Return the interval of rates in which the network saturates, if it does."""
    import polars as pl

    rates = record.tables["rates"].sort("rate")
    first = rates.filter(~pl.col("stable"))["rate"].min()
    if first is None:
        return []
    carried = rates.filter(pl.col("stable") & (pl.col("rate") < first))["rate"].max()
    low, high = float(carried or 0.0), float(first)  # type: ignore[arg-type]
    return [*where.band(low, high), *where.above({band_named("saturates", low, high): (low, high)})]


def _label(stage: int, modules: int) -> str:
    return PES if stage < 0 else MODULES if stage == modules else str(stage)


def _place(stage: int, modules: int) -> str:
    """Return a stage in a sentence."""
    named = _label(stage, modules)
    return f"stage {named}" if named.isdigit() else f"the {named}"


PART_TITLES = {"stages": "Queues by stage", "longest": "The most ever held"}
"""What parts are called that have no title of their own."""
