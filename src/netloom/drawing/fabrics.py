"""Pictures of fabrics: paths cable by cable, packets that wait in a circle, jobs that share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from netloom.base.words import number
from netloom.drawing.axes import Look, looks_of
from netloom.drawing.bars import Bar, bars
from netloom.drawing.frame import REFERENCE, THIS
from netloom.drawing.networks.traffic import MARKED_IN_GRAPHS, Marked

LED = {"down": "down, to hosts", "up": "up, from hosts", "across": "between switches"}
"""What channels are called by where they lead."""

LOOKS = dict(zip(LED, looks_of(LED).values(), strict=True))
"""How channels look by where they lead."""


def by_way(table: pl.DataFrame) -> tuple[dict[str, pl.Series], dict[str, Look]]:
    """Return the paths of channels by where they lead, and how each way looks.

    ``table`` has a row per channel: its ``way`` and its ``paths``.
    """
    ways = [way for way in LED if (table["way"] == way).any()]
    if len(ways) < 2:
        return {"all channels": table["paths"]}, {"all channels": Look(THIS, named=False)}
    paths = {LED[way]: table.filter(way=way)["paths"] for way in ways}
    return paths, {LED[way]: LOOKS[way] for way in ways}


def circle_marked(circle: Sequence[int]) -> Marked:
    """Return the marks of channels in which packets wait for each other, in the order of waiting.

    Examples
    --------
    >>> circle_marked([7, 3]).words
    {7: 'its packets wait for 2', 3: 'its packets wait for 1'}
    """
    words = {
        channel: f"its packets wait for {1 + (at + 1) % len(circle)}"
        if len(circle) <= MARKED_IN_GRAPHS
        else "its packets wait for the next"
        for at, channel in enumerate(circle)
    }
    return Marked(f"Packets in these {len(words)} channels can wait for each other for ever", words)


def shared_marked(uses: Mapping[int, Mapping[str, float]], busiest: str) -> Marked:
    """Return the marks of channels that jobs share, those that delay them most first.

    Parameters
    ----------
    uses
        By channel and job, the time of the job on it (the job alone: 1).
    busiest
        The name of the first channel.

    Examples
    --------
    >>> shared_marked({4: {"a": 1.0, "b": 0.5}}, "leaf0 → spine1").words
    {4: 'a 1, b 0.5'}
    """
    most = number(sum(next(iter(uses.values())).values()))
    return Marked(
        f"On {busiest} the jobs together take {most} times as long as one of them alone",
        {
            channel: ", ".join(f"{job} {use:.2g}" for job, use in jobs.items())
            for channel, jobs in uses.items()
        },
        "time of all jobs on the channel (one job alone: 1)",
    )


def slowdowns(jobs: Mapping[str, float]) -> alt.LayerChart:
    """Return a bar per job: how many times as long it takes beside the others."""
    worst = max(jobs, key=lambda name: jobs[name])
    rows = [
        Bar(name, times, f"{number(times)}×", THIS if times > 1.005 else REFERENCE)
        for name, times in jobs.items()
    ]
    said = f"Job {worst} takes up to {number(jobs[worst])} times as long as alone"
    if jobs[worst] < 1.005:
        said = "No job delays another"
    return bars(rows, said, "times as long as alone, at most", width=260, bound=("alone", 1.0))
