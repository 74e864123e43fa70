"""How long does all of a program's traffic take, sent at once, and which channels delay it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.units import LARGEST, parse_bytes
from netloom.questions.base import Question, argument, option
from netloom.questions.fields import (
    BrokenParts,
    HostNames,
    OnNetwork,
    PathRouting,
    Placed,
    Program,
    ProgramFile,
    Seeded,
    clock_of,
)
from netloom.questions.named import (
    entering,
    mapping_name,
    network_of,
    num_places,
    placed,
    provenance_of,
    read_program,
)
from netloom.questions.outputs import PLOT, table_output
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_flows
from netloom.questions.simulate.fields import Flows, NodeChannels
from netloom.questions.simulate.flows.answer import FlowsAnswer
from netloom.simulation.flow.run import cheap_finish, run_at_once, send_order
from netloom.simulation.side_by_side import run_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints
    from netloom.questions.simulate.engines import PreparedFlows
    from netloom.simulation.flow.run import AtOnce
    from netloom.workload import ProcessGraph

ENDS = {
    "in_order": ("in-order", ""),
    "shared": ("shared", ""),
    "lossless": ("in-order", "lossless"),
}
"""The finishes that are compared: injection and sharing, which is fair if not said."""


class FlowTraffic(Question, panel="Program"):
    """The traffic."""

    app: Program = argument(
        "Process graph whose edges are flows, as for analyze: a file, or all-to-all:64, "
        "transpose:8, ring:64 with --size.",
        file=True,
    )
    flow_bytes: Annotated[float, Field(gt=0, le=LARGEST)] | str | None = option(
        "Size of each flow, such as 1MB.",
        default=None,
        shown_default="the bytes of each edge",
        flags=("--size", "--bytes", "--flow-bytes"),
    )


class FlowsQuestion(
    HostNames, Seeded, NodeChannels, Flows, Placed, ProgramFile, FlowTraffic, BrokenParts,
    PathRouting, OnNetwork,
):  # fmt: skip
    """All of a program's traffic at once, as flows."""


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
    topology, machine = network_of(question)
    network = prepare_flows(question, topology, clock_of(question, topology, machine))
    graph = read_program(
        question.app, messages=question.messages, parts=question.parts,
        tasks=num_places(question, topology), seed=question.seed,
    )  # fmt: skip
    graph = _sized(graph, question.flow_bytes)
    node_of = placed(question, graph, topology)
    across, inside = entering(graph, topology, node_of)
    sent = _without_empty(across)
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
    >>> round(found.finish_seconds / found.bound_seconds, 9)  # 16 flows of 80 µs share the uplink
    1.0
    """
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
    fair = "max-min" if network.sharing == "lossless" else network.sharing

    def all_of(stopped: Callable[[], bool]) -> tuple[AtOnce, dict[str, float | None]]:
        with counting(graph.num_edges, f"{graph.name} on {network.topology.name}") as tell:
            found = send(
                injection=network.injection, sharing=network.sharing,
                tolerance=network.tolerance, tell=tell, stopped=stopped,
            )  # fmt: skip
        ends: dict[str, float | None] = dict.fromkeys(ENDS)
        for name, (injection, law) in ENDS.items():
            sharing = law or fair
            if (injection, sharing) == (network.injection, network.sharing):
                ends[name] = found.finish if found.done else None
            elif found.done:
                ends[name] = cheap_finish(
                    send, injection=injection, sharing=sharing, stopped=stopped
                )
        return found, ends

    runs = run_all([all_of])
    found, ends = runs[0] if runs else all_of(lambda: True)
    return FlowsAnswer(
        network=network,
        found=found,
        ends=ends,
        graph=graph,
        mapping=mapping_name(question.mapping),
        edges_within_nodes=ready.left_out[0],
        empty_edges=ready.left_out[1],
        inside_nodes=ready.inside_nodes,
        provenance=provenance_of(question, "simulate_flows", network.topology),
    )


def _sized(graph: ProcessGraph, flow_bytes: Any) -> ProcessGraph:
    """Return a process graph with the bytes of its edges, or with those that are asked for."""
    if flow_bytes is not None:
        size = parse_bytes(flow_bytes, where="size")
        if not size:
            raise InputError("size", "0", "a size above 0, such as 1MB")
        return replace(graph, bytes=np.full(graph.num_edges, size))
    if graph.num_edges and (graph.bytes == 1).all():
        found = "none: the edges of this graph have no size of their own"
        raise InputError("size", f"{found}", "the size of a flow, such as --size 1MB")
    return graph


def _without_empty(graph: ProcessGraph) -> ProcessGraph:
    """Return the edges that carry something."""
    kept = graph.bytes > 0
    columns = ("source", "target", "bytes", "messages")
    return replace(graph, **{name: getattr(graph, name)[kept] for name in columns})
