import json

import pytest

from netloom import analyze_permutations
from netloom.base.errors import InputError
from netloom.questions.register import parts_of, record
from netloom.questions.shown import percent


def test_a_leaf_spine():
    found = analyze_permutations("leaf-spine:8x4x8", samples=200)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    low, high = data["effective_bisection"]["ci"]
    assert low < data["effective_bisection"]["mean"] < high
    assert data["effective_bisection"]["samples"] == 200
    assert data["shifts"] == {"count": 63, "max": 2, "mean": pytest.approx(118 / 63), "worst": 5}
    assert data["all_to_all"] == {
        "max": 112, "mean": 112.0, "time": 112.0, "bound": 112.0, "ratio": 1.0
    }  # fmt: skip
    table = found.shift_table()
    assert table["distance"].to_list() == list(range(1, 64))
    assert table["largest_load"].max() == 2
    said = data["verdict"]
    assert said["sentence"].startswith(f"Pairs get {percent(data['effective_bisection']['mean'])}")
    assert said["lines"]["shifts"] == "the worst, by 5, puts 2 paths on one channel"
    assert said["lines"]["all"].endswith("112 paths on the busiest channel, as few as any routing "
                                         "allows in an all-to-all")  # fmt: skip


def test_a_direct_network():
    data = analyze_permutations("mesh:4x4", samples=20).to_dict()
    assert data["all_to_all"] == {
        "max": 16, "mean": pytest.approx(40 / 3), "time": 16.0, "bound": 16.0, "ratio": 1.0
    }  # fmt: skip


def test_some_shifts_and_no_matchings():
    found = analyze_permutations("fat-tree:4x2", samples=0, shifts="1, 5")
    assert found.bisection is found.all_to_all is None
    assert found.shifts.count == 2
    assert found.verdict.sentence.startswith("The worst shift, by ")
    none = analyze_permutations("fat-tree:4x2", samples=2, shifts="none")
    assert none.shift_table().is_empty()
    assert none.to_dict()["note"] is None


def test_nulls_of_an_older_release_are_what_is_not_known():
    found = analyze_permutations("fat-tree:4x2", samples=2, shifts="none")
    older = found.to_dict() | {"shifts": dict.fromkeys(("count", "max", "mean", "worst"))}
    assert type(found).from_json(older).shifts is None


def test_its_picture_has_what_was_asked_for():
    every, matched, shifted = (
        parts_of(record(analyze_permutations("mesh:3x3", **asked)))
        for asked in ({"samples": 5}, {"samples": 5, "shifts": "none"}, {"samples": 0})
    )
    assert list(every) == ["bisection", "shifts"]
    assert (list(matched), list(shifted)) == (["bisection"], ["shifts"])


def test_allocated_hosts_only():
    found = analyze_permutations("leaf-spine:4x2x4", nodes="h[0-3],h8", samples=5, shifts="all")
    data = found.to_dict()
    assert data["hosts"] == 5
    assert data["shifts"]["count"] == 4
    assert data["all_to_all"]["mean"] == 2 * 8 / 16  # h8 sends four paths over two channels each
    with pytest.raises(InputError, match="at least two that work"):
        analyze_permutations("leaf-spine:4x2x4", nodes="h3")


def test_too_many_shifts_are_left_out_unless_asked_for(monkeypatch):
    monkeypatch.setattr("netloom.contention.permutations.MOST_PAIRS", 100)
    found = analyze_permutations("fat-tree:4x2", samples=2)
    assert found.shifts is None
    assert found.note.startswith("all shifts and the all-to-all, of 240 pairs")
    assert analyze_permutations("fat-tree:4x2", samples=2, shifts="3").shifts is not None


def test_the_configuration_asks_it_again():
    found = analyze_permutations("leaf-spine:4x2x4", samples=10, routing="minimal", seed=3)
    assert analyze_permutations(**found.provenance.configuration).to_dict() == found.to_dict()
    assert "seed 3" in repr(found)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"shifts": "16"}, "shifts: found '16'; expected different distances from 1 to 15"),
        ({"shifts": "1,1"}, "shifts: found '1,1'"),
        ({"shifts": "some"}, "shifts: found 'some'"),
        ({"samples": -1}, "samples: found -1"),
        ({"samples": 0, "shifts": "none"}, "samples: found no matchings and no shifts"),
        ({"routing": "west"}, "'west'"),
    ],
)
def test_a_wrong_question_is_one_clear_line(options, wrong):
    with pytest.raises(InputError, match=wrong):
        analyze_permutations("fat-tree:4x2", **options)
    with pytest.raises(InputError, match="at least two that work"):
        analyze_permutations("fat-tree:1x1")
