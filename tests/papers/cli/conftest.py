"""What the tests of commands on papers share."""

import sys

import pytest

from netloom.cli import main


@pytest.fixture
def netloom(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder: its exit code, and what it said on both streams."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        words = [word for argument in arguments for word in str(argument).split()]
        monkeypatch.setattr(sys, "argv", ["netloom", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run
