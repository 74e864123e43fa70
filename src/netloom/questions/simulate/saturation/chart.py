"""The picture of a search for saturation: that of a simulation of several loads."""

from netloom.questions.simulate.load.chart import PART_TITLES, footer, parts

__all__ = ["PART_TITLES", "footer", "parts"]
