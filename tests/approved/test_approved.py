"""Each command of the table answers what ``said/`` has: its words, its JSON, its exit code.

``python -m tests.approved`` shows what changed, ``python -m tests.approved --accept NAME`` renews
what was read and found right.
"""

import pytest

from tests.approved.asked import SAID, approved, asked_for, in_a_folder
from tests.approved.drawn import KEPT, drawn

COMMANDS = asked_for()


@pytest.fixture(scope="module", autouse=True)
def folder():
    with in_a_folder():
        yield


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_answers_as_it_did(name):
    assert approved(COMMANDS[name]) == (SAID / f"{name}.txt").read_text()


def test_what_is_kept_belongs_to_a_command():
    assert {path.stem for path in SAID.iterdir()} == set(COMMANDS)


def test_drawn_answers_are_those_that_were_kept():
    assert drawn() == KEPT.read_text().splitlines()
