"""``netloom compile``: a known pattern into phases, routes and a timetable."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from netloom.cli import compile_options as of
from netloom.cli import options
from netloom.cli.edge import INTERRUPTED
from netloom.cli.output import compilation_announced, print_json, write_each
from netloom.errors import InputError
from netloom.provenance import DEFAULT_SEED

if TYPE_CHECKING:
    from netloom.questions.compile.answer import CompiledPhases

EPILOG = (
    "Examples: netloom compile all-to-all:64 --on torus:8x8 --words 256 --execute; "
    "netloom compile verify plan.json; netloom compile run plan.json"
)

ON_PLANS = ("verify", "run")
"""What is done with a plan file instead of compiling a pattern."""

FAILED = 1
"""Exit code of a plan that does not verify, or does not deliver."""


def compile_(
    pattern: of.Pattern,
    plan: of.PlanFile = None,
    *,
    words: of.Words = None,
    word_bytes: of.WordBytes = 4,
    order: of.Order = None,
    mapping: of.Mapping = "identity",
    tasks_per_node: of.TasksPerNode = 1,
    parts: of.Parts = "network",
    on: of.On = None,
    channels: of.Channels = 12,
    per: of.Per = "node",
    failed_channels: of.FailedChannels = None,
    failed_nodes: of.FailedNodes = None,
    method: of.Method = "auto",
    objective: of.Objective = "phases",
    schedule: of.Schedule = "auto",
    execute: of.Execute = False,
    seed: of.Seed = DEFAULT_SEED,
    sync_clocks: of.SyncClocks = 352,
    phase_clocks: of.PhaseClocks = 176,
    clocks_per_word: of.ClocksPerWord = 2,
    channel_clocks_per_word: of.ChannelClocksPerWord = 2,
    one_way: of.OneWay = False,
    send_clocks: of.SendClocks = 400,
    receive_clocks: of.ReceiveClocks = 400,
    gantt: of.Gantt = None,
    map_: of.Map = None,
    out: of.Out = None,
    programs: of.Programs = None,
    as_json: options.AsJson = False,
) -> None:
    """Compile a pattern that is known beforehand into phases, routes and a timetable.

    Connections that the network's virtual channels can hold all at once make a phase: no
    contention for buffers, no routing and no overhead of messages while words move (ConSet;
    Feldmann, Stricker & Warfel 1993). Tells what that saves against message passing.

    verify judges a plan file, run executes its programs on real words; they exit with 1 where the
    plan breaks a rule, or a word does not arrive.
    """
    asked = dict(locals())
    defaults = {name: each.default for name, each in signature(compile_).parameters.items()}
    given = {name: value for name, value in asked.items() if value != defaults[name]}
    for name in ("pattern", "plan", "as_json"):
        given.pop(name, None)
    if pattern in ON_PLANS:
        _on_plan(pattern, plan, given, as_json=as_json)
    elif plan is not None:
        wanted = "a pattern alone, verify PLAN or run PLAN"
        raise InputError("compile", f"'{pattern}' and '{plan}'", wanted)
    else:
        _compile(pattern, given, as_json=as_json)


def _compile(pattern: str, given: dict[str, Any], *, as_json: bool) -> None:
    """Compile a pattern with the options that were given, show it and write files."""
    files = {name: given.pop(name, None) for name in ("gantt", "map_", "out", "programs")}
    if "on" not in given:
        raise InputError("on", "no network", "one such as --on torus:8x8, or a machine by name")
    _check_files(**files)
    if given.pop("one_way", False):
        given["both_ways"] = False
    with compilation_announced(), _verified():
        from netloom.questions.compile.question import compile_phases

        result = compile_phases(pattern, **given)
    _answer(result, files, as_json=as_json)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _verified(plan: Path | None = None) -> Iterator[None]:
    """Make a rule that a plan breaks one line, and exit code 1; JSON too if a file is named."""
    from netloom.phases import InvalidPlanError

    try:
        yield
    except InvalidPlanError as error:
        if plan is not None:
            print_json({"plan": str(plan), "verified": False, "violation": str(error)})
        typer.echo(f"netloom: {error}", err=True)
        raise typer.Exit(FAILED) from None


def _on_plan(what: str, plan: Path | None, given: dict[str, Any], *, as_json: bool) -> None:
    if plan is None:
        raise InputError(f"compile {what}", "no plan", "a file that --out wrote")
    if given:
        option = f"--{next(iter(given)).rstrip('_').replace('_', '-')}"
        raise InputError(f"compile {what}", option, "a plan file, and at most --json")
    with compilation_announced(), _verified(plan if as_json else None):
        from netloom.questions.compile.plans import run_plan, verify_plan

        result: Any = verify_plan(plan) if what == "verify" else run_plan(plan)
    if as_json:
        print_json(result.to_dict())
    else:
        typer.echo(repr(result))
    if what == "run" and not result.delivered:
        raise typer.Exit(FAILED)


def _check_files(
    gantt: Path | None, map_: Path | None, out: Path | None, programs: Path | None
) -> None:
    """Refuse files that cannot be written, before any work."""
    from netloom.report.save import check_picture, check_writable

    for picture in (gantt, map_):
        if picture is not None:
            check_picture(picture)
    if out is not None:
        check_writable(out)
    if programs is not None:
        check_writable(programs, folder=programs.suffix != ".json")
    if programs is not None and programs.suffix not in ("", ".json"):
        raise InputError(str(programs), f"suffix '{programs.suffix}'", "a .json file or a folder")


def _answer(result: "CompiledPhases", files: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        from netloom.cli.show_compile import show

        show(result)
    writers = {"out": _write_plan, "programs": _write_programs, "gantt": _write_gantt,
                "map_": _write_map}  # fmt: skip
    asked = [partial(write, result, files[name]) for name, write in writers.items() if files[name]]
    write_each(asked, quiet=as_json)


def _write_gantt(result: "CompiledPhases", path: Path) -> str:
    from netloom.questions.recorded import record
    from netloom.report import chart_of, save_chart

    return f"Gantt chart: {save_chart(chart_of(record(result)), path)}"


def _write_map(result: "CompiledPhases", path: Path) -> str:
    from netloom.questions.recorded import record
    from netloom.report import save_chart
    from netloom.report.phases import phase_map

    return f"Map: {save_chart(phase_map(record(result)), path)}"


def _write_plan(result: "CompiledPhases", path: Path) -> str:
    from netloom.report.save import make_folder

    make_folder(path.parent)
    result.write(path)
    return f"Plan: {path}"


def _write_programs(result: "CompiledPhases", path: Path) -> str:
    from netloom.report.save import make_folder
    from netloom.textfiles import write_text

    make_folder(path.parent)
    programs = result.programs()
    if path.suffix == ".json":
        lines = ",\n ".join(json.dumps(each.to_dict()) for each in programs)
        write_text(path, f"[\n {lines}\n]\n")
        return f"Programs: {path}"
    make_folder(path)
    width = len(str(len(programs) - 1))
    for each in programs:
        write_text(path / f"node-{each.node:0{width}}.txt", f"{each}\n")
    return f"Programs: {path}"
