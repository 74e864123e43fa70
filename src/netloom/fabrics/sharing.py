"""Which cables jobs share, and what it costs each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.fabrics.program import program_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Floats, Ints
    from netloom.fabrics.program import Flows
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology


class SharedChannel(NamedTuple):
    """A channel that several jobs use.

    Attributes
    ----------
    channel
        Its number.
    use
        By job, how long it works for that one, as a share of the time that the job takes alone.
    """

    channel: int
    use: dict[int, float]

    @property
    def together(self) -> float:
        """How long it works for all of them."""
        return sum(self.use.values())


@dataclass(frozen=True, eq=False)
class Sharing:
    """What jobs that run at the same time cost each other.

    Every job sends all its messages once. Alone, it takes the time that its busiest channel works
    (bytes / bandwidth). This is the unit of time of each job, so that jobs of different sizes are
    compared as if they sent without pause.

    Attributes
    ----------
    times
        float64[jobs, num_channels], how long each channel works for each job, in bytes over
        bandwidth.
    alone
        float64[jobs], the longest of these; 0 of a job that sends nothing through the network.
    busiest
        int64[jobs], the channel where it is longest.
    use
        float64[jobs, num_channels], times over alone.
    """

    times: Floats
    alone: Floats
    busiest: Ints
    use: Floats

    @property
    def slowdown(self) -> Floats:
        """float64[jobs]: how many times as long as alone each job takes at most beside the others.

        The time that the busiest of its channels works for all jobs together.
        """
        return np.where(self.alone > 0, self._together().max(axis=1, initial=1.0), 1.0)

    @property
    def slowest(self) -> Ints:
        """int64[jobs], the channel where that is."""
        found: Ints = self._together().argmax(axis=1)
        return found

    def _together(self) -> Floats:
        return np.where(self.use > 0, self.use.sum(axis=0), 0.0)

    def shared(self) -> list[SharedChannel]:
        """Return the channels that several jobs use, the busiest first."""
        several = np.flatnonzero((self.use > 0).sum(axis=0) > 1)
        order = several[np.argsort(-self.use[:, several].sum(axis=0), kind="stable")]
        return [
            SharedChannel(
                channel,
                {
                    int(job): float(self.use[job, channel])
                    for job in np.flatnonzero(self.use[:, channel])
                },
            )
            for channel in order.tolist()
        ]


def sharing(topology: Topology, table: ForwardingTable, jobs: Sequence[Flows]) -> Sharing:
    """Return what jobs that run at the same time cost each other.

    Parameters
    ----------
    topology, table
        The network and where its routers forward.
    jobs
        What each sends through the network, by pairs that the table routes.

    Examples
    --------
    Two jobs on two leaves with one spine:

    >>> from netloom.fabrics.program import flows_of
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> jobs = [flows_of(net, *np.array([[a], [b]]), np.ones(1)) for a, b in ((0, 2), (1, 3))]
    >>> found = sharing(net, ENGINES["minhop"](net), jobs)
    >>> found.slowdown, found.shared()[0]
    (array([2., 2.]), SharedChannel(channel=0, use={0: 1.0, 1: 1.0}))
    """
    times = np.zeros((len(jobs), topology.num_channels))
    for number, flows in enumerate(jobs):
        if len(flows.source):
            times[number] = program_times(topology, table, flows)
    alone = times.max(axis=1, initial=0.0)
    return Sharing(times, alone, times.argmax(axis=1), times / np.maximum(alone, 1e-300)[:, None])
