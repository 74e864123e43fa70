"""Timelines in Chrome's trace-event format, which Perfetto and chrome://tracing open.

A file is an object with ``traceEvents``: slices (``ph`` X), arrows between slices (s and f),
counters (C) and the names of processes and threads (M). Times are µs, whole nanoseconds each: so
no viewer, which counts them, sees slices overlap that follow each other.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush, merge
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints
from netloom.base.textfiles import replacing
from netloom.drawing.save import check_suffix, make_folder
from netloom.simulation.figures import mean_rates, rate_sums

Nanoseconds: TypeAlias = Ints

_Timed: TypeAlias = tuple[int, int, dict[str, Any]]  # when, less how long, and the event

SUFFIXES = (".json", ".json.gz")

MOST_POINTS = 2000
"""Most values of a counter. One that changes more often has means of so many equal parts."""

COUNTED = "channels", "utilisation"
"""The process that counters are shown in, and what they count."""

PER_MICROSECOND = 1000

HALF = 0.500001
"""Added before rounding down: halves that differ by an error of rounding still become equal."""


class Track(NamedTuple):
    """A row of the picture: the process that it belongs to, and its name there."""

    process: str
    name: str


@dataclass(frozen=True, eq=False)
class Slices:
    """What lasts on tracks, all of one kind.

    Attributes
    ----------
    kind
        What they are, such as ``send``: their category.
    track
        int64[n], the number of the track of each. Slices of one track do not overlap, or one is
        inside the other.
    start, end
        int64[n], nanoseconds.
    names
        What each is called. Empty: as the kind.
    args
        What else is said of each, by name, n values each.
    """

    kind: str
    track: Ints
    start: Nanoseconds
    end: Nanoseconds
    names: Sequence[str] = ()
    args: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start)


class Arrows(NamedTuple):
    """Arrows from slices to slices: int64[n] each, tracks and nanoseconds inside their slices."""

    source: Ints
    begin: Nanoseconds
    target: Ints
    end: Nanoseconds


class Counter(NamedTuple):
    """A figure over time: from each of some times (int64[n], nanoseconds, rising) on a value."""

    name: str
    time: Nanoseconds
    value: Floats


@dataclass(frozen=True, eq=False)
class Timeline:
    """What happened when.

    Attributes
    ----------
    tracks
        In the order in which they are shown, those of one process together.
    slices, counters
        What is on them, and figures beside them.
    arrows
        What went from one slice to another.
    about
        Other properties of the file.
    """

    tracks: tuple[Track, ...]
    slices: tuple[Slices, ...]
    arrows: Arrows
    counters: tuple[Counter, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        many = sum(map(len, self.slices))
        return f"<{len(self.tracks)} tracks, {many} slices, {len(self.arrows.begin)} arrows>"


def check_timeline(path: Path) -> Path:
    """Return the path of a timeline to write, or refuse it before any work is done.

    Raises
    ------
    InputError
        If it does not end in .json or .json.gz, or cannot be written.
    """
    return check_suffix(path, SUFFIXES)


def nanoseconds(times: ArrayLike, unit_us: float) -> Nanoseconds:
    """Return times in whole nanoseconds, given the µs of their unit."""
    exact = np.asarray(times, np.float64) * (unit_us * PER_MICROSECOND)
    return np.floor(exact + HALF).astype(np.int64)


def lanes(owner: Ints, start: Nanoseconds, end: Nanoseconds) -> Nanoseconds:
    """Return int64[n], lanes from 0 on such that no slices of an owner overlap on one.

    Slices take the first lane that is free, in the order of their starts: no owner has more lanes
    than slices at one time.

    Examples
    --------
    >>> start, end = np.array([0, 1, 3, 0]), np.array([2, 4, 5, 9])
    >>> lanes(np.array([7, 7, 7, 8]), start, end)
    array([0, 1, 0, 0])
    """
    found = np.zeros(len(start), np.int64)
    order = np.lexsort((end, start, owner))
    last, many = None, 0
    free, taken = list[int](), list[tuple[int, int]]()  # lanes, and those in use: until, lane
    spans = (each[order].tolist() for each in (owner, start, end))
    for place, who, begin, over in zip(order.tolist(), *spans, strict=True):
        if who != last:
            last, many, free, taken = who, 0, [], []
        while taken and taken[0][0] <= begin:
            heappush(free, heappop(taken)[1])
        lane = heappop(free) if free else many
        many = max(many, lane + 1)
        heappush(taken, (over, lane))
        found[place] = lane
    return found


def with_phases(found: Timeline, begin: Floats, ends: Floats, switch: float) -> Timeline:
    """Return a timeline with a track of phases, in each of which a switch comes before words move.

    Parameters
    ----------
    found
        A timeline, of which a unit of time is 1 µs.
    begin, ends
        float64[num_phases], when the words of each phase begin to move, and when all have.
    switch
        How long a switch takes.
    """
    first, middle, last = (nanoseconds(each, 1.0) for each in (begin - switch, begin, ends))
    slices = []
    for kind, since, until in (
        ("phase", first, last),
        ("switch", first, middle),
        ("move", middle, last),
    ):
        kept = np.flatnonzero(until > since)
        names = [f"phase {each}" for each in kept.tolist()] if kind == "phase" else ()
        track, args = np.full(len(kept), len(found.tracks)), {"phase": kept.tolist()}
        slices.append(Slices(kind, track, since[kept], until[kept], names, args))
    tracks = (*found.tracks, Track("phases", "phases"))
    return replace(found, tracks=tracks, slices=(*found.slices, *slices))


def counter(name: str, begin: Nanoseconds, end: Nanoseconds, rate: Floats) -> Counter:
    """Return the sum of rates over time, each from when it begins until it ends.

    From ``MOST_POINTS`` changes on, the mean of each of so many equal parts of the time: what
    passes in all is the same.

    Examples
    --------
    >>> both = counter("x", np.array([0, 10]), np.array([20, 30]), np.array([0.5, 0.25]))
    >>> both.time.tolist(), both.value.tolist()
    ([0, 10, 20, 30], [0.5, 0.75, 0.25, 0.0])
    """
    times, value = rate_sums(begin, end, rate)
    if len(times) > MOST_POINTS:
        edges = np.unique(np.linspace(times[0], times[-1], MOST_POINTS).astype(np.int64))
        times, value = edges, np.append(mean_rates(begin, end, rate, edges), 0.0)
    return Counter(name, times, np.maximum(value.round(9), 0.0))


def write_timeline(path: Path, timeline: Timeline) -> None:
    """Write a timeline as trace-event JSON. Gzip compresses it if the name ends in ``.gz``.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    make_folder(path.parent)
    said = json.dumps(dict(timeline.about), allow_nan=False)
    with ExitStack() as open_ones:
        stream: Any = open_ones.enter_context(open_ones.enter_context(replacing(path)).open("wb"))
        if path.suffix == ".gz":
            stream = open_ones.enter_context(gzip.GzipFile("", "wb", 6, stream, mtime=0))
        stream.write(f'{{"displayTimeUnit": "ns",\n"otherData": {said},\n"traceEvents": ['.encode())
        before = "\n"
        for event in events(timeline):
            line = json.dumps(event, separators=(",", ":"), allow_nan=False)
            stream.write(f"{before}{line}".encode())
            before = ",\n"
        stream.write(b"\n]}\n")


def events(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """Return the events of a timeline: names first, then all others in the order of time.

    Of those of one time, slices come first, the longer before the shorter. So the slice that an
    arrow begins or ends in is the last that began on its track.
    """
    processes = list(dict.fromkeys(track.process for track in timeline.tracks))
    counted, what = COUNTED
    if timeline.counters:
        processes.append(counted)
    number = {name: place + 1 for place, name in enumerate(processes)}
    for name, pid in number.items():
        yield _event("M", "process_name", 0, (pid, 0), args={"name": name})
        yield _event("M", "process_sort_index", 0, (pid, 0), args={"sort_index": pid})
    ids = [(number[track.process], tid + 1) for tid, track in enumerate(timeline.tracks)]
    for at, track in zip(ids, timeline.tracks, strict=True):
        yield _event("M", "thread_name", 0, at, args={"name": track.name})
        yield _event("M", "thread_sort_index", 0, at, args={"sort_index": at[1]})
    arrows = timeline.arrows
    streams = [
        *(_slice_events(some, ids) for some in timeline.slices),
        _arrow_events("s", arrows.source, arrows.begin, ids),
        _arrow_events("f", arrows.target, arrows.end, ids, bp="e"),
        *(_counter_events(each, what, number[counted]) for each in timeline.counters),
    ]
    yield from (event for _, _, event in merge(*streams, key=itemgetter(0, 1)))


def _event(kind: str, name: str, time: int, at: tuple[int, int], **more: Any) -> dict[str, Any]:
    """Return an event at a process and thread, ``time`` in nanoseconds."""
    ids = {"pid": at[0], "tid": at[1]}
    return {"ph": kind, "name": name, "ts": time / PER_MICROSECOND} | ids | more


def _slice_events(some: Slices, ids: list[tuple[int, int]]) -> Iterator[_Timed]:
    lasting = some.end - some.start
    for place in np.lexsort((-lasting, some.start)).tolist():
        start, long = int(some.start[place]), int(lasting[place])
        name = some.names[place] if some.names else some.kind
        args = {name: values[place] for name, values in some.args.items()}
        told = {"cat": some.kind, "dur": long / PER_MICROSECOND, "args": args}
        yield start, -long, _event("X", name, start, ids[some.track[place]], **told)


def _arrow_events(
    kind: str, track: Ints, time: Nanoseconds, ids: list[tuple[int, int]], **more: str
) -> Iterator[_Timed]:
    for place in np.argsort(time, kind="stable").tolist():
        at, when = ids[track[place]], int(time[place])
        yield when, 1, _event(kind, "message", when, at, cat="message", id=place + 1, **more)


def _counter_events(each: Counter, what: str, pid: int) -> Iterator[_Timed]:
    for time, value in zip(each.time.tolist(), each.value.tolist(), strict=True):
        yield time, 1, _event("C", each.name, time, (pid, 0), args={what: value})
