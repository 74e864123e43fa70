"""What is asked of a network under a load."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from netloom.questions.base import InstanceOf
from netloom.questions.fields import NetworkQuestion
from netloom.questions.simulate.shared import ProgramsQuestion
from netloom.simulation.steady import Limits
from netloom.workload import Arrivals, Lengths, Traffic
from netloom.workload.traffic.lengths import LONGEST


class SimulateQuestion(NetworkQuestion, ProgramsQuestion):
    """The question that ``simulate`` and ``find_saturation`` answer.

    ``switching`` may also be several techniques with commas between them, or ``all``, to be
    compared.

    Attributes
    ----------
    load
        Offered traffic of the average sending node (of each program, if there are several),
        flits/node/cycle, above 0 and at most 1: a number, a list, or a range ``START:STOP:STEP``
        that includes both ends. Not for ``find_saturation``.
    traffic
        Who sends to whom: a ``Traffic``, a pattern (see ``workload.parse_traffic``), or a dict as
        provenance records it (see ``verbs.record.traffic_of``); uniform by default. Of a pattern,
        what comes from or goes to broken nodes is left out.
    weight
        What the share of the traffic is taken from that an edge of ``app`` has; programs are given
        instead of ``traffic``.
    packet_flits
        Packet length: a number of flits, a law such as ``bimodal:1,9,0.5``, or ``Lengths``.
    arrivals
        When packets come: ``bernoulli``, ``poisson``, ``on-off:CYCLES,DUTY``, or ``Arrivals``.
    cycles
        Cycles to measure; by default as many as ``precision`` needs.
    precision
        Half-width of the 95 % confidence interval of the mean packet latency, as a fraction of
        it, that is narrow enough.
    most_cycles
        Measured cycles after which a run ends whatever its precision.
    """

    load: Any = None
    traffic: str | dict[str, Any] | InstanceOf[Traffic] | None = None
    weight: Literal["bytes", "messages", "uniform"] = "bytes"
    packet_flits: Annotated[int, Field(ge=1, le=LONGEST)] | str | InstanceOf[Lengths] = 5
    arrivals: str | InstanceOf[Arrivals] = "bernoulli"
    cycles: int | None = Field(None, ge=1, le=2**30)
    precision: float = Field(0.02, gt=0, lt=1)
    most_cycles: int = Field(200_000, ge=1, le=2**30)

    def limits(self) -> Limits:
        """Return when a run ends."""
        return Limits(self.cycles, self.precision, self.most_cycles)
