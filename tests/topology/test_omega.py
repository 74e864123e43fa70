from collections import Counter
from itertools import product

import networkx as nx
import numpy as np
import pytest

from netloom.contention import measure
from netloom.routing import ShortestPath, paths
from netloom.topology import num_links, omega, to_networkx
from netloom.topology.families import checked_stages
from netloom_papers.combining.network import digit_reversed

SHAPES = [(4, 2), (8, 2), (16, 2), (4, 4), (16, 4), (64, 4), (8, 8), (64, 8)]


def digits(number, size, count):
    """The base-``size`` digits of a number, the most significant first."""
    return [number // size**place % size for place in reversed(range(count))]


def shuffled(line, net):
    """Where a perfect shuffle takes a line: its first digit becomes its last."""
    first, *rest = digits(line, net.switch_size, net.stages)
    return int("".join(map(str, [*rest, first])), net.switch_size)


def walk(net, pe, tags):
    """Nodes and lines of a request that turns to these output ports, stage by stage.

    As the network is usually drawn: a shuffle, then a column of switches, each of which has the
    next r lines in front of it and behind it.
    """
    nodes, lines, line = [pe], [pe], pe
    for stage, tag in enumerate(tags):
        switch = shuffled(line, net) // net.switch_size
        nodes.append(2 * net.pes + stage * net.pes // net.switch_size + switch)
        line = switch * net.switch_size + tag
        lines.append(line)
    return [*nodes, net.pes + line], lines


def nodes_of(net, channels):
    sources, targets = net.source_end[channels], net.target_end[channels]
    assert np.array_equal(sources[1:], targets[:-1])
    return [*sources.tolist(), int(targets[-1])]


@pytest.mark.parametrize(("pes", "size"), SHAPES)
def test_destination_tags_lead_from_every_pe_to_every_module(pes, size):
    net = omega(pes, size)
    ends = list(product(range(pes), range(pes)))
    found = net.lines(*np.array(ends).T)
    assert found.dtype == np.int32
    assert found.shape == (pes * pes, net.stages + 1)
    for row, (pe, module) in enumerate(ends):
        nodes, lines = walk(net, pe, digits(module, size, net.stages))
        assert nodes[-1] == pes + module
        assert found[row].tolist() == lines


@pytest.mark.parametrize(("pes", "size"), SHAPES)
def test_shortest_paths_are_those_walks_and_replies_go_back_the_same_way(pes, size):
    net = omega(pes, size)
    pe, module = np.divmod(np.arange(pes * pes, dtype=np.int32), pes)
    requests = paths(net, ShortestPath(), pe, pes + module).whole(net)
    replies = paths(net, ShortestPath(), pes + module, pe).whole(net)
    assert set(requests.lengths.tolist()) == {net.stages + 1}
    for row in range(len(pe)):
        nodes, _ = walk(net, int(pe[row]), digits(int(module[row]), size, net.stages))
        assert nodes_of(net, requests[row]) == nodes
        assert nodes_of(net, replies[row]) == nodes[::-1]


@pytest.mark.parametrize(("pes", "size"), [(8, 2), (16, 4), (8, 8)])
def test_there_is_no_other_path_of_that_length(pes, size):
    net = omega(pes, size)
    graph = to_networkx(net)
    for pe, module in product(range(pes), range(pes)):
        assert len(list(nx.all_shortest_paths(graph, pe, pes + module))) == 1


def test_an_omega_network_by_hand():
    # 4 PEs: switches 8, 9 of stage 0 and 10, 11 of stage 1; 0 and 2 meet in the first one
    net = omega(4)
    ends = set(zip(net.source_end.tolist(), net.target_end.tolist(), strict=True))
    requests = {(0, 8), (2, 8), (1, 9), (3, 9), (8, 10), (8, 11), (9, 10), (9, 11)}
    requests |= {(10, 4), (10, 5), (11, 6), (11, 7)}
    assert ends == requests | {(target, source) for source, target in requests}
    names = [net.name_of(node) for node in (0, 3, 4, 7, 8, 11)]
    assert names == ["PE 0", "PE 3", "MM 0", "MM 3", "switch 0.0", "switch 1.1"]
    assert net.channel_name(0) == "switch 0.0 -> switch 1.0"
    assert net.channel_name(net.num_network_channels) == "PE 0 -> switch 0.0"
    assert net.lines(3, 2).tolist() == [3, 3, 2]


@pytest.mark.parametrize(("pes", "size"), [*SHAPES, (512, 2), (4096, 8)])
def test_every_line_is_a_channel_each_way(pes, size):
    net = omega(pes, size)
    assert net.pes == size**net.stages
    assert net.num_ends == 2 * pes + net.stages * pes // size
    assert (net.num_hosts, net.num_routers) == (2 * pes, net.stages * pes // size)
    assert net.num_channels == 2 * pes * (net.stages + 1)
    assert net.num_network_channels == 2 * pes * (net.stages - 1)
    assert num_links(net) == net.num_network_channels // 2
    assert net.source_end.dtype == net.target_end.dtype == np.int32
    keys = net.source_end.astype(np.int64) * net.num_ends + net.target_end
    assert np.all(np.diff(keys[: net.num_network_channels]) > 0)  # sorted, and none twice
    assert len(np.unique(keys)) == net.num_channels
    leaving = np.bincount(net.source_end)
    assert set(leaving[: 2 * pes].tolist()) == {1}
    assert set(leaving[2 * pes :].tolist()) == {2 * size}


def loads_by_stage(net, pe, module):
    """Channel loads of requests, line by line: load → lines that have it, for each stage."""
    routed = paths(net, ShortestPath(), np.asarray(pe), net.pes + np.asarray(module)).whole(net)
    load = np.bincount(routed.channels, minlength=net.num_channels)
    lines = net.lines(pe, module)
    stages = [Counter(Counter(lines[:, i].tolist()).values()) for i in range(net.stages + 1)]
    used = Counter(load[load > 0].tolist())
    assert used == sum(stages, Counter())  # what the formula has on its lines, channels have
    return load, stages


@pytest.mark.parametrize(("pes", "size"), [(16, 2), (64, 2), (16, 4), (64, 8)])
def test_the_identity_and_shifts_pass_without_conflict(pes, size):
    # Lawrie 1975: an Omega network passes x -> p x + c (mod N), p odd, in one go
    net, pe = omega(pes, size), np.arange(pes)
    for factor, shift in ((1, 0), (1, 1), (1, 5), (3, 2)):
        modules = (factor * pe + shift) % pes
        load, _ = loads_by_stage(net, pe, modules)
        assert load.max() == 1
        assert measure(net, ShortestPath(), pe, pes + modules).path_contention.max() == 0


@pytest.mark.parametrize("pes", [4, 16, 64, 256, 1024])
def test_bit_reversal_loads_a_channel_with_the_square_root_of_n(pes):
    net, pe = omega(pes), np.arange(pes)
    load, stages = loads_by_stage(net, pe, digit_reversed(pe, pes))
    assert load.max() == round(pes**0.5)
    # and twice as many meet at each stage, until half of the digits are the module's
    assert [max(stage) for stage in stages] == [
        min(2**stage, 2 ** (net.stages - stage)) for stage in range(net.stages + 1)
    ]


@pytest.mark.parametrize(("pes", "size"), [(16, 2), (64, 4), (64, 8)])
def test_all_requests_to_one_module_are_a_tree(pes, size):
    net, pe = omega(pes, size), np.arange(pes)
    _, stages = loads_by_stage(net, pe, np.full(pes, 5 % pes))
    assert stages == [{size**stage: pes // size**stage} for stage in range(net.stages + 1)]


def test_the_largest_network_has_the_lines_of_the_recurrence():
    net = omega(65_536)
    pe, module = np.array([65_535, 1, 40_000]), np.array([65_535, 32_768, 12_345])
    found = net.lines(pe, module)
    line = pe
    for stage in range(16):
        assert np.array_equal(found[:, stage], line)
        line = line % 32_768 * 2 + (module >> (15 - stage)) % 2
    assert np.array_equal(found[:, 16], module)


@pytest.mark.parametrize(("pes", "size"), SHAPES)
def test_reversed_digits(pes, size):
    count = checked_stages(pes, size)
    found = digit_reversed(np.arange(pes), pes, size)
    assert found.dtype == np.int32
    expected = [digits(number, size, count)[::-1] for number in range(pes)]
    assert [digits(number, size, count) for number in found.tolist()] == expected
    assert np.array_equal(digit_reversed(found, pes, size), np.arange(pes))
