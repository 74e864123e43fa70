"""Repaired tables: few entries change, all arrive, no circle closes."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.fabrics.balancing import balanced
from netloom.fabrics.figures import table_figures
from netloom.fabrics.writing import repaired
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.topology import topology, without
from tests.reference.forwarding import table_waits, walked


def of_broken(whole, broken, table):
    """Return the table of a network in terms of what is left of it."""
    place = np.full(whole.num_network_channels + 1, -1, np.int32)
    kept = broken.whole_channel[: broken.num_network_channels]
    place[kept] = np.arange(len(kept))
    return replace(table, next_channel=place[table.next_channel])


@pytest.mark.parametrize(
    ("spec", "cut"),
    [
        ("leaf-spine:6x4x8/2", "leaf2-spine1#2"),
        ("leaf-spine:6x4x5", "leaf2-spine1"),
        ("fat-tree:4x3", "s1.0-s2.0"),
    ],
)
def test_one_cable_less_changes_few_entries(spec, cut):
    whole = topology(spec)
    broken = without(whole, channels=cut)
    installed = of_broken(whole, broken, balanced(whole).table)
    table = repaired(broken, installed).next_channel
    for row, end in zip(table, broken.ejection_router.tolist(), strict=True):
        assert all(
            walked(broken, row, at, end) is not None for at in set(broken.ejection_router.tolist())
        )
    assert nx.is_directed_acyclic_graph(table_waits(broken, table))
    gone = (installed.next_channel < 0).sum() - (table < 0).sum()
    assert 0 < gone <= (table != installed.next_channel).sum() <= 3 * gone
    busiest = table_figures(broken, ForwardingTable("repaired", table), samples=0).all_to_all.time
    assert busiest <= 1.15 * balanced(broken).front[0].all_to_all


def test_nothing_changes_where_nothing_is_missing():
    whole = topology("leaf-spine:6x4x5")
    installed = balanced(whole).table
    assert (repaired(whole, installed).next_channel == installed.next_channel).all()


def test_a_table_of_another_network_is_refused():
    table = balanced(topology("leaf-spine:4x2x2")).table
    with pytest.raises(InputError, match=r"a table of 6 routers; expected one of the 8"):
        repaired(topology("leaf-spine:4x4x2"), table)
