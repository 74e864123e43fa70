"""``netloom compile run``: whether the programs of a plan deliver real words."""

from pathlib import Path
from typing import Annotated

import typer

from netloom.cli.commands import HelpedCommand
from netloom.cli.edge import FAILED, AsJson, judging, show_found
from netloom_papers.questions import GROUP

EPILOG = "Example: netloom compile run plan.json"
Plan = Annotated[Path, typer.Argument(help="Plan that netloom compile --out wrote.")]


def add(app: typer.Typer) -> tuple[str, list[str]]:
    """Add the command, which stands with those of its first word in the help."""
    app.command("compile run", cls=HelpedCommand, epilog=EPILOG)(run)
    return GROUP, []


def run(plan: Plan, as_json: AsJson = False) -> None:
    """Execute a plan's programs on real words. The exit code is 1 if one does not arrive."""
    with judging(plan, as_json=as_json):
        from netloom_papers.processes import run_plan

        result = run_plan(plan)
    show_found(result.to_dict(), result.verdict, as_json=as_json)
    if not result.delivered:
        raise typer.Exit(FAILED)
