"""The fields that questions share, in groups, each declared and described once.

A question is a class of some groups and its own fields. Fields come in the order of the bases, the
last base's first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, SkipValidation, field_validator

from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.units import LARGEST, LONGEST_SECONDS, parse_rate, parse_seconds, rate, seconds
from netloom.base.words import listed
from netloom.machines import OF_FILE, Machine, machine, machine_names
from netloom.questions.base import MOST_SEED, InstanceOf, Question, argument, later, option
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.steady import Limits
from netloom.topology import Topology
from netloom.workload import Arrivals, Lengths, ProcessGraph, Traffic
from netloom.workload.traffic.stream import LONGEST

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Floats
    from netloom.routing import (
        ForwardingTable,
        NamedRouting,
        SourceRoutes,
        VirtualChannelRouting,
    )
else:
    ForwardingTable, NamedRouting, SourceRoutes, VirtualChannelRouting = (
        later("netloom.routing", name)
        for name in ("ForwardingTable", "NamedRouting", "SourceRoutes", "VirtualChannelRouting")
    )


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

Seconds: TypeAlias = Annotated[float, Field(ge=0, le=LONGEST_SECONDS)] | str
"""A time with its unit, such as 600ns. A number, in Python, is seconds."""

PROGRAM = (
    "Process graph: a matrix (.mtx, .csv, .npz, .graphml), a folder or glob of Open MPI .prof "
    "files, a spec such as hypercube:10, or a graph."
)
NETWORK = "Network (torus:4x4x4, leaf-spine:8x4x8, graph:FILE), machine name, or topology."


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


class InsideNodes(Question, panel="Network"):
    """Whether messages inside nodes use the network. See ``Topology.local_group``."""

    count_inside_nodes: bool = option(
        "Count messages between hosts of one node too.",
        default=False,
        flags=("--count-inside-nodes",),
    )


class BrokenParts(InsideNodes, panel="Broken parts"):
    """What of the network is broken."""

    failed_channels: str | None = option(
        "Broken links, separated by commas: 3-4, 7->8 for one direction, or 'leaf3 port 17'.",
        default=None,
    )
    failed_nodes: str | None = option(
        "Broken nodes and switches, separated by commas: 5,9.", default=None
    )


class PathRouting(Question, panel="Network"):
    """A routing with one path for each pair of nodes."""

    routing: OnePath = option(
        "Routing: default, dimension-order[:0,1], xy, shortest-path, spread, "
        "ecmp[:SEED], ecmp-polarised[:SEED], layered, up-down, minimal, valiant or "
        "routes:FILE. On trees: d-mod-k, s-mod-k, nca. On dragonflies: "
        "minimal-group, valiant-group. All: netloom routings.",
        file=True,
        default="default",
        flags=("--routing", "--routes"),
    )


class PacketRouting(Question, panel="Network"):
    """A routing of packets, which may choose among channels."""

    routing: AnyPath = option(
        "Routing: default, dimension-order, adaptive, valiant ... On switches: nca, "
        "minimal, ugal-l, par, lfts:FILE ... All: netloom routings.",
        file=True,
        default="default",
        flags=("--routing", "--routes"),
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


class Placed(Allocated, panel="Program"):
    """Where the tasks of a program run."""

    mapping: Nodes = option(
        "Mapping: identity, random, a layout (gray, tiles, fold ...), "
        "distance:HOPS, a file, or the node of each task.",
        file=True,
        default="identity",
    )


class EdgeWeight(Question, panel="Program"):
    """What an edge's share of the traffic is taken from."""

    weight: Literal["bytes", "messages", "uniform"] = option(
        "Weight of an edge: its bytes, its messages, or uniform.",
        default="bytes",
    )


class ContextSwitches(Question, panel="Processors"):
    """What it takes a processor to go from one context to another."""

    switch_cycles: int = option(
        "Time of a context switch, hidden while the processor waits.",
        unit="cycles",
        default=0,
        ge=0,
        le=2**20,
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
    """How fast and how long channels are, in bytes and seconds. See ``Clock``.

    A number, in Python, is bytes/s or seconds.
    """

    bandwidth: Annotated[float, Field(gt=0, le=LARGEST)] | str | None = option(
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
    """Raise InputError if one of the fields was given, where it says nothing of what was asked."""
    for name in fields:
        value, default = getattr(question, name), type(question).model_fields[name].default
        if not np.array_equal(value, default):
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
    changes = {
        field: value
        for field in ROUTER_FIELDS
        if (value := getattr(question, field)) is not None
    }  # fmt: skip
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


RATES = "a rate such as 200Gb/s, a machine, or a file of the network that says rates"

ASSUMED_BANDWIDTH, ASSUMED_LATENCY = "200Gb/s", "500ns"
ASSUMED = "assumed"
"""Who says what a question, a machine and a file do not."""


@dataclass(frozen=True, eq=False)
class Clock:
    """How many bytes and seconds the units of a network are, and who says so.

    Attributes
    ----------
    bytes_per_second
        Of a channel of bandwidth 1.
    latency_seconds
        Of a cycle of a channel's latency: one number, or float64[num_channels] where a machine's
        links have latencies of their own. Times ``channel_cycles`` it is that of each channel.
    overhead_seconds
        Of each end of a message.
    bandwidth_source, latency_source, overhead_source
        Where each comes from, in words.
    network
        Whose they are.
    """

    bytes_per_second: float
    latency_seconds: float | Floats
    overhead_seconds: float
    bandwidth_source: str
    latency_source: str
    overhead_source: str
    network: Topology | None = field(default=None, repr=False)

    def words(self, network: Topology) -> str:
        """Return what it says in one line.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> Clock(25e9, 6e-7, 0.0, "--bandwidth", "--latency", "").words(mesh(2, 2))
        '25 GB/s per channel (--bandwidth), latency 600 ns (--latency), no overhead'
        >>> Clock(25e9, 6e-7, 1e-6, "machine:my.toml", "machine:my.toml", "").words(mesh(2, 2))
        '25 GB/s per channel, latency 600 ns (machine:my.toml), overhead 1 µs'
        """
        return replace(self, network=network).figures().words

    def figures(self) -> Rates:
        """Return it as figures, with the least and largest of the network's channels."""
        assert self.network is not None
        return Rates(
            bytes_per_second=self.bytes_per_second,
            channel_bytes_per_second=Span.of(
                self.bytes_per_second * self.network.channel_bandwidth
            ),
            channel_latency_seconds=Span.of(self.latency_seconds * self.network.channel_cycles),
            overhead_seconds=self.overhead_seconds,
            bandwidth_source=self.bandwidth_source,
            latency_source=self.latency_source,
            overhead_source=self.overhead_source,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return its figures as plain data."""
        return self.figures().to_json()


class Span(Figures):
    """The least and the largest of some values; 0 where there are none."""

    min: float = figure()
    max: float = figure()

    @classmethod
    def of(cls, values: NDArray[Any]) -> Span:
        """Return it of some values."""
        some = values if len(values) else np.zeros(1)
        return cls(min=float(some.min()), max=float(some.max()))

    def said(self, of: Callable[[float], str]) -> str:
        """Return it in words, with what says a value."""
        least, most = of(self.min), of(self.max)
        return most if least == most else f"{least} to {most}"


class Rates(Figures):
    """How many bytes and seconds the units of a network are, and who says so. See ``Clock``."""

    bytes_per_second: float = figure(unit="bytes/s")
    channel_bytes_per_second: Span = figure(unit="bytes/s")
    channel_latency_seconds: Span = figure(unit="seconds")
    overhead_seconds: float = figure(unit="seconds")
    bandwidth_source: str = figure()
    latency_source: str = figure()
    overhead_source: str = figure()

    @property
    def words(self) -> str:
        """What it says, in one line. A source of several is said once."""
        latency = self.channel_latency_seconds.said(seconds)
        overhead = seconds(self.overhead_seconds)
        told = [
            (f"{self.channel_bytes_per_second.said(rate)} per channel", self.bandwidth_source),
            (_or_none("latency", latency, self.latency_source), self.latency_source),
            (_or_none("overhead", overhead, self.overhead_source), self.overhead_source),
        ]
        followed = [*(source for _, source in told[1:]), ""]
        return ", ".join(
            f"{said} ({source})" if source and source != after else said
            for (said, source), after in zip(told, followed, strict=True)
        )


def assumed(clock: Clock, *more: tuple[str, str]) -> str:
    """Return what nobody said of bytes and seconds, as a sentence. "" if all was said.

    ``more``: what else was assumed, each with the option that says it otherwise.

    Examples
    --------
    >>> assumed(Clock(25e9, 5e-7, 0.0, ASSUMED, "--latency", ""))
    'Assumed: 25 GB/s per channel (set by --bandwidth, or by a machine)'
    """
    some = [
        (clock.bandwidth_source, f"{rate(clock.bytes_per_second)} per channel", "--bandwidth"),
        (clock.latency_source, f"{seconds(500e-9)} per channel", "--latency"),
    ]
    said = [(what, option) for source, what, option in some if source == ASSUMED]
    said += more
    if not said:
        return ""
    whats, options = (listed(words) for words in zip(*said, strict=True))
    return f"Assumed: {whats} (set by {options}, or by a machine)"


def clock_of(question: Timing, network: Topology, machine: Machine | None) -> Clock:
    """Return the bytes and seconds of a network: options, else its machine's, else its file's.

    A bandwidth is that of channels of bandwidth 1, the reference: where a file says of cables that
    some are slower, they keep their share of it. A latency is that of a cycle, of which channels
    have one unless a file says more. If a file or a machine says times, it is that of every
    channel instead. A machine's overhead is its own, or half of the start-up time of its longest
    messages, which has both ends.

    Raises
    ------
    InputError
        If no bandwidth is known, or an option is no rate or time.

    Examples
    --------
    >>> from netloom.questions.fields import Timing
    >>> from netloom.topology import topology
    >>> net = topology("fat-tree:4x2")
    >>> found = clock_of(Timing(bandwidth="200Gb/s", latency="600ns"), net, None)
    >>> found.bytes_per_second, found.latency_seconds, found.overhead_seconds
    (25000000000.0, 6e-07, 0.0)
    >>> clock_of(Timing(), net, None)
    Traceback (most recent call last):
        ...
    netloom.InputError: bandwidth: found none for fat-tree:4x2; expected a rate such as \
200Gb/s, a machine, or a file of the network that says rates
    """
    found = known_clock(question, network, machine)
    if found is None:
        raise InputError("bandwidth", f"none for {network.name}", RATES)
    return found


def assumed_clock(question: Timing, network: Topology, machine: Machine | None) -> Clock:
    """Return what ``clock_of`` does. A bandwidth and a latency that nothing says are assumed.

    Examples
    --------
    >>> from netloom.questions.fields import Timing
    >>> from netloom.topology import topology
    >>> found = assumed_clock(Timing(latency="1us"), topology("ring:4"), None)
    >>> found.bytes_per_second, found.bandwidth_source, found.latency_source
    (25000000000.0, 'assumed', '--latency')
    """
    silent = question.bandwidth is None and _bandwidth(question, network, machine) is None
    if silent:
        question = question.model_copy(update={"bandwidth": ASSUMED_BANDWIDTH})
    found = clock_of(question, network, machine)
    if silent:
        found = replace(found, bandwidth_source=ASSUMED)
    if found.latency_source:
        return found
    late = clock_of(question.model_copy(update={"latency": ASSUMED_LATENCY}), network, machine)
    return replace(found, latency_seconds=late.latency_seconds, latency_source=ASSUMED)


def known_clock(question: Timing, network: Topology, machine: Machine | None) -> Clock | None:
    """Return what ``clock_of`` does. None if nothing says a bandwidth, or asks for times.

    Raises
    ------
    InputError
        If an option is no rate or time, or one of time is given and no bandwidth is known.
    """
    bandwidth = _bandwidth(question, network, machine)
    delay = _latency(question, network, machine)
    overhead = _overhead(question, machine)
    if bandwidth is not None:
        sources = bandwidth[1], delay[1], overhead[1]
        return Clock(bandwidth[0], delay[0], overhead[0], *sources, network)
    if question.latency is None and question.overhead is None:
        return None
    raise InputError("bandwidth", f"none for {network.name}, beside a time", RATES)


def _bandwidth(
    question: Timing, network: Topology, machine: Machine | None
) -> tuple[float, str] | None:
    gbps = network.reference_gbps
    own = None if machine is None else machine.bandwidth_bytes_per_us * 1e6
    known = own if own is not None else None if gbps is None else gbps * 1e9 / 8
    whose = "the network's file" if machine is None else machine.name
    if question.bandwidth is None:
        return None if known is None else (known, whose)
    asked = parse_rate(question.bandwidth, where="bandwidth")
    instead = "" if known is None or known == asked else f", instead of {rate(known)}"
    return asked, f"--bandwidth{instead}{f' of {whose}' if instead else ''}"


def _latency(
    question: Timing, network: Topology, machine: Machine | None
) -> tuple[float | Floats, str]:
    if question.latency is not None:
        asked = parse_seconds(question.latency, where="latency")
        times = network.cycle_ns is not None
        return _per_cycle(asked, network) if times else asked, "--latency"
    if machine is not None and machine.latencies_us(network).any():
        return _per_cycle(machine.latencies_us(network) * 1e-6, network), machine.name
    if network.cycle_ns is not None:
        return network.cycle_ns * 1e-9, "the network's file"
    return 0.0, ""


def _overhead(question: Timing, machine: Machine | None) -> tuple[float, str]:
    if question.overhead is not None:
        return parse_seconds(question.overhead, where="overhead"), "--overhead"
    if machine is not None and machine.overhead_us is not None:
        return machine.overhead_us * 1e-6, machine.name
    if machine is not None and machine.message_costs:
        startup = machine.message_costs[-1].startup_us
        return startup * 0.5e-6, f"half of the start-up time of {machine.name}"
    return 0.0, ""


def _per_cycle(each: ArrayLike, network: Topology) -> float | Floats:
    """Return seconds of each channel as seconds of a cycle: one number where all are alike."""
    found: Floats = np.asarray(each, np.float64) / np.maximum(network.channel_cycles, 1)
    alike = len(found) and (found == found[0]).all()
    return float(found[0]) if alike else found


def _or_none(what: str, value: str, source: str) -> str:
    nothing = value == seconds(0.0) and not source
    return f"no {what}" if nothing else f"{what} {value}"
