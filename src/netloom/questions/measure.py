"""What decides between several answers to one question: a figure, and how to speak of it."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    """The figure of one answer by which it is compared with others.

    Attributes
    ----------
    value
        The figure.
    said
        The same in words, with its unit.
    does
        What the alternative does, as the end of a sentence, with ``{}`` in place of the figure.
    what
        What the figure is.
    more
        Whether more is better.

    Examples
    --------
    >>> found = Measure(8344.0, "8,344 cycles", "finishes in {}", "time to finish")
    >>> f"The torus {found.clause}."
    'The torus finishes in 8,344 cycles.'
    """

    value: float
    said: str
    does: str
    what: str
    more: bool = False

    @property
    def clause(self) -> str:
        """What the alternative does."""
        return self.does.format(self.said)
