"""Programs run on the flow engine, and how far the end of a run can be trusted.

A program is one table, whose run is in any units, or goes on part by part, in flits and whole
cycles, as on the other engines.

Flows share links fairly. Routers give inputs turns, and a packet that waits blocks those behind it.
The study ``flows-and-flits`` runs 84 programs in both ways, each on three routers, and groups them
by kind. Nine of ten finish times of a kind differ by at most its figure. Kinds are short messages
and, for longer ones, the combinations of two gaps. The first gap is between finish times if a
host's messages follow one another and if they share its channel. The second is between finish times
under fair sharing and under sharing by turns. Buffers are assumed to be large enough to fill a
channel: with smaller ones, every message takes longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Ints, Records
from netloom.base.errors import InputError
from netloom.base.words import rounded
from netloom.routing import Routing
from netloom.simulation.agenda import TIMES, ProgramEngine
from netloom.simulation.figures import ORDER_SAYS_NOTHING, Trust
from netloom.simulation.flow.engine import FAIR, ROUNDING, FlowEngine, FlowLaw, FlowRun, Injection
from netloom.simulation.flow.network import (
    FlowNetwork,
    GivenPaths,
    WaysOfPairs,
    circles,
    flow_network,
    in_path_order,
    latency_weights,
)
from netloom.topology import Topology
from netloom.workload.programs.messages import Messages

# -- part by part, in cycles -----------------------------------------------------------------------

ROW = np.dtype(
    [
        *((name, "i8") for name in (*TIMES, "last")),
        ("alone", "f8"),  # cycles through an idle network
        ("hops", "f8"),  # network channels crossed, a mean over paths
        *((name, "i4") for name in ("source", "target", "flits", "delay", "run")),
    ]
)
"""One record a row. Times are -1 where they are not known yet, else rounded to whole cycles."""


class FlowProgram(ProgramEngine):
    """Flows in flits and cycles, and a program that they run, which is made as they go on.

    Parameters
    ----------
    links
        The network, whose units are flits and cycles.
    routing
        Whose paths the flows take.
    law
        How flows share the links: max-min.
    switch_cycles
        Cycles that a processor takes to go from one hardware context to another.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.simulation.agenda import run_program
    >>> from netloom.topology import mesh
    >>> from netloom.workload.programs.messages import Given, messages
    >>> there_and_back = messages(16, source=[0, 3], target=[3, 0], flits=10, after=[[], [0]])
    >>> engine = FlowProgram(flow_network(mesh(4, 4)), DimensionOrder())
    >>> run_program(engine, Given(there_and_back), most_cycles=1000)  # twice 3 hops and 10 flits
    Ending(cycle=26, enough=True, interrupted=False)
    """

    def __init__(
        self, links: FlowNetwork, routing: Routing, law: FlowLaw = FAIR, *, switch_cycles: int = 0
    ) -> None:
        self.topology, self.num_rows, self._cycle = links.topology, 0, 0
        self._links, self._ways = links, WaysOfPairs(links, routing)
        self._engine = FlowEngine(links, law, switch=float(switch_cycles))
        self._rows: Records | None = None  # as they are now

    @property
    def rows(self) -> Records:
        """The records of all rows so far. See ``ROW``."""
        if self._rows is None:
            found = self._engine.found()
            self._rows = np.zeros(self.num_rows, ROW)
            for name in TIMES:
                self._rows[name] = np.rint(found.rows[name])
            for name in ("last", "source", "target", "flits", "delay", "run"):
                self._rows[name] = found.rows[name]
            self._rows["alone"], self._rows["hops"] = found.alone, found.hops
        return self._rows

    @property
    def complete(self) -> Ints:
        """int64[num_rows], the last whole cycle before each row was complete; -1: it is not yet.

        What a source makes of it begins no later than it should.
        """
        return np.asarray(np.floor(self._engine.rows["complete"]), np.int64)

    @property
    def cycle(self) -> int:
        """The cycle that it came to: if all rows are complete, that in which the last was."""
        return self._cycle

    @property
    def completed(self) -> int:
        """How many rows are complete."""
        return self._engine.completed

    @property
    def flit_hops(self) -> int:
        """Flits times network channels crossed."""
        return round(float(self.channel_flits().sum()))

    def crossed(self) -> NDArray[Any]:
        """Return what crossed each channel of messages that have arrived, float64[]."""
        known = self.topology.num_network_channels + 2 * self.topology.num_ports
        return self._engine.link_sizes()[:known]

    def append(self, messages: Messages) -> None:
        """Append rows to the program. See ``ProgramEngine``."""
        ways, path = self._ways.of(messages)
        if (ways.capacity(self._links.capacity) > 1).any():
            wanted = "at most 1, which loops are made for; or engine network"
            raise InputError(self.topology.name, "paths of more than a flit per cycle", wanted)
        self._engine.add_ways(ways)
        self._engine.append(messages, path)
        self.num_rows, self._rows = self._engine.num_rows, None

    def advance(self, until: int) -> None:
        """Run up to, and without, a cycle. See ``ProgramEngine``."""
        self._engine.advance(float(np.nextafter(until, 0)))
        done = self._engine.completed == self.num_rows
        self._cycle = max(self._cycle, ceil(self._engine.time)) if done else until
        self._rows = None


@dataclass(frozen=True)
class FlowRules:
    """How the flows of a program share channels, in flits and cycles. See ``Rules``.

    Attributes
    ----------
    injection
        See ``FlowLaw``.
    end_channels
        Whether hosts of a direct network have a channel each way between them and their routers.
    """

    injection: Injection = "in-order"
    end_channels: bool = True

    engine_name: ClassVar[str] = "flow"

    def words(self) -> str:
        """Return them as a person says them."""
        turns = FlowLaw(injection=self.injection).turns
        return f"flows that share channels fairly, {turns} from each node"

    def make_engine(
        self, topology: Topology, routing: Routing, *, switch_cycles: int
    ) -> FlowProgram:
        """Return an engine that has not begun."""
        links = flow_network(topology, end_channels=self.end_channels)
        law = FlowLaw(injection=self.injection)
        return FlowProgram(links, routing, law, switch_cycles=switch_cycles)

    def zero_load_latency(self, topology: Topology, hops: float, flits: float) -> float:
        """Return a message's latency over so many hops of the idle network."""
        return hops + flits + 2 * topology.ports_listed

    def zero_load_latencies(self, rows: Records) -> Ints:
        """Return the latency of each message, were the network idle."""
        return np.asarray(np.rint(rows["alone"]), np.int64)


# -- as one table, and trust in its end ------------------------------------------------------------

BATCHES, FIRST_BATCHES = 2**14, 64
"""Batches of events between two looks at whether to stop, and at first, until they tell enough."""

CLASS_SECONDS, BATCH_SECONDS = 5e-8, 2.5e-6
"""What a class that is looked at and a batch cost, on a core of 2024."""

MOST_SECONDS = 600.0
"""Runs that would take longer by these are refused."""

TELLING = 32
"""Flows that end by which it is told how long those that are left take."""

TOLERATED = 2.5
"""Largest error of a finish, as a multiple of the tolerance, if flows share their hosts' channels.
Measured: up to 2.3, on all-to-all traffic of unequal sizes on 54 to 128 hosts."""


def run_flows(
    network: FlowNetwork,
    routing: Routing | GivenPaths,
    messages: Messages,
    law: FlowLaw = FAIR,
    *,
    noting: bool = False,
    most_seconds: float = MOST_SECONDS,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[int], None] = lambda _: None,
) -> FlowRun:
    """Run a table of messages as flows that share links max-min fairly.

    A message is sent, and its bytes begin to move once the latency of its path is over, at the
    max-min fair rate. It arrives when all have moved. Shared ``by-latency``, that is SimGrid's
    model CM02 without its corrections (Velho & Legrand 2009).

    Parameters
    ----------
    network, routing
        The links, and the routing of whose paths they are part, or the path of each message.
    messages
        The program, in the units of the network: bytes and seconds, or flits and cycles.
    law
        How flows share the links.
    noting
        Whether to find for how long each link held flows back.
    most_seconds
        Of work, counted rather than timed: what would take longer is refused.
    stopped, tell
        Asked now and then whether to stop. Told how many rows are complete.

    Raises
    ------
    NoRouteError
        If the routing has no path for a message.
    InputError
        If an argument cannot be used, or it would take longer than ``most_seconds``.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.messages import messages
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=1e9, latency=1e-6)
    >>> two = messages(4, source=[0, 1], target=[2, 2], flits=1000)
    >>> run_flows(network, DModK(), two).complete  # both into host 2
    array([6.e-06, 6.e-06])
    """
    assert messages.num_nodes == network.topology.num_hosts
    if isinstance(routing, GivenPaths):
        ways, path = routing.of(network, messages)
    else:
        ways, path = WaysOfPairs(network, routing).of(messages)
    in_circles, by_latency, weight = None, False, np.ones(len(path), np.int64)
    latency = ways.latency[path[path >= 0]]
    if law.sharing == "by-latency" and latency.any():
        if not latency.all():
            raise InputError("sharing", "by-latency with paths of latency 0", "latencies above 0")
        exact = latency_weights(latency)
        by_latency = exact is None
        weight[path >= 0] = 1 if exact is None else exact
    if law.sharing == "lossless":
        ways = in_path_order(network, ways)
        known = None if isinstance(routing, GivenPaths) else routing
        in_circles = circles(network, known, ways)
    engine = FlowEngine(network, law, noting=noting, circles=in_circles, by_latency=by_latency)
    engine.add_ways(ways)
    engine.append(messages, path, weight=weight)
    batches, before = FIRST_BATCHES, (0, 0.0)
    while not engine.advance(batches=batches):
        tell(engine.completed)
        if stopped():
            break
        before = _check_work(engine, before, most_seconds)
        batches = min(2 * batches, BATCHES)
    return engine.found()


def _check_work(
    engine: FlowEngine, before: tuple[int, float], most_seconds: float
) -> tuple[int, float]:
    """Refuse what would take too long, told from the work since a look before, or return this look.

    A look is the rows that are complete, and seconds of work so far. A flow that ends costs the
    more, the more are active: half as much on average if all are.
    """
    clock, completed = engine.state.clock, engine.completed
    work = CLASS_SECONDS * clock["work"][0] + BATCH_SECONDS * clock["batches"][0]
    seconds = float(work)
    done, left = completed - before[0], engine.num_rows - completed
    if done < TELLING:
        return before
    each = (seconds - before[1]) / done
    active = min(engine.active / max(left, 1), 1.0)
    more = seconds + each * left * (1 - active / 2)
    if more > most_seconds:
        tolerance = float(clock["tolerance"][0])
        given = f"{tolerance:g}" if tolerance > ROUNDING else "0"
        long = f"{more / 60:.0f} minutes" if more < 7200 else f"{more / 3600:,.0f} hours"
        wanted = "1e-3 or more: flows that share their hosts' channels then end within "
        wanted += f"{100 * TOLERATED * 1e-3:g} % of exact"
        raise InputError("tolerance", f"{given}, with which it takes about {long}", wanted)
    return completed, seconds


CHEAP_SECONDS = 5.0
"""Work above which what a finish is compared with is left out."""


def cheap_finish(run: Callable[..., FlowRun], **options: Any) -> float | None:
    """Return when a program ends under other options. None if it does not, or is not cheap to find.

    ``run``: ``run_flows`` or ``run_at_once`` with a program.
    """
    try:
        found = run(**options, most_seconds=CHEAP_SECONDS)
    except InputError:  # it takes too long, or its paths cannot be shared so
        return None
    return found.finish if found.done else None


ORDER_COUNTS, ORDER_DECIDES = 1.1, 2.0
"""Gaps between the ends in order and shared, as factors, from which a kind begins."""

TURNS_COUNT, TURNS_DECIDE = 1.02, 1.2
"""Gaps between the ends under fair sharing and by turns, as factors, above which a kind begins."""

ALIKE, TURNS, FAR_TURNS, UNKNOWN_TURNS = 0.065, 0.2, 0.8, 0.28
"""Nine of ten errors of programs whose order does not count: by turns much the same, up to 1.2
times, above, and of all of them."""

ORDER, FAR_ORDER, SHORT = 0.31, 0.4, 0.21
"""Nine of ten errors of programs whose order counts, decides, and of short messages."""

MOST_SHORT = 0.5
"""The part of messages above which a program is one of short messages."""


def trust(
    in_order_finish: float | None,
    shared_finish: float | None,
    bound: float,
    *,
    lossless_finish: float | None = None,
    short: float = 0.0,
    done: bool = True,
) -> Trust:
    """Return how far the end of a program on flows, sent in order, can be trusted.

    Parameters
    ----------
    in_order_finish, shared_finish
        When the program ends if each host's messages follow one another, and if all share its
        injection channel: ``run_flows`` with both kinds of ``injection``. The same where no host
        has two messages under way at once. None where it is not known.
    bound
        The least time that the program needs: of one-shot traffic, what the fullest link has to
        carry over its bandwidth. 0 if it is not known.
    lossless_finish
        When it ends if links share by turns: ``run_flows`` with ``sharing="lossless"``. Without it
        the estimate is coarser.
    short
        The part of the messages that are shorter than a packet, or take longer for the latency of
        their path than for their bytes.
    done
        Whether the program ended.

    Raises
    ------
    InputError
        If a figure is not a finite number of at least 0.

    Examples
    --------
    >>> found = trust(1.0, 1.0, 1.0, lossless_finish=1.0)
    >>> found.within, found.why
    (0.065, 'One link decides when the program ends.')
    >>> trust(9.0, 1.0, 1.0).within is None
    True
    """
    if not done:
        return Trust(within=None, why="The run was interrupted.")
    if in_order_finish is None or shared_finish is None:
        why = "Whether the order in which messages are sent matters would take long to find."
        return Trust(within=None, why=why)
    by_turns = in_order_finish if lossless_finish is None else lossless_finish
    for value in (in_order_finish, shared_finish, by_turns, bound, short):
        if not (isfinite(value) and value >= 0):
            raise InputError("trust", f"{value}", "finite figures of at least 0")
    if min(in_order_finish, shared_finish, by_turns) <= 0:
        return Trust(within=0.0, why="Nothing crosses the network.")
    order = _gap(in_order_finish, shared_finish)
    if order >= ORDER_SAYS_NOTHING:
        end = f"{rounded(order)} times as long in order as shared, the true end is between"
        return Trust(within=None, why=f"The order in which messages are sent decides: {end}.")
    if short > MOST_SHORT:
        return Trust(
            within=SHORT, why="Most messages are shorter than a packet or than their latency."
        )
    if order >= ORDER_COUNTS:
        within = FAR_ORDER if order >= ORDER_DECIDES else ORDER
        return Trust(
            within=within,
            why=f"The order in which messages are sent makes a factor of {rounded(order)}.",
        )
    return _by_turns(in_order_finish, bound, lossless_finish)


def _by_turns(finish: float, bound: float, lossless_finish: float | None) -> Trust:
    """Return the trust in the end of a program whose order does not count."""
    if lossless_finish is None:
        return Trust(
            within=UNKNOWN_TURNS, why="Links that share by turns, as routers do, may take longer."
        )
    turns = _gap(finish, lossless_finish)
    if turns > TURNS_COUNT:
        within = FAR_TURNS if turns > TURNS_DECIDE else TURNS
        return Trust(
            within=within, why=f"Sharing by turns, as routers do, makes a factor of {turns:.2g}."
        )
    one = bound > 0 and _gap(finish, bound) <= TURNS_COUNT
    link = "One link decides" if one else "Fair sharing and turns agree on"
    return Trust(within=ALIKE, why=f"{link} when the program ends.")


def _gap(one: float, other: float) -> float:
    return max(one, other) / min(one, other)
