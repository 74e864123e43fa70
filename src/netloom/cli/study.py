"""``netloom study``: experiments that say how far something can be trusted."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from netloom.cli import options
from netloom.cli.output import advice_shown, compilation_announced, print_json
from netloom.cli.simulate import INTERRUPTED
from netloom.errors import InputError

FIGURES = {
    "model-accuracy": ("netloom.studies.model_accuracy_figures", "netloom.report.model_accuracy"),
}
"""Studies with figures: the modules with ``figure_tables`` of a result, and ``figures`` of these.
"""

study = typer.Typer(
    help="Run a study: many simulations, and what they say of netloom's models.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Csv = Annotated[
    Path | None,
    typer.Option(
        help="All figures as a table, .csv or .parquet. What was simulated is kept beside it, as "
        ".jsonl (default: out/NAME.jsonl), and a study that was stopped goes on from there.",
        rich_help_panel=options.FILES,
    ),
]


@study.command("list")
def list_studies(as_json: options.AsJson = False) -> None:
    """List the studies that there are."""
    from netloom.studies.running import STUDIES

    if as_json:
        print_json([{"name": name, "line": each.line} for name, each in STUDIES.items()])
        return
    for name, each in STUDIES.items():
        typer.echo(f"{name}  {each.line}")


@study.command("run", epilog="Example: netloom study run model-accuracy --quick --plot figures")
def run_study(
    name: Annotated[str, typer.Argument(help="The study; see netloom study list.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Only as much as takes less than a minute.")
    ] = False,
    csv: Csv = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Folder for the figures, .svg.", rich_help_panel=options.FILES),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate, compare, and say which goals are met. Ctrl-C keeps what is done.

    A goal that is not met is a finding and no error: the exit code stays 0.
    """
    _check_files(name, csv, plot)
    with compilation_announced(), advice_shown():
        from netloom.studies.running import run_study as run

        result = run(name, quick=quick, kept=None if csv is None else csv.with_suffix(".jsonl"))
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result)
    written = _written(result, csv, plot)  # the answer stays whatever becomes of them
    if not as_json:
        for line in written:
            typer.echo(line)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_files(name: str, csv: Path | None, plot: Path | None) -> None:
    """Refuse what cannot be written before any work is done."""
    from netloom.report.save import check_picture, check_table

    if csv is not None:
        check_table(csv)
    if plot is not None:
        from netloom.studies.running import STUDIES

        if name in STUDIES and name not in FIGURES:
            raise InputError("plot", f"figures of '{name}'", f"those of {', '.join(FIGURES)}")
        check_picture(plot / "figure.svg")


def _written(result: Any, csv: Path | None, plot: Path | None) -> list[str]:
    from netloom.report import save_chart, save_table

    lines = [f"Simulated cases: {result.kept}"]
    if csv is not None:
        lines.append(f"Table: {save_table(result.table(), csv)}")
    if plot is not None:
        data, charts = (import_module(module) for module in FIGURES[result.name])
        count = 0
        for name, chart in charts.figures(data.figure_tables(result)):
            save_chart(chart, plot / f"{name}.svg")
            count += 1
        lines.append(f"Figures: {count} in {plot}")
    return lines


def _show(result: Any) -> None:
    """Print the tables, the goals, and what they come to."""
    from rich.table import Table
    from rich.text import Text

    from netloom.cli.show import console

    screen = console()
    for section in result.sections:
        screen.print(f"[bold]{section.title}[/]", soft_wrap=True)
        table = Table(box=None, pad_edge=False, header_style="dim")
        for index, column in enumerate(section.columns):
            table.add_column(column, justify="right" if index else "left")
        for row in section.rows:
            table.add_row(*row)
        screen.print(table, soft_wrap=True)
        for remark in section.remarks:
            screen.print(Text(remark, style="dim"), soft_wrap=True)
        screen.print()
    goals = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("goal", "at most", "found", "", "worst at"):
        goals.add_column(column, justify="right" if column in ("at most", "found") else "left")
    for goal in result.goals:
        met = Text("yes", style="green") if goal.met else Text("NO", style="red")
        goals.add_row(
            goal.what, f"{goal.limit:g} {goal.unit}", f"{goal.found:.3g} {goal.unit}", met,
            goal.where,
        )  # fmt: skip
    screen.print(goals)
    screen.print(result.sentence)
    if result.interrupted:
        screen.print("• interrupted: what was finished by then; the same command goes on from here")
