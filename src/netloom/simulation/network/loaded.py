"""A network and its packets, ready to run under any load, and several runs of it.

These are a list of loads, the load at which it saturates, or pairs of runs. Runs are independent
and go to as many threads as there are processors (the kernel lets other threads run). Answers do
not depend on how many there are. What failures cost is said without a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from threading import Event

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import known
from netloom.routing import VirtualChannelRouting
from netloom.routing.virtual_channels import VirtualRouting
from netloom.simulation.network.bound import Bound, FailureCost, Intact, throughput_bound
from netloom.simulation.network.figures import Alone, Fared, OneProgram, Point, Search, Slowdown
from netloom.simulation.network.idle import Idle, idle_network, tightest_loop
from netloom.simulation.network.program import Reservation, reserve, routing_for
from netloom.simulation.network.routers import SWITCHINGS, Router, Switching
from netloom.simulation.network.run import Run, Sender, run_network
from netloom.simulation.side_by_side import ctrl_c_sets, processors, result, run_all
from netloom.simulation.steady import SLOW, Limits, paired_ratio
from netloom.topology import Topology
from netloom.workload import Arrivals, Lengths, PacketStream, Traffic
from netloom.workload.programs.shared import SharedProgram

MOST_RAISED = 254
"""Flits up to which buffers are raised to make techniques comparable."""


@dataclass(frozen=True, eq=False)
class Setting:
    """One switching technique on the network: all that a run needs but its load.

    The routing is made for the router's VCs. Connections are for reserved VCs. The bound limits
    the traffic with this routing and these injection and ejection channels. ``idle`` is what
    packets of the mean length find in an idle network. None where it is not known.
    """

    router: Router
    routing: VirtualChannelRouting
    reservation: Reservation | None
    bound: Bound
    idle: Idle | None = None


@dataclass(frozen=True, eq=False)
class ProgramTraffic:
    """The programs that make the traffic, and where they run, if each has nodes of its own.

    ``traffics`` and ``seeds`` are those of each alone, whatever the other programs. ``load_factor``
    is the load of the average sending node if every program offers a load of 1. Above 1 if
    programs share nodes.
    """

    shared: SharedProgram
    traffics: tuple[Traffic, ...]
    seeds: tuple[int, ...]
    load_factor: float


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadedNetwork:
    """A network, and the packets that come to it.

    Attributes
    ----------
    traffic, lengths, arrivals, seed
        Who sends to whom, how long packets are, when they come. The seed of everything random.
    programs
        The programs whose traffic it is. None for that of a pattern, or of one program without
        nodes of its own.
    tasks
        Of one program, with a task per node: the traffic of its tasks, and the node of each. What
        they send and when is drawn for them, whatever the mapping.
    settings
        One for each switching technique that is possible.
    """

    topology: Topology
    traffic: Traffic
    lengths: Lengths
    arrivals: Arrivals
    seed: int
    programs: ProgramTraffic | None = None
    tasks: tuple[Traffic, Ints] | None = None
    settings: tuple[Setting, ...] = ()

    @property
    def name(self) -> str:
        """What a person calls it: ``uniform on mesh:8x8``."""
        return f"{self.traffic.name} on {self.topology.name}"

    def make_run(self, setting: Setting, load: float) -> Run:
        """Return a run that has not begun."""
        senders: list[Sender] = []  # none if the traffic alone makes the packets
        if self.tasks is not None:
            traffic, node_of = self.tasks
            senders = [Sender(traffic, load, self.seed, node_of)]
        elif self.programs is not None:
            each = self.program_load(load)
            pairs = zip(self.programs.traffics, self.programs.seeds, strict=True)
            senders = [Sender(traffic, each, seed) for traffic, seed in pairs]
        return Run(
            self.topology, setting.routing, setting.router, self.traffic, load,
            lengths=self.lengths, arrivals=self.arrivals, seed=self.seed,
            reservation=setting.reservation, bound=setting.bound, idle=setting.idle,
            senders=senders, apart=self.programs is not None,
        )  # fmt: skip

    def alone(self, program: int) -> LoadedNetwork:
        """Return the same network with one of its programs only, where it is, and its bounds."""
        assert self.programs is not None
        programs, one = self.programs, slice(program, program + 1)
        traffic = programs.traffics[program]
        alone = ProgramTraffic(
            programs.shared.alone(program), programs.traffics[one], programs.seeds[one], 1.0
        )
        network = replace(self, traffic=traffic, programs=alone)
        settings = tuple(
            _made(network, each.router, each.routing, each.reservation) for each in self.settings
        )
        return replace(network, settings=settings)

    def mean_load(self, load: float) -> float:
        """Return the load of the average sending node if every program offers ``load``.

        Raises
        ------
        InputError
            If that is more than 1.
        """
        if self.programs is None:
            return load
        mean, factor = load * self.programs.load_factor, self.programs.load_factor
        if mean > 1 >= load:
            found = f"{load:g} of every program, {mean:.4g} of the average node that they share"
            raise InputError("load", found, f"at most {1 / factor:.4g}")
        return mean

    def program_load(self, load: float) -> float:
        """Return what every program offers if the average sending node offers ``load``."""
        return load / self.programs.load_factor if self.programs else load

    def most_load(self, setting: Setting) -> float:
        """Return the load from which it is past saturation, or above which none can be."""
        busiest = float(self.traffic.rate.max()) / self.lengths.mean
        return min(setting.bound.load, self.arrivals.most / busiest, 1.0)

    def check_load(self, load: float) -> None:
        """Raise InputError if no node can send so much with these packets."""
        PacketStream(
            self.traffic, load, lengths=self.lengths, arrivals=self.arrivals, seed=self.seed
        )


def techniques_of(asked: str | None, base: Router) -> list[Switching]:
    """Return the switching techniques asked for, none twice. The router's own by default.

    Examples
    --------
    >>> techniques_of("circuit, wormhole", Router())
    ['wormhole', 'circuit']
    """
    if asked is None:
        return [base.switching]
    named = [word.strip() for word in asked.split(",")]
    for name in named:
        if name not in (*SWITCHINGS, "all"):
            wanted = f"{', '.join(SWITCHINGS)}, several with commas, or all"
            raise InputError("switching", f"'{name}'", wanted)
    return [each for each in SWITCHINGS if each in named or "all" in named]


def comparable(
    base: Router, techniques: list[Switching], lengths: Lengths
) -> tuple[Router, tuple[str, ...]]:
    """Return a router whose buffers hold a packet if a technique needs that. Say what changed."""
    whole = [each for each in ("virtual-cut-through", "store-and-forward") if each in techniques]
    longest = lengths.longest
    if len(techniques) == 1 or not whole or not base.buffer_flits < longest <= MOST_RAISED:
        return base, ()
    remark = (
        f"buffers of {longest} flits a VC instead of {base.buffer_flits}, for all: "
        f"{' and '.join(whole)} must hold a whole packet"
    )
    return replace(base, buffer_flits=longest), (remark,)


def possible_settings(
    network: LoadedNetwork,
    base: Router,
    routing: VirtualRouting,
    techniques: list[Switching],
    load: float | None,
) -> tuple[tuple[Setting, ...], dict[str, str]]:
    """Return the techniques that are possible, and why the others are not.

    Each is checked by running one cycle at ``load``, or at the highest that is possible. That cycle
    also loads the kernels, so that no run's processor time includes their compilation.

    Raises
    ------
    InputError
        If no technique is possible.
    DeadlockError
        If the routing can deadlock on so many VCs.
    """
    settings: list[Setting] = []
    refused: dict[str, str] = {}
    for technique in techniques:
        try:
            setting = _setting(network, replace(base, switching=technique), routing)
            network.make_run(setting, load or network.most_load(setting)).advance(1)
            settings.append(setting)
        except InputError as error:
            if len(techniques) == 1:
                raise
            refused[technique] = str(error)
    if not settings:
        found = "; ".join(f"{technique}: {why}" for technique, why in refused.items())
        raise InputError("switching", f"no technique that is possible here: {found}")
    return tuple(settings), refused


def _setting(network: LoadedNetwork, router: Router, asked: VirtualRouting) -> Setting:
    topology, lengths = network.topology, network.lengths
    if router.whole_packets and lengths.longest > router.buffer_flits:
        found = f"packets of up to {lengths.longest} flits for buffers of {router.buffer_flits}"
        wanted = f"buffers that hold a packet: buffer_flits for {router.switching}"
        raise InputError("packet_flits", found, wanted)
    reservation = None
    if router.switching == "reserved":
        if isinstance(asked, VirtualChannelRouting):
            wanted = "a routing of one path for each pair of nodes, as reserved VCs need"
            raise InputError("routing", f"the table {asked.name}", wanted)
        reservation = reserve(topology, asked, network.traffic, router)
        routing = reservation.routing
    else:
        routing = routing_for(topology, asked, router)
    return _made(network, router, routing, reservation)


def _made(
    network: LoadedNetwork,
    router: Router,
    routing: VirtualChannelRouting,
    reservation: Reservation | None,
) -> Setting:
    """Return a setting with what limits its traffic, and what packets find if there is little."""
    topology, traffic = network.topology, network.traffic
    bound = throughput_bound(topology, routing, traffic, router)
    idle = idle_network(topology, routing, traffic, router, flits=network.lengths.mean)
    return Setting(router, routing, reservation, bound, idle)


def advice_of(settings: tuple[Setting, ...], loads: tuple[float, ...]) -> str | None:
    """Return what to know before the runs: what cannot work well, why, and what to change."""
    lines = []
    bound = max((each.bound for each in settings), key=lambda bound: bound.load)
    if loads and loads[0] > bound.load:
        lines.append(
            f"load {loads[0]:g} is above {bound.load:.4g}, the most that can be carried with "
            f"{bound.whose} (limited by {bound.what}): packets will pile up, and no latency will "
            "be given"
        )
    first = settings[0]
    loop = tightest_loop(first.routing.topology, first.routing, first.router)
    if loop and loop.room < loop.needed:
        name = first.routing.topology.channel_name(loop.channel)
        more = ceil(first.router.buffer_flits * loop.needed / loop.room)
        lines.append(
            f"buffers of {loop.room} flits per channel, for credits that take {loop.cycles} cycles "
            f"to come back on channel {name}: it carries at most {loop.room / loop.needed:.0%} of "
            f"its bandwidth. {loop.needed} flits fill it, with buffer_flits {more}, fill_channels "
            "or more vcs"
        )
    return "; ".join(lines) or None


def failure_cost(
    topology: Topology,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    router: Router,
    bound: Bound,
) -> FailureCost:
    """Return what the failures cost some traffic, whose routing goes round what is broken.

    ``bound`` is what limits it there.
    """
    hops, whole = _mean_hops(topology, routing, traffic, router), topology.whole
    try:
        default = routing_for(whole, "default", router)
    except InputError:  # it would deadlock on these VCs, which says nothing of what is asked
        return FailureCost(hops=hops, intact=None, bound=bound)
    intact = Intact(
        routing=default.name,
        bound=throughput_bound(whole, default, traffic, router),
        hops=_mean_hops(whole, default, traffic, router),
    )
    return FailureCost(hops=hops, intact=intact, bound=bound)


def _mean_hops(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, router: Router
) -> float | None:
    """Return the mean path length between routers. None where it is not known."""
    idle = idle_network(topology, routing, traffic, router)
    return idle.hops if idle else None


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
) -> list[Point]:
    """Run every load, in rising order, up to the first at which the network saturates.

    Ctrl-C ends the runs under way. What is known so far is returned, the last of it marked as
    interrupted.

    ``make_run`` makes a run that has not begun, at a load in flits/node/cycle. ``tell`` is called
    with the number of runs that have ended, whenever one has.
    """
    rising = sorted(loads)
    saturated = len(rising)

    def one(index: int, stopped: Callable[[], bool]) -> Point | None:
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


def bracket_saturation(
    make_run: Callable[[float], Run], limits: Limits, *, below: float = 1.0, width: float = 0.01
) -> Search:
    """Find the offered load at which a network saturates, by bracketing.

    Ctrl-C ends the search with the bracket that it has by then.

    Parameters
    ----------
    make_run, limits
        As for ``run_loads``.
    below
        The highest load to look at: a proven limit, or all that it can be offered.
    width
        Width of the bracket, as a fraction of the load, at which to stop.
    """
    runs: list[Point] = []
    stop, low_load = Event(), 2 * min(ZERO_LOAD, below / 10)

    def measure(load: float, beyond: float) -> Point:
        until = replace(limits, latency=beyond)
        if load < low_load:  # there are few packets: their latency must be known all the same
            until = replace(until, cycles=None, most_cycles=max(until.most_cycles, IDLE_CYCLES))
        return run_network(make_run(load), until, stopped=stop.is_set)

    with ctrl_c_sets(stop), ThreadPoolExecutor(processors()) as pool:

        def both(loads: Sequence[float], beyond: float) -> list[Point]:
            waiting = [pool.submit(measure, load, beyond) for load in loads]
            try:
                found = [result(future, stop) for future in waiting]
            except BaseException:
                stop.set()
                raise
            runs.extend(found)
            return found

        idle, last = both((min(ZERO_LOAD, below / 10), below), float("inf"))
        beyond = SLOW * idle.measured.packet_latency
        low, high = idle, last

        def too_much(run: Point) -> bool:
            return not run.stable or run.measured.packet_latency > beyond

        def apart() -> float:
            return high.offered - low.offered

        while too_much(high) and apart() > width * high.offered and not stop.is_set():
            third = apart() / 3
            for found in both((low.offered + third, high.offered - third), beyond):
                if found.interrupted:
                    break
                if too_much(found):
                    high = found
                    break
                low = found
    runs.sort(key=lambda run: run.offered)
    kept_up = [run.accepted for run in runs if run.stable]
    saturates = too_much(high)
    last_kept = low if saturates else high
    return Search(
        switching=idle.switching,
        saturation_offered=(low.offered + high.offered) / 2 if saturates else high.offered,
        saturation_offered_width=high.offered - low.offered if saturates else None,
        saturation_throughput=last_kept.accepted,
        accepted_worst_node=last_kept.accepted_worst_node,
        peak_accepted=max(kept_up, default=0.0),
        saturates=saturates,
        interrupted=stop.is_set(),
        zero_load_latency=known(idle.measured.packet_latency),
        latency_factor=SLOW,
        cpu_seconds=sum(run.cpu_seconds for run in runs),
        runs=tuple(runs),
    )


def run_beside(
    pairs: Sequence[tuple[Callable[[], Run], Point]],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[Point]:
    """Run each network over the warm-up and the measured cycles of another run.

    ``pairs``: what makes a run that has not begun, and the other run. ``tell`` is called with the
    number of runs that have ended, whenever one has.
    """

    def one(make_run: Callable[[], Run], other: Point, stopped: Callable[[], bool]) -> Point:
        return run_network(make_run(), limits, beside=other, stopped=stopped)

    return run_all([partial(one, *pair) for pair in pairs], tell=tell)


def run_programs_alone(
    network: LoadedNetwork,
    together: Sequence[tuple[Setting, Point]],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[tuple[Point | None, ...]]:
    """Return, for each run of all programs, one of each alone. None for what Ctrl-C ended."""
    assert network.programs is not None
    count = len(network.programs.traffics)
    alone = [network.alone(number) for number in range(count)]
    pairs = []
    for setting, run in together:
        place, load = network.settings.index(setting), network.program_load(run.offered)
        pairs += [(partial(one.make_run, one.settings[place], load), run) for one in alone]
    runs = run_beside(pairs, limits, tell=tell)
    ended = [None if run.interrupted else run for run in runs]
    ended += [None] * (len(pairs) - len(ended))
    return [tuple(ended[first : first + count]) for first in range(0, len(ended), count)]


def with_programs(
    network: LoadedNetwork, run: Point, alone: tuple[Point | None, ...] = ()
) -> Point:
    """Return a run with how each program fared, where programs have nodes of their own."""
    if network.programs is None:
        return run
    shared, programs = network.programs.shared, list[OneProgram]()
    for place, name in enumerate(shared.names):
        mine, measured = shared.program_of == place, run.groups[place]
        apart = alone[place] if alone else None
        one = OneProgram(
            name=name,
            nodes=len(np.unique(shared.node_of[mine])),
            tasks=int(np.count_nonzero(mine)),
            offered=network.program_load(run.offered),
            fared=Fared.of(measured, stable=run.stable),
            alone=None if apart is None else Alone.of(apart),
            slowdown=None if apart is None else _slowdown(run, place, apart),
        )
        programs.append(one)
    return replace(run, programs=tuple(programs), alone=alone)


def _slowdown(run: Point, place: int, alone: Point) -> Slowdown:
    """Return how much slower the program at a place is than alone."""
    ratio, half, accepted = np.nan, np.nan, run.groups[place].accepted
    if run.stable and alone.stable:
        ratio, half = paired_ratio(run.latency_batches[place], alone.latency_batches[0])
    return Slowdown(
        packet_latency=known(ratio),
        packet_latency_ci95=known(half),
        accepted=known(alone.measured.accepted / accepted) if accepted > 0 else None,
    )
