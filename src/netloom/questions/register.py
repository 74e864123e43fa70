"""All questions, by the words of the command line and of experiment files.

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
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    ParamSpec,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    overload,
)

from netloom.base.declared import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from types import ModuleType

    from netloom.questions.answers import Answer
    from netloom.questions.base import Question
    from netloom.questions.curve_kind import CurveKind
    from netloom.questions.measure import Measure
    from netloom.questions.outputs import Output
    from netloom.questions.recorded import Recorded
    from netloom.questions.verdict import Verdict

P = ParamSpec("P")
Q = TypeVar("Q", bound="Question")
A = TypeVar("A", bound="Answer")
Ready = TypeVar("Ready")

PACKAGE = "netloom.questions"


@cache
def packages() -> dict[str, Path]:
    """Return the folders of packages of questions: netloom's own, and those that others add."""
    found = {PACKAGE: Path(__file__).parent}
    for each in declared("questions").values():
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

        found: list[str] = (self.hook("words", "sentences") or shown.sentences)(record)
        inside = shown.inside_nodes(record.figures)
        return [*found, *map(shown.ended, inside)]

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
        """Return the values of ``sweep``, rising: ``LEVELS`` of ``answer.py`` reads them."""
        from netloom.questions.numbers import parse_positive

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
    found = {}
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
    return found


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
    return found


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
    assert all(hasattr(each, "columns") for each in answers), f"{named} declares no columns"
    return answers


def _words_of(function: Callable[..., Any]) -> str:
    """Return the words of a question: those of its folder, or else the function's name."""
    module = function.__module__
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
