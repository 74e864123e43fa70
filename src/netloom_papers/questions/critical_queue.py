"""Find, by rate, the largest queue and wait-buffer size that still matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.base.figures import Figures, figure, framed
from netloom.base.progress import counting_runs
from netloom.base.provenance import Provenance
from netloom.base.spec import check_size
from netloom.base.words import counted, number, percent
from netloom.questions import terminal
from netloom.questions.answers import Answer, Verdict
from netloom.questions.base import Question, option
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom_papers.combining.runs import (
    DISCERNIBLE,
    THROUGHPUT,
    CriticalQueue,
    SizeTried,
    critical_queue,
)
from netloom_papers.questions import hotspot

if TYPE_CHECKING:
    import polars as pl


class Search(Figures):
    """A rate, and the search that was made for it."""

    rate: float = figure(unit=THROUGHPUT, key=True)
    found: CriticalQueue = figure(at=".")

    @property
    def sentence(self) -> str:
        """What was found."""
        found = self.found
        if found.interrupted:
            return "Interrupted before the size was found."
        if found.size is None:
            times, runs = (counted(found.runs, what) for what in ("time", "replication"))
            return (
                f"No size suffices at rate {number(self.rate)}: requests pile up even in unbounded "
                f"queues, {times} in {runs}."
            )
        free = found.tried[0]
        same = next((each for each in found.tried if each.size == found.enough), free)
        steps = counted(number(same.steps_mean), "step")
        return f"Build queues of {found.enough} ({steps}, unbounded {number(free.steps_mean)})."


class Tried(Figures):
    """One of the sizes that were tried at a rate."""

    rate: float = figure(unit=THROUGHPUT, lead=True, key=True)
    critical: int | None = figure("critical size", "packets", head="critical", lead=True, key=True)
    tried: SizeTried = figure(at=".")


class CriticalQueues(Answer):
    """What ``find_critical_queue`` found, at one rate or at several, rising."""

    ROWS: ClassVar = Tried

    rates: tuple[Search, ...] = figure()
    interrupted: bool = figure()

    @property
    def of(self) -> str:
        """The hot spots and the network."""
        return hotspot.of_system(self.asked)

    @property
    def sizes(self) -> dict[float, int | None]:
        """The critical size at each rate. None where there is none, or the search was stopped."""
        return {each.rate: each.found.size for each in self.rates}

    def judged(self) -> Verdict:
        """Return the size that suffices at all rates, or at the only one."""
        asked = self.asked
        over = [
            each for each in self.rates if each.found.size is None and not each.found.interrupted
        ]
        sized = [(each.found.size, each) for each in self.rates if each.found.size is not None]
        if not sized and not over:
            runs = counted(asked["replications"], "replication")
            said = f"Interrupted before {runs} of one size could finish: no size is known yet."
            return Verdict("unknown", said, next=self.again())
        if not sized:
            more = 2 * asked["hot_spots"]  # a module is asked less often
            then = self.again(hot_spots=more) if more <= asked["pes"] else ""
            if asked["combining"] == "none":
                then = self.again(combining="waiting")
            return Verdict("act", over[0].sentence, next=then)
        size, need = max(sized, key=lambda each: each[0])
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
        less = next((each for each in need.found.tried if each.size == size), None)
        lines = dict[str, str]()
        if less is not None:
            steps = counted(number(less.steps_mean), "step")
            lines["less"] = (
                f"queues of {less.size}: {steps}, {percent(less.refused)} of the requests "
                f"refused, queues {percent(less.rise)} longer at stage {less.stage}"
            )
        note = (
            f"A size suffices if no stage's mean queue is more than {percent(asked['rise'])} "
            "longer than an unbounded one (median of the replications)."
        )
        if lost := need.found.runs - need.found.stable:
            count = "does not count" if lost == 1 else "do not count"
            note += f" {lost} of {need.found.runs} {count}: "
            note += "requests pile up even in unbounded queues."
        then = self.again() if self.interrupted else ""
        return Verdict(mark, said, lines=lines, next=then, note=note)

    def tried(self) -> list[Tried]:
        """Return each rate and size tried, largest first."""
        return [
            Tried(rate=each.rate, critical=each.found.size, tried=size)
            for each in self.rates
            for size in each.found.tried
        ]

    def table(self) -> pl.DataFrame:
        """Return one row per rate and size tried, largest first."""
        return self._told("table", lambda: framed(Tried, self.tried()))

    def figure_lines(self, width: int = 80) -> list[str]:
        """Return the same."""
        return terminal.table(self.tried(), self, width)

    def remarks(self) -> Iterator[str]:
        """Yield what the rise is, and what was simulated."""
        yield (
            "queues of –: unbounded; rise: how much longer a stage's mean queue of requests is "
            "than an unbounded one (median of the replications)"
        )
        yield from hotspot.system_of(self)

    def footer(self) -> list[str]:
        """Return the network, and the sizes that suffice: one more than the critical ones."""
        suffice = [
            f"{counted(each.found.enough, 'packet')} at rate {number(each.rate)}"
            for each in self.rates
            if each.found.enough is not None
        ]
        return [
            f"{self.of}; least sizes that suffice: {', '.join(suffice) or 'none'}; rates in "
            f"{THROUGHPUT}"
        ]

    def parts(self) -> dict[str, Any]:
        """Return by how much the queue of a stage is longer, and the steps of a request, by size.

        Steps in unbounded queues are lines across.
        """
        import polars as pl

        from netloom.drawing.axes import DOTTED, End, axis, ordered, panel

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
        longer = where.drawn(layers, said)

        known = table.drop_nulls("steps_mean")
        sized, free = known.drop_nulls("size"), known.filter(pl.col("size").is_null())
        values, what = known["steps_mean"].to_list(), "mean steps of a request"
        where = panel(x, axis("steps_mean", what, values, zero=False, whole=False), looks)
        dotted = {name: look._replace(dash=DOTTED, width=1.2) for name, look in looks.items()}
        across = pl.concat(free.with_columns(size=pl.lit(at)) for at in (x.low, x.high))
        layers = where.lines(across, "of", dotted, points=0)
        layers += [*where.lines(sized, "of", looks), *where.ends_of(sized, "of", looks)]
        said = "No request was answered"
        if free.height and sized.height:
            last = sized.sort("rate", "size").row(-1, named=True)
            bare = free.sort("rate")["steps_mean"][-1]
            said = f"A request takes {number(last['steps_mean'])} steps in queues of "
            said += f"{last['size']:.0f}, {number(bare)} in unbounded ones (dotted)"
        return {"rise": longer, "steps": where.drawn(layers, said)}


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


def prepare(question: CriticalQueueQuestion) -> hotspot.PreparedSystem:
    """Return the network, and refuse replications that memory does not hold."""
    rates = hotspot.rates_of(question)
    network = hotspot.network_of(question, None, None)
    per_pe = len(hotspot.traffic_of(question, rates[0], question.seed).assigned[0])
    what = "places for hot spots of PEs in all replications"
    check_size(question.replications * network.pes * per_pe, where="replications", what=what)
    return hotspot.PreparedSystem(network, rates)


@asks(
    CriticalQueueQuestion,
    prepare=prepare,
    title="Search for the critical queue",
    example="netloom hotspot critical-queue --pes 64 --rate 0.1",
    page="combining-network.md",
    sweep="rate",
    outputs=(PLOT,),
)
def find_critical_queue(
    question: CriticalQueueQuestion, ready: hotspot.PreparedSystem
) -> CriticalQueues:
    """Find, by rate, the largest queue and wait-buffer size that still matters.

    "The largest queue size which produces the first discernible degradation of performance as the
    queue size is decreased from infinity" (Rosenblum & Mayr 1986, section 4.3).

    Examples
    --------
    >>> found = find_critical_queue(64, 4, rate=0.1, steps=500, replications=6)
    >>> found.sizes
    {0.1: 2}
    """
    network, rates = ready
    seeds = hotspot.seeds_of(question)
    found: list[Search] = []
    with counting_runs(len(rates), f"critical queue of {counted(question.pes, 'PE')}") as tell:
        for rate in rates:
            traffics = [hotspot.traffic_of(question, rate, seed) for seed in seeds]
            search = critical_queue(
                network, traffics, question.steps, seeds=seeds, rise=question.rise
            )
            found.append(Search(rate=rate, found=search))
            tell(len(found))
            if search.interrupted:
                break
    return CriticalQueues(
        rates=tuple(found),
        interrupted=len(found) < len(rates) or found[-1].found.interrupted,
        provenance=Provenance(question.configuration(), question.seed, verb="find_critical_queue"),
    )
