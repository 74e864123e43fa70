"""Traffic as plain data and back, and whether a name makes the same object again."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.topology import Topology
from netloom.workload.traffic import Traffic, pairs, permutation, with_rates
from netloom.workload.traffic.parse import parse_traffic
from netloom.workload.traffic.targets import Fixed, Weighted

if TYPE_CHECKING:
    from collections.abc import Callable

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
        source, target, share = law.shares(0, count)
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
