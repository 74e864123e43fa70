"""Files are written whole before a word is printed, and hold what the answer says."""

import json
from pathlib import Path

import polars as pl
import pytest
import typer

from netloom import phases
from netloom.base.errors import InputError
from netloom.cli.edge import files_written
from tests.approved.asked import run as asked
from tests.cli.test_edge import run

EXAMPLES = Path("examples").resolve()
LAMMPS = EXAMPLES / "lammps-64.mtx"

COMMANDS = (
    (
        "map binary-tree:15 --on mesh:4x4 --layout tiles",
        "--plot a.svg --save-mapping b.json --rankfile c.txt --routes d.txt --explore e.html",
    ),
    (
        f"route {EXAMPLES}/dgx-40.ibnetdiscover --engine updn --samples 2",
        "--out a.lfts --changes b.csv --levels c.txt --qos-policy d.conf --plot e.html",
    ),
    (
        f"simulate trace {EXAMPLES}/halo.csv --on torus:4x4x4 --engine flow",
        "--save-messages a.parquet --perfetto b.json.gz --plot c.pdf --explore d.html",
    ),
    (
        "collective all-gather --on mesh:2x2 --size 1MB --bandwidth 1GB/s --latency 0",
        "--goal a.goal --save-times b.csv --perfetto c.json --plot d.png",
    ),
    ("compile collective all-gather --on leaf-spine:2x1x2", "--out a.json.gz --msccl b.xml"),
    ("compile ring:4 --on mesh:2x2", "--out a.json --programs b.json --gantt c.svg --map d.svg"),
)
"""Commands, and files that each can write."""

ENDINGS = {
    ".svg": b"</svg>", ".html": b"</html>\n", ".xml": b"</algo>\n",
    ".pdf": b"%%EOF\n", ".goal": b"}\n", ".parquet": b"PAR1", ".png": b"IEND\xaeB`\x82",
}  # fmt: skip
"""How some whole files end."""


@pytest.mark.parametrize("place", range(len(COMMANDS)))
def test_files_are_there_although_nobody_reads(place, tmp_path):
    command, files = COMMANDS[place]
    output, code = ("> /dev/full", 1) if place % 2 else ("| true", 141)
    done = run(f"$netloom {command} {files} {output}", tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    wanted = files.split()[1::2]
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(wanted)
    for each in tmp_path.iterdir():
        assert each.stat().st_size, each.name
        ending = ENDINGS.get(each.suffix, b"")
        assert each.read_bytes().rstrip().endswith(ending.rstrip()), each.name
        if each.suffix == ".json":
            json.loads(each.read_text())


def test_tables_of_a_store_are_written_beside_json_and_though_nobody_reads(tmp_path):
    (tmp_path / "a.toml").write_text('[all]\non = "mesh:2x2"\n[[predict.latency]]\noffered = 0.1\n')
    assert run("$netloom run a.toml > out.txt", tmp_path).returncode == 0
    done = run("$netloom results a.toml --json --csv a.csv --parquet a.parquet | true", tmp_path)
    assert done.returncode == 141
    assert (tmp_path / "a.csv").read_text().count("\n") == 2
    assert pl.read_parquet(tmp_path / "a.parquet").height == 1
    done = run("$netloom report a.toml -o a.html --pictures b > /dev/full", tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "a.html").read_text().endswith("</html>")
    assert list((tmp_path / "b").iterdir())


def test_an_answer_is_printed_though_its_files_fail(capsys):
    def fail(error):
        raise error

    writers = [
        lambda: fail(ZeroDivisionError("a bug")),
        lambda: "File: b",
        lambda: fail(InputError("c", "a full disk", "space")),
    ]
    with pytest.raises(ZeroDivisionError), files_written(writers):
        typer.echo("The answer.")
    said = capsys.readouterr()
    assert said.out == "The answer.\nFile: b\n"
    assert said.err == "netloom: c: found a full disk; expected space\n"

    stopped = [lambda: fail(KeyboardInterrupt()), lambda: pytest.fail("written after Ctrl-C")]
    with pytest.raises(KeyboardInterrupt), files_written(stopped):
        typer.echo("The answer.")
    assert capsys.readouterr().out == "The answer.\n"

    with pytest.raises(BrokenPipeError), files_written(writers[2:]):
        raise BrokenPipeError
    assert "a full disk" in capsys.readouterr().err


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that runs commands in an empty folder: what was printed."""
    monkeypatch.chdir(tmp_path)

    def command(words):
        code, out, err = asked(words)
        assert (code, err) == (0, "")
        return out

    return command


def test_files_hold_rank_order_if_the_answer_is_to_keep_it(written):
    """What is found gains 0.74 %: the files, the command and the sentence agree."""
    files = "--rankfile ranks.txt --save-mapping map.json"
    out = written(f"map {LAMMPS} --on leaf-spine:8x4x8 --rounds 2 --seed 1 {files}")
    assert out.startswith("✓ Keep rank order: what was found gains only 0.")
    assert "mpirun" not in out
    hosts = [f"rank {rank}=h{rank} slot=0" for rank in range(64)]
    assert Path("ranks.txt").read_text().splitlines() == hosts
    assert json.loads(Path("map.json").read_text())["node_of"] == list(range(64))
    assert "Rank file: ranks.txt, in rank order (nothing is gained)" in out
    assert "Mapping: map.json, in rank order" in out


def test_what_was_written_is_read_again(written):
    files = "--rankfile ranks.txt --routes routes.txt --save-mapping map.json"
    tree = "binary-tree:63 --on mesh:8x8"
    after = json.loads(written(f"map {tree} --layout tiles {files} --json"))["after"]
    for mapping in ("ranks.txt", "map.json"):
        again = f"analyze {tree} --mapping {mapping} --routing routes:routes.txt"
        found = json.loads(written(f"{again} --random-mappings 0 --json"))
        for figure in ("weighted_channel_load", "path_contention", "hop_bytes", "saturation"):
            assert found[figure] == after[figure]


def test_what_a_user_names_is_no_markup(written):
    Path("n[").mkdir()
    Path("n[/x].csv").write_text("n[/0] b\n")
    network = "--on 'graph:n[/x].csv' --traffic pairs:0-1"
    out = written(f"simulate {network} --load 0.1 --cycles 1500 --plot 'x[/foo].svg'")
    assert "worst node n[/0]" in out
    assert "Picture: x[/foo].svg" in out
    assert "x].csv" in out


SMALL = "compile all-to-all:16 --on torus:4x4 --words 32"


def change(what):
    data = json.loads(Path("plan.json").read_text())
    what(data)
    Path("plan.json").write_text(json.dumps(data))


def test_programs_of_nodes_are_those_of_the_plan(written):
    written(f"{SMALL} --schedule shared --one-way --out plan.json --programs nodes")
    texts = sorted(file.name for file in Path("nodes").iterdir())
    assert texts == [f"node-{node:02}.txt" for node in range(16)]
    text = Path("nodes/node-07.txt").read_text()
    assert text.startswith("node 7\n  instantiate_phase(0)\n")
    assert text.count("send_element") == text.count("receive_element") == 15
    out = written("compile verify plan.json")
    assert out.startswith("✓ Verified: 240 connections in 4 phases break no rule.")
    written(f"{SMALL} --out plan.json --programs programs.json")
    programs = json.loads(Path("programs.json").read_text())
    assert [each["node"] for each in programs] == list(range(16))
    assert json.loads(Path("plan.json").read_text())["programs"] == programs


def test_a_plan_runs(written):
    written("compile ring:4 --on mesh:2x2 --words 8 --out plan.json")
    out = written("compile run plan.json")
    assert out.startswith("✓ All 64 words of 8 connections arrived, in order and in their ")


def test_programs_that_do_not_deliver_are_exit_code_1(written):
    written(f"{SMALL} --out plan.json")
    change(lambda data: data["programs"][5]["phases"][0]["streams"][0][0].update(words=7))
    code, out, _ = asked("compile run plan.json")
    assert code == 1
    assert out.startswith("✗ Not delivered: 3 faults in 240 connections.")
    assert "\n  first   phase 0, node 5: " in out


def test_a_wrong_plan_is_one_line_and_exit_code_1(written):
    written(f"{SMALL} --out plan.json")
    change(lambda data: data["phases"][1]["connections"][0].update(end=-1))
    for what in ("verify", "run"):
        code, out, err = asked(f"compile {what} plan.json")
        assert (code, out) == (1, "✗ Not verified: plan.json breaks a rule.\n")
        assert err.startswith("netloom: phase 1, connection ")
        assert err.count("\n") == 1
    change(lambda data: data["phases"].append({**data["phases"][0], "connections": []}))
    for what in ("verify", "run"):
        code, out, err = asked(f"compile {what} plan.json --json")
        assert (code, err.count("\n")) == (1, 1)
        assert "plan.json, phase 4: found no connections" in err
        found = json.loads(out)
        assert (found["plan"], found["verified"]) == ("plan.json", False)
        assert found["violation"] == err.removeprefix("netloom: ").strip()


def test_a_plan_of_the_compiler_that_does_not_verify_is_exit_code_1(monkeypatch):
    """No option makes the compiler err: one of its plans is spoilt."""
    whole = phases.partition

    def wrong(given, network, capacity, **options):
        plan = whole(given, network, capacity, **options)
        plan.phase[plan.phase == 3] = 2
        return plan

    monkeypatch.setattr(phases, "partition", wrong)
    code, out, err = asked(SMALL)
    assert (code, out) == (1, "")
    assert err.startswith("netloom: phase 2, node ")
    assert "too many" in err
