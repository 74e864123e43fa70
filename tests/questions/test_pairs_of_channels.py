"""Pairs of tasks that load a channel most: what a picture says of a channel."""

import json

import netloom as nl
from netloom.questions.register import record
from netloom.report import chart_of


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


def test_three_pairs_at_most_and_those_of_the_busiest_channel_are_its_users():
    found = nl.analyze("examples/lammps-64.mtx", "torus:8x8", random_mappings=0)
    table = found.channels().sort("weighted_channel_load", descending=True)
    users = found.to_dict()["causes"]["users"]["pairs"]
    assert table["pairs"][0].count("→") == 3
    assert [each.split(" ")[0] for each in table["pairs"][0].split(", ")] == [
        f"{each['source']}→{each['target']}" for each in users
    ]


def test_several_paths_of_a_pair_count_by_their_probability(tmp_path):
    found = analyzed(tmp_path, ["0,1,1"], "leaf-spine:2x2x1", routing="nca")
    used = found.channels().filter(kind="network").filter(weighted_channel_load=0.5)
    assert used["pairs"].to_list() == ["0→1 (100\u00a0%)"] * 4


def test_a_channel_under_the_pointer_tells_its_pairs():
    found = nl.analyze("examples/lammps-64.mtx", "torus:8x8", random_mappings=0)
    spec = chart_of(found).to_dict()
    rows = [row for table in spec["datasets"].values() for row in table if "tips" in row]
    assert len(rows) >= 256
    pairs = {row["channel"]: row["tips"] for row in rows}
    first = record(found).tables["channels"].sort("weighted_channel_load", descending=True)
    name = found.network.channel_name(
        int(found.mapped.contention.weighted_channel_load.argmax())
    ).replace(" -> ", " → ")
    assert pairs[name] == first["pairs"][0]
    assert '"title": "most traffic"' in json.dumps(spec)
