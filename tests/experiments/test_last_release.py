"""A store that the last release wrote, read by this one. It goes with ``questions/former.py``.

It holds two replays, flows, a search for saturation, a model at two loads, a plan of phases, and a
schedule of a collective.
"""

import gzip
from html import unescape
from pathlib import Path

import pytest

import netloom as nl
from netloom.experiments.findings import load_results
from netloom.questions.recorded import key_columns

KEPT = Path(__file__).parent / "data" / "last-release.gz"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "last-release.sqlite"
    path.write_bytes(gzip.decompress(KEPT.read_bytes()))
    return path


def test_every_answer_is_told_and_drawn_again(store, tmp_path):
    answered = load_results(store).answered
    assert len(answered) == 8
    for each in answered:
        answer = each.record.answer
        assert answer.verdict.sentence
        assert key_columns(each.record)
    page = unescape(nl.report(store, tmp_path / "page.html").read_text())
    for each in answered:
        assert each.record.answer.verdict.sentence.replace("\u00a0", " ") in page.replace(
            "\u00a0", " "
        )


def test_renamed_columns_have_their_numbers(store):
    for each in load_results(store).answered:
        table = each.record.tables["table"]
        if each.point.verb == "replay":
            assert table["finish"].to_list() == table["finish_cycles"].to_list()
            assert each.record.answer.finish == table["finish"][0] > 0
        elif each.point.verb == "predict_latency":
            assert table["simulated_error"].to_list() == [None]
