"""Commands on the papers: ``netloom validate`` and ``netloom study``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom_papers.questions import GROUP

if TYPE_CHECKING:
    import typer


def add(app: typer.Typer) -> tuple[str, list[str]]:
    """Add the commands. Return the title of their group in the help, and their names."""
    from netloom.cli.commands import HelpedCommand
    from netloom_papers.cli.commands import study, validate

    app.command(cls=HelpedCommand)(validate)
    app.add_typer(study, name="study")
    return GROUP, ["validate", "study"]
