"""Programs that wait for each of their messages, as ``simulate_loop`` runs them."""

from dataclasses import replace

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import DeadlockError, InputError
from netloom.questions.fields import Timing
from netloom.questions.simulate.fields import AnyProgramQuestion, Flows, NodeChannels
from netloom.questions.simulate.loop import simulate_loop
from netloom.simulation.flow import FlowLaw
from netloom.topology import mesh
from netloom.workload import process_graph

WORM = {"engine": "worm", "release_cycles": 0}
ONE = process_graph(2, [0], [1], name="one")
"""A task that sends, and one that only listens."""


CROSSING = [(ONE, [0, 2]), (ONE, [1, 3])]
"""Two messages that share the channel from node 1 to node 2 of a line."""


def test_programs_that_share_a_channel_slow_each_other_down():
    options = {"applied": 0.9, "message_flits": 20, "think": "fixed", "loops": 50}
    found = simulate_loop("line:4", app=CROSSING, engine="worm", **options)
    data = found.to_dict()
    think = 20 * 0.1 / 0.9
    assert data["program"] == "one@0,2 and one@1,3"
    for program in data["programs"]:
        assert program["nodes"] == program["tasks"] == 2
        alone = program["alone"]["loop_cycles"]["mean"]
        assert alone == pytest.approx(think + 2 + 20 + 1, abs=0.2)
        together = program["loop_cycles"]["mean"]
        assert 42 - 0.5 <= together <= 42 + 6  # the channel is held for 21 cycles a message
        assert program["slowdown"] == pytest.approx(together / alone)
    worst = min(program["actual"]["worst_node"] for program in data["programs"])
    assert data["actual"]["worst_node"] == pytest.approx(worst)


def test_a_program_alone_is_what_it_would_be_if_asked_on_its_own():
    app = ["mesh:2x4@0-7", "transpose:3@8-15,0"]
    options = {"applied": "0.2,0.5", "loops": 20, "mapping": "identity", **WORM}
    with pytest.raises(InputError, match="host 0 in both"):
        simulate_loop("mesh:4x4", app=app, **options)
    found = simulate_loop("mesh:4x4", app=app, shared=True, **options)
    assert [program.tasks for program in found.points[0].programs] == [8, 6]
    asked = simulate_loop("mesh:4x4", app=app[0], **options)
    for both, one in zip(found.points, asked.points, strict=True):
        alone = both.programs[0].alone
        assert vars(alone.loop_cycles) == vars(one.loop_cycles)
        assert vars(alone.actual) == vars(one.actual)
        assert one.programs[0].alone is None
    lone = simulate_loop("mesh:4x4", app=app, shared=True, alone=False, **options)
    assert lone.points[1].times.cycles.tolist() == found.points[1].times.cycles.tolist()
    assert lone.points[1].programs[0].slowdown is None


def test_the_interval_of_a_slow_down_is_paired():
    """Of two programs on one channel, over seeds: it covers, and is narrower than the two apart."""
    found = [
        simulate_loop("line:4", app=CROSSING, applied=0.4, loops=200, seed=seed, engine="worm")
        for seed in range(1, 21)
    ]
    program = [each.points[0].programs[0] for each in found]
    ratios = np.array([each.slowdown for each in program])
    halves = np.array([each.slowdown_ci95 for each in program])
    assert ratios.mean() > 1.02
    assert np.count_nonzero(np.abs(ratios - ratios.mean()) > halves) <= 3
    loops = np.array([each.times.by_loop for each in program])
    apart = 1.96 * loops.std(axis=1) / np.sqrt(loops.shape[1]) / loops.mean(axis=1) * np.sqrt(2)
    assert halves.mean() < 0.8 * apart.mean()


def test_some_messages_that_block_each_other_end_the_run_though_others_go_on():
    with pytest.raises(DeadlockError, match="up-down") as failed:
        simulate_loop("torus:8x8", app="hypercube:6", mapping="random", applied=0.8, engine="worm")
    assert len(failed.value.cycle) >= 2


def test_the_limit_is_of_a_task_also_where_several_share_a_node():
    options = {"applied": 0.9, "loops": 5, "engine": "worm", "choice": "uniform"}
    one = simulate_loop("mesh:4x4", app="all-to-all:16", **options).saturation
    two = simulate_loop("mesh:4x4", app="all-to-all:32", tasks_per_node=2, **options).saturation
    assert two.upper_bound == pytest.approx(one.upper_bound / 2)  # a node sends what two tasks do


def test_what_stays_on_a_node_makes_no_traffic():
    """Tasks i and i + 4 exchange with each other, and with one of the next node."""
    pairs = [(task, (task + 4) % 8) for task in range(8)] + [(0, 1), (1, 0), (2, 3)]
    graph = process_graph(8, *np.transpose(pairs), name="pairs")
    options = {"mapping": [0, 1, 2, 3] * 2, "tasks_per_node": 2, "applied": 0.9, "loops": 40}
    for engine in ("network", "worm"):
        found = simulate_loop("line:4", app=graph, engine=engine, **options)
        data = found.to_dict()
        assert (data["edges_within_nodes"], data["silent_tasks"]) == (8, 5)
        assert 0 < data["actual"]["average_node"] < 0.9  # it was L / t = 9 where nothing is sent
        assert len(found.point.loops) == 3
        only = simulate_loop(
            "line:4", app=process_graph(4, [0, 1, 2], [1, 0, 3]), engine=engine, applied=0.9,
            loops=40,
        )  # fmt: skip
        assert data["actual"] == only.to_dict()["actual"]
    with pytest.raises(InputError, match="pairs: found nothing sent between tasks of different"):
        simulate_loop("line:4", app=graph, mapping=[0] * 8, tasks_per_node=8, applied=0.1)


def test_what_one_channel_limits_is_the_same_flit_by_flit_and_with_worms():
    """Three tasks of a line send to the fourth without a pause: its last channel is what counts."""
    graph = process_graph(4, [0, 1, 2], [3, 3, 3], name="into one")
    options = {"app": graph, "applied": 0.99, "message_flits": 200, "loops": 40, "think": "fixed"}
    got = {}
    for engine, more in (
        ("flow", {"end_channels": 0}),
        ("worm", {"release_cycles": 0}),
        ("network", {"packet_flits": 50, "vcs": 8, "buffer_flits": 32}),
    ):
        found = nl.simulate_loop("line:4", engine=engine, **more, **options)
        got[engine] = found.point.utilisation_max
    assert got["flow"] == pytest.approx(1, rel=0.02)
    assert got["flow"] == pytest.approx(got["worm"], rel=0.02)
    assert got["flow"] == pytest.approx(got["network"], rel=0.02)


FLOW = {"engine": "flow", "end_channels": 0}


@pytest.mark.parametrize(("engine", "rel"), [(WORM, 0.03), (FLOW, 0.04)])
def test_the_transpose_saturates_where_the_theory_says(engine, rel):
    """Chittor 1991, figure 5.6: 1/11 for the worst node and 3/23 for the average one.

    As flows, the worst node's 22 hops take 4 % of the time of 11 messages of 50 flits.
    """
    found = simulate_loop("mesh:12x12", applied=0.4, app="transpose:12", loops=60, **engine)
    actual = found.to_dict()["actual"]
    assert actual["worst_node"] == pytest.approx(1 / 11, rel=rel)
    assert actual["average_node"] == pytest.approx(3 / 23, rel=0.04)
    assert found.saturation.worst_node == pytest.approx(1 / 11)
    assert found.saturation.average_node == pytest.approx(3 / 23)


LONE = {"app": ONE, "mapping": [0, 3], "applied": 0.5, "think": "fixed", "loops": 20}


@pytest.mark.parametrize(("engine", "tail"), [("worm", 1), ("flow", 0)])
def test_the_loop_of_a_message_alone_is_known_to_the_cycle(engine, tail):
    """A computation of 50 cycles, then 3 hops and 50 flits. A worm's tail holds for one more."""
    data = simulate_loop("line:4", engine=engine, **LONE).to_dict()
    message = 3 + 50 + tail
    assert data["loop_cycles"] == {"mean": 50 + message, "max": 50 + message}
    assert data["actual"]["worst_node"] == pytest.approx(50 / (50 + message))
    assert data["message_latency"] == data["unhindered_latency"] == message
    cut = simulate_loop("line:4", engine=engine, packet_flits=10, gap_cycles=5, **LONE).to_dict()
    assert cut["loop_cycles"]["mean"] == 50 + 5 * (3 + 10 + tail) + 4 * 5


def test_ctrl_c_gives_what_is_known_so_far(ctrl_c_after):
    ctrl_c_after(40)
    found = simulate_loop("mesh:4x4", app="ring:16", applied="0.1,0.2", loops=300_000)
    data = found.to_dict()
    assert found.interrupted
    assert data["interrupted"]
    assert data["points"][0]["actual"] is None
    assert data["points"][0]["message_latency"] > 0


def test_channels_that_differ_leave_a_limit_without_estimates():
    network = mesh(4, 4)
    faster = np.where(np.arange(len(network.channel_bandwidth)) < 4, 2.0, 1.0)
    network = replace(network, channel_bandwidth=faster)
    found = simulate_loop(network, app="transpose:4", applied=0.5, loops=20, engine="flow")
    limit = found.saturation
    assert limit.average_node is None
    assert limit.upper_bound > 0


def test_programs_that_meet_slow_each_other_down_and_those_apart_do_not():
    """Two rings on the same row meet; on rows of their own they do not."""
    options = {"applied": 0.9, "message_flits": 100, "loops": 30, "engine": "flow"}
    apart = nl.simulate_loop("torus:4x4", app=["ring:4@0-3", "ring:4@8-11"], **options)
    for program in apart.point.programs:
        assert program.slowdown == 1
        assert program.slowdown_ci95 == 0
    met = nl.simulate_loop("line:8", app=["ring:4@0,2,4,6", "ring:4@1,3,5,7"], **options)
    assert all(program.slowdown > 1.1 for program in met.point.programs)


def test_a_routing_of_several_paths_spreads_its_flows():
    """Two spines: all cross traffic of a leaf by both, where one path a pair collides."""
    options = {"app": "shift:2/4", "applied": 0.95, "loops": 30, "engine": "flow"}
    spread = nl.simulate_loop("leaf-spine:2x2x2", routing="minimal", **options)
    assert spread.point.message_latency == pytest.approx(spread.point.unhindered_latency, rel=1e-3)
    assert spread.saturation is None


def test_parameters_of_flows_are_options_by_the_same_names():
    """And all options of the group are parameters, or say how fast channels are."""
    fields, law = AnyProgramQuestion.model_fields, FlowLaw()
    assert {name: fields[name].default for name in vars(law)} == vars(law)
    own = {*Flows.model_fields, *NodeChannels.model_fields}
    assert own == {*vars(law), *Timing.model_fields, "efficiency", "end_channels"}


def test_packets_of_a_message_wait_for_each_other_only_with_a_gap():
    waiting = simulate_loop("line:4", packet_flits=10, gap_cycles=5, **LONE)
    at_once = simulate_loop("line:4", packet_flits=10, **LONE)
    packet = waiting.network.router.zero_load_cycles(3, 10)
    loop = waiting.to_dict()["loop_cycles"]["mean"]
    assert loop == pytest.approx(50 + 5 * packet + 4 * 5, abs=6)
    assert at_once.to_dict()["loop_cycles"]["mean"] == pytest.approx(50 + packet + 40, abs=6)
