"""How each of several programs fares under an offered load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.questions.columns import CYCLES, FLITS, Column, Columns, known
from netloom.simulation.intervals import paired_ratio

if TYPE_CHECKING:
    from netloom.simulation.intervals import Batches
    from netloom.simulation.network.run import NetworkRun
    from netloom.simulation.tally import GroupMeasured
    from netloom.workload.programs.shared import SharedProgram


@dataclass(frozen=True, eq=False)
class ProgramLoad:
    """How one of several programs fares under an offered load.

    Attributes
    ----------
    offered
        Offered traffic of its average sending node, flits/node/cycle.
    measured, batches
        What its packets get and take beside those of the others, and their latencies by batches.
    stable
        Whether the network kept up. If not, latencies say nothing.
    alone
        The run in which it had the network to itself, or None where there was none.
    """

    name: str
    nodes: int
    tasks: int
    offered: float
    measured: GroupMeasured
    batches: Batches
    stable: bool
    alone: NetworkRun | None

    @property
    def latency(self) -> float | None:
        """Mean packet latency, cycles, or None past saturation, or without packets."""
        return known(self.measured.packet_latency) if self.stable else None

    @property
    def latency_slowdown(self) -> float | None:
        """Packet latency beside the others, in times that alone. It is 1 if they never meet.

        Both runs have the same packets of this program, and are measured over the same cycles.
        """
        return known(self._slowdown[0])

    @property
    def latency_slowdown_ci95(self) -> float | None:
        """Half-width of the 95 % interval of that multiple, batch by batch of both runs."""
        return known(self._slowdown[1])

    @property
    def _slowdown(self) -> tuple[float, float]:
        if self.alone is None or not self.alone.stable or not self.stable:
            return np.nan, np.nan
        return paired_ratio(self.batches, self.alone.latency_batches[0])

    @property
    def accepted_slowdown(self) -> float | None:
        """Accepted traffic alone, as a multiple of that beside the others."""
        if self.alone is None or not self.measured.accepted > 0:
            return None
        return known(self.alone.measured.accepted / self.measured.accepted)


def _latency(part: str, title: str, of: str) -> Column:
    def value(run: ProgramLoad | NetworkRun) -> float | None:
        return getattr(run.measured, of) if run.stable else None

    return Column(f"packet_latency_{part}", title, CYCLES, value, json=f"packet_latency.{part}")


FARED = Columns(
    Column("accepted", unit=FLITS, value="measured.accepted"),
    Column("accepted_ci95", "accepted, ± 95 %", FLITS, "measured.accepted_ci95"),
    _latency("mean", "latency", "packet_latency"),
    _latency("ci95", "latency, ± 95 %", "packet_latency_ci95"),
    Column("packets", kind=int, value="measured.packets"),
)
"""How a program fares, beside others or alone."""

ALONE = FARED + Columns(Column("stable", kind=bool))

SLOWDOWN = Columns(
    Column("packet_latency", "latency over that alone", value="latency_slowdown"),
    Column("packet_latency_ci95", "± 95 %", value="latency_slowdown_ci95"),
    Column("accepted", "accepted alone over that beside others", value="accepted_slowdown"),
)

PROGRAMS = (
    Columns(
        Column("name", kind=str),
        Column("nodes", kind=int),
        Column("tasks", kind=int),
        Column("offered", unit=FLITS),
    )
    + FARED
    + Columns(
        Column("alone", kind=dict, value=lambda each: each.alone and ALONE.nested(each.alone)),
        Column("slowdown", kind=dict, value=lambda each: each.alone and SLOWDOWN.nested(each)),
    )
)
"""What JSON says of each program."""


def program_loads(
    programs: SharedProgram, offered: float, run: NetworkRun, alone: tuple[NetworkRun | None, ...]
) -> tuple[ProgramLoad, ...]:
    """Return how each program fared in a run. ``alone`` holds a run of each, or nothing."""
    return tuple(
        ProgramLoad(
            name=name,
            nodes=len(np.unique(programs.node_of[programs.program_of == number])),
            tasks=int(np.count_nonzero(programs.program_of == number)),
            offered=offered,
            measured=run.groups[number],
            batches=run.latency_batches[number],
            stable=run.stable,
            alone=alone[number] if alone else None,
        )
        for number, name in enumerate(programs.names)
    )
