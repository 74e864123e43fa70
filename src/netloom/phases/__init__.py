"""The communication compiler: connections into phases, routes and a timetable."""

from netloom.phases.plan.bounds import PhaseBound, least_clocks, least_phases
from netloom.phases.plan.partition import partition, phase_clocks
from netloom.phases.plan.plans import Capacity, Connections, Plan, connections
from netloom.phases.plan_files import PlanFile, read_plan, write_plan
from netloom.phases.timetables import Timetable, schedule
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
