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

Of flows that are all sent at once, it is told when each ends, and which channels hold it back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.base.figures import records
from netloom.base.words import rounded
from netloom.contention.busiest import FEW_TIED as FEW, tie_named, tied
from netloom.routing import Routing
from netloom.simulation.agenda import TIMES, ProgramEngine
from netloom.simulation.figures import (
    MOST_LISTED,
    ORDER_SAYS_NOTHING,
    Finishes,
    FlowsOnBusy,
    InTurn,
    SentFlow,
    Spread,
    Trust,
)
from netloom.simulation.flow.engine import (
    FAIR,
    ROUNDING,
    FlowEngine,
    FlowLaw,
    FlowRun,
    Injection,
    Sharing,
)
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
from netloom.workload.programs.messages import Messages, messages

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
    active = min(float(clock["active"][0]) / max(left, 1), 1.0)
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


NOISE = 1e-12
"""Times that differ by such a part are the same but for rounding."""

QUANTILES = 200
"""Rows of the table of slow-downs."""


@dataclass(frozen=True, eq=False)
class AtOnce(FlowRun):
    """Flows that were all sent at time 0, in the order in which they were given.

    Attributes
    ----------
    chain
        int64[], the flow that ended last, and before it those that it waited for at its injection
        channel, the first first.
    """

    chain: Ints

    @property
    def size(self) -> Floats:
        """float64[num_flows], of each flow."""
        return np.asarray(self.rows["flits"])

    @property
    def sending(self) -> Floats:
        """float64[num_flows], what the bytes of each take alone."""
        return self.size / self.ways.capacity(self.network.capacity)[self.way]

    @property
    def least(self) -> Floats:
        """float64[num_flows], when each would have ended on an idle network."""
        return np.asarray(self.alone + (self.rows["run"] + self.rows["receive"]))

    @property
    def held_longer(self) -> Floats:
        """float64[num_flows], how much longer the bytes of each took as others were there; or -1.

        That is unknown of flows that have not arrived.
        """
        more = np.maximum(self.arrived - self.entered - self.alone, 0)
        return np.asarray(np.where(self.arrived >= 0, more, -1.0))

    @property
    def slowdown(self) -> Floats:
        """float64[num_flows], time in the network over that alone. All flows have ended.

        What a flow waits for others of its own host, before it enters, does not count.
        """
        inside = self.complete - self.entered + self.rows["run"]
        found = np.divide(inside, self.least, out=np.ones(len(inside)), where=self.least > 0)
        return np.asarray(np.maximum(found, 1.0))

    @property
    def utilisation(self) -> Floats:
        """float64[num_links], what each link carried, as a part of what it could until the end."""
        end = self.finish
        return self.link_sizes / (self.network.capacity * end) if end else 0 * self.link_sizes

    @cached_property
    def _held(self) -> tuple[Ints, Floats]:
        """The way of each hop of ways, and for how long its link held flows back."""
        assert self.held is not None
        return np.repeat(np.arange(len(self.ways)), np.diff(self.ways.offsets)), self.held

    @property
    def holder(self) -> Ints:
        """int64[num_flows], the link that held each back for longest; -1 if none did."""
        way, held = self._held
        longest = np.lexsort([-held, way])[self.ways.offsets[:-1]]  # the first of equal ones
        found = np.where(held[longest] > 0, self.ways.links[longest], -1)
        return found[self.way].astype(np.int64)

    def of_links(self) -> tuple[Ints, Ints, Floats]:
        """Return int64[num_links], flows over each, those that it held back, and for how long.

        A link holds a flow back while it is full, and the flow has the largest rate on it that it
        shares, though it would have a larger one alone.
        """
        way, held = self._held
        flows = np.bincount(self.way, minlength=len(self.ways))[way]
        links, count = self.ways.links, self.network.num_links
        return (
            np.bincount(links, flows, count).astype(np.int64),
            np.bincount(links, np.where(held > 0, flows, 0), count).astype(np.int64),
            np.bincount(links, held, count).astype(np.float64),
        )

    @property
    def num_ended(self) -> int:
        """How many flows had ended when the run was over."""
        return int(np.count_nonzero(self.complete >= 0))

    @property
    def slower(self) -> Spread | None:
        """Times of flows in the network over those alone. None if not all have ended."""
        return Spread.of(self.slowdown) if self.done else None

    def trust(self, ends: Finishes) -> Trust:
        """Return how far the finish in order can be trusted."""
        short = float(np.mean(self.alone - self.sending > self.sending))
        busiest = float(self.link_times.max(initial=0.0))
        found, by_turns = (ends.in_order, ends.shared, busiest), ends.lossless
        return trust(*found, lossless_finish=by_turns, short=short, done=self.done)

    def sent_flows(self, tasks: tuple[Ints, Ints], chosen: Ints) -> dict[str, Any]:
        """Return the columns of ``SentFlow`` for some flows, between such tasks.

        If something had not happened when the run was interrupted, it is NaN.
        """
        ended = self.complete[chosen] >= 0
        return {
            "source_task": tasks[0][chosen],
            "target_task": tasks[1][chosen],
            "source_node": self.rows["source"][chosen],
            "target_node": self.rows["target"][chosen],
            "bytes": self.size[chosen],
            "start_seconds": np.zeros(len(chosen)),
            "entered_seconds": np.where(self.entered[chosen] >= 0, self.entered[chosen], np.nan),
            "finish_seconds": np.where(ended, self.complete[chosen], np.nan),
            "alone_seconds": self.least[chosen],
            "slowdown": np.where(ended, self.slowdown[chosen], np.nan),
            "hops": self.hops[chosen],
            "held_by": self._names(self.holder[chosen]),
        }

    def in_turn(self, tasks: tuple[Ints, Ints]) -> InTurn | None:
        """Return the flows that followed each other at the last host. None if not all ended."""
        if not self.done or not len(self.chain):
            return None
        sending = float(self.sending[self.chain].sum())
        held = float(self.held_longer[self.chain].sum())
        held = held if held > NOISE * self.finish else 0.0
        columns = self.sent_flows(tasks, self.chain[-MOST_LISTED:])
        return InTurn(
            length=len(self.chain),
            sending=sending,
            held=held,
            other=max(self.finish - sending - held, 0.0),
            flows=records(SentFlow, columns),
        )

    def _names(self, links: Ints) -> list[str | None]:
        """Return the names of links. None for -1."""
        some, place = np.unique(links, return_inverse=True)
        known = [None if each < 0 else self.network.link_name(each) for each in some.tolist()]
        return [known[each] for each in place.tolist()]

    def on_links(self, chosen: Ints) -> dict[str, Any]:
        """Return the columns of ``FlowsOnLink`` for some links."""
        flows, held_flows, held_time = (each[chosen] for each in self.of_links())
        return {
            "name": self._names(chosen),
            "bytes": self.link_sizes[chosen],
            "flows": flows,
            "utilisation": self.utilisation[chosen],
            "held_flows": held_flows,
            "held_seconds": held_time,
        }

    @property
    def busiest(self) -> tuple[FlowsOnBusy, ...]:
        """The links that are busiest, those of hosts too, the first first."""
        first = np.lexsort([-self.of_links()[2], -self.utilisation])[:MOST_LISTED]
        inside = self.network.topology.num_network_channels
        columns = self.on_links(first)
        columns["between"] = np.where(first < inside, "routers", "hosts")
        return records(FlowsOnBusy, columns)

    @property
    def alike(self) -> tuple[int, str]:
        """How many links are used as much as the busiest, and what they are called together.

        "" of a few. See ``contention.busiest``.
        """
        topology, alike = self.network.topology, tied(self.utilisation)
        own = alike >= topology.num_channels  # of nodes: no network has those
        if not own.any():
            return len(alike), tie_named(topology, alike)
        kind = "of the nodes' own channels" if own.all() else "channels, nodes' own among them,"
        return len(alike), f"{len(alike):,} {kind}" if len(alike) > FEW else ""

    def shares_slower(self) -> dict[str, Any]:
        """Return the columns of ``ShareSlower``."""
        values = np.sort(self.slowdown) if self.done else np.zeros(0)
        place = np.unique(np.linspace(0, max(len(values) - 1, 0), QUANTILES).astype(np.int64))
        place = place[: len(values)]
        return {"share": (place + 1) / max(len(values), 1), "slowdown": values[place]}


def each_way(
    send: Callable[..., AtOnce], law: FlowLaw, *, stopped: Callable[[], bool], **more: Any
) -> tuple[AtOnce, Finishes]:
    """Send flows as asked, and find when they would end if sent or shared in other ways.

    Parameters
    ----------
    send
        ``run_at_once`` with its flows.
    law, stopped, more
        As for ``run_flows``, of the run that is returned.
    """
    found = send(law=law, stopped=stopped, **more)
    fair = "max-min" if law.sharing == "lossless" else law.sharing

    def end(injection: Injection, sharing: Sharing | None) -> float | None:
        if not found.done:
            return None
        if (injection, sharing) == (law.injection, law.sharing):
            return found.finish
        other = replace(law, injection=injection, sharing=sharing, tolerance=0.0)
        return cheap_finish(send, law=other, stopped=stopped)

    return found, Finishes(
        in_order=end("in-order", fair),
        shared=end("shared", fair),
        lossless=end("in-order", "lossless"),
    )


def send_order(source: ArrayLike, target: ArrayLike, num_tasks: int) -> Ints:
    """Return the order in which tasks send: each to the next task first, then to those after it.

    So do the all-to-all collectives of MPI libraries. Would all send to task 0 first, all would
    wait for its host.

    Examples
    --------
    >>> order = send_order([0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1], 3)
    >>> order  # 0 to 1, 1 to 2 and 2 to 0; then 0 to 2, 1 to 0 and 2 to 1
    array([0, 3, 4, 1, 2, 5])
    """
    sources = np.asarray(source, np.int64)
    return np.lexsort([sources, (np.asarray(target, np.int64) - sources) % num_tasks])


def run_at_once(
    network: FlowNetwork,
    routing: Routing,
    source: ArrayLike,
    target: ArrayLike,
    size: ArrayLike,
    *,
    order: Ints | None = None,
    overhead: float = 0.0,
    law: FlowLaw = FAIR,
    **more: Any,
) -> AtOnce:
    """Send flows between different hosts all at once, and return when each ends.

    Parameters
    ----------
    network, routing, law
        As for ``run_flows``.
    source, target, size
        The hosts of each flow, which are two, and its size. Above 0.
    order
        The order in which a host sends its flows. By default that in which they are given.
    overhead
        Time that the processor of each host takes to send a flow, and to receive it.
    more
        What else ``run_flows`` takes.

    Raises
    ------
    NoRouteError, InputError
        As ``run_flows`` does.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import FlowLaw, flow_network
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:3x1x2"), bandwidth=1e9, latency=1e-6)
    >>> all_at_once = FlowLaw(injection="shared")
    >>> found = run_at_once(network, DModK(), [0, 1], [2, 4], [1000, 1000], law=all_at_once)
    >>> found.complete, found.alone  # both over one uplink: four channels of 1 µs, 1 µs of bytes
    (array([6.e-06, 6.e-06]), array([5.e-06, 5.e-06]))
    >>> network.link_name(found.holder[0]), found.bound
    ('leaf0 -> spine0', 2e-06)
    """
    sources, targets = np.asarray(source, np.int32), np.asarray(target, np.int32)
    sizes = np.asarray(size, np.float64)
    sent = np.arange(len(sources)) if order is None else order
    table = messages(
        network.topology.num_hosts, source=sources[sent], target=targets[sent], flits=0
    )
    each = np.full(len(sent), overhead)
    table = replace(table, flits=sizes[sent], run=each, receive=each)
    run = run_flows(network, routing, table, law, noting=True, **more)
    chain = np.zeros(0, np.int64)
    if len(sent):
        last = int(np.argmax(run.complete))
        chain, queue = np.array([last]), run.ways.queue[run.way]
        if law.in_order and queue[last] >= 0:  # and those before it that it waited for to enter
            same = np.flatnonzero(queue == queue[last])
            same = same[np.lexsort([same, run.entered[same]])]
            same = same[: int(np.flatnonzero(same == last)[0]) + 1]
            waited = (run.entered - run.sent)[same]
            chain = same[int(np.flatnonzero(waited <= NOISE * run.entered[same])[-1]) :]
    back = np.empty(len(sent), np.int64)
    back[sent] = np.arange(len(sent))
    return AtOnce(**vars(run) | {"rows": run.rows[back]}, chain=sent[chain])
