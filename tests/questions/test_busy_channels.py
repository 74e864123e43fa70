"""Busy channels of a trace over time: what passes is what the channels carried."""

import pytest

from netloom.drawing.frame import narrow_page
from netloom.questions.register import parts_of, record
from netloom.questions.simulate.trace import replay
from netloom.simulation.traces import PARTS_OF_TIME as PARTS

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


@pytest.mark.parametrize(
    ("more", "unit"), [({}, "cycles"), ({"engine": "flow"}, "cycles"), (FLOWS, "seconds")]
)
def test_what_passes_over_time_is_what_the_channels_carried(more, unit):
    found = replay(**HALO, **more)
    table = found.busy_channels()
    assert table.height == 10 * PARTS
    lasting = table[f"end_{unit}"] - table[f"begin_{unit}"]
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
        assert mine["begin_cycles"].min() == pytest.approx(row["sent"], abs=wide + 4)
        assert mine["end_cycles"].max() == pytest.approx(row["arrived"], abs=wide)
        assert (mine["utilisation"] > 0).all()


def test_the_picture_says_which_channel_is_busiest(chain):
    drawn = parts_of(record(chain))
    title = drawn["busy"].to_dict()["title"]
    assert title.startswith("Busy channels: 0→1 is up to ")
    most = chain.busy_channels().filter(name="0 -> 1")["utilisation"].max()
    assert f"{100 * most:.3g}\u00a0%" in title
    assert title.endswith("; thick line: the critical path")
    times = [drawn[part].to_dict()["layer"][0]["encoding"]["x"] for part in ("time", "busy")]
    assert times[0]["scale"]["domain"] == times[1]["scale"]["domain"]
    assert drawn["time"].to_dict()["width"] == drawn["busy"].to_dict()["width"]
    with narrow_page():
        assert parts_of(record(chain))["busy"].to_dict()["width"] < 328


def test_without_the_channels_of_messages_nothing_is_drawn():
    found = replay(**HALO, routing="adaptive")
    assert found.busy_channels().is_empty()
    assert "busy" not in parts_of(record(found))
