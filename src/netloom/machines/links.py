"""Classes of a network's links, by rate and latency: which channels a machine's words mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape
from netloom.topology.cubes import Cube

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.topology import Topology

PATTERNS = 'two patterns of names such as ["leaf*", "spine*"]'


@dataclass(frozen=True)
class LinkClass:
    """Some of a network's links, both directions, and what a machine says of them.

    Attributes
    ----------
    between
        A word of ``link_classes``, or two patterns of the names of hosts and routers.
    bandwidth_bytes_per_us
        Of each channel. None where it is that of the other links.
    latency_us
        Of each channel with the router that it leaves. None as well.
    """

    between: str | tuple[str, str]
    bandwidth_bytes_per_us: float | None = None
    latency_us: float | None = None

    @property
    def words(self) -> str:
        """What it is called in messages."""
        return self.between if isinstance(self.between, str) else " and ".join(self.between)


def link_classes(network: Topology) -> dict[str, Bools]:
    """Return the words for classes of channels that a network knows, bool[num_channels] each.

    ``routers`` are the channels between routers, ``hosts`` those of hosts, which direct networks do
    not list. Dragonflies know ``local`` and ``global``, those between groups. Fat trees ``levels
    1-2``, where level 1 has the hosts, and so on. Cubes and HyperX ``dimension 0``, the first side
    of their spec, and so on. Of a network with broken parts it is that of the whole.

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
    found = {"routers": np.arange(whole.num_channels) < inside}
    if whole.ports_listed:
        found["hosts"] = ~found["routers"]
    for word, members in _of_family(whole):
        found[word] = np.zeros(whole.num_channels, np.bool_)
        found[word][:inside] = members
    return found


def _of_family(network: Topology) -> Iterator[tuple[str, Bools]]:
    """Yield the words of a family, and which channels between routers they mean."""
    routers, family = network.routers, network.family or network.routers.family
    source, target = routers.channel_source, routers.channel_target
    if isinstance(routers, Cube):
        axis = np.repeat(np.arange(len(routers.sides)), 2 * routers.direction_channels)
        for dimension in range(len(routers.sides)):
            yield f"dimension {dimension}", axis == dimension
    elif isinstance(family, HyperXShape):
        ends = (np.unravel_index(end, family.sides) for end in (source, target))
        for dimension, (one, other) in enumerate(zip(*ends, strict=True)):
            yield f"dimension {dimension}", one != other
    elif isinstance(family, DragonflyShape):
        local = source // family.routers == target // family.routers
        yield from (("local", local), ("global", ~local))
    elif isinstance(family, TreeShape):
        level = np.repeat(
            np.arange(1, family.levels + 1),
            [family.width(level) for level in range(1, family.levels + 1)],
        )
        if family.router_at is not None:
            level[family.router_at] = level.copy()
        lower = np.minimum(level[source], level[target])
        for each in range(1, family.levels):
            yield f"levels {each}-{each + 1}", lower == each


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
    return replace(
        network, channel_bandwidth=bandwidth[kept], channel_cycles=cycles[kept], **units,
        unbroken=None if whole is None else with_channels(whole, bandwidth, cycles, **units),
    )  # fmt: skip
