import json

import pytest

from netloom import find_mapping
from netloom.report import chart_of

ASKED = {
    "search": {"app": "binary-tree:15", "on": "mesh:4x4", "rounds": 1},
    "layout": {"app": "binary-tree:63", "on": "mesh:8x8", "layout": "tiles"},
    "3D": {"app": "torus:2x2x4", "on": "torus:4x2x2", "rounds": 1, "weight": "uniform"},
    "hypercube": {"app": "ring:16", "on": "hypercube:4", "rounds": 1},
    "broken": {"app": "ring:8", "on": "torus:4x4", "failed_channels": "0-1", "rounds": 1},
    "local": {"app": "ring:4", "on": "mesh:2x2", "tasks_per_node": 4, "rounds": 1},
}


@pytest.mark.parametrize("asked", list(ASKED))
def test_every_answer_has_a_picture(asked, tmp_path):
    found = find_mapping(**ASKED[asked])
    chart = chart_of(found)
    drawn = chart.to_dict()
    assert f"mapped onto {found.topology}, " in json.dumps(drawn)  # in the footer
    said = " ".join(drawn["title"]["text"])
    assert said.endswith(found.verdict.sentence)
    path = tmp_path / "map.svg"
    chart.save(str(path))
    assert path.read_text().startswith("<svg")


def rows_of(chart, field):
    tables = chart["datasets"].values()
    return [row for table in tables for row in table if field in row]


def test_what_the_picture_holds():
    found = find_mapping(**ASKED["search"])
    chart = chart_of(found).to_dict()
    loads = [row["load"] for row in rows_of(chart, "channel") if "mean" in row]
    analyses = (found.before, found.after)
    weights = [each.mapped.contention.weighted_channel_load for each in analyses]
    assert sorted(loads) == sorted([*weights[0], *weights[1]])
    text = json.dumps(chart)
    assert text.count("one scale for all") == 2
    objective = found.to_dict()["objective"]
    first, *others = rows_of(chart, "figure")[:6]
    assert first["figure"] == "most load on a channel"
    assert first["after"] == pytest.approx(found.value / objective["before"])
    assert first["bound"] == pytest.approx(found.bound / objective["before"])
    assert first["said"] == "4 paths → 2 paths"
    shares = {row["figure"]: row["after"] for row in others}
    assert shares["hop-bytes"] == pytest.approx(
        found.after.table()["hop_bytes"][0] / found.before.table()["hop_bytes"][0]
    )
    assert "line: the best" in text  # perhaps broken into lines
