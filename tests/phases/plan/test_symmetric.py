"""Whole permutations in phases: which patterns, what they take, and how few phases they need."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from netloom.contention.messages import ConSetCosts
from netloom.phases import (
    Capacity,
    Plan,
    connections,
    first_violation,
    least_clocks,
    least_phases,
    phase_clocks,
)
from netloom.phases.plan import plans as partitioning
from netloom.phases.plan.plans import pack_permutations, permutations
from netloom.topology import cube, hop_distances, hypercube, mesh, torus
from netloom.workload import read
from tests.phases.hand_made import joined

TORI = [torus(4, 4), torus(3, 5), torus(6, 2), torus(4, 3, 2), hypercube(4), torus(7), torus(8)]
NAMES = [network.name for network in TORI]


@pytest.fixture(autouse=True, scope="module")
def _fewer_tries():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitioning, "TRIES", 200_000)
        yield


def everyone(network, words=1):
    nodes = network.num_nodes
    return connections(read(f"all-to-all:{nodes}"), np.arange(nodes), nodes, words=words)


def displaced(network, *displacements, words=None):
    """Return a connection from every node over each displacement."""
    at = np.array(np.unravel_index(np.arange(network.num_nodes), network.sides))
    pairs, amounts = [], []
    for number, displacement in enumerate(displacements):
        there = (at + np.array(displacement)[:, None]) % np.array(network.sides)[:, None]
        pairs += enumerate(np.ravel_multi_index(tuple(there), network.sides).tolist())
        amounts += [words[number] if words else 1] * network.num_nodes
    return joined(network.num_nodes, pairs, amounts)


def sets_of(given, network, per="node", *, halved=False):
    return permutations(given, network, Capacity(12, per), ConSetCosts(), halved=halved)


def load_of(sets, number, network):
    """Return how many connections of a set are on each channel."""
    hops = np.concatenate([sets.routes[one] for one in sets.members[number].tolist()])
    return np.bincount(hops, minlength=network.num_channels)


@pytest.mark.parametrize("network", TORI, ids=NAMES)
def test_all_to_all_is_a_permutation_for_each_displacement(network):
    given = everyone(network)
    sets = sets_of(given, network)
    nodes = network.num_nodes
    assert len(sets.members) == nodes - 1
    assert sorted(np.concatenate(sets.members).tolist()) == list(range(len(given)))
    hops = hop_distances(network)[given.source, given.target]
    assert sets.routes.lengths.tolist() == hops.tolist()
    for members in sets.members:
        assert sorted(given.source[members].tolist()) == list(range(nodes))
        assert sorted(given.target[members].tolist()) == list(range(nodes))
    phase = np.zeros(len(given), np.int32)
    plan = Plan(network, given, Capacity(2**15), phase, sets.routes, "symmetric")
    assert first_violation(plan) is None


@pytest.mark.parametrize("network", [torus(4, 4), torus(3, 5), torus(8, 4), hypercube(4), torus(7)])
def test_channels_of_a_direction_are_loaded_alike(network):
    """Where no side is 2 modulo 4, beyond 2: half-way round such a ring is an odd way."""
    sets = sets_of(everyone(network), network, "channel")
    starts = [*network.line_base.ravel().tolist(), network.num_channels]
    for number in range(len(sets.members)):
        load = load_of(sets, number, network)
        assert sorted(set(load.tolist())) == sorted(set(sets.sizes[number].tolist()))
        for first, last in pairwise(starts):
            assert len(set(load[first:last].tolist())) == 1


def test_half_way_round_both_ways_are_taken():
    load = load_of(sets_of(displaced(torus(8), [4]), torus(8)), 0, torus(8))
    assert load.tolist() == [2] * 16
    load = load_of(sets_of(displaced(torus(6), [3]), torus(6)), 0, torus(6))
    assert sorted(load.tolist()) == [1] * 6 + [2] * 6


def refused():
    network = torus(4, 4)
    given = displaced(network, [0, 1], [1, 1])
    few = np.arange(len(given)) > 0
    words = given.words.copy()
    words[3] = 2
    order = np.array([3], np.int32), np.array([4], np.int32)
    fewer = joined(16, list(zip(given.source[few], given.target[few], strict=True)), words[few])
    twice = joined(16, 2 * [(node, node ^ 1) for node in range(16)], [1] * 32)
    open_ = everyone(mesh(4, 4))
    return {
        "one too few": (fewer, network),
        "one is longer": (replace(given, words=words), network),
        "an order": (replace(given, before=order[0], after=order[1]), network),
        "twice the same": (twice, network),
        "no displacement": (
            joined(16, [(node, node ^ 5) for node in range(16)], [1] * 16),
            network,
        ),
        "a mesh": (open_, mesh(4, 4)),
        "open in one dimension": (open_, cube((4, 4), (True, False))),
    }


@pytest.mark.parametrize("what", refused())
def test_patterns_that_do_not_look_alike(what):
    given, network = refused()[what]
    assert sets_of(given, network) is None
    assert sets_of(given, network, halved=True) is None


FEWEST = [  # network, capacity, phases
    (torus(3, 3), (10, "node"), 2),
    (torus(3, 3), (2, "channel"), 2),
    (torus(5), (3, "node"), 4),
    (torus(4, 4, 2), (12, "node"), 10),
    (torus(4, 4, 4), (12, "node"), 22),
    (torus(3, 5), (8, "node"), 6),
    (hypercube(5), (8, "node"), 14),
    (hypercube(5), (4, "channel"), 4),
    (torus(8, 8), (8, "channel"), 8),
]


@pytest.mark.parametrize(("network", "capacity", "phases"), FEWEST)
def test_all_to_all_in_as_few_phases_as_can_be(network, capacity, phases):
    given, limit = everyone(network), Capacity(*capacity)
    both = [permutations(given, network, limit, ConSetCosts(), halved=h) for h in (False, True)]
    plans = [pack_permutations(given, network, limit, sets, phases) for sets in both if sets]
    packed = [plan for plan in plans if plan is not None]
    assert packed
    for plan in packed:
        assert first_violation(plan) is None
        assert plan.num_phases == phases
    assert least_phases(given, network, limit).phases == phases


def test_phases_are_balanced():
    """8x8 all-to-all in 27 phases: at most 160 clocks a word (bisection 128), and again so."""
    network, costs = torus(8, 8), ConSetCosts()
    given = everyone(network)
    sets = permutations(given, network, Capacity(12), costs, halved=False)
    plan = pack_permutations(given, network, Capacity(12), sets, 27, seed=3)
    assert first_violation(plan) is None
    assert least_clocks(given, network, costs) == 128
    assert 128 <= phase_clocks(plan, costs).sum() <= 160
    again = pack_permutations(given, network, Capacity(12), sets, 27, seed=3)
    assert again.phase.tolist() == plan.phase.tolist()
