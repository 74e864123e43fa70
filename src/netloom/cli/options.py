"""The options that several commands without a question have."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

FILES = "Files to write"

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
