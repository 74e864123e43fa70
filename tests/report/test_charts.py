"""What holds of the pictures of all verbs: they are drawn from records alone."""

import json
from copy import deepcopy
from itertools import combinations, pairwise
from math import dist
from operator import mul

import pytest

from netloom import analyze, compile_phases, simulate
from netloom.drawing.frame import (
    BEST,
    BOUND_DASH,
    COLOURS,
    DARK_HEAT_COLOURS,
    DARK_INK,
    DARK_ORDER_COLOURS,
    DARK_STYLES,
    HEAT_COLOURS,
    INK,
    ORDER_COLOURS,
    REFERENCE,
    STYLES,
    THIS,
    WORD_COLOURS,
    word_style,
)
from netloom.questions.answers import Answer
from netloom.questions.named import network_again
from netloom.questions.recorded import Recorded, record
from netloom.questions.register import all_kinds
from netloom.report import chart_of, save_chart
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


@pytest.mark.parametrize("name", ["footer", "parts"])
def test_every_question_has_a_picture_and_parts(name):
    bare = getattr(Answer, name)
    assert [kind.words for kind in all_kinds() if getattr(kind.answer, name) is bare] == []


@pytest.mark.parametrize("asked", list(ANSWERS))
def test_a_record_that_was_kept_gives_the_same_picture(asked):
    answer = ANSWERS[asked]()
    kept = record(answer)
    picture = drawn(chart_of(kept))
    assert len(json.dumps(picture, allow_nan=False)) > 1000
    assert drawn(chart_of(there_and_back(kept))) == picture
    again = there_and_back(kept)
    for name, part in kept.answer.parts().items():
        spec = drawn(part)
        assert spec == drawn(again.answer.parts()[name])
        assert "background" not in json.dumps(spec)
        assert "black" not in json.dumps(spec)


def test_an_answer_and_its_record_give_the_same_picture():
    found = analyze("ring:9", "mesh:3x3", random_mappings=2)
    assert drawn(chart_of(found)) == drawn(chart_of(record(found)))


def test_the_network_is_made_again_with_what_failed():
    kept = there_and_back(record(ANSWERS["analyze, alone"]()))
    network = network_again(None, kept.configuration, kept.tables["channels"])
    assert network.name == kept.figures["topology"]
    assert network.num_channels == kept.figures["channels"]


@pytest.mark.parametrize("on", ["mesh:4x5", "mesh:4x4", "graph:gone.graphml", "torus:4x2x2"])
def test_a_network_that_is_gone_or_another_shows_its_loads_in_falling_order(on):
    kept = record(simulate("torus:4x4", load=0.2, cycles=1000))
    other = renamed(kept, on)
    assert network_again(None, kept.configuration, kept.tables["channels"]) is not None
    assert network_again(None, other.configuration, other.tables["channels"]) is None
    profile = drawn(other.answer.parts()["channels"])
    assert profile["mark"]["type"] == "area"
    loads = [row["load"] for row in profile["data"]["rows"]]
    assert loads == sorted(kept.tables["channels"]["utilisation"].to_list(), reverse=True)


def test_phases_on_a_network_that_is_gone_still_have_their_words():
    kept = record(compile_phases("all-to-all:16", "torus:4x4", words=16))
    other = renamed(kept, "graph:gone.graphml")
    assert network_again(None, other.configuration, other.tables["channels"]) is None
    (row,) = drawn(other.answer.parts()["phases"])["vconcat"]
    used = [sum(each["load"] for each in phase["data"]["rows"]) for phase in row["hconcat"]]
    crossed = kept.tables["channels"].group_by("phase", maintain_order=True).sum()
    a_word = kept.figures["costs"]["channel_clocks_per_word"]
    assert used == pytest.approx(
        (a_word * crossed["words"] / kept.tables["phases"]["makespan"]).to_list()
    )
    bars = drawn(other.answer.parts()["timetable"])["layer"][-1]["data"]["rows"]
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
    for colour in (*COLOURS, REFERENCE):
        assert contrast(colour, background) >= 3, colour


PROTAN = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
          (-0.003882, -0.048116, 1.051998))  # fmt: skip
DEUTAN = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
          (-0.011820, 0.042940, 0.968881))  # fmt: skip
PLAIN = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
"""What eyes without red or green receptors see of linear RGB: Machado and others 2009."""

TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
          (0.0193339, 0.1191920, 0.9503041))  # fmt: skip


def seen_as(colour, eyes):
    """A colour in CIELAB, to eyes of a kind."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in parts]  # fmt: skip
    shown = [min(max(sum(map(mul, row, linear)), 0), 1) for row in eyes]
    white = (0.95047, 1.0, 1.08883)
    scaled = [sum(map(mul, row, shown)) / most for row, most in zip(TO_XYZ, white, strict=True)]
    x, y, z = (each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other, eyes):
    """ΔE of 1976 between two colours."""
    return dist(seen_as(one, eyes), seen_as(other, eyes))


@pytest.mark.parametrize("eyes", [PLAIN, PROTAN, DEUTAN])
def test_series_are_told_apart_also_by_eyes_without_red_or_green(eyes):
    for one, other in combinations([*COLOURS, REFERENCE], 2):
        assert distance(one, other, eyes) >= 20, (one, other)


def test_the_distance_is_that_of_the_red_and_green_that_were_confused():
    assert distance("#c8323a", "#2f855a", PROTAN) == pytest.approx(14.7, abs=0.05)
    assert distance("#c8323a", "#2f855a", PLAIN) > 90


def test_colours_mean_the_same_everywhere():
    assert (THIS, BEST, REFERENCE, INK) == ("#c8323a", "#2b6cb0", "#7d8896", "#111418")
    for styles, ink in ((STYLES, INK), (DARK_STYLES, DARK_INK)):
        assert styles["bound"]["stroke"] == ink
        assert styles["bound"]["strokeDash"] == BOUND_DASH


@pytest.mark.parametrize(
    ("ramp", "background", "least"),
    [(ORDER_COLOURS, "#ffffff", 2.2), (DARK_ORDER_COLOURS, "#181c22", 2.2)],
)
def test_ordered_series_go_from_faint_to_strong(ramp, background, least):
    seen = [contrast(colour, background) for colour in ramp]
    assert seen == sorted(seen)
    assert seen[0] >= least
    for one, other in pairwise(ramp):
        assert min(distance(one, other, eyes) for eyes in (PLAIN, PROTAN, DEUTAN)) >= 12


@pytest.mark.parametrize(
    ("background", "ramp"),
    [
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


@pytest.mark.parametrize(("styles", "dark"), [(STYLES, 0), (DARK_STYLES, 1)])
def test_words_about_series_can_be_read_and_told_apart(styles, dark):
    paper = styles["network-disc"]["stroke"]
    shown = {colour: shades[dark] for colour, shades in WORD_COLOURS.items()}
    assert set(shown) == {*COLOURS, REFERENCE}
    for colour, shade in shown.items():
        assert styles[word_style(colour)]["fill"] == shade
        assert contrast(shade, paper) >= 4.5
    for one, other in combinations(shown.values(), 2):
        assert distance(one, other, PLAIN) >= 20, (one, other)


@pytest.mark.parametrize(
    ("name", "begins"), [("hot.pdf", b"%PDF-"), ("hot.png", b"\x89PNG"), ("hot.svg", b"<svg")]
)
def test_a_picture_is_what_its_suffix_says(tmp_path, name, begins):
    found = analyze("ring:4", "mesh:2x2", random_mappings=0)
    path = save_chart(chart_of(found), tmp_path / name)
    assert path.read_bytes().startswith(begins)
