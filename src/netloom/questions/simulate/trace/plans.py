"""Plan files of collectives as traces: their ranks run where the plan has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.phases.collectives.schedule_files import read_schedule
from netloom.phases.collectives.schedule_traces import schedule_trace

if TYPE_CHECKING:
    from netloom.questions.simulate.trace.question import ReplayQuestion
    from netloom.topology import Topology

SUFFIXES = (".json", ".json.gz")


def is_plan(trace: Any) -> bool:
    """Whether a trace is named that is a plan file."""
    return (
        isinstance(trace, str | Path)
        and str(trace).lower().endswith(SUFFIXES)
        and (":" not in str(trace))
    )


def as_planned(question: ReplayQuestion, topology: Topology) -> ReplayQuestion:
    """Return the question with the plan as its trace.

    Unless the question says otherwise, ranks are on the hosts of the plan, and as flows they send
    on all their channels at the same time, for the plan says when.

    Raises
    ------
    InputError
        If the plan cannot be read.
    """
    path = Path(question.trace)  # type: ignore[arg-type]
    schedule = read_schedule(path).schedule
    changed: dict[str, Any] = {"trace": schedule_trace(schedule, path.name)}
    said, hosts = question.model_fields_set, schedule.network.host
    if not said & {"mapping", "nodes", "tasks_per_node"} and hosts.max() < topology.num_hosts:
        changed["mapping"] = hosts
    if question.engine == "flow" and "injection" not in said:
        changed["injection"] = "shared"
    if question.engine == "flow" and topology.direct and "end_channels" not in said:
        changed["end_channels"] = 0
    return question.model_copy(update=changed)
