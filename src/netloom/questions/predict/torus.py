"""The torus that a model is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.questions.named import find_network
from netloom.topology import Cube

if TYPE_CHECKING:
    from netloom.machines import Machine
    from netloom.topology import Topology


def find_torus(on: str | Topology | Machine) -> Cube:
    """Return the torus that ``on`` is or names; a ring of two nodes is one link.

    Raises
    ------
    InputError
        If there is no such network, or it is no torus.

    Examples
    --------
    >>> find_torus("torus:4x2").sides
    (4, 2)
    >>> find_torus("mesh:8x8")
    Traceback (most recent call last):
        ...
    netloom.errors.InputError: on: found mesh:8x8; expected a torus, such as torus:8x8: the model \
is of one
    """
    topology, _ = find_network(on)
    if isinstance(topology, Cube) and topology.num_nodes > 1:
        rings = zip(topology.sides, topology.wraps, strict=True)
        if all(wraps or side <= 2 for side, wraps in rings):
            return topology
    raise InputError("on", topology.name, "a torus, such as torus:8x8: the model is of one")
