"""What the models of the papers are of: tori, and networks of several sizes."""

from __future__ import annotations

from math import floor, log
from typing import Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import real_number
from netloom.machines import Machine
from netloom.mapping.layouts import cube_of_hosts
from netloom.questions.base import MOST_NUMBERS, parse_positive
from netloom.questions.named import find_network
from netloom.topology import Cube, Topology

SIZES = "64,256, START:STOP:STEP or START:STOP:xFACTOR"

MOST_DIMENSIONS = 28
"""Dimensions of a torus: with more, even sides of 2 make too many nodes."""


def find_torus(on: str | Topology | Machine) -> Cube:
    """Return the torus that ``on`` is or names, perhaps by a host on each of its routers.

    A ring of two nodes is one link.

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
    own = cube_of_hosts(topology)
    if own is not None and np.array_equal(own[1], np.arange(topology.num_hosts)):
        topology = own[0]
    if isinstance(topology, Cube) and topology.num_hosts > 1:
        rings = zip(topology.sides, topology.wraps, strict=True)
        if all(wraps or side <= 2 for side, wraps in rings):
            if not topology.even:
                wanted = "channels of one bandwidth: the model knows no other"
                raise InputError("on", f"{topology.name} with channels of several", wanted)
            return topology
    raise InputError("on", topology.name, "a torus, such as torus:8x8: the model is of one")


def parse_sizes(given: Any, field: str) -> tuple[int, ...]:
    """Return whole numbers above 0, rising, none twice.

    Parameters
    ----------
    given
        As for ``parse_positive``, or ``START:STOP:xFACTOR``, a range of which each is so many times
        the one before.

    Examples
    --------
    >>> parse_sizes("64:4096:x4", "nodes"), parse_sizes(1000, "nodes")
    ((64, 256, 1024, 4096), (1000,))
    """
    words = given.split(":") if isinstance(given, str) else []
    if len(words) == 3 and words[2].strip().startswith("x"):
        start, stop = (real_number(word.strip(), where=field) for word in words[:2])
        factor = real_number(words[2].strip().removeprefix("x"), where=field)
        if not (start >= 1 and stop >= start and factor > 1):
            raise InputError(field, f"'{given}'", "START:STOP:xFACTOR, such as 64:4096:x4")
        count = floor(min(log(stop / start) / log(factor) + 1e-9, MOST_NUMBERS)) + 1
        given = [round(start * factor**power) for power in range(count)]
    return tuple(int(each) for each in parse_positive(given, field, whole=True))
