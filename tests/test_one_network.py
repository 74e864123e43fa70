"""``X`` and ``X/1``, whose routers have one host each, answer the same figures.

Hosts' channels are as fast on both sides: a flit a cycle for flits and worms, which is what they
are by default, and the reference rate for flows (``--end-channels 1``). Words differ: they name
``h3`` where a node is its own router.
"""

import json

import pytest

from netloom.routing.virtual_channel_tables import RULES
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
)
"""Questions that tell the two apart in nothing. Where hosts' channels are counted (analyze, map,
compile, collective) they may be the busiest, and a list of them has more rows."""

DIFFERENT = {
    "cpu_seconds": "measured",
    "provenance": "names the network",
    "end_channels": "an option of networks whose nodes are their own routers",
    "upper_bound": "worms: hosts' channels count where they are listed",
    "worst_node": "worms: likewise",
    "vc_layers": "the model says it of paths between hosts only",
    "busiest_channels": "names ends by number, routers' behind those of hosts",
    "busiest_host_channel": "hosts' channels count where they are listed",
}
"""Figures that differ, and why: parts of their names."""

NOT_COMPARED = {
    "valiant": "its packets draw where they are born, those of hosts at their first router",
    "shortest-path on rings": "only where hosts hang on routers are its paths put into layers",
}
"""Routings that are not held against each other, and why."""


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
    return {
        key: (one.get(key), other.get(key))
        for key in {*one, *other}
        if one.get(key) != other.get(key) and not any(part in key for part in DIFFERENT)
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
