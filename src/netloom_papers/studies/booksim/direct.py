"""Meshes and tori of BookSim 2: netloom's networks, with the routings and traffic that match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.topology import topology
from netloom.workload import parse_traffic

if TYPE_CHECKING:
    from netloom.topology import Topology
    from netloom.workload import Traffic

ROUTINGS = {
    ("mesh", "dor"): "dimension-order",
    ("mesh", "dim_order"): "dimension-order",
    ("mesh", "xy_yx"): "o1turn",
    ("mesh", "adaptive_xy_yx"): "o1turn-adaptive",
    ("mesh", "romm"): "romm",
    ("mesh", "valiant"): "valiant",
    ("mesh", "min_adapt"): "adaptive-sticky-escape",
    ("torus", "dim_order"): "dimension-order-static-dateline",
    ("torus", "valiant"): "valiant",
    ("torus", "min_adapt"): "adaptive-sticky-escape",
}
"""The routing that each of the reference's routing functions is."""

TRAFFICS = {
    "uniform": "uniform", "transpose": "transpose", "bitcomp": "bit-complement",
    "bitrev": "bit-reverse", "shuffle": "shuffle", "tornado": "tornado", "neighbor": "neighbour",
}  # fmt: skip
"""The traffic that each of the reference's patterns is. All of them include the source itself."""

TWO_CLASSES = ("xy_yx", "adaptive_xy_yx", "romm", "valiant")

NETLOOM_PARTS = (
    "with an odd number of VCs the reference's two classes of VCs overlap, where netloom's do not."
)
NEVER_SET = (
    "the reference's Valiant routing on a torus reads the dateline class of a packet that goes "
    "straight on from a variable that was never set, so that it is not defined."
)


def cube(kind: str, side: str, dimensions: int) -> Topology:
    """Return the mesh or torus of ``dimensions`` equal sides."""
    return topology(f"{kind}:" + "x".join([side] * min(dimensions, 32)))


def traffic_of(pattern: str, network: Topology, where: str) -> Traffic:
    """Return the traffic that a pattern of the reference is, the source itself included."""
    try:
        return parse_traffic(f"{TRAFFICS[pattern]}-self", network)
    except InputError as error:
        found = f"'{TRAFFICS[pattern]}' ({error.found})"
        raise InputError(f"{where}, traffic", found) from None


def difference(kind: str, function: str, vcs: int) -> str:
    """Return in what a routing of the reference is known to differ in kind from netloom's."""
    if (kind, function) == ("torus", "valiant"):
        return NEVER_SET
    if function in TWO_CLASSES and vcs % 2:
        return NETLOOM_PARTS
    return ""
