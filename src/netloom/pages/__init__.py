"""Pages from records of answers alone: the report, and the explorer."""

from __future__ import annotations

from netloom.drawing.save import save_chart, save_table
from netloom.pages.explorer.file import explore
from netloom.pages.write import report
from netloom.questions.recorded import chart_of

__all__ = ["chart_of", "explore", "report", "save_chart", "save_table"]
