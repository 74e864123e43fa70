"""What a tower comes to, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.questions.verdict import Verdict


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return whether the tower stands, from the JSON of the answer."""
    high = f"{figures['height']:g} m"
    if figures["blocks"] < 5:
        return Verdict("fine", f"Stands at {high}.")
    return Verdict("act", f"Falls at {high}.", next="netloom tower --size 4")
