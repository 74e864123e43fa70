"""Schedules of few steps in an answer: the frontier, the fastest, and the proof, for people too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.words import counted
from netloom.questions.columns import Column, Columns

if TYPE_CHECKING:
    from fractions import Fraction

    from netloom.phases.collectives.few_steps import RoundBound
    from netloom.phases.collectives.in_steps import InSteps

MOST_LINES = 40
"""Longest proof that is printed."""

FRONTIER = Columns(
    Column("steps", kind=int, key=True),
    Column("rounds", kind=int, key=True),
    Column("chunks", "chunks per rank", kind=int, key=True),
    Column("rounds_per_chunk", kind=str, key=True),
    Column("least_rounds_per_chunk", "at least", kind=str, key=True),
    Column("proven", "proven fewest", kind=bool, key=True),
    Column("finish_seconds", "time", unit="s", key=True),
    Column("fastest", kind=bool, key=True),
)


def frontier_rows(found: InSteps) -> list[dict[str, Any]]:
    """Return the points of the frontier, by steps, then chunks."""
    frontier = found.frontier
    return [
        {
            "steps": point.steps, "rounds": point.rounds, "chunks": point.chunks,
            "rounds_per_chunk": str(point.rounds_per_chunk),
            "least_rounds_per_chunk": str(frontier.bound(point.steps).rounds_per_chunk),
            "proven": frontier.proven(point), "finish_seconds": timed.finish_seconds,
            "fastest": place == found.best,
        }
        for place, (point, timed) in enumerate(zip(frontier.points, found.timed, strict=True))
    ]  # fmt: skip


def plain(found: InSteps, unlimited_seconds: float) -> dict[str, Any]:
    """Return all that is known of schedules of few steps as plain data.

    Attributes of a point, then ``frontier``, ``bounds`` with their proofs in whole numbers, and
    ``undecided``: (steps, rounds, chunks) for whose search the time did not suffice.
    """
    point = found.frontier.points[found.best]
    return {
        "steps": point.steps, "rounds": point.rounds, "chunks": point.chunks,
        "rounds_of_step": point.rounds_of_step.tolist(),
        "least_rounds_per_chunk": str(found.frontier.bound(point.steps).rounds_per_chunk),
        "proven": found.frontier.proven(point),
        "round_bytes_per_second": found.round_rate,
        "unlimited_seconds": unlimited_seconds,
        "frontier": frontier_rows(found),
        "bounds": [_bound(found, each) for each in found.frontier.bounds],
        "undecided": [
            [each.steps, each.rounds, each.chunks] for each in found.frontier.undecided
        ],
    }  # fmt: skip


def _bound(found: InSteps, bound: RoundBound) -> dict[str, Any]:
    proof = bound.prices.proof
    return {
        "steps": proof.steps,
        "least_rounds_per_chunk": str(bound.rounds_per_chunk),
        "by": "prices" if by_prices(bound) else "bottleneck cut",
        "proven_by_prices": str(bound.prices.bound),
        "whole": bound.prices.whole,
        "price": proof.price.tolist(),
        "worth": proof.worth.tolist(),
        "forwarding": proof.forwarding.tolist(),
        "lines": proof_lines(found, bound),
    }


def by_prices(bound: RoundBound) -> bool:
    """Whether prices prove a bound, not the bottleneck cut."""
    return bound.prices.bound == bound.rounds_per_chunk


def _rounds(least: Fraction) -> str:
    return "1 round" if least == 1 else f"{least} rounds"


def formula(found: InSteps) -> str:
    """Return what times are made of."""
    latency = found.network.latency
    parts = 1 if found.collective in ("broadcast", "reduce") else found.network.num_ranks
    chunk = found.size_bytes / parts
    alpha = units.seconds(float(latency.max()))
    if (latency != latency[0]).any():
        alpha = f"{alpha} at most"
    each, speed = units.seconds(chunk / found.round_rate), units.rate(found.round_rate)
    return f"time = steps x {alpha} + rounds / chunks x {each} ({units.size(chunk)} at {speed})"


def proof_lines(found: InSteps, bound: RoundBound) -> list[str]:
    """Return the proof of a bound as text, which a person can check by hand."""
    prices, steps = bound.prices, counted(bound.prices.steps, "step")
    names = [found.network.name_of(rank) for rank in range(found.network.num_ranks)]
    total = int(prices.worth.sum())
    cost = (found.network.capacity[:, None] * prices.price).sum(axis=0).tolist()
    backwards = found.collective in ("reduce-scatter", "reduce")
    head = f"At most {steps} need {_rounds(prices.bound)} per chunk, as these numbers prove"
    if backwards:
        head += "; channels and steps are those of the same schedule run backwards"
    return [
        f"{head}:",
        *prices.proof.lines(names),
        "No send pays: worth at its target, with the forwarding values from there in later steps, "
        "is at most its price, with the forwarding values of its channel from its step on.",
        f"A round costs at most {max(cost)} in a step: the sum of price x rate / "
        f"({units.rate(found.round_rate)}). All worths are {total} together, and "
        f"{total}/{max(cost)} = {prices.bound}.",
    ]
