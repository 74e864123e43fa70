"""Feldmann, Stricker & Warfel 1993: connections in phases on iWarp, predicted and simulated again.

What the paper predicts is computed by its formulas, what it measured is simulated flit by flit.
Its meshes of finite elements are not known: those here are of about their sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.studies import feldmann_meshes, feldmann_phases, feldmann_simulated, feldmann_tables
from netloom.studies.comparing import compare
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netloom.studies.comparing import Part
    from netloom.studies.validation import Row

__all__ = ["PARTS", "rows"]

PARTS: dict[str, Part] = {
    **feldmann_tables.PARTS,
    **feldmann_phases.PARTS,
    **feldmann_meshes.PARTS,
    **feldmann_simulated.PARTS,
}
"""What recomputes each item of the data file, from what the file says of it."""


def rows(known: Mapping[str, Any] | None = None) -> Iterator[Row]:
    """Yield every number of the tables, and what netloom's own plans come to beside them.

    Parameters
    ----------
    known
        The data file's content; another one has fewer items, words or seeds.
    """
    printed = published("feldmann/published") if known is None else known
    for item, part in PARTS.items():
        if item in printed:
            found = part(printed[item])
            within = _within(printed[item])
            yield from compare("feldmann", item, {**printed[item], "within": within}, found)


def _within(known: Mapping[str, Any]) -> dict[str, float]:
    """Return how far each quantity may be off, in its unit.

    ``percent`` is of the printed value, one number or by what a quantity's name begins with.
    """
    room = {}
    for quantity, value in known["values"].items():
        if "percent" in known:
            percent = known["percent"]
            if isinstance(percent, dict):
                percent = percent[quantity.partition(",")[0]]
            room[quantity] = value * percent / 100
        else:
            room[quantity] = float(known["within"])
    return room
