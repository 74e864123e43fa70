"""``netloom validate`` and ``netloom study``: papers recomputed, and what models can be trusted."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from netloom.base.errors import InputError
from netloom.cli.commands import HelpedCommand, HelpedGroup
from netloom.cli.edge import (
    FILES,
    INTERRUPTED,
    AsJson,
    Writer,
    compilation_announced,
    files_written,
    print_json,
)

Paper = Annotated[str, typer.Argument(help="Paper, such as chittor (default: all).")]
Reference = Annotated[
    Path | None,
    typer.Option(help="Table of another simulator's results, for validate router."),
]
Figures = Annotated[
    Path | None,
    typer.Option(help="Folder for the paper's figures, recomputed."),
]
Rows = Annotated[
    Path | None,
    typer.Option("--csv", help="Table of all rows (.csv or .parquet).", rich_help_panel=FILES),
]
Markdown = Annotated[
    Path | None,
    typer.Option(
        help="Page (.md): rates by kind, counts by table, and all rows outside.",
        rich_help_panel=FILES,
    ),
]


def validate(
    paper: Paper = "",
    reference: Reference = None,
    figures: Figures = None,
    csv: Rows = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Recompute results of papers and other implementations, and show both side by side.

    The rate of printed numbers counts each number that a paper prints once. Statements in words,
    formulas evaluated and results of other implementations have rates of their own.

    Exits with 1 when a number falls outside its tolerance, unless it is known not to reproduce
    and says why.
    """
    from netloom.drawing.save import check_picture, check_table, check_writable

    if csv is not None:
        check_table(csv)
    if markdown is not None:
        if markdown.suffix != ".md":
            raise InputError(str(markdown), f"suffix '{markdown.suffix}'", ".md")
        check_writable(markdown)
    if figures is not None:
        from netloom_papers.ledger import pictures

        papers = dict.fromkeys(name.partition("/")[0] for name in pictures())
        if paper not in papers:
            found = f"figures of '{paper}'" if paper else "figures of all papers"
            raise InputError("figures", found, f"those of {', '.join(papers)}")
        check_picture(figures / "figure.svg")
    with compilation_announced():
        from netloom_papers.studies import validate as recompute

        result = recompute(paper, reference=None if reference is None else str(reference))
        writers: list[Writer] = [] if csv is None else [_table_writer(result, csv)]
        if markdown is not None:
            writers.append(partial(_write_page, result, markdown))
        if figures is not None:
            writers.append(partial(_write_figures, paper, figures))
        from netloom_papers.cli.show_study import show_validation

        _tell(result, show_validation, writers, as_json=as_json)
    if result.failures:
        raise typer.Exit(1)


def _tell(
    result: Any, show: Callable[[Any], None], writers: list[Writer], *, as_json: bool, **more: str
) -> None:
    """Show a result, or print its JSON with ``more``, and write its files."""
    with files_written(writers, quiet=as_json):
        if as_json:
            print_json(result.to_dict() | more)
        else:
            show(result)


def _write_page(result: Any, path: Path) -> str:
    from netloom.base.textfiles import write_text
    from netloom.drawing.save import make_folder
    from netloom_papers.studies.validation_page import page

    make_folder(path.parent)
    write_text(path, page(result))
    return f"Page: {path}"


def _write_figures(paper: str, folder: Path) -> str:
    """Draw the figures of a paper."""
    from netloom_papers.ledger import picture, pictures

    names = [name for name in pictures() if name.startswith(f"{paper}/fig-")]
    for name in names:
        _draw_picture(picture(name), folder / f"{name.partition('/')[2]}.svg")
    return f"Figures: {len(names)} in {folder}"


def _draw_picture(made: Any, path: Path) -> Path:
    """Draw a table or figure that was recomputed."""
    from netloom.report import save_chart
    from netloom_papers.exhibits import exhibit_chart

    said = [made.sentence] if made.sentence else []
    save_chart(exhibit_chart(f"{made.name}: {made.line}", made.panels, said, made.remarks), path)
    return path


def _table_writer(result: Any, path: Path) -> Writer:
    from netloom.report import save_table

    return lambda: f"Table: {save_table(result.table(), path)}"


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
        help="Picture of a paper's table or figure (.svg, .png, .pdf or .html), or a folder for "
        "it (default: out/PAPER-ITEM.svg).",
        rich_help_panel=FILES,
    ),
]


@study.command("list", cls=HelpedCommand)
def list_studies(as_json: AsJson = False) -> None:
    """List the tables and figures that can be recomputed, by paper, and other studies."""
    from netloom_papers.ledger import pictures
    from netloom_papers.studies.running import STUDIES

    of_papers, others = list(pictures().items()), list(STUDIES.items())
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
    from netloom.drawing.save import check_table
    from netloom_papers.studies.running import STUDIES

    if csv is not None:
        check_table(csv)
    run = _run_study if name in STUDIES else _run_picture
    run(name, quick=quick, csv=csv, plot=plot, as_json=as_json)


def _run_picture(
    name: str, *, quick: bool, csv: Path | None, plot: Path | None, as_json: bool
) -> None:
    from netloom.drawing.save import FORMATS, check_picture
    from netloom_papers import ledger
    from netloom_papers.cli.show_study import show_picture

    if plot is None or plot.suffix not in FORMATS:
        plot = (plot or Path("out")) / f"{name.replace('/', '-')}.svg"
    picture = check_picture(plot)
    with compilation_announced():
        try:
            result = ledger.picture(name, quick=quick)
        except KeyboardInterrupt:
            sys.stderr.write(f"netloom: {name} was stopped before its end: no answer\n")
            raise typer.Exit(INTERRUPTED) from None
    writers: list[Writer] = [] if csv is None else [_table_writer(result, csv)]
    writers.append(lambda: f"Picture: {_draw_picture(result, picture)}")
    _tell(result, show_picture, writers, as_json=as_json, picture=str(picture))


def _run_study(
    name: str, *, quick: bool, csv: Path | None, plot: Path | None, as_json: bool
) -> None:
    from netloom_papers.cli.show_study import show_study
    from netloom_papers.studies.running import run_study as run

    if plot is not None:
        wanted = "that of a table or figure of a paper, such as shahrabi/fig-1"
        raise InputError("plot", f"a picture of '{name}'", wanted)
    with compilation_announced():
        result = run(name, quick=quick, kept=None if csv is None else csv.with_suffix(".jsonl"))
    writers: list[Writer] = [lambda: f"Simulated cases: {result.kept}"]
    if csv is not None:
        writers.append(_table_writer(result, csv))
    _tell(result, show_study, writers, as_json=as_json)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
