"""The fields that questions share, in groups, each declared and described once.

A question is a class of some groups and its own fields. Fields come in the order of the bases, the
last base's first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, SkipValidation, field_validator

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.units import LARGEST, LONGEST_SECONDS
from netloom.machines import OF_FILE, Machine, machine, machine_names
from netloom.questions.base import MOST_SEED, InstanceOf, Question, argument, option
from netloom.routing import ForwardingTable, NamedRouting, SourceRoutes, VirtualChannelRouting
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.steady import Limits
from netloom.topology import Topology
from netloom.workload import Arrivals, Lengths, ProcessGraph, Traffic
from netloom.workload.traffic.stream import LONGEST

ROUTER_FIELDS = tuple(field for field in vars(Router()) if field != "switching")
"""Fields of ``Router`` that a question may change one by one."""

Network: TypeAlias = str | InstanceOf[Topology] | InstanceOf[Machine]
Program: TypeAlias = str | InstanceOf[ProcessGraph]
OnePath: TypeAlias = (
    str | InstanceOf[NamedRouting] | InstanceOf[SourceRoutes] | InstanceOf[ForwardingTable]
)
"""A routing that tells the paths of each pair of hosts."""

OnePathOrFunction: TypeAlias = OnePath | Callable[[Topology, int, int], Iterable[int | str]]
AnyPath: TypeAlias = OnePath | InstanceOf[VirtualChannelRouting]
PacketLengths: TypeAlias = Annotated[int, Field(ge=1, le=LONGEST)] | str | InstanceOf[Lengths]

Nodes: TypeAlias = Annotated[str | Path | Sequence[int] | InstanceOf[np.ndarray], SkipValidation]
"""Nodes by their numbers, or text or a file that names them. A mapping's are those of its tasks."""

Size: TypeAlias = Annotated[float, Field(gt=0, le=LARGEST)] | str
"""A size, or a rate, with its unit, such as 64MB. A number, in Python, is bytes."""

Seconds: TypeAlias = Annotated[float, Field(ge=0, le=LONGEST_SECONDS)] | str
"""A time with its unit, such as 600ns. A number, in Python, is seconds."""

routing_option = partial(
    option, default="default", panel="Network", flags=("--routing", "--routes"), file=True
)
"""Declares a routing. See ``option``."""

PROGRAM = (
    "Process graph: a matrix (.mtx, .csv, .npz, .graphml), a folder or glob of Open MPI .prof "
    "files, a spec such as hypercube:10, or a graph."
)
NETWORK = "Network (torus:4x4x4, leaf-spine:8x4x8@dgx-h100, graph:FILE), machine, or topology."


class OnNetwork(Question, panel="Network"):
    """The network."""

    on: Network = option(NETWORK, kw_only=False, file=True)


class ProgramOnNetwork(Question):
    """A program, and the network that it runs on."""

    app: Program = argument(PROGRAM, kw_only=False, file=True)
    on: Network = option(NETWORK, kw_only=False, file=True, panel="Network")


class OnFabric(Question):
    """The fabric: a file as administrators have it, or any network."""

    on: Network = option(
        "Fabric: a file of ibnetdiscover, ibsim or the like, or any network (fat-tree:k=8).",
        kw_only=False,
        file=True,
    )

    @field_validator("on", mode="before")
    @classmethod
    def _of_a_file(cls, on: Any) -> Any:
        """Return a spec for the name of a file."""
        if isinstance(on, PathLike):
            on = str(on)
        if not isinstance(on, str) or not on:
            return on
        of_a_file = isfile(on) or (":" not in on and on not in machine_names())  # noqa: PTH113
        return f"fabric:{on}" if of_a_file else on


class BrokenParts(Question, panel="Broken parts"):
    """What of the network is broken, and whether messages inside nodes use it.

    See ``Topology.local_group``.
    """

    count_inside_nodes: bool = option(
        "Count messages between hosts of one node too.",
        default=False,
        flags=("--count-inside-nodes",),
        panel="Network",
    )
    failed_channels: str | None = option(
        "Broken links, separated by commas: 3-4, 7->8 for one direction, or 'leaf3 port 17'.",
        default=None,
    )
    failed_nodes: str | None = option(
        "Broken nodes and switches, separated by commas: 5,9.", default=None
    )


class PathRouting(Question, panel="Network"):
    """A routing with one path for each pair of nodes."""

    routing: OnePath = routing_option(
        "Routing: default, dimension-order[:0,1], xy, shortest-path, spread, "
        "ecmp[:SEED], ecmp-polarised[:SEED], layered, up-down, minimal, valiant or "
        "routes:FILE. On trees: d-mod-k, s-mod-k, nca. On dragonflies: "
        "minimal-group, valiant-group. All: netloom routings."
    )


class PacketRouting(Question, panel="Network"):
    """A routing of packets, which may choose among channels."""

    routing: AnyPath = routing_option(
        "Routing: default, dimension-order, adaptive, valiant ... On switches: nca, "
        "minimal, ugal-l, par, lfts:FILE ... All: netloom routings."
    )


def changed(parameter: str) -> Any:
    """Declare the option that changes a parameter of the router, as ``Router`` declares it."""
    return option(default=None, **Router.__dataclass_fields__[parameter].metadata)


class RouterFields(Question, panel="Router"):
    """The routers: a preset, and changes of it parameter by parameter."""

    router: str | dict[str, Any] | InstanceOf[Router] = option(
        "Preset: three-stage, canonical-4-stage, speculative-2-stage, single-cycle or a machine.",
        default="default",
        shown_default="the machine's own, else three-stage",
        file=True,
    )
    switching: str | None = option(
        "Switching: wormhole, virtual-cut-through, store-and-forward, circuit or reserved.",
        default=None,
        shown_default="the router's",
    )
    vcs: int | None = changed("vcs")
    buffer_flits: int | None = changed("buffer_flits")
    fill_channels: bool | None = changed("fill_channels")
    route_cycles: int | None = changed("route_cycles")
    vc_allocation_cycles: int | None = changed("vc_allocation_cycles")
    switch_allocation_cycles: int | None = changed("switch_allocation_cycles")
    traversal_cycles: int | None = changed("traversal_cycles")
    speculative: bool | None = changed("speculative")
    channel_cycles: int | None = changed("channel_cycles")
    credit_cycles: int | None = changed("credit_cycles")
    injection_channels: int | None = changed("injection_channels")
    ejection_channels: int | None = changed("ejection_channels")
    oldest_first: bool | None = changed("oldest_first")


class Seeded(Question):
    """Where all chance comes from."""

    seed: int = option("Seed of all random numbers.", default=DEFAULT_SEED, ge=0, le=MOST_SEED)


class MonitoredParts(Question, panel="Program"):
    """Which messages count, of a program that was monitored."""

    parts: str = option(
        "Traffic read from Open MPI monitoring: network, point-to-point, "
        "collectives, one-sided or collective-calls.",
        default="network",
    )


class ProgramFile(MonitoredParts, panel="Program"):
    """How a program is read where it is a file."""

    messages: str | None = option(
        "Second MatrixMarket file of the program: message counts.", file=True, default=None
    )


class NodeList(Question, panel="Program"):
    """The nodes that are used."""

    nodes: Nodes | None = option(
        "Allocated nodes, a file or a list: 0-31,40, n[3-7], host names.",
        default=None,
        shown_default="all that work",
        file=True,
    )


class TasksPerNode(Question, panel="Program"):
    """How many tasks of a program each node takes."""

    tasks_per_node: int = option(
        "Tasks (ranks) per node, round-robin over its hosts.",
        default=1,
        ge=1,
        le=MAX_ELEMENTS,
        flags=("--tasks-per-node", "--ranks-per-node"),
    )


class Allocated(TasksPerNode, NodeList, panel="Program"):
    """The nodes that a program may use, and how many of its tasks each takes."""


class Mapped(Question, panel="Program"):
    """Where the tasks of a program run."""

    mapping: Nodes = option(
        "Mapping: identity, random, a layout (gray, tiles, fold ...), "
        "distance:HOPS, a file, or the node of each task.",
        file=True,
        default="identity",
    )


class Placed(Mapped, Allocated):
    """The nodes that a program may use, and where its tasks run."""


class EdgeWeight(Question, panel="Program"):
    """What an edge's share of the traffic is taken from."""

    weight: Literal["bytes", "messages", "uniform"] = option(
        "Weight of an edge: its bytes, its messages, or uniform.", default="bytes"
    )


class HostNames(Question, panel="Program"):
    """The names of nodes."""

    hosts: str | PathLike[str] | None = option(
        "File of host names, line n for node n.",
        file=True,
        default=None,
        shown_default="the network's own, else n0, n1 ...",
    )


class Arriving(Question, panel="Traffic"):
    """When packets come."""

    arrivals: str | InstanceOf[Arrivals] = option(
        "Arrivals of packets: bernoulli, poisson or on-off:BURST_CYCLES,DUTY.", default="bernoulli"
    )


class PatternTraffic(Question, panel="Traffic"):
    """Who sends to whom."""

    traffic: str | dict[str, Any] | InstanceOf[Traffic] | None = option(
        "Traffic pattern: uniform, transpose, bit-complement, bit-reverse, shuffle, tornado, "
        "neighbour, tornado:32x32, shift:1,5, random-permutation:SEED, asymmetric, adversarial, "
        "adversarial:+K, hotspot:0.1:NODES, incast:SENDERS:NODES or pairs:0-63,5-12; most also "
        "with -self.",
        default=None,
        shown_default="uniform",
    )


class Timing(Question, panel="Time"):
    """How fast and how long channels are, in bytes and seconds. See ``named_machines.Clock``.

    A number, in Python, is bytes/s or seconds.
    """

    bandwidth: Size | None = option(
        "Bandwidth of a channel (200Gb/s, 25GB/s).",
        default=None,
        shown_default="the machine's, or the fabric file's",
    )
    latency: Seconds | None = option(
        "Latency of every channel, such as 600ns.",
        default=None,
        shown_default="the machine's, or the file's, else 0",
    )
    overhead: Seconds | None = option(
        "Overhead at each end of a message, such as 1.2us.",
        default=None,
        shown_default="the machine's, else 0",
    )


class Payload(Question, panel="Time"):
    """What of a channel's bandwidth is payload."""

    efficiency: float | None = option(
        "Payload share of channels.", default=None, gt=0, le=1, shown_default="the machine's"
    )


_of_machine = partial(option, default=None, shown_default="the machine's")


class Costs(Payload, panel="Time"):
    """What ranks of a collective take beside its messages. See ``named_machines.Costs``."""

    adding_rate: Size | None = _of_machine("Rate of adding (50GB/s).")  # at once if none says it
    copy_rate: Size | None = _of_machine("Rate of reordering (25GB/s).")
    start: Seconds | None = _of_machine("Time to start (5us).")


class Measured(Question, panel="When to stop"):
    """How long runs are measured."""

    cycles: int | None = option(
        "Measured time.",
        unit="cycles",
        default=None,
        ge=1,
        le=2**30,
        shown_default="as many as the precision needs",
    )
    precision: float = option(
        "Precision that ends a run: half the 95 % interval / mean latency.",
        default=0.02,
        gt=0,
        lt=1,
    )
    most_cycles: int = option(
        "Limit of the measured time, whatever the precision.",
        unit="cycles",
        default=200_000,
        ge=1,
        le=2**30,
    )

    def limits(self) -> Limits:
        """Return when a run ends."""
        return Limits(self.cycles, self.precision, self.most_cycles)


class NetworkQuestion(Seeded, RouterFields, BrokenParts, PacketRouting, OnNetwork):
    """A network and its routers, to be simulated."""


def refuse(question: Question, fields: Sequence[str], wanted: str) -> None:
    """Raise InputError if one of the fields was given, where it says nothing of what was asked.

    Fields that the question does not have are left out.
    """
    known = type(question).model_fields
    for name in filter(known.__contains__, fields):
        value = getattr(question, name)
        if not np.array_equal(value, known[name].default):
            plain = isinstance(value, str | int | float)  # an array has many lines
            found = f"'{value}'" if plain else "a value"
            raise InputError(name, found, wanted)


def asked_router(question: RouterFields, on: Machine | None) -> tuple[str, Router]:
    """Return the router asked for, and its name. A machine's own where none is named.

    Raises
    ------
    InputError
        If there is no such router, or a field's value is out of range.
    """
    given = {field: getattr(question, field) for field in ROUTER_FIELDS}
    changes = {field: value for field, value in given.items() if value is not None}
    asked = question.router
    if isinstance(asked, dict):
        asked = router(**asked)
    if isinstance(asked, Router):
        return "as given", replace(asked, **changes)
    if asked == "default" and on is not None and on.router is not None:
        return on.name, replace(on.router, **changes)
    if asked == "default":
        asked = next(iter(PRESETS))
    if asked in PRESETS:
        return asked, router(asked, **changes)
    if asked.startswith(f"{OF_FILE}:"):
        named = machine(asked)
        if named.router is None:
            raise InputError("router", f"'{asked}', which says none", "a file with a [router]")
        return asked, replace(named.router, **changes)
    own = {name: known for name in machine_names() if (known := machine(name).router)}
    if asked not in own:
        raise InputError("router", f"'{asked}'", f"one of {', '.join([*PRESETS, *own])}")
    return asked, replace(own[asked], **changes)
