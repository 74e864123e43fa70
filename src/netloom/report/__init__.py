"""Charts, and pages of them, from records of answers alone.

The package itself can be called: ``netloom.report(results, "report.html")``.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from netloom.drawing.save import save_chart, save_table
from netloom.questions.recorded import chart_of

__all__ = ["chart_of", "report", "save_chart", "save_table"]


def report(
    results: Any, path: str | Path, *, title: str = "", pictures: str | Path | None = None
) -> Path:
    """Write answers, or what experiments found, as one page. See ``page.write.report``."""
    from netloom.report.page.write import report as write  # Jinja, when it is needed

    return write(results, path, title=title, pictures=pictures)


class _CallablePackage(ModuleType):
    __call__ = staticmethod(report)


sys.modules[__name__].__class__ = _CallablePackage
