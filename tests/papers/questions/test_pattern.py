from math import inf

import pytest

from netloom import simulate_pattern
from netloom.machines import MessageCost, machine

COST = MessageCost.model_construct(up_to_bytes=inf, startup_us=0, per_byte_us=0.05)
FREE = machine("symult2010:3x3").model_copy(update={"message_costs": (COST,)})


def test_the_transpose_is_held_up_where_paths_share_channels():
    table = simulate_pattern(
        "symult2010:12x12", pattern="transpose", think_us="0,4000", loops=30
    ).table()
    busy, idle = table["slowdown_max"].to_list()
    assert busy > 1.5
    assert idle < 1.15
    assert table["worst_node"][0] < 1 / 11  # what the shared channel can carry


def test_a_machine_of_one_s_own():
    found = simulate_pattern(FREE, pattern="diagonal", message_bytes=256, think_us=0, loops=5)
    assert found.points[0].message_us == pytest.approx(12.8)
    assert len(found.nodes) == 2
