"""What questions about a simulated network have in common: the network and its routers."""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from netloom.errors import InputError
from netloom.machines import Machine, machine, machine_names
from netloom.provenance import DEFAULT_SEED
from netloom.routing import (
    DimensionOrder,
    Layered,
    RouteTable,
    ShortestPath,
    SourceRoutes,
    UpDown,
)
from netloom.simulation.network.routers import MOST_CYCLES, PRESETS, Router, router
from netloom.topology import Topology
from netloom.verbs.question import MOST_SEED, InstanceOf, Question
from netloom.workload.traffic.lengths import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUTER_FIELDS = tuple(field for field in vars(Router()) if field != "switching")
"""Fields of ``Router`` that a question may change one by one."""


class NetworkQuestion(Question):
    """The fields of a network and its routers.

    Attributes
    ----------
    on
        The network: a topology, a spec such as ``torus:16x16``, or a machine by name.
    failed_channels, failed_nodes
        What of it is broken: links such as ``3-4``, single channels such as ``7->8``, and nodes,
        with commas between them; see ``topology.without``.
    routing
        See ``routing.virtual_channel_routing`` (and ``routing.parse_routing`` for lockstep
        worms); also what ``routing.table`` made.
    router
        A preset (``three-stage``, ``canonical-4-stage``, ``speculative-2-stage``,
        ``single-cycle``), a machine that has one, or a ``Router``, also as a dict. By
        default the machine's own, and ``three-stage`` elsewhere.
    switching
        A technique of ``Router``; the router's by default.
    vcs, buffer_flits, route_cycles, vc_allocation_cycles, switch_allocation_cycles, \
traversal_cycles, speculative, channel_cycles, credit_cycles, injection_channels, \
ejection_channels, oldest_first
        Changes of the router, field by field; see ``Router``.
    seed
        Of everything random.
    """

    on: str | InstanceOf[Topology] | InstanceOf[Machine]
    failed_channels: str | None = None
    failed_nodes: str | None = None
    routing: (
        str
        | InstanceOf[DimensionOrder]
        | InstanceOf[ShortestPath]
        | InstanceOf[UpDown]
        | InstanceOf[Layered]
        | InstanceOf[SourceRoutes]
        | InstanceOf[RouteTable]
    ) = "default"
    router: str | dict[str, Any] | InstanceOf[Router] = "default"
    switching: str | None = None
    vcs: int | None = Field(None, ge=1, le=62)
    buffer_flits: int | None = Field(None, ge=1, le=LONGEST)
    route_cycles: int | None = Field(None, ge=0, le=MOST_CYCLES)
    vc_allocation_cycles: int | None = Field(None, ge=1, le=MOST_CYCLES)
    switch_allocation_cycles: int | None = Field(None, ge=1, le=MOST_CYCLES)
    traversal_cycles: int | None = Field(None, ge=0, le=MOST_CYCLES)
    speculative: bool | None = None
    channel_cycles: int | None = Field(None, ge=0, le=MOST_CYCLES)
    credit_cycles: int | None = Field(None, ge=0, le=MOST_CYCLES)
    injection_channels: int | None = Field(None, ge=0, le=62)
    ejection_channels: int | None = Field(None, ge=0, le=62)
    oldest_first: bool | None = None
    seed: int = Field(DEFAULT_SEED, ge=0, le=MOST_SEED)


def refuse(question: Question, fields: Sequence[str], wanted: str) -> None:
    """Raise InputError if one of the fields was given, where it says nothing of what was asked."""
    for field in fields:
        value, default = getattr(question, field), type(question).model_fields[field].default
        if not np.array_equal(value, default):
            plain = isinstance(value, str | int | float)  # an array has many lines
            found = f"'{value}'" if plain else "a value"
            raise InputError(field, found, wanted)


def asked_router(question: NetworkQuestion, on: Machine | None) -> tuple[str, Router]:
    """Return the router asked for, and its name; a machine's own where none is named.

    Raises
    ------
    InputError
        If there is no such router, or a field's value is out of range.
    """
    changes = {
        field: value
        for field in ROUTER_FIELDS
        if (value := getattr(question, field)) is not None
    }  # fmt: skip
    asked = question.router
    if isinstance(asked, dict):
        asked = router(**asked)
    if isinstance(asked, Router):
        return "as given", replace(asked, **changes)
    if asked == "default" and on is not None and on.router is not None:
        return on.name, replace(on.router, **changes)
    if asked == "default":
        asked = next(iter(PRESETS))
    if asked in PRESETS:
        return asked, router(asked, **changes)
    own = {name: known for name in machine_names() if (known := machine(name).router)}
    if asked not in own:
        raise InputError("router", f"'{asked}'", f"one of {', '.join([*PRESETS, *own])}")
    return asked, replace(own[asked], **changes)
