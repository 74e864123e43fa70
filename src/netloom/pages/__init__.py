"""Pages from records of answers alone: the report, and the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netloom.drawing.save import save_chart, save_table
from netloom.questions.recorded import chart_of

__all__ = ["chart_of", "explore", "report", "save_chart", "save_table"]


def report(
    results: Any, path: str | Path, *, title: str = "", pictures: str | Path | None = None
) -> Path:
    """Write answers, or what experiments found, as one page. See ``write.report``."""
    from netloom.pages.write import report as write  # Jinja, when it is needed

    return write(results, path, title=title, pictures=pictures)


def explore(results: Any, path: str | Path, *, on: str = "") -> Path:
    """Write a page to explore one network in. See ``explorer.file.explore``."""
    from netloom.pages.explorer.file import explore as write

    return write(results, path, on=on)
