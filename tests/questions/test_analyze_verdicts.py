"""What an analysis comes to, in words: each number as JSON has it, each cause counted anew."""

import re

import numpy as np
import pytest

from netloom import analyze, simulate
from netloom.questions.register import by_verb
from netloom.routing import paths
from netloom.workload import process_graph

LAMMPS = "examples/lammps-64.mtx"


def asked(app, on, **options):
    return analyze(app, on, **({"random_mappings": 3} | options)).to_dict()


def close(share):
    return pytest.approx(share, rel=0.05)


def on_busiest(found, routing):
    """The edges on the busiest channel and what each puts there, path by path."""
    source, target = found.mapped.source, found.mapped.target
    routed = paths(found.network, routing, source, target).whole(found.network)
    channel = found.mapped.contention.busiest_channel
    weights = found.mapped.weights
    return {at: weights[at] for at in range(len(source)) if channel in routed[at].tolist()}


@pytest.mark.parametrize(
    ("app", "on"),
    [(LAMMPS, "torus:8x8"), (LAMMPS, "mesh:8x8"), ("binary-tree:31", "mesh:6x6"),
     ("transpose:5", "torus:5x5"), ("shift:1,5", "leaf-spine:4x2x4"), ("ring:8", "fat-tree:2x3")],
)  # fmt: skip
def test_users_of_the_busiest_channel_are_counted_anew(app, on):
    found = analyze(app, on, random_mappings=0)
    from netloom.routing import parse_routing

    used = on_busiest(found, parse_routing("default", found.network))
    users = found.to_dict()["causes"]["users"]
    total = sum(used.values())
    assert total == pytest.approx(found.to_dict()["busiest_channel"]["load"])
    assert users["count"] == len(used)
    edges = {(int(found.graph.source[at]), int(found.graph.target[at])): w / total
             for at, w in used.items()}  # fmt: skip
    for pair in users["pairs"]:
        assert edges[pair["source"], pair["target"]] == pytest.approx(pair["share"])
    assert [p["share"] for p in users["pairs"]] == sorted(edges.values(), reverse=True)[:3]
    for who, side in (("sender", 0), ("receiver", 1)):
        sums = {}
        for ends, share in edges.items():
            sums[ends[side]] = sums.get(ends[side], 0) + share
        assert users[who]["share"] == pytest.approx(max(sums.values()))
        assert sums[users[who]["task"]] == pytest.approx(users[who]["share"])
        assert users[who]["pairs"] == sum(ends[side] == users[who]["task"] for ends in edges)


def test_half_way_traffic_is_a_cause_only_if_the_other_way_would_help():
    """On a ring of 4, 0→2 and 1→3 meet; either of them could go the other way."""
    graph = process_graph(4, [0, 1], [2, 3], bytes=[10, 10])
    data = asked(graph, "torus:4", random_mappings=0)
    half = data["causes"]["half_way"]
    assert half == {"paths": 2, "share": 1.0, "split_load": 10.0}  # 5 + 5 on each of four
    assert data["busiest_channel"]["load"] == 20
    assert "half-way round a ring" in data["verdict"]["lines"]["why"]
    useless = process_graph(4, [0, 0, 1], [2, 1, 2], bytes=[1, 100, 100])
    told = asked(useless, "torus:4", random_mappings=0)
    assert told["causes"]["half_way"]["split_load"] == pytest.approx(100.5)
    assert "half-way" not in told["verdict"]["lines"].get("why", "")
    assert asked("transpose:4", "mesh:4x4")["causes"]["half_way"] is None


def test_split_loads_are_those_of_both_ways_by_hand():
    """Each dimension on its own: a path that is half-way in two of them has four ways."""
    found = analyze(process_graph(16, [0], [10], bytes=[8]), "torus:4x4", random_mappings=0)
    assert found.to_dict()["causes"]["half_way"]["split_load"] == 4.0


def test_uplinks_that_hosts_share_and_uneven_ones():
    even = asked("ring:8", "leaf-spine:2x1x4", random_mappings=0, offered=0.9)
    assert even["causes"]["uplinks"]["oversubscription"] == 4
    graph = process_graph(8, [0, 1, 2, 3], [4, 5, 6, 7])
    data = asked(graph, "leaf-spine:2x1x4", random_mappings=0, offered=0.9)
    links = data["causes"]["uplinks"]
    assert (links["router"], links["way"], links["channels"], links["hosts"]) == (
        "leaf0", "up", 1, 4,
    )  # fmt: skip
    assert (data["busiest_channel"]["load"], links["fair_load"]) == (4, 4)
    why = data["verdict"]["lines"]["why"]
    assert why == "4 hosts share it: the 1 uplink of leaf0 is oversubscribed 4:1"
    uneven = process_graph(16, [0, 1, 2], [4, 8, 12], bytes=[6, 6, 6])
    data = asked(uneven, "leaf-spine:4x4x4", random_mappings=0, offered=0.9)
    links = data["causes"]["uplinks"]
    load = data["busiest_channel"]["load"]
    assert (links["channels"], load, links["fair_load"]) == (4, 18, 4.5)
    assert data["verdict"]["lines"]["why"].startswith(
        "paths are spread unevenly: the 4 uplinks of leaf0 carry 4.5 B each on average"
    )


def test_long_paths_are_a_cause():
    bad = process_graph(16, np.arange(8), 15 - np.arange(8))
    data = asked(bad, "mesh:16", random_mappings=5, offered=0.5)
    own, mean = data["dilation"], data["random_mapping"]["dilation"]["mean"]
    assert own > 1.1 * mean
    ratio = float(re.search(r"([\d.]+)× as many as", data["verdict"]["lines"]["why"])[1])
    assert ratio == close(own / mean)


def test_the_limit_of_a_routing_has_half_way_traffic_both_ways():
    data = analyze(LAMMPS, "torus:8x8", random_mappings=2).to_dict()
    one_way, both_ways = data["saturation"]["upper_bound"], data["split_bound"]
    carried = simulate("torus:8x8", app=LAMMPS, load=0.65, cycles=2000).table()["accepted"][0]
    assert one_way < carried < both_ways  # simulated packets take either
    assert by_verb("analyze").read(data).measure().value == both_ways
    assert analyze(LAMMPS, "mesh:8x8", random_mappings=0).split_bound is None


def test_a_slow_uplink_is_named_as_slow(tmp_path):
    """Two switches, three cables up from each, one slow: each carries a third of the paths."""
    ends = [f"{one}{each} {one} 4" for one in "ab" for each in range(6)]
    cables = [f"{one} s{each} {0.4 if one == 'a' and not each else 1}" for one in "ab"
              for each in range(3)]  # fmt: skip
    (tmp_path / "net.txt").write_text("\n".join(["hosts: a[0-5] b[0-5]", *ends, *cables]) + "\n")
    data = asked("all-to-all", f"graph:{tmp_path / 'net.txt'}", random_mappings=0)
    links, channel = data["causes"]["uplinks"], data["busiest_channel"]
    assert channel["load"] == 12
    assert links["fair_load"] == pytest.approx(36 * 0.4 / 2.4)
    assert data["verdict"]["lines"]["why"].startswith(
        "it runs at bandwidth 0.1 beside 2 of 0.25: "
        "of the 3 uplinks of a, its share by bandwidth is 6 paths"
    )
