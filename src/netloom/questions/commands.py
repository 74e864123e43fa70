"""The command that asks a question: to repeat it, and to ask the next one about the same things."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from netloom.questions.base import told_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.questions.register import Kind


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
