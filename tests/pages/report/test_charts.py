"""What holds of the pictures of all verbs: they are drawn from records alone, and can be read."""

import json
from copy import deepcopy
from itertools import combinations, pairwise

import pytest

from netloom import analyze
from netloom.base.errors import InputError
from netloom.drawing.frame import (
    COLOURS,
    DARK_HEAT_COLOURS,
    DARK_ORDER_COLOURS,
    DARK_STYLES,
    HEAT_COLOURS,
    ORDER_COLOURS,
    REFERENCE,
    STYLES,
    WORD_COLOURS,
    word_style,
)
from netloom.drawing.save import check_picture
from netloom.pages import chart_of, save_chart
from netloom.pages.write import THEMES
from netloom.questions.answers import Answer
from netloom.questions.named import network_again
from netloom.questions.recorded import Recorded, record
from netloom.questions.register import all_kinds
from tests.pages.report.charts import EYES, PLAIN, contrast, distance, rgb
from tests.questions.small_answers import ANSWERS, there_and_back

GENERATED = {"name", "views"}
"""Names in a chart's JSON that are counted up, or made from its data."""

PAPERS = ("#ffffff", "#181c22")
"""The cards of light and dark pages."""


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


FIRST = {name.partition(",")[0]: name for name in reversed(ANSWERS)}
"""An answer of each verb. Of the others ``test_recorded`` has records come back as they were."""


@pytest.mark.parametrize("asked", FIRST.values())
def test_a_record_that_was_kept_gives_the_same_picture(asked):
    kept = record(ANSWERS[asked]())
    again = there_and_back(kept)
    assert again.answer.footer() == kept.answer.footer()
    assert again.answer.verdict == kept.answer.verdict
    parts = again.answer.parts()
    for name, part in kept.answer.parts().items():
        spec = drawn(part)
        assert spec == drawn(parts[name])
        said = json.dumps(spec, allow_nan=False)
        assert "background" not in said
        assert "black" not in said


@pytest.mark.parametrize("on", ["mesh:4x5", "torus:4x4", "graph:gone.graphml"])
def test_a_network_that_is_gone_or_another_shows_its_loads_in_falling_order(on):
    kept = record(ANSWERS["simulate"]())
    other = renamed(kept, on)
    assert network_again(None, kept.configuration, kept.tables["channels"]) is not None
    assert network_again(None, other.configuration, other.tables["channels"]) is None
    profile = other.answer.parts()["channels"].to_dict()
    loads = [row["load"] for row in max(profile["datasets"].values(), key=len)]
    assert loads == sorted(kept.tables["channels"]["utilisation"].to_list(), reverse=True)


def test_every_series_is_seen_on_light_and_dark_and_told_apart_without_red_or_green():
    for colour in (*COLOURS, REFERENCE):
        assert all(contrast(colour, paper) >= 3 for paper in PAPERS), colour
    for one, other in combinations([*COLOURS, REFERENCE], 2):
        assert min(distance(one, other, eyes) for eyes in EYES) >= 20, (one, other)


@pytest.mark.parametrize(
    ("paper", "ramp"), [(PAPERS[0], ORDER_COLOURS), (PAPERS[1], DARK_ORDER_COLOURS)]
)
def test_ordered_series_go_from_faint_to_strong(paper, ramp):
    seen = [contrast(colour, paper) for colour in ramp]
    assert seen == sorted(seen)
    assert seen[0] >= 2.2
    for one, other in pairwise(ramp):
        assert min(distance(one, other, eyes) for eyes in EYES) >= 12


@pytest.mark.parametrize(
    ("paper", "ramp"), [(PAPERS[0], HEAT_COLOURS), (PAPERS[1], DARK_HEAT_COLOURS)]
)
def test_the_busier_a_channel_the_more_it_stands_out_and_up_to_the_mean_it_is_grey(paper, ramp):
    seen = [contrast(colour, paper) for colour in ramp]
    assert seen == sorted(seen)
    assert seen[-1] > 4.5
    for place, colour in enumerate(ramp):
        assert (max(rgb(colour)) - min(rgb(colour)) < 30) == (place < 2), colour


@pytest.mark.parametrize("dark", [0, 1])
def test_words_can_be_read(dark):
    styles, theme = (STYLES, DARK_STYLES)[dark], THEMES[("light", "dark")[dark]]
    paper = styles["network-disc"]["stroke"]
    for name, behind in (
        ("network-name", paper),
        ("network-heading", paper),
        ("network-name", styles["network-box"]["fill"]),
        ("network-number", styles["network-disc"]["fill"]),
    ):
        assert contrast(styles[name]["fill"], behind) >= 4.5, name
    for part in ("axis", "legend", "header"):
        assert contrast(theme[part]["titleColor"], PAPERS[dark]) >= 4.5
        assert contrast(theme[part]["labelColor"], PAPERS[dark]) >= 4.5
    shown = {colour: shades[dark] for colour, shades in WORD_COLOURS.items()}
    assert set(shown) == {*COLOURS, REFERENCE}
    for colour, shade in shown.items():
        assert styles[word_style(colour)]["fill"] == shade
        assert contrast(shade, paper) >= 4.5
    for one, other in combinations(shown.values(), 2):
        assert distance(one, other, PLAIN) >= 20, (one, other)


BEGINS = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<svg", "html": b"<!DOCTYPE html>"}


@pytest.mark.parametrize("suffix", BEGINS)
def test_a_picture_is_what_its_suffix_says(tmp_path, suffix):
    found = analyze("ring:4", "mesh:2x2", random_mappings=0)
    content = save_chart(chart_of(found), tmp_path / "new" / f"hot.{suffix}").read_bytes()
    assert content.lstrip().startswith(BEGINS[suffix])
    assert b"https://cdn" not in content  # a page needs nothing else


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("file/x.svg", "a place that cannot be written"),
        ("file/deep/x.svg", "a place that cannot be written"),
        ("folder.svg", "found a folder; expected a file"),
        ("hot.gif", "gif"),
    ],
)
def test_a_picture_that_cannot_be_written_is_refused_before_any_work(tmp_path, path, said):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.svg").mkdir()
    assert check_picture(tmp_path / "new" / "deep" / "x.svg").name == "x.svg"
    with pytest.raises(InputError, match=said):
        check_picture(tmp_path / path)
