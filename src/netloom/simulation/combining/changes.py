"""Hot spots that come and go while a network is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.simulation.combining.layout import CHANGES, TAKES
from netloom.workload.counter_random import uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.workload import HotSpotTraffic


class HotSpotList:
    """The hot spots of a network, and those that each processing element has.

    In each step first a random hot spot goes with probability ``remove``, but never the last one;
    then a module becomes one with probability ``new``, if there is one that is none and has no
    request in flight. Elements with a free place take it with probability ``assign``.

    Parameters
    ----------
    traffic
        How it begins, and the probabilities.
    seed
        Of the changes.
    """

    def __init__(self, traffic: HotSpotTraffic, seed: int) -> None:
        self._traffic, self._seed = traffic, seed
        self.hot_spots = traffic.hot_spots.tolist()
        self.assigned = traffic.assigned.copy()

    def changing_steps(self, begin: int, end: int) -> NDArray[np.int64]:
        """Return the steps from ``begin``, before ``end``, in which something may change."""
        traffic = self._traffic
        if traffic.new == traffic.remove == 0:
            return np.zeros(0, np.int64)
        steps = np.arange(begin, end)
        drawn = uniforms(self._seed, CHANGES, steps[:, None], [[0, 2]])
        return steps[(drawn[:, 0] < traffic.remove) | (drawn[:, 1] < traffic.new)]

    def change(self, step: int, in_flight: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Make the changes of a step; return the places (element, place) that were lost.

        Parameters
        ----------
        step
            The step, in which no request has been made yet.
        in_flight
            int64[modules]: requests for each hot spot that have not been answered.

        Returns
        -------
        For each element that lost its hot spot at a place: (element, place). The places behind it
        have moved down by one.
        """
        traffic = self._traffic
        goes, which, comes, where = uniforms(self._seed, CHANGES, step, np.arange(4)).tolist()
        lost: list[tuple[int, int]] = []
        if goes < traffic.remove and len(self.hot_spots) > 1:
            lost = self._remove(self.hot_spots.pop(int(which * len(self.hot_spots))))
        cold = in_flight == 0
        cold[self.hot_spots] = False
        modules = np.flatnonzero(cold)
        if comes < traffic.new and len(modules):
            self._add(int(modules[int(where * len(modules))]), step)
        return lost

    def _remove(self, module: int) -> list[tuple[int, int]]:
        pes, places = np.nonzero(self.assigned == module)
        for pe, place in zip(pes, places, strict=True):
            self.assigned[pe, place:-1] = self.assigned[pe, place + 1 :]
            self.assigned[pe, -1] = -1
        return list(zip(pes.tolist(), places.tolist(), strict=True))

    def _add(self, module: int, step: int) -> None:
        self.hot_spots.append(module)
        taken = (self.assigned >= 0).sum(axis=1)
        drawn = uniforms(self._seed, TAKES, step, np.arange(len(taken)))
        takes = np.flatnonzero((taken < self.assigned.shape[1]) & (drawn < self._traffic.assign))
        self.assigned[takes, taken[takes]] = module
