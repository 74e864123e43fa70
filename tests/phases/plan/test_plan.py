"""What a plan takes of the hardware, counted in two ways."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.phases import Capacity, Plan
from netloom.phases.plan.plans import MOST_CHANNELS
from netloom.routing import Paths
from netloom.topology import mesh, torus
from tests.phases.hand_made import joined


@pytest.mark.parametrize("per", ["node", "channel"])
@pytest.mark.parametrize("count", [0, -3, MOST_CHANNELS + 1])
def test_a_capacity_is_at_least_one(count, per):
    with pytest.raises(InputError) as caught:
        Capacity(count, per)
    wanted = f"1 to {MOST_CHANNELS} virtual channels a {per}"
    assert str(caught.value) == f"channels: found {count}; expected {wanted}"


def test_places():
    assert Capacity(3).places(torus(4, 4)) == 16
    assert Capacity(3, "channel").places(torus(4, 4)) == 64


def line_plan(per):
    """0 -> 2 and 1 -> 2 of a line of three in phase 0, and 2 -> 1 in phase 1."""
    given_ = joined(3, [(0, 2), (1, 2), (2, 1)], [1, 1, 1])
    routes = Paths(np.array([0, 2, 3, 4]), np.array([0, 1, 1, 2], np.int32))
    plan = Plan(mesh(3), given_, Capacity(2, per), np.array([0, 0, 1], np.int32), routes, "by hand")
    assert [plan.topology.channel_name(channel) for channel in range(3)] == [
        "0 -> 1",
        "1 -> 2",
        "2 -> 1",
    ]
    return plan


def test_use_of_nodes_counts_both_ends():
    assert line_plan("node").use().tolist() == [[1, 2, 2], [0, 1, 1]]


def test_use_of_channels():
    assert line_plan("channel").use().tolist() == [[1, 2, 0, 0], [0, 0, 1, 0]]
