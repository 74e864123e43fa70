"""Johnson 1992: the numbers and statements of the paper's model, all of them; and the figures."""

import numpy as np
import polars as pl
import pytest

from netloom_papers.studies import johnson_model


@pytest.fixture(scope="module")
def found():
    return list(johnson_model.rows())


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


def test_what_was_used_to_infer_says_so(found):
    used = [row.quantity for row in found if "used to infer" in row.quantity]
    assert len(used) == 8 + 1 + 2 + 1 + 1


def test_one_grain_for_all_contexts_fails():
    """With the T_r + T_f of one context, the limit comes far too early: the reason for three."""
    from netloom_papers.models.locality import alewife, per_hop_limit, predict_locality
    from netloom_papers.models.locality_parts import TransactionCost, random_distance

    application, transaction, network = alewife(2)
    same = TransactionCost(
        3.2, transaction.critical_messages, 12, alewife(1)[1].fixed_processor_cycles
    )
    hops = predict_locality(application, same, network, random_distance([371, 3000], 2))
    share = hops.per_hop_latency / per_hop_limit(application, same, network)
    assert share == pytest.approx([0.8, 0.928], abs=0.003)


def test_figures():
    curves = johnson_model.figures_3_to_5()
    for _, part in curves.group_by("contexts"):
        slope, _ = np.polyfit(part["inter_message_cycles"], part["message_latency"], 1)
        line = part["message_latency"] - slope * part["inter_message_cycles"]
        assert line.to_numpy() == pytest.approx(line[0])  # eq. 9
    two = johnson_model.figure_6([1e3, 1e6])
    assert (two.filter(grain=1)["per_hop_latency"] > two.filter(grain=10)["per_hop_latency"]).all()
    gains = (
        johnson_model.figure_7()
        .group_by("contexts", maintain_order=True)
        .agg(pl.col("gain").is_sorted())
    )
    assert gains["gain"].to_list() == [True] * 3
    bars = johnson_model.figure_8().group_by("contexts", "mapping").agg(pl.col("cycles").sum())
    one = bars.filter(contexts=1).sort("mapping")["cycles"].to_numpy()
    assert one[1] / one[0] == pytest.approx(2.064, abs=0.001)  # table 1
