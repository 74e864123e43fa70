"""Real subnets: how good their routing tables are, better ones, and the files that they go to."""

from netloom.fabrics.balancing import Candidate, balanced
from netloom.fabrics.few_lanes import in_few_lanes
from netloom.fabrics.figures import BusyCable, TableFigures, table_figures
from netloom.fabrics.jobs import Job, JobCost, shared_by
from netloom.fabrics.program import (
    Flows,
    best_for_program,
    flows_of,
    for_program,
    program_times,
    tables_for_program,
)
from netloom.fabrics.repair import Changes, repaired, table_changes, write_changes
from netloom.fabrics.writing import (
    with_others,
    write_levels,
    write_lfts,
    write_qos_policy,
    write_slurm_topology,
)

__all__ = [
    "BusyCable",
    "Candidate",
    "Changes",
    "Flows",
    "Job",
    "JobCost",
    "TableFigures",
    "balanced",
    "best_for_program",
    "flows_of",
    "for_program",
    "in_few_lanes",
    "program_times",
    "repaired",
    "shared_by",
    "table_changes",
    "table_figures",
    "tables_for_program",
    "with_others",
    "write_changes",
    "write_levels",
    "write_lfts",
    "write_qos_policy",
    "write_slurm_topology",
]
