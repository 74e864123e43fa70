"""Runs of patterns of neighbours: what loops and messages of nodes take (Chittor 1991, 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.kernels.agenda import LAST_CYCLE
from netloom.simulation.replay import run_program
from netloom.workload.programs.loops import loops_done

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Floats
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.workload.programs.node_costs import NodeCosts
    from netloom_papers.programs.neighbour_patterns import Pattern

STEP_LOOPS = 8
"""Loops that an unhindered node makes between two extensions of the program."""

MOST_DELAYED = 20
"""Times as long as unhindered that loops may take, whatever ``most_cycles``."""


class NodeFigures(NamedTuple):
    """Figures of the nodes that send most messages, by their mean or their worst.

    The time of a loop, and that of a message, sent and received: what of a loop is not computation.
    ``slowdown`` is the thesis's normalized communication time of a message, without its start-up:
    (τ_m − α) / (β L), eq. 4.4. ``traffic`` is the actual one, in shares of a channel's bandwidth.
    """

    loop_us: float
    communication_us: float
    slowdown: float
    traffic: float


@dataclass(frozen=True, eq=False)
class PatternTimes:
    """What the loops of a pattern take, for one message length and computation (Chittor 1991, 4).

    Attributes
    ----------
    message_bytes, think_us
        As asked.
    loop_us, communication_us
        float64[num_active], the mean loop time of every node, and what of it is not computation.
        Empty if it did not come so far.
    messages
        float64[num_active], messages that each node sends in a loop. Fewer at a mesh's edges.
    alone_us, alpha_us
        What a message takes that meets no other, α + β L, and α.
    channel_us
        What the bytes of a message take on a channel: L / B.
    """

    message_bytes: int
    think_us: float
    loop_us: Floats
    communication_us: Floats
    messages: Floats
    alone_us: float
    alpha_us: float
    channel_us: float

    @property
    def applied(self) -> float:
        """Applied traffic: what a node would send if no two messages met (eq. 4.3)."""
        count = float(self.messages.max())
        return count * self.channel_us / (self.think_us + 2 * count * self.alone_us)

    def of_busiest(self, figure: Callable[[Floats], float]) -> NodeFigures:
        """Return the mean, or the largest, of the nodes that send most.

        Those at a mesh's edges have fewer neighbours, and wait for others.
        """
        count = float(self.messages.max())
        whole = self.messages == count
        per_message = float(figure(self.communication_us[whole])) / (2 * count)
        loop = float(figure(self.loop_us[whole]))
        return NodeFigures(
            loop_us=loop,
            communication_us=per_message,
            slowdown=(per_message - self.alpha_us) / (self.alone_us - self.alpha_us),
            traffic=count * self.channel_us / loop,
        )


def run_pattern(
    network: ProgramNetwork,
    program: Pattern,
    costs: NodeCosts,
    message_bytes: int,
    think_us: float,
    stopped: Callable[[], bool],
    *,
    skip: int,
    loops: int,
    most_cycles: int,
) -> PatternTimes:
    """Run until ``loops`` of every node count, after ``skip`` that do not. Return what they take.

    It ends after ``most_cycles``, or ``MOST_DELAYED`` times the cycles of as many unhindered loops.
    """
    engine = network.make_engine()
    wanted = skip + loops
    one = program.rounds.one
    packets = np.bincount(one.source[one.flits > 0], minlength=program.num_nodes)[program.nodes]
    messages = packets / int(costs.packets(message_bytes))
    alone = float(costs.message_us(message_bytes))
    loop_cycles = (think_us + 2 * float(messages.max()) * alone) / costs.cycle_us
    most = min(max(most_cycles, int(MOST_DELAYED * wanted * loop_cycles)), LAST_CYCLE)
    ending = run_program(
        engine,
        program,
        enough=lambda rows: bool(
            len(rows) and loops_done(program.loop_ends(rows["complete"])).min() >= wanted
        ),
        step=int(STEP_LOOPS * loop_cycles) + 1,
        most_cycles=most,
        stopped=stopped,
    )
    ends = program.loop_ends(engine.rows["complete"])
    times = thinking = np.zeros(0)
    if ending.enough:
        begin = ends[skip - 1] if skip else 0
        times = (ends[wanted - 1] - begin) / loops * costs.cycle_us
        delays = program.rounds.of_rounds(engine.rows["delay"].astype(np.int64), program.ends)
        thinking = delays[skip:wanted].mean(axis=0) * costs.cycle_us
    return PatternTimes(
        message_bytes=message_bytes,
        think_us=think_us,
        loop_us=times,
        communication_us=times - thinking,
        messages=messages,
        alone_us=alone,
        alpha_us=costs.alpha_us,
        channel_us=message_bytes * costs.channel_byte_us,
    )
