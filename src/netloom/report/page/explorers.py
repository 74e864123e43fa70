"""The explorers of a page: one of each network, unfolded when somebody wants to look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.explore.file import MOST_VIEWS, by_network, named_views
from netloom.explore.page_file import data_of, title_of
from netloom.questions.subject import short_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netloom.questions.recorded import Recorded

AGAIN = ("compare_collectives", "compile_phases", "replay", "route_fabric")
"""Verbs whose answers must be worked out again to be explored: too long for a page beside others.

``netloom explore`` shows them.
"""

MOST_NETWORKS = 6
"""Networks that a page has explorers of."""


class Explorer(NamedTuple):
    """An explorer of a network: its name, its title, and its data."""

    network: str
    title: str
    data: dict[str, Any]


def explorers_of(records: Iterable[Recorded]) -> Iterator[Explorer]:
    """Yield explorers of the networks that answers are about.

    Answers whose files are gone, or whose questions named Python objects, have none.
    """
    known = by_network(each for each in records if each.verb not in AGAIN)
    for network, chosen in list(known.items())[:MOST_NETWORKS]:
        try:
            views = named_views(chosen[:MOST_VIEWS])
            yield Explorer(short_name(network), title_of(views), data_of(views))
        except (InputError, OSError):
            continue
