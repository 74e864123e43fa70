"""The answer of ``analyze_permutations``: what pairs of hosts get, and what shifts load."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.questions.columns import Column, Columns, table
from netloom.questions.register import Answer

if TYPE_CHECKING:
    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.contention import EffectiveBisection, Shifts
    from netloom.topology import Topology

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
