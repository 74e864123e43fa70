import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import torus
from netloom.workload.programs.traces import branches
from netloom_papers.models.kernels.adaptive_torus import fill_balance, solve_balance
from netloom_papers.models.torus_broadcasts import (
    VARIANTS,
    prepare,
    same_class,
    torus_broadcast,
    tree_loads,
)
from tests.reference.adaptive_torus import Torus, ways

SHAPES = [(8, 8), (5, 5), (4, 6), (2, 4), (2, 2), (3, 3, 3), (4, 2, 3), (9,)]


@pytest.mark.parametrize("sides", SHAPES)
def test_ways_are_those_of_all_targets(sides):
    choices, (straight, turns), far = ways(sides)
    found = prepare(sides, 32, 3)
    assert found.hops == pytest.approx(choices.sum(axis=1))
    assert found.choices * found.hops[:, None] == pytest.approx(choices)
    assert found.behind == pytest.approx((far * (far - 1)).mean() / 2 / far.mean())
    assert straight + turns == pytest.approx(far.mean() - 1)


def test_messages_of_a_ring_go_on_together_or_end():
    # On a ring of 4: of 3 targets two are a hop away and one two: 4 hops, of which 1 goes on.
    # So it meets new ones on its first channel, and 3/4 of those after it: 4/3 channels in all.
    assert prepare((4,), 32, 3).fresh == pytest.approx([1 + 1 / 3 * 3 / 4])


@pytest.mark.parametrize("sides", [(8, 8), (5, 5), (4, 6), (2, 4), (3, 3, 3)])
def test_a_broadcast_is_the_tree_that_is_simulated(sides):
    net = torus(*sides)
    tree = branches(net, 0)
    batches = np.bincount(tree.source, minlength=net.num_nodes)
    messages, squares = tree_loads(sides)
    assert messages.sum() == len(tree.source) == net.num_nodes - 1
    if len(set(sides)) == 1:  # any order of the dimensions has the same batches
        assert squares == (batches**2).sum()


def test_escape_classes_of_a_small_ring_by_hand():
    # Ring of 3: each message makes one hop, and crosses the dateline on the wrap channel only.
    assert same_class(3) == 1
    assert same_class(2000) == same_class(64)


@pytest.mark.parametrize("sides", [(4, 4), (5, 5), (4, 6), (2, 5), (3, 3, 3), (8,)])
@pytest.mark.parametrize("vcs", [3, 4, 6])
@pytest.mark.parametrize("broadcast", [0.0, 0.1])
def test_the_kernel_is_its_twin(sides, vcs, broadcast):
    flits = 24
    copies, squares = tree_loads(sides)
    classes = [(same_class(side) if side > 2 else 0, side) for side in sides]
    slow = Torus(sides, flits, vcs, classes, copies, squares)
    ports = prepare(sides, flits, vcs).ports
    limit = torus_broadcast(
        sides, message_flits=flits, vcs=vcs, rate=0, broadcast=broadcast
    ).saturation_rate
    rates = limit * np.array([0.1, 0.5, 0.85])
    fast = torus_broadcast(sides, message_flits=flits, vcs=vcs, rate=rates, broadcast=broadcast)
    for place, rate in enumerate(rates):
        network, wait, stretch, none, far, near = slow.solve(rate, broadcast, ports)
        assert fast.network_latency[place] == pytest.approx(network, rel=1e-5)
        assert fast.source_wait[place] == pytest.approx(wait, rel=1e-3, abs=1e-6)
        assert fast.vc_multiplexing[place] == pytest.approx(stretch, rel=1e-5)
        assert fast.blocked[place] == pytest.approx(none, rel=1e-3, abs=1e-9)
        assert fast.unicast_service[place] == pytest.approx(far, rel=1e-5)
        assert fast.broadcast_service[place] == pytest.approx(near, rel=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_all_variants_have(variant):
    asked = {"message_flits": 32, "vcs": 4, "broadcast": 0.02, "variant": variant}
    limit = torus_broadcast(8, rate=0, **asked).saturation_rate
    rates = limit * np.array([[0, 0.2, 0.5], [0.8, 0.95, 1.1]])
    found = torus_broadcast(8, rate=rates, startup_cycles=7, **asked)
    assert found.latency.shape == rates.shape
    assert found.latency[0, 0] == pytest.approx(found.zero_load_latency)
    known = found.latency.ravel()[:5]
    assert (np.diff(known) > 0).all()
    assert found.saturated.ravel().tolist() == [False] * 5 + [True]
    assert np.isnan(found.latency[1, 2])
    assert found.held_vcs[0].sum(axis=-1) == pytest.approx(1)
    assert found.saturation_rate == pytest.approx(limit)
    parts = found.unicast_channel_rate + found.broadcast_channel_rate
    assert parts[0] == pytest.approx(found.channel_rate[0])


def test_light_loads_cost_what_conflicts_cost():
    # A message meets rho new ones a channel, and each meeting costs both half a message.
    for vcs in (5, 8, 16):
        found = torus_broadcast(8, message_flits=64, vcs=vcs, rate=1e-5)
        rho = float(found.channel_rate) * 64
        setup = prepare((8, 8), 64, vcs)
        ends = 1e-5 * 64 / setup.ports
        extra = float(found.latency) - found.zero_load_latency
        assert extra == pytest.approx(64 * (rho * setup.fresh.sum() + ends), rel=0.02)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"sides": 1}, "sides"),
        ({"sides": (8, 1)}, "sides"),
        ({"sides": ()}, "sides"),
        ({"sides": (2.5, 4)}, "sides"),
        ({"sides": (8, np.inf)}, "sides"),
        ({"message_flits": np.nan}, "message_flits"),
        ({"injection_channels": 1.5}, "injection_channels"),
        ({"vcs": 2}, "vcs"),
        ({"rate": -0.1}, "rate"),
        ({"rate": [0.1, np.nan]}, "rate"),
        ({"broadcast": 1.5}, "broadcast"),
        ({"startup_cycles": -1}, "startup_cycles"),
        ({"variant": "best"}, "variant"),
        ({"injection_channels": -1}, "injection_channels"),
        ({"startup_cycles": np.inf}, "startup_cycles"),
        ({"sides": (4, 8), "variant": "printed"}, "sides"),
        ({"sides": 2**15, "variant": "printed"}, "sides"),
    ],
)
def test_refused(change, field):
    usual = {"sides": 8, "message_flits": 32, "vcs": 3, "rate": 0.001}
    with pytest.raises(InputError, match=f"^{field}: "):
        torus_broadcast(**(usual | change))


def test_long_ways_of_short_messages_are_not_saturation():
    found = torus_broadcast((4096,), message_flits=1, vcs=3, rate=[0, 1e-6])
    assert found.latency == pytest.approx(found.zero_load_latency, rel=1e-3)
    assert found.saturation_rate > 1e-5


@pytest.mark.parametrize(
    ("sides", "flits", "vcs"),
    [((300, 300), 1, 8), ((8,), 1024, 4), ((8, 8), 16, 3), ((8, 8), 1, 4)],
)
def test_one_saturation_up_to_which_latency_rises(sides, flits, vcs):
    """Where the iteration swings, it has neither settled where it turns back nor gone astray."""
    limit = torus_broadcast(sides, message_flits=flits, vcs=vcs, rate=0).saturation_rate
    rates = limit * np.linspace(0.94, 1.04, 101)
    found = torus_broadcast(sides, message_flits=flits, vcs=vcs, rate=rates)
    assert (np.diff(found.latency[rates <= limit]) > 0).all()
    assert (found.saturated == (rates > limit * (1 + 1e-9))).all()


@pytest.mark.parametrize("free", [[1, 0, 0], [1, 0.3, 0], [1, 0.5, 0]])
def test_a_channel_s_balance_is_solved(free):
    adaptive, size = 5, 18
    matrix, values = np.zeros((size, size)), np.zeros(size)
    fill_balance(matrix, values, adaptive, 0.02, 0.01, np.array(free), np.linspace(0, 90, 8))
    wanted = np.linalg.solve(matrix, values)
    solve_balance(matrix, values, size)
    assert values == pytest.approx(wanted, rel=1e-9, abs=1e-15)
    assert values.sum() == pytest.approx(1)
