"""What an explorer shows: a network, and what programs put on its channels under some routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.questions.verdicts import Verdict
    from netloom.routing import Paths
    from netloom.topology import Topology


EXPLORED = (
    "analyze", "check_fabric", "compare_collectives", "compile_phases", "find_mapping",
    "find_saturation", "predict_latency", "replay", "route_fabric", "simulate",
    "simulate_broadcast", "simulate_flows", "simulate_loop", "simulate_transactions",
)  # fmt: skip
"""The verbs whose answers say what each channel carries."""


@dataclass(frozen=True, eq=False)
class Flows:
    """What ranks send each other, and where they run.

    Attributes
    ----------
    host_of
        int32[ranks], the host of each rank.
    source, target
        int32[flows], ranks.
    amount
        float64[flows], in the unit of the view.
    job_of, jobs
        int32[ranks], the job of each rank, and the names of jobs. None and () for a single one.
    of_hosts
        Whether there is no program: each rank is a host, and called so.
    """

    host_of: Ints
    source: Ints
    target: Ints
    amount: Floats
    job_of: Ints | None = None
    jobs: tuple[str, ...] = ()
    of_hosts: bool = False

    @property
    def hosts(self) -> tuple[Ints, Ints]:
        """int32[flows] twice, the hosts that each flow leaves and reaches."""
        return self.host_of[self.source], self.host_of[self.target]


@dataclass(frozen=True, eq=False)
class Table:
    """Where each router sends packets to each host.

    Attributes
    ----------
    next_channel
        int32[num_hosts, num_routers], a channel between routers; -1 at the last router, and where
        no packet comes by.
    """

    next_channel: Ints


@dataclass(frozen=True, eq=False)
class Frames:
    """What channels carry at several times.

    Attributes
    ----------
    edges
        float64[n + 1], when each of n spans of time begins and ends, in the unit of time.
    busy
        float32[n, num_network_channels], the share of each span for which a channel is busy.
    unit
        Of times, such as ``cycles``.
    critical
        The steps of the critical path: node, the node that it sends to or -1, start, end, and what
        the step is called.
    """

    edges: Floats
    busy: NDArray[np.float32]
    unit: str
    critical: tuple[tuple[int, int, float, float, str], ...] = ()


@dataclass(frozen=True, eq=False)
class View:
    """One answer, as an explorer shows it.

    Attributes
    ----------
    name
        What tells it from others, such as ``minhop``.
    verdict
        What was answered.
    command
        The command that asks it again.
    topology
        The network, without what is broken.
    unit
        What loads are counted in, such as ``bytes``. ``flits/cycle`` is a share of a channel.
    load
        float64[num_network_channels], what the answer says that channels carry.
    flows
        What is sent. None where only loads are known.
    ways
        How it goes: a table where the way depends on the destination alone, else the paths of
        all flows. None where these are unknown, or too many.
    missing
        Why there are no ways, in a sentence. "" where there are.
    frames
        Loads over time. None where there is none.
    delays, full
        The load of a channel from which on it delays, and the one at which it is full. Loads over
        bandwidth where that is not one for all.
    tie
        What the busiest channels are called, where more than a few carry as much.
    """

    name: str
    verdict: Verdict
    command: str
    topology: Topology
    unit: str
    load: Floats = field(repr=False)
    flows: Flows | None = None
    ways: Table | Paths | None = None
    missing: str = ""
    frames: Frames | None = None
    delays: float = 0.0
    full: float = 0.0
    tie: str = ""
