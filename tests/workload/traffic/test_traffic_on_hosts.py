"""Patterns on networks whose hosts hang on routers count hosts."""

from itertools import product

import numpy as np
import pytest

from netloom.topology import topology
from netloom.workload import parse_traffic

SPECS = [
    "hyperx:4x4/4", "mesh:4x4/4", "fat-tree:4x3", "dragonfly:2x4x2/8", "leaf-spine:8x4x8",
    "butterfly:4x3", "xgft:4x4x4/1x2x4", "torus:8/8",
]  # fmt: skip


def targets_of(spec, network):
    found = parse_traffic(spec, network).matrix()
    targets = np.arange(network.num_hosts)
    targets[found.source] = found.target
    return targets.tolist()


@pytest.mark.parametrize("spec", SPECS)
def test_permutations_are_of_host_numbers(spec):
    network = topology(spec)
    hosts = network.num_hosts
    bits = hosts.bit_length() - 1
    numbers = [f"{host:0{bits}b}" for host in range(hosts)]
    complement = str.maketrans("01", "10")
    for pattern, moved in {
        "bit-complement": [number.translate(complement) for number in numbers],
        "bit-reverse": [number[::-1] for number in numbers],
        "shuffle": [number[1:] + number[0] for number in numbers],
    }.items():
        assert targets_of(pattern, network) == [int(number, 2) for number in moved]
    weight = parse_traffic("uniform", network).matrix().weight
    assert len(weight) == hosts * (hosts - 1)
    assert weight == pytest.approx(1 / len(weight))
    if bits % 2 == 0:
        turned = [number[bits // 2 :] + number[: bits // 2] for number in numbers]
        assert targets_of("transpose", network) == [int(number, 2) for number in turned]


@pytest.mark.parametrize(
    ("spec", "sides", "each"),
    [
        ("hyperx:8x8/8", (8, 8), 8),
        ("hyperx:3x4x5/2", (3, 4, 5), 2),
        ("hyperx:4x4/4", (4, 4), 4),
        ("mesh:4x5/3", (4, 5), 3),
        ("torus:7/2", (7,), 2),
    ],
)
@pytest.mark.parametrize("pattern", ["tornado", "neighbour"])
def test_coordinates_are_those_of_the_router(spec, sides, each, pattern):
    ahead = [(side + 1) // 2 - 1 if pattern == "tornado" else 1 for side in sides]
    wanted = []
    for at in product(*map(range, sides)):
        moves = zip(at, ahead, sides, strict=True)
        moved = [(place + by) % side for place, by, side in moves]
        wanted += [int(np.ravel_multi_index(moved, sides)) * each + host for host in range(each)]
    assert targets_of(pattern, topology(spec)) == wanted
