"""Machines by name and from files: networks, classes of links, and units in bytes and seconds.

A machine is a network, the speed of its channels and, where published, of its messages. It is one
that netloom names, or one that a user describes in TOML, which is checked key by key. Classes of
links say which channels a machine's words mean. A ``Clock`` says how many bytes and seconds the
units of a network are: as asked, else as a machine or file says.

A bandwidth is that of channels of bandwidth 1, the reference: where a file says of cables that some
are slower, they keep their share of it. A latency is that of a cycle, of which channels have one
unless a file says more. If a file or a machine says times, it is that of every channel instead. A
machine's overhead is its own, or half of the start-up time of its longest messages, which has both
ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from math import inf, isnan, nan
from os.path import isfile
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field, InstanceOf, ValidationError

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure, unseen
from netloom.base.spec import parse_sides, split_spec
from netloom.base.textfiles import find_lines, read_text
from netloom.base.units import parse_rate, parse_seconds, rate, seconds
from netloom.base.words import listed, or_near, percent
from netloom.machines.tables import (
    Bytes,
    Computer,
    ErrorShare,
    LinkClass,
    MessageCost,
    Protocol,
    Rate,
    Share,
    Table,
    Time,
    router_of,
    whole,
)
from netloom.simulation.network.routers import Router
from netloom.topology import Topology, topology
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape
from netloom.topology.cubes import Cube
from netloom.topology.graph import MOST_CYCLES
from netloom.topology.inside import box, with_computers
from netloom.topology.parse import at_computers

Late: TypeAlias = float | Floats

T = TypeVar("T")


# -- classes of links ------------------------------------------------------------------------------


PATTERNS = 'two patterns of names such as ["leaf*", "spine*"]'


def link_classes(network: Topology) -> dict[str, Bools]:
    """Return the words for classes of channels that a network knows, bool[num_channels] each.

    ``routers`` are the channels between routers, ``hosts`` those of hosts, which direct networks do
    not list, and ``inside`` those inside computers. Dragonflies know ``local`` and ``global``,
    those between groups. Fat trees ``levels 1-2``, where level 1 has the hosts, and so on. Cubes
    and HyperX ``dimension 0``, the first side of their spec, and so on. Of a network with broken
    parts it is that of the whole.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> {word: int(of.sum()) for word, of in link_classes(topology("leaf-spine:2x1x4")).items()}
    {'routers': 4, 'hosts': 16, 'levels 1-2': 4}
    >>> list(link_classes(topology("torus:4x4"))), list(link_classes(topology("dragonfly:1x2x1")))
    (['routers', 'dimension 0', 'dimension 1'], ['routers', 'hosts', 'local', 'global'])
    """
    whole = network.whole
    inside = whole.num_network_channels
    routers, family = whole.routers, whole.family or whole.routers.family
    source, target = routers.channel_source, routers.channel_target
    ports = np.arange(whole.num_channels) >= inside
    ports[:inside] = whole.card_channels
    found = {"routers": ~ports & ~whole.inner_channels}
    if whole.ports_listed:
        found["hosts"] = ports & ~whole.inner_channels
    if whole.inner_channels.any():
        found["inside"] = whole.inner_channels
    source, target = whole.switch_of[source], whole.switch_of[target]  # of cards their routers
    inner = {}  # the family's, of channels between routers
    if isinstance(routers, Cube):
        axis = np.repeat(np.arange(len(routers.sides)), 2 * routers.direction_channels)
        inner = {f"dimension {each}": axis == each for each in range(len(routers.sides))}
    elif isinstance(family, HyperXShape):
        ends = (np.unravel_index(end, family.sides) for end in (source, target))
        for dimension, (one, other) in enumerate(zip(*ends, strict=True)):
            inner[f"dimension {dimension}"] = one != other
    elif isinstance(family, DragonflyShape):
        local = source // family.routers == target // family.routers
        inner = {"local": local & (source != target), "global": ~local}
    elif isinstance(family, TreeShape):
        level = np.repeat(
            np.arange(1, family.levels + 1),
            [family.width(level) for level in range(1, family.levels + 1)],
        )
        if family.router_at is not None:
            level[family.router_at] = level.copy()
        lower = np.minimum(level[source], level[target])
        lower[source == target] = 0  # between a card and its router
        cards = int(family.sharing > 1)  # which are a level of routers
        inner = {
            f"levels {each}-{each + 1}": lower == each + cards
            for each in range(1, family.levels - cards)
        }
    for word, members in inner.items():
        found[word] = np.append(members, np.zeros(whole.num_channels - inside, np.bool_))
    return found


def channels_between(network: Topology, between: str | tuple[str, str], where: str) -> Bools:
    """Return which channels a class of links means, both directions, bool[whole.num_channels].

    Raises
    ------
    InputError
        Naming ``where``, if the network knows no such class, or no channel has such names.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x4")
    >>> int(channels_between(net, ("leaf0", "spine*"), "links").sum())
    4
    """
    whole = network.whole
    if isinstance(between, str):
        known = link_classes(whole)
        if between in known:
            return known[between]
        near = get_close_matches(between, known, n=1)
        wanted = f"{near[0]}, perhaps" if near else f"{', '.join(known)}, or {PATTERNS}"
        raise InputError(where, f"'{between}', of which {whole.name} has no links", wanted)
    names = [whole.name_of(vertex) for vertex in range(whole.num_ends)]
    one, other = (np.array([fnmatchcase(name, each) for name in names]) for each in between)
    source, target = whole.source_end, whole.target_end
    found: Bools = (one[source] & other[target]) | (other[source] & one[target])
    if not found.any():
        some = ", ".join(dict.fromkeys((names[0], names[whole.router_vertex(0)], names[-1])))
        wanted = f"names of hosts and routers as {whole.name} has them, such as {some}"
        raise InputError(where, f"no link between '{between[0]}' and '{between[1]}'", wanted)
    return found


def said_of_channels(
    network: Topology, links: Sequence[LinkClass], what: str, others: Any, where: str
) -> Floats:
    """Return what link classes say of each channel, float64[whole.num_channels].

    Parameters
    ----------
    links
        Of several classes that mean a channel the last holds.
    what
        The field of ``LinkClass``.
    others
        What holds where no class says anything: a number, or one per channel.
    where
        For messages.

    Raises
    ------
    InputError
        As ``channels_between`` does.
    """
    found = np.array(np.broadcast_to(others, network.whole.num_channels), np.float64)
    for each in links:
        value = getattr(each, what)
        if value is not None:
            found[channels_between(network, each.between, where)] = value
    return found


def with_channels(network: Topology, bandwidth: Floats, cycles: Ints, **units: Any) -> Topology:
    """Return a network whose channels have these bandwidths and latencies, parts of it as well.

    Parameters
    ----------
    bandwidth, cycles
        float64[whole.num_channels] and int32[whole.num_channels].
    units
        ``reference_gbps`` and ``cycle_ns``.
    """
    kept, whole = network.whole_channel, network.unbroken
    if whole is not None:
        units["unbroken"] = with_channels(whole, bandwidth, cycles, **units)
    return replace(network, channel_bandwidth=bandwidth[kept], channel_cycles=cycles[kept], **units)


# -- machine files ---------------------------------------------------------------------------------


MOST_BYTES = 2**20
"""Most bytes of a machine file."""

OF_FILES = ("graph", "fabric")
"""Networks that a file describes."""

WANTED = "a machine file, .toml"


PROTOCOLS = Path(__file__).with_name("protocols.toml")
"""Protocols of libraries, by the library's name."""


def _protocols(given: Any) -> Any:
    """Return the rows of protocols. A library's name stands for its rows."""
    import tomllib

    known = tomllib.loads(PROTOCOLS.read_text(encoding="utf-8"))
    found = list[Any]()
    for each in [given] if isinstance(given, str) else given:
        if isinstance(each, str) and each not in known:
            raise InputError("", repr(each), f"rows, or one of {', '.join(known)}")
        found += known[each] if isinstance(each, str) else [each]
    return tuple(found)


class Machine(Table):
    """A machine by name. ``machine`` makes one. Figures that are not public are left out.

    Attributes
    ----------
    name, full_name
        The name in specs (``machine:FILE`` of a user's own), and the one that people know.
    topology
        Spec string of its network. ``network`` builds it. "" of a computer that stands alone. If
        there is a ``computer``, the hosts of the network are its cards.
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
        that a cycle is the time of one byte. ``with_flits`` makes a machine of other flits.
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
    efficiency
        Payload over what a channel carries. Times use it, bounds never do.
    adding_bytes_per_us, copy_bytes_per_us
        Bytes per microsecond that a rank adds, and that it reorders. None where they cost nothing.
    adding_start_us
        Microseconds that a rank takes to add a message, beside its bytes.
    start_us
        Microseconds that every collective takes to start.
    computer
        The inside of its computers. None where a computer is a host.
    protocols
        How its libraries run algorithms. In a file ``nccl`` and ``mscclpp`` stand for their rows.
    error
        How far measured times of collectives are from expected ones, by size, smallest first. Empty
        if nobody compared them.

    Examples
    --------
    >>> machine("symult2010").bandwidth_bytes_per_us
    20
    """

    name: str = Field("", alias="")
    full_name: str = Field("", alias="name")
    topology: str = ""
    bandwidth_bytes_per_us: Rate = Field(nan, alias="bandwidth")
    duplex: Literal["full", "half"] = "full"
    source: str = ""
    notes: str = ""
    flit_bytes: Bytes = 1
    hop_us: Time = Field(0.0, alias="latency")
    packet_bytes: Bytes | None = None
    message_costs: tuple[MessageCost, ...] = Field((), strict=False)
    router: Annotated[InstanceOf[Router] | None, BeforeValidator(router_of)] = None
    overhead_us: Time | None = Field(None, alias="overhead")
    links: tuple[LinkClass, ...] = Field((), strict=False)
    ties: Literal["either", "+"] = "either"
    efficiency: Share = 1.0
    adding_bytes_per_us: Rate | None = Field(None, alias="adding_rate")
    adding_start_us: Time = Field(0.0, alias="adding_start")
    copy_bytes_per_us: Rate | None = Field(None, alias="copy_rate")
    start_us: Time = Field(0.0, alias="start")
    computer: Computer | None = None
    protocols: Annotated[tuple[Protocol, ...], BeforeValidator(_protocols)] = ()
    error: tuple[ErrorShare, ...] = Field((), strict=False)

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
    def adding_inside(self) -> float:
        """Bytes/s of an all-reduce that switches of a computer add. 0 where they do not."""
        return ((self.computer and self.computer.adding_bytes_per_us) or 0.0) * 1e6

    @property
    def cycle_us(self) -> float:
        """Microseconds in which a channel carries one flit: the one definition of a cycle."""
        return self.flit_bytes / self.bandwidth_bytes_per_us

    @property
    def wired(self) -> str:
        """What it joins, in a few words: its network, or GPUs and cards of a computer alone."""
        if self.topology or self.computer is None:
            return self.topology
        return f"{self.computer.gpus} GPUs, {self.computer.cards} cards"

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
        return _network(self)

    def cabled(self) -> Topology:
        """Return its network without the rates and latencies of its links, but for those inside.

        Examples
        --------
        >>> machine("leaf-spine:2x2x8@dgx-h100").cabled()
        <leaf-spine:2x2x8@dgx-h100: 16 hosts, 6 routers, 8 directed channels>
        """
        if self.computer is None:
            return topology(self.topology)
        own = self.name.removeprefix(f"{OF_FILE}:")
        gpus, rate = self.computer.gpus, self.computer.inner_bytes_per_us
        inner = rate / self.bandwidth_bytes_per_us
        if not self.topology:
            return box(gpus, inner, name=self.name)
        name, cards = f"{self.topology}@{own}", self.computer.cards
        return with_computers(topology(self.topology), gpus, cards, inner, name=name)

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
        other = self.model_copy(update={"flit_bytes": flit_bytes})
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
        own, inside = self.router or Router(), network.num_network_channels
        cycles = np.rint(delays / self.cycle_us)
        if cycles.max(initial=0) > MOST_CYCLES:
            found = f"a latency of {cycles.max():.0f} cycles, flits of {self.flit_bytes:g} bytes"
            wanted = f"at most {MOST_CYCLES} cycles: larger flit_bytes"
            raise InputError(f"machine '{self.name}'", found, wanted)
        cycles -= cycles_of_routers(network, own)
        cycles[:inside] = np.rint(cycles[:inside] / max(own.channel_cycles, 1))
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
        return f"<{self.name}: {self.wired}, {speed}>"

    __str__ = __repr__


@lru_cache(maxsize=4)
def _network(machine: Machine) -> Topology:
    return machine.rated(machine.cabled())


class MachineText:
    """A machine file that is being read: its text, and where in it keys are.

    Attributes
    ----------
    path
        As messages call it.
    said
        What it says.
    """

    def __init__(self, path: str, text: str) -> None:
        import tomllib

        self.path = path
        try:
            tables = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(path, f"no TOML: {error}", "tables and 'key = value'") from None
        self._lines = find_lines(text)
        try:
            self.said = Machine.model_validate(tables)
        except ValidationError as error:
            raise self._refused(error) from None
        for key in ("message_costs", "error"):
            limits = [each.up_to_bytes for each in getattr(self.said, key)]
            if limits and (limits != sorted(set(limits)) or limits[-1] != inf):
                found = f"up_to of {', '.join(f'{each:g}' for each in limits)}"
                wanted = "rising sizes, and none in the last, which holds for all larger ones"
                raise InputError(self.where(key, len(limits) - 1), found, wanted)

    def where(self, *keys: str | int) -> str:
        """Return the file, line and name of a key: ``links``, 0, ``bandwidth``."""
        head, place, key = ("", 0, str(keys[0]))
        if len(keys) > 1 or (key, 0, "") in self._lines:
            numbers = [int(each) for each in keys if not isinstance(each, str)]
            names = [str(each) for each in keys[1:] if isinstance(each, str)]
            head, key, place = key, "".join(names[:1]), sum(numbers[:1])
        places = [(head, place, key), (head, place, ""), ("", 0, head)]
        line = next((self._lines[each] for each in places if each in self._lines), 1)
        said = " ".join(filter(None, (head and f"[{head}]", key)))
        return f"{self.path}:{line}: {said}"

    def _refused(self, error: ValidationError) -> InputError:
        # a name that is wrong is why another is missing
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        where = self.where(*first["loc"][:3])
        if first["type"] == "extra_forbidden":
            known = [*filter(None, _fields_of(first["loc"]))]
            near = get_close_matches(str(first["loc"][-1]), known, n=1)
            wanted = f"{near[0]}, perhaps" if near else ", ".join(known)
            return InputError(where, "no such key", wanted)
        if first["type"] == "missing":
            field = _fields_of(first["loc"])[str(first["loc"][-1])]
            return InputError(where, "nothing", field.description or "")
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, InputError):
            return InputError(f"{where} {cause.where}".strip(), cause.found, cause.wanted)
        wanted = first["msg"].removeprefix("Input should be ").replace("tuple", "list")
        return InputError(where, repr(first["input"]), wanted)


def _fields_of(loc: tuple[int | str, ...]) -> dict[str, Any]:
    """Return the fields of the table that a key is in, as files call them."""
    tables: dict[int | str, type[Table]] = {
        "links": LinkClass,
        "message_costs": MessageCost,
        "computer": Computer,
        "protocols": Protocol,
        "error": ErrorShare,
    }
    table = tables.get(loc[0], Machine) if len(loc) > 1 else Machine
    return {field.alias or name: field for name, field in table.model_fields.items()}


def network_file(path: Path) -> str:
    """Return the name of the file of a machine file's network, as it says it. "" if there is none.

    A file that is no machine file names none.
    """
    try:
        said = MachineText(str(path), read_text(path, wanted=WANTED, most_bytes=MOST_BYTES)).said
    except InputError:
        return ""
    kind, file = split_spec(said.topology)
    return file if kind in OF_FILES and (path.parent / file).is_file() else ""


def read_machine(path: str) -> MachineText:
    """Read a machine file. The file of its network is relative to its folder.

    Raises
    ------
    InputError
        Naming the file, the line and the key that is wrong, what was found and what would do.
    """
    text = MachineText(path, read_text(path, wanted=WANTED, most_bytes=MOST_BYTES))
    kind, file = split_spec(text.said.topology)
    if kind in OF_FILES and file:
        spec = f"{kind}:{Path(path).parent / file}"
        text.said = text.said.model_copy(update={"topology": spec})
    return text


# -- named machines --------------------------------------------------------------------------------


SIDED = ("mesh", "torus", "cube", "line", "ring", "folded")
"""Networks that a machine may have with other sides."""

DATA = Path(__file__).with_name("data")
"""The files of named machines."""

OF_FILE = "machine"
"""The name before a user's own machine file, with a colon."""


@cache
def machine_names() -> tuple[str, ...]:
    """Return the names that ``machine`` knows, sorted.

    Examples
    --------
    >>> machine_names()[:4]
    ('bluegene-p', 'dgx-a100', 'dgx-b200', 'dgx-h100')
    """
    return tuple(sorted(each.stem for each in DATA.glob("*.toml")))


def names_machine(spec: str) -> bool:
    """Return whether a spec is that of a machine: its name is known, or it names a machine file.

    Examples
    --------
    >>> names_machine("tpu-v4:4x4x4"), names_machine("machine:my.toml"), names_machine("mesh:4x4")
    (True, True, False)
    >>> names_machine("leaf-spine:2x2x8@dgx-h100"), names_machine("leaf-spine:2x2x8@8x8x9")
    (True, False)
    """
    name, _ = split_spec(spec)
    inside = at_computers(spec)[1]
    computers = inside and not re.fullmatch(r"[\dx.]*", inside)
    return name == OF_FILE or name in machine_names() or bool(computers)


def machine(spec: str) -> Machine:
    """Return the machine that ``spec`` names: ``NAME``, or ``NAME:8x8`` for other sides.

    ``machine:FILE`` is a machine of one's own, described in a file (docs/machines.md), and
    ``machine:FILE:8x8`` one with other sides. Other sides make the same kind of network, open or
    wrapped in each dimension as the default one is. ``SPEC@NAME`` and ``SPEC@FILE`` are a network
    whose hosts are the cards of a machine's computers.

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
    base, name = at_computers(spec)
    if name:
        return _computers(spec, base, name)
    name, argument = split_spec(spec)
    if name == OF_FILE and argument in machine_names() and not isfile(argument):  # noqa: PTH113
        name, spec = argument, argument
    if name in machine_names():
        found = _read(name)
        return _with_sides(found, argument, spec) if ":" in spec else found
    if name != OF_FILE:
        wanted = f"one of {', '.join(machine_names())}, or {OF_FILE}:FILE"
        raise InputError(f"machine '{spec}'", f"'{name}'", wanted)
    path, sides = argument, ""
    behind = re.fullmatch(r"(.+):([\dx]+)", argument, re.ASCII)
    if behind and not isfile(argument):  # noqa: PTH113
        path, sides = behind.groups()
    if not path:
        raise InputError(f"machine '{spec}'", "no file", f"{OF_FILE}:FILE.toml")
    return _of_file(read_machine(path), sides, spec)


def _computers(spec: str, base: str, name: str) -> Machine:
    """Return a network whose hosts are the cards of the computers of a machine."""
    if name in machine_names():
        read, own = MachineText(f"{name}.toml", _text(name)), name
    elif name.endswith(".toml") or isfile(name):  # noqa: PTH113
        read, own = read_machine(name), f"{OF_FILE}:{name}"
    else:
        known = [each for each in machine_names() if _read(each).computer is not None]
        wanted = or_near(name, known, f"numbers such as 8x8x9, a FILE.toml, {', '.join(known)}")
        raise InputError(f"machine '{spec}'", f"'{name}'", wanted)
    if read.said.computer is None:
        raise InputError(f"{read.path}: [computer]", "none", "a machine whose computers have GPUs")
    read.said = read.said.model_copy(update={"topology": base})
    return _of_file(read, "", spec, own)


def _of_file(read: MachineText, sides: str, spec: str, name: str = "") -> Machine:
    """Return the machine that a file describes, perhaps with other sides, if all of it fits."""
    said = read.said
    if not said.topology and said.computer is None:
        raise InputError(read.where("topology"), "nothing", "a network such as torus:4x4x4")
    try:
        network = topology(said.topology) if said.topology else None
        found = _described(read, name or f"{OF_FILE}:{read.path}", network)
        cabled = found.cabled()
    except InputError as error:
        if name or error.where.startswith(read.path):
            raise
        where = f"{read.where('topology')}, {error.where}"
        raise InputError(where, error.found, error.wanted) from None
    for place, each in enumerate(said.links):
        channels_between(cabled, each.between, read.where("links", place, "between"))
    found = _with_sides(found, sides, spec) if sides else found
    found.network()  # refuses what does not fit with its links
    return found


def _with_sides(found: Machine, argument: str, spec: str) -> Machine:
    kind, default = split_spec(found.topology)
    if kind not in SIDED:
        whose = found.topology or "one computer"
        raise InputError(spec, f"sides of {whose}", f"none: {', '.join(SIDED)} have sides")
    if kind == "folded":  # which may have any number, and say the sides of the mesh
        return found.model_copy(update={"topology": f"{kind}:{argument}"})
    sides, wraps = parse_sides(argument, where=spec), found.wraps
    if len(sides) != len(wraps):
        raise InputError(spec, f"{len(sides)} sides", f"{len(wraps)}, as in {found.topology}")
    marks = [
        f"{side}{'w' * (wrap and kind == 'cube')}" for side, wrap in zip(sides, wraps, strict=True)
    ]
    _, slash, hosts = default.partition("/")
    return found.model_copy(update={"topology": f"{kind}:{'x'.join(marks)}{slash}{hosts}"})


def _text(name: str) -> str:
    return Path(DATA, f"{name}.toml").read_text(encoding="utf-8")


@cache
def _read(name: str) -> Machine:
    return _described(MachineText(f"{name}.toml", _text(name)), name)


def _described(read: MachineText, name: str, network: Topology | None = None) -> Machine:
    """Return the machine that a file describes. The network is looked at where it says rates."""
    said = read.said
    for place, each in enumerate(said.links):
        if each.bandwidth_bytes_per_us is each.latency_us is each.efficiency is None:
            where, wanted = read.where("links", place), "a bandwidth, a latency or an efficiency"
            raise InputError(where, f"nothing of the links between {each.words}", wanted)
    # bytes/µs of bandwidth 1: the file's, its network's, or that of most host ports
    where, wanted = read.where("bandwidth"), "a rate such as 200Gb/s"
    if not isnan(said.bandwidth_bytes_per_us):
        reference = said.bandwidth_bytes_per_us
    elif network is None or said.computer is not None:
        raise InputError(where, "none", wanted)
    elif network.reference_gbps is not None:
        reference = network.reference_gbps * 125
    else:
        rates = said_of_channels(network, said.links, "bandwidth_bytes_per_us", np.nan, where)
        unsaid = np.isnan(rates)
        if unsaid.any():
            channel = network.channel_name(int(unsaid.argmax()))
            raise InputError(where, f"none, for {channel} for example", wanted)
        of_ports = rates[network.num_network_channels :] if network.ports_listed else rates
        known, counts = np.unique(of_ports, return_counts=True)
        reference = float(known[np.argmax(counts)])
    own = {"name": name, "full_name": said.full_name or name}
    return said.model_copy(update=own | {"bandwidth_bytes_per_us": whole(reference)})


# -- bytes and seconds -----------------------------------------------------------------------------


RATES = "a rate such as 200Gb/s, a machine, or a file of the network that says rates"

ASSUMED = "assumed"
"""Who says what a question, a machine and a file do not."""

ASSUMED_RATE, ASSUMED_LATENCY = 25e9, 500e-9
"""Bytes/s and seconds of a channel that are assumed."""

MOST_LATENCY = 512
"""Most cycles of a channel: its buffers hold as many flits."""


class Span(Figures):
    """The least and the largest of some values; 0 where there are none."""

    min: float
    max: float

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return it of some values."""
        some = values if len(values) else np.zeros(1)
        return cls(min=float(some.min()), max=float(some.max()))

    def said(self, of: Callable[[float], str]) -> str:
        """Return it in words, with what says a value."""
        least, most = of(self.min), of(self.max)
        return most if least == most else f"{least} to {most}"


class Costs(Figures):
    """What a collective or a message takes beside wires. Times use it, bounds never do.

    Attributes
    ----------
    efficiency
        Payload over what channels carry.
    adding_bytes_per_second, copy_bytes_per_second
        Of a rank that adds what it received, and of one that reorders blocks. None: in no time.
    start_seconds, adding_start_seconds
        Of a collective, and of a message that is added.
    share
        The efficiency: one number, or float64[num_channels].
    efficiency_source, adding_source, copy_source, start_source
        Where each comes from, in words. "" where nothing says it.
    """

    efficiency: Span = figure(default=Span(min=1.0, max=1.0))
    adding_bytes_per_second: float | None = figure(unit="bytes/s", default=None)
    copy_bytes_per_second: float | None = figure(unit="bytes/s", default=None)
    start_seconds: float = figure(unit="seconds", default=0.0)
    adding_start_seconds: float = figure(unit="seconds", default=0.0)
    efficiency_source: str = ""
    adding_source: str = ""
    copy_source: str = ""
    start_source: str = ""
    share: Late = unseen(default=1.0)

    @property
    def told(self) -> list[tuple[str, str]]:
        """What it says, in words, each with where it comes from."""
        share = self.efficiency.said(percent)
        adding, copied = (rate(each or inf) for each in self.rates)
        begun = self.adding_start_seconds
        after = f" after {seconds(begun)}" if begun else ""
        said = [
            (f"payload {share}", self.efficiency_source),
            (f"adding {adding}{after}", self.adding_source),
            (f"copying {copied}", self.copy_source),
            (f"start {seconds(self.start_seconds)}", self.start_source),
        ]
        return [each for each in said if each[1]]

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """Of adding and copying."""
        return self.adding_bytes_per_second, self.copy_bytes_per_second


class Clock(Figures):
    """How many bytes and seconds the units of a network are, and who says so.

    Attributes
    ----------
    bytes_per_second
        Of a channel of bandwidth 1.
    overhead_seconds
        Of each end of a message.
    bandwidth_source, latency_source, overhead_source
        Where each comes from, in words.
    latency_seconds
        Of a cycle of a channel's latency: one number, or float64[num_channels] where a machine's
        links have latencies of their own. Times ``channel_cycles`` it is that of each channel.
    """

    bytes_per_second: float = figure(unit="bytes/s")
    channel_bytes_per_second: Span = figure(unit="bytes/s")
    channel_latency_seconds: Span = figure(unit="seconds")
    overhead_seconds: float = figure(unit="seconds")
    bandwidth_source: str
    latency_source: str
    overhead_source: str
    costs: Costs | None = figure(default=None, optional=True)
    latency_seconds: Late = unseen()

    @classmethod
    def of(
        cls,
        network: Topology,
        bandwidth: tuple[float, str],
        latency: tuple[Late, str],
        overhead: tuple[float, str],
        costs: Costs | None = None,
    ) -> Self:
        """Return that of a network. Each value comes with who says so."""
        return cls(
            bytes_per_second=bandwidth[0],
            channel_bytes_per_second=Span.of(bandwidth[0] * network.channel_bandwidth),
            channel_latency_seconds=Span.of(latency[0] * network.channel_cycles),
            overhead_seconds=overhead[0],
            bandwidth_source=bandwidth[1],
            latency_source=latency[1],
            overhead_source=overhead[1],
            costs=costs,
            latency_seconds=latency[0],
        )

    @property
    def says_latency(self) -> bool:
        """Whether somebody says its latency."""
        return self.latency_source not in ("", ASSUMED)

    @property
    def words(self) -> str:
        """What it says, in one line. A source of several is said once.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> Clock.of(mesh(2, 2), (25e9, "--bandwidth"), (6e-7, "--latency"), (0.0, "")).words
        '25 GB/s per channel (--bandwidth), latency 600 ns (--latency), no overhead'
        >>> own = "machine:my.toml"
        >>> Clock.of(mesh(2, 2), (25e9, own), (6e-7, own), (1e-6, "")).words
        '25 GB/s per channel, latency 600 ns (machine:my.toml), overhead 1 µs'
        """
        latency = self.channel_latency_seconds.said(seconds)
        overhead = seconds(self.overhead_seconds)
        told = [
            (f"{self.channel_bytes_per_second.said(rate)} per channel", self.bandwidth_source),
            (_or_none("latency", latency, self.latency_source), self.latency_source),
            (_or_none("overhead", overhead, self.overhead_source), self.overhead_source),
        ]
        told += self.costs.told if self.costs else []
        followed = [*(source for _, source in told[1:]), ""]
        return ", ".join(
            f"{said} ({source})" if source and source != after else said
            for (said, source), after in zip(told, followed, strict=True)
        )

    def assumed(self, *more: tuple[str, str]) -> str:
        """Return what nobody said of bytes and seconds, as a sentence. "" if all was said.

        ``more``: what else was assumed, each with the option that says it otherwise.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> clock = Clock.of(mesh(2), (25e9, ASSUMED), (5e-7, "--latency"), (0.0, ""))
        >>> clock.assumed()
        'Assumed: 25 GB/s per channel (set by --bandwidth, or by a machine)'
        """
        some = [
            (self.bandwidth_source, f"{rate(self.bytes_per_second)} per channel", "--bandwidth"),
            (self.latency_source, f"{seconds(ASSUMED_LATENCY)} per channel", "--latency"),
        ]
        said = [(what, option) for source, what, option in some if source == ASSUMED]
        said += more
        if not said:
            return ""
        whats, options = (listed(words) for words in zip(*said, strict=True))
        return f"Assumed: {whats} (set by {options}, or by a machine)"


def clock_of(
    asked: Any, network: Topology, machine: Machine | None, *, assume: bool = False
) -> Clock:
    """Return the bytes and seconds of a network: as asked, else its machine's, or its file's.

    Parameters
    ----------
    asked
        What has ``bandwidth``, ``latency`` and ``overhead``, each None or with its unit.
    assume
        Whether a bandwidth and a latency that nothing says are assumed.

    Raises
    ------
    InputError
        If no bandwidth is known, or one of those asked for is no rate or time.

    Examples
    --------
    >>> from netloom.questions.fields import Timing
    >>> from netloom.topology import topology
    >>> net = topology("fat-tree:4x2")
    >>> found = clock_of(Timing(bandwidth="200Gb/s", latency="600ns"), net, None)
    >>> found.bytes_per_second, found.latency_seconds, found.overhead_seconds
    (25000000000.0, 6e-07, 0.0)
    >>> clock_of(Timing(latency="1us"), net, None, assume=True).bandwidth_source
    'assumed'
    >>> clock_of(Timing(), net, None)
    Traceback (most recent call last):
        ...
    netloom.InputError: bandwidth: found none for fat-tree:4x2; expected a rate such as \
200Gb/s, a machine, or a file of the network that says rates
    """
    found = known_clock(asked, network, machine, assume=assume)
    if found is None:
        raise InputError("bandwidth", f"none for {network.name}", RATES)
    return found


def known_clock(
    asked: Any, network: Topology, machine: Machine | None, *, assume: bool = False
) -> Clock | None:
    """Return what ``clock_of`` does. None if nothing says a bandwidth, or asks for times.

    Raises
    ------
    InputError
        If an option is no rate or time, or one of time is given and no bandwidth is known.
    """
    known = None if network.reference_gbps is None else network.reference_gbps * 1e9 / 8
    whose = "the network's file"
    if machine is not None:
        known, whose = machine.bandwidth_bytes_per_us * 1e6, machine.name
    bandwidth = None if known is None else (known, whose)
    if asked.bandwidth is not None:
        wanted = parse_rate(asked.bandwidth, where="bandwidth")
        instead = "" if known in (None, wanted) else f", instead of {rate(known)} of {whose}"
        bandwidth = wanted, f"--bandwidth{instead}"
    latency: tuple[Late, str] = (0.0, "")
    if asked.latency is not None:
        late = parse_seconds(asked.latency, where="latency")
        times = network.cycle_ns is not None
        latency = _per_cycle(late, network) if times else late, "--latency"
    elif machine is not None and machine.latencies_us(network).any():
        latency = _per_cycle(machine.latencies_us(network) * 1e-6, network), machine.name
    elif network.cycle_ns is not None:
        latency = network.cycle_ns * 1e-9, "the network's file"
    overhead = 0.0, ""
    if asked.overhead is not None:
        overhead = parse_seconds(asked.overhead, where="overhead"), "--overhead"
    elif machine is not None and machine.overhead_us is not None:
        overhead = machine.overhead_us * 1e-6, machine.name
    elif machine is not None and machine.message_costs:
        startup = machine.message_costs[-1].startup_us
        overhead = startup * 0.5e-6, f"half of the start-up time of {machine.name}"
    if assume:
        bandwidth = bandwidth or (ASSUMED_RATE, ASSUMED)
        latency = latency if latency[1] else (ASSUMED_LATENCY, ASSUMED)
    if bandwidth is not None:
        return Clock.of(network, bandwidth, latency, overhead, _costs_of(asked, network, machine))
    more = [asked.latency, asked.overhead, *(getattr(asked, name, None) for name in COST_FIELDS)]
    if all(each is None for each in more):
        return None
    raise InputError("bandwidth", f"none for {network.name}, beside a time or a share", RATES)


def _costs_of(asked: Any, network: Topology, machine: Machine | None) -> Costs | None:
    """Return what is taken beside wires: as asked, else as the machine says. None if nothing is.

    A question without such fields takes no account of a machine's.
    """
    found, sources = dict[str, Any](), dict[str, str]()
    if machine is not None:
        where, inside = f"machine '{machine.name}'", link_classes(network).get("inside")
        share = said_of_channels(network, machine.links, "efficiency", machine.efficiency, where)
        if machine.computer is not None and inside is not None:
            share[inside] = machine.computer.efficiency
        share = share[network.whole_channel]
        own = {
            "adding_rate": (machine.adding_bytes_per_us or 0.0) * 1e6,
            "copy_rate": (machine.copy_bytes_per_us or 0.0) * 1e6,
            "start": machine.start_us * 1e-6,
            "efficiency": share if (share < 1).any() else None,
        }
        found = {
            name: value for name, value in own.items() if hasattr(asked, name) and np.any(value)
        }
        sources = dict.fromkeys(found, machine.name)
    for name, read in COST_FIELDS.items():
        if (given := getattr(asked, name, None)) is not None:
            found[name], sources[name] = read(given, where=name), f"--{name.replace('_', '-')}"
    if not any(map(np.any, found.values())):
        return None
    share, adding = found.get("efficiency", 1.0), found.get("adding_rate")
    return Costs(
        efficiency=Span.of(np.atleast_1d(share)),
        adding_bytes_per_second=adding,
        copy_bytes_per_second=found.get("copy_rate"),
        start_seconds=found.get("start", 0.0),
        adding_start_seconds=machine.adding_start_us * 1e-6 if machine and adding else 0.0,
        efficiency_source=sources.get("efficiency", ""),
        adding_source=sources.get("adding_rate", ""),
        copy_source=sources.get("copy_rate", ""),
        start_source=sources.get("start", ""),
        share=share,
    )


COST_FIELDS: dict[str, Callable[..., Any]] = {
    "adding_rate": parse_rate,
    "copy_rate": parse_rate,
    "start": parse_seconds,
    "efficiency": lambda given, **_: given,
}
"""Fields of questions that say what is taken beside wires, and what reads them."""


def _per_cycle(each: ArrayLike, network: Topology) -> Late:
    """Return seconds of each channel as seconds of a cycle: one number where all are alike."""
    found = np.asarray(each, np.float64) / np.maximum(network.channel_cycles, 1)
    alike = len(found) and (found == found[0]).all()
    return float(found[0]) if alike else found


def _or_none(what: str, value: str, source: str) -> str:
    nothing = value == seconds(0.0) and not source
    return f"no {what}" if nothing else f"{what} {value}"


def cycles_of_routers(topology: Topology, router: Router) -> Ints:
    """Return int64[num_channels], cycles in the router that each leaves. Hosts take none."""
    port = np.arange(topology.num_channels) - topology.num_network_channels
    return np.where((port >= 0) & (port < topology.num_ports), 0, router.router_cycles)


def with_latencies(topology: Topology, clock: Clock, cycle: float, router: Router) -> Topology:
    """Return a network whose channels, with the routers that they leave, take a clock's latencies.

    ``cycle``: the seconds of a cycle.

    Raises
    ------
    InputError
        If a latency is less than that of its router, or too many cycles.
    """
    whole, took = topology.whole, clock.latency_seconds * topology.channel_cycles
    taken = np.rint(took / cycle)
    cycles = taken - cycles_of_routers(topology, router)
    least, most = int(cycles.min(initial=1)), int(cycles.max(initial=1))
    if least < 1 or most > MOST_LATENCY:
        odd = int(np.argmin(cycles) if least < 1 else np.argmax(cycles))
        found = f"{seconds(float(took[odd]))}, {taken[odd]:.0f} cycles of a flit"
        wanted = f"{router.router_cycles + 1} to {MOST_LATENCY + router.router_cycles} cycles: "
        said = "smaller flit_bytes or another router" if least < 1 else "larger flit_bytes"
        raise InputError("latency", found, wanted + said)
    full = np.ones(whole.num_channels, np.int32)
    full[topology.whole_channel] = cycles
    return with_channels(topology, whole.channel_bandwidth, full)


def clock_of_engine(
    clock: Clock, topology: Topology, router: Any, *, cycle: float, flit_bytes: float, engine: str
) -> Clock:
    """Return a clock with what a header takes for each channel in an engine, and the router.

    ``cycle``: the seconds of a cycle. ``router``: what the engine simulates, perhaps a ``Router``.
    """
    cycles = topology.channel_cycles.astype(np.float64)
    if isinstance(router, Router):
        cycles[: topology.num_network_channels] *= router.channel_cycles
        cycles += cycles_of_routers(topology, router)
    latency = cycles * cycle / np.maximum(topology.channel_cycles, 1)
    return Clock.of(
        topology,
        (flit_bytes / cycle, clock.bandwidth_source),
        (latency, clock.latency_source if clock.says_latency else f"engine {engine}"),
        (float(np.rint(clock.overhead_seconds / cycle) * cycle), clock.overhead_source),
    )
