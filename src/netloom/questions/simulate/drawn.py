"""What the pictures of all programs on a network have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.questions.network_chart import at_last

if TYPE_CHECKING:
    from netloom.questions.register import Recorded

ON_CHANNEL = "flits/cycle on the channel"


def switched(record: Recorded) -> str:
    """Return what switches, in words."""
    return f"{record.figures['routing']}, {record.figures['router']['name']}"


def highest(record: Recorded, load: str) -> float:
    """Return the load at which channels are shown."""
    highest: float = at_last(record, load)[load][0]
    return highest
