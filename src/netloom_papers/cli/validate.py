"""``netloom validate``: what papers and other implementations found, beside netloom's own."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from netloom.base.errors import InputError
from netloom.cli.output import (
    FILES,
    AsJson,
    Writer,
    compilation_announced,
    files_written,
    print_json,
)
from netloom_papers.cli.study import exhibit_picture

Paper = Annotated[str, typer.Argument(help="Paper, such as chittor (default: all).")]
Reference = Annotated[
    Path | None,
    typer.Option(help="Table of another simulator's results, for validate router."),
]
Figures = Annotated[
    Path | None,
    typer.Option(help="Folder for the paper's figures, recomputed."),
]

Csv = Annotated[
    Path | None,
    typer.Option(help="Table of all rows (.csv or .parquet).", rich_help_panel=FILES),
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
    csv: Csv = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Recompute results of papers and other implementations, and show both side by side.

    The rate of printed numbers counts each number that a paper prints once. Statements in words,
    formulas evaluated and results of other implementations have rates of their own.

    Exits with 1 when a number falls outside its tolerance, unless it is known not to reproduce
    and says why.
    """
    _check_files(paper, figures, csv, markdown)
    with compilation_announced():
        from netloom_papers.studies import validate as recompute

        result = recompute(paper, reference=None if reference is None else str(reference))
        writers = _writers(result, csv, markdown, paper, figures)
        with files_written(writers, quiet=as_json):
            if as_json:
                print_json(result.to_dict())
            else:
                from netloom_papers.cli.show_study import show_validation

                show_validation(result)
    if result.failures:
        raise typer.Exit(1)


def _check_files(paper: str, figures: Path | None, csv: Path | None, markdown: Path | None) -> None:
    """Refuse what cannot be written, and figures of what is no paper, before any work."""
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


def _writers(
    result: Any, csv: Path | None, markdown: Path | None, paper: str, figures: Path | None
) -> Iterator[Writer]:
    if csv is not None:
        from netloom.report import save_table

        yield lambda: f"Table: {save_table(result.table(), csv)}"
    if markdown is not None:
        yield partial(_write_page, result, markdown)
    if figures is not None:
        yield lambda: f"Figures: {_write_figures(paper, figures)} in {figures}"


def _write_page(result: Any, path: Path) -> str:
    from netloom.base.textfiles import write_text
    from netloom.drawing.save import make_folder
    from netloom_papers.studies.validation_page import page

    make_folder(path.parent)
    write_text(path, page(result))
    return f"Page: {path}"


def _write_figures(paper: str, folder: Path) -> int:
    """Draw the figures of a paper, and return how many there are."""
    from netloom.report import save_chart
    from netloom_papers.ledger import picture, pictures

    names = [name for name in pictures() if name.startswith(f"{paper}/fig-")]
    for name in names:
        save_chart(exhibit_picture(picture(name)), folder / f"{name.partition('/')[2]}.svg")
    return len(names)
