"""Networks on a page: in words and numbers, in a narrow window, and where they are too large."""

import json
import re

import numpy as np
import pytest

import netloom as nl
from netloom.drawing.frame import NARROW, WIDE, narrow_page, room
from netloom.drawing.networks.chart import network_chart
from netloom.questions.recorded import record
from netloom.report import chart_of
from netloom.report.page.sections import figures_by_part
from netloom.topology import topology


def figure(on, app="ring:16"):
    return next(iter(figures_by_part(record(nl.analyze(app, on, random_mappings=0))).values()))


@pytest.mark.parametrize("on", ["leaf-spine:4x2x4", "dragonfly:2x4x2", "hyperx:4x4/1",
                                "mesh:4x4x2", "jellyfish:8x3x2/1"])  # fmt: skip
def test_a_figure_says_in_words_and_numbers_what_it_shows(on):
    found = record(nl.analyze("ring:16", on, random_mappings=0))
    shown = next(iter(figures_by_part(found).values()))
    net = topology(on)
    assert shown.data.columns[:2] == ("channel", "paths on the channel")
    assert shown.data.total == net.num_channels
    loads = found.tables["channels"]["weighted_channel_load"].to_numpy()
    assert shown.data.rows[0][1] == f"{loads.max():g}"
    listed = [float(row[1]) for row in shown.data.rows]
    assert listed == sorted(listed, reverse=True)
    assert shown.alternative.startswith(f"{shown.title}. paths on the channel from")
    assert f"{shown.data.total} rows" in shown.alternative
    assert re.search(r"\bpath(:| from)", shown.alternative) is None  # as curves are drawn


@pytest.mark.parametrize("on", ["leaf-spine:4x2x4", "dragonfly:2x4x2", "torus:18x18"])
def test_a_narrow_window_has_a_chart_of_its_own_with_the_data_it_lacks(on):
    shown = figure(on)
    (wide,), (narrow,) = shown.spec["hconcat"], shown.narrow["hconcat"]
    assert wide["width"] > 400
    assert narrow["width"] <= NARROW
    named = set(json.dumps(narrow).split('"name": "')[1:])
    names = {each.split('"')[0] for each in named}
    assert names <= set(shown.spec["datasets"]) | set(shown.narrow["datasets"])
    assert not set(shown.spec["datasets"]) & set(shown.narrow["datasets"])


def test_room_is_given_back():
    with narrow_page():
        assert room() == NARROW
    assert room() == WIDE


def test_what_is_too_large_to_be_drawn_names_its_busiest_channels():
    net = topology("jellyfish:1024x12x1/1")
    load = np.ones(net.num_network_channels)
    load[[5, 17, 2000]] = 9, 8, 7
    spec = network_chart(net, load, "bytes on the channel").to_dict()
    texts = {row["text"] for table in spec["datasets"].values() for row in table if "text" in row}
    for channel, said in ((5, "9\u00a0B, "), (17, "8\u00a0B, "), (2000, "7\u00a0B, ")):
        assert net.channel_name(channel).replace(" -> ", " → ") in texts
        assert any(text.startswith(said) for text in texts)


def test_small_maps_have_no_names():
    net = topology("leaf-spine:4x2x4")
    drawn = network_chart(net, np.arange(16.0), "words", width=210).to_dict()
    assert drawn["mark"]["type"] == "area"
    assert "->" not in json.dumps(drawn)


def test_a_map_s_titles_and_colours_are_of_all_channels_those_of_hosts_included():
    found = nl.find_mapping("all-to-all:8", "leaf-spine:4x8x2", rounds=1)
    before = record(found).tables["channels"].filter(mapping="before")
    most = before["weighted_channel_load"].max()
    assert most > before.filter(kind="network")["weighted_channel_load"].max()
    spec = json.dumps(chart_of(found).to_dict())
    assert re.search(rf"Before \(rank order\): [^:]*carr(y|ies) {most:g}\W+path", spec)
    assert "channels between routers, busiest first" in spec


def test_an_analysis_of_several_paths_has_its_network():
    found = record(nl.analyze("ring:16", "leaf-spine:4x2x4", routing="ecmp", random_mappings=2))
    names = [figure.title for figure in list(figures_by_part(found).values())]
    assert "channel" in names[0]


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ({"samples": 20, "shifts": "1,5"}, ["Pairs get", "shift"]),
        ({"samples": 0, "shifts": "1"}, ["shift"]),
        ({"samples": 1, "shifts": "none"}, ["Pairs get"]),
    ],
)
def test_permutations_have_a_picture_of_what_was_asked_for(asked, parts):
    found = record(nl.analyze_permutations("leaf-spine:4x2x4", **asked))
    shown = list(figures_by_part(found).values())
    assert len(shown) == len(parts)
    for each, words in zip(shown, parts, strict=True):
        assert words in each.title
    if "Pairs get" in parts:
        mean = found.figures["effective_bisection"]["mean"]
        assert f"{100 * mean:.3g}\u00a0%" in shown[0].title
