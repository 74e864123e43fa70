"""What a question was, as plain data that can be asked again: for provenance."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import Provenance
from netloom.machines import Machine, machine
from netloom.routing import NamedRouting, parse_routing
from netloom.simulation.network.routers import Router
from netloom.topology import Topology, topology
from netloom.topology.faults import broken_channels, without
from netloom.topology.named_parts import channel_words, vertex_word
from netloom.workload import (
    Arrivals,
    Lengths,
    ProcessGraph,
    Traffic,
    parse_arrivals,
    parse_lengths,
    parse_traffic,
    read,
)
from netloom.workload.traffic import pairs, permutation, with_rates
from netloom.workload.traffic.targets import Fixed, Weighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.questions.base import Question

MOST_LISTED = 2**16
"""Most nodes or pairs of nodes that a record lists one by one."""

PLAIN = (str, int, float, list, tuple, dict, np.ndarray, np.generic, PathLike)
"""What ``Question.configuration`` records as it is."""

GIVEN_RATES = " with given rates"
"""What ``with_rates`` adds to the name of a traffic."""


def provenance_of(question: Question, verb: str, network: Topology | None) -> Provenance:
    """Return the provenance of a verb's answer. Objects are recorded as what makes them again.

    A router and a traffic are recorded as dicts. A network that lacks parts as the whole one and
    what failed. Other objects by a name, if that name makes the same object again. Fields for
    which none of these does are listed as not repeatable. Without a network nothing that was given
    is an object.
    """
    configuration, lost = question.configuration(), list[str]()
    if network is None:
        return Provenance(configuration, int(configuration["seed"]), verb=verb)
    for name in configuration:
        value = getattr(question, name)
        made_again = _recipe(value, network)
        if made_again is None:
            continue
        plain = made_again()
        if plain is None:
            lost.append(name)
        elif isinstance(value, Topology) and value.broken:
            configuration |= plain
        else:
            configuration[name] = plain
    seed = int(configuration["seed"])
    return Provenance(configuration, seed, verb=verb, not_repeatable=tuple(lost))


def plain_traffic(traffic: Traffic, network: Topology) -> str | dict[str, Any] | None:
    """Return the spec or the dict that ``traffic_of`` makes the same traffic from, or None.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> plain_traffic(pairs(4, [0, 3], [1, 2]), mesh(4))
    {'pairs': [[0, 1, 1.0], [3, 2, 1.0]], 'name': 'pairs'}
    """
    spec = traffic.name.removesuffix(GIVEN_RATES)
    named = _made(lambda: parse_traffic(spec, network))
    if _same(named, traffic):
        return spec
    law, count = traffic.law, traffic.num_nodes
    size = len(law.target) if isinstance(law, Weighted) else count
    if size > MOST_LISTED:
        return None
    form: dict[str, Any]
    if isinstance(law, Weighted):
        source, target, share = law.shares(0, count)
        weight = share * traffic.rate[source]
        sends = np.flatnonzero(weight)
        columns = (values[sends].tolist() for values in (source, target, weight))
        return {"pairs": [list(pair) for pair in zip(*columns, strict=True)], "name": traffic.name}
    if isinstance(law, Fixed):
        form = {"targets": law.targets.tolist()}
    elif named is not None and _same(named.law, law):
        form = {"spec": spec}
    else:
        return None
    return form | {"rates": traffic.rate.tolist(), "name": traffic.name}


def traffic_of(form: dict[str, Any], network: Topology) -> Traffic:
    """Return the traffic that a dict describes.

    Parameters
    ----------
    form
        One of ``spec`` (see ``workload.parse_traffic``), ``targets`` (one per node, −1: none) and
        ``pairs`` (source, target, weight). Perhaps ``rates``, one per node, and a ``name``.

    Raises
    ------
    InputError
        If it is no such dict, or describes no traffic.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> traffic_of({"spec": "uniform", "rates": [1, 1, 0, 0]}, mesh(4))
    <uniform with given rates: 2 of 4 nodes send>
    """
    wanted = "one of spec, targets and pairs; perhaps rates and name"
    kinds = [key for key in form if key not in ("rates", "name")]
    if len(kinds) != 1 or kinds[0] not in ("spec", "targets", "pairs"):
        raise InputError("traffic", f"a dict of {', '.join(map(str, form)) or 'nothing'}", wanted)
    kind, name = kinds[0], str(form.get("name", kinds[0]))
    try:
        if kind == "spec":
            found = parse_traffic(str(form["spec"]), network)
        elif kind == "targets":
            found = permutation(form["targets"], to_self=True, name=name)
        else:
            source, target, weight = zip(*form["pairs"], strict=True)
            found = pairs(network.num_hosts, source, target, weights=weight, name=name)
        if form.get("rates") is not None:
            found = with_rates(found, form["rates"])
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        shape = {"targets": "a node each", "pairs": "[source, target, weight] each"}.get(kind, "")
        raise InputError("traffic", f"{kind} or rates of another form", shape or wanted) from None
    if "name" not in form:
        return found
    return Traffic(name, found.num_nodes, found.rate, found.law)


def _recipe(value: Any, network: Topology) -> Callable[[], Any] | None:
    """Return what gives the plain data that stands for an object. None where it is plain."""
    if isinstance(value, list) and any(map(_programs_of, value)):
        return lambda: _plain_programs(value)
    if value is None or isinstance(value, PLAIN):
        return None
    if isinstance(value, Topology) and value.broken:
        return lambda: _plain_faulty(network)
    whole = network.whole
    if isinstance(value, Router):
        return lambda: asdict(value)
    if isinstance(value, Traffic):
        return lambda: plain_traffic(value, whole)
    if isinstance(value, Machine):
        return lambda: _machine_spec(value)
    makers: dict[Any, Callable[[str], Any]] = {
        Topology: topology,
        ProcessGraph: read,
        Lengths: parse_lengths,
        Arrivals: parse_arrivals,
        NamedRouting: lambda spec: parse_routing(spec, network),
    }
    make = next((make for kind, make in makers.items() if isinstance(value, kind)), None)
    if make is None:
        return lambda: None
    name = str(getattr(value, "name", value))
    return lambda: name if _same(_made(lambda: make(name)), value) else None


def _plain_faulty(network: Topology) -> dict[str, str] | None:
    """Return the fields that make a network that lacks parts again, if there are such."""
    assert network.broken
    whole = network.whole
    channels = ",".join(channel_words(whole, np.array(broken_channels(network), np.int64)))
    nodes = ",".join(vertex_word(whole, node) for node in network.failed_nodes)
    again = _made(lambda: without(topology(whole.name), channels=channels, nodes=nodes))
    form = {"on": whole.name, "failed_channels": channels, "failed_nodes": nodes}
    return form if _same(again, network) else None


def _programs_of(item: Any) -> list[ProcessGraph]:
    """Return the process graph in one of several programs, perhaps beside its nodes."""
    parts = item if isinstance(item, list | tuple) else (item,)
    return [part for part in parts if isinstance(part, ProcessGraph)]


def _plain_programs(value: list[Any]) -> list[Any] | None:
    """Return programs as their names and nodes, if all names make the same programs again."""
    graphs = [graph for item in value for graph in _programs_of(item)]
    if not all(_same(_made(lambda name=graph.name: read(name)), graph) for graph in graphs):  # type: ignore[misc]
        return None
    return [_plain_program(item) for item in value]


def _plain_program(item: Any) -> Any:
    """Return one of several programs as plain data: a spec, or a spec and its nodes."""
    if isinstance(item, ProcessGraph):
        return item.name
    if not isinstance(item, list | tuple):
        return item
    app, nodes = item
    return [app.name if isinstance(app, ProcessGraph) else app, np.asarray(nodes).tolist()]


def _machine_spec(value: Machine) -> str | None:
    sides = value.topology.partition(":")[2].replace("w", "")
    for spec in (value.name, f"{value.name}:{sides}"):
        if _made(lambda spec=spec: machine(spec)) == value:  # type: ignore[misc]
            return spec
    return None


def _made(make: Callable[[], Any]) -> Any:
    """Return what a name makes, None where it is the name of nothing."""
    try:
        return make()
    except (InputError, OSError):
        return None


def _same(first: Any, second: Any) -> bool:
    """Whether two objects are equal, arrays and all."""
    if type(first) is not type(second):
        return False
    if isinstance(first, Topology):
        arrays = ("channel_source", "channel_target", "channel_bandwidth", "channel_cycles")
        alike = all(np.array_equal(getattr(first, each), getattr(second, each)) for each in arrays)
        return alike and first.num_hosts == second.num_hosts
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if is_dataclass(first):
        return all(
            _same(getattr(first, each.name), getattr(second, each.name)) for each in fields(first)
        )
    return bool(first == second)
