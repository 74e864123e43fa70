"""One mapping's paths, measured, and the figures by which mappings are compared."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention import Contention
from netloom.questions.columns import FLITS, Column, Columns

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.contention import ChannelLoads, Saturation
    from netloom.workload import ProcessGraph

COUNTED = ("path_length", "logical_path_length", "channel_load", "path_contention")
"""Whole numbers, of each path or channel."""

SPREADS = {
    "path_length": ("path length D", "hops"),
    "logical_path_length": ("logical path length d", ""),
    "channel_load": ("channel load χ", "paths"),
    "weighted_channel_load": ("channel load", "weight"),
    "path_contention": ("path contention ν", "paths"),
}
"""Figures of ``Contention`` that are given by mean and maximum: titles and units."""

OFTEN_SHOWN = {
    "channel_load_max": "paths on the busiest channel",
    "weighted_channel_load_max": "weight on the busiest channel",
    "path_contention_mean": "paths met, mean",
}
"""Those of them that are key figures, and how they are called."""


def _spread(name: str, part: str) -> Column:
    """Return the mean or the maximum of one of ``SPREADS``."""
    title, unit = SPREADS[name]
    kind: type = int if name in COUNTED else float
    kind = (
        Real if name == "channel_load" else kind
    )  # where pairs have several paths, an expected one
    kind = kind if part == "max" else float
    whole = f"{name}_{part}"
    shown = OFTEN_SHOWN.get(whole)
    if shown:
        return Column(whole, shown, kind=kind, key=True, json=f"{name}.{part}")
    return Column(whole, f"{title}, {part}", unit, kind=kind, json=f"{name}.{part}")


FIGURES = Columns(
    Column("seed", kind=int, json=None),
    *(_spread(name, part) for name in SPREADS for part in ("mean", "max")),
    Column("hop_bytes", "hop-bytes"),
    Column("dilation", "hops a byte", key=True),
    Column(
        "saturation_average_node", "most nodes delayed from (estimate)", FLITS,
        json="saturation.average_node",
    ),
    Column(
        "saturation_worst_node", "first node delayed from (estimate)", FLITS, key=True,
        json="saturation.worst_node",
    ),
    Column(
        "saturation_upper_bound", "carried at most by these paths", FLITS, key=True,
        json="saturation.upper_bound",
    ),
)  # fmt: skip
"""The figures by which mappings are compared. See ``figures``."""


@dataclass(frozen=True, eq=False)
class MappedProgram:
    """One mapping's paths, measured.

    ``source`` and ``target`` are hosts, ``weights`` floats, one for each edge of the process graph.
    The hosts of an edge are the same if it stays inside a node.
    ``contention`` is a ``Contention``. If a routing has several paths per pair, or there are more
    paths than can be compared, it is loads alone.
    """

    source: Ints
    target: Ints
    weights: Floats
    contention: ChannelLoads
    limit: Saturation

    @property
    def moving(self) -> Bools:
        """Which edges of the process graph use the network (bool[num_edges])."""
        return self.contention.moving

    @property
    def inside_nodes(self) -> float:
        """The share of the traffic that stays inside nodes."""
        return float(self.weights[~self.moving].sum() / self.weights.sum())

    @property
    def by_path(self) -> Contention | None:
        """The contention path by path. None where only the loads of channels are known."""
        return self.contention if isinstance(self.contention, Contention) else None

    @property
    def paths_meet(self) -> bool | None:
        """Whether two paths share a channel between routers. None where nobody counted."""
        return None if self.by_path is None else bool(self.by_path.path_contention.any())


def figures(seed: int, graph: ProcessGraph, mapped: MappedProgram) -> dict[str, Any]:
    """Return the figures by which mappings are compared.

    Means and maxima of path figures are over the paths that use the network, those of channel
    figures over all channels between routers, used or not. What is not known is None.
    """
    found, paths = mapped.contention, mapped.by_path
    moved = float(graph.bytes[mapped.moving].sum())
    row: dict[str, Any] = {"seed": seed}
    for name in SPREADS:
        values = getattr(found, name, None)
        if values is None:
            row |= {f"{name}_mean": None, f"{name}_max": None}
            continue
        values = values if name.endswith("channel_load") else values[mapped.moving]
        mean = float(values.mean()) if len(values) else 0.0  # one router has no channels
        row |= {f"{name}_mean": mean, f"{name}_max": values.max(initial=0).item()}
    if paths is None:
        row["path_length_mean"] = float(found.channel_load.sum()) / int(mapped.moving.sum())
        in_bytes = np.array_equal(mapped.weights, graph.bytes)
        hop_bytes = float(found.weighted_channel_load.sum()) if in_bytes else None
    else:
        hop_bytes = float(graph.bytes @ paths.path_length)
    return row | {
        "hop_bytes": hop_bytes,
        "dilation": None if hop_bytes is None else hop_bytes / moved if moved else 0.0,
        "saturation_average_node": mapped.limit.average_node,
        "saturation_worst_node": mapped.limit.worst_node,
        "saturation_upper_bound": mapped.limit.upper_bound,
    }
