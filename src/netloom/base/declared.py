"""What other packages add to netloom, as entry points of their installation.

A group's name says what is added: ``netloom.questions``, ``netloom.commands``,
``netloom.functions``, ``netloom.process-graphs``, ``netloom.engines``, ``netloom.layouts``. See
docs/adding-to-netloom.md.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint
from typing import Any


@cache
def _all() -> Any:
    from importlib.metadata import entry_points

    return entry_points()


@cache
def declared(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group, by name. Nothing of them is imported."""
    return {each.name: each for each in sorted(_all().select(group=f"netloom.{group}"))}
