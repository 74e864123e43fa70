"""Several programs at once under an offered load, as ``simulate`` runs them."""

import json

import numpy as np
import pytest

from netloom import simulate
from netloom.questions.simulate.load import SimulateQuestion, prepare, simulate_beside
from netloom.simulation.steady import Delivered
from netloom.workload import process_graph

SHORT = {"cycles": 1500}

CROSSING = [
    (process_graph(2, [0], [1], name="near"), [0, 2]),
    (process_graph(2, [0], [1], name="far"), [1, 3]),
]
"""Two programs of one message each, which share the channel from node 1 to node 2 of a line."""


def test_programs_that_share_a_channel_slow_each_other_down():
    found = simulate("line:4", app=CROSSING, load=0.42, cycles=60_000)
    data = found.to_dict()
    near, far = data["programs"]
    assert (near["name"], near["nodes"], near["tasks"]) == ("near@0,2", 2, 2)
    for program in (near, far):
        assert program["offered"] == 0.42
        assert program["accepted"] == pytest.approx(0.42, rel=0.05)
        assert program["alone"]["accepted"] == pytest.approx(0.42, rel=0.05)
        assert program["slowdown"]["accepted"] == pytest.approx(1, abs=0.06)
        ratio = program["packet_latency"]["mean"] / program["alone"]["packet_latency"]["mean"]
        assert program["slowdown"]["packet_latency"] == pytest.approx(ratio)
        assert ratio > 1.15
    assert near["packets"] + far["packets"] == data["packets"]
    mean = sum(each["packet_latency"]["mean"] * each["packets"] for each in (near, far))
    assert mean / data["packets"] == pytest.approx(data["packet_latency"]["mean"])
    assert data["traffic"] == "near@0,2 and far@1,3"
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_a_program_alone_is_what_it_would_be_if_asked_on_its_own():
    together = simulate("line:4", app=CROSSING, load="0.1,0.3", **SHORT)
    for number, program in enumerate(CROSSING):
        asked = simulate("line:4", app=[program], load="0.1,0.3", **SHORT)
        for both, one in zip(together.points, asked.points, strict=True):
            alone = both.alone[number].measured  # of the same packets, in other cycles
            assert alone.packet_latency == pytest.approx(one.measured.packet_latency, rel=0.1)
            assert one.programs[0].fared.packet_latency_mean == one.packet_latency_mean
            assert one.programs[0].slowdown is None


def test_a_program_alone_is_held_against_a_limit_of_its_own():
    """The channel that both share carries 0.5 of each; alone, either may use all of it."""
    found = simulate("line:4", app=CROSSING, load=[0.1, 0.505], **SHORT).points[1]
    assert not found.stable
    assert [run.stable for run in found.alone] == [True, True]


def test_on_shared_nodes_every_program_offers_the_load():
    app = ["ring:4@0-3", "all-to-all:2@3-4"]
    data = simulate("mesh:3x3", app=app, load=0.2, shared=True, cycles=10_000).to_dict()
    assert data["offered"] == pytest.approx(0.2 * 6 / 5)
    assert [program["offered"] for program in data["programs"]] == pytest.approx([0.2, 0.2])
    for program in data["programs"]:
        assert program["accepted"] == pytest.approx(0.2, rel=0.06)


def test_a_program_has_the_same_packets_whatever_others_there_are():
    app = ["ring:4@0-3", "all-to-all:4@0,2,5,7", "ring:4@4-7"]
    seen = {}
    for some in ([0, 1, 2], [0], [2, 0]):
        programs = [app[i] for i in some]
        network = prepare(SimulateQuestion(on="mesh:3x3", app=programs, shared=True, load=0.1))
        run = network.make_run(network.settings[0], network.mean_load(0.1))
        born = run.packets.until(3000)
        assert (np.diff(born[:, 0]) >= 0).all()
        number = np.arange(len(born), dtype=np.int32)
        owner = run.groups.of(Delivered(*[number] * 8))
        for place, program in enumerate(some):
            packets = born[owner == place].tolist()
            assert packets == seen.setdefault(program, packets)
    assert len({str(packets) for packets in seen.values()}) == 3


APART = ["all-to-all:4@0-3", "ring:4@4-7", "transpose:2@8,9,12,13"]
"""Programs in rows of a mesh of 4 by 4, which never meet."""


@pytest.mark.parametrize("routing", ["default", "romm", "adaptive"])
def test_programs_that_never_meet_are_not_slowed_down_at_all(routing):
    found = simulate("mesh:4x4", app=APART, load=[0.1, 0.3], routing=routing, **SHORT)
    for point in found.points:
        for program, alone in zip(point.programs, point.alone, strict=True):
            assert program.slowdown.packet_latency == program.slowdown.accepted == 1.0
            assert program.slowdown.packet_latency_ci95 == 0.0
            assert alone.warmup_cycles == point.warmup_cycles
            assert alone.measured.cycles == point.measured.cycles


def test_intervals_of_slow_downs_are_paired():
    """By how much two programs of one message each delay each other, and how sure that is."""
    ratios, halves, apart = [], [], []
    for seed in range(1, 21):
        point = simulate("line:4", app=CROSSING, load=0.2, cycles=6000, seed=seed).point
        program = point.programs[0]
        ratios.append(program.slowdown.packet_latency)
        halves.append(program.slowdown.packet_latency_ci95)
        both = program.fared, program.alone.fared
        relative = [each.packet_latency_ci95 / each.packet_latency_mean for each in both]
        apart.append(float(np.hypot(*relative)) * ratios[-1])
    missed = np.abs(np.array(ratios) - np.mean(ratios)) > halves
    assert np.mean(ratios) > 1.02
    assert np.count_nonzero(missed) <= 3
    assert np.mean(halves) < 0.9 * np.mean(apart), (np.mean(halves), np.mean(apart))


def test_two_mappings_are_compared_on_the_same_packets_and_cycles():
    options = {"on": "mesh:4x4", "app": "transpose:4", "load": [0.1, 0.2], "cycles": 4000}
    here = simulate(**options)
    mirrored = [node // 4 * 4 + 3 - node % 4 for node in range(16)]
    there = simulate_beside(here, mapping=mirrored, **options)
    far = simulate_beside(here, mapping="random", **options)
    for same, other, point in zip(there.points, far.points, here.points, strict=True):
        assert same.offered == point.offered
        assert same.measured.cycles == point.measured.cycles
        assert same.warmup_cycles == point.warmup_cycles
        assert same.created == other.created == point.created
        ratio, half = same.latency_over(point)
        assert abs(ratio - 1) <= max(half, 1e-3)
        assert point.latency_over(point) == (1.0, 0.0)
        assert other.latency_over(point)[0] != 1
