"""A network as the flow engine sees it: links of a capacity and a latency."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.topology import Topology


@dataclass(frozen=True, eq=False)
class FlowNetwork:
    """Links that flows share. A link is a channel of the network, by its number.

    In a direct network with ``end_channels`` each host has two more: the injection links of all
    hosts come after the channels, then their ejection links.

    Attributes
    ----------
    topology
        The network.
    capacity
        float64[num_links], size that a link moves in a unit of time: bytes per second, or flits per
        cycle.
    latency
        float64[num_links], in the same unit of time.
    end_channels
        Whether hosts of a direct network send and receive through links of their own.
    """

    topology: Topology
    capacity: Floats
    latency: Floats
    end_channels: bool

    @property
    def num_links(self) -> int:
        """How many links there are."""
        return len(self.capacity)

    def link_name(self, link: int) -> str:
        """Return the name of a link, as a channel is called.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> network = flow_network(mesh(2, 2))
        >>> network.link_name(0), network.link_name(8), network.link_name(12)
        ('(0,0) -> (1,0)', 'into (0,0)', 'out of (0,0)')
        """
        if link < self.topology.num_channels:
            return self.topology.channel_name(link)
        way, host = divmod(link - self.topology.num_channels, self.topology.num_hosts)
        return f"{'out of' if way else 'into'} {self.topology.name_of(host)}"

    def __repr__(self) -> str:
        return f"<flows on {self.topology.name}: {self.num_links} links>"


def flow_network(
    topology: Topology,
    *,
    bandwidth: float = 1.0,
    latency: float | Floats = 1.0,
    end_channels: bool = True,
) -> FlowNetwork:
    """Return the links of a network.

    Parameters
    ----------
    topology
        The network.
    bandwidth
        What a channel of bandwidth 1 moves: bytes/second, or flits/cycle (1).
    latency
        Time over a channel whose latency is a cycle: seconds, or cycles.
    end_channels
        In a direct network: whether each host sends by one channel of bandwidth 1, and receives by
        one. Hosts that hang on routers have channels of their own anyway.

    Raises
    ------
    InputError
        If the bandwidth is not above 0, or the latency below 0.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=25e9, latency=600e-9)
    >>> network, network.capacity[0]
    (<flows on leaf-spine:2x1x2: 12 links>, np.float64(25000000000.0))
    """
    if not 0 < bandwidth < inf:
        raise InputError("bandwidth", f"{bandwidth:g}", "a rate above 0")
    delay = np.asarray(latency, np.float64)
    if not ((delay >= 0) & (delay < inf)).all():
        raise InputError("latency", f"{latency}", "times of at least 0")
    capacity = topology.channel_bandwidth * bandwidth
    delays = topology.channel_cycles * delay
    ends = bool(end_channels) and topology.direct
    if ends:
        capacity = np.append(capacity, np.full(2 * topology.num_hosts, bandwidth))
        delays = np.append(delays, np.zeros(2 * topology.num_hosts))
    return FlowNetwork(topology, capacity, delays, ends)
