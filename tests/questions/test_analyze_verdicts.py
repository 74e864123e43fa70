"""What an analysis comes to, in words: each number as JSON has it, each cause counted anew."""

import re

import numpy as np
import pytest

from netloom import analyze, analyze_permutations, simulate
from netloom.base.words import shares
from netloom.questions.register import by_verb
from netloom.routing import paths
from netloom.topology import topology
from netloom.topology.core import attach_hosts
from netloom.workload import process_graph
from tests.questions.small_answers import ANSWERS

LAMMPS = "examples/lammps-64.mtx"
PERCENT = re.compile(r"([\d.]+)\u00a0%")


def asked(app, on, **options):
    return analyze(app, on, **({"random_mappings": 3} | options)).to_dict()


def percents(text):
    return [float(each) / 100 for each in PERCENT.findall(text)]


def close(share):
    return pytest.approx(share, rel=0.05)


def test_the_verdict_of_the_issue():
    found = analyze(LAMMPS, "torus:8x8")
    data = found.to_dict()
    lines = by_verb("analyze").read(data).verdict.text(100)
    assert [each.plain for each in lines] == [
        "✗ Contends above 28\u00a0% load.  lammps-64 on torus:8x8, rank order",
        "  where   (0,6)→(0,7) carries 12.3 MB, 1.5× the least that any routing allows",
        "  why     29\u00a0% of the traffic goes half-way round a ring, all of it in the + "
        "direction",
        "  rank    better than 25 of 25 random mappings",
        "  limits  first node delayed at 28\u00a0%* · most nodes at 56\u00a0%* · nothing beyond "
        "58\u00a0%, 88\u00a0% if half-way",
        "          traffic splits",
        f"  next    netloom map {LAMMPS} --on torus:8x8 --rankfile ranks.txt",
        "  * estimate. Give the load for a yes or no: --offered 0.2",
    ]
    limits = data["saturation"]
    order = [limits[each] for each in ("worst_node", "average_node", "upper_bound")]
    order.append(data["split_bound"])
    assert percents(data["verdict"]["lines"]["limits"]) == [close(each) for each in order]


WAYS = {
    "no load": ({}, "act", ["worst_node"]),
    "light": ({"offered": 0.1}, "fine", ["offered", "worst_node"]),
    "some": ({"offered": 0.4}, "limited", ["offered", "worst_node"]),
    "most": ({"offered": 0.57}, "act", ["offered", "worst_node"]),
    "overloaded": ({"offered": 0.7}, "act", ["offered", "upper_bound"]),
    "just overloaded": ({"offered": 0.579}, "act", ["offered", "upper_bound"]),
    "by messages": ({"weight": "messages", "offered": 0.05}, "fine", ["offered", "worst_node"]),
    "random": ({"mapping": "random", "offered": 0.3}, "limited", ["offered", "worst_node"]),
    "alone": ({"random_mappings": 0}, "act", ["worst_node"]),
    "hardly": ({"offered": 0.2776}, "fine", ["offered", "worst_node"]),
}


@pytest.mark.parametrize("way", list(WAYS))
def test_the_sentence_has_the_numbers_that_decide(way):
    options, mark, deciding = WAYS[way]
    data = asked(LAMMPS, "torus:8x8", **options)
    said = data["verdict"]
    assert said["mark"] == mark
    figures = data["saturation"] | {"offered": data["offered"]}
    shown = percents(said["sentence"])
    assert shown == [close(figures[each]) for each in deciding]
    assert len(set(shown)) == len(shown)  # what differs is not shown as the same
    if "of 64 nodes" in said["sentence"]:
        assert f"Delays {len(said['affected_nodes'])} of {said['senders']} " in said["sentence"]
    assert ("--offered" in said["note"]) == ("offered" not in options)
    assert said["next"].startswith("netloom map ") == (mark != "fine")


def test_contention_free_needs_nothing():
    said = asked("ring:64", "torus:8x8")["verdict"]
    assert said["sentence"] == "Contention-free at any load: no two messages share a channel."
    assert (said["mark"], said["next"], said["note"]) == ("fine", "", "")
    assert list(said["lines"]) == ["rank"]
    beyond = asked("ring:64", "torus:8x8", offered=2.5)["verdict"]
    assert (beyond["mark"], beyond["beyond_capacity"]) == ("act", True)
    assert percents(beyond["sentence"]) == [2.5, 2.0]  # a rank sends both ways


def test_more_than_a_node_can_send_is_no_limit():
    data = asked(LAMMPS, "torus:4x4x4", random_mappings=0)
    assert data["saturation"]["worst_node"] > 1
    assert data["verdict"]["mark"] == "fine"
    assert percents(data["verdict"]["sentence"]) == [close(data["saturation"]["worst_node"])]
    assert data["verdict"]["next"] == ""


def test_hosts_channels_are_limits_too():
    """Three hosts of a leaf send to a fourth: no channel between routers is used."""
    graph = process_graph(8, [0, 1, 2], [3, 3, 3])
    data = asked(graph, "leaf-spine:2x2x4", random_mappings=0)
    said = data["verdict"]
    assert said["mark"] == "limited"
    assert percents(said["sentence"]) == [close(data["saturation"]["upper_bound"])]
    assert "leaf0→h3, a host's own channel, carries 3 paths" in said["lines"]["where"]
    below = asked(graph, "leaf-spine:2x2x4", random_mappings=0, offered=0.2)["verdict"]
    assert (below["mark"], percents(below["sentence"])) == ("fine", [0.2, close(1 / 3)])
    over = asked(graph, "leaf-spine:2x2x4", random_mappings=0, offered=0.5)["verdict"]
    assert (over["mark"], percents(over["sentence"])) == ("act", [0.5, close(1 / 3)])


def test_without_estimates_nothing_is_decided_below_the_bound():
    options = {"routing": "minimal", "random_mappings": 0}
    graph = "shift:4"
    unknown = asked(graph, "leaf-spine:2x2x4", **options)["verdict"]
    assert unknown["mark"] == "unknown"
    assert percents(unknown["sentence"]) == [0.5]
    assert unknown["next"].startswith("netloom simulate saturation ")
    below = asked(graph, "leaf-spine:2x2x4", offered=0.2, **options)["verdict"]
    assert (below["mark"], percents(below["sentence"])) == ("unknown", [0.2, 0.5])
    assert below["next"].startswith("netloom simulate load ")
    over = asked(graph, "leaf-spine:2x2x4", offered=0.6, **options)["verdict"]
    assert (over["mark"], percents(over["sentence"])) == ("act", [0.6, 0.5])


def test_no_mapping_is_advised_where_none_matters():
    said = asked("all-to-all:16", "torus:4x4")["verdict"]
    assert said["lines"]["rank"].startswith("the same as each of 3 random mappings")
    assert said["next"].startswith("netloom simulate ")
    alone = asked("all-to-all:16", "torus:4x4", random_mappings=0)["verdict"]
    assert alone["next"] == said["next"]
    bad = asked(LAMMPS, "torus:8x8", mapping="random", seed=9, random_mappings=1)
    rank = bad["verdict"]["lines"]["rank"]
    beaten = bad["random_mapping"]["saturation_worst_node"]["beaten"]
    assert rank == (
        "better than 1 of 1 random mapping" if beaten else "worse than 1 random mapping"
    )


def test_shares_are_told_apart():
    assert shares(0.1, 0.2) == ["10\u00a0%", "20\u00a0%"]
    assert shares(0.5776, 0.5781) == ["57.76\u00a0%", "57.81\u00a0%"]
    assert shares(0.3, 0.3) == ["30\u00a0%", "30\u00a0%"]
    assert shares(1.0) == ["100\u00a0%"]


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


def test_a_single_sender_is_named():
    graph = process_graph(9, [0] * 8, np.arange(1, 9))
    said = asked(graph, "mesh:9", random_mappings=0, offered=1.5)["verdict"]
    assert said["lines"]["why"] == "rank 0 sends 100\u00a0% of that load, to 8 ranks"
    incast = process_graph(9, np.arange(1, 9), [0] * 8)
    said = asked(incast, "mesh:9", random_mappings=0, offered=0.9)["verdict"]
    assert said["lines"]["why"] == "rank 0 receives 100\u00a0% of that load, from 8 ranks"


def test_a_few_pairs_are_named_with_their_shares():
    graph = process_graph(6, [0, 1, 2, 2], [5, 5, 5, 4], bytes=[70, 10, 10, 10])
    said = asked(graph, "mesh:6", random_mappings=0, offered=0.9)["verdict"]
    assert said["lines"]["why"] == "ranks 0→5 make 70\u00a0% of that load"
    one = process_graph(4, [0, 1, 2], [3, 2, 3], bytes=[1, 1, 1])
    assert "why" not in asked(one, "mesh:4", random_mappings=0)["verdict"]["lines"]


def test_uplinks_that_hosts_share_and_uneven_ones():
    even = asked("ring:8", "leaf-spine:2x1x4", random_mappings=0, offered=0.9)
    assert even["causes"]["uplinks"]["oversubscription"] == 4
    graph = process_graph(8, [0, 1, 2, 3], [4, 5, 6, 7])
    data = asked(graph, "leaf-spine:2x1x4", random_mappings=0, offered=0.9)
    links = data["causes"]["uplinks"]
    assert (links["router"], links["way"], links["channels"], links["hosts"]) == (
        "leaf0", "up", 1, 4,
    )  # fmt: skip
    assert (links["load"], links["fair_load"]) == (4, 4)
    why = data["verdict"]["lines"]["why"]
    assert why == "4 hosts share it: the 1 uplink of leaf0 is oversubscribed 4:1"
    uneven = process_graph(16, [0, 1, 2], [4, 8, 12], bytes=[6, 6, 6])
    data = asked(uneven, "leaf-spine:4x4x4", random_mappings=0, offered=0.9)
    links = data["causes"]["uplinks"]
    assert (links["channels"], links["load"], links["fair_load"]) == (4, 18, 4.5)
    assert data["verdict"]["lines"]["why"].startswith(
        "paths are spread unevenly: the 4 uplinks of leaf0 carry 4.5 B each on average"
    )


def test_no_routing_is_blamed_if_none_does_better():
    data = asked("shift:1,5,17", "fat-tree:4x3", random_mappings=0)
    links = data["causes"]["uplinks"]
    assert links["load"] >= 1.25 * links["fair_load"]
    assert data["bounds"]["ratio"] == 1
    assert "unevenly" not in data["verdict"]["lines"].get("why", "")


def test_downlinks_count_as_well():
    graph = process_graph(8, [0, 1, 2, 3], [4, 4, 5, 6], bytes=[1, 1, 1, 1])
    routers = topology("leaf-spine:2x2x4").routers
    net = attach_hosts(routers, np.repeat([0, 1], 4), name="slow down", bandwidth=1.0)
    data = asked(graph, net, random_mappings=0, offered=0.9)
    assert data["causes"]["uplinks"]["way"] in ("up", "down")
    assert data["causes"]["uplinks"]["oversubscription"] == 2


def test_groups_of_a_dragonfly_are_named():
    """Eight hosts a group: each sends to the group after its own, over the one channel there."""
    found = analyze("shift:8", "dragonfly:2x4x2", random_mappings=0, offered=0.9)
    groups = found.to_dict()["causes"]["groups"]
    assert (groups["to"] - groups["from"]) % 9 == 1
    assert (groups["share"], groups["channels"]) == (1.0, 1)
    assert found.to_dict()["busiest_channel"]["paths"] == 8
    said = found.to_dict()["verdict"]["lines"]
    assert said["where"].startswith("9 of 72 global channels carry 8 paths each")
    assert said["why"].startswith("100\u00a0% of the load of g")
    assert f" goes from group {groups['from']} to group {groups['to']}, over 1 " in said["why"]


def test_long_paths_are_a_cause():
    """A ring of ranks laid out at random, beside other random mappings and beside its own order."""
    far = np.array([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15])
    data = asked("ring:16", "line:16", mapping=far, random_mappings=5)
    own, mean = data["dilation"], data["random_mapping"]["dilation"]["mean"]
    why = data["verdict"]["lines"].get("why", "")
    assert ("random mappings" in why) == (own >= 1.1 * mean)
    bad = process_graph(16, np.arange(8), 15 - np.arange(8))
    data = asked(bad, "mesh:16", random_mappings=5, offered=0.5)
    own, mean = data["dilation"], data["random_mapping"]["dilation"]["mean"]
    assert own > 1.1 * mean
    ratio = float(re.search(r"([\d.]+)× as many as", data["verdict"]["lines"]["why"])[1])
    assert ratio == close(own / mean)


@pytest.mark.parametrize(
    ("on", "options"),
    [("leaf-spine:4x2x4", {}), ("fat-tree:4x2", {}), ("mesh:3x3", {}), ("torus:4x4", {}),
     ("fat-tree:4x2", {"routing": "nca"}), ("leaf-spine:2x4x2", {"shifts": "1,3"}),
     ("leaf-spine:8x1x4", {}), ("dragonfly:2x4x2", {}), ("fat-tree:8x1", {}),
     ("leaf-spine:4x2x4", {"failed_channels": "leaf0-spine1"})],
)  # fmt: skip
def test_permutations_say_what_pairs_get(on, options):
    data = analyze_permutations(on, samples=20, **options).to_dict()
    half, said = data["effective_bisection"], data["verdict"]
    assert percents(said["sentence"]) == [close(half["mean"]), close(half["least"])]
    assert said["mark"] == (
        "fine" if half["mean"] >= 0.95 else "limited" if half["mean"] >= 0.5 else "act"
    )
    every = data["all_to_all"]
    better = bool(every and every["bound"]) and every["time"] > 1.05 * every["bound"]
    assert said["next"].startswith("netloom route ") == (better and said["mark"] != "fine")
    if every is not None:
        assert said["lines"]["all"].startswith(f"{every['max']:.0f} path")


def test_shifts_alone_have_a_sentence_of_their_own():
    found = ANSWERS["analyze_permutations, one shift"]()
    assert found.verdict.sentence == (
        f"The worst shift, by 5, puts {found.shifts.max} paths on one channel."
    )


@pytest.mark.parametrize(("offered", "meant"), [(30, 0.3), (2, 0.02), (1.5, None), (0.9, None)])
def test_a_load_in_per_cent_is_noticed(offered, meant):
    verdict = asked(LAMMPS, "torus:8x8", offered=offered, random_mappings=0)["verdict"]
    assert verdict["mark"] == "act"
    if meant is None:
        assert "fractions" not in verdict["note"]
        assert verdict["next"].startswith("netloom map ")
    else:
        assert verdict["note"].endswith(f"{100 * meant:g}\u00a0% is --offered {meant:g}.")
        assert verdict["next"].endswith(f" --offered {meant:g}")


def test_a_load_above_one_that_is_carried_is_no_mistake():
    verdict = asked("hypercube:4", "hypercube:4", offered=3)["verdict"]
    assert verdict["mark"] == "fine"
    assert "fractions" not in verdict["note"]


def test_a_table_that_leaves_out_the_busiest_channel_says_so():
    found = analyze("all-to-all:64", "fat-tree:k=8", random_mappings=1)
    assert found.to_dict()["busiest_channel"]["load"] > found.to_dict()["channel_load"]["max"]
    assert "Channel load: only between routers." in " ".join(found.lines())
    assert "only between" not in str(analyze("ring:16", "mesh:4x4", random_mappings=1).lines())


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
    assert links["load"] == channel["load"] == 12
    assert links["fair_load"] == pytest.approx(36 * 0.4 / 2.4)
    assert data["verdict"]["lines"]["why"].startswith(
        "it runs at bandwidth 0.1 beside 2 of 0.25: "
        "of the 3 uplinks of a, its share by bandwidth is 6 paths"
    )
