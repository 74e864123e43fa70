"""Traffic from group to group: who sends to whom, and what a dragonfly carries of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netloom.topology import topology
from netloom.workload import parse_traffic


@pytest.mark.parametrize(
    ("spec", "hosts_of_group"),
    [
        ("dragonfly:2x4x2", 8),
        ("dragonfly:3x2x2/4", 6),
        ("dragonfly+:2x2x3x1", 6),
        ("fat-tree:4x2", 4),
        ("fat-tree:k=4", 4),
        ("leaf-spine:3x2x5", 5),
        ("hyperx:3x4/2", 8),
        ("hyperx:4x3x2/1", 6),
        ("hyperx:1x5/3", 3),
        ("hyperx:6/4", 4),
    ],
)
@pytest.mark.parametrize(
    ("traffic", "ahead"),
    [("next-group", 1), ("adversarial", 1), ("adversarial:+2", 2), ("adversarial:2", 2)],
)
def test_each_host_sends_alike_to_all_hosts_of_a_group_further(
    spec: str, hosts_of_group: int, traffic: str, ahead: int
):
    net = topology(spec)
    source, target, share = parse_traffic(traffic, net).matrix()
    groups = net.num_hosts // hosts_of_group
    assert len(source) == net.num_hosts * hosts_of_group
    assert ((source // hosts_of_group + ahead) % groups == target // hosts_of_group).all()
    assert share == pytest.approx(1 / len(source))


def test_pods_are_those_of_the_tree_whatever_hosts_are_called():
    net = topology("leaf-spine:2x1x2")
    mixed = np.array([2, 0, 3, 1], np.int32)  # the host of each place
    shuffled = replace(net, family=replace(net.family, host_at=mixed))
    source, target, _ = parse_traffic("next-group", shuffled).matrix()
    sent = sorted(zip(source.tolist(), target.tolist(), strict=True))
    assert sent == [(a, b) for a in range(4) for b in ([0, 2] if a in (3, 1) else [1, 3])]
