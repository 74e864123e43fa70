"""What the tests of readers share: a file from its text, and its network as names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

from netloom.topology.subnets.files import read_fabric

if TYPE_CHECKING:
    from pathlib import Path

    from netloom.topology.core import Topology


def network(folder: Path, text: str, name: str = "fabric") -> Topology:
    """Return the network of a file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read(path)


def read(path: Path | str) -> Topology:
    """Return the network of a file."""
    return read_fabric(str(path))


def links(topology: Topology) -> list[tuple[str, str, float, int]]:
    """Return every channel: the names of its ends, its rate in Gb/s (or relative), its cycles."""
    unit = topology.reference_gbps or 1.0
    return sorted(
        (topology.name_of(int(a)), topology.name_of(int(b)), round(float(rate) * unit, 6), int(c))
        for a, b, rate, c in zip(
            topology.source_end, topology.target_end, topology.channel_bandwidth,
            topology.channel_cycles, strict=True,
        )
    )  # fmt: skip


def hops(topology: Topology) -> nx.MultiDiGraph:
    """Return the network as NetworkX has it, of vertices by number."""
    graph = nx.MultiDiGraph()
    ends = (topology.source_end.tolist(), topology.target_end.tolist())
    graph.add_edges_from(zip(*ends, strict=True))
    return graph
