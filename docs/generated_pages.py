"""The pages of the reference that are written by netloom itself."""

from __future__ import annotations

import ast
import inspect
import os
import tomllib
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from netloom.base.figures import leaves
from netloom.cli.app import app
from netloom.cli.commands import all_groups
from netloom.questions.base import default_said, description_of, signature_of
from netloom.questions.register import all_kinds, all_words
from netloom.topology import spec_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.questions.register import Kind

DOCS = Path(__file__).parent
QUESTIONS = "<!-- every question -->"
"""What stands in the page of questions where they are to be."""

NETWORKS = "<!-- every network -->"
"""What stands in the page of topologies where all ways of writing one are to be."""

WIDTH = 100
"""Letters of a line of help."""


def pages() -> dict[str, str]:
    """Return the text of each generated page, by its path among the others."""
    questions = (DOCS / "reference" / "questions.md").read_text()
    sections = "\n\n".join(map(_section, all_kinds()))
    networks = (DOCS / "reference" / "topology.md").read_text()
    return {
        "reference/questions.md": questions.replace(QUESTIONS, sections),
        "reference/topology.md": networks.replace(NETWORKS, spec_table()),
        "reference/commands.md": _commands(),
        "reference/limits.md": _limits(),
        "gallery.md": _gallery(),
        "changelog.md": (DOCS.parent / "CHANGELOG.md").read_text().replace("](docs/", "]("),
    }


def _gallery() -> str:
    """Return the page of all pictures, each with the command that draws it."""
    lines = [
        "# Gallery",
        "Which picture answers which question? Its title is the answer. Each command has `--plot "
        "FILE` (.png, .svg, .pdf or .html), unless the command below names another option.",
    ]
    for name, each in tomllib.loads((DOCS / "pictures.toml").read_text()).items():
        option = each.get("option", "--plot")
        page = option == "--output"  # a photograph of it is shown
        lines += [
            f"## {each['shows']}",
            f"![{each['shows']}](pictures/{name}.{'jpg' if page else 'svg'})",
            f"```text\n{each['command']} {option} {name}.{'html' if page else 'svg'}\n```",
            f"[Read more]({each['page']})",
        ]
    return "\n\n".join(lines) + "\n"


def command_names() -> dict[str, list[str]]:
    """Return all commands, group by group of the help.

    Examples
    --------
    >>> names = command_names()
    >>> names["From the papers"]
    ['hotspot', 'hotspot critical-queue', 'validate', 'study list', 'study run']
    >>> "simulate load" in names["Ask"], "predict wiring" in names["Ask"]
    (True, True)
    """
    top = typer.main.get_command(app)
    assert isinstance(top, TyperGroup)
    names = [words.replace(".", " ") for words in all_words()]
    for name, command in top.commands.items():
        below = command.commands if isinstance(command, TyperGroup) else {}
        names += [f"{name} {each}" for each in below] or [name]
    groups = all_groups()
    firsts = {first: group for group, words in groups.items() for first in words}
    found: dict[str, list[str]] = {group: [] for group in (*groups, "More")}
    order = [*firsts, *sorted({name.split()[0] for name in names} - firsts.keys())]
    for first in order:
        own = sorted(name for name in dict.fromkeys(names) if name.split()[0] == first)
        found[firsts.get(first, "More")] += own
    return found


def limits(package: str) -> list[tuple[str, str, str, str]]:
    """Return the limits that a package's modules declare, ``MOST_…`` and ``MAX_…``.

    Names, values, the reason of each (the string below it), and the module. Limits of pictures are
    left out: what is beyond them is merged or numbered, never refused.
    """
    root = Path(__import__(package).__file__ or "").parent
    found = []
    for path in sorted(root.rglob("*.py")):
        room = path.relative_to(root).parts[0]
        body = ast.parse(path.read_text()).body if room not in ("drawing", "pages") else []
        for here, below in pairwise(body):
            if not isinstance(here, ast.Assign):
                continue
            names = ast.unparse(here.targets[0]).strip("()")
            if not any(each.startswith(("MOST_", "MAX_")) for each in names.split(", ")):
                continue
            said = below.value if isinstance(below, ast.Expr) else None
            reason = said.value if isinstance(said, ast.Constant) else ""
            module = ".".join(path.relative_to(root.parent).with_suffix("").parts)
            found.append((names, ast.unparse(here.value), " ".join(str(reason).split()), module))
    return found


def _limits() -> str:
    lines = [
        "# Limits",
        "Above which size does netloom refuse an input, leave an algorithm out, or estimate a "
        "figure? Each limit keeps time or memory within what the input may need.",
    ]
    rows: dict[str, list[str]] = {}
    for names, value, reason, module in limits("netloom") + limits("netloom_papers"):
        cells = (f"`{names}`", f"`{value.strip('()')}`", _cell(reason), f"`{module}`")
        room = ".".join(module.split(".")[:2])
        rows.setdefault(room, []).append(f"| {' | '.join(cells)} |")
    for room, some in rows.items():
        head = "| limit | value | of what, and why | module |\n| --- | --- | --- | --- |"
        lines.append("\n".join([f"## {room}\n", head, *some]))
    return "\n\n".join(lines) + "\n"


def _commands() -> str:
    lines = [
        "# Commands",
        "The help of every command, as `netloom COMMAND --help` prints it. `netloom COMMAND -h` is "
        "shorter. [Python functions](questions.md) and [experiment files](../experiments.md) take "
        "the same fields, with `_` for `-`.",
    ]
    for group, names in command_names().items():
        lines.append(f"## {group}")
        lines += [f"### netloom {name}\n\n```text\n{_help(name)}\n```" for name in names]
    return "\n\n".join(lines) + "\n"


def _help(name: str) -> str:
    with _columns(WIDTH):
        done = CliRunner().invoke(app, [*name.split(), "--help"], prog_name="netloom")
    assert done.exit_code == 0, done.output
    return done.output.rstrip()


@contextmanager
def _columns(width: int) -> Iterator[None]:
    """Make terminals seem as wide as that."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        yield
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def _section(kind: Kind) -> str:
    told, _, rest = kind.told.partition("\n\n")
    more = f"[More]({'../' + kind.page}). " if kind.page else ""
    lines = [
        f"## `{kind.verb}` {{ #netloom.questions.{kind.verb} }}",
        f"```python\n{_signature(kind)}\n```",
        f"{told} {more}",
        rest,
        f"Command: `netloom {kind.words.replace('.', ' ')}`. Table of an experiment file: "
        f"`[{kind.words}]`. For example:",
        f"```\n{kind.example}\n```",
        *_fields(kind),
        *_columns_of(kind),
        f"::: {kind.answer.__module__}.{kind.answer.__qualname__}\n"
        "    options:\n      heading_level: 3\n      show_root_heading: true",
    ]
    return "\n\n".join(lines)


def _signature(kind: Kind) -> str:
    """Return how the function is called: each argument with its default, and what it returns."""
    given = [f"nl.{kind.verb}("]
    named = False
    for name, each in signature_of(kind.question).parameters.items():
        if each.kind is each.KEYWORD_ONLY and not named:
            given.append("    *,")
            named = True
        default = "" if each.default is each.empty else f"={each.default!r}"
        given.append(f"    {name}{default},")
    return "\n".join([*given, f") -> {kind.answer.__name__}"])


def _fields(kind: Kind) -> Iterator[str]:
    rows = ["| field | default | |", "| --- | --- | --- |"]
    for name, parameter in inspect.signature(kind.function).parameters.items():
        required = parameter.default is parameter.empty
        default = "required" if required else _cell(default_said(kind.question, name))
        rows.append(f"| `{name}` | {default} | {_cell(description_of(kind.question, name))} |")
    yield "\n".join(rows)


def _columns_of(kind: Kind) -> Iterator[str]:
    rows = ["| table | column | unit | |", "| --- | --- | --- | --- |"]
    for table, figures in kind.answer.tables().items():
        for each in leaves(figures):
            unit = each.told.unit
            unit = unit if isinstance(unit, str) else f"as `{unit.figure}` says"
            rows.append(f"| `{table}` | `{each.name}` | {unit} | {_cell(each.title)} |")
    yield "The answer's tables:"
    yield "\n".join(rows)


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|").replace("<", "&lt;")
