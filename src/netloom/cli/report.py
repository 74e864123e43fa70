"""``netloom report``: what experiments have found, as one page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from netloom.cli.output import FILES, files_written

if TYPE_CHECKING:
    from netloom.report.page.pages import Page

EPILOG = "Example: netloom report examples/torus-vs-mesh.toml -o torus-vs-mesh.html"


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT...",
            help="Stores (.sqlite), or experiment files (.toml) that have run.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Page to write (.html).",
            rich_help_panel=FILES,
        ),
    ] = Path("report.html"),
    title: Annotated[
        str, typer.Option(help="Title of the page (default: the experiment's).", show_default=False)
    ] = "",
    pictures: Annotated[
        Path | None,
        typer.Option(
            help="Folder for all charts, as .png and .svg.",
            rich_help_panel=FILES,
        ),
    ] = None,
) -> None:
    """Answer an experiment's question in one sentence, and write a page of evidence.

    The page is one file: the answer, three numbers, the next command, charts side by side, all
    numbers as tables and CSV, and the command that repeats it.
    """
    from netloom.report.page import check_folder, check_page

    check_page(output)
    if pictures is not None:
        check_folder(pictures)
    from netloom.report.page import page_of, sources_of, write_page

    page = page_of([source for name in results for source in sources_of(name)], title)
    named = "" if pictures is None else f"\nPictures: {pictures}"
    with files_written([lambda: f"Report: {write_page(page, output, pictures)}{named}"]):
        _show(page)


def _show(page: "Page") -> None:
    """Print what a page answers, what comes next, and how sure the answer is."""
    from netloom.cli.show import console
    from netloom.questions.shown import show
    from netloom.questions.verdict import Verdict

    screen, answer = console(), page.answer
    for each in answer.said:
        show(Verdict(each.mark or "fine", each.sentence).text(screen.width), screen)
    typer.echo(f"  {page.title}")
    for notice in page.notices:
        typer.echo(f"  {notice}")
    for label, said in (("next", answer.verdict.next), ("sure", answer.verdict.note)):
        if said:
            typer.echo(f"  {label:<8}{said}")
