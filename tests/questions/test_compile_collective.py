"""Compiled collectives: how near the bound, what is refused; plans are verified and replayed."""

import json
from pathlib import Path
from typing import get_args

import networkx as nx
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.phases.collectives import schedule_files
from netloom.phases.collectives.synthesis import SYNTHESISED
from netloom.phases.violations import InvalidPlanError
from netloom.questions.compile_collective import MOST_STEPS, Collective
from netloom.routing import parse_routing, paths
from netloom.workload.programs.collectives.msccl import write_msccl


def test_what_can_be_asked_for_is_what_can_be_made_and_written():
    assert get_args(Collective) == SYNTHESISED
    assert MOST_STEPS == schedule_files.MOST_STEPS


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
    assert few.speed.ranks == 4


@pytest.mark.parametrize(
    ("on", "nodes", "rate"),
    [
        ("dgx2-2", "0-15", 125e9 * 16 / 15),  # what enters a GPU from its switch
        ("dgx2-2", "0-7,16-23", 4 * 12.5e9 * 2),  # half of the size through 4 cables
        ("ndv2-2", "0-7", 171.43e9),  # 150 GB/s into a GPU of 8
    ],
)
def test_hosts_that_are_no_ranks_may_have_cables_of_one_direction(on, nodes, rate):
    found = nl.compile_collective(
        "all-gather", f"examples/{on}.toml", size="1GB", nodes=nodes, chunks=4
    )
    assert found.speed.bound_bandwidth == pytest.approx(rate, rel=1e-4)
    names = set(found.schedule.network.labels[found.speed.ranks :])
    assert on != "dgx2-2" or names <= {"nvswitch0", "nvswitch1"}
    with pytest.raises(InputError, match="found no way from gpu16 to gpu0"):
        nl.compile_collective("all-gather", "examples/dgx2-2.toml", nodes="0,2,16,18")


def test_assumed_speeds_are_said():
    found = nl.compile_collective("all-gather", "ring:4")
    assert found.note.startswith("Assumed: 25 GB/s per channel and 500 ns per")
    assert nl.compile_collective("all-gather", "ring:4", bandwidth=1e9, latency=0).note is None


@pytest.mark.parametrize(
    ("collective", "size", "padded"), [("all-gather", 1000, 1002), ("all-to-all", 999, 1002),
                                       ("all-gather", 1200, 1200)],
)  # fmt: skip
def test_sizes_that_do_not_divide_are_padded(collective, size, padded):
    found = nl.compile_collective(
        collective, "line:3", size=size, chunks=2, bandwidth=1e9, latency=0
    ).to_dict()
    assert found["padded_size"] == padded
    assert (found["note"] is None) == (padded == size)


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_installed_tables_give_the_routes(collective):
    found = nl.compile_collective(
        collective, "fabric:examples/dgx-40.ibnetdiscover", size="1GB",
        routing="lfts:examples/dgx-40-minhop.lfts", ranks=48, latency="500ns", chunks=4,
    )  # fmt: skip
    schedule, topology = found.schedule, found.network.topology
    assert found.speed.efficiency > 0.9
    assert found.rounds >= 4 * 47
    hosts, routing = schedule.network.host, tables(topology)
    program = schedule.program
    for message in range(0, program.num_messages, 97):
        source, target = hosts[program.source[message]], hosts[program.target[message]]
        way = paths(topology, routing, [source], [target]).whole(topology).channels
        names = [topology.name_of(int(vertex)) for vertex in topology.target_end[way]]
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
    assert found.speed.latency_seconds == pytest.approx(3e-6)
    verdict = found.verdict
    assert verdict.sentence == "As fast as latencies allow: 3 µs, 99.96\u00a0% of it latency."
    some = nl.compile_collective("broadcast", "line:5", size="40KB", latency="1us", root=1).verdict
    assert some.mark == "limited"
    assert some.lines["why"].startswith("latencies alone take 3 µs of ")
    assert found.speed.finish_seconds >= found.speed.latency_seconds
    assert found.use()["channel"].unique().len() == 4  # nothing goes towards the root


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


@pytest.mark.parametrize(
    ("collective", "seconds"), [("all-to-all", 2 / 3), ("all-reduce", 1 / 1.5)]
)
def test_prices_prove_the_bounds_of_linear_programs(collective, seconds, tmp_path):
    """A mesh of 3x3: 18 blocks of 1/9 cross 3 channels; all-reduce as published, 1.5 channels."""
    path = tmp_path / "plan.json"
    asked = {"size": 1e9, "bandwidth": 1e9, "latency": 0, "chunks": 1}
    nl.compile_collective(collective, "mesh:3x3", **asked).write(path)
    found = nl.verify_plan(path).to_dict()
    assert found["bound_verified"]
    assert found["bound_seconds"] == pytest.approx(seconds, rel=1e-12)
    assert "computed anew from its prices of channels" in found["proves"][2]

    def dearer(record):
        prices = record["bound"]["prices"]
        many = len(prices["channels"])
        prices["price"] = [2, *[1] * (many - 1)] if many > 1 else [0]

    assert changed(path, dearer) == "bound"


def test_whether_only_trees_are_bound_is_said():
    """One-way links: pairs of trees take 1/1.667 a byte at least, cuts and groups only 1/1.75."""
    graph = nx.DiGraph()
    single = [(0, 1), (0, 3), (0, 4), (4, 1), (2, 1), (2, 4)]
    graph.add_edges_from(single, bandwidth=1)
    graph.add_edges_from([(1, 2), (2, 3), (3, 4), (4, 0)], bandwidth=2)
    asked = {"size": 1e9, "bandwidth": 1e9, "latency": 0, "chunks": 1}
    found = nl.compile_collective("all-reduce", nl.topology(graph), **asked)
    assert found.speed.bound_seconds == pytest.approx(3 / 5)
    assert "of the best that pairs of trees can reach: " in found.verdict.sentence
    least = nl.compare_collectives("all-reduce", nl.topology(graph), size=1e9, bandwidth=1e9)
    assert least.bound.seconds_per_byte == pytest.approx(4 / 7 / 1e9)
    mesh = nl.compile_collective("all-reduce", "mesh:3x3", **asked)
    assert "of the best possible: " in mesh.verdict.sentence
    assert mesh.schedule.bound.why.startswith("9 groups of hosts send each other 24 GB/s")


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
    said = nl.verify_plan(plan).speed.finish_seconds
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
    assert flits.finish > 1e6 * 4 / 3 / 64 * 0.9


@pytest.mark.parametrize("collective", ["all-gather", "broadcast"])
def test_plans_of_hosts_that_hang_on_switches_and_each_other_replay(tmp_path, collective):
    path = tmp_path / "plan.json"
    made = nl.compile_collective(collective, "examples/dgx2-2.toml", size="100MB", chunks=1)
    made.write(path)
    run = nl.replay("examples/dgx2-2.toml", trace=str(path), engine="flow")
    assert run.to_dict()["routing"] == "as planned"
    assert run.finish == pytest.approx(made.speed.finish_seconds, rel=1e-3)
    assert "The plan promises" in run.note
    with pytest.raises(InputError, match="a link between two hosts"):
        nl.replay("examples/dgx2-2.toml", trace=str(path), engine="worm", flit_bytes=64)


def test_a_replay_takes_the_routes_of_its_plan(tmp_path):
    """Through both spines, of which shortest paths take one."""
    path = tmp_path / "plan.json"
    made = nl.compile_collective("all-to-all", "leaf-spine:2x2x4", size="1MB")
    made.write(path)
    asked = {"trace": str(path), "engine": "flow", "bandwidth": "200Gb/s", "latency": "500ns"}
    run = nl.replay("leaf-spine:2x2x4", **asked)
    assert run.finish == pytest.approx(made.speed.finish_seconds, rel=1e-3)
    sent = {each["channel"]: each["bytes"] for each in made.channels().to_dicts()}
    crossed = {each["name"]: each["bytes"] for each in run.channels().to_dicts()}
    assert crossed == pytest.approx({name: sent[name] for name in crossed})
    other = nl.replay("leaf-spine:2x2x4", **asked, routing="shortest-path")
    assert other.note is None
    assert other.finish > run.finish
    broken = nl.replay("leaf-spine:2x2x4", **asked, failed_channels="leaf0-spine0")
    assert broken.finish > 1.5 * run.finish


def test_tasks_run_on_hosts_and_not_on_switches(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("id,source,target,bytes\na,0,31,1000\n")
    run = nl.replay("examples/dgx2-2.toml", trace=str(path), engine="flow")
    assert run.messages()["target_node"].to_list() == [31]
    path.write_text("id,source,target,bytes\na,0,32,1000\n")
    with pytest.raises(InputError, match="33 tasks"):
        nl.replay("examples/dgx2-2.toml", trace=str(path), engine="flow")


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


RING = "tests/workload/programs/collectives/data/astra-sim-ring.xml"
LINKS = {"bandwidth": "25GB/s", "latency": "1us"}


def test_others_programs_replay_in_closed_form():
    """A ring all-reduce: 2 (P - 1) times a latency and an eighth of the size, which is padded."""
    asked = {"trace": RING, "engine": "flow", **LINKS}
    run = nl.replay("ring:8", **asked, size="1MB")
    assert run.finish == pytest.approx(14 * (1e-6 + 125e3 / 25e9))
    odd = nl.replay("ring:8", **asked, size=1_000_001)
    assert odd.finish == pytest.approx(14 * (1e-6 + 125_001 / 25e9))
    assert odd.note.endswith("Padded to 1,000,008 B: 8 chunks of 125,001 B.")
    some = nl.replay("ring:9", **asked, size="1MB", nodes="0-7")
    assert some.finish > run.finish  # 7 to 0 goes by 8
    with pytest.raises(InputError, match="found 8 GPUs; expected 9, the ranks of ring:9"):
        nl.replay("ring:9", **asked, size="1MB")
    with pytest.raises(InputError, match="size: found none"):
        nl.replay("ring:8", **asked)
    with pytest.raises(InputError, match="size: found '1MB'"):
        nl.replay("torus:4x4x4", trace="examples/halo.csv", engine="flow", size="1MB")


def test_our_program_takes_what_its_plan_promises_and_its_latencies(tmp_path):
    from netloom.workload.programs.collectives.msccl import write_msccl

    made = nl.compile_collective("all-gather", "mesh:3x3", size="90MB", chunks=4, latency=0)
    write_msccl(tmp_path / "a.xml", made.schedule.program)
    run = nl.replay(
        "mesh:3x3", trace=str(tmp_path / "a.xml"), engine="flow", size="90MB", bandwidth="200Gb/s"
    )
    assert made.speed.bound_seconds <= run.finish < 1.1 * made.speed.finish_seconds


def test_a_program_is_verified_on_a_fabric(tmp_path):
    found = nl.verify_plan(RING, on="ring:8", size="1000001B", **LINKS).to_dict()
    assert found["replayed"]["finish_seconds"] == pytest.approx(14 * (1e-6 + 125_001 / 25e9))
    assert (found["steps"], found["padded_size"]) == (14, 1_000_008)
    assert nl.verify_plan(RING).to_dict()["replayed"] is None
    with pytest.raises(InputError, match="found 8 GPUs") as wrong:
        nl.verify_plan(RING, on="ring:9", size="1MB", **LINKS)
    assert not isinstance(wrong.value, InvalidPlanError)
    with pytest.raises(InputError, match="size: found 1MB; expected a network too"):
        nl.verify_plan(RING, size="1MB")
    path = tmp_path / "bad.xml"
    path.write_text(Path(RING).read_text().replace('type="s"', 'type="nop"'))
    with pytest.raises(InvalidPlanError, match="a deadlock: GPU 0, thread block 0"):
        nl.verify_plan(path, on="ring:8", size="1MB", **LINKS)


def test_a_plan_is_verified_on_a_fabric(plan):
    fabric = {"bandwidth": "100Gb/s", "latency": "1us"}
    found = nl.verify_plan(plan, on="mesh:2x3", **fabric).to_dict()
    assert found["replayed"]["finish_seconds"] == pytest.approx(found["finish_seconds"])
    with pytest.raises(InputError, match="size: found 1MB; expected none"):
        nl.verify_plan(plan, on="mesh:2x3", size="1MB", **fabric)
