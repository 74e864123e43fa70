"""Named machines: a network, the speed of its channels and, where published, of its messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import parse_sides, split_spec
from netloom.base.units import rate
from netloom.machines.links import LinkClass, channels_between, said_of_channels, with_channels
from netloom.simulation.network.routers import Router, router
from netloom.topology import topology
from netloom.topology.rates import MOST_CYCLES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats
    from netloom.machines.machine_files import MachineText
    from netloom.topology import Topology
    from netloom.workload.programs.node_costs import NodeCosts

T = TypeVar("T")

SIDED = ("mesh", "torus", "cube", "line", "ring")
"""Networks that a machine may have with other sides."""

DATA = Path(__file__).with_name("data")
"""The files of named machines."""

OF_FILE = "machine"
"""The name before a user's own machine file, with a colon."""


@dataclass(frozen=True)
class MessageCost:
    """Time of a message of at most ``up_to_bytes``: startup_us + per_byte_us × its bytes.

    Attributes
    ----------
    up_to_bytes
        Largest message that this line holds for. Infinite in the last.
    startup_us
        α, microseconds that every message costs.
    per_byte_us
        β, microseconds a byte.
    """

    up_to_bytes: float
    startup_us: float
    per_byte_us: float


@dataclass(frozen=True)
class Machine:
    """A machine by name. ``machine`` makes one. Figures that are not public are left out.

    Attributes
    ----------
    name, full_name
        The name in specs (``machine:FILE`` of a user's own), and the one that people know.
    topology
        Spec string of its network. ``network`` builds it.
    bandwidth_bytes_per_us
        Bytes per microsecond (MB/s) that one channel, that is, one direction of a link, carries. If
        channels differ, it is that of a channel of bandwidth 1.
    duplex
        ``full`` where both directions of a link carry that much at once, ``half`` where they
        take turns on it.
    ties
        The way of packets under adaptive routing that are half-way round a ring: ``either``, or
        ``+``, the growing one only. ``routing`` makes it part of a routing's name.
    source, notes
        Where the figures come from, and what to know before relying on them.
    flit_bytes
        Bytes that a channel carries in one cycle, or 1 if the machine's own is not public, so
        that a cycle is the time of one byte. ``with_flit_bytes`` makes a machine of other flits.
    hop_us
        Microseconds for the head of a message to cross one node, that is, a router and the channel
        behind it: the latency of a channel. 0 where it is not public.
    overhead_us
        Microseconds that a processor takes at each end of a message, or None if unknown.
    links
        Classes of links with another bandwidth or latency. The last one that matches a channel
        holds.
    packet_bytes
        Most bytes of a packet, or None if it is not public.
    message_costs
        Time of a message by its size, smallest first, or empty if it is not public.
    router
        The simulator's router that is closest to the machine's, if enough about that is public.
        ``notes`` says what is approximated.

    Examples
    --------
    >>> machine("symult2010").bandwidth_bytes_per_us
    20
    """

    name: str
    full_name: str
    topology: str
    bandwidth_bytes_per_us: float
    duplex: Literal["full", "half"]
    source: str
    notes: str
    flit_bytes: float = 1
    hop_us: float = 0
    packet_bytes: float | None = None
    message_costs: tuple[MessageCost, ...] = ()
    router: Router | None = None
    overhead_us: float | None = None
    links: tuple[LinkClass, ...] = ()
    ties: Literal["either", "+"] = "either"

    def routing(self, asked: T) -> T | str:
        """Return a routing as the machine has it: adaptive ones with its rule of ties.

        Examples
        --------
        >>> machine("bluegene-p").routing("adaptive"), machine("bluegene-p").routing("xyz")
        ('adaptive:ties=+', 'xyz')
        """
        ways = self.ties != "either" and asked in ("adaptive", "adaptive-sticky-escape")
        return f"{asked}:ties={self.ties}" if ways else asked

    @property
    def cycle_us(self) -> float:
        """Microseconds in which a channel carries one flit: the one definition of a cycle."""
        return self.flit_bytes / self.bandwidth_bytes_per_us

    def with_flit_bytes(self, flit_bytes: float | None) -> Machine:
        """Return the machine with flits of so many bytes: as fast, with cycles of another length.

        None leaves it as it is.

        Examples
        --------
        >>> tpu = machine("tpu-v4")
        >>> tpu.cycle_us, tpu.with_flit_bytes(32).cycle_us
        (2e-05, 0.00064)
        """
        return self if flit_bytes is None else replace(self, flit_bytes=flit_bytes)

    @property
    def wraps(self) -> tuple[bool, ...]:
        """Whether each dimension of its kind of network closes into a ring, however short."""
        kind, sides = split_spec(self.topology)
        rings = kind in ("torus", "ring")
        return tuple(rings or side.endswith("w") for side in sides.partition("/")[0].split("x"))

    def network(self) -> Topology:
        """Return its network, which is built once, with the rates and latencies of its links.

        Raises
        ------
        InputError
            If there is no such network, or it has no links of such a class.

        Examples
        --------
        >>> machine("symult2010").network()
        <mesh:12x12: 144 nodes, 528 directed channels>
        """
        return self._network

    @cached_property
    def _network(self) -> Topology:
        return self.rated(topology(self.topology))

    def rated(self, network: Topology) -> Topology:
        """Return the machine's network, or what of it works, with the machine's rates and times.

        Bandwidths are relative to ``bandwidth_bytes_per_us``, latencies in cycles of ``cycle_us``,
        rounded and at least 1. A channel's latency contains the cycles of the router that it
        leaves, which the simulator adds. ``latencies_us`` has the exact ones.

        Raises
        ------
        InputError
            If the network has no links of such a class, or some latency is too many cycles.
        """
        whole, where = network.whole, f"machine '{self.name}'"
        base = self.bandwidth_bytes_per_us
        said = said_of_channels(network, self.links, "bandwidth_bytes_per_us", np.nan, where)
        relative = np.where(np.isnan(said), whole.channel_bandwidth, said / base)
        cycles, delays, cycle_ns = whole.channel_cycles, self._latencies_us(network), None
        if delays.any():
            cycles = np.maximum(self._in_cycles(whole, delays), 1).astype(np.int32)
            cycle_ns = self.cycle_us * 1e3
        same = np.array_equal(relative, whole.channel_bandwidth)
        same = same and np.array_equal(cycles, whole.channel_cycles)
        units = {"reference_gbps": base * 8e-3, "cycle_ns": cycle_ns}
        if same and all(getattr(network, name) == unit for name, unit in units.items()):
            return network
        return with_channels(network, relative, cycles, **units)

    def with_flits(self, network: Topology, flit_bytes: float) -> tuple[Machine, Topology]:
        """Return the machine with flits of so many bytes, and its network with cycles to match.

        If the machine's router and channels of one cycle take its latency exactly, they are its
        model of a hop, and stay so with cycles of another length.
        """
        other = self.with_flit_bytes(flit_bytes)
        modelled = self._in_cycles(network.whole, self._latencies_us(network)) == 1
        return other, network if modelled.all() else other.rated(network)

    def latencies_us(self, network: Topology) -> Floats:
        """Return the latency of each channel of its network, or of what of it works, exactly.

        float64[num_channels], µs: ``hop_us``, or what the last of its ``links`` says.

        Examples
        --------
        >>> symult = machine("symult2010:2x2")
        >>> symult.latencies_us(symult.network())
        array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
        """
        return self._latencies_us(network)[network.whole_channel]

    def _latencies_us(self, network: Topology) -> Floats:
        where = f"machine '{self.name}'"
        return said_of_channels(network, self.links, "latency_us", self.hop_us, where)

    def _in_cycles(self, network: Topology, delays: Floats) -> Floats:
        """Return latencies in cycles, without those of the router that each channel leaves."""
        own = self.router or Router()
        channel, many = np.arange(network.num_channels), network.num_network_channels
        inside, injects = channel < many, (channel >= many) & (channel < many + network.num_ports)
        cycles = np.rint(delays / self.cycle_us)
        if cycles.max(initial=0) > MOST_CYCLES:
            found = f"a latency of {cycles.max():.0f} cycles, flits of {self.flit_bytes:g} bytes"
            wanted = f"at most {MOST_CYCLES} cycles: larger flit_bytes"
            raise InputError(f"machine '{self.name}'", found, wanted)
        cycles -= np.where(injects, 0, own.router_cycles)
        cycles[inside] = np.rint(cycles[inside] / max(own.channel_cycles, 1))
        return cycles

    def message_time_us(self, message_bytes: ArrayLike, hops: ArrayLike = 0) -> Floats:
        """Return the time of a message on an idle machine, end to end, in microseconds.

        α + βL with the α and β of its size, plus ``hop_us`` for every hop after the first, which
        is within α: start-up times are measured between neighbours.

        Parameters
        ----------
        message_bytes
            Message length, at least 0, scalar or array.
        hops
            Path length, at least 0, scalar or array. The two broadcast.

        Raises
        ------
        InputError
            If the machine has no ``message_costs``, or an argument is negative.

        Examples
        --------
        >>> machine("symult2010").message_time_us([256, 4096]).round(2)
        array([225.67, 839.35])
        """
        if not self.message_costs:
            raise InputError(
                f"machine '{self.name}'", "no published start-up times", "one with message_costs"
            )
        length = np.asarray(message_bytes, dtype=np.float64)
        path = np.asarray(hops, dtype=np.float64)
        for field, given in (("message_bytes", length), ("hops", path)):
            if not np.all(given >= 0):
                raise InputError(field, str(given.min()), "at least 0")
        limits, startup, per_byte = np.array(
            [(cost.up_to_bytes, cost.startup_us, cost.per_byte_us) for cost in self.message_costs]
        ).T
        line = np.searchsorted(limits, length)
        time: Floats = startup[line] + per_byte[line] * length
        return time + self.hop_us * np.maximum(path - 1, 0)

    def __repr__(self) -> str:
        speed = f"{rate(self.bandwidth_bytes_per_us * 1e6)} per channel ({self.duplex} duplex)"
        return f"<{self.name}: {self.topology}, {speed}>"


@cache
def machine_names() -> tuple[str, ...]:
    """Return the names that ``machine`` knows, sorted.

    Examples
    --------
    >>> machine_names()
    ('bluegene-p', 'iwarp', 'symult2010', 'tofu-d', 'tpu-v4')
    """
    return tuple(sorted(each.stem for each in DATA.glob("*.toml")))


def names_machine(spec: str) -> bool:
    """Return whether a spec is that of a machine: its name is known, or it names a machine file.

    Examples
    --------
    >>> names_machine("tpu-v4:4x4x4"), names_machine("machine:my.toml"), names_machine("mesh:4x4")
    (True, True, False)
    """
    name, _ = split_spec(spec)
    return name == OF_FILE or name in machine_names()


def machine(spec: str) -> Machine:
    """Return the machine that ``spec`` names: ``NAME``, or ``NAME:8x8`` for other sides.

    ``machine:FILE`` is a machine of one's own, described in a file (docs/machines.md), and
    ``machine:FILE:8x8`` one with other sides. Other sides make the same kind of network, open or
    wrapped in each dimension as the default one is.

    Raises
    ------
    InputError
        If the name is not known, or the sides are none, too many or too few, or naming the file,
        the line and the key that is wrong.

    Examples
    --------
    >>> machine("symult2010:8x8")
    <symult2010: mesh:8x8, 20 MB/s per channel (half duplex)>
    """
    name, argument = split_spec(spec)
    if name == OF_FILE:
        return _of_file(argument, spec)
    if name not in machine_names():
        wanted = f"one of {', '.join(machine_names())}, or {OF_FILE}:FILE"
        raise InputError(f"machine '{spec}'", f"'{name}'", wanted)
    found = _read(name)
    return _with_sides(found, argument, spec) if ":" in spec else found


def _of_file(argument: str, spec: str) -> Machine:
    """Return the machine of a file, checked against its network."""
    from netloom.machines.machine_files import read_machine

    path, sides = argument, ""
    behind = re.fullmatch(r"(.+):([\dx]+)", argument, re.ASCII)
    if behind and not isfile(argument):  # noqa: PTH113
        path, sides = behind.groups()
    if not path:
        raise InputError(f"machine '{spec}'", "no file", f"{OF_FILE}:FILE.toml")
    read = read_machine(path)
    try:
        network = topology(read.said.topology)
    except InputError as error:
        where = f"{read.where('topology')}, {error.where}"
        raise InputError(where, error.found, error.wanted) from None
    for place, each in enumerate(read.said.links):
        channels_between(network, each.between, read.where("links", place, "between"))
    found = _described(read, f"{OF_FILE}:{path}", network)
    found = _with_sides(found, sides, spec) if sides else found
    found.network()
    return found


def _with_sides(found: Machine, argument: str, spec: str) -> Machine:
    kind, default = split_spec(found.topology)
    if kind not in SIDED:
        raise InputError(spec, f"sides of {found.topology}", f"none: {', '.join(SIDED)} have sides")
    sides, wraps = parse_sides(argument, where=spec), found.wraps
    if len(sides) != len(wraps):
        raise InputError(spec, f"{len(sides)} sides", f"{len(wraps)}, as in {found.topology}")
    marks = [
        f"{side}{'w' * (wrap and kind == 'cube')}" for side, wrap in zip(sides, wraps, strict=True)
    ]
    _, slash, hosts = default.partition("/")
    return replace(found, topology=f"{kind}:{'x'.join(marks)}{slash}{hosts}")


def node_costs(machine: Machine | None) -> NodeCosts:
    """Return what messages cost at the nodes of a machine, from its published start-up times.

    The first line of its ``message_costs`` holds for a single packet, the last for several.

    Raises
    ------
    InputError
        If it has none, or there is no machine.

    Examples
    --------
    >>> round(float(node_costs(machine("symult2010")).message_us(4096)), 1)
    839.3
    """
    from netloom.workload.programs.node_costs import NodeCosts

    if machine is None or not machine.message_costs or machine.packet_bytes is None:
        found = "a network" if machine is None else f"machine '{machine.name}'"
        wanted = "a machine with start-up times and packets, such as symult2010:12x12; or costs"
        raise InputError("on", f"{found} without start-up times", wanted)
    one, several = machine.message_costs[0], machine.message_costs[-1]
    return NodeCosts(
        alpha_us=several.startup_us,
        packet_bytes=int(machine.packet_bytes),
        packet_us=machine.packet_bytes * several.per_byte_us,
        byte_us=one.per_byte_us,
        cycle_us=machine.cycle_us,
        flit_bytes=int(machine.flit_bytes),
    )


@cache
def _read(name: str) -> Machine:
    from netloom.machines.machine_files import MachineText

    text = Path(DATA, f"{name}.toml").read_text(encoding="utf-8")
    return _described(MachineText(f"{name}.toml", text), name)


def _described(read: MachineText, name: str, network: Topology | None = None) -> Machine:
    """Return the machine that a file describes. The network is looked at where it says rates."""
    from netloom.machines.machine_files import whole

    said = read.said
    links = tuple(LinkClass(each.between, each.bandwidth, each.latency) for each in said.links)
    costs = (MessageCost(each.up_to, each.startup, each.per_byte) for each in said.message_costs)
    for place, each in enumerate(links):
        if each.bandwidth_bytes_per_us is each.latency_us is None:
            where, wanted = read.where("links", place), "a bandwidth, a latency or both"
            raise InputError(where, f"nothing of the links between {each.words}", wanted)
    return Machine(
        name=name,
        full_name=said.name or name,
        topology=said.topology,
        bandwidth_bytes_per_us=whole(_reference(read, links, network)),
        duplex=said.duplex,
        ties=said.ties,
        source=said.source,
        notes=said.notes,
        flit_bytes=said.flit_bytes,
        hop_us=said.latency,
        packet_bytes=said.packet_bytes,
        message_costs=tuple(costs),
        router=None if said.router is None else _router(read),
        overhead_us=said.overhead,
        links=links,
    )


def _router(read: MachineText) -> Router:
    """Return the router of a file: fields, and perhaps the preset that they change."""
    fields = dict(read.said.router or {})
    preset = fields.pop("preset", "three-stage")
    try:
        return router(str(preset), **fields)
    except InputError as error:
        raise InputError(
            f"{read.where('router')} {error.where}", error.found, error.wanted
        ) from None
    except TypeError:
        found = ", ".join(f"{key} = {value!r}" for key, value in fields.items())
        raise InputError(read.where("router"), found, "numbers and words") from None


def _reference(read: MachineText, links: tuple[LinkClass, ...], network: Topology | None) -> float:
    """Return the bytes/µs of bandwidth 1: the file's, its network's, or that of most host ports."""
    if read.said.bandwidth is not None:
        return read.said.bandwidth
    where, wanted = read.where("bandwidth"), "a rate such as 200Gb/s"
    if network is None:
        raise InputError(where, "none", wanted)
    if network.reference_gbps is not None:
        return network.reference_gbps * 125
    rates = said_of_channels(network, links, "bandwidth_bytes_per_us", np.nan, where)
    unsaid = np.isnan(rates)
    if unsaid.any():
        channel = network.channel_name(int(unsaid.argmax()))
        raise InputError(where, f"none, for {channel} for example", wanted)
    of_ports = rates[network.num_network_channels :] if network.ports_listed else rates
    known, counts = np.unique(of_ports, return_counts=True)
    return float(known[np.argmax(counts)])
