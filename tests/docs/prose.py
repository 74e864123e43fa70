"""What can be counted of prose: long sentences, semicolons, idioms that say little.

``python -m tests.docs.prose docs/map.md src/netloom/words.py`` lists what it finds, by line.
"""

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

MOST_WORDS = 30
"""Words of a sentence."""

IDIOMS = {
    r"what (?:it|this|that|they) buys?": "what it gains",
    r"(?:and|or|it|which) says so": "reports that",
    r"says? of (?:it|them)self": "describes",
    r"that serves?\b": "that suffices",
    r"and then some": "and more",
    r"all the same\b": "still",
    r"\bshall\b": "must, or will",
    r"\bbeforehand\b": "in advance",
    r"whatever becomes of": "regardless of",
    r"\bheld up\b": "delayed",
    r"falls? behind": "saturates",
    r"\bbuys\b": "gains",
    r"\bsome ten\b": "about ten",
    r"\bdearest?\b": "expensive",
    r"times as (?:short|small|few)": "a ratio above 1",
    r"\bhad (?:these|this|it) ": "if",
    r"\bnothing else of\b": "only",
    r"\bknows? (?:nothing )?of\b": "handles",
}
"""Idioms of which the guide says what to write instead, by pattern."""


@dataclass(frozen=True)
class Finding:
    """Something to mend: its rule, where it is, and what is written there."""

    rule: str
    line: int
    text: str


def of_markdown(page):
    """The prose of a page, paragraph by paragraph, with the line where each begins."""
    inside, found, start = False, [], 0
    for number, line in enumerate([*page.splitlines(), ""], start=1):
        if line.startswith(("```", "~~~")):
            inside = not inside
            continue
        bare = line.strip()
        skipped = inside or not bare or re.match(r"[|#<]|!!!|---|:::|\$\$|    ", line) is not None
        begins = re.match(r"(?:[-*+]|\d+\.)\s", bare)
        if skipped or begins:
            yield from [(start, " ".join(found))] * bool(found)
            found = []
        if not skipped:
            start = start if found else number
            found.append(re.sub(r"^(?:[-*+]|\d+\.|>)\s+", "", bare))


def of_python(code):
    """The prose of a module's docstrings, without sections of examples and types."""
    for node in ast.walk(ast.parse(code)):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for each in body:
            plain = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
            if not plain or not isinstance(each.value.value, str):
                continue
            text = re.split(r"\n\s*Examples\n\s*-{3,}", each.value.value)[0]
            for part in re.split(r"\n\s*\n|\n\s*-{3,}\n", text):
                yield each.lineno, " ".join(part.split())


def sentences(paragraph):
    """The sentences of a paragraph, without code, links and numbers' points."""
    plain = re.sub(r"`{1,2}[^`]*`{1,2}", "code", paragraph)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"\b(e\.g|i\.e|cf|vs|Fig|fig|eq|et al|No|p|pp)\.", r"\1", plain)
    return [each for each in re.split(r"(?<=[.!?:])\s+(?=[A-Z(\"`*])", plain) if each.strip()]


def findings(paragraphs):
    """Everything that breaks a rule, in order."""
    for line, paragraph in paragraphs:
        for sentence in sentences(paragraph):
            words = len(re.findall(r"[\w'’.,-]*[A-Za-z][\w'’.,-]*", sentence))
            if words > MOST_WORDS:
                yield Finding(f"{words} words", line, sentence)
            if ";" in sentence:
                yield Finding("semicolon", line, sentence)
            for idiom, better in IDIOMS.items():
                if re.search(idiom, sentence, re.IGNORECASE):
                    yield Finding(f"write '{better}'", line, sentence)


def of_file(path):
    """Everything that breaks a rule in a page or a module."""
    text = path.read_text()
    return list(findings(of_python(text) if path.suffix == ".py" else of_markdown(text)))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for each in of_file(Path(name)):
            sys.stdout.write(f"{name}:{each.line}: {each.rule}: {each.text[:110]}\n")
