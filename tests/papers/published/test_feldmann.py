"""Feldmann et al. 1993 with fewer words and seeds than ``netloom validate feldmann``."""

import numpy as np
import pytest

from netloom.phases import first_violation
from netloom_papers.ledger import Item, compare, items
from netloom_papers.studies import feldmann

COMPARED = {name: item for name, item in items("feldmann").items() if item.recompute}
SIMULATED = ("table 1, measured", "table 2, measured", "table 3, measured")
FEWER = {
    **{name: {"longest": 256, "seeds": [1]} for name in SIMULATED},
    "phases": {"seeds": [1]},
    "long messages": {"words": 2048},
    "section 5.1.3": {"words": 256, "replications": 1},
}


@pytest.fixture(scope="module")
def rows():
    found = (compare("feldmann", item, **FEWER.get(name, {})) for name, item in COMPARED.items())
    return [row for some in found for row in some]


def test_every_row_outside_says_why_and_no_other_does(rows):
    outside = {(row.item, row.quantity) for row in rows if not row.within}
    assert outside == {(row.item, row.quantity) for row in rows if row.reason}


def test_all_24_predictions_but_four_misprints_are_exact(rows):
    cells = [row for row in rows if row.item in {f"table {t}, predicted" for t in (1, 2, 3)}]
    wrong = [row for row in cells if not row.within]
    assert len(cells) == 24 + 2  # two are printed for other words
    assert [(row.printed, row.computed) for row in wrong] == [
        (16909, 16904), (197216, 197648), (19631, 19632), (2075448, 2079984),
    ]  # fmt: skip


def test_what_is_at_most_may_be_less_and_not_more():
    values = {"a": 30, "b": 30, "c": 30}
    known = {"kind": "printed", "values": values, "at most": ["a", "b"], "within": 0}
    item = Item("i", lambda _: {"a": 27, "b": 31, "c": 27})
    found = compare("feldmann", item, **known)
    assert [row.within for row in found] == [True, False, False]
    assert [row.tolerance for row in found] == [0, 0, 0]
    assert [row.to_dict()["at_most"] for row in found] == [True, True, False]


def test_the_overhead_is_what_the_first_row_leaves():
    transfer = 2 * 4 * (32 + 2 * 1 + 3)  # 4 sends of 32 words over one hop, 2 clocks a cycle
    assert feldmann.transfer_clocks("torus", 32) == (1, transfer)
    assert feldmann.overhead_of() == 1168 - transfer


def test_each_node_of_the_torus_pattern_sends_east_west_north_south():
    given = feldmann.pattern("torus", 1)
    for node in range(64):
        row, column = divmod(node, 8)
        targets = given.target[given.source == node].tolist()
        assert targets == [
            8 * row + (column + 1) % 8, 8 * row + (column - 1) % 8,
            8 * ((row - 1) % 8) + column, 8 * ((row + 1) % 8) + column,
        ]  # fmt: skip


def test_the_butterfly_is_listed_by_dimensions_in_two_phases_of_eight():
    plan = feldmann.in_rows_and_columns(3)
    assert first_violation(plan) is None
    assert plan.use().max() == 8
    assert (np.diff(feldmann.dimensions(plan.connections)) >= 0).all()
    assert np.bincount(plan.phase).tolist() == [192, 192]


def test_plans_of_all_to_all_are_of_the_paper_s_phases():
    plan = feldmann.paper_plan("all-to-all", 5, seed=2)
    assert first_violation(plan) is None
    assert (plan.num_phases, plan.connections.words.min()) == (30, 5)


def test_messages_stay_in_the_pool_of_the_datelines_they_have_crossed():
    routing = feldmann.in_pools(feldmann.IWARP)
    pairs, tables = routing.routes.pairs, routing.tables
    ports, offsets = ports_of_slots(tables.path_slots), tables.path_offsets
    for start, end, pools in ((0, 9, [0, 0]), (63, 9, [1, 1, 2, 2]), (7, 0, [1]), (12, 9, [0] * 3)):
        number = int(np.searchsorted(pairs, start * 64 + end))
        hops = ports[offsets[number] : offsets[number + 1]]
        assert [slot % 3 for slot in hops[:-1]] == pools
        assert hops[-1] == tables.injection_slot  # one message at a time comes out


def ports_of_slots(slots):
    """The slot of each set, which holds one."""
    assert (slots & (slots - 1) == 0).all()
    return [int(each).bit_length() - 1 for each in slots]
