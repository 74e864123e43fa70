"""The communication compiler: connections into phases, routes and a timetable."""

from netloom.phases.plan.balance import phase_clocks
from netloom.phases.plan.bounds import PhaseBound, least_clocks, least_phases
from netloom.phases.plan.connections import Connections, connections
from netloom.phases.plan.partition import partition
from netloom.phases.plan.plans import Capacity, Plan
from netloom.phases.plan_files import PlanFile, read_plan, write_plan
from netloom.phases.timetable.timetables import Timetable, schedule
from netloom.phases.violations import InvalidPlanError, Violation, first_violation, verify

__all__ = [
    "Capacity",
    "Connections",
    "InvalidPlanError",
    "PhaseBound",
    "Plan",
    "PlanFile",
    "Timetable",
    "Violation",
    "connections",
    "first_violation",
    "least_clocks",
    "least_phases",
    "partition",
    "phase_clocks",
    "read_plan",
    "schedule",
    "verify",
    "write_plan",
]
