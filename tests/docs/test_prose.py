"""Pages, help and docstrings keep to the countable rules of prose; see ``tests.docs.prose``."""

import re
from itertools import chain

import pytest
import typer

from netloom.cli.app import app
from netloom.questions.register import all_kinds
from tests.docs.prose import counted, findings, of_docstring, of_markdown, of_python, words

LONG = "word " * 31 + "end."
MOST_OF_AN_OPTION = 10
"""Words that describe an option, without the values that it takes."""

MOST_WITH_VALUES = 30
"""Words that describe an option, its values included."""


def test_pages_and_modules_are_clean():
    assert counted() == {}, "python -m tests.docs.prose PAGE lists what is to be mended"


@pytest.mark.parametrize(
    "page",
    [
        LONG, f"- {LONG}", f"1. {LONG}", f"> {LONG}", f"# {LONG}", f"| a | {LONG} |\n",
        f"- item\n\n    {LONG}", "word " * 20 + "\n" + "word " * 11 + "end.", f'!!! note "{LONG}"',
        f"```\n$ netloom\n```\n{LONG}",
    ],
)  # fmt: skip
def test_a_long_sentence_is_found_wherever_it_stands(page):
    assert [each.rule for each in findings(of_markdown(page))] == ["32 words"]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("One; two.", None), ("One; two; three.", "semicolon"),
        ("Packets are held up.", "write 'delayed'"), ("It SHALL do.", "write 'must, or will'"),
        ("Analyse it.", "American spelling of 'Analyse'"),
        ("Take `utilisation` or ecmp-polarised, colour.json, a/colour: neighbours.", None),
        ("By Hafner, *Geometric realisation of graphs*, 2004.", None),
        ("This *realisation* is old.", "American spelling of 'realisation'"),
        ("A noise, a promise and an exercise; five otherwise precise analyses.", None),
        ("A channel carries a flit a cycle.", "write 'per'"), ("Return one row a shift.",
         "write 'per'"), ("It has 4 flits per cycle, and a node.", None),
        ("It says how many messages a channel carries.", None),
        ("Where it is empty, all is well.", "write 'if, unless it is a place'"),
        ("Where it contends, and why.", None), ("The router where it ends, if it does.", None),
        ("And it waits.", "write 'also, or finally'"), ("Andes and android.", None),
    ],
)  # fmt: skip
def test_idioms_spellings_and_turns_of_speech_are_found(sentence, found):
    assert [each.rule for each in findings(of_markdown(sentence))] == [found] * (found is not None)


def test_docstrings_of_a_module_are_read_without_names_types_and_examples():
    said = f"""Do it.

    Parameters
    ----------
    most : {"int | " * 40}
        What is at most.

    Notes
    -----
    A note.

    Examples
    --------
    It {LONG}
    >>> shall(1)
    """
    told = [paragraph for _, paragraph in of_docstring(said, 1)]
    assert told == ["Do it.", "What is at most.", "A note."]
    method = f'    def c(self):\n        """Do.\n\n        {LONG}\n        """\n'
    module = '"""One."""\nA = 1\n"""Two."""\nclass B:\n    """Three."""\n' + method
    found = list(of_python(module))
    assert [paragraph for _, paragraph in found][:4] == ["One.", "Two.", "Three.", "Do."]
    assert [each.line for each in findings(found)] == [9]


def commands():
    """Yield all commands that the help lists, with their words."""

    def below(command, said):
        names = command.list_commands(None) if hasattr(command, "list_commands") else []
        for name in names:
            yield from below(command.get_command(None, name), [*said, name])
        if not names:
            yield " ".join(said), command

    yield from below(typer.main.get_command(app), [])


def described():
    """Return what the help says of each option, by where it stands."""
    found = {}
    for kind in all_kinds():
        for name, field in kind.question.model_fields.items():
            found[f"{kind.words}: {name}"] = field.description
        for each in chain(kind.outputs, *(output.settings for output in kind.outputs)):
            found[f"{kind.words}: {each.name}"] = each.said
    for said, command in commands():
        for each in command.params:
            if text := getattr(each, "help", None):
                found.setdefault(f"{said.replace(' ', '.')}: {each.name}", text)
    return found


def test_options_are_described_in_ten_words_and_their_values():
    wrong = {}
    for where, text in described().items():
        first = re.split(r":(?=\s)|\.(?=\s|$)|\(", text)[0]
        most = MOST_WITH_VALUES if ":" in text or "(" in text else MOST_OF_AN_OPTION
        bad = findings([(1, text)])
        if len(words(first)) > MOST_OF_AN_OPTION or len(words(text)) > most or bad:
            wrong[where] = text
    assert wrong == {}, wrong


def test_commands_are_summarized_in_clean_sentences():
    told = {kind.words: kind.told for kind in all_kinds()}
    told |= {said: command.help or "" for said, command in commands()}
    wrong = [
        (where, found)
        for where, text in told.items()
        for part in text.split("\n\n")
        for found in findings([(1, " ".join(part.split()))])
    ]
    assert wrong == []
