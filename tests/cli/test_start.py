"""How the command line starts: help without engines, completion, the demonstration, Ctrl-C."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netloom.cli.app import COMMANDS, PROGRAM, app
from netloom.questions.register import functions
from netloom_papers.ledger import Row, Validation
from tests.approved.asked import run

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


@pytest.mark.parametrize("words", ["", "simulate", "predict", "study"])
def test_without_a_command_it_shows_its_help(words):
    code, out, err = run(words)
    assert (code, err) == (2, "")
    assert out == run(f"{words} --help")[1]
    assert run("--version")[1].startswith("netloom 0.")


@pytest.mark.parametrize(
    ("typed", "wanted"), [("netloom an", "analyze"), ("netloom analyze --ran", "--random-mappings")]
)
def test_a_shell_completes_commands_and_options(typed, wanted):
    asked = {"_NETLOOM_COMPLETE": "complete_bash", "COMP_WORDS": typed}
    place = {"COMP_CWORD": str(typed.count(" "))}
    done = CliRunner().invoke(app, [], env=asked | place, prog_name="netloom")
    assert wanted in done.output.split()


def test_the_demo_asks_two_questions_and_leaves_their_files(tmp_path):
    done = CliRunner().invoke(app, ["demo", str(tmp_path / "here")])
    assert done.exit_code == 0, done.output
    assert [each[2:] for each in done.output.splitlines() if each[:2] == "$ "] == list(COMMANDS)
    written = {each.name for each in (tmp_path / "here").iterdir()}
    assert written == {PROGRAM, "contention.png", "mapping.png", "ranks.txt"}
    packed = Path("src/netloom/cli/data", PROGRAM).read_bytes()
    assert packed == Path("examples", PROGRAM).read_bytes()


@pytest.mark.parametrize(
    "what",
    [
        "simulate --on mesh:8x8 --load 0.1",
        "simulate --on mesh:8x8 --load 0.1,0.2",
        "simulate saturation --on mesh:8x8",
    ],
)
def test_ctrl_c_prints_what_is_known(what, ctrl_c_after):
    ctrl_c_after(40)
    code, out, _ = run(f"{what} --precision 1e-6 --most-cycles 5000000 --json")
    assert code == 130
    assert json.loads(out)["interrupted"]


@pytest.mark.parametrize(("reason", "code"), [("", 1), ("a misprint", 0)])
def test_validate_fails_on_what_falls_outside_unless_it_is_known(
    monkeypatch, tmp_path, reason, code
):
    """The rows stand for those of papers, which take minutes."""
    rows = (Row("p", "table 1", "x", printed=10, computed=12, tolerance=0.1, reason=reason),)
    monkeypatch.setattr("netloom_papers.ledger.validate", lambda paper, reference: Validation(rows))
    page, table = tmp_path / "new" / "page.md", tmp_path / "rows.csv"
    found, out, _ = run(f"validate --json --markdown {page} --csv {table}")
    assert found == code
    (row,) = json.loads(out)["rows"]
    assert not row["within"]
    assert row["reason"] == reason
    assert reason.capitalize() in page.read_text()
    assert reason in table.read_text()
