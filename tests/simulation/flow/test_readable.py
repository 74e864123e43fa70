"""The readable twin, too, ends when SimGrid says, and in order as one can tell by hand."""

import numpy as np
import pytest

from netloom.workload.programs.messages import messages
from tests.properties.flow_runs import table
from tests.reference.flow import FlowNetwork
from tests.simulation.flow import recorded


def ends(case, weight):
    """Return when each flow of a recorded case ends."""
    begin, end = case.offsets[case.route], case.offsets[case.route + 1]
    caps = np.where(case.rate > 0, case.rate, np.inf)
    network = FlowNetwork(
        case.bandwidth.tolist(),
        case.latency.tolist(),
        lambda row: [(1, case.links[begin[row] : end[row]].tolist())],
        weights=weight,
        caps=caps,
    )
    rows = {"source": 0, "target": 1, "flits": case.size, "start": case.start}
    rows = {name: np.broadcast_to(value, len(case.size)) for name, value in rows.items()}
    return [float(row.arrived) for row in network.run(table(2, rows, [[]] * len(case.size)))]


@pytest.mark.parametrize("name", ["routes 0 over time", "weighed over time"])
def test_random_flows_end_as_recorded(name):
    case = recorded.random_case(name)
    assert ends(case, case.weight) == pytest.approx(case.finish, rel=1e-10)


@pytest.mark.parametrize("name", ["torus 3x2x2", "fat tree 2;4,4;1,2;1,2", "torus 4x4x4"])
@pytest.mark.parametrize("pattern", ["shift 5", "incast", "bit reversal"])
def test_patterns_end_as_recorded(name, pattern):
    case = recorded.zone_case(name, pattern)
    hops = np.diff(case.offsets)[case.route]
    assert ends(case, case.weight) == pytest.approx(case.finish, rel=1e-10)
    assert ends(case, 1 / hops) == pytest.approx(case.finish_by_latency, rel=1e-10)


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
