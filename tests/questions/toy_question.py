"""A whole question in one module: nothing else of netloom knows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netloom.provenance import Provenance
from netloom.questions.answers import Answer, Column, Columns
from netloom.questions.base import Question, option
from netloom.questions.register import asks


class ToyQuestion(Question, panel="Toy"):
    """A toy of some size."""

    size: int = option("How large the toy is.", default=2, ge=1, le=100, unit="blocks")


@dataclass(frozen=True, eq=False)
class ToyTower(Answer):
    """What a tower of blocks comes to."""

    size: int
    provenance: Provenance

    columns: ClassVar = Columns(
        Column("blocks", "blocks in all", kind=int, value="size", key=True),
        Column("height", "how high it is", "m", value=lambda tower: 0.25 * tower.size, key=True),
    )
    about: ClassVar = Columns(Column("verdict", kind=str))

    @property
    def verdict(self) -> str:
        """Whether it stands."""
        return "it stands" if self.size < 5 else "it falls"


@asks(ToyQuestion, title="Tower of toys", example="netloom toy --size 3")
def toy(question: ToyQuestion) -> ToyTower:
    """Build a tower of blocks.

    Examples
    --------
    >>> toy(size=3).verdict
    'it stands'
    """
    asked = question.configuration()
    return ToyTower(question.size, Provenance(asked, verb="toy"))
