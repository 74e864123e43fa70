"""The JSON Schema of answers: what commands print with ``--json``, and the tables of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from netloom.base.figures import TYPES, leaves, object_schema, places, schema, titled_schema
from netloom.questions import former
from netloom.questions.answers import Answer
from netloom.questions.register import all_kinds
from netloom.questions.verdicts import MARKS

if TYPE_CHECKING:
    from netloom.base.figures import Figures

PROVENANCE = {
    "type": "object",
    "title": "version, question and seed",
    "properties": {
        "netloom": {"type": "string"},
        "seed": {"type": "integer"},
        "configuration": {"type": "object"},
    },
    "required": ["netloom", "seed", "configuration"],
}

VERDICT: dict[str, Any] = {
    "type": "object",
    "title": "what it comes to",
    "properties": {
        "mark": {"enum": list(MARKS)},
        "sentence": {"type": "string"},
        "lines": {"type": "object", "additionalProperties": {"type": "string"}},
        "next": {"type": "string", "title": "the command that comes next"},
        "note": {"type": "string"},
    },
    "required": ["mark", "sentence", "lines", "next", "note"],
}
"""The part of a verdict that all answers have. Some have figures of their own beside it."""


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the answers of all questions.

    ``$defs`` has under the words of a question what its command prints as JSON. The ``$defs`` of
    that are its tables by name, each an array of rows.

    Examples
    --------
    >>> found = results_schema()["$defs"]
    >>> found["analyze"]["properties"]["dilation"]
    {'type': ['number', 'null'], 'title': 'hops per byte'}
    >>> found["analyze"]["$defs"]["table"]["items"]["properties"]["dilation"]["json"]
    'dilation'
    """
    forms: dict[str, Any] = {}
    answers = []
    for kind in all_kinds():
        answer = cast("type[Answer]", kind.answer)
        forms[kind.words] = {"title": kind.title} | _answer(answer, kind.verb)
        answers.append({"$ref": f"#/$defs/{kind.words}"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "answers of netloom",
        "anyOf": answers,
        "$defs": forms,
    }


def _answer(answer: type[Answer], verb: str) -> dict[str, Any]:
    """Return what an answer's JSON is: its one observation, or several as ``points``."""
    whole = schema(answer)
    for each in places(answer):
        if each.nested and issubclass(each.nested, Answer):
            whole["properties"][each.name]["anyOf"][0] = _answer(each.nested, "")
    points = whole["properties"].pop("points", None)
    required = [name for name in whole["required"] if name not in ("points", "verdict")]
    found = whole | {"required": [*required, "verdict", "provenance"]}
    if points is not None:
        (form, _) = points["anyOf"]
        one = form["items"]
        whole["properties"] = one["properties"] | {"points": form} | whole["properties"]
        own = [name for name in one["required"] if name not in required]
        found["anyOf"] = [{"required": own}, {"required": ["points"]}]
    own_of_verdict = whole["properties"].get("verdict", {"properties": {}, "required": []})
    own_of_verdict = own_of_verdict.get("anyOf", [own_of_verdict])[0]  # one record, or None
    verdict = VERDICT | {
        "properties": VERDICT["properties"] | own_of_verdict["properties"],
        "required": [*VERDICT["required"], *own_of_verdict["required"]],
    }
    found["properties"] = whole["properties"] | {"verdict": verdict, "provenance": PROVENANCE}
    for old in former.old_places(verb):
        *path, last = old.split(".")
        into = found
        for part in path:
            into = into["properties"].get(part, object_schema())
            into = into["anyOf"][0] if "anyOf" in into else into
            into = into.get("items", into)
            into.setdefault("properties", {})
        into["properties"].setdefault(last, {"deprecated": True})
    rows = answer.tables()
    found["$defs"] = {}
    for name, figures in rows.items():
        row = _row(figures, in_json=rows["table"] is figures)
        for old in former.old_columns(verb):
            row["properties"].setdefault(old, {"deprecated": True})
        found["$defs"][name] = {"type": "array", "items": row}
    return found


def _row(kind: type[Figures], *, in_json: bool) -> dict[str, Any]:
    """Return what a row of a table is. ``in_json`` says of each column where JSON has it."""
    row = object_schema()
    for each in leaves(kind):
        place = {"json": each.json} if in_json else {}
        form = titled_schema({"type": TYPES[each.kind]}, each.title, each.unit)
        row["properties"][each.name] = form | place
        if not each.optional:
            row["required"].append(each.name)
    return row
