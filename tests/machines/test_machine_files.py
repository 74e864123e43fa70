"""Machine files of one's own: every key, what is refused, and the machines that come of them."""

import numpy as np
import pytest

from netloom import replay
from netloom.base.errors import InputError
from netloom.machines import link_classes, machine
from netloom.machines.named_machines import clock_of
from netloom.questions.fields import Timing
from netloom.questions.named import find_network
from netloom.simulation.network.routers import Router, router
from netloom.topology import Cube

SMALL = 'topology = "mesh:4x4"\nbandwidth = "1GB/s"\n'
WHOLE = """name = "An example"
topology = "leaf-spine:4x2x4"
bandwidth = "200Gb/s"
duplex = "half"
latency = "300ns"
overhead = "1.2us"
flit_bytes = "64B"
packet_bytes = "4KiB"
source = "nowhere"
notes = "made up"

[[links]]
between = "hosts"
bandwidth = "12.5GB/s"
latency = "150ns"

[[links]]  # later rows hold
between = ["leaf0", "spine*"]
bandwidth = "400Gb/s"

[router]
preset = "single-cycle"
vcs = 2

[[message_costs]]
up_to = "8KiB"
startup = "2us"
per_byte = "0.1ns"

[[message_costs]]
startup = "5us"
per_byte = "80ps"
"""


@pytest.fixture
def described(tmp_path, monkeypatch):
    """Return what makes the machine of a text."""
    monkeypatch.chdir(tmp_path)

    def make(text, sides=""):
        (tmp_path / "my.toml").write_text(text)
        return machine(f"machine:my.toml{sides}")

    return make


def test_every_key_is_a_field(described):
    found = described(WHOLE)
    assert (found.name, found.full_name) == ("machine:my.toml", "An example")
    assert (found.source, found.notes, found.duplex) == ("nowhere", "made up", "half")
    assert found.topology == "leaf-spine:4x2x4"
    assert found.bandwidth_bytes_per_us == 25_000
    assert (found.hop_us, found.overhead_us) == (0.3, 1.2)
    assert (found.flit_bytes, found.packet_bytes) == (64, 4096)
    assert [tuple(dict(each).values()) for each in found.links] == [
        ("hosts", 12_500, 0.15, None),
        (("leaf0", "spine*"), 50_000, None, None),
    ]
    assert found.router == router("single-cycle", vcs=2)
    costs = [tuple(dict(each).values()) for each in found.message_costs]
    assert costs == [(8192, 2, 1e-4), (np.inf, 5, 8e-5)]
    assert found.message_time_us([8192, 8193]) == pytest.approx([2.8192, 5.65544])
    assert found == described(WHOLE), "a machine is what its file says"


def test_two_keys_suffice(described):
    found = described('topology = "fat-tree:4x2"\nbandwidth = "100Gb/s"\n')
    assert found.full_name == "machine:my.toml"
    assert (found.hop_us, found.overhead_us, found.links) == (0, None, ())
    assert (found.flit_bytes, found.packet_bytes, found.router) == (1, None, None)
    network = found.network()
    assert network.even
    assert (network.channel_cycles == 1).all()
    assert (network.reference_gbps, network.cycle_ns) == (100, None)


def test_links_have_their_rates_and_latencies(described):
    found = described(WHOLE)
    network = found.network()
    names = [network.channel_name(channel) for channel in range(network.num_channels)]
    rates, delays = network.channel_bandwidth * network.reference_gbps, found.latencies_us(network)
    for name, gbps, us in zip(names, rates, delays, strict=True):
        at_host = "h" in name.replace("spine", "")
        first = name in {f"{a} -> {b}" for s in "01" for a, b in (
            ("leaf0", f"spine{s}"), (f"spine{s}", "leaf0"))}  # fmt: skip
        assert gbps == (100 if at_host else 400 if first else 200), name
        assert us == (0.15 if at_host else 0.3), name
    assert network.routers.channel_bandwidth.tolist() == network.channel_bandwidth[:16].tolist()
    assert network.routers.reference_gbps == network.reference_gbps == 200


def test_flits_take_as_long_as_seconds_say(described):
    found = described(WHOLE)
    network = found.network()
    own = found.router.router_cycles
    injected = slice(network.num_network_channels, network.num_network_channels + 16)
    routers = np.full(network.num_channels, own)
    routers[injected] = 0  # no router is before an injection channel
    took = (network.channel_cycles + routers) * found.cycle_us
    assert took == pytest.approx(found.latencies_us(network), abs=found.cycle_us / 2)
    assert network.cycle_ns == pytest.approx(2.56)


def test_seconds_of_a_machine_are_exact(described):
    found = described(WHOLE)
    network = found.network()
    clock = clock_of(Timing(), network, found)
    seconds = clock.latency_seconds * network.channel_cycles
    assert seconds == pytest.approx(found.latencies_us(network) * 1e-6, rel=1e-12)
    assert clock.bytes_per_second == 25e9
    assert clock.overhead_seconds == pytest.approx(1.2e-6)
    assert clock.words == (
        "12.5 GB/s to 50 GB/s per channel, latency 150 ns to 300 ns, overhead 1.2 µs "
        "(machine:my.toml)"
    )
    asked = clock_of(Timing(bandwidth="100Gb/s", latency="1us"), network, found)
    assert asked.latency_seconds * network.channel_cycles == pytest.approx(1e-6)
    assert asked.bandwidth_source == "--bandwidth, instead of 25 GB/s of machine:my.toml"
    assert clock.to_json()["channel_bytes_per_second"] == {"min": 12.5e9, "max": 50e9}


def test_a_network_with_broken_parts_keeps_rates_and_latencies(described):
    described(WHOLE)
    network, found = find_network("machine:my.toml", failed_channels="leaf0-spine0")
    whole = found.network()
    kept = network.whole_channel
    assert len(kept) == whole.num_channels - 2
    assert network.channel_bandwidth.tolist() == whole.channel_bandwidth[kept].tolist()
    assert found.latencies_us(network).tolist() == found.latencies_us(whole)[kept].tolist()
    assert network.cycle_ns == whole.cycle_ns
    assert found.rated(network) is network
    other, again = found.with_flits(network, 128)
    assert other == found.model_copy(update={"flit_bytes": 128})
    assert again.whole.channel_cycles[kept].tolist() == again.channel_cycles.tolist()
    assert again.routers.num_channels == network.routers.num_channels
    assert again.cycle_ns == 2 * network.cycle_ns


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("torus:4x3", {"routers": 48, "dimension 0": 24, "dimension 1": 24}),
        ("mesh:4x1x2/3", {"routers": 20, "hosts": 48, "dimension 0": 12, "dimension 1": 0,
                          "dimension 2": 8}),
        ("hypercube:2", {"routers": 8, "dimension 0": 4, "dimension 1": 4}),
        ("hyperx:3x2/1/2", {"routers": 36, "hosts": 12, "dimension 0": 24, "dimension 1": 12}),
        ("fat-tree:2x3", {"routers": 32, "hosts": 16, "levels 1-2": 16, "levels 2-3": 16}),
        ("xgft:2x3/1x2/1x2", {"routers": 24, "hosts": 12, "levels 1-2": 24}),
        ("rail:2x2x4x2", {"routers": 32, "hosts": 32, "levels 1-2": 32}),
        ("dragonfly:1x2x1", {"routers": 12, "hosts": 12, "local": 6, "global": 6}),
        ("dragonfly+:2x2x1x1/2", {"routers": 20, "hosts": 8, "local": 16, "global": 4}),
        ("jellyfish:8x3x2/1", {"routers": 24, "hosts": 32}),
    ],
)  # fmt: skip
def test_the_classes_that_networks_know(described, spec, words):
    for word, count in words.items():
        text = f'topology = "{spec}"\nbandwidth = "1GB/s"\n'
        text += f'[[links]]\nbetween = "{word}"\nbandwidth = "2GB/s"\n'
        network = described(text).network()
        assert int((network.channel_bandwidth == 2).sum()) == count, word
    with pytest.raises(InputError) as refused:
        described(text.replace(word, "cables"))
    said = str(refused.value)
    assert f"my.toml:4: [links] between: found 'cables', of which {spec} has no links" in said
    assert ", ".join(words) in said


def test_levels_of_a_tree_from_a_file_whose_routers_come_in_another_order(described, tmp_path):
    lines = ["hosts: h[0-7]"]
    lines += [f"top{t} low{x} 1" for t in (0, 1) for x in (3, 1, 0, 2)]
    lines += [f"h{h} low{h // 2} 1" for h in range(8)]
    (tmp_path / "net.txt").write_text("\n".join(lines))
    text = 'topology = "graph:net.txt"\nbandwidth = "1GB/s"\n'
    network = described(text + '[[links]]\nbetween = "levels 1-2"\nbandwidth = "2GB/s"\n').network()
    assert network.family is not None
    fast = network.channel_bandwidth == 2
    assert fast[:16].all()
    assert not fast[16:].any()


def test_a_file_of_a_network_is_beside_the_machines(described, tmp_path):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "net.txt").write_text("hosts: a b\na s 100Gb/s\nb s 200Gb/s\n")
    (tmp_path / "nets" / "own.toml").write_text('topology = "graph:net.txt"\n')
    found = machine("machine:nets/own.toml")
    assert found.topology == "graph:nets/net.txt"
    assert found.bandwidth_bytes_per_us == 12_500, "of several rates the slowest"
    assert sorted(set(found.network().channel_bandwidth)) == [1, 2]
    (tmp_path / "nets" / "own.toml").write_text(
        'topology = "graph:net.txt"\nbandwidth = "400Gb/s"\n'
        '[[links]]\nbetween = ["b", "s"]\nbandwidth = "100Gb/s"\n'
    )
    found = machine("machine:nets/own.toml")
    assert found.network().reference_gbps == 400
    assert sorted(set(found.network().channel_bandwidth)) == [0.25, 1]


def test_rates_of_all_links_need_no_other(described):
    text = 'topology = "leaf-spine:2x2x2"\n'
    text += '[[links]]\nbetween = "hosts"\nbandwidth = "100Gb/s"\n'
    with pytest.raises(InputError, match=r"my.toml:1: bandwidth: found none, for leaf0 -> spine0"):
        described(text)
    found = described(text + '[[links]]\nbetween = "routers"\nbandwidth = "400Gb/s"\n')
    assert found.bandwidth_bytes_per_us == 12_500, "that of the hosts"
    assert found.network().channel_bandwidth.max() == 4


def test_other_sides(described):
    found = described(SMALL, ":8x2")
    assert found.topology == "mesh:8x2"
    assert found.name == "machine:my.toml"
    assert isinstance(found.network(), Cube)
    assert described(SMALL.replace("mesh:4x4", "cube:4wx4/2"), ":3x5").topology == "cube:3wx5/2"
    assert described(SMALL.replace("mesh:4x4", "ring:8"), ":5").network().num_channels == 10
    with pytest.raises(InputError, match=r"my.toml:8: found 1 sides; expected 2, as in mesh:4x4"):
        described(SMALL, ":8")
    with pytest.raises(InputError, match=r"sides of fat-tree:4x2; expected none: mesh, torus"):
        described(SMALL.replace("mesh:4x4", "fat-tree:4x2"), ":8x8")


def test_uneven_dimensions_of_a_torus_route_as_ever(described):
    text = 'topology = "torus:4x4"\nbandwidth = "2GB/s"\n'
    found = described(text + '[[links]]\nbetween = "dimension 1"\nbandwidth = "1GB/s"\n')
    assert isinstance(found.network(), Cube)
    from netloom import analyze

    even, uneven = (analyze("torus:4x4", on, random_mappings=0) for on in ("torus:4x4", found))
    assert even.to_dict()["channel_load"] == uneven.to_dict()["channel_load"]
    upper = [each.to_dict()["saturation"]["upper_bound"] for each in (even, uneven)]
    assert upper[1] == pytest.approx(upper[0] / 2)


LINK = '[[links]]\nbetween = "routers"\n'
COST = '[[message_costs]]\nup_to = 8\nstartup = "1us"\nper_byte = "1ns"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bandwidth = '1GB/s'", "my.toml:1: topology: found nothing; expected a network such as"),
        ('topology = "torus:4xx4"', "my.toml:1: topology, torus:4xx4: found ''; expected"),
        ('topology = "mesh:4x4"', "my.toml:1: bandwidth: found none, for (0,0) -> (1,0)"),
        (SMALL.replace('"1GB/s"', "1000"), "my.toml:2: bandwidth: found 1000 without a unit"),
        (SMALL.replace("1GB/s", "1"), "my.toml:2: bandwidth: found '1' without a unit; expected"),
        (SMALL.replace("1GB/s", "0GB/s"), "my.toml:2: bandwidth: found '0GB/s'; expected"),
        (SMALL + "latency = 600", "my.toml:3: latency: found 600 without a unit; expected a time"),
        (SMALL + 'latency = "-1ns"', "my.toml:3: latency: found '-1ns'; expected a time"),
        (SMALL + "flit_bytes = 0", "my.toml:3: flit_bytes: found 0; expected bytes such as"),
        (SMALL + 'packet_bytes = "big"', "my.toml:3: packet_bytes: found 'big'; expected bytes"),
        (SMALL + "name = 7", "my.toml:3: name: found 7; expected a valid string"),
        (SMALL + 'duplex = "both"', "my.toml:3: duplex: found 'both'; expected 'full' or 'half'"),
        (SMALL + 'latncy = "1us"', "my.toml:3: latncy: found no such key; expected latency, perh"),
        (SMALL + "x = 1", "my.toml:3: x: found no such key; expected name, topology, bandwidth"),
        (SMALL + "links = 3", "my.toml:3: links: found 3; expected a valid list"),
        (SMALL + LINK, "my.toml:3: [links]: found nothing of the links between routers; expected"),
        (SMALL + LINK + 'bandwith = "1GB/s"', "my.toml:5: [links] bandwith: found no such key; "
         "expected bandwidth, perhaps"),
        (SMALL + '[[links]]\nlatency = "1ns"', "my.toml:3: [links] between: found nothing; exp"),
        (SMALL + "[[links]]\nbetween = 4", "my.toml:4: [links] between: found 4; expected a class"),
        (SMALL + '[[links]]\nbetween = ["a"]\nlatency = "1ns"', "my.toml:4: [links] between"),
        (SMALL + LINK.replace("routers", "hosts") + 'latency = "1ns"', "my.toml:4: [links] between:"
         " found 'hosts', of which mesh:4x4 has no links; expected routers, dimension 0"),
        (SMALL + LINK.replace("routers", "router") + 'latency = "1ns"', "expected routers, perh"),
        (SMALL + '[[links]]\nbetween = ["a*", "*"]\nlatency = "1ns"', "my.toml:4: [links] between: "
         "found no link between 'a*' and '*'; expected names of hosts and routers as mesh:4x4"),
        (SMALL + COST, "my.toml:3: [message_costs]: found up_to of 8; expected rising sizes"),
        (SMALL + COST + COST, "my.toml:7: [message_costs]: found up_to of 8, 8; expected rising"),
        (SMALL + COST.replace("per_byte", "each"), "my.toml:6: [message_costs] each: found no"),
        (SMALL + "[router]\nvc = 2", "my.toml:3: [router] router: found field 'vc'; expected"),
        (SMALL + "[router]\nvcs = 99", "my.toml:3: [router] vcs: found 99"),
        (SMALL + '[router]\npreset = "fast"', "my.toml:3: [router] router: found 'fast'; expected"),
        (SMALL + 'latency = "1s"', "found a latency of 1000000000 cycles, flits of 1 bytes; exp"),
        ("topology = ", "my.toml: found no TOML: Invalid value"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_line_and_key(described, text, message):
    with pytest.raises(InputError) as refused:
        described(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_message_takes_flit_by_flit_what_its_links_say(described, tmp_path):
    text = 'topology = "leaf-spine:4x2x4"\nbandwidth = "200Gb/s"\nlatency = "300ns"\n'
    text += 'flit_bytes = 64\n[[links]]\nbetween = "hosts"\nlatency = "150ns"\n'
    found = described(text)
    (tmp_path / "one.csv").write_text("id,source,target,flits,cycle\na,0,12,1000,0\n")
    run = replay(found, trace="one.csv", packet_flits=1000, buffer_flits=512)
    said_us = 0.15 + 0.3 + 0.3 + 0.15 + 64_000 / found.bandwidth_bytes_per_us
    assert run.to_dict()["finish_us"] == pytest.approx(said_us, abs=4 * found.cycle_us)


def test_flits_of_another_size_take_as_long(described, tmp_path):
    found = described(
        'topology = "mesh:2x2"\nbandwidth = "1GB/s"\nlatency = "1us"\nflit_bytes = "8KiB"\n'
    )
    assert (found.network().channel_cycles == 1).all(), "one cycle is longer"
    other, network = found.with_flits(found.network(), 10)
    assert (network.channel_cycles == 100 - Router().router_cycles).all()
    iwarp = machine("iwarp:4x4")
    other, network = iwarp.with_flits(iwarp.network(), 1)
    assert other.flit_bytes == 1
    assert network is iwarp.network(), "its router is its model of a hop"


def test_the_example_is_a_machine_and_says_that_it_is_made_up():
    found = machine("machine:examples/machines/example.toml")
    network = found.network()
    assert "Made up" in found.source
    rates = found.bandwidth_bytes_per_us * network.channel_bandwidth
    between_groups = link_classes(network)["global"]
    assert set(rates[between_groups]) == {12_500}
    assert set(rates[~between_groups]) == {25_000}
    assert set(found.latencies_us(network)[link_classes(network)["hosts"]]) == {0.1}
