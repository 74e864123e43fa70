"""The commands of netloom: one for each question, made when it is asked, and old spellings."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from netloom.base.errors import InputError
from netloom.base.spec import SPELLINGS
from netloom.cli.edge import MISTAKE
from netloom.questions.register import OTHERS, groups

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


WIDEST = 110
"""Letters of a line, at most."""

NAMES = 24
"""Letters for the names of options. Longer ones have a line of their own."""

GENERAL = "Options"
FOLLOWS = {bool: "", int: "N", float: "X", Path: "FILE"}
"""What stands for a value, by its type. For others TEXT."""

EXAMPLE = "Example: "
"""How the line of an example begins, which is the first or the last paragraph of a help text."""


class HelpedCommand(TyperCommand):
    """A command whose help is plain text.

    ``short`` names the parameters that ``-h`` shows. If it is empty, ``-h`` is ``--help``.
    """

    short: Collection[str] = ()

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **with_help_options(more))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the whole help."""
        formatter.write("\n".join(command_help(self, ctx.command_path)) + "\n")


class HelpedGroup(TyperGroup):
    """Several commands under one word, whose help lists them."""

    command_class = HelpedCommand

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **with_help_options(more))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help if no command is named. The exit code is that of a mistake."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(MISTAKE)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the commands are for, by group."""
        lines = group_help(self, ctx.command_path, {"": self.listed(ctx)})
        formatter.write("\n".join(lines) + "\n")

    def listed(self, ctx: Any) -> dict[str, str]:
        """Return what each command is for, in a sentence."""
        names = self.list_commands(ctx)
        return {name: sentence(self.get_command(ctx, name)) for name in names}


def with_help_options(more: dict[str, Any]) -> dict[str, Any]:
    """Return settings of a command with ``-h`` beside ``--help``."""
    own = {"help_option_names": ["--help", "-h"]}
    return more | {"context_settings": own | (more.get("context_settings") or {})}


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
    if example:
        yield from wrap(example, width, subsequent_indent="    ", break_on_hyphens=False)
    yield " ".join(["Usage:", path, *map(_placeholder, arguments), "[OPTIONS]"])
    for paragraph in told[:1] if short else told:
        yield ""
        yield from wrap(" ".join(paragraph.split()), width)
    yield ""
    for each in arguments:
        yield from _line(_placeholder(each), _said(each), width)
    panels = list(dict.fromkeys(map(_panel, options)))
    options.sort(key=lambda each: (_panel(each) == GENERAL, panels.index(_panel(each))))
    for panel, members in groupby(options, _panel):
        yield typer.style(panel, bold=True)
        for each in members:
            yield from _line(_spelt(command, each), _said(each), width)
    more = f"All options: {path} --help" if short else command.epilog or ""
    if more and not more.startswith(EXAMPLE):
        yield ""
        yield more


def group_help(
    group: Any, path: str, commands: dict[str, dict[str, str]], more: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the help of a group: what its commands are for, by the name of their kind."""
    width = _width()
    example, told = _example(group)
    if example:
        yield from wrap(example, width, subsequent_indent="    ", break_on_hyphens=False)
    yield f"Usage: {path} COMMAND [OPTIONS]"
    for paragraph in told:
        yield ""
        yield from wrap(" ".join(paragraph.split()), width)
    longest = max(len(name) for each in commands.values() for name in each)
    for kind, members in commands.items():
        yield ""
        if kind:
            yield typer.style(kind, bold=True)
        for name, said in members.items():
            yield from _line(name, said, width, longest)
    yield ""
    yield f"{path} COMMAND -h: the most used options. --help: all of them."
    yield from more


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


def _spelt(command: Any, option: Any) -> str:
    """Return how an option is written, with what follows it."""
    short = [each for each in option.opts if not each.startswith("--")]
    named = ", ".join([*short, *[each for each in option.opts if each not in short][:1]])
    if option.secondary_opts:
        named = f"{named}/{option.secondary_opts[0]}"
    return f"{named} {option.metavar or _value(command, option.name)}".rstrip()


def _value(command: Any, name: str) -> str:
    """Return what stands for the value of an option, by the type that its function declares."""
    declared = inspect.signature(command.callback, eval_str=True).parameters.get(name)
    if declared is None:  # --help, --version
        return ""
    kind = declared.annotation
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return next((word for each, word in FOLLOWS.items() if kind is each or each in get_args(kind)),
                "TEXT")  # fmt: skip


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
        known = dict.fromkeys([*(each.partition(".")[0] for each in _all_words()), *own])
        first = [name for names in all_groups().values() for name in names if name in known]
        return [*first, *(name for name in known if name not in first)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the commands are for, group by group, and where to read on."""
        said = self.listed(ctx)
        groups = {
            kind: {name: said.pop(name) for name in names} for kind, names in all_groups().items()
        }
        lines = group_help(self, ctx.command_path, groups | {OTHERS: said}, [self.epilog or ""])
        formatter.write("\n".join(lines) + "\n")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command that says what it is for."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        if cmd_name in _heads():
            return _head(cmd_name)
        summary = _all_words().get(cmd_name)
        return None if summary is None else TyperCommand(cmd_name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that arguments begin with, and the rest of them."""
        args = _today(args)
        for count in (2, 1):
            words = ".".join(args[:count])
            if len(args) >= count and words in _all_words():
                from netloom.cli.ask import command_of
                from netloom.questions.register import kind_of

                below = self._below(ctx, f"{args[0]} ") if count == 1 else {}
                return words.replace(".", " "), command_of(kind_of(words), below), args[count:]
            if len(args) >= count and (own := super().get_command(ctx, " ".join(args[:count]))):
                return " ".join(args[:count]), own, args[count:]
        if args and args[0] not in _heads() and not args[0].startswith("-"):
            raise _unknown(args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def _below(self, ctx: Any, begin: str) -> dict[str, str]:
        """Return what the commands are for whose words begin so."""
        below = {words.replace(".", " "): said for words, said in _all_words().items()}
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


def _all_words() -> dict[str, str]:
    from netloom.questions.register import all_words

    return all_words()


def _heads() -> dict[str, Any]:
    from netloom.questions.register import heads

    return heads()


def _unknown(word: str, known: list[str]) -> InputError:
    """Return the mistake of a command that there is not, with the nearest that there is."""
    near = get_close_matches(word, known, 1)
    return InputError("command", f"'{word}'", near[0] if near else ", ".join(known))


def _head(name: str) -> HelpedGroup:
    """Return what lists the questions whose words begin with one."""
    below = {
        words.partition(".")[2]: TyperCommand(words.partition(".")[2], help=summary)
        for words, summary in _all_words().items()
        if words.startswith(f"{name}.")
    }
    said, usual = _heads()[name]
    if usual:
        said += f"\n\nnetloom {name} --on ... is short for netloom {name} {usual} --on ..."
    group = HelpedGroup(name=name, help=said)
    for each, command in below.items():
        group.add_command(command, each)
    return group


def _today(args: list[str]) -> list[str]:
    """Return arguments in full: a word that begins several commands is short for its usual one."""
    args = [SPELLINGS.get(each, each) for each in args[:1]] + args[1:]
    if len(args) < 2 or not args[1].startswith("-") or args[1] in ("--help", "-h"):
        return args
    if args[0] not in _heads() or not _heads()[args[0]].usual:
        return args
    return [args[0], _heads()[args[0]].usual, *args[1:]]


def make_app(**options: Any) -> typer.Typer:
    """Return the application that these commands are in."""
    return typer.Typer(cls=Commands, **options)
