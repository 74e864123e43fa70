"""A search finds better mappings, keeps what it is given, and is as good as its word."""

import itertools
import threading
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.contention import measure
from netloom.mapping import OBJECTIVES, search_mapping
from netloom.mapping.kernels.search import anneal, busy_items, cost, fill, gather, relieve, shorten
from netloom.mapping.search import generations as search_arrays_module
from netloom.mapping.search.generations import Held, SearchArrays, images, room, search_arrays
from netloom.mapping.search.objectives import Measure, objective_of
from netloom.mapping.search.starts import near_hosts
from netloom.routing import parse_routing
from netloom.topology import hop_distances, hypercube, mesh, topology as network_of, torus, without
from netloom.workload import process_graph, read
from tests.reference import mapping_cost

NETWORKS = [mesh(3, 3), torus(4, 3), hypercube(3), mesh(2, 2, 2), torus(5)]


@st.composite
def programs(draw, most_tasks):
    tasks = draw(st.integers(2, most_tasks))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, tasks - 1), st.integers(0, tasks - 1), st.integers(1, 9)),
            min_size=1,
            max_size=20,
        ).filter(lambda found: any(start != end for start, end, _ in found))
    )
    source, target, size = (list(column) for column in zip(*pairs, strict=True))
    return process_graph(tasks, source, target, bytes=size)


def mapped_programs():
    """Programs with networks, routings and random mappings, in the search's own arrays."""
    networks = st.sampled_from(NETWORKS).flatmap(
        lambda net: st.tuples(st.just(net), programs(net.num_nodes), st.integers(1, 2))
    )
    return st.builds(
        random_mapping,
        networks,
        st.sampled_from(["default", "shortest-path", "stepped"]),
        st.integers(0, 99),
    )


class Mapped(NamedTuple):
    task: tuple  # what the twin takes
    arrays: SearchArrays
    held: Held
    rng: np.random.Generator

    @property
    def kernel_task(self):
        return tuple(self.arrays.net), tuple(self.arrays.graph)

    @property
    def moved(self):
        arrays = self.arrays
        near = tuple(self.held), arrays.near
        return *self.kernel_task, arrays.partners, arrays.num_tasks, *near


def random_mapping(task, routing_name, seed):
    topology, app, tasks_per_node = task
    routing = parse_routing(routing_name.replace("stepped", "default"), topology)
    nodes = np.arange(topology.num_nodes, dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        if routing_name == "stepped":  # as on large networks, where no paths are looked up
            patch.setattr(search_arrays_module, "MOST_TABLED", 0)
            patch.setattr(search_arrays_module, "MOST_DISTANCES", 0)
        asked = objective_of("max-channel-load")
        arrays = search_arrays(
            Measure(app, topology, routing, app.bytes, asked, nodes, tasks_per_node)
        )
    rng = np.random.default_rng(seed)
    place_of = rng.permutation(len(arrays.place_node))
    loads = np.zeros(topology.num_channels)
    held = Held(arrays.place_node[place_of], place_of, np.argsort(place_of), loads)
    return Mapped((app, topology, routing, app.bytes), arrays, held, rng)


def check_held(mapped, *, loads=True):
    """What is held agrees with itself, and with a recount."""
    arrays, held = mapped.arrays, mapped.held
    assert sorted(held.place_of) == list(range(len(held.place_of)))
    assert (held.item_at[held.place_of] == np.arange(len(held.place_of))).all()
    assert (held.node_of == arrays.place_node[held.place_of]).all()
    if loads:
        found = mapping_cost.channel_loads(*mapped.task, held.node_of)
        assert held.loads == pytest.approx([found[at] for at in range(arrays.num_channels)])


@given(mapped_programs(), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=40, deadline=None)
def test_annealing_counts_what_a_recount_counts(mapped, aside):
    held, terms, work = mapped.held, (0.5, 2.0, 3.0), room(mapped.arrays)
    fill(*mapped.kernel_task, np.zeros(len(held.loads)), tuple(held), work)
    before = cost(held.loads, terms)
    found = mapping_cost.channel_loads(*mapped.task, held.node_of)
    assert before == pytest.approx(mapping_cost.cost(found, *terms))
    cooling = terms, 0.5 * before, 0.1 * before, 300
    grown = anneal(*mapped.moved, *cooling, aside, work, mapped.rng)
    check_held(mapped)
    found = mapping_cost.channel_loads(*mapped.task, held.node_of)
    counted = mapping_cost.cost(found, *terms)
    assert before + grown == pytest.approx(counted, rel=1e-6, abs=1e-9 * before)
    level = aside * max(found.values(), default=0.0)
    items = np.zeros(len(held.node_of), np.int64)
    number = busy_items(*mapped.kernel_task, tuple(held), level, items)
    assert items[:number].tolist() == mapping_cost.busy_tasks(*mapped.task, held.node_of, level)


@given(mapped_programs(), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_what_all_pairs_send_alike_loads_channels_alike(mapped, alike):
    """A light program that spares nothing, on its base, loads channels as the program does."""
    app, topology, routing, _ = mapped.task
    arrays = mapped.arrays
    places = len(arrays.place_node)
    source, target = np.nonzero(~np.eye(places, dtype=bool))
    dense = process_graph(
        places,
        np.append(source, app.source),
        np.append(target, app.target),
        bytes=np.append(np.full(len(source), alike), app.bytes),
    )
    nodes, per_node = np.unique(arrays.place_node, return_counts=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_arrays_module, "SPARED", 0.0)
        asked, nodes = objective_of("max-channel-load"), nodes.astype(np.int32)
        light = search_arrays(
            Measure(dense, topology, routing, dense.bytes, asked, nodes, per_node[0])
        )
    held = mapped.held
    if 2 * len(app.source) < len(source) // 2:
        assert len(light.light.others) < len(light.graph.others) // 2
    fill(tuple(light.net), tuple(light.light), light.base, tuple(held), room(light))
    found = mapping_cost.channel_loads(dense, topology, routing, dense.bytes, held.node_of)
    assert held.loads == pytest.approx([found[at] for at in range(arrays.num_channels)])


@given(mapped_programs())
@settings(max_examples=30, deadline=None)
def test_gathering_counts_what_a_recount_counts(mapped):
    held = mapped.held
    before = mapping_cost.hop_bytes(*mapped.task, held.node_of)
    grown = gather(*mapped.moved, 0.5 * before, 0.1 * before, 300, mapped.rng)
    check_held(mapped, loads=False)
    assert before + grown == pytest.approx(mapping_cost.hop_bytes(*mapped.task, held.node_of))


@given(mapped_programs())
@settings(max_examples=20, deadline=None)
def test_no_swap_relieves_what_was_relieved(mapped):
    held, work = mapped.held, room(mapped.arrays)
    fill(*mapped.kernel_task, np.zeros(len(held.loads)), tuple(held), work)
    loads = mapping_cost.channel_loads(*mapped.task, held.node_of)
    before = mapping_cost.crowding(loads)
    relieve(*mapped.kernel_task, tuple(held), 10**6, work)
    check_held(mapped)
    after = mapping_cost.crowding(mapping_cost.channel_loads(*mapped.task, held.node_of))
    assert after <= before
    busy = mapping_cost.busy_tasks(*mapped.task, held.node_of, after[0]) if after[0] else []
    for swapped in mapping_cost.after_each_swap(held.node_of, busy):
        assert mapping_cost.crowding(mapping_cost.channel_loads(*mapped.task, swapped)) >= after


@given(mapped_programs())
@settings(max_examples=20, deadline=None)
def test_no_swap_shortens_what_was_shortened_below_the_lid(mapped):
    held, work, tasks = mapped.held, room(mapped.arrays), mapped.arrays.num_tasks
    fill(*mapped.kernel_task, np.zeros(len(held.loads)), tuple(held), work)
    lid, before = float(held.loads.max()), float(held.loads.sum())
    shorten(*mapped.kernel_task, tasks, tuple(held), lid, 10**6, work)
    check_held(mapped)
    assert held.loads.max() <= lid
    after = float(held.loads.sum())
    assert after <= before
    for swapped in mapping_cost.after_each_swap(held.node_of, range(tasks)):
        loads = mapping_cost.channel_loads(*mapped.task, swapped)
        assert max(loads.values(), default=0.0) > lid or sum(loads.values()) >= after


def value_by(objective, app, topology, first):
    routing, nodes = parse_routing("default", topology), np.arange(topology.num_hosts)
    plain = Measure(app, topology, routing, app.bytes, objective_of(objective), nodes)
    return plain.scaled(first)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_small_programs_get_the_best_mapping_there_is(objective):
    ends = [0, 1, 2, 3, 4, 5, 0, 2], [3, 4, 5, 1, 2, 0, 1, 3]
    app = process_graph(6, *ends, bytes=[5, 1, 7, 2, 9, 4, 3, 8])
    topology = mesh(2, 3)
    value_of = value_by(objective, app, topology, np.arange(6))
    best = min(value_of(np.array(order)) for order in itertools.permutations(range(6)))
    found = search_mapping(app, topology, objective=objective, rounds=12, seed=3)
    assert found.value == pytest.approx(best)
    assert found.bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("objective", [*OBJECTIVES, "hop-bytes:1,path-contention:2"])
def test_no_start_is_better_and_the_value_is_what_is_measured(objective):
    app, topology = read("random-regular:24,3"), torus(5, 5)
    found = search_mapping(app, topology, objective=objective, rounds=6, seed=1)
    value_of = value_by(objective, app, topology, np.arange(24))
    assert found.value == pytest.approx(value_of(found.node_of))
    assert found.value <= min(found.starts.values()) + 1e-12
    for name, node_of in found.mappings.items():
        assert found.starts[name] == pytest.approx(value_of(node_of))
    assert len(np.unique(found.node_of)) == 24


@pytest.mark.parametrize("processors", ["1", "3"])
def test_threads_and_load_decide_nothing(processors, monkeypatch):
    app, topology = read("random-regular:16,3"), torus(4, 4)
    monkeypatch.setenv("NETLOOM_PROCESSORS", "2")
    one = search_mapping(app, topology, rounds=9, seed=4)
    monkeypatch.setattr("netloom.simulation.side_by_side.processors", lambda: int(processors))
    same = search_mapping(app, topology, rounds=9, seed=4)
    assert one.node_of.tolist() == same.node_of.tolist()
    assert (one.value, one.found_by, one.rounds) == (same.value, same.found_by, same.rounds)


def test_seconds_are_processor_time(monkeypatch):
    """However slowly the clock on the wall goes, or how fast: each look at it takes a second.

    Each thread has a clock of its own, as it has processor time of its own.
    """
    clocks = threading.local()

    def look():
        clocks.ticks = getattr(clocks, "ticks", -1) + 1
        return float(clocks.ticks)

    monkeypatch.setattr("netloom.mapping.search.generations.thread_time", look)
    found = search_mapping(read("random-regular:24,3"), torus(5, 5), seconds=40)
    assert 40 <= found.seconds < 60
    assert found.rounds <= 2


@pytest.mark.parametrize("topology", [torus(4, 4), mesh(3, 3), torus(4, 2, 4), hypercube(3)])
def test_images_keep_distances(topology):
    apart = hop_distances(topology)
    found = [*images(topology, 100, np.random.default_rng(1))]
    drawn = [*images(topology, 2, np.random.default_rng(1))]
    assert len(drawn) == min(2, len(found))
    assert len({tuple(image) for image in found}) == len(found) > 0
    for image in [*found, *drawn]:
        assert np.array_equal(apart[np.ix_(image, image)], apart)


def test_nodes_take_several_tasks():
    app = read("ring:12")
    found = search_mapping(app, torus(2, 3), tasks_per_node=2, objective="hop-bytes", rounds=6)
    assert np.bincount(found.node_of).max() == 2
    assert found.value == 12  # pairs of neighbours share a node: six edges each way between nodes


def test_edges_without_bytes_meet_others_where_nothing_else_moves():
    """Identity keeps all bytes on nodes, so that annealing has no cost to set temperatures by."""
    app = process_graph(8, [0, 2, 0, 1, 0], [1, 3, 4, 4, 6], bytes=[1, 1, 0, 0, 0])
    for objective in ("path-contention", "path-contention:1,hop-bytes:1"):
        found = search_mapping(app, mesh(4), objective=objective, tasks_per_node=2, rounds=4)
        assert 0 <= found.value <= min(found.starts.values())


def test_broken_networks_are_mapped_around():
    broken = without(torus(4, 4), nodes=[5])
    nodes = [node for node in range(16) if node != 5]
    found = search_mapping(read("ring:12"), broken, nodes=nodes, routing="shortest-path", rounds=3)
    assert 5 not in found.node_of
    routing = parse_routing("shortest-path", broken)
    app = read("ring:12")
    again = measure(broken, routing, found.node_of[app.source], found.node_of[app.target])
    assert again.weighted_channel_load.max() == found.value


@pytest.mark.parametrize("network", ["mesh:4x6", "torus:4x4x2", "hypercube:4", "ring:15"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_hosts_on_routers_of_their_own_are_mapped_as_routers_are(network, objective):
    """The same starts, near places and images: the same search, found by the same chance."""
    for program in ("binary-tree:15", "random-regular:14,3"):
        direct, hosted = (
            search_mapping(read(program), on, objective=objective, rounds=2, seed=3)
            for on in (network_of(network), network_of(f"{network}/1"))
        )
        assert direct.value == hosted.value
        assert direct.starts == hosted.starts
        assert all(
            direct.mappings[name].tolist() == hosted.mappings[name].tolist()
            for name in direct.mappings
        )


def test_paths_of_many_hosts_on_a_cube_are_walked():
    """As those of as many nodes are: there is no table of all pairs."""
    program = process_graph(4, [0, 2], [1, 3])
    found = search_mapping(program, network_of("mesh:48x48/1"), objective="hop-bytes", rounds=1)
    assert found.value == 2


def test_near_hosts_are_a_channel_away_or_as_many_as_it_takes():
    tree = network_of("fat-tree:4x3")
    near = near_hosts(tree, np.arange(64), few=4)
    assert np.diff(near.indptr).tolist() == [16] * 64  # a leaf has 3 others
    assert near[[0]].indices.tolist() == list(range(16))
    some = np.array([0, 5, 40])
    assert near_hosts(tree, some, few=4).toarray().all()
    assert near_hosts(tree, some).toarray().tolist() == np.eye(3, dtype=bool).tolist()
    rail = network_of("rail:1x2x2x1")  # two computers of two hosts, on a leaf for each rail
    assert near_hosts(rail, np.arange(4)).indices.tolist() == [0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3]
