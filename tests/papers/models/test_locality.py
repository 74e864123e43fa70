"""The locality model: hand-computed numbers, brute force, limits, and one closed-loop run."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError
from netloom_papers.models.locality import (
    Machine,
    alewife,
    balance,
    expected_gain,
    node_channel_wait,
    per_hop_limit,
    predict_locality,
    random_distance,
)


@pytest.mark.parametrize(("radix", "dimensions"), [(3, 2), (4, 2), (7, 2), (8, 2), (4, 3), (5, 3)])
def test_random_distance_by_enumeration(radix, dimensions):
    steps = [
        sum(min(x, radix - x) for x in offset)
        for offset in product(range(radix), repeat=dimensions)
        if any(offset)
    ]
    assert random_distance(radix**dimensions, dimensions) == pytest.approx(
        np.mean(steps), rel=1e-12
    )


def test_random_distance_where_no_torus_has_so_many_nodes():
    """n k^(n+1) / (4 (k^n − 1)) as printed, k = 31.6."""
    assert random_distance(1000, 2) == pytest.approx(2 * 1000**1.5 / (4 * 999), rel=1e-12)
    assert random_distance(2, 1) == 1


def inter_transaction(machine, latency):
    """t_t of transactions that take T_t, in processor cycles (eqs. 1 to 6)."""
    waiting = (machine.run_processor_cycles + latency) / machine.contexts
    return np.maximum(waiting, machine.busy / machine.speed)


def test_modes_of_multithreading_meet():
    """Eqs. 3 to 6 for p = 4, T_r = 10, T_s = 3: the bound of eq. 3 is 4·3 + 3·10 = 42."""
    four = Machine(10, 2, 2, 8, contexts=4, switch_processor_cycles=3)
    assert inter_transaction(four, np.array([0, 41.9, 42, 50])).tolist() == [13, 13, 13, 15]
    one = Machine(10, 2, 2, 8, switch_processor_cycles=3)
    assert inter_transaction(one, np.array([0, 5])).tolist() == [10, 15]


def printed_equations(machine, distance, rate):
    """T_m of the network (eqs. 10 to 14) and of the nodes (eq. 9), as printed, in cycles."""
    n, flits = machine.dimensions, machine.message_flits
    along = distance / n
    used = rate * flits * along / 2
    hop = 1.0
    if along > 1:
        hop += (used * flits / (1 - used)) * ((along - 1) / along**2) * ((n + 1) / n)
    busy = machine.run_processor_cycles + machine.fixed_processor_cycles
    slope = machine.contexts * machine.messages / machine.critical_messages
    nodes = slope / rate - machine.speed * busy / machine.critical_messages
    return n * along * hop + flits, nodes, used, hop


machines = st.builds(
    Machine,
    st.floats(0, 1e4),
    st.floats(1, 10),
    st.floats(0.5, 10),
    st.floats(1, 100),
    st.floats(0, 1e4),
    contexts=st.floats(1, 64),
    dimensions=st.integers(1, 6),
    speed=st.floats(0.1, 8),
)


@given(machines, st.floats(0.01, 1e5))
def test_nodes_and_network_agree(machine, distance):
    """The root is below full channels, and both sides have the same latency there."""
    found = predict_locality(machine, distance)
    rate = float(found.message_rate)
    network, nodes, used, hop = printed_equations(machine, distance, rate)
    assert used <= 1 + 1e-12
    if found.latency_hidden or used > 1 - 1e-6:  # too steep there for a comparison, or no agreement
        assert found.latency_hidden or distance <= machine.dimensions or used > 1 - 1e-6
        return
    scale = max(abs(nodes), float(machine.offset))
    assert abs(network - nodes) <= 1e-9 * scale / (1 - used)
    assert abs(found.message_latency - nodes) <= 1e-9 * scale
    assert found.per_hop_latency == pytest.approx(hop, rel=1e-6, abs=1e-6 * scale / distance)


@given(machines, st.floats(0.01, 1e4), st.sampled_from([0, 1, 2]))
def test_parts_add_up_and_feed_back(machine, distance, channels):
    found = predict_locality(replace(machine, node_channels=channels), distance)
    total = (
        found.variable_message_cycles + found.fixed_message_cycles
        + found.fixed_transaction_cycles + found.work_cycles + found.switch_cycles
    )  # fmt: skip
    gap = float(found.inter_transaction_cycles)
    assert total == pytest.approx(gap, rel=1e-7)
    issued = inter_transaction(machine, found.transaction_latency / found.speed)
    assert found.speed * issued == pytest.approx(gap, rel=1e-7)
    assert found.message_rate * machine.message_flits <= 1 + 1e-12 or not channels


def test_a_case_by_hand():
    """s = 1, no grain, d = 4, n = 2, B = 8: 20 ρ² − 20 ρ + 8 … by the quadratic of the docstring.

    a = 8 k_d / 2 = 8, L = 12, Q = 4·8·(1/4)·(3/2) = 12, so that (Q − L) ρ² vanishes and
    ρ = s a / (L + s a) = 8 / 20; T_h = 1 + (0.4·8/0.6)(1/4)(3/2) = 3; T_m = 12 + 8 = 20.
    """
    found = predict_locality(Machine(0, 2, 2, 8), 4)
    assert found.channel_utilisation == pytest.approx(0.4)
    assert found.per_hop_latency == pytest.approx(3)
    assert found.message_latency == pytest.approx(20)
    assert found.message_rate == pytest.approx(0.05)
    assert found.inter_transaction_cycles == pytest.approx(40)


@pytest.mark.parametrize("channels", [0, 1, 2])
@pytest.mark.parametrize("load", [1, [1.0, 3.0, 0.0, 2.0]])
def test_against_bisection(channels, load):
    """Every kind of contention, by halving a bracket a hundred times."""
    distances = [0.5, 1, 2, 3, 10, 100]
    machine = alewife(4, node_channels=channels)
    found = predict_locality(machine, distances, channel_load=load)
    relative = np.atleast_1d(load) / np.mean(load)
    share = np.atleast_1d(load) / np.sum(load)
    for index, d in enumerate(distances):
        low, high = 0.0, 1.0
        for _ in range(100):
            rate = (low + high) / 2
            used = rate * 12 * d / 4 * relative
            growth = d * 12 * max(d / 2 - 1, 0) / (d / 2) ** 2 * 3 / 2  # eqs. 13 and 14
            latency = np.inf
            if used.max() < 1 and (not channels or 12 * rate < 1):
                latency = d + 12 + growth * (share * used / (1 - used)).sum()
                latency += node_channel_wait(rate, 12, channels)
            low, high = (
                (rate, high) if latency < machine.slope / rate - machine.offset else (low, rate)
            )
        assert found.message_rate[index] == pytest.approx(low, rel=1e-9)


def test_even_loads_are_no_loads():
    plain = predict_locality(alewife(4), [1, 2, 6, 50])
    even = predict_locality(alewife(4), [1, 2, 6, 50], channel_load=np.full(256, 7.0))
    assert even.message_rate == pytest.approx(plain.message_rate, rel=1e-12)
    uneven = predict_locality(alewife(4), [1, 2, 6, 50], channel_load=[1, 3])
    assert (uneven.message_rate[2:] < plain.message_rate[2:]).all()
    assert uneven.busiest_channel_utilisation == pytest.approx(uneven.channel_utilisation * 1.5)
    assert uneven.busiest_channel_utilisation.max() < 1


def test_channels_that_are_always_used_hold_the_nodes_back():
    """k_d = 1 has no contention in eq. 14, so that 50 contexts without grain would use ρ = 3.6."""
    many = predict_locality(Machine(0, 2, 2, 12, contexts=50), 2)
    assert many.channel_utilisation == 1
    assert many.message_latency == pytest.approx(50 * 6)  # Little: p messages, one in 6 cycles


def test_masked_latency():
    """T_r + T_s = 1000 processor cycles, far more than what a quarter of a transaction takes."""
    machine = Machine(990, 2, 2, 12, 40, contexts=4, switch_processor_cycles=10, speed=2)
    found = predict_locality(machine, 1)
    assert found.latency_hidden
    assert found.inter_transaction_cycles == 2 * 1000
    assert found.transaction_latency == 2 * 13 + 80
    assert (found.work_cycles, found.switch_cycles) == (1980, 20)
    assert found.variable_message_cycles == found.fixed_transaction_cycles == 0


def test_limit_of_the_latency_of_a_hop():
    far = predict_locality(alewife([1, 2, 4]), 1e9)
    assert far.per_hop_latency == pytest.approx(per_hop_limit(alewife([1, 2, 4])), rel=1e-6)
    assert per_hop_limit(alewife(2)) == pytest.approx(12 * 3.26 / 4)


def test_a_mapping_gains_less_in_higher_dimensions():
    """Section 4.2."""
    high = expected_gain(replace(alewife(), dimensions=[2, 3, 4]), nodes=1e6)
    assert (np.diff(high) < 0).all()


def test_any_network_can_be_balanced():
    """A network of constant latency 20: r = s / (20 + offset); one that takes at most 0.001."""
    machine = Machine(8, 2, 2, 12, 40, speed=2)
    constant = balance(machine, lambda rate: np.full_like(rate, 20), 1)
    assert constant == pytest.approx(1 / 68)
    assert balance(machine, lambda rate: np.full_like(rate, 20), 0.001) == 0.001
    step = balance(machine, lambda rate: np.where(rate > 0.01, np.inf, 20), 1)
    assert step == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Machine(8, 2, 2, 12, contexts=0), "contexts: found 0; expected at least 1"),
        (lambda: Machine(-1, 2, 2, 12), "run_processor_cycles: found -1; expected at least 0"),
        (lambda: Machine("much", 2, 2, 12), "run_processor_cycles: found 'much'; expected numbers"),
        (lambda: Machine(8, 0, 2, 12), "messages: found 0; expected more than 0"),
        (lambda: Machine(8, 2, 2, 12, np.nan), "fixed_processor_cycles: found nan"),
        (lambda: random_distance([64, 1], 2), "nodes: found 1; expected at least 2"),
        (lambda: predict_locality(alewife(), 0), "distance: found 0; expected more than 0"),
        (lambda: predict_locality(alewife(), np.inf), "distance: found inf"),
        (lambda: predict_locality(alewife(), 1, channel_load=[0, 0]), "channel_load: found no"),
        (lambda: alewife(8), "contexts: found 8; expected at most the 4"),
    ],
)
def test_mistakes_are_named(wrong, message):
    with pytest.raises(InputError, match="^" + message.replace("+", r"\+")):
        wrong()
