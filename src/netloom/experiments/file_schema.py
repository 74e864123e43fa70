"""The JSON Schema of experiment files, for editors that complete and check as one types."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, PydanticJsonSchemaWarning
from pydantic_core import PydanticOmit

from netloom.experiments.file import HEADINGS, SETTINGS, SHARED
from netloom.questions.register import all_kinds, all_words, heads

if TYPE_CHECKING:
    from netloom.questions.register import Kind

SAID = {
    "title": "What the experiment is called.",
    "question": "What it is to find out, in words.",
    "repeat": "How often each point is asked, each time with the next seed.",
    "knee": "How many loads are added on a curve between the last at which the network keeps up "
    "and the first at which it saturates.",
    "all": "Fields that every table has that knows them.",
}

RANGE = {
    "type": "object",
    "description": "A range with both ends.",
    "properties": {each: {"type": "number"} for each in ("from", "to", "step", "factor")},
    "required": ["from", "to"],
    "additionalProperties": False,
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of experiment files.

    Examples
    --------
    >>> found = schema()
    >>> found["$defs"]["analyze"]["properties"]["tasks_per_node"]["anyOf"][0]
    {'maximum': 268435456, 'minimum': 1, 'type': 'integer'}
    """
    forms: dict[str, Any] = {"range": RANGE}
    shared: dict[str, Any] = {}
    for kind in all_kinds():
        fields = _fields(kind)
        shared |= fields
        forms[kind.words] = _table(fields | _settings())
    for head, each in heads().items():
        if each.usual:
            forms[head] = _table(dict(forms[f"{head}.{each.usual}"]["properties"]))
    firsts = dict.fromkeys(words.partition(".")[0] for words in all_words())
    for head in firsts:  # tables of subcommands are in those of commands
        form = forms.setdefault(head, _table({}))
        for words in all_words():
            if words.startswith(f"{head}."):
                name = words.partition(".")[2]
                below, field = _one_or_several(words), form["properties"].get(name)
                if field:  # a field may have the name of a question
                    below = field | {"anyOf": [*field["anyOf"], *below["anyOf"]]}
                form["properties"][name] = below
    said = {name: {"type": "string", "description": SAID[name]} for name in HEADINGS}
    tables = {head: _one_or_several(head) for head in firsts}
    everywhere = _table(shared | _settings()) | {"description": SAID[SHARED]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "netloom experiment",
        "type": "object",
        "properties": said | {SHARED: everywhere} | tables,
        "additionalProperties": False,
        "$defs": forms,
    }


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _one_or_several(words: str) -> dict[str, Any]:
    """Return what a table is, or several of one name are."""
    form = {"$ref": f"#/$defs/{words}"}
    return {"anyOf": [form, {"type": "array", "items": form}]}


def _settings() -> dict[str, Any]:
    return {
        name: {
            "type": "integer", "default": default, "minimum": least, "maximum": most,
            "description": SAID[name],
        }
        for name, (default, least, most) in SETTINGS.items()
    }  # fmt: skip


def _fields(kind: Kind) -> dict[str, Any]:
    """Return the fields of a question: each one value, several, or a range of numbers."""
    with warnings.catch_warnings():  # what only Python can give, a file cannot
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        whole = kind.question.model_json_schema(schema_generator=_OfPlainData)
    found = {}
    for name, form in whole["properties"].items():
        about = {
            part: form.pop(part) for part in ("default", "description", "unit") if part in form
        }
        form.pop("title", None)
        if about.get("default", "") is None:
            del about["default"]
        several = {"type": "array", "items": form, "minItems": 1}
        found[name] = {"anyOf": [form, several, {"$ref": "#/$defs/range"}]} | about
    return found


class _OfPlainData(GenerateJsonSchema):
    """Leaves out what is no plain data: topologies, process graphs and other objects."""

    def is_instance_schema(self, schema: Any) -> Any:  # noqa: ARG002
        """Leave out what must be an object of a class."""
        raise PydanticOmit
