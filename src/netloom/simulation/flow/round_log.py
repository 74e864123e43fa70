"""When rounds began and were over, whether they were run or are as others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.simulation.flow.round_ways import Survey


@dataclass(frozen=True)
class Repeat:
    """Rounds that were not run because they are as those before, later.

    ``first``: the number of the first. ``count``: how many; ``period``: rounds after which
    everything is the same, ``time`` later.
    """

    first: int
    count: int
    period: int
    time: float


@dataclass(frozen=True, eq=False)
class RoundsRun:
    """When rounds began and were over.

    Attributes
    ----------
    number
        int64[n], the rounds that were run, by number from 0 on. The others are ``repeats``.
    began, ended
        float64[n], when the first of their messages was ready to be sent, and when the last was
        complete. NaN for a round without messages.
    repeats
        The rounds that were not run.
    finish
        When the last message was complete.
    num_rounds, num_messages
        Of the whole program.
    link_sizes
        float64[num_links], what has crossed each link in all.
    capacity
        float64[num_links], of the network.
    """

    number: Ints
    began: Floats
    ended: Floats
    repeats: tuple[Repeat, ...]
    finish: float
    num_rounds: int
    num_messages: int
    link_sizes: Floats
    capacity: Floats

    def when(self, number: int) -> tuple[float, float]:
        """Return when a round began and was over, whether it was run or not."""
        later = 0.0
        for each in self.repeats:
            place = number - each.first
            if 0 <= place < each.count:
                times, within = divmod(place, each.period)
                number, later = each.first - each.period + within, (times + 1) * each.time
        place = int(np.searchsorted(self.number, number))
        if not (place < len(self.number) and self.number[place] == number):
            raise InputError("round", f"{number}", f"0 to {self.num_rounds - 1}")
        return float(self.began[place] + later), float(self.ended[place] + later)

    def busiest(self, count: int = 10) -> Ints:
        """Return the links that take longest to move what crosses them, the busiest first."""
        order = np.argsort(-self.link_sizes / self.capacity, kind="stable")
        return order[:count]

    def __repr__(self) -> str:
        rounds = f"{self.num_rounds} rounds, {len(self.number)} of them run"
        return f"<{rounds}, finished at {self.finish:.6g}>"


class Log:
    """What is written down of rounds as they are run."""

    def __init__(self) -> None:
        self.number: list[Ints] = []
        self.began: list[Floats] = []
        self.ended: list[Floats] = []
        self.repeats: list[Repeat] = []
        self.next = 0  # the number of the next round

    def add(self, began: Floats, ended: Floats) -> None:
        """Note the next rounds."""
        self.number.append(self.next + np.arange(len(began)))
        self.began.append(began)
        self.ended.append(ended)
        self.next += len(began)

    def skip(self, count: int, period: int, time: float) -> None:
        """Note that the next rounds are as those before."""
        if count:
            self.repeats.append(Repeat(self.next, count, period, time))
            self.next += count

    def run(self, found: Survey, network: FlowNetwork) -> RoundsRun:
        """Return all that was noted."""
        none = np.zeros(0)
        number = np.concatenate([none.astype(np.int64), *self.number])
        ended = np.concatenate([none, *self.ended])
        finish = np.nanmax(ended, initial=0.0)
        for each in self.repeats:
            first, last = np.searchsorted(number, [each.first - each.period, each.first])
            rest = ended[first:last] + each.count // each.period * each.time
            finish = np.nanmax(rest, initial=finish)
        return RoundsRun(
            number,
            np.concatenate([none, *self.began]),
            ended,
            tuple(self.repeats),
            float(finish),
            found.num_rounds,
            found.num_messages,
            found.link_sizes,
            network.capacity,
        )
