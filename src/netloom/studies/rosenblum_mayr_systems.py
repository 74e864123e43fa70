"""Rosenblum & Mayr 1986: the systems of tables I and IV, and how one is run again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.simulation.combining import CombiningNetwork, run_combining
from netloom.workload import HotSpotTraffic, assign_hot_spots, place_hot_spots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.simulation.combining import CombiningRun

PAPER = "rosenblum-mayr"

STEPS = 1000
"""Steps in which requests are made, in most runs of the report."""


@dataclass(frozen=True)
class System:
    """One line of table I or IV.

    Attributes
    ----------
    pes, hot_spots, rate
        As printed.
    per_pe, assign
        Rounds in which a processing element gets a hot spot, and how likely; their product is
        printed.
    queue
        Packets that each queue and each wait pool holds; None: any number.
    """

    pes: int
    hot_spots: int
    per_pe: int
    assign: float
    rate: float
    queue: int | None

    @property
    def family(self) -> tuple[int, int, int, float]:
        """What, beside the seed, decides where hot spots are and who asks for which."""
        return self.pes, self.hot_spots, self.per_pe, self.assign

    def traffic(
        self, placement: int, *, wait: bool = False, spacing: tuple[int, int] | None = None
    ) -> HotSpotTraffic:
        """Return the requests: hot spots and their assignment by a seed, at random or spaced."""
        apart = {} if spacing is None else {"spacing": spacing[0], "deviation": spacing[1]}
        hot = place_hot_spots(self.pes, self.hot_spots, seed=placement, **apart)
        assigned = assign_hot_spots(self.pes, hot, self.per_pe, self.assign, seed=placement)
        return HotSpotTraffic(hot, assigned, self.rate, wait=wait)

    def run(
        self, traffic: HotSpotTraffic, seed: int, *, steps: int = STEPS, **options: Any
    ) -> CombiningRun:
        """Simulate the system; ``options`` are those of its network."""
        network = CombiningNetwork(self.pes, queue=self.queue, wait_buffer=self.queue, **options)
        return run_combining(network, traffic, steps, seed=seed)


def systems(known: Mapping[str, Any], pes: int) -> dict[str, System]:
    """Return the systems of a size by name, from the data file.

    Examples
    --------
    >>> normal = {"hot_spots": 2, "per_pe": 1, "assign": 0.95, "rate": 0.15, "queue": 8}
    >>> systems({"systems": {"16": {"Normal": normal}}}, 16)["Normal"].family
    (16, 2, 1, 0.95)
    """
    return {name: System(pes, **line) for name, line in known["systems"][f"{pes}"].items()}
