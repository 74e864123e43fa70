"""Compiled collectives: how near the bound, what is refused; plans are verified and replayed."""

from fractions import Fraction
from pathlib import Path
from typing import get_args

import networkx as nx
import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.phases.collectives import schedules as schedule_files
from netloom.phases.collectives.synthesis import SYNTHESISED
from netloom.phases.collectives.trees import least_time
from netloom.phases.violations import InvalidPlanError
from netloom.questions.compile_collective import MOST_STEPS, Collective
from netloom.questions.register import by_verb
from netloom.topology import topology
from netloom.workload.programs.collectives.msccl import write_msccl


def test_what_can_be_asked_for_is_what_can_be_made_and_written():
    assert get_args(Collective) == SYNTHESISED
    assert MOST_STEPS == schedule_files.MOST_STEPS


def test_all_to_all_of_ndv2_has_the_bound_that_a_published_figure_exceeds():
    found = nl.compile_collective("all-to-all", "examples/ndv2-2.toml", size="1GB").to_dict()
    assert found["bound_bandwidth"] == pytest.approx(3.125e9)
    assert found["algorithm_bandwidth"] < 3.524e9


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


@pytest.mark.parametrize(
    ("collective", "size", "padded"), [("all-gather", 1000, 1002), ("all-to-all", 999, 1002),
                                       ("all-gather", 1200, 1200)],
)  # fmt: skip
def test_sizes_that_do_not_divide_are_padded(collective, size, padded):
    found = nl.compile_collective(
        collective, "line:3", size=size, chunks=2, bandwidth=1e9, latency=0
    ).to_dict()
    assert found["padded_size"] == padded


@pytest.fixture(name="plan")
def _plan(tmp_path):
    path = tmp_path / "plan.json"
    asked = {"size": "1MB", "bandwidth": "100Gb/s", "latency": "1us", "chunks": 2}
    nl.compile_collective("all-gather", "mesh:2x3", **asked).write(path)
    return path


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


def test_whether_only_trees_are_bound_is_said():
    """One-way links: pairs of trees take 1/1.667 a byte at least, cuts and groups only 1/1.75."""
    graph = nx.DiGraph()
    single = [(0, 1), (0, 3), (0, 4), (4, 1), (2, 1), (2, 4)]
    graph.add_edges_from(single, bandwidth=1)
    graph.add_edges_from([(1, 2), (2, 3), (3, 4), (4, 0)], bandwidth=2)
    asked = {"size": 1e9, "bandwidth": 1e9, "latency": 0, "chunks": 1}
    found = nl.compile_collective("all-reduce", nl.topology(graph), **asked)
    assert found.speed.bound_seconds == pytest.approx(3 / 5)
    least = nl.compare_collectives("all-reduce", nl.topology(graph), size=1e9, bandwidth=1e9)
    assert least.bound.seconds_per_byte == pytest.approx(4 / 7 / 1e9)
    mesh = nl.compile_collective("all-reduce", "mesh:3x3", **asked)
    assert mesh.schedule.bound.why.startswith("9 groups of hosts send each other 24 GB/s")


def test_a_plan_replays_in_the_time_that_it_says(plan):
    said = nl.verify_plan(plan).speed.finish_seconds
    found = nl.replay(
        "mesh:2x3", trace=str(plan), engine="flow", bandwidth="100Gb/s", latency="1us"
    )
    assert found.finish == pytest.approx(said, rel=1e-6)


@pytest.mark.parametrize("collective", ["all-gather", "broadcast"])
def test_plans_of_hosts_that_hang_on_switches_and_each_other_replay(tmp_path, collective):
    path = tmp_path / "plan.json"
    made = nl.compile_collective(collective, "examples/dgx2-2.toml", size="100MB", chunks=1)
    made.write(path)
    run = nl.replay("examples/dgx2-2.toml", trace=str(path), engine="flow")
    assert run.to_dict()["routing"] == "as planned"
    assert run.finish == pytest.approx(made.speed.finish_seconds, rel=1e-3)
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
    crossed = {each["name"]: each["size"] for each in run.channels().to_dicts()}
    assert crossed == pytest.approx({name: sent[name] for name in crossed})
    other = nl.replay("leaf-spine:2x2x4", **asked, routing="shortest-path")
    assert other.finish > run.finish
    broken = nl.replay("leaf-spine:2x2x4", **asked, failed_channels="leaf0-spine0")
    assert broken.finish > 1.5 * run.finish


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce", "all-to-all"])
@pytest.mark.parametrize("on", ["examples/dgx1.toml", "mesh:2x3", "torus:2x3"])
def test_msccl_programs_of_networks_with_odd_trees_are_verified(tmp_path, collective, on):
    path = tmp_path / "plan.xml"
    found = nl.compile_collective(collective, on, chunks=2)
    write_msccl(path, found.schedule.program)
    assert nl.verify_plan(path).to_dict()["ranks"] == found.to_dict()["ranks"]


RING = "tests/workload/programs/collectives/data/astra-sim-ring.xml"
LINKS = {"bandwidth": "25GB/s", "latency": "1us"}


def test_others_programs_replay_in_closed_form():
    """A ring all-reduce: 2 (P - 1) times a latency and an eighth of the size, which is padded."""
    asked = {"trace": RING, "engine": "flow", **LINKS}
    run = nl.replay("ring:8", **asked, size="1MB")
    assert run.finish == pytest.approx(14 * (1e-6 + 125e3 / 25e9))
    odd = nl.replay("ring:8", **asked, size=1_000_001)
    assert odd.finish == pytest.approx(14 * (1e-6 + 125_001 / 25e9))
    some = nl.replay("ring:9", **asked, size="1MB", nodes="0-7")
    assert some.finish > run.finish  # 7 to 0 goes by 8
    with pytest.raises(InputError, match="found 8 GPUs; expected 9, the ranks of ring:9"):
        nl.replay("ring:9", **asked, size="1MB")
    with pytest.raises(InputError, match="size: found none"):
        nl.replay("ring:8", **asked)


def test_a_program_is_verified_on_a_fabric(tmp_path):
    found = nl.verify_plan(RING, on="ring:8", size="1000001B", **LINKS).to_dict()
    assert found["replayed"]["finish_seconds"] == pytest.approx(14 * (1e-6 + 125_001 / 25e9))
    assert (found["steps"], found["padded_size"]) == (14, 1_000_008)
    assert nl.verify_plan(RING).to_dict()["replayed"] is None
    with pytest.raises(InputError, match="found 8 GPUs") as wrong:
        nl.verify_plan(RING, on="ring:9", size="1MB", **LINKS)
    assert not isinstance(wrong.value, InvalidPlanError)
    path = tmp_path / "bad.xml"
    path.write_text(Path(RING).read_text().replace('type="s"', 'type="nop"'))
    with pytest.raises(InvalidPlanError, match="a deadlock: GPU 0, thread block 0"):
        nl.verify_plan(path, on="ring:8", size="1MB", **LINKS)


@pytest.mark.parametrize(("size", "best"), [("49KB", (2, 2, 1)), ("51KB", (3, 3, 2))])
def test_the_fastest_of_few_steps_depends_on_the_size(size, best):
    """A microsecond more, or the time of half of the data: equal at 50 KB."""
    found = nl.compile_collective(
        "broadcast", "line:3", size=size, steps=3, bandwidth="25GB/s", latency="1us"
    )
    said = found.to_dict()["few_steps"]
    assert (said["steps"], said["rounds"], said["chunks"]) == best
    assert said["proven"]


@pytest.mark.parametrize(
    ("collective", "options"),
    [
        ("all-gather", {}), ("reduce-scatter", {}), ("broadcast", {"root": 1}),
        ("reduce", {"root": 2}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("on", ["mesh:2x3", "ring:5"])
def test_few_steps_of_each_collective_are_verified_with_exact_fractions(
    collective, options, on, tmp_path
):
    path = tmp_path / "plan.json"
    asked = {"size": 6e6, "bandwidth": "25GB/s", "latency": "1us", "steps": 4, "chunks": 3}
    found = nl.compile_collective(collective, on, **asked, **options)
    found.write(path)
    said, judged = found.to_dict()["few_steps"], nl.verify_plan(path).to_dict()["few_steps"]
    assert judged["steps"] <= judged["most_steps"] == said["steps"]
    (bound,) = (each for each in said["bounds"] if each["steps"] == said["steps"])
    assert judged["times_slowest"] == bound["proven_by_prices"]
    assert found.rounds == said["rounds"]
    seconds = Fraction(judged["bound_seconds_exact"])
    assert found.speed.finish_seconds >= float(seconds) + said["steps"] * 1e-6 - 1e-12


FAST = {"size": "64MB", "bandwidth": "25GB/s", "latency": "100ns"}


def least(collective, spec, hosts):
    """The least time of 64 MB among nodes, however fast they are inside."""
    found = least_time(collective, topology(spec), hosts, bytes_per_second=25e9, by_node=True)
    return found.per_byte * 64e6


@pytest.mark.parametrize("collective", SYNTHESISED)
def test_the_bound_is_that_of_whole_nodes_and_is_reached(collective):
    spec = "rail:1x3x2x2"
    free = nl.compile_collective(collective, spec, **FAST)
    counted = nl.compile_collective(collective, spec, count_inside_nodes=True, **FAST)
    assert free.speed.bound_seconds == pytest.approx(least(collective, spec, np.arange(6)))
    assert free.speed.efficiency > 0.95
    assert free.speed.finish_seconds < counted.speed.bound_seconds
    assert 0 < free.inside_nodes < 1
    assert counted.inside_nodes is None


def test_nodes_send_by_all_their_cards_however_few_ranks_they_have():
    hosts = [0, 1, 4, 5, 8]
    found = nl.compile_collective("all-gather", "rail:1x3x4x4", nodes="0,1,4,5,8", **FAST)
    assert found.speed.ranks == 5
    assert found.speed.bound_seconds == pytest.approx(least("all-gather", "rail:1x3x4x4", hosts))
    assert found.speed.efficiency > 0.9
    fewer = nl.compile_collective(
        "all-gather", "rail:1x3x4x4", nodes="0,1,4,5,8", failed_nodes="n2.3", **FAST
    )
    assert fewer.speed.bound_seconds > found.speed.bound_seconds  # what enters node 2


def test_a_plan_is_replayed_with_what_it_sends_between_nodes_only(tmp_path):
    file = tmp_path / "plan.json"
    made = nl.compile_collective("all-reduce", "rail:1x2x4x4", chunks=2, **FAST)
    made.write(file)
    assert nl.verify_plan(file).to_dict()["efficiency"] == pytest.approx(made.speed.efficiency)
    fast = {"bandwidth": "25GB/s", "latency": "100ns"}
    run = nl.replay("rail:1x2x4x4", trace=str(file), engine="flow", **fast)
    assert run.finish == pytest.approx(made.speed.finish_seconds, rel=0.05)
    program, hosts = made.schedule.program, made.schedule.network.host
    node = topology("rail:1x2x4x4").node_of_host[hosts]
    between = node[program.source] != node[program.target]
    sizes = program.message_size * made.schedule.size_bytes
    assert run.to_dict()["size"] == pytest.approx(sizes[between].sum())
    assert 1 - between @ sizes / sizes.sum() == pytest.approx(made.inside_nodes)


def test_a_time_limit_keeps_what_was_found_by_then():
    asked = {"size": "64MB", "bandwidth": "25GB/s", "latency": "500ns"}
    first = nl.compile_collective("all-gather", "mesh:3x3", seconds=1e-9, **asked)
    best = nl.compile_collective("all-gather", "mesh:3x3", **asked)
    assert first.proven
    assert first.schedule.program.num_chunks < best.schedule.program.num_chunks
    assert first.speed.efficiency < best.speed.efficiency
    assert first.verdict.lines["limits"].endswith("more time may find a better one")
    with pytest.raises(InputError, match="how fast the machine is"):
        by_verb("compile_collective").repeatable({"seconds": 10.0})


def test_ndv2_reaches_its_bound():
    found = nl.compile_collective("all-gather", "examples/ndv2-2.toml", size="1GB").to_dict()
    assert found["proven"]
    assert found["bound_bandwidth"] == pytest.approx(25e9)
    assert found["algorithm_bandwidth"] > 0.999 * 25e9
    assert found["bus_bandwidth"] == pytest.approx(found["algorithm_bandwidth"] * 15 / 16)
    assert "one channel of 12.5 GB/s" in found["bound"]


def test_our_program_takes_what_its_plan_promises_and_its_latencies(tmp_path):
    made = nl.compile_collective("all-gather", "mesh:3x3", size="90MB", chunks=4, latency=0)
    write_msccl(tmp_path / "a.xml", made.schedule.program)
    run = nl.replay(
        "mesh:3x3", trace=str(tmp_path / "a.xml"), engine="flow", size="90MB", bandwidth="200Gb/s"
    )
    assert made.speed.bound_seconds <= run.finish < 1.1 * made.speed.finish_seconds


def test_a_bound_of_sends_says_that_switches_add():
    found = nl.compile_collective("all-reduce", "dgx-h100", size="1MB")
    assert "Switches inside computers add" in found.verdict.note
    other = nl.compile_collective("all-gather", "dgx-h100", size="1MB")
    assert "Switches" not in other.verdict.note
