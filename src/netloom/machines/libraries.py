"""What libraries of collectives take on computers with an inside, in closed form.

They run rings and trees one a card, chains inside computers, and pipeline all of it. What crosses
each channel is counted on the routes that messages take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log2, sqrt
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.machines.tables import Protocol
from netloom.routing import Routing, paths
from netloom.simulation.collectives import Timed
from netloom.simulation.flow import FlowNetwork
from netloom.workload.programs.collectives.algorithms import nccl_trees

PIPELINE = 0.5
"""The factor of √(start · transfer) in the time of a pipeline that chooses its chunks."""

TRIPS = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "broadcast": 1, "reduce": 1}
"""How often a ring goes round, by collective."""

WHOLE_TRIPS = ("broadcast", "reduce")
"""Collectives of which each channel of a ring carries all bytes."""

RINGS, TREES, RAILS, IN_SWITCH = "rings", "double-trees", "rails", "in-switch"
ALL_PAIRS, DIRECT, PXN = "all-pairs", "direct", "pxn"

ROWS = {
    RINGS: "ring",
    TREES: "tree",
    RAILS: "rails",
    IN_SWITCH: "in-switch",
    ALL_PAIRS: "all-pairs",
    DIRECT: "pairs",
    PXN: "pairs",
}
"""The kind of protocols that each algorithm takes.

Rings and trees go one a card. ``rails`` go inside, between GPUs of the same place in their
computers, and inside again. In switches of a computer, these add. All pairs send at once. Of an
all-to-all ``direct`` sends from rank to rank, and ``pxn`` first to the GPU on the target's rail.
"""

WANTED = "computers with as many ranks each, one on a GPU, such as those of rail:1x4x8x2"

AT_ONCE = 2**20
"""Pairs of ranks whose routes are listed at once."""

MOST_PAIRS = 2**24
"""Most pairs of ranks whose routes are counted for one algorithm."""


class Parts(NamedTuple):
    """What the time of an algorithm under a protocol consists of.

    Attributes
    ----------
    start
        Seconds of its longest chain of hops.
    inside, card, network
        Seconds for each byte of the collective's size. They are those of the busiest channel that
        only messages inside a computer use, the busiest of hosts and cards, and the busiest other.
    """

    start: float
    inside: float
    card: float
    network: float

    def seconds(self, size: float) -> float:
        """Return the time of a collective of ``size`` bytes.

        T = t + V + √(t · V) / 2 with the start t and the transfer V: that of a pipeline which
        chooses its number of chunks.

        Examples
        --------
        >>> Parts(start=1.0, inside=0.25, card=1.0, network=0.0).seconds(4.0)
        6.0
        """
        carried = size * max(self.inside, self.card, self.network)
        return self.start + carried + PIPELINE * sqrt(self.start * carried)


class Crossed(NamedTuple):
    """What crosses the network in an algorithm, as parts of a collective's size.

    Attributes
    ----------
    load
        float64[num_links], what each link carries.
    inside
        bool[num_links], the links that only messages inside computers use.
    pairs
        Pairs of hosts that send.
    free
        The part of all bytes that does not use the network.
    """

    load: Floats
    inside: Bools
    pairs: int
    free: float


Sends: TypeAlias = tuple[Ints, Ints, float | Floats]
"""Hosts that send, hosts that receive, and the part of a collective's size that each message has.

Their shapes fit each other.
"""


@dataclass(eq=False)
class Library:
    """What runs collectives on computers that each have as many ranks, one on a GPU.

    Parameters
    ----------
    links, routing
        The network as flows share it, in bytes and seconds, and its paths.
    hosts
        int32[computers, gpus], the host of each rank.
    near
        int[cards], the place in a computer of a GPU near each card.
    protocols
        How the library runs rings and trees.
    start
        Seconds of every collective.
    adding
        Bytes/s of an all-reduce that switches of a computer add. 0 where they do not.
    """

    links: FlowNetwork
    routing: Routing
    hosts: Ints
    near: Ints
    protocols: Sequence[Protocol]
    start: float = 0.0
    adding: float = 0.0
    counted: dict[tuple[str, str], Crossed] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        links: FlowNetwork,
        routing: Routing,
        host_of: Ints,
        *,
        cards: int | None,
        protocols: Sequence[Protocol],
        overhead: float = 0.0,
        start: float = 0.0,
        adding: float = 0.0,
    ) -> Self:
        """Return that of ranks on hosts.

        ``cards``: of each computer. One for each GPU by default. Without protocols, a hop takes the
        latency of its path and twice ``overhead``.

        Raises
        ------
        InputError
            If ranks share hosts, computers have different numbers of ranks, or one each.
        """
        network = links.topology
        node = network.node_of_host[host_of]
        counts = np.unique(node, return_counts=True)[1]
        few, many = int(counts.min()), int(counts.max())
        shared = len(np.unique(host_of)) < len(host_of)
        if shared or few < many or few < 2:
            found = f"computers with {f'{few} to ' * (few < many)}{counted(many, 'rank')}"
            found = "ranks that share a host" if shared else found
            raise InputError("ranks", found, WANTED)
        # computers in the order of their first ranks, GPUs in that of their hosts
        _, first, place = np.unique(node, return_index=True, return_inverse=True)
        order = np.lexsort((host_of, first[place]))
        hosts = host_of[order].reshape(-1, many)
        own = np.flatnonzero(network.node_of_host == network.node_of_host[hosts[0, 0]])
        card = np.searchsorted(own, hosts[0]) * (cards or len(own)) // len(own)
        near = np.unique(card, return_index=True)[1]
        ready = cls(links, routing, hosts, near, protocols, start, adding)
        if not protocols:
            ends = hosts[:1, 1], hosts[1:2, near[0]]
            within, away = (
                (ready._latency(hosts[:1, at], end) + 2 * overhead) * 1e6
                for at, end in zip((0, near[0]), ends, strict=True)
            )
            times: dict[str, Any] = {"base_us": 0.0, "inside_us": within, "between_us": away}
            ready.protocols = [
                Protocol.model_construct(None, algorithm=kind, name="", **times)
                for kind in {*ROWS.values()}
            ]
        return ready

    def _latency(self, source: Ints, target: Ints) -> float:
        """Return the latency of the path of a pair of hosts. 0 if there is none."""
        used = self.links.topology.crosses(source[: len(target)], target)
        if not len(target) or not used[0]:
            return 0.0
        found = paths(self.links.topology, self.routing, source, target).whole(self.links.topology)
        return float(self.links.latency[found[0]].sum())

    def algorithms(self, collective: str) -> tuple[str, ...]:
        """Return the names of the algorithms of a collective for which there are protocols."""
        (computers, gpus), found = self.hosts.shape, list[str]()
        ranks, gathers = computers * gpus, ("all-reduce", "all-gather", "reduce-scatter")
        if collective in TRIPS:
            found.append(RINGS)
        if collective in gathers:
            found.append(RAILS if computers > 1 else ALL_PAIRS)
        if collective == "all-reduce":
            found += [TREES] * (computers > 1)
            found += [IN_SWITCH] * (computers == 1 and self.adding > 0)
        if collective == "all-to-all":
            found += [DIRECT] * (ranks**2 <= MOST_PAIRS)
            found += [PXN] * (computers > 1 and ranks * computers <= 4 * MOST_PAIRS)
        known = {row.algorithm for row in self.protocols}
        return tuple(each for each in found if ROWS[each] in known)

    def hops(self, collective: str, algorithm: str) -> tuple[float, float]:
        """Return how many hops its longest chain has, inside computers and between them."""
        computers, gpus = self.hosts.shape
        trips, several = TRIPS.get(collective, 1), computers > 1
        if algorithm == RINGS:
            between = trips * computers * several
            return trips * (computers * gpus - 1) - between, between
        if algorithm == TREES:
            return 2 * (gpus - 1), 2 * log2(computers)
        if algorithm == IN_SWITCH:
            return 1, 0
        if algorithm == ALL_PAIRS:
            return trips, 0
        return trips * (gpus - 1), trips * (computers - 1)

    def sends(self, collective: str, algorithm: str) -> Iterator[Sends]:
        """Yield the messages of an algorithm, each pair of hosts perhaps several times."""
        hosts, near = self.hosts, self.near
        computers, gpus = hosts.shape
        along, onward = np.roll(hosts, -1, axis=1), np.roll(hosts, -1, axis=0)
        ranks, trips = hosts.size, TRIPS.get(collective, 1)
        if algorithm == RINGS:
            each = trips * (1.0 if collective in WHOLE_TRIPS else (ranks - 1) / ranks)
            yield hosts, along, each
            if computers > 1:
                yield hosts[:, near], onward[:, near], each / len(near)
        elif algorithm == TREES:
            ends = (np.arange(gpus)[:, None] + 1) % gpus == near  # where the chain of a card begins
            part = 1.0 - ends.mean(axis=1)
            yield hosts, along, part
            yield along, hosts, part
            for parent in nccl_trees(computers):
                child = np.flatnonzero(parent >= 0)
                low, high = hosts[child][:, near], hosts[parent[child]][:, near]
                yield low, high, 0.5 / len(near)
                yield high, low, 0.5 / len(near)
        elif algorithm == RAILS:
            yield hosts, along, trips * (gpus - 1) / gpus
            yield hosts, onward, trips * (computers - 1) / computers / gpus
        elif algorithm == IN_SWITCH:
            yield hosts, along, 1.0
        else:
            far = algorithm != PXN  # whether GPUs send to others of other places
            part = trips / ranks if far else 1 / gpus
            yield hosts, np.array([np.roll(hosts, -each, axis=1) for each in range(1, gpus)]), part
            at, part = np.arange(computers), part if far else 1 / computers
            most = max(AT_ONCE // ranks // (gpus if far else 1), 1)
            for first in range(1, computers, most):
                steps = np.arange(first, min(first + most, computers))[:, None]
                there = hosts[(at + steps) % computers]
                if far:
                    shifts = [np.roll(there, -each, axis=2) for each in range(gpus)]
                    there = np.concatenate(shifts)
                yield hosts, there, part

    def crossed(self, collective: str, algorithm: str) -> Crossed:
        """Return what crosses the network in an algorithm."""
        if (collective, algorithm) in self.counted:
            return self.counted[collective, algorithm]
        network, node = self.links.topology, self.links.topology.node_of_host
        load, between = np.zeros(self.links.num_links), np.zeros(self.links.num_links, bool)
        pairs, sent, free = 0, 0.0, 0.0
        for each in self.sends(collective, algorithm):
            source, target, part = (one.ravel() for one in np.broadcast_arrays(*each))
            used = network.crosses(source, target)
            pairs, sent = pairs + len(source), sent + float(part.sum())
            free += float(part[~used].sum())
            source, target, part = source[used], target[used], part[used]
            found = paths(network, self.routing, source, target).whole(network)
            pair = np.arange(len(source)) if found.pair is None else found.pair
            carried = part[pair] * (1.0 if found.probability is None else found.probability)
            over = np.repeat(carried, found.lengths)
            load += np.bincount(found.channels, over, self.links.num_links)
            away = np.repeat((node[source] != node[target])[pair], found.lengths)
            between[found.channels[away]] = True
            if self.links.end_channels:
                ports = self.links.num_links - network.num_network_channels
                ends = np.append(source, target + ports // 2)
                load[-ports:] += np.bincount(ends, np.append(part, part), ports)
        crossed = Crossed(load, ~between & (load > 0), pairs, free / sent)
        return self.counted.setdefault((collective, algorithm), crossed)

    def parts(self, collective: str, algorithm: str) -> list[Parts]:
        """Return what the time of an algorithm consists of, under each protocol."""
        crossed = self.crossed(collective, algorithm)
        ports = self.links.topology.num_network_channels
        port = np.arange(self.links.num_links) >= ports
        port[:ports] = self.links.topology.card_channels
        kinds = crossed.inside, port & ~crossed.inside, ~port & ~crossed.inside
        each = crossed.load / self.links.capacity
        inside, card, network = (float(each[kind].max(initial=0.0)) for kind in kinds)
        if algorithm == IN_SWITCH:
            inside = 1 / self.adding
        within, away = self.hops(collective, algorithm)
        found, several = list[Parts](), len(self.hosts) > 1
        for row in self.protocols:
            if row.algorithm == ROWS[algorithm]:
                hops = within * row.inside_us * (row.inside_factor if several else 1)
                hops = (hops + away * row.between_us) * (row.hops_factor if several else 1)
                spent = (seconds / row.payload for seconds in (inside, card, network))
                found.append(Parts(self.start + (row.base_us + hops) * 1e-6, *spent))
        return found

    def timed(self, collective: str, algorithm: str, size: float) -> Timed:
        """Return what an algorithm takes, by the protocol that is fastest at this size."""
        parts = min(self.parts(collective, algorithm), key=lambda each: each.seconds(size))
        load = self.crossed(collective, algorithm).load
        link = int(np.argmax(load / self.links.capacity))
        return Timed(parts.seconds(size), 1, link, size * float(load[link]), size * max(parts[1:]))
