"""What latency and throughput does this network give under this load, cycle by cycle?"""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

import warnings
from functools import partial
from math import floor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, InstanceOf

from netloom.errors import InputError
from netloom.machines import Machine
from netloom.progress import counting, patience
from netloom.provenance import DEFAULT_SEED
from netloom.routing import DimensionOrder, RouteTable, ShortestPath, SourceRoutes
from netloom.simulation.network import sweep
from netloom.simulation.network.router import Router
from netloom.simulation.network.run import Limits
from netloom.spec import real_number
from netloom.topology import Topology
from netloom.verbs.question import Question, ask
from netloom.verbs.record import provenance_of
from netloom.verbs.simulated_network import largest_bound, prepare
from netloom.verbs.simulation import NetworkSaturation, Search, SimulatedLoad, Simulation
from netloom.workload import Arrivals, Lengths, ProcessGraph, Traffic

if TYPE_CHECKING:
    from netloom.simulation.network.run import NetworkRun
    from netloom.verbs.simulated_network import Setting, SimulatedNetwork

MOST_LOADS = 1000
"""Most loads of one question."""


class SimulateQuestion(Question):
    """The question that ``simulate`` and ``find_saturation`` answer.

    Attributes
    ----------
    on
        The network: a topology, a spec such as ``torus:16x16``, or a machine by name.
    load
        Offered traffic of the average sending node, flits/node/cycle, above 0 and at most 1: a
        number, a list, or a range ``START:STOP:STEP`` that includes both ends. Not for
        ``find_saturation``.
    traffic
        Who sends to whom: a ``Traffic``, a pattern (see ``workload.parse_traffic``), or a dict as
        provenance records it (see ``verbs.record.traffic_of``); uniform by default.
    app, messages, parts, mapping, weight, tasks_per_node
        Instead of ``traffic``: the program whose messages are the traffic, how to read it, where
        its tasks run, and what an edge's share of the traffic is taken from (see ``analyze``).
    packet_flits
        Packet length: a number of flits, a law such as ``bimodal:1,9,0.5``, or ``Lengths``.
    arrivals
        When packets come: ``bernoulli``, ``poisson``, ``on-off:CYCLES,DUTY``, or ``Arrivals``.
    routing
        See ``routing.virtual_channel_routing``; also what ``routing.table`` made.
    router
        A preset (``three-stage``, ``canonical-4-stage``, ``speculative-2-stage``,
        ``single-cycle``), a machine that has one, or a ``Router``, also as a dict. By
        default the machine's own, and ``three-stage`` elsewhere.
    switching
        A technique of ``Router``, several with commas between them, or ``all``, to be compared;
        the router's by default.
    vcs, buffer_flits, route_cycles, vc_allocation_cycles, switch_allocation_cycles, \
traversal_cycles, speculative, channel_cycles, credit_cycles, injection_channels, \
ejection_channels, oldest_first
        Changes of the router, field by field; see ``Router``.
    cycles
        Cycles to measure; by default as many as ``precision`` needs.
    precision
        Half-width of the 95 % confidence interval of the mean packet latency, as a fraction of
        it, that is narrow enough.
    most_cycles
        Measured cycles after which a run ends whatever its precision.
    seed
        Of the packets, of what routing leaves to chance, and of the random mapping.
    """

    on: str | InstanceOf[Topology] | InstanceOf[Machine]
    load: Any = None
    traffic: str | dict[str, Any] | InstanceOf[Traffic] | None = None
    app: str | InstanceOf[ProcessGraph] | None = None
    messages: str | None = None
    parts: str = "network"
    mapping: Any = "identity"
    weight: Literal["bytes", "messages", "uniform"] = "bytes"
    tasks_per_node: int = Field(1, ge=1)
    packet_flits: int | str | InstanceOf[Lengths] = 5
    arrivals: str | InstanceOf[Arrivals] = "bernoulli"
    routing: (
        str
        | InstanceOf[DimensionOrder]
        | InstanceOf[ShortestPath]
        | InstanceOf[SourceRoutes]
        | InstanceOf[RouteTable]
    ) = "default"
    router: str | dict[str, Any] | InstanceOf[Router] = "default"
    switching: str | None = None
    vcs: int | None = None
    buffer_flits: int | None = None
    route_cycles: int | None = None
    vc_allocation_cycles: int | None = None
    switch_allocation_cycles: int | None = None
    traversal_cycles: int | None = None
    speculative: bool | None = None
    channel_cycles: int | None = None
    credit_cycles: int | None = None
    injection_channels: int | None = None
    ejection_channels: int | None = None
    oldest_first: bool | None = None
    cycles: int | None = Field(None, ge=1, le=2**30)
    precision: float = Field(0.02, gt=0, lt=1)
    most_cycles: int = Field(200_000, ge=1, le=2**30)
    seed: int = Field(DEFAULT_SEED, ge=0)

    def limits(self) -> Limits:
        """Return when a run ends."""
        return Limits(self.cycles, self.precision, self.most_cycles)


def simulate(on: str | Topology | Machine, **options: Any) -> Simulation:
    """Simulate a network flit by flit under one load, or under several until it saturates.

    Runs at several loads go on at once, on all processors; the answer does not depend on how
    many there are. Ctrl-C ends them, and what was known by then is the answer.

    Parameters
    ----------
    on, load
        The network and the offered load, flits/node/cycle; see ``SimulateQuestion``, as for all
        other options.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> from netloom.verbs import simulate
    >>> found = simulate("mesh:4x4", load=0.1, cycles=2000)
    >>> found.stable, round(found.offered, 3)
    (True, 0.1)
    >>> simulate("mesh:4x4", load="0.1:0.3:0.1", cycles=500).table()["offered"].to_list()
    [0.1, 0.2, 0.3]
    """
    question = ask(SimulateQuestion, {"on": on, **options})
    loads = parse_loads(question.load)
    network = prepare(question, max(loads))
    advice = _advice(network.settings, loads)
    if advice:
        warnings.warn(advice, stacklevel=2)
    points: list[SimulatedLoad] = []
    for setting in network.settings:
        found = _run(network, setting, loads, question.limits())
        points.extend(SimulatedLoad(network, setting, run) for run in found)
        if found[-1].interrupted:
            break
    return Simulation(
        network=network,
        points=tuple(points),
        asked=loads,
        advice=advice,
        provenance=provenance_of(question, "simulate", network.topology),
    )


def find_saturation(on: str | Topology | Machine, **options: Any) -> NetworkSaturation:
    """Find the offered load at which a network saturates, by bracketing.

    Saturated is a network that falls behind, or whose mean packet latency is more than three times
    what it is when idle.

    Parameters
    ----------
    on
        The network; see ``SimulateQuestion``, as for all other options. There is no ``load``.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> from netloom.verbs import find_saturation
    >>> found = find_saturation("mesh:4x4", most_cycles=5000)
    >>> found.searches[0].found.load < found.searches[0].setting.bound.load
    True
    """
    question = ask(SimulateQuestion, {"on": on, **options})
    if question.load is not None:
        raise InputError("load", f"'{question.load}'", "none: it is what is looked for")
    network = prepare(question, None)
    advice = _advice(network.settings, ())
    if advice:
        warnings.warn(advice, stacklevel=2)
    searches = []
    for setting in network.settings:
        with patience(f"{network.name}: looking for saturation"):
            point = sweep.find_saturation(
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


def parse_loads(load: Any) -> tuple[float, ...]:
    """Return the offered loads, rising, none twice.

    Parameters
    ----------
    load
        A number, several (also ``0.1,0.2``), or a range ``START:STOP:STEP`` with both ends.

    Raises
    ------
    InputError
        If these are no such numbers, above 0 and at most 1.

    Examples
    --------
    >>> parse_loads("0.05:0.2:0.05")
    (0.05, 0.1, 0.15, 0.2)
    >>> parse_loads([0.3, 0.1])
    (0.1, 0.3)
    """
    wanted = "above 0, at most 1 (flits/node/cycle)"
    if load is None:
        raise InputError("load", "none", f"{wanted}, such as 0.2, 0.1,0.2 or 0.05:0.6:0.05")
    if isinstance(load, str):
        values = _range(load) if ":" in load else [_number(word) for word in load.split(",")]
    else:
        values = _values(load, wanted)
    for value in values:
        if not 0 < value <= 1:  # NaN is neither
            raise InputError("load", f"{value:g}", wanted)
    if not 0 < len(values) <= MOST_LOADS:
        raise InputError("load", f"{len(values)} loads", f"1 to {MOST_LOADS}")
    return tuple(sorted(set(values)))


def _values(load: Any, wanted: str) -> list[float]:
    """Return a number, or a flat list of numbers, as a list."""
    try:
        given = np.atleast_1d(np.asarray(load, np.float64))
        if given.ndim == 1 and np.asarray(load).dtype != np.bool_:
            return [float(value) for value in given]
    except (TypeError, ValueError):
        pass
    raise InputError("load", repr(load), wanted)


def _range(text: str) -> list[float]:
    words = text.split(":")
    if len(words) != 3:
        raise InputError("load", f"'{text}'", "START:STOP:STEP, such as 0.05:0.6:0.05")
    start, stop, step = (_number(word) for word in words)
    if not step > 0 or stop < start:
        raise InputError("load", f"'{text}'", "a step above 0, and a stop that is not below start")
    count = floor(min((stop - start) / step + 1e-9, MOST_LOADS)) + 1
    return [round(start + step * index, 12) for index in range(count)]


def _number(word: str) -> float:
    return real_number(word.strip(), where="load")


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


def _advice(settings: tuple[Setting, ...], loads: tuple[float, ...]) -> str | None:
    """Return what is better known before the runs: what cannot work well, why, what to change."""
    lines = []
    bound = largest_bound(settings)
    if loads and loads[0] > bound.load:
        lines.append(
            f"load {loads[0]:g} is above {bound.load:.4g}, the most that can be carried with this "
            f"routing and these ends (limited by {bound.what}): packets will queue without end and "
            "latencies not be given; offer less, or change traffic, mapping or routing so that "
            "less goes there"
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
