"""A mapping beside others: random ones, and those that it is compared with.

``measured_at_random`` measures a program mapped at random. ``gain_of`` says what a mapping gains
over rank order, counted and by pairs of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.figures import SHARE, Figures, Number, derived, figure, leaves
from netloom.base.progress import patience, track
from netloom.base.words import counted, number, percent, rounded
from netloom.contention import Expectation, MeshEstimate, estimate_mesh, expect_random
from netloom.contention.mapped import (
    LOADS,
    MappedFigures,
    MappedProgram,
    carried,
    counted_contention,
    measured_program,
)
from netloom.mapping.layouts import cube_of_hosts
from netloom.mapping.search.objectives import Measure, hosts_count
from netloom.routing import DimensionOrder, Routing, SourceRoutes
from netloom.topology import Topology

if TYPE_CHECKING:
    from netloom.mapping.search.generations import FoundMapping


# -- random mappings -------------------------------------------------------------------------------


MOST_RANDOM = 25
"""Random mappings to compare with by default, at least one."""

WORK, PATH_WORK = 3 * 2**30, 300
"""What they may cost in all (about 5 seconds), and what a path does, in units of 1 to
2.5 ns."""


class OfRandom(Figures):
    """A figure over random mappings, and how many of them this mapping beats."""

    mean: float
    min: Number
    max: Number
    beaten: int


class RandomFigures(Figures):
    """Those of ``MappedFigures`` that all random mappings have."""

    path_length_mean: OfRandom | None = figure(default=None, optional=True)
    path_length_max: OfRandom | None = figure(default=None, optional=True)
    logical_path_length_mean: OfRandom | None = figure(default=None, optional=True)
    logical_path_length_max: OfRandom | None = figure(default=None, optional=True)
    channel_load_mean: OfRandom | None = figure(default=None, optional=True)
    channel_load_max: OfRandom | None = figure(default=None, optional=True)
    weighted_channel_load_mean: OfRandom | None = figure(default=None, optional=True)
    weighted_channel_load_max: OfRandom | None = figure(default=None, optional=True)
    path_contention_mean: OfRandom | None = figure(default=None, optional=True)
    path_contention_max: OfRandom | None = figure(default=None, optional=True)
    hop_bytes: OfRandom | None = figure(default=None, optional=True)
    dilation: OfRandom | None = figure(default=None, optional=True)
    saturation_average_node: OfRandom | None = figure(default=None, optional=True)
    saturation_worst_node: OfRandom | None = figure(default=None, optional=True)
    saturation_upper_bound: OfRandom | None = figure(default=None, optional=True)


class RandomMappings(Figures):
    """The random mappings that one is compared with.

    Attributes
    ----------
    limited_by_work
        Whether more would have taken too long: nobody said how many.
    alike
        Whether all mappings are alike, so that none need be measured.
    table_3_1
        Table 3.1 of the thesis for a random mapping. None but on square 2D meshes.
    expected
        Exact means over all random mappings. None on general graphs or with several tasks per node.
    """

    mappings: int
    limited_by_work: bool
    alike: bool | None = figure(optional=True)
    figures: RandomFigures = figure(at=".")
    table_3_1: MeshEstimate | None = figure(optional=True)
    expected: Expectation | None = figure(optional=True)


class RandomMapping(Figures):
    """One random mapping, with the figures by which mappings are compared."""

    seed: int
    own: MappedFigures = figure(at=".")


class Beside(Figures):
    """A figure of a mapping beside that of random ones."""

    what: str = figure(" ", lead=True)
    mean: Number | None = figure(lead=True)
    max: Number | None = figure(lead=True)
    random_mean: Number | None = figure("random mean", lead=True)
    random_max: Number | None = figure("random max", lead=True)
    beaten: int | None = figure("better than", lead=True)


class LimitBeside(Figures):
    """A limit of the load beside that of random mappings."""

    what: str = figure(" ", lead=True)
    load: float | None = figure("load", SHARE, lead=True)
    random: float | None = figure("random mean", SHARE, lead=True)
    beaten: int | None = figure("better than", lead=True)


SPREADS = {
    "path_length": "path length D, hops",
    "logical_path_length": "logical path length d",
    "channel_load": "channel load χ, paths",
    "weighted_channel_load": "channel load, {unit}",
    "path_contention": "paths met by a path, ν",
}
LIMITS_BESIDE = {
    "worst_node": "first {node} delayed *",
    "average_node": "most {node}s delayed *",
    "upper_bound": "most load carried",
}
"""What figures are called where they stand beside those of random mappings."""


def spreads_beside(own: MappedFigures, random: RandomFigures, unit: str) -> Iterator[Beside]:
    """Yield the figures of paths and channels beside those of random mappings.

    ``unit``: what loads are counted in. Those in paths stand once.
    """
    for name, what in SPREADS.items():
        values = getattr(own, name)
        mean, most = (getattr(random, f"{name}_{part}") for part in ("mean", "max"))
        if values is not None and not (name == "weighted_channel_load" and unit == "paths"):
            yield Beside(
                what=what.format(unit=unit),
                mean=values.mean,
                max=values.max,
                random_mean=getattr(mean, "mean", None),
                random_max=getattr(most, "mean", None),
                beaten=getattr(most, "beaten", None),
            )


def limits_beside(own: MappedFigures, random: RandomFigures, node: str) -> Iterator[LimitBeside]:
    """Yield the limits of the load that are known beside those of random mappings."""
    for name, what in LIMITS_BESIDE.items():
        load, other = getattr(own.saturation, name), getattr(random, f"saturation_{name}")
        if load is not None:
            yield LimitBeside(
                what=what.format(node=node),
                load=load,
                random=getattr(other, "mean", None),
                beaten=getattr(other, "beaten", None),
            )


def measured_at_random(
    mapped: MappedProgram,
    routing: Routing,
    place: Callable[[int], Ints],
    seed: int,
    many: int | None,
) -> tuple[tuple[RandomMapping, ...], Ints]:
    """Measure random mappings: figures of each, and int64[ν_max + 1], how often each ν occurs.

    None with given routes, which exist for the pairs of hosts of one mapping only.

    Parameters
    ----------
    mapped
        The program under another mapping.
    place
        Returns the host of each task, given a seed.
    seed
        The first seed, less 1.
    many
        How many. None: up to 25, as many as are measured in about 5 seconds.
    """
    graph, topology = mapped.graph, mapped.topology
    rows, counts = list[RandomMapping](), np.zeros(1, np.int64)
    mappings = MOST_RANDOM if many is None else many
    if isinstance(routing, SourceRoutes):
        return (), counts
    for each in track(range(1, mappings + 1), "random mappings"):
        if each > mappings:
            break
        host_of = place(seed + each)
        if not topology.crosses(host_of[graph.source], host_of[graph.target]).any():
            continue  # several tasks a node: nothing is left that crosses the network
        found = measured_program(graph, topology, routing, host_of, mapped.weights)
        if many is None and not rows:
            # Dimension order is counted path by path. Other paths are compared channel by channel,
            # each with all others there.
            measured = found.contention
            work = PATH_WORK * len(measured.moving) + 20 * len(measured.channel_bandwidth)
            if found.by_path is not None and not isinstance(routing, DimensionOrder):
                work += int(measured.meetings)
            mappings = min(max(WORK // max(work, 1), 1), MOST_RANDOM)
        rows.append(RandomMapping(seed=seed + each, own=found.figures()))
        more = counted_contention(found)
        longest = max(len(counts), len(more))
        counts = np.pad(counts, (0, longest - len(counts)))
        counts[: len(more)] += more
    return tuple(rows), counts


def over_random(own: MappedFigures, random: Sequence[RandomMapping]) -> RandomFigures:
    """Return each figure over random mappings. An estimate that some lack is left out."""
    found = dict[str, OfRandom]()
    for each in leaves(MappedFigures) if random else ():
        values = [each.of(one.own) for one in random]
        if None not in values:
            better = -1 if each.name.startswith("saturation") else 1
            found[each.name] = OfRandom(
                mean=float(np.mean(values)),
                min=min(values),
                max=max(values),
                beaten=sum(better * value > better * each.of(own) for value in values),
            )
    return RandomFigures(**found)


def all_alike(mapped: MappedProgram, host_of: Ints, places: int, tasks_per_node: int) -> bool:
    """Return whether every mapping gives this one's traffic between nodes.

    So it is if each task sends the same to every other, and tasks fill all ``places``.
    """
    graph, tasks = mapped.graph, mapped.graph.num_tasks
    sent = mapped.weights[graph.source != graph.target]
    return bool(
        len(sent) == tasks * (tasks - 1)
        and sent.min(initial=np.inf) == sent.max(initial=-np.inf)
        and tasks == places
        and np.bincount(host_of).max() == tasks_per_node
    )


def estimated(mapped: MappedProgram, routing: Routing) -> MeshEstimate | None:
    """Return table 3.1, which is for dimension order on square meshes."""
    network, graph = mapped.topology, mapped.graph
    own = cube_of_hosts(network) if isinstance(routing, DimensionOrder) else None
    if own is None or any(own[0].wraps) or own[0].sides != own[0].sides[:1] * 2:
        return None
    return estimate_mesh(network.num_hosts, graph.num_edges / graph.num_tasks)


def expected(mapped: MappedProgram, routing: Routing) -> Expectation | None:
    """Return the exact expectations of a random mapping of one task per host, or None."""
    network, graph = mapped.topology, mapped.graph
    own, enough = cube_of_hosts(network), network.even and network.num_hosts >= 4
    if own is None or not (isinstance(routing, DimensionOrder) and enough):
        return None
    with patience(f"Working out what random mappings do to {graph.num_edges:,} paths"):
        return expect_random(own[0], routing, graph.source, graph.target)


# -- what a mapping gains --------------------------------------------------------------------------


Kind: TypeAlias = Literal["bound", "better", "none", "worse"]

CLOSE = 1e-9
"""Relative difference of two values of an objective that is none."""

WORTH = 0.01
"""Share of an objective, or of hop-bytes, from which on less of it is a gain."""

NOTHING_KNOWN = 0.005
"""A bound below this share of rank order is shown as a gain of 100 %, and says nothing."""

WORST, LATENCY = "worst-node share", "packet latency"
"""What pairs of runs are compared by."""


MET = ("path_contention_mean", "path_contention_max")
COUNTED = ("hop_bytes", "channel_load_max", "weighted_channel_load_max", *MET)
LIMITS = ("saturation_worst_node", "saturation_upper_bound")
"""Figures that mappings are compared by: what is counted, and limits of the load."""


class ComparedMapping(Figures):
    """A mapping by the objective and by the figures that mappings are compared by.

    0, and no limit of the load, where it leaves nothing that crosses the network.
    """

    mapping: str = figure(head=" ", lead=True, key=True)
    objective: Number = figure(key=True)
    hop_bytes: Number | None = figure("hop-bytes", lead=True, key=True)
    channel_load_max: Number = figure("most paths on a channel", head="most χ", lead=True, key=True)
    weighted_channel_load_max: Number = figure(
        "most load of a channel", LOADS, head="most load", lead=True, key=True
    )
    path_contention_mean: Number | None = figure("paths met, mean", head="mean ν", lead=True)
    path_contention_max: Number | None = figure("paths met, most", head="most ν", lead=True)
    saturation_worst_node: float | None = figure(
        "first node delayed from (estimate)", SHARE, head="first delayed *", lead=True
    )
    saturation_upper_bound: float | None = figure(
        "carried at most by these paths", SHARE, head="limit", lead=True, key=True
    )

    @classmethod
    def of(cls, name: str, value: float, own: MappedFigures | None) -> Self:
        """Return those of a mapping. None: nothing crosses the network."""
        figures = dict.fromkeys(COUNTED, 0)
        if own is not None:
            figures = {each.name: each.of(own) for each in leaves(MappedFigures)}
        return cls.from_json(figures | {"mapping": name, "objective": value})

    @classmethod
    def mean_of(cls, name: str, value: float, several: Sequence[ComparedMapping]) -> Self:
        """Return the means over several mappings. None where a figure of one is not known."""
        values = {each: [getattr(one, each) for one in several] for each in (*COUNTED, *LIMITS)}
        means = {
            each: None if None in some else float(np.mean(some)) for each, some in values.items()
        }
        return cls.from_json(means | {"mapping": name, "objective": value})


class SimulatedRun(NamedTuple):
    """What a run under one mapping is compared by.

    Attributes
    ----------
    latency
        Mean packet latency, in cycles. None if it does not carry what is offered.
    share
        How much of what it offers the worst node gets accepted.
    """

    latency: float | None
    share: float


class PairedRuns(Figures):
    """Pairs of simulations, before and after, each pair with one seed.

    Attributes
    ----------
    quantity
        ``packet latency``, mean, in cycles, if all runs carry what is offered. Else ``worst-node
        share``, what the worst node gets accepted of what it offers.
    before, after
        Means over the runs.
    difference, half_width
        Of the pairs, after less before: the mean, and half of its 95 % confidence interval.
    """

    quantity: str
    pairs: int
    before: float
    after: float
    difference: float
    half_width: float

    @derived("what was measured")
    def kind(self) -> Literal["better", "none", "worse"]:
        """``none`` if the interval has both signs."""
        if not abs(self.difference) > self.half_width:
            return "none"
        return "better" if (self.difference < 0) == (self.quantity == LATENCY) else "worse"

    @derived("how much that is of what it was", SHARE)
    def changed(self) -> float | None:
        """Without its sign."""
        return relative_change(self.before, self.after)


def relative_change(before: float, after: float) -> float | None:
    """Return a change as a share of what was, without its sign."""
    return abs(after - before) / before if before else None


def paired(before: Sequence[SimulatedRun], after: Sequence[SimulatedRun]) -> PairedRuns | None:
    """Compare runs of two mappings, pair by pair. None if nothing was measured.

    If all runs carry all that is offered, packets' latencies are compared. Else it is what the
    worst node gets accepted.

    Examples
    --------
    >>> before, after = ([SimulatedRun(each, 1.0) for each in runs] for runs in ((9, 8), (5, 4)))
    >>> found = paired(before, after)
    >>> found.quantity, found.difference, found.kind
    ('packet latency', -4.0, 'better')
    """
    from netloom.simulation.steady import batch_interval

    both = before, after
    latencies = [[each.latency for each in runs if each.latency is not None] for runs in both]
    quantity, values = LATENCY, latencies
    if [len(each) for each in latencies] != [len(runs) for runs in both]:
        quantity, values = WORST, [[each.share for each in runs] for runs in both]
    first, second = np.array(values[0], np.float64), np.array(values[1], np.float64)
    if not (np.isfinite(first).all() and np.isfinite(second).all() and len(first) > 1):
        return None
    difference, half_width = batch_interval(second - first, np.ones(len(first)))
    return PairedRuns(
        quantity=quantity,
        pairs=len(first),
        before=float(first.mean()),
        after=float(second.mean()),
        difference=difference,
        half_width=half_width,
    )


class Objective(Figures):
    """What was minimized: its value in rank order and with the mapping, and its bound.

    ``timed``: it is of more than loads between routers: of times, or of hosts. ``hosts``: hosts'
    own channels count. ``scale``: what each of several was divided by.
    """

    name: str
    before: float
    after: float
    bound: float
    timed: bool
    hosts: bool
    scale: dict[str, float]

    @classmethod
    def of(cls, found: FoundMapping, value_of: Measure, network: Topology) -> Self:
        """Return that of a search. ``value_of``: what measured mappings."""
        hosts = hosts_count(network, value_of.tasks_per_node)
        return cls(
            name=found.objective,
            before=found.starts["identity"],
            after=found.value,
            bound=found.bound,
            timed=hosts or bool((network.routers.channel_bandwidth != 1).any()),
            hosts=hosts,
            scale={} if value_of.objective.single else dict(value_of.scale),
        )

    @property
    def values(self) -> tuple[float, float, float]:
        """Those of rank order and of the mapping, and the bound, as people count them."""
        found = self.before, self.after, self.bound
        if self.name == "path-contention":  # the rest of it ranks what meets as many
            return int(found[0]), int(found[1]), int(found[2])
        return found

    @derived("how much it changes", SHARE)
    def changed(self) -> float | None:
        """As a share of rank order, without its sign."""
        return relative_change(*self.values[:2])

    @derived("how much more a node may send", SHARE)
    def more(self) -> float | None:
        """Of an objective that is less where nodes may send more."""
        known = self.name == "saturation" and self.after
        return self.before / self.after - 1 if known else None

    @derived("how much less it may be", SHARE)
    def possible(self) -> float | None:
        """The largest gain over rank order that the bound leaves. None where it is not known."""
        first, _, bound = self.values
        return relative_change(first, bound) if bound > first * NOTHING_KNOWN else None

    @derived("times as much that a node may send at most", "times")
    def most(self) -> float | None:
        """Of an objective that is less where nodes may send more."""
        known = self.name == "saturation" and self.bound and self.before
        return self.before / self.bound if known else None

    def busiest(self, between: str) -> str:
        """Return what the busiest channel is called, of those that it counts."""
        return "the busiest channel" + between * (not self.hosts)

    @property
    def times(self) -> bool:
        """Whether it is of times, or of hosts' channels, too."""
        return self.timed and "max-channel-load" in self.name

    def gain_said(self, unit: str, between: str, fewer_met: float | None) -> str:
        """Say how much better it is than in rank order.

        Parameters
        ----------
        unit
            What loads are counted in.
        between
            What says that hosts' own channels are not meant.
        fewer_met
            How many fewer paths are met on average, as a share.
        """
        (first, last, _), name = self.values, self.name
        less = f"{percent(self.changed, 2)} less than in rank order"
        if name == "max-channel-load" and self.timed:
            return f"{self.busiest(between)} works {less}"
        if name == "max-channel-load":
            return f"{self.busiest(between)} carries {less} ({_from_to(unit, first, last)})"
        if name == "hop-bytes":
            return f"hop-bytes are {less} ({number(first)} → {number(last)})"
        if name == "saturation":
            more = "∞" if self.more is None else rounded(100 * self.more)
            return f"the worst node may send {more}\u00a0% more than in rank order"
        if name == "path-contention" and last < first:
            met = f"the path that meets most others meets {counted(int(last), 'other')}"
            return f"{met}, {int(first)} in rank order ({percent(self.changed, 2)} less)"
        if name == "path-contention":
            fewer = percent(fewer_met, 2)
            return f"paths meet {fewer} fewer others on average than in rank order"
        return f"the mixed objective is {less}"

    def noun(self, between: str) -> str:
        """Return what it is, as a noun."""
        busiest = self.busiest(between)
        of = f"the load of {busiest}" if " between " in busiest else f"{busiest}'s load"
        return {
            "max-channel-load": of,
            "hop-bytes": "the number of hop-bytes",
            "path-contention": "the most paths that one meets",
            "saturation": "the worst node's limit",
        }.get(self.name, "the mixed objective")

    def value_said(self, unit: str) -> str:
        """Return it in rank order with its unit. "" if it has none that people know."""
        if self.name == "max-channel-load" and not self.timed:
            return carried(unit, self.before)
        if self.name == "path-contention":
            return counted(int(self.before), "path")
        return ""

    def possible_said(self) -> str:
        """Return the largest gain over rank order that the bound leaves. "" if not known."""
        first, _, bound = self.values
        if not bound or not first:
            return ""
        if self.most is not None:
            return f"{rounded(self.most)}×"
        return "" if self.possible is None else percent(self.possible, 2)


def _from_to(unit: str, first: float, last: float) -> str:
    """Return two amounts of traffic, and their unit once if it is the same."""
    before, after = carried(unit, first), carried(unit, last)
    (value, first_unit), last_unit = before.rsplit(" ", 1), after.rpartition(" ")[2]
    alike = first_unit.rstrip("s") == last_unit.rstrip("s")
    if not last:  # in the unit of what it was
        return f"{value} → 0 {last_unit if alike else first_unit}"
    return f"{value if alike else before} → {after}"


class Gain(Figures):
    """Whether a mapping helps.

    ``kind`` is ``bound`` if nothing can be better, ``better`` if the mapping is better than rank
    order, ``worse`` if it is worse by simulation. It is ``none`` if nothing better was found, or
    no difference was measured. ``gains`` is whether the mapping is worth applying: better than
    rank order as simulated, or by 1 % of the objective. If that is the same, hop-bytes and path
    contention decide.
    """

    kind: Kind
    gains: bool


def gain_of(
    found: FoundMapping,
    before: MappedFigures | None,
    after: MappedFigures | None,
    compared: PairedRuns | None = None,
) -> Gain:
    """Return whether a mapping helps: as simulated, if that was run, else by the objective.

    ``before`` and ``after`` are figures of rank order and of the mapping.
    """
    first, value, bound = found.starts["identity"], found.value, found.bound
    worse, gains = value > first * (1 + CLOSE), value < first * (1 - WORTH)
    if not gains and not worse and before is not None and after is not None:
        hops = before.hop_bytes, after.hop_bytes
        gains = clearly_less(*hops) or _most_met(after) < _most_met(before)
    kind: Kind = "better" if value < first * (1 - CLOSE) else "none"
    if value <= bound * (1 + CLOSE) and not worse:
        kind = "bound"
    if compared is not None:
        gains = compared.kind == "better"
        if not gains or kind != "bound":
            kind = compared.kind
    return Gain(kind=kind, gains=bool(gains))


def clearly_less(before: float | None, after: float | None) -> bool:
    """Return whether so much less is a gain. It is none where one of both is not known."""
    return before is not None and after is not None and after < before * (1 - WORTH)


def _most_met(figures: MappedFigures) -> int:
    return figures.path_contention.max if figures.path_contention else 0
