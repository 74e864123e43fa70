"""The answer of ``find_saturation``: where a network saturates, and the runs that show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from netloom.questions.columns import CYCLES, FLITS, Column, Columns, table
from netloom.questions.register import Answer
from netloom.questions.simulate.load.answer import CHANNELS, RUNS, channels_of, point_at, said_of
from netloom.questions.simulate.load.answer import CURVE as OF_LOADS
from netloom.questions.simulate.network import NETWORK

if TYPE_CHECKING:
    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.questions.register import Recorded
    from netloom.questions.simulate.load.answer import SimulatedLoad
    from netloom.questions.simulate.network import SimulatedNetwork
    from netloom.simulation.network.loaded import SaturationPoint, Setting


@dataclass(frozen=True, eq=False)
class Search:
    """Where one switching technique saturates."""

    setting: Setting
    found: SaturationPoint
    points: tuple[SimulatedLoad, ...]

    @property
    def interrupted(self) -> bool:
        """Whether the search was stopped from outside. What it found is how far it had come."""
        return self.found.interrupted

    @property
    def saturates(self) -> bool:
        """Whether the network saturates at any load that it can be offered."""
        return self.found.saturates


SEARCHES = Columns(
    Column("switching", kind=str, value="setting.router.switching"),
    Column("saturation_offered", "saturates at", FLITS, "found.load"),
    Column("saturation_offered_width", "width of that", FLITS, "found.load_width"),
    Column("saturation_throughput", "accepted", FLITS, "found.accepted"),
    Column("accepted_worst_node", "worst node", FLITS, "found.accepted_worst_node"),
    Column("peak_accepted", "most accepted", FLITS, "found.peak_accepted"),
    Column("saturates", kind=bool),
    Column("interrupted", kind=bool),
    Column("zero_load_latency", "zero-load latency", CYCLES, "found.zero_load_latency"),
    Column("latency_factor", "latency too long, times", value="found.latency_factor"),
    Column("throughput_bound", kind=dict, value=lambda search: search.setting.bound.to_json()),
    Column(
        "cpu_seconds",
        "processor time",
        "s",
        lambda search: sum(run.cpu_seconds for run in search.found.runs),
    ),
    Column("runs", kind=list, value=lambda search: [RUNS.nested(point) for point in search.points]),
)
"""What JSON says of each technique."""


@dataclass(frozen=True, eq=False)
class NetworkSaturation(Answer):
    """What ``find_saturation`` found, of one switching technique or of several.

    Attributes
    ----------
    advice
        What was better known before the runs, or None where nothing is amiss.
    """

    network: SimulatedNetwork
    searches: tuple[Search, ...]
    advice: str | None
    provenance: Provenance

    columns: ClassVar = RUNS
    in_json: ClassVar = SEARCHES
    about: ClassVar = NETWORK + Columns(Column("advice", kind=str))

    @property
    def interrupted(self) -> bool:
        """Whether a search was stopped from outside."""
        return any(search.interrupted for search in self.searches)

    @property
    def points(self) -> tuple[SimulatedLoad, ...]:
        """All runs of all searches."""
        return tuple(point for search in self.searches for point in search.points)

    @property
    def observations(self) -> tuple[Search, ...]:
        """The searches."""
        return self.searches

    @property
    def table_rows(self) -> tuple[SimulatedLoad, ...]:
        """All runs of all searches."""
        return self.points

    @property
    def several(self) -> bool:
        """Whether several techniques were asked for."""
        return self.network.compares

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per run of the search and channel, as ``Simulation.channels``."""
        return channels_of(self.points)

    def __repr__(self) -> str:
        lines = [
            f"{search.setting.router.switching}: offered {search.found.load:.4g}, accepted "
            f"{search.found.accepted:.4g} (worst node {search.found.accepted_worst_node:.4g}), "
            f"at most {search.setting.bound.load:.4g} by {search.setting.bound.what}"
            for search in self.searches
        ]
        return said_of("NetworkSaturation", self, lines)


def found_at(record: Recorded, technique: str) -> list[tuple[float, float]]:
    """Return where the search found a technique to saturate, and half the width of that."""
    return [
        (each["saturation_offered"], each["saturation_offered_width"] / 2)
        for each in record.points
        if each["switching"] == technique
        and each["saturates"]
        and each["saturation_offered"] is not None
    ]


CURVE = replace(OF_LOADS, besides=("alone",), found=found_at, detail=point_at)
