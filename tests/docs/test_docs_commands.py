"""Every ``console`` block of the pages runs, and prints what the page shows.

A line that begins with ``$`` is a command (``\\`` at its end continues it); what follows is what it
prints, ``...`` or ``…`` standing for anything. A page's commands run one after the other in one
folder, which has ``examples/`` in it, so that a later one can read what an earlier one wrote.
"""

import shlex
import sys
from pathlib import Path

import pytest

from netloom.cli import main
from tests.docs.shown_output import PROGRESS, anew, commands, same

DOCS = Path("docs").resolve()
PAGES = sorted(
    page
    for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    if "```console\n" in page.read_text()
)


def run(command, capsys, monkeypatch):
    """Run a command as a shell would: its exit code, and all that it printed."""
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    return end.value.code or 0, said.out + PROGRESS.sub("", said.err)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_pages_commands_print_what_it_shows(page, tmp_path, capsys, monkeypatch):
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    monkeypatch.chdir(tmp_path)
    asked = commands(page.read_text())
    assert asked
    for line, command, shown in asked:
        assert command.startswith("netloom "), f"{page.name}:{line}: only netloom's commands run"
        code, said = run(command, capsys, monkeypatch)
        refused = shown.startswith("netloom: ")
        assert code == (2 if refused else 0), f"{page.name}:{line}: exit code {code}: {said}"
        assert same(shown, said), f"{page.name}:{line}: {command}\n{said}"


def test_an_output_is_rewritten_as_it_was_cut():
    assert anew("a\nb\n", "c\nd \n") == "c\nd\n"
    assert anew("a\n...\nz\n", "1\n2\n3\n") == "1\n...\n3\n"
    assert anew("a\n...\nz\n", "1\n2\n") == "1\n2\n"
