"""Short answers: the verdict that a command prints, or the line that refuses it.

``verdicts.txt`` has a command after ``$``, below it perhaps figures that its answer is given
(``= {"interrupted": true}``; in a list, those of every entry), and then what is said.
``python -m tests.approved.verdicts`` shows what changed, with ``--accept`` it keeps that. Write the
first two lines of a new entry by hand.
"""

import difflib
import json
import sys
from functools import lru_cache
from typing import NamedTuple

from netloom.questions.register import by_verb
from tests.approved.asked import HERE, MASKED, in_a_folder, run

KEPT = HERE / "verdicts.txt"


class Entry(NamedTuple):
    """A command, the figures that are changed in its answer, and what is said."""

    command: str
    changed: str
    said: str

    def text(self):
        """The lines of the entry in the file."""
        changed = [f"= {self.changed}"] if self.changed else []
        return "\n".join([f"$ {self.command}", *changed, self.said])


def entry(block):
    """The entry of a block of the file."""
    command, *rest = block.splitlines()
    changed = rest.pop(0) if rest and rest[0].startswith("= ") else ""
    return Entry(command.removeprefix("$ "), changed.removeprefix("= "), "\n".join(rest))


def kept():
    """All blocks of the file, in order: entries, and comments as they stand."""
    blocks = KEPT.read_text().rstrip("\n").split("\n\n")
    return [entry(block) if block.startswith("$ ") else block for block in blocks]


@lru_cache(maxsize=4)
def answered(command):
    """The figures of a command's answer, or the line that refuses it."""
    code, out, err = run(f"{command} --json")
    return json.loads(out) if code == 0 else err.rstrip()


def merged(figures, changes):
    """Figures with others in their place."""
    if isinstance(figures, list) and isinstance(changes, dict):
        return [merged(each, changes) for each in figures]
    if isinstance(figures, dict) and isinstance(changes, dict):
        same = {name: merged(figures.get(name), each) for name, each in changes.items()}
        return figures | same
    return changes


def answer_of(entry):
    """The answer of an entry, or the line that refuses it."""
    figures = answered(entry.command)
    if isinstance(figures, str):
        return figures
    verb = figures["provenance"]["verb"]
    return by_verb(verb).read(merged(figures, json.loads(entry.changed or "{}")))


def said_now(entry):
    """What the program says now."""
    found = answer_of(entry)
    if isinstance(found, str):
        return found
    lines = [each.plain.rstrip() for each in found.verdict.text(80)]
    return MASKED.sub("#", "\n".join(lines))


if __name__ == "__main__":
    with in_a_folder():
        now = [
            each._replace(said=said_now(each)) if isinstance(each, Entry) else each
            for each in kept()
        ]
    text = "\n\n".join(each.text() if isinstance(each, Entry) else each for each in now) + "\n"
    before = KEPT.read_text()
    lines = difflib.unified_diff(before.splitlines(True), text.splitlines(True), n=1)
    sys.stdout.writelines(lines)
    if "--accept" in sys.argv:
        KEPT.write_text(text)
