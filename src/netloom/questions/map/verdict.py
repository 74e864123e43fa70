"""Whether a mapping helps: by the objective and its bound, or by simulation where that was run."""

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

WORTH = 0.005
"""Share of hop-bytes from which on it is worth saying that they are less."""

LESS = {
    "max-channel-load": "The busiest channel carries {share:.3g} of what it does under identity",
    "hop-bytes": "All traffic together takes {share:.3g} of the hops that it does under identity",
    "path-contention": "The path that meets most others meets {after}, {before} under identity",
    "saturation": "The worst node can offer {times:.3g} times what it can under identity",
}
"""What a smaller value of an objective means."""

LEAST = {
    "max-channel-load": "no mapping can make that less than {bound:.3g}",
    "hop-bytes": "no mapping can make that less than {bound:.3g}",
    "path-contention": "no mapping can make that less than {least:.0f}",
    "saturation": "no mapping can make that more than {most:.3g}",
}
"""What a lower bound of an objective means."""

SHARE, LATENCY = "worst-node share", "packet latency"
"""What pairs of runs are compared by."""


class MappingVerdict(NamedTuple):
    """Whether the mapping helps.

    ``kind`` is ``bound`` (nothing can be better), ``better`` (than identity), ``none`` (nothing
    better than identity was found, or no difference was measured) or ``worse`` (by simulation).
    """

    kind: Kind
    sentence: str


@dataclass(frozen=True)
class PairedRuns:
    """Pairs of simulations, before and after, each pair with one seed.

    Attributes
    ----------
    quantity
        ``packet latency``, mean, in cycles, where all runs keep up; else ``worst-node share``, what
        the worst node gets accepted of what it offers.
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
        """What was measured; ``none`` where the interval has both signs."""
        if not abs(self.difference) > self.half_width:
            return "none"
        return "better" if (self.difference < 0) == (self.quantity == LATENCY) else "worse"

    @property
    def sentence(self) -> str:
        """The comparison in words."""
        said = {
            "better": "Simulated, the mapping is better",
            "none": "Simulated, no difference was measured",
            "worse": "Simulated, the mapping is worse",
        }[self.kind]
        scale, unit = (1.0, "cycles") if self.quantity == LATENCY else (100.0, "points")
        before, after = scale * self.before, scale * self.after
        change, half = scale * self.difference, scale * self.half_width
        if self.quantity == LATENCY:
            figures = f"packets take {after:.1f} cycles, {before:.1f} under identity"
        else:
            figures = (
                f"the worst node gets {after:.1f} % of its traffic accepted, {before:.1f} % under "
                "identity"
            )
        return f"{said}: {figures} ({change:+.2g} ± {half:.2g} {unit}, {self.pairs} paired runs)."


def worst_share(simulation: Simulation) -> float:
    """Return how much of what it offers the worst node gets accepted."""
    run, rate = simulation.point.run, simulation.network.traffic.rate
    return float(run.accepted_worst_node / (run.load * rate[run.worst_node]))


def paired(before: Sequence[Simulation], after: Sequence[Simulation]) -> PairedRuns | None:
    """Compare runs of two mappings, the first of the one with the first of the other.

    Where all keep up, all that is offered is accepted, and packets' latencies tell them apart; else
    it is what the worst node gets accepted. None if nothing was measured.
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
    """Return whether a mapping helps, beside the least that any can reach.

    Parameters
    ----------
    before, after
        Analyses of identity and of the mapping, which name what a path meets.
    simulated
        Both simulated: where that was run, it has the first word.
    """
    counted = _counted(found, before, after)
    compared = None if simulated is None else simulated.compared
    if compared is None:
        return counted
    kind: Kind = compared.kind
    if (kind, counted.kind) == ("better", "bound"):
        kind = "bound"
    return MappingVerdict(kind, f"{compared.sentence} By the objective: {counted.sentence}")


def _counted(
    found: FoundMapping, before: Analysis | None, after: Analysis | None
) -> MappingVerdict:
    """Return whether a mapping helps by what is counted, without a simulation."""
    first, value, bound = found.starts["identity"], found.value, found.bound
    at_bound = value <= bound * (1 + CLOSE)
    if value >= first * (1 - CLOSE):
        return _no_help(found, before, after)
    if value == 0 and after is None:
        return MappingVerdict("bound", "Nothing is left that crosses the network.")
    if value == 0 and found.objective in ("hop-bytes", "max-channel-load"):
        said = "Nothing is left that goes from router to router: no mapping can do better."
        return MappingVerdict("bound", said)
    named = found.objective if found.objective in LESS else None
    most_met = [_most_met(each) for each in (before, after)]
    known = {
        "share": value / first,
        "times": first / value if value else float("inf"),
        "before": most_met[0],
        "after": most_met[1],
        "bound": bound / first,
        "least": bound // 1,
        "most": first / bound if bound else float("inf"),
    }
    said = LESS.get(named or "", "The objective is {share:.3g} of what it is under identity")
    if at_bound:
        end = "that is the bound: no mapping can do better"
    elif bound > 0:
        end = LEAST.get(named or "", LEAST["hop-bytes"])
    else:
        end = "how low a mapping can come is not known"
    sentence = f"{said.format(**known)}; {end.format(**known)}."
    return MappingVerdict("bound" if at_bound else "better", sentence)


def better_than_identity(
    found: FoundMapping, before: Analysis | None, after: Analysis | None
) -> bool:
    """Whether a mapping is better by its objective or, where that is the same, by what decides."""
    first, value = found.starts["identity"], found.value
    if value > first * (1 + CLOSE):
        return False
    return value < first * (1 - CLOSE) or _tie(found, before, after) is not None


def _no_help(
    found: FoundMapping, before: Analysis | None, after: Analysis | None
) -> MappingVerdict:
    """Say that identity is as good, or better; and where a tie was broken, by what."""
    objective, first = found.objective, found.starts["identity"]
    value, bound = found.value, found.bound
    if bound == 0 < first:
        near = "how low a mapping can come is not known"
    elif first <= bound * (1 + CLOSE):
        near = f"identity is at the bound of {objective}, below which no mapping is"
    elif first <= 2 * bound:
        near = f"identity is within {100 * (first / bound - 1):.3g} % of the bound"
    else:
        near = f"no mapping can be below {bound / first:.3g} of identity"
    if value > first * (1 + CLOSE):
        said = f"Identity is better: {objective} is {value / first:.3g} times what it is there"
        return MappingVerdict("none", f"{said}; {near}.")
    if (better := _tie(found, before, after)) is not None:
        near = f"{better}; {near}"
    elif np.array_equal(found.node_of, found.mappings.get("identity", ())):
        near = f"ranks stay in order; {near}"
    if first <= bound * (1 + CLOSE):
        return MappingVerdict("bound", f"Nothing helps {objective}: {near}.")
    return MappingVerdict("none", f"Nothing with less {objective} than identity was found: {near}.")


def _most_met(analysis: Analysis | None) -> int:
    """Return the highest ν; 0 if nothing crosses the network, or pairs have several paths."""
    if analysis is None or analysis.mapped.by_path is None:
        return 0
    return int(analysis.mapped.by_path.path_contention.max())


def _tie(found: FoundMapping, before: Analysis | None, after: Analysis | None) -> str | None:
    """Say what a mapping that is as good as identity has that is better; None if nothing."""
    if before is None or after is None:
        return None
    each = before.to_dict(), after.to_dict()
    hops = [figures["hop_bytes"] for figures in each]
    if None not in hops and hops[1] < hops[0] * (1 - WORTH):
        return f"at the same {found.objective}, hop-bytes fall to {hops[1] / hops[0]:.3g} of theirs"
    met = [_most_met(analysis) for analysis in (before, after)]
    if met[1] < met[0]:
        return (
            f"at the same {found.objective}, the path that meets most others meets {met[1]}, "
            f"{met[0]} under identity"
        )
    return None
