"""The options of ``netloom predict``, each said once: its name, its help and its group."""

from typing import Annotated, TypeAlias

import typer

NETWORK = "Network and router"
MESSAGES = "Messages"
PROGRAM = "Program"
PROCESSORS = "Processors and their transactions"
SIMULATION = "Simulation beside the model"

RATES = "START:STOP:STEP, or 0:auto[:STEPS], up to where it saturates"
SIZES = "64,256 or START:STOP:STEP or START:STOP:xFACTOR"

K: TypeAlias = Annotated[
    int | None, typer.Option("--k", help="Nodes a side (8).", rich_help_panel=NETWORK)
]
Dimensions: TypeAlias = Annotated[
    int | None, typer.Option(help="Dimensions of the torus (2).", rich_help_panel=NETWORK)
]
Torus: TypeAlias = Annotated[
    str | None,
    typer.Option("--on", help="Instead of its size: torus:8x4.", rich_help_panel=NETWORK),
]
On: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Network (mesh:8x8, torus:4x4x4, graph:FILE) or machine name.", rich_help_panel=NETWORK
    ),
]
Vcs: TypeAlias = Annotated[
    int, typer.Option(help="Virtual channels of every channel, 3 or more.", rich_help_panel=NETWORK)
]
InjectionChannels: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Channels from a node into the network; 0: as many as to its neighbours.",
        rich_help_panel=NETWORK,
    ),
]
Routing: TypeAlias = Annotated[
    str,
    typer.Option(
        "--routing",
        "--routes",
        help="default, dimension-order, shortest-path, layered, up-down or routes:FILE: one that "
        "leaves no choice of channels.",
        rich_help_panel=NETWORK,
    ),
]
Switching: TypeAlias = Annotated[
    str | None,
    typer.Option(help="wormhole or virtual-cut-through.", rich_help_panel=NETWORK),
]

MessageFlits: TypeAlias = Annotated[
    int, typer.Option(help="Length of all messages.", rich_help_panel=MESSAGES)
]
Broadcast: TypeAlias = Annotated[
    float, typer.Option(help="Part of them that are broadcast.", rich_help_panel=MESSAGES)
]
Rate: TypeAlias = Annotated[
    str,
    typer.Option(help=f"Messages a node and cycle: 0.002, {RATES}.", rich_help_panel=MESSAGES),
]
StartupCycles: TypeAlias = Annotated[
    float, typer.Option(help="Of every message before it is sent.", rich_help_panel=MESSAGES)
]
Variant: TypeAlias = Annotated[
    str,
    typer.Option(
        help="improved; or the published model, consistent or printed.", rich_help_panel=MESSAGES
    ),
]
Offered: TypeAlias = Annotated[
    str,
    typer.Option(
        help=f"Offered traffic of the average sending node, flits/cycle: 0.2, {RATES}.",
        rich_help_panel=MESSAGES,
    ),
]
PacketFlits: TypeAlias = Annotated[
    int, typer.Option(help="Length of all packets.", rich_help_panel=MESSAGES)
]
TrafficName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Instead of a program a pattern, as for simulate (uniform).", rich_help_panel=MESSAGES
    ),
]

App: TypeAlias = Annotated[
    str | None, typer.Option(help="Process graph, as for analyze.", rich_help_panel=PROGRAM)
]
Mapping: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of the app: identity, random, layout, distance:4 or a file.", rich_help_panel=PROGRAM
    ),
]
Weight: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of an edge of the app: bytes, messages or uniform.", rich_help_panel=PROGRAM
    ),
]
TasksPerNode: TypeAlias = Annotated[
    int, typer.Option(help="Tasks of the app that a node takes.", rich_help_panel=PROGRAM)
]
MessagesFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Second MatrixMarket file of the app: message counts.", rich_help_panel=PROGRAM
    ),
]
Parts: TypeAlias = Annotated[
    str,
    typer.Option(help="Part of Open MPI monitoring, as for analyze.", rich_help_panel=PROGRAM),
]

Nodes: TypeAlias = Annotated[
    str | None, typer.Option(help=f"Size of the torus (1000): {SIZES}.", rich_help_panel=NETWORK)
]
Contexts: TypeAlias = Annotated[
    float,
    typer.Option(
        help="Hardware contexts of a processor, or transactions that it has outstanding.",
        rich_help_panel=PROCESSORS,
    ),
]
NetworkSpeed: TypeAlias = Annotated[
    float,
    typer.Option(help="The network's clock over the processor's.", rich_help_panel=PROCESSORS),
]
Distance: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Mean hops of a message; by default those of a random mapping.",
        rich_help_panel=PROGRAM,
    ),
]
NodeChannels: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Channels between node and router that messages queue for: 0, 1 or 2.",
        rich_help_panel=NETWORK,
    ),
]
RunProcessorCycles: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Useful work between two transactions (8.055).", rich_help_panel=PROCESSORS),
]
SwitchProcessorCycles: TypeAlias = Annotated[
    float | None,
    typer.Option(help="From one context to another (11).", rich_help_panel=PROCESSORS),
]
FixedProcessorCycles: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Of a transaction beside its messages (38.85 with one context).",
        rich_help_panel=PROCESSORS,
    ),
]
TransactionMessages: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Messages of a transaction (3.2).", rich_help_panel=PROCESSORS),
]
CriticalMessages: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Those that follow one another (1.895 with one context).", rich_help_panel=PROCESSORS
    ),
]
MeanFlits: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--message-flits", help="Mean length of a message (12).", rich_help_panel=PROCESSORS
    ),
]

Sizes: TypeAlias = Annotated[
    str, typer.Option("--nodes", help=f"Sizes of the networks, powers of two: {SIZES}.")
]
MessageHeaders: TypeAlias = Annotated[
    str, typer.Option(help="Lengths of messages over that of their headers.")
]
PathLengths: TypeAlias = Annotated[
    str,
    typer.Option("--distance", help="neighbours, average or worst: where messages go."),
]
Form: TypeAlias = Annotated[
    str, typer.Option(help="exact; or chittor-1991, the approximations that the thesis prints.")
]

Simulate: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--simulate", help="Simulate some of the points beside it.", rich_help_panel=SIMULATION
    ),
]
Cycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Cycles to measure; by default as many as the precision needs.",
        rich_help_panel=SIMULATION,
    ),
]
Precision: TypeAlias = Annotated[
    float,
    typer.Option(
        help="95 % confidence interval of the mean latency, as a fraction of it, that is narrow "
        "enough.",
        rich_help_panel=SIMULATION,
    ),
]
MostCycles: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Cycles after which a run ends however far it has come.", rich_help_panel=SIMULATION
    ),
]
