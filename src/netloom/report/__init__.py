"""Charts, from results alone."""

from netloom.report.contention import contention_chart
from netloom.report.load_curve import simulation_chart
from netloom.report.save import save_chart

__all__ = ["contention_chart", "save_chart", "simulation_chart"]
