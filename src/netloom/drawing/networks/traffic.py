"""What a network carries, as its pictures show it: loads, shares of channels, or changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.units import size
from netloom.base.words import begun, counted, number
from netloom.contention.busiest import tie_named
from netloom.drawing.frame import DELAYED
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, HyperXShape, StagesShape, TreeShape
from netloom.topology.names import short_channel_name

MARKED, MARKED_IN_GRAPHS = 3, 5
"""Busiest channels that a picture names: of a network with a family, and of any other graph."""

EVEN = 1.05
"""Times the mean: up to here the busiest channel is not worth a name."""

MEAN_HEAT = 0.2
"""The color of the mean load: below it all is grey."""

Shown = Literal["load", "use", "change", "marked"]
"""Loads and use are colored by the load that delays. If that is not known, loads are colored
relative to their mean, and use from 0 to 100 %. Changes go from less to more. Of marked channels
the others are grey.
"""


@dataclass(frozen=True)
class Marked:
    """Channels that a picture is about, whatever the others carry.

    Attributes
    ----------
    sentence
        What the picture shows.
    words
        What is said of each channel that is marked, in order.
    measure
        What their colors are. Empty if they have one only.
    """

    sentence: str
    words: Mapping[int, str]
    measure: str = ""


class Delays(NamedTuple):
    """When the channels of a picture delay, as times in parts of the busiest channel's.

    ``begins``: from where on something is delayed. ``full``: where the busiest channel is full.
    ``at``: the load that the picture is of, in words.
    """

    begins: float
    full: float
    at: str = ""


@dataclass(frozen=True)
class Tips:
    """What else is said of channels one by one: a title, and words for each."""

    title: str
    words: Sequence[str]


def percent(share: float) -> str:
    r"""Return a share of a channel in percent.

    Examples
    --------
    >>> percent(0.2784) == "27.8\u00a0%", percent(1.0) == "100\u00a0%"
    (True, True)
    """
    return f"{number(100 * share)}\u00a0%"


def amount(value: float, unit: str) -> str:
    r"""Return a load with its unit. Bytes as people read them.

    Examples
    --------
    >>> amount(1_960_000, "bytes") == "1.96\u00a0MB", amount(1, "messages"), amount(2165, "paths")
    (True, '1 message', '2,165 paths')
    """
    if unit == "bytes":
        return size(value).replace(" ", "\u00a0")
    shown = number(int(value) if float(value).is_integer() and abs(value) < 1e15 else value)
    return counted(shown, unit.removesuffix("s")) if unit else shown


@dataclass(frozen=True, eq=False)
class Traffic:
    """The channels of a network, and what each carries: those between routers, perhaps of hosts.

    Attributes
    ----------
    topology
        The network before anything broke.
    time
        float64[num_network_channels], or float64[num_channels] if those of hosts are known: load /
        bandwidth. NaN for channels that are not there.
    unit
        What a load is counted in, such as ``bytes``.
    scale
        The mean and the most of the colors, where several pictures are to be compared.
    shown
        What ``time`` is: that of a load, the share of a channel that is used, or a change.
    before
        As ``time``, the times that a change starts from.
    paths
        As ``time``, how many paths use each channel, if that is known.
    marked
        The channels that are marked in place of the busiest.
    tips
        What is said where a channel is pointed at, such as the pairs that load it most.
    delays
        When the network delays, if that is known.
    """

    topology: Topology
    time: Floats
    unit: str = ""
    scale: tuple[float, float] | None = None
    shown: Shown = "load"
    before: Floats | None = None
    paths: Floats | None = None
    marked: Marked | None = None
    tips: Tips | None = None
    delays: Delays | None = None

    @cached_property
    def weight(self) -> Floats:
        """float64[num_network_channels], how much there is to see: of changes without sign."""
        return np.abs(self.time) if self.shown == "change" else self.time

    @cached_property
    def there(self) -> Ints:
        """int64[n], the channels that are not broken, the busiest last. Of equals the first."""
        known = np.flatnonzero(~np.isnan(self.time))
        return known[np.lexsort((-known, self.weight[known]))]

    @cached_property
    def between(self) -> Ints:
        """int64[n], those of ``there`` that join routers."""
        return self.there[~self._of_hosts[self.there]]

    @cached_property
    def hosts(self) -> Ints:
        """int64[n], those of ``there`` that are hosts' own, to routers and from them."""
        return self.there[self._of_hosts[self.there]]

    @cached_property
    def _of_hosts(self) -> Bools:
        """bool[num_channels], the channels of hosts, and of cards where routers have a family.

        Cards of a tree are a level of its routers.
        """
        net = self.topology
        found = np.arange(net.num_channels) >= net.num_network_channels
        if isinstance(net.family, DragonflyShape | HyperXShape):
            found[: net.num_network_channels] = net.card_channels
        return found

    @cached_property
    def mean(self) -> float:
        """The time of the mean channel, up to which all loads are grey; 0 of changes."""
        if self.shown in ("change", "marked"):
            return 0.0
        if self.scale is not None and self.shown == "load":
            return self.scale[0]
        return self.own_mean

    @cached_property
    def own_mean(self) -> float:
        """The time of the mean channel of this picture alone: what words compare with."""
        return float(self.weight[self.there].mean()) if len(self.there) else 0.0

    @cached_property
    def most(self) -> float:
        """The time of the busiest channel, of all pictures that are compared."""
        if self.scale is not None:
            return self.scale[1]
        return self.highest

    @property
    def last(self) -> float:
        """The time that has the last color: twice the mean at least, or even loads looked hot."""
        if self.shown == "use":
            return 1.0
        if self.delayed is not None:
            assert self.delays is not None
            full = self.highest * self.delays.full
            return max(full if full > self.delayed else 2 * self.delayed, self.highest)
        return max(self.most, 2 * self.mean)

    @property
    def highest(self) -> float:
        """The time of the busiest channel of this picture alone."""
        return float(self.weight[self.there[-1]]) if len(self.there) else 0.0

    @property
    def delayed(self) -> float | None:
        """The time that delays. None if it is not known, or this picture shows no loads."""
        if self.delays is None or self.shown not in ("load", "use") or not self.highest:
            return None
        begins = self.highest * self.delays.begins
        return None if self.shown == "use" and begins >= 1 else begins

    @property
    def stops(self) -> dict[float, float]:
        """Some times and their colors, 0 … 1. Between them colors rise evenly."""
        if self.shown == "change":
            return {-self.most: 0.0, 0.0: 0.5, self.most: 1.0} if self.most else {0.0: 0.5}
        if self.delayed is not None:
            return {0.0: 0.0, self.delayed: DELAYED, self.last: 1.0}
        if self.shown == "load":
            return {0.0: 0.0} | ({self.mean: MEAN_HEAT, self.last: 1.0} if self.mean else {})
        last = 1.0 if self.shown == "use" else self.most
        return {0.0: 0.0} | ({last: 1.0} if last else {})

    @property
    def said_at_stops(self) -> list[str]:
        """What stands at the first stop, at the next, longest words first, and at the last."""
        if self.shown == "change":
            most = self.of_all(self.most)
            return [f"−{most}", "0", f"+{most}"] if self.most else ["0", "0", "0"]
        if self.shown == "use":
            between = [percent(0.5)]
            if self.delayed is not None:
                said = f"saturates* {percent(round(self.delayed, 2))}"
                between = [said, self.of_all(self.delayed)]
            return [f"idle {percent(0)}", *between, f"full {percent(1)}"]
        if self.shown == "marked" or not self.mean:
            return ["0", self.of_all(self.most) if self.marked else "0"]
        last, mean = self.of_all(self.last), self.of_all(self.mean)
        if self.delays is None or self.delayed is None:
            whose = ("mean ", "") if self.scale is None else ("mean of all ", "mean ", "")
            return ["0", *(f"{each}{mean}" for each in whose), last]
        full, said = self.delays.full, self.of_all(self.delayed)
        what = ("full ", "") if self.delays.begins >= full else ("delays from* ", "delays* ", "")
        is_full = "full " if self.last == self.highest * full else ""
        return ["0", *(f"{each}{said}" for each in what), f"{is_full}{last}"]

    def heat(self, time: Floats | float) -> Floats:
        """Return colors, 0 … 1, by ``stops``."""
        times, colours = zip(*self.stops.items(), strict=True)
        return np.asarray(np.interp(np.asarray(time, np.float64), times, colours), np.float64)

    def strength(self, time: Floats) -> Floats:
        """Return how thick channels are, 0 … 1.

        Loads up to the mean are as thin as can be. In pictures that are compared, thickness is in
        proportion to load: so a network whose loads are all low beside another's is not empty.
        """
        heat = self.heat(time)
        if self.shown == "change":
            return np.abs(2 * heat - 1)
        if self.shown in ("use", "marked") or self.delayed is not None:
            return heat
        if self.scale is not None:
            return np.clip(time / (self.last or 1.0), 0.0, 1.0)
        return np.maximum(heat - MEAN_HEAT, 0) / (1 - MEAN_HEAT)

    @cached_property
    def busiest(self) -> list[int]:
        """The channels that are named, the busiest first: above the mean only."""
        if self.marked:
            return list(self.marked.words)[:MARKED_IN_GRAPHS]
        if self.highest <= (0.0 if self.shown == "change" else EVEN * self.own_mean):
            return []
        family = self.topology.family
        known = isinstance(family, DragonflyShape | HyperXShape | StagesShape | TreeShape)
        known |= isinstance(self.topology.routers, Cube)
        last = self.there[::-1][: MARKED if known else MARKED_IN_GRAPHS]
        return [int(channel) for channel in last if self.weight[channel] > self.own_mean]

    @cached_property
    def as_busy(self) -> int:
        """How many channels that are not named are as busy as the last that is."""
        if self.marked or not self.busiest:
            return 0
        last = self.busiest[-1]
        named = sum(self.said(each) == self.said(last) for each in self.busiest)
        return len(self._alike(last)) - named

    def _alike(self, channel: int) -> list[int]:
        """Return the channels that carry the same as one, to the digits that are shown."""
        near = np.isclose(self.weight[self.there], self.weight[channel], rtol=0.02, atol=0)
        said = self.said(channel)
        return [int(each) for each in self.there[near] if self.said(int(each)) == said]

    def name(self, channel: int) -> str:
        """Return the name of a channel, without what the firmware of switches adds to theirs."""
        return short_channel_name(self.topology.channel_name(channel)).replace(" -> ", " → ")

    @cached_property
    def even(self) -> bool:
        """Whether all channels between routers have one bandwidth: then time is load."""
        rate = self.topology.channel_bandwidth[: len(self.time)]
        return bool((rate == rate[:1]).all())

    @classmethod
    def of_load(cls, topology: Topology, load: Floats, unit: str, **more: Any) -> Traffic:
        """Return the traffic of loads, as long as ``time``. Of use, in flits/cycle.

        ``more`` are the other attributes. Those ``before`` are loads, too. Times are loads where
        all channels between routers have one bandwidth, whichever. Use is always a share of a
        channel's bandwidth.
        """
        found = cls(topology, load, unit, **more)
        if (found.even and found.shown != "use") or found.shown == "marked":
            return found
        rate = topology.channel_bandwidth[: len(load)]
        start = None if found.before is None else found.before / rate
        return replace(found, time=load / rate, before=start)

    def _load(self, channel: int, time: float) -> str:
        """Return what a time on a channel is, with its unit."""
        if self.shown == "use":
            return percent(time)
        rate = 1.0 if self.even else float(self.topology.channel_bandwidth[channel])
        return amount(time * rate, self.unit)

    def of_all(self, time: float) -> str:
        """Return a time that is no single channel's, such as the mean, with its unit."""
        if self.shown == "use":
            return percent(time)
        return amount(time, self.unit) if self.even else f"{number(time)} {self.unit}".rstrip()

    def amount_of(self, time: float) -> str:
        r"""Return a time with its unit, and of changes with its sign.

        Examples
        --------
        >>> from netloom.topology import topology
        >>> there = Traffic(topology("mesh:2"), np.array([-2.0, 1]), "paths", shown="change")
        >>> [there.amount_of(each) for each in (-2, 1, 0)]
        ['−2 paths', '+1 path', '0 paths']
        """
        if self.shown != "change":
            return self.of_all(time)
        return f"{'+' if time > 0 else '−' if time < 0 else ''}{self.of_all(abs(time))}"

    @property
    def measure(self) -> str:
        """What is colored, and on which scale."""
        if self.marked:
            return self.marked.measure
        if self.shown == "use":
            return "share of the channel in use, 0 to 100\u00a0%"
        if self.shown == "change":
            return f"change of {self.unit}: blue less, red more"
        what = (
            f"{self.unit} on the channel".lstrip()
            if self.even
            else (f"time on the channel ({self.unit} / bandwidth)")
        )
        if self.delayed is not None and self.delays is not None:
            return f"{what}{self.delays.at and ', at '}{self.delays.at}"
        rank = "relative to the mean" if self.scale is None else "one scale for all"
        return f"{what}, {rank}"

    def said(self, channel: int) -> str:
        r"""Return what a channel carries, and how fast it is where others are faster or slower.

        Examples
        --------
        >>> from netloom.topology import topology
        >>> Traffic(topology("leaf-spine:2x1x1"), np.array([48000.0, 1, 1, 1]), "bytes").said(0)
        '48\xa0kB'
        """
        carried = self._load(channel, float(self.time[channel]))
        if self.even or self.shown == "use":
            return carried
        rate, gbps = self.topology.channel_bandwidth[channel], self.topology.reference_gbps
        speed = f"{rate:.3g} flit{'' if rate == 1 else 's'}/cycle"
        speed = speed if gbps is None else f"{rate * gbps:.4g} Gb/s"
        return f"{carried} at {speed}"

    def compared(self, channel: int) -> str:
        """Return what a channel carries, and how that compares with the mean, or with before."""
        if self.marked:
            return self.marked.words[channel]
        if self.shown == "change":
            return self._changed(channel)
        times = f"{self.time[channel] / self.own_mean:.3g}× the mean"
        slow = "" if self.even or self.shown == "use" else " time"
        return f"{self.said(channel)}, {times}{slow}"

    def _changed(self, channel: int) -> str:
        change = float(self.time[channel])
        said = f"{self._load(channel, abs(change))} {'more' if change > 0 else 'less'}"
        if self.before is None:
            return said
        start = float(self.before[channel])
        ends = (self._load(channel, each) for each in (start, start + change))
        return f"{said} ({' → '.join(ends)})"

    @cached_property
    def sentence(self) -> str:
        """What the picture shows, in one sentence with its number."""
        many = len(self.there)
        if self.marked:
            return self.marked.sentence
        if not many:
            return f"{self.topology.name}: no channel is left"
        last = int(self.there[-1])
        highest, mean = self.highest, self.own_mean
        if self.shown == "change":
            changed = f"{self.name(last)} carries {self._changed(last)}, the largest change"
            return changed if highest else "No channel carries more or less than before"
        if highest == 0:
            return f"{self.topology.name}: nothing on {counted(many, 'channel', ',')}"
        carry, carries = ("are", "is") if self.shown == "use" else ("carry", "carries")
        said = f"{self.said(last)} busy" if self.shown == "use" else self.said(last)
        if many == 1:
            return f"{self.name(last)} {carries} {said}"
        if highest <= EVEN * mean:
            return self._all_alike(last, exactly=highest <= mean * (1 + 1e-9))
        equal = self._alike(last)
        times = f"{highest / mean:.3g}× the mean"
        slow = not self.even and self.shown == "load"
        if len(equal) > 1:
            together = tie_named(self.topology, np.sort(equal))
            who = together or f"{len(equal):,} of {many:,} channels"
            who = begun(who)
            return f"{who} take longest, {times}" if slow else f"{who} {carry} {said}, {times}"
        longest = " and takes longest" if slow else ""
        return f"{self.name(last)} {carries} {said}{longest}, {times}"

    def _all_alike(self, last: int, *, exactly: bool) -> str:
        """Return the sentence of channels that all take nearly the same time."""
        many = f"{len(self.there):,} channels"
        if self.shown == "use":
            return f"All {many} are {'' if exactly else 'nearly '}equally busy, {self.said(last)}"
        if not self.even:
            return (
                f"All {many} take {'' if exactly else 'nearly '}the same time for what they carry"
            )
        if exactly:
            return f"Each of {many} carries {self.said(last)}"
        return f"All {many} carry nearly the same, up to {self.said(last)}"
