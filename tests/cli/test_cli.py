import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from netloom.cli import main
from netloom.cli.app import app
from netloom.questions.register import functions
from netloom_papers.studies import Row, Validation

EXAMPLES = Path("examples")
LAMMPS = str(EXAMPLES / "lammps-64.mtx")


def netloom(*arguments, cwd=None):
    command = [sys.executable, "-c", "from netloom.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_analyze_prints_the_promised_json():
    done = netloom("analyze", LAMMPS, "--on", "mesh:8x8", "--mapping", "random", "--seed", "1",
                   "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    for spread in ("path_length", "logical_path_length", "channel_load", "weighted_channel_load",
                   "path_contention"):  # fmt: skip
        assert data[spread]["mean"] <= data[spread]["max"]
    assert {"average_node", "worst_node", "upper_bound"} <= data["saturation"].keys()
    assert data["tasks"] == 64
    assert data["paths"] == 591
    assert data["hop_bytes"] > data["dilation"] > 1
    assert data["verdict"]["level"] == "depends-on-load"
    assert data["random_mapping"]["mappings"] == 25


def test_analyze_tells_a_person_and_writes_what_was_asked(tmp_path):
    ranks, mapping = tmp_path / "ranks.txt", tmp_path / "map.json"
    picture = tmp_path / "hot.svg"
    done = netloom(
        "analyze", str(EXAMPLES / "openmpi-monitoring" / "lammps_melt_16"), "--on", "torus:4x4",
        "--mapping", "random", "--rankfile", str(ranks), "--save-mapping", str(mapping),
        "--plot", str(picture), "--offered", "0.2", "--random-mappings", "3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "first node delayed at 36" in done.stdout
    assert "mpirun -np 16" in done.stdout.replace("\n", " ")
    assert len(ranks.read_text().splitlines()) == 16
    assert picture.read_text().startswith("<svg")
    node_of = json.loads(mapping.read_text())["node_of"]
    assert sorted(node_of) == list(range(16))
    again = netloom("analyze", "ring:16", "--on", "torus:4x4", "--mapping", str(mapping),
                    "--random-mappings", "0", "--json")  # fmt: skip
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["analyze", "lost.mtx", "--on", "mesh:8x8"], "lost.mtx: found no such file"),
        (["analyze", LAMMPS, "--on", "mesh:4x4"], "mesh:4x4: found 16 nodes for 64 tasks"),
        (["analyze", LAMMPS, "--on", "mesh:8y8"], "'8y8'"),
        (["analyze", LAMMPS, "--on", "mesh:8x8", "--plot", "hot.gif"], "hot.gif"),
        (["analyze", LAMMPS, "--on", "mesh:8x8", "--rankfile-format", "x", "--rankfile", "r"],
         "format: found 'x'"),
        (["validate", "knuth"], "paper: found 'knuth'"),
        (["validate", "--markdown", "page.txt"], "page.txt: found suffix '.txt'"),
        (["analyze", LAMMPS], "--on: found nothing"),
        (["analyze", LAMMPS, "--on", "mesh:8x8", "--seed", "abc"], "'--seed'"),
        (["analyse", LAMMPS], "command: found 'analyse'; expected analyze"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(arguments, wrong, tmp_path):
    done = netloom(*arguments)
    assert done.returncode == 2
    assert wrong in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(("reason", "code"), [("", 1), ("a misprint", 0)])
def test_validate_fails_on_what_falls_outside_unless_it_is_known(monkeypatch, capsys, reason, code):
    rows = (Row("p", "table 1", "x", printed=10, computed=12, tolerance=0.1, reason=reason),)
    monkeypatch.setattr(
        "netloom_papers.studies.validate", lambda paper, reference: Validation(rows)
    )
    monkeypatch.setattr(sys, "argv", ["netloom", "validate", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code or 0) == code
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert not row["within"]
    assert row["reason"] == reason


def test_validate_prints_the_rate_by_kind(monkeypatch, capsys):
    rows = (
        Row("p", "table 1", "q", 10.0, 12.0, 0.1, "why not", cause="misprint"),
        Row("p", "table 1", "r", 10.0, 10.0, 0.02),
        Row("p", "text", "s", 1.0, 1.0, 0.0, kind="words"),
        Row("p", "table 2", "t", 1.0, 1.0, 0.0, kind="input"),
    )
    monkeypatch.setattr(
        "netloom_papers.studies.validate", lambda paper, reference: Validation(rows)
    )
    monkeypatch.setattr(sys, "argv", ["netloom", "validate"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code or 0) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "printed 2 2 1 50 % 1/1 0/1" in lines
    assert "words 1 1 1 100 % 1/1" in lines
    assert "input 1" in lines
    assert lines[0].startswith("! Reproduced: 1 of 2 printed numbers (50.0 %)")
    assert "outside 1 row, each with its reason, 1 misprint of the paper." in lines[:3]
    assert any(line.startswith("p table 1 q printed 10 12 20 % 10 % ! misprint") for line in lines)


def test_validate_writes_a_table_and_a_page(monkeypatch, capsys, tmp_path):
    rows = (Row("p", "table 1", "q", 10.0, 12.0, 0.1, "why not", cause="misprint"),)
    monkeypatch.setattr(
        "netloom_papers.studies.validate", lambda paper, reference: Validation(rows)
    )
    page, table = tmp_path / "new" / "page.md", tmp_path / "rows.csv"
    words = ["netloom", "validate", "--markdown", str(page), "--csv", str(table)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit):
        main()
    assert f"Page: {page}" in capsys.readouterr().out
    assert "Why not" in page.read_text()
    assert "why not" in table.read_text()


@pytest.mark.parametrize("words", ["", "simulate", "predict", "study"])
def test_without_a_command_it_shows_its_help(words):
    done, helped = netloom(*words.split()), netloom(*words.split(), "--help")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == helped.stdout
    assert len(done.stdout.splitlines()) > 8


def test_version_and_machines():
    assert netloom("--version").stdout.startswith("netloom 0.")
    done = netloom("machines", "--json")
    assert "symult2010" in {each["name"] for each in json.loads(done.stdout)}
    assert "symult2010" in netloom("machines").stdout


ENGINES = ("numba", "scipy", "polars", "altair", "networkx")
"""What only answers need, and what took most of the time of a start."""

HELP = """
import sys
from netloom.cli import main
unwanted, *commands = sys.argv[1:]
for command in commands:
    sys.argv = ["netloom", *command.split(), "--help"]
    try: main()
    except SystemExit: pass
    found = [each for each in unwanted.split() if each in sys.modules]
    assert not found, f"{command} imports {found}"
"""


def asked_for_help(commands, unwanted):
    """Return the help of some commands, in a process that must import nothing unwanted."""
    command = [sys.executable, "-c", HELP, " ".join(unwanted), *commands]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_imports_nothing_heavy():
    asked_for_help([""], (*ENGINES, "numpy", "pydantic"))


def test_the_help_of_a_command_imports_no_engine():
    questions = [words.replace(".", " ") for words in functions()]
    said = asked_for_help([*questions, "compile verify", "run", "results", "report"], ENGINES)
    assert said.count("Usage: ") == len(questions) + 4


def test_help_has_an_example_and_says_where_to_read_on():
    done = netloom("--help")
    assert "Example: netloom analyze" in done.stdout
    assert "docs/index.md" in done.stdout
    assert "--install-completion" in done.stdout


def test_no_help_turns_into_pictures_or_colours():
    from rich.text import Text

    def commands_of(command):
        yield command
        for each in getattr(command, "commands", {}).values():
            yield from commands_of(each)

    for command in commands_of(typer.main.get_command(app)):
        for option in command.params:
            said = getattr(option, "help", None) or ""
            assert Text.from_markup(said).plain == said, (command.name, option.name)


def test_a_shell_completes_commands():
    words = {"_NETLOOM_COMPLETE": "complete_bash", "COMP_WORDS": "netloom an", "COMP_CWORD": "1"}
    program = "import sys; sys.argv[0] = 'netloom'; from netloom.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=False, env=os.environ | words,
    )  # fmt: skip
    assert done.stdout.split() == ["analyze"], done.stderr


def test_one_path_is_not_one_paths(tmp_path):
    (tmp_path / "one.csv").write_text("source,target,bytes\n0,1,8\n")
    file = str(tmp_path / "one.csv")
    done = netloom("analyze", file, "--on", "line:2", "--random-mappings", "1")
    said = " ".join(done.stdout.split())
    assert "one on line:2, rank order" in said
    assert "2 tasks and 1 path on 2 nodes" in said
    assert "the same as 1 random mapping" in said
    assert not re.search(r"\b1 paths(?! met)", said)
