"""``netloom`` and its commands. Nothing heavy is imported until a command needs it."""

import sys
from typing import Annotated

import typer

from netloom._version import __version__
from netloom.cli import experiment, options
from netloom.cli.compile import EPILOG as COMPILE_EPILOG
from netloom.cli.compile import compile_
from netloom.cli.edge import run_guarded
from netloom.cli.hotspot import EPILOG as HOTSPOT_EPILOG
from netloom.cli.hotspot import hotspot
from netloom.cli.map import EPILOG as MAP_EPILOG
from netloom.cli.map import map_
from netloom.cli.output import (
    advice_shown,
    check_files,
    check_rank_file,
    compilation_announced,
    mapping_writers,
    print_json,
    write_each,
)
from netloom.cli.predict import predict
from netloom.cli.report import EPILOG as REPORT_EPILOG
from netloom.cli.report import report
from netloom.cli.simulate import EPILOG, simulate
from netloom.cli.study import study
from netloom.cli.validate import validate
from netloom.provenance import DEFAULT_SEED

DOCS = "Documentation: docs/index.md of the source; make docs builds it as a site."
"""Where to read on."""

app = typer.Typer(
    name="netloom",
    help="Will this parallel program's communication contend on this network, and where?",
    epilog=f"Example: netloom analyze hypercube:6 --on torus:8x8 --plot hot.png\n\n{DOCS}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line and exit; a user's mistake is one line, and exit code 2."""
    with advice_shown():
        code = run_guarded(lambda: app(standalone_mode=False))
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


@app.command(epilog="Example: netloom analyze examples/lammps-64.mtx --on torus:8x8 --plot hot.png")
def analyze(
    app: options.App,
    on: options.On,
    mapping: options.Mapping = "identity",
    routing: options.Routing = "default",
    weight: options.Weight = "bytes",
    tasks_per_node: options.TasksPerNode = 1,
    failed_channels: options.FailedChannels = None,
    failed_nodes: options.FailedNodes = None,
    random_mappings: options.RandomMappings = None,
    seed: options.Seed = DEFAULT_SEED,
    messages: options.Messages = None,
    parts: options.Parts = "network",
    offered: options.Offered = None,
    run_seconds: options.RunSeconds = None,
    instructions_per_message: options.InstructionsPerMessage = None,
    mips: options.Mips = None,
    plot: options.Plot = None,
    save_mapping: options.SaveMapping = None,
    rankfile: options.RankFile = None,
    rankfile_format: options.RankFileFormat = "openmpi-rankfile",
    hosts: options.Hosts = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell, without simulating, where a mapped program contends and what limits it."""
    check_files(plot, (save_mapping, rankfile))
    check_rank_file(rankfile_format, hosts)
    with compilation_announced():
        from netloom.questions.analyze.question import analyze as ask

        result = ask(
            app,
            on,
            messages=messages,
            parts=parts,
            mapping=mapping,
            hosts=hosts,
            routing=routing,
            weight=weight,
            tasks_per_node=tasks_per_node,
            failed_channels=failed_channels,
            failed_nodes=failed_nodes,
            random_mappings=random_mappings,
            seed=seed,
            offered=offered,
            run_seconds=run_seconds,
            instructions_per_message=instructions_per_message,
            mips=mips,
        )
    if as_json:
        print_json(result.to_dict())
    else:
        from netloom.cli.show import show_analysis

        show_analysis(result)
    writers = [*mapping_writers(result, save_mapping, rankfile, rankfile_format, hosts)]
    if plot is not None:
        from netloom.report import chart_of, save_chart

        writers.append(lambda: f"Picture: {save_chart(chart_of(result), plot)}")
    write_each(writers, quiet=as_json)  # the figures stay whatever becomes of it


app.command(epilog=EPILOG)(simulate)
app.add_typer(predict, name="predict")
app.command(epilog=HOTSPOT_EPILOG)(hotspot)
app.command("map", epilog=MAP_EPILOG)(map_)
app.command("compile", epilog=COMPILE_EPILOG)(compile_)
app.add_typer(study, name="study")
app.command(epilog=experiment.RUN_EPILOG)(experiment.run)
app.command(epilog=experiment.RESULTS_EPILOG)(experiment.results)
app.command()(experiment.schema)
app.command(epilog=REPORT_EPILOG)(report)
app.command()(validate)


@app.command()
def machines(as_json: options.AsJson = False) -> None:
    """List the machines that ``--on`` knows by name."""
    from netloom.machines import machine, machine_names

    known = [machine(name) for name in machine_names()]
    if as_json:
        from dataclasses import asdict

        print_json([asdict(each) for each in known])
        return
    from netloom.cli.show import show_machines

    show_machines(known)
