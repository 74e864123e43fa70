"""Pictures that show a network: a layout a family, from traffic to a list of what is drawn."""

from netloom.drawing.networks.chosen import MOST_DRAWN, scene_of
from netloom.drawing.networks.marks import drawn
from netloom.drawing.networks.traffic import MARKED_IN_GRAPHS, Delays, Marked, Tips, Traffic

__all__ = [
    "MARKED_IN_GRAPHS", "MOST_DRAWN", "Delays", "Marked", "Tips", "Traffic", "drawn", "scene_of",
]  # fmt: skip
