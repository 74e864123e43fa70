"""One axis of a chart: where it begins and ends, and the few ticks that have labels."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any, TypeVar

from netloom.base.words import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    import altair as alt

    Way = TypeVar("Way", bound=alt.X | alt.Y)

STEPS = 5
"""Steps between the ticks of an axis, at most."""

LOAD_STEPS = 6
"""Steps between the ticks of an axis of loads, at most: it is where saturation is read off."""

STEP_SIZES = (1.0, 2.0, 2.5, 5.0, 10.0)
WHOLE_SIZES = (1.0, 2.0, 5.0, 10.0)
"""What a step may be, times a power of ten."""

ROOM = 0.06
"""How much of its length an axis goes on beyond the largest value."""


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes
    ----------
    field, title
        The column that it shows, and its name with its unit in brackets.
    low, high
        Where it begins and ends.
    marks, names
        The values that have ticks, by default chosen ones, and what these are called, if not by
        their values.
    steps
        Steps between ticks, at most.
    log, whole, share
        Whether it is logarithmic, whether its values are whole numbers, and whether they are parts
        of one, shown in percent.
    """

    field: str
    title: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    share: bool = False
    marks: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    steps: int = STEPS

    def at(self, value: float) -> float:
        """Return how far along the axis a value is: 0 where it begins, 1 where it ends.

        A value that has no logarithm is where a logarithmic axis begins.

        Examples
        --------
        >>> Axis("x", "", 0, 4).at(1), Axis("x", "", 1, 100, log=True).at(10)
        (0.25, 0.5)
        """
        if self.log:
            if value <= 0:
                return 0.0
            return log10(value / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """The values that have ticks, seven at most.

        Examples
        --------
        >>> Axis("x", "", 0, 3.2, whole=True).ticks, Axis("x", "", 0, 0.7).ticks
        ([0, 1, 2, 3], [0.0, 0.2, 0.4, 0.6])
        >>> Axis("x", "", 10, 3000, log=True).ticks, Axis("x", "", 20, 90, log=True).ticks
        ([10.0, 100.0, 1000.0], [20.0, 50.0])
        """
        if self.marks:
            return list(self.marks)
        if self.log:
            return _of_decades(self.low, self.high, self.steps)
        least = (self.high - self.low) / self.steps
        power = 10.0 ** floor(log10(least))
        sizes = WHOLE_SIZES if self.whole else STEP_SIZES
        step = next(each * power for each in sizes if each * power >= least * (1 - 1e-9))
        if self.whole:
            step = max(step, 1.0)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        found = [float(f"{place * step:.12g}") for place in range(first, last + 1)]
        return [round(each) for each in found] if self.whole else found

    def encoding(self, way: type[Way], **more: Any) -> Way:
        """Return the encoding of a place on the axis: ``way`` is ``alt.X`` or ``alt.Y``."""
        import altair as alt

        kind: Any = "log" if self.log else "linear"
        axis = alt.Axis(values=self.ticks, labelExpr=self._labels, **more)
        scale = alt.Scale(domain=[self.low, self.high], nice=False, zero=False, type=kind)
        return way(f"{self.field}:Q", title=self.title or None, scale=scale, axis=axis)

    @property
    def _labels(self) -> str:
        """The expression of Vega that names the ticks, as sentences name numbers."""
        said = list(self.names) or [f"{number(100 * each)}\u00a0%" if self.share else number(each)
                for each in self.ticks]  # fmt: skip
        places = range(len(said))
        chosen = "".join(
            f"abs(datum.value - {self.ticks[at]!r}) <= {abs(self.ticks[at]) * 1e-9!r} "
            f"? '{said[at]}' : "
            for at in places
        )
        return f"{chosen}''"


def axis(
    field: str,
    title: str,
    values: Iterable[float | None],
    *,
    zero: bool = True,
    log: bool = False,
    room: float = ROOM,
    share: bool = False,
    full: bool = True,
    whole: bool | None = None,
) -> Axis:
    """Return an axis that has room for some values, of which those that are not known are None.

    Parameters
    ----------
    field, title
        See ``Axis``.
    values
        All that is to be seen, also where lines across are.
    zero
        Whether it begins at 0, if no value is below.
    log, share
        See ``Axis``.
    full
        Whether an axis of shares goes to 100 % at least.
    room
        How much of its length it goes on beyond the largest value.
    whole
        Whether all values are whole numbers. By default that of ``values`` counts.

    Examples
    --------
    >>> axis("x", "steps", [1, 2, 4]).ticks, axis("x", "used", [0.4], share=True).high
    ([0, 1, 2, 3, 4], 1.03)
    """
    known = [float(each) for each in values if each is not None and isfinite(each)]
    known = [each for each in known if each > 0] if log else known
    least, most = min(known, default=0.0), max(known, default=1.0)
    if whole is None:
        whole = bool(known) and not share and all(each.is_integer() for each in known)
    if log:
        least, most = (least, most) if known else (1.0, 10.0)
        wide = max(most / least, 1.5)
        return Axis(field, title, least, least * wide ** (1 + room), log=True)
    if zero:
        least = min(least, 0.0)
    if share and full:
        return Axis(field, title, least, least + (1 + room / 2) * (max(most, 1.0) - least),
                    share=True)  # fmt: skip
    wide = (most - least) or abs(most) or 1.0
    below = 0.0 if zero and least >= 0 else room * wide
    return Axis(field, title, least - below, least + (1 + room) * wide, whole=whole,
                share=share)  # fmt: skip


def _of_decades(low: float, high: float, steps: int) -> list[float]:
    """Return the powers of ten from one value to another, with steps between if they are few.

    Of more than seven powers every second or third is named.
    """
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    every = -(-(last - first + 1) // (steps + 2)) or 1
    found = [10.0**power for power in range(first, last + 1, max(every, 1))]
    if len(found) > 1:
        return found
    powers = range(floor(log10(low)), last + 1)
    between = [float(f"{size * 10.0**power:.12g}") for power in powers for size in (1, 2, 5)]
    return [each for each in between if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)] or [low]
