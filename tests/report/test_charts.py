"""What holds of the pictures of all verbs: they are drawn from records alone."""

import json
from copy import deepcopy

import pytest

from netloom import analyze, compile_phases, simulate
from netloom.drawing.colours import (
    COLOURS,
    DARK_HEAT_COLOURS,
    DARK_LOAD_COLOURS,
    DARK_STYLES,
    GREY,
    HEAT_COLOURS,
    LOAD_COLOURS,
    STYLES,
)
from netloom.questions.network_chart import topology_of
from netloom.questions.recorded import Recorded, record
from netloom.questions.register import all_kinds
from netloom.report import chart_of, parts_of, save_chart
from netloom.report.exhibit import SERIES
from tests.questions.small_answers import ANSWERS, there_and_back

GENERATED = {"name", "views"}
"""Names in a chart's JSON that are counted up, or made from its data."""


def drawn(chart):
    """The JSON of a chart with its data in place of their generated names."""
    spec = chart.to_dict()
    tables = spec.pop("datasets", {})

    def plain(part):
        if isinstance(part, list):
            return [plain(each) for each in part]
        if not isinstance(part, dict):
            return part
        rows = tables.get(part.get("name"))
        shown = {key: plain(value) for key, value in part.items() if key not in GENERATED}
        return shown if rows is None else shown | {"rows": rows}

    return plain(spec)


def renamed(kept, on):
    """The record of a question that named another network."""
    figures = deepcopy(dict(kept.figures))
    figures["provenance"]["configuration"]["on"] = on
    return Recorded(kept.verb, figures, kept.tables)


@pytest.mark.parametrize("name", ["heading", "parts"])
def test_every_question_has_a_picture_and_parts(name):
    assert [kind.words for kind in all_kinds() if kind.hook("chart", name) is None] == []


@pytest.mark.parametrize("asked", list(ANSWERS))
def test_a_record_that_was_kept_gives_the_same_picture(asked):
    answer = ANSWERS[asked]()
    kept = record(answer)
    picture = drawn(chart_of(kept))
    assert len(json.dumps(picture, allow_nan=False)) > 1000
    assert drawn(chart_of(there_and_back(kept))) == picture
    again = there_and_back(kept)
    for name, part in parts_of(kept).items():
        spec = drawn(part)
        assert spec == drawn(parts_of(again)[name])
        assert "background" not in json.dumps(spec)
        assert "black" not in json.dumps(spec)


def test_an_answer_and_its_record_give_the_same_picture():
    found = analyze("ring:9", "mesh:3x3", random_mappings=2)
    assert drawn(chart_of(found)) == drawn(chart_of(record(found)))


def test_the_network_is_made_again_with_what_failed():
    kept = there_and_back(record(ANSWERS["analyze, alone"]()))
    network = topology_of(kept)
    assert network.name == kept.figures["topology"]
    assert network.num_channels == kept.figures["channels"]


@pytest.mark.parametrize("on", ["mesh:4x5", "mesh:4x4", "graph:gone.graphml", "torus:4x2x2"])
def test_a_network_that_is_gone_or_another_shows_its_loads_in_falling_order(on):
    kept = record(simulate("torus:4x4", load=0.2, cycles=1000))
    other = renamed(kept, on)
    assert topology_of(kept) is not None
    assert topology_of(other) is None
    profile = drawn(parts_of(other)["channels"])
    assert profile["mark"]["type"] == "area"
    loads = [row["load"] for row in profile["data"]["rows"]]
    assert loads == sorted(kept.tables["channels"]["utilisation"].to_list(), reverse=True)


def test_phases_on_a_network_that_is_gone_still_have_their_words():
    kept = record(compile_phases("all-to-all:16", "torus:4x4", words=16))
    other = renamed(kept, "graph:gone.graphml")
    assert topology_of(other) is None
    (row,) = drawn(parts_of(other)["phases"])["vconcat"]
    words = [sum(each["load"] for each in phase["data"]["rows"]) for phase in row["hconcat"]]
    crossed = kept.tables["channels"].group_by("phase", maintain_order=True).sum()
    assert words == crossed["words"].to_list()
    bars = drawn(parts_of(other)["timetable"])["layer"][-1]["data"]["rows"]
    assert {bar["row"] for bar in bars} == {str(node) for node in range(16)}


def luminance(colour):
    """Relative luminance of WCAG 2.1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in parts]  # fmt: skip
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("background", ["#ffffff", "#111418"])
def test_every_series_can_be_seen_on_white_and_on_near_black(background):
    for colour in (*COLOURS, *SERIES, GREY):
        assert contrast(colour, background) >= 3, colour


@pytest.mark.parametrize(
    ("background", "ramp"),
    [
        ("#ffffff", LOAD_COLOURS), ("#111418", DARK_LOAD_COLOURS),
        ("#ffffff", HEAT_COLOURS), ("#181c22", DARK_HEAT_COLOURS),
    ],
)  # fmt: skip
def test_the_busier_a_channel_the_more_it_stands_out(background, ramp):
    seen = [contrast(colour, background) for colour in ramp]
    assert seen == sorted(seen)
    assert seen[-1] > 4.5


@pytest.mark.parametrize("ramp", [HEAT_COLOURS, DARK_HEAT_COLOURS])
def test_up_to_the_mean_channels_are_grey(ramp):
    for place, colour in enumerate(ramp):
        parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        assert (max(parts) - min(parts) < 30) == (place < 2), colour


@pytest.mark.parametrize("styles", [STYLES, DARK_STYLES])
def test_words_on_networks_can_be_read(styles):
    paper = styles["network-disc"]["stroke"]
    for name, behind in (
        ("network-name", paper), ("network-heading", paper),
        ("network-name", styles["network-box"]["fill"]),
        ("network-number", styles["network-disc"]["fill"]),
    ):  # fmt: skip
        assert contrast(styles[name]["fill"], behind) >= 4.5, name


@pytest.mark.parametrize(
    ("name", "begins"), [("hot.pdf", b"%PDF-"), ("hot.png", b"\x89PNG"), ("hot.svg", b"<svg")]
)
def test_a_picture_is_what_its_suffix_says(tmp_path, name, begins):
    found = analyze("ring:4", "mesh:2x2", random_mappings=0)
    path = save_chart(chart_of(found), tmp_path / name)
    assert path.read_bytes().startswith(begins)
