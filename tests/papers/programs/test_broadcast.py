import itertools

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError, NoRouteError
from netloom.topology import Topology, cube, hypercube, mesh, torus
from netloom.topology.graph import graph_topology
from netloom.workload import PacketStream, parse_lengths
from netloom.workload.programs.traces import ROW_FIRST, Orientation, branches
from netloom.workload.traffic import pairs, uniform
from netloom_papers.programs.broadcast import BroadcastTraffic, balanced_orientation
from tests.reference.tables import concatenated

NOBODY = np.empty(0, np.int64)
CUBES = [
    torus(4, 6),
    torus(5, 3, 4),
    mesh(4, 5),
    hypercube(4),
    cube([4, 3, 1], [True, False, True]),
]


def tree(topology, root, orientation=ROW_FIRST):
    """Return the node above each node, −1 for the root and what is out of reach."""
    part = branches(topology, root, None, orientation)
    parent = np.full(topology.num_hosts, -1)
    parent[part.target] = part.source
    return parent


def distances(topology, root):
    graph = nx.DiGraph()
    graph.add_edges_from(
        zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True)
    )
    return nx.single_source_shortest_path_length(graph, root)


def orientations(topology):
    dimensions = len(topology.sides)
    for order in itertools.permutations(range(dimensions)):
        for lean in itertools.product((0, 1), repeat=dimensions):
            yield Orientation(order, lean)


def check_spans(topology, root, parent):
    """Every node is one hop farther than its parent, so by induction on a shortest path."""
    hops = distances(topology, root)
    joined = set(zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True))
    assert parent[root] == -1
    for node in set(range(topology.num_nodes)) - {root}:
        assert (parent[node], node) in joined
        assert hops[node] == hops[int(parent[node])] + 1


@pytest.mark.parametrize("topology", CUBES, ids=str)
def test_every_orientation_spans_the_cube_on_shortest_paths(topology):
    for root, orientation in zip(
        itertools.cycle([0, 7, topology.num_nodes - 1]), orientations(topology), strict=False
    ):
        check_spans(topology, root, tree(topology, root, orientation))


@pytest.mark.parametrize("topology", CUBES, ids=str)
def test_dimensions_are_crossed_in_order(topology):
    for orientation in orientations(topology):
        parent = tree(topology, 5, orientation)
        for node in range(topology.num_nodes):
            crossed = []
            while parent[node] >= 0:
                here, there = topology.coordinates(node), topology.coordinates(int(parent[node]))
                crossed.append(next(i for i, c in enumerate(here) if c != there[i]))
                node = int(parent[node])
            places = [orientation.order.index(axis) for axis in reversed(crossed)]
            assert places == sorted(places)


def test_half_way_round_a_ring_is_where_the_orientation_leans():
    ring = torus(8)
    assert tree(ring, 6, Orientation((0,), (0,)))[2] == 1
    assert tree(ring, 6, Orientation((0,), (1,)))[2] == 3


def test_balanced_trees_load_rows_and_columns_alike_and_row_first_does_not():
    k = 8
    grid = torus(k, k)
    rng = np.random.default_rng(3)
    count = 4000
    drawn = np.zeros((2, 2))
    for number in range(count):
        part = branches(grid, number % 64, None, balanced_orientation(grid, rng))
        step = (part.target - part.source) % 64
        drawn[1] += [np.isin(step, (1, 64 - 7)).sum(), np.isin(step, (63, 7)).sum()]
        drawn[0] += [(step == 8).sum(), (step == 56).sum()]
    assert drawn.sum() == count * 63  # every hop is in one of the four directions
    # 3 or 4, 24 or 32 hops of a tree in a direction: standard deviation 12.4
    assert drawn == pytest.approx(np.full((2, 2), count * 63 / 4), abs=5 * 12.4 * count**0.5)
    fixed = branches(grid, 9)
    vertical = np.isin((fixed.target - fixed.source) % 64, (8, 56))
    assert (vertical.sum(), (~vertical).sum()) == (k * (k - 1), k - 1)


def test_any_network_is_spanned_on_shortest_paths():
    graph = graph_topology(nx.random_regular_graph(3, 20, seed=4))
    rng = np.random.default_rng(1)
    for root in (0, 13):
        check_spans(graph, root, tree(graph, root))
        trees = [tree(graph, root, balanced_orientation(graph, rng)) for _ in range(10)]
        for parent in trees:
            check_spans(graph, root, parent)
        assert any((parent != trees[0]).any() for parent in trees)


def test_one_way_channels_are_followed_forwards():
    circle = graph_topology(nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0)]))
    assert tree(circle, 2).tolist() == [3, 0, -1, 2]


def test_nodes_out_of_reach_are_left_out_and_refused_as_targets():
    cut = Topology("cut", 4, np.array([0, 1, 2, 3], np.int32), np.array([1, 0, 3, 2], np.int32))
    assert tree(cut, 0).tolist() == [-1, 0, -1, -1]
    assert branches(cut, 0).target.tolist() == [1]
    with pytest.raises(NoRouteError, match="from host 0 to host 3"):
        branches(cut, 0, np.array([1, 3]))


@pytest.mark.parametrize("topology", [torus(4, 6), mesh(5, 5)], ids=str)
def test_a_part_of_a_tree_leads_to_its_targets_and_nowhere_else(topology):
    rng = np.random.default_rng(2)
    for _ in range(30):
        root = int(rng.integers(topology.num_nodes))
        targets = rng.choice(topology.num_nodes, 4, replace=False)
        orientation = balanced_orientation(topology, rng)
        parent = tree(topology, root, orientation)
        ways = set()
        for node in targets.tolist():
            while node != root:
                ways.add((int(parent[node]), node))
                node = int(parent[node])
        part = branches(topology, root, targets, orientation)
        assert sorted(zip(part.source.tolist(), part.target.tolist(), strict=True)) == sorted(ways)
        assert set(part.target[part.asked]) == set(targets.tolist()) - {root}
        assert part.asked[part.leaves].all()
        for row, above in enumerate(part.after.tolist()):
            assert above < row
            assert part.source[row] == (root if above < 0 else part.target[above])


def traffic(fraction=0.3, rate=0.01, lengths=1, **options):
    law = parse_lengths(lengths)
    return BroadcastTraffic(torus(4, 4), uniform(16), rate, fraction, lengths=law, **options)


def columns(table):
    return [value for value in vars(table).values() if isinstance(value, np.ndarray)]


@pytest.mark.parametrize(
    "options", [{}, {"tree": "row-first"}, {"multicast_targets": 3, "lengths": "uniform:1-9"}]
)
def test_messages_do_not_depend_on_how_they_are_asked_for(options):
    whole = traffic(**options)
    table = whole.extend(NOBODY, 3000)
    cut = traffic(**options)
    parts = []
    for until in (0, 700, 701, 1000, 2999, 3000):
        parts.append(cut.extend(np.zeros(sum(map(len, parts)), np.int64), until))
    same = zip(columns(table), columns(concatenated(parts)), strict=True)
    assert all((one == other).all() for one, other in same)
    assert all((a == b).all() for a, b in zip(whole.sent(), cut.sent(), strict=True))
    assert len(table) > 1000


def test_unicast_messages_are_the_same_whatever_else_is_broadcast():
    packets = PacketStream(uniform(16), 0.04, lengths="uniform:1-7", seed=6).until(4000)
    for fraction in (0, 0.5):
        program = traffic(fraction, lengths="uniform:1-7", seed=6)
        table = program.extend(NOBODY, 4000)
        sent = program.sent()
        assert (table.start[sent.first] == packets.birth).all()
        plain = ~sent.broadcast[sent.first]
        rows = np.flatnonzero(sent.first)[plain]
        assert (table.target[rows] == packets.target[plain]).all()
        assert (table.flits[rows] == packets.flits[plain]).all()
        assert abs(1 - plain.mean() - fraction) < 0.1


def test_broadcasts_reach_all_nodes_once_after_their_start_up():
    program = traffic(1, startup_cycles=7, lengths=5)
    table = program.extend(NOBODY, 1000)
    sent = program.sent()
    begins = np.flatnonzero(sent.first).tolist()
    assert begins == list(range(0, len(table), 15))
    assert set(table.delay) == {7}
    assert sent.asked.all()
    for begin in begins:
        rows = slice(begin, begin + 15)
        root = int(table.source[begin])
        assert set(table.target[rows].tolist()) == set(range(16)) - {root}
        assert (table.start[rows] == table.start[begin]).all()
    source_of = {(begin // 15, int(t)): begin for begin, t in enumerate(table.target)}
    for row, waited in zip(table.waits().tolist(), table.after.tolist(), strict=True):
        assert waited == source_of[row // 15, int(table.source[row])]
    assert len(table.after) == len(table) - 4 * len(begins)


def test_broken_nodes_get_no_copies():
    links = [(0, 1), (1, 2), (2, 0)]
    ends = np.array(links + [(b, a) for a, b in links], np.int32)
    broken = Topology("broken", 4, ends[:, 0].copy(), ends[:, 1].copy())
    senders = pairs(4, [0, 1, 2], [1, 2, 0])
    for options in ({}, {"multicast_targets": 2}):
        program = BroadcastTraffic(broken, senders, 0.1, 1.0, lengths=parse_lengths(1), **options)
        table = program.extend(NOBODY, 200)
        assert len(table) == 2 * program.sent().first.sum()
        assert set(table.target.tolist()) == {0, 1, 2}
    with pytest.raises(InputError, match="multicast targets: found 3 of 3 nodes; expected 1 to 2"):
        BroadcastTraffic(broken, senders, 0.1, 1.0, lengths=parse_lengths(1), multicast_targets=3)


def test_a_broadcast_is_everywhere_with_its_last_copy():
    program = traffic(0.3, startup_cycles=2)
    table = program.extend(NOBODY, 2000)
    sent = program.sent()
    complete = np.zeros(len(table), np.int64)
    waits_for = dict(zip(table.waits().tolist(), table.after.tolist(), strict=True))
    for row in range(len(table)):
        begin = complete[waits_for[row]] if row in waits_for else table.start[row]
        complete[row] = begin + 2 + 10
    latency = sent.ends(complete) - table.start[sent.first]
    broadcast = sent.broadcast[sent.first]
    assert set(latency[~broadcast]) == {12}
    assert set(latency[broadcast]) == {4 * 12}  # the diameter is 4
    # at distance 1: 4 nodes, 2: 6, 3: 4, 4: 1
    reached = (complete - table.start)[sent.broadcast & sent.asked]
    assert (np.bincount(reached // 12)[1:] / broadcast.sum()).tolist() == [4, 6, 4, 1]
    complete[np.flatnonzero(sent.broadcast)[-1]] = -1
    assert (sent.ends(complete) == -1).sum() == 1
