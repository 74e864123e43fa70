"""Experiment files: many questions in one TOML file, checked before the first is asked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED, code_version
from netloom.base.textfiles import read_text
from netloom.base.toml_lines import find_lines
from netloom.experiments.inputs import Input, find_inputs, renamed
from netloom.experiments.points import Point, hashed
from netloom.experiments.values import is_range, values_of
from netloom.questions.named import find_network
from netloom.questions.register import all_words, heads, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netloom.questions.register import Kind

MOST_POINTS = 1_000_000
"""Most points of an experiment."""

MOST_BYTES = 2**24
"""Most bytes of an experiment file."""

HEADINGS = ("title", "question")
"""What an experiment file says in words."""

SHARED = "all"
"""The table whose fields all others have that know them."""

SETTINGS = {"repeat": (1, 1, 10_000), "knee": (3, 0, 20)}
"""What a table says beside the fields of its question: the default, the least and the most."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """An experiment file, checked.

    Attributes
    ----------
    path, text
        The file.
    title, question
        Its description, in words.
    points
        All questions, but those that are added near the knee of a curve.
    inputs
        The files that its questions name, by their names.
    """

    path: Path
    text: str
    title: str
    question: str
    points: tuple[Point, ...]
    inputs: Mapping[str, Input]

    @cached_property
    def key(self) -> str:
        """Hash of what it asks: the file, the content of what that names, and netloom's code."""
        return hashed([self.text, [point.key for point in self.points], code_version()])


class _Section(NamedTuple):
    """One table of questions: its words, which one of that name, and what it has."""

    words: str
    place: int
    table: Mapping[str, Any]

    @property
    def kind(self) -> Kind:
        """What it asks: a table of one word may be short for one of two, ``heads``."""
        if self.words in all_words():
            return kind_of(self.words)
        return kind_of(f"{self.words}.{heads()[self.words].usual}")

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.words}#{self.place + 1}" if self.place else self.words


class _File(NamedTuple):
    """An experiment file while it is checked: where it is, and where in it keys are."""

    path: Path
    lines: Mapping[tuple[str, int, str], int]

    def wrong(self, section: _Section | None, key: str, error: InputError) -> InputError:
        """Return an error of a key with the line that it is in."""
        words, place = (section.words, section.place) if section else ("", 0)
        own = section is not None and key in section.table
        head = words.partition(".")[0]
        places = [(words, place, key), (words, place, ""), ("", 0, head)]
        if not own:
            places.insert(1, (SHARED, 0, key))
        line = next((self.lines[each] for each in places if each in self.lines), 1)
        said = dict.fromkeys(each for each in (key, error.where) if each)
        where = [f"{self.path}:{line}", " ".join([f"[{words}]"] * bool(words) + list(said)[:1])]
        where += list(said)[1:]
        return InputError(": ".join(filter(None, where)), error.found, error.wanted)


def read_experiment(path: str | Path) -> Experiment:
    """Read and check an experiment file.

    Its tables are named as commands are, ``[analyze]``, ``[simulate.loop]`` and so on, or several
    of a name, ``[[map]]``. ``[simulate]`` is short for ``[simulate.load]``. Their fields
    are those of ``netloom.questions``. Lists and ranges make a grid of points.

    Raises
    ------
    InputError
        Naming the line and the field that is wrong, what was found and what would do.
    """
    path = Path(path)
    text = read_text(path, wanted="an experiment file, .toml", most_bytes=MOST_BYTES)
    try:
        whole = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # besides syntax: numbers, or depth, past sense
        raise InputError(str(path), f"no TOML: {error}", "tables and 'key = value'") from None
    file = _File(path, find_lines(text))
    title, question = (_words(file, name, whole.pop(name, "")) for name in HEADINGS)
    shared = whole.pop(SHARED, {})
    if not isinstance(shared, dict):
        raise file.wrong(None, SHARED, InputError(SHARED, repr(shared), f"a table, [{SHARED}]"))
    sections = list(_sections(file, whole))
    if not sections:
        raise InputError(str(path), "no questions", f"a table such as [{next(iter(all_words()))}]")
    _check_shared(file, shared, sections)
    inputs: dict[str, Input] = {}
    every = (point for section in sections for point in _points(file, section, shared, inputs))
    points = list(islice(every, MOST_POINTS + 1))
    if len(points) > MOST_POINTS:
        raise InputError(str(path), f"over {MOST_POINTS:,} points", f"at most {MOST_POINTS:,}")
    return Experiment(path, text, title, question, tuple(points), inputs)


def _words(file: _File, name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise file.wrong(None, name, InputError(name, repr(value), "words"))
    return value


def _sections(file: _File, whole: Mapping[str, Any]) -> Iterator[_Section]:
    """Yield the tables of questions, in the order of commands."""
    heads = {words.partition(".")[0] for words in all_words()}
    for head, found in whole.items():
        if head not in heads:
            names = [*all_words(), *HEADINGS, SHARED]
            key = head if (("", 0, head)) in file.lines else ""
            section = None if key else _Section(head, 0, {})
            raise file.wrong(section, key, InputError(key, "no such table", _near(head, names)))
        places: dict[str, int] = {}
        for table in found if isinstance(found, list) else [found]:
            for words, part in _commands(file, head, table):
                place = places.get(words, 0)
                places[words] = place + 1
                yield _Section(words, place, part)


def _commands(file: _File, head: str, table: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a table, and those in it that are of subcommands, such as ``predict.latency``."""
    wrong = InputError(head, repr(table), f"a table, [{head}]")
    if not isinstance(table, dict):
        raise file.wrong(None, head, wrong)
    below = {
        words.partition(".")[2]: words for words in all_words() if words.startswith(f"{head}.")
    }
    short = head in all_words() or (head in heads() and heads()[head].usual != "")
    if short:  # a field may have the name of a question
        below = {name: words for name, words in below.items() if _is_table(table.get(name))}
    own = {name: value for name, value in table.items() if name not in below}
    if short and (own or not table):
        yield head, own
    elif own or not table:
        name = next(iter(own), "")
        found = InputError("", "no such table", _near(name, below, head))
        raise file.wrong(_Section(f"{head}.{name}", 0, {}), "", found)
    for name, words in below.items():
        for part in table[name] if isinstance(table.get(name), list) else [table.get(name)]:
            if part is not None:
                if not isinstance(part, dict):
                    raise file.wrong(_Section(head, 0, {}), name, wrong)
                yield words, part


def _is_table(value: Any) -> bool:
    """Whether a value is a table, or several of one name, and not a range of numbers."""
    several = value if isinstance(value, list) else [value]
    return bool(several) and all(isinstance(each, dict) and not is_range(each) for each in several)


def _points(
    file: _File, section: _Section, shared: Mapping[str, Any], inputs: dict[str, Input]
) -> Iterator[Point]:
    """Yield the points of a table, the curve's field and the seed varying fastest."""
    kind = section.kind
    repeat, knee = (_setting(file, section, name, shared) for name in SETTINGS)
    own = {name: value for name, value in section.table.items() if name not in SETTINGS}
    known = kind.question.model_fields
    given = {name: value for name, value in shared.items() if name in known and name not in own}
    fields = given | own
    _check_names(file, section, kind, fields)
    axes = _axes(file, section, fields, kind, repeat)
    if prod(map(len, axes.values())) > MOST_POINTS:
        many = InputError("", f"{prod(map(len, axes.values())):,} points", f"{MOST_POINTS:,}")
        raise file.wrong(section, "", many)
    checked: set[str] = set()
    seen: set[str] = set()
    for values in product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        varied = {
            name: value
            for name, value in chosen.items()
            if len(axes[name]) > 1 or name == kind.sweep
        }
        asked = fields | chosen
        point = _point(file, section, kind, asked, varied, knee, inputs, checked)
        if point.key not in seen:  # what a list says twice is one point
            seen.add(point.key)
            yield point


def _point(
    file: _File,
    section: _Section,
    kind: Kind,
    fields: Mapping[str, Any],
    varied: Mapping[str, Any],
    knee: int,
    inputs: dict[str, Input],
    checked: set[str],
) -> Point:
    """Return a point, if its question can be asked."""
    files = {}
    try:
        fields = kind.repeatable(dict(fields))
        for each in find_inputs(kind.question, fields, file.path.parent):
            if each.name not in inputs:
                inputs[each.name] = each
            files[each.name] = inputs[each.name].digest
        sweep = kind.sweep if kind.sweep in fields else ""
        point = Point(section.name, kind.verb, fields, varied, files, sweep, knee)
        names = {name: str(inputs[name].path) for name in files}
        _check_network(renamed(dict(fields), names), checked)
    except InputError as error:
        key = error.where.partition(":")[0]
        if "list" in error.wanted and key in varied:
            hint = f"{error.wanted}; a list is one value inside another: {key} = [[...]]"
            error = InputError(error.where, error.found, hint)
        raise file.wrong(section, key if key in fields else "on", error) from None
    return point


def _axes(
    file: _File, section: _Section, fields: Mapping[str, Any], kind: Kind, repeat: int
) -> dict[str, list[Any]]:
    """Return the values of every field that has several, or may have: the curve's, the seed's."""
    axes = {}
    for name, value in fields.items():
        try:
            values = values_of(name, value, kind.levels if name == kind.sweep else None)
        except InputError as error:
            raise file.wrong(section, name, error) from None
        if values is not None:
            axes[name] = values
    if repeat > 1:
        first = fields.get("seed", DEFAULT_SEED)
        repeats = "seed" in kind.question.model_fields and isinstance(first, int)
        if not repeats and "repeat" in section.table:
            what = "a list of seeds as well" if "seed" in axes else "nothing that chance decides"
            raise file.wrong(section, "repeat", InputError("repeat", what, "no repetitions"))
        if repeats:  # what is said for all is of no matter to the others
            axes["seed"] = [first + number for number in range(repeat)]
    for last in (kind.sweep, "seed"):
        if last in axes:
            axes[last] = axes.pop(last)
    return axes


def _setting(file: _File, section: _Section, name: str, shared: Mapping[str, Any]) -> int:
    default, least, most = SETTINGS[name]
    value = section.table.get(name, shared.get(name, default))
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        wanted = f"a whole number from {least} to {most}"
        raise file.wrong(section, name, InputError(name, repr(value), wanted))
    return value


def _check_names(file: _File, section: _Section, kind: Kind, fields: Mapping[str, Any]) -> None:
    """Raise InputError at the first field that the question does not have."""
    known = kind.question.model_fields
    for name in fields:
        if name not in known:
            raise file.wrong(section, name, InputError(name, "no such field", _near(name, known)))


def _check_shared(file: _File, shared: Mapping[str, Any], sections: list[_Section]) -> None:
    """Raise InputError at the first field for all that no question has."""
    known: dict[str, Any] = dict(SETTINGS)
    for section in sections:
        known |= section.kind.question.model_fields
    for name in shared:
        if name not in known:
            wrong = InputError(name, "no such field", _near(name, known))
            raise file.wrong(_Section(SHARED, 0, {}), name, wrong)


def _check_network(fields: Mapping[str, Any], checked: set[str]) -> None:
    """Raise InputError if there is no such network. Each is looked at once."""
    on = fields.get("on")
    if isinstance(on, str) and on not in checked:
        find_network(on, failed_channels=None, failed_nodes=None)
        checked.add(on)


def _near(name: str, known: Mapping[str, Any] | list[str], head: str = "") -> str:
    """Return what was perhaps meant, or else all that there is."""
    before = f"{head}." if head else ""
    near = get_close_matches(name, known, n=1)
    return f"{before}{near[0]}, perhaps" if near else ", ".join(f"{before}{each}" for each in known)
