"""Computers with an inside: what enters the network is what cards alone would send."""

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.bounds.cuts import cut_bounds
from netloom.drawing.networks.curves import in_columns
from netloom.machines import machine
from netloom.machines.named_machines import link_classes, machine_names
from netloom.questions.named import find_network
from netloom.routing import parse_routing, paths
from netloom.topology import topology
from netloom.topology.faults import without

CARDS = [
    "leaf-spine:2x2x4", "fat-tree:k=4", "xgft:4x4/1x2/1x2", "rail:2x2x4x2", "dragonfly:2x4x2",
    "dragonfly+:2x2x2x2/3", "hyperx:2x4/4/2", "mesh:4x4/4", "jellyfish:32x5x4/1", "torus:4x4",
]  # fmt: skip
"""Networks with computers of four cards, or two of the fat tree."""

ROUTINGS = ["d-mod-k", "s-mod-k", "nca", "minimal", "minimal-group", "valiant-group"]
ROUTINGS += ["dimension-order", "shortest-path", "layered"]
"""Those whose ways do not depend on how routers or destinations are numbered or counted."""


def all_pairs(count):
    return np.repeat(np.arange(count), count), np.tile(np.arange(count), count)


def loads(net, routing, sources, targets):
    """What paths put on every channel."""
    found = paths(net, routing, sources, targets)
    whole = found.whole(net)
    share = np.ones(len(found)) if found.probability is None else found.probability
    return np.bincount(whole.channels, np.repeat(share, whole.lengths), net.num_channels)


@pytest.mark.parametrize("gpus", [4, 8])
@pytest.mark.parametrize("spec", CARDS)
def test_the_network_carries_what_cards_alone_would_send(spec, gpus):
    cards = 2 if spec == "fat-tree:k=4" else 4
    net, base, share = topology(f"{spec}@{gpus}x{cards}x9"), topology(spec), gpus // cards
    node = net.node_of_host
    sources, targets = all_pairs(net.num_hosts)
    mates = (node[sources] == node[targets]) & (sources != targets)
    one, other = all_pairs(base.num_hosts)
    apart = node[one * share] != node[other * share]
    tried = 0
    for name in ROUTINGS:
        try:
            routing = parse_routing(name, net)
        except InputError:
            continue
        tried += 1
        load = loads(net, routing, sources, targets)
        assert load[net.inner_channels].sum() == pytest.approx(2 * mates.sum())
        ports = load[net.num_network_channels :].sum()
        assert ports == pytest.approx(2 * (sources != targets).sum())
        cards_alone = loads(base, parse_routing(name, base), one[apart], other[apart])
        many = base.num_network_channels
        assert load[:many] == pytest.approx(share**2 * cards_alone[:many]), name
        if share > 1:  # each card carries what its GPUs send to other computers
            leaving = load[many : net.num_network_channels]
            assert leaving == pytest.approx(share * (net.num_hosts - gpus))
    assert tried >= 3


@pytest.mark.parametrize("spec", [f"{each}@8x4x9" for each in CARDS[3:6]])
def test_messages_inside_a_computer_use_its_inside_alone(spec):
    net = topology(spec)
    sources, targets = all_pairs(8)  # the GPUs of the first computer
    sources, targets = sources[sources != targets], targets[sources != targets]
    load = loads(net, parse_routing("default", net), sources, targets)
    assert set(np.flatnonzero(load)) == {
        c for c in np.flatnonzero(net.inner_channels) if "n0." in net.channel_name(c)
    }
    assert net.crosses(sources, targets).all()
    assert (net.inner_part[net.switch_of < 0] >= 0).all()


@pytest.mark.parametrize("spec", [f"{each}@8x4x3" for each in CARDS if each != "fat-tree:k=4"])
def test_no_bound_is_longer_than_the_busiest_channel_works(spec):
    net, rng = topology(spec), np.random.default_rng(1)
    for _ in range(5):
        sources, targets = rng.integers(0, net.num_hosts, (2, 40)).astype(np.int32)
        weights = rng.integers(1, 9, 40).astype(np.float64)
        found = paths(net, parse_routing("default", net), sources, targets).whole(net)
        load = np.bincount(found.channels, weights.repeat(found.lengths), net.num_channels)
        busiest = (load / net.channel_bandwidth).max()
        for cut in cut_bounds(net, sources, targets, weights):
            assert cut.time <= busiest * (1 + 1e-9), cut


def test_bounds_part_what_stays_inside_from_what_leaves():
    net = topology("rail:2x1x4x2@4x4x9")
    ring = np.arange(4, dtype=np.int32), (np.arange(4, dtype=np.int32) + 1) % 4
    (inside,) = cut_bounds(net, *ring, np.full(4, 18.0))
    assert (inside.kind, inside.time) == ("host", 2.0)
    away = cut_bounds(net, np.arange(4), np.arange(4, 8), np.full(4, 18.0))
    assert max(cut.time for cut in away) == 18.0


def test_classes_of_links():
    found = link_classes(topology("leaf-spine:2x2x4@8x4x9"))
    assert {word: int(of.sum()) for word, of in found.items()} == {
        "routers": 8, "hosts": 2 * 8 + 2 * 16, "inside": 2 * 16, "levels 1-2": 8,
    }  # fmt: skip
    found = link_classes(topology("dragonfly:2x4x2@8x4x9"))
    base = link_classes(topology("dragonfly:2x4x2"))
    for word in ("routers", "local", "global"):
        assert found[word].sum() == base[word].sum()


def test_rates_of_machines():
    net, found = find_network("leaf-spine:4x4x8@dgx-h100")
    assert net.name == "leaf-spine:4x4x8@dgx-h100"
    assert found.bandwidth_bytes_per_us == 50_000
    assert net.channel_bandwidth[net.inner_channels] == pytest.approx(9)
    assert net.channel_bandwidth[~net.inner_channels] == pytest.approx(1)
    assert find_network(net.name)[0].name == net.name
    assert find_network("dgx-h100")[0].local_group.tolist() == list(range(1, 9))
    for name in machine_names():
        if (known := machine(name).computer) is not None:
            spec = f"leaf-spine:2x2x{known.cards}@{name}"
            assert find_network(spec)[0].num_hosts == 2 * known.gpus


def test_a_file_says_the_computer(tmp_path):
    file = tmp_path / "my.toml"
    file.write_text(
        'topology = "rail:2x2x4x2"\nbandwidth = "10GB/s"\n[computer]\ngpus = 4\ncards = 4\n'
        'inner = "100GB/s"\n[[links]]\nbetween = "inside"\nlatency = "100ns"\n'
    )
    own = machine(f"machine:{file}").network()
    assert own.name == f"rail:2x2x4x2@{file}"
    other = find_network(f"leaf-spine:2x2x4@{file}")[0]
    for net in (own, other):
        assert net.channel_bandwidth[net.inner_channels] == pytest.approx(10)
    assert find_network(own.name)[0].num_hosts == own.num_hosts


@pytest.mark.parametrize("gpus", [4, 8])
def test_tables_of_a_subnet_manager_lead_to_cards(gpus):
    fabric, lfts = "fabric:examples/dgx-40.ibnetdiscover", "lfts:examples/dgx-40-minhop.lfts"
    base, net = topology(fabric), topology(f"{fabric}@{gpus}x4x2")
    many = np.bincount(net.node_of_host)
    assert set(many[np.bincount(base.node_of_host) == 4]) == {gpus}
    assert str(parse_routing("default", net)) == "minhop"
    sources, targets = np.random.default_rng(1).integers(0, net.num_hosts, (2, 500))
    apart = net.node_of_host[sources] != net.node_of_host[targets]
    ends = sources[apart], targets[apart]
    found = paths(net, parse_routing(lfts, net), *ends)
    cards = paths(base, parse_routing(lfts, base), *(net.card_of_host[each] for each in ends))
    for path, of_cards in zip(found, cards, strict=True):
        assert np.array_equal(path[path < base.num_network_channels], of_cards)
        assert len(path) - len(of_cards) <= 2 * (gpus > 4)


def test_pictures_name_insides_and_cards():
    columns = in_columns(topology("leaf-spine:2x2x4@8x4x9")).columns
    assert columns[0].heading[0] == "cards send"
    assert columns[1].heading[0] == "level 1"
    net = topology("rail:2x1x2x2@2x2x3")
    names = [net.router_name(router) for router in in_columns(net).columns[0].routers.tolist()]
    assert names[-2:] == ["n0.inside", "n1.inside"]


def test_shown_insides_stay(tmp_path):
    graph = nx.Graph()
    for computer in "ab":
        for gpu in "01":
            graph.add_node(computer + gpu, kind="host", computer=computer)
            graph.add_edge(computer + gpu, f"inside {computer}", bandwidth="300GB/s")
            graph.add_edge(computer + gpu, "leaf", bandwidth="25GB/s")
    for switch in ("inside a", "inside b", "leaf"):
        graph.add_node(switch, kind="switch")
    file = tmp_path / "two.graphml"
    nx.write_graphml(graph, file)
    drawn = topology(f"graph:{file}")
    net = topology(f"graph:{file}@2x1x7")
    assert np.array_equal(net.channel_bandwidth, drawn.channel_bandwidth)
    assert sorted(np.flatnonzero(net.inner_part < 0)) == [
        router for router in range(3) if net.router_name(router) == "leaf"
    ]
    with pytest.raises(InputError, match="no computer with 3 hosts"):
        topology(f"graph:{file}@3x1x7")


def test_a_gpu_without_its_inside_goes_by_its_card():
    net = topology("leaf-spine:2x2x4@4x4x9")
    broken = without(net, channels="n0.0-n0.inside")
    found = paths(broken, parse_routing("spread", broken), [0, 1], [1, 2]).whole(broken)
    names = [[broken.channel_name(c) for c in path] for path in found]
    assert names[0] == ["n0.0 -> leaf0", "leaf0 -> n0.1"]
    assert names[1] == ["n0.1 -> n0.inside", "n0.inside -> n0.2"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("leaf-spine:2x2x3@4x4x9", "found 6 hosts; expected a multiple of 4"),
        ("rail:2x2x4x2@8x8x9", "found no computer with 8 hosts, but n0 with 4 hosts"),
        ("leaf-spine:2x2x4@6x4x9", "found 6 GPUs and 4 cards; expected as many GPUs as cards"),
        ("leaf-spine:2x2x4@8x4", "found '8x4'; expected GPUs, cards"),
        ("leaf-spine:2x2x4@8x4x0", "found an inner rate of 0; expected one above 0"),
        ("leaf-spine:1x2x8@8x8x9", "found one computer; expected several"),
        ("omega:16@2x2x9", "found hosts that are no cards"),
        ("leaf-spine:4x4x8@dgx-h10", "expected dgx-h100"),
        ("leaf-spine:4x4x8@tpu-v4", "[computer]: found none"),
        ("leaf-spine:4x4x8@no.toml", "found no such file"),
        ("xgft:4x4/2x2@4x4x9", "found hosts of several ports"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(spec, words):
    with pytest.raises(InputError) as caught:
        find_network(spec)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
