"""Which cable of this fabric slows its jobs, why, and what is broken?"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from os.path import isfile
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.words import counted
from netloom.fabrics.bisection_bounds import bisection_bound
from netloom.fabrics.bounds import busiest_bound
from netloom.fabrics.causes import cause_of
from netloom.fabrics.figures import table_figures
from netloom.questions.base import InstanceOf, option
from netloom.questions.fabric.answer import FabricCheck, subnet_circle
from netloom.questions.fabric.jobs import Job, read_jobs, shared_by
from netloom.questions.fields import BrokenParts, OnFabric, Seeded, TasksPerNode, refuse
from netloom.questions.named import network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.routing import parse_routing
from netloom.routing.forwarding.engines import ENGINES, would_fall_back
from netloom.routing.forwarding.problems import table_problems
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.topology import Topology
from netloom.topology.faults import working_nodes

if TYPE_CHECKING:
    from netloom.base.arrays import Ints

WANTED = f"lfts:FILE, or one of {', '.join(ENGINES)}"
"""Forwarding tables, for messages."""


class FabricQuestion(Seeded, TasksPerNode, BrokenParts, OnFabric):
    """A fabric, and the tables by which its switches forward."""

    routing: str | InstanceOf[ForwardingTable] = option(
        f"Forwarding tables: lfts:FILE as OpenSM dumps them, or an engine: {', '.join(ENGINES)}.",
        default="minhop",
        panel="Network",
        file=True,
    )
    without_hosts: str | None = option(
        "Hosts that run no jobs, such as storage: patterns of names, separated by commas.",
        default=None,
        panel="Network",
    )
    jobs: str | list[str] | None = option(
        "Job NAME=NODES[:PROGRAM]: a node list or host file, and a program (default: an "
        "all-to-all). Repeat it for jobs that run together.",
        default=None,
        panel="Jobs",
        flags=("--job",),
        several=True,
    )
    samples: int = option(
        "Number of random matchings of random halves (0: none).", default=1000, ge=0, le=10**6
    )


@dataclass(frozen=True, eq=False)
class ReadyFabric:
    """What a question names: a network, its table, and the hosts and jobs that use it.

    Attributes
    ----------
    hosts
        int32[], those that take part.
    fallback
        Why OpenSM would configure minhop, though asked for another engine. Empty otherwise.
    """

    network: Topology
    table: ForwardingTable
    hosts: Ints
    jobs: list[Job]
    fallback: str


def prepare(question: FabricQuestion) -> ReadyFabric:
    """Read the fabric and its tables, and find the hosts of jobs."""
    network, _ = network_of(question)
    if not network.num_network_channels:
        raise InputError(network.name, "no cable between switches", "two switches at least")
    hosts = _taking(question.without_hosts, network)
    if not question.jobs:
        refuse(
            question, ("tasks_per_node", "count_inside_nodes"), "job, which this says something of"
        )
    jobs = read_jobs(question.jobs, network, question.tasks_per_node, question.seed)
    table, fallback = tables_of(question.routing, network)
    return ReadyFabric(network, table, hosts, jobs, fallback)


def tables_of(routing: str | ForwardingTable, network: Topology) -> tuple[ForwardingTable, str]:
    """Return the forwarding table that a question names, and why OpenSM would fall back to minhop.

    Raises
    ------
    InputError
        If it is no forwarding table.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> tables_of("updn", topology("torus:3x3"))[0].name
    'minhop'
    """
    if isinstance(routing, ForwardingTable):
        return routing, ""
    if isfile(routing):  # noqa: PTH113 (a name may be too long for a path)
        routing = f"lfts:{routing}"
    why = would_fall_back(network, routing)
    if routing not in ENGINES and not routing.startswith("lfts:"):
        raise InputError("routing", f"'{routing}'", WANTED)
    found = parse_routing("minhop" if why else routing, network)
    assert isinstance(found, ForwardingTable)
    return found, why


def _taking(patterns: str | None, network: Topology) -> Ints:
    """Return the hosts that no pattern names."""
    hosts = working_nodes(network)
    for pattern in [] if patterns is None else patterns.split(","):
        named = np.array(
            [
                any(fnmatchcase(name, pattern.strip()) for name in _names(network, host))
                for host in hosts.tolist()
            ],
            np.bool_,
        )
        if not named.any():
            raise InputError(
                "without_hosts", f"'{pattern}', which no host is called", "a name such as storage*"
            )
        hosts = hosts[~named]
    if len(hosts) < 2:
        raise InputError(network.name, counted(len(hosts), "host"), "at least two that take part")
    return hosts


def _names(network: Topology, host: int) -> tuple[str, str]:
    return network.name_of(host), network.computer_name(int(network.node_of_host[host]))


@asks(
    FabricQuestion,
    prepare=prepare,
    title="Check of a fabric",
    example="netloom fabric --on examples/dgx-40.ibnetdiscover --plot fabric.png",
    page="which-cable-slows-my-job.md",
    outputs=(PLOT,),
)
def check_fabric(question: FabricQuestion, ready: ReadyFabric) -> FabricCheck:
    """Find the cable of a fabric that slows its jobs, the cause, and broken parts.

    The tables are those that a subnet manager dumped, or what OpenSM's engine would make: minhop,
    its default, where nothing is said. Cables are judged by an all-to-all of all hosts: paths, each
    way apart, beside a lower bound that no routing beats. Shifts, random matchings of random halves
    and circles of packets that wait for each other (credit loops) are looked at as well. Of jobs
    that run at the same time, the answer says which cables they share, and what it costs each.

    Examples
    --------
    >>> found = check_fabric("fat-tree:k=8", samples=10)
    >>> found.to_dict()["all_to_all"]["max"], found.to_dict()["all_to_all"]["bound"]
    (448, 124.0)
    """
    network, table, hosts = ready.network, ready.table, ready.hosts
    with patience(f"Following the paths between {len(hosts):,} hosts"):
        figures = table_figures(
            network, table, hosts=hosts, samples=question.samples, seed=question.seed
        )
    with patience(f"Finding what {counted(figures.cables, 'cable', ',')} must carry at least"):
        bound = busiest_bound(network, hosts=hosts)
        best_share = bisection_bound(network, hosts=hosts)
    busiest = figures.busiest(1)
    return FabricCheck(
        network=network,
        forwarding=table,
        fallback=ready.fallback,
        asked=str(question.routing),
        figures=figures,
        bound=bound,
        bisection_bound=best_share,
        cause=cause_of(network, table, figures, busiest[0].channel) if busiest else None,
        faults=table_problems(network, table),
        others_circle=subnet_circle(network, table),
        jobs=shared_by(network, table, ready.jobs),
        provenance=provenance_of(question, "check_fabric", network),
    )
