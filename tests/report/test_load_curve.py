import json

import pytest

from netloom import find_saturation, simulate
from netloom.base.errors import InputError
from netloom.drawing.save import check_picture, check_writable
from netloom.report import chart_of, save_chart

QUICK = {"cycles": 1000}


def layers(chart):
    """All parts of a chart that draw something, with the rows of their table."""
    drawn = chart.to_dict()
    tables = drawn["datasets"]

    def parts(spec, data):
        data = spec.get("data", data)
        below = [each for kind in ("vconcat", "hconcat", "layer") for each in spec.get(kind, [])]
        if not below:
            return [(spec, tables[data["name"]])] if "name" in data else []
        return [part for each in below for part in parts(each, data)]

    return parts(drawn, None)


def words(chart):
    return {row.get("said") for spec, rows in layers(chart) for row in rows
            if spec["mark"]["type"] == "text"}  # fmt: skip


def bands(chart):
    return [(rows[0]["offered"], rows[0]["until"]) for _, rows in layers(chart)
            if rows and "until" in rows[0]]  # fmt: skip


def test_a_curve_has_the_loads_that_kept_up_and_marks_where_it_saturates():
    chart = chart_of(simulate("mesh:4x4", load="0.2:1:0.4", **QUICK))
    lines = [rows for spec, rows in layers(chart) if spec["mark"]["type"] == "line"]
    latency = next(rows for rows in lines if "latency" in rows[0])
    assert [row["offered"] for row in latency] == [0.2, 0.6]
    assert all(row["low"] <= row["latency"] <= row["high"] for row in latency)
    share = next(rows for rows in lines if "share" in rows[0])
    assert {row["offered"] for row in share} == {0.2, 0.6, 1.0}
    assert all(0 < row["share"] < 1.2 for row in share)
    assert set(bands(chart)) == {(0.6, 1.0)}
    assert any(said.startswith("saturates 0.6 to 1") for said in words(chart) if said)
    assert any(said.startswith("limit ") for said in words(chart) if said)


def test_techniques_that_saturate_together_share_their_mark():
    found = simulate("mesh:4x4", load="0.2,0.9", switching="wormhole,virtual-cut-through", **QUICK)
    chart = chart_of(found)
    assert "saturates 0.2 to 0.9" in words(chart)
    assert bands(chart) == [(0.2, 0.9)] * 2  # one in each panel


def test_a_search_marks_where_it_saturates():
    found = find_saturation("mesh:4x4", most_cycles=3000)
    chart = chart_of(found)
    (low, high), _ = bands(chart)
    place = found.to_dict()["saturation_offered"]
    assert low <= place <= high
    assert f"saturates {place:.3g}" in words(chart)


def test_one_load_shows_the_channels_and_the_spread_of_latency():
    found = simulate("mesh:4x4", load=0.3, **QUICK)
    drawn = layers(chart_of(found))
    channels = next(rows for _, rows in drawn if "load" in rows[0])
    assert len(channels) == 48
    busiest = max(row["load"] for row in channels)
    assert busiest == pytest.approx(100 * found.channels()["utilisation"].max())
    bins = next(rows for _, rows in drawn if "height" in rows[0])
    assert sum(row["height"] for row in bins) == pytest.approx(1)


def test_past_saturation_shows_what_nodes_get_through():
    with pytest.warns(UserWarning, match="above 0.9375"):
        found = simulate("mesh:4x4", load=1, **QUICK)
    assert '"title": "Overloaded: nodes by what they get through"' in json.dumps(
        chart_of(found).to_dict()
    )
    bins = next(rows for _, rows in layers(chart_of(found)) if "height" in rows[0])
    assert sum(row["height"] for row in bins) == 16


def test_a_picture_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.svg").mkdir()
    assert check_picture(tmp_path / "new" / "deep" / "x.svg").name == "x.svg"
    for path in ("file/x.svg", "file/deep/x.svg"):
        with pytest.raises(InputError, match="a place that cannot be written"):
            check_picture(tmp_path / path)
    with pytest.raises(InputError, match="found a folder; expected a file"):
        check_picture(tmp_path / "folder.svg")
    monkeypatch.setattr("netloom.drawing.save.access", lambda *_: False)
    with pytest.raises(InputError, match="Permission denied"):
        check_picture(tmp_path / "x.svg")


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_it_is_written_in_every_format(tmp_path, suffix):
    chart = chart_of(simulate("mesh:4x4", load="0.1,0.2", **QUICK))
    assert save_chart(chart, tmp_path / f"curve{suffix}").stat().st_size > 1000
    assert json.dumps(chart.to_dict())


def test_plans_and_folders_are_refused_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert check_writable(tmp_path / "new" / "plan.json") == tmp_path / "new" / "plan.json"
    assert check_writable(tmp_path, folder=True) == tmp_path
    with pytest.raises(InputError, match="Not a directory"):
        check_writable(tmp_path / "file" / "plan.json")
