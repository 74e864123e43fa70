"""The help of every question's command: short, an example first, and where to read on."""

import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from netloom.cli.app import app
from netloom.cli.commands import all_groups
from netloom.questions import register
from netloom.questions.base import description_of
from netloom.questions.register import all_kinds, listed

KINDS = list(all_kinds())
TWO_SCREENS = 104
"""Lines of two terminals, one letter in 80 wide."""


@pytest.fixture(params=KINDS, ids=lambda kind: kind.words)
def kind(request):
    return request.param


@pytest.fixture
def helped(kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = CliRunner().invoke(app, [*kind.words.split("."), "--help"])
    assert result.exit_code == 0, result.output
    return result.output


def test_help_begins_with_an_example_and_ends_with_a_page_that_is_there(kind, helped):
    lines = helped.rstrip().splitlines()
    assert lines[0].startswith("Example: netloom ")
    assert lines[-1] == f"More: docs/{kind.page}"
    assert Path("docs", kind.page).is_file()
    assert len(lines) <= TWO_SCREENS
    assert max(map(len, lines)) <= 80


def test_help_says_what_every_field_is(kind, helped):
    said = " ".join(helped.split())
    written = {each.asks for each in kind.outputs}
    for name, field in kind.question.model_fields.items():
        assert field.description, name
        assert field.description[0].isupper() or field.description.split()[0] in said, name
        if f"--{name.replace('_', '-')}" in said and name not in written:
            assert " ".join(description_of(kind.question, name).split()) in said, name


def test_the_example_is_a_command(kind):
    assert kind.example.startswith("netloom ")
    words = shlex.split(kind.example)[1:]
    top = typer.main.get_command(app)
    name, command, rest = top.resolve_command(top.make_context("netloom", ["x"]), words)
    assert name == kind.words.replace(".", " ")
    given = command.make_context(name, rest).params
    assert {each for each in kind.question.model_fields if given.get(each) is not None}


def test_the_list_of_commands_says_what_the_function_says(kind):
    """The list is read without importing a question, so its line stands in the folder too."""
    assert listed()[kind.words].summary == kind.told.partition("\n")[0]


def said_by(*words):
    return CliRunner().invoke(app, words)


def test_every_command_is_in_one_group_of_the_help(monkeypatch):
    own = {words: kind for words, kind in register._DECLARED.items() if words in listed()}
    monkeypatch.setattr(register, "_DECLARED", own)  # without toys of other tests
    lines = said_by("--help").output.splitlines()
    for group, names in all_groups().items():
        start = lines.index(group)
        below = lines[start + 1 : lines.index("", start)]
        assert [line.split()[0] for line in below if line[2] != " "] == names


def test_the_short_help_is_shorter_and_tells_of_the_long_one(kind):
    short, long = (said_by(*kind.words.split("."), flag).output for flag in ("-h", "--help"))
    assert short.count("\n") <= long.count("\n")
    assert "<int>" not in long
    assert "<bool>" not in long
    assert short.splitlines()[0] == long.splitlines()[0]
    assert short.rstrip().endswith(f"{kind.words.replace('.', ' ')} --help")
