"""Lockstep worms: single-flit buffers, a blocked head stops its whole message (Chittor 1991)."""

from __future__ import annotations

from typing import Any

from netloom.questions.base import Question, option
from netloom.questions.simulate.engines import Engine, flow_routing
from netloom.routing import Routing
from netloom.topology import Topology
from netloom.topology.measures import check_alike
from netloom_papers.worms.engine import Worm, WormEngine, check_one_path

__all__ = ["ENGINE", "Worm", "WormEngine", "check_one_path"]


class Worms(Question, panel="Engine"):
    """How lockstep worms are arbitrated."""

    arbitration: str | None = option(
        "Arbitration of worms: timestamp, fifo, fifo-lru, biased or source.", default=None
    )
    release_cycles: int | None = option(
        "Time until a tail frees its channel: 0, 1.", unit="cycles", default=None, ge=0, le=1
    )


def _prepare(question: Any, topology: Topology) -> tuple[Worm, Routing]:
    """Return how worms switch, and their routing: one path for each pair of nodes.

    They have one VC, on which ``layered``, the default elsewhere round failures, may deadlock.
    """
    from netloom.routing import UpDown

    check_alike(topology, "lockstep worms")
    fields = {"switching", "arbitration", "release_cycles", "end_channels"}
    ends = {"end_channels": int(not topology.direct)}  # hosts on routers have channels of their own
    worm = Worm(**ends | question.model_dump(include=fields, exclude_none=True))
    if question.routing == "default" and topology.broken:
        return worm, UpDown()
    routing = flow_routing(question.routing, topology)
    check_one_path(routing)
    return worm, routing


ENGINE = Engine("Chittor's lockstep worms", "lockstep worms", Worms, _prepare)
"""The engine ``worm``."""
