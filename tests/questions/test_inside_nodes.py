"""What stays inside nodes uses no network: in every question, engine, mapping and bound alike."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import netloom as nl
from netloom.questions.base import ask
from netloom.questions.named import find_network
from netloom.questions.register import by_verb
from netloom.topology import graph_topology, to_networkx, topology
from netloom.workload import process_graph
from tests.reference.ibsim import ibsim_text

RAILS = "rail:2x2x2x1"
"""Four nodes of two hosts, in two units."""

TIMES = {"bandwidth": "1GB/s", "latency": 0}


def program(tasks=8, seed=3):
    """Return all pairs of tasks, of as many different sizes."""
    source, target = np.nonzero(~np.eye(tasks, dtype=bool))
    size = np.random.default_rng(seed).permutation(len(source)) + 1.0
    return process_graph(tasks, source, target, bytes=1000 * size, name="pairs")


def written(folder, kind):
    """Return the network as a file of a kind has it, by its spec."""
    if kind == "rail":
        return RAILS
    if kind == "graph":
        nx.write_graphml(to_networkx(topology(RAILS)), folder / "rails.graphml")
        return f"graph:{folder / 'rails.graphml'}"
    (folder / "rails.txt").write_text(ibsim_text(topology(RAILS)))
    return f"fabric:{folder / 'rails.txt'}"


def prepared(verb, **fields):
    kind = by_verb(verb)
    return kind.prepare(ask(kind.question, fields))


def injected(topology, channels):
    """Return what hosts' channels into the network carry."""
    first = topology.num_network_channels
    return float(np.asarray(channels)[first : first + topology.num_ports].sum())


def by_analyze(app, on, **how):
    found = nl.analyze(app, on, random_mappings=0, **how)
    loads = found.mapped.contention.weighted_host_channel_load
    return int(found.mapped.moving.sum()), float(loads[: found.network.num_ports].sum())


def by_map(app, on, **how):
    found = nl.find_mapping(app, on, rounds=0, **how)
    loads = found.before.mapped.contention.weighted_host_channel_load
    return int(found.before.mapped.moving.sum()), float(loads[: found.network.num_ports].sum())


def by_flows(app, on, **how):
    found = nl.simulate_flows(on, app=app, **TIMES, **how)
    return found.num_flows, injected(found.network.topology, found.found.link_sizes)


def by_load(app, on, **how):
    ready = prepared("simulate", app=app, on=on, load=0.01, cycles=100, **how)
    return len(ready.traffic.matrix().weight), None


def by_pattern(app, on, **how):
    """The pattern of the same pairs, whose packets are alike."""
    ready = prepared("simulate", on=on, traffic="uniform", load=0.01, cycles=100, **how)
    return len(ready.traffic.matrix().weight), None


def by_model(app, on, **how):
    ready = prepared("predict_latency", app=app, on=on, **how)
    return len(ready.traffic.matrix().weight), None


def by_trace(app, on, tmp_path, engine, **how):
    file, unit = tmp_path / "trace.csv", "flits" if engine == "network" else "bytes"
    size = (app.bytes / 1000 if engine == "network" else app.bytes).astype(int)
    rows = zip(range(app.num_edges), app.source, app.target, size, strict=True)
    file.write_text(f"id,source,target,{unit}\n" + "".join(
        f"{place},{source},{target},{many}\n" for place, source, target, many in rows
    ))  # fmt: skip
    fields = {"vcs": 4} if engine == "network" else {**TIMES}
    found = nl.replay(on, trace=file, engine=engine, **fields, **how)
    if engine == "network":
        return len(found.run.moved), 1000 * injected(found.network.topology, found.run.link_sizes)
    return len(found.run.moved), injected(found.network.topology, found.run.link_sizes)


def by_loop(app, on, **how):
    ready = prepared("simulate_loop", app=app, on=on, applied=0.1, choice="bytes", **how)
    return ready.program.graph.num_edges, float(ready.program.graph.bytes.sum())


def by_uniform_loop(app, on, **how):
    ready = prepared("simulate_loop", app="uniform", on=on, applied=0.1, **how)
    hosts = ready.network.topology.num_hosts
    graph = ready.program.graph
    return hosts * (hosts - 1) if graph is None else graph.num_edges, None


def by_phases(app, on, **how):
    found = nl.compile_phases(app, on, word_bytes=1, **how)
    return len(found.plan.connections), float(found.plan.connections.words.sum())


def by_route(app, on, **how):
    (one,) = prepared("route_fabric", on=on, wanted=[app], **how).programs
    return len(one.flows.source), float(one.flows.volume.sum())


def by_fabric(app, on, tmp_path, **how):
    edges = np.stack([app.source, app.target, app.bytes], axis=1).astype(int)
    np.savetxt(tmp_path / "app.csv", edges, delimiter=",", fmt="%d", comments="",
               header="source,target,bytes")  # fmt: skip
    hosts = f"0-{topology(on).num_hosts - 1}"
    (job,) = prepared("check_fabric", on=on, jobs=f"a={hosts}:{tmp_path / 'app.csv'}", **how).jobs
    return len(job.flows.source), float(job.flows.volume.sum())


def all_of(app, on, tmp_path, **how):
    """Return how many pairs and bytes use the network, by each question that says it."""
    found = {
        "analyze": by_analyze(app, on, **how),
        "map": by_map(app, on, **how),
        "simulate flows": by_flows(app, on, **how),
        "simulate load": by_load(app, on, **how),
        "simulate load, a pattern": by_pattern(app, on, **how),
        "simulate loop": by_loop(app, on, **how),
        "simulate loop, uniform": by_uniform_loop(app, on, **how),
        "simulate trace, flows": by_trace(app, on, tmp_path, "flow", **how),
        "simulate trace, flits": by_trace(app, on, tmp_path, "network", **how),
        "predict latency": by_model(app, on, **how),
        "compile": by_phases(app, on, **how),
        "fabric": by_fabric(app, on, tmp_path, **how),
        "route": by_route(app, on, **how),
    }
    return {name: (pairs, None if sent is None else round(sent)) for name, (pairs, sent) in
            found.items()}  # fmt: skip


@pytest.mark.parametrize("kind", ["rail", "graph", "fabric"])
@pytest.mark.parametrize("count", [False, True])
def test_all_questions_agree_on_what_uses_the_network(tmp_path, kind, count):
    app, on = program(), written(tmp_path, kind)
    node = topology(on).node_of_host
    uses = np.ones(app.num_edges, bool) if count else node[app.source] != node[app.target]
    wanted = int(uses.sum()), round(app.bytes[uses].sum())
    assert wanted == ((56, 56 * 57 * 500) if count else (48, wanted[1]))
    found = all_of(app, on, tmp_path, count_inside_nodes=count)
    assert found == {
        name: (wanted[0], None if sent is None else wanted[1]) for name, (_, sent) in found.items()
    }


@pytest.mark.parametrize("kind", ["rail", "graph", "fabric"])
def test_a_collective_agrees_with_its_program(tmp_path, kind):
    on = written(tmp_path, kind)
    app = nl.analyze("all-to-all:8", on, random_mappings=0).to_dict()["inside_nodes"]
    asked = {"algorithm": "linear", "size": "56KB", **TIMES}
    one = nl.compare_collectives("all-to-all", on, **asked).to_dict()
    every = nl.compare_collectives("all-to-all", on, count_inside_nodes=True, **asked).to_dict()
    assert one["inside_nodes"] == pytest.approx(app) == 8 / 56
    assert not every["inside_nodes"]
    compiled = nl.compile_collective("all-to-all", on, size="56KB", **TIMES).to_dict()
    assert compiled["inside_nodes"] >= app - 1e-9  # some bytes go on inside their node


def test_a_task_hears_at_its_own_processor_from_a_task_of_its_node(tmp_path):
    """A receiver's work delays what its own processor does, not the sender's."""
    (tmp_path / "two.csv").write_text(
        "id,source,target,flits,receive,compute,after\n"
        "sent,0,1,8,50,0,\nown,1,,0,0,20,sent\nother,0,,0,0,20,sent\n"
    )
    found = nl.replay(RAILS, trace=tmp_path / "two.csv", vcs=2)
    program = found.run.program
    rows = dict(
        zip([program.trace.ids[each] for each in program.entry], found.run.rows, strict=True)
    )
    assert (rows["sent"]["arrived"], rows["sent"]["complete"]) == (0, 50)
    assert (rows["own"]["complete"], rows["other"]["complete"]) == (70, 70)
    assert (rows["sent"]["source"], rows["sent"]["target"]) == (0, 1)
    assert not found.run.link_sizes.any()


def test_an_inside_that_is_drawn_is_used():
    """The routers that lead to hosts of one node alone are its inside. Node b has none."""
    one = topology("rail:1x1x4x1")
    assert nl.analyze("all-to-all:4", one, random_mappings=0).to_dict()["paths"] == 12
    graph = nx.DiGraph()
    for name, kind in (("leaf", "switch"), ("nv", "switch"), ("spine", "switch")):
        graph.add_node(name, kind=kind)
    links = [("leaf", "spine")]
    for host, node in (("a0", "a"), ("a1", "a"), ("b0", "b"), ("b1", "b"), ("c0", "c")):
        graph.add_node(host, kind="host", computer=node)
        links.append((host, "leaf"))
    links += [("a0", "nv"), ("a1", "nv")]
    for link in links:
        graph.add_edge(*link)
        graph.add_edge(*link[::-1])
    net = graph_topology(graph, name="three")
    numbers = {net.name_of(host): host for host in range(net.num_hosts)}
    a0, a1, b0, b1 = (np.array([numbers[name]]) for name in ("a0", "a1", "b0", "b1"))
    assert net.crosses(a0, a1).all()
    assert net.crosses(a0, b0).all()
    assert not net.crosses(b0, b1).any()
    inside = nl.analyze(process_graph(2, [0], [1]), net, mapping=[int(a0[0]), int(a1[0])],
                        random_mappings=0)  # fmt: skip
    assert "nv" in inside.to_dict()["busiest_channel"]["name"]


def test_a_broken_network_keeps_its_nodes_together():
    net, _ = find_network(RAILS, failed_nodes="n3.1")
    assert net.local_group.tolist() == topology(RAILS).local_group.tolist()
    counted, _ = find_network(RAILS, failed_nodes="n3.1", count_inside_nodes=True)
    assert len(np.unique(counted.local_group)) == 8
    assert len(np.unique(counted.whole.local_group)) == 8


@given(
    st.integers(2, 16), st.integers(0, 99), st.sampled_from([1, 2, 4]), st.booleans(),
    st.sampled_from(["max-channel-load", "hop-bytes", "path-contention"]),
    st.sampled_from(["bytes", "messages"]),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_no_map_sends_more_bytes_between_nodes(tasks, seed, many, count, objective, weight):
    """Of any program, with any objective, by the mapping that files get."""
    rng = np.random.default_rng(seed)
    source, target = (rng.integers(0, tasks, 3 * tasks) for _ in range(2))
    assume((source != target).any())
    size, number = (rng.integers(1, 1000, len(source)).astype(float) for _ in range(2))
    app = process_graph(tasks, source, target, bytes=size, messages=number)
    net = topology("rail:2x2x2x1" if many > 1 or tasks <= 8 else "rail:2x4x2x1")
    found = nl.find_mapping(
        app, net, objective=objective, weight=weight, count_inside_nodes=count, rounds=1,
        tasks_per_node=many if tasks <= many * net.num_nodes or many == 1 else 4,
    )  # fmt: skip

    def between(host_of):
        node = net.node_of_host[host_of]
        return app.bytes[node[app.source] != node[app.target]].sum()

    in_order = found.found.mappings["identity"]
    assert between(found.applied) <= between(in_order)
    assert between(found.mapping) <= between(in_order)
    assert found.to_dict()["between_nodes"] == {
        "before": between(in_order), "after": between(found.applied)
    }  # fmt: skip
    assert found.bound <= found.value * (1 + 1e-9)


def test_mappings_are_simulated_at_one_pace_of_the_program():
    """A load is of what enters the network, of which mappings leave different parts."""
    source, target = np.array([0, 2, 1, 3]), np.array([2, 0, 3, 1])  # each pair on two nodes
    more = np.array([0, 1]), np.array([1, 0])
    app = process_graph(
        4, np.concatenate([source, more[0]]), np.concatenate([target, more[1]]),
        bytes=[8, 8, 8, 8, 1, 1],
    )  # fmt: skip
    found = nl.find_mapping(app, "rail:1x2x2x1", rounds=1, simulate=True, load=0.4)
    before, after = found.between_nodes.before, found.between_nodes.after
    assert (before, after) == (32, 2)
    load, runs = found.simulated.load, found.simulated.runs
    assert load == runs["before"].point.offered == 0.4
    sent = {"before": before / 4, "after": after / 2}  # of the mean of those that send
    assert runs["after"].point.offered == pytest.approx(0.4 * sent["after"] / sent["before"])
