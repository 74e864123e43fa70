"""``netloom demo``: two questions about a real program, in some seconds."""

import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

EPILOG = "Example: netloom demo"

PROGRAM = "lammps-64.mtx"
"""What 64 ranks of the molecular dynamics program LAMMPS send each other, in bytes."""

COMMANDS = (
    f"netloom analyze {PROGRAM} --on mesh:8x8 --plot contention.png",
    f"netloom map {PROGRAM} --on mesh:8x8 --rounds 4 --plot mapping.png --rankfile ranks.txt",
)
"""What is asked: where it contends, and which mapping mends that."""


def demo(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder for the files.")] = Path("netloom-demo"),
) -> None:
    """Ask two questions about a real program: where does it contend, and what mends that?

    The program is LAMMPS on 64 ranks, as recorded. Its file, pictures and a rank file are written
    into a folder, so that each command can be tried again there.
    """
    from netloom.drawing.save import check_writable, make_folder

    make_folder(check_writable(folder, folder=True))
    data = files("netloom.cli").joinpath("data", PROGRAM)
    (folder / PROGRAM).write_bytes(data.read_bytes())
    for command in COMMANDS:
        typer.echo(f"$ {command}")
        _ask(ctx.find_root().command, _within(folder, shlex.split(command)[1:]))
        typer.echo()
    typer.echo(f"All files are in {folder}. Next: the same for your program, on your network.")


def _within(folder: Path, words: list[str]) -> list[str]:
    """Return the words of a command with its files in a folder."""
    return [str(folder / word) if Path(word).suffix else word for word in words]


def _ask(app: Any, words: list[str]) -> None:
    app.main(words, "netloom", standalone_mode=False)
