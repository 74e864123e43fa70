"""``netloom compile verify``: whether a plan file breaks a rule."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from netloom.cli.edge import (
    FILES,
    AsJson,
    Writer,
    check_apart,
    compilation_announced,
    files_written,
    print_json,
)

VERIFY_EPILOG = "Example: netloom compile verify plan.xml --on examples/ndv2-2.toml --size 1GB"

Schedule = Annotated[
    Path, typer.Argument(help="Plan that netloom compile --out wrote, or MSCCL XML.")
]


def _option(flag: str, what: str) -> Any:
    return typer.Option(flag, help=what, show_default=False)


def verify(
    plan: Schedule,
    on: Annotated[
        str | None, _option("--on", "Network to replay a collective on, as flows.")
    ] = None,
    size: Annotated[
        str | None, _option("--size", "Size of the collective of MSCCL XML, such as 64MB.")
    ] = None,
    bandwidth: Annotated[
        str | None, _option("--bandwidth", "Bandwidth of a channel, such as 200Gb/s.")
    ] = None,
    latency: Annotated[
        str | None, _option("--latency", "Latency of a channel, such as 600ns.")
    ] = None,
    perfetto: Annotated[
        Path | None,
        typer.Option(
            help="Timeline for Perfetto, .json or .json.gz.",
            rich_help_panel=FILES,
            show_default=False,
        ),
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
    writers: list[Writer] = []
    if perfetto is not None:
        from netloom.questions.outputs import save_timeline

        writers.append(lambda: save_timeline(result.timeline(), perfetto))
    with files_written(writers, quiet=as_json):
        show(result, as_json=as_json)


@contextmanager
def judging(plan: Path, *, as_json: bool) -> Iterator[None]:
    """Print the rule that the plan breaks, if it breaks one, as JSON too where that was asked."""
    from netloom.phases import InvalidPlanError

    try:
        with compilation_announced():
            yield
    except InvalidPlanError as error:
        from netloom.questions.plans import broken

        verdict = broken(plan)
        if as_json:
            found = {"plan": str(plan), "verified": False, "violation": str(error)}
            print_json(found | {"verdict": verdict.to_dict()})
        else:
            _print(verdict)
        raise


def show(result: Any, *, as_json: bool) -> None:
    """Print what a plan file came to."""
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result.verdict)


def _print(verdict: Any) -> None:
    from netloom.cli.show import console, show_verdict

    show_verdict(console(), verdict)
