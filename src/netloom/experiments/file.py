"""Experiment files: many questions in one TOML file, checked before the first is asked."""

from __future__ import annotations

import json
import os
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from glob import escape
from hashlib import file_digest, sha256
from itertools import islice, product
from math import floor, isfinite, prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pydantic.json_schema import GenerateJsonSchema, PydanticJsonSchemaWarning
from pydantic_core import PydanticOmit

from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED, code_version, source_digest
from netloom.base.textfiles import find_lines, read_text
from netloom.machines.named_machines import network_file
from netloom.questions.base import MOST_NUMBERS, Question, ask, told_of
from netloom.questions.named import find_network
from netloom.questions.register import Kind, all_kinds, all_words, by_verb, heads, kind_of
from netloom.workload.programs.training.recorded import groups_file

RANGE = {"from", "to"}, {"from", "to", "step", "factor"}
"""The keys that a range has at least, and at most."""


def values_of(
    field: str, value: Any, levels: Callable[[Any], Iterable[Any]] | None = None
) -> list[Any] | None:
    """Return the values that a field of an experiment file takes. None if it has just the one.

    Parameters
    ----------
    field, value
        As in the file. A list is one value a point, of which a list is one that is a list itself.
        ``{from = 1, to = 8, step = 1}`` and ``{from = 64, to = 4096, factor = 4}`` are ranges with
        both ends.
    levels
        What reads the values in which points form a curve: they rise, none is there twice.

    Raises
    ------
    InputError
        If it is no such list or range.

    Examples
    --------
    >>> values_of("vcs", {"from": 1, "to": 8, "factor": 2})
    [1, 2, 4, 8]
    >>> values_of("app", "ring:8")
    >>> values_of("load", "0.1,0.2", lambda text: map(float, text.split(",")))
    [0.1, 0.2]
    """
    found = value if isinstance(value, list) else None
    if is_range(value):
        found = _range(field, value)
    if found is not None and not found:
        raise InputError(field, "an empty list", "one value at least")
    if levels is None:
        return found
    return list(levels(value if found is None else found))


def is_range(value: Any) -> bool:
    """Whether a value has the keys of a range."""
    return isinstance(value, dict) and RANGE[0] <= value.keys() <= RANGE[1]


def _range(field: str, given: dict[str, Any]) -> list[int | float]:
    """Return the values of a range, both ends among them."""
    numbers = list(given.values())
    plain = all(type(each) in (int, float) and isfinite(each) for each in numbers)
    first, last, step = given["from"], given["to"], given.get("step", 1)
    factor = given.get("factor", 1)
    rises = plain and len(given) <= 3 and first <= last
    if not (rises and (factor > 1 and first > 0 if "factor" in given else step > 0)):
        wanted = "numbers: from, to that is not below it, and a step above 0 or a factor above 1"
        raise InputError(field, repr(given), wanted)
    found: list[int | float] = []
    if "factor" in given:
        while first <= last * (1 + 1e-12) and len(found) <= MOST_NUMBERS:
            found.append(first)
            first *= factor
    else:
        count = floor(min((last - first) / step + 1e-9, MOST_NUMBERS)) + 1
        found = [first + step * place for place in range(count)]
    if len(found) > MOST_NUMBERS:
        raise InputError(field, f"over {MOST_NUMBERS} values", f"at most {MOST_NUMBERS}")
    whole = all(isinstance(each, int) for each in numbers)
    return [each if whole else round(each, 12) for each in found]


@dataclass(frozen=True)
class Point:
    """One question of an experiment, not yet answered.

    Attributes
    ----------
    section
        The table of the experiment file that asks, such as ``simulate`` or ``predict.latency``.
        ``simulate#2`` for the second of several.
    verb
        The function of ``netloom.questions`` that answers.
    fields
        Its arguments. Files are named relative to the experiment's folder.
    varied
        Those of the fields in which the points of the section differ, in the file's order, then the
        load, even if there is only one, and with repetitions also ``seed``.
    files
        Hashes of the content of the files that it names, by their names in ``fields``.
    sweep
        The field in which points form a curve up to saturation (``load``), or "".
    knee
        How many loads are added on the curve where it saturates.
    key
        Hash of everything that the answer depends on: verb, full configuration, the content of
        files, and the code that answers. Worked out where it is not given.

    Raises
    ------
    InputError
        If a field of the question is wrong.
    """

    section: str
    verb: str
    fields: Mapping[str, Any]
    varied: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    sweep: str = ""
    knee: int = 0
    key: str = ""

    def __post_init__(self) -> None:
        """Work out the key. A field of the question that is wrong is found here."""
        if self.key:
            return
        kind, code = by_verb(self.verb), code_version()
        question, package = ask(kind.question, self.fields), kind.module.partition(".")[0]
        if package != "netloom":  # whose own code answers as well
            origin = Path(str(sys.modules[package].__file__))
            own = origin.parent if origin.name == "__init__.py" else origin
            code = f"{code} {source_digest(own)}"
        whole = {
            "verb": self.verb,
            "configuration": question.configuration(),
            "files": dict(self.files),
            "code": code,
        }
        object.__setattr__(self, "key", hashed(whole))

    @property
    def curve(self) -> str:
        """What points of the same curve have in common: all but the load, and the seed."""
        where = {self.sweep, "seed"} if self.sweep else set()
        others = {name: value for name, value in self.fields.items() if name not in where}
        return hashed([self.section, others, self.key if not self.sweep else ""])

    @property
    def described(self) -> str:
        """What it is called in messages: its section, and what varies there."""
        return " ".join([f"[{self.section}]", *(f"{k}={v}" for k, v in self.varied.items())])

    @property
    def level(self) -> float:
        """Where on its curve it is, or 0 for a point that is on none."""
        return float(self.fields[self.sweep]) if self.sweep else 0.0

    def at(self, level: float) -> Point:
        """Return the same question at another place of its curve."""
        there = {self.sweep: level}
        return replace(
            self, fields={**self.fields, **there}, varied={**self.varied, **there}, key=""
        )


def hashed(data: Any) -> str:
    """Return a hash of plain data, which does not depend on the order of what has names.

    Examples
    --------
    >>> hashed({"a": 1, "b": 2}) == hashed({"b": 2, "a": 1})
    True
    """
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode()).hexdigest()


PREFIXES = ("graph", "routes", "fabric", "lfts", "machine", "chakra", "kineto")
"""What may stand before a file, with a colon. So may the process graphs of other packages."""


GLOB = "*?["
"""What makes a name one of many, so does ``%d``, which stands for a rank."""

_UNPACKED: dict[str, TemporaryDirectory[str]] = {}
"""Folders of this process, by the digest of what is in them."""


@dataclass(frozen=True)
class Input:
    """A file, or a folder or glob of files, that an experiment names.

    Attributes
    ----------
    name, path
        As it is written in the experiment, and where it is.
    files
        Its files, by their names in its folder.
    """

    name: str
    path: Path
    files: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.path if self.path.is_dir() else self.path.parent

    def contents(self) -> dict[str, bytes]:
        """Return what is in its files."""
        return {name: (self.folder / name).read_bytes() for name in self.files}

    @property
    def digest(self) -> str:
        """A hash of its content, whatever it is called."""
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[str, list[tuple[int, int]]]:
        """The digest, and the stamps of the files just before: what changes later is seen."""
        stamps = self._stamps()
        found = sha256()
        for name in self.files:
            if self.files != (self.path.name,):  # in a folder, names tell files apart
                found.update(sha256(name.encode()).digest())
            with (self.folder / name).open("rb") as stream:
                found.update(file_digest(stream, "sha256").digest())
        return found.hexdigest(), stamps

    def check_unchanged(self) -> None:
        """Raise InputError if its files are no longer those that the digest is of."""
        try:
            same = self._read[1] == self._stamps()
        except OSError:
            same = False
        if not same:
            found = "a file that was changed while it was asked about"
            raise InputError(str(self.path), found, "the same one to the end; run it again")

    def _stamps(self) -> list[tuple[int, int]]:
        found = [(self.folder / name).stat() for name in self.files]
        return [(each.st_mtime_ns, each.st_size) for each in found]


def find_inputs(kind: type[Question], fields: Mapping[str, Any], folder: Path) -> Iterator[Input]:
    """Yield the files that the fields of a question name, relative to the experiment's folder."""
    for asked in kind.model_fields:
        if not told_of(kind, asked).file:
            continue
        for text in _strings(fields.get(asked)):
            for name in _candidates(text):
                path = Path(os.path.abspath(folder / name))  # noqa: PTH100 (keeps links)
                try:
                    found = _input(name, path)
                except (OSError, ValueError) as error:
                    raise InputError(asked, f"'{name}' ({error})", "a name of a file") from None
                if found is not None:
                    yield found


def _input(name: str, path: Path) -> Input | None:
    """Return the file, or the files, that are called so. None if it is no file's name."""
    if path.is_file():
        return Input(name, path, (path.name, *_beside(path)))
    folder, pattern, groups = path.parent, path.name, tuple[Path, ...]()
    if path.is_dir():
        folder, pattern = path, "*"
    elif "%d" in path.name:
        pattern, groups = escape(path.name).replace("%d", "[0-9]*"), groups_file(path)
    elif not any(sign in name for sign in GLOB):
        return None
    files = sorted(each.name for each in folder.glob(pattern) if each.is_file())
    if not (files or path.is_dir()):
        return None
    return Input(name, path, (*files, *(each.name for each in groups if each.is_file())))


def _beside(path: Path) -> tuple[str, ...]:
    """Return the file that a machine file names, in its folder or below."""
    named = network_file(path) if path.suffix == ".toml" else ""
    if not named:
        return ()
    if Path(named).is_absolute() or ".." in Path(named).parts:
        wanted = "one in the machine file's folder, which an experiment takes along"
        raise InputError(str(path), f"a network's file elsewhere, '{named}'", wanted)
    return (named,)


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return plain data in which every file has another name.

    Examples
    --------
    >>> renamed({"app": ["a.mtx@0-3", "ring:4"]}, {"a.mtx": "/data/a.mtx"})
    {'app': ['/data/a.mtx@0-3', 'ring:4']}
    """
    if isinstance(value, str):
        for name in _candidates(value):
            if name in names:
                return value.replace(name, names[name], 1)
        return value
    if isinstance(value, dict):
        return {key: renamed(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(each, names) for each in value]
    return value


def unpack(name: str, digest: str, contents: Mapping[str, bytes]) -> str:
    """Write the files of an input, once in a process, and return its path there.

    The folder is this process's own and goes when it ends.
    """
    if digest not in _UNPACKED:
        made = TemporaryDirectory(prefix="netloom-", ignore_cleanup_errors=True)
        for file, data in contents.items():
            place = Path(made.name) / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        _UNPACKED[digest] = made
    folder, last = Path(_UNPACKED[digest].name), Path(name).name
    whole = list(contents)[:1] != [last] and not any(sign in last for sign in (*GLOB, "%d"))
    return str(folder if whole else folder / last)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)


def _candidates(text: str) -> Iterator[str]:
    """Yield what may be the name of a file in a value, the longest first."""
    prefix, _, rest = text.partition(":")
    added = prefix in declared("process-graphs")
    if (prefix in PREFIXES or added) and rest:
        text = rest
    if not text:
        return
    yield text
    if added:
        text = text.rpartition("/")[0]
        yield text
    if prefix == "machine" and ":" in text:
        text = text.rpartition(":")[0]
        yield text
    before, sign, behind = text.rpartition("@")
    if sign and behind:
        yield behind
    if sign and before:
        yield before


MOST_POINTS = 1_000_000
"""Most points of an experiment."""

MOST_BYTES = 2**24
"""Most bytes of an experiment file."""

HEADINGS = ("title", "question")
"""What an experiment file says in words."""

SHARED = "all"
"""The table whose fields all others have that know them."""

SETTINGS = {
    "repeat": {"default": 1, "minimum": 1, "maximum": 10_000},
    "knee": {"default": 3, "minimum": 0, "maximum": 20},
}
"""What a table says beside the fields of its question, as its schema has it."""


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


def read_experiment(path: str | Path | Experiment) -> Experiment:
    """Read and check an experiment file, unless it is one already.

    Its tables are named as commands are, ``[analyze]``, ``[simulate.loop]`` and so on, or several
    of a name, ``[[map]]``. ``[simulate]`` is short for ``[simulate.load]``. Their fields
    are those of ``netloom.questions``. Lists and ranges make a grid of points.

    Raises
    ------
    InputError
        Naming the line and the field that is wrong, what was found and what would do.
    """
    if isinstance(path, Experiment):
        return path
    path = Path(path)
    text = read_text(path, wanted="an experiment file, .toml", most_bytes=MOST_BYTES)
    try:
        whole = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # besides syntax: numbers, or depth, past sense
        raise InputError(str(path), f"no TOML: {error}", "tables and 'key = value'") from None
    file = _File(path, find_lines(text))
    title, question = said = [whole.pop(name, "") for name in HEADINGS]
    for name, value in zip(HEADINGS, said, strict=True):
        if not isinstance(value, str):
            raise file.wrong(None, name, InputError(name, repr(value), "words"))
    shared = whole.pop(SHARED, {})
    if not isinstance(shared, dict):
        raise file.wrong(None, SHARED, InputError(SHARED, repr(shared), f"a table, [{SHARED}]"))
    sections = list(_sections(file, whole))
    if not sections:
        raise InputError(str(path), "no questions", f"a table such as [{next(iter(all_words()))}]")
    known: dict[str, Any] = dict(SETTINGS)
    for section in sections:
        known |= section.kind.question.model_fields
    _check_names(file, _Section(SHARED, 0, {}), shared, known)
    inputs: dict[str, Input] = {}
    every = (point for section in sections for point in _points(file, section, shared, inputs))
    points = list(islice(every, MOST_POINTS + 1))
    if len(points) > MOST_POINTS:
        raise InputError(str(path), f"over {MOST_POINTS:,} points", f"at most {MOST_POINTS:,}")
    return Experiment(path, text, title, question, tuple(points), inputs)


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
    _check_names(file, section, fields, known)
    axes = _axes(file, section, fields, repeat)
    if prod(map(len, axes.values())) > MOST_POINTS:
        many = InputError("", f"{prod(map(len, axes.values())):,} points", f"{MOST_POINTS:,}")
        raise file.wrong(section, "", many)
    checked = set()
    seen = set()
    for values in product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        varied = {
            name: value
            for name, value in chosen.items()
            if len(axes[name]) > 1 or name == kind.sweep
        }
        asked = fields | chosen
        files = {}
        try:
            asked = kind.repeatable(asked)
            for each in find_inputs(kind.question, asked, file.path.parent):
                files[each.name] = inputs.setdefault(each.name, each).digest
            sweep = kind.sweep if kind.sweep in asked else ""
            point = Point(section.name, kind.verb, asked, varied, files, sweep, knee)
            names = {name: str(inputs[name].path) for name in files}
            on = renamed(asked.get("on"), names)
            if isinstance(on, str) and on not in checked:
                find_network(on)
                checked.add(on)
        except InputError as error:
            key = error.where.partition(":")[0]
            if "list" in error.wanted and key in varied:
                hint = f"{error.wanted}; a list is one value inside another: {key} = [[...]]"
                error = InputError(error.where, error.found, hint)
            raise file.wrong(section, key if key in asked else "on", error) from None
        if point.key not in seen:  # what a list says twice is one point
            seen.add(point.key)
            yield point


def _axes(
    file: _File, section: _Section, fields: Mapping[str, Any], repeat: int
) -> dict[str, list[Any]]:
    """Return the values of every field that has several, or may have: the curve's, the seed's."""
    kind, axes = section.kind, {}
    for name, value in fields.items():
        try:
            swept = name == kind.sweep
            values = values_of(
                name, value, (lambda given: kind.levels(given, kind.sweep)) if swept else None
            )
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
    default, least, most = SETTINGS[name].values()
    value = section.table.get(name, shared.get(name, default))
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        wanted = f"a whole number from {least} to {most}"
        raise file.wrong(section, name, InputError(name, repr(value), wanted))
    return value


def _check_names(
    file: _File, section: _Section, names: Iterable[str], known: Mapping[str, Any]
) -> None:
    """Refuse names that are no fields."""
    for name in names:
        if name not in known:
            raise file.wrong(section, name, InputError(name, "no such field", _near(name, known)))


def _near(name: str, known: Mapping[str, Any] | list[str], head: str = "") -> str:
    """Return what was perhaps meant, or else all that there is."""
    before = f"{head}." if head else ""
    near = get_close_matches(name, known, n=1)
    return f"{before}{near[0]}, perhaps" if near else ", ".join(f"{before}{each}" for each in known)


SAID = {
    "title": "What the experiment is called.",
    "question": "What it is to find out, in words.",
    "repeat": "How often each point is asked, each time with the next seed.",
    "knee": "How many loads are added on a curve between the last at which the network keeps up "
    "and the first at which it saturates.",
    "all": "Fields that every table has that knows them.",
}

RANGE_SCHEMA = {
    "type": "object",
    "description": "A range with both ends.",
    "properties": {each: {"type": "number"} for each in ("from", "to", "step", "factor")},
    "required": ["from", "to"],
    "additionalProperties": False,
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of experiment files.

    Examples
    --------
    >>> found = schema()
    >>> found["$defs"]["analyze"]["properties"]["tasks_per_node"]["anyOf"][0]
    {'maximum': 268435456, 'minimum': 1, 'type': 'integer'}
    """
    forms: dict[str, Any] = {"range": RANGE_SCHEMA}
    shared: dict[str, Any] = {}
    for kind in all_kinds():
        fields = _fields(kind)
        shared |= fields
        forms[kind.words] = _table(fields | _settings())
    for head, each in heads().items():
        if each.usual:
            forms[head] = _table(dict(forms[f"{head}.{each.usual}"]["properties"]))
    firsts = dict.fromkeys(words.partition(".")[0] for words in all_words())
    for head in firsts:  # tables of subcommands are in those of commands
        form = forms.setdefault(head, _table({}))
        for words in all_words():
            if words.startswith(f"{head}."):
                name = words.partition(".")[2]
                below, field = _one_or_several(words), form["properties"].get(name)
                if field:  # a field may have the name of a question
                    below = field | {"anyOf": [*field["anyOf"], *below["anyOf"]]}
                form["properties"][name] = below
    said = {name: {"type": "string", "description": SAID[name]} for name in HEADINGS}
    tables = {head: _one_or_several(head) for head in firsts}
    everywhere = _table(shared | _settings()) | {"description": SAID[SHARED]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "netloom experiment",
        "type": "object",
        "properties": said | {SHARED: everywhere} | tables,
        "additionalProperties": False,
        "$defs": forms,
    }


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _one_or_several(words: str) -> dict[str, Any]:
    """Return what a table is, or several of one name are."""
    form = {"$ref": f"#/$defs/{words}"}
    return {"anyOf": [form, {"type": "array", "items": form}]}


def _settings() -> dict[str, Any]:
    return {
        name: {"type": "integer", **bounds, "description": SAID[name]}
        for name, bounds in SETTINGS.items()
    }


def _fields(kind: Kind) -> dict[str, Any]:
    """Return the fields of a question: each one value, several, or a range of numbers."""
    with warnings.catch_warnings():  # what only Python can give, a file cannot
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        whole = kind.question.model_json_schema(schema_generator=_OfPlainData)
    found = {}
    for name, form in whole["properties"].items():
        about = {
            part: form.pop(part) for part in ("default", "description", "unit") if part in form
        }
        form.pop("title", None)
        if about.get("default", "") is None:
            del about["default"]
        several = {"type": "array", "items": form, "minItems": 1}
        found[name] = {"anyOf": [form, several, {"$ref": "#/$defs/range"}]} | about
    return found


class _OfPlainData(GenerateJsonSchema):
    """Leaves out what is no plain data: topologies, process graphs and other objects."""

    def is_instance_schema(self, schema: Any) -> Any:  # noqa: ARG002
        """Leave out what must be an object of a class."""
        raise PydanticOmit
