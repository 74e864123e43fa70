"""Traffic patterns by name, and as plain data.

``parse_traffic`` makes a pattern on a network from its name. ``plain_traffic`` says by which name
or dict ``traffic_of`` makes the same traffic again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from math import isqrt, prod
from typing import Any

import numpy as np

from netloom.base.arrays import Ints, distinct
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import parse_sides, real_number, split_spec, whole_number
from netloom.base.words import counted, or_near
from netloom.topology import Cube, Topology
from netloom.topology.core import HyperXShape
from netloom.workload.graphs import generators
from netloom.workload.graphs.generators import PERMUTATIONS
from netloom.workload.graphs.process_graph import ProcessGraph
from netloom.workload.traffic import (
    Traffic,
    asymmetric,
    hot_spot,
    incast,
    pairs,
    permutation,
    uniform,
    with_rates,
)
from netloom.workload.traffic.patterns import Fixed, Weighted, adversarial, first_router

# -- by name ---------------------------------------------------------------------------------------


TRAFFICS = (
    "uniform, transpose, bit-complement, bit-reverse, shuffle, tornado, neighbour, shift:1,5, "
    "random-permutation, random-permutation:SEED, tornado:32x32, neighbour:32x32, asymmetric, "
    "hotspot:FRACTION:NODES, hotspot:FRACTION:NODES:BASE (each also with -self), adversarial, "
    "adversarial:+K, incast:SENDERS:NODES or pairs:0-63,5-12"
)

_PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?:\*(.+))?")


def parse_traffic(spec: str, topology: Topology, nodes: Ints | None = None) -> Traffic:
    """Return the traffic pattern that ``spec`` names, on the nodes of this network.

    Parameters
    ----------
    spec
        ``uniform``, to any other node. A permutation: ``transpose`` (of the nodes as a square
        matrix), ``bit-complement``, ``bit-reverse``, ``shuffle`` (of the bits of their numbers),
        ``tornado``, ``neighbour`` (of their coordinates). Nodes that it leaves where they are do
        not send. With ``-self`` (``uniform-self``, ``transpose-self``), packets to the source
        itself belong to it. ``asymmetric``: of N nodes, s sends to s mod N/2 and to that plus N/2.
        Half of it to itself with ``-self``. ``hotspot:0.1:0,63*2``: a tenth of the packets to
        nodes 0 and 63, twice as many to 63, the others uniform, or by a third part,
        ``hotspot:0.1:0,63:transpose``. A hot node never takes itself, but with ``hotspot-self``.
        ``incast:8:0,63``: 8 nodes each send to node 0 and to node 63 only, drawn at random (by a
        third part, ``incast:8:0,63:SEED``, others). ``incast:all:0``: all other nodes. Without
        nodes, to node 0. ``pairs:0-63,5-12*2``: between these pairs only, node 5 at twice the rate
        of node 0. ``adversarial``, ``adversarial:+2``: to any host of the next group, or of the
        second next, of a dragonfly. Pods of fat trees and rows of HyperX are groups too, see
        ``patterns.adversarial``. ``next-group`` is another name of it. ``shift:1,5``: node i sends
        to i + 1 and to i + 5, half to each. ``random-permutation``, ``random-permutation:7``: drawn
        with this seed. ``tornado:32x32`` and ``neighbour:32x32`` take nodes as a grid of these
        sides, row-major, whatever the network is.
    topology
        The network, whose hosts are the nodes. ``tornado`` and ``neighbour`` need coordinates. If
        several hosts share a router of a k-ary n-cube or HyperX, each sends to the host in its own
        place on the router that the pattern names.
    nodes
        int[num_nodes], the nodes among which a permutation or shift is, in their order: the first
        is its node 0. ``tornado`` and ``neighbour`` without sides take them as a ring.

    Raises
    ------
    InputError
        If the name is not known, or does not fit the network.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> parse_traffic("transpose", mesh(4, 4))
    <transpose: 12 of 16 nodes send>
    >>> parse_traffic("hotspot:0.1:15", mesh(4, 4))
    <hotspot:0.1:15: 16 of 16 nodes send>
    >>> parse_traffic("bit-complement", mesh(5, 5), np.arange(16))
    <bit-complement on 16 hosts: 16 of 25 nodes send>
    """
    name, argument = split_spec(spec)
    pattern = name.removesuffix("-self")
    to_self = pattern != name
    by_coordinates = pattern in generators.BY_SIDES and nodes is None and not argument
    if pattern in _LISTED and not by_coordinates:
        return _listed(spec, topology, nodes, to_self=to_self)
    if nodes is not None:
        found = f"'{spec}' between the nodes of a list"
        raise InputError("nodes", found, f"one of uniform, {', '.join(_LISTED)}")
    if pattern == "hotspot":
        return _hot_spot(argument, spec, topology, to_self=to_self)
    if name in _WITH_ARGUMENT:
        return _WITH_ARGUMENT[name](argument, spec, topology)
    if spec == "next-group":
        return adversarial(topology, name=name)
    if argument or pattern not in ("uniform", "asymmetric", *_LISTED):
        known = [*_WITH_ARGUMENT, *_LISTED, "hotspot", "uniform", "asymmetric"]
        wanted = or_near(name, known, TRAFFICS)
        raise InputError(f"traffic '{spec}'", f"'{argument or name}'", wanted)
    if pattern == "uniform":
        return uniform(topology.num_hosts, to_self=to_self)
    if pattern == "asymmetric":
        return asymmetric(topology.num_hosts, to_self=to_self)
    targets = _of_network(pattern, topology, f"traffic '{spec}'")
    return permutation(targets, to_self=to_self, name=name)


def _hot_spot(argument: str, spec: str, topology: Topology, *, to_self: bool) -> Traffic:
    where = f"traffic '{spec}'"
    fraction, _, rest = argument.partition(":")
    listed, _, base = rest.partition(":")
    if not listed:
        wanted = "hotspot:FRACTION:NODES, such as hotspot:0.1:0,63"
        raise InputError(where, "no hot nodes", wanted)
    nodes, weights = [], []
    for word in listed.split(","):
        node, star, weight = word.partition("*")
        nodes.append(whole_number(node.strip(), where=where))
        weights.append(real_number(weight, where=where) if star else 1.0)
    others = parse_traffic(base or "uniform", topology)
    share = real_number(fraction, where=where)
    return hot_spot(others, share, nodes, weights=weights, to_self=to_self)


def _adversarial(argument: str, spec: str, topology: Topology) -> Traffic:
    ahead = argument.removeprefix("+") or "1"
    return adversarial(topology, whole_number(ahead, where=f"traffic '{spec}'", least=1))


def _incast(argument: str, spec: str, topology: Topology) -> Traffic:
    where = f"traffic '{spec}'"
    senders, *rest = (word.strip() for word in argument.split(":"))
    if not senders or len(rest) > 2:
        wanted = "incast:SENDERS, incast:SENDERS:NODES or incast:SENDERS:NODES:SEED; or incast:all"
        raise InputError(where, f"'{argument}'", wanted)
    nodes = [whole_number(node.strip(), where=where) for node in (rest or ["0"])[0].split(",")]
    return incast(
        topology.num_hosts,
        None if senders == "all" else whole_number(senders, where=where, least=1),
        nodes,
        seed=whole_number(rest[1], where=where) if len(rest) > 1 else DEFAULT_SEED,
    )


def _pairs(argument: str, spec: str, topology: Topology) -> Traffic:
    where = f"traffic '{spec}'"
    found = [(word, _PAIR.fullmatch(word.strip())) for word in argument.split(",")]
    ends = []
    weights = []
    for word, match in found:
        if match is None:
            raise InputError(where, f"'{word}'", "pairs of nodes such as 0-63,5-12 or 5-12*2")
        ends.append((int(match[1]), int(match[2])))
        weights.append(real_number(match[3] or "1", where=where))
    sources, targets = np.array(ends, np.int64).T
    name = f"pairs:{argument}"
    return pairs(topology.num_hosts, sources, targets, weights=weights, name=name)


_WITH_ARGUMENT = {"adversarial": _adversarial, "incast": _incast, "pairs": _pairs}


def _listed(spec: str, topology: Topology, nodes: Ints | None, *, to_self: bool) -> Traffic:
    """Return a pattern among the nodes of a list: the i-th sends to where its task i does."""
    name, argument = split_spec(spec)
    where = f"traffic '{spec}'"
    listed = np.arange(topology.num_hosts) if nodes is None else np.asarray(nodes)
    more = ", by --nodes if need be" if nodes is None else ""
    graph = _among(name.removesuffix("-self"), argument, len(listed), where, more)
    source, target = listed[graph.source], listed[graph.target]
    spec = spec if argument else name
    if nodes is not None:
        spec = f"{spec} on {counted(len(listed), 'host')}"
    if len(source) > len(distinct(source)):
        if to_self:
            raise InputError(
                where, "several targets of a host, and itself", name.removesuffix("-self")
            )
        return pairs(topology.num_hosts, source, target, name=spec)
    targets = np.full(topology.num_hosts, -1, np.int32)
    targets[listed] = listed
    targets[source] = target
    return permutation(targets, to_self=to_self, name=spec)


_LISTED = (*PERMUTATIONS, "shift", "random-permutation")
"""Patterns among nodes that are numbered in the order of a list."""


def _of_network(pattern: str, topology: Topology, where: str) -> Ints:
    """Return the target of each host by a permutation of them all."""
    routers = topology.routers
    shape = routers if isinstance(routers, Cube) else topology.family
    if not isinstance(shape, Cube | HyperXShape):
        wanted = "a k-ary n-cube (mesh, torus, ...) or a HyperX, which has coordinates"
        raise InputError(where, f"the network {topology.name}", wanted)
    graph = generators.BY_SIDES[pattern](*shape.sides)
    to = np.arange(graph.num_tasks)
    to[graph.source] = graph.target
    # the host in the same place on the router to which that of each host sends
    router = topology.switch_of[first_router(topology)]
    hosts = np.argsort(router, kind="stable").astype(np.int32)  # router by router
    many = np.bincount(router, minlength=len(to))
    if many.min() != many.max():
        found = f"{many.min()} to {many.max()} hosts on a router of {topology.name}"
        raise InputError(where, found, "as many on each")
    targets = np.empty_like(hosts)
    targets[hosts] = hosts.reshape(len(to), -1)[to].ravel()
    return targets


def _among(pattern: str, argument: str, count: int, where: str, more: str) -> ProcessGraph:
    """Return a pattern among so many nodes, by their numbers in a list."""
    if pattern == "shift":
        if not argument:
            raise InputError(where, "no distance", "shift:1 or shift:1,5")
        distances = [whole_number(word.strip(), where=where) for word in argument.split(",")]
        return generators.shift(count, *distances)
    if pattern == "random-permutation":
        seed = whole_number(argument, where=where) if argument else DEFAULT_SEED
        return generators.random_permutation(count, seed)
    if pattern in generators.BY_SIDES:
        sides = parse_sides(argument, where=where) if argument else (count,)
        if prod(sides) != count:
            found = f"{argument}, {counted(prod(sides), 'host')}"
            raise InputError(where, found, f"sides of {counted(count, 'host')}, or other --nodes")
        return generators.BY_SIDES[pattern](*sides)
    if argument:
        raise InputError(where, f"'{argument}'", "no number behind it")
    root, square = isqrt(count), pattern == "transpose"
    if not (root**2 == count if square else count.bit_count() == 1):
        wanted = "a square number" if square else "a power of two"
        raise InputError(where, counted(count, "host"), f"{wanted} of them{more}")
    return generators.BY_COUNT[pattern](root if square else count)


# -- as plain data ---------------------------------------------------------------------------------


MOST_LISTED = 2**16
"""Most nodes or pairs of nodes that a record lists one by one."""

GIVEN_RATES = " with given rates"
"""What ``with_rates`` adds to the name of a traffic."""


def plain_traffic(traffic: Traffic, network: Topology) -> str | dict[str, Any] | None:
    """Return the spec or the dict that ``traffic_of`` makes the same traffic from, or None.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> plain_traffic(pairs(4, [0, 3], [1, 2]), mesh(4))
    {'pairs': [[0, 1, 1.0], [3, 2, 1.0]], 'name': 'pairs'}
    """
    spec = traffic.name.removesuffix(GIVEN_RATES)
    named = made(lambda: parse_traffic(spec, network))
    if same(named, traffic):
        return spec
    law, count = traffic.law, traffic.num_nodes
    size = len(law.target) if isinstance(law, Weighted) else count
    if size > MOST_LISTED:
        return None
    form: dict[str, Any]
    if isinstance(law, Weighted):
        source, target, share = law.shares()
        weight = share * traffic.rate[source]
        sends = np.flatnonzero(weight)
        columns = (values[sends].tolist() for values in (source, target, weight))
        return {"pairs": [list(pair) for pair in zip(*columns, strict=True)], "name": traffic.name}
    if isinstance(law, Fixed):
        form = {"targets": law.targets.tolist()}
    elif named is not None and same(named.law, law):
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


def made(make: Callable[[], Any]) -> Any:
    """Return what a name makes, None where it is the name of nothing."""
    try:
        return make()
    except (InputError, OSError):
        return None


def same(first: Any, second: Any) -> bool:
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
            same(getattr(first, each.name), getattr(second, each.name)) for each in fields(first)
        )
    return bool(first == second)
