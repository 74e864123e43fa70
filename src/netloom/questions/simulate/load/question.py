"""What latency and throughput does this network give under this load, cycle by cycle?"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from netloom.progress import counting, patience
from netloom.questions.base import ask, option, positional_fields
from netloom.questions.numbers import parse_numbers
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.fields import OpenLoad
from netloom.questions.simulate.load.answer import (
    SimulatedLoad,
    Simulation,
)
from netloom.questions.simulate.network import largest_bound, prepare
from netloom.simulation.network import sweep
from netloom.simulation.network.run import run_network
from netloom.simulation.side_by_side import run_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.questions.simulate.network import Setting, SimulatedNetwork
    from netloom.simulation.network.run import NetworkRun
    from netloom.simulation.steady import Limits


P = ParamSpec("P")


class SimulateQuestion(OpenLoad):
    """A network under a load, or several."""

    load: Any = option(
        "Offered traffic of the average sending node (of each program, if there are several), "
        "flits/node/cycle: 0.2, 0.1,0.2 or START:STOP:STEP.",
        panel="Traffic",
    )


@asks(
    SimulateQuestion,
    title="Simulation",
    example="netloom simulate --on torus:8x8 --traffic tornado --load 0.05:0.6:0.05 --plot c.svg",
    page="simulate-a-network.md",
    sweep="load",
    outputs=(PLOT,),
)
def simulate(question: SimulateQuestion) -> Simulation:
    """Simulate a network flit by flit under one load, or under several until it saturates.

    Packets come whatever becomes of them. Runs at several loads go on at once, on all processors;
    the answer does not depend on how many there are. Ctrl-C ends them, and what was known by then
    is the answer. Of several programs each is run alone too, which multiplies the time.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> from netloom import simulate
    >>> found = simulate("mesh:4x4", load=0.1, cycles=2000)
    >>> found.stable, round(found.offered, 3)
    (True, 0.1)
    >>> simulate("mesh:4x4", load="0.1:0.3:0.1", cycles=500).table()["offered"].to_list()
    [0.1, 0.2, 0.3]
    """
    loads = parse_numbers(question.load, "load")
    network = prepare(question, max(loads))
    asked = tuple(network.mean_load(load) for load in loads)
    advice = advice_of(network.settings, asked)
    if advice:
        warnings.warn(advice, stacklevel=2)
    points: list[SimulatedLoad] = []
    for setting in network.settings:
        found = _run(network, setting, asked, question.limits())
        points.extend(SimulatedLoad(network, setting, run) for run in found)
        if found[-1].interrupted:
            break
    if question.alone and network.programs and len(network.programs.traffics) > 1:
        points = _with_programs_alone(network, points, question.limits())
    return Simulation(
        network=network,
        points=tuple(points),
        asked=loads,
        advice=advice,
        provenance=provenance_of(question, "simulate", network.topology),
    )


def _beside(
    kind: Callable[P, OpenLoad],  # noqa: ARG001 (its parameters are what counts)
) -> Callable[[Callable[..., Simulation]], Callable[Concatenate[Simulation, P], Simulation]]:
    """Give a function the parameters of a question after its first."""
    return lambda function: function


@_beside(OpenLoad)
def simulate_beside(other: Simulation, *values: Any, **fields: Any) -> Simulation:
    """Simulate as another simulation was, cycle by cycle, to compare the two; see ``latency_over``.

    Warm-up and measured cycles of each run are those of the other's run of that technique and
    load, whatever ``cycles`` and ``precision`` say. A program with a task a node has the same
    packets in both, whatever the mapping, the routing and the network are. Let ``other`` be the one
    that keeps up, if one does not: it decides for how long both are measured.

    Parameters
    ----------
    other
        What it is to be compared with.
    values, fields
        Those of ``simulate``, but ``load``, which is the other's.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> options = {"on": "mesh:4x4", "app": "ring:16", "load": 0.2, "cycles": 2000}
    >>> identity = simulate(**options)
    >>> there_and_back = [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12]
    >>> snake = simulate_beside(identity, mapping=there_and_back, **options)
    >>> ratio, half_width = snake.point.latency_over(identity.point)
    >>> ratio + half_width < 1
    True
    """
    given = dict(zip(positional_fields(SimulateQuestion), values, strict=False)) | fields
    question = ask(SimulateQuestion, given | {"load": list(other.asked)})
    network = prepare(question, max(other.asked))
    setting_of = {setting.router.switching: setting for setting in network.settings}
    pairs = [
        (setting_of[point.setting.router.switching], point.run)
        for point in other.points
        if point.setting.router.switching in setting_of
    ]

    def one(setting: Setting, beside: NetworkRun, stopped: Callable[[], bool]) -> SimulatedLoad:
        run = network.make_run(setting, beside.load)
        found = run_network(run, question.limits(), beside=beside, stopped=stopped)
        return SimulatedLoad(network, setting, found)

    with patience(network.name):
        points = run_all([partial(one, *pair) for pair in pairs])
    return Simulation(
        network=network,
        points=tuple(points),
        asked=other.asked,
        advice=advice_of(network.settings, tuple(network.mean_load(load) for load in other.asked)),
        provenance=provenance_of(question, "simulate", network.topology),
    )


def _run(
    network: SimulatedNetwork, setting: Setting, loads: tuple[float, ...], limits: Limits
) -> list[NetworkRun]:
    """Run all loads up to the first past saturation; show the progress of many."""
    make_run = partial(network.make_run, setting)
    what = f"{network.name}, {setting.router.switching}"
    if len(loads) == 1:
        with patience(what):
            return sweep.run_loads(make_run, loads, limits)
    with counting(len(loads), what) as tell:
        return sweep.run_loads(make_run, loads, limits, tell=tell)


def _with_programs_alone(
    network: SimulatedNetwork, points: list[SimulatedLoad], limits: Limits
) -> list[SimulatedLoad]:
    """Run each program alone at every load that all of them were run at; on Ctrl-C, some."""
    assert network.programs is not None
    if any(point.run.interrupted for point in points):
        return points
    count = len(network.programs.traffics)
    alone = [network.alone(number) for number in range(count)]

    def one(place: int, stopped: Callable[[], bool]) -> NetworkRun:
        point, number = points[place // count], place % count
        setting = alone[number].settings[network.settings.index(point.setting)]
        run = alone[number].make_run(setting, point.program_load)
        return run_network(run, limits, beside=point.run, stopped=stopped)

    runs = len(points) * count
    with counting(runs, f"{network.name}: each program alone") as tell:
        found = run_all([partial(one, place) for place in range(runs)], tell=tell)
    ended = [None if run.interrupted else run for run in found]
    ended += [None] * (runs - len(ended))
    return [
        replace(point, alone=tuple(ended[place * count : (place + 1) * count]))
        for place, point in enumerate(points)
    ]


def advice_of(settings: tuple[Setting, ...], loads: tuple[float, ...]) -> str | None:
    """Return what is better known before the runs: what cannot work well, why, what to change."""
    lines = []
    bound = largest_bound(settings)
    if loads and loads[0] > bound.load:
        lines.append(
            f"load {loads[0]:g} is above {bound.load:.4g}, the most that can be carried with "
            f"{bound.whose} and these ends (limited by {bound.what}): packets will queue without "
            "end and latencies not be given; offer less, or change traffic, mapping or routing so "
            "that less goes there"
        )
    router = settings[0].router
    times, flits = router.timing(), router.vcs * router.buffer_flits
    loop = times.flit + times.credit
    if flits < loop:
        lines.append(
            f"buffers of {flits} flits a channel, for credits that take {loop} cycles to come "
            f"back: a channel carries at most {flits / loop:.0%}; raise buffer_flits or vcs"
        )
    return "; ".join(lines) or None
