"""Several runs of one network: a list of loads, the load at which it saturates, or pairs of runs.

Runs are independent and go to as many threads as there are processors (the kernel lets other
threads run). Answers do not depend on how many there are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from netloom.simulation.network.run import NetworkRun, Run, run_network
from netloom.simulation.side_by_side import ctrl_c_sets, processors, result, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.simulation.network.loaded import LoadedNetwork, Setting
    from netloom.simulation.steady import Limits

IDLE_CYCLES = 100_000
"""Cycles that the latency of an idle network may take to be measured."""

ZERO_LOAD = 0.005
"""Offered load at which latency is taken for that of an idle network."""


def run_loads(
    make_run: Callable[[float], Run],
    loads: Sequence[float],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[NetworkRun]:
    """Run every load, in rising order, up to the first at which the network saturates.

    Ctrl-C ends the runs under way. What is known so far is returned, the last of it marked as
    interrupted.

    ``make_run`` makes a run that has not begun, at a load in flits/node/cycle. ``tell`` is called
    with the number of runs that have ended, whenever one has.
    """
    rising = sorted(loads)
    saturated = len(rising)

    def one(index: int, stopped: Callable[[], bool]) -> NetworkRun | None:
        nonlocal saturated
        if index > saturated:
            return None
        run = make_run(rising[index])
        found = run_network(run, limits, stopped=lambda: stopped() or index > saturated)
        if not found.stable:
            saturated = min(saturated, index)
        return found

    runs = run_all(
        [partial(one, index) for index in range(len(rising))],
        tell=tell,
        is_last=lambda found: found is None or not found.stable or found.interrupted,
    )
    return [run for run in runs if run is not None]


@dataclass(frozen=True)
class SaturationPoint:
    """Where a network saturates.

    Attributes
    ----------
    load
        Offered load at which the network saturates, or at which the mean packet latency is
        ``latency_factor`` times that of the idle network. It lies between two runs that are
        ``load_width`` apart. If the network never saturates, the highest load that can be offered.
    load_width
        Width of the bracket. NaN if it does not saturate.
    saturates
        Whether it saturates at any load that it can be offered.
    accepted, accepted_worst_node
        Accepted traffic there, of the mean and of the worst sending node, flits/node/cycle.
    peak_accepted
        The highest accepted traffic of a run that kept up.
    zero_load_latency, latency_factor
        Mean packet latency at next to no load, cycles, and how many times that is too much.
    interrupted
        Whether the search was stopped from outside: the bracket is as wide as it was then.
    runs
        All runs, by load.
    """

    load: float
    load_width: float
    saturates: bool
    accepted: float
    accepted_worst_node: float
    peak_accepted: float
    zero_load_latency: float
    latency_factor: float
    interrupted: bool
    runs: list[NetworkRun]


def bracket_saturation(
    make_run: Callable[[float], Run],
    limits: Limits,
    *,
    below: float = 1.0,
    latency_factor: float = 3.0,
    width: float = 0.01,
    tell: Callable[[int], None] = lambda _: None,
) -> SaturationPoint:
    """Find the offered load at which a network saturates, by bracketing.

    Ctrl-C ends the search with the bracket that it has by then.

    Parameters
    ----------
    make_run, limits, tell
        As for ``run_loads``.
    below
        The highest load to look at: a proven limit, or all that it can be offered.
    latency_factor
        How many times the latency of the idle network is too much.
    width
        Width of the bracket, as a fraction of the load, at which to stop.
    """
    runs: list[NetworkRun] = []
    stop, low_load = Event(), 2 * min(ZERO_LOAD, below / 10)

    def measure(load: float, beyond: float) -> NetworkRun:
        until = replace(limits, latency=beyond)
        if load < low_load:  # there are few packets: their latency must be known all the same
            until = replace(until, cycles=None, most_cycles=max(until.most_cycles, IDLE_CYCLES))
        return run_network(make_run(load), until, stopped=stop.is_set)

    with ctrl_c_sets(stop), ThreadPoolExecutor(processors()) as pool:

        def both(loads: Sequence[float], beyond: float) -> list[NetworkRun]:
            waiting = [pool.submit(measure, load, beyond) for load in loads]
            try:
                found = [result(future, stop) for future in waiting]
            except BaseException:
                stop.set()
                raise
            runs.extend(found)
            tell(len(runs))
            return found

        idle, last = both((min(ZERO_LOAD, below / 10), below), float("inf"))
        beyond = latency_factor * idle.measured.packet_latency
        low, high = idle, last

        def too_much(run: NetworkRun) -> bool:
            return not run.stable or run.measured.packet_latency > beyond

        while too_much(high) and high.load - low.load > width * high.load and not stop.is_set():
            third = (high.load - low.load) / 3
            for found in both((low.load + third, high.load - third), beyond):
                if found.interrupted:
                    break
                if too_much(found):
                    high = found
                    break
                low = found
    runs.sort(key=lambda run: run.load)
    kept_up = [run.measured.accepted for run in runs if run.stable]
    saturates = too_much(high)
    last_kept = low if saturates else high
    return SaturationPoint(
        load=(low.load + high.load) / 2 if saturates else high.load,
        load_width=high.load - low.load if saturates else float("nan"),
        saturates=saturates,
        accepted=last_kept.measured.accepted,
        accepted_worst_node=last_kept.accepted_worst_node,
        peak_accepted=max(kept_up, default=0.0),
        zero_load_latency=idle.measured.packet_latency,
        latency_factor=latency_factor,
        interrupted=stop.is_set(),
        runs=runs,
    )


def run_beside(
    pairs: Sequence[tuple[Callable[[], Run], NetworkRun]],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[NetworkRun]:
    """Run each network over the warm-up and the measured cycles of another run.

    ``pairs``: what makes a run that has not begun, and the other run. ``tell`` is called with the
    number of runs that have ended, whenever one has.
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
    """Return, for each run of all programs, one of each alone. None for what Ctrl-C ended."""
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
