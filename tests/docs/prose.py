"""What can be counted of prose: long sentences, semicolons, idioms that say little, spelling.

``python -m tests.docs.prose docs/map.md src/netloom/words.py`` lists what it finds, by line.
"""

import ast
import inspect
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

MOST_WORDS = 30
"""Words of a sentence."""

MOST_SEMICOLONS = 5
"""Semicolons in 1,000 words; one is always allowed."""

ROOT = Path(__file__).resolve().parents[2]

IDIOMS = {
    r"what (?:it|this|that|they) buys?": "what it gains",
    r"(?:and|or|it|which) says so": "reports that",
    r"says? of (?:it|them)self": "describes",
    r"that serves?\b": "that suffices",
    r"and then some": "and more",
    r"\ball the same\b": "still",
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

UNITS = (
    "byte|channel|coordinate|cycle|day|direction|flit|hop|host|level|line|load|message|node|pair"
    "|phase|place|point|port|processor|rate|route|router|row|run|second|seed|side|stage|step|table"
    "|word"
)
COUNTED = (
    r"flits?|cycles?|packets|messages|bytes|words?|clocks?|steps|requests|rows?|columns?|squares?"
    r"|one|\d|(?:one|an?|several|two|so many) (?:task|host|path|rank|link|port|message|packet)s?"
)
TURNS = {
    rf"(?<!how many )(?<!which )\b(?:{COUNTED}) an? (?:{UNITS})\b"
    r"(?! (?:is|has|of (?:their|its|his)|waits|may|can|takes|sends)\b)": "per",
    r"\b(?:[Oo]ne curve|(?:[Oo]ne|a) (?:bar|column|file|line|panel|row)) an? [a-z]": "per",
    r"^[*_(\"“]*Where\b[^,:(?]+, (?!(?:and|as|at|but|by|for|from|if|in|nowhere|on|or|perhaps|to"
    r"|until|what|which|whose|with)\b)[^?]+$": "if, unless it is a place",
    r"^(?:And|Last,)(?=\s)": "also, or finally",
}
"""Turns of speech of which the same holds. Case counts, for these begin sentences."""

SPELLINGS = {
    r"analys(?:ed?|ing|ers?)": "analyze",
    r"(?:un|multi)?colour\w*": "color",
    r"behaviour\w*": "behavior",
    r"(?:un)?favour\w*": "favor",
    r"\w*modell(?:ed|ing)": "modeled",
    r"\w*labell(?:ed|ing)": "labeled",
    r"\w*cancelled": "canceled",
    r"travell\w*": "travel",
    r"cent(?:re[sd]?|red)": "center",
    r"(?:kilo)?metres?": "meter",
    r"catalogues?": "catalog",
    r"(?:utilis|synchronis|optimis|minimis|maximis|normalis|summaris|recognis|organis|serialis"
    r"|initialis|finalis|generalis|parallelis|randomis|realis|polaris|visualis)"
    r"(?:e[sdr]?|ing|ations?)": "with z",
}
"""British spellings, and the American ones; "neighbour" is accepted."""

SPELLED = re.compile(rf"(?<![\w./-])(?:{'|'.join(SPELLINGS)})(?![\w/]|-\w|\.\w)", re.IGNORECASE)
CITED = re.compile(r"\*[^*]+\*(?=, [^*]{0,60}\b(?:19|20)\d\d\b)")
"""The title of a work, which keeps its spelling: in italics, before its year."""

SECTIONS = ("Parameters", "Returns", "Yields", "Raises", "Attributes", "Notes", "Examples")


@dataclass(frozen=True)
class Finding:
    """Something to mend: its rule, where it is, and what is written there."""

    rule: str
    line: int
    text: str


def of_markdown(page):
    """Yield the prose of a page: paragraphs, items, headings and cells, each with its line."""
    fence, listed, found, start = "", False, [], 0
    page = re.sub(r"<!--.*?-->", lambda each: "\n" * each[0].count("\n"), page, flags=re.DOTALL)
    for number, line in enumerate([*page.splitlines(), ""], start=1):
        bare = line.strip()
        if fence or bare.startswith(("```", "~~~", "$$")):
            opened = re.match(r"`{3,}|~{3,}|\$\$", bare)
            if not fence and opened and not (opened[0] == "$$" and bare.endswith("$$", 2)):
                fence = opened[0]
            elif fence and bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
            continue
        item = re.match(r"(?:>\s*)*(?:[-*+]|\d+\.)\s+", bare)
        code = line.startswith("    ") and not listed and not found
        apart = re.match(r"\||#|!!!|:::|---|<[/a-zA-Z]", bare)
        if not bare or code or item or apart:
            yield from [(start, " ".join(found))] * bool(found)
            found = []
        if bare and not line.startswith(" "):
            listed = item is not None
        if not bare or code:
            continue
        if apart:
            yield from ((number, each) for each in apart_of(bare))
            continue
        start = start if found else number
        found.append(re.sub(r"^(?:>\s*)*(?:(?:[-*+]|\d+\.)\s+)?", "", bare))


def apart_of(line):
    """Return the prose of a line that is no part of a paragraph: a heading's, a table row's."""
    if line.startswith("|"):
        cells = [each.strip() for each in re.split(r"(?<!\\)\|", line.strip("|"))]
        return [each for each in cells if each.strip(":- ")]
    if line.startswith("#"):
        return [re.sub(r"\{[^}]*\}", "", line.lstrip("# "))]
    if line.startswith("!!!"):
        return re.findall(r'"([^"]+)"', line)
    return []


def of_python(code):
    """Yield the prose of a module's docstrings: no examples, no names and types of fields."""
    for node in ast.walk(ast.parse(code)):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else []:
            if not isinstance(each, ast.Expr) or not isinstance(each.value, ast.Constant):
                continue
            if isinstance(each.value.value, str):
                yield from of_docstring(each.value.value, each.lineno)


def of_docstring(text, first):
    """Yield the paragraphs of a docstring whose text begins on line ``first``."""
    lines = [*inspect.cleandoc(text).splitlines(), ""]
    section, found, start, example = "", [], 0, False
    for place, line in enumerate(lines):
        bare = line.strip()
        below = lines[place + 1] if place + 1 < len(lines) else ""
        ruled = re.fullmatch(r"-{3,}", bare) is not None
        begins = bare in SECTIONS and re.fullmatch(r"\s*-{3,}\s*", below) is not None
        example = bare.startswith(">>>") or (example and bool(bare))
        # a field's name and type stand at the margin, what is said of it further in
        named = section not in ("", "Notes") and bool(line) and not line.startswith(" ")
        if not bare or ruled or begins or named or example:
            yield from [(first + start, " ".join(found))] * bool(found)
            found = []
        section = bare if begins else section
        if not bare or ruled or begins or named or example or section == "Examples":
            continue
        item = re.match(r"(?:[-*•]|\d+\.)\s+", bare)
        if item and found:
            yield first + start, " ".join(found)
            found = []
        start = start if found else place
        found.append(bare[item.end() :] if item else bare)


def plain(paragraph):
    """Return a paragraph without code, formulas, links' targets and abbreviations' points."""
    text = re.sub(r"(`+)(?:(?!\1).)+\1(?!`)", "§code", paragraph)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", "link", text)
    text = re.sub(r"&\w+;", "", text)
    return re.sub(r"\b(e\.g|i\.e|cf|vs|[Ff]igs?|eqs?|et al|No|pp?|ch|[Ss]ec)\.(?=\s)", r"\1", text)


def sentences(paragraph):
    """Return the sentences of a paragraph; a colon before a capital ends one, too."""
    begins = r"(?=[*_(\"“]*(?:[A-Z0-9§χνλ]|netloom\b))"
    ended = rf"(?<=[.!?…])[*_)\"”]*\s+{begins}|(?<=:)\*{{0,2}}\s+(?=[*_(\"“]*[A-Z])"
    return [each for each in re.split(ended, plain(paragraph)) if each.strip()]


def words(text):
    """Return the words of a text; numbers and formulas count for nothing."""
    return re.findall(r"[\w'’.,-]*[A-Za-z][\w'’.,-]*", text)


def findings(paragraphs):
    """Return everything that breaks a rule, in order; semicolons only if there are too many."""
    found, semicolons, total = [], [], 0
    for line, paragraph in paragraphs:
        for sentence in sentences(paragraph):
            length = len(words(sentence))
            total += length
            if length > MOST_WORDS:
                found.append(Finding(f"{length} words", line, sentence))
            found += [
                Finding(f"write '{better}'", line, sentence)
                for idiom, better in (IDIOMS | TURNS).items()
                if re.search(idiom, sentence, re.IGNORECASE if idiom in IDIOMS else 0)
            ]
            found += [
                Finding(f"American spelling of '{each[0]}'", line, sentence)
                for each in SPELLED.finditer(CITED.sub("*title*", sentence))
            ]
            semicolons += [Finding("semicolon", line, sentence)] * sentence.count(";")
    allowed = max(1, total * MOST_SEMICOLONS // 1000)
    return sorted(found + semicolons[allowed:], key=lambda each: each.line)


def of_file(path):
    """Return everything that breaks a rule in a page or a module."""
    text = path.read_text()
    return findings(of_python(text) if path.suffix == ".py" else of_markdown(text))


def read_by_people():
    """Return the pages and modules that the rules are for, by their path in the project."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    modules = sorted((ROOT / "src").rglob("*.py"))
    return {str(each.relative_to(ROOT)): each for each in [*pages, *modules]}


def counted():
    """Return the number of findings of each page and module that has some."""
    found = Counter({name: len(of_file(path)) for name, path in read_by_people().items()})
    return dict(sorted((+found).items()))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for each in of_file(Path(name)):
            sys.stdout.write(f"{name}:{each.line}: {each.rule}: {each.text[:110]}\n")
