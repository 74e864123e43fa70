"""``netloom explore``: a page that shows a network, and answers with the mouse."""

from pathlib import Path
from typing import Annotated

import typer

from netloom.cli.output import FILES

EPILOG = "Example: netloom explore examples/dgx-40.sqlite -o dgx.html"


def explore(
    answers: Annotated[
        list[Path],
        typer.Argument(
            metavar="ANSWER...",
            help="Stores (.sqlite), experiment files (.toml) that have run, or answers (.json) "
            "that --json printed.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Page to write (.html).", rich_help_panel=FILES),
    ] = Path("explore.html"),
    on: Annotated[
        str,
        typer.Option(help="The network, if answers are about several.", show_default=False),
    ] = "",
    serve: Annotated[
        bool, typer.Option("--serve", help="Also serve the page on 127.0.0.1, until Ctrl-C.")
    ] = False,
) -> None:
    """Show a network and what its channels carry, in a page that answers with the mouse.

    The page is one file and needs no server. Point at a channel to see who loads it. Select ranks
    or pairs, take a cable out, swap two ranks, compare answers. Commands that ask have --explore,
    which writes the same page.
    """
    from netloom.explore.file import check_page
    from netloom.explore.file import explore as write

    check_page(output)
    page = write(list(answers), output, on=on)
    typer.echo(f"Explorer: {page}")
    if serve:
        _serve(page)


def _serve(page: Path) -> None:
    """Serve a page, and nothing else, to this computer alone."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path in ("/", f"/{page.name}")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if found:
                self.wfile.write(page.read_bytes())

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        typer.echo(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
