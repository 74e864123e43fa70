"""Forwarding tables of fabrics: what an all-to-all, or jobs, put on the cables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.explore.view import Flows
from netloom.explore.views.made import asked, view_of
from netloom.questions.subject import short_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netloom.base.arrays import Ints
    from netloom.explore.view import View
    from netloom.questions.answers import Answer
    from netloom.questions.fabric.jobs import Job
    from netloom.questions.recorded import Recorded
    from netloom.topology import Topology


def fabric_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield an all-to-all under the tables that were checked. Before it the jobs, if any are named.

    What the verdict is about comes first.
    """
    from netloom.questions.fabric.question import prepare

    ready = prepare(asked(record))
    name = table_name(str(record.configuration["routing"]))
    if ready.jobs:
        together = jobs_together(ready.jobs)
        unit = "paths" if (together.amount == 1).all() else "bytes"
        jobs = f"{name}, jobs"
        yield view_of(record, ready.network, ready.table, together, unit=unit, name=jobs)
    yield view_of(
        record, ready.network, ready.table, all_to_all(ready.network, ready.hosts), unit="paths",
        name=f"{name}, all-to-all" if ready.jobs else name, answered=not ready.jobs,
        known=record.tables["channels"]["paths"].to_numpy().astype(np.float64),
    )  # fmt: skip


def route_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield an all-to-all under the tables that are installed, and under the new ones.

    Whatever they were made for: names say so where that is not an all-to-all.
    """
    from netloom.questions.route.question import prepare, routed

    found: Any = answer
    if found is None:
        question = asked(record)
        ready = prepare(question)
        network, before, after = ready.network, ready.installed, routed(question, ready)[0]
    else:
        network, before, after = found.topology, found.installed, found.forwarding
    hosts = np.flatnonzero(network.vertex_up[: network.num_hosts]).astype(np.int32)
    told = record.tables["channel_table"]
    installed = table_name(str(record.configuration["installed"]))
    made_for = record.configuration["wanted"]
    what = "" if made_for == "all-to-all" else ", all-to-all"
    for name, forwarding, column in (
        (f"{installed}{what}", before, "before"),
        (f"new tables{what}", after, "after"),
    ):
        yield view_of(
            record, network, forwarding, all_to_all(network, hosts), unit="paths", name=name,
            known=told[column].to_numpy().astype(np.float64), answered=column == "after",
        )  # fmt: skip


def table_name(routing: str) -> str:
    """Return what tables are called.

    Examples
    --------
    >>> table_name("lfts:examples/dgx-40-minhop.lfts"), table_name("updn")
    ('dgx-40-minhop', 'updn')
    """
    return short_name(routing.removeprefix("lfts:"))


def all_to_all(network: Topology, hosts: Ints) -> Flows:
    """Return a path from each host to each other, those of one router together."""
    many = len(hosts)
    router = np.zeros(network.num_hosts, np.int64)
    if not network.direct:
        router[network.port_host] = network.injection_router
    order = hosts[np.argsort(router[hosts], kind="stable")]
    source, target = np.divmod(np.arange(many * max(many - 1, 0)), max(many - 1, 1))
    target += target >= source
    return Flows(
        order, source.astype(np.int32), target.astype(np.int32), np.ones(len(source)),
        of_hosts=True,
    )  # fmt: skip


def jobs_together(jobs: Sequence[Job]) -> Flows:
    """Return what jobs send: a rank for each host of each job, job by job."""
    hosts, source, target, amount, job_of = [], [], [], [], []
    first = 0
    for number, job in enumerate(jobs):
        rank_of = {int(host): first + rank for rank, host in enumerate(job.hosts)}
        hosts.append(job.hosts)
        job_of.append(np.full(len(job.hosts), number, np.int32))
        source.append([rank_of[host] for host in job.flows.source.tolist()])
        target.append([rank_of[host] for host in job.flows.target.tolist()])
        amount.append(job.flows.volume)
        first += len(job.hosts)
    return Flows(
        np.concatenate(hosts), np.concatenate(source).astype(np.int32),
        np.concatenate(target).astype(np.int32), np.concatenate(amount),
        np.concatenate(job_of), tuple(job.name for job in jobs),
    )  # fmt: skip
