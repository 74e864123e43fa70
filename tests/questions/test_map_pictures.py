"""The picture of a mapping: what changes is seen, and what its titles say is counted."""

import numpy as np
import pytest

import netloom as nl
from netloom.drawing.networks import Traffic
from netloom.topology import topology

LAMMPS = "examples/lammps-64.mtx"


@pytest.fixture(scope="module")
def mapped():
    return nl.find_mapping(LAMMPS, "torus:8x8", rounds=1)


def loads(answer):
    table = answer.channels()
    return [table.filter(mapping=when)["weighted_channel_load"] for when in ("before", "after")]


def test_loads_in_falling_order_show_how_many_channels_were_relieved(mapped):
    before, after = loads(mapped)
    drawn = mapped.parts()["falling"].to_dict()
    more = sum(load > after.max() for load in before)
    assert 33 <= more < len(before)
    assert drawn["title"] == f"{more} of 256 channels carried more than the busiest does afterwards"
    rows = next(rows for rows in drawn["datasets"].values() if "when" in rows[0])
    for when, load in (("rank order", before), ("found", after)):
        line = [row["load"] for row in rows if row["when"] == when]
        assert line == pytest.approx(np.sort(load / 1e6)[::-1])  # MB
    titles = {layer["encoding"]["y"].get("title") for layer in drawn["layer"]}
    assert "load (MB)" in titles


def test_what_gains_nothing_is_one_line_with_two_names():
    kept = nl.find_mapping("all-to-all:16", "torus:4x4", rounds=1)
    drawn = kept.parts()["falling"].to_dict()
    assert drawn["title"] == "The busiest of 64 channels carries as much as in rank order"
    names = [row["said"] for rows in drawn["datasets"].values() for row in rows if "said" in row]
    assert names == ["rank order", "= found"]


def test_the_busiest_channels_are_seen_before_and_after(mapped):
    """Beside loads that are much higher the network afterwards is neither grey nor thin."""
    shown = {}
    for when in ("before", "after"):
        chart = mapped.networks()[when].to_dict()
        rows = [
            row
            for rows in chart["datasets"].values()
            for row in rows
            if "thick" in row and "heat" in row
        ]
        shown[when] = {"thick": [r["thick"] for r in rows], "heat": [r["heat"] for r in rows]}
    for look in ("thick", "heat"):
        assert max(shown["after"][look]) < max(shown["before"][look])
        assert max(shown["after"][look]) > 1.5 * min(shown["after"][look])


def test_thickness_is_in_proportion_where_pictures_are_compared():
    network = topology("mesh:2x2")
    load = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
    alone, beside = Traffic(network, load), Traffic(network, load, scale=(2.0, 16.0))
    assert alone.strength(load)[:4].tolist() == [0, 0, 0, 0]  # up to the mean
    assert beside.strength(load).tolist() == (load / 16).tolist()


def test_parts_and_footer_say_what_people_know(mapped):
    changes = mapped.parts()["objective"].to_dict()
    rows = [row for rows in changes["datasets"].values() for row in rows]
    first = next(row for row in rows if row.get("figure") == "most load on a channel")
    assert first["said"] == "12.3 MB → 3.59 MB"
    assert mapped.footer()[0].endswith("objective max-channel-load; from a random mapping")
    timed = nl.find_mapping("all-to-all:8", "graph:examples/my-cluster.txt", rounds=1)
    rows = timed.parts()["objective"].to_dict()["datasets"].values()
    assert "most time between routers" in {row.get("figure") for each in rows for row in each}
