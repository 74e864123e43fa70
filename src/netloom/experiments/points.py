"""One question of an experiment: what it asks, and how it differs from the others."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.base.provenance import code_version, source_digest
from netloom.questions.base import ask
from netloom.questions.register import by_verb

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Point:
    """One question of an experiment, not yet answered.

    Attributes
    ----------
    section
        The table of the experiment file that asks, such as ``simulate`` or ``predict.latency``.
        ``simulate#2`` for the second of several.
    verb
        The function of ``netloom.questions`` that answers.
    fields
        Its arguments. Files are named relative to the experiment's folder.
    varied
        Those of the fields in which the points of the section differ, in the file's order, then the
        load, even if there is only one, and with repetitions also ``seed``.
    files
        Hashes of the content of the files that it names, by their names in ``fields``.
    sweep
        The field in which points form a curve up to saturation (``load``), or "".
    knee
        How many loads are added on the curve where it saturates.
    key
        Hash of everything that the answer depends on: verb, full configuration, the content of
        files, and the code that answers. Worked out where it is not given.

    Raises
    ------
    InputError
        If a field of the question is wrong.
    """

    section: str
    verb: str
    fields: Mapping[str, Any]
    varied: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    sweep: str = ""
    knee: int = 0
    key: str = ""

    def __post_init__(self) -> None:
        """Work out the key. A field of the question that is wrong is found here."""
        if self.key:
            return
        question = ask(by_verb(self.verb).question, self.fields)
        whole = {
            "verb": self.verb,
            "configuration": question.configuration(),
            "files": dict(self.files),
            "code": _code_of(self.verb),
        }
        object.__setattr__(self, "key", hashed(whole))

    @property
    def curve(self) -> str:
        """What points of the same curve have in common: all but the load, and the seed."""
        where = {self.sweep, "seed"} if self.sweep else set()
        others = {name: value for name, value in self.fields.items() if name not in where}
        return hashed([self.section, others, self.key if not self.sweep else ""])

    @property
    def described(self) -> str:
        """What it is called in messages: its section, and what varies there."""
        return " ".join([f"[{self.section}]", *(f"{k}={v}" for k, v in self.varied.items())])

    @property
    def level(self) -> float:
        """Where on its curve it is, or 0 for a point that is on none."""
        return float(self.fields[self.sweep]) if self.sweep else 0.0

    def at(self, level: float) -> Point:
        """Return the same question at another place of its curve."""
        there = {self.sweep: level}
        return replace(
            self, fields={**self.fields, **there}, varied={**self.varied, **there}, key=""
        )


def _code_of(verb: str) -> str:
    """Return what identifies the code of a verb: netloom's, and that of another package's own."""
    whole = by_verb(verb).module.partition(".")[0]
    if whole == "netloom":
        return code_version()
    origin = Path(str(sys.modules[whole].__file__))
    own = source_digest(origin.parent if origin.name == "__init__.py" else origin)
    return f"{code_version()} {own}"


def hashed(data: Any) -> str:
    """Return a hash of plain data, which does not depend on the order of what has names.

    Examples
    --------
    >>> hashed({"a": 1, "b": 2}) == hashed({"b": 2, "a": 1})
    True
    """
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode()).hexdigest()
