"""The fields that simulations share: programs, open loads, and the engine that runs a program."""

from __future__ import annotations

from types import new_class
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import listed
from netloom.questions.base import InstanceOf, Question, option
from netloom.questions.fields import (
    Arriving,
    BrokenParts,
    EdgeWeight,
    Measured,
    NetworkQuestion,
    OnNetwork,
    PacketLengths,
    PacketRouting,
    PatternTraffic,
    Payload,
    Placed,
    ProgramFile,
    RouterFields,
    Seeded,
    Timing,
)
from netloom.questions.simulate.engines import OTHERS, others
from netloom.simulation.flow.engine import Injection, Sharing
from netloom.workload import ProcessGraph


class ProgramNames(Question, panel="Program"):
    """A program, or several."""

    app: str | InstanceOf[ProcessGraph] | list[Any] | None = option(
        "Process graph, as for analyze: A.mtx, or A.mtx@0-31 on these nodes. Repeat it "
        "for programs that run together.",
        default=None,
        several=True,
        file=True,
    )


class Programs(Placed, ProgramFile, ProgramNames, panel="Program"):
    """A program, or several at once, each on nodes of its own."""

    shared: bool = option("Allow several programs on one node.", default=False)
    alone: bool = option(
        "Also run each program alone, to measure its slowdown.",
        default=True,
        flags=("--alone/--no-alone",),
    )


class Techniques(Question, panel="Router"):
    """The switching techniques that are compared."""

    switching: str | None = option(
        "Switching: wormhole, virtual-cut-through, store-and-forward, circuit or "
        "reserved. Several (a,b), or all, are compared.",
        default=None,
        shown_default="the router's",
    )


class OpenLoad(
    Seeded,
    Measured,
    BrokenParts,
    Techniques,
    RouterFields,
    EdgeWeight,
    Programs,
    Arriving,
    PatternTraffic,
    PacketRouting,
    OnNetwork,
):
    """A network whose nodes offer packets at a given rate: those of a pattern, or of a program."""

    packet_flits: PacketLengths = option(
        "Length of packets: flits, uniform:1-9, bimodal:1,9,0.5 or geometric:5.",
        default=5,
        panel="Traffic",
    )
    specialize: Literal["auto", "yes", "no"] = option(
        "Compile the simulator for this router alone, some 5 s once: auto (if runs are long), "
        "yes or no. Answers do not change.",
        default="auto",
        panel="Router",
    )

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads asked for, rising. None if they are what is looked for."""
        return ()


MOVED = listed([f"{name}s" for name in (*OTHERS, "flow")], last="or")


class NodeChannels(Question, panel="Engine"):
    """How messages get from a node into the network."""

    injection: Injection = option(
        "Order of a node's flows: in-order (one by one) or shared.", default="in-order"
    )
    end_channels: int | None = option(
        f"Channels per node, {MOVED}: 1, or 0 for unlimited.", default=None, ge=0, le=1
    )


if TYPE_CHECKING:
    EngineName: TypeAlias = str
else:
    EngineName = Literal["network", *OTHERS, "flow"]

ENGINES = listed(
    [
        "network (virtual-channel routers, flit by flit)",
        *(f"{name} ({each.said})" for name, each in others().items()),
        "flow (flows that share channels fairly)",
    ],
    last="or",
)


class OneEngine(NodeChannels, panel="Engine"):
    """The engine that was chosen."""

    engine: EngineName = option(f"Engine: {ENGINES}. Each has its own options.", default="network")


if TYPE_CHECKING:
    Engines = OneEngine
else:
    Engines = new_class("Engines", (*(each.fields for each in others().values()), OneEngine))


class Engine(Engines, panel="Engine"):
    """What runs a program."""

    packet_flits: int | None = option(
        "Limit of a packet, to which messages are cut.",
        unit="flits",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="messages are packets",
    )
    most_cycles: int = option(
        "Limit of a run.", unit="cycles", default=20_000_000, ge=1, lt=2**31, panel="When to stop"
    )


class ProgramQuestion(Engine, NetworkQuestion):
    """A program that drives a network and waits for it, and the engine that runs it."""


class Flows(Payload, Timing, panel="Flows: bytes and seconds"):
    """How flows share channels, and how fast these are."""

    sharing: Sharing = option(
        "Sharing of full channels: max-min, by-latency (as SimGrid) or lossless (back-pressure).",
        default="max-min",
    )
    tolerance: float = option(
        "Relative lateness within which events count as one (0: none).", default=0.0, ge=0, le=0.1
    )


class AnyProgramQuestion(Flows, ProgramQuestion):
    """A program that drives a network and waits for it, in cycles or in seconds."""
