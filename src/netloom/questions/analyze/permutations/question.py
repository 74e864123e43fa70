"""``analyze permutations``: how random permutations load a network, in the mean and at worst."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.spec import whole_number
from netloom.base.words import counted, number
from netloom.bounds import all_to_all, cuts_of
from netloom.contention import effective_bisection, shift_loads
from netloom.contention.permutations import MOST_EXPECTED, MOST_PAIRS
from netloom.mapping.allocation import allocated_hosts
from netloom.questions.analyze.words import CLOSE
from netloom.questions.base import option
from netloom.questions.columns import Column, Columns, table
from netloom.questions.fields import BrokenParts, NodeList, OnNetwork, PathRouting, Seeded, refuse
from netloom.questions.named import network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import Answer, asks, command_line, kind_of
from netloom.questions.shown import Verdict, percent, plain_table, short_name
from netloom.routing import Routing, parse_routing
from netloom.topology import Topology
from netloom.topology.faults import working_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.contention import EffectiveBisection, Shifts

    Figures = Mapping[str, Any]


SHIFTS = Columns(
    Column("distance", kind=int),
    Column("largest_load", "paths on the busiest channel between routers", kind=Real),
    Column("longest_time", "the same over bandwidth"),
)


MATCHINGS = Columns(
    Column("matching", kind=int),
    Column("share", "mean share of its pairs", "share of a host's"),
)


def _shift(part: str, **more: Any) -> Column:
    return Column(f"shifts_{part}", value=f"of_shifts.{part}", json=f"shifts.{part}", **more)


def _all_to_all(part: str, **more: Any) -> Column:
    return Column(f"all_to_all_{part}", value=f"of_all.{part}", json=f"all_to_all.{part}", **more)


@dataclass(frozen=True, eq=False)
class PermutationAnalysis(Answer):
    """How a network bears permutations of its hosts.

    Attributes
    ----------
    topology, routing, hosts
        What was asked about, and how many hosts take part.
    bisection
        What pairs get in random matchings of random halves. None if not asked for.
    shifts
        What each shift loads. None if there are too many hosts, or none was asked for.
    all_shifts
        Whether these are all shifts, which together are an all-to-all.
    bound
        What no routing can beat in an all-to-all, in channel time. None where it is not known.
    left_out
        What is not known, and why. None where all is.
    """

    topology: Topology
    routing: str
    hosts: int
    bisection: EffectiveBisection | None
    shifts: Shifts | None
    all_shifts: bool
    bound: float | None
    left_out: str | None
    provenance: Provenance

    columns: ClassVar = Columns(
        Column(
            "effective_bisection_mean", "effective bisection bandwidth", "share of a host's",
            value=lambda found: found.bisection and found.bisection.mean, key=True,
            json="effective_bisection.mean",
        ),
        Column("effective_bisection_ci", kind=list, value="interval", json="effective_bisection.ci",
               table=False),
        Column("effective_bisection_least", "of the worst matching",
               value=lambda found: found.bisection and found.bisection.least,
               json="effective_bisection.least"),
        Column("effective_bisection_samples", kind=int,
               value=lambda found: found.bisection and found.bisection.samples,
               json="effective_bisection.samples"),
        _shift("count", kind=int),
        _shift("max", title="paths on the busiest channel, worst shift", kind=Real, key=True),
        _shift("mean", title="the same, mean of all shifts", key=True),
        _shift("worst", title="the worst shift", kind=int),
        _all_to_all("max", title="all-to-all: paths on the busiest channel", kind=Real, key=True),
        _all_to_all("mean", title="all-to-all: mean channel"),
        _all_to_all("time", title="all-to-all: busiest of all channels, over bandwidth"),
        _all_to_all("bound", title="all-to-all: least that any routing can have"),
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("topology", kind=str, value="topology.name"),
        Column("hosts", kind=int),
        Column("routers", kind=int, value="topology.num_routers"),
        Column("channels", kind=int, value="topology.num_network_channels"),
        Column("routing", kind=str),
        Column("note", kind=str, value="left_out"),
    )

    @property
    def interval(self) -> list[float] | None:
        """The ends of the 95 % confidence interval of the mean. None of a single matching."""
        found = self.bisection
        if found is None or found.samples < 2:
            return None
        return [found.mean - found.half_width, found.mean + found.half_width]

    @property
    def of_shifts(self) -> dict[str, Any]:
        """The busiest channel of the shifts: the worst one, and their mean."""
        found = self.shifts
        if found is None:
            return dict.fromkeys(("count", "max", "mean", "worst"))
        worst = int(found.longest_time.argmax())
        return {
            "count": len(found.distance),
            "max": found.largest_load.max().item(),
            "mean": float(found.largest_load.mean()),
            "worst": int(found.distance[worst]),
        }

    @property
    def of_all(self) -> dict[str, Any]:
        """What an all-to-all loads channels between routers, and how long the busiest works."""
        found = self.shifts
        if found is None or not self.all_shifts:
            return dict.fromkeys(("max", "mean", "time", "bound"))
        between = found.total_load[: self.topology.num_network_channels]
        return {
            "max": between.max(initial=0).item(),
            "mean": float(between.mean()) if len(between) else 0.0,
            "time": float((found.total_load / self.topology.channel_bandwidth).max()),
            "bound": self.bound,
        }

    @table(SHIFTS)
    def shift_table(self) -> pl.DataFrame:
        """Return one row per shift: its distance, and what it loads."""
        import polars as pl

        found = self.shifts
        if found is None:
            return SHIFTS.frame_of([])
        return pl.DataFrame({name: getattr(found, name) for name in SHIFTS.names})

    @table(MATCHINGS)
    def matchings(self) -> pl.DataFrame:
        """Return one row per random matching of random halves: what its pairs get on average."""
        import polars as pl

        if self.bisection is None:
            return MATCHINGS.frame_of([])
        shares = self.bisection.shares
        return pl.DataFrame({"matching": np.arange(len(shares)), "share": shares})

    def __repr__(self) -> str:
        figures = {each.name: each.of(self) for each in self.columns.key}
        known = ", ".join(f"{name} {value:.4g}" for name, value in figures.items() if value)
        return (
            f"<Permutations on {self.topology.name} ({self.routing}), {self.hosts} hosts: {known}; "
            f"{self.origin}>"
        )


class PermutationQuestion(Seeded, NodeList, BrokenParts, PathRouting, OnNetwork):
    """How a network bears permutations of its hosts."""

    samples: int = option(
        "Number of random matchings of random halves (0: none).", default=1000, ge=0, le=10**6
    )
    shifts: str = option(
        "Shifts of the hosts: all, none or distances such as 1,5,17.",
        default="all",
    )


@dataclass(frozen=True, eq=False)
class RoutedHosts:
    """What a question names: a network, its routing, and the hosts that take part."""

    network: Topology
    routing: Routing
    hosts: Ints


def prepare(question: PermutationQuestion) -> RoutedHosts:
    """Build the network and its routing."""
    wanted = "none of it: permutations are of all hosts, those of one node too"
    refuse(question, ("count_inside_nodes",), wanted)
    network, _ = network_of(question)
    routing = question.routing
    if isinstance(routing, str):
        routing = parse_routing(routing, network)
    hosts = working_nodes(network)
    if question.nodes is not None:
        hosts = allocated_hosts(question.nodes, network)
    if len(hosts) < 2:
        raise InputError(network.name, counted(len(hosts), "host"), "at least two that work")
    return RoutedHosts(network, routing, hosts)


@asks(
    PermutationQuestion,
    prepare=prepare,
    title="Permutations",
    example="netloom analyze permutations --on leaf-spine:8x4x8",
    page="my-cluster-is-a-fat-tree.md",
    outputs=(PLOT,),
)
def analyze_permutations(question: PermutationQuestion, ready: RoutedHosts) -> PermutationAnalysis:
    """Measure a network's effective bisection bandwidth, shifts and all-to-all.

    The effective bisection bandwidth (Hoefler, Schneider & Lumsdaine 2008) is the mean share that
    pairs get in random matchings of random halves of the hosts. A pair's share is 1 / (the paths
    on the busiest channel of its path). A shift by d is the permutation by which host i sends to
    host i + d, modulo their number. All shifts together are an all-to-all. As ``fabric`` judges
    tables, all pairs of hosts count, those of one node too.

    Examples
    --------
    >>> found = analyze_permutations("fat-tree:4x3", samples=50)
    >>> figures = found.to_dict()
    >>> figures["shifts"]["max"], figures["all_to_all"]["max"]
    (1, 60)
    """
    network, routing, hosts = ready.network, ready.routing, ready.hosts
    distances, left_out = _distances(question.shifts, ready)
    if not question.samples and not len(distances):
        found = "no matchings and no shifts" + (
            f", which are too many: {left_out}" * bool(left_out)
        )
        raise InputError("samples", found, "samples above 0, or some shifts")
    bisection, shifts = None, None
    if question.samples:
        pairs = question.samples * (len(hosts) // 2)
        with patience(f"Matching {pairs:,} pairs of hosts"):
            bisection = effective_bisection(
                network, routing, hosts=hosts, samples=question.samples, seed=question.seed
            )
    if len(distances):
        with patience(f"Shifting {len(hosts):,} hosts {counted(len(distances), 'time', ',')}"):
            shifts = shift_loads(network, routing, hosts=hosts, distances=distances)
    every = len(distances) == len(hosts) - 1
    return PermutationAnalysis(
        topology=network,
        routing=str(routing),
        hosts=len(hosts),
        bisection=bisection,
        shifts=shifts,
        all_shifts=every,
        bound=_bound(network, hosts) if every else None,
        left_out=left_out,
        provenance=provenance_of(question, "analyze_permutations", network),
    )


def _distances(asked: str, ready: RoutedHosts) -> tuple[Ints, str | None]:
    """Return the distances of the shifts asked for, and why there are none if there are too many.

    Raises
    ------
    InputError
        If it is no list of distances between hosts.
    """
    count = len(ready.hosts)
    if asked == "none":
        return np.zeros(0, np.int64), None
    if asked == "all":
        most = MOST_EXPECTED if ready.routing.several else MOST_PAIRS
        if count * (count - 1) <= most:
            return np.arange(1, count), None
        pairs = f"all shifts and the all-to-all, of {count * (count - 1):,} pairs"
        return np.zeros(0, np.int64), f"{pairs} (name some shifts, such as 1,5)"
    ahead = [whole_number(each.strip(), where="shifts", least=1) for each in asked.split(",")]
    if max(ahead) >= count or len(set(ahead)) < len(ahead):
        raise InputError("shifts", f"'{asked}'", f"different distances from 1 to {count - 1}")
    return np.array(ahead, np.int64), None


def _bound(network: Topology, hosts: Ints) -> float:
    """Return how long some channel must work in an all-to-all, under any routing."""
    return max(cut.time for cut in cuts_of(network, all_to_all(hosts, network.num_hosts)))


FULL, HALF = 0.95, 0.5
"""Shares of a host's bandwidth from which on pairs get nearly all of it, and half."""

UNEVEN = 1.05
"""Times the bound from which on another routing may gain something in an all-to-all."""


def verdict(figures: Figures) -> Verdict:
    """Return how a network bears permutations, by the figures of the answer."""
    half, shifts = figures["effective_bisection"], figures["shifts"]
    if half["mean"] is not None:
        mean, worst = percent(half["mean"]), percent(half["least"])
        mark = "fine" if half["mean"] >= FULL else "limited" if half["mean"] >= HALF else "act"
        sentence = f"Pairs get {mean} of a host's bandwidth in random matchings"
        sentence += f", {worst} in the worst." if half["samples"] > 1 else "."
    else:
        mark = "fine" if shifts["max"] <= 1 else "limited"
        sentence = (
            f"The worst shift, by {number(shifts['worst'])}, puts "
            f"{counted(number(shifts['max']), 'path')} on one channel."
        )
    of = f"{counted(figures['hosts'], 'host', ',')} on {short_name(figures['topology'])}"
    of += f", {figures['routing']}"
    note = f"Not known: {figures['note']}." if figures["note"] else ""
    return Verdict(mark, sentence, of, dict(_lines(figures)), _next(figures, mark), note)


def _lines(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield what goes with the sentence, by label."""
    half, shifts, every = (
        figures[each] for each in ("effective_bisection", "shifts", "all_to_all")
    )
    if half["ci"] is not None:
        low, high = map(percent, half["ci"])
        yield "trust", f"95\u00a0% interval {low} to {high}, {half['samples']:,} matchings"
    if half["mean"] is not None and shifts["max"] is not None:
        paths = counted(number(shifts["max"]), "path")
        yield "shifts", f"the worst, by {number(shifts['worst'])}, puts {paths} on one channel"
    if every["max"] is not None:
        paths = f"{counted(number(every['max']), 'path')} on the busiest channel"
        ratio = every["time"] / every["bound"] if every["bound"] else None
        if ratio is not None and ratio <= CLOSE:
            paths += ", as few as any routing allows"
        elif ratio is not None:
            paths += f", {number(ratio)}× the least that any routing allows"
        yield "all", f"{paths} in an all-to-all"


def _next(figures: Figures, mark: str) -> str:
    """Return the command that makes better tables, if any can be better."""
    every = figures["all_to_all"]
    if mark == "fine" or not every["bound"] or every["time"] <= UNEVEN * every["bound"]:
        return ""
    return command_line(kind_of("route"), _network(figures))


def _network(figures: Figures) -> dict[str, Any]:
    """Return the fields of the question that name its network."""
    asked = figures["provenance"]["configuration"]
    return {name: asked[name] for name in ("on", "failed_channels", "failed_nodes")}


def lines(result: PermutationAnalysis) -> list[Any]:
    """Return the figures of matchings, shifts and the all-to-all."""
    data = result.to_dict()
    half, shifts, every = data["effective_bisection"], data["shifts"], data["all_to_all"]
    table = plain_table(("", "mean", "worst"))
    if half["mean"] is not None:
        many = counted(half["samples"], "matching", ",")
        table.add_row(
            f"share of a host's bandwidth, {many}", percent(half["mean"]), percent(half["least"])
        )
    if shifts["max"] is not None:
        many = counted(shifts["count"], "shift", ",")
        table.add_row(
            f"paths on the busiest channel, {many}", number(shifts["mean"]), number(shifts["max"])
        )
    if every["max"] is not None:
        table.add_row("paths on a channel, all-to-all", number(every["mean"]), number(every["max"]))
    return [table]
