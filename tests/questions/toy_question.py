"""A whole question in one module: nothing else of netloom knows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from netloom.base.provenance import Provenance
from netloom.questions.base import Question, option
from netloom.questions.columns import Column, Columns
from netloom.questions.register import Answer, asks
from netloom.questions.shown import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


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


@asks(ToyQuestion, title="Tower of toys", example="netloom toy --size 3")
def toy(question: ToyQuestion) -> ToyTower:
    """Build a tower of blocks.

    Examples
    --------
    >>> toy(size=3).to_dict()["verdict"]["sentence"]
    'Stands at 0.75 m.'
    """
    asked = question.configuration()
    return ToyTower(question.size, Provenance(asked, verb="toy"))


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return whether the tower stands."""
    high = f"{figures['height']:g} m"
    if figures["blocks"] < 5:
        return Verdict("fine", f"Stands at {high}.")
    return Verdict("act", f"Falls at {high}.", next="netloom toy --size 4")
