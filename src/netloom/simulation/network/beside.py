"""Runs beside others, cycle by cycle, so that the two can be compared; see ``paired``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netloom.simulation.network.run import run_network
from netloom.simulation.side_by_side import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.simulation.network.loaded import LoadedNetwork, Setting
    from netloom.simulation.network.run import NetworkRun, Run
    from netloom.simulation.steady import Limits


def run_beside(
    pairs: Sequence[tuple[Callable[[], Run], NetworkRun]],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[NetworkRun]:
    """Run each network over the warm-up and the measured cycles of another run.

    Parameters
    ----------
    pairs
        What makes a run that has not begun, and the other run.
    limits
        When a run ends, but for its cycles.
    tell
        Called with the number of runs that have ended, whenever one has.
    """

    def one(
        make_run: Callable[[], Run], other: NetworkRun, stopped: Callable[[], bool]
    ) -> NetworkRun:
        return run_network(make_run(), limits, beside=other, stopped=stopped)

    return run_all([partial(one, *pair) for pair in pairs], tell=tell)


def run_programs_alone(
    network: LoadedNetwork,
    together: Sequence[tuple[Setting, NetworkRun]],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[tuple[NetworkRun | None, ...]]:
    """Run each program of a network alone, beside each run of all of them.

    Returns
    -------
    For each run of all, a run of each program; None for what Ctrl-C interrupted.
    """
    assert network.programs is not None
    count = len(network.programs.traffics)
    alone = [network.alone(number) for number in range(count)]
    pairs = []
    for setting, run in together:
        place, load = network.settings.index(setting), network.program_load(run.load)
        pairs += [(partial(one.make_run, one.settings[place], load), run) for one in alone]
    runs = run_beside(pairs, limits, tell=tell)
    ended = [None if run.interrupted else run for run in runs]
    ended += [None] * (len(pairs) - len(ended))
    return [tuple(ended[first : first + count]) for first in range(0, len(ended), count)]
