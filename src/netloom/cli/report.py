"""``netloom report``: what experiments have found, as one page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from netloom.cli.output import FILES

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
    """Show what experiments have found: the verdict in words, and one page with charts.

    The page is a single file: curves with their intervals, models beside simulators, networks by
    load, all numbers, and where they come from.
    """
    from netloom.report.page import check_folder, check_page

    check_page(output)
    if pictures is not None:
        check_folder(pictures)
    from netloom.report.page import page_of, sources_of, write_page

    page = page_of([source for name in results for source in sources_of(name)], title)
    for line in _said(page):
        typer.echo(line)
    typer.echo(f"Report: {write_page(page, output, pictures)}")
    if pictures is not None:
        typer.echo(f"Pictures: {pictures}")


def _said(page: "Page") -> list[str]:
    """Return the verdict as lines."""
    lines = [page.title, *([page.question] if page.question else []), *page.notices, ""]
    for section in page.sections:
        if section.sentences:
            lines += [section.title, *(f"• {said}" for said in section.sentences), ""]
    return lines
