"""The page of all pictures, for people to look at."""

from pathlib import Path

import pytest

from tests.gallery import SWITCHES, entries, main, page
from tests.questions.small_answers import ANSWERS


@pytest.fixture(scope="module")
def drawn():
    return dict(entries(["find_critical_queue", "paper"]))


def test_each_part_is_there_on_white_on_near_black_and_narrow(drawn):
    shown = drawn["find_critical_queue"]
    first, *others = shown
    assert (first.said, first.variant) == ("the whole picture", "light")
    assert {each.said for each in others} == {"rise"}
    assert [each.variant for each in others] == ["light", "dark", "narrow"]
    by_variant = {each.variant: each.svg for each in others}
    assert "#181c22" in by_variant["dark"]
    assert "#181c22" not in by_variant["light"]


def test_the_page_has_all_of_it_and_no_path_of_this_machine(drawn):
    text = page(drawn.items())
    assert text.count("<img ") == sum(map(len, drawn.values()))
    assert all(f'id="{name}"' in text for name in SWITCHES)
    assert str(Path.cwd()) not in text
    assert 'alt="a picture"' not in text


def test_words_choose_and_without_any_all_answers_are_drawn(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("tests.gallery.record", lambda answer: answer)
    monkeypatch.setattr("tests.gallery.whole", asked.append)
    monkeypatch.setattr("tests.gallery.parts", lambda _: ())
    for name in ANSWERS:
        monkeypatch.setitem(ANSWERS, name, lambda name=name: name)
    names = [name for name, _ in entries(["a b c"])]
    assert names == asked == []
    every = entries([])
    assert [next(every)[0] for _ in ANSWERS] == asked == list(ANSWERS)
    main([str(tmp_path / "new" / "page.html"), "a b c"])
    assert (tmp_path / "new" / "page.html").read_text().startswith("<!doctype html>")
