"""``netloom run``, ``results``, ``schema``, ``report``, ``explore``: experiments and pages."""

import sys
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.cli.edge import (
    FAILED,
    FILES,
    INTERRUPTED,
    MISTAKE,
    AsJson,
    compilation_announced,
    files_written,
    print_json,
)

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer


RUN_EPILOG = "Example: netloom run examples/torus-vs-mesh.toml --store sweep.sqlite"
RESULTS_EPILOG = "Example: netloom results sweep.sqlite --csv sweep.csv"

MOST_REASONS = 5
"""Most reasons that are told why points cannot be asked."""

STANDARD_OUTPUT = Path("-")

Experiment = Annotated[Path, typer.Argument(help="Experiment file, .toml.")]
Store = Annotated[
    Path | None, typer.Option(help="Store of the answers (.sqlite). Default: beside the file.")
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
    bool, typer.Option("--provenance", help="Also print the time, date and version of each point.")
]
Csv = Annotated[
    Path | None, typer.Option(help="Table (.csv), or - for standard output.", rich_help_panel=FILES)
]
PageFile = Annotated[
    Path, typer.Option("--output", "-o", help="Page to write (.html).", rich_help_panel=FILES)
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
    from netloom.experiments.runner import LostError, run as run_experiment, store_of

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
        from netloom.questions.recorded import results_schema

        print_json(results_schema())
        return
    from netloom.experiments.file import schema as schema_of

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
    output: PageFile = Path("report.html"),
    title: Annotated[
        str, typer.Option(help="Title of the page (default: the experiment's).", show_default=False)
    ] = "",
    pictures: Annotated[
        Path | None,
        typer.Option(help="Folder for all charts, as .png and .svg.", rich_help_panel=FILES),
    ] = None,
) -> None:
    """Answer an experiment's question in one sentence, and write a page of evidence.

    The page is one file: the answer, three numbers, the next command, charts side by side, all
    numbers as tables and CSV, and the command that repeats it.
    """
    from netloom.pages.explorer.file import check_page
    from netloom.pages.write import check_folder

    check_page(output)
    if pictures is not None:
        check_folder(pictures)
    from netloom.cli.show import console, show_verdict
    from netloom.pages.page import page_of
    from netloom.pages.write import sources_of, write_page
    from netloom.questions.answers import Verdict

    page = page_of([source for name in results for source in sources_of(name)], title)
    named = "" if pictures is None else f"\nPictures: {pictures}"
    with files_written([lambda: f"Report: {write_page(page, output, pictures)}{named}"]):
        screen, answer = console(), page.answer
        for each in answer.said:
            show_verdict(screen, Verdict(each.mark or "fine", each.sentence))
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
    output: PageFile = Path("explore.html"),
    on: Annotated[
        str, typer.Option(help="The network, if answers are about several.", show_default=False)
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
    from netloom.pages.explorer.file import check_page, explore as write

    check_page(output)
    page = write(list(answers), output, on=on)
    typer.echo(f"Explorer: {page}")
    if serve:  # the page, and nothing else, to this computer alone
        server, address = page_server(page)
        with server, suppress(KeyboardInterrupt):
            typer.echo(f"{address}  (Ctrl-C ends)")
            server.serve_forever()


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
