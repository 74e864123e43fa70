"""What a mapping gains: the mappings that it is compared with, counted and by pairs of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from netloom.base.figures import SHARE, Figures, Number, derived, figure, leaves
from netloom.base.words import counted, number, percent, rounded
from netloom.contention.mapped import LOADS, MappedFigures, carried
from netloom.mapping.search.objectives import hosts_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.mapping.search.generations import FoundMapping
    from netloom.mapping.search.objectives import Measure
    from netloom.topology import Topology

Kind: TypeAlias = Literal["bound", "better", "none", "worse"]

CLOSE = 1e-9
"""Relative difference of two values of an objective that is none."""

WORTH = 0.01
"""Share of an objective, or of hop-bytes, from which on less of it is a gain."""

NOTHING_KNOWN = 0.005
"""A bound below this share of rank order is shown as a gain of 100 %, and says nothing."""

WORST, LATENCY = "worst-node share", "packet latency"
"""What pairs of runs are compared by."""


COUNTED = ("hop_bytes", "channel_load_max", "weighted_channel_load_max", "path_contention_mean",
           "path_contention_max")  # fmt: skip
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
        figures: dict[str, Any] = dict.fromkeys(COUNTED, 0)
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
    from netloom.simulation.intervals import batch_interval

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
