"""The commands of netloom: one for each question, made when it is asked, and their help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from netloom.base.errors import InputError
from netloom.base.spec import SPELLINGS
from netloom.base.words import listed
from netloom.cli.edge import (
    FILES,
    INTERRUPTED,
    MISTAKE,
    check_apart,
    compilation_announced,
    files_written,
    print_json,
)
from netloom.questions.register import (
    OTHERS,
    Kind,
    all_kinds,
    all_words,
    flag_of,
    groups,
    heads,
    kind_of,
)

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from netloom.questions.answers import Answer
    from netloom.questions.base import Question, Told
    from netloom.questions.outputs import Output


WIDEST = 110
"""Letters of a line, at most."""

NAMES = 24
"""Letters for the names of options. Longer ones have a line of their own."""

GENERAL = "Options"
FOLLOWS = {bool: "", int: "N", float: "X", Path: "FILE"}
"""What stands for a value, by its type. For others TEXT."""

EXAMPLE = "Example: "
"""How the line of an example begins, which is the first or the last paragraph of a help text."""


class _Helped:
    """A command or several whose help ``-h`` shows too."""

    def __init__(self, *args: Any, **more: Any) -> None:
        own = {"help_option_names": ["--help", "-h"]}
        more["context_settings"] = own | (more.get("context_settings") or {})
        super().__init__(*args, **more)


class HelpedCommand(_Helped, TyperCommand):
    """A command whose help is plain text.

    ``short`` names the parameters that ``-h`` shows. If it is empty, ``-h`` is ``--help``.
    """

    short: Collection[str] = ()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the whole help."""
        formatter.write("\n".join(command_help(self, ctx.command_path)) + "\n")


class HelpedGroup(_Helped, TyperGroup):
    """Several commands under one word, whose help lists them."""

    command_class = HelpedCommand

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help if no command is named. The exit code is that of a mistake."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(MISTAKE)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the commands are for, by group, and where to read on."""
        lines = group_help(self, ctx.command_path, self.grouped(ctx), self.epilog or "")
        formatter.write("\n".join(lines) + "\n")

    def grouped(self, ctx: Any) -> dict[str, dict[str, str]]:
        """Return what each command is for, in a sentence, by the name of its kind."""
        names = self.list_commands(ctx)
        return {"": {name: sentence(self.get_command(ctx, name)) for name in names}}


def show_short_help(ctx: typer.Context, wanted: bool) -> None:
    """Print the short help of a command, and end."""
    if wanted:
        lines = command_help(ctx.command, ctx.command_path, short=True)
        typer.echo("\n".join(lines))
        raise typer.Exit


def command_help(command: Any, path: str, *, short: bool = False) -> Iterator[str]:
    """Yield the help of a command. ``short``: of its most used options only."""
    width = _width()
    example, told = _example(command)
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option"]
    if short:
        options = [each for each in options if each.required or each.name in command.short]
    usage = " ".join([path, *map(_placeholder, arguments), "[OPTIONS]"])
    yield from _beginning(example, usage, told[:1] if short else told)
    yield ""
    for each in arguments:
        yield from _line(_placeholder(each), _said(each), width)
    panels = list(dict.fromkeys(map(_panel, options)))
    options.sort(key=lambda each: (_panel(each) == GENERAL, panels.index(_panel(each))))
    for panel, members in groupby(options, _panel):
        yield typer.style(panel, bold=True)
        for each in members:
            flags = [flag for flag in each.opts if not flag.startswith("--")]
            spelt = ", ".join([*flags, *[flag for flag in each.opts if flag not in flags][:1]])
            if each.secondary_opts:
                spelt = f"{spelt}/{each.secondary_opts[0]}"
            spelt = f"{spelt} {each.metavar or _value(command, each.name)}".rstrip()
            yield from _line(spelt, _said(each), width)
    more = f"All options: {path} --help" if short else command.epilog or ""
    if more and not more.startswith(EXAMPLE):
        yield ""
        yield more


def group_help(
    group: Any, path: str, commands: dict[str, dict[str, str]], more: str = ""
) -> Iterator[str]:
    """Yield the help of a group: what its commands are for, by the name of their kind."""
    example, told = _example(group)
    yield from _beginning(example, f"{path} COMMAND [OPTIONS]", told)
    longest = max(len(name) for each in commands.values() for name in each)
    for kind, members in commands.items():
        yield ""
        if kind:
            yield typer.style(kind, bold=True)
        for name, said in members.items():
            yield from _line(name, said, _width(), longest)
    yield ""
    yield f"{path} COMMAND -h: the most used options. --help: all of them."
    if more:
        yield more


def _beginning(example: str, usage: str, told: Iterable[str]) -> Iterator[str]:
    """Yield how the help of a command or of several begins."""
    yield from wrap(example, _width(), subsequent_indent="    ", break_on_hyphens=False)
    yield f"Usage: {usage}"
    for paragraph in told:
        yield ""
        yield from wrap(" ".join(paragraph.split()), _width())


def _example(command: Any) -> tuple[str, list[str]]:
    """Return the line with an example, and the other paragraphs of a command's help."""
    told = (command.help or "").split("\n\n")
    if told[0].startswith(EXAMPLE):
        return told[0], told[1:]
    epilog = command.epilog or ""
    return (epilog if epilog.startswith(EXAMPLE) else ""), told


def sentence(command: Any) -> str:
    """Return what a command is for: the first paragraph of its help that is no example."""
    _, told = _example(command)
    return " ".join(told[0].replace("``", "").split())


def _width() -> int:
    return min(get_terminal_size().columns, WIDEST)


def _panel(option: Any) -> str:
    return getattr(option, "rich_help_panel", None) or GENERAL


def _placeholder(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _value(command: Any, name: str) -> str:
    """Return what stands for the value of an option, by the type that its function declares."""
    declared = inspect.signature(command.callback, eval_str=True).parameters.get(name)
    if declared is None:  # --help, --version
        return ""
    kind = declared.annotation
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    kinds = (kind, *get_args(kind))
    return next((word for each, word in FOLLOWS.items() if each in kinds), "TEXT")


def _said(parameter: Any) -> str:
    """Return what a parameter is, and what it is where nobody says."""
    said, shown = getattr(parameter, "help", None) or "", getattr(parameter, "show_default", "")
    if parameter.required and parameter.param_type_name == "option":
        return f"{said} Required."
    if isinstance(shown, str) and shown:
        return f"{said} Default: {shown}."
    default = parameter.default
    if shown is True and isinstance(default, str | int | float) and default not in (False, ""):
        return f"{said} Default: {default}."
    return said


def _line(name: str, said: str, width: int, names: int = NAMES) -> Iterator[str]:
    """Yield a name with what is said of it beside it, or below where it is long."""
    space = " " * (names + 4)
    lines = wrap(said, max(width - len(space), 30), break_on_hyphens=False) or [""]
    if len(name) > names:
        yield f"  {name}"
    else:
        yield f"  {name:<{names}}  {lines.pop(0)}".rstrip()
    yield from (f"{space}{line}" for line in lines)


GROUPS = {
    "Ask": ("analyze", "simulate", "predict", "collective", "fabric"),
    "Fix": ("map", "route", "compile"),
    "Many at once": ("run", "results", "report", "explore", "schema"),
}
"""The commands of each group of the help, the questions of most people first."""

ADDED: dict[str, list[str]] = {}
"""Commands that other packages add, by the title of their group."""


class Commands(HelpedGroup):
    """Commands by one word or two. A question's own is made when it is asked."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return what can be said first, group by group."""
        own = (each for each in super().list_commands(ctx) if " " not in each)
        known = dict.fromkeys([*(each.partition(".")[0] for each in all_words()), *own])
        first = [name for names in all_groups().values() for name in names if name in known]
        return [*first, *(name for name in known if name not in first)]

    def grouped(self, ctx: Any) -> dict[str, dict[str, str]]:
        """Return what each command is for, group by group."""
        said = super().grouped(ctx)[""]
        kinds = all_groups().items()
        groups = {kind: {name: said.pop(name) for name in names} for kind, names in kinds}
        return groups | {OTHERS: said}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command that says what it is for."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        if cmd_name in heads():
            return _head(cmd_name)
        summary = all_words().get(cmd_name)
        return None if summary is None else TyperCommand(cmd_name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that arguments begin with, and the rest of them."""
        args = [SPELLINGS.get(each, each) for each in args[:1]] + args[1:]
        if args[1:] and args[1].startswith("-") and args[1] not in ("--help", "-h"):
            head = heads().get(args[0])
            if head and head.usual:  # the word alone is short for that command
                args = [args[0], head.usual, *args[1:]]
        for count in (2, 1):
            words = ".".join(args[:count])
            if len(args) >= count and words in all_words():
                below = self._below(ctx, f"{args[0]} ") if count == 1 else {}
                return words.replace(".", " "), command_of(kind_of(words), below), args[count:]
            if len(args) >= count and (own := super().get_command(ctx, " ".join(args[:count]))):
                return " ".join(args[:count]), own, args[count:]
        if args and args[0] not in heads() and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            near = get_close_matches(args[0], known, 1)
            raise InputError("command", f"'{args[0]}'", near[0] if near else ", ".join(known))
        return super().resolve_command(ctx, args)

    def _below(self, ctx: Any, begin: str) -> dict[str, str]:
        """Return what the commands are for whose words begin so."""
        below = {words.replace(".", " "): said for words, said in all_words().items()}
        for name in super().list_commands(ctx):
            below[name] = sentence(self.get_command(ctx, name))
        return {name: said for name, said in below.items() if name.startswith(begin)}


def all_groups() -> dict[str, list[str]]:
    """Return the commands of each group of the help: netloom's, then those that others add."""
    found = {title: list(names) for title, names in GROUPS.items()}
    for more in (groups(), ADDED):
        for title, names in more.items():
            if title != OTHERS:
                found.setdefault(title, []).extend(names)
    return found


def _head(name: str) -> HelpedGroup:
    """Return what lists the questions whose words begin with one."""
    said, usual = heads()[name]
    if usual:
        said += f"\n\nnetloom {name} --on ... is short for netloom {name} {usual} --on ..."
    group = HelpedGroup(name=name, help=said)
    for words, summary in all_words().items():
        first, _, rest = words.partition(".")
        if rest and first == name:
            group.add_command(TyperCommand(rest, help=summary), rest)
    return group


PLAIN = (bool, int, float, str)

SHORT_HELP = typer.Option(
    "-h", is_eager=True, expose_value=False, hidden=True, callback=show_short_help
)

SHORT = ("on", "plot", "as_json")
"""What the short help of a question shows beside the question's own fields."""

MOST_BESIDE = 3
"""Lines of a verdict that stand above the figures."""

MOST_BELOW = 12
"""Lines of figures after which the sentence of a verdict is said again."""

PROGRAM_AND_NETWORK = ("app", "on")
"""Fields that every command takes both ways: by their names, and as words without one."""

NAMED, MORE = "_by_name", "more_words"
"""What ends the parameter that takes an argument by its name, and the one of further words."""

MOST_OTHERS = 3
"""Most commands that are named for an option of theirs."""


class QuestionCommand(HelpedCommand):
    """The command that asks a question. An option of another question is named as that."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of a command."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # of Typer, by the name that all its releases have
            if type(error).__name__ != "NoSuchOption":
                raise
            raise _no_such_option(ctx.command_path, error) from None


def command_of(kind: Kind, below: Mapping[str, str]) -> QuestionCommand:
    """Return the command that asks a question. ``below``: the commands whose words go on."""
    one = typer.Typer(add_completion=False, rich_markup_mode="rich")
    page = f"More: docs/{kind.page}" if kind.page else ""
    more = "".join(f"\n\nnetloom {words}: {said}" for words, said in below.items())
    named = one.command(
        kind.words.replace(".", " "),
        cls=QuestionCommand,
        help=f"Example: {_example_of(kind)}\n\n{kind.told}{more}",
        epilog=page,
        context_settings={"help_option_names": ["--help"]},
    )
    named(_function(kind))
    made = typer.main.get_command(one)
    assert isinstance(made, QuestionCommand)
    own = vars(kind.question).get("__annotations__", {})
    required = (name for name, field in kind.question.model_fields.items() if field.is_required())
    made.short = {*own, *required, *SHORT}
    return made


def _no_such_option(path: str, error: Any) -> InputError:
    """Return the mistake of an option that a command lacks: who has it, what is spelt like it."""
    flag = error.option_name
    spelt = [each.lstrip("-") for each in error.possibilities or () if each != flag]
    wanted = [listed([f"--{each}" for each in get_close_matches(flag.lstrip("-"), spelt)])]
    others = [
        kind.command
        for kind in all_kinds()
        if any(flag in option.opts for option in command_of(kind, {}).params)
    ]
    if others:
        takes = "takes" if len(others) == 1 else "take"
        wanted.append(f"{listed(others, MOST_OTHERS)}, which {takes} it")
    said = ", or ".join(filter(None, wanted))
    return InputError(flag, f"no such option of {path}", said or f"{path} --help")


def outputs_of(kind: Kind) -> tuple[Output, ...]:
    """Return the files that answers can be written to: an explorer too, where channels are told."""
    from netloom.questions.register import EXPLORED

    return (*kind.outputs, _explorer()) if kind.verb in EXPLORED else kind.outputs


@cache
def _explorer() -> Output:
    """Return the page that any answer about channels can be written to."""
    from netloom.questions.outputs import Output

    def write(answer: Any, path: Path) -> str:
        from netloom.pages.explorer.file import explore

        return f"Explorer: {explore(answer, path)}"

    def check(path: Path) -> object:
        from netloom.pages.explorer.file import check_page

        return check_page(path)

    return Output("explore", "Page to explore the network in: .html.", write, check)


def _example_of(kind: Kind) -> str:
    return kind.example or f"{kind.command} --help"


def _function(kind: Kind) -> Callable[..., None]:
    """Return a function with a parameter for each option, as Typer reads them."""

    def command(ctx: typer.Context, **values: Any) -> None:
        given = {
            name: value
            for name, value in values.items()
            if (source := ctx.get_parameter_source(name)) and source.name != "DEFAULT"
        }
        _answer(kind, values, _named(kind, given))

    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *_parameters(kind),
        _parameter("short_help", Annotated[bool, SHORT_HELP], default=False),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameters(kind: Kind) -> Iterator[inspect.Parameter]:
    outputs = outputs_of(kind)
    asked = {each.asks for each in outputs}
    taken = {flag_of(each.name) for each in outputs}
    own = vars(kind.question).get("__annotations__", {})
    fields = kind.question.model_fields.items()
    for name, field in sorted(
        fields, key=lambda each: (not each[1].is_required(), each[0] not in own)
    ):
        plain = _plain_type(field.annotation)
        if plain is not None and name not in asked:
            yield _of_field(kind.question, name, field, plain, taken)
    for name in _arguments(kind):
        by_name = typer.Option(flag_of(name), hidden=True)
        yield _parameter(name + NAMED, Annotated[str | None, by_name], None)
    if _without_names(kind) != _arguments(kind):
        more = Annotated[list[str] | None, typer.Argument(hidden=True)]
        yield _parameter(MORE, more, None)
    for output in outputs:
        option = typer.Option(help=output.said, rich_help_panel=FILES)
        yield _parameter(output.name, Annotated[Path | None, option], None)
        for each in output.settings:
            option = typer.Option(help=each.said, rich_help_panel=FILES)
            yield _parameter(each.name, Annotated[str, option], each.default)
    option = typer.Option("--json", help="Print the answer as JSON.")
    yield _parameter("as_json", Annotated[bool, option], False)


def _arguments(kind: Kind) -> list[str]:
    """Return the fields that the help shows without a name."""
    from netloom.questions.base import told_of

    return [name for name in kind.question.model_fields if told_of(kind.question, name).argument]


def _without_names(kind: Kind) -> list[str]:
    """Return the fields that words without a name are for, in their order."""
    known = [name for name in PROGRAM_AND_NETWORK if name in kind.question.model_fields]
    return list(dict.fromkeys([*_arguments(kind), *known]))


def _named(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, all of it by name.

    Words fill the fields that no option gives. If there are fewer words than such fields, those
    that need not be given get none.
    """
    arguments = _arguments(kind)
    words = [given[name] for name in arguments if name in given] + list(given.get(MORE) or ())
    found = {name: value for name, value in given.items() if name not in (*arguments, MORE)}
    found = {name.removesuffix(NAMED): value for name, value in found.items()}
    free = [name for name in _without_names(kind) if name not in found]
    if len(words) < len(free):
        free = [name for name in free if kind.question.model_fields[name].is_required()]
    if len(words) > len(free):
        wanted = listed([each.upper() for each in _without_names(kind)])
        raise InputError(kind.command, f"one word too many, '{words[-1]}'", f"{wanted}, each once")
    return found | dict(zip(free, words, strict=False))


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _of_field(
    question: type[Question], name: str, field: FieldInfo, plain: Any, taken: set[str]
) -> inspect.Parameter:
    """Return the parameter of a field, not spelt as a file is. The question checks its values."""
    from netloom.questions.base import default_said, description_of, told_of

    told = told_of(question, name)
    if told.several:
        plain = list[str]
    default = None if field.is_required() else _shown(field.default, plain)
    said: dict[str, Any] = {
        "help": description_of(question, name),
        "show_default": default_said(question, name) or False,
    }
    if told.panel:
        said["rich_help_panel"] = told.panel
    optional = plain if default is not None else plain | None
    if told.argument:
        return _parameter(name, Annotated[optional, typer.Argument(**said)], default)
    if field.is_required():
        said["help"] += " Required."
    flags = [each for each in _flags(told, name, field) if each not in taken]
    return _parameter(name, Annotated[optional, typer.Option(*flags, **said)], default)


def _flags(told: Told, name: str, field: FieldInfo) -> tuple[str, ...]:
    """Return how an option is spelt: what is false without it has no way to say so."""
    if told.flags:
        return told.flags
    own = field.default is False or _plain_type(field.annotation) is not bool
    return (flag_of(name),) if own else ()


def _plain_type(annotation: Any) -> Any:
    """Return what a command reads a field as. None where only Python can give it."""
    origin = get_origin(annotation)
    if annotation is Any:
        return str
    if annotation in PLAIN:
        return annotation
    if origin is Literal:
        return type(get_args(annotation)[0])
    if origin is Annotated:
        return _plain_type(get_args(annotation)[0])
    if origin in (Union, UnionType):
        members = [each for each in get_args(annotation) if each is not type(None)]
        found = [each for each in map(_plain_type, members) if each is not None]
        return None if not found else str if str in found else found[0]
    return None


def _shown(default: Any, plain: Any) -> Any:
    """Return a default as the command's type has it: it is only shown."""
    if default is None or isinstance(default, plain if isinstance(plain, type) else list):
        return default
    if isinstance(default, list | tuple):
        return ",".join(map(str, default))
    return str(default) if plain is str else plain(default)


def _answer(kind: Kind, values: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Ask what was given, write the files that were asked for, and show the answer."""
    outputs = outputs_of(kind)
    files = {each: values[each.name] for each in outputs if values[each.name] is not None}
    as_json = bool(values["as_json"])
    for output, path in files.items():
        output.check(path)
    check_apart(files.values())

    def settings(output: Output) -> dict[str, str]:
        return {each.name: values[each.name] for each in output.settings}

    with compilation_announced():
        from netloom.questions.base import ask

        question = ask(kind.question, _fields(kind, given, files))
        ready = kind.prepare(question)
        for output in outputs:
            own = settings(output)
            if output.refuse and (output in files or given.keys() & own.keys()):
                output.refuse(question, ready, **own)
        answer = kind.find(question, ready)
    figures = answer.to_dict()
    writers = [partial(each.write, answer, path, **settings(each)) for each, path in files.items()]
    with files_written(writers, quiet=as_json):
        if as_json:
            print_json(figures)
        else:
            _show(kind, answer, files)
    if answer.interrupted:
        raise typer.Exit(INTERRUPTED)


def _show(kind: Kind, answer: Answer, files: Mapping[Output, Path]) -> None:
    """Print the verdict, then the figures that it rests on. After many of them its sentence again.

    People read the first line, or the last one that is still on the screen. The next command is
    left out if all that it adds is a file that was asked for already. What stands beside the first
    few lines of a verdict comes below the figures.
    """
    from netloom.cli.show import console, show_again, show_lines, show_verdict

    screen, found = console(), answer.verdict
    found = replace(found, of="; ".join(filter(None, (found.of, answer.inside))))
    written = {flag_of(each.name) for each in files}
    again = found.next.startswith(f"{kind.command} ")
    if again and written & set(found.next.split()):
        found = replace(found, next="")
    first, rest = found.parted(MOST_BESIDE)
    show_verdict(screen, first)
    screen.print()
    below = answer.lines(screen.width)
    show_lines(below, screen)
    if rest.lines:
        screen.print()
        show_lines(rest.beside(screen.width), screen)
    if len(below) > MOST_BELOW:
        screen.print()
        show_again(screen, found)


def _fields(kind: Kind, given: Mapping[str, Any], files: Mapping[Output, Path]) -> dict[str, Any]:
    """Return the fields of the question that were given, or that a file asks for.

    If one lacks that must be given, the mistake names an example.
    """
    from netloom.questions.base import description_of, told_of

    known = kind.question.model_fields
    fields = {name: value for name, value in given.items() if name in known}
    for name, value in fields.items():
        if isinstance(value, list) and len(value) == 1:
            fields[name] = value[0]
    fields |= {each.asks: True for each in files if each.asks}
    for name, field in known.items():
        told = told_of(kind.question, name)
        if field.is_required() and name not in fields and told.follows not in fields:
            flag = name.upper() if told.argument else _flags(told, name, field)[0]
            said = description_of(kind.question, name).rstrip(".")
            raise InputError(flag, "nothing", f"{said}; for example: {_example_of(kind)}")
    return fields
