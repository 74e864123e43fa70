"""Send all of a program's traffic at once, as flows that share channels fairly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, derived, figure, frame, say, unseen
from netloom.base.progress import counting
from netloom.base.units import parse_bytes
from netloom.base.words import counted, number, percent
from netloom.machines.named_machines import clock_of
from netloom.questions import fields, named
from netloom.questions.answers import Answer, Columns, Grade, Mark, Measure, Parts, Verdict, table
from netloom.questions.base import Question, argument, option
from netloom.questions.outputs import PLOT, table_output
from netloom.questions.register import asks
from netloom.questions.simulate.engines import OnFlows, OnSimulated, PreparedFlows, prepare_flows
from netloom.questions.simulate.fields import Flows, NodeChannels
from netloom.questions.terminal import arrow, order_named, subject
from netloom.simulation import figures
from netloom.simulation.flow.run import TOLERATED
from netloom.simulation.side_by_side import run_all
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    import polars as pl

    from netloom.simulation.flow.run import AtOnce

LONG = Grade("finish over the least time that the fullest channel needs", fine=1.05, act=1.5)

ORDER = 0.9
"""A finish with all flows at once below so many times that in order: the order costs time."""

MOST_LINEAR = 100
"""Slow-downs above this are shown by decades."""

BARS, NAMES = 240.0, 450.0
"""Pixels of the bars of channels, and of the names beside them: both ends with their ports."""


class FlowTraffic(Question, panel="Program"):
    """The traffic."""

    app: fields.Program = argument(
        "Process graph whose edges are flows, as for analyze: a file, or all-to-all:64, "
        "transpose:8, ring:64 with --size.",
        file=True,
    )
    flow_bytes: fields.Size | None = option(
        "Size of each flow, such as 1MB.",
        default=None,
        shown_default="the bytes of each edge",
        flags=("--size", "--bytes", "--flow-bytes"),
    )


class FlowsQuestion(
    fields.HostNames,
    fields.Seeded,
    NodeChannels,
    Flows,
    fields.Placed,
    fields.ProgramFile,
    FlowTraffic,
    fields.BrokenParts,
    fields.PathRouting,
    fields.OnNetwork,
):
    """All of a program's traffic at once, as flows."""


class FlowsAnswer(Answer):
    """What ``simulate_flows`` found."""

    setup: OnSimulated = figure(at=".", table=False)
    law: OnFlows = figure(at=".", table=False)
    inside_nodes: float
    program: str
    mapping: str
    finish_seconds: float | None = figure("finish", "seconds", key=True)
    ends: figures.Finishes = figure(at=".")
    alone_seconds: float = figure("longest flow alone", "seconds", key=True, lead=True)
    bound_seconds: float | None = figure(
        "fullest channel at full speed", "seconds", key=True, lead=True
    )
    slowdown: figures.Spread | None = figure(
        "times as long as alone", flat="slowdown_", key=True, lead=True
    )
    num_flows: int = figure("flows", at="flows", key=True, lead=True)
    bytes: float = figure("sent", "bytes", lead=True)
    interrupted: bool = figure()
    edges_within_nodes: int
    empty_edges: int
    ended_flows: int
    tolerance_error: float = figure("error by the tolerance", SHARE, table=False)
    expected_error: figures.Trust
    critical_path: figures.InTurn | None = figure(flat="", lead=True)
    busiest: tuple[figures.FlowsOnBusy, ...] = figure("busiest channels")
    busiest_alike: int = figure("channels used as much as the busiest", table=False)
    busiest_together: str
    found: AtOnce = unseen()
    network: PreparedFlows = unseen()
    graph: ProcessGraph = unseen()

    @property
    def of(self) -> str:
        """Program, network and mapping."""
        return subject(self.program, self.setup.topology, self.mapping)

    @derived("finish over the time of the fullest channel", "times", key=True)
    def finish_over_bound(self) -> float | None:
        """None if it was interrupted."""
        if self.finish_seconds is None or not self.bound_seconds:
            return None
        return self.finish_seconds / self.bound_seconds

    @derived("share by which the finish is above that time", SHARE, table=False)
    def above_bound(self) -> float | None:
        """None if it was interrupted."""
        return None if self.finish_over_bound is None else self.finish_over_bound - 1

    @derived(table=False)
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.interrupted:
            return f"interrupted: {self.ended_flows} of {counted(self.num_flows, 'flow')} had ended"
        where = "on one host" if self.asked.get("count_inside_nodes") else "within a node"
        left = {where: self.edges_within_nodes, "of 0 bytes": self.empty_edges}
        words = [f"{counted(many, 'edge')} {which}" for which, many in left.items() if many]
        return f"left out: {', '.join(words)}" if words else None

    @property
    def undecided(self) -> bool:
        """Whether the order in which flows are sent makes so much that no finish is expected."""
        return self.expected_error.undecided(self.ends.in_order, self.ends.shared)

    def measure(self) -> Measure | None:
        """Return how long the flows take. None if they were interrupted, or their order decides."""
        took = self.finish_seconds
        if not took or self.undecided:
            return None
        return Measure(took, say(took, "seconds"), "takes {}", "time to finish")

    def judged(self) -> Verdict:
        """Return how long the flows take, and how much longer than the fullest channel needs."""
        if self.finish_seconds is None:
            many = counted(self.num_flows, "flow", ",")
            said = f"Interrupted: {self.ended_flows:,} of {many} had ended."
            return Verdict("unknown", said, next=self.again())
        mark, said, best = self._sentence()
        note = estimated(self.expected_error, say(self.ends.in_order, "seconds"))
        return Verdict(mark, said, self._lines(), "" if best else self._next(), note)

    def _sentence(self) -> tuple[Mark, str, bool]:
        """Return the mark, the sentence, and whether nothing can be better."""
        took, over = say(self.finish_seconds, "seconds"), self.finish_over_bound or 0.0
        if self.undecided:
            low, high = sorted((self.ends.in_order or 0.0, self.ends.shared or 0.0))
            ends = f"{say(low, 'seconds')} to {say(high, 'seconds')}"
            return "unknown", f"Takes {ends}: the order in which flows are sent decides.", False
        many = self.busiest_together
        fullest = many or arrow(self.busiest[0].name)
        if over < LONG.fine:
            if self._slowest < LONG.fine:
                return "fine", f"Takes {took}; no flow is slower than alone.", True
            whose = "their" if many else "its"
            said = f"Takes {took}, as fast as {fullest} can carry {whose} flows."
            return "limited", said, False
        needs = f"{fullest} need{'s' * (not many)} ({say(self.bound_seconds, 'seconds')})"
        said = f"Takes {took}, {percent(self.above_bound)} more than {needs}."
        return "limited" if over < LONG.act else "act", said, False

    @property
    def _slowest(self) -> float:
        return (self.slowdown.max if self.slowdown else None) or 0.0

    def _lines(self) -> dict[str, str]:
        fullest, found = self.busiest[0], {}
        carries = f"{say(fullest.bytes, 'bytes')} in {counted(fullest.flows, 'flow', ',')}"
        found["where"] = f"{arrow(fullest.name)} carries {carries}"
        if held := fullest.held_flows:
            found["where"] += f" and holds back {held:,} of them"
        if self.busiest_together:
            found["where"] = f"{self.busiest_together} are used alike: {found['where']}"
        if self.slowdown and self._slowest >= LONG.fine:
            mean, most = number(self.slowdown.mean), number(self._slowest)
            longer = f"{mean} times as long as alone on average, at most {most} times"
            found["why"] = f"flows take {longer}"
        if self._order_costs:
            shared = say(self.ends.shared, "seconds")
            found["order"] = f"{shared} if each host sent all of its flows at once"
        return found

    @property
    def _order_costs(self) -> bool:
        """Whether the flows take longer because each host sends its own in order."""
        finish, shared = self.finish_seconds, self.ends.shared
        in_order = self.law.injection == "in-order"
        return bool(in_order and finish and shared and shared < ORDER * finish)

    def _next(self) -> str:
        """Return the search for a better mapping, if a channel between routers is the limit.

        No mapping helps an all-to-all, or flows that wait for others of their own host.
        """
        alike = str(self.asked["app"]).startswith("all-to-all")
        movable = self.busiest[0].between == "routers" and not alike and not self._order_costs
        if movable and self.asked["mapping"] == "identity":
            return self.again("map", rankfile="ranks.txt")
        return self.again(save_flows="flows.csv")

    def plainly(self, name: str) -> str:
        """Return the name of a channel as people know it."""
        return arrow(name)

    def remarks(self) -> Iterator[str]:
        """Yield how flows were run, and what is left out."""
        yield f"{self.setup.size}, {self.setup.routing}"
        yield self.law.how
        if self.law.tolerance:
            yield f"flows end within {percent(self.tolerance_error)} of exact (tolerance)"
        yield from [self.note] if self.note else []

    def footer(self) -> list[str]:
        """Return what was sent, and how."""
        return [
            f"{self.program} on {self.setup.topology}: {self.num_flows:,} flows at once, "
            f"{say(self.bytes, 'bytes')}; injection {self.law.injection}; {self.setup.routing}, "
            f"{order_named(self.mapping)}"
        ]

    def flows(self) -> pl.DataFrame:
        """Return one row per flow: its tasks, nodes and bytes, its times, and what held it back.

        Times are seconds. All flows start at 0, and at ``entered`` their bytes began to leave. The
        time from then on, divided by ``alone``, is ``slowdown``. The channel that held the flow
        back for longest is ``held_by``, null if none did. If something had not happened when a run
        was interrupted, it is null.
        """
        tasks = self.graph.source, self.graph.target
        columns = self.found.sent_flows(tasks, np.arange(self.num_flows))
        return frame(figures.SentFlow, columns).fill_nan(None)

    @table(figures.FlowsOnChannel)
    def channels(self) -> Columns:
        """Return one row per channel of the network, those of hosts that hang on routers last."""
        topology = self.found.network.topology
        each = np.arange(topology.num_channels)
        ends = {"source_node": topology.source_end, "target_node": topology.target_end}
        return self.found.on_links(each) | {"channel": each} | ends

    @table(figures.ShareSlower)
    def slowdowns(self) -> Columns:
        """Return how many times as long as alone which share of the flows took at most."""
        return self.found.shares_slower()

    def parts(self) -> Parts:
        """Return the shares of flows by how much longer they take, and the busiest channels."""
        import polars as pl

        from netloom.drawing.axes import DASHED, MINE, Axis, Look, axis, panel
        from netloom.drawing.bars import Bar, bars
        from netloom.drawing.frame import REFERENCE, THIS

        shares = self.slowdowns().with_columns(of=pl.lit("flows"))
        most, title = max([1.0, *shares["slowdown"]]), "times as long as alone"
        x = axis("slowdown", title, [1.0, max(1.1, most)], zero=False, room=0.03, whole=False)
        x = Axis("slowdown", title, 1.0, x.high)
        if most > MOST_LINEAR:
            x = axis("slowdown", title, [1.0, most], log=True)
        where = panel(x, axis("share", "share of the flows", [1.0], share=True), width=380)
        looks = {"flows": MINE._replace(named=False)}
        layers = where.lines(shares, "of", looks, points=0, interpolate="step-after")
        said = "How much longer flows take than alone"
        if self.slowdown and self.slowdown.mean:
            mean = number(self.slowdown.mean)
            said = f"The mean flow takes {mean} times as long as alone"
            layers += where.upright({f"mean {mean}": self.slowdown.mean}, Look(REFERENCE, DASHED))
        named = [arrow(each.name) for each in self.busiest]
        if len(set(named)) < len(named):
            named = [each.name for each in self.busiest]
        rows = [
            Bar(
                name,
                each.utilisation,
                percent(each.utilisation) + ", holds flows back" * bool(each.held_flows),
                THIS if each.held_flows else REFERENCE,
            )
            for name, each in zip(named, self.busiest, strict=True)
        ]
        fullest = self.busiest_together or named[0]
        used = f"No channel is used more than {fullest}: {percent(self.busiest[0].utilisation)}"
        unit = "share of the channel used until the end"
        return {
            "slow-down": where.drawn(layers, said),
            "busiest channels": bars(rows, used, unit, width=BARS, share=True, longest=NAMES),
        }


def estimated(trust: figures.Trust, finish: str) -> str:
    """Return how far the finish in order is from what flits would take, as expected, in words."""
    if trust.within is None:
        return f"* estimate: flits may take far more or less. {trust.why}"
    if not trust.within:
        return f"* {trust.why}"
    ends = f"{finish} ± {percent(trust.within)}"
    return f"* estimate: sent in order, flits take {ends} in 9 of 10 cases. {trust.why}"


@dataclass(frozen=True, eq=False)
class PreparedTraffic:
    """What a question names, read and built once.

    Attributes
    ----------
    graph
        The edges that send something from one node to another, with their bytes.
    node_of
        int32[num_tasks], where each task runs.
    left_out
        Edges within a node, and edges of no bytes.
    inside_nodes
        The share of the bytes within nodes.
    """

    graph: ProcessGraph
    network: PreparedFlows
    node_of: Ints
    left_out: tuple[int, int]
    inside_nodes: float


def prepare(question: FlowsQuestion) -> PreparedTraffic:
    """Read the program, build the network and its routing, and place the tasks."""
    topology, machine = named.network_of(question)
    network = prepare_flows(question, topology, clock_of(question, topology, machine))
    graph = named.program_on(question, topology)
    if question.flow_bytes is not None:
        size = parse_bytes(question.flow_bytes, where="size")
        if not size:
            raise InputError("size", "0", "a size above 0, such as 1MB")
        graph = replace(graph, bytes=np.full(graph.num_edges, size))
    elif graph.num_edges and (graph.bytes == 1).all():
        none = "none: the edges of this graph have no size of their own"
        raise InputError("size", none, "the size of a flow, such as --size 1MB")
    node_of = named.placed(question, graph, topology)
    across, inside = named.entering(graph, topology, node_of)
    sent = across.only(across.bytes > 0)
    if not sent.num_edges:
        nothing = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, nothing, "communication that enters the network")
    left_out = graph.num_edges - across.num_edges, across.num_edges - sent.num_edges
    return PreparedTraffic(sent, network, node_of, left_out, inside)


@asks(
    FlowsQuestion,
    prepare=prepare,
    title="Traffic as flows",
    example="netloom simulate flows all-to-all:64 --on leaf-spine:8x4x8 --size 1MB "
    "--bandwidth 200Gb/s",
    page="how-long.md",
    outputs=(
        table_output("save_flows", "The times of every flow, .csv or .parquet.", "flows"),
        PLOT,
    ),
)
def simulate_flows(question: FlowsQuestion, ready: PreparedTraffic) -> FlowsAnswer:
    """Send all of a program's traffic at once, as flows that share channels fairly.

    Each edge of the process graph is one flow of its bytes, from the node of one task to that of
    another. All are sent at time 0. A task sends to the next task first, then to those after it, as
    all-to-all collectives do. Flows share channels max-min fairly. The answer reports the time, the
    channels that limit it, and the expected error. Ctrl-C ends the run.

    Raises
    ------
    NoRouteError
        If the routing has no path for a flow.

    Examples
    --------
    >>> found = simulate_flows(
    ...     "leaf-spine:2x1x4", app="all-to-all:8", flow_bytes="1MB", bandwidth="100Gb/s",
    ...     injection="shared")
    >>> round(found.finish_over_bound, 9)  # 16 flows of 80 µs share the uplink
    1.0
    """
    from netloom.simulation.flow.run import each_way, run_at_once, send_order

    network, graph = ready.network, ready.graph
    assert network.clock is not None
    send = partial(
        run_at_once,
        network.links,
        network.routing,
        ready.node_of[graph.source],
        ready.node_of[graph.target],
        graph.bytes,
        order=send_order(graph.source, graph.target, graph.num_tasks),
        overhead=network.clock.overhead_seconds,
    )

    def all_of(stopped: Callable[[], bool]) -> tuple[AtOnce, figures.Finishes]:
        with counting(graph.num_edges, f"{graph.name} on {network.topology.name}") as tell:
            return each_way(send, network.law, tell=tell, stopped=stopped)

    runs = run_all([all_of])
    found, ends = runs[0] if runs else all_of(lambda: True)
    alike, together = found.alike
    return FlowsAnswer(
        setup=OnSimulated.of_network(network),
        law=OnFlows.of(network),
        inside_nodes=ready.inside_nodes,
        program=graph.name,
        mapping=named.mapping_name(question.mapping),
        finish_seconds=found.finish if found.done else None,
        ends=ends,
        alone_seconds=float(found.least.max(initial=0.0)),
        bound_seconds=found.bound if found.done else None,
        slowdown=found.slower,
        num_flows=len(found.size),
        bytes=float(found.size.sum()),
        interrupted=not found.done,
        edges_within_nodes=ready.left_out[0],
        empty_edges=ready.left_out[1],
        ended_flows=found.num_ended,
        tolerance_error=TOLERATED * (network.law.tolerance or 0.0),
        expected_error=found.trust(ends),
        critical_path=found.in_turn((graph.source, graph.target)),
        busiest=found.busiest,
        busiest_alike=alike,
        busiest_together=together,
        found=found,
        network=network,
        graph=graph,
        provenance=named.provenance_of(question, "simulate_flows", network.topology),
    )
