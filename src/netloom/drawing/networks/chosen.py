"""Which picture shows which network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.drawing.networks.columns import columns_scene
from netloom.drawing.networks.levels import in_columns
from netloom.drawing.networks.rasters import hyperx_scene, planes_scene
from netloom.drawing.networks.ring import ring_scene
from netloom.topology import Cube
from netloom.topology.family import DragonflyShape, HyperXShape, TreeShape

if TYPE_CHECKING:
    from netloom.drawing.networks.scene import Scene
    from netloom.drawing.networks.traffic import Traffic

MOST_DRAWN = 10_000
"""Most channels of a network that has no family whose picture knows how to merge them."""


def scene_of(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a network, ``width`` pixels wide; None where none shows anything."""
    topology = traffic.topology
    many = topology.num_network_channels
    if not many:
        return None
    if isinstance(topology.routers, Cube):
        sides = [side for side in topology.routers.sides if side > 1]
        return planes_scene(traffic, width) if len(sides) in (2, 3) and many <= MOST_DRAWN else None
    if isinstance(topology.family, DragonflyShape):
        return ring_scene(traffic, width)
    if isinstance(topology.family, HyperXShape) and many <= MOST_DRAWN:
        return hyperx_scene(traffic, width)
    if isinstance(topology.family, TreeShape) or many <= MOST_DRAWN:
        return columns_scene(traffic, in_columns(topology), width)
    return None
