"""Better tables: never worse than their bound, for all programs and for one."""

import re
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.bounds import tables
from netloom.fabrics import balancing, write_lfts
from netloom.fabrics.program import ProgramCost
from netloom.questions.recorded import record
from netloom.questions.register import kind_of
from netloom.questions.terminal import table
from netloom.routing import ForwardingTable
from netloom.topology import topology
from netloom.topology.names import short_switch_name
from tests.reference.scans import scan

DGX, MINHOP = "examples/dgx-40.ibnetdiscover", "lfts:examples/dgx-40-minhop.lfts"


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
        ({"wanted": "0*ring:4"}, "for: found '0*ring:4'; expected a weight above 0"),
        ({"wanted": "-2*ring:4"}, "for: found '-2*ring:4'; expected a weight above 0"),
        ({"engine": "nue", "lanes": 2}, "lanes: found engine nue"),
        ({"repair": True, "lanes": 2}, "lanes: found repair"),
    ],
)
def test_what_cannot_be_routed_is_one_clear_line(more, found):
    with pytest.raises(InputError) as caught:
        nl.route_fabric("leaf-spine:2x4x4", **more)
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_installed_tables_with_holes_are_said_not_to_lead_there():
    installed = nl.route_fabric("leaf-spine:2x4x4", engine="minhop", samples=2).forwarding
    installed.next_channel[4, 0] = -1
    found = nl.route_fabric("leaf-spine:2x4x4", installed=installed, wanted="shift:4", samples=2)
    (cost,) = found.programs
    assert (cost.before, cost.after) == (None, 1.0)
    assert (
        "carries 1 B, and the installed ones do not lead to all its hosts;" in found.sentences()[0]
    )
    assert found.to_dict()["programs"][0]["before"] is None


def test_a_program_below_one_switch_takes_no_cable():
    found = nl.route_fabric("leaf-spine:2x4x4", wanted="ring:4", samples=2)
    assert found.sentences()[0].startswith("No byte of 1 program crosses a cable between switches")


def test_engines_that_fall_back_are_named():
    found = nl.route_fabric("torus:4x4", engine="ftree", installed="updn", samples=2)
    assert np.array_equal(found.before.paths, found.after.paths)
    said = found.to_dict()["fallback"]
    assert "OpenSM falls back from updn to minhop: " in said
    assert "OpenSM falls back from ftree to minhop: " in said


def test_bounds_stand_beside_figures_of_their_kind():
    path = (
        Path(__file__).parents[2] / "examples" / "my-cluster.graphml"
    )  # uplinks are twice as fast
    found = nl.route_fabric(f"graph:{path}", samples=2)
    every = found.to_dict()["all_to_all"]
    assert (every["max"], every["bound"], every["time_bound"], every["ratio"]) == (112, 112, 56, 1)
    assert found.sentences()[0] == (
        "Keep the installed tables: the busiest cable carries 56 paths per unit of bandwidth by "
        "both; no tables can do better (proved)."
    )


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
    assert any("led over what is gone" in each for each in found.sentences())


@pytest.mark.parametrize(
    ("on", "asked", "mark", "said"),
    [
        ("fat-tree:4x3", {}, "fine", "Use these tables: the busiest cable carries 68.8 % less ("),
        ("leaf-spine:8x4x8", {}, "fine", "Keep the installed tables: the busiest cable carries 11"),
        ("torus:4x4", {}, "fine", "Use these tables: they have no credit loop, the installed ones"),
        ("torus:4x4", {"engine": "minhop"}, "act", "Do not install these tables: packets in 1 lan"),
        ("leaf-spine:4x2x4", {"wanted": "ring:16"}, "fine", "Keep the installed tables: the busie"),
        ("leaf-spine:2x4x4", {"wanted": "ring:4"}, "fine", "No byte of 1 program crosses a cable"),
        ("leaf-spine:4x2x4", {"engine": "nue"}, "fine", "Keep the installed tables: the busiest"),
        ("fat-tree:4x3", {"wanted": "shifts"}, "fine", "Use these tables: "),
        ("fat-tree:4x3", {"wanted": "transpose:8"}, "limited", "Use these tables: "),
        ("fat-tree:4x3", {"engine": "minhop"}, "limited", "Keep the installed tables: the busiest"),
    ],
)
def test_the_verdict_says_whether_to_use_the_tables(on, asked, mark, said):
    data = nl.route_fabric(on, samples=50, **asked).to_dict()
    verdict = data["verdict"]
    assert verdict["sentence"].replace("\u00a0", " ").startswith(said)
    assert verdict["mark"] == mark
    changed = re.search(r"([\d.]+)\u00a0% less \(([\d,]+) → ([\d,]+) path", verdict["sentence"])
    if changed:
        less, old, new = (float(each.replace(",", "")) for each in changed.groups())
        assert (old, new) == (data["before"]["all_to_all"]["max"], data["all_to_all"]["max"])
        assert less == float(f"{100 * (1 - new / old):.3g}")
    if verdict["sentence"].startswith("Keep"):
        assert data["all_to_all"]["time"] >= data["before"]["all_to_all"]["time"]
        assert verdict["next"] == ""


def test_tables_are_kept_for_a_program_whose_cables_carry_next_to_nothing(tmp_path):
    """Two hosts of a leaf send each other 1 MB, and 10 B over each of two paths to the next."""
    program = tmp_path / "near.csv"
    program.write_text("source,target,bytes\n0,1,1000000\n0,4,10\n1,6,10\n")
    found = nl.route_fabric("leaf-spine:4x2x4", wanted=str(program), samples=2).to_dict()
    (one,) = found["programs"]
    assert 0 < one["before"] <= 20
    assert one["hosts"] == 1_000_010
    said = found["verdict"]["sentence"].replace("\u00a0", " ")
    assert said.startswith("Keep the installed tables: ")
    assert "adapter" in said
    assert "1 MB" in said
    assert found["verdict"]["next"] == ""


def test_pairs_that_all_get_as_much_have_no_interval():
    """Two hosts on one switch never share a cable: every sample is the same."""
    found = nl.route_fabric("leaf-spine:2x4x2", samples=4).to_dict()
    assert found["effective_bisection"]["sd"] == 0
    said = found["verdict"]["lines"]["halves"]
    assert "?" not in said
    assert "±" not in said


def test_tables_of_a_fabric_with_lids_are_written_next():
    found = nl.route_fabric("examples/dgx-40.ibnetdiscover", samples=50).to_dict()["verdict"]
    assert found["mark"] == "fine"
    assert "(2,168 → 631 paths)" in found["sentence"]
    wanted = "netloom route --on examples/dgx-40.ibnetdiscover --samples 50 --out better.lfts"
    assert found["next"] == wanted
    assert found["lines"]["cost"].startswith("20,128 entries change in 440 blocks")


def test_two_tables_are_compared_and_the_picture_names_the_cable_that_changes_most(tmp_path):
    made = nl.route_fabric(DGX, installed=MINHOP, engine="updn", samples=2)
    file = tmp_path / "other.lfts"
    write_lfts(made.network, made.forwarding, file)
    found = nl.route_fabric(DGX, installed=MINHOP, engine=f"lfts:{file}", samples=2)
    data = found.to_dict()
    assert data["all_to_all"] == made.to_dict()["all_to_all"]
    assert kind_of("route").read(data).verdict.of == "dgx-40, other.lfts tables"
    assert data["verdict"]["next"] == ""
    table = found.channel_table()
    change = np.abs((table["after"] - table["before"]).to_numpy())
    title = record(found).answer.parts()["network"].to_dict()["title"]["text"]
    row = table.row(int(change.argmax()), named=True)
    ends = [f"{short_switch_name(row[end])} port {row[f'{end}_port']}" for end in ("from", "to")]
    assert " ".join(title).startswith(f"{' → '.join(ends)} carries {change.max():,.0f} paths ")
    text = str(record(found).answer.picture().to_dict())
    assert "installed: lfts:dgx-40-minhop.lfts" in text
    assert "examples/" not in text


def test_a_program_takes_one_search_and_the_bound_of_the_fabric_one_program(monkeypatch):
    programs, descents = [], []
    solved, descended = tables._best_lengths, balancing.descended

    def counted_program(arcs, demand):
        programs.append(demand.sum())
        return solved(arcs, demand)

    def counted_descent(*args, **more):
        descents.append(args)
        return descended(*args, **more)

    monkeypatch.setattr(tables, "_best_lengths", counted_program)
    monkeypatch.setattr(balancing, "descended", counted_descent)
    others = balancing.other_rows

    def uncounted(*args):
        before = len(descents)
        found = others(*args)
        del descents[before:]
        return found

    monkeypatch.setattr(balancing, "other_rows", uncounted)
    nl.route_fabric(DGX, samples=10)
    alone = len(descents)
    assert len(programs) == 1
    descents.clear()
    nl.route_fabric(DGX, wanted="examples/lammps-64.mtx", samples=10)
    assert len(programs) == 3, "the fabric's, and that of the program"
    assert len(descents) <= alone + 1


def test_no_tables_are_advised_for_cables_that_carry_less_than_an_adapter_sends():
    figures = nl.route_fabric("leaf-spine:4x2x4", wanted="shift:4/16", samples=50).to_dict()
    figures["programs"][0] |= {"before": 16.0, "after": 8.0, "floor": 8.0, "hosts": 4.39e6}
    told = kind_of("route").read(figures).verdict
    assert told.sentence.replace("\u00a0", " ") == (
        "Keep the installed tables: the busiest adapter of shift:4/16 sends 4.39 MB, "
        "a cable between switches no more than 16 B (8 B by these)."
    )
    assert (told.mark, told.next) == ("fine", "")


@pytest.mark.parametrize("place", range(4))
def test_files_that_need_lids_are_refused_by_their_own_names(place):
    kind = kind_of("route")
    asked = kind.question(on="leaf-spine:2x1x2")
    output = kind.outputs[1 + place]
    with pytest.raises(InputError, match=rf"^{output.name}: .* has no LIDs"):
        output.refuse(asked, kind.prepare(asked), {})


def test_a_program_that_the_installed_tables_do_not_serve_has_no_path():
    cost = ProgramCost(name="a", before=None, after=2e6, floor=1e6, hosts=1e6, why="", inside=0.0)
    assert "no path" in table([cost], cost)[-1]


def test_a_stored_answer_calls_switches_by_their_short_names():
    kept = record(nl.route_fabric(f"fabric:{DGX}", samples=2))
    answer = kept.kind.read(kept.figures, kept=kept.tables)
    assert answer.network is None
    assert answer.plainly("MF0;A09-P1-IBLEAF-01-01:MQM9701/U1") == "A09-P1-IBLEAF-01-01"
