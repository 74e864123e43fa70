"""Programs of rounds on the flow engine: rounds that repeat are recognized, not run again.

Rounds with a barrier do not depend on each other: each different one is run once. If hosts wait for
their neighbours, rounds overlap, and a host may be ahead of another. The state of the engine is
compared whenever the first message of the latest round is complete. If it equals, relative to the
time, the state some rounds ago, the run repeats itself: the same rounds follow, and the engine is a
function of its state. So the run continues after the last whole period. Periods are found by
Brent's algorithm (BIT 20, 1980), which keeps one state and replaces it at powers of two. If no two
messages can meet on a link, no engine is needed. A host's next round then begins when the last of
the messages that it waits for has arrived, each in the time that it takes alone. Periods are found
in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.simulation.flow.engine import ROUNDING
from netloom.simulation.flow.overlapping import Overlapping, table_of
from netloom.simulation.flow.round_log import Log, RoundsRun
from netloom.simulation.flow.round_ways import Survey, survey
from netloom.simulation.flow.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.routing import Routing
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.workload.programs.round_programs import Round, RoundProgram


def run_rounds(
    network: FlowNetwork,
    routing: Routing,
    program: RoundProgram,
    *,
    overhead: float = 0.0,
    injection: Literal["in-order", "shared"] = "in-order",
    tell: Callable[[int], None] = lambda _: None,
) -> RoundsRun:
    """Run a program of rounds as flows that share links max-min fairly.

    The answer is that of ``run_flows`` with all messages as a table (``as_messages``), but for
    rounding. Memory is needed for rounds that overlap, not for all. Rounding errors grow in a long
    series of different rounds if hosts wait for neighbours and share links. A size changed by 1e-15
    of itself may change a finish by percents after about 60 rounds. Rounds that are not repeated
    are rounded as in a table.

    Parameters
    ----------
    network, routing
        The links, in units of bytes, and the routing of whose paths they are part.
    program
        The rounds.
    overhead
        Time that the processor of each end takes for a message that uses the network.
    injection
        As in ``run_flows``.
    tell
        Told now and then how many rounds are over.

    Raises
    ------
    NoRouteError
        If the routing has no path for a message.
    InputError
        If an argument cannot be used, or hosts get so far ahead of others that the messages between
        do not fit into memory.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.round_programs import exchange, round_program
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=1e9, latency=1e-6)
    >>> hosts = np.arange(4)
    >>> ring = exchange(hosts, (hosts + 1) % 4, 1e6, count=1000)
    >>> run_rounds(network, DModK(), round_program(4, [ring]))
    <1000 rounds, 1 of them run, finished at 1.004>
    >>> run_rounds(network, DModK(), round_program(4, [ring], order="neighbours"))
    <1000 rounds, 1 of them run, finished at 1.004>
    """
    if injection not in ("in-order", "shared"):
        raise InputError("injection", f"'{injection}'", "in-order or shared")
    if not 0 <= overhead < np.inf:
        raise InputError("overhead", f"{overhead:g}", "a time of at least 0")
    if program.num_hosts > network.topology.num_hosts:
        many = f"{program.num_hosts} hosts on {network.topology.num_hosts}"
        raise InputError("rounds", many, "at most as many as the network has")
    found = survey(network, routing, program, in_order=injection == "in-order")
    if program.order == "barrier":
        log = _with_barriers(network, program, found, overhead, tell)
    elif found.apart and overhead == 0:
        log = _apart(network, program, found, tell)
    else:
        log = Overlapping(network, program, found, overhead).run(tell)
    return log.run(found, network)


def _with_barriers(
    network: FlowNetwork,
    program: RoundProgram,
    found: Survey,
    overhead: float,
    tell: Callable[[int], None],
) -> Log:
    """Run each different round once."""
    log, known, time = Log(), dict[bytes, float](), 0.0
    for one in program:
        name = _name(one)
        if name not in known:
            known[name] = _alone(network, one, found, overhead) if len(one) else 0.0
        length = known[name]
        log.add(np.array([time]), np.array([time + length]))
        log.skip(one.count - 1, 1, length)
        time += one.count * length
        tell(log.next)
    return log


def _name(one: Round) -> bytes:
    """Return what a round has in common with those alone that are equal to it."""
    from hashlib import blake2b

    name = blake2b(digest_size=16)
    for column in (one.source, one.target, one.bytes):
        name.update(column.tobytes())
    return name.digest()


def _alone(network: FlowNetwork, one: Round, found: Survey, overhead: float) -> float:
    """Return how long a round takes that begins when the network is empty."""
    window = Window(network, in_order=found.in_order)
    ways, path = found.ways_of(one)
    window.append(table_of(one, overhead), ways, path)
    window.advance()
    rows = window.rows["complete"]
    assert rows.min() >= 0
    return float(rows.max())


def _apart(
    network: FlowNetwork, program: RoundProgram, found: Survey, tell: Callable[[int], None]
) -> Log:
    """Run rounds whose messages never meet: each takes the time that it takes alone."""
    from netloom.simulation.flow.kernels.rounds import follow

    log, origin, last = Log(), 0.0, None
    ready = np.zeros(program.num_hosts)  # from ``origin`` on
    later, kept = np.empty_like(ready), np.empty_like(ready)
    for one in program:
        if not len(one):
            log.add(np.full(1, np.nan), np.full(1, np.nan))
            log.skip(one.count - 1, 1, 0.0)
            continue
        ways, path = found.ways_of(one)
        if ways is not last:
            last, rate = ways, ways.capacity(network.capacity)
        cost, uses = np.zeros(len(one)), path >= 0
        cost[uses] = ways.latency + one.bytes[uses] / rate
        taking = np.zeros(len(ready), np.bool_)
        taking[one.source] = taking[one.target] = True
        hosts = np.flatnonzero(taking)
        left = one.count
        while left:
            began, ended, elapsed = np.zeros(left), np.zeros(left), np.zeros(2)
            back = ready[hosts].min()
            ready -= back
            origin += back
            done, period = follow(
                ready, later, kept, hosts, one.source, one.target, cost, ROUNDING, began, ended,
                elapsed,
            )  # fmt: skip
            log.add(origin + began[:done], origin + ended[:done])
            left -= done
            skipped = left // period * period if period else 0
            time = float(elapsed[1])
            log.skip(skipped, period, time)
            left -= skipped
            passed = elapsed[0] + (skipped // period * time if skipped else 0.0)
            ready[~taking] -= passed
            origin += passed
            tell(log.next)
    return log
