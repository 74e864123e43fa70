"""What is the smallest size of queues that does no worse than unbounded ones?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from netloom.base.progress import counting_runs
from netloom.base.provenance import Provenance
from netloom.base.spec import check_size
from netloom.base.words import counted, number
from netloom.drawing.axes import axis
from netloom.questions.base import Question, option
from netloom.questions.columns import Column, Columns, asked
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks, command_line, kind_of
from netloom.questions.shown import Verdict, interruption, percent, plain_table
from netloom_papers.combining import critical_queue
from netloom_papers.combining.runs import DISCERNIBLE, CriticalQueue
from netloom_papers.questions.hotspot import question as hotspot
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded
    from netloom_papers.combining import CombiningNetwork, CriticalQueue
    from netloom_papers.combining.runs import SizeTried


class Searched(NamedTuple):
    """A rate, the search that was made for it, and one of the sizes that it tried."""

    rate: float
    search: CriticalQueue
    tried: SizeTried | None = None


SEARCH = Columns(
    hotspot.RATE,
    Column("critical_queue", unit="packets", value="search.size", kind=int),
    Column("runs", value="search.runs", kind=int),
    Column("stable", value="search.stable", kind=int),
    Column("interrupted", value="search.interrupted", kind=bool),
    Column("tried", kind=list, value=lambda each: [asdict(size) for size in each.search.tried]),
)
"""What JSON says of a rate."""


@dataclass(frozen=True, eq=False, repr=False)
class CriticalQueues(Told):
    """What ``find_critical_queue`` found, at one rate or at several.

    Attributes
    ----------
    network
        The network. The sizes of its own queues mean nothing.
    found
        Each rate with the search that was made for it, rising.
    """

    columns: ClassVar = Columns(
        hotspot.RATE,
        Column("critical", "critical size", "packets", "search.size", int, key=True),
        Column("size", "size tried (none: unbounded)", "packets", "tried.size", int, key=True),
        Column("rise", "longest rise of a stage's queue", "", "tried.rise", key=True),
        Column("stage", "at stage", "", "tried.stage", int, key=True),
        Column("steps_mean", "round trip", "steps", "tried.steps_mean", key=True),
        Column("refused", "refused, share", "", "tried.refused"),
    )
    in_json: ClassVar = Columns()
    about: ClassVar = Columns(
        Column("pes", kind=int, value="network.pes"),
        Column("hot_spots", kind=int, value=asked("hot_spots")),
        Column("policy", kind=str, value=asked("policy")),
        Column("requested_steps", kind=int, value=asked("steps")),
        Column("rise", value=asked("rise")),
        Column(
            "rates", kind=list,
            value=lambda answer: [SEARCH.nested(Searched(*each)) for each in answer.found],
        ),
        Column("seed", kind=int, value="provenance.seed"),
        Column("interrupted", kind=bool),
    )  # fmt: skip

    network: CombiningNetwork
    found: tuple[tuple[float, CriticalQueue], ...]
    asked: tuple[float, ...]
    provenance: Provenance

    @property
    def interrupted(self) -> bool:
        """Whether a search was stopped from outside."""
        return len(self.found) < len(self.asked) or any(each.interrupted for _, each in self.found)

    @property
    def sizes(self) -> dict[float, int | None]:
        """The critical size at each rate. None where there is none, or the search was stopped."""
        return {rate: search.size for rate, search in self.found}

    @property
    def table_rows(self) -> list[Searched]:
        """Each rate and size tried, largest first."""
        return [
            Searched(rate, search, tried) for rate, search in self.found for tried in search.tried
        ]


class SearchRuns(Question, panel="Runs"):
    """How many runs are compared, and by what."""

    replications: int = option(
        "Number of runs, each with its seed and hot spots.",
        default=10, ge=1, le=10_000,
    )  # fmt: skip
    rise: float = option(
        "Smallest relative rise of a mean queue that counts.",
        default=DISCERNIBLE, gt=0, le=1000,
    )  # fmt: skip


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
    found: list[CriticalQueue] = []
    with counting_runs(len(rates), f"critical queue of {counted(question.pes, 'PE')}") as tell:
        for rate in rates:
            traffics = [hotspot.traffic_of(question, rate, seed) for seed in seeds]
            found.append(
                critical_queue(network, traffics, question.steps, seeds=seeds, rise=question.rise)
            )
            tell(len(found))
            if found[-1].interrupted:
                break
    return CriticalQueues(
        network=network,
        found=tuple(zip(rates, found, strict=False)),
        asked=rates,
        provenance=Provenance(question.configuration(), question.seed, verb="find_critical_queue"),
    )


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return the size that suffices at all rates, or at the only one."""
    asked, rates = figures["provenance"]["configuration"], figures["rates"]
    kind = kind_of("hotspot.critical-queue")
    of = f"{counted(figures['hot_spots'], 'hot spot')} on omega:{figures['pes']}"
    found = [each for each in rates if each["critical_queue"] is not None]
    over = [each for each in rates if each["critical_queue"] is None and not each["interrupted"]]
    if not found and not over:
        runs = counted(asked["replications"], "replication")
        said = f"Interrupted: no size is known yet, 0 times all {runs} were finished."
        return Verdict("unknown", said, of, next=command_line(kind, asked))
    if not found:
        more = {"hot_spots": 2 * asked["hot_spots"]}  # a module is asked less often
        if asked["combining"] == "none":
            more = {"combining": "waiting"}
        room = more.get("hot_spots", 0) <= asked["pes"]
        then = command_line(kind, asked, **more) if room else ""
        return Verdict("act", sentence_of(over[0]), of, next=then)
    need = max(found, key=lambda each: each["critical_queue"])
    said, mark = sentence_of(need), "fine"
    if over:
        above = number(over[0]["rate"])
        mark, said = "limited", f"{said[:-1]}, for rates below {above}: there requests pile up."
    elif len(found) > 1:
        said = f"{said[:-1]}: enough at all {counted(len(found), 'rate')}."
    below = next((each for each in need["tried"] if each["size"] == need["critical_queue"]), None)
    lines = {}
    if below is not None:
        steps = counted(number(below["steps_mean"]), "step")
        lines["less"] = (
            f"queues of {below['size']}: {steps}, {percent(below['refused'])} of the requests "
            f"refused, queues {percent(below['rise'])} longer at stage {below['stage']}"
        )
    note = (
        f"A size suffices if no stage's mean queue is more than {percent(figures['rise'])} longer "
        "than an unbounded one (median of the replications)."
    )
    if lost := need["runs"] - need["stable"]:
        note += (
            f" {lost} of {need['runs']} do not count: requests pile up even in unbounded queues."
        )
    return Verdict(mark, said, of, lines, note=note)


def sentence_of(search: Mapping[str, Any]) -> str:
    """Return what was found for one rate."""
    if search["interrupted"]:
        return "Interrupted before the size was found."
    size, runs = search["critical_queue"], counted(search["runs"], "replication")
    if size is None:
        return (
            f"No size suffices at rate {number(search['rate'])}: requests pile up even in "
            f"unbounded queues, {search['runs']} times in {runs}."
        )
    free = search["tried"][0]
    same = next((each for each in search["tried"] if each["size"] == size + 1), free)
    steps = counted(number(same["steps_mean"]), "step")
    return f"Build queues of {size + 1} ({steps}, unbounded {number(free['steps_mean'])})."


def lines(result: CriticalQueues) -> list[Any]:
    """Return the sizes that were tried, which of them are critical, and what was simulated."""
    heads = (
        "rate",
        "queues of\n(packets)",
        "rise",
        "at stage",
        "round trip\n(steps)",
        "refused",
        "",
    )
    table = plain_table(heads)
    for row in result.table().to_dicts():
        free = row["size"] is None
        table.add_row(
            number(row["rate"]),
            "unbounded" if free else str(row["size"]),
            "" if free else percent(row["rise"]),
            "" if free else str(row["stage"]),
            number(row["steps_mean"]),
            percent(row["refused"]),
            "critical" if row["size"] == row["critical"] else "",
        )
    note = (
        "[dim]Rise: how much longer a stage's mean queue of requests is than an unbounded one "
        "(median of the replications).[/]"
    )
    found = [table, note] if table.rows else []
    return [*found, *hotspot.system_of(result), *interruption(result, "finished")]


def footer(record: Recorded) -> list[str]:
    """Return the network, and the sizes that suffice: one more than the critical ones."""
    found = record.figures
    suffice = [
        f"{counted(each['critical_queue'] + 1, 'packet')} at rate {number(each['rate'])}"
        for each in found["rates"]
        if each["critical_queue"] is not None
    ]
    return [
        f"{counted(found['hot_spots'], 'hot spot')} on omega:{found['pes']}; least sizes that "
        f"suffice: {', '.join(suffice) or 'none'}; rates in requests/PE/step"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return by how much the queue of a stage is longer, and the steps of a request, by size.

    Steps in unbounded queues are lines across.
    """
    import polars as pl

    from netloom.drawing.axes import DOTTED, End, ordered, panel

    table, least = record.tables["table"].sort("rate", "size"), record.figures["rise"]
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
            said = f"Queues of {min(enough)} make the longest one less than {percent(least)} longer"
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
