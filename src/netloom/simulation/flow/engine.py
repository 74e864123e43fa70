"""Flows that share links max-min fairly, and the program that they belong to, event by event."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, lcm
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure
from netloom.simulation.agenda import SPANS, idle_hosts, longer, with_rows
from netloom.simulation.flow import layout
from netloom.simulation.flow.layout import INFINITE, State
from netloom.simulation.flow.network import WHOLE, FlowNetwork, Ways, hops_before
from netloom.workload.programs.messages import Messages

MOST_BITS, ROOM_BITS = 48, 61
"""The fastest link is so many bits wide, and weights times levels at most so many."""

ROUNDING = 2.0**-46
"""Events so much later, as a part of the time, are the same but for rounding: they are one."""

LEAST_ROOM = 2**13
"""Weights on a link, at least, that levels leave room for."""

LEAST = 2**10
"""Levels below this are too coarse."""

Injection: TypeAlias = Literal["in-order", "shared"]
Sharing: TypeAlias = Literal["max-min", "by-latency", "lossless"]


class FlowLaw(Figures):
    """How flows share links: all that a question may say of the engine, by the same names.

    Attributes
    ----------
    sharing
        ``max-min``: all flows on a full link are equal. ``by-latency``: a flow of twice the latency
        has half the weight there, as of TCP connections the one of the longer round trip gets less.
        ``lossless``: links share by turns, and what waits blocks what comes behind it. See
        ``flow.network``. None of what runs in cycles, which shares none.
    injection
        ``in-order``: the injection channel of a host sends one message after the other, in the
        order in which they were sent, as routers do. ``shared``: all at once.
    tolerance
        Events so much later, as a part of the time, count as one. A finish may be off by a few
        times as much. None in cycles.

    Raises
    ------
    InputError
        If a parameter is none of these.
    """

    sharing: Sharing | None = figure(default="max-min", table=False)
    injection: Injection = figure(default="in-order", table=False)
    tolerance: float | None = figure(default=0.0, table=False)

    def __post_init__(self) -> None:
        if self.injection not in get_args(Injection):
            raise InputError("injection", f"'{self.injection}'", "in-order or shared")
        if self.sharing not in (None, *get_args(Sharing)):
            raise InputError("sharing", f"'{self.sharing}'", "max-min, by-latency or lossless")
        if not 0 <= (self.tolerance or 0) < 1:
            raise InputError("tolerance", f"{self.tolerance:g}", "at least 0, below 1")

    @property
    def in_order(self) -> bool:
        """Whether a host's injection channel sends one message after the other."""
        return self.injection == "in-order"

    @property
    def turns(self) -> str:
        """How a host sends its flows, as a person says it."""
        return "one after the other" if self.in_order else "all at once"


FAIR = FlowLaw()
"""Max-min fair shares of what hosts send in order."""


def _of_rows(name: str, doc: str) -> Any:
    return property(lambda self: self.rows[name], doc=f"float64[num_rows], {doc}")


@dataclass(frozen=True, eq=False)
class FlowRun:
    """When the rows of a program were ready, sent, entered the network, arrived and were complete.

    All is in the units of the network; -1 stands for times of what has not happened.

    Attributes
    ----------
    network
        The links.
    rows
        One record a row. See ``layout.ROW``.
    ways
        The ways of rows.
    link_sizes
        float64[num_links], what has crossed each link.
    held
        float64[hops of all ways], how long each link held back the flows of a way, in flows (their
        weights) times time. Then they had the level of that link, and would have been faster alone.
        Of several links at that level it is the first. None where that was not noted.
    batches, work
        How often rates were found anew, and how many classes of flows were looked at for it.
    """

    network: FlowNetwork
    rows: Records
    ways: Ways
    link_sizes: Floats
    held: Floats | None
    batches: int
    work: int

    sent = _of_rows("sent", "when its processor had sent it")
    entered = _of_rows("entered", "when the bytes of a message began to leave its host")
    arrived = _of_rows("arrived", "when all of its bytes had")
    complete = _of_rows("complete", "when it was received")

    @property
    def way(self) -> Ints:
        """int64[num_rows], the way of each; -1: it does not use the network."""
        return self.rows["path"].astype(np.int64)

    @property
    def done(self) -> bool:
        """Whether all rows are complete."""
        return bool((self.complete >= 0).all())

    @property
    def finish(self) -> float:
        """When the last row was complete."""
        return float(self.complete.max(initial=0.0))

    @cached_property
    def alone(self) -> Floats:
        """float64[num_rows], time through an idle network. 0 for what does not use it.

        That is latency and bytes, which pass as fast as the narrowest link does.
        """
        rows, found = self.rows, np.zeros(len(self.rows))
        uses = rows["path"] >= 0
        rate = self.ways.capacity(self.network.capacity)
        found[uses] = rows["latency"][uses] + rows["flits"][uses] / rate[rows["path"][uses]]
        return found

    @cached_property
    def hops(self) -> Floats:
        """float64[num_rows], channels between routers that each crosses: a mean over its paths."""
        ways, many = self.ways, len(self.ways)
        inside = ways.links < self.network.topology.num_network_channels
        part = np.where(inside, ways.shares / ways.whole, 0.0)
        hops = np.bincount(np.repeat(np.arange(many), np.diff(ways.offsets)), part, many)
        return np.append(hops.astype(np.float64), 0.0)[self.way]  # the last: it needs none

    @property
    def link_times(self) -> Floats:
        """float64[num_links], what crossed each over its capacity: it was busy so long at least."""
        return self.link_sizes / self.network.capacity

    @property
    def bound(self) -> float:
        """The time of the busiest link at its full speed, which no sharing beats."""
        return float((self.link_times * self.network.efficiency).max(initial=0.0))

    def __repr__(self) -> str:
        rows = f"{len(self.rows)} rows, {self.batches} times of change"
        return f"<flows: {rows}, finished at {self.finish:.6g}>"


class FlowEngine:
    """Links, the flows on them, and the rows of a program, at a time.

    Parameters
    ----------
    network
        The links. All times and sizes are in the units of its capacities.
    law
        How flows share the links.
    switch
        Time that a processor takes to go from one context to another.
    noting
        Whether to note for how long each link holds flows back.
    circles
        bool[num_links]: links share by turns, and what waits blocks all but these. See
        ``flow.network``. Without it they share max-min fairly.
    by_latency
        Whether a unit of weight counts as much as its path's latency is short. These are above 0.
    """

    def __init__(
        self,
        network: FlowNetwork,
        law: FlowLaw = FAIR,
        *,
        switch: float = 0.0,
        noting: bool = False,
        circles: Bools | None = None,
        by_latency: bool = False,
    ) -> None:
        if not network.capacity.min(initial=inf) > 0:
            raise InputError("bandwidth", "a link of bandwidth 0", "rates above 0")
        self.network, self.law, self.noting = network, law, noting
        self.num_rows, self._num_edges, self._room = 0, 0, 0.0
        self._whole = 0  # the shares of a flow
        self.latency, self.queue = np.zeros(0), np.zeros(0, np.int32)  # of classes, as of ``Ways``
        self._bound = 0.0  # at least the weight that may be on a link at once, in shares
        clock = np.zeros(1, layout.CLOCK)
        clock["tolerance"], clock["switch"] = max(law.tolerance or 0.0, ROUNDING), switch
        clock["latest"] = inf
        clock["patience"] = 1
        clock["noting"] = noting
        self.lossless = circles is not None
        # as after a filling from scratch that is never left
        clock["lossless"], clock["weighed"] = self.lossless, by_latency
        clock["stale"] = clock["left"] = self.lossless or by_latency
        topology = network.topology
        queues = np.full(max(topology.num_hosts, topology.num_ports), -1, layout.QUEUE)
        queues["busy"] = 0
        more = layout.OF_ROWS | layout.OF_CLASSES
        empty: dict[str, Any] = {name: np.zeros(0, kind) for name, kind in more.items()}
        of_hops, of_rows = ("hop_link", "hop_place", "hop_share"), ("edge_row", "edge_next")
        numbers = (*of_hops, *of_rows, "ends", "changed", "unsettled", "crowd")
        self.state = State(
            **empty,
            **dict.fromkeys(numbers, np.zeros(0, np.int32)),
            clock=clock,
            links=np.zeros(network.num_links, layout.LINK),
            hop_held=np.zeros(0),
            hosts=idle_hosts(topology.num_hosts, "f8"),
            queues=queues,
            agenda=np.zeros(network.num_links, np.int32),
            ties=np.zeros(network.num_links, np.int32),
            fills=np.zeros(network.num_links if by_latency else 0, layout.FILL),
            gates=np.zeros(network.num_links if self.lossless else 0, layout.GATE),
            inputs=np.zeros(0),
        )
        self.state.gates["circle"] = circles if self.lossless else 0
        self.state.fills["place"] = -1
        self.state.links["place"], self.state.links["level"] = -1, INFINITE

    @property
    def rows(self) -> Records:
        """The records of all rows so far. See ``layout.ROW``."""
        return self.state.rows[: self.num_rows]

    @property
    def time(self) -> float:
        """The time of the last event."""
        return float(self.state.clock["time"][0])

    @property
    def completed(self) -> int:
        """How many rows are complete."""
        return int(self.state.clock["completed"][0])

    def found(self) -> FlowRun:
        """Return what came of all rows so far."""
        batches, work = (int(self.state.clock[name][0]) for name in ("batches", "work"))
        sizes, held = self.link_sizes(), self.state.hop_held if self.noting else None
        return FlowRun(self.network, self.rows, self.ways, sizes, held, batches, work)

    @property
    def ways(self) -> Ways:
        """The ways of all classes."""
        state = self.state
        offsets = np.append(state.classes["first"], len(state.hop_link))
        return Ways(
            offsets, state.hop_link, state.hop_share, max(self._whole, 1), self.latency, self.queue
        )

    def link_sizes(self) -> Floats:
        """Return what has crossed each link of rows that have arrived, float64[num_links]."""
        from netloom.simulation.flow.kernels.flows import add_sizes

        ways, crossed = self.ways, np.zeros(self.network.num_links)
        classes, whole = self.state.classes, ways.whole
        add_sizes(self.rows, classes, ways.links, ways.shares, whole, crossed)
        return crossed

    def add_ways(self, ways: Ways) -> None:
        """Add classes of flows.

        All flows count in shares that say how each is spread. If these would be too many, the new
        ones are rounded to as many as there may be.
        """
        from netloom.simulation.flow.kernels.flows import move_lists

        if not len(ways):
            return
        whole = lcm(max(self._whole, 1), ways.whole)
        if whole > WHOLE:
            whole = self._whole * (WHOLE // self._whole)
        if self._whole not in (0, whole):  # flows so far count in more shares from now on
            times = whole // self._whole
            self.state = self.state._replace(hop_share=self.state.hop_share * np.int32(times))
            for records in (self.state.entries, self.state.links):
                records["weight"] *= times
            self._room = 0.0  # rates are in other units now
        self._whole = whole
        ways = ways if ways.whole == whole else ways.in_shares(whole)
        self.latency = np.append(self.latency, ways.latency)
        self.queue = np.append(self.queue, ways.queue)
        state = self.state  # perhaps in other shares
        more = np.zeros(len(ways), layout.CLASS)
        more["first"] = ways.offsets[:-1] + len(state.hop_link)
        more["hops"] = np.diff(ways.offsets)
        more["place"], more["flow"] = -1, -1
        if state.clock["weighed"][0]:
            more["factor"] = 1 / np.where(ways.latency > 0, ways.latency, inf)
        classes = np.append(state.classes, more)
        self.state = state._replace(
            classes=classes,
            hop_link=np.append(state.hop_link, ways.links),
            hop_share=np.append(state.hop_share, ways.shares),
            hop_place=np.append(state.hop_place, np.zeros(len(ways.links), np.int32)),
            ends=longer(state.ends, len(classes)),
            changed=longer(state.changed, len(classes)),
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
        room = np.bincount(self.state.hop_link, minlength=len(state.links))
        entries, begin = np.zeros(len(self.state.hop_link), layout.ENTRY), np.cumsum(room) - room
        move_lists(state.links, state.entries, entries, begin)  # what is in them is kept
        self.state = self.state._replace(entries=entries)
        if state.clock["step"][0]:
            self._set_alone(len(state.classes))

    def append(self, table: Messages, path: Ints, *, weight: Floats | Ints | int = 1) -> None:
        """Append rows to the program.

        Parameters
        ----------
        table
            The rows, in the units of the network.
        path
            int[len(table)], the class of each row, or -1 for one that does not use the network.
        weight
            Of each flow, a whole number.

        Raises
        ------
        InputError
            If a time or length is no number of at least 0, or bandwidths differ too much.
        """
        first, count = self.num_rows, len(table)
        assert table.first == first
        for name in ("start", *SPANS, "flits"):
            values = getattr(table, name)
            fine = (values >= 0) & (values < inf)
            if not fine.all():
                found = f"{values[~fine][0]:g} of row {first + np.argmin(fine)}"
                raise InputError(name, found, "a number of at least 0")
        uses = np.asarray(path) >= 0
        self.state, self._num_edges = with_rows(self.state, table, path, self._num_edges)
        self.num_rows += count
        rows = self.rows[first:]
        rows["flits"], rows["weight"] = table.flits, weight
        rows["left"], rows["right"], rows["queue"], rows["latency"] = -1, -1, -1, 0.0
        rows["latency"][uses] = self.latency[path[uses]]
        if self.law.in_order:
            rows["queue"][uses] = self.queue[path[uses]]
        self._bound += float(rows["weight"][uses].sum()) * self._whole
        if self._bound > self._room:
            self._set_units()

    def advance(self, until: float = inf, *, batches: int = 2**62) -> bool:
        """Run up to and with a time, or so many batches of events. Return whether that is all."""
        from netloom.simulation.flow.kernels.flows import advance

        return bool(advance(self.state, until, batches) < batches)

    def _make_hops(self, ways: Ways) -> None:
        """Make room for the turns of new classes, whose ways are in path order."""
        state, before = self.state, hops_before(self.network, ways)
        assert (before < np.arange(len(before))).all()
        more = np.zeros(len(before), layout.HOP)
        share = ways.shares / np.where(before >= 0, ways.shares[before], ways.whole)
        more["part"] = np.minimum(share, 1)
        more["before"] = np.where(before >= 0, before + len(state.hops), -1)
        hops, links = np.append(state.hops, more), state.hop_link
        later = np.flatnonzero(hops["before"] >= 0)
        key = links[hops["before"][later]] * np.int64(self.network.num_links) + links[later]
        pairs, hops["input"][later] = np.unique(key, return_inverse=True)
        tries = np.zeros(len(state.classes), layout.TRY)
        tries["place"] = -1
        self.state = state._replace(
            hops=hops,
            tries=tries,
            inputs=np.zeros(len(pairs)),
            unsettled=np.zeros(len(tries), np.int32),
            crowd=np.zeros(len(tries), np.int32),
        )

    def _set_units(self) -> None:
        """Choose the unit of levels: as fine as the weights that may be on a link at once allow.

        Raises
        ------
        InputError
            If levels would be too coarse.
        """
        if not self.network.num_links:  # hosts that send only to themselves
            return
        state, clock, capacity = self.state, self.state.clock, self.network.capacity
        rows = self.rows
        busy = np.flatnonzero((rows["path"] >= 0) & (rows["complete"] < 0))
        weight, queue = rows["weight"][busy], rows["queue"][busy]
        path = np.bincount(rows["path"][busy], weight, len(state.classes))
        hops = np.repeat(path, state.classes["hops"]) * state.hop_share
        # what may be on each link at once, in shares
        weights = np.bincount(state.hop_link, hops, self.network.num_links).astype(np.float64)
        if self.law.in_order and len(busy) and (queue >= 0).all():
            queues = np.count_nonzero(np.bincount(queue)) * int(state.hop_share.max())
            weights = np.minimum(weights, queues * float(weight.max()))
        self._bound = weights.max()
        if weights.max() <= self._room:
            return
        self._room = 2.0 ** np.ceil(np.log2(max(weights.max(), LEAST_ROOM)))
        unit = capacity.max() / 2 ** min(MOST_BITS, ROOM_BITS - int(np.log2(self._room)))
        step = unit * self._whole
        if clock["step"][0]:  # flows go on at their rates, in the new unit
            coarser = clock["step"][0] / step
            state.classes["rate"] = np.rint(state.classes["rate"] * coarser)
            if not clock["weighed"][0]:
                state.classes["speed"] = state.classes["rate"] * step
            clock["stale"], clock["left"] = 1, 1
        clock["step"] = step
        state.links["capacity"] = np.rint(capacity / unit)
        if clock["weighed"][0]:
            state.fills["capacity"] = capacity * self._whole
        self._set_alone()
        if (state.links["capacity"] < LEAST * weights).any():
            most = f"flows of weight {weights.max() / self._whole:,.0f} at once on a channel"
            raise InputError("program", most, "less, or bandwidths that differ less")

    def _set_alone(self, first: int = 0) -> None:
        """Note what classes, from one on, would have alone."""
        state, classes = self.state, self.state.classes[first:]
        if len(classes):
            begin = classes["first"][0]
            most = state.links["capacity"][state.hop_link[begin:]]
            most //= np.maximum(state.hop_share[begin:], 1)
            classes["most"] = np.minimum.reduceat(most, classes["first"] - begin)
