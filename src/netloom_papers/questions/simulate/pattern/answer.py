"""The answer of ``simulate_pattern``: what loops and messages of a machine's nodes take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from netloom.questions.answers import Answer, Column, Columns
from netloom.questions.simulate.engines import NETWORK

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload.programs.node_costs import NodeCosts
    from netloom_papers.programs.neighbour_patterns import PatternTimes

MICROSECONDS, OF_CHANNEL = "µs", "of a channel"

TIMES = {
    "loop_us": ("loop", MICROSECONDS, True),
    "communication_us": ("message", MICROSECONDS, True),
    "slowdown": ("slow-down", "", False),
}
"""Figures of nodes: titles, units, and whether they are main ones."""


def _of_nodes(name: str, figure: Callable[..., float]) -> Callable[[PatternTimes], float]:
    return lambda point: float(getattr(point.of_busiest(figure), name))


def _times(part: str, node: str, figure: Callable[..., float]) -> list[Column]:
    return [
        Column(f"{name}_{part}", f"{title}, {node}", unit, _of_nodes(name, figure), key=key)
        for name, (title, unit, key) in TIMES.items()
    ]


@dataclass(frozen=True, eq=False)
class PatternSimulation(Answer):
    """What ``simulate_pattern`` found.

    Attributes
    ----------
    nodes
        int64[num_active], the nodes that take part.
    points
        One for each message length and computation that ended.
    asked
        How many were asked for.
    """

    network: PreparedNetwork
    pattern: str
    costs: NodeCosts
    nodes: Ints
    points: tuple[PatternTimes, ...]
    asked: int
    provenance: Provenance

    columns: ClassVar = Columns(
        Column("message_bytes", "message", "bytes", kind=int, key=True),
        Column("think_us", "computation", MICROSECONDS, key=True),
        Column("message_us", "alone", MICROSECONDS, "alone_us", key=True),
        Column("applied", "applied", OF_CHANNEL, key=True),
        *_times("mean", "mean", np.mean),
        *_times("max", "worst", np.max),
        Column("average_node", "traffic, average node", OF_CHANNEL, _of_nodes("traffic", np.mean)),
        Column("worst_node", "traffic, worst node", OF_CHANNEL, _of_nodes("traffic", np.max)),
    )
    about: ClassVar = NETWORK | Columns(
        Column("flit_bytes", kind=int, value="costs.flit_bytes"),
        Column("cycle_us", value="costs.cycle_us"),
        Column("pattern", kind=str),
        Column("active_nodes", kind=int, value=lambda found: len(found.nodes)),
        Column("interrupted", kind=bool),
    )

    @property
    def several(self) -> bool:
        """True: JSON has a list of points even if there is one."""
        return True

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        return len(self.points) < self.asked

    def __repr__(self) -> str:
        lines = [
            f"{point.message_bytes} bytes, computing {point.think_us:g} us: loop "
            f"{point.loop_us.mean():.1f} us (worst node {point.loop_us.max():.1f})"
            for point in self.points
        ]
        head = f"<{self.pattern} on {self.network.topology.name}; {self.origin}>"
        return "\n".join([head, *lines])
