"""The options of ``netloom map``, each said once: its name, its help and its group."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

WHERE = "Where tasks may run"
SEARCH = "What is looked for, and how long"
CHECK = "Simulation of before and after"
FILES = "Files to write"

Nodes: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Allocated nodes, a file or a list: 0-31,40, n[3-7], host names; one or several a "
        "line.",
        rich_help_panel=WHERE,
    ),
]
Hosts: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Host names, for --nodes and rank files: line n is node n (default: the network's).",
        rich_help_panel=WHERE,
    ),
]
TasksPerNode: TypeAlias = Annotated[
    int, typer.Option(help="Tasks that a node takes.", rich_help_panel=WHERE)
]

Objective: TypeAlias = Annotated[
    str,
    typer.Option(
        help="max-channel-load, hop-bytes, path-contention, saturation, or a mixture such as "
        "hop-bytes:1,max-channel-load:2.",
        rich_help_panel=SEARCH,
    ),
]
Seconds: TypeAlias = Annotated[
    float,
    typer.Option(
        help="Processor time of the search (seconds), of all threads together.",
        rich_help_panel=SEARCH,
    ),
]
Rounds: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Rounds of annealing instead, however long they take: the same answer every time.",
        rich_help_panel=SEARCH,
    ),
]
LayoutName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="No search, but a mapping made for such programs: tiles, gray, fold, hilbert ...",
        rich_help_panel=SEARCH,
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of all chance.", rich_help_panel=SEARCH)]

Simulate: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--simulate",
        help="Simulate both at one load, in paired runs: the verdict listens to these.",
        rich_help_panel=CHECK,
    ),
]
Load: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Offered traffic of the average node, fraction of a channel; by default what the "
        "busiest channel can just carry afterwards.",
        rich_help_panel=CHECK,
    ),
]

Plot: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Picture of before and after: .png, .svg, .pdf or .html.", rich_help_panel=FILES
    ),
]
Routing: TypeAlias = Annotated[
    str,
    typer.Option(help="default, dimension-order[:0,1], xy, shortest-path or routes:FILE."),
]
Routes: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Choose routes as well (source routing), and write them: for --routing routes:FILE.",
        rich_help_panel=FILES,
    ),
]
