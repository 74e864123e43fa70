"""Is this schedule one of few steps, and do its prices prove that few steps take so long?

Part of the judge: it shares no code with what makes schedules and prices.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import seconds
from netloom.phases.collectives.schedules import steps_seconds
from netloom.phases.violations import InvalidPlanError, Violation, first_wrong

if TYPE_CHECKING:
    from netloom.phases.collectives.schedules import Schedule

SLACK = 1e-9
"""Part of the finish by which times may be off: they are sums of floats."""


def step_seconds(schedule: Schedule) -> Fraction:
    """Return what the prices of a schedule of few steps prove, in seconds, latencies left out.

    Raises
    ------
    InvalidPlanError
        If it has more steps than its proof, steps overlap (``timetable``), or its prices do not
        prove what it says (``bound``).

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.in_steps import in_steps
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> found = in_steps(net, "all-gather", 1e6, steps=2)
    >>> step_seconds(found.schedule)
    Fraction(3, 200000)
    """
    few = schedule.few
    assert few is not None
    _check_steps(schedule, few.proof.steps)
    try:
        proven = steps_seconds(schedule, few.proof)
    except InputError as error:
        raise _broken("bound", f"few_steps: {error.where}", error.found, error.wanted) from None
    if not abs(Fraction(few.seconds) - proven) <= Fraction(SLACK) * proven:
        found, wanted = (f"{float(each):.12g} s" for each in (few.seconds, proven))
        raise _broken("bound", "few_steps", found, f"{wanted}, which the prices prove")
    return proven


def _check_steps(schedule: Schedule, most: int) -> None:
    """Refuse more steps than that, and steps that begin before those before them have ended."""
    known, step = np.unique(schedule.start, return_inverse=True)
    if len(known) > most:
        raise _broken("timetable", "few_steps", f"{len(known)} steps", f"at most {most}")
    until = np.append(known[1:], np.inf)[step] + SLACK * schedule.finish_seconds
    if (late := first_wrong(schedule.end > until)) is not None:
        found = f"an end at {seconds(float(schedule.end[late]), 6)}"
        wanted = f"by {seconds(float(known[step[late] + 1]), 6)}, when the next step begins"
        raise _broken("timetable", f"message {late} of step {step[late] + 1}", found, wanted)


def _broken(
    rule: Literal["timetable", "bound"], where: str, found: str, wanted: str
) -> InvalidPlanError:
    return InvalidPlanError(Violation(rule, where, found, wanted))
