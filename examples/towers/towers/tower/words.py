"""What a tower comes to, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return whether the tower stands, from the JSON of the answer."""
    high = f"{figures['height']:g} m"
    if figures["blocks"] < 5:
        return Verdict("fine", f"Stands at {high}.")
    return Verdict("act", f"Falls at {high}.", next="netloom tower --size 4")
