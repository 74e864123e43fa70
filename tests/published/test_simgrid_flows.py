"""Finish times of SimGrid 3.32 on its own platforms, whose routes are also ours.

libsimgrid 3.32 with ``network/model:CM02``, ``latency-factor:1 bandwidth-factor:1 TCP-gamma:0
weight-S:0 crosstraffic:0``: messages of 1 MB that all start at once, on links of 125 MB/s and
50 µs. Its zones are TORUS ``3,2,2`` and ``4,4,4`` (x fastest), and FAT_TREE ``2;4,4;1,2;1,2``,
``3;4,4,4;1,4,4;1,1,1`` and ``2;8,8;1,4;1,1``. Two parallel cables are shared out in another way
than ours, so of the first fat tree a shift of 5 is left out.

CM02 shares by latency even so: flows that meet on a full link have rates in inverse proportion to
the latencies of their paths (an action's sharing penalty is its latency; it is 1 where that is 0).
Ends of whole patterns hide this, those of single messages show it.
"""

from dataclasses import replace

import numpy as np
import pytest

from netloom.routing import parse_routing, source_routes
from netloom.topology import topology, torus
from netloom.workload.programs.messages import messages
from tests.properties.flow_runs import Case, played, readable, ways

FINISH = {
    "torus:2x2x3": {"all": 0.04805, "shift1": 0.00815, "shift5": 0.00815, "incast": 0.04805},
    "torus:4x4x4": {
        "all": 0.38405, "shift1": 0.00815, "shift5": 0.016175, "incast": 0.25605, "bits": 0.03205,
    },
    "xgft:4x4/1x2/1x2": {"all": 0.1201, "shift1": 0.0082, "incast": 0.1201, "bits": 0.0242},
    "xgft:4x4x4/1x4x4": {
        "all": 0.5041, "shift1": 0.0083, "shift5": 0.0083, "incast": 0.5041, "bits": 0.0322,
    },
    "xgft:8x8/1x4": {
        "all": 0.8962, "shift1": 0.0082, "shift5": 0.0162, "incast": 0.5041, "bits": 0.0562,
    },
}  # fmt: skip


def pairs(pattern, hosts):
    """Return the sources and targets of a pattern."""
    numbers = np.arange(hosts)
    if pattern == "all":
        source, target = np.divmod(np.arange(hosts**2), hosts)
    elif pattern == "incast":
        source, target = numbers, np.zeros_like(numbers)
    elif pattern == "bits":
        digits = hosts.bit_length() - 1
        source, target = numbers, np.array([int(f"{i:0{digits}b}"[::-1], 2) for i in numbers])
    else:
        source, target = numbers, (numbers + int(pattern.removeprefix("shift"))) % hosts
    return source[source != target], target[source != target]


def route(net, source, target):
    """Return the nodes of SimGrid's route on a torus: x, y, z, half way round without a wrap."""
    here, goal = (np.array(np.unravel_index(one, net.sides)) for one in (source, target))
    nodes = [source]
    for axis in reversed(range(len(net.sides))):
        side, half = net.sides[axis], net.sides[axis] // 2
        at, to = here[axis], goal[axis]
        up = at < to <= at + half or (at > half and (at + half) % side >= to)
        while here[axis] != goal[axis]:
            here[axis] = (here[axis] + (1 if up else -1)) % side
            nodes.append(int(np.ravel_multi_index(here, net.sides)))
    return nodes


def case(spec, pattern):
    net = topology(spec)
    source, target = pairs(pattern, net.num_hosts)
    if spec.startswith("torus"):
        given = zip(source.tolist(), target.tolist(), strict=True)
        routing = source_routes(net, [route(net, *pair) for pair in given])
    else:
        routing = parse_routing("d-mod-k", net)
    table = messages(net.num_hosts, source=source, target=target, flits=1)
    return Case(
        net, routing, table, flit=1e6, bandwidth=125e6, latency=50e-6, end_channels=0,
        injection="shared",
    )  # fmt: skip


def by_latency(given):
    """Return when each message ends for the readable twin, as SimGrid shares."""
    hops = np.array([len(path) for [(_, path)] in ways(given)])
    return [float(row.complete) for row in readable(replace(given, weights=1 / hops))[1]]


CASES = [(spec, pattern) for spec in FINISH for pattern in FINISH[spec]]
LARGE = [("torus:4x4x4", "all"), ("xgft:4x4x4/1x4x4", "all"), ("xgft:8x8/1x4", "all")]


@pytest.mark.parametrize(("spec", "pattern"), CASES)
def test_the_engine_ends_when_simgrid_does(spec, pattern):
    found = played(case(spec, pattern), sharing="by-latency")
    assert found.finish == pytest.approx(FINISH[spec][pattern], rel=1e-9)


@pytest.mark.parametrize(("spec", "pattern"), [one for one in CASES if one not in LARGE])
def test_the_readable_twin_ends_when_simgrid_does(spec, pattern):
    ends = by_latency(case(spec, pattern))
    assert max(ends) == pytest.approx(FINISH[spec][pattern], rel=1e-9)
    found = played(case(spec, pattern), sharing="by-latency")
    assert found.complete == pytest.approx(ends, rel=1e-9)


def test_those_behind_one_leaf_end_first():
    """Of an incast to 0, SimGrid ends 1, 2, 3 → 0 at 0.0719, the other twelve at 0.1201."""
    given = case("xgft:4x4/1x2/1x2", "incast")
    assert by_latency(given) == pytest.approx([0.0719] * 3 + [0.1201] * 12, rel=1e-9)
    # Where all are equal, 12.5 kB of the first three have moved when the others begin.
    first = 0.0002 + 15 * (1e6 - 12.5e3 / 3) / 125e6
    assert played(given).complete == pytest.approx([first] * 3 + [0.1201] * 12, rel=1e-9)


def test_tori_go_half_way_round_as_simgrid_does():
    net = torus(2, 4)
    assert route(net, 0, 2) == [0, 1, 2]
    assert route(net, 2, 0) == [2, 1, 0]
    assert route(net, 3, 1) == [3, 0, 1]
    assert route(net, 0, 7) == [0, 3, 7]
