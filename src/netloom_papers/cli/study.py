"""``netloom study``: tables and figures of papers, recomputed, and what models can be trusted."""

import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from netloom.base.errors import InputError
from netloom.cli.edge import INTERRUPTED
from netloom.cli.help import HelpedCommand, HelpedGroup
from netloom.cli.output import (
    FILES,
    AsJson,
    Writer,
    compilation_announced,
    files_written,
    print_json,
)

FIGURES = {
    "model-accuracy": (
        "netloom_papers.studies.model_accuracy",
        "netloom_papers.exhibits.model_accuracy",
    ),
}
"""Studies with figures: the modules with ``figure_tables`` of a result, and ``figures`` of these.
"""

study = typer.Typer(
    cls=HelpedGroup,
    help="Recompute a table or figure of a paper, or see how far netloom's models can be trusted.",
    rich_markup_mode="rich",
)

Csv = Annotated[
    Path | None,
    typer.Option(
        help="Table of all numbers (.csv or .parquet). The study model-accuracy keeps its "
        "simulations in a .jsonl beside it, and continues from there.",
        rich_help_panel=FILES,
    ),
]

Plot = Annotated[
    Path | None,
    typer.Option(
        help="Picture (.svg, .png, .pdf or .html), or a folder for it (default: "
        "out/PAPER-ITEM.svg). For other studies, a folder for all figures.",
        rich_help_panel=FILES,
    ),
]


@study.command("list", cls=HelpedCommand)
def list_studies(as_json: AsJson = False) -> None:
    """List the tables and figures that can be recomputed, by paper, and other studies."""
    from netloom_papers.ledger import pictures
    from netloom_papers.studies.running import STUDIES

    of_papers = list(pictures().items())
    others = [(name, each.line) for name, each in STUDIES.items()]
    if as_json:
        print_json([{"name": name, "line": line} for name, line in (*of_papers, *others)])
        return
    from netloom_papers.cli.show_study import show_studies

    show_studies(of_papers, others)


@study.command(
    "run",
    cls=HelpedCommand,
    epilog="Example: netloom study run chittor/fig-5.12 --quick",
)
def run_study(
    name: Annotated[
        str, typer.Argument(help="PAPER/ITEM, or another study (see netloom study list).")
    ],
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Compute only a part, for half a minute."),
    ] = False,
    csv: Csv = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Recompute, compare, and say what agrees.

    A table or figure is drawn as the paper has it, printed and computed side by side. What does
    not agree, or a goal that is not met, is a finding and no error: the exit code stays 0. Ctrl-C
    ends a table or figure without an answer. Model-accuracy keeps what is done.
    """
    from netloom_papers.studies.running import STUDIES

    run = _run_study if name in STUDIES else _run_exhibit
    run(name, quick=quick, csv=csv, plot=plot, as_json=as_json)


def exhibit_picture(result: Any) -> Any:
    """Return the picture of a table or figure that was recomputed."""
    from netloom_papers.exhibits.exhibit import exhibit_chart

    title = f"{result.name}: {result.line}"
    return exhibit_chart(title, result.panels, [result.sentence], result.remarks)


def _run_exhibit(
    name: str, *, quick: bool, csv: Path | None, plot: Path | None, as_json: bool
) -> None:
    from netloom.drawing.save import check_picture, check_table
    from netloom.report import save_chart, save_table
    from netloom_papers import ledger

    picture = check_picture(_picture_of(name, plot))
    if csv is not None:
        check_table(csv)
    with compilation_announced():
        try:
            result = ledger.picture(name, quick=quick)
        except KeyboardInterrupt:
            sys.stderr.write(f"netloom: {name} was stopped before its end: no answer\n")
            raise typer.Exit(INTERRUPTED) from None
    writers: list[Writer] = [lambda: f"Picture: {save_chart(exhibit_picture(result), picture)}"]
    if csv is not None:
        writers.insert(0, lambda: f"Table: {save_table(result.table(), csv)}")
    with files_written(writers, quiet=as_json):
        if as_json:
            print_json(result.to_dict() | {"picture": str(picture)})
        else:
            from netloom_papers.cli.show_study import show_exhibited

            show_exhibited(result)


def _picture_of(name: str, plot: Path | None) -> Path:
    """Return the file of a picture: what is asked for, or one named after the table or figure."""
    from netloom.drawing.save import FORMATS

    if plot is not None and plot.suffix in FORMATS:
        return plot
    return (plot or Path("out")) / f"{name.replace('/', '-')}.svg"


def _run_study(
    name: str, *, quick: bool, csv: Path | None, plot: Path | None, as_json: bool
) -> None:
    from netloom_papers.cli.show_study import show_study

    _check_files(name, csv, plot)
    with compilation_announced():
        from netloom_papers.studies.running import run_study as run

        result = run(name, quick=quick, kept=None if csv is None else csv.with_suffix(".jsonl"))
    with files_written(_writers(result, csv, plot), quiet=as_json):
        if as_json:
            print_json(result.to_dict())
        else:
            show_study(result)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_files(name: str, csv: Path | None, plot: Path | None) -> None:
    """Refuse what cannot be written before any work is done."""
    from netloom.drawing.save import check_picture, check_table

    if csv is not None:
        check_table(csv)
    if plot is not None:
        if name not in FIGURES:
            raise InputError("plot", f"figures of '{name}'", f"those of {', '.join(FIGURES)}")
        check_picture(plot / "figure.svg")


def _writers(result: Any, csv: Path | None, plot: Path | None) -> Iterator[Writer]:
    from netloom.report import save_table

    yield lambda: f"Simulated cases: {result.kept}"
    if csv is not None:
        yield lambda: f"Table: {save_table(result.table(), csv)}"
    if plot is not None:
        yield partial(_write_figures, result, plot)


def _write_figures(result: Any, folder: Path) -> str:
    from netloom.report import save_chart

    data, charts = (import_module(module) for module in FIGURES[result.name])
    count = 0
    for name, chart in charts.figures(data.figure_tables(result)):
        save_chart(chart, folder / f"{name}.svg")
        count += 1
    return f"Figures: {count} in {folder}"
