"""What latency and throughput does this network give under this load, cycle by cycle?"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from pydantic import model_validator

from netloom.base.progress import counting, counting_runs, patience
from netloom.questions.base import Numbers, ask, option, parse_numbers, positional_fields
from netloom.questions.columns import FLITS
from netloom.questions.named import provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.simulate.fields import OpenLoad
from netloom.questions.simulate.load.answer import SimulatedLoad, Simulation
from netloom.questions.simulate.network import prepare
from netloom.simulation.network.loaded import advice_of, run_beside, run_loads, run_programs_alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.questions.simulate.network import SimulatedNetwork
    from netloom.simulation.network.loaded import Setting
    from netloom.simulation.network.run import NetworkRun
    from netloom.simulation.steady import Limits


P = ParamSpec("P")


class SimulateQuestion(OpenLoad):
    """A network under a load, or several."""

    load: Numbers = option(
        "Offered load of the average sending node, per program: 0.2, 0.1,0.2 or START:STOP:STEP.",
        unit=FLITS,
        panel="Traffic",
    )

    @model_validator(mode="before")
    @classmethod
    def _offered_is_the_load(cls, given: Any) -> Any:
        """Take ``offered``, as other questions call it, for ``load``."""
        if isinstance(given, dict) and "offered" in given and "load" not in given:
            return {("load" if name == "offered" else name): given[name] for name in given}
        return given

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads asked for, or InputError if there is one that cannot be."""
        return parse_numbers(self.load, "load")


@asks(
    SimulateQuestion,
    prepare=prepare,
    title="Simulation",
    example="netloom simulate --on torus:8x8 --traffic tornado --load 0.05:0.6:0.05 --plot c.svg",
    page="simulate-a-network.md",
    sweep="load",
    outputs=(PLOT,),
)
def simulate(question: SimulateQuestion, network: SimulatedNetwork) -> Simulation:
    """Simulate a network flit by flit under one load, or under several until it saturates.

    Nodes offer packets at the given rate, even if the network cannot carry them. Runs at several
    loads use all processors. The answer does not depend on how many there are. Ctrl-C ends the
    runs, and the answer contains what is known by then. Several programs are also run alone, one
    by one, which multiplies the time.

    Raises
    ------
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
    asked = _offered(question, network)
    advice = advice_of(network.settings, asked)
    if advice:
        warnings.warn(advice, stacklevel=3)
    points: list[SimulatedLoad] = []
    for setting in network.settings:
        found = _run(network, setting, asked, question.limits())
        points.extend(SimulatedLoad(network, setting, run) for run in found)
        if not found or found[-1].interrupted:
            break
    if not points:
        raise KeyboardInterrupt  # stopped before anything was known
    if question.alone and network.programs and len(network.programs.traffics) > 1:
        points = _with_programs_alone(network, points, question.limits())
    return _answer(question, network, points)


def _offered(question: SimulateQuestion, network: SimulatedNetwork) -> tuple[float, ...]:
    """Return the loads of the average sending node."""
    return tuple(network.mean_load(load) for load in question.loads)


def _answer(
    question: SimulateQuestion, network: SimulatedNetwork, points: list[SimulatedLoad]
) -> Simulation:
    return Simulation(
        network=network,
        points=tuple(points),
        asked=question.loads,
        advice=advice_of(network.settings, _offered(question, network)),
        provenance=provenance_of(question, "simulate", network.topology),
    )


def _beside(
    kind: Callable[P, OpenLoad],  # noqa: ARG001 (its parameters are what counts)
) -> Callable[[Callable[..., Simulation]], Callable[Concatenate[Simulation, P], Simulation]]:
    """Give a function the parameters of a question after its first."""
    return lambda function: function


@_beside(OpenLoad)
def simulate_beside(other: Simulation, *values: Any, **fields: Any) -> Simulation:
    """Simulate as another simulation was, cycle by cycle, to compare the two, see ``latency_over``.

    Warm-up and measured cycles of each run are those of the other's run of that technique and
    load: ``cycles`` and ``precision`` have no effect. A program with at most one task per node has
    the same packets in both, under any mapping, routing and network. ``other`` decides for how long
    both are measured: if only one of the two keeps up, pass that one.

    Parameters
    ----------
    other
        The simulation to compare with.
    values, fields
        Those of ``simulate``, without ``load``, which is the other's.

    Raises what ``simulate`` does.

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
    network = prepare(question)
    setting_of = {setting.router.switching: setting for setting in network.settings}
    pairs = [
        (setting, point.run)
        for point in other.points
        if (setting := setting_of.get(point.setting.router.switching))
    ]
    made = [(partial(network.make_run, setting, run.load), run) for setting, run in pairs]
    with patience(network.name):
        found = run_beside(made, question.limits())
    points = [
        SimulatedLoad(network, setting, run)
        for (setting, _), run in zip(pairs, found, strict=False)  # fewer after Ctrl-C
    ]
    return _answer(question, network, points)


def _run(
    network: SimulatedNetwork, setting: Setting, loads: tuple[float, ...], limits: Limits
) -> list[NetworkRun]:
    """Run all loads up to the first past saturation, and show the progress of many."""
    make_run = partial(network.make_run, setting)
    with counting_runs(len(loads), f"{network.name}, {setting.router.switching}") as tell:
        return run_loads(make_run, loads, limits, tell=tell)


def _with_programs_alone(
    network: SimulatedNetwork, points: list[SimulatedLoad], limits: Limits
) -> list[SimulatedLoad]:
    """Run each program alone at every load that all of them were run at. On Ctrl-C, some."""
    assert network.programs is not None
    if any(point.run.interrupted for point in points):
        return points
    runs = len(points) * len(network.programs.traffics)
    together = [(point.setting, point.run) for point in points]
    with counting(runs, f"{network.name}: each program alone") as tell:
        alone = run_programs_alone(network, together, limits, tell=tell)
    return [replace(point, alone=each) for point, each in zip(points, alone, strict=True)]
