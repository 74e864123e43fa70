from dataclasses import replace

import pytest

from netloom import check_fabric, topology
from netloom.routing import parse_routing

DGX = "examples/dgx-40.ibnetdiscover"
MINHOP = "lfts:examples/dgx-40-minhop.lfts"


def test_a_real_fabric_under_the_tables_that_opensm_installs():
    data = check_fabric(DGX, routing=MINHOP, samples=300).to_dict()
    assert data["all_to_all"]["max"] == 2168
    assert data["all_to_all"]["bound"] == pytest.approx(628.8)
    assert data["all_to_all"]["mean"] == pytest.approx(534.3, abs=0.05)
    assert data["effective_bisection"]["mean"] == pytest.approx(0.708, abs=0.005)
    assert data["switch_hops"]["max"] == 2
    assert data["busiest"][0]["paths"] == 2168
    assert data["others_circle"], "aggregation nodes close a circle"
    assert any("IBLEAF-03-01" in each and "absent" in each for each in data["missing"])


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


def test_a_table_of_many_hosts_is_followed_row_by_row():
    """What a cable's paths lead to is found for hosts with several ports, too."""
    net = topology("rail:1x4x2x2")
    found = check_fabric(net, samples=0)
    cause = found.cause
    assert cause is not None
    assert cause.destinations == len(cause.hosts)
    assert sum(each.paths for each in cause.hosts) == found.figures.busiest[0].paths


def test_pairs_without_a_path_are_counted_and_their_fault_named():
    net = topology("leaf-spine:2x2x2")
    table = parse_routing("minhop", net)
    rows = table.next_channel.copy()
    rows[2, 0] = -1  # leaf 0 drops what is for h2
    found = check_fabric(net, routing=replace(table, next_channel=rows), samples=20)
    data = found.to_dict()
    assert data["unrouted"] == 2
    assert data["problems"][0]["pairs"] == 2


def test_cables_of_other_rates_are_judged_by_time():
    net = topology("leaf-spine:2x2x4")
    rate = net.channel_bandwidth.copy()
    rate[: net.num_network_channels] = 2.0
    fast = check_fabric(replace(net, channel_bandwidth=rate), samples=0).to_dict()
    slow = check_fabric(net, samples=0).to_dict()
    assert fast["all_to_all"]["bound"] == slow["all_to_all"]["bound"]
    assert fast["all_to_all"]["ratio"] == slow["all_to_all"]["ratio"] == 1
    assert fast["all_to_all"]["time"] == slow["all_to_all"]["time"] / 2


def test_what_stays_inside_a_node_takes_no_cable():
    # two computers of two adapters each: of 4 x 3 messages 4 stay inside
    data = check_fabric("rail:1x2x2x1", jobs="all=n0,n1", samples=0).to_dict()
    (job,) = data["jobs"]
    assert (job["nodes"], job["hosts"]) == (2, 4)
    assert job["inside"] == pytest.approx(4 / 12)
    alone = check_fabric("rail:1x2x2x1", jobs="one=n0", samples=0).to_dict()["jobs"][0]
    assert (alone["alone"], alone["slowdown"], alone["busiest"]) == (0, 1, None)
