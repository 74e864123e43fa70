"""What a network carries, as its pictures show it: the time that each channel takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from netloom.words import counted, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology

MARKED = 3
"""Busiest channels that a picture names."""

EVEN = 1.05
"""Times the mean: up to here the busiest channel is not worth a name."""

MEAN_HEAT = 0.2
"""The colour of the mean: below it all is grey."""


def figure(value: float) -> str:
    """Return a number for a picture: whole ones with all their digits.

    Examples
    --------
    >>> figure(2165.0), figure(543.61), figure(0.25)
    ('2,165', '543.6', '0.25')
    """
    whole = float(value).is_integer() and abs(value) < 1e15
    return number(int(value) if whole else float(value))


@dataclass(frozen=True, eq=False)
class Traffic:
    """The channels between the routers of a network, and what each carries.

    Attributes
    ----------
    topology
        The network before anything broke.
    time
        float64[num_network_channels], load / bandwidth; NaN for channels that are not there.
    unit
        What a load is counted in, such as ``bytes``.
    scale
        The mean and the most of the colours, where several pictures are to be compared.
    """

    topology: Topology
    time: NDArray[np.float64]
    unit: str = ""
    scale: tuple[float, float] | None = None

    @cached_property
    def there(self) -> NDArray[np.int64]:
        """int64[n], the channels that are not broken, the busiest last; of equals the first."""
        known = np.flatnonzero(~np.isnan(self.time))
        return known[np.lexsort((-known, self.time[known]))]

    @cached_property
    def mean(self) -> float:
        """The time of the mean channel, up to which all is grey."""
        if self.scale is not None:
            return self.scale[0]
        return float(self.time[self.there].mean()) if len(self.there) else 0.0

    @cached_property
    def most(self) -> float:
        """The time of the busiest channel, of all pictures that are compared."""
        if self.scale is not None:
            return self.scale[1]
        return float(self.time[self.there[-1]]) if len(self.there) else 0.0

    @property
    def last(self) -> float:
        """The time that has the last colour: twice the mean at least, or even loads looked hot."""
        return max(self.most, 2 * self.mean)

    @property
    def uneven(self) -> bool:
        """Whether some channel is clearly busier than the mean."""
        return self.most > EVEN * self.mean > 0

    def heat(self, time: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return colours, 0 … 1: ``MEAN_HEAT`` at the mean, and straight below and above it."""
        value = np.asarray(time, np.float64)
        if self.mean <= 0:
            return np.zeros_like(value)
        below = MEAN_HEAT * np.minimum(value / self.mean, 1.0)
        above = np.clip((value - self.mean) / (self.last - self.mean), 0.0, 1.0)
        return np.asarray(below + (1 - MEAN_HEAT) * above, np.float64)

    @cached_property
    def busiest(self) -> list[int]:
        """The channels that are named, the busiest first: above the mean only."""
        if not self.uneven:
            return []
        last = self.there[::-1][:MARKED]
        return [int(channel) for channel in last if self.time[channel] > self.mean]

    @cached_property
    def as_busy(self) -> int:
        """How many channels that are not named are as busy as the last that is."""
        if not self.busiest:
            return 0
        least = self.time[self.busiest[-1]] * (1 - 1e-12)
        return int((self.time[self.there] >= least).sum()) - len(self.busiest)

    def name(self, channel: int) -> str:
        """Return the name of a channel."""
        return self.topology.channel_name(channel)

    @cached_property
    def even(self) -> bool:
        """Whether all channels between routers have one bandwidth: then time is load."""
        rate = self.topology.channel_bandwidth[: len(self.time)]
        return bool((rate == rate[:1]).all())

    @classmethod
    def of_load(
        cls,
        topology: Topology,
        load: NDArray[np.float64],
        unit: str,
        scale: tuple[float, float] | None = None,
    ) -> Traffic:
        """Return the traffic of loads, float64[num_network_channels].

        Times are loads where all channels between routers have one bandwidth, whichever.
        """
        found = cls(topology, load, unit, scale)
        if found.even:
            return found
        return cls(topology, load / topology.channel_bandwidth[: len(load)], unit, scale)

    def load(self, channel: int) -> float:
        """Return what a channel carries."""
        time = float(self.time[channel])
        return time if self.even else time * float(self.topology.channel_bandwidth[channel])

    @property
    def measure(self) -> str:
        """What is coloured, with its unit."""
        if self.even:
            return f"{self.unit} on the channel"
        return f"time on the channel ({self.unit} / bandwidth)"

    def said(self, channel: int) -> str:
        """Return what a channel carries, and how fast it is where others are faster or slower.

        Examples
        --------
        >>> from netloom.topology import topology
        >>> Traffic(topology("leaf-spine:2x1x1"), np.array([48000.0, 1, 1, 1]), "bytes").said(0)
        '48,000 bytes'
        """
        carried = f"{figure(self.load(channel))} {self.unit}".rstrip()
        if self.even:
            return carried
        rate, gbps = self.topology.channel_bandwidth[channel], self.topology.reference_gbps
        speed = f"{rate:.3g} flit{'' if rate == 1 else 's'}/cycle"
        speed = speed if gbps is None else f"{rate * gbps:.4g} Gb/s"
        return f"{carried} at {speed}"

    def compared(self, channel: int) -> str:
        """Return what a channel carries, and how that compares with the mean."""
        times = f"{self.time[channel] / self.mean:.3g} × the mean"
        return f"{self.said(channel)}, {times}{'' if self.even else ' time'}"

    @cached_property
    def sentence(self) -> str:
        """What the picture shows, in one sentence with its number."""
        many = len(self.there)
        if not many:
            return f"{self.topology.name}: no channel is left"
        last = int(self.there[-1])
        highest, mean = float(self.time[last]), float(self.time[self.there].mean())
        if highest == 0:
            return f"{self.topology.name}: nothing on {counted(many, 'channel', ',')}"
        if many == 1:
            return f"{self.name(last)} carries {self.said(last)}"
        if highest <= EVEN * mean:
            return self._all_alike(last, exactly=highest <= mean * (1 + 1e-9))
        equal = int((self.time[self.there] >= highest * (1 - 1e-12)).sum())
        times = f"{highest / mean:.3g} times the mean"
        if equal > 1:
            who = f"{equal:,} of {many:,} channels"
            return f"{who} carry {self.said(last)}, {times}" if self.even else (
                f"{who} take longest, {times}"
            )  # fmt: skip
        longest = "" if self.even else " and takes longest"
        return f"{self.name(last)} carries {self.said(last)}{longest}, {times}"

    def _all_alike(self, last: int, *, exactly: bool) -> str:
        """Return the sentence of channels that all take nearly the same time."""
        many = f"{len(self.there):,} channels"
        if not self.even:
            return (
                f"All {many} take {'' if exactly else 'nearly '}the same time for what they carry"
            )
        if exactly:
            return f"Each of {many} carries {self.said(last)}"
        return f"All {many} carry nearly the same, up to {self.said(last)}"
