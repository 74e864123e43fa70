"""Find, by rate, the largest queue and wait-buffer size that still matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from netloom.base.arrays import Floats
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, derived, figure
from netloom.base.progress import counting_runs
from netloom.base.provenance import Provenance
from netloom.base.words import counted, number, percent
from netloom.questions import terminal
from netloom.questions.answers import Verdict
from netloom.questions.base import Question, option
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom_papers.combining.network import BATCHES, THROUGHPUT, CombiningNetwork, CombiningRun
from netloom_papers.questions import hotspot

DISCERNIBLE = 0.1
"""Rise of a stage's mean queue that counts as one. The report judged by eye. Between 0.07 and 0.34
all give its sizes."""

LEAST_STEPS = 2 * BATCHES
"""Half of a run may be start-up. The rest has to fill the batches that tell whether it keeps up."""


class SizeTried(Figures):
    """What queues and wait pools of a size do to the mean queues of requests.

    Attributes
    ----------
    size
        Packets that each queue, and each wait pool, holds. None: any number.
    rise
        Relative growth of the mean queue of requests behind a stage, compared with unbounded
        queues. It is that of the stage where the queue grows most, and the median over all runs.
    stage
        That stage, in the run with the median rise.
    steps_mean
        Mean steps of a request, averaged over all runs.
    refused
        Requests that found the queue of their element full, of all that were made or refused.
    """

    size: int | None = figure(
        "size tried (none: unbounded)", "packets", head="queues of", lead=True, key=True
    )
    rise: float = figure("longest rise of a stage's queue", SHARE, head="rise", lead=True, key=True)
    stage: int = figure("at stage", lead=True, key=True)
    steps_mean: float = figure("round trip", "steps", lead=True, key=True)
    refused: float = figure("refused", SHARE, lead=True)


class Search(Figures):
    """The largest queue size that shows at a rate, and how it was found.

    Attributes
    ----------
    size
        Critical size; 0 if even queues for one packet do not show, None if no run keeps up with
        its requests even where queues are unbounded, or it was interrupted.
    tried
        Sizes tried, largest first. The first is unbounded. The critical one is among them, and the
        next larger one unless no queue ever was as long.
    runs, stable
        Runs of each size, and those of them that count: which keep up with unbounded queues.
    interrupted
        Whether it was stopped from outside.
    """

    rate: float = figure(unit=THROUGHPUT, key=True)
    size: int | None = figure("critical size", "packets", at="critical_queue")
    runs: int = figure()
    stable: int = figure()
    interrupted: bool = figure()
    tried: tuple[SizeTried, ...] = figure()

    @derived("least size that suffices", "packets")
    def enough(self) -> int | None:
        """One more than the critical size."""
        return None if self.size is None else self.size + 1

    @property
    def sentence(self) -> str:
        """What was found, unless it was interrupted."""
        if self.size is None:
            times, runs = (counted(self.runs, what) for what in ("time", "replication"))
            return (
                f"No size suffices at rate {number(self.rate)}: requests pile up even in unbounded "
                f"queues, {times} in {runs}."
            )
        free = self.tried[0]
        same = next((each for each in self.tried if each.size == self.enough), free)
        steps = counted(number(same.steps_mean), "step")
        return f"Build queues of {self.enough} ({steps}, unbounded {number(free.steps_mean)})."


class Tried(Figures):
    """One of the sizes that were tried at a rate."""

    rate: float = figure(unit=THROUGHPUT, lead=True, key=True)
    critical: int | None = figure("critical size", "packets", head="critical", lead=True, key=True)
    tried: SizeTried = figure(at=".")


class CriticalQueues(hotspot.OfSystem):
    """What ``find_critical_queue`` found, at one rate or at several, rising."""

    ROWS: ClassVar = Tried

    rates: tuple[Search, ...] = figure()
    interrupted: bool = figure()

    @property
    def sizes(self) -> dict[float, int | None]:
        """The critical size at each rate. None where there is none, or the search was stopped."""
        return {each.rate: each.size for each in self.rates}

    def judged(self) -> Verdict:
        """Return the size that suffices at all rates, or at the only one."""
        asked = self.asked
        over = [each for each in self.rates if each.size is None and not each.interrupted]
        sized = [each for each in self.rates if each.size is not None]
        if not sized and not over:
            runs = counted(asked["replications"], "replication")
            said = f"Interrupted before {runs} of one size could finish: no size is known yet."
            return Verdict("unknown", said, next=self.again())
        if not sized:
            return Verdict("act", over[0].sentence, next=self.relieved())
        need = max(sized, key=lambda each: each.size or 0)
        said, mark = need.sentence, "fine"
        if over:
            below = f"for rates below {number(over[0].rate)}, at which requests pile up"
            mark, said = "limited", f"{said[:-1]}, {below}."
        elif self.interrupted:
            said = f"{said[:-1]}: enough at {counted(len(sized), 'rate')}."
        elif len(sized) > 1:
            said = f"{said[:-1]}: enough at all {counted(len(sized), 'rate')}."
        if self.interrupted:
            mark, said = "unknown", f"Interrupted before all rates were tried. {said}"
        less = next((each for each in need.tried if each.size == need.size), None)
        lines = dict[str, str]()
        if less is not None:
            steps = counted(number(less.steps_mean), "step")
            refused = f"{percent(less.refused)} of the requests refused"
            longer = f"queues {percent(less.rise)} longer at stage {less.stage}"
            lines["less"] = f"queues of {less.size}: {steps}, {refused}, {longer}"
        note = (
            f"A size suffices if no stage's mean queue is more than {percent(asked['rise'])} "
            "longer than an unbounded one (median of the replications)."
        )
        if lost := need.runs - need.stable:
            count = "does not count" if lost == 1 else "do not count"
            note += f" {lost} of {need.runs} {count}: "
            note += "requests pile up even in unbounded queues."
        then = self.again() if self.interrupted else ""
        return Verdict(mark, said, lines=lines, next=then, note=note)

    @property
    def rows(self) -> list[Tried]:
        """Each rate and size tried, largest first."""
        return [
            Tried(rate=each.rate, critical=each.size, tried=size)
            for each in self.rates
            for size in each.tried
        ]

    def figure_lines(self, width: int) -> list[str]:
        """Return a table of these."""
        return terminal.table(self.rows, self, width)

    def remarks(self) -> Iterator[str]:
        """Yield what the rise is, and what was simulated."""
        yield (
            "queues of –: unbounded; rise: how much longer a stage's mean queue of requests is "
            "than an unbounded one (median of the replications)"
        )
        yield from super().remarks()

    def footer(self) -> list[str]:
        """Return the network, and the sizes that suffice: one more than the critical ones."""
        suffice = [
            f"{counted(each.enough, 'packet')} at rate {number(each.rate)}"
            for each in self.rates
            if each.enough is not None
        ]
        least = f"least sizes that suffice: {', '.join(suffice) or 'none'}"
        return [f"{self.of}; {least}; rates in {THROUGHPUT}"]

    def parts(self) -> dict[str, Any]:
        """Return by how much the queue of a stage is longer, by size."""
        import polars as pl

        from netloom.drawing.axes import End, axis, ordered, panel

        table, least = self.table().sort("rate", "size"), self.asked["rise"]
        rates = table["rate"].unique(maintain_order=True).to_list()
        names = {rate: f"rate {number(rate)}" for rate in rates}
        table = table.with_columns(of=pl.col("rate").replace_strict(names, return_dtype=pl.String))
        looks = ordered(list(names.values()))
        x = axis("size", "queue size (packets)", table["size"].to_list(), whole=True)

        sized, name = table.drop_nulls(["size", "rise"]), f"critical {percent(least)}"
        what = "longest queue, longer than if unbounded by"
        y = axis("rise", what, [*sized["rise"].to_list(), least], share=True, full=False)
        where = panel(x, y, [*looks, name])
        layers = [*where.across(least), *where.lines(sized, "of", looks)]
        layers += where.ends_of(sized, "of", looks, [End.of_bound(name, x.high, least)])
        said = "No queue is known to be longer than if unbounded"
        if sized.height:
            tried = sized.select("size", "rise").rows()
            critical = max((size for size, rise in tried if rise >= least), default=0)
            enough = [size for size, _ in tried if size > critical]
            size, rise = max(tried, key=lambda each: each[1])
            said = f"Queues of {size} make the longest one {percent(rise)} longer"
            if enough:
                less = f"less than {percent(least)} longer"
                said = f"Queues of {min(enough)} make the longest one {less}"
        return {"rise": where.drawn(layers, said)}


class SearchRuns(Question, panel="Runs"):
    """How many runs are compared, and by what."""

    replications: int = option(
        "Number of runs, each with its seed and hot spots.", default=10, ge=1, le=10_000
    )
    rise: float = option(
        "Smallest relative rise of a mean queue that counts.", default=DISCERNIBLE, gt=0, le=1000
    )


class CriticalQueueQuestion(SearchRuns, hotspot.HotSpotSystem):
    """The largest queues that do worse than unbounded ones."""


@asks(
    CriticalQueueQuestion,
    prepare=hotspot.prepare,
    title="Search for the critical queue",
    example="netloom hotspot critical-queue --pes 64 --rate 0.1",
    page="combining-network.md",
    sweep="rate",
    outputs=(PLOT,),
)
def find_critical_queue(question: CriticalQueueQuestion, ready: hotspot.Prepared) -> CriticalQueues:
    """Find, by rate, the largest queue and wait-buffer size that still matters.

    "The largest queue size which produces the first discernible degradation of performance as the
    queue size is decreased from infinity" (Rosenblum & Mayr 1986, section 4.3).

    Examples
    --------
    >>> found = find_critical_queue(64, 4, rate=0.1, steps=500, replications=6)
    >>> found.sizes
    {0.1: 2}
    """
    if question.steps < LEAST_STEPS:
        wanted = f"at least {LEAST_STEPS}, to tell whether requests pile up"
        raise InputError("steps", f"{question.steps}", wanted)
    network, rates = ready
    found: list[Search] = []
    with counting_runs(len(rates), f"critical queue of {counted(question.pes, 'PE')}") as tell:
        for rate in rates:
            found.append(_search(question, network, rate))
            tell(len(found))
            if found[-1].interrupted:
                break
    return CriticalQueues(
        rates=tuple(found),
        interrupted=len(found) < len(rates) or found[-1].interrupted,
        provenance=Provenance(question.configuration(), question.seed, verb="find_critical_queue"),
    )


def _search(question: CriticalQueueQuestion, network: CombiningNetwork, rate: float) -> Search:
    """Find the critical size at a rate, by bisection.

    Each step simulates the same requests with queues and wait pools of one size. A size degrades
    performance if the median run's mean queue of requests behind some stage is longer by more than
    ``rise``. If requests pile up even in unbounded queues there is no critical size, so runs
    that do not keep up with these are left out. If no queue was ever longer than a size, that size
    counts as good without being tried.
    """

    def sized(size: int | None, seeds: Sequence[int]) -> tuple[list[CombiningRun], bool]:
        limited = replace(network, queue=size, wait_buffer=size)
        return hotspot.runs_of(question, limited, [(rate, seed) for seed in seeds])

    seeds, tried = hotspot.seeds_of(question), list[SizeTried]()
    runs, interrupted = sized(None, seeds)
    free, bad = [run for run in runs if run.stable], 0
    if free and not interrupted:
        tried.append(_compared(None, free, free))
        good = max(int(max(run.queue_max.max(), run.wait_max.max())) for run in free)
        while good - bad > 1:
            size = (good + bad) // 2
            tight, interrupted = sized(size, [run.seed for run in free])
            if interrupted:
                break
            tried.append(_compared(size, tight, free))
            good, bad = (good, size) if tried[-1].rise > question.rise else (size, bad)
    tried.sort(key=lambda each: -np.inf if each.size is None else -each.size)
    return Search(
        rate=rate,
        size=bad if free and not interrupted else None,
        runs=len(seeds),
        stable=len(free),
        interrupted=interrupted,
        tried=tuple(tried),
    )


def _compared(
    size: int | None, tight: Sequence[CombiningRun], free: Sequence[CombiningRun]
) -> SizeTried:
    """Return what queues of a size do, of runs of the same requests in these and in unbounded."""

    def request_queues(runs: Sequence[CombiningRun]) -> Floats:
        """Return the mean queues of requests behind each stage, by run."""
        return np.array([run.queue_mean[1 : len(run.wait_mean) + 1] for run in runs])

    rises, usual = request_queues(tight), request_queues(free)
    rises = np.divide(rises, usual, out=np.ones_like(rises), where=usual > 0) - 1
    most = rises.max(axis=1)
    middle = int(np.argsort(most)[len(most) // 2])
    asked = sum(run.requests + run.discarded_full for run in tight)
    steps = float(np.mean([run.steps_mean for run in tight]))
    refused = sum(run.discarded_full for run in tight) / max(asked, 1)
    rise, stage = float(np.median(most)), int(rises[middle].argmax())
    return SizeTried(size=size, rise=rise, stage=stage, steps_mean=steps, refused=refused)
