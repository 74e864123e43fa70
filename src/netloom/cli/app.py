"""``netloom`` and its commands. Nothing heavy is imported until a command needs it."""

import atexit
import gc
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from netloom._version import __version__
from netloom.base.declared import declared
from netloom.cli import experiment, plans
from netloom.cli.commands import ADDED, Commands, HelpedCommand
from netloom.cli.edge import AsJson, advice_shown, print_json, run_guarded

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
    from importlib.resources import files

    from netloom.drawing.save import check_writable, make_folder

    make_folder(check_writable(folder, folder=True))
    data = files("netloom.cli").joinpath("data", PROGRAM)
    (folder / PROGRAM).write_bytes(data.read_bytes())
    app: Any = ctx.find_root().command
    for command in COMMANDS:
        typer.echo(f"$ {command}")
        words = [str(folder / word) if Path(word).suffix else word for word in shlex.split(command)]
        app.main(words[1:], "netloom", standalone_mode=False)
        typer.echo()
    typer.echo(f"All files are in {folder}. Next: the same for your program, on your network.")


DOCS = (
    "netloom --install-completion: your shell completes commands and options.\n"
    "Documentation: docs/index.md of the source (make docs builds it as a site)."
)
"""What more there is, and where to read on."""

app = typer.Typer(
    name="netloom",
    cls=Commands,
    help="Example: netloom analyze hypercube:6 --on torus:8x8 --plot hot.png\n\n"
    "Will this parallel program's communication contend on this network, and where?",
    epilog=DOCS,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line and exit. A user's mistake is one line, and exit code 2."""
    gc.set_threshold(50_000)  # modules stay: looking through them takes a tenth of a start,
    atexit.register(gc.freeze)  # and at the end once more a tenth
    with advice_shown():
        code = run_guarded(lambda: app(prog_name="netloom", standalone_mode=False))
    sys.exit(code)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"netloom {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Version.")
    ] = False,
) -> None:
    del version


own = partial(app.command, cls=HelpedCommand)

own("compile verify", epilog=plans.VERIFY_EPILOG)(plans.verify)
own(epilog="Example: netloom demo")(demo)
own(epilog=experiment.RUN_EPILOG)(experiment.run)
own(epilog=experiment.RESULTS_EPILOG)(experiment.results)
own()(experiment.schema)
own(epilog=experiment.REPORT_EPILOG)(experiment.report)
own(epilog=experiment.EXPLORE_EPILOG)(experiment.explore)


@own(epilog="Example: netloom names --on leaf-spine:8x4x8")
def names(
    on: Annotated[str, typer.Option("--on", help="Network, or machine name.")],
    as_json: AsJson = False,
) -> None:
    """List the hosts and switches of a network, by the names that options take."""
    from netloom.cli.show import show_names
    from netloom.questions.named import find_network
    from netloom.topology.names import names_of

    found = names_of(find_network(on, switches=True)[0])
    if as_json:
        print_json(found)
    else:
        show_names(found)


@own()
def machines(as_json: AsJson = False) -> None:
    """List the machines that ``--on`` knows by name."""
    from netloom.machines import machine, machine_names

    known = [machine(name) for name in machine_names()]
    if as_json:
        from dataclasses import asdict

        print_json([asdict(each) for each in known])
        return
    from netloom.cli.show import show_machines

    show_machines(known)


@own()
def routings(as_json: AsJson = False) -> None:
    """List the routings: which networks they fit, and which commands take them there."""
    from netloom.routing.parse import NETWORKS, rows

    if as_json:
        print_json([{"routing": names, **dict(zip(NETWORKS, cells, strict=True))}
                    for names, cells in rows()])  # fmt: skip
        return
    from netloom.cli.show import show_routings

    show_routings()


for _added in declared("commands").values():
    _title, _names = _added.load()(app)
    ADDED.setdefault(_title, []).extend(_names)
