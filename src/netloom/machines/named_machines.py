"""Named machines: a network, the speed of its channels and, where published, of its messages."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.errors import InputError
from netloom.simulation.network.routers import Router
from netloom.spec import parse_sides, split_spec
from netloom.topology import topology
from netloom.workload.programs.node_costs import NodeCosts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from netloom.topology import Topology


@dataclass(frozen=True)
class MessageCost:
    """Time of a message of at most ``up_to_bytes``: startup_us + per_byte_us × its bytes.

    Attributes
    ----------
    up_to_bytes
        Largest message that this line holds for; infinite in the last.
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
    """A machine by name; ``machine`` makes one. Figures that are not public are left out.

    Attributes
    ----------
    name, full_name
        The name in specs, and the one that people know.
    topology
        Spec string of its network; ``network`` builds it.
    bandwidth_bytes_per_us
        Bytes a microsecond (MB/s) that one channel, that is, one direction of a link, carries.
    duplex
        ``full`` where both directions of a link carry that much at once, ``half`` where they
        take turns on it.
    source, notes
        Where the figures come from, and what to know before relying on them.
    flit_bytes
        Bytes that a channel carries in one cycle; 1 where the machine's own is not public, so
        that a cycle is the time of one byte. ``with_flit_bytes`` makes a machine of other flits.
    hop_us
        Microseconds for the head of a message to cross one node; 0 where it is not public.
    packet_bytes
        Most bytes of a packet; None where it is not public.
    message_costs
        Time of a message by its size, smallest first; empty where it is not public.
    router
        The simulator's router that comes closest to the machine's, where enough of that is public;
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
        return tuple(kind == "torus" or side.endswith("w") for side in sides.split("x"))

    def network(self) -> Topology:
        """Return its network, which is built once.

        Examples
        --------
        >>> machine("symult2010").network()
        <mesh:12x12: 144 nodes, 528 directed channels>
        """
        return self._network

    @cached_property
    def _network(self) -> Topology:
        return topology(self.topology)

    def message_time_us(self, message_bytes: ArrayLike, hops: ArrayLike = 0) -> NDArray[np.float64]:
        """Return the time of a message on an idle machine, end to end, in microseconds.

        α + βL with the α and β of its size, plus ``hop_us`` for every hop after the first, which
        is within α: start-up times are measured between neighbours.

        Parameters
        ----------
        message_bytes
            Message length, at least 0, scalar or array.
        hops
            Path length, at least 0, scalar or array; the two broadcast.

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
        time: NDArray[np.float64] = startup[line] + per_byte[line] * length
        return time + self.hop_us * np.maximum(path - 1, 0)

    def __repr__(self) -> str:
        speed = f"{self.bandwidth_bytes_per_us:g} bytes/µs a channel ({self.duplex} duplex)"
        return f"<{self.name}: {self.topology}, {speed}>"


@cache
def machine_names() -> tuple[str, ...]:
    """Return the names that ``machine`` knows, sorted.

    Examples
    --------
    >>> machine_names()
    ('bluegene-p', 'iwarp', 'symult2010', 'tofu-d', 'tpu-v4')
    """
    found = (entry.name for entry in files("netloom.machines").joinpath("data").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def machine(spec: str) -> Machine:
    """Return the machine that ``spec`` names: ``NAME``, or ``NAME:8x8`` for other sides.

    Other sides make the same kind of network, open or wrapped in each dimension as the default
    one is.

    Raises
    ------
    InputError
        If the name is not known, or the sides are none, too many or too few.

    Examples
    --------
    >>> machine("symult2010:8x8")
    <symult2010: mesh:8x8, 20 bytes/µs a channel (half duplex)>
    """
    name, argument = split_spec(spec)
    if name not in machine_names():
        raise InputError(f"machine '{spec}'", f"'{name}'", f"one of {', '.join(machine_names())}")
    found = _read(name)
    if ":" not in spec:
        return found
    sides, wraps = parse_sides(argument, where=spec), found.wraps
    if len(sides) != len(wraps):
        raise InputError(spec, f"{len(sides)} sides", f"{len(wraps)}, as in {found.topology}")
    kind, _ = split_spec(found.topology)
    marks = [
        f"{side}{'w' * (wrap and kind == 'cube')}" for side, wrap in zip(sides, wraps, strict=True)
    ]
    return replace(found, topology=f"{kind}:" + "x".join(marks))


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
    text = files("netloom.machines").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
    fields = tomllib.loads(text)
    costs = tuple(MessageCost(**cost) for cost in fields.pop("message_costs", []))
    stages = fields.pop("router", None)
    router = None if stages is None else Router(**stages)
    return Machine(name=name, **fields, message_costs=costs, router=router)
