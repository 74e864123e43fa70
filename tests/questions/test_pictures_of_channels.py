"""The picture of a mapping: what changes is seen, and what its titles say is counted."""

import numpy as np
import pytest

import netloom as nl
from netloom.drawing.networks.traffic import Traffic
from netloom.questions.simulate.trace import replay
from netloom.simulation.traces import PARTS_OF_TIME as PARTS
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
    rows = next(rows for rows in drawn["datasets"].values() if "place" in rows[0])
    for when, load in (("rank order", before), ("found", after)):
        line = [row["load"] for row in rows if row["of"] == when]
        assert line == pytest.approx(np.sort(load / 1e6)[::-1])  # MB


def test_thickness_is_in_proportion_where_pictures_are_compared():
    network = topology("mesh:2x2")
    load = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
    alone, beside = Traffic(network, load), Traffic(network, load, scale=(2.0, 16.0))
    assert alone.strength(load)[:4].tolist() == [0, 0, 0, 0]  # up to the mean
    assert beside.strength(load).tolist() == (load / 16).tolist()


def analyzed(folder, rows, on, **asked):
    file = folder / "app.csv"
    file.write_text("\n".join(["source,target,bytes", *rows]))
    return nl.analyze(str(file), on, random_mappings=0, **asked)


def test_pairs_with_most_traffic_of_each_channel(tmp_path):
    found = analyzed(tmp_path, ["0,1,5", "0,2,1", "1,2,3"], "mesh:3")
    assert found.channels()["pairs"].to_list() == [
        "0→1 (83.3\u00a0%), 0→2 (16.7\u00a0%)",  # 0 → 1: 5 of 6
        "1→2 (75\u00a0%), 0→2 (25\u00a0%)",
        "",
        "",
    ]


def test_several_paths_of_a_pair_count_by_their_probability(tmp_path):
    found = analyzed(tmp_path, ["0,1,1"], "leaf-spine:2x2x1", routing="nca")
    used = found.channels().filter(kind="network").filter(weighted_channel_load=0.5)
    assert used["pairs"].to_list() == ["0→1 (100\u00a0%)"] * 4


HALO = {"on": "torus:4x4x4", "trace": "examples/halo.csv"}
FLOWS = {"engine": "flow", "bandwidth": "25GB/s", "flit_bytes": 16, "latency": "100ns"}

CHAIN = """id,after,compute,source,target,flits
a,,100,0,1,80
b,a,,1,2,80
other,,50,3,2,40
"""


@pytest.fixture
def chain(tmp_path):
    (tmp_path / "chain.csv").write_text(CHAIN)
    return replay("mesh:4", trace=tmp_path / "chain.csv", router="single-cycle")


@pytest.mark.parametrize("more", [{}, {"engine": "flow"}, FLOWS])
def test_what_passes_over_time_is_what_the_channels_carried(more):
    found = replay(**HALO, **more)
    table = found.busy_channels()
    assert table.height == 10 * PARTS
    lasting = table["end"] - table["begin"]
    assert lasting.sum() == pytest.approx(10 * found.finish)
    passed = table.with_columns(passed=table["utilisation"] * lasting)
    each = passed.group_by("name", maintain_order=True).sum()["passed"].to_list()
    carried = found.channels()["utilisation"].head(10) * found.finish
    assert each == pytest.approx(carried.to_list(), rel=1e-6)


def test_the_critical_path_is_marked_where_its_messages_are(chain):
    table = chain.busy_channels()
    assert table["name"].unique(maintain_order=True).to_list() == ["0 -> 1", "1 -> 2", "3 -> 2"]
    marked = table.filter("critical")
    assert set(marked["name"]) == {"0 -> 1", "1 -> 2"}  # the third is not on it
    for name, entry in (("0 -> 1", "a"), ("1 -> 2", "b")):
        mine = marked.filter(name=name)
        row = chain.messages().filter(id=entry).row(0, named=True)
        wide = chain.finish / PARTS
        assert mine["begin"].min() == pytest.approx(row["sent"], abs=wide + 4)
        assert mine["end"].max() == pytest.approx(row["arrived"], abs=wide)
        assert (mine["utilisation"] > 0).all()
