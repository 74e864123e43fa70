"""``netloom compile verify`` and ``netloom compile run``: what is done with a plan file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from netloom.cli.edge import FAILED
from netloom.cli.output import AsJson, compilation_announced, print_json

VERIFY_EPILOG = "Example: netloom compile verify plan.json"
RUN_EPILOG = "Example: netloom compile run plan.json"

Plan = Annotated[Path, typer.Argument(help="Plan that netloom compile --out wrote.")]


def verify(plan: Plan, as_json: AsJson = False) -> None:
    """Judge a plan file, rule by rule. The exit code is 1 if it breaks one."""
    with _judging(plan, as_json=as_json):
        from netloom.questions.compile.plans import verify_plan

        result = verify_plan(plan)
    _show(result, as_json=as_json)


def run(plan: Plan, as_json: AsJson = False) -> None:
    """Execute a plan's programs on real words. The exit code is 1 if one does not arrive."""
    with _judging(plan, as_json=as_json):
        from netloom.questions.compile.plans import run_plan

        result = run_plan(plan)
    _show(result, as_json=as_json)
    if not result.delivered:
        raise typer.Exit(FAILED)


@contextmanager
def _judging(plan: Path, *, as_json: bool) -> Iterator[None]:
    """Print the rule that the plan breaks, if it breaks one, as JSON too where that was asked."""
    from netloom.phases import InvalidPlanError

    try:
        with compilation_announced():
            yield
    except InvalidPlanError as error:
        if as_json:
            print_json({"plan": str(plan), "verified": False, "violation": str(error)})
        raise


def _show(result: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        typer.echo(repr(result))
