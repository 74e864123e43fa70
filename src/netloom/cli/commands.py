"""The commands of netloom: one for each question, made when it is asked, and old spellings."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand

from netloom.base.errors import InputError
from netloom.base.spec import SPELLINGS
from netloom.cli.help import HelpedGroup, group_help, sentence
from netloom.questions.register import OTHERS, groups

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
