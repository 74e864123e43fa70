"""``X`` and ``X/1``, whose routers have one host each, answer the same figures.

Hosts' channels are as fast on both sides: a flit a cycle for flits and worms, which is what they
are by default, and the reference rate for flows (``--end-channels 1``). Where they are counted on
one side only, either programs are such that they are not the busiest, or nobody says their speed.
Words differ: they name ``h3`` where a node is its own router.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

from netloom import find_mapping, machine, simulate_loop, simulate_pattern
from netloom.routing.virtual_channel_tables import RULES
from netloom.topology import topology
from netloom.topology.families import concentrated
from tests.approved.asked import in_a_folder, run
from tests.networks import DIRECT

LOAD = "simulate load --on {on} --load 0.3 --cycles 300 --vcs 4 --routing {routing}"

ROUTED = (
    LOAD,
    "simulate loop --on {on} --app ring --applied 0.4 --loops 2 --vcs 4 --routing {routing}",
    "predict latency --on {on} --offered 0.1 --vcs 4 --routing {routing}",
)

PLAIN = (
    "simulate saturation --on {on} --vcs 4 --most-cycles 400",
    "simulate load --on {on} --traffic hot-spot:0.2:1 --load 0.2 --cycles 300 --vcs 4",
    "simulate load --on {on} --load 0.1 --cycles 300 --switching all --vcs 4",
    "simulate load --on {on} --load 0.3 --cycles 300 --vcs 2 --injection-channels 2"
    " --ejection-channels 0",
    "simulate loop --on {on} --app ring --applied 0.4 --loops 2 --engine worm{ends}",
    "simulate flows --on {on} --app ring --flow-bytes 1MB --bandwidth 25GB/s{ends}",
    "simulate transactions --on {on} --app ring:4 --batch-cycles 300 --contexts 2",
    "route {on} --samples 2",
    "compile ring:4 --on {on} --words 64 --per channel --method negotiated",
    "collective all-reduce --on {on} --size 1KB,1MB --latency 0{ends}",
    "collective all-to-all --on {on} --algorithm pairwise,bruck --size 1KB --latency 0{ends}",
    "collective broadcast --on {on} --size 1MB --latency 0 --root 1{ends}",
)
"""Questions that tell the two apart in nothing."""

BUSY = "analyze {app} --on {on} --mapping random --seed 3 --random-mappings 2 --routing {routing}"
"""A program whose busiest channel is between routers on networks that are not too small."""

OBJECTIVES = "max-channel-load", "hop-bytes", "path-contention"
"""Those of searches that hold where nobody says how fast hosts' channels are."""

ESTIMATES = "saturation", "verdict", "half_way", "left_out"
"""Figures that are of channels of one bandwidth, said for all."""

DIFFERENT = {
    "answer.seconds": "measured",
    "cpu_seconds": "measured",
    "provenance": "names the network",
    "answer.direct": "says which of the two it is",
    "end_channels": "an option of networks whose nodes are their own routers",
    "upper_bound": "worms: hosts' channels count where they are listed",
    "worst_node": "worms: likewise",
    "vc_layers": "the model says it of paths between hosts only",
    "busiest.source_node": "trace: likewise",
    "busiest.target_node": "trace: likewise",
    "busiest_host_channel": "hosts' channels count where they are listed",
    "answer.network_channels": "compile: likewise",
    "answer.cables": "route: likewise",
    "answer.bounds": "analyze: likewise, as cuts",
    "affected_nodes": "analyze: none on hosts if contention begins with saturation alone",
    "host_channel_load": "analyze: hosts' channels count where they are listed",
    "busiest_router": "analyze: likewise, as loads of their routers",
    "oversubscription": "analyze: likewise, as what is below their routers",
}
"""Figures that differ, and why: parts of their names."""

OF_HOSTS_ONLY = {
    ".routers": "load: nodes that are their own routers are counted once",
    ".busiest.bandwidth": "trace: channels have their own speed where those of hosts are listed",
}
"""Figures that there are of hosts on routers alone, and why."""

NOT_COMPARED = {
    "valiant": "its packets draw where they are born, those of hosts at their first router",
    "shortest-path on rings": "only where hosts hang on routers are its paths put into layers",
    "compile --method symmetric": "is for patterns of nodes that are their own routers",
    "compile --per node": "searches draw by numbers of channels, and hosts' have some, too",
    "collective --latency": "hosts' channels have one, where they are listed",
    "phases of a collective": "a capacity is of nodes here, of channels there",
}
"""What is not held against each other, and why."""


def figures(command):
    """All numbers of an answer by where they stand, or the exit code of a refusal."""
    code, out, _ = run(f"{command} --json")
    return numbers(json.loads(out)) if code == 0 else {"refused": [code]}


def numbers(value, at=""):
    """Return {place: numbers}, the places of a list being one."""
    if not isinstance(value, dict | list):
        rounded = float(f"{value:.9g}") if isinstance(value, float) else value
        return {} if isinstance(value, str) else {at: [rounded]}
    parts = value.items() if isinstance(value, dict) else ((at, each) for each in value)
    found = {}
    for key, part in parts:
        where = f"{at}.{key}" if isinstance(value, dict) else at
        for place, some in numbers(part, where).items():
            found.setdefault(place, []).extend(some)
    return found


def differing(command, net, **more):
    """Return the figures that differ between a network and its routers with a host each."""
    one = figures(command.format(on=net, ends=" --end-channels 1", **more))
    other = figures(command.format(on=f"{net}/1", ends="", **more))
    assert len(one) > 1, "a refusal tells nothing"
    return unlike(one, other)


def unlike(one, other):
    """Return what two answers differ in, but for what may differ."""
    compared = {*one, *other} - {key for key in OF_HOSTS_ONLY if key not in one}
    return {
        key: (one.get(key), other.get(key))
        for key in compared
        if one.get(key) != other.get(key) and not any(part in f"answer{key}" for part in DIFFERENT)
    }


@pytest.fixture(scope="module", autouse=True)
def folder():
    with in_a_folder():
        yield


def ruled():
    """Return each rule with a mesh, and with a ring where it knows those."""
    for name, rule in RULES.items():
        if name not in NOT_COMPARED:
            yield from ((name, net) for net in ("mesh:3x3", "torus:4x3")[: 1 + (rule.ring_vcs > 0)])


@pytest.mark.parametrize(("routing", "net"), [*ruled(), ("yx", "mesh:3x3"), ("xy", "torus:4x3")])
def test_rules_lead_packets_of_hosts_alike(routing, net):
    assert differing(LOAD, net, routing=routing) == {}


@pytest.mark.parametrize("net", DIRECT.values())
def test_the_default_leads_packets_of_hosts_alike(net):
    # the defaults of other networks differ: one shortest path of nodes, any of hosts
    routing = "layered" if net.startswith("twisted") else "default"
    for command in ROUTED:
        assert differing(command, net, routing=routing) == {}


@pytest.mark.parametrize("net", ["torus:4x3", "twisted-torus:4x2"])
@pytest.mark.parametrize("routing", ["up-down", "layered"])
def test_paths_lead_packets_of_hosts_alike(routing, net):
    assert differing(LOAD, net, routing=routing) == {}


@pytest.mark.parametrize("net", ["mesh:3x2", "torus:4x3", "hypercube:2"])
@pytest.mark.parametrize("command", PLAIN)
def test_questions_answer_alike(command, net):
    assert differing(command, net) == {}


@pytest.mark.parametrize("net", ["mesh:2x2", "ring:4"])
def test_a_trace_takes_as_long(net):
    trace = "simulate trace files/trace.csv --on {on} --most-cycles 1000"
    assert differing(trace, net) == {}


@pytest.mark.parametrize(
    ("net", "routing"),
    [
        ("mesh:6x6", "default"), ("mesh:6x6", "valiant"), ("torus:8x8", "default"),
        ("torus:8x8", "up-down"), ("ring:12", "spread"), ("line:8", "ecmp"),
        ("hypercube:5", "dimension-order"), ("cube:4wx8", "layered"),
        ("twisted-torus:4x8", "layered"), ("twisted-torus:4x8", "up-down"),
    ],
)  # fmt: skip
def test_programs_contend_alike(net, routing):
    for app in ("random-permutation", "shift:1,3"):
        assert differing(BUSY, net, routing=routing, app=app) == {}


@pytest.mark.parametrize("net", ["mesh:6x6", "torus:8x8", "ring:12"])
def test_permutations_contend_alike(net):
    assert differing("analyze permutations --on {on} --samples 3", net) == {}


@pytest.mark.parametrize("net", ["torus:9x3", "mesh:7x3", "ring:9"])
def test_dimensions_bound_collectives_alike(net):
    command = "collective all-to-all --on {on} --algorithm pairwise --size 1MB --latency 0{ends}"
    assert differing(command, net) == {}


@pytest.mark.parametrize(
    "command",
    [
        "predict locality --on {on} --app hypercube:4",
        "predict torus-broadcast --on {on} --rate 0.001 --broadcast 0.1",
    ],
)
def test_models_of_tori_take_their_hosts(command):
    assert differing(command, "torus:4x4") == {}


@pytest.mark.parametrize("engine", ["worm", "network"])
def test_patterns_of_nodes_are_those_of_hosts(engine):
    symult, ends = machine("symult2010"), [{}, {}]
    if engine == "worm":
        ends[0]["end_channels"] = 1
    one, other = (
        simulate_pattern(
            symult.model_copy(update={"topology": on, "hop_us": 0}), engine=engine, loops=2, **more
        )
        for on, more in zip(("mesh:3x3", "mesh:3x3/1"), ends, strict=True)
    )
    assert unlike(told(one), told(other)) == {}


@pytest.mark.parametrize("app", ["ring:8", "all-to-all:8"])
def test_long_channels_delay_programs_alike(app):
    plain = topology("twisted-torus:4x2")
    cycles = np.where(np.arange(plain.num_channels) % 3, 1, 7).astype(np.int32)
    one = replace(plain, channel_cycles=cycles)
    one, other = (
        simulate_loop(on, app=app, applied=0.3, loops=3, vcs=4, routing="layered")
        for on in (one, concentrated(one, 1))
    )
    assert unlike(told(one), told(other)) == {}


def told(found):
    """All numbers of an answer by where they stand, as a reader of its JSON has them."""
    return numbers(json.loads(json.dumps(found.to_dict())))


def searched(net, objective):
    """The figures of a search: its bounds, starts, and what was and is measured."""
    found = find_mapping("hypercube:3", net, objective=objective, rounds=1, routing="up-down")
    return {
        key: part for key, part in told(found).items() if not any(each in key for each in ESTIMATES)
    }


@pytest.mark.parametrize("net", [*DIRECT.values(), "graph:examples/dgx1.txt"])
def test_searches_find_the_same_mapping(net):
    one = topology(net)
    if one.num_hosts < 8:
        one = topology(f"{net.partition(':')[0]}:8")
    rate = np.append(one.channel_bandwidth, np.full(2 * one.num_hosts, np.inf))
    other = replace(concentrated(one, 1), channel_bandwidth=rate)
    for objective in OBJECTIVES:
        one_found, other_found = (searched(each, objective) for each in (one, other))
        assert unlike(one_found, other_found) == {}
        assert one_found[".after.bounds.cuts.time"] == other_found[".after.bounds.cuts.time"]
