"""Balanced tables: every pair routed, no circle, as good as the best on full trees."""

import networkx as nx
import pytest

from netloom.contention import shift_loads
from netloom.fabrics.balanced import balanced
from netloom.routing.forwarding.tables import exits
from netloom.topology import topology
from tests.reference.forwarding import table_waits, walked


@pytest.mark.parametrize(
    ("spec", "busiest"),
    [
        ("fat-tree:4x3", 60),
        ("leaf-spine:4x4x4", 12),
        ("xgft:2x3x4/1x2x3", 22),
        ("xgft:4x4/1x2", 24),
    ],
)
def test_full_trees_are_free_of_circles_and_as_even_as_can_be(spec, busiest):
    net = topology(spec)
    table = balanced(net).table
    assert nx.is_directed_acyclic_graph(table_waits(net, table.next_channel))
    for row, end in zip(table.next_channel, exits(net).tolist(), strict=True):
        assert all(walked(net, row, router, end) is not None for router in set(exits(net).tolist()))
    shifts = shift_loads(net, table)
    assert shifts.total_load[: net.num_network_channels].max() == busiest
