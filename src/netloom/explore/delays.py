"""The load from which on a channel delays: what the colors of an explorer are relative to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention.ties import tie_named, tied
from netloom.questions.analyze.verdict import delays_from
from netloom.questions.fabric.verdict import FAIR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.base.arrays import Floats
    from netloom.explore.view import Flows, View
    from netloom.questions.recorded import Recorded
    from netloom.topology import Topology


def times_of(view: View) -> Floats:
    """Return float64[num_network_channels]: loads, over bandwidth where that is not one for all.

    In Gb/s where the network knows them. Shares are of bandwidths already.
    """
    if view.unit == "share":
        return view.load
    rate = view.topology.channel_bandwidth[: len(view.load)]
    if not len(rate) or (rate == rate[0]).all():
        return view.load
    return np.asarray(view.load / (rate * (view.topology.reference_gbps or 1.0)), np.float64)


def colored(record: Recorded, views: Sequence[View]) -> list[View]:
    """Return the views of an answer with the load that delays, and what the busiest are called.

    What is compared in one unit has one such load: that of the view that was answered.
    """
    answered = [each for each in views if each.verdict.sentence]
    found = []
    for view in views:
        like = next((each for each in answered if _sent(each) == _sent(view)), view)
        delays, full = delays_of(record, like)
        found.append(replace(view, delays=delays, full=full, tie=_tie(view)))
    return found


def _sent(view: View) -> tuple[str, bool]:
    """Return what is sent: views that differ in it have nothing to compare."""
    return view.unit, bool(view.flows and view.flows.jobs)


def _tie(view: View) -> str:
    """Return what the busiest channels between routers are called, if they are many."""
    return tie_named(view.topology, tied(times_of(view)))


def delays_of(record: Recorded, view: View) -> tuple[float, float]:
    """Return the time of a channel from which on it delays, and the one at which it is full.

    The verdict decides where nothing else is known: no channel delays that it finds fine, and the
    busiest does if something must change.
    """
    most = float(times_of(view).max(initial=0.0))
    known = DELAYS.get(record.verb, _by_hosts)(record, view, most)
    delays, full = (most, 2 * most) if known is None else known
    mark = record.kind.verdict(record.figures).mark
    if view.verdict.sentence and mark == "fine":
        delays = max(delays, most)
    elif view.verdict.sentence and mark == "act":
        delays = min(delays, most)
    full = 1.0 if view.unit == "share" else full
    return delays, max(full, delays)


Known = tuple[float, float] | None


def _of_analysis(record: Recorded, _: View, most: float) -> Known:
    """Return it at the load that is offered, or at the highest that a host can offer."""
    known = delays_from(record.figures)
    return known and (most * known[0], most * known[1])


def _of_fabric(record: Recorded, view: View, most: float) -> Known:
    """Return it of an all-to-all: what the busiest cable must carry, and a little more.

    Of jobs, what the busiest cable carries of the one that suffers most.
    """
    if view.flows is not None and view.flows.jobs:
        alone = most / max(each["slowdown"] for each in record.figures["jobs"])
        return alone, 2 * alone
    ratio = record.figures["all_to_all"]["ratio"]
    return (FAIR * most / ratio, 2 * FAIR * most / ratio) if ratio else None


def _of_load(record: Recorded, _: View, most: float) -> Known:
    """Return it of simulated or predicted loads: the share at saturation, or at what bounds it."""
    figures = record.figures
    loads = record.tables["channels"]
    if "offered" not in loads.columns:
        return min(1.0, most), 1.0
    at = float(loads["offered"].max())  # type: ignore[arg-type]
    points: Sequence[Mapping[str, Any]] = figures.get("points", [figures])
    last = max(points, key=lambda each: each.get("offered", 0.0))
    limit = figures.get("saturation_offered") or last.get("throughput_bound", {}).get("load")
    if not at or not limit:
        return min(1.0, most), 1.0
    if not last.get("stable", True):
        limit = min(limit, last["accepted"])
    return min(1.0, most * limit / at), 1.0


def _by_hosts(_: Recorded, view: View, most: float) -> Known:
    """Return the time that the busiest host needs for what it sends, or for what it receives."""
    if view.unit == "share":
        return 1.0, 1.0
    needed = 0.0 if view.flows is None else host_time(view.topology, view.flows)
    rate = view.topology.channel_bandwidth[: len(view.load)]
    if len(rate) and (rate == rate[0]).all():
        needed *= float(rate[0]) * (view.topology.reference_gbps or 1.0)
    return (needed, max(2 * needed, most)) if needed else None


def host_time(topology: Topology, flows: Flows) -> float:
    """Return the time that the busiest host sends or receives for, at the rate of its ports."""
    source, target = flows.hosts
    moved = source != target
    gbps = topology.reference_gbps or 1.0
    rate = np.full(topology.num_hosts, gbps)
    if not topology.direct:
        first = topology.num_network_channels
        ports = topology.channel_bandwidth[first : first + topology.num_ports] * gbps
        rate = np.bincount(topology.port_host, ports, topology.num_hosts)
    amounts = [
        np.bincount(ends[moved], flows.amount[moved], topology.num_hosts)
        for ends in (source, target)
    ]
    return float((np.maximum(*amounts) / np.where(rate > 0, rate, 1.0)).max(initial=0.0))


DELAYS = {
    "analyze": _of_analysis,
    "check_fabric": _of_fabric,
    "find_saturation": _of_load,
    "predict_latency": _of_load,
    "route_fabric": _of_fabric,
    "simulate": _of_load,
}
"""By verb, what its figures say of it. Of all others the busiest host's own time decides."""
