"""The help of a question's command: an example first, then its options by group, a line each."""

from __future__ import annotations

from inspect import Parameter
from itertools import groupby
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, get_args

import typer
from typer.core import TyperCommand
from typer.models import ArgumentInfo, OptionInfo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDEST = 110
"""Letters of a line, at most."""

NAMES = 24
"""Letters for the names of options; longer ones have a line of their own."""

GENERAL = "Options"
FOLLOWS = {bool: "", int: "N", float: "X", Path: "FILE"}
"""What stands for a value, by its type; for others TEXT."""


class QuestionCommand(TyperCommand):
    """A command whose help is short; ``parameters`` are its options as Typer was told them."""

    parameters: Sequence[Parameter] = ()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: an example, what it is for, options by group, where to read on."""
        formatter.write("\n".join(_help(self, ctx.command_path)) + "\n")


def _help(command: Any, path: str) -> Iterator[str]:
    width = min(get_terminal_size().columns, WIDEST)
    example, *told = (command.help or "").split("\n\n")
    asked = [(each, each.annotation.__metadata__[0]) for each in command.parameters]
    arguments = [each for each, info in asked if isinstance(info, ArgumentInfo)]
    yield from wrap(example, width, subsequent_indent="    ", break_on_hyphens=False)
    yield " ".join(["Usage:", path, *(each.name.upper() for each in arguments), "[OPTIONS]"])
    for paragraph in told:
        yield ""
        yield from wrap(" ".join(paragraph.split()), width)
    yield ""
    for each, info in asked:
        if isinstance(info, ArgumentInfo):
            yield from _line(each.name.upper(), _said(each, info), width)
    options = [each for each in asked if isinstance(each[1], OptionInfo)]
    panels = list(dict.fromkeys(_panel(each) for each in options))
    options.sort(key=lambda each: (_panel(each) == GENERAL, panels.index(_panel(each))))
    for panel, members in groupby(options, _panel):
        yield typer.style(panel, bold=True)
        for each, info in members:
            yield from _line(_spelt(each, info), _said(each, info), width)
    yield ""
    yield command.epilog or ""


def _panel(option: tuple[Parameter, Any]) -> str:
    return option[1].rich_help_panel or GENERAL


def _spelt(option: Parameter, info: Any) -> str:
    """Return how an option is written, with what follows it."""
    said = (info.default, *(info.param_decls or ()))  # Typer keeps the first name as a default
    named = [each for each in said if isinstance(each, str)]
    named = named or [f"--{option.name.replace('_', '-')}"]
    kind = get_args(option.annotation)[0]
    plain = next((each for each in FOLLOWS if each is kind or each in get_args(kind)), str)
    if plain is bool and option.default is None and "/" not in named[0]:
        named = [f"{named[0]}/--no-{named[0].removeprefix('--')}"]
    return f"{named[0]} {FOLLOWS.get(plain, 'TEXT')}".rstrip()


def _said(parameter: Parameter, info: Any) -> str:
    """Return what a parameter is, and what it is where nobody says."""
    said, shown = info.help or "", info.show_default
    if parameter.default is Parameter.empty:
        return said if isinstance(info, ArgumentInfo) else f"{said} Required."
    return f"{said} Default: {shown}." if isinstance(shown, str) else said


def _line(name: str, said: str, width: int) -> Iterator[str]:
    """Yield a name with what is said of it beside it, or below where it is long."""
    space = " " * (NAMES + 4)
    lines = wrap(said, max(width - len(space), 30), break_on_hyphens=False) or [""]
    if len(name) > NAMES:
        yield f"  {name}"
    else:
        yield f"  {name:<{NAMES}}  {lines.pop(0)}".rstrip()
    yield from (f"{space}{line}" for line in lines)
