"""The answer of ``simulate_hot_spots``: what shared words do to a combining network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from netloom.questions.answers import Answer, Column, Columns, asked, table
from netloom.questions.curve_kind import Axes, CurveKind
from netloom.questions.numbers import known, tidy
from netloom.simulation.intervals import interval_over_runs
from netloom_papers.combining.runs import Replications, Steps
from netloom_papers.questions.hotspot.figures import (
    hot_spots_of,
    queue_figures,
    stage_rows,
    steps_interval,
)
from netloom_papers.questions.hotspot.verdict import sentence_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.questions.recorded import Recorded
    from netloom_papers.combining import CombiningNetwork, CombiningRun


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
