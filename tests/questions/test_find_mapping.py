import itertools
import re
from importlib import import_module

import networkx as nx
import numpy as np
import pytest

import netloom as nl
from netloom import analyze, find_mapping
from netloom.base.errors import InputError
from netloom.contention import measure
from netloom.machines import named_machines
from netloom.mapping import FoundMapping
from netloom.mapping.gains import PairedRuns, SimulatedRun, gain_of, paired
from netloom.mapping.search.objectives import Measure, objective_of
from netloom.mapping.search.starts import random_starts
from netloom.questions import named
from netloom.questions.recorded import key_columns, record
from netloom.routing import DimensionOrder, paths
from netloom.simulation.network import loaded
from netloom.topology import graph_topology, mesh, torus, without
from netloom.workload import process_graph, read
from netloom.workload.graphs import files as readers

QUICK = {"rounds": 1}


def heaviest(app, network, node_of):
    found = measure(network, DimensionOrder(), node_of[app.source], node_of[app.target], app.bytes)
    return found.weighted_channel_load.max()


@pytest.fixture(scope="module")
def lammps():
    return find_mapping("examples/lammps-64.mtx", "mesh:8x8", rounds=2)


def test_before_and_after_are_what_analyze_says(lammps):
    for part, mapping in (("before", "identity"), ("after", lammps.mapping)):
        alone = analyze(
            "examples/lammps-64.mtx", "mesh:8x8", mapping=mapping, random_mappings=0
        ).to_dict()
        again = lammps.to_dict()[part]
        for told in (alone, again):
            told.pop("provenance")
        assert again == alone


def test_the_objective_is_recounted(lammps):
    app, network = read("examples/lammps-64.mtx"), mesh(8, 8)
    objective = lammps.to_dict()["objective"]
    assert objective["name"] == "max-channel-load"
    assert objective["before"] == heaviest(app, network, np.arange(64))
    assert objective["after"] == heaviest(app, network, lammps.mapping) == lammps.value
    assert objective["bound"] <= objective["after"] < objective["before"]
    assert objective["scale"] == {}
    assert lammps.gain.kind == "better"


def test_the_table_has_every_mapping_that_it_was_compared_with(lammps):
    rows = {row.mapping: row.row() for row in lammps.starts}
    names = list(rows)
    assert names[0] == "identity"
    assert names[-1] == "result"
    assert {"random", "random_best", "partition"} <= set(names)
    app, network = read("examples/lammps-64.mtx"), mesh(8, 8)
    drawn = [
        heaviest(app, network, node_of)
        for node_of in random_starts(64, np.arange(64, dtype=np.int32), 1, 1)
    ]
    assert rows["random"]["objective"] == pytest.approx(np.mean(drawn))
    assert rows["random"]["weighted_channel_load_max"] == pytest.approx(np.mean(drawn))
    assert rows["random_best"]["objective"] == min(drawn)
    for name, row in rows.items():
        assert row["objective"] == pytest.approx(row["weighted_channel_load_max"])
        assert name == "random" or row["objective"] >= rows["result"]["objective"]
    after = lammps.to_dict()["after"]
    assert rows["result"]["path_contention_max"] == after["path_contention"]["max"]
    assert rows["result"]["hop_bytes"] == after["hop_bytes"]
    assert rows["result"]["saturation_worst_node"] == after["saturation"]["worst_node"]
    assert lammps.table()["mapping"].to_list() == names


def test_the_busiest_channel_is_among_the_key_figures(lammps):
    assert [each.name for each in key_columns(record(lammps))] == [
        "mapping", "objective", "hop_bytes", "channel_load_max", "weighted_channel_load_max",
        "saturation_upper_bound",
    ]  # fmt: skip


def test_the_same_question_has_the_same_answer(lammps):
    asked = lammps.provenance.configuration
    assert lammps.provenance.not_repeatable == ()
    again = find_mapping(**asked)
    assert again.mapping.tolist() == lammps.mapping.tolist()
    objects = find_mapping(read("mesh:4x4"), torus(4, 4), rounds=1)
    assert objects.provenance.not_repeatable == ()
    assert find_mapping(**objects.provenance.configuration).value == objects.value


def test_structure_is_found_and_stops_the_search():
    found = find_mapping("mesh:8x8", "torus:8x8", objective="hop-bytes", seconds=60)
    assert found.value == found.bound == 2 * 112
    assert found.gain.kind == "bound"
    assert found.found.seconds < 30


@pytest.mark.parametrize("objective", ["hop-bytes", "path-contention", "saturation"])
def test_objectives(objective):
    found = find_mapping("binary-tree:15", "mesh:4x4", objective=objective, rounds=2)
    row = {row.mapping: row.row() for row in found.starts}
    before, after = row["identity"], row["result"]
    assert found.gain.kind in ("better", "bound")
    sentence = found.to_dict()["verdict"]["sentence"]
    if objective == "hop-bytes":
        assert found.value == after["hop_bytes"] < before["hop_bytes"]
    elif objective == "path-contention":
        assert found.value // 1 == after["path_contention_max"] < before["path_contention_max"]
        met = [row["path_contention_max"] for row in (after, before)]
        assert re.search(rf"meets {met[0]} others?, {met[1]} in rank order", sentence)
    else:
        times = after["saturation_worst_node"] / before["saturation_worst_node"]
        assert times > 1
        more = float(re.search(r"may send ([\d,]+)\W% more", sentence)[1])
        assert more == pytest.approx(100 * (times - 1), rel=0.05)


def test_a_mixture_is_scaled_by_identity():
    found = find_mapping(
        "binary-tree:15", "mesh:4x4", objective="hop-bytes:1,max-channel-load:3", rounds=1
    )
    rows = {row.mapping: row.row() for row in found.starts}
    scale = found.to_dict()["objective"]["scale"]
    assert scale == {
        "hop-bytes": rows["identity"]["hop_bytes"],
        "max-channel-load": rows["identity"]["weighted_channel_load_max"],
    }
    assert rows["identity"]["objective"] == pytest.approx(1)
    after = rows["result"]
    assert after["objective"] == pytest.approx(
        0.25 * after["hop_bytes"] / scale["hop-bytes"]
        + 0.75 * after["weighted_channel_load_max"] / scale["max-channel-load"]
    )


def test_weights():
    app = process_graph(4, [0, 1, 2], [1, 2, 3], bytes=[8.0, 1, 1], messages=[1.0, 1, 9])
    for weight, most in (("bytes", 8), ("messages", 9), ("uniform", 1)):
        found = find_mapping(app, "mesh:2x2", weight=weight, **QUICK)
        assert found.value == most


def test_only_allocated_nodes_that_work_are_used(tmp_path):
    file = tmp_path / "allocated.txt"
    file.write_text("0-7\n# the rest is not ours\nn12,n13\n")
    found = find_mapping("ring:9", "mesh:4x4", nodes=file, failed_nodes="3", **QUICK)
    allowed = [0, 1, 2, 4, 5, 6, 7, 12, 13]
    assert found.nodes.tolist() == allowed
    assert sorted(found.mapping.tolist()) == allowed
    assert found.before.node_of.tolist() == allowed
    assert found.to_dict()["allocated_nodes"] == 9
    for drawn in found.found.mappings.values():
        assert set(drawn.tolist()) <= set(allowed)
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("".join(f"rack-{node}\n" for node in range(16)))
    by_name = find_mapping("ring:3", "mesh:4x4", nodes="rack-[8-10]", hosts=hosts, **QUICK)
    assert sorted(by_name.mapping.tolist()) == [8, 9, 10]


def test_broken_nodes_of_a_network_that_is_given():
    broken = without(torus(4, 4), nodes="5")
    found = find_mapping("mesh:3x5", broken, **QUICK)
    assert 5 not in found.mapping
    assert found.provenance.not_repeatable == ()


def test_several_tasks_a_node():
    found = find_mapping("ring:16", "mesh:2x4", tasks_per_node=2, **QUICK)
    assert np.bincount(found.mapping).tolist() == [2] * 8
    assert found.after.to_dict()["local_edges"] == 16


def test_a_program_that_fits_on_one_node_needs_no_network():
    found = find_mapping("ring:4", "mesh:2x2", tasks_per_node=4, simulate=True, load=0.1, **QUICK)
    assert (found.before, found.after) == (None, None)
    assert found.value == 0
    assert found.gain.kind == "bound"
    data = found.to_dict()
    assert (data["before"], data["after"]) == (None, None)
    assert data["simulated"]["note"] == "nothing crosses the network before"
    pairs = process_graph(4, [0, 1, 2, 3], [2, 3, 0, 1])
    apart = find_mapping(pairs, "mesh:2x2", tasks_per_node=2, rounds=3)
    assert apart.before is not None
    assert apart.after is None
    assert apart.to_dict()["verdict"]["sentence"].startswith("Found, and proved optimal: 0 B cross")


def test_a_layout_beside_what_it_promises():
    found = find_mapping("binary-tree:255", "mesh:16x16", layout="tiles")
    data = found.to_dict()
    assert data["layout"]["promised_channel_load"] == data["layout"]["measured_channel_load"] == 2
    assert data["own_routes"]
    assert data["after"]["channel_load"]["max"] == 2
    assert data["objective"]["after"] == 2
    rows = {row.mapping: row.row() for row in found.starts}
    assert rows["result"]["channel_load_max"] == 2
    assert rows["tiles"]["channel_load_max"] == 3  # under dimension order
    assert rows["identity"]["objective"] == data["before"]["channel_load"]["max"] == 16
    assert (found.found.found_by, found.found.rounds) == ("tiles", 0)
    gray = find_mapping("hypercube:6", "mesh:8x8", layout="gray")
    assert gray.routes is None
    assert gray.layout.measured_channel_load == gray.layout.promised_channel_load == 5


def test_routes_are_chosen_for_the_mapping():
    asked = {"app": "examples/lammps-64.mtx", "on": "mesh:8x8", "rounds": 0}
    placed = find_mapping(**asked)
    routed = find_mapping(**asked, routes=True)
    assert routed.mapping.tolist() == placed.mapping.tolist()
    assert routed.value < placed.value
    assert routed.bound == placed.bound
    graph, node_of = routed.graph, routed.mapping
    source, target = node_of[graph.source], node_of[graph.target]
    chosen = paths(mesh(8, 8), routed.routes, source, target)
    load = np.bincount(chosen.channels, np.repeat(graph.bytes, chosen.lengths))
    assert routed.value == load.max()
    assert np.array_equal(chosen.lengths, placed.after.mapped.contention.path_length)  # minimal
    assert routed.after.to_dict()["weighted_channel_load"]["max"] == routed.value
    rows = {row.mapping: row.objective for row in routed.starts}
    assert rows["mapping"] == placed.value
    assert rows["result"] == routed.value
    assert routed.to_dict()["virtual_channels"] == 1
    assert routed.after.deadlock_cycle == ()
    assert placed.to_dict()["virtual_channels"] is None


def test_chosen_routes_never_make_an_objective_worse():
    asked = {"app": "examples/lammps-64.mtx", "on": "mesh:8x8", "rounds": 0}
    for objective in ("path-contention", "saturation"):
        placed = find_mapping(**asked, objective=objective)
        routed = find_mapping(**asked, objective=objective, routes=True)
        assert routed.value <= placed.value
        assert routed.routes is not None
    ring = find_mapping("ring:4", "mesh:2x2", tasks_per_node=4, routes=True, rounds=0)
    assert ring.routes is None


def test_a_layout_is_its_own_row_without_routes():
    found = find_mapping("binary-tree:63", "mesh:8x8", layout="tiles", routes=True)
    rows = {row.mapping: row.objective for row in found.starts}
    assert "mapping" not in rows
    assert (rows["tiles"], rows["result"]) == (3, 2)


def test_routes_on_rings_need_virtual_channels():
    found = find_mapping(
        "all-to-all:16", "torus:4x4", routes=True, simulate=True, load=0.1, **QUICK
    )
    assert 2 <= found.virtual_channels <= 4  # layers without a circle, within the router's VCs
    assert found.simulated.before is not None
    assert found.simulated.after is not None


def test_layouts_are_mappings():
    plain = analyze("binary-tree:63", "mesh:8x8", mapping="tiles", random_mappings=0)
    assert plain.to_dict()["channel_load"]["max"] == 3
    laid_out = find_mapping("binary-tree:63", "mesh:8x8", layout="tiles")
    assert plain.node_of.tolist() == laid_out.mapping.tolist()
    asked = {"app": "binary-tree:63", "load": 0.05, "cycles": 500}
    by_name = nl.simulate("mesh:8x8", mapping="tiles", **asked)
    by_array = nl.simulate("mesh:8x8", mapping=laid_out.mapping, **asked)
    assert by_name.point.row()["flit_hops"] == by_array.point.row()["flit_hops"]
    with pytest.raises(InputError, match=r"layout 'tiles': found"):
        analyze("ring:16", "mesh:4x4", mapping="tiles")
    with pytest.raises(InputError, match=r"mapping 'tile': found no such name or file"):
        analyze("ring:16", "mesh:4x4", mapping="tile")


def test_simulation_of_before_and_after():
    found = find_mapping("binary-tree:63", "mesh:8x8", layout="tiles", simulate=True)
    run = found.simulated
    busiest = max(each.mapped.limit.node_share.max() for each in (found.before, found.after))
    most = min(1, found.after.mapped.limit.upper_bound, 1 / busiest)
    assert run.load == pytest.approx(most, abs=0.001)
    assert run.load <= most
    assert {each.provenance.configuration["load"] for each in run.runs.values()} == {run.load}
    told = found.to_dict()["simulated"]
    before, after = (told[when]["worst_node_share"] for when in ("before", "after"))
    assert before < after <= 1.05
    assert told["load"] == run.load
    rows = run.runs["before"].nodes()
    shares = (rows["node_accepted"] / rows["node_offered"]).drop_nans()
    assert before == pytest.approx(shares.min())
    assert told["after"]["accepted"] > told["before"]["accepted"]
    assert told["note"] is None


@pytest.mark.parametrize("on", ["mesh:8x8", "symult2010:8x8"])
@pytest.mark.parametrize("simulate", [False, True])
def test_the_file_is_read_and_the_network_built_once(on, simulate, monkeypatch):
    done = []

    def counted(where, name):
        whole = getattr(where, name)
        monkeypatch.setattr(where, name, lambda *a, **k: done.append(name) or whole(*a, **k))

    counted(readers, "read_matrix_market")
    for where in (named, named_machines):
        counted(where, "topology")
    counted(loaded, "routing_for")
    found = find_mapping("examples/lammps-64.mtx", on, simulate=simulate, **QUICK)
    assert ("simulated" in found.to_dict()["verdict"]["sentence"]) == simulate
    once = ["read_matrix_market", "topology"]
    assert done == once + 2 * simulate * ["routing_for"]  # of before, of after


def test_what_cannot_be_simulated_says_why():
    found = find_mapping(
        "random-regular:8,3", "torus:9", routing="shortest-path", simulate=True, load=0.1, **QUICK
    )
    assert found.simulated.before is None
    assert found.simulated.note.startswith("before: shortest-path")
    assert "circle" in found.simulated.note
    assert found.mapping.tolist()


def fat_tree():
    """Four pods of two edge switches with two hosts each, as a plain graph; hosts come first."""
    graph = nx.Graph()
    graph.add_nodes_from(f"host{number}" for number in range(16))
    for pod, edge in itertools.product(range(4), range(2)):
        for number in range(2):
            graph.add_edge(f"host{4 * pod + 2 * edge + number}", f"edge{pod}{edge}")
            graph.add_edge(f"edge{pod}{edge}", f"middle{pod}{number}")
            graph.add_edge(f"middle{pod}{edge}", f"core{edge}{number}")
    return graph_topology(graph)


def test_nothing_gained_changes_nothing():
    """All tasks send to all: each mapping has the same channel loads, and ranks stay in order."""
    found = find_mapping(
        "all-to-all:64", fat_tree(), nodes="0-15", tasks_per_node=4, simulate=True, **QUICK
    )
    assert found.unchanged
    assert found.to_dict()["unchanged"]
    assert found.mapping.tolist() == np.repeat(np.arange(16), 4).tolist()
    assert found.gain.kind == "none"
    assert not found.gains
    assert found.to_dict()["verdict"]["sentence"].startswith("Keep rank order: no better mapping")
    assert found.simulated.note == "ranks stay in order: nothing to compare"
    rows = {row.mapping: row.row() for row in found.starts}
    assert rows["result"] == rows["identity"] | {"mapping": "result"}


def test_ties_are_broken_by_hop_bytes():
    """Identity puts one path on each channel, as a snake does, which takes fewer hops."""
    found = find_mapping("line:64", "torus:8x8", **QUICK)
    rows = {row.mapping: row.row() for row in found.starts}
    assert rows["identity"]["objective"] == found.value == found.bound == 1
    assert (rows["identity"]["hop_bytes"], rows["result"]["hop_bytes"]) == (140, 126)
    assert not found.unchanged
    assert (found.gain.kind, found.gain.gains) == ("bound", True)
    assert found.to_dict()["verdict"]["sentence"] == (
        "Small gain: the busiest channel's load is as in rank order, but hop-bytes are 10\u00a0% "
        "less (140 → 126)."
    )


def test_ties_are_ranked_by_the_objective_then_hops_then_contention():
    app, network = process_graph(4, [0, 2], [1, 3]), mesh(8)
    objective, nodes = objective_of("max-channel-load"), np.arange(8)
    value_of = Measure(app, network, DimensionOrder(), app.bytes, objective, nodes)
    orders = [0, 1, 2, 3], [0, 1, 2, 4], [0, 2, 3, 5], [0, 2, 1, 3]
    ranks = [value_of.ranked(np.array(order))[1] for order in orders]
    assert ranks == sorted(ranks)
    assert [rank[1:3] for rank in ranks] == [(1, 2), (1, 3), (1, 4), (2, 4)]


def runs(latencies, shares):
    """Runs, as far as they are compared: None for a latency past saturation."""
    return [SimulatedRun(*each) for each in zip(latencies, shares, strict=True)]


def test_the_verdict_listens_to_the_simulation():
    """The issue's PETSc: 0.826 of identity by the objective, 99 and 98.9 % simulated."""
    before = runs([None, None, None], [0.99, 0.988, 0.992])
    found = FoundMapping(
        np.zeros(1, np.int32), "max-channel-load", 0.826, 0.5, {"identity": 1.0}, {}, "search", 1,
        1.0, interrupted=False,
    )  # fmt: skip
    for after, kind in (
        ([0.989, 0.989, 0.9905], "none"),
        ([0.72, 0.718, 0.722], "worse"),
        ([0.999, 0.998, 0.999], "better"),
    ):
        compared = paired(before, runs([9.0] * 3, after))
        told = gain_of(found, None, None, compared)
        assert (told.kind, told.gains) == (kind, kind == "better")
        assert compared.to_json()["kind"] == kind


def test_pairs_that_keep_up_are_compared_by_latency():
    fast, slow = runs([20.0, 21, 22], [1.0] * 3), runs([30.0, 31.5, 31.5], [0.9] * 3)
    found = paired(slow, fast)
    assert (found.quantity, found.kind) == ("packet latency", "better")
    assert (found.before, found.after, found.difference) == pytest.approx((31, 21, -10))
    assert found.half_width == pytest.approx(4.302653 * 0.5 / 3**0.5, rel=1e-5)
    assert paired(fast, slow).kind == "worse"
    assert paired(fast, fast).kind == "none"
    assert isinstance(found, PairedRuns)


def test_an_interrupted_search_is_not_simulated(monkeypatch):
    def search(app, *_, **__):
        order = np.arange(app.num_tasks, dtype=np.int32)
        starts = {"identity": 2.0, "random": 3.0, "random_best": 2.0}
        mappings = {"identity": order, "random_best": order}
        return FoundMapping(
            order, "hop-bytes", 2.0, 1.0, starts, mappings, "identity", 0, 0.1, interrupted=True
        )

    monkeypatch.setattr(import_module("netloom.questions.map"), "search", search)
    found = find_mapping("ring:4", "mesh:4", simulate=True)
    assert found.interrupted
    assert found.simulated is None


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"objective": "speed"}, "objective: found 'speed'"),
        ({"objective": "hop-bytes:0,saturation:1"}, "objective: found a share of '0'"),
        ({"layout": "tiling"}, "layout: found 'tiling'"),
        ({"layout": "tiles"}, "layout 'tiles': found"),
        ({"layout": "fold", "rounds": 3}, "rounds: found '3'; expected a search"),
        ({"layout": "fold", "tasks_per_node": 2}, "tasks_per_node: found '2'"),
        ({"layout": "fold", "failed_nodes": "15"}, "layout 'fold': found"),
        ({"layout": "snake", "nodes": "1-15"}, "layout 'snake': found task 8 on node 0"),
        ({"load": 0.1}, "load: found 0.1 without a simulation"),
        ({"nodes": "0-7"}, "mesh:4x4: found 8 nodes for 9 tasks"),
        ({"nodes": "0-19"}, "nodes: found '0-19'"),
        ({"seconds": 0}, "seconds: found 0"),
        ({"rounds": -1}, "rounds: found -1"),
        ({"on": "mesh:2x4"}, "8 nodes for 9 tasks"),
        ({"on": "rail:1x2x2x2", "tasks_per_node": 4}, "found 2 nodes for 9 tasks, 4 per node"),
        ({"app": process_graph(9, [], [])}, "no bytes sent from a task to another"),
        ({"topology": "mesh:4x4"}, "topology: found no such field"),
    ],
)
def test_mistakes_are_one_line(options, wrong):
    asked = {"app": "ring:9", "on": "mesh:4x4"} | options
    with pytest.raises(InputError) as error:
        find_mapping(**asked)
    assert wrong in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("first", "value", "bound", "kind", "gains"),
    [
        (10, 5, 2, "better", True),
        (10, 5, 5, "bound", True),
        (10, 5, 0, "better", True),
        (10, 9.96, 5, "better", False),
        (10, 9.8, 5, "better", True),
        (10, 10, 10, "bound", False),
        (10, 10, 8, "none", False),
        (10, 10, 0, "none", False),
        (10, 15, 10, "none", False),
        (10, 0, 0, "bound", True),
    ],
)
def test_verdicts(first, value, bound, kind, gains):
    found = FoundMapping(
        np.zeros(1, np.int32), "max-channel-load", value, bound, {"identity": first}, {}, "search",
        1, 1.0, interrupted=False,
    )  # fmt: skip
    told = gain_of(found, None, None)
    assert (told.kind, told.gains) == (kind, gains)


def test_its_face():
    found = find_mapping("ring:6", "mesh:2x3", **QUICK)
    assert found.to_dict()["verdict"]["sentence"] in repr(found)
    assert found.node_of is found.mapping
