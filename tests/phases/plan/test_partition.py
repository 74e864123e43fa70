"""The compiler as a whole: which way it goes, what it refuses, and that seeds repeat."""

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.contention.messages import ConSetCosts
from netloom.phases import (
    Capacity,
    connections,
    first_violation,
    least_clocks,
    least_phases,
    partition,
    phase_clocks,
)
from netloom.phases.plan import plans as partitioning
from netloom.topology import graph_topology, hypercube, mesh, omega, topology, torus, without
from netloom.workload import read
from tests.phases.hand_made import joined

SYMMETRIC = (
    "method 'symmetric': found {}; expected a pattern that looks alike from every node of a torus"
    " or hypercube, without an order"
)


@pytest.fixture(autouse=True, scope="module")
def _fewer_moves():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitioning, "MOVES", 50)
        patch.setattr(partitioning, "LEAST_MOVES", 1000)
        patch.setattr(partitioning, "TRIES", 100_000)
        yield


def asked(spec, network, words=10, order=()):
    app = read(spec)
    nodes = network.num_nodes
    return connections(app, np.arange(app.num_tasks), nodes, words=words, order=order)


def judged(plan):
    assert first_violation(plan) is None
    bound = least_phases(plan.connections, plan.topology, plan.capacity).phases
    assert plan.num_phases >= bound
    return plan.num_phases, plan.method


RING, PETERSEN = topology("ring:4"), graph_topology(nx.petersen_graph())

METHODS = [  # pattern, network, capacity, method asked for, phases, method taken
    ("all-to-all:16", "torus:4x4", 12, "auto", 4, "symmetric"),
    ("all-to-all:16", "torus:4x4", 12, "symmetric", 4, "symmetric"),
    ("all-to-all:16", "torus:4x4", 12, "negotiated", 4, "negotiated"),
    ("all-to-all:16", "torus:4x4", 12, "sequential", 5, "sequential"),
    ("all-to-all:16", "mesh:4x4", 12, "auto", 5, "negotiated"),
    ("hypercube:4", "hypercube:4", 8, "auto", 1, "symmetric"),
    ("transpose:4", "torus:4x4", 2, "auto", 2, "negotiated"),
    ("ring:16", "mesh:4x4", 5, "sequential", 2, "sequential"),
]


@pytest.mark.parametrize(("spec", "network", "limit", "method", "phases", "taken"), METHODS)
def test_methods(spec, network, limit, method, phases, taken):
    there = topology(network)
    plan = partition(asked(spec, there), there, Capacity(limit), method=method)
    assert judged(plan) == (phases, taken)


@pytest.mark.parametrize("method", ["auto", "symmetric", "negotiated", "sequential"])
def test_nothing_to_connect(method):
    for network in (mesh(1), torus(3, 3)):
        for per in ("node", "channel"):
            nothing = connections(read("all-to-all:4"), [0] * 4, network.num_nodes)
            plan = partition(nothing, network, Capacity(1, per), method=method)
            assert judged(plan) == (0, "none")
            assert len(plan.routes) == 0
            assert repr(plan).startswith("<0 connections in 0 phases on")


@pytest.mark.parametrize("method", ["negotiated", "sequential"])
def test_many_connections_between_the_same_nodes(method):
    """Each takes a virtual channel of its own: 7 at node 0, 3 a phase; the ring has two ways."""
    given = joined(5, 7 * [(0, 2)], [1, 2, 3, 4, 5, 6, 7])
    network = topology("ring:5")
    assert judged(partition(given, network, Capacity(3), method=method)) == (3, method)
    plan = partition(given, network, Capacity(2, "channel"), method=method)
    assert judged(plan) == (2, method)
    assert set(plan.routes.lengths.tolist()) == {2, 3}


@pytest.mark.parametrize("method", ["auto", "negotiated", "sequential"])
def test_an_order_decides_phases(method):
    """A token goes around a ring: with one virtual channel, two hops never share a phase."""
    order = [((node, (node + 1) % 6), ((node + 1) % 6, (node + 2) % 6)) for node in range(5)]
    ring = topology("ring:6")
    backwards = [(((node + 1) % 6, node), (node, (node - 1) % 6)) for node in range(5, 0, -1)]
    given = asked("ring:6", ring, order=[*order, *backwards])
    plan = partition(given, ring, Capacity(2), method=method)
    judged(plan)
    token = [plan.phase[(given.source == n) & (given.target == (n + 1) % 6)][0] for n in range(6)]
    assert token == sorted(token)
    alone = partition(given, ring, Capacity(1), method=method)
    judged(alone)
    token = [alone.phase[(given.source == n) & (given.target == (n + 1) % 6)][0] for n in range(6)]
    assert len(set(token)) == 6


@pytest.mark.parametrize("method", ["symmetric", "negotiated", "sequential"])
def test_phases_cost_time_and_more_phases_may_save_it(method):
    """Where a switch costs nothing, phases for each word; where it costs much, as few as can be."""
    network, given = torus(4, 4), asked("all-to-all:16", torus(4, 4), words=100)
    free, dear = (ConSetCosts(sync_clocks=0, phase_clocks=switch) for switch in (0, 10**6))
    total = {}
    for name, costs in (("free", free), ("dear", dear)):
        for objective in ("phases", "time"):
            plan = partition(
                given, network, Capacity(12), costs=costs, method=method, objective=objective
            )
            judged(plan)
            clocks = phase_clocks(plan, costs).sum()
            assert clocks >= least_clocks(given, network, costs)
            total[name, objective] = plan.num_phases * costs.switch_clocks + clocks
    assert total["free", "time"] <= total["free", "phases"]
    assert total["dear", "time"] <= total["dear", "phases"]


@pytest.mark.parametrize("per", ["node", "channel"])
@pytest.mark.parametrize(
    "network",
    [without(mesh(4, 4), channels="5-6", nodes="0"), PETERSEN, hypercube(3), omega(4)],
    ids=["faulty", "petersen", "hypercube", "omega"],
)
def test_any_network(network, per):
    rng = np.random.default_rng(5)
    ends = np.arange(4) if network.name == "omega:4" else np.arange(1, network.num_nodes)
    pairs = [rng.choice(ends, 2, replace=False).tolist() for _ in range(30)]
    given = joined(network.num_nodes, pairs, rng.integers(0, 9, 30).tolist())
    for method in ("auto", "sequential"):
        judged(partition(given, network, Capacity(3, per), method=method))


ODD = [  # a pattern and its network
    (asked("all-to-all:16", mesh(4, 4)), mesh(4, 4)),
    (asked("transpose:4", torus(4, 4)), torus(4, 4)),
    (asked("ring:4", RING, order=[((0, 1), (1, 2))]), RING),
    (asked("all-to-all:10", PETERSEN), PETERSEN),
]


@pytest.mark.parametrize(("given", "network"), ODD)
def test_patterns_that_are_not_symmetric(given, network):
    with pytest.raises(InputError) as caught:
        partition(given, network, Capacity(12), method="symmetric")
    assert str(caught.value) == SYMMETRIC.format(given.name)


def test_in_one_phase_too_channels_are_shared_out():
    """The first routes of four random connections a node on 8x8 crowd few channels."""
    given, costs = asked("random-regular:64,4", torus(8, 8)), ConSetCosts()
    plan = partition(given, torus(8, 8), Capacity(60))
    assert judged(plan)[0] == 1
    assert phase_clocks(plan, costs).sum() <= 1.3 * least_clocks(given, torus(8, 8), costs)
