"""Which algorithm of a collective is fastest on this network, and at which sizes?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.base.progress import counting, patience
from netloom.base.units import size as size_words
from netloom.base.words import counted
from netloom.mapping import check_rank_file
from netloom.questions.collective.answer import CollectiveTimes, Point
from netloom.questions.collective.fields import CollectiveQuestion
from netloom.questions.collective.prepared import (
    PHASES,
    PreparedCollective,
    phase_plans,
    prepare,
    switch_seconds,
)
from netloom.questions.collective.runs import Algorithm, Reordered, Runner, reordered
from netloom.questions.named import mapping_name, provenance_of
from netloom.questions.outputs import (
    PLOT,
    SAVE_MAPPING,
    Output,
    check_in_folder,
    rank_file_output,
    table_output,
)
from netloom.questions.register import asks
from netloom.questions.timelines import perfetto_output
from netloom.workload import ring
from netloom.workload.programs.collectives.sent import write_goal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from netloom.phases.collectives.least_time import LeastTime
    from netloom.questions.collective.runs import Timed


def _refuse_ranks(ready: PreparedCollective, form: str, hosts: Sequence[str] | None) -> None:
    """Raise InputError if no rank file of this form can have the ranks."""
    computers = np.unique(ready.network.node_of_host[ready.host_of])
    places = -(-len(ready.host_of) // len(computers))
    check_rank_file(form, len(ready.host_of), computers, places, hosts)


def _refuse_cycles(question: CollectiveQuestion, _: Any, __: Mapping[str, str]) -> None:
    """Raise InputError if no run keeps the times of single messages."""
    if question.engine != "flow":
        wanted = "engine flow; or --goal FILE, and simulate trace FILE with --perfetto"
        raise InputError("perfetto", f"engine {question.engine}", wanted)


def _write_goal(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    """Write the fastest algorithm at the largest size, as it was run."""
    best = answer.at(answer.sizes[-1])[0]
    write_goal(answer.known[best.algorithm].program(best.run.chunks), best.size, path)
    said = f"{best.algorithm} of {size_words(best.size)}" if best.size else best.algorithm
    return f"Schedule: {path}, {said}; run it with simulate trace"


GOAL = Output(
    "goal",
    "GOAL schedule of the fastest algorithm at the largest size.",
    _write_goal,
    check_in_folder,
)


@asks(
    CollectiveQuestion,
    prepare=prepare,
    title="Algorithms of a collective",
    example="netloom collective all-reduce --size 1KB:1GB --on torus:8x8x8",
    page="which-all-reduce.md",
    outputs=(
        PLOT,
        table_output("save_times", "Each algorithm at each size, .csv or .parquet.", "table"),
        GOAL,
        perfetto_output(_refuse_cycles),
        SAVE_MAPPING,
        rank_file_output(_refuse_ranks, lambda answer: answer.allocated),
    ),
)
def compare_collectives(question: CollectiveQuestion, ready: PreparedCollective) -> CollectiveTimes:
    """Time each algorithm of a collective on a network, by size, with a lower bound.

    Ranks send by steps, as flows that share channels max-min fairly: a rank goes on when all that
    it sent and received in a step is complete. Sizes and bus bandwidth are those of nccl-tests. If
    nothing says a bandwidth, channels have 200 Gb/s. If nothing says a latency, 500 ns each.

    Other engines run the same steps in cycles. If nothing says a latency, theirs is that of the
    router, or a cycle per channel.

    Examples
    --------
    >>> found = compare_collectives("all-reduce", "torus:4x4", size="1KB:64MB", latency="1us")
    >>> found.verdict.sentence.partition(":")[0]
    'Use recursive-doubling below 7.6 kB, swing above'
    """
    whole: CollectiveTimes | None = None
    if ready.whole is not None:
        whole = _answered(question.model_copy(update={"reorder": False}), ready.whole)
    return _answered(question, ready, whole)


def _answered(
    question: CollectiveQuestion, ready: PreparedCollective, whole: CollectiveTimes | None = None
) -> CollectiveTimes:
    """Return what each algorithm takes. ``whole``: on the network without its failures."""
    bound = ready.bound(question.collective, question.root, ready.host_of)
    runner = ready.runner(ready.host_of)
    named = {each.name: each for each in ready.algorithms}
    stuck = None if question.algorithm != "all" else dict[str, str]()
    points = _timed(runner, ready, ready.algorithms, bound, "given", stuck)
    if ready.exchange is not None:
        points += _phased(question, ready, runner, bound)
    better: Reordered | None = None
    if question.reorder:
        best = _best(points, ready.sizes[-1])
        algorithm = named[best.algorithm]
        better = reordered(algorithm, runner, best.size, best.seconds, seed=question.seed)
        if better.better:
            other = ready.runner(better.node_of)
            least = ready.bound(question.collective, question.root, better.node_of)
            points += _timed(other, ready, (algorithm,), least, "found")
    same: float | None = None
    if ready.whole is not None:
        best = _best(points, ready.sizes[-1])
        runner = ready.whole.runner(ready.host_of)
        same = runner.timed(named[best.algorithm], best.size).seconds
    return CollectiveTimes(
        network=ready.shown,
        collective=question.collective,
        host_of=ready.host_of,
        node_of_host=ready.node_of_host,
        mapping=mapping_name(question.mapping),
        points=points,
        bound=bound,
        reordered=better,
        left_out=ready.left_out | (stuck or {}),
        graph=ring(len(ready.host_of)),
        known=named,
        provenance=provenance_of(question, "compare_collectives", ready.network),
        whole=whole,
        same_seconds=same,
    )


def _best(points: list[Point], size: float) -> Point:
    """Return the fastest algorithm of messages at a size. Of equal ones the first."""
    some = (each for each in points if each.size == size and each.algorithm != PHASES)
    return min(some, key=lambda each: each.seconds)


def _timed(
    runner: Runner,
    ready: PreparedCollective,
    algorithms: Sequence[Algorithm],
    bound: LeastTime,
    order: str,
    stuck: dict[str, str] | None = None,
) -> list[Point]:
    """Return what each algorithm takes at each size.

    ``stuck`` is filled with algorithms that deadlock. Without it, or if all do, that is raised.
    """
    found, each_ = list[Point](), len(ready.sizes) + 1
    what = f"{algorithms[0].collective} on {ready.network.name}"
    with counting(len(algorithms) * each_, what) as tell:
        for number, each in enumerate(algorithms):
            before = number * each_

            def told(done: int, before: int = before) -> None:
                tell(before + done)

            try:
                found += _points(runner, ready, each, bound, order, told)
            except DeadlockError:
                if stuck is None or (not found and number == len(algorithms) - 1):
                    raise
                stuck[each.name] = "it deadlocks; name it to see where"
    return found


def _points(
    runner: Runner,
    ready: PreparedCollective,
    algorithm: Algorithm,
    bound: LeastTime,
    order: str,
    tell: Callable[[int], None],
) -> list[Point]:
    """Return what an algorithm takes at each size."""
    tell(0)
    own, empty = algorithm.outline(), runner.empty(algorithm)
    found = list[Point]()
    for place, size in enumerate(ready.sizes):
        tell(place + 1)
        run: Timed = runner.timed(algorithm, size, empty)
        point = Point(
            algorithm=algorithm.name,
            order=order,
            size=size,
            run=run,
            num_ranks=algorithm.num_ranks,
            collective=algorithm.collective,
            bound_seconds=bound.seconds(size),
            empty_seconds=empty,
            busiest=ready.flows.links.link_name(run.link),
            steps=own.num_steps,
            messages=own.num_messages,
            inside_share=runner.inside_share(algorithm),
            at_once=ready.cycles is None and algorithm.injection == "shared",
        )
        found.append(point)
    return found


def _phased(
    question: CollectiveQuestion, ready: PreparedCollective, runner: Runner, bound: LeastTime
) -> list[Point]:
    """Return what phases take at each size, by the plan that is better there."""
    assert ready.exchange is not None
    clock, links = ready.clock, ready.flows.links
    with patience(f"Compiling {counted(len(ready.exchange), 'connection', ',')}"):
        plans = phase_plans(
            ready.exchange, ready.network, ready.sizes[-1],
            virtual_channels=question.reserved_channels,
            bytes_per_second=clock.bytes_per_second,
            latency=clock.latency_seconds * ready.network.channel_cycles.astype(np.float64),
            switch_seconds=switch_seconds(question.switch_time, runner),
            end_channels=links.end_channels,
            seed=question.seed,
        )  # fmt: skip
    found = list[Point]()
    for size in ready.sizes:
        best = min(plans, key=lambda each: each.seconds(size))
        point = Point(
            algorithm=PHASES,
            order="given",
            size=size,
            run=best.timed(size),
            num_ranks=len(ready.host_of),
            collective=question.collective,
            bound_seconds=bound.seconds(size),
            empty_seconds=best.seconds(0.0),
            busiest=links.link_name(best.timed(size).link),
            steps=best.plan.num_phases,
            messages=len(ready.exchange),
        )
        found.append(point)
    return found
