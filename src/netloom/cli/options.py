"""The options of the commands, each said once: its name, its help and its group."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

LOAD = "Offered load (said at most one way)"
FILES = "Files to write"
FAULTS = "Broken parts"

App: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Process graph: a matrix (.mtx, .csv, .npz, .graphml), a folder or glob of Open MPI "
        ".prof files, or a spec such as hypercube:10.",
    ),
]
On: TypeAlias = Annotated[
    str, typer.Option(help="Network (mesh:8x8, torus:4x4x4, graph:FILE) or machine name.")
]
Mapping: TypeAlias = Annotated[
    str, typer.Option(help="identity, random, a layout (gray, tiles, fold ...), or a file.")
]
Routing: TypeAlias = Annotated[
    str,
    typer.Option(
        "--routing",
        "--routes",
        help="default, dimension-order[:0,1], xy, shortest-path or routes:FILE (or the file).",
    ),
]
Weight: TypeAlias = Annotated[
    str, typer.Option(help="An edge's share of the traffic: bytes, messages or uniform.")
]
TasksPerNode: TypeAlias = Annotated[int, typer.Option(help="Tasks that a node takes.")]
RandomMappings: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Random mappings to compare with.", show_default="25, fewer if large"),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of everything random.")]
Messages: TypeAlias = Annotated[
    str | None, typer.Option(help="Second MatrixMarket file: message counts.")
]
Parts: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of Open MPI monitoring: network, point-to-point, collectives, one-sided or "
        "collective-calls."
    ),
]

FailedChannels: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Links that are broken: 3-4,7->8 (one way).", rich_help_panel=FAULTS),
]
FailedNodes: TypeAlias = Annotated[
    str | None, typer.Option(help="Nodes that are broken: 5,9.", rich_help_panel=FAULTS)
]

Offered: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Traffic of the average node, fraction of a channel.", rich_help_panel=LOAD),
]
RunSeconds: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Length of the recorded run (on a machine).", rich_help_panel=LOAD),
]
InstructionsPerMessage: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Instructions between two messages (on a machine).", rich_help_panel=LOAD),
]
Mips: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Million instructions a second, with the former.", rich_help_panel=LOAD),
]

Plot: TypeAlias = Annotated[
    Path | None, typer.Option(help="Picture: .png, .svg, .pdf or .html.", rich_help_panel=FILES)
]
SaveMapping: TypeAlias = Annotated[
    Path | None, typer.Option(help="The mapping, .json or text.", rich_help_panel=FILES)
]
RankFile: TypeAlias = Annotated[
    Path | None, typer.Option(help="Rank file that applies the mapping.", rich_help_panel=FILES)
]
RankFileFormat: TypeAlias = Annotated[
    str,
    typer.Option(
        help="openmpi-rankfile, openmpi-seq, mpich, slurm or cray.", rich_help_panel=FILES
    ),
]
Hosts: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Host names, node 0 first (default: the network's).", rich_help_panel=FILES),
]

Paper: TypeAlias = Annotated[
    str, typer.Argument(help="One paper, such as chittor; all by default.")
]
Reference: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="With router: a table of another simulator's results to compare with."),
]
Figures: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the paper's figures, recomputed and redrawn, each as by netloom study run."
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
