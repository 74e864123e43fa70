"""The figures of a forwarding table as columns, for every question that judges one."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from netloom.questions.answers import Column

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.fabrics.figures import TableFigures

PATHS = "paths"

FIGURES: tuple[tuple[str, str, str, type, bool], ...] = (
    ("unrouted", "pairs of hosts without a path", "", int, False),
    ("switch_hops.mean", "hops between switches, mean", "hops", float, False),
    ("switch_hops.max", "hops between switches, most", "hops", int, False),
    ("all_to_all.max", "busiest cable of an all-to-all", PATHS, Real, True),
    ("all_to_all.mean", "mean cable of an all-to-all", PATHS, float, False),
    ("all_to_all.time", "busiest cable of an all-to-all, over bandwidth", PATHS, float, False),
    ("shifts.max", "busiest cable of the worst shift", PATHS, Real, True),
    ("shifts.mean", "busiest cable of a shift, mean", PATHS, float, False),
    ("shifts.count", "shifts", "", int, False),
    ("effective_bisection.mean", "effective bisection bandwidth", "of a host's", float, True),
    ("effective_bisection.sd", "its standard deviation", "of a host's", float, False),
    ("effective_bisection.samples", "random matchings", "", int, False),
    ("lanes", "virtual lanes", "", int, True),
    ("deadlock_free", "free of credit loops", "", bool, True),
)
"""Name and place in JSON, title, unit, kind, and whether it is a key figure."""


def figure_columns(
    of: Callable[[Any], TableFigures], *, prefix: str = "", where: str = "", key: bool = True
) -> tuple[Column, ...]:
    """Return the columns of the figures of an answer's table.

    Parameters
    ----------
    of
        Returns the figures, given the answer.
    prefix, where
        What their names and their places in JSON begin with.
    key
        Whether some are key figures.
    """

    def value(path: str) -> Callable[[Any], Any]:
        def found(answer: Any) -> Any:
            known: Any = of(answer).to_dict()
            for part in path.split("."):
                known = known[part]
            return known

        return found

    plain = tuple(
        Column(
            prefix + path.replace(".", "_"), title, unit, value(path), kind,
            key=key and main, json=where + path,
        )
        for path, title, unit, kind, main in FIGURES
    )  # fmt: skip
    busiest = Column(f"{prefix}busiest", kind=list, value=value("busiest"), json=f"{where}busiest",
                     table=False)  # fmt: skip
    return (*plain, busiest)
