"""Charts, from results alone."""

from netloom.report.charts import chart_of
from netloom.report.combining import stage_figure
from netloom.report.contention import contention_chart
from netloom.report.load_curve import simulation_chart
from netloom.report.save import save_chart, save_table

__all__ = [
    "chart_of",
    "contention_chart",
    "save_chart",
    "save_table",
    "simulation_chart",
    "stage_figure",
]
