"""``netloom`` and its commands. Nothing heavy is imported until a command needs it."""

import atexit
import gc
import shlex
import sys
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netloom._version import __version__
from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.cli.commands import ADDED, Commands, HelpedCommand
from netloom.cli.edge import (
    FAILED,
    FILES,
    INTERRUPTED,
    MISTAKE,
    AsJson,
    advice_shown,
    check_apart,
    compilation_announced,
    files_written,
    judging,
    print_json,
    run_guarded,
    show_found,
)

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

PROGRAM = "lammps-64.mtx"
"""What 64 ranks of the molecular dynamics program LAMMPS send each other, in bytes."""

COMMANDS = (
    f"netloom analyze {PROGRAM} --on mesh:8x8 --plot contention.png",
    f"netloom map {PROGRAM} --on mesh:8x8 --rounds 4 --plot mapping.png --rankfile ranks.txt",
)
"""What is asked: where it contends, and which mapping mends that."""


DOCS = (
    "netloom --install-completion: your shell completes commands and options.\n"
    "Documentation: docs/index.md of the source (make docs builds it as a site)."
)
"""What more there is, and where to read on."""

app = typer.Typer(
    name="netloom",
    cls=Commands,
    help="Example: netloom analyze hypercube:6 --on torus:8x8 --plot hot.png\n\n"
    "Will this parallel program's communication contend on this network, and where?",
    epilog=DOCS,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


own = partial(app.command, cls=HelpedCommand)


def _option(what: str, *flags: str, **more: Any) -> Any:
    return typer.Option(*flags, help=what, **more)


def main() -> None:
    """Run the command line and exit. A user's mistake is one line, and exit code 2."""
    gc.set_threshold(50_000)  # modules stay: looking through them takes a tenth of a start,
    atexit.register(gc.freeze)  # and at the end once more a tenth
    with advice_shown():
        code = run_guarded(lambda: app(prog_name="netloom", standalone_mode=False))
    sys.exit(code)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"netloom {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Version.")
    ] = False,
) -> None:
    del version


@own(
    "compile verify",
    epilog="Example: netloom compile verify plan.xml --on examples/ndv2-2.toml --size 1GB",
)
def verify(
    plan: Annotated[
        Path, typer.Argument(help="Plan that netloom compile --out wrote, or MSCCL XML.")
    ],
    on: Annotated[str | None, _option("Network to replay a collective on, as flows.")] = None,
    size: Annotated[
        str | None, _option("Size of the collective of MSCCL XML, such as 64MB.")
    ] = None,
    bandwidth: Annotated[str | None, _option("Bandwidth of a channel, such as 200Gb/s.")] = None,
    latency: Annotated[str | None, _option("Latency of a channel, such as 600ns.")] = None,
    perfetto: Annotated[
        Path | None, _option("Timeline for Perfetto, .json or .json.gz.", rich_help_panel=FILES)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge a plan file, rule by rule. The exit code is 1 if it breaks one."""
    if perfetto is not None:
        from netloom.drawing.timelines import check_timeline

        check_timeline(perfetto)
        check_apart([plan, perfetto])
    with judging(plan, as_json=as_json):
        from netloom.questions.plans import verify_plan

        result = verify_plan(plan, on=on, size=size, bandwidth=bandwidth, latency=latency)
    writers = []
    if perfetto is not None:
        from netloom.questions.outputs import save_timeline

        writers.append(lambda: save_timeline(result.timeline(), perfetto))
    with files_written(writers, quiet=as_json):
        show_found(result.to_dict(), result.verdict, as_json=as_json)


@own(epilog="Example: netloom demo")
def demo(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder for the files.")] = Path("netloom-demo"),
) -> None:
    """Ask two questions about a real program: where does it contend, and what mends that?

    The program is LAMMPS on 64 ranks, as recorded. Its file, pictures and a rank file are written
    into a folder, so that each command can be tried again there.
    """
    from importlib.resources import files

    from netloom.drawing.save import check_writable, make_folder

    make_folder(check_writable(folder, folder=True))
    data = files("netloom.cli").joinpath("data", PROGRAM)
    (folder / PROGRAM).write_bytes(data.read_bytes())
    app = ctx.find_root().command
    for command in COMMANDS:
        typer.echo(f"$ {command}")
        words = [str(folder / word) if Path(word).suffix else word for word in shlex.split(command)]
        app.main(words[1:], "netloom", standalone_mode=False)
        typer.echo()
    typer.echo(f"All files are in {folder}. Next: the same for your program, on your network.")


@own(epilog="Example: netloom run examples/torus-vs-mesh.toml --store sweep.sqlite")
def run(
    file: Annotated[Path, typer.Argument(help="Experiment file, .toml.")],
    store: Annotated[
        Path | None, _option("Store of the answers (.sqlite). Default: beside the file.")
    ] = None,
    workers: Annotated[
        int | None, _option("Number of processes (default: one per processor), or of Slurm jobs.")
    ] = None,
    cluster: Annotated[
        str | None, _option("Cluster to run on: a Dask scheduler (tcp://HOST:PORT), or slurm.")
    ] = None,
    dry_run: Annotated[
        bool, _option("Count the points, check them and estimate the time.", "--dry-run")
    ] = False,
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


MOST_REASONS = 5
"""Most reasons that are told why points cannot be asked."""


def _say_refused(reasons: dict[str, int]) -> None:
    """Say which points cannot be asked, reason by reason, and exit with 2 if there are any."""
    for reason, count in list(reasons.items())[:MOST_REASONS]:
        points = counted(count, "point") if count > 1 else "a point"
        sys.stderr.write(f"netloom: {points} cannot be asked: {reason}\n")
    if len(reasons) > MOST_REASONS:
        sys.stderr.write(f"netloom: and for {len(reasons) - MOST_REASONS} other reasons\n")
    if reasons:
        raise typer.Exit(MISTAKE)


STANDARD_OUTPUT = Path("-")


@own(epilog="Example: netloom results sweep.sqlite --csv sweep.csv")
def results(
    file: Annotated[
        Path, typer.Argument(help="Store (.sqlite), or experiment file (.toml) that has run.")
    ],
    experiment: Annotated[str, _option("Name of the experiment, if the store has several.")] = "",
    csv: Annotated[
        Path | None, _option("Table (.csv), or - for standard output.", rich_help_panel=FILES)
    ] = None,
    parquet: Annotated[Path | None, _option("Table (.parquet).", rich_help_panel=FILES)] = None,
    provenance: Annotated[
        bool, _option("Also print the time, date and version of each point.", "--provenance")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what an experiment has found, or write a table with one row per observation."""
    from netloom.drawing.save import check_table, save_table
    from netloom.experiments.findings import load_results

    both, files = ((csv, ".csv"), (parquet, ".parquet")), list[Path]()
    for path, suffix in both:
        if path is not None and path != STANDARD_OUTPUT:
            files.append(check_table(path))
            if path.suffix != suffix:
                raise InputError(str(path), f"suffix '{path.suffix}'", suffix)
    found = load_results(file, experiment)
    table = found.table(provenance=provenance)

    def save(path: Path) -> str:
        return f"Table: {save_table(table, path)} ({counted(len(table), 'row')})"

    printed = as_json or csv == STANDARD_OUTPUT
    with files_written([partial(save, path) for path in files], quiet=printed):
        if as_json:
            print_json(found.to_dict(provenance=provenance))
        elif csv == STANDARD_OUTPUT:
            typer.echo(table.write_csv(), nl=False)
        elif not files:
            from netloom.cli.show import show_results

            show_results(found)


@own()
def schema(
    of_results: Annotated[
        bool,
        _option("Of answers instead: what commands print with --json, and tables.", "--results"),
    ] = False,
) -> None:
    """Print the JSON Schema of experiment files, for editors that complete and check them."""
    if of_results:
        from netloom.questions.recorded import results_schema

        print_json(results_schema())
        return
    from netloom.experiments.file import schema as schema_of

    print_json(schema_of())


PageFile = Annotated[
    Path, _option("Page to write (.html).", "--output", "-o", rich_help_panel=FILES)
]


@own(epilog="Example: netloom report examples/torus-vs-mesh.toml -o torus-vs-mesh.html")
def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT...", help="Stores (.sqlite), or experiment files (.toml) that have run."
        ),
    ],
    output: PageFile = Path("report.html"),
    title: Annotated[str, _option("Title of the page (default: the experiment's).")] = "",
    pictures: Annotated[
        Path | None, _option("Folder for all charts, as .png and .svg.", rich_help_panel=FILES)
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
    from netloom.pages.explorer.file import sources_of
    from netloom.pages.page import page_of
    from netloom.pages.write import write_page
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


@own(epilog="Example: netloom explore examples/dgx-40.sqlite -o dgx.html")
def explore(
    answers: Annotated[
        list[Path],
        typer.Argument(
            metavar="ANSWER...",
            help="Stores (.sqlite), experiment files (.toml) that have run, or answers (.json) "
            "that --json printed.",
        ),
    ],
    output: PageFile = Path("explore.html"),
    on: Annotated[str, _option("The network, if answers are about several.")] = "",
    serve: Annotated[
        bool, _option("Also serve the page on 127.0.0.1, until Ctrl-C.", "--serve")
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
        def found(self) -> tuple[int, bytes]:
            if self.headers.get("Host") not in hosts:
                return 403, b"another name than 127.0.0.1"
            if self.path.partition("?")[0] != path:
                return 404, b"no such page"
            try:
                return 200, page.read_bytes()
            except OSError:
                return 404, b"the page is no longer where it was written"

        def answer(self) -> None:
            code, body = self.found()
            kind = "text/html" if code == 200 else "text/plain"
            headers = {
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Length": str(len(body)),
                "Cache-Control": "no-store",
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
            }
            self.send_response(code)
            for each in headers.items():
                self.send_header(*each)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_GET = do_HEAD = answer  # noqa: N815 (as in http.server)

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), ConnectionError):  # a reader that went away
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    hosts = [f"{name}:{server.server_port}" for name in ("127.0.0.1", "localhost")]
    return server, f"http://127.0.0.1:{server.server_port}{path}"


@own(epilog="Example: netloom names --on leaf-spine:8x4x8")
def names(
    on: Annotated[str, _option("Network, or machine name.")], as_json: AsJson = False
) -> None:
    """List the hosts and switches of a network, by the names that options take."""
    from netloom.cli.show import show_names
    from netloom.questions.named import find_network
    from netloom.topology.names import names_of

    found = names_of(find_network(on, switches=True)[0])
    if as_json:
        print_json(found)
    else:
        show_names(found)


@own()
def machines(as_json: AsJson = False) -> None:
    """List the machines that ``--on`` knows by name."""
    from netloom.machines import machine, machine_names

    known = [machine(name) for name in machine_names()]
    if as_json:
        print_json([each.model_dump() for each in known])
        return
    from netloom.cli.show import show_machines

    show_machines(known)


@own()
def routings(as_json: AsJson = False) -> None:
    """List the routings: which networks they fit, and which commands take them there."""
    from netloom.routing.parse import NETWORKS, rows

    if as_json:
        known = [(names, zip(NETWORKS, cells, strict=True)) for names, cells in rows()]
        print_json([{"routing": names, **dict(cells)} for names, cells in known])
        return
    from netloom.cli.show import show_routings

    show_routings()


for _added in declared("commands").values():
    _title, _names = _added.load()(app)
    ADDED.setdefault(_title, []).extend(_names)
