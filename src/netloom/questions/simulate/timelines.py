"""The old place of what programs crossed and when it happened, for questions that still use it."""

from netloom.drawing.programs import happened_to
from netloom.simulation.crossed import crossed_links

__all__ = ["crossed_links", "happened_to"]
