"""Feldmann, Stricker & Warfel 1993: phases of their patterns, and the bounds that are met.

The paper has 1 phase for the torus, 2 for the hypercube (a single one with 16 channels), 30 for
all-to-all, and 2, 2, 3 and 5 for its finite-element meshes, of which these are of the same sizes.
"""

from math import ceil

import numpy as np
import pytest

from netloom.mapping import gray
from netloom.phases import Capacity, connections, least_phases, partition, verify
from netloom.topology import topology
from netloom.workload import read


def compiled(spec, network, channels, *, node_of=None, costs=None):
    app = read(spec)
    where = np.arange(app.num_tasks) if node_of is None else node_of
    given = connections(app, where, network.num_nodes)
    plan = partition(given, network, Capacity(channels), costs=costs)
    verify(plan)
    return plan, least_phases(given, network, Capacity(channels)).phases


ALL_TO_ALL = [  # nodes of a row, channels, phases
    (4, 12, 4),
    (8, 8, 40),
    (8, 10, 32),
    (8, 12, 27),
    (8, 16, 20),
    (8, 20, 16),
    (16, 12, 192),
]


@pytest.mark.parametrize(("side", "channels", "phases"), ALL_TO_ALL)
def test_all_to_all_needs_no_more_phases_than_its_bound(side, channels, phases):
    """By hand: hops of all pairs, and a node more for each pair, of all channels of a phase."""
    nodes, hops_a_ring = side**2, side**2 // 4
    taken = nodes * (2 * side * hops_a_ring + nodes - 1)
    assert ceil(taken / (nodes * channels)) == phases
    plan, bound = compiled(f"all-to-all:{nodes}", topology(f"torus:{side}x{side}"), channels)
    assert plan.num_phases == bound == phases
    assert plan.use().max() <= channels


@pytest.mark.parametrize(("side", "phases"), [(4, 1), (8, 2), (16, 3)])
def test_hypercubes_by_gray_codes(side, phases, monkeypatch):
    monkeypatch.setattr("netloom.phases.plan.plans.MOVES", 1)  # how short phases are is not asked
    monkeypatch.setattr("netloom.phases.plan.plans.LEAST_MOVES", 1)
    network = topology(f"torus:{side}x{side}")
    nodes = network.num_nodes
    dimension = nodes.bit_length() - 1
    plan, bound = compiled(f"hypercube:{dimension}", network, 12, node_of=gray(nodes, network))
    assert plan.num_phases == bound == phases


@pytest.mark.parametrize(
    ("on", "channels", "phases"),
    [("torus:8x8", 16, 1), ("torus:8x8", 8, 2), ("hypercube:6", 12, 1)],
)
def test_the_hypercube_takes_sixteen_channels_or_eight_and_eight(on, channels, phases):
    network = topology(on)
    plan, _ = compiled("hypercube:6", network, channels, node_of=gray(64, network))
    assert plan.num_phases == phases
    assert (plan.use() == channels).all()


@pytest.mark.parametrize("side", [4, 8, 16])
def test_the_torus_pattern_is_one_phase(side):
    plan, _ = compiled(f"torus:{side}x{side}", topology(f"torus:{side}x{side}"), 8)
    assert plan.num_phases == 1
