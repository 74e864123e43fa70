"""Allocation that takes several cycles, and what a credit takes: as BookSim 2 has them."""

import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom.questions.fields import RouterFields
from netloom.simulation.network.routers import Router
from tests.simulation.network.test_engine import LINE, engine, packets, rows


def accepted(on, traffic, flits=1, **stages):
    given = Router(buffer_flits=32, **stages)
    answer = nl.simulate(
        on, traffic=traffic, load=0.99, packet_flits=flits, cycles=8000, router=given
    )
    return answer.table()["accepted"].item()


@pytest.mark.parametrize(
    ("route", "vc", "switch", "expected"),
    [(0, 1, 1, 1 / 2), (1, 1, 1, 1 / 3), (1, 1, 2, 1 / 4), (0, 2, 2, 1 / 4), (1, 2, 2, 1 / 5)],
)
def test_a_packet_behind_another_passes_every_stage(route, vc, switch, expected):
    """One VC: the next head begins when the tail before it has won."""
    found = accepted(
        "mesh:2", "pairs:0-1,1-0", vcs=1, route_cycles=route, vc_allocation_cycles=vc,
        switch_allocation_cycles=switch,
    )  # fmt: skip
    assert found == pytest.approx(expected, rel=2e-3)


def test_heads_that_lose_begin_a_whole_attempt_anew():
    """BookSim 2 accepts 0.185 on this mesh."""
    stages = {"vcs": 1, "vc_allocation_cycles": 2, "switch_allocation_cycles": 2}
    assert accepted("mesh:4x4", "uniform-self", **stages) == pytest.approx(0.185, rel=0.015)


@pytest.mark.parametrize("vcs", [1, 2, 3])
def test_stages_cost_throughput_with_several_vcs_too(vcs):
    """A VC passes 5 flits in 3 cycles each, behind a cycle of VC allocation. Two may collide."""
    found = accepted("mesh:2", "pairs:0-1,1-0", 5, vcs=vcs, switch_allocation_cycles=3)
    assert vcs * 5 / 16 * (0.8 if vcs > 1 else 0.99) < found < vcs * 5 / 16 * 1.001
    assert accepted("mesh:2", "pairs:0-1,1-0", 5, vcs=vcs) > 0.8


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 9), st.integers(1, 12))
def test_sources_take_credits_without_the_cycles_of_a_router(credit_cycles, flits):
    """As in BookSim 2, whose ``credit_delay`` is a router's. Option and page say so."""
    parts = Router(vcs=1, buffer_flits=1, credit_cycles=credit_cycles)
    [row] = rows(engine(LINE, parts).advance(packets((0, 3, 3, flits)), 500))
    assert row[3] == Router(vcs=1, buffer_flits=1).zero_load_cycles(0, flits)
    assert "between routers" in RouterFields.model_fields["credit_cycles"].description
