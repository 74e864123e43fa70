import json

import pytest

from netloom import analyze_permutations


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


def test_a_direct_network():
    data = analyze_permutations("mesh:4x4", samples=20).to_dict()
    assert data["all_to_all"] == {
        "max": 16, "mean": pytest.approx(40 / 3), "time": 16.0, "bound": 16.0, "ratio": 1.0
    }  # fmt: skip


def test_allocated_hosts_only():
    found = analyze_permutations("leaf-spine:4x2x4", nodes="h[0-3],h8", samples=5, shifts="all")
    data = found.to_dict()
    assert data["hosts"] == 5
    assert data["shifts"]["count"] == 4
    assert data["all_to_all"]["mean"] == 2 * 8 / 16  # h8 sends four paths over two channels each
