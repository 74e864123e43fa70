"""Views as JSON: loads, flows, and the ways that they go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.explore.blobs import packed
from netloom.explore.network import ports
from netloom.explore.view import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats
    from netloom.explore.view import Flows, Frames, View
    from netloom.routing import Paths


def view_json(view: View) -> dict[str, Any]:
    """Return a view as JSON."""
    return {
        "name": view.name,
        "verdict": view.verdict.to_dict() | {"of": view.verdict.of},
        "command": view.command,
        "unit": view.unit,
        "load": packed(_seven_digits(view.load)),
        "flows": None if view.flows is None else _flows(view.flows),
        "ways": _ways(view),
        "missing": view.missing,
        "delays": view.delays,
        "full": view.full,
        "tie": view.tie,
        "frames": None if view.frames is None else _frames(view.frames),
    }


def _seven_digits(load: Floats) -> NDArray[Any]:
    """Return loads that are no whole numbers with half of their digits: a page shows three."""
    return load if (load == np.floor(load)).all() else load.astype(np.float32)


def _flows(flows: Flows) -> dict[str, Any]:
    """Return flows as JSON: in one word where all ranks send all others as much."""
    ranks = len(flows.host_of)
    found: dict[str, Any] = {
        "ranks": ranks, "host_of": packed(flows.host_of), "of_hosts": flows.of_hosts
    }  # fmt: skip
    if flows.job_of is not None:
        found["job_of"], found["jobs"] = packed(flows.job_of), list(flows.jobs)
    if _all_to_all(flows, ranks):
        return found | {"each": float(flows.amount[0])}
    return found | {
        "source": packed(flows.source, delta=bool((np.diff(flows.source) >= 0).all())),
        "target": packed(flows.target),
        "amount": packed(flows.amount),
    }


def _all_to_all(flows: Flows, ranks: int) -> bool:
    """Whether each rank sends each other as much, in order."""
    many = len(flows.source)
    if not many or many != ranks * (ranks - 1) or (flows.amount != flows.amount[0]).any():
        return False
    source, target = np.divmod(np.arange(many), ranks - 1)
    target += target >= source
    return np.array_equal(flows.source, source) and np.array_equal(flows.target, target)


def _ways(view: View) -> dict[str, Any] | None:
    ways = view.ways
    if ways is None:
        return None
    if isinstance(ways, Table):
        known = ways.next_channel >= 0
        port = np.where(known, ports(view.topology)[ways.next_channel] + 1, 0)
        return {"table": packed(port.T)}  # 0: none
    return _paths(ways, view.topology.num_network_channels)


def _paths(ways: Paths, inside: int) -> dict[str, Any]:
    """Return paths as JSON, without the channels of hosts."""
    kept = ways.channels < inside
    path = np.repeat(np.arange(len(ways)), ways.lengths)[kept]
    found = {
        "hops": packed(np.bincount(path, minlength=len(ways))),
        "channels": packed(ways.channels[kept]),
    }
    if ways.pair is not None:
        found["flow"] = packed(ways.pair, delta=True)
    if ways.probability is not None:
        found["probability"] = packed(ways.probability)
    return found


def _frames(frames: Frames) -> dict[str, Any]:
    """Return frames as JSON: shares of 250, each but the first as what changed."""
    shares = np.rint(250 * np.clip(frames.busy, 0, 1)).astype(np.uint8)
    changed = np.diff(shares, axis=0, prepend=np.zeros((1, shares.shape[1]), np.uint8))
    return {
        "unit": frames.unit,
        "edges": packed(frames.edges),
        "most": 250,
        "changes": packed(changed),
        "critical": [list(each) for each in frames.critical],
    }
