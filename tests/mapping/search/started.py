"""Mappings to start from, of programs by their bytes on all nodes that work, if nothing is said."""

import numpy as np

from netloom.mapping.search import starts
from netloom.mapping.search.objectives import Measure, objective_of
from netloom.routing import DimensionOrder
from netloom.topology import working_nodes


def measure_of(app, topology, *, nodes=None, tasks_per_node=1, weights=None):
    """A measure of mappings. The starts do not look at its routing and its objective."""
    allowed = working_nodes(topology) if nodes is None else np.unique(nodes)
    carried, objective = app.bytes if weights is None else weights, objective_of("hop-bytes")
    return Measure(app, topology, DimensionOrder(), carried, objective, allowed, tasks_per_node)


def embed(app, topology, *, seed=1, **more):
    """An embedding of a program, or None."""
    return starts.embed(measure_of(app, topology, **more), seed)


def partitioned(app, topology, *, seed=1, **more):
    """A partition of a program."""
    return starts.partitioned(measure_of(app, topology, **more), seed)
