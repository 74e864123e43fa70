"""Rosenblum & Mayr 1986: an Ultracomputer with several hot spots, simulated again.

STAN-CS-86-1119. The simulator follows an independent reproduction of the report, whose rules of a
step were chosen on these same tables: how well they agree is a fit, and no test of the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.studies.rosenblum_mayr_queues import rows as queue_rows
from netloom.studies.rosenblum_mayr_tables import all_seeds, placements_alike
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netloom.studies.validation import Row


def rows(known: Mapping[str, Any] | None = None) -> Iterator[Row]:
    """Yield all numbers of the tables, twice, and what is said of queues beside them.

    Parameters
    ----------
    known
        The content of the data file of what is not in the tables; another one has other seeds.
    """
    tables = published("rosenblum-mayr-tables")
    yield from all_seeds(tables)
    yield from placements_alike(tables)
    yield from queue_rows(published("rosenblum-mayr") if known is None else known)
