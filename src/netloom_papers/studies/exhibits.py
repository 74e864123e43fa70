"""The former shape of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.figures import Grid, Plot
    from netloom_papers.ledger import Row


class Shown(NamedTuple):
    """What a table or figure shows, recomputed."""

    panels: Sequence[Plot | Grid]
    rows: tuple[Row, ...] = ()
    remarks: tuple[str, ...] = ()
