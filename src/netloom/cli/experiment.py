"""``netloom run``, ``netloom results`` and ``netloom schema``: many questions in one file."""

import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.cli.edge import FAILED, INTERRUPTED, MISTAKE
from netloom.cli.output import FILES, AsJson, compilation_announced, files_written, print_json

RUN_EPILOG = "Example: netloom run examples/torus-vs-mesh.toml --store sweep.sqlite"
RESULTS_EPILOG = "Example: netloom results sweep.sqlite --csv sweep.csv"

MOST_REASONS = 5
"""Most reasons that are told why points cannot be asked."""

STANDARD_OUTPUT = Path("-")

Experiment = Annotated[Path, typer.Argument(help="Experiment file, .toml.")]
Store = Annotated[
    Path | None,
    typer.Option(help="Store of the answers (.sqlite). Default: beside the file."),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Number of processes (default: one per processor), or of Slurm jobs."),
]
Cluster = Annotated[
    str | None,
    typer.Option(help="Cluster to run on: a Dask scheduler (tcp://HOST:PORT), or slurm."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Count the points, check them and estimate the time.")
]
Source = Annotated[
    Path, typer.Argument(help="Store (.sqlite), or experiment file (.toml) that has run.")
]
Name = Annotated[
    str, typer.Option("--experiment", help="Name of the experiment, if the store has several.")
]
Provenance = Annotated[
    bool,
    typer.Option("--provenance", help="Also print the time, date and version of each point."),
]
Csv = Annotated[
    Path | None,
    typer.Option(help="Table (.csv), or - for standard output.", rich_help_panel=FILES),
]
Parquet = Annotated[Path | None, typer.Option(help="Table (.parquet).", rich_help_panel=FILES)]


def run(
    file: Experiment,
    store: Store = None,
    workers: Workers = None,
    cluster: Cluster = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Answer all questions of an experiment file that are not answered yet, on all cores.

    Every answer is saved immediately. If the run stops in any way, the same command continues.
    The exit code is 2 if some points cannot be asked.
    """
    if dry_run:
        if cluster is not None:
            raise InputError("cluster", "a dry run", "none: what points take is tried here")
        from netloom.experiments.runner import estimate

        guess = estimate(file, store=store, workers=workers)
        if as_json:
            print_json(guess.to_dict())
        else:
            from netloom.cli.show import show_estimate

            show_estimate(guess)
        _say_refused(guess.reasons)
        return
    from netloom.experiments.runner import run as run_experiment
    from netloom.experiments.runner import store_of
    from netloom.experiments.workers import LostError

    kept = store_of(file, store)
    try:
        with compilation_announced():
            found = run_experiment(file, store=store, workers=workers, cluster=cluster)
    except KeyboardInterrupt:
        again = "finished points are kept, and the same command goes on"
        sys.stderr.write(f"netloom: stopped; {again} ({kept})\n")
        raise typer.Exit(INTERRUPTED) from None
    except LostError as error:
        sys.stderr.write(f"netloom: {error}\n")
        raise typer.Exit(FAILED) from None  # the same command may do later
    if as_json:
        print_json(found.to_dict())
    else:
        from netloom.cli.show import show_results

        show_results(found)
        points = len(found.answered) + len(found.refused)
        before = f", {found.from_store:,} of {points:,} from the store" if found.from_store else ""
        typer.echo(f"Store: {kept}{before}; a page of it: netloom report {kept} -o report.html")
    if found.unused:
        answers = counted(found.unused, "answer", ",")
        unused = f"{answers} of other code of netloom stay unused: delete the file to drop them"
        sys.stderr.write(f"netloom: {kept}: {unused}\n")
    _say_refused(Counter(each.reason for each in found.refused))


def results(
    file: Source,
    experiment: Name = "",
    csv: Csv = None,
    parquet: Parquet = None,
    provenance: Provenance = False,
    as_json: AsJson = False,
) -> None:
    """Show what an experiment has found, or write a table with one row per observation."""
    from netloom.drawing.save import check_table, save_table
    from netloom.experiments.findings import load_results

    for path, suffix in ((csv, ".csv"), (parquet, ".parquet")):
        if path is not None and path != STANDARD_OUTPUT:
            check_table(path)
            if path.suffix != suffix:
                raise InputError(str(path), f"suffix '{path.suffix}'", suffix)
    found = load_results(file, experiment)
    table = found.table(provenance=provenance)

    def save(path: Path) -> str:
        return f"Table: {save_table(table, path)} ({counted(len(table), 'row')})"

    files = [path for path in (csv, parquet) if path is not None and path != STANDARD_OUTPUT]
    printed = as_json or csv == STANDARD_OUTPUT
    with files_written([partial(save, path) for path in files], quiet=printed):
        if as_json:
            print_json(found.to_dict(provenance=provenance))
        elif csv == STANDARD_OUTPUT:
            typer.echo(table.write_csv(), nl=False)
        elif not files:
            from netloom.cli.show import show_results

            show_results(found)


def schema(
    of_results: Annotated[
        bool,
        typer.Option(
            "--results", help="Of answers instead: what commands print with --json, and tables."
        ),
    ] = False,
) -> None:
    """Print the JSON Schema of experiment files, for editors that complete and check them."""
    if of_results:
        from netloom.questions.answer_schema import results_schema

        print_json(results_schema())
        return
    from netloom.experiments.file_schema import schema as schema_of

    print_json(schema_of())


def _say_refused(reasons: dict[str, int]) -> None:
    """Say which points cannot be asked, reason by reason, and exit with 2 if there are any."""
    for reason, count in list(reasons.items())[:MOST_REASONS]:
        points = counted(count, "point") if count > 1 else "a point"
        sys.stderr.write(f"netloom: {points} cannot be asked: {reason}\n")
    if len(reasons) > MOST_REASONS:
        sys.stderr.write(f"netloom: and for {len(reasons) - MOST_REASONS} other reasons\n")
    if reasons:
        raise typer.Exit(MISTAKE)
