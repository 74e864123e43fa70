"""How many bytes and seconds the units of a network are: as asked, else as a machine or file says.

A bandwidth is that of channels of bandwidth 1, the reference: where a file says of cables that some
are slower, they keep their share of it. A latency is that of a cycle, of which channels have one
unless a file says more. If a file or a machine says times, it is that of every channel instead. A
machine's overhead is its own, or half of the start-up time of its longest messages, which has both
ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure, unseen
from netloom.base.units import parse_rate, parse_seconds, rate, seconds
from netloom.base.words import listed
from netloom.machines.links import with_channels
from netloom.simulation.network.routers import Router

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.machines import Machine
    from netloom.topology import Topology

    Late: TypeAlias = float | Floats

RATES = "a rate such as 200Gb/s, a machine, or a file of the network that says rates"

ASSUMED = "assumed"
"""Who says what a question, a machine and a file do not."""

ASSUMED_RATE, ASSUMED_LATENCY = 25e9, 500e-9
"""Bytes/s and seconds of a channel that are assumed."""

MOST_LATENCY = 512
"""Most cycles of a channel: its buffers hold as many flits."""


class Span(Figures):
    """The least and the largest of some values; 0 where there are none."""

    min: float = figure()
    max: float = figure()

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return it of some values."""
        some = values if len(values) else np.zeros(1)
        return cls(min=float(some.min()), max=float(some.max()))

    def said(self, of: Callable[[float], str]) -> str:
        """Return it in words, with what says a value."""
        least, most = of(self.min), of(self.max)
        return most if least == most else f"{least} to {most}"


class Clock(Figures):
    """How many bytes and seconds the units of a network are, and who says so.

    Attributes
    ----------
    bytes_per_second
        Of a channel of bandwidth 1.
    overhead_seconds
        Of each end of a message.
    bandwidth_source, latency_source, overhead_source
        Where each comes from, in words.
    latency_seconds
        Of a cycle of a channel's latency: one number, or float64[num_channels] where a machine's
        links have latencies of their own. Times ``channel_cycles`` it is that of each channel.
    """

    bytes_per_second: float = figure(unit="bytes/s")
    channel_bytes_per_second: Span = figure(unit="bytes/s")
    channel_latency_seconds: Span = figure(unit="seconds")
    overhead_seconds: float = figure(unit="seconds")
    bandwidth_source: str = figure()
    latency_source: str = figure()
    overhead_source: str = figure()
    latency_seconds: Late = unseen()

    @classmethod
    def of(
        cls,
        network: Topology,
        bandwidth: tuple[float, str],
        latency: tuple[Late, str],
        overhead: tuple[float, str],
    ) -> Self:
        """Return that of a network. Each value comes with who says so."""
        return cls(
            bytes_per_second=bandwidth[0],
            channel_bytes_per_second=Span.of(bandwidth[0] * network.channel_bandwidth),
            channel_latency_seconds=Span.of(latency[0] * network.channel_cycles),
            overhead_seconds=overhead[0],
            bandwidth_source=bandwidth[1],
            latency_source=latency[1],
            overhead_source=overhead[1],
            latency_seconds=latency[0],
        )

    @property
    def says_latency(self) -> bool:
        """Whether somebody says its latency."""
        return self.latency_source not in ("", ASSUMED)

    @property
    def words(self) -> str:
        """What it says, in one line. A source of several is said once.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> Clock.of(mesh(2, 2), (25e9, "--bandwidth"), (6e-7, "--latency"), (0.0, "")).words
        '25 GB/s per channel (--bandwidth), latency 600 ns (--latency), no overhead'
        >>> own = "machine:my.toml"
        >>> Clock.of(mesh(2, 2), (25e9, own), (6e-7, own), (1e-6, "")).words
        '25 GB/s per channel, latency 600 ns (machine:my.toml), overhead 1 µs'
        """
        latency = self.channel_latency_seconds.said(seconds)
        overhead = seconds(self.overhead_seconds)
        told = [
            (f"{self.channel_bytes_per_second.said(rate)} per channel", self.bandwidth_source),
            (_or_none("latency", latency, self.latency_source), self.latency_source),
            (_or_none("overhead", overhead, self.overhead_source), self.overhead_source),
        ]
        followed = [*(source for _, source in told[1:]), ""]
        return ", ".join(
            f"{said} ({source})" if source and source != after else said
            for (said, source), after in zip(told, followed, strict=True)
        )

    def assumed(self, *more: tuple[str, str]) -> str:
        """Return what nobody said of bytes and seconds, as a sentence. "" if all was said.

        ``more``: what else was assumed, each with the option that says it otherwise.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> clock = Clock.of(mesh(2), (25e9, ASSUMED), (5e-7, "--latency"), (0.0, ""))
        >>> clock.assumed()
        'Assumed: 25 GB/s per channel (set by --bandwidth, or by a machine)'
        """
        some = [
            (self.bandwidth_source, f"{rate(self.bytes_per_second)} per channel", "--bandwidth"),
            (self.latency_source, f"{seconds(ASSUMED_LATENCY)} per channel", "--latency"),
        ]
        said = [(what, option) for source, what, option in some if source == ASSUMED]
        said += more
        if not said:
            return ""
        whats, options = (listed(words) for words in zip(*said, strict=True))
        return f"Assumed: {whats} (set by {options}, or by a machine)"


def clock_of(
    asked: Any, network: Topology, machine: Machine | None, *, assume: bool = False
) -> Clock:
    """Return the bytes and seconds of a network: as asked, else its machine's, or its file's.

    Parameters
    ----------
    asked
        What has ``bandwidth``, ``latency`` and ``overhead``, each None or with its unit.
    assume
        Whether a bandwidth and a latency that nothing says are assumed.

    Raises
    ------
    InputError
        If no bandwidth is known, or one of those asked for is no rate or time.

    Examples
    --------
    >>> from netloom.questions.fields import Timing
    >>> from netloom.topology import topology
    >>> net = topology("fat-tree:4x2")
    >>> found = clock_of(Timing(bandwidth="200Gb/s", latency="600ns"), net, None)
    >>> found.bytes_per_second, found.latency_seconds, found.overhead_seconds
    (25000000000.0, 6e-07, 0.0)
    >>> clock_of(Timing(latency="1us"), net, None, assume=True).bandwidth_source
    'assumed'
    >>> clock_of(Timing(), net, None)
    Traceback (most recent call last):
        ...
    netloom.InputError: bandwidth: found none for fat-tree:4x2; expected a rate such as \
200Gb/s, a machine, or a file of the network that says rates
    """
    found = known_clock(asked, network, machine, assume=assume)
    if found is None:
        raise InputError("bandwidth", f"none for {network.name}", RATES)
    return found


def known_clock(
    asked: Any, network: Topology, machine: Machine | None, *, assume: bool = False
) -> Clock | None:
    """Return what ``clock_of`` does. None if nothing says a bandwidth, or asks for times.

    Raises
    ------
    InputError
        If an option is no rate or time, or one of time is given and no bandwidth is known.
    """
    bandwidth = _bandwidth(asked, network, machine)
    latency = _latency(asked, network, machine)
    overhead = _overhead(asked, machine)
    if assume:
        bandwidth = bandwidth or (ASSUMED_RATE, ASSUMED)
        latency = latency if latency[1] else (ASSUMED_LATENCY, ASSUMED)
    if bandwidth is not None:
        return Clock.of(network, bandwidth, latency, overhead)
    if asked.latency is None and asked.overhead is None:
        return None
    raise InputError("bandwidth", f"none for {network.name}, beside a time", RATES)


def _bandwidth(asked: Any, network: Topology, machine: Machine | None) -> tuple[float, str] | None:
    gbps = network.reference_gbps
    own = None if machine is None else machine.bandwidth_bytes_per_us * 1e6
    known = own if own is not None else None if gbps is None else gbps * 1e9 / 8
    whose = "the network's file" if machine is None else machine.name
    if asked.bandwidth is None:
        return None if known is None else (known, whose)
    wanted = parse_rate(asked.bandwidth, where="bandwidth")
    instead = "" if known is None or known == wanted else f", instead of {rate(known)}"
    return wanted, f"--bandwidth{instead}{f' of {whose}' if instead else ''}"


def _latency(asked: Any, network: Topology, machine: Machine | None) -> tuple[Late, str]:
    if asked.latency is not None:
        late = parse_seconds(asked.latency, where="latency")
        times = network.cycle_ns is not None
        return _per_cycle(late, network) if times else late, "--latency"
    if machine is not None and machine.latencies_us(network).any():
        return _per_cycle(machine.latencies_us(network) * 1e-6, network), machine.name
    if network.cycle_ns is not None:
        return network.cycle_ns * 1e-9, "the network's file"
    return 0.0, ""


def _overhead(asked: Any, machine: Machine | None) -> tuple[float, str]:
    if asked.overhead is not None:
        return parse_seconds(asked.overhead, where="overhead"), "--overhead"
    if machine is not None and machine.overhead_us is not None:
        return machine.overhead_us * 1e-6, machine.name
    if machine is not None and machine.message_costs:
        startup = machine.message_costs[-1].startup_us
        return startup * 0.5e-6, f"half of the start-up time of {machine.name}"
    return 0.0, ""


def _per_cycle(each: ArrayLike, network: Topology) -> Late:
    """Return seconds of each channel as seconds of a cycle: one number where all are alike."""
    found: Floats = np.asarray(each, np.float64) / np.maximum(network.channel_cycles, 1)
    alike = len(found) and (found == found[0]).all()
    return float(found[0]) if alike else found


def _or_none(what: str, value: str, source: str) -> str:
    nothing = value == seconds(0.0) and not source
    return f"no {what}" if nothing else f"{what} {value}"


def cycles_of_routers(topology: Topology, router: Router) -> Ints:
    """Return int64[num_channels], cycles in the router that each leaves. Hosts take none."""
    port = np.arange(topology.num_channels) - topology.num_network_channels
    return np.where((port >= 0) & (port < topology.num_ports), 0, router.router_cycles)


def with_latencies(topology: Topology, clock: Clock, cycle: float, router: Router) -> Topology:
    """Return a network whose channels, with the routers that they leave, take a clock's latencies.

    ``cycle``: the seconds of a cycle.

    Raises
    ------
    InputError
        If a latency is less than that of its router, or too many cycles.
    """
    whole, took = topology.whole, clock.latency_seconds * topology.channel_cycles
    taken = np.rint(took / cycle)
    cycles = taken - cycles_of_routers(topology, router)
    least, most = int(cycles.min(initial=1)), int(cycles.max(initial=1))
    if least < 1 or most > MOST_LATENCY:
        odd = int(np.argmin(cycles) if least < 1 else np.argmax(cycles))
        found = f"{seconds(float(took[odd]))}, {taken[odd]:.0f} cycles of a flit"
        wanted = f"{router.router_cycles + 1} to {MOST_LATENCY + router.router_cycles} cycles: "
        said = "smaller flit_bytes or another router" if least < 1 else "larger flit_bytes"
        raise InputError("latency", found, wanted + said)
    full = np.ones(whole.num_channels, np.int32)
    full[topology.whole_channel] = cycles
    return with_channels(topology, whole.channel_bandwidth, full)


def clock_of_engine(
    clock: Clock, topology: Topology, router: Any, *, cycle: float, flit_bytes: float, engine: str
) -> Clock:
    """Return a clock with what a header takes for each channel in an engine, and the router.

    ``cycle``: the seconds of a cycle. ``router``: what the engine simulates, perhaps a ``Router``.
    """
    cycles = topology.channel_cycles.astype(np.float64)
    if isinstance(router, Router):
        cycles[: topology.num_network_channels] *= router.channel_cycles
        cycles += cycles_of_routers(topology, router)
    latency = cycles * cycle / np.maximum(topology.channel_cycles, 1)
    return Clock.of(
        topology,
        (flit_bytes / cycle, clock.bandwidth_source),
        (latency, clock.latency_source if clock.says_latency else f"engine {engine}"),
        (float(np.rint(clock.overhead_seconds / cycle) * cycle), clock.overhead_source),
    )
