"""The demonstration runs where nothing else is installed, and leaves files to try again."""

from pathlib import Path

from typer.testing import CliRunner

from netloom.cli.app import COMMANDS, PROGRAM, app


def test_the_demo_asks_two_questions_and_leaves_their_files(tmp_path):
    done = CliRunner().invoke(app, ["demo", str(tmp_path / "here")])
    assert done.exit_code == 0, done.output
    assert [each[2:] for each in done.output.splitlines() if each[:2] == "$ "] == list(COMMANDS)
    written = {each.name for each in (tmp_path / "here").iterdir()}
    assert written == {PROGRAM, "contention.png", "mapping.png", "ranks.txt"}


def test_its_program_is_the_one_of_the_examples():
    packed = Path("src/netloom/cli/data", PROGRAM).read_bytes()
    assert packed == Path("examples", PROGRAM).read_bytes()
