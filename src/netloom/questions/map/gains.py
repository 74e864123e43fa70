"""Whether a mapping helps: by the objective and its bound, or by simulation if that was run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.simulation.intervals import batch_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.mapping import FoundMapping
    from netloom.questions.analyze.answer import Analysis
    from netloom.questions.map.answer import SimulatedMappings
    from netloom.questions.simulate.load.answer import Simulation

Kind: TypeAlias = Literal["bound", "better", "none", "worse"]

CLOSE = 1e-9
"""Relative difference of two values of an objective that is none."""

WORTH = 0.01
"""Share of an objective, or of hop-bytes, from which on less of it is a gain."""

SHARE, LATENCY = "worst-node share", "packet latency"
"""What pairs of runs are compared by."""


class MappingVerdict(NamedTuple):
    """Whether the mapping helps.

    ``kind`` is ``bound`` if nothing can be better, ``better`` if the mapping is better than rank
    order, ``worse`` if it is worse by simulation. It is ``none`` if nothing better was found, or
    no difference was measured. ``gains`` is whether the mapping is worth applying: better than
    rank order as simulated, or by 1 % of the objective. If that is the same, hop-bytes and path
    contention decide.
    """

    kind: Kind
    gains: bool


@dataclass(frozen=True)
class PairedRuns:
    """Pairs of simulations, before and after, each pair with one seed.

    Attributes
    ----------
    quantity
        ``packet latency``, mean, in cycles, if all runs carry what is offered. Else ``worst-node
        share``, what the worst node gets accepted of what it offers.
    pairs
        How many.
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

    @property
    def kind(self) -> Literal["better", "none", "worse"]:
        """What was measured. ``none`` if the interval has both signs."""
        if not abs(self.difference) > self.half_width:
            return "none"
        return "better" if (self.difference < 0) == (self.quantity == LATENCY) else "worse"


def worst_share(simulation: Simulation) -> float:
    """Return how much of what it offers the worst node gets accepted."""
    run, rate = simulation.point.run, simulation.network.traffic.rate
    return float(run.accepted_worst_node / (run.load * rate[run.worst_node]))


def paired(before: Sequence[Simulation], after: Sequence[Simulation]) -> PairedRuns | None:
    """Compare runs of two mappings, pair by pair.

    If all runs carry all that is offered, packets' latencies are compared. Else it is what the
    worst node gets accepted. None if nothing was measured.
    """
    quantity, values = SHARE, [[worst_share(run) for run in runs] for runs in (before, after)]
    latencies = [[run.packet_latency for run in runs] for runs in (before, after)]
    if all(each is not None for runs in latencies for each in runs):
        quantity = LATENCY
        values = [[float(each or 0.0) for each in runs] for runs in latencies]
    first, second = np.array(values[0]), np.array(values[1])
    if not (np.isfinite(first).all() and np.isfinite(second).all() and len(first) > 1):
        return None
    difference, half_width = batch_interval(second - first, np.ones(len(first)))
    means = float(first.mean()), float(second.mean())
    return PairedRuns(quantity, len(first), *means, difference, half_width)


def mapping_verdict(
    found: FoundMapping,
    before: Analysis | None,
    after: Analysis | None,
    simulated: SimulatedMappings | None = None,
) -> MappingVerdict:
    """Return whether a mapping helps: as simulated, if that was run, else by the objective.

    ``before`` and ``after`` are analyses of rank order and of the mapping.
    """
    counted = _counted(found, before, after)
    compared = None if simulated is None else simulated.compared
    if compared is None:
        return counted
    kind: Kind = compared.kind
    if (kind, counted.kind) == ("better", "bound"):
        kind = "bound"
    return MappingVerdict(kind, gains=compared.kind == "better")


def _counted(
    found: FoundMapping, before: Analysis | None, after: Analysis | None
) -> MappingVerdict:
    """Return whether a mapping helps by what is counted, without a simulation."""
    first, value, bound = found.starts["identity"], found.value, found.bound
    at_bound = value <= bound * (1 + CLOSE)
    worse = value > first * (1 + CLOSE)
    gains = value < first * (1 - WORTH) or (not worse and better_in_ties(before, after))
    if value < first * (1 - CLOSE):
        return MappingVerdict("bound" if at_bound else "better", gains)
    return MappingVerdict("bound" if at_bound and not worse else "none", gains)


def better_in_ties(before: Analysis | None, after: Analysis | None) -> bool:
    """Whether a mapping with the same objective has clearly less of what decides then."""
    if before is None or after is None:
        return False
    hops = [each.own["hop_bytes"] for each in (before, after)]
    if None not in hops and hops[1] < hops[0] * (1 - WORTH):
        return True
    met = [each.own["path_contention_max"] or 0 for each in (before, after)]
    return bool(met[1] < met[0])
