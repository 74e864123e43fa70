"""The fields that models share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.questions.base import Question, option
from netloom.questions.fields import Measured, refuse
from netloom.questions.named import find_network
from netloom.topology import Cube

if TYPE_CHECKING:
    from netloom.machines import Machine
    from netloom.topology import Topology

RATES = "START:STOP:STEP, or 0:auto[:STEPS], up to where it saturates"
SIZES = "64,256, START:STOP:STEP or START:STOP:xFACTOR"


class BesideModel(Question, panel="Simulation beside the model"):
    """Whether the same is simulated beside the model."""

    simulate: bool = option(
        "Also simulate the network, at up to 8 points.",
        default=False,
    )


class Simulated(Measured, BesideModel):
    """Whether, and for how long, the same is simulated beside the model."""

    def refuse_limits_alone(self) -> None:
        """Raise InputError if a field says how long to simulate, and nothing is simulated."""
        if not self.simulate:
            refuse(self, tuple(Measured.model_fields), "simulate, which this says something of")


def find_torus(on: str | Topology | Machine) -> Cube:
    """Return the torus that ``on`` is or names. A ring of two nodes is one link.

    Raises
    ------
    InputError
        If there is no such network, it is no torus, or its channels differ in bandwidth.

    Examples
    --------
    >>> find_torus("torus:4x2").sides
    (4, 2)
    >>> find_torus("mesh:8x8")
    Traceback (most recent call last):
        ...
    netloom.InputError: on: found mesh:8x8; expected a torus, such as torus:8x8: the model \
is of one
    """
    topology, _ = find_network(on)
    if isinstance(topology, Cube) and topology.num_hosts > 1:
        rings = zip(topology.sides, topology.wraps, strict=True)
        if all(wraps or side <= 2 for side, wraps in rings):
            if not topology.even:
                wanted = "channels of one bandwidth: the model knows no other"
                raise InputError("on", f"{topology.name} with channels of several", wanted)
            return topology
    raise InputError("on", topology.name, "a torus, such as torus:8x8: the model is of one")
