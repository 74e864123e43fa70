from itertools import product
from math import prod

import numpy as np
import pytest

from netloom.topology import topology
from tests.topology.families.joins import check_network, links

SPECS = ["fat-tree:4x3", "fat-tree:2x1", "fat-tree:k=4", "xgft:4x4x4/1x2x4", "xgft:3x2/2x3/1x2",
         "leaf-spine:8x4x8", "leaf-spine:4x2x4/2", "xgft:2x3x2/2x1x3/2x1x2"]  # fmt: skip


def labels(children, parents, level):
    """The labels of a level, as (a_h … a_{l+1}, b_l … b_1), in the order of their digits."""
    highs = [range(m) for m in reversed(children[level:])]
    lows = [range(w) for w in reversed(parents[:level])]
    return list(product(*highs, *lows))


@pytest.mark.parametrize("spec", SPECS)
def test_a_child_and_a_parent_differ_in_one_place_of_their_labels(spec):
    """Öhring et al. 1995: parents of (a_h … a_{l+1}, b_l … b_1) have a b_{l+1} for a_{l+1}."""
    net = topology(spec)
    check_network(net)
    shape = net.family
    levels = [
        labels(shape.children, shape.parents, level) for level in range(len(shape.children) + 1)
    ]
    assert [len(level) for level in levels] == [shape.width(n) for n in range(len(levels))]
    first = np.append(0, np.cumsum([len(level) for level in levels[1:]]))
    expected = {}
    for level in range(1, len(levels) - 1):
        keep = len(shape.children) - level - 1  # digits a above the one that changes
        for i, child in enumerate(levels[level]):
            for j, parent in enumerate(levels[level + 1]):
                if child[:keep] == parent[:keep] and child[keep + 1 :] == parent[keep + 1 :]:
                    a, b = int(first[level - 1] + i), int(first[level] + j)
                    expected[a, b] = expected[b, a] = shape.parallel[level]
    assert links(net) == expected
    keep = len(shape.children) - 1
    hung = {
        (h, j): shape.parallel[0]
        for h, host in enumerate(levels[0])
        for j, leaf in enumerate(levels[1])
        if host[:keep] == leaf[:keep]
    }
    found = np.zeros((net.num_hosts, len(levels[1])), int)
    np.add.at(found, (net.port_host, net.injection_router), 1)
    assert {(h, j): found[h, j] for h, j in zip(*np.nonzero(found), strict=True)} == hung


@pytest.mark.parametrize(("k", "n"), [(2, 3), (4, 2), (3, 3)])
def test_a_k_ary_n_tree_is_that_of_petrini_and_vanneschi(k, n):
    """Switches (w, l) and (w', l + 1) are linked iff w and w' are the same in all but place l."""
    net = topology(f"fat-tree:{k}x{n}")
    width = k ** (n - 1)
    words = list(product(range(k), repeat=n - 1))  # w_0 … w_{n-2}
    expected = set()
    for above in range(n - 1):  # l = 0 are the roots, and level n - l here
        for i, u in enumerate(words):
            for j, v in enumerate(words):
                if all(a == b for place, (a, b) in enumerate(zip(u, v, strict=True))
                       if place != above):  # fmt: skip
                    expected |= {((n - 1 - above) * width + i, (n - 2 - above) * width + j)}
    found = set(links(net))
    assert len(found) == 2 * len(expected)
    assert net.num_hosts == k**n
    assert net.injection_router.tolist() == (np.arange(k**n) // k).tolist()
    import networkx as nx

    assert nx.is_isomorphic(nx.Graph(list(found)), nx.Graph(list(expected)))


def test_sizes_of_the_fat_tree_of_k_port_switches():
    for k in (2, 4, 6, 8):
        net = topology(f"fat-tree:k={k}")
        assert (net.num_hosts, net.num_routers) == (k**3 // 4, 5 * k**2 // 4)
        ports = np.bincount(net.source_end, minlength=net.num_ends)[net.num_hosts :]
        assert set(ports.tolist()) == {k}


def test_switches_are_called_by_what_they_are():
    assert topology("leaf-spine:8x4x8").channel_name(1) == "leaf0 -> spine1"
    assert topology("leaf-spine:4x2x4/2").channel_name(1) == "leaf0 -> spine0#2"
    net = topology("fat-tree:k=4")
    assert net.channel_name(0) == "edge0 -> aggregation0"
    assert net.name_of(net.num_ends - 1) == "core3"
    assert topology("fat-tree:4x3").name_of(64 + 16 + 3) == "s2.3"
    assert topology("xgft:4x4/1x2").channel_name(0) == "leaf0 -> spine0"


def test_hosts_of_two_ports_have_one_for_each_leaf():
    net = topology("xgft:3x2/2x3/1x2")
    assert net.num_ports == 2 * net.num_hosts
    assert prod(net.family.children) == net.num_hosts == 6
    assert net.port_offsets.tolist() == list(range(0, 13, 2))
