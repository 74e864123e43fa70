"""All questions, by the words of the command line and of experiment files.

A question is one module, whose first line says what it is for. ``OWN`` lists netloom's own. Another
package adds one by an entry point of the group ``netloom.questions``: its name is the question's
words, its value the Python function that asks it. Nothing is imported before it is asked.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

from netloom.base.declared import declared
from netloom.base.figures import Figures
from netloom.questions.curves import CurveKind

if TYPE_CHECKING:
    from netloom.questions.base import Question
    from netloom.questions.outputs import Output

    Levels: TypeAlias = Callable[[Any, str], tuple[float, ...]]


P = ParamSpec("P")
Q = TypeVar("Q", bound="Question")
A = TypeVar("A")
Ready = TypeVar("Ready")

OWN = {
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


def positive(given: Any, field: str) -> tuple[float, ...]:
    """Return numbers above 0, rising. See ``parse_positive``."""
    from netloom.questions.base import parse_positive

    return parse_positive(given, field)


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of question: all that is declared of it.

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
    question, answer
        Its record of fields, and the class of its answers.
    prepare, find
        What reads and builds what the question names, and what answers, given both.
    function
        The Python function that asks it.
    title
        What its answers are called in pages.
    example, page
        A command that asks it, and the page of the documentation that tells more.
    sweep, levels
        The field in which several questions form a curve, from little load to much, or "". What
        reads its values, rising: numbers above 0 by default.
    curve
        How its answers are points of curves. None if they are none.
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
    answer: type[Figures]
    prepare: Callable[[Any], Any]
    find: Callable[[Any, Any], Any]
    function: Callable[..., Any]
    title: str = ""
    example: str = ""
    page: str = ""
    sweep: str = ""
    levels: Levels = positive
    curve: CurveKind | None = None
    outputs: tuple[Output, ...] = ()
    repeatable: Callable[[dict[str, Any]], dict[str, Any]] = dict

    @property
    def summary(self) -> str:
        """What it is for, in a line."""
        return self.told.partition("\n")[0]

    @property
    def command(self) -> str:
        """The command that asks it, without options: ``netloom predict latency``."""
        return f"netloom {self.words.replace('.', ' ')}"

    def ask(self, **fields: Any) -> Any:
        """Ask it, and return the answer."""
        from netloom.questions.base import ask

        question = ask(self.question, fields)
        return self.find(question, self.prepare(question))

    def read(self, figures: Mapping[str, Any], **kept: Any) -> Any:
        """Return the answer that is so in JSON. ``kept``: its tables. See ``Answer.from_json``."""
        return self.answer.from_json(figures, **kept)


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


SECTIONS = re.compile(r"^(?=Raises\n------|Examples\n--------)", re.MULTILINE)
"""Where the sections of a docstring begin."""

RAISES = "Raises\n------\n"
REFUSED = "InputError\n    If a field, a file or their combination cannot be used.\n"
"""What every question raises."""

EXPLORED = (
    "analyze", "check_fabric", "compare_collectives", "compile_phases", "find_mapping",
    "find_saturation", "predict_latency", "replay", "route_fabric", "simulate",
    "simulate_broadcast", "simulate_flows", "simulate_loop", "simulate_transactions",
)  # fmt: skip
"""The verbs whose answers say what each channel carries: an explorer shows them."""

OTHERS = "More"
"""The title of what is in no other group of the help."""

_DECLARED: dict[str, Kind] = {}


def asks(
    kind: Callable[P, Q], *, prepare: Callable[[Q], Ready], **about: Any
) -> Callable[[Callable[[Q, Ready], A]], Callable[P, A]]:
    """Declare that a function answers a question, given what was made ready for it.

    The function that is returned takes the question's fields. Its signature and its help are
    theirs. See ``Kind`` for the other arguments.

    Examples
    --------
    >>> from netloom import find_mapping
    >>> list(inspect.signature(find_mapping).parameters)[:2]
    ['app', 'on']
    """
    from netloom.questions.base import fields_in_words, positional_fields, signature_of

    question_kind = cast("type[Question]", kind)

    def declare(find: Callable[[Q, Ready], A]) -> Callable[P, A]:
        names = positional_fields(question_kind)

        @wraps(find)
        def asked(*values: Any, **fields: Any) -> Any:
            given = dict(zip(names, values, strict=False))
            if len(values) > len(names) or given.keys() & fields.keys():
                signature.bind(*values, **fields)
            return made.ask(**given | fields)

        # the words that it is listed by, or else the function's name
        place, verb = f"{find.__module__}:{find.__name__}", find.__name__
        words = (words for words, each in functions().items() if each == place)
        returned = inspect.get_annotations(find)["return"]
        said, *rest = SECTIONS.split(inspect.cleandoc(find.__doc__ or ""), maxsplit=1)
        made = Kind(
            words=about.pop("words", next(words, verb.replace("_", "-"))),
            verb=verb,
            told=said.strip(),
            module=find.__module__,
            question=question_kind,
            answer=find.__globals__[returned] if isinstance(returned, str) else returned,
            prepare=prepare,
            find=find,
            function=asked,
            **about,
        )
        signature = signature_of(question_kind)
        asked.__signature__ = signature  # type: ignore[attr-defined]
        sections = "".join(rest)
        others = "" if sections.startswith(RAISES) else "\n"
        sections = f"{RAISES}{REFUSED}{others}{sections.removeprefix(RAISES)}"
        asked.__doc__ = f"{made.told}\n\n{fields_in_words(question_kind)}\n\n{sections}"
        _DECLARED[made.words] = made
        return asked

    return declare


@cache
def listed() -> dict[str, Listed]:
    """Return the questions that netloom has, by their words. None is imported for that.

    A question is one module, read as text. What it is for stands in the module's first line.
    """
    found = {}
    for words, place in functions().items():
        module, _, verb = place.partition(":")
        package, _, name = module.rpartition(".")
        spec = find_spec(package)
        assert spec, f"question {words}: there is no package {package}"
        assert spec.origin, f"question {words}: {package} is no package"
        with Path(spec.origin).with_name(f"{name}.py").open(encoding="utf-8") as file:
            summary = file.readline().strip().strip('"')
        found[words] = Listed(words, verb, summary, module)
    return found


@cache
def functions() -> dict[str, str]:
    """Return where the function is that asks each question, by its words: ``package.module:name``.

    They are netloom's own, and those that other packages add.
    """
    added = {name: each.value for name, each in declared("questions").items()}
    return dict(sorted((OWN | added).items()))


@cache
def groups() -> dict[str, list[str]]:
    """Return the first words of the questions that other packages add, by title of their group.

    A question whose first word netloom has too stands with its own.
    """
    found: dict[str, list[str]] = {}
    own = {words.partition(".")[0] for words in OWN}
    for words, place in functions().items():
        first = words.partition(".")[0]
        if first not in own:
            package, title = place.partition(":")[0], ""  # GROUP of the nearest package has it
            while not title and (package := package.rpartition(".")[0]):
                title = getattr(import_module(package), "GROUP", "")
            told = found.setdefault(title or OTHERS, [])
            told += [first] * (first not in told)
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
    for words, each in listed().items():
        first, _, rest = words.partition(".")
        if rest and first not in listed() and (first not in found or words in OWN):
            package = import_module(each.module.rpartition(".")[0])
            summary = (package.__doc__ or "").partition("\n")[0]
            found[first] = Head(summary, getattr(package, "USUAL", ""))
    return found


def _known() -> dict[str, Listed | Kind]:
    """Return the questions that netloom has, and those declared since, by their words."""
    return listed() | _DECLARED | listed()  # those that are listed come first, and prevail


def all_words() -> dict[str, str]:
    """Return what each question is for, by its words: netloom's, and those declared since."""
    return {words: each.summary for words, each in _known().items()}


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
    for words, each in _known().items():
        if each.verb == verb:
            return kind_of(words)
    raise LookupError(f"no question is asked by '{verb}'")


def modules() -> dict[str, str]:
    """Return where the Python functions are that ask questions, by their names."""
    return {each.verb: each.module for each in _known().values()}


def all_kinds() -> Iterator[Kind]:
    """Yield all questions. Each is imported."""
    return map(kind_of, all_words())


def flag_of(name: str) -> str:
    """Return how commands spell a field or a file, unless it declares flags of its own."""
    return f"--{name.replace('_', '-')}"


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

    known, arguments, options = kind.question.model_fields, [], []
    for name, value in (dict(fields) | {n: v for n, v in more.items() if n in known}).items():
        if name not in known or value is None or value == known[name].default:
            continue
        said = _said(value)
        if said is None:
            return ""
        told = told_of(kind.question, name)
        flag = next((each for each in told.flags if each.startswith("--")), "")
        flag = flag.partition("/")[0] or flag_of(name)
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
            options += [flag_of(name), str(value)]
    return f"{kind.command} {shlex.join([*arguments, *options])}".rstrip()


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
