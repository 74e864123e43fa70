"""Bytes and seconds of a network: what a question, a machine or a fabric's file says of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import parse_rate, parse_seconds, rate, seconds
from netloom.base.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Floats
    from netloom.machines import Machine
    from netloom.questions.fields import Timing
    from netloom.topology import Topology

RATES = "a rate such as 200Gb/s, a machine, or a file of the network that says rates"

ASSUMED_BANDWIDTH, ASSUMED_LATENCY = "200Gb/s", "500ns"
ASSUMED = "assumed"
"""Who says what a question, a machine and a file do not."""


@dataclass(frozen=True, eq=False)
class Clock:
    """How many bytes and seconds the units of a network are, and who says so.

    Attributes
    ----------
    bytes_per_second
        Of a channel of bandwidth 1.
    latency_seconds
        Of a cycle of a channel's latency: one number, or float64[num_channels] where a machine's
        links have latencies of their own. Times ``channel_cycles`` it is that of each channel.
    overhead_seconds
        Of each end of a message.
    bandwidth_source, latency_source, overhead_source
        Where each comes from, in words.
    network
        Whose they are.
    """

    bytes_per_second: float
    latency_seconds: float | Floats
    overhead_seconds: float
    bandwidth_source: str
    latency_source: str
    overhead_source: str
    network: Topology | None = field(default=None, repr=False)

    def words(self, network: Topology) -> str:
        """Return what it says in one line.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> Clock(25e9, 6e-7, 0.0, "--bandwidth", "--latency", "").words(mesh(2, 2))
        '25 GB/s per channel (--bandwidth), latency 600 ns (--latency), no overhead'
        >>> Clock(25e9, 6e-7, 1e-6, "machine:my.toml", "machine:my.toml", "").words(mesh(2, 2))
        '25 GB/s per channel, latency 600 ns (machine:my.toml), overhead 1 µs'
        """
        rates = _span(self.bytes_per_second * network.channel_bandwidth, rate)
        delays = _span(self.latency_seconds * network.channel_cycles, seconds)
        told = [
            (f"{rates} per channel", self.bandwidth_source),
            (_or_none("latency", delays, self.latency_source), self.latency_source),
            (
                _or_none("overhead", seconds(self.overhead_seconds), self.overhead_source),
                self.overhead_source,
            ),
        ]
        followed = [*(source for _, source in told[1:]), ""]  # one source is said once
        return ", ".join(
            f"{said} ({source})" if source and source != after else said
            for (said, source), after in zip(told, followed, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with the least and largest figures of the network's channels."""
        assert self.network is not None
        return {
            "bytes_per_second": self.bytes_per_second,
            "channel_bytes_per_second": _ends(
                self.bytes_per_second * self.network.channel_bandwidth
            ),
            "channel_latency_seconds": _ends(self.latency_seconds * self.network.channel_cycles),
            "overhead_seconds": self.overhead_seconds,
            "bandwidth_source": self.bandwidth_source,
            "latency_source": self.latency_source,
            "overhead_source": self.overhead_source,
        }


def assumed(clock: Clock, *more: tuple[str, str]) -> str:
    """Return what nobody said of bytes and seconds, as a sentence. "" if all was said.

    ``more``: what else was assumed, each with the option that says it otherwise.

    Examples
    --------
    >>> assumed(Clock(25e9, 5e-7, 0.0, ASSUMED, "--latency", ""))
    'Assumed: 25 GB/s per channel (set by --bandwidth, or by a machine)'
    """
    some = [
        (clock.bandwidth_source, f"{rate(clock.bytes_per_second)} per channel", "--bandwidth"),
        (clock.latency_source, f"{seconds(500e-9)} per channel", "--latency"),
    ]
    said = [(what, option) for source, what, option in some if source == ASSUMED]
    said += more
    if not said:
        return ""
    whats, options = (listed(words) for words in zip(*said, strict=True))
    return f"Assumed: {whats} (set by {options}, or by a machine)"


def clock_of(question: Timing, network: Topology, machine: Machine | None) -> Clock:
    """Return the bytes and seconds of a network: options, else its machine's, else its file's.

    A bandwidth is that of channels of bandwidth 1, the reference: where a file says of cables that
    some are slower, they keep their share of it. A latency is that of a cycle, of which channels
    have one unless a file says more. If a file or a machine says times, it is that of every
    channel instead. A machine's overhead is its own, or half of the start-up time of its longest
    messages, which has both ends.

    Raises
    ------
    InputError
        If no bandwidth is known, or an option is no rate or time.

    Examples
    --------
    >>> from netloom.questions.fields import Timing
    >>> from netloom.topology import topology
    >>> net = topology("fat-tree:4x2")
    >>> found = clock_of(Timing(bandwidth="200Gb/s", latency="600ns"), net, None)
    >>> found.bytes_per_second, found.latency_seconds, found.overhead_seconds
    (25000000000.0, 6e-07, 0.0)
    >>> clock_of(Timing(), net, None)
    Traceback (most recent call last):
        ...
    netloom.InputError: bandwidth: found none for fat-tree:4x2; expected a rate such as \
200Gb/s, a machine, or a file of the network that says rates
    """
    found = known_clock(question, network, machine)
    if found is None:
        raise InputError("bandwidth", f"none for {network.name}", RATES)
    return found


def assumed_clock(question: Timing, network: Topology, machine: Machine | None) -> Clock:
    """Return what ``clock_of`` does. A bandwidth and a latency that nothing says are assumed.

    Examples
    --------
    >>> from netloom.questions.fields import Timing
    >>> from netloom.topology import topology
    >>> found = assumed_clock(Timing(latency="1us"), topology("ring:4"), None)
    >>> found.bytes_per_second, found.bandwidth_source, found.latency_source
    (25000000000.0, 'assumed', '--latency')
    """
    silent = question.bandwidth is None and _bandwidth(question, network, machine) is None
    if silent:
        question = question.model_copy(update={"bandwidth": ASSUMED_BANDWIDTH})
    found = clock_of(question, network, machine)
    if silent:
        found = replace(found, bandwidth_source=ASSUMED)
    if found.latency_source:
        return found
    late = clock_of(question.model_copy(update={"latency": ASSUMED_LATENCY}), network, machine)
    return replace(found, latency_seconds=late.latency_seconds, latency_source=ASSUMED)


def known_clock(question: Timing, network: Topology, machine: Machine | None) -> Clock | None:
    """Return what ``clock_of`` does. None if nothing says a bandwidth, or asks for times.

    Raises
    ------
    InputError
        If an option is no rate or time, or one of time is given and no bandwidth is known.
    """
    bandwidth = _bandwidth(question, network, machine)
    delay = _latency(question, network, machine)
    overhead = _overhead(question, machine)
    if bandwidth is not None:
        sources = bandwidth[1], delay[1], overhead[1]
        return Clock(bandwidth[0], delay[0], overhead[0], *sources, network)
    if question.latency is None and question.overhead is None:
        return None
    raise InputError("bandwidth", f"none for {network.name}, beside a time", RATES)


def _bandwidth(
    question: Timing, network: Topology, machine: Machine | None
) -> tuple[float, str] | None:
    gbps = network.reference_gbps
    own = None if machine is None else machine.bandwidth_bytes_per_us * 1e6
    known = own if own is not None else None if gbps is None else gbps * 1e9 / 8
    whose = "the network's file" if machine is None else machine.name
    if question.bandwidth is None:
        return None if known is None else (known, whose)
    asked = parse_rate(question.bandwidth, where="bandwidth")
    instead = "" if known is None or known == asked else f", instead of {rate(known)}"
    return asked, f"--bandwidth{instead}{f' of {whose}' if instead else ''}"


def _latency(
    question: Timing, network: Topology, machine: Machine | None
) -> tuple[float | Floats, str]:
    if question.latency is not None:
        asked = parse_seconds(question.latency, where="latency")
        times = network.cycle_ns is not None
        return _per_cycle(asked, network) if times else asked, "--latency"
    if machine is not None and machine.latencies_us(network).any():
        return _per_cycle(machine.latencies_us(network) * 1e-6, network), machine.name
    if network.cycle_ns is not None:
        return network.cycle_ns * 1e-9, "the network's file"
    return 0.0, ""


def _overhead(question: Timing, machine: Machine | None) -> tuple[float, str]:
    if question.overhead is not None:
        return parse_seconds(question.overhead, where="overhead"), "--overhead"
    if machine is not None and machine.overhead_us is not None:
        return machine.overhead_us * 1e-6, machine.name
    if machine is not None and machine.message_costs:
        startup = machine.message_costs[-1].startup_us
        return startup * 0.5e-6, f"half of the start-up time of {machine.name}"
    return 0.0, ""


def _per_cycle(each: ArrayLike, network: Topology) -> float | Floats:
    """Return seconds of each channel as seconds of a cycle: one number where all are alike."""
    found: Floats = np.asarray(each, np.float64) / np.maximum(network.channel_cycles, 1)
    alike = len(found) and (found == found[0]).all()
    return float(found[0]) if alike else found


def _ends(values: NDArray[Any]) -> dict[str, float]:
    """Return the least and the largest of some values; 0 where there are none."""
    some = values if len(values) else np.zeros(1)
    return {"min": float(some.min()), "max": float(some.max())}


def _span(values: NDArray[Any], said: Callable[[float], str]) -> str:
    least, most = map(said, _ends(values).values())
    return most if least == most else f"{least} to {most}"


def _or_none(what: str, value: str, source: str) -> str:
    nothing = value == seconds(0.0) and not source
    return f"no {what}" if nothing else f"{what} {value}"
