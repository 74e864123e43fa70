"""Commands on the papers: ``netloom validate``, ``netloom study`` and ``netloom compile run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom_papers.questions import GROUP

if TYPE_CHECKING:
    import typer


def add(app: typer.Typer) -> tuple[str, list[str]]:
    """Add the commands. Return the title of their group in the help, and their names."""
    from netloom.cli.commands import HelpedCommand
    from netloom_papers.cli.commands import run_plan, study, validate

    app.command(cls=HelpedCommand)(validate)
    app.add_typer(study, name="study")
    epilog = "Example: netloom compile run plan.json"
    app.command("compile run", cls=HelpedCommand, epilog=epilog)(run_plan)  # stands with compile's
    return GROUP, ["validate", "study"]
