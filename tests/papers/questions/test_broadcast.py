import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import mesh, without
from netloom.workload.traffic import pairs
from netloom_papers.questions.simulate.broadcast import simulate_broadcast

ENDS = {"injection_channels": 0, "ejection_channels": 0}
SINGLE = {"router": "single-cycle"} | ENDS
SHORT = {"rate": 0.004, "packet_flits": 8, "cycles": 4000} | SINGLE


def test_unicast_messages_that_are_alone_take_their_length_and_two_cycles_a_hop():
    found = simulate_broadcast(
        "torus:4x4", rate=2e-5, broadcast=0, packet_flits=4, cycles=200_000, seed=3, **SINGLE
    )
    run = found.point
    assert run.unicast.messages > 40
    assert run.unicast.mean == pytest.approx(4 + 2 * run.hops + 3)
    assert found.points[0].zero_load_latency == pytest.approx(run.unicast.mean)
    assert run.broadcast.messages == run.target.messages == 0
    assert np.isnan(run.broadcast.mean)


@pytest.mark.parametrize("tree", ["balanced", "row-first"])
@pytest.mark.parametrize("startup", [0, 7])
def test_a_broadcast_that_is_alone_takes_the_depth_of_its_tree(tree, startup):
    run = simulate_broadcast(
        "torus:4x4", rate=2e-5, broadcast=1, tree=tree, startup_cycles=startup, packet_flits=8,
        cycles=200_000, seed=3, **SINGLE,
    ).point  # fmt: skip
    a_hop = 8 + 2 + 3 + startup
    assert run.broadcast.messages > 40
    assert run.broadcast.mean == run.broadcast.max == 4 * a_hop  # the far corner
    reached = np.repeat([1, 2, 3, 4], [4, 6, 4, 1]) * a_hop
    assert run.target.mean == pytest.approx(reached.mean())
    assert run.target.p50 == np.median(reached)
    assert run.target.messages == 15 * run.broadcast.messages
    assert run.unicast.messages == 0


def test_lockstep_worms_broadcast_too():
    run = simulate_broadcast(
        "mesh:5", engine="worm", release_cycles=0, rate=1e-4, broadcast=1, packet_flits=10,
        traffic=pairs(5, [0], [1]), cycles=200_000,
    ).point  # fmt: skip
    assert run.broadcast.mean == 4 * (1 + 10)


@pytest.mark.parametrize("tree", ["balanced", "row-first"])
def test_channels_carry_what_they_should_of_each_class(tree):
    """Equation 4: β λ M (k² - 1) / 4 of broadcasts; the distance of unicasts is k³ / 2 (k² - 1)."""
    run = simulate_broadcast(
        "torus:8x8", rate=0.01, broadcast=0.08, tree=tree, packet_flits=8, cycles=60_000, **SINGLE
    ).point
    # Every message weighs at most about twice the mean: 5 standard errors.
    off = 10 / run.unicast.messages**0.5, 10 / run.broadcast.messages**0.5
    unicast, broadcast = 0.92 * 0.08 * 512 / 126 / 4, 0.08 * 0.08 * 63 / 4
    assert run.utilisation_unicast == pytest.approx(unicast, rel=off[0])
    assert run.utilisation_broadcast == pytest.approx(broadcast, rel=off[1])
    assert run.channel_utilisation.mean() == pytest.approx(run.utilisation_mean, rel=0.01)


PAPER = {
    "packet_flits": 32,
    "vcs": 3,
    "routing": "adaptive",
    "buffer_flits": 4,
    "broadcast": 0.04,
} | SINGLE


def test_busy_is_not_past_saturation():
    run = simulate_broadcast("torus:8x8", rate=0.0081, precision=0.05, **PAPER).point
    assert run.stable
    assert run.precise
    assert run.warmed_up
    assert run.accepted == pytest.approx(0.0081, rel=0.02)


def test_broken_nodes_neither_send_nor_get_copies():
    broken = without(mesh(4, 4), nodes="5")
    with pytest.raises(InputError, match="host 5, which failed"):
        simulate_broadcast(broken, traffic="pairs:0-5", **SHORT)
    assert simulate_broadcast(broken, **SHORT).point.stable  # uniform among those that work
    run = simulate_broadcast(
        broken, traffic=pairs(16, [0, 15], [15, 0]), **SHORT | {"broadcast": 1}
    ).point
    assert run.stable
    assert run.target.messages == pytest.approx(14 * run.broadcast.messages, abs=28)  # at the ends


def test_ctrl_c_gives_what_is_known_so_far(ctrl_c_after):
    ctrl_c_after(400)
    found = simulate_broadcast(
        "torus:4x4", **SHORT | {"rate": [0.004, 0.005], "cycles": 30_000_000}
    )
    assert found.interrupted
    assert found.points[0].unicast.messages > 0
    said = found.to_dict()["verdict"]
    assert said["mark"] == "unknown"
    assert said["sentence"].startswith("Interrupted after ")
