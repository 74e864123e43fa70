"""Charts hold the numbers of the answers that they show."""

import json
import re
from functools import cache

import numpy as np
import pytest

import netloom as nl
from netloom.base.words import number
from netloom.drawing.networks.chart import MOST_DRAWN, network_chart
from netloom.pages import chart_of
from netloom.questions.recorded import record
from netloom.topology import topology
from tests.pages.report.charts import rows_of
from tests.questions.small_answers import ANSWERS


def drawn(net, load=None, **how):
    load = np.arange(net.num_channels, dtype=float) if load is None else load
    return network_chart(net, load, "bytes", **how)


@pytest.mark.parametrize("spec", ["mesh:60x60", "jellyfish:1024x12x1/1"])
def test_what_is_too_large_for_lines_is_shown_by_part_and_in_falling_order(spec):
    net = topology(spec)
    many = net.num_network_channels
    assert many > MOST_DRAWN
    rows = rows_of(drawn(net, np.arange(many) + 0.0), "channels")
    loads = [row["load"] for row in rows if "busiest first" in row["channels"]]
    assert loads == sorted(loads, reverse=True)
    assert len(loads) == 100
    assert np.isclose(loads[0], np.arange(many)[-len(np.array_split(range(many), 100)[0]) :].mean())
    if spec == "mesh:60x60":
        first = next(row for row in rows if row["channels"] == "x+, row y = 3")
        at = (net.source_end // 60 == 3) & (net.target_end == net.source_end + 1)
        assert first["load"] == np.flatnonzero(at).mean()


def test_a_map_s_titles_are_of_all_channels_those_of_hosts_included():
    found = nl.find_mapping("all-to-all:8", "leaf-spine:4x8x2", rounds=1)
    before = record(found).tables["channels"].filter(mapping="before")
    most = before["weighted_channel_load"].max()
    assert most > before.filter(kind="network")["weighted_channel_load"].max()
    spec = json.dumps(chart_of(found).to_dict())
    assert re.search(rf"Before \(rank order\): [^:]*carr(y|ies) {most:g}\W+path", spec)


def test_a_mapping_is_drawn_before_and_after_beside_its_bound():
    found = ANSWERS["find_mapping"]()
    chart = chart_of(found)
    loads = [row["load"] for row in rows_of(chart, "channel") if "mean" in row]
    weights = [each.mapped.contention.weighted_channel_load for each in (found.before, found.after)]
    assert sorted(loads) == sorted([*weights[0], *weights[1]])
    before = found.to_dict()["objective"]["before"]
    first, *others = rows_of(chart, "figure")[:6]
    assert first["after"] == pytest.approx(found.value / before)
    assert first["bound"] == pytest.approx(found.bound / before)
    shares = {row["figure"]: row["after"] for row in others}
    hop_bytes = [each.table()["hop_bytes"][0] for each in (found.before, found.after)]
    assert shares["hop-bytes"] == pytest.approx(hop_bytes[1] / hop_bytes[0])


def test_a_curve_has_the_loads_that_kept_up_and_marks_where_it_saturates():
    chart = chart_of(nl.simulate("mesh:4x4", load="0.2:1:0.4", cycles=1000))
    latency = [row for row in rows_of(chart, "latency") if "low" in row]
    assert {row["offered"] for row in latency} == {0.2, 0.6}
    assert all(row["low"] <= row["latency"] <= row["high"] for row in latency)
    share = rows_of(chart, "share")
    assert {row["offered"] for row in share} == {0.2, 0.6, 1.0}
    assert all(0 < row["share"] < 1.2 for row in share)
    assert {(row["offered"], row["until"]) for row in rows_of(chart, "until")} == {(0.6, 1.0)}


def test_the_time_between_transactions_is_the_sum_of_its_parts():
    found = ANSWERS["predict_locality"]()
    spec = record(found).answer.parts()["time"].to_dict()
    cycles = found.table().select("mapping", "inter_transaction_cycles").rows()
    for bar, (mapping, whole) in zip(spec["vconcat"], cycles, strict=True):
        names = {layer["data"]["name"] for layer in bar["layer"]}
        rows = [row for name in names for row in spec["datasets"][name] if "part" in row]
        assert sum(row["value"] for row in rows) == pytest.approx(whole)
        assert f"{mapping} mapping" in bar["title"].lower()
        assert f"a transaction every {number(whole)} cycles" in bar["title"]


ALL_TO_ALL = {"app": "all-to-all:16", "on": "torus:4x4", "words": 16}
FEW = {"app": "ring:8", "on": "torus:8", "words": 10, "channels": 3}


@cache
def compiled(**more):
    return nl.compile_phases(**ALL_TO_ALL, **more)


def test_bars_stand_where_the_timetable_has_them():
    found = compiled(schedule="timetable")
    bars = rows_of(chart_of(found), "way")
    assert len(bars) == 240
    before = np.cumsum(found.timetable.makespan) - found.timetable.makespan
    begins = 528 * np.arange(1, 5) + before
    for bar in bars:
        assert bar["from"] == begins[bar["phase"]] + bar["start"]
        assert bar["to"] - bar["from"] == 32
        assert bar["lane"] == 0  # one at a time
        assert bar["row"] == f"({bar['source'] // 4},{bar['source'] % 4})"
    bands = rows_of(chart_of(found), "middle")
    assert [band["to"] for band in bands] == begins.tolist()
    assert {band["to"] - band["from"] for band in bands} == {528}


def test_what_a_processor_has_open_at_once_lies_side_by_side():
    bars = rows_of(chart_of(compiled()), "way")
    assert max(bar["lane"] for bar in bars) > 0
    for one in bars:
        for other in bars:
            if one is not other and (one["row"], one["lane"]) == (other["row"], other["lane"]):
                assert one["to"] <= other["from"] + 1e-6 or other["to"] <= one["from"] + 1e-6


def test_a_map_has_the_use_of_every_channel_in_every_phase():
    found = nl.compile_phases(**FEW, clocks_per_word=4)  # channels work half of it
    chart = found.phase_map().to_dict()
    tables = [table for table in chart["datasets"].values() if "load" in table[0]]
    loads = [sorted(row["load"] for row in table) for table in tables]
    used = found.plan.routes.channels
    by_phase = np.repeat(found.plan.phase, found.plan.routes.lengths)
    clocks = found.timetable.makespan  # a channel takes 2 for a word
    expected = [
        sorted(np.bincount(used[by_phase == phase], minlength=16) * 2 * 10.0 / clocks[phase])
        for phase in (0, 1)
    ]
    assert np.array(sorted(loads)) == pytest.approx(100 * np.array(sorted(expected)))
    mean = np.average([np.mean(each) for each in expected], weights=clocks)
    said = " ".join(chart["title"]["text"])
    assert said.startswith(f"Channels carry words {100 * mean:.3g}\u00a0% of the time of 2 phases")
