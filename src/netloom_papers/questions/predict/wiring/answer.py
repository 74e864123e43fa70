"""The answer of ``predict_wiring``: a square mesh over a hypercube of the same wiring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.questions.answers import Answer, Column, Columns, asked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netloom.base.provenance import Provenance

SIZE = Columns(
    Column("nodes", kind=int, key=True),
    Column("mesh_peak_width", "links side by side in the mesh", kind=int),
    Column("hypercube_peak_width", "links side by side in the hypercube", kind=int),
    Column("channel_width_ratio", "channels of the mesh wider, times"),
    Column("wire_length_ratio", "its longest wire shorter, times"),
)
DELAY = Columns(
    Column("delay", "delay of wires", kind=str, key=True),
    Column("channel_rate_ratio", "its clock faster, times"),
    Column("channel_bandwidth_ratio", "its bandwidth higher, times", key=True),
)
LENGTH = Columns(
    Column("message_headers", "message over header, L/H", key=True),
    Column("speedup", "messages arrive sooner, times", key=True),
)


@dataclass(frozen=True, eq=False)
class WiringPrediction(Answer):
    """What ``predict_wiring`` says: a square mesh against a hypercube of the same wiring.

    The table has a row for each size, delay of wires and length of messages.
    """

    columns: ClassVar = SIZE + DELAY + LENGTH
    in_json: ClassVar = SIZE + Columns(Column("delays", kind=list))
    about: ClassVar = Columns(
        Column("distance", kind=str, value=asked("distance")),
        Column("form", kind=str, value=asked("form")),
    )

    nodes: tuple[int, ...]
    message_headers: tuple[float, ...]
    points: tuple[dict[str, Any], ...]
    provenance: Provenance

    @property
    def table_rows(self) -> Iterable[dict[str, Any]]:
        """Each size, delay of wires and length of messages."""
        for point in self.points:
            for delay in point["delays"]:
                for each in delay["speedups"]:
                    yield point | delay | each

    def __repr__(self) -> str:
        asked = self.provenance.configuration
        head = f"<Mesh against hypercube, wired alike, {asked['distance']} distance; "
        lines = [f"{head}netloom {self.provenance.version}>"]
        for point in self.points:
            ratios = ", ".join(
                f"{each['channel_bandwidth_ratio']:.4g} ({each['delay']})"
                for each in point["delays"]
            )
            width = point["channel_width_ratio"]
            lines.append(
                f"{point['nodes']:,} nodes: a mesh's channels are {width:.4g} times wider; their "
                f"bandwidth over a hypercube's, by delay of wires: {ratios}"
            )
        return "\n".join(lines)
