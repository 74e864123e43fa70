"""Answers as views: what each puts on the channels of its network, made again from its question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.explore.delays import colored
from netloom.explore.views.counted import counted_views
from netloom.explore.views.mapped import analyzed_views, flow_views, mapping_views
from netloom.explore.views.tables import fabric_views, route_views
from netloom.explore.views.timed import collective_views, phase_views, trace_views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from netloom.explore.view import View
    from netloom.questions.answers import Answer
    from netloom.questions.recorded import Recorded

VIEWS: Mapping[str, Callable[[Recorded, Answer | None], Iterable[View]]] = {
    "analyze": analyzed_views,
    "check_fabric": fabric_views,
    "compare_collectives": collective_views,
    "compile_phases": phase_views,
    "find_mapping": mapping_views,
    "replay": trace_views,
    "route_fabric": route_views,
    "simulate_flows": flow_views,
}
"""By verb, what makes views of an answer. Of any other verb what it says of channels is shown."""


def views_of(record: Recorded, answer: Answer | None = None) -> list[View]:
    """Return the views of an answer, of which at least the record is known.

    What only the answer itself holds is worked out again where that is not given.

    Raises
    ------
    InputError
        If it says nothing of channels, or what was asked cannot be read again.

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> (view,) = views_of(record(analyze("ring:8", "mesh:2x4", random_mappings=0)))
    >>> view.name, view.unit, float(view.load.max())
    ('rank order', 'paths', 2.0)
    """
    if "on" not in record.configuration:
        wanted = "an answer about a network that --on names"
        raise InputError(record.verb, "an answer without channels to explore", wanted)
    return colored(record, list(VIEWS.get(record.verb, counted_views)(record, answer)))
