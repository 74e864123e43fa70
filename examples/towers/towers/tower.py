"""Build a tower of blocks."""

from __future__ import annotations

from typing import Any

from netloom.base.figures import derived, figure
from netloom.base.provenance import Provenance
from netloom.questions.answers import Answer, Grade, Verdict
from netloom.questions.base import Question, option
from netloom.questions.register import asks

HIGH = Grade("height in m", fine=1.0, act=1.5)


class Tower(Question, panel="Tower"):
    """A tower of some blocks."""

    size: int = option("Height of the tower.", default=2, ge=1, le=100, unit="blocks")


class BuiltTower(Answer):
    """What a tower comes to."""

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
        from netloom.drawing.frame import BEST

        bar = Bar("tower", self.height, f"{self.height:g} m", BEST)
        return {"height": bars([bar], self.verdict.sentence, "height (m)", width=200)}


@asks(Tower, prepare=lambda _: None, title="Tower of blocks", example="netloom tower --size 3")
def build_tower(asked: Tower, _: None) -> BuiltTower:
    """Build a tower of blocks."""
    made = Provenance(asked.configuration(), verb="build_tower")
    return BuiltTower(blocks=asked.size, provenance=made)
