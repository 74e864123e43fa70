"""The same patterns as messages: iWarp's torus to the clock, its butterfly nearly."""

import numpy as np
import pytest

from netloom.contention.messages import MessageCosts
from netloom.phases.execution import message_passing
from netloom.topology import mesh
from tests.phases.hand_made import TORUS, butterfly, connections_of, neighbours

IWARP = MessageCosts()


@pytest.mark.parametrize(
    ("words", "clocks"), [(32, 3472), (256, 5264), (2048, 19600), (16384, 134288)]
)
def test_messages_that_meet_no_other_take_the_formula_and_their_hops(words, clocks):
    # m (800 + 2 k) and 4 clocks a hop: Table 1 without the hops has 3456, 5248, 19584, 134272
    found = message_passing(connections_of(neighbours(), words), TORUS, IWARP, order="listed")
    assert found.clocks == clocks
    assert clocks == 4 * (800 + 2 * words + 4)


@pytest.mark.parametrize(
    ("words", "measured"), [(32, 6208), (256, 10792), (2048, 48320), (16384, 343192)]
)
def test_the_butterfly_is_near_what_iwarp_measured(words, measured):
    # Table 2; with the header and trailer that make 2 k + 416 of section 4.3.1
    costs = MessageCosts(header_words=8)
    found = message_passing(connections_of(butterfly(), words), TORUS, costs, order="listed")
    assert found.clocks == pytest.approx(measured, rel=0.1)


def test_random_orders_spread_all_to_all():
    given = connections_of([(a, b) for a in range(64) for b in range(64) if a != b], 32)
    listed = message_passing(given, TORUS, IWARP, order="listed")
    random = [message_passing(given, TORUS, IWARP, seed=seed) for seed in (1, 2, 3)]
    clocks = [each.clocks for each in random]
    assert np.mean(clocks) < listed.clocks * 0.8, "all send to node 0 first"
    assert 0 < np.ptp(clocks) < 0.1 * np.mean(clocks)
    assert np.mean(clocks) > 63 * (800 + 64)
    assert message_passing(given, TORUS, IWARP, seed=2).clocks == clocks[1]


def test_a_processor_serves_what_comes_first():
    # 0 and 4 send to 2 at the same time: 2 takes 400 clocks for each
    found = message_passing(connections_of([(0, 2), (4, 2)], 10, num_nodes=5), mesh(5), IWARP)
    alone = 400 + 2 * 10 + 2 * 4 + 400
    assert sorted(found.end.tolist()) == pytest.approx([alone, alone + 400], abs=24)
    free = MessageCosts(send_clocks=0, receive_clocks=0)
    found = message_passing(connections_of([(0, 1)], 10, num_nodes=5), mesh(5), free)
    assert found.clocks == 2 * (10 + 5), "no processor: the end channels show"


@pytest.mark.parametrize("order", ["listed", "random"])
def test_what_comes_before_is_received_before(order):
    given = connections_of(
        [(0, 1), (1, 2), (0, 3), (3, 4)], 20, num_nodes=5, order=[(1, 0), (3, 2)]
    )
    found = message_passing(given, mesh(5), IWARP, order=order)
    for first, second in ((1, 0), (3, 2)):
        assert found.end[second] - found.end[first] >= 800 + 40 + 4
