"""Which of several answers a page takes, and what it says first."""

import json

import pytest

import netloom as nl
from netloom.questions.analyze import Analysis
from netloom.questions.recorded import record
from netloom.report.page.curve_verdicts import best_of
from netloom.report.page.pages import _told, page_of
from netloom.report.page.sections import varied_in

LAMMPS = "examples/lammps-64.mtx"


@pytest.fixture(scope="module")
def analyses():
    return [
        record(nl.analyze(LAMMPS, on, mapping=mapping, random_mappings=0))
        for on in ("torus:8x8", "mesh:8x8")
        for mapping in ("identity", "random")
    ]


@pytest.fixture(scope="module")
def found():
    return [record(nl.find_mapping(LAMMPS, on, rounds=1)) for on in ("torus:8x8", "mesh:8x8")]


def paired(records):
    return list(zip(varied_in(records), records, strict=True))


def test_the_highest_bound_is_taken_and_compared_with_the_next(analyses):
    best = best_of(paired(analyses))
    bounds = sorted(Analysis.from_json(each.figures).measure().value for each in analyses)
    assert best.chosen == ("torus:8x8, rank order",)
    assert best.verdict.mark == "fine"
    assert best.verdict.sentence.startswith("Take torus:8x8, rank order: it carries up to 88")
    change = 100 * (bounds[-1] / bounds[-2] - 1)
    assert f"{change:.2g}\u00a0% more than mesh:8x8, rank order" in best.verdict.sentence
    assert len(best.verdict.sentence.split()) <= 30


def test_programs_and_loads_are_no_alternatives(analyses):
    ring = record(nl.analyze("ring:64", "torus:8x8", random_mappings=0))
    assert best_of([({"app": "lammps"}, analyses[0]), ({"app": "ring:64"}, ring)]) is None
    assert best_of([({"on": "torus:8x8"}, analyses[0])]) is None


def test_equal_figures_are_no_choice(analyses):
    same = [({"on": "torus:8x8"}, analyses[0]), ({"on": "mesh:8x8"}, analyses[0])]
    assert best_of(same).verdict.sentence.startswith("No difference: each carries up to 88")


def test_a_page_says_first_what_helps_and_names_what_its_numbers_are_of(analyses, found):
    page = page_of([*analyses, *found])
    first, second = (each.sentence for each in page.answer.said)
    assert first.startswith("Take torus:8x8: it has ")
    assert "on its busiest channel with the mapping found" in first
    assert second.startswith("torus:8x8: Found: the busiest channel carries ")
    tile = page.answer.tiles[0]
    assert tile.value in first
    assert "torus:8x8 (mesh:8x8 " in tile.label
    assert not any(" to " in each.value for each in page.answer.tiles)
    assert "--on torus:8x8" in page.answer.verdict.next
    assert not page.answer.verdict.note.startswith("*")


def test_bytes_of_which_nobody_knows_what_delays_have_one_scale_on_a_page(analyses, found):
    page = page_of([*analyses, *found])
    most = max(
        float(each.tables["channels"]["weighted_channel_load"].max())
        for each in [*analyses, *found]
    )
    assert most == pytest.approx(23.1e6, rel=0.01)
    figures = [figure for section in page.sections for figure in section.figures]
    drawn = [json.dumps(each.spec, ensure_ascii=False, default=str) for each in figures]
    drawn = [spec for spec in drawn if "bytes on the channel" in spec]
    assert len(drawn) == len(analyses) + 2 * len(found)
    known = [spec for spec in drawn if "delays from* " in spec]
    assert len(known) == len(analyses)  # color is load over the load that delays
    for spec in drawn:
        assert ("one scale for all" in spec) == (spec not in known)
        assert "23.1\u00a0MB" in spec or spec in known


def test_a_note_with_a_star_is_a_sentence():
    assert _told("* estimate.") == "Numbers with * are estimates."
    assert _told("Short run") == "Short run."
