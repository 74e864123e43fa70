"""Flows that share links max-min fairly, and the program that they belong to, event by event."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.simulation.flow import blocking, layout
from netloom.simulation.flow.layout import INFINITE, State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.simulation.flow.layout import Records
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.simulation.flow.ways import Ways
    from netloom.workload.programs.messages import Messages

MOST_BITS, ROOM_BITS = 48, 61
"""The fastest link is so many bits wide, and weights times levels at most so many."""

ROUNDING = 2.0**-46
"""Events so much later, as a part of the time, are the same but for rounding: they are one."""

LEAST = 2**10
"""Levels below this are too coarse."""

MOST_ROWS = 2**31 - 1

TIMES = ("ready", "sent", "entered", "arrived", "complete")
COPIED = ("start", "delay", "run", "hold", "receive")


class FlowEngine:
    """Links, the flows on them, and the rows of a program, at a time.

    Parameters
    ----------
    network
        The links. All times and sizes are in the units of its capacities.
    in_order
        Whether a host's injection channel sends one message after the other.
    tolerance
        Ends and beginnings so much later count as one event, as a part of the time; 0: none do.
    switch
        Time that a processor takes to go from one context to another.
    noting
        Whether to note for how long each link holds flows back; see ``held``.
    circles
        bool[num_links]: links share by turns, and what waits blocks all but these, as ``blocking``
        says. Without it they share max-min fairly.
    """

    def __init__(
        self,
        network: FlowNetwork,
        *,
        in_order: bool = True,
        tolerance: float = 0.0,
        switch: float = 0.0,
        noting: bool = False,
        circles: NDArray[np.bool_] | None = None,
    ) -> None:
        if not 0 <= tolerance < 1:
            raise InputError("tolerance", f"{tolerance:g}", "at least 0, below 1")
        if not network.capacity.min(initial=inf) > 0:
            raise InputError("bandwidth", "a link of bandwidth 0", "rates above 0")
        self.network, self.in_order, self.noting = network, in_order, noting
        self.num_rows, self._num_edges, self._weight = 0, 0, 0.0
        self._whole = 0
        clock = np.zeros(1, layout.CLOCK)
        clock["tolerance"], clock["switch"] = max(tolerance, ROUNDING), switch
        clock["patience"] = 1
        clock["noting"] = noting
        self.lossless = circles is not None
        # as after a filling from scratch that is never left
        clock["lossless"] = clock["stale"] = clock["left"] = self.lossless
        topology = network.topology
        hosts = np.zeros(topology.num_hosts, layout.HOST)
        hosts["context"] = -1
        queues = np.full(max(topology.num_hosts, topology.num_ports), -1, layout.QUEUE)
        queues["busy"] = 0
        none = np.zeros(0, np.int32)
        self.state = State(
            clock=clock,
            links=np.zeros(network.num_links, layout.LINK),
            entries=np.zeros(0, layout.ENTRY),
            classes=np.zeros(0, layout.CLASS),
            hop_link=none,
            hop_place=none,
            hop_share=none,
            holders=np.zeros(0, layout.HOLDER),
            hop_held=np.zeros(0),
            rows=np.zeros(0, layout.ROW),
            edge_row=none,
            edge_next=none,
            hosts=hosts,
            queues=queues,
            events=np.zeros(0, layout.EVENT),
            agenda=np.zeros(network.num_links, np.int32),
            near=none,
            far=none,
            changed=none,
            ties=np.zeros(network.num_links, np.int32),
            **blocking.empty(),
        )
        if circles is not None:
            gates = np.zeros(network.num_links, layout.GATE)
            gates["circle"] = circles
            self.state = self.state._replace(gates=gates)
        self.state.links["place"], self.state.links["level"] = -1, INFINITE

    @property
    def rows(self) -> Records:
        """The records of all rows so far; see ``layout.ROW``."""
        return self.state.rows[: self.num_rows]

    @property
    def time(self) -> float:
        """The time of the last event."""
        return float(self.state.clock["time"][0])

    @property
    def completed(self) -> int:
        """How many rows are complete."""
        return int(self.state.clock["completed"][0])

    @property
    def active(self) -> int:
        """How many ways have flows on them at this time."""
        clock = self.state.clock
        return int(clock["near"][0] + clock["far"][0])

    @property
    def num_classes(self) -> int:
        """How many different ways flows have."""
        return len(self.state.classes)

    def rates(self) -> NDArray[np.float64]:
        """Return the rate of a flow of weight 1 of each class at this time; 0 where none runs."""
        classes, step = self.state.classes, self.state.clock["step"][0]
        return np.asarray(np.where(classes["weight"] > 0, classes["rate"] * step, 0.0))

    def link_sizes(self) -> NDArray[np.float64]:
        """Return what has crossed each link of rows that have arrived, float64[num_links]."""
        from netloom.simulation.flow.kernels.ways import add_sizes

        crossed = np.zeros(self.network.num_links)
        add_sizes(self.state, 0, self.num_rows, max(self._whole, 1), crossed)
        return crossed

    def held(self) -> NDArray[np.float64]:
        """Return float64[hops of all classes], for how long each of their links held them back.

        That is, how long their flows had the level of that link, and would have been faster alone:
        flows (their weights) times time. Of several links at that level it is the first. Only if
        the engine is ``noting``.
        """
        assert self.noting
        return self.state.hop_held

    def add_ways(self, ways: Ways) -> int:
        """Add classes of flows; return the number of the first.

        Raises
        ------
        InputError
            If flows are spread in another way than those that are there.
        """
        if self._whole not in (0, ways.whole):
            raise InputError("path", "flows spread in other shares", f"shares of {self._whole}")
        self._whole = ways.whole
        first, state = len(self.state.classes), self.state
        more = np.zeros(len(ways), layout.CLASS)
        more["first"] = ways.offsets[:-1] + len(state.hop_link)
        more["hops"] = np.diff(ways.offsets)
        more["place"], more["flow"] = -1, -1
        classes = np.concatenate([state.classes, more])
        self.state = state._replace(
            classes=classes,
            hop_link=np.append(state.hop_link, ways.links),
            hop_share=np.append(state.hop_share, ways.shares),
            hop_place=np.append(state.hop_place, np.zeros(len(ways.links), np.int32)),
            near=_longer(state.near, len(classes)),
            far=_longer(state.far, len(classes)),
            changed=_longer(state.changed, len(classes)),
        )
        if self.noting:
            holders = np.zeros(len(ways), layout.HOLDER)
            holders["hop"] = -1
            self.state = self.state._replace(
                holders=np.append(state.holders, holders),
                hop_held=np.append(state.hop_held, np.zeros(len(ways.links))),
            )
        if self.lossless:
            self._make_hops(ways)
        self._make_lists()
        return first

    def append(
        self,
        table: Messages,
        ways: Ways,
        path: NDArray[np.integer[Any]],
        *,
        cycle: float = 1.0,
        flit: float = 1.0,
        weight: NDArray[np.integer[Any]] | int = 1,
    ) -> None:
        """Append rows to the program.

        Parameters
        ----------
        table
            The rows; their times are multiplied by ``cycle``, their lengths by ``flit``.
        ways
            The ways that ``path`` names; all that the engine has, or more.
        path
            int[len(table)], the way of each row; -1 for one that does not use the network.
        weight
            Of each flow, a whole number.

        Raises
        ------
        InputError
            If there are too many rows, or bandwidths differ too much.
        """
        from netloom.simulation.flow.kernels.rows import link

        first, count = self.num_rows, len(table)
        assert table.first == first
        if first + count > MOST_ROWS:
            raise InputError("program", f"{first + count} messages", f"at most {MOST_ROWS}")
        if len(ways) > self.num_classes:
            old = self.num_classes
            assert old == 0 or ways.whole == self._whole
            self.add_ways(_rest(ways, old))
        state = self._make_room(first + count, self._num_edges + len(table.after))
        rows = state.rows[first : first + count]
        for name in COPIED:
            rows[name] = getattr(table, name) * cycle
        for name in (*TIMES, "last", "waiters", "left", "right"):
            rows[name] = -1
        for name in ("source", "target", "context"):
            rows[name] = getattr(table, name)
        rows["size"], rows["weight"], rows["path"] = table.flits * flit, weight, path
        uses = np.asarray(path) >= 0
        rows["queue"], rows["latency"] = -1, 0.0
        rows["latency"][uses] = ways.latency[path[uses]]
        if self.in_order:
            rows["queue"][uses] = ways.queue[path[uses]]
        self.num_rows += count
        self._set_units(float(rows["weight"][uses].sum()), ways)
        self._num_edges = link(self.state, first, table.after_offsets, table.after, self._num_edges)

    def advance(self, until: float = inf, *, batches: int = 2**62) -> bool:
        """Run up to and with a time, or so many batches of events; return whether that is all."""
        from netloom.simulation.flow.kernels.flows import advance

        done = advance(self.state, until, batches)
        return bool(done < batches)

    def _make_room(self, num_rows: int, num_edges: int) -> State:
        state = self.state
        self.state = state._replace(
            rows=_longer(state.rows, num_rows),
            events=_longer(state.events, num_rows + 1),
            edge_row=_longer(state.edge_row, num_edges),
            edge_next=_longer(state.edge_next, num_edges),
        )
        return self.state

    def _make_hops(self, ways: Ways) -> None:
        """Make room for the turns of new classes."""
        state, network = self.state, self.network
        more = blocking.hop_records(network, ways, len(state.hops))
        hops = np.append(state.hops, more)
        count = blocking.number_inputs(hops, state.hop_link, network.num_links)
        tries = np.zeros(len(state.classes), layout.TRY)
        tries["place"] = -1
        self.state = state._replace(
            hops=hops,
            tries=tries,
            inputs=np.zeros(count),
            unsettled=np.zeros(len(tries), np.int32),
            crowd=np.zeros(len(tries), np.int32),
        )

    def _make_lists(self) -> None:
        """Make room in the lists of links for all classes; keep what is in them."""
        state = self.state
        links = state.links
        room = np.bincount(state.hop_link, minlength=len(links))
        first = np.append(0, np.cumsum(room, dtype=np.int64))
        entries = np.zeros(int(first[-1]), layout.ENTRY)
        used = links["count"].astype(np.int64)
        place = np.arange(used.sum()) - np.repeat(np.cumsum(used) - used, used)
        entries[np.repeat(first[:-1], used) + place] = state.entries[
            np.repeat(links["first"], used) + place
        ]
        links["first"] = first[:-1]
        self.state = state._replace(entries=entries)
        if state.clock["step"][0]:
            self._set_alone()

    def _set_units(self, more: float, ways: Ways) -> None:
        """Choose the unit of levels for the weights that can be on a link, once."""
        state, clock = self.state, self.state.clock
        self._weight += more
        if not self.network.num_links:  # hosts that send only to themselves
            return
        if not clock["step"][0]:
            capacity = self.network.capacity
            weight = max(self._weight, 2**13) * ways.whole
            bits = min(MOST_BITS, ROOM_BITS - int(np.ceil(np.log2(weight))))
            unit = capacity.max() / 2**bits
            state.links["capacity"] = np.rint(capacity / unit)
            clock["step"] = unit * ways.whole
            self._room = 2.0 ** (ROOM_BITS - bits) / ways.whole
            self._set_alone()
        busy = (
            self.rows["weight"][self.rows["complete"] < 0].sum() if self._weight > self._room else 0
        )
        least = int(state.links["capacity"].min()) / max(self._weight, 1) / ways.whole
        if busy > self._room or least < LEAST:
            raise InputError("program", "too many flows for bandwidths so unequal", "fewer flows")

    def _set_alone(self) -> None:
        state = self.state
        most = state.links["capacity"][state.hop_link] // np.maximum(state.hop_share, 1)
        begins = state.classes["first"]
        if len(begins):
            state.classes["most"] = np.minimum.reduceat(most, begins)


def _rest(ways: Ways, first: int) -> Ways:
    """Return the ways from one on."""
    from dataclasses import replace

    begin = ways.offsets[first]
    return replace(
        ways,
        offsets=ways.offsets[first:] - begin,
        links=ways.links[begin:],
        shares=ways.shares[begin:],
        latency=ways.latency[first:],
        queue=ways.queue[first:],
    )


def _longer(array: Any, length: int) -> Any:
    """Return an array that is long enough: at least twice as long if it has to grow."""
    more = length - len(array)
    if more <= 0:
        return array
    return np.concatenate([array, np.zeros(max(more, len(array)), array.dtype)])
