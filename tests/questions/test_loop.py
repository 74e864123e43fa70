"""Programs that wait for each of their messages, as ``simulate_loop`` runs them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import DeadlockError, InputError
from netloom.questions.recorded import record
from netloom.questions.simulate.loop import LoopSimulation, simulate_loop
from netloom.routing import UpDown
from netloom.topology import mesh
from netloom.workload import process_graph, read

WORM = {"engine": "worm", "release_cycles": 0}
ONE = process_graph(2, [0], [1], name="one")
"""A task that sends, and one that only listens."""


def test_the_transpose_saturates_where_the_theory_says():
    """Chittor 1991, figure 5.6: 1/11 for the worst node and 3/23 for the average one."""
    found = simulate_loop("mesh:12x12", applied=0.4, app="transpose:12", loops=60, **WORM)
    actual = found.to_dict()["actual"]
    assert actual["worst_node"] == pytest.approx(1 / 11, rel=0.03)
    assert actual["average_node"] == pytest.approx(3 / 23, rel=0.04)
    assert found.saturation.worst_node == pytest.approx(1 / 11)
    assert found.saturation.average_node == pytest.approx(3 / 23)


def test_below_saturation_applied_traffic_is_got_but_for_the_way():
    found = simulate_loop("mesh:12x12", applied="0.02,0.05", app="transpose:12", loops=30, **WORM)
    for point in found.points:
        assert point.times.average_node == pytest.approx(point.applied, rel=0.06)
        assert point.message_latency < 1.25 * point.unhindered_latency
    assert found.table()["applied"].to_list() == [0.02, 0.05]


def test_the_loop_of_a_message_alone_is_known_to_the_cycle():
    """A computation of 50 cycles, then 3 hops and 50 flits, the tail's channel held one more."""
    options = {"app": ONE, "mapping": [0, 3], "applied": 0.5, "think": "fixed", "loops": 20}
    data = simulate_loop("line:4", engine="worm", **options).to_dict()
    assert data["loop_cycles"] == {"mean": 50 + 3 + 50 + 1, "max": 104}
    assert data["actual"]["worst_node"] == pytest.approx(50 / 104)
    assert data["message_latency"] == data["unhindered_latency"] == 54


def test_packets_of_a_message_wait_for_each_other_and_a_gap():
    options = {"app": ONE, "mapping": [0, 3], "applied": 0.5, "think": "fixed", "loops": 20}
    cut = {"packet_flits": 10, "gap_cycles": 5}
    worm = simulate_loop("line:4", engine="worm", **cut, **options).to_dict()
    assert worm["loop_cycles"]["mean"] == 50 + 5 * (3 + 10 + 1) + 4 * 5
    waiting = simulate_loop("line:4", **cut, **options)
    at_once = simulate_loop("line:4", packet_flits=10, **options)
    packet = waiting.network.router.zero_load_cycles(3, 10)
    loop = waiting.to_dict()["loop_cycles"]["mean"]
    assert loop == pytest.approx(50 + 5 * packet + 4 * 5, abs=6)
    assert at_once.to_dict()["loop_cycles"]["mean"] == pytest.approx(50 + packet + 40, abs=6)


def test_on_the_network_an_unhindered_message_takes_its_zero_load_latency():
    found = simulate_loop("mesh:4x4", applied=0.02, app="transpose:4", message_flits=8, loops=60)
    point = found.point
    assert point.message_latency == pytest.approx(point.unhindered_latency, rel=0.06)
    think = 8 * 0.98 / 0.02
    assert point.times.cycles.mean() == pytest.approx(think + point.message_latency, rel=0.05)
    data = found.to_dict()
    assert data["engine"] == "network"
    assert data["saturation"] is None
    assert data["router"]["vcs"] == 4


def test_the_answer_has_all_that_was_promised():
    data = simulate_loop("mesh:4x4", applied="0.1,0.2", app="transpose:4", loops=20).to_dict()
    assert [point["applied"] for point in data["points"]] == [0.1, 0.2]
    for point in data["points"]:
        assert set(point["actual"]) >= {"average_node", "worst_node"}
        assert point["actual"]["worst_node"] <= point["actual"]["average_node"]
        assert point["loop_cycles"]["max"] >= point["loop_cycles"]["mean"] > 0
        assert point["programs"] == []
        assert point["note"] is None
    assert not data["interrupted"]
    assert data["failures"] is None
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_the_uniform_program_sends_to_all():
    found = simulate_loop("mesh:4x4", applied=0.2, app="uniform", loops=40, **WORM)
    assert len(found.point.loops) == 16
    assert (found.point.channel_flits > 0).all()


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


def test_programs_that_never_meet_are_not_slowed_down_at_all():
    app = ["ring:4@0-3", "ring:4@4-7", "transpose:2@8-11"]
    found = simulate_loop("mesh:4x4", app=app, applied=0.5, loops=20, **WORM)
    assert [program.slowdown for program in found.points[0].programs] == [1.0, 1.0, 1.0]
    assert [program.slowdown_ci95 for program in found.points[0].programs] == [0.0, 0.0, 0.0]
    first, second, _ = found.points[0].programs  # and yet they do not do the same
    assert first.times.cycles.tolist() != second.times.cycles.tolist()


@pytest.mark.parametrize("routing", ["default", "romm", "adaptive"])
def test_programs_that_never_meet_on_the_network(routing):
    app = ["all-to-all:4@0-3", "ring:4@4-7", "transpose:2@8,9,12,13"]
    found = simulate_loop("mesh:4x4", app=app, applied=0.6, loops=20, routing=routing)
    for program in found.points[0].programs:
        assert (program.slowdown, program.slowdown_ci95) == (1.0, 0.0)


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
    assert any("±" in line for line in found[0].lines())


@pytest.mark.parametrize(
    ("on", "options"),
    [
        ("mesh:4x4", {"app": "transpose:4", "engine": "worm"}),
        ("mesh:4x4", {"app": read("ring:16"), "mapping": np.arange(16)[::-1]}),
        ("mesh:4x4", {"app": "uniform", "engine": "worm", "routing": UpDown()}),
        ("mesh:4x4", {"app": "uniform", "failed_nodes": "5", "failed_channels": "0-1"}),
        ("mesh:4x4", {"app": [(read("ring:4"), [0, 1, 4, 5]), "ring:4@8-15"], "mapping": "random"}),
    ],
)
def test_provenance_suffices_to_ask_again(on, options):
    found = simulate_loop(on, applied=0.3, loops=10, **options).to_dict()
    recorded = json.loads(json.dumps(found["provenance"]))
    assert recorded["verb"] == "simulate_loop"
    assert recorded["not_repeatable"] == []
    assert simulate_loop(**recorded["configuration"]).to_dict() == found


def test_ctrl_c_gives_what_is_known_so_far(ctrl_c_after):
    ctrl_c_after(40)
    found = simulate_loop("mesh:4x4", app="ring:16", applied="0.1,0.2", loops=300_000)
    data = found.to_dict()
    assert found.interrupted
    assert data["interrupted"]
    assert data["points"][0]["actual"] is None
    assert "interrupted" in data["points"][0]["note"]
    assert data["points"][0]["message_latency"] > 0


def test_a_run_that_comes_to_no_end_says_so():
    found = simulate_loop("mesh:4x4", app="ring:16", applied=0.1, most_cycles=3000)
    assert found.point.times is None
    assert "it starves, or loops and most_cycles" in found.point.note
    assert not found.interrupted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"applied": 0}, "applied: found 0; expected above 0, below 1"),
        ({"applied": 1}, "applied: found 1; expected above 0, below 1"),
        ({"applied": "0.5,1.5"}, "applied: found 1.5; expected above 0, below 1"),
        ({"applied": float("nan")}, "applied: found nan"),
        ({"applied": None}, "applied: found none"),
        ({"app": None}, "app: found no program"),
        ({"app": "uniform@0-3"}, "uniform"),
        ({"app": ["ring:4@0-3", "ring:4"]}, "ring:4 without nodes, one of 2 programs"),
        ({"app": ["ring:4@0-3", "ring:4@4-6"]}, "3 nodes for 4 tasks"),
        ({"gap_cycles": 5}, "gap_cycles: found 5; expected packet_flits as well"),
        ({"vcs": 2, "engine": "worm"}, "vcs: found '2'; expected engine network"),
        ({"arbitration": "fifo"}, "arbitration: found 'fifo'; expected engine worm"),
        ({"think": "never"}, "think: found 'never'"),
        ({"loops": 0}, "loops: found 0"),
        ({"load": 0.1}, "load: found no such field"),
    ],
)
def test_mistakes_are_named_in_one_line(options, message):
    with pytest.raises(InputError, match=message) as caught:
        simulate_loop("mesh:4x4", **({"app": "ring:16", "applied": 0.2} | options))
    assert "\n" not in str(caught.value)


def test_ranks_of_a_recording_that_have_sent_nothing_are_idle(tmp_path):
    file = tmp_path / "lonely.mtx"
    file.write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 8\n2 1 8\n")
    options = {"applied": 0.2, "loops": 20}
    found = simulate_loop("mesh:4x4", app=str(file), **options)
    both = simulate_loop("mesh:4x4", app=process_graph(2, [0, 1], [1, 0]), **options)
    assert (found.silent_tasks, both.silent_tasks) == (1, 0)
    assert found.point.times.cycles.tolist() == both.point.times.cycles.tolist()
    assert "left out: 1 task that sends nothing over the network" in found.remarks()
    several = simulate_loop("mesh:4x4", app=["transpose:2@0-3", f"{file}@4-6"], **options)
    assert several.silent_tasks == 3
    assert [program.tasks for program in several.point.programs] == [2, 2]
    file.write_text("%%MatrixMarket matrix coordinate real general\n3 3 0\n")
    with pytest.raises(InputError, match=r"lonely\.mtx: found no task that sends"):
        simulate_loop("mesh:4x4", app=str(file), **options)


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
        said = (
            "left out: 8 edges between tasks of one node, which need no network, and 5 tasks that"
        )
        assert said in " ".join(found.remarks())
    with pytest.raises(InputError, match="pairs: found nothing sent between tasks of different"):
        simulate_loop("line:4", app=graph, mapping=[0] * 8, tasks_per_node=8, applied=0.1)


def test_programs_that_keep_something_to_a_node():
    app = [(process_graph(3, [0, 1], [1, 2], name="chain"), [0, 1, 2]), "transpose:2@4-7"]
    found = simulate_loop("mesh:4x4", app=app, applied=0.3, loops=10, **WORM)
    assert (found.edges_within_nodes, found.silent_tasks) == (0, 3)


@pytest.mark.parametrize(
    "wrong", [{"switch_cycles": 5}, {"app": "uniform", "mapping": "random"},
              {"app": "uniform", "choice": "bytes"}, {"app": "uniform", "tasks_per_node": 2}]
)  # fmt: skip
def test_what_says_nothing_of_a_loop_is_refused(wrong):
    with pytest.raises(InputError, match=list(wrong)[-1]):
        simulate_loop("mesh:4x4", **{"app": "ring:16", "applied": 0.1, "loops": 2} | wrong)


def test_what_a_program_gets_through_is_said_in_words():
    kept = record(simulate_loop("mesh:4x4", app="transpose:4", applied="0.1,0.9", loops=5, **WORM))
    actual = kept.figures["points"][-1]["actual"]
    lost = [100 * (1 - actual[name] / 0.9) for name in ("average_node", "worst_node")]
    (sentence,) = (each.replace("\u00a0", " ") for each in kept.answer.sentences())
    assert sentence.startswith(f"Ranks lose {lost[0]:.2g} % of their sending rate to the network ")
    assert sentence.endswith(f"at applied traffic 0.9, the slowest {lost[1]:.2g} %.")
    stopped = record(simulate_loop("mesh:4x4", app="ring:16", applied=0.1, most_cycles=3000))
    (sentence,) = stopped.answer.sentences()
    assert sentence == (
        "Not known at applied traffic 0.1: after 3,000 cycles some rank has too few loops."
    )


def test_an_answer_without_estimates_is_read_and_drawn_again():
    network = mesh(4, 4)
    faster = np.where(np.arange(len(network.channel_bandwidth)) < 4, 2.0, 1.0)
    network = replace(network, channel_bandwidth=faster)
    found = simulate_loop(network, app="transpose:4", applied=0.5, loops=20, engine="flow")
    limit = found.saturation
    assert limit.average_node is None
    assert limit.upper_bound > 0
    assert "limits" not in found.verdict.lines
    kept = record(found)
    again = LoopSimulation.from_json(kept.figures, kept=kept.tables)
    assert again.parts()["traffic"].to_dict() == found.parts()["traffic"].to_dict()
