"""The fields of the question which algorithm of a collective is fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, SkipValidation

from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import listed
from netloom.phases.plan.plans import MOST_CHANNELS
from netloom.questions.base import InstanceOf, Question, argument, option
from netloom.questions.fields import (
    BrokenParts,
    HostNames,
    OnNetwork,
    PathRouting,
    Placed,
    Seconds,
    Seeded,
    Timing,
)
from netloom.questions.simulate.engines import OTHERS, engines
from netloom.simulation.network.routers import Router
from netloom.workload.programs.collectives.algorithms import MOST_RANKS
from netloom.workload.traffic.stream import LONGEST

if TYPE_CHECKING:
    EngineName: TypeAlias = str
else:
    EngineName = Literal["flow", "network", *OTHERS]

ENGINES = listed(
    [
        "flow (bytes and seconds)",
        "network (flit by flit)",
        *(f"{name} ({each.messages})" for name, each in engines().items()),
    ],
    last="or",
)

SIZES = "1KB:1GB"
Sizes = Annotated[str | float | list[Any], SkipValidation]


class WhichCollective(Question, panel="Collective"):
    """The collective, its sizes and its algorithms."""

    collective: str = argument(
        "Collective: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, "
        "gather, scatter or barrier.",
        kw_only=False,
    )
    size: Sizes = option(
        "Sizes as nccl-tests count them: 64MB, 1KB,1MB, or 1KB:1GB (by 4; 1KB:1GB:2 by 2).",
        default=SIZES,
    )
    algorithm: str = option(
        "Algorithms: all, or some by name (ring,bruck,swing).",
        default="all",
    )
    ranks: Annotated[int, Field(ge=1, le=MOST_RANKS)] | None = option(
        "Number of ranks.", default=None, shown_default="as many as the nodes take"
    )
    root: int = option(
        "Root of broadcast, reduce, gather or scatter.", default=0, ge=0, lt=MOST_RANKS
    )
    chunks: Annotated[int, Field(ge=1, le=2**16)] | None = option(
        "Number of chunks per vector.",
        default=None,
        shown_default="for chains and trees those that suit a size, else 1",
    )
    reorder: bool = option("Search for a better rank order too.", default=False)
    engine: EngineName = option(f"Engine: {ENGINES}.", default="flow")
    injection: Literal["in-order", "shared"] | None = option(
        "Order of a node's messages: in-order (one by one) or shared.",
        default=None,
        shown_default="in-order; shared for a linear all-to-all, which libraries post at once",
    )
    end_channels: int = option(
        "Own channels per node of a mesh or torus: 1, or 0 to use all its links at once.",
        default=0,
        ge=0,
        le=1,
    )


class FlitsAndCycles(Question, panel=f"Engine{'s' * bool(OTHERS)} {listed(['network', *OTHERS])}"):
    """How engines of cycles run it."""

    flit_bytes: int | None = option(
        "Size of a flit, which a channel moves per cycle (bytes).",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="the machine's, else 64",
    )
    packet_flits: int | None = option(
        "Limit of a packet, in flits; longer messages are cut.",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default=f"messages are packets, of up to {LONGEST}",
    )
    router: str | dict[str, Any] | InstanceOf[Router] = option(
        "Router of network: three-stage, single-cycle, canonical-4-stage, speculative-2-stage or "
        "a machine's.",
        default="default",
        shown_default="the machine's own, else three-stage",
        file=True,
    )


class OnReservedChannels(Question, panel="Phases on reserved channels"):
    """What a network takes that can reserve channels for phases."""

    reserved_channels: int = option(
        "Virtual channels for phases, per node or per channel (trees).",
        default=12,
        ge=1,
        le=MOST_CHANNELS,
    )
    switch_time: Seconds | None = option(
        "Time before each phase, such as 5us.",
        default=None,
        shown_default="a barrier of the ranks",
    )


class CollectiveQuestion(
    HostNames,
    Seeded,
    Timing,
    Placed,
    OnReservedChannels,
    FlitsAndCycles,
    BrokenParts,
    PathRouting,
    OnNetwork,
    WhichCollective,
):
    """A collective on a network, by each algorithm and size."""
