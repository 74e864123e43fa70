"""All questions, by the words of the command line and of experiment files, and their answers.

A folder with a ``question.py`` is a question. Its path is its words, and the first line of its
``__init__.py`` is its purpose. ``VERB`` there is the Python function that asks it. Nothing heavy is
imported before one is asked. A folder of questions that is none itself may have ``USUAL`` in its
``__init__.py``: the question that its name alone asks.

Another package adds questions by an entry point of the group ``netloom.questions``, which names a
package of such folders. Help lists them under ``GROUP`` of that package.
"""

from __future__ import annotations

import inspect
import re
import shlex
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NamedTuple,
    ParamSpec,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    overload,
)

from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.questions.columns import Columns, tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.questions.base import Question
    from netloom.questions.columns import CurveKind
    from netloom.questions.outputs import Output
    from netloom.questions.shown import Measure, Verdict


Point = TypeVar("Point")


class Answer:
    """What a question found.

    Of several observations (loads, rates, sizes), ``columns`` are of each, and ``about`` of the
    whole. Of one, both are of it.

    Attributes
    ----------
    columns
        The columns of an observation.
    in_json
        The columns of an observation in JSON, if the table has a row of something smaller.
    about
        What the whole answer says beside its observations. For JSON.
    key_table
        The table whose key columns lists of answers and pages show.
    provenance
        Version, question and seed.
    """

    columns: ClassVar[Columns]
    in_json: ClassVar[Columns | None] = None
    about: ClassVar[Columns] = Columns()
    key_table: ClassVar[str] = "table"
    provenance: Provenance

    @property
    def observations(self) -> Sequence[Any]:
        """What the answer is of: its loads, rates or sizes. By default the answer itself."""
        return getattr(self, "points", (self,))

    @property
    def table_rows(self) -> Iterable[Any]:
        """What the table has rows of: by default the observations."""
        return self.observations

    @property
    def several(self) -> bool:
        """Whether several observations were asked for."""
        return len(self.observations) != 1

    def only(self, points: Sequence[Point], found: str) -> Point:
        """Return the one point. InputError, with what was found, if several were asked for."""
        if self.several:
            raise InputError("simulation", found, "one of its points")
        return points[0]

    if TYPE_CHECKING:

        @property
        def interrupted(self) -> bool:
            """Whether it was stopped from outside: what was known by then is the answer."""

    else:
        interrupted = False  # which answers may have as a field, or as a property

    @property
    def origin(self) -> str:
        """The seed and the netloom that it comes from, in words."""
        return f"seed {self.provenance.seed}, netloom {self.provenance.version}"

    def table(self) -> pl.DataFrame:
        """Return one row per observation. ``columns`` says what and in which units."""
        return self.columns.frame(self.table_rows)

    def picture(self) -> Any:
        """Return its picture. See ``chart_of``."""
        return chart_of(self)

    def sentences(self) -> list[str]:
        """Return what it comes to in words, as pages say it."""
        kept = record(self)
        return kept.kind.sentences(kept)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, as JSON has them."""
        found = self.about.nested(self)
        columns = self.columns if self.in_json is None else self.in_json
        points = [columns.nested(each) for each in self.observations]
        if not self.several and points:
            found |= points[0] | found
        elif any(each.json is not None for each in columns):
            found |= {"points": points}
        plain: dict[str, Any] = tidy(found | {"provenance": self.provenance.to_dict()})
        said = by_verb(self.provenance.verb).verdict(plain).to_dict()
        plain["verdict"] = plain.get("verdict", {}) | said
        return plain

    @classmethod
    def tables(cls) -> dict[str, Columns]:
        """Return the columns of each table, by the method that returns it. ``table`` first."""
        declared = {
            name: method.columns
            for each in reversed(cls.__mro__)
            for name, method in vars(each).items()
            if isinstance(getattr(method, "columns", None), Columns) and name != "table"
        }
        return {"table": cls.columns} | declared


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a verb answered, without the objects that it was worked out with.

    Attributes
    ----------
    verb
        The Python function that asked.
    figures
        The JSON of the answer: plain data, its question under ``provenance``. There is no NaN and
        no infinity in it, but None.
    tables
        Its tables by name. ``table`` has one row per observation. What is not known is null.
    """

    verb: str
    figures: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame]

    @property
    def kind(self) -> Kind:
        """What was asked, as it is declared."""
        return by_verb(self.verb)

    @property
    def answer(self) -> type[Answer]:
        """The class of the answer, which declares its columns."""
        return self.kind.answer_of(self.tables["table"].columns)

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The question, with every default filled in."""
        found: Mapping[str, Any] = self.figures["provenance"]["configuration"]
        return found

    @property
    def points(self) -> list[dict[str, Any]]:
        """The figures of each load, rate or size. Of the only one, if there is one."""
        several: list[dict[str, Any]] | None = self.figures.get("points")
        return [dict(self.figures)] if several is None else several

    @property
    def several(self) -> bool:
        """Whether the question was of several loads, rates, sizes or techniques."""
        return "points" in self.figures


def record(answer: Any) -> Recorded:
    """Return what a verb answered as plain data and tables.

    As JSON and as Parquet they come back as they were.

    Examples
    --------
    >>> from netloom import analyze
    >>> kept = record(analyze("ring:4", "mesh:2x2", random_mappings=0))
    >>> kept.verb, kept.tables["channels"]["channel_load"].to_list()
    ('analyze', [1, 1, 1, 1, 2, 2, 2, 2])
    """
    tables = {name: _known(getattr(answer, name)()) for name in answer.tables()}
    return Recorded(answer.provenance.verb, plain(answer.to_dict()), tables)


MOST_COLUMNS = 9
"""Columns that lists of answers show of a table of which none is marked as a key figure."""


def key_columns(record: Recorded, table: str = "table", *, but: Collection[str] = ()) -> Columns:
    """Return the columns of a table by which answers are told: its key figures.

    Of a table of which none is marked, they are the first in which something is known. Columns of
    ``but`` are shown elsewhere.

    Raises
    ------
    LookupError
        If the answer is not declared to have such a table.
    InputError
        If the table lacks a column: another release wrote it.
    """
    found, declared = record.tables[table], record.answer.tables()[table]
    marked = [each for each in declared if each.key]
    chosen = [
        each for each in marked or declared.key
        if each.name not in but and not (each.optional and each.name not in found.columns)
    ]  # fmt: skip
    if gone := [each.name for each in chosen if each.name not in found.columns]:
        raise InputError(f"{record.verb}, {table}", f"no column '{gone[0]}'", "a new run")
    if not marked:
        chosen = [each for each in chosen if found[each.name].null_count() < len(found)]
        chosen = chosen[:MOST_COLUMNS]
    return Columns(*chosen)


def chart_of(result: Any) -> Any:
    r"""Return the picture of an answer, or of what is recorded of it.

    Raises
    ------
    InputError
        If answers to such a question have no picture.

    Examples
    --------
    >>> from netloom import analyze
    >>> chart_of(analyze("ring:4", "mesh:2x2", random_mappings=0)).title.text
    ['ring:4 on mesh:2x2, rank order: Contends above 100\xa0% load.']
    """
    kept = result if isinstance(result, Recorded) else record(result)
    found = kept.kind.chart(kept)
    if found is None:
        raise InputError(kept.verb, "an answer without a picture", "another question")
    return found


def parts_of(kept: Recorded) -> dict[str, Any]:
    """Return what the picture of an answer is made of, part by part, for a page of its own.

    Parts have neither background nor title of their own, and the colors of text and of channel
    loads (Vega's range ``ramp``) are those of the page.

    Examples
    --------
    >>> from netloom import analyze
    >>> list(parts_of(record(analyze("ring:4", "mesh:2x2", random_mappings=2))))
    ['channels', 'loads', 'saturation', 'path contention']
    """
    return kept.kind.parts(kept)


def plain(data: Any) -> Any:
    """Return data as JSON has it: lists, and None for NaN and infinity. No -0.0.

    Examples
    --------
    >>> plain({"at": (1, float("inf"), -0.0)})
    {'at': [1, None, 0.0]}
    """
    return _finite(tidy(data))


EXTRA = "the extra 'pandas': pip install 'netloom[pandas]'"


def to_pandas(found: Any, table: str = "table") -> Any:
    """Return a table of an answer as a ``pandas.DataFrame``.

    pandas and pyarrow must be installed: ``pip install 'netloom[pandas]'``.

    Parameters
    ----------
    found
        An answer, a record of one, or a Polars table.
    table
        Which of its tables: ``table`` has one row per observation. Others, such as ``channels``,
        are those of ``answer.tables()``.

    Raises
    ------
    InputError
        If there is no such table, or pandas or pyarrow is not installed.

    Examples
    --------
    >>> from netloom import analyze
    >>> found = analyze("ring:4", "mesh:2x2", random_mappings=0)
    >>> to_pandas(found, "no such table")
    Traceback (most recent call last):
        ...
    netloom.InputError: table: found 'no such table'; expected ...table
    """
    if not hasattr(found, "to_pandas"):
        tables = (found if isinstance(found, Recorded) else record(found)).tables
        if table not in tables:
            raise InputError("table", f"'{table}'", ", ".join(sorted(tables)))
        found = tables[table]
    try:
        import_module("pandas")
        import_module("pyarrow")
    except ImportError as error:
        raise InputError("to_pandas", f"no {error.name}", EXTRA) from None
    return found.to_pandas()


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not isfinite(data) else data


def _known(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with null for NaN, with columns of numbers where nothing is known, no -0.0."""
    import polars as pl
    import polars.selectors as cs

    unknown = [name for name, dtype in table.schema.items() if dtype == pl.Null]
    return table.cast(dict.fromkeys(unknown, pl.Float64)).with_columns(
        cs.float().fill_nan(None) + 0.0
    )


P = ParamSpec("P")
Q = TypeVar("Q", bound="Question")
A = TypeVar("A")
Ready = TypeVar("Ready")

PACKAGE = "netloom.questions"

OWN: dict[str, str] = {
    "collective": "netloom.questions.collective:compare_collectives",
    "simulate.trace": "netloom.questions.simulate.trace:replay",
    "simulate.flows": "netloom.questions.simulate.flows:simulate_flows",
    "predict.latency": "netloom.questions.predict.latency:predict_latency",
    "simulate.load": "netloom.questions.simulate.load:simulate",
    "compile": "netloom.questions.compile:compile_phases",
    "compile.collective": "netloom.questions.compile_collective:compile_collective",
    "analyze": "netloom.questions.analyze:analyze",
    "analyze.permutations": "netloom.questions.permutations:analyze_permutations",
    "fabric": "netloom.questions.fabric:check_fabric",
    "map": "netloom.questions.map:find_mapping",
    "route": "netloom.questions.route:route_fabric",
    "simulate.loop": "netloom.questions.simulate.loop:simulate_loop",
    "simulate.saturation": "netloom.questions.simulate.saturation:find_saturation",
}
"""netloom's own questions that are one module: where the Python function is that asks each."""


@cache
def packages() -> dict[str, Path]:
    """Return the folders of packages of questions: netloom's own, and those that others add."""
    found = {PACKAGE: Path(__file__).parent}
    for each in declared("questions").values():
        if ":" in each.value:
            continue
        spec = find_spec(each.value)
        origin = spec and spec.origin
        assert origin, f"entry point {each.name}: there is no package {each.value}"
        found[each.value] = Path(origin).parent
    return found


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of question: all that is declared of it, and what its folder holds.

    Attributes
    ----------
    words
        What it is called in commands and files, with dots between them: ``predict.latency``.
    verb
        The Python function that asks it.
    told
        What it is for: in its first line in short.
    module
        Where it is declared.
    question, answers
        Its record of fields, and the classes of its answers: mostly one.
    prepare, find
        What reads and builds what the question names, and what answers, given both.
    function
        The Python function that asks it.
    title
        What its answers are called in pages.
    example, page
        A command that asks it, and the page of the documentation that tells more.
    sweep
        The field in which several questions form a curve, from little load to much, or "".
    outputs
        The files that its answers can be written to.
    repeatable
        Returns fields of it as they are asked in a file: what is found must not depend on how fast
        the machine is.
    """

    words: str
    verb: str
    told: str
    module: str
    question: type[Question]
    answers: tuple[type[Answer], ...]
    prepare: Callable[[Any], Any]
    find: Callable[[Any, Any], Any]
    function: Callable[..., Any]
    title: str = ""
    example: str = ""
    page: str = ""
    sweep: str = ""
    outputs: tuple[Output, ...] = ()
    repeatable: Callable[[dict[str, Any]], dict[str, Any]] = dict

    def ask(self, **fields: Any) -> Any:
        """Ask it, and return the answer."""
        from netloom.questions.base import ask

        question = ask(self.question, fields)
        return self.find(question, self.prepare(question))

    def hook(self, file: str, name: str) -> Any:
        """Return what its folder has of a name in ``chart.py``, ``words.py`` or another file.

        None if there is no such thing. A question that has no such file has it in its module.
        """
        return _beside(self.module, file, name)

    def lines(self, answer: Any) -> list[Any]:
        """Return an answer for a terminal: lines of words, and tables."""
        from netloom.questions import shown

        found: list[Any] = (self.hook("words", "lines") or shown.lines)(answer)
        return found

    def verdict(self, figures: Mapping[str, Any]) -> Verdict:
        """Return what an answer comes to, by its figures: ``verdict`` of ``words.py``."""
        own = self.hook("words", "verdict")
        assert own, f"{self.words} declares no verdict"
        found: Verdict = own(figures)
        return found

    def sentences(self, record: Recorded) -> list[str]:
        """Return what a recorded answer comes to, in words."""
        from netloom.questions import shown

        own = self.hook("words", "sentences")
        found: list[str] = own(record) if own else [record.figures["verdict"]["sentence"]]
        inside = shown.inside_nodes(record.figures)
        return list(dict.fromkeys([*found, *map(shown.ended, inside)]))

    def measure(self, figures: Mapping[str, Any]) -> Measure | None:
        """Return what decides between this answer and others: ``measure`` of ``words.py``, or None.

        None also where this answer lacks the figure.
        """
        own = self.hook("words", "measure")
        found: Measure | None = own(figures) if own else None
        return found

    def parts(self, record: Recorded) -> dict[str, Any]:
        """Return the parts of the picture of a recorded answer, by name. Perhaps none."""
        own = self.hook("chart", "parts")
        found: dict[str, Any] = own(record) if own else {}
        return found

    def answer_of(self, columns: Collection[str]) -> type[Answer]:
        """Return the class of the answers whose table has these columns. The first if none has."""
        fitting = (each for each in self.answers if set(each.columns.names) <= set(columns))
        return next(fitting, self.answers[0])

    @property
    def part_titles(self) -> dict[str, str]:
        """What parts are called that have no title of their own."""
        return self.hook("chart", "PART_TITLES") or {}

    def chart(self, record: Recorded) -> Any:
        """Return the picture of a recorded answer: parts under one sentence. None if there is none.

        The sentence is the verdict's, after what it is of. What was asked, ``footer`` of
        ``chart.py``, stands below in small letters. Parts stand side by side, or as ``arranged`` of
        ``chart.py`` has them.
        """
        if (footer := self.hook("chart", "footer")) is None:
            return None
        from netloom.drawing.frame import framed

        arranged, verdict = self.hook("chart", "arranged"), self.verdict(record.figures)
        named = verdict.of and verdict.of not in verdict.sentence
        said = f"{verdict.of}: {verdict.sentence}" if named else verdict.sentence
        drawn = arranged(record) if arranged else list(self.parts(record).values())
        provenance = record.figures["provenance"]
        origin = f"seed {provenance['seed']}, netloom {provenance['netloom']}"
        return framed(drawn, said, [*footer(record), origin])

    def levels(self, given: Any) -> tuple[float, ...]:
        """Return the values of ``sweep``, rising: ``LEVELS`` beside the answer reads them."""
        from netloom.questions.base import parse_positive

        found: tuple[float, ...] = (self.hook("answer", "LEVELS") or parse_positive)(
            given, self.sweep
        )
        return found

    @property
    def curve(self) -> CurveKind | None:
        """How its answers are points of curves. None if they are none."""
        found: CurveKind | None = self.hook("answer", "CURVE")
        return found


@dataclass(frozen=True)
class Listed:
    """What is known of a question before it is imported: see ``Kind``."""

    words: str
    verb: str
    summary: str
    module: str


class Head(NamedTuple):
    """A word that begins those of several questions: what they are for, and which it alone asks."""

    summary: str
    usual: str


RAISES = "Raises\n------\n"
REFUSED = "InputError\n    If a field, a file or their combination cannot be used.\n"
"""What every question raises."""

OTHERS = "More"
"""The title of what is in no other group of the help."""

_DECLARED: dict[str, Kind] = {}


class About(TypedDict, total=False):
    """A question's description. See ``Kind``."""

    words: str
    title: str
    example: str
    page: str
    sweep: str
    outputs: tuple[Output, ...]
    repeatable: Callable[[dict[str, Any]], dict[str, Any]]


@overload
def asks(
    kind: Callable[P, Q], **about: Unpack[About]
) -> Callable[[Callable[[Q], A]], Callable[P, A]]: ...


@overload
def asks(
    kind: Callable[P, Q], *, prepare: Callable[[Q], Ready], **about: Unpack[About]
) -> Callable[[Callable[[Q, Ready], A]], Callable[P, A]]: ...


def asks(kind: Any, *, prepare: Callable[[Any], Any] | None = None, **about: Unpack[About]) -> Any:
    """Declare that a function answers a question, and return the function that asks it.

    The function below takes the question, and with ``prepare`` what that has made ready. The
    function that is returned takes the question's fields. Its signature and its help are theirs.
    See ``Kind`` for the other arguments.

    Examples
    --------
    >>> from netloom import find_mapping
    >>> list(inspect.signature(find_mapping).parameters)[:2]
    ['app', 'on']
    """
    from netloom.questions.base import ask, fields_in_words, positional_fields, signature_of

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        names = positional_fields(kind)
        find = function if prepare else lambda question, _: function(question)

        @wraps(function)
        def asked(*values: Any, **fields: Any) -> Any:
            given = dict(zip(names, values, strict=False))
            if len(values) > len(names) or given.keys() & fields.keys():
                asked.__signature__.bind(*values, **fields)  # type: ignore[attr-defined]
            question = ask(kind, given | fields)
            return made.find(question, made.prepare(question))

        made = Kind(
            verb=function.__name__,
            told=_split(function.__doc__ or "")[0],
            module=function.__module__,
            question=kind,
            answers=_returned(function),
            prepare=prepare or (lambda _: None),
            find=find,
            function=asked,
            **{"words": _words_of(function)} | about,
        )

        asked.__signature__ = signature_of(kind)  # type: ignore[attr-defined]
        asked.__doc__ = _with_fields(function.__doc__ or "", fields_in_words(kind))
        _DECLARED[made.words] = made
        return asked

    return declare


@cache
def listed() -> dict[str, Listed]:
    """Return the questions that netloom has, by their words. None is imported for that."""
    found = {words: _listed(words, places) for words, places in functions().items()}
    folders = (
        (path.relative_to(root).parts, owner)
        for owner, root in packages().items()
        for path in root.rglob("question.py")
    )
    for (*names, _), owner in sorted(folders):
        package = import_module(".".join((owner, *names)))
        words = ".".join(names).replace("_", "-")
        summary = (package.__doc__ or "").partition("\n")[0]
        found[words] = Listed(words, package.VERB, summary, f"{package.__name__}.question")
    return dict(sorted(found.items()))


@cache
def functions() -> dict[str, str]:
    """Return where the function is that asks each question, by its words: ``package.module:name``.

    They are netloom's own, and those that other packages add.
    """
    added = {name: each.value for name, each in declared("questions").items() if ":" in each.value}
    return OWN | added


def _listed(words: str, place: str) -> Listed:
    """Return what is known of a question that is one module. It is read as text.

    What it is for stands in the first line of the module.
    """
    module, _, verb = place.partition(":")
    package, _, name = module.rpartition(".")
    spec = find_spec(package)
    assert spec, f"question {words}: there is no package {package}"
    assert spec.origin, f"question {words}: {package} is no package"
    with Path(spec.origin).with_name(f"{name}.py").open(encoding="utf-8") as file:
        summary = file.readline().strip().strip('"')
    return Listed(words, verb, summary, module)


@cache
def groups() -> dict[str, list[str]]:
    """Return the first words of the questions that other packages add, by title of their group.

    A question whose first word netloom has too stands with its own.
    """
    found: dict[str, list[str]] = {}
    own = {path.name for path in packages()[PACKAGE].iterdir()}
    for owner, root in packages().items():
        if owner != PACKAGE:
            first = {path.relative_to(root).parts[0] for path in root.rglob("question.py")}
            title = getattr(import_module(owner), "GROUP", OTHERS)
            found.setdefault(title, []).extend(sorted(first - own))
    own |= {words.partition(".")[0] for words in OWN}
    for words, place in functions().items():
        head = words.partition(".")[0]
        if head not in own:
            told = found.setdefault(_group_of(place), [])
            told += [head] * (head not in told)
    return found


def _group_of(place: str) -> str:
    """Return the title of a question's group in the help: ``GROUP`` of the nearest package."""
    package = place.partition(":")[0]
    while package := package.rpartition(".")[0]:
        if title := getattr(import_module(package), "GROUP", ""):
            return str(title)
    return OTHERS


@cache
def heads() -> dict[str, Head]:
    """Return the words that begin those of several questions, and are none themselves.

    Examples
    --------
    >>> {name: each.usual for name, each in heads().items()}
    {'predict': '', 'simulate': 'load'}
    """
    found = {}
    for words in listed():
        first, _, rest = words.partition(".")
        if rest and first not in listed():
            folder = first.replace("-", "_")
            owner = next(name for name, root in packages().items() if (root / folder).is_dir())
            package = import_module(f"{owner}.{folder}")
            summary = (package.__doc__ or "").partition("\n")[0]
            found[first] = Head(summary, getattr(package, "USUAL", ""))
    return found


def all_words() -> dict[str, str]:
    """Return what each question is for, by its words: netloom's, and those declared since."""
    known = {words: each.summary for words, each in listed().items()}
    more = {words: each.told.partition("\n")[0] for words, each in _DECLARED.items()}
    return known | {words: told for words, told in more.items() if words not in known}


def kind_of(words: str) -> Kind:
    """Return the question of these words.

    Examples
    --------
    >>> kind_of("map").verb
    'find_mapping'
    """
    if words not in _DECLARED:
        import_module(listed()[words].module)
    return _DECLARED[words]


def by_verb(verb: str) -> Kind:
    """Return the question that a Python function asks.

    Raises
    ------
    LookupError
        If there is no such function.

    Examples
    --------
    >>> by_verb("find_mapping").words
    'map'
    """
    for words, each in listed().items():
        if each.verb == verb:
            return kind_of(words)
    for kind in _DECLARED.values():
        if kind.verb == verb:
            return kind
    raise LookupError(f"no question is asked by '{verb}'")


def modules() -> dict[str, str]:
    """Return where the Python functions are that ask questions, by their names."""
    declared = {each.verb: each.module for each in _DECLARED.values()}
    return {each.verb: each.module for each in listed().values()} | declared


def all_kinds() -> Iterator[Kind]:
    """Yield all questions. Each is imported."""
    return map(kind_of, all_words())


def _returned(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the classes of what a function returns, as its annotation names them."""
    named = inspect.get_annotations(function).get("return")
    if isinstance(named, str):
        answers = tuple(function.__globals__[each.strip()] for each in named.split("|"))
    else:
        answers = get_args(named) or (named,)
    for each in answers:
        if (fit := getattr(each, "fitted", None)) is not None:
            fit(function)
    assert all(hasattr(each, "columns") for each in answers), f"{named} declares no columns"
    return answers


def _words_of(function: Callable[..., Any]) -> str:
    """Return the words of a question: those that it is listed by, or else the function's name."""
    module = function.__module__
    for words, place in functions().items():
        if place == f"{module}:{function.__name__}":
            return words
    for owner in packages():
        if module.startswith(f"{owner}.") and module.endswith(".question"):
            return module.removeprefix(f"{owner}.").removesuffix(".question").replace("_", "-")
    return function.__name__.replace("_", "-")


def _split(text: str) -> tuple[str, str]:
    """Return what a docstring says first, and its sections."""
    text = inspect.cleandoc(text)
    found = re.search(r"^(Raises\n------|Examples\n--------)", text, re.MULTILINE)
    place = found.start() if found else len(text)
    return text[:place].strip(), text[place:]


def _with_fields(text: str, fields: str) -> str:
    """Return a docstring with a section of fields, and InputError among what is raised."""
    said, sections = _split(text)
    others = "" if sections.startswith(RAISES) else "\n"
    return f"{said}\n\n{fields}\n\n{RAISES}{REFUSED}{others}{sections.removeprefix(RAISES)}"


@cache
def _beside(module: str, name: str, attribute: str) -> Any:
    """Return what a question has in a file beside its own, or in its own. See ``Kind.hook``."""
    holder: ModuleType = import_module(module)
    package, _, last = module.rpartition(".")
    if last == "question" and Path(holder.__file__ or "").with_name(f"{name}.py").exists():
        holder = import_module(f"{package}.{name}")
    return getattr(holder, attribute, None)


def command_line(kind: Kind, fields: Mapping[str, Any], **more: Any) -> str:
    """Return the command that asks a question with these fields. "" if no command can.

    Fields that the question lacks or whose value is its default are left out. ``more`` are further
    fields, or files to write, which stand last. A field whose value no option can say, such as a
    Python object, has no command.

    Examples
    --------
    >>> from netloom.questions.register import kind_of
    >>> asked = {"app": "ring:8", "on": "mesh:8", "seed": 1, "failed_nodes": None}
    >>> command_line(kind_of("map"), asked, rankfile="ranks.txt")
    'netloom map ring:8 --on mesh:8 --rankfile ranks.txt'
    >>> command_line(kind_of("analyze"), asked, offered=0.2)
    'netloom analyze ring:8 --on mesh:8 --offered 0.2'
    """
    from netloom.questions.base import told_of

    words = ["netloom", *kind.words.split(".")]
    known, arguments, options = kind.question.model_fields, list[str](), list[str]()
    for name, value in (dict(fields) | {n: v for n, v in more.items() if n in known}).items():
        if name not in known or value is None or value == known[name].default:
            continue
        said = _said(value)
        if said is None:
            return ""
        told = told_of(kind.question, name)
        flag = next((each for each in told.flags if each.startswith("--")), "")
        flag = flag.partition("/")[0] or f"--{name.replace('_', '-')}"
        if told.argument:
            arguments += said
        elif value is True:
            options.append(flag)
        elif value is False:
            options.append(f"--no-{flag.removeprefix('--')}")
        elif told.several:
            options += [part for each in said for part in (flag, each)]
        else:
            options += [flag, ",".join(said)]
    for name, value in more.items():
        if name not in known:
            options += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join([*words, *arguments, *options])


def _said(value: Any) -> list[str] | None:
    """Return a value as words of a command. None if none say it."""
    if isinstance(value, list | tuple):
        if not value or not all(isinstance(each, str | int | float) for each in value):
            return None
        return list(map(_word, value))
    return [_word(value)] if isinstance(value, str | int | float) else None


def _word(value: str | float) -> str:
    """Return a value as a word: whole numbers without a decimal point."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value) if whole else value)
