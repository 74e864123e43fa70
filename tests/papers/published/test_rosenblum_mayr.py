"""Rosenblum & Mayr 1986 with fewer seeds than ``netloom validate rosenblum-mayr``."""

import numpy as np
import pytest

from netloom_papers.ledger import compare, count, items, published, rows_of
from netloom_papers.studies import rosenblum_mayr as report
from netloom_papers.studies.rosenblum_mayr import systems

PAPER = "rosenblum-mayr"
KNOWN = published(PAPER)["items"]
TABLES = ("table 2", "table 3", "table 5", "table 6")


def compared(name, **changes):
    return compare(PAPER, items(PAPER)[name], **changes)


def test_the_data_file_has_all_cells_and_reasons_of_cells_only():
    recorded = {"all": 0, "alike": 0}
    for table in TABLES:
        cells = {
            f"{name}, seed {number}, {column}"
            for name, lines in KNOWN[table]["rows"].items()
            for number in range(1, 1 + len(lines))
            for column in report.COLUMNS
        }
        assert len(cells) == 392 / 4
        for item, of in ((table, "all"), (f"{table}, placements alike", "alike")):
            named = [quantity for part in KNOWN[item]["outside"] for quantity in part["rows"]]
            assert len(named) == len(set(named))
            assert {quantity.partition(" (")[0] for quantity in named} <= cells
            recorded[of] += len(named)
    assert recorded == {"all": 392 - 373, "alike": 392 - 379}


def test_a_cell_may_be_as_far_as_the_farthest_seed_on_its_side(monkeypatch):
    """Samples 10, 12, 20 have mean 14: room for 4 below and 6 above, and for rounding."""
    samples = np.repeat([[10.0], [12.0], [20.0]], 7, axis=1)
    monkeypatch.setattr(report, "_simulate", lambda *_: samples)
    printed = [[9.9996, 9.999, 20, 20.0004, 21, 15, 10], [14] * 7]
    known = {"reason": "known", "cause": "one run", "rows": ["Normal, seed 1, max. queue"]}
    rows = compared("table 2", seeds=3, rows={"Normal": printed}, outside=[known])
    assert [row.within for row in rows] == [True, False, True, True, False, *[True] * 9]
    assert {row.kind for row in rows} == {"printed"}
    assert count(rows).numbers == 14
    assert [row.reason for row in rows if row.reason] == [rows[4].reason] == ["known"]
    assert rows[2].tolerance == pytest.approx(6 / 20)
    assert rows[0].tolerance == pytest.approx((4 + 0.0005) / 9.9996)


@pytest.fixture(scope="module")
def of_16():
    rows = (*rows_of(PAPER, "table 2"), *rows_of(PAPER, "table 3"))
    return {(row.item, row.quantity): row for row in rows}


def test_sixteen_elements_are_as_printed_but_for_what_is_recorded(of_16):
    assert len(of_16) == 196
    outside = {key for key, row in of_16.items() if not row.within}
    assert outside == {key for key, row in of_16.items() if row.reason}
    assert len(outside) == 9


def test_one_hot_spot_is_never_in_the_way(of_16):
    for number in (1, 2):
        for table in ("table II", "table III"):
            row = of_16[table, f"Few Hot Spots, seed {number}, mean steps"]
            assert (row.computed, row.tolerance) == (10, 0.0005 / 10)


def test_placements_alike_are_alike():
    rule = published(PAPER)["placements alike"]["looks"][-1]
    first, second = report.alike(16, "Normal", (2, 3))
    assert (len(first), len(second)) == (2, 3)
    normal = systems(16)["Normal"]
    for seeds, elements, printed in ((first, 14, 10.169), (second, 15, 10.057)):
        for seed in seeds:  # 130.313 / 150 of 16 are 13.9, 144.313 / 150 are 15.4
            traffic = normal.traffic(seed)
            assert np.count_nonzero(traffic.assigned[:, 0] >= 0) == elements
            runs = [normal.run(traffic, each) for each in rule["request_seeds"]]
            steps = np.mean([run.steps_mean for run in runs])
            assert abs(steps - printed) <= rule["within"]


def test_sixteen_elements_with_placements_alike_are_as_printed_but_for_what_is_recorded():
    names = (f"{table}, placements alike" for table in TABLES[:2])
    rows = [row for name in names for row in rows_of(PAPER, name)]
    assert len(rows) == 196
    assert {row.kind for row in rows} == {"input"}  # the tables chose these placements
    outside = [row.quantity for row in rows if not row.within]
    assert outside == [row.quantity for row in rows if row.reason]
    assert len(outside) == 5
    assert sum(row.quantity.endswith("(anchor)") for row in rows) == 16
    assert not any(row.deviation for row in rows if row.quantity.startswith("Few")
                   and "mean steps" in row.quantity)  # fmt: skip


def test_512_elements_are_as_printed_in_a_line():
    rows = compared("table 6", rows={"Normal": KNOWN["table 6"]["rows"]["Normal"]})
    assert [row.quantity for row in rows if not row.within] == []
    by_name = {row.quantity: row for row in rows}
    assert len(by_name) == 14
    assert by_name["Normal, seed 1, requests per PE"].tolerance < 0.02
    assert by_name["Normal, seed 1, mean queue"].tolerance < 0.06


def test_the_closed_form_of_one_hot_spot_is_met():
    rows = compared("closed form", steps=[5000, 1000], seeds=5)
    assert len(rows) == 10 + 4 + 2 + 20 + 9 + 2
    assert [row.quantity for row in rows if not row.within] == []
    exact = [row for row in rows if "steps" in row.quantity]
    assert {(row.computed, row.tolerance) for row in exact} == {(10, 0), (20, 0)}
    assert all(row.computed == 0 for row in rows if row.quantity.startswith("queues of the el"))


def test_an_element_that_waits_asks_every_nine_steps_and_the_next_chance():
    rows = compared("table II, one hot spot", steps=5000, seeds=4)
    assert all(row.within for row in rows)


def test_the_critical_size_is_the_report_s():
    (row,) = compared("section 4.3, rate 0.05", seeds=4)
    assert row.computed == 2


def test_small_queues_take_long_to_empty():
    (row,) = compared("section 3.3", seeds=4)
    assert 0.04 < row.computed < 0.12


def test_the_order_of_digits_is_what_makes_spacing_matter_or_not():
    least = report.spacing((None,), 4)
    most = report.spacing((None,), 4, "most-significant-first")
    steps = {name: np.mean([run.steps_mean for run in runs]) for name, runs in least.items()}
    assert max(steps.values()) < 1.1 * min(steps.values())
    assert steps["close, unbounded"] == pytest.approx(steps["wide, unbounded"], rel=0.02)
    middle = {
        name: np.mean([run.queue_mean[report.MIDDLE].mean() for run in runs])
        for name, runs in least.items()
    }
    assert max(middle, key=middle.get) == "medium, unbounded"
    close = np.mean([run.steps_mean for run in most["close, unbounded"]])
    assert close == pytest.approx(33.2, rel=0.15)


def test_trees_saturate_and_combining_cures_them():
    fraction = 0.16
    limit, rate = 1 / (1 + fraction * 63), 0.4
    how = f"h = {fraction}, "
    values = {
        how + "combining, carried of what is asked for": 1,
        how + "combining, queue of an element": 0,
        how + "no combining, carried of what is asked for": limit / rate,
        how + "no combining, queue of an element": 4,
        how + "no combining, queue behind stage 0": 2,
        how + "carried with over without combining": rate / limit,
    }
    few = {"hot_fractions": [fraction], "seeds": 3}
    rows = compared("Pfister & Norton", pes=[64], **few)
    rows += compared("Pfister & Norton, the cure", pes=64, values=values, rate=rate, **few)
    assert len(rows) == 7
    assert rows[0].printed == pytest.approx(limit)
    assert rows[0].deviation < 0.03
    found = {row.quantity.removeprefix(how): row.computed for row in rows[1:]}
    assert found["combining, queue of an element"] < 0.4
    assert found["no combining, queue of an element"] > 3.5
    assert found["carried with over without combining"] > 4
