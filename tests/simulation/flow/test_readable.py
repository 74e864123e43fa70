"""The readable twin sends in order, as one can tell by hand."""

from netloom.workload.programs.messages import messages
from tests.reference.flow import FlowNetwork


def in_order(latency):
    """Return when three messages of 4, 2, 2 by one channel, two of them over a slower link, end."""
    paths = [[0, 1], [0, 1], [0]]
    network = FlowNetwork([1, 0.5], latency, lambda row: [(1, paths[row])], lambda row: 0)
    rows = network.run(messages(2, source=0, target=1, flits=[4, 2, 2], start=[0, 1, 1]))
    return [(float(row.entered), float(row.arrived)) for row in rows]


def test_what_is_sent_first_enters_first():
    assert in_order([0, 0]) == [(0, 8), (8, 12), (12, 14)]
    # The latency of the next passes while the one before is on its way.
    assert in_order([1, 5]) == [(0, 14), (8, 18), (17, 20)]
    assert in_order([0, 9]) == [(0, 17), (8, 21), (21, 23)]
