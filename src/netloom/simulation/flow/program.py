"""Flows that run a program part by part, in flits and whole cycles, as the other engines do."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.errors import InputError
from netloom.simulation.agenda import TIMES, ProgramEngine
from netloom.simulation.flow.engine import FAIR, FlowEngine, FlowLaw
from netloom.simulation.flow.network import WaysOfPairs, flow_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing import Routing
    from netloom.simulation.agenda import Records
    from netloom.simulation.flow.engine import Injection
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.topology import Topology
    from netloom.workload.programs.messages import Messages

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
        self,
        links: FlowNetwork,
        routing: Routing,
        law: FlowLaw = FAIR,
        *,
        switch_cycles: int = 0,
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
            for name in ("last", "source", "target", "delay", "run"):
                self._rows[name] = found.rows[name]
            self._rows["flits"] = found.rows["size"]
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
