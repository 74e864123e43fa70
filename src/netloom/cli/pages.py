"""``netloom report`` and ``netloom explore``: pages of what was found."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netloom.cli.output import FILES, files_written

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

    from netloom.report.page.pages import Page


REPORT_EPILOG = "Example: netloom report examples/torus-vs-mesh.toml -o torus-vs-mesh.html"


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


EXPLORE_EPILOG = "Example: netloom explore examples/dgx-40.sqlite -o dgx.html"


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
    server, address = page_server(page)
    with server:
        typer.echo(f"{address}  (Ctrl-C ends)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


def page_server(page: Path) -> "tuple[ThreadingHTTPServer, str]":
    """Return a server of one page, and the page's address, whose path nobody can guess.

    Requests by another name of this computer are refused: a page from elsewhere whose name is made
    to lead here (DNS rebinding) would read this one otherwise.
    """
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from secrets import token_urlsafe

    path = f"/{token_urlsafe(16)}/"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(*self.found())

        def do_HEAD(self) -> None:
            self.answer(*self.found())

        def found(self) -> tuple[int, bytes]:
            if self.headers.get("Host") not in hosts:
                return 403, b"another name than 127.0.0.1"
            if self.path.partition("?")[0] != path:
                return 404, b"no such page"
            try:
                return 200, page.read_bytes()
            except OSError:
                return 404, b"the page is no longer where it was written"

        def answer(self, code: int, body: bytes) -> None:
            kind = "text/html" if code == 200 else "text/plain"
            self.send_response(code)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), ConnectionError):  # a reader that went away
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    hosts = [f"{name}:{server.server_port}" for name in ("127.0.0.1", "localhost")]
    return server, f"http://127.0.0.1:{server.server_port}{path}"
