"""The options of ``netloom simulate``, each said once: its name, its help and its group."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

NETWORK = "Network and router"
TRAFFIC = "Traffic"
STOP = "When to stop"
FILES = "Files to write"

What: TypeAlias = Annotated[
    str, typer.Argument(help="saturation: find the load at which the network saturates.")
]

On: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Network (mesh:8x8, torus:4x4x4, graph:FILE) or machine name.", rich_help_panel=NETWORK
    ),
]
Routing: TypeAlias = Annotated[
    str,
    typer.Option(
        "--routing",
        "--routes",
        help="default, dimension-order, xy, adaptive, west-first, negative-first, odd-even, "
        "o1turn, valiant, romm, shortest-path, layered, up-down or routes:FILE (or the file).",
        rich_help_panel=NETWORK,
    ),
]
RouterName: TypeAlias = Annotated[
    str,
    typer.Option(
        help="three-stage, canonical-4-stage, speculative-2-stage, single-cycle or a machine; by "
        "default the machine's own, else three-stage.",
        rich_help_panel=NETWORK,
    ),
]
Switching: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="wormhole, virtual-cut-through, store-and-forward, circuit, reserved; several (a,b) "
        "or all, side by side.",
        rich_help_panel=NETWORK,
    ),
]
Vcs: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Virtual channels of every channel.", rich_help_panel=NETWORK),
]
BufferFlits: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Flits that the buffer of a VC holds.", rich_help_panel=NETWORK),
]
RouteCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Route computation; 0: done ahead.", rich_help_panel=NETWORK),
]
VcAllocationCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="VC allocation.", rich_help_panel=NETWORK),
]
SwitchAllocationCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Switch allocation.", rich_help_panel=NETWORK),
]
TraversalCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Switch traversal.", rich_help_panel=NETWORK),
]
Speculative: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--speculative/--no-speculative",
        help="Allocate VC and switch in one stage.",
        rich_help_panel=NETWORK,
    ),
]
ChannelCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Delay of a channel.", rich_help_panel=NETWORK),
]
CreditCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Delay of a credit beyond the channel's.", rich_help_panel=NETWORK),
]
InjectionChannels: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Channels from a node into its router; 0: unlimited.", rich_help_panel=NETWORK
    ),
]
EjectionChannels: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Channels from a router to its node; 0: unlimited.", rich_help_panel=NETWORK),
]
OldestFirst: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--oldest-first/--round-robin",
        help="Allocate to the oldest packet, not round-robin.",
        rich_help_panel=NETWORK,
    ),
]
Load: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Offered traffic of the average sending node, flits/cycle: 0.2, 0.1,0.2 or "
        "START:STOP:STEP.",
        rich_help_panel=TRAFFIC,
    ),
]
TrafficName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="uniform (default), transpose, bit-complement, bit-reverse, shuffle, tornado, "
        "neighbour, hot-spot:0.1:NODES, pairs:0-63,5-12; most also with -self.",
        rich_help_panel=TRAFFIC,
    ),
]
PacketFlits: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Packet length: 5 (default), uniform:1-9, bimodal:1,9,0.5 or geometric:5. Of a "
        "program: into what messages are cut.",
        rich_help_panel=TRAFFIC,
    ),
]
Arrivals: TypeAlias = Annotated[
    str,
    typer.Option(help="bernoulli, poisson or on-off:BURST_CYCLES,DUTY.", rich_help_panel=TRAFFIC),
]
Seed: TypeAlias = Annotated[
    int,
    typer.Option(help="Seed of everything random.", rich_help_panel=TRAFFIC),
]
App: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Instead of a pattern: a process graph, as for analyze; A@0-31 runs it on these "
        "nodes, several together where the option is given more than once.",
        rich_help_panel=TRAFFIC,
    ),
]
Alone: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--alone/--no-alone",
        help="Run each of several programs on its own too, to compare.",
        rich_help_panel=TRAFFIC,
    ),
]
Shared: TypeAlias = Annotated[
    bool,
    typer.Option("--shared", help="Programs may share nodes.", rich_help_panel=TRAFFIC),
]
Mapping: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of the app: identity, random, layout, distance:4 or a file.", rich_help_panel=TRAFFIC
    ),
]
Weight: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of an edge of the app: bytes, messages or uniform.", rich_help_panel=TRAFFIC
    ),
]
TasksPerNode: TypeAlias = Annotated[
    int,
    typer.Option(help="Tasks of the app that a node takes.", rich_help_panel=TRAFFIC),
]
Messages: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Second MatrixMarket file of the app: message counts.", rich_help_panel=TRAFFIC
    ),
]
Parts: TypeAlias = Annotated[
    str,
    typer.Option(help="Part of Open MPI monitoring, as for analyze.", rich_help_panel=TRAFFIC),
]
Cycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Cycles to measure; by default as many as the precision needs.", rich_help_panel=STOP
    ),
]
Precision: TypeAlias = Annotated[
    float,
    typer.Option(
        help="95 % confidence interval of the mean latency, as a fraction of it, that is narrow "
        "enough.",
        rich_help_panel=STOP,
    ),
]
MostCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Cycles after which a run ends however far it has come.", rich_help_panel=STOP
    ),
]
Plot: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Picture: .png, .svg, .pdf or .html.", rich_help_panel=FILES),
]
