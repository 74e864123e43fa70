import json
import re
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

import netloom as nl
from netloom import InputError, check_fabric, topology
from netloom.cli.show import show_lines
from netloom.questions.recorded import record
from netloom.questions.register import kind_of
from netloom.routing import parse_routing
from netloom.topology import without

DGX = "examples/dgx-40.ibnetdiscover"
MINHOP = "lfts:examples/dgx-40-minhop.lfts"


def page(found):
    """The page of an answer, as letters."""
    console = Console(width=80, record=True, file=StringIO(), force_terminal=True)
    show_lines([*found.verdict.text(80), "", *found.lines()], console)
    return console.export_text()


@pytest.fixture(scope="module")
def dgx():
    return check_fabric(DGX, routing=MINHOP, samples=300)


def test_a_real_fabric_under_the_tables_that_opensm_installs(dgx):
    data = json.loads(json.dumps(dgx.to_dict(), allow_nan=False))
    assert (data["hosts"], data["switches"], data["cables"]) == (542, 40, 1074)
    assert data["all_to_all"]["max"] == 2168
    assert data["all_to_all"]["bound"] == pytest.approx(628.8)
    assert data["all_to_all"]["mean"] == pytest.approx(534.3, abs=0.05)
    assert data["effective_bisection"]["mean"] == pytest.approx(0.708, abs=0.005)
    assert data["effective_bisection"]["bound"] == pytest.approx(0.8075, abs=5e-4)
    assert data["switch_hops"]["max"] == 2
    assert (data["unrouted"], data["lanes"], data["deadlock_free"]) == (0, 1, True)
    first = data["busiest"][0]
    assert first["paths"] == 2168
    assert (first["from_port"], first["to_port"]) == (33, 39)
    assert "A10-P1-IBSPINE-04" in first["from"]
    assert "B09-P1-IBLEAF-01-05" in first["to"]
    assert data["cause"]["way"] == "down"
    assert data["cause"]["beside"] == 16
    assert data["verdict"]["mark"] == "act"
    assert data["others_circle"], "aggregation nodes close a circle"
    assert any("IBLEAF-03-01" in each and "absent" in each for each in data["missing"])


def test_its_page_says_so_within_eighty_columns(dgx):
    said = page(dgx)
    assert max(map(len, said.splitlines())) <= 80
    assert said.startswith("✗ The busiest cable carries 2,168 paths of an all-to-all, 3.45×")
    whole = " ".join(said.split())
    assert "where A10-P1-IBSPINE-04 port 33 → B09-P1-IBLEAF-01-05 port 39" in whole
    assert "loops none between hosts (1 lane); with the 40 aggregation nodes: B10-P1-" in whole
    told = " ".join(dgx.sentences())
    assert "2,168 paths" in told
    assert "IBLEAF-03-01" in told


def test_a_full_tree_is_proved_as_good_as_can_be():
    found = check_fabric("leaf-spine:8x4x8", samples=50)
    data = found.to_dict()
    assert data["all_to_all"]["ratio"] == 1
    assert data["verdict"]["level"] == "good"
    assert data["verdict"]["next"] == ""
    assert "why" not in data["verdict"]["lines"]
    assert [each["way"] for each in data["ways"]] == ["up", "down"]
    said = page(found)
    assert "no routing can do better (proved)" in " ".join(said.split())


def test_a_slow_cable_is_named_as_slow(tmp_path):
    lines = [f"hosts: {' '.join(f'leaf{leaf}h[0-23]' for leaf in range(32))}"]
    for leaf in range(32):
        lines += [f"leaf{leaf}h{host} leaf{leaf} 25Gb/s" for host in range(24)]
        lines += [f"leaf{leaf} spine{spine} {10 if (leaf, spine) == (3, 5) else 25}Gb/s"
                  for spine in range(8)]  # fmt: skip
    path = tmp_path / "slow.txt"
    path.write_text("\n".join(lines))
    data = check_fabric(f"graph:{path}", samples=0).to_dict()
    assert data["all_to_all"]["ratio"] == pytest.approx(2.3125)
    said = data["verdict"]["lines"]["why"].replace("\u00a0", " ")
    assert said == (
        "one of 8 cables down into leaf3; it runs at 10 Gb/s beside 7 of 25 Gb/s: mended, the "
        "busiest falls to 1× what it must."
    )


def test_a_circle_comes_before_the_busiest_cable_and_is_named():
    found = check_fabric("torus:4x4", samples=2)
    data = found.to_dict()
    assert data["verdict"]["level"] == "loop"
    circle = data["circle"]
    assert len(circle) > 2
    for one, two in zip(circle, [*circle[1:], circle[0]], strict=True):
        assert one["to"] == two["from"]
    assert circle[0]["from"] in data["verdict"]["lines"]["where"]
    assert "can wait for each other in a circle" in " ".join(page(found).split())


def test_opensm_falls_back_and_the_answer_says_why():
    found = check_fabric("torus:4x4", samples=0, routing="updn")
    data = found.to_dict()
    assert data["routing"] == "minhop"
    assert data["fallback"]
    assert "asked for updn, falls back" in " ".join(page(found).split())
    assert check_fabric("fat-tree:2x2", samples=0, routing="updn").to_dict()["fallback"] is None


def test_pairs_without_a_path_are_counted_and_their_fault_named():
    net = topology("leaf-spine:2x2x2")
    table = parse_routing("minhop", net)
    rows = table.next_channel.copy()
    rows[2, 0] = -1  # leaf 0 drops what is for h2
    found = check_fabric(net, routing=replace(table, next_channel=rows), samples=20)
    data = found.to_dict()
    assert data["unrouted"] == 2
    assert data["verdict"]["level"] == "lost"
    assert data["problems"][0]["pairs"] == 2
    assert "h2" in data["verdict"]["lines"]["why"]
    assert "2 of 12 pairs of hosts have no path" in " ".join(page(found).split())


def test_cables_of_other_rates_are_judged_by_time():
    net = topology("leaf-spine:2x2x4")
    rate = net.channel_bandwidth.copy()
    rate[: net.num_network_channels] = 2.0
    fast = check_fabric(replace(net, channel_bandwidth=rate), samples=0).to_dict()
    slow = check_fabric(net, samples=0).to_dict()
    assert fast["all_to_all"]["bound"] == slow["all_to_all"]["bound"]
    assert fast["all_to_all"]["ratio"] == slow["all_to_all"]["ratio"] == 1
    assert fast["all_to_all"]["time"] == slow["all_to_all"]["time"] / 2


def test_hosts_that_run_no_jobs_take_no_part():
    data = check_fabric("leaf-spine:2x2x4", without_hosts="h0,h[4-7]", samples=0).to_dict()
    assert data["hosts"] == 3
    assert data["all_to_all"]["max"] == 0
    assert "No packet crosses" in data["verdict"]["sentence"]


def test_a_broken_cable_is_missing():
    net = without(topology("leaf-spine:4x4x2"), channels="leaf1-spine2")
    found = check_fabric(net, samples=0)
    assert any("leaf1" in each for each in found.to_dict()["missing"])
    asked = check_fabric("leaf-spine:4x4x2", failed_channels="leaf1-spine2", samples=0)
    assert asked.to_dict()["all_to_all"] == found.to_dict()["all_to_all"]


def test_jobs_are_told_whom_they_share_which_cable_with():
    # both leave leaf 0 by its one cable up; c stays below leaf 1
    found = check_fabric(
        "leaf-spine:2x1x4", jobs=["a=h0,h4:ring", "b=h1,h5:ring", "c=h[6-7]"], samples=0
    )
    data = found.to_dict()
    a, b, c = data["jobs"]
    assert a["slowdown"] == b["slowdown"] == 2
    assert (a["shared_with"], b["shared_with"], c["shared_with"]) == (["b"], ["a"], [])
    assert c["slowdown"] == 1
    assert a["shared"]["from"] in ("leaf0", "spine0", "leaf1")
    assert {each["use"] for each in data["shared_cables"]} == {2.0}
    assert found.shared_cables().height == 2 * len(data["shared_cables"])
    said = " ".join(page(found).split())
    assert "Job a (2 nodes, 2 hosts, ring:2) takes up to 2 times as long as alone" in said
    assert "Job c (2 nodes, 2 hosts, all-to-all:2) shares no cable" in said


def test_what_stays_inside_a_node_takes_no_cable():
    # two computers of two adapters each: of 4 x 3 messages 4 stay inside
    data = check_fabric("rail:1x2x2x1", jobs="all=n0,n1", samples=0).to_dict()
    (job,) = data["jobs"]
    assert (job["nodes"], job["hosts"]) == (2, 4)
    assert job["inside"] == pytest.approx(4 / 12)
    alone = check_fabric("rail:1x2x2x1", jobs="one=n0", samples=0).to_dict()["jobs"][0]
    assert (alone["alone"], alone["slowdown"], alone["busiest"]) == (0, 1, None)


def test_a_job_of_a_host_file_and_a_matrix(tmp_path):
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("h0 slots=1\nh9\n")
    matrix = tmp_path / "app.csv"
    matrix.write_text("source,target,bytes\n0,1,100\n")
    data = check_fabric("leaf-spine:4x2x4", jobs=f"app={hosts}:{matrix}", samples=0).to_dict()
    (job,) = data["jobs"]
    assert (job["hosts"], job["alone"]) == (2, 100)


def test_its_picture(dgx):
    parts = record(dgx).answer.parts()
    assert list(parts) == ["network", "cables"]
    said = json.dumps(parts["cables"].to_dict())
    assert "A10-P1-IBSPINE-04 port 33" in said
    assert re.search(r"\d+ of 1,064 channels between switches carry more than", said)
    jobs = check_fabric("leaf-spine:2x1x4", jobs=["a=h0,h4", "b=h1,h5"], samples=0)
    assert list(record(jobs).answer.parts()) == ["network", "jobs", "cables"]


def shown(found):
    """The title of the picture of a fabric's network, and all words in it."""
    spec = record(found).answer.parts()["network"].to_dict()
    rows = [row for table in spec["datasets"].values() for row in table]
    return " ".join(spec["title"]["text"]), [row["text"] for row in rows if "text" in row], rows


def test_the_picture_names_the_cable_of_the_answer_by_its_ports(dgx):
    title, texts, rows = shown(dgx)
    name = "A10-P1-IBSPINE-04 port 33 → B09-P1-IBLEAF-01-05 port 39"
    assert title == f"{name} carries 2,168 paths, 4.06× the mean"
    assert name in texts
    assert "#" not in "".join(texts)
    (busiest,) = (row for row in rows if row.get("channel") == name and "tips" in row)
    assert busiest["tips"] == ", ".join(
        f"{each.name} ({each.paths:,})" for each in dgx.cause.hosts[:3]
    )


def test_the_picture_of_a_circle_shows_the_circle():
    found = check_fabric("torus:4x4/1", samples=0)
    title, texts, rows = shown(found)
    circle = found.to_dict()["circle"]
    assert title == f"Packets in these {len(circle)} channels can wait for each other for ever"
    hot = {row["channel"] for row in rows if row.get("heat") == 1}
    assert hot == {f"{each['from']} → {each['to']}" for each in circle}
    assert hot < set(texts)
    assert f"its packets wait for {len(circle)}" in texts


def test_the_picture_of_jobs_shows_the_cables_that_they_share():
    found = check_fabric("leaf-spine:2x1x4", jobs=JOBS, samples=0)
    title, texts, rows = shown(found)
    busy = found.to_dict()["jobs"][0]["shared"]
    name = f"{busy['from']} → {busy['to']}"
    assert title == f"On {name} the jobs together take 2 times as long as one of them alone"
    assert "a 1, b 1" in texts
    shared = {(row["from"], row["to"]) for row in found.to_dict()["shared_cables"]}
    hot = {row["channel"] for row in rows if row.get("heat", 0) > 0}
    assert hot == {" → ".join(ends) for ends in shared}


JOBS = ["a=h0,h4:ring", "b=h1,h5:ring"]


@pytest.mark.parametrize(
    ("on", "asked", "mark", "said"),
    [
        (
            "leaf-spine:8x4x8",
            {},
            "fine",
            "The busiest cable carries 112 paths of an all-to-all: ",
        ),
        (
            "fat-tree:4x3",
            {},
            "act",
            "The busiest cable carries 192 paths of an all-to-all, 3.2× ",
        ),
        ("torus:4x4", {}, "act", "Packets can wait for each other in a circle of 4 channels"),
        ("leaf-spine:2x1x4", {"jobs": JOBS}, "act", "Job a takes up to 2 times as long beside b"),
        (
            "leaf-spine:2x1x4",
            {"jobs": "c=h[6-7]"},
            "fine",
            "The only job is slowed by no other",
        ),
        ("leaf-spine:2x4x4", {"jobs": ["a=h0,h4", "b=h1,h5"]}, "fine", "No job is slowed by anoth"),
        (
            "leaf-spine:2x2x4",
            {"without_hosts": "h0,h[4-7]"},
            "fine",
            "No packet crosses any of",
        ),
        (
            "leaf-spine:4x4x2",
            {"failed_channels": "leaf1-spine2"},
            "limited",
            "The busiest cable",
        ),
        ("dragonfly:2x4x2", {}, "act", "Packets can wait for each other in a circle"),
        ("mesh:3x3", {}, "act", "Packets can wait"),
    ],
)
def test_the_verdict_by_the_worst_of_what_was_found(on, asked, mark, said):
    data = check_fabric(on, samples=0, **asked).to_dict()
    verdict = data["verdict"]
    assert verdict["sentence"].startswith(said)
    assert verdict["mark"] == mark
    found = re.search(r"carries ([\d,]+) paths?", verdict["sentence"])
    if found:
        assert int(found[1].replace(",", "")) == data["all_to_all"]["max"]
    times = re.search(r"([\d.]+)× what it must \(([\d.]+)\)", verdict["sentence"])
    if times:
        assert float(times[1]) == float(f"{data['all_to_all']['ratio']:.3g}")
        assert float(times[2]) == float(f"{data['all_to_all']['bound']:.3g}")
    if verdict["next"]:
        assert verdict["next"].startswith(f"netloom route --on {on}")
        assert "--out" not in verdict["next"]  # it has no LIDs, so no tables can be written


def test_jobs_ask_for_tables_of_their_own():
    asked = ["a=h0,h4:ring", "b=h1,h5"]
    said = check_fabric("leaf-spine:2x1x4", samples=0, jobs=asked).to_dict()["verdict"]["next"]
    assert said == "netloom route --on leaf-spine:2x1x4 --for ring@h0,h4 --for all-to-all@h1,h5"


def test_the_configuration_asks_it_again():
    found = check_fabric("leaf-spine:4x2x4", samples=10, jobs="a=h[0-3]")
    assert check_fabric(**found.provenance.configuration).to_dict() == found.to_dict()
    assert "busiest cable" in repr(found)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"routing": "balance"}, "routing: found 'balance'; expected lfts:FILE, or one of minhop"),
        ({"routing": "d-mod-k"}, "routing: found 'd-mod-k'"),
        ({"routing": "lfts:nowhere.lfts"}, "leaf-spine:2x2x2"),
        ({"without_hosts": "storage*"}, "without_hosts: found 'storage"),
        ({"without_hosts": "h*"}, "0 hosts; expected at least two that take part"),
        ({"jobs": "h0-1"}, "job: found 'h0-1'; expected NAME=NODES"),
        ({"jobs": "=h0"}, "job: found '=h0'"),
        ({"jobs": "a="}, "job: found 'a='"),
        ({"jobs": ["a=h0", "a=h1"]}, "job: found 'a' twice"),
        ({"jobs": "a=h[0-9]"}, "found 'h[0-9]', which is 10 names; expected at most 4"),
        ({"jobs": "a=h[0-1]:ring:9"}, "9 tasks of ring:9; expected at most 2"),
        ({"jobs": "a=h0,h1:nothing"}, "nothing"),
        ({"jobs": "a=leaf0"}, "which is a switch"),
        ({"samples": -1}, "samples: found -1"),
    ],
)
def test_a_wrong_question_is_one_clear_line(options, wrong):
    with pytest.raises(InputError, match=re.escape(wrong)):
        check_fabric("leaf-spine:2x2x2", **options)


@pytest.mark.parametrize(
    ("fabric", "wrong"),
    [
        ("nowhere.ibnetdiscover", "no such file"),
        ("leaf-spine:1x0x4", "0"),
        ("mesh:1x1", "mesh:1x1"),
    ],
)
def test_no_fabric(fabric, wrong):
    with pytest.raises(InputError, match=wrong):
        check_fabric(fabric)


def test_a_table_of_many_hosts_is_followed_row_by_row():
    """What a cable's paths lead to is found for hosts with several ports, too."""
    net = topology("rail:1x4x2x2")
    found = check_fabric(net, samples=0)
    cause = found.cause
    assert cause is not None
    assert cause.destinations == len(cause.hosts)
    assert sum(each.paths for each in cause.hosts) == found.figures.busiest[0].paths


@pytest.mark.parametrize(
    ("file", "kind"), [(DGX, "fabric"), ("examples/two-hosts.graphml", "graph")]
)
def test_a_file_without_its_kind_is_named_with_it(file, kind):
    with pytest.raises(InputError, match=f"expected {kind}:{file}, which reads it"):
        nl.analyze("ring", file)


@pytest.mark.parametrize(("ratio", "advised"), [(1.0035, False), (1.05, True), (3.45, True)])
def test_tables_that_are_nearly_best_have_no_next_command(dgx, ratio, advised):
    figures = dgx.to_dict()
    figures["all_to_all"] |= {"ratio": ratio}
    assert bool(kind_of("fabric").read(figures).verdict.next) == advised
