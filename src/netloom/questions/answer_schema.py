"""The JSON Schema of answers: what commands print with ``--json``, and the tables of stores."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from netloom.base.figures import places, schema
from netloom.questions import answers, former
from netloom.questions.register import all_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netloom.questions.columns import Column, Columns
    from netloom.questions.register import Answer, Kind

TYPES = {
    float: "number", Real: "number", int: "integer", str: "string", bool: "boolean",
    dict: "object", list: "array",
}  # fmt: skip

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
        "mark": {"enum": ["fine", "limited", "act", "unknown"]},
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
        forms[kind.words] = {"title": kind.title} | _answers(kind)
        answers.append({"$ref": f"#/$defs/{kind.words}"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "answers of netloom",
        "anyOf": answers,
        "$defs": forms,
    }


def _answers(kind: Kind) -> dict[str, Any]:
    """Return what the JSON of one of some answers is, and their tables."""
    forms = [
        _of_figures(each, kind.verb) if issubclass(each, answers.Answer) else _answer(each)
        for each in kind.answers
    ]
    if len(forms) == 1:
        return forms[0]
    tables: dict[str, list[Any]] = {}
    for form in forms:
        for name, rows in form.pop("$defs").items():
            tables.setdefault(name, []).append(rows)
    return {"anyOf": forms, "$defs": {name: {"anyOf": rows} for name, rows in tables.items()}}


def _answer(answer: type[Answer]) -> dict[str, Any]:
    """Return what an answer's JSON is: its one observation, or several as ``points``."""
    columns = answer.columns if answer.in_json is None else answer.in_json
    one, about = _nested(columns), _nested(answer.about)
    fields: dict[str, Any] = (
        one["properties"] | {"points": {"type": "array", "items": one}} | about["properties"]
    )
    own = [name for name in one["required"] if name not in about["required"]]
    return {
        "type": "object",
        "properties": fields | {"verdict": VERDICT, "provenance": PROVENANCE},
        "required": list(dict.fromkeys([*about["required"], "verdict", "provenance"])),
        "anyOf": [{"required": own}, {"required": ["points"]}],
        "additionalProperties": False,
        "$defs": {
            name: {"type": "array", "items": _row(columns, in_json=columns is answer.columns)}
            for name, columns in answer.tables().items()
        },
    }


def _of_figures(answer: type[answers.Answer], verb: str) -> dict[str, Any]:
    """Return what the JSON of an answer is that is a record of figures."""
    whole = schema(answer)
    for each in places(answer):
        if each.nested and issubclass(each.nested, answers.Answer):
            whole["properties"][each.name]["anyOf"][0] = _of_figures(each.nested, "")
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
    verdict: dict[str, Any] = {**VERDICT}
    verdict["properties"] = VERDICT["properties"] | own_of_verdict["properties"]
    verdict["required"] = [*VERDICT["required"], *own_of_verdict["required"]]
    found["properties"] = whole["properties"] | {"verdict": verdict, "provenance": PROVENANCE}
    for old in former.old_places(verb):
        *path, last = old.split(".")
        into = found
        for part in path:
            into = into["properties"].get(part, _object({}))
            into = into["anyOf"][0] if "anyOf" in into else into
            into = into.get("items", into)
            into.setdefault("properties", {})
        into["properties"].setdefault(last, {"deprecated": True})
    rows, house = answers.tables_of(answer), cast("type[Answer]", answer)
    found["$defs"] = {}
    for name, columns in house.tables().items():
        row = _row(columns, in_json=rows["table"] is rows[name])
        for old in former.old_columns(verb):
            row["properties"].setdefault(old, {"deprecated": True})
        found["$defs"][name] = {"type": "array", "items": row}
    return found


def _inner(form: dict[str, Any]) -> dict[str, Any]:
    """Return what an object is that may also be null."""
    inner: dict[str, Any] = form.get("anyOf", [form])[0]
    return inner


def _row(columns: Columns, *, in_json: bool) -> dict[str, Any]:
    """Return what a row of a table is. ``in_json`` says of each column where JSON has it."""
    fields = {}
    for each in columns:
        if each.table:
            place = each.json if each.json != "" else each.name
            fields[each.name] = _value(each) | ({"json": place} if in_json and place else {})
    always = [each.name for each in columns if each.table and not each.optional]
    return _object(fields) | {"required": always}


def _nested(columns: Iterable[Column]) -> dict[str, Any]:
    """Return what an observation is in JSON."""
    whole = _object({})
    for each in columns:
        if each.json is None:
            continue
        *path, last = (each.json or each.name).split(".")
        place = whole
        for name in path:
            inner = place["properties"].setdefault(name, _object({}))
            inner.setdefault("properties", {})  # a column may add to an object that is another's
            place["required"] = list(place["properties"])
            place = inner
        place["properties"][last] = _value(each)
        place["required"] = list(place["properties"])
    return whole


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _value(column: Column) -> dict[str, Any]:
    title = column.named
    unit = {"unit": column.unit} if column.unit else {}
    return {"type": [TYPES[column.kind], "null"], "title": title, **unit}
