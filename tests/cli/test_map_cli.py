"""The command ``netloom map``."""

import json
import re
import sys
from dataclasses import replace
from importlib import import_module

import pytest

from netloom.base.errors import InputError
from netloom.cli import main

SMALL = "map examples/lammps-64.mtx --on mesh:8x8 --rounds 1"
LAMMPS = "examples/lammps-64.mtx"


@pytest.fixture
def netloom(monkeypatch, capsys):
    def run(*arguments):
        words = [word for argument in arguments for word in str(argument).split()]
        monkeypatch.setattr(sys, "argv", ["netloom", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def test_the_search_of_the_issue(netloom, tmp_path):
    code, out, err = netloom(
        "map examples/lammps-64.mtx --on torus:4x4x4 --objective max-channel-load --seconds 2",
        f"--seed 1 --rankfile {tmp_path}/ranks.txt --json",
    )
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["objective"]["name"] == "max-channel-load"
    assert data["objective"]["bound"] <= data["objective"]["after"] <= data["objective"]["before"]
    assert data["objective"]["after"] == data["after"]["weighted_channel_load"]["max"]
    assert data["objective"]["before"] == data["before"]["weighted_channel_load"]["max"]
    assert sorted(data["mapping"]) == list(range(64))
    assert data["seed"] == 1
    assert 0 < data["seconds"] < 20
    assert data["provenance"]["verb"] == "find_mapping"
    assert {row["mapping"] for row in data["starts"]} >= {"identity", "random", "result"}
    ranks = (tmp_path / "ranks.txt").read_text().splitlines()
    assert ranks[0] == f"rank 0=n{data['mapping'][0]} slot=0"
    assert len(ranks) == 64


def test_files_hold_rank_order_if_the_answer_is_to_keep_it(netloom, tmp_path):
    """What is found gains 0.74 %: the files, the command and the sentence agree."""
    code, out, _ = netloom(
        "map examples/lammps-64.mtx --on leaf-spine:8x4x8 --rounds 2 --seed 1",
        f"--rankfile {tmp_path}/ranks.txt --save-mapping {tmp_path}/map.json",
    )
    assert code == 0
    assert out.startswith("✓ Keep rank order: what was found gains only 0.")
    hosts = [f"rank {rank}=h{rank} slot=0" for rank in range(64)]
    assert (tmp_path / "ranks.txt").read_text().splitlines() == hosts
    assert json.loads((tmp_path / "map.json").read_text())["node_of"] == list(range(64))
    assert f"Rank file: {tmp_path}/ranks.txt, in rank order (nothing is gained)" in out
    assert f"Mapping: {tmp_path}/map.json, in rank order" in out


def test_a_rank_file_says_if_its_host_names_are_only_numbers(netloom, tmp_path):
    asked = f"map ring:16 --on mesh:4x4 --rounds 1 --rankfile {tmp_path}/ranks.txt"
    said = "ranks.txt has the host names n0, n1 … Add --hosts FILE for yours"
    _, out, _ = netloom(asked)
    assert said in out
    (tmp_path / "hosts.txt").write_text("".join(f"rack{node}\n" for node in range(16)))
    _, out, _ = netloom(asked, f"--hosts {tmp_path}/hosts.txt")
    assert "host names" not in out
    _, out, _ = netloom(asked, "--on leaf-spine:4x2x4")
    assert said.replace("n0, n1", "h0, h1") in out
    _, out, _ = netloom(asked, "--on graph:examples/my-cluster.txt")  # h0 … by its file
    assert "host names" not in out
    _, out, _ = netloom(asked, "--rankfile-format cray")
    assert "host names" not in out


def test_the_rank_file_that_was_written_is_a_mapping(netloom, tmp_path):
    file = f"{tmp_path}/ranks.txt"
    _, out, _ = netloom(f"map {LAMMPS} --on mesh:8x8 --rounds 1 --rankfile {file} --json")
    after = json.loads(out)["objective"]["after"]
    _, out, _ = netloom(f"analyze {LAMMPS} --on mesh:8x8 --mapping {file} --json")
    assert json.loads(out)["weighted_channel_load"]["max"] == after


def test_an_allocation_of_a_dragonfly(netloom, tmp_path):
    """Two ranks on each of 32 scattered hosts, by their names."""
    hosts = [f"h{31 * number % 72}" for number in range(32)]
    allocated, ranks = tmp_path / "nodes", tmp_path / "ranks.txt"
    allocated.write_text("\n".join(f"{host} slots=2" for host in hosts))
    code, out, err = netloom(
        f"map examples/lammps-64.mtx --on dragonfly:2x4x2 --nodes {allocated}",
        f"--ranks-per-node 2 --rankfile {ranks} --rounds 4 --json",
    )
    assert (code, err) == (0, "")
    objective = json.loads(out)["objective"]
    assert 0 < objective["bound"] <= objective["after"] < objective["before"]
    lines = ranks.read_text().splitlines()
    assert [line.split("=")[0] for line in lines] == [f"rank {rank}" for rank in range(64)]
    used = [line.split("=")[1].removesuffix(" slot") for line in lines]
    assert {host: used.count(host) for host in hosts} == dict.fromkeys(hosts, 2)


def test_a_layout_of_the_issue(netloom):
    code, out, err = netloom("map binary-tree:255 --on mesh:16x16 --layout tiles --json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["after"]["channel_load"]["max"] == 2
    assert data["layout"]["promised_channel_load"] == 2


def test_the_table_shows_what_the_json_has(netloom):
    code, out, err = netloom(SMALL)
    assert (code, err) == (0, "")
    _, plain, _ = netloom(SMALL, "--json")
    data = json.loads(plain)
    assert " ".join(data["verdict"]["sentence"].split()) in " ".join(out.split())
    assert "lammps-64 on mesh:8x8" in out
    assert "max-channel-load by bytes: 1 round, from " in " ".join(out.split())
    lines = out.splitlines()
    for name, row in (("rank order", data["starts"][0]), ("found", data["starts"][-1])):
        line = next(line for line in lines if line.startswith(name))
        cells = re.sub(r"\xa0M", "e6", line.removeprefix(name)).replace("\xa0G", "e9")
        hops, most, load, _, met, first, _ = cells.split()
        assert 1e6 * float(load) == pytest.approx(row["weighted_channel_load_max"], rel=1e-2)
        assert float(hops) == pytest.approx(row["hop_bytes"], rel=1e-2)
        assert float(first) == pytest.approx(100 * row["saturation_worst_node"], rel=1e-2)
        assert int(most) == row["channel_load_max"]
        assert int(met) == row["path_contention_max"]
    said = " ".join(out.replace("\\\n", " ").split())
    assert f"next netloom {SMALL} --rankfile ranks.txt" in said


def test_mixtures_and_layouts_in_words(netloom):
    _, out, _ = netloom("map ring:16 --on mesh:4x4 --objective hop-bytes,saturation --rounds 1")
    assert any(line.endswith("objective") for line in out.splitlines())
    _, out, _ = netloom("map binary-tree:63 --on mesh:8x8 --layout tiles --simulate")
    assert "The layout promises a largest χ of 2 on its own routes; measured: 2." in out
    assert "Accepted of the worst node's traffic at " in out
    _, out, _ = netloom("map all-to-all:16 --on mesh:4x4 --layout hilbert")
    assert "The layout promises no largest χ; measured: " in out


def test_an_allocation_and_everything_that_can_be_written(netloom, tmp_path):
    nodes, hosts = tmp_path / "allocated.txt", tmp_path / "hosts.txt"
    nodes.write_text("rack[00-07]\nrack12\n")
    hosts.write_text("".join(f"rack{node:02}\n" for node in range(16)))
    code, out, err = netloom(
        f"map ring:8 --on mesh:4x4 --rounds 1 --nodes {nodes} --hosts {hosts} --failed-nodes 3",
        f"--rankfile {tmp_path}/ranks --rankfile-format mpich --save-mapping {tmp_path}/map.json",
        f"--plot {tmp_path}/new/map.svg",
    )
    assert (code, err) == (0, "")
    assert "8 tasks and 16 edges on 16 nodes, 44 channels, 8 of these nodes may be used" in out
    assert f"Run it: mpiexec -f {tmp_path}/ranks -n 8 ./program" in out
    assert "--rankfile" not in out  # which was asked for
    assert f"Picture: {tmp_path}/new/map.svg" in out
    used = {line.split(":")[0] for line in (tmp_path / "ranks").read_text().splitlines()}
    assert used == {f"rack{node:02}" for node in (0, 1, 2, 4, 5, 6, 7, 12)}
    assert (tmp_path / "new" / "map.svg").read_text().startswith("<svg")
    node_of = json.loads((tmp_path / "map.json").read_text())["node_of"]
    code, out, _ = netloom(f"analyze ring:8 --on mesh:4x4 --mapping {tmp_path}/map.json --json")
    assert code == 0
    assert sorted(node_of) == [0, 1, 2, 4, 5, 6, 7, 12]


def test_routes_are_written_and_read_again(netloom, tmp_path):
    files = f"--routes {tmp_path}/routes.txt --save-mapping {tmp_path}/map.json"
    code, out, _ = netloom(SMALL, files)
    assert code == 0
    assert f"Routes: --routing routes:{tmp_path}/routes.txt" in out
    assert "Its own routes need 1 virtual channel to be free of deadlock." in out
    _, plain, _ = netloom(SMALL, files, "--json")
    after = json.loads(plain)["after"]
    code, out, _ = netloom(
        f"analyze examples/lammps-64.mtx --on mesh:8x8 --mapping {tmp_path}/map.json",
        f"--routing routes:{tmp_path}/routes.txt --json",
    )
    assert code == 0
    again = json.loads(out)
    for figure in ("weighted_channel_load", "path_contention", "hop_bytes", "saturation"):
        assert again[figure] == after[figure]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ("--nodes {tmp}/allocated.txt", "allocated.txt:2: found 'x3'"),
        ("--nodes lost.txt", "nodes: found 'lost.txt'"),
        ("--layout tiling", "rounds: found '1'; expected a search, with no layout"),
        ("--objective fast", "objective: found 'fast'"),
        ("--plot map.gif", "map.gif: found "),
        ("--rankfile {tmp}/nowhere/ranks", "found a folder that is not there"),
        ("--rankfile {tmp}/ranks --rankfile-format lsf", "rankfile_format: found 'lsf'"),
        ("--routes {tmp}/nowhere/routes", "found a folder that is not there"),
        ("--load 0.2", "load: found 0.2 without a simulation"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(netloom, tmp_path, arguments, wrong):
    (tmp_path / "allocated.txt").write_text("0-63\nx3\n")
    code, out, err = netloom(SMALL, arguments.format(tmp=tmp_path))
    assert (code, out) == (2, "")
    assert err.startswith("netloom: ")
    assert wrong in err
    assert err.count("\n") == 1


def test_ctrl_c_keeps_the_best(netloom, monkeypatch):
    verb = import_module("netloom.questions.map")
    search = verb.search
    monkeypatch.setattr(
        verb, "search", lambda *a, **kw: replace(search(*a, **kw), interrupted=True)
    )
    code, out, _ = netloom("map ring:16 --on mesh:4x4 --rounds 1 --simulate")
    assert code == 130
    assert "Interrupted after " in out
    assert "Interrupted: the best mapping found by then." in out
    assert "simulated" not in out
    code, out, _ = netloom("map ring:16 --on mesh:4x4 --rounds 1 --json")
    assert code == 130
    assert json.loads(out)["interrupted"]


@pytest.mark.parametrize("mapping", ["gray", "hilbert"])
def test_layouts_are_mappings_of_other_commands(netloom, mapping):
    code, out, _ = netloom(f"analyze hypercube:4 --on mesh:4x4 --mapping {mapping}")
    assert code == 0
    assert f"hypercube:4 on mesh:4x4, {mapping}" in out


@pytest.fixture
def no_search(monkeypatch):
    def search(*_, **__):
        raise AssertionError("searched before all files were checked")

    monkeypatch.setattr(import_module("netloom.questions.map"), "search", search)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ("--rankfile {tmp}/r --rankfile-format cray --on mesh:9x9", "64 tasks for 81 places"),
        ("--rankfile {tmp}/r --hosts {tmp}/few", "hosts: found 2 host names"),
        ("--rankfile {tmp}/r --hosts {tmp}/lost", "lost: found no such file"),
        ("--rankfile {tmp}/folder", "folder: found a folder"),
        ("--save-mapping {tmp}/folder", "folder: found a folder"),
        ("--routes {tmp}/folder", "folder: found a folder"),
        ("--plot {tmp}/folder.svg", "folder.svg: found a folder"),
        ("--routes {tmp}/one --rankfile {tmp}/one", "one: found the same file for two outputs"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_search(netloom, tmp_path, arguments, wrong):
    (tmp_path / "few").write_text("a\nb\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.svg").mkdir()
    code, out, err = netloom(SMALL, arguments.format(tmp=tmp_path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert wrong in err


def test_a_file_that_fails_takes_no_other_with_it(netloom, tmp_path, monkeypatch):
    files = import_module("netloom.questions.outputs")
    error = InputError("ranks", "a disk that is full", "room")

    def fails(*_):
        raise error

    monkeypatch.setattr(files, "write_text", fails)
    code, out, err = netloom(
        SMALL, f"--rankfile {tmp_path}/ranks --routes {tmp_path}/routes",
        f"--plot {tmp_path}/map.svg",
    )  # fmt: skip
    assert code == 2
    assert "rank order" in out
    assert err == f"netloom: {error}\n"
    assert (tmp_path / "routes").read_text().startswith("# netloom")
    assert (tmp_path / "map.svg").exists()


def test_a_cray_rank_order_counts_nodes_within_the_allocation(netloom, tmp_path):
    code, out, err = netloom(
        "map ring:8 --on mesh:4x4 --rounds 1 --nodes 8-11,4-7 --rankfile-format cray",
        f"--rankfile {tmp_path}/ranks --save-mapping {tmp_path}/map.json",
    )
    assert (code, err) == (0, "")
    assert "MPICH_RANK_REORDER_METHOD=3" in out
    ranks = [int(rank) for rank in (tmp_path / "ranks").read_text().split(",")]
    node_of = json.loads((tmp_path / "map.json").read_text())["node_of"]
    assert [node_of[rank] for rank in ranks] == list(range(4, 12))


def test_a_cray_rank_order_of_an_analysis_counts_all_nodes(netloom, tmp_path):
    code, _, err = netloom(
        "analyze ring:4 --on mesh:2x2 --random-mappings 0 --rankfile-format cray",
        f"--rankfile {tmp_path}/ranks",
    )
    assert (code, err) == (0, "")
    assert (tmp_path / "ranks").read_text() == "0,1,2,3\n"


def test_analyze_refuses_files_before_and_shows_its_answer_anyway(netloom, tmp_path):
    asked = "analyze ring:8 --on mesh:4x4 --random-mappings 0"
    (tmp_path / "folder").mkdir()
    for wrong in (f"--save-mapping {tmp_path}/folder", f"--rankfile {tmp_path}/lost/ranks",
                  f"--hosts {tmp_path}/lost", "--rankfile-format lsf"):  # fmt: skip
        code, out, err = netloom(asked, wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
    code, out, err = netloom(asked, f"--rankfile {tmp_path}/ranks --rankfile-format cray --mapping",
                             "random", f"--save-mapping {tmp_path}/map.json")  # fmt: skip
    assert code == 2
    assert "cray rank order: found " in err
    assert "paths met by a path" in out
    assert (tmp_path / "map.json").exists()


def test_a_mapping_that_gains_nothing_is_not_advised(netloom, tmp_path):
    ranks = tmp_path / "ranks.txt"
    code, out, _ = netloom(f"map all-to-all:16 --on torus:4x4 --rounds 1 --rankfile {ranks}")
    assert code == 0
    assert out.startswith("✓ Keep rank order")
    assert "mpirun" not in out
    assert f"Rank file: {ranks}, in rank order (nothing is gained)" in out
    assert len(ranks.read_text().splitlines()) == 16


def test_whole_numbers_of_next_commands_have_no_decimal_point(netloom):
    _, out, _ = netloom("map all-to-all:16 --on torus:4x4 --seconds 0.5")
    assert "netloom map all-to-all:16 --on torus:4x4 --seconds 3\n" in out
