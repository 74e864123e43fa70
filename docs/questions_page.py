"""Write the reference page of all questions, from what each declares of itself."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from netloom.questions.base import default_said, description_of
from netloom.questions.register import all_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.questions.register import Kind

PLACE = "<!-- every question -->"
"""What stands in the page where the questions are to be."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put all questions where the page wants them; MkDocs calls this for each page."""
    if PLACE not in markdown:
        return markdown
    return markdown.replace(PLACE, "\n\n".join(map(_section, all_kinds())))


def _section(kind: Kind) -> str:
    told, _, rest = kind.told.partition("\n\n")
    more = f"[More]({'../' + kind.page}). " if kind.page else ""
    lines = [
        f"## `{kind.verb}` {{ #netloom.questions.{kind.verb} }}",
        f"{told} {more}",
        rest,
        f"Command: `netloom {kind.words.replace('.', ' ')}`; table of an experiment file: "
        f"`[{kind.words}]`; for example",
        f"```\n{kind.example}\n```",
        *_fields(kind),
        *_columns(kind),
        *(
            f"::: {answer.__module__}.{answer.__qualname__}\n"
            "    options:\n      heading_level: 3\n      show_root_heading: true"
            for answer in kind.answers
        ),
    ]
    return "\n\n".join(lines)


def _fields(kind: Kind) -> Iterator[str]:
    rows = ["| field | default | |", "| --- | --- | --- |"]
    for name, parameter in inspect.signature(kind.function).parameters.items():
        required = parameter.default is parameter.empty
        default = "required" if required else _cell(default_said(kind.question, name))
        rows.append(f"| `{name}` | {default} | {_cell(description_of(kind.question, name))} |")
    yield "\n".join(rows)


def _columns(kind: Kind) -> Iterator[str]:
    for answer in kind.answers:
        rows = ["| table | column | unit | |", "| --- | --- | --- | --- |"]
        for table, columns in answer.tables().items():
            for each in columns:
                if each.table:
                    title = _cell(each.named)
                    rows.append(f"| `{table}` | `{each.name}` | {each.unit} | {title} |")
        whose = "The answer" if len(kind.answers) == 1 else f"`{answer.__name__}`"
        yield f"{whose}'s tables:"
        yield "\n".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
