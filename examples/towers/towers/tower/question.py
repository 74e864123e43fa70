"""How high does a tower of blocks stand?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netloom.base.provenance import Provenance
from netloom.questions.base import Question, option
from netloom.questions.columns import Column, Columns
from netloom.questions.register import Answer, asks


class Tower(Question, panel="Tower"):
    """A tower of some blocks."""

    size: int = option("Height of the tower.", default=2, ge=1, le=100, unit="blocks")


@dataclass(frozen=True, eq=False)
class BuiltTower(Answer):
    """What a tower comes to."""

    size: int
    provenance: Provenance

    columns: ClassVar = Columns(
        Column("blocks", "blocks in all", kind=int, value="size", key=True),
        Column("height", "how high it is", "m", value=lambda tower: 0.25 * tower.size, key=True),
    )


@asks(Tower, title="Tower of blocks", example="netloom tower --size 3")
def build_tower(question: Tower) -> BuiltTower:
    """Build a tower of blocks."""
    asked = question.configuration()
    return BuiltTower(question.size, Provenance(asked, verb="build_tower"))
