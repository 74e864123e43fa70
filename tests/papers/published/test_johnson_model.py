"""Johnson 1992: the numbers and statements of the paper's model, all of them."""

from dataclasses import replace

import pytest

from netloom_papers.ledger import items, rows_of


@pytest.fixture(scope="module")
def found():
    curves = ("figure 3, coherence", "figure 3, request-reply")
    simulated = ("section 3.2", "equation 17", *curves)
    names = [name for name in items("johnson") if name not in simulated]
    return [row for name in names for row in rows_of("johnson", name)]


def test_all_but_the_known_reproduce(found):
    assert len(found) == 45
    outside = [row for row in found if not row.within]
    assert all(row.reason for row in outside)
    assert {row.item for row in outside} == {"section 4.2", "figure 8"}
    assert len(outside) == 3
    assert all(row.within for row in found if not row.reason)


def test_table_1_comes_out_to_its_last_digit(found):
    table = [row for row in found if row.item == "table 1"]
    assert [round(row.computed, 1) for row in table] == [row.printed for row in table]


def test_what_was_used_to_infer_says_so_and_never_counts(found):
    used = [row for row in found if "used to infer" in row.quantity]
    assert len(used) == 8 + 1 + 2 + 1 + 1
    assert {row.kind for row in used} == {"input"}


def test_one_grain_for_all_contexts_fails():
    """With the T_r + T_f of one context, the limit comes far too early: the reason for three."""
    from netloom_papers.models.locality import (
        alewife,
        per_hop_limit,
        predict_locality,
        random_distance,
    )

    same = replace(alewife(2), fixed_processor_cycles=alewife(1).fixed_processor_cycles)
    hops = predict_locality(same, random_distance([371, 3000], 2))
    share = hops.per_hop_latency / per_hop_limit(same)
    assert share == pytest.approx([0.8, 0.928], abs=0.003)
