"""Pages, help and docstrings keep to the countable rules of prose; see ``tests.docs.prose``."""

import re
from itertools import chain

import pytest
import typer

from netloom.cli.app import app
from netloom.questions.register import all_kinds
from tests.docs.prose import (
    counted,
    findings,
    of_docstring,
    of_markdown,
    of_python,
    sentences,
    words,
)

LONG = "word " * 31 + "end."
MOST_OF_AN_OPTION = 10
"""Words that describe an option, without the values that it takes."""

MOST_WITH_VALUES = 30
"""Words that describe an option, its values included."""


def test_pages_and_modules_are_clean():
    assert counted() == {}, "python -m tests.docs.prose PAGE lists what is to be mended"


def rules(page):
    return [each.rule for each in findings(of_markdown(page))]


@pytest.mark.parametrize(
    "page",
    [
        LONG, f"- {LONG}", f"1. {LONG}", f"> {LONG}", f"# {LONG}", f"| a | {LONG} |\n",
        f"- item\n\n    {LONG}", "word " * 20 + "\n" + "word " * 11 + "end.", f'!!! note "{LONG}"',
    ],
)  # fmt: skip
def test_a_long_sentence_is_found_wherever_it_stands(page):
    assert rules(page) == ["32 words"]


@pytest.mark.parametrize(
    "page",
    [
        f"```\n{LONG}\n```\n", f"    {LONG}\n", f"~~~~text\n```\n{LONG}\n~~~~\n", f"`{LONG}` is.",
        f"- item\n\n    ```console\n    {LONG}\n    ```\n", f"<!--\n{LONG}\n-->\n",
        "[short](" + "a" * 400 + " shall.md)", "$$\nshall ; ; ; ;\n$$\n", "| --- | ---: |",
    ],
)  # fmt: skip
def test_code_comments_and_targets_are_no_prose(page):
    assert rules(page) == []


def test_what_follows_code_is_prose_again():
    assert rules(f"```\n$ netloom\n```\n{LONG}") == ["32 words"]
    assert rules(f"- item\n\nA paragraph.\n\n    {LONG}") == []


def test_lines_are_those_of_the_page():
    page = f"# Title\n\nFine.\n\n- one\n- {LONG}\n\n| a | we shall |\n"
    assert [each.line for each in findings(of_markdown(page))] == [6, 8]


def test_semicolons_are_counted_by_the_thousand_words():
    assert rules("One; two.") == []
    assert rules("One; two; three.") == ["semicolon"]
    text = "Ten plain words make up each of these short sentences. " * 100
    assert rules(f"{text} {'a; b. ' * 5}") == []
    assert rules(f"{text} {'a; b. ' * 7}") == ["semicolon"] * 2


def test_idioms_and_british_spellings_are_found():
    assert rules("Packets are held up.") == ["write 'delayed'"]
    assert rules("It SHALL do.") == ["write 'must, or will'"]
    assert rules("Analyse the utilisation.") == [
        "American spelling of 'Analyse'", "American spelling of 'utilisation'"
    ]  # fmt: skip
    # names are what they are, and neighbours may be British
    assert rules("Take `utilisation` or ecmp-polarised, colour.json, a/colour: neighbours.") == []
    assert rules("By Hafner, *Geometric realisation of graphs*, 2004.") == []
    assert rules("This *realisation* is old.") == ["American spelling of 'realisation'"]
    assert rules("They call the same code.") == []
    assert rules("A noise, a promise and an exercise; five otherwise precise analyses.") == []


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("A channel carries a flit a cycle.", "per"), ("It has several paths a pair.", "per"),
        ("Return one row a shift.", "per"), ("It has 4 flits per cycle, and a node.", None),
        ("It says how many messages a channel carries.", None),
        ("At 300 bytes a host is busy.", None),
        ("Where it is empty, all is well.", "if, unless it is a place"),
        ("Where it contends, and why.", None), ("Where should it run, and why?", None),
        ("The router where it ends, if it does.", None), ("Where: at the end, as a rule.", None),
        ("And it waits.", "also, or finally"), ("Andes and android.", None),
    ],
)  # fmt: skip
def test_turns_of_speech_are_found(sentence, found):
    assert rules(sentence) == ([f"write '{found}'"] if found else [])


@pytest.mark.parametrize(
    ("paragraph", "number"),
    [
        ("One. Two.", 2), ("It is 3.5 times as fast.", 1), ("See e.g. Dally, fig. 3.", 1),
        ("Note: This is one more.", 2), ("Note: this is not.", 1), ("(One.) Two.", 2),
        ("**One.** Two.", 2), ("One. `code` begins two.", 2), ("One! Two? Three", 3),
        ("It waits. netloom reports that.", 2),
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_ends_them(paragraph, number):
    assert len(sentences(paragraph)) == number


def test_docstrings_are_read_without_names_types_and_examples():
    said = f"""Do it.

    It does.

    Parameters
    ----------
    most : {"int | " * 40}
        What is at most.

    Returns
    -------
    array
        The array.

    Notes
    -----
    A note.

    Examples
    --------
    It {LONG}
    >>> shall(1)
    """
    told = [paragraph for _, paragraph in of_docstring(said, 1)]
    assert told == ["Do it.", "It does.", "What is at most.", "The array.", "A note."]


def test_all_docstrings_of_a_module_are_read():
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

    yield from below(typer.main.get_command(app), [])  # fmt: skip


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
    paragraphs = {where: text.split("\n\n") for where, text in told.items()}
    wrong = {
        where: found
        for where, parts in paragraphs.items()
        if (found := list(chain(*(findings([(1, " ".join(each.split()))]) for each in parts))))
    }
    assert wrong == {}, wrong
