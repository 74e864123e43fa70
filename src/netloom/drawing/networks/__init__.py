"""Pictures that show a network: a layout a family, from traffic to a list of what is drawn."""

from __future__ import annotations

from netloom.drawing.networks.columns import columns_scene, in_columns
from netloom.drawing.networks.cubes import (
    cube_scene,
    fits_grid,
    grid_scene,
    hyperx_scene,
    planes_scene,
)
from netloom.drawing.networks.profile import profile_scene
from netloom.drawing.networks.ring import ring_scene
from netloom.drawing.networks.scene import Scene, drawn, with_hosts
from netloom.drawing.networks.traffic import MARKED_IN_GRAPHS, Delays, Marked, Tips, Traffic
from netloom.topology import Cube
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape

__all__ = [
    "MARKED_IN_GRAPHS",
    "MOST_DRAWN",
    "Delays",
    "Marked",
    "Tips",
    "Traffic",
    "drawn",
    "scene_of",
]

MOST_DRAWN = 10_000
"""Most channels of a network that has no family whose picture knows how to merge them."""

SMALL = 300.0
"""Pixels below which a picture is one of many, without names."""


def scene_of(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a network, ``width`` pixels wide. None without channels or room."""
    topology = traffic.topology
    many = topology.num_network_channels
    if not many:
        return None
    cube = topology.routers if isinstance(topology.routers, Cube) else None
    if width < SMALL:
        small = cube is not None and fits_grid(cube)
        return grid_scene(traffic, width, named=False) if small else None
    if cube is not None:
        sides, scene = [side for side in cube.sides if side > 1], None
        if fits_grid(cube):
            scene = grid_scene(traffic, width)
        elif many <= MOST_DRAWN:
            scene = (planes_scene if len(sides) in (2, 3) else cube_scene)(traffic, width)
        return with_hosts(traffic, scene or profile_scene(traffic, width), width)
    if isinstance(topology.family, DragonflyShape):
        return ring_scene(traffic, width)
    if isinstance(topology.family, HyperXShape) and many <= MOST_DRAWN:
        scene = hyperx_scene(traffic, width) or profile_scene(traffic, width)
        return with_hosts(traffic, scene, width)
    if isinstance(topology.family, TreeShape) or many <= MOST_DRAWN:
        return columns_scene(traffic, in_columns(topology), width)
    return with_hosts(traffic, profile_scene(traffic, width), width)
