"""Measure a network's effective bisection bandwidth, shifts and all-to-all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import Figures, Number, derived, figure
from netloom.base.progress import patience
from netloom.base.spec import whole_number
from netloom.base.words import counted, number, percent
from netloom.contention import effective_bisection, shift_loads
from netloom.contention.permutations import EffectiveBisection, Shifts
from netloom.mapping.allocation import allocated_hosts
from netloom.questions.answers import Answer, Columns, Parts, Verdict, table
from netloom.questions.base import option
from netloom.questions.fields import BrokenParts, NodeList, OnNetwork, PathRouting, Seeded, refuse
from netloom.questions.named import network_of, provenance_of, routing_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.terminal import short_name
from netloom.routing import Routing
from netloom.topology import Topology
from netloom.topology.faults import working_nodes

FULL, HALF = 0.95, 0.5
"""Shares of a host's bandwidth from which on pairs get nearly all of it, and half."""

CLOSE, UNEVEN = 1.005, 1.05
"""Times the bound up to which an all-to-all is as good as any, and above which it may gain."""


class PermutationQuestion(Seeded, NodeList, BrokenParts, PathRouting, OnNetwork):
    """How a network bears permutations of its hosts."""

    samples: int = option(
        "Number of random matchings of random halves (0: none).", default=1000, ge=0, le=10**6
    )
    shifts: str = option(
        "Shifts of the hosts: all, none or distances such as 1,5,17.", default="all"
    )


class AllToAll(Figures):
    """What an all-to-all loads channels between routers, and how long the busiest works."""

    max: Number = figure("paths on the busiest channel, all-to-all", lead=True, key=True)
    mean: float = figure("paths on a channel, all-to-all", lead=True)
    time: float = figure("all-to-all: busiest of all channels, over bandwidth")
    bound: float = figure("all-to-all: least that any routing can have")

    @derived("all-to-all: times the least that any routing can have")
    def ratio(self) -> float | None:
        """None where no bound is known."""
        return self.time / self.bound if self.bound else None


class ShiftRow(Figures):
    """What one shift loads."""

    distance: int
    largest_load: Number = figure("paths on the busiest channel between routers")
    longest_time: float = figure("the same over bandwidth")


class Matching(Figures):
    """What the pairs of one random matching get on average."""

    matching: int
    share: float = figure("mean share of its pairs", "share of a host's")


class PermutationAnalysis(Answer):
    """How a network bears permutations of its hosts.

    ``bisection``, ``shifts`` and ``all_to_all`` are None where they were not asked for, or are too
    many: ``note`` says why.
    """

    topology: str
    hosts: int
    routers: int
    channels: int
    routing: str
    note: str | None
    bisection: EffectiveBisection | None = figure(
        at="effective_bisection", flat="effective_bisection_", lead=True, key=True
    )
    shifts: Shifts | None = figure(flat="shifts_", lead=True, key=True)
    all_to_all: AllToAll | None = figure(flat="all_to_all_", lead=True, key=True)

    @property
    def of(self) -> str:
        """The hosts, the network and its routing."""
        hosts = counted(self.hosts, "host", ",")
        return f"{hosts} on {short_name(self.topology)}, {self.routing}"

    def judged(self) -> Verdict:
        """Return how a network bears permutations: what pairs get, or else the worst shift."""
        half, shifts = self.bisection, self.shifts
        if half is not None:
            mark = "fine" if half.mean >= FULL else "limited" if half.mean >= HALF else "act"
            said = f"Pairs get {percent(half.mean)} of a host's bandwidth in random matchings"
            said += f", {percent(half.least)} in the worst." if half.samples > 1 else "."
        else:
            assert shifts is not None  # one of both was asked for
            mark = "fine" if shifts.max <= 1 else "limited"
            said = f"The worst shift, by {shifts.worst}, puts {_paths(shifts.max)} on one channel."
        every, lines = self.all_to_all, {}
        if half is not None and half.ci is not None:
            low, high = map(percent, half.ci)
            lines["trust"] = f"95\u00a0% interval {low} to {high}, {half.samples:,} matchings"
        if half is not None and shifts is not None:
            worst = f"the worst, by {number(shifts.worst)}"
            lines["shifts"] = f"{worst}, puts {_paths(shifts.max)} on one channel"
        if every is not None:
            busiest = f"{_paths(every.max)} on the busiest channel"
            if every.ratio is not None and every.ratio <= CLOSE:
                busiest += ", as few as any routing allows"
            elif every.ratio is not None:
                busiest += f", {number(every.ratio)}× the least that any routing allows"
            lines["all"] = f"{busiest} in an all-to-all"
        better = mark != "fine" and every is not None and (every.ratio or 0.0) > UNEVEN
        note = f"Not known: {self.note}." if self.note else ""
        route = self.again("route", but=("nodes", "routing", "samples", "seed")) if better else ""
        return Verdict(mark, said, lines, route, note)

    @table(ShiftRow)
    def shift_table(self) -> Columns:
        """Return one row per shift: its distance, and what it loads."""
        names = ("distance", "largest_load", "longest_time")
        return {name: getattr(self.shifts, name) if self.shifts else [] for name in names}

    @table(Matching)
    def matchings(self) -> Columns:
        """Return one row per random matching of random halves: what its pairs get on average."""
        shares = self.bisection.shares if self.bisection else np.zeros(0)
        return {"matching": np.arange(len(shares)), "share": shares}

    def footer(self) -> list[str]:
        """Return what was asked about, and what is left out."""
        what = f"Permutations of {counted(self.hosts, 'host', ',')} on {self.topology}"
        return [f"{what}; routing {self.routing}", *filter(None, [self.note])]

    def parts(self) -> Parts:
        """Return what pairs get, and what each shift puts on the busiest channel."""
        from netloom.drawing.mappings import paths_by_shift, shares_of_pairs

        drawn = {}
        if self.bisection is not None:
            drawn["bisection"] = shares_of_pairs(self.bisection)
        if self.shifts is not None:
            drawn["shifts"] = paths_by_shift(self.shifts, self.shift_table())
        return drawn


def _paths(many: float) -> str:
    return counted(number(many), "path")


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
    routing = routing_of(question.routing, network)
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
    >>> found.shifts.max, found.all_to_all.max
    (1, 60)
    """
    from netloom.bounds import all_to_all, cuts_of

    network, routing, hosts = ready.network, ready.routing, ready.hosts
    distances, left_out = _distances(question.shifts, ready)
    if not question.samples and not len(distances):
        none = "no matchings and no shifts"
        none += f", which are too many: {left_out}" * bool(left_out)
        raise InputError("samples", none, "samples above 0, or some shifts")
    half, shifts = None, None
    if question.samples:
        pairs = question.samples * (len(hosts) // 2)
        with patience(f"Matching {pairs:,} pairs of hosts"):
            half = effective_bisection(
                network, routing, hosts=hosts, samples=question.samples, seed=question.seed
            )
    if len(distances):
        with patience(f"Shifting {len(hosts):,} hosts {counted(len(distances), 'time', ',')}"):
            shifts = shift_loads(network, routing, hosts=hosts, distances=distances)
    every = None
    if shifts and len(shifts.distance) >= len(hosts) - 1:  # all of them; the bound is of cuts
        between = shifts.total_load[: network.num_network_channels]
        cuts = cuts_of(network, all_to_all(hosts, network.num_hosts))
        every = AllToAll(
            max=between.max(initial=0).item(),
            mean=float(between.mean()) if len(between) else 0.0,
            time=float((shifts.total_load / network.channel_bandwidth).max()),
            bound=max(cut.time for cut in cuts),
        )
    return PermutationAnalysis(
        topology=network.name,
        hosts=len(hosts),
        routers=network.num_routers,
        channels=network.num_network_channels,
        routing=str(routing),
        note=left_out,
        bisection=half,
        shifts=shifts,
        all_to_all=every,
        provenance=provenance_of(question, "analyze_permutations", network),
    )


def _distances(asked: str, ready: RoutedHosts) -> tuple[Ints, str | None]:
    """Return the distances of the shifts asked for, and why there are none if there are too many.

    Raises
    ------
    InputError
        If it is no list of distances between hosts.
    """
    from netloom.contention.permutations import MOST_EXPECTED, MOST_PAIRS

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
