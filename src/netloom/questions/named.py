"""What several questions name: a program, its traffic, and a network or machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import split_spec
from netloom.base.textfiles import file_kind
from netloom.base.words import counted, or_near
from netloom.machines import OF_FILE, Machine, machine, machine_names, names_machine
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.mapping.files.rank_files import read_hosts
from netloom.mapping.named import place_program
from netloom.questions.recipes import traffic_of
from netloom.topology import Topology, counting_inside, topology
from netloom.topology.faults import first_broken, without, working_nodes
from netloom.topology.kinds import check_all_compute
from netloom.topology.named_parts import vertex_word
from netloom.topology.parse import SPECS
from netloom.topology.subnets.files import spec_of_file
from netloom.workload import parse_traffic, read
from netloom.workload.programs.shared import among

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.workload import ProcessGraph, Traffic


def read_program(
    app: str | ProcessGraph, *, messages: str | None, parts: str, **sized: Any
) -> ProcessGraph:
    """Return the process graph that ``app`` is or names. See ``workload.read``.

    ``sized`` is what a pattern named without a size takes: ``tasks`` and ``seed``.

    Raises
    ------
    InputError
        If it cannot be read, or options for reading go with a graph that is read already.
    """
    if isinstance(app, str):
        return read(app, messages=messages, parts=parts, **sized)
    if messages is not None or parts != "network":
        raise InputError("app", "a process graph that is read already", "a file for these options")
    return app


def read_traffic(
    asked: str | dict[str, Any] | Traffic | None, topology: Topology, nodes: Any = None
) -> Traffic:
    """Return the traffic asked for, uniform by default. A named pattern is kept to working nodes.

    ``nodes`` are those between which it is, as ``allocated_hosts`` takes them: all by default.

    Raises
    ------
    InputError
        If there is no such pattern, or it is of other nodes than the network's that work.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> read_traffic(None, mesh(4, 4))
    <uniform: 16 of 16 nodes send>
    """
    asked = "uniform" if asked is None else asked
    whole = topology.whole
    if nodes is not None:
        if not isinstance(asked, str):
            raise InputError("nodes", f"a list, and {asked!r:.60}", "a pattern by its name")
        listed = allocated_hosts(nodes, topology)
        if asked == "uniform":
            return among(parse_traffic(asked, whole), listed)
        return parse_traffic(asked, whole, listed)
    if isinstance(asked, dict):
        pattern = traffic_of(asked, whole)
    else:
        pattern = parse_traffic(asked, whole) if isinstance(asked, str) else asked
    if pattern.num_nodes != topology.num_hosts:
        wanted = f"traffic of the {counted(topology.num_hosts, 'node')} of {topology.name}"
        raise InputError("traffic", f"{pattern.name} of {pattern.num_nodes} nodes", wanted)
    if not topology.broken or not topology.failed_nodes:
        return pattern
    met = np.unique(pattern.matrix()[:2])
    lost = first_broken(topology, met)
    if lost is None:
        return pattern
    if not isinstance(asked, str) or split_spec(asked)[0] == "pairs":
        found = f"traffic of host {vertex_word(topology, int(met[lost]))}, which failed"
        raise InputError(f"traffic '{pattern.name}'", found, "traffic between hosts that work")
    return among(pattern, working_nodes(topology))


def find_network(
    on: str | Topology | Machine,
    *,
    failed_channels: str | None = None,
    failed_nodes: str | None = None,
    count_inside_nodes: bool = False,
    switches: bool = False,
) -> tuple[Topology, Machine | None]:
    """Return the network that ``on`` is or names, and the machine if it is one.

    Parameters
    ----------
    on
        A network, a machine or the spec of one. A machine file may be named by its path alone.
    switches
        Whether a direct network may have switches, which run no tasks. See ``Topology.switches``.
    failed_channels, failed_nodes
        What of it is broken, such as ``3-4,7->8`` and ``5,9``. See ``topology.without``.
    count_inside_nodes
        Whether messages between hosts of one node use it. See ``Topology.local_group``.

    Raises
    ------
    InputError
        If there is no such network, machine, channel or node, some nodes run no tasks (see
        ``topology.kinds``), or what is broken cuts the network in two.

    Examples
    --------
    >>> find_network("symult2010:4x4")[0]
    <mesh:4x4: 16 nodes, 48 directed channels>
    >>> find_network("mesh:4x4", failed_channels="5-6")[0]
    <mesh:4x4 without 5-6: 16 nodes, 46 directed channels>
    """
    if isinstance(on, str) and on.endswith(".toml") and ":" not in on:
        on = f"{OF_FILE}:{on}"
    if isinstance(on, str) and names_machine(on):
        on = machine(on)
    if isinstance(on, str) and ":" not in on and file_kind(on) == "a file":
        raise InputError("on", f"the file '{on}'", f"{spec_of_file(on)}, which reads it")
    if isinstance(on, str) and ":" not in on:
        machines = ", ".join(machine_names())
        known = [*SPECS, *machine_names()]
        wanted = f"a network such as mesh:8x8, or a machine: {machines}, machine:FILE"
        if on in SPECS:
            wanted = f"a network with its size, such as {SPECS[on].forms[0]}"
        else:
            wanted = or_near(on, known, wanted)
        raise InputError("on", f"'{on}'", wanted)
    on_machine = on if isinstance(on, Machine) else None
    if isinstance(on, Machine):
        on = on.network()
    network = topology(on) if isinstance(on, str) else on
    if not (switches and network.switches):
        check_all_compute(network)
    if failed_channels or failed_nodes:
        network = without(network, channels=failed_channels or "", nodes=failed_nodes or "")
    if count_inside_nodes:
        network = counting_inside(network)
    return network, on_machine


def network_of(question: Any, *, switches: bool = False) -> tuple[Topology, Machine | None]:
    """Return the network that a question names, without its broken parts, and the machine.

    ``switches`` as in ``find_network``.
    """
    return find_network(
        question.on, failed_channels=question.failed_channels, failed_nodes=question.failed_nodes,
        count_inside_nodes=question.count_inside_nodes, switches=switches,
    )  # fmt: skip


def placed(question: Any, graph: ProcessGraph, network: Topology, **more: Any) -> Ints:
    """Return the host of each task of a program, as a question maps it. See ``place_program``."""
    return place_program(question.mapping, graph, network, **(placing(question) | more))


def entering(
    graph: ProcessGraph,
    network: Topology,
    node_of: Ints,
    weight: Literal["bytes", "messages", "uniform"] = "bytes",
) -> tuple[ProcessGraph, float]:
    """Return what of a placed program enters the network, and the share that stays inside nodes.

    Examples
    --------
    >>> from netloom.workload import ring
    >>> sent, inside = entering(ring(4), topology("rail:1x2x2x1"), np.arange(4, dtype=np.int32))
    >>> sent.num_edges, inside
    (4, 0.5)
    """
    sent = graph.across(network.local_group[node_of])
    part, whole = (float(each.weights(weight).sum()) for each in (sent, graph))
    return sent, max(1 - part / whole, 0.0) if whole else 0.0


def placing(question: Any) -> dict[str, Any]:
    """Return what a question says of where tasks may run, as ``place_program`` takes it."""
    named = getattr(question, "hosts", None)
    return {
        "seed": question.seed,
        "tasks_per_node": question.tasks_per_node,
        "nodes": question.nodes,
        "hosts": None if named is None else read_hosts(str(named)),
    }


def computing(question: Any, network: Topology) -> dict[str, Any]:
    """Return what ``placing`` does. By default on all nodes that work and are no switches."""
    found = placing(question)
    if found["nodes"] is None and len(network.switches):
        found["nodes"] = np.setdiff1d(working_nodes(network), network.switches)
    return found


def num_places(question: Any, network: Topology) -> int:
    """Return how many tasks the nodes that a question allows take."""
    asked = placing(question)
    allocated = allocated_hosts(asked["nodes"], network, asked["hosts"])
    return places_of(allocated, network, question.tasks_per_node).count


def mapping_name(mapping: Any) -> str:
    """Return what a person calls the mapping of a question: its name or file."""
    return mapping if isinstance(mapping, str) else "as given"
