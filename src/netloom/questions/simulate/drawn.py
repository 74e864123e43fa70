"""What the pictures of all programs on a network have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netloom.questions.register import Recorded

ON_CHANNEL = "flits/cycle on the channel"


def switched(record: Recorded) -> str:
    """Return what switches, in words."""
    return f"{record.figures['routing']}, {record.figures['router']['name']}"
