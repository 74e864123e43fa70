"""Better tables: never worse than their bound, for all programs and for one."""

import numpy as np
import pytest

import netloom as nl
from netloom.errors import InputError
from netloom.routing import ForwardingTable


def test_a_full_tree_is_proved_best():
    found = nl.route_fabric("fat-tree:4x3", samples=50)
    data = found.to_dict()
    assert data["all_to_all"]["max"] == data["all_to_all"]["bound"] == 60
    assert data["all_to_all"]["proved"]
    assert data["deadlock_free"]
    assert data["lanes"] == 1
    assert data["shifts"]["max"] == 1
    assert data["before"]["all_to_all"]["max"] >= 60
    assert "no tables can do better (proved)" in found.sentences()[0]


@pytest.mark.parametrize("network", ["leaf-spine:6x3x4", "torus:4x4/1", "xgft:3x4x2/1x2x3"])
def test_no_figure_passes_a_bound_that_stands_beside_it(network):
    data = nl.route_fabric(network, samples=200).to_dict()
    for each in (data, data["before"]):
        assert each["all_to_all"]["time"] >= data["all_to_all"]["bound"] * (1 - 1e-9)
        half = each["effective_bisection"]
        noise = 4 * half["sd"] / half["samples"] ** 0.5
        assert half["mean"] <= data["effective_bisection"]["bound"] + noise
    assert data["all_to_all"]["time"] <= data["before"]["all_to_all"]["time"]


def test_tables_for_a_program_lower_its_busiest_cable_to_its_floor():
    together = nl.route_fabric("leaf-spine:2x4x4", engine="minhop", samples=2).forwarding
    crowded = together.next_channel.copy()
    crowded[4:, 0] = 0  # leaf 0 sends all by one spine
    installed = ForwardingTable("crowded", crowded)
    found = nl.route_fabric("leaf-spine:2x4x4", installed=installed, wanted="shift:4", samples=2)
    (cost,) = found.programs
    assert (cost.before, cost.after, cost.floor, cost.hosts) == (4.0, 1.0, 1.0, 1.0)


def test_programs_have_weights_and_nodes_of_their_own():
    found = nl.route_fabric(
        "leaf-spine:2x4x4", wanted=["3*ring:4@0,4,1,5", "ring:4@2,6,3,7"], samples=2
    )
    assert [each.name for each in found.programs] == ["3*ring:4@0,4,1,5", "ring:4@2,6,3,7"]
    assert all(each.after >= each.floor for each in found.programs)


def test_an_engine_of_opensm_makes_its_own_tables():
    ours = nl.route_fabric("leaf-spine:4x2x4", engine="minhop", samples=2)
    assert (ours.forwarding.next_channel == ours.installed.next_channel).all()
    assert np.array_equal(ours.before.paths, ours.after.paths)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"engine": "fastest"}, "engine: found 'fastest'"),
        ({"wanted": "fastest"}, "for: found 'fastest'"),
        ({"wanted": ["shifts", "all-to-all"]}, "one of these, and programs"),
        ({"wanted": "ring:4@0", "tasks_per_node": 4}, "send nothing from computer to computer"),
        ({"installed": "d-mod-k"}, "routing: found 'd-mod-k'"),
        ({"engine": "minhop", "wanted": "shifts"}, "for: found engine minhop"),
        ({"repair": True, "wanted": "ring:4"}, "repair: found tables for a program"),
    ],
)
def test_what_cannot_be_routed_is_one_clear_line(more, found):
    with pytest.raises(InputError) as caught:
        nl.route_fabric("leaf-spine:2x4x4", **more)
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)
