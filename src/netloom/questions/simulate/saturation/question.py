"""Where does this network saturate?"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING

from netloom.base.progress import patience
from netloom.questions.named import provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.simulate.fields import OpenLoad
from netloom.questions.simulate.load.answer import SimulatedLoad
from netloom.questions.simulate.network import prepare
from netloom.questions.simulate.saturation.answer import NetworkSaturation, Search
from netloom.simulation.network.loaded import advice_of, bracket_saturation

if TYPE_CHECKING:
    from netloom.questions.simulate.network import SimulatedNetwork


class SaturationQuestion(OpenLoad):
    """A network, and the load at which it saturates."""


@asks(
    SaturationQuestion,
    prepare=prepare,
    title="Search for saturation",
    example="netloom simulate saturation --on torus:8x8 --traffic tornado --switching all",
    page="simulate-a-network.md",
    outputs=(PLOT,),
)
def find_saturation(question: SaturationQuestion, network: SimulatedNetwork) -> NetworkSaturation:
    """Find the offered load at which a network saturates, by bracketing.

    A network saturates at the load at which its backlog grows, or at which its mean packet latency
    exceeds three times that of the idle network.

    Raises
    ------
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> from netloom import find_saturation
    >>> found = find_saturation("mesh:4x4", most_cycles=5000)
    >>> found.searches[0].found.load < found.searches[0].setting.bound.load
    True
    """
    advice = advice_of(network.settings, ())
    if advice:
        warnings.warn(advice, stacklevel=3)
    searches = []
    for setting in network.settings:
        with patience(f"{network.name}: looking for saturation"):
            point = bracket_saturation(
                partial(network.make_run, setting),
                question.limits(),
                below=network.most_load(setting),
            )
        points = tuple(SimulatedLoad(network, setting, run) for run in point.runs)
        searches.append(Search(setting, point, points))
        if searches[-1].interrupted:
            break
    return NetworkSaturation(
        network=network,
        searches=tuple(searches),
        advice=advice,
        provenance=provenance_of(question, "find_saturation", network.topology),
    )
