"""How much do pairs of hosts get of this network, if all send at once?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.spec import whole_number
from netloom.base.words import counted
from netloom.contention import cut_bounds_of, effective_bisection, shift_loads
from netloom.contention.channel_loads import BLOCK
from netloom.contention.permutations import MOST_EXPECTED, MOST_PAIRS
from netloom.mapping.allocation import allocated_hosts
from netloom.questions.analyze.permutations.answer import PermutationAnalysis
from netloom.questions.base import option
from netloom.questions.fields import (
    BrokenParts,
    NodeList,
    OnNetwork,
    PathRouting,
    Seeded,
    refuse,
)
from netloom.questions.named import network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.routing import Routing, parse_routing
from netloom.topology import Topology
from netloom.topology.faults import working_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints


class PermutationQuestion(Seeded, NodeList, BrokenParts, PathRouting, OnNetwork):
    """How a network bears permutations of its hosts."""

    samples: int = option(
        "Number of random matchings of random halves (0: none).", default=1000, ge=0, le=10**6
    )
    shifts: str = option(
        "Shifts of the hosts: all, none or distances such as 1,5,17.",
        default="all",
    )


@dataclass(frozen=True, eq=False)
class RoutedHosts:
    """What a question names: a network, its routing, and the hosts that take part."""

    network: Topology
    routing: Routing
    hosts: Ints


def prepare(question: PermutationQuestion) -> RoutedHosts:
    """Build the network and its routing."""
    wanted = "none of it: permutations are of all hosts, those of one node too"
    refuse(question, ("count_inside_nodes",), wanted)
    network, _ = network_of(question)
    routing = question.routing
    if isinstance(routing, str):
        routing = parse_routing(routing, network)
    hosts = working_nodes(network)
    if question.nodes is not None:
        hosts = allocated_hosts(question.nodes, network)
    if len(hosts) < 2:
        raise InputError(network.name, counted(len(hosts), "host"), "at least two that work")
    return RoutedHosts(network, routing, hosts)


@asks(
    PermutationQuestion,
    prepare=prepare,
    title="Permutations",
    example="netloom analyze permutations --on leaf-spine:8x4x8",
    page="my-cluster-is-a-fat-tree.md",
    outputs=(PLOT,),
)
def analyze_permutations(question: PermutationQuestion, ready: RoutedHosts) -> PermutationAnalysis:
    """Measure a network's effective bisection bandwidth, shifts and all-to-all.

    The effective bisection bandwidth (Hoefler, Schneider & Lumsdaine 2008) is the mean share that
    pairs get in random matchings of random halves of the hosts. A pair's share is 1 / (the paths
    on the busiest channel of its path). A shift by d is the permutation by which host i sends to
    host i + d, modulo their number. All shifts together are an all-to-all. As ``fabric`` judges
    tables, all pairs of hosts count, those of one node too.

    Examples
    --------
    >>> found = analyze_permutations("fat-tree:4x3", samples=50)
    >>> figures = found.to_dict()
    >>> figures["shifts"]["max"], figures["all_to_all"]["max"]
    (1, 60)
    """
    network, routing, hosts = ready.network, ready.routing, ready.hosts
    distances, left_out = _distances(question.shifts, ready)
    if not question.samples and not len(distances):
        found = "no matchings and no shifts" + (
            f", which are too many: {left_out}" * bool(left_out)
        )
        raise InputError("samples", found, "samples above 0, or some shifts")
    bisection, shifts = None, None
    if question.samples:
        pairs = question.samples * (len(hosts) // 2)
        with patience(f"Matching {pairs:,} pairs of hosts"):
            bisection = effective_bisection(
                network, routing, hosts=hosts, samples=question.samples, seed=question.seed
            )
    if len(distances):
        with patience(f"Shifting {len(hosts):,} hosts {counted(len(distances), 'time', ',')}"):
            shifts = shift_loads(network, routing, hosts=hosts, distances=distances)
    every = len(distances) == len(hosts) - 1
    return PermutationAnalysis(
        topology=network,
        routing=str(routing),
        hosts=len(hosts),
        bisection=bisection,
        shifts=shifts,
        all_shifts=every,
        bound=_bound(network, hosts) if every else None,
        left_out=left_out,
        provenance=provenance_of(question, "analyze_permutations", network),
    )


def _distances(asked: str, ready: RoutedHosts) -> tuple[Ints, str | None]:
    """Return the distances of the shifts asked for, and why there are none if there are too many.

    Raises
    ------
    InputError
        If it is no list of distances between hosts.
    """
    count = len(ready.hosts)
    if asked == "none":
        return np.zeros(0, np.int64), None
    if asked == "all":
        most = MOST_EXPECTED if ready.routing.several else MOST_PAIRS
        if count * (count - 1) <= most:
            return np.arange(1, count), None
        pairs = f"all shifts and the all-to-all, of {count * (count - 1):,} pairs"
        return np.zeros(0, np.int64), f"{pairs} (name some shifts, such as 1,5)"
    ahead = [whole_number(each.strip(), where="shifts", least=1) for each in asked.split(",")]
    if max(ahead) >= count or len(set(ahead)) < len(ahead):
        raise InputError("shifts", f"'{asked}'", f"different distances from 1 to {count - 1}")
    return np.array(ahead, np.int64), None


def _bound(network: Topology, hosts: Ints) -> float | None:
    """Return how long some channel must work in an all-to-all, under any routing."""
    if network.direct:
        return None

    def blocks() -> Iterator[tuple[Ints, Ints, Floats]]:
        most = max(BLOCK // len(hosts), 1)
        for first in range(0, len(hosts), most):
            source = hosts[first : first + most]
            pairs = len(source) * len(hosts)
            yield np.repeat(source, len(hosts)), np.tile(hosts, len(source)), np.ones(pairs)

    return max(each.time for each in cut_bounds_of(network, blocks()))
