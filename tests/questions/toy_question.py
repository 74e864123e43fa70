"""Build a toy."""

from __future__ import annotations

from typing import Any

from netloom.base.figures import derived, figure
from netloom.base.provenance import Provenance
from netloom.questions.answers import Answer
from netloom.questions.base import Question, option
from netloom.questions.register import asks
from netloom.questions.verdicts import Grade, Verdict

HIGH = Grade("height in m", fine=1.0, act=1.5)


class ToyQuestion(Question, panel="Toy"):
    """A toy of some size."""

    size: int = option("How large the toy is.", default=2, ge=1, le=100, unit="blocks")


class ToyTower(Answer):
    """What a tower of blocks comes to."""

    blocks: int = figure("blocks in all", key=True, lead=True)

    @derived("how high it is", "m", key=True, lead=True)
    def height(self) -> float:
        """A block is a quarter of a meter."""
        return 0.25 * self.blocks

    def judged(self) -> Verdict:
        """Return whether the tower stands."""
        mark = HIGH.mark(self.height)
        if mark == "fine":
            return Verdict(mark, f"Stands at {self.height:g} m.")
        return Verdict(mark, f"Falls at {self.height:g} m.", next=self.again(size=4))

    def parts(self) -> dict[str, Any]:
        """Return its picture."""
        from netloom.drawing.bars import Bar, bars
        from netloom.drawing.colours import BEST

        bar = Bar("tower", self.height, f"{self.height:g} m", BEST)
        return {"height": bars([bar], self.verdict.sentence, "height (m)", width=200)}


@asks(ToyQuestion, prepare=lambda _: None, title="Tower of toys", example="netloom toy --size 3")
def toy(asked: ToyQuestion, _: None) -> ToyTower:
    """Build a tower of blocks.

    Examples
    --------
    >>> toy(size=3).to_dict()["verdict"]["sentence"]
    'Stands at 0.75 m.'
    """
    return ToyTower(blocks=asked.size, provenance=Provenance(asked.configuration(), verb="toy"))
