"""``netloom validate``, ``netloom study`` and ``netloom compile run``.

Papers recomputed, what models can be trusted, and whether programs of a plan deliver.
"""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from typer import Argument, Exit, Option, Typer

from netloom.base.errors import InputError
from netloom.cli import edge
from netloom.cli.commands import HelpedCommand, HelpedGroup

MACHINES = "machines"
"""What ``validate`` calls those that people measured."""

Files: TypeAlias = list[tuple[Callable[[Any, Path], str], Path | None]]
"""What writes a result, and where. None: nowhere."""

Paper = Annotated[
    str, Argument(help="Paper, such as chittor (default: all), or machines that people measured.")
]
Reference = Annotated[
    Path | None, Option(help="Table of another simulator's results, for validate router.")
]


def _file(said: str, *flags: str) -> Any:
    return Option(*flags, help=said, rich_help_panel=edge.FILES)


Rows = Annotated[Path | None, _file("Table of all rows (.csv or .parquet).", "--csv")]
Markdown = Annotated[
    Path | None, _file("Page (.md): rates by kind, counts by table, and all rows outside.")
]
Data = Annotated[
    Path | None,
    Option(help="Folder of tables and sets.toml, for validate machines (default: netloom's own)."),
]
Predicted = Annotated[
    Path | None,
    _file("Picture of predicted against measured times, for validate machines.", "--plot"),
]


def validate(
    paper: Paper = "",
    reference: Reference = None,
    data: Data = None,
    csv: Rows = None,
    markdown: Markdown = None,
    plot: Predicted = None,
    as_json: edge.AsJson = False,
) -> None:
    """Recompute results of papers and other implementations, and show both side by side.

    The rate of printed numbers counts each number that a paper prints once. Statements in words,
    formulas evaluated and results of other implementations have rates of their own.

    Exits with 1 when a number falls outside its tolerance, unless it is known not to reproduce
    and says why.

    Of machines, measured times stand beside those that netloom predicts, and beside the least
    possible ones. Exits with 1 if one of these is above its measured time.
    """
    from netloom.drawing.save import check_picture, check_table, check_writable

    if csv is not None:
        check_table(csv)
    if markdown is not None:
        if markdown.suffix != ".md":
            raise InputError(str(markdown), f"suffix '{markdown.suffix}'", ".md")
        check_writable(markdown)
    if plot is not None:
        check_picture(plot)
    if paper == MACHINES:
        if reference is not None:
            raise InputError("reference", f"one for {MACHINES}", "none")
        _validate_machines(data, csv, markdown, plot, as_json=as_json)
        return
    for name, given in (("data", data), ("plot", plot)):
        if given is not None:
            raise InputError(name, f"'{given}'", f"it with validate {MACHINES} only")
    with edge.compilation_announced():
        from netloom_papers.cli.show_study import of_validation
        from netloom_papers.ledger import page, validate as recompute

        result = recompute(paper, reference=None if reference is None else str(reference))
        files: Files = [(_write_table, csv), (partial(_write_page, page), markdown)]
        _tell(result, of_validation(result), files, as_json=as_json)
    if result.failures:
        raise Exit(1)


def _validate_machines(
    data: Path | None, csv: Path | None, markdown: Path | None, plot: Path | None, *, as_json: bool
) -> None:
    with edge.compilation_announced():
        from netloom.pages import save_chart
        from netloom_papers.cli.show_study import of_machines
        from netloom_papers.measured_machines import chart, judge, page

        found = judge(data)
        files: Files = [
            (_write_table, csv),
            (partial(_write_page, page), markdown),
            (lambda result, path: f"Picture: {save_chart(chart(result), path)}", plot),
        ]
        _tell(found, of_machines(found), files, as_json=as_json)
    if found.violations:
        raise Exit(edge.FAILED)


def _tell(result: Any, lines: Iterable[Any], files: Files, *, as_json: bool, **more: str) -> None:
    """Show a result by its lines, or print its JSON with ``more``, and write its files."""
    from netloom_papers.cli.show_study import show

    writers = [partial(write, result, path) for write, path in files if path is not None]
    with edge.files_written(writers, quiet=as_json):
        if as_json:
            edge.print_json(result.to_dict() | more)
        else:
            show(result.verdict, lines)


def _write_table(result: Any, path: Path) -> str:
    from netloom.drawing.save import save_table

    return f"Table: {save_table(result.table(), path)}"


def _write_page(page: Callable[[Any], str], result: Any, path: Path) -> str:
    from netloom.base.textfiles import write_text
    from netloom.drawing.save import make_folder

    make_folder(path.parent)
    write_text(path, page(result))
    return f"Page: {path}"


study = Typer(
    cls=HelpedGroup,
    help="Recompute a table or figure of a paper, or see how far netloom's models can be trusted.",
    rich_markup_mode="rich",
)

Csv = Annotated[
    Path | None,
    _file(
        "Table of all numbers (.csv or .parquet). The study model-accuracy keeps its simulations "
        "in a .jsonl beside it, and continues from there."
    ),
]
Plot = Annotated[
    Path | None,
    _file(
        "Picture of a paper's figure (.svg, .png, .pdf or .html), or a folder for it "
        "(default: out/PAPER-ITEM.svg)."
    ),
]


@study.command("list", cls=HelpedCommand)
def list_studies(as_json: edge.AsJson = False) -> None:
    """List the tables and figures that can be recomputed, by paper, and other studies."""
    from netloom_papers.ledger import pictures
    from netloom_papers.studies.running import STUDIES

    studies = {**pictures(), **STUDIES}
    if as_json:
        edge.print_json([{"name": name, "line": line} for name, line in studies.items()])
        return
    from netloom_papers.cli.show_study import show_studies

    show_studies(studies)


@study.command(
    "run", cls=HelpedCommand, epilog="Example: netloom study run chittor/fig-5.12 --quick"
)
def run_study(
    name: Annotated[str, Argument(help="PAPER/ITEM, or another study (see netloom study list).")],
    quick: Annotated[
        bool, Option("--quick", help="Compute only a part, for half a minute.")
    ] = False,
    csv: Csv = None,
    plot: Plot = None,
    as_json: edge.AsJson = False,
) -> None:
    """Recompute, compare, and say what agrees.

    Printed and computed stand side by side. A figure is drawn as the paper has it. What does
    not agree, or a goal that is not met, is a finding and no error: the exit code stays 0. Ctrl-C
    ends a table or figure without an answer. Model-accuracy keeps what is done.
    """
    from netloom.drawing.save import FORMATS, check_picture, check_table
    from netloom_papers.cli.show_study import of_picture, of_study
    from netloom_papers.ledger import picture
    from netloom_papers.studies.running import STUDIES, run_study as run

    if csv is not None:
        check_table(csv)
    if name not in STUDIES:
        path = plot or Path("out")
        if path.suffix not in FORMATS:
            path /= f"{name.replace('/', '-')}.svg"
        check_picture(path)
        try:
            with edge.compilation_announced():
                drawn = picture(name, quick=quick)
        except KeyboardInterrupt:
            sys.stderr.write(f"netloom: {name} was stopped before its end: no answer\n")
            raise Exit(edge.INTERRUPTED) from None
        from netloom.pages import save_chart

        chart, more = drawn.chart(), dict[str, str]()
        files: Files = [(_write_table, csv)]
        if chart is not None:
            files.append((lambda _, path: f"Picture: {save_chart(chart, path)}", path))
            more["picture"] = str(path)
        _tell(drawn, of_picture(drawn), files, as_json=as_json, **more)
        return
    if plot is not None:
        wanted = "that of a figure of a paper, such as shahrabi/fig-1"
        raise InputError("plot", f"a picture of '{name}'", wanted)
    with edge.compilation_announced():
        result = run(name, quick=quick, kept=None if csv is None else csv.with_suffix(".jsonl"))
    files = [(_write_table, csv), (lambda _, path: f"Simulated cases: {path}", result.kept)]
    _tell(result, of_study(result), files, as_json=as_json)
    if result.interrupted:
        raise Exit(edge.INTERRUPTED)


PlanFile = Annotated[Path, Argument(help="Plan that netloom compile --out wrote.")]


def run_plan(plan: PlanFile, as_json: edge.AsJson = False) -> None:
    """Execute a plan's programs on real words. The exit code is 1 if one does not arrive."""
    with edge.judging(plan, as_json=as_json):
        from netloom_papers.processes import run_plan as run

        result = run(plan)
    edge.show_found(result.to_dict(), result.verdict, as_json=as_json)
    if not result.delivered:
        raise Exit(edge.FAILED)
