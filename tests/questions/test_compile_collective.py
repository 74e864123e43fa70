"""Compiled collectives: how near the bound, what is refused; plans are verified and replayed."""

import json

import pytest

import netloom as nl
from netloom.errors import InputError
from netloom.phases.violations import InvalidPlanError
from netloom.routing import parse_routing, paths
from netloom.workload.programs.collectives.msccl import write_msccl


def test_ndv2_reaches_its_bound():
    found = nl.compile_collective("all-gather", "examples/ndv2-2.toml", size="1GB").to_dict()
    assert found["proven"]
    assert found["bound_bandwidth"] == pytest.approx(25e9)
    assert found["algorithm_bandwidth"] > 0.999 * 25e9
    assert found["bus_bandwidth"] == pytest.approx(found["algorithm_bandwidth"] * 15 / 16)
    assert "one channel of 12.5 GB/s" in found["bound"]


def test_all_to_all_of_ndv2_has_the_bound_that_a_published_figure_exceeds():
    found = nl.compile_collective("all-to-all", "examples/ndv2-2.toml", size="1GB").to_dict()
    assert found["bound_bandwidth"] == pytest.approx(3.125e9)
    assert found["algorithm_bandwidth"] < 3.524e9


@pytest.mark.parametrize(("sides", "rounds"), [("4x4", 15), ("3x5", 14), ("2x2x3", 11)])
def test_rounds_of_tori_are_their_fewest(sides, rounds):
    found = nl.compile_collective("all-gather", f"torus:{sides}", latency=0, chunks=1).to_dict()
    bound = found["ranks"] - 1
    assert found["method"].startswith("translates")
    assert found["steps"] == rounds == bound


def test_hosts_beside_switches_and_some_nodes():
    found = nl.compile_collective("broadcast", "leaf-spine:2x2x4", nodes="h1,h6,h2", root=2)
    assert found.schedule.network.host.tolist() == [1, 6, 2]
    assert found.schedule.network.labels[:3] == ("h1", "h6", "h2")
    few = nl.compile_collective("all-to-all", "examples/dgx2-2.toml", size="1MB", ranks=4)
    assert few.num_ranks == 4


def test_assumed_speeds_are_said():
    found = nl.compile_collective("all-gather", "ring:4")
    assert found.note.startswith("Assumed: 25 GB/s a channel and 500 ns")
    assert nl.compile_collective("all-gather", "ring:4", bandwidth=1e9, latency=0).note is None


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_installed_tables_give_the_routes(collective):
    found = nl.compile_collective(
        collective, "fabric:examples/dgx-40.ibnetdiscover", size="1GB",
        routing="lfts:examples/dgx-40-minhop.lfts", ranks=48, latency="500ns", chunks=4,
    )  # fmt: skip
    schedule, topology = found.schedule, found.topology
    assert found.efficiency > 0.9
    assert found.rounds >= 4 * 47
    hosts, routing = schedule.network.host, tables(topology)
    program = schedule.program
    for message in range(0, program.num_messages, 97):
        source, target = hosts[program.source[message]], hosts[program.target[message]]
        way = paths(topology, routing, [source], [target]).channels
        names = [topology.name_of(int(vertex)) for vertex in topology.channel_target[way]]
        taken = schedule.network.target[schedule.routes.of(message)]
        assert [schedule.network.labels[vertex] for vertex in taken] == names


def tables(topology):
    return parse_routing("lfts:examples/dgx-40-minhop.lfts", topology)


def test_routings_are_for_two_collectives():
    with pytest.raises(InputError, match="routing: found one for all-to-all"):
        nl.compile_collective("all-to-all", "leaf-spine:2x2x2", routing="d-mod-k")
    with pytest.raises(InputError, match="several routes"):
        nl.compile_collective("all-gather", "leaf-spine:2x2x2", routing="minimal")


def test_small_sizes_say_what_latencies_take():
    found = nl.compile_collective("broadcast", "line:5", size=8, latency="1us", root=1)
    assert found.latency_seconds == pytest.approx(3e-6)
    assert found.verdict.endswith("latencies alone take 3 µs.")
    assert found.finish_seconds >= found.latency_seconds


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"collective": "gather"}, "collective: found 'gather'"),
        ({"ranks": 10}, "ranks: found 10; expected at most 9"),
        ({"size": 0}, "size: found 0"),
        ({"root": 1}, "root: found 1 of all-gather"),
        ({"collective": "reduce", "root": 9}, "root: found 9"),
        ({"nodes": "3"}, "ranks: found 1"),
        ({"overhead": "1us"}, "overhead: found '1us'"),
        ({"failed_channels": "0-1,0-3"}, "still in one piece"),
    ],
)
def test_what_is_refused(fields, said):
    with pytest.raises(InputError, match=said):
        nl.compile_collective(**{"collective": "all-gather", "on": "mesh:3x3"} | fields)


@pytest.fixture(name="plan")
def _plan(tmp_path):
    path = tmp_path / "plan.json"
    asked = {"size": "1MB", "bandwidth": "100Gb/s", "latency": "1us", "chunks": 2}
    nl.compile_collective("all-gather", "mesh:2x3", **asked).write(path)
    return path


def test_a_plan_is_verified_with_its_bound(plan):
    found = nl.verify_plan(plan).to_dict()
    assert found["verified"]
    assert found["bound_verified"]
    assert found["bound_seconds"] <= found["finish_seconds"]
    assert len(found["proves"]) == 3


def changed(plan, change):
    record = json.loads(plan.read_text())
    change(record)
    plan.write_text(json.dumps(record))
    with pytest.raises(InvalidPlanError) as broken:
        nl.verify_plan(plan)
    return broken.value.violation.rule


def drop(record):
    """Leave out the last message."""
    rows = record["messages"]
    rows["count"] -= 1
    for name in ("source", "target", "start", "end", "chunks", "channels"):
        rows[name].pop()


def twice(record):
    """Send the first message again at the same time."""
    rows = record["messages"]
    rows["count"] += 1
    for name in ("source", "target", "start", "end", "chunks", "channels"):
        rows[name].append(rows[name][0])


def early(record):
    """Send all at the beginning."""
    rows, times = record["messages"], record["times_seconds"]
    last = max(range(rows["count"]), key=lambda row: rows["start"][row])
    times.append(times[rows["end"][last]] - times[rows["start"][last]])
    rows["start"][last] = 0
    rows["end"][last] = len(times) - 1


def astray(record):
    """Send a message to another rank than its channel leads to."""
    rows = record["messages"]
    other = ({0, 1, 2, 3, 4, 5} - {rows["source"][0], rows["target"][0]}).pop()
    rows["target"][0] = other


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (drop, ("data",)), (twice, ("capacity",)), (early, ("capacity", "order")),
        (astray, ("route",)),
    ],
)  # fmt: skip
def test_a_plan_that_was_changed_is_caught(plan, change, rules):
    assert changed(plan, change) in rules


def test_a_plan_replays_in_the_time_that_it_says(plan):
    said = nl.verify_plan(plan).judged.finish_seconds
    found = nl.replay(
        "mesh:2x3", trace=str(plan), engine="flow", bandwidth="100Gb/s", latency="1us"
    )
    assert found.finish == pytest.approx(said, rel=1e-6)
    slower = nl.replay(
        "mesh:2x3", trace=str(plan), engine="flow", bandwidth="50Gb/s", latency="1us"
    )
    assert slower.finish > 1.5 * said


def test_a_plan_replays_on_the_hosts_that_it_is_for(tmp_path):
    path = tmp_path / "plan.json.gz"
    found = nl.compile_collective("all-reduce", "leaf-spine:2x2x4", size="1MB", nodes="h1,h2,h7")
    found.write(path)
    speed = {"bandwidth": "200Gb/s", "latency": "500ns"}
    run = nl.replay("leaf-spine:2x2x4", trace=str(path), engine="flow", **speed)
    assert set(run.messages()["source_node"].to_list()) == {1, 2, 7}
    flits = nl.replay(
        "leaf-spine:2x2x4", trace=str(path), engine="worm", flit_bytes=64, bandwidth="200Gb/s"
    )
    assert flits.finish_cycles > 1e6 * 4 / 3 / 64 * 0.9


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce", "all-to-all"])
@pytest.mark.parametrize("on", ["examples/dgx1.toml", "mesh:2x3", "torus:2x3"])
def test_msccl_programs_of_networks_with_odd_trees_are_verified(tmp_path, collective, on):
    path = tmp_path / "plan.xml"
    found = nl.compile_collective(collective, on, chunks=2)
    write_msccl(path, found.schedule.program)
    assert nl.verify_plan(path).to_dict()["ranks"] == found.to_dict()["ranks"]


def test_an_msccl_program_is_verified(tmp_path):
    path = tmp_path / "plan.xml"
    found = nl.compile_collective("all-gather", "ring:4", chunks=1)
    write_msccl(path, found.schedule.program)
    assert nl.verify_plan(path).to_dict()["ranks"] == 4
    text = path.read_text()
    path.write_text(text.replace('type="s"', 'type="nop"', 1))
    with pytest.raises(InputError):
        nl.verify_plan(path)
