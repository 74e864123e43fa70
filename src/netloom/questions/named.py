"""What several questions name: a program, its traffic, and a network or machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from netloom.base.arrays import Ints, distinct
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED, Provenance
from netloom.base.spec import split_spec
from netloom.base.textfiles import file_kind
from netloom.base.words import counted, or_near
from netloom.machines import OF_FILE, Machine, machine, machine_names, names_machine
from netloom.questions.base import Question, plain_field
from netloom.routing import NamedRouting, Routing, parse_routing
from netloom.simulation.network.routers import Router
from netloom.topology import Topology, counting_inside, topology
from netloom.topology.faults import broken_channels, first_broken, without, working_nodes
from netloom.topology.graph import check_all_compute
from netloom.topology.names import channel_words, vertex_word
from netloom.topology.parse import SPECS
from netloom.workload import (
    Arrivals,
    Lengths,
    ProcessGraph,
    Traffic,
    parse_arrivals,
    parse_lengths,
    parse_traffic,
)
from netloom.workload.programs.shared import among
from netloom.workload.traffic.parse import made, plain_traffic, same, traffic_of

if TYPE_CHECKING:
    import polars as pl


class NamesNetwork(Protocol):
    """A question that names a network, and what of it is broken."""

    on: str | Topology | Machine
    failed_channels: str | None
    failed_nodes: str | None
    count_inside_nodes: bool


PLAIN = (str, int, float, dict, np.ndarray, np.generic, PathLike)
"""What ``Question.configuration`` records as it is."""


def provenance_of(question: Question, verb: str, network: Topology | None) -> Provenance:
    """Return the provenance of a verb's answer. Objects are recorded as what makes them again.

    A router and a traffic are recorded as dicts. A network that lacks parts as the whole one and
    what failed. Other objects by a name, if that name makes the same object again. Fields for
    which none of these does are listed as not repeatable. Without a network nothing that was given
    is an object. A question without a seed has the default one.
    """
    configuration, lost = question.configuration(), []
    seed = int(configuration.get("seed", DEFAULT_SEED))
    if network is None:
        return Provenance(configuration, seed, verb=verb)
    for name in configuration:
        value = getattr(question, name)
        if value is None or isinstance(value, PLAIN):
            continue
        plain = _again(value, network)
        if plain is None:
            lost.append(name)
        elif isinstance(value, Topology) and value.broken:
            configuration |= plain
        else:
            configuration[name] = plain
    return Provenance(configuration, seed, verb=verb, not_repeatable=tuple(lost))


def _again(value: Any, network: Topology) -> Any:
    """Return the plain data that makes an object again, or those of a list. None if none does."""
    from netloom.workload import read

    if isinstance(value, PLAIN):
        return plain_field(value)
    if isinstance(value, list | tuple):
        found = [_again(each, network) for each in value]
        return None if any(each is None for each in found) else found
    if isinstance(value, Topology) and value.broken:
        whole = network.whole
        lost = np.array(broken_channels(network), np.int64)
        channels = ",".join(channel_words(whole, lost))
        nodes = ",".join(vertex_word(whole, node) for node in network.failed_nodes)
        again = made(lambda: without(topology(whole.name), channels=channels, nodes=nodes))
        form = {"on": whole.name, "failed_channels": channels, "failed_nodes": nodes}
        return form if same(again, network) else None
    if isinstance(value, Router):
        return asdict(value)
    if isinstance(value, Traffic):
        return plain_traffic(value, network.whole)
    if isinstance(value, Machine):
        sides = value.topology.partition(":")[2].replace("w", "")
        specs = (value.name, f"{value.name}:{sides}")
        return next((spec for spec in specs if made(partial(machine, spec)) == value), None)
    makers: dict[Any, Callable[[str], Any]] = {
        Topology: topology,
        ProcessGraph: read,
        Lengths: parse_lengths,
        Arrivals: parse_arrivals,
        NamedRouting: lambda spec: parse_routing(spec, network),
    }
    make = next((make for kind, make in makers.items() if isinstance(value, kind)), None)
    if make is None:
        return None
    name = str(getattr(value, "name", value))
    return name if same(made(partial(make, name)), value) else None


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
    from netloom.workload import read

    if isinstance(app, str):
        return read(app, messages=messages, parts=parts, **sized)
    if messages is not None or parts != "network":
        raise InputError("app", "a process graph that is read already", "a file for these options")
    return app


def program_on(question: Any, network: Topology, app: Any = None) -> ProcessGraph:
    """Return the program of a question. A pattern named without a size fits the network.

    ``app`` stands in for the question's own.
    """
    return read_program(
        question.app if app is None else app,
        messages=question.messages,
        parts=question.parts,
        tasks=num_places(question, network),
        seed=question.seed,
    )


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
    from netloom.mapping.allocation import allocated_hosts

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
    met = distinct(pattern.matrix()[:2])
    lost = first_broken(topology, met)
    if lost is None:
        return pattern
    if not isinstance(asked, str) or split_spec(asked)[0] == "pairs":
        found = f"traffic of host {vertex_word(topology, int(met[lost]))}, which failed"
        raise InputError(f"traffic '{pattern.name}'", found, "traffic between hosts that work")
    return among(pattern, working_nodes(topology))


def find_network(
    on: str | Topology | Machine,
    failed_channels: str | None = None,
    failed_nodes: str | None = None,
    *,
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
        ``topology.graph``), or what is broken cuts the network in two.

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
    if isinstance(on, str) and ":" not in on:
        if file_kind(on) == "a file":
            from netloom.topology.subnets.files import spec_of_file

            raise InputError("on", f"the file '{on}'", f"{spec_of_file(on)}, which reads it")
        wanted = f"a network such as mesh:8x8, or a machine: {', '.join(machine_names())}"
        wanted = or_near(on, [*SPECS, *machine_names()], f"{wanted}, machine:FILE")
        if on in SPECS:
            wanted = f"a network with its size, such as {SPECS[on].forms[0]}"
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


def network_again(
    net: Topology | None, asked: Mapping[str, Any], channels: pl.DataFrame | None = None
) -> Topology | None:
    """Return the network of an answer, made again from its question where it is not at hand.

    None where it cannot be: its file is gone or holds another network, or it was an object that no
    words stand for.

    Parameters
    ----------
    net
        The network, of an answer that was asked just now.
    asked
        The fields of the question.
    channels
        A table of some of its channels: their numbers, ``channel``, and their ends.

    Examples
    --------
    >>> network_again(None, {"on": "mesh:2x2", "failed_channels": "0-1"})
    <mesh:2x2 without 0-1: 4 nodes, 6 directed channels>
    """
    if net is not None:
        return net
    broken = asked.get("failed_channels"), asked.get("failed_nodes")
    inside = asked.get("count_inside_nodes", False)
    try:
        found, _ = _found_again(asked["on"], *broken, count_inside_nodes=inside)
    except (InputError, OSError):
        return None
    if channels is None or channels.is_empty():
        return found
    listed = channels["channel"].to_numpy()
    same = listed.max() < found.num_channels and all(
        np.array_equal(channels[name], ends[listed])
        for name, ends in (("source_node", found.source_end), ("target_node", found.target_end))
    )
    return found if same else None


_found_again = lru_cache(maxsize=16)(find_network)


def network_of(
    question: NamesNetwork, *, switches: bool = False
) -> tuple[Topology, Machine | None]:
    """Return the network that a question names, without its broken parts, and the machine.

    ``switches`` as in ``find_network``.
    """
    broken, inside = (question.failed_channels, question.failed_nodes), question.count_inside_nodes
    return find_network(question.on, *broken, count_inside_nodes=inside, switches=switches)


def placed(question: Any, graph: ProcessGraph, network: Topology, **more: Any) -> Ints:
    """Return the host of each task of a program, as a question maps it. See ``place_program``."""
    from netloom.mapping.allocation import place_program

    return place_program(question.mapping, graph, network, **(placing(question) | more))


def routing_of(asked: str | Routing, network: Topology) -> Routing:
    """Return the routing with one path per pair that is asked for, or named, on a network."""
    return parse_routing(asked, network) if isinstance(asked, str) else asked


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
    same = {name: getattr(question, name) for name in ("seed", "tasks_per_node", "nodes")}
    return same | {"hosts": _names(question)}


def _names(question: Any) -> Sequence[str] | None:
    """Return the names of hosts that a question's file says. None without one."""
    from netloom.mapping.placements import read_hosts

    named = getattr(question, "hosts", None)
    return None if named is None else read_hosts(str(named))


def computing(question: Any, network: Topology) -> dict[str, Any]:
    """Return what ``placing`` does. By default on all nodes that work and are no switches."""
    found = placing(question)
    if found["nodes"] is None and len(network.switches):
        found["nodes"] = allocated(question, network)
    return found


def allocated(question: Any, network: Topology) -> Ints:
    """Return the hosts that a question allows: by default all that work and are no switches."""
    from netloom.mapping.allocation import allocated_hosts

    hosts = allocated_hosts(question.nodes, network, _names(question))
    return hosts if question.nodes is not None else np.setdiff1d(hosts, network.switches)


def num_places(question: Any, network: Topology) -> int:
    """Return how many tasks the nodes that a question allows take."""
    from netloom.mapping.allocation import places_of

    return places_of(allocated(question, network), network, question.tasks_per_node).count


def check_apart(network: Topology, host_of: Ints) -> None:
    """Raise InputError if ranks on these hosts send nothing over the network."""
    first, ranks = int(host_of[0]), len(host_of)
    if (host_of == first).all():
        found = f"all {ranks} ranks on {network.name_of(first)}"
        raise InputError("ranks", found, "ranks on two hosts or more, so that something is sent")
    if (network.local_group[host_of] == network.local_group[first]).all():
        name = network.computer_name(int(network.node_of_host[first]))
        found = f"all {ranks} ranks on node {name}"
        raise InputError("ranks", found, "ranks on two nodes or more, or --count-inside-nodes")


def mapping_name(mapping: Any) -> str:
    """Return what a person calls the mapping of a question: its name or file."""
    return mapping if isinstance(mapping, str) else "as given"
