"""Gain of combining at a hot spot, in closed form.

In one case everything is known: there is one hot spot, every processing element requests it with
the same probability, and switches combine all requests that meet. The other case is without
combining, where only the module counts (Pfister & Norton, "'Hot spot' contention and combining in
multistage interconnection networks", IEEE Trans. Computers C-34, 1985).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from netloom.base.arrays import Floats


MOST_STAGES = 1000
"""Twice as many processing elements each, so many that 2^K is still a float."""


class SingleHotSpot(NamedTuple):
    """Mean lengths at the end of a step, of the queues and pools that are used.

    Attributes
    ----------
    queue_mean
        float64[2 K + 2], by level: processing elements (0: a request moves in the step in which
        it is made), requests behind stages 0 to K − 1, the module, replies behind stages K − 1
        to 0.
    wait_mean
        float64[K]: packets in the wait pool of each stage.
    """

    queue_mean: Floats
    wait_mean: Floats


def single_hot_spot(stages: int, rate: float) -> SingleHotSpot:
    """Return the mean queues of a combining Omega network of 2 × 2 switches with one hot spot.

    Every processing element makes a request with probability G in each step. Then nothing is ever
    delayed: all requests take 2 K + 2 steps. A queue behind stage i holds a request if one of the
    2^(i+1) elements before it made one that very step, with probability p_i = 1 − (1 −
    G)^(2^(i+1)). Its reply passes the same places: the module's queue has mean p_(K−1), that behind
    stage i on the way back p_(i−1), with p_(−1) = G. Both inputs of a switch bring a request with
    probability p_(i−1)², and one of them waits for 2 (K − i) steps.

    Parameters
    ----------
    stages
        K = log₂ N, 1 to 1000.
    rate
        G, 0 to 1.

    Raises
    ------
    InputError
        If there is no stage, or the rate is no probability.

    Examples
    --------
    >>> one = single_hot_spot(4, 0.15)
    >>> one.queue_mean.round(3)
    array([0.   , 0.278, 0.478, 0.728, 0.926, 0.926, 0.728, 0.478, 0.278,
           0.15 ])
    >>> one.wait_mean.round(3)
    array([0.18 , 0.462, 0.914, 1.059])
    """
    if not 1 <= stages <= MOST_STAGES or stages != int(stages):
        raise InputError("stages", f"{stages}", f"a whole number from 1 to {MOST_STAGES}")
    if not 0 <= rate <= 1:
        raise InputError("rate", f"{rate:g}", "a probability, 0 to 1")
    reached = np.arange(stages + 1)
    busy = np.asarray(1 - (1 - rate) ** (2.0**reached), np.float64)  # p_(i − 1) at place i
    queues = np.concatenate([[0.0], busy[1:], [busy[stages]], busy[stages - 1 :: -1]])
    return SingleHotSpot(queues, busy[:-1] ** 2 * 2 * (stages - reached[:-1]))


def tree_saturation(modules: int, hot_fraction: float) -> float:
    """Return the most requests per element and step that a network without combining carries.

    A part h of all requests is for one of N modules, which takes one per step: 1 / (1 + h (N − 1))
    (Pfister & Norton 1985). Its queues fill, back to every element, so that requests for other
    modules are delayed as well.

    Parameters
    ----------
    modules
        N, at least 1.
    hot_fraction
        h, 0 to 1.

    Raises
    ------
    InputError
        If there is no module, or the fraction is none.

    Examples
    --------
    >>> round(tree_saturation(512, 0.01), 3)
    0.164
    """
    if not modules >= 1:
        raise InputError("modules", f"{modules}", "at least 1")
    if not 0 <= hot_fraction <= 1:
        raise InputError("hot_fraction", f"{hot_fraction:g}", "0 to 1")
    return 1 / (1 + hot_fraction * (modules - 1))
