"""The options of ``netloom compile``, each said once: its name, its help and its group."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

PATTERN = "Pattern, and where its tasks run"
NETWORK = "Network, and what it holds"
HOW = "How it is compiled"
COSTS = "Costs of the machine, in clocks (those of iWarp)"
FILES = "Files to write"

Pattern: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Who talks to whom: a file (.mtx, .csv, .npz, .graphml), Open MPI .prof files, or a "
        "spec such as all-to-all:64 or fem:wing.vtu/64. Or verify, or run.",
    ),
]
PlanFile: TypeAlias = Annotated[
    Path | None, typer.Argument(help="With verify and run: a plan that --out wrote.")
]

On: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Network (torus:8x8, mesh:4x4, graph:FILE) or machine name.", rich_help_panel=NETWORK
    ),
]
Channels: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Virtual channels for connections, of each node or channel.", rich_help_panel=NETWORK
    ),
]
Per: TypeAlias = Annotated[
    str,
    typer.Option(
        help="node: a connection takes one at every node of its path, both ends included; channel: "
        "one on every channel.",
        rich_help_panel=NETWORK,
    ),
]
FailedChannels: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Links that are broken: 3-4,7->8 (one way).", rich_help_panel=NETWORK),
]
FailedNodes: TypeAlias = Annotated[
    str | None, typer.Option(help="Nodes that are broken: 5,9.", rich_help_panel=NETWORK)
]

Words: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Words of every connection, instead of the pattern's bytes.", rich_help_panel=PATTERN
    ),
]
WordBytes: TypeAlias = Annotated[
    int, typer.Option(help="Bytes of a word.", rich_help_panel=PATTERN)
]
Order: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="File of lines such as '0 1 < 2 3': the words from task 0 to 1 before those from 2 "
        "to 3.",
        rich_help_panel=PATTERN,
    ),
]
Mapping: TypeAlias = Annotated[
    str,
    typer.Option(
        help="identity, random, gray (hypercubes), distance:HOPS or a file.",
        rich_help_panel=PATTERN,
    ),
]
TasksPerNode: TypeAlias = Annotated[
    int, typer.Option(help="Tasks that a node takes.", rich_help_panel=PATTERN)
]
Parts: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of Open MPI monitoring: network, point-to-point, collectives, one-sided or "
        "collective-calls.",
        rich_help_panel=PATTERN,
    ),
]

Method: TypeAlias = Annotated[
    str,
    typer.Option(
        help="symmetric (regular patterns on tori), negotiated (any), sequential (the paper's), "
        "or auto.",
        rich_help_panel=HOW,
    ),
]
Objective: TypeAlias = Annotated[
    str,
    typer.Option(
        help="phases: as few as can be found, then short ones; time: the least of all phases and "
        "switches.",
        rich_help_panel=HOW,
    ),
]
Schedule: TypeAlias = Annotated[
    str,
    typer.Option(
        help="streaming: all connections of a phase at once, word by word; shared: one at a time "
        "at each processor; timetable: so too, as if no channel were shared; auto: streaming, or "
        "shared where processors are slower than channels or --one-way.",
        rich_help_panel=HOW,
    ),
]
Execute: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--execute", help="Simulate phases, and messages, flit by flit.", rich_help_panel=HOW
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of all chance.", rich_help_panel=HOW)]

SyncClocks: TypeAlias = Annotated[
    float, typer.Option(help="To synchronise before a phase.", rich_help_panel=COSTS)
]
PhaseClocks: TypeAlias = Annotated[
    float, typer.Option(help="To set up a phase.", rich_help_panel=COSTS)
]
ClocksPerWord: TypeAlias = Annotated[
    float, typer.Option(help="Of a processor.", rich_help_panel=COSTS)
]
ChannelClocksPerWord: TypeAlias = Annotated[
    float, typer.Option(help="Of a channel.", rich_help_panel=COSTS)
]
OneWay: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--one-way", help="A processor sends or receives, not both at once.", rich_help_panel=COSTS
    ),
]
SendClocks: TypeAlias = Annotated[
    float, typer.Option(help="Overhead of sending a message.", rich_help_panel=COSTS)
]
ReceiveClocks: TypeAlias = Annotated[
    float, typer.Option(help="Overhead of receiving one.", rich_help_panel=COSTS)
]

Gantt: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Gantt chart: .png, .svg, .pdf or .html.", rich_help_panel=FILES),
]
Map: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--map",
        help="Every phase on the network: .png, .svg, .pdf or .html.",
        rich_help_panel=FILES,
    ),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Plan file: phases, routes, times, programs.", rich_help_panel=FILES),
]
Programs: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Programs of the nodes: a .json file, or a folder for a text file a node.",
        rich_help_panel=FILES,
    ),
]
