from .balancing import Candidate as Candidate, balanced as balanced
from .few_lanes import in_few_lanes as in_few_lanes
from .figures import (
    BusyCable as BusyCable,
    TableFigures as TableFigures,
    table_figures as table_figures,
)
from .program import (
    Flows as Flows,
    Job as Job,
    JobCost as JobCost,
    flows_of as flows_of,
    for_program as for_program,
    program_times as program_times,
    shared_by as shared_by,
    tables_for_program as tables_for_program,
)
from .writing import (
    Changes as Changes,
    repaired as repaired,
    table_changes as table_changes,
    with_others as with_others,
    write_changes as write_changes,
    write_levels as write_levels,
    write_lfts as write_lfts,
    write_qos_policy as write_qos_policy,
    write_slurm_topology as write_slurm_topology,
)
