"""Better tables: never worse than their bound, for all programs and for one."""

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.fabrics import write_lfts
from netloom.routing import ForwardingTable
from netloom.topology import topology
from tests.reference.scans import scan


def test_a_full_tree_is_proved_best():
    found = nl.route_fabric("fat-tree:4x3", samples=50)
    data = found.to_dict()
    assert data["all_to_all"]["max"] == data["all_to_all"]["bound"] == 60
    assert data["all_to_all"]["proved"]
    assert data["deadlock_free"]
    assert data["lanes"] == 1
    assert data["shifts"]["max"] == 1
    assert data["before"]["all_to_all"]["max"] >= 60


@pytest.mark.parametrize("network", ["leaf-spine:6x3x4", "torus:4x4/1", "xgft:3x4x2/1x2x3"])
def test_no_figure_passes_a_bound_that_stands_beside_it(network):
    data = nl.route_fabric(network, samples=200).to_dict()
    for each in (data, data["before"]):
        assert each["all_to_all"]["time"] >= data["all_to_all"]["time_bound"] * (1 - 1e-9)
        half = each["effective_bisection"]
        noise = 4 * half["sd"] / half["samples"] ** 0.5
        assert half["mean"] <= data["effective_bisection"]["bound"] + noise
    assert data["all_to_all"]["max"] >= data["all_to_all"]["bound"] * (1 - 1e-9)
    assert data["all_to_all"]["time"] <= data["before"]["all_to_all"]["time"]


def test_tables_for_a_program_lower_its_busiest_cable_to_its_floor():
    together = nl.route_fabric("leaf-spine:2x4x4", engine="minhop", samples=2).forwarding
    crowded = together.next_channel.copy()
    crowded[4:, 0] = 0  # leaf 0 sends all by one spine
    installed = ForwardingTable("crowded", crowded)
    found = nl.route_fabric("leaf-spine:2x4x4", installed=installed, wanted="shift:4", samples=2)
    (cost,) = found.programs
    assert (cost.before, cost.after, cost.floor, cost.hosts) == (4.0, 1.0, 1.0, 1.0)


def test_engines_that_fall_back_are_named():
    found = nl.route_fabric("torus:4x4", engine="ftree", installed="updn", samples=2)
    assert np.array_equal(found.before.paths, found.after.paths)
    for engine in ("updn", "ftree"):
        assert f"falls back from {engine} to minhop: " in found.to_dict()["fallback"]


def test_tables_are_repaired_after_a_switch_is_gone(tmp_path):
    whole, broken, dump = (tmp_path / name for name in ("whole.txt", "broken.txt", "old.lfts"))
    whole.write_text(scan(topology("leaf-spine:3x3x3")))
    old = nl.route_fabric(f"fabric:{whole}", engine="minhop", samples=2)
    write_lfts(old.network, old.forwarding, dump)
    blocks = whole.read_text().split("\n\n")
    spine = next(each for each in blocks if '# "spine1" enhanced' in each)
    name = spine.split('"')[1]
    left = [
        "\n".join(line for line in each.split("\n") if name not in line)
        for each in blocks
        if each is not spine
    ]
    broken.write_text("\n\n".join(left))
    with pytest.raises(InputError, match="or --repair, if what is not there broke"):
        nl.route_fabric(f"fabric:{broken}", installed=str(dump), samples=2)
    found = nl.route_fabric(f"fabric:{broken}", installed=str(dump), repair=True, samples=2)
    data = found.to_dict()
    assert data["before"]["unrouted"] > 0
    assert (data["unrouted"], data["deadlock_free"]) == (0, True)
    assert 0 < data["changes"]["unavoidable"] <= data["changes"]["entries"]


def test_tables_are_kept_for_a_program_whose_cables_carry_next_to_nothing(tmp_path):
    """Two hosts of a leaf send each other 1 MB, and 10 B over each of two paths to the next."""
    program = tmp_path / "near.csv"
    program.write_text("source,target,bytes\n0,1,1000000\n0,4,10\n1,6,10\n")
    found = nl.route_fabric("leaf-spine:4x2x4", wanted=str(program), samples=2).to_dict()
    (one,) = found["programs"]
    assert 0 < one["before"] <= 20
    assert one["hosts"] == 1_000_010
    assert found["verdict"]["sentence"].startswith("Keep the installed tables: ")
