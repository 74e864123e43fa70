from .plan.plans import (
    Capacity as Capacity,
    Connections as Connections,
    PhaseBound as PhaseBound,
    Plan as Plan,
    connections as connections,
    least_clocks as least_clocks,
    least_phases as least_phases,
    partition as partition,
    phase_clocks as phase_clocks,
)
from .plan_files import PlanFile as PlanFile, read_plan as read_plan, write_plan as write_plan
from .timetables import Timetable as Timetable, schedule as schedule
from .violations import (
    InvalidPlanError as InvalidPlanError,
    Violation as Violation,
    first_violation as first_violation,
    verify as verify,
)
