"""A collective on a broken network is answered beside the whole one, in one table."""

import pytest

from netloom import compare_collectives

ASKED = {"size": "64MB", "bandwidth": "25GB/s", "latency": "500ns"}
UNIT = {**ASKED, "on": "rail:2x2x4x4", "algorithm": "all"}


def test_who_is_cut_off_and_what_is_lost_is_said():
    found = compare_collectives("all-reduce", failed_nodes="u0rail0", **UNIT)
    whole = compare_collectives("all-reduce", routing=found.setup.routing, **UNIT)
    data = found.to_dict()["whole"]
    assert data["cut_off"] == ["n0.0", "n1.0"]
    assert (found.num_ranks, data["ranks"]) == (14, 16)
    assert data["routing"] == found.setup.routing == "spread"
    assert data["left_out"] == {"hierarchical": "found no equal number of ranks per node"}
    ran = {each.algorithm: each.seconds for each in whole.points}
    assert {each["algorithm"]: each["seconds"] for each in data["points"]} == ran
    alone = compare_collectives(
        "all-reduce",
        routing="spread",
        nodes=found.ready.host_of,
        **UNIT | {"algorithm": "bidirectional-ring"},
    )
    assert data["same_ranks_seconds"] == alone.points[0].seconds


def test_a_cable_less_cuts_nobody_off_and_keeps_the_routing():
    found = compare_collectives(
        "all-gather", "torus:4x4", algorithm="ring", failed_channels="0-1", **ASKED
    )
    assert found.whole is not None
    [here], [there] = found.points, found.whole.points
    assert found.to_dict()["whole"]["cut_off"] == []
    assert found.setup.routing == found.whole.routing
    times = f"with the failures {here.seconds / there.seconds:.3g} times as long"
    assert found.verdict.lines["whole"].endswith(times)
    assert here.seconds > there.seconds
    alone = compare_collectives("all-gather", "torus:4x4", algorithm="ring", **ASKED)
    assert alone.whole is None
    assert alone.to_dict()["whole"] is None


@pytest.mark.parametrize("engine", ["network", "worm"])
def test_engines_of_cycles_compare_too(engine):
    found = compare_collectives(
        "all-gather", "mesh:2x3", algorithm="ring", size="4KB", failed_channels="0-1", engine=engine
    )
    assert found.whole is not None
    assert found.whole.points[0].seconds <= found.points[0].seconds


def test_a_slow_cable_that_nothing_uses_changes_no_pipeline(tmp_path):
    """Chunks suit the channels that carry something, so a failure there changes no time."""
    found = []
    for rate in ("100Gb/s", "1Gb/s"):
        path = tmp_path / f"{rate[:-3]}.txt"
        hosts = [f"h{each} leaf 100Gb/s" for each in range(4)]
        path.write_text("\n".join(["hosts: h[0-3]", *hosts, f"leaf spine {rate}"]) + "\n")
        asked = {"algorithm": "chain", "size": "10MB", "latency": "500ns"}
        (one,) = compare_collectives("all-reduce", f"graph:{path}", **asked).points
        found.append(one.seconds)
    assert found[0] == found[1]
