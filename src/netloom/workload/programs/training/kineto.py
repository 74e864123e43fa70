"""Records of the PyTorch profiler (Kineto), one JSON file per rank, read for their communication.

Kineto notes with each NCCL kernel what it is for: ``Collective name``, ``In msg nelems``,
``dtype``, ``Process Group Ranks`` and others. What else a rank does is the time between these.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.base.textfiles import parse_json, read_text
from netloom.workload.programs.training.rank_programs import (
    CALL,
    DELAY,
    RECEIVE,
    SEND,
    Builder,
    Pending,
    RankProgram,
    check_group,
    rank_files,
)

WANTED = 'a record of the PyTorch profiler: JSON with "traceEvents"'

CATEGORIES = ("kernel", "gpu_user_annotation", "user_annotation", "cpu_op", "")
"""Where collectives may be noted: the first that has any counts, the others repeat them."""

BYTES = {
    "Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Half": 2, "BFloat16": 2, "Int": 4, "Float": 4,
    "Long": 8, "Double": 8, "ComplexFloat": 8, "ComplexDouble": 16, "Float8_e4m3fn": 1,
    "Float8_e5m2": 1, "Float8_e4m3fnuz": 1, "Float8_e5m2fnuz": 1,
}  # fmt: skip
"""Bytes of a value of each ``dtype``."""

NAMES = (
    ("allreduce", "all-reduce"), ("allgather", "all-gather"), ("reducescatter", "reduce-scatter"),
    ("alltoall", "all-to-all"), ("broadcast", "broadcast"), ("reduce", "reduce"),
    ("gather", "gather"), ("scatter", "scatter"), ("barrier", "barrier"), ("send", "send"),
    ("recv", "receive"),
)  # fmt: skip
"""How names begin, once underscores are gone, and what they are."""

PASSED_OVER = ("wait", "init")
"""Names of notes that say nothing of communication."""

MICRO = 1e-6

SLACK = 0.01
"""Events that overlap by so many µs do so by rounding."""


NCCL = re.compile("nccl|rccl", re.IGNORECASE)
"""How the names of its kernels begin."""

MOST_VALUES = 2**26
"""Most values of a file: some five million events."""


class Span(NamedTuple):
    """When an event was that says nothing of communication, µs."""

    start: float
    end: float


class Event(NamedTuple):
    """A collective, a send or a receive as it was recorded."""

    start: float  # µs
    end: float
    kind: str
    args: dict[str, Any]
    where: str


def read_kineto(pattern: str | Path) -> RankProgram:
    r"""Read records of the PyTorch profiler, ``name.%d.json``, one per rank from 0 on.

    Of each NCCL kernel counts what it was for, and when it ran. In the program it begins once all
    that was over before it began is over, and the time that passed between is computation. What ran
    at the same time may do so again. The k-th calls of a group's ranks belong together, sends and
    receives by their ranks in order. A broadcast or reduction has the first rank of its group as
    root, as Kineto does not tell.

    Without ``%d`` all ranks are taken to do what this one does, if all its groups are of all ranks.

    Parameters
    ----------
    pattern
        A path, perhaps with ``%d`` for the rank. Files may be compressed by gzip.

    Raises
    ------
    InputError
        Naming the file and the event: what is no such record. A kernel of NCCL without its notes.
        A collective, type or group that is unknown. Ranks that do not do the same.

    Examples
    --------
    >>> read_kineto("examples/kineto/rank%d.json")
    <examples/kineto/rank%d.json: 4 ranks, 16 operations, 4 collectives>
    """
    if "%d" in str(pattern):
        records = [_record(path, rank) for rank, path in enumerate(rank_files(pattern, WANTED))]
    else:
        one = _record(Path(pattern), None)
        sizes = [one.world, *(_number(each, "Group size", 0) for each in one.events)]
        check_size(max(sizes), where=str(pattern), what="ranks")
        if not max(sizes):
            raise InputError(str(pattern), "no 'Group size'", "a record per rank: name.%d.json")
        records = [one] * max(sizes)
    reader = _Reader(Builder(len(records)), alone="%d" not in str(pattern))
    for rank, record in enumerate(records):
        reader.add(rank, record)
    return reader.builder.program(str(pattern))


class _Record(NamedTuple):
    """What a file says."""

    events: list[Event]  # by start
    start: float  # of anything, µs
    end: float
    world: int  # number of ranks, where it is told


def _record(path: Path, rank: int | None) -> _Record:
    data = parse_json(
        read_text(path, wanted=WANTED), path, wanted=WANTED, most_values=MOST_VALUES,
        record=_event,
    )  # fmt: skip
    listed = data.get("traceEvents") if isinstance(data, dict) else data
    if not isinstance(listed, list):
        raise InputError(str(path), 'no "traceEvents"', WANTED)
    told = data.get("distributedInfo") if isinstance(data, dict) else None
    told = told if isinstance(told, dict) else {}
    if rank is not None and told.get("rank", rank) != rank:
        raise InputError(str(path), f"the record of rank {told['rank']!r:.20}", f"rank {rank}")
    world = told.get("world_size", 0)
    spans = [each for each in listed if isinstance(each, Span)]
    kept = [(n, each) for n, each in enumerate(listed) if isinstance(each, dict) and "ph" in each]
    spans += [_span(each) for _, each in kept]
    found = _noted(kept, str(path))
    if not found:
        raise InputError(str(path), "no NCCL events with 'Collective name'", WANTED)
    found.sort(key=lambda event: (event.start, event.end))
    start, end = min(each.start for each in spans), max(each.end for each in spans)
    return _Record(found, start, end, world if type(world) is int else 0)


def _event(pairs: list[tuple[str, Any]]) -> Any:
    """Return a record, of an event without notes only when it was: most of millions are such.

    None of an event without a time, which any number may be that is finite.
    """
    event = dict(pairs)
    if "ph" not in event:
        return event
    times = (event.get("ts"), event.get("dur", 0))
    if event["ph"] != "X" or not all(
        isinstance(time, int | float) and 0 <= time < 2**63 for time in times
    ):
        return None
    args = event.get("args")
    noted = isinstance(args, dict) and "Collective name" in args
    return event if noted or NCCL.match(str(event.get("name", ""))) else _span(event)


def _span(event: dict[str, Any]) -> Span:
    start = float(event["ts"])
    return Span(start, start + float(event.get("dur", 0)))


def _noted(timed: list[tuple[int, dict[str, Any]]], path: str) -> list[Event]:
    """Return the events of the first category in which collectives are noted."""
    by_category: defaultdict[str, list[Event]] = defaultdict(list)
    bare = None
    for number, each in timed:
        args, category = each.get("args"), str(each.get("cat", "")).lower()
        category = category if category in CATEGORIES else ""
        name = str(each.get("name", ""))
        where = f"{path}, event {number} ({name[:40]!r})"
        if not isinstance(args, dict) or "Collective name" not in args:
            if category == "kernel" and NCCL.match(name):
                bare = bare or where
            continue
        plain = str(args["Collective name"]).lower().replace("nccl:", "").replace("_", "")
        if plain.startswith(PASSED_OVER):
            continue
        kind = next((kind for start, kind in NAMES if plain.startswith(start)), "")
        if not kind:
            wanted = "allreduce, _allgather_base, all_to_allv, send ..."
            raise InputError(where, f"'Collective name' {args['Collective name']!r:.40}", wanted)
        start, length = float(each["ts"]), float(each.get("dur", 0))
        by_category[category].append(Event(start, start + length, kind, args, where))
    if by_category["kernel"] and bare:
        raise InputError(bare, "no 'Collective name'", "one, as for other kernels of NCCL here")
    return next((by_category[each] for each in CATEGORIES if by_category[each]), [])


class _Reader:
    """What was read so far, of all ranks."""

    def __init__(self, builder: Builder, *, alone: bool) -> None:
        self.builder, self.alone = builder, alone

    def add(self, rank: int, record: _Record) -> None:
        """Add the operations of a rank, and its work after the last."""
        made: list[int] = []
        events = record.events
        for number, (event, (before, seconds)) in enumerate(
            zip(events, _gaps(record), strict=True)
        ):
            after = [made[each] for each in before]
            made.append(self._one(rank, f"{rank}.{number}", event, after, seconds))
        last = max(event.end for event in events)
        rest = max(record.end - last, 0.0) * MICRO
        self.builder.add(f"{rank}.end", DELAY, rank, made, seconds=rest)

    def _one(self, rank: int, name: str, event: Event, after: list[int], seconds: float) -> int:
        group, where = _group(event, self.builder.num_ranks), event.where
        if self.alone and len(group) < self.builder.num_ranks:
            found = f"a group of {len(group)} of {self.builder.num_ranks} ranks"
            raise InputError(where, found, "a record per rank, name.%d.json")
        if event.kind in ("send", "receive"):
            return self._point_to_point(rank, name, event, after, seconds)
        if rank not in group:
            raise InputError(where, f"a group without rank {rank}", "the record of a rank in it")
        kind = self.builder.add(name, CALL, rank, after, seconds=seconds)
        size = 0.0
        if event.kind != "barrier":
            size = _values(event, f"{'Out' if event.kind == 'scatter' else 'In'} msg nelems")
        if event.kind in ("all-gather", "gather", "scatter"):
            size *= len(group)  # as ``CollectiveProgram`` means it
        row = _row(event, len(group), size) if event.kind == "all-to-all" else ()
        key = (str(event.args.get("Process Group Name", "")), group)
        call = Pending(kind, event.kind, group, size, 0, where, row)
        self.builder.pending[key][rank].append(call)
        return kind

    def _point_to_point(
        self, rank: int, name: str, event: Event, after: list[int], seconds: float
    ) -> int:
        sends = event.kind == "send"
        peer = _number(event, "Dst Rank" if sends else "Src Rank")
        if self.alone or peer >= self.builder.num_ranks:
            raise InputError(event.where, f"{event.kind} with rank {peer}", "a record of that rank")
        size = sends * _values(event, "In msg nelems" if sends else "Out msg nelems")
        kind = SEND if sends else RECEIVE
        made = self.builder.add(
            name, kind, rank, after, seconds=seconds, peer=peer, size=size * sends
        )
        return self.builder.seek(made, 0, event.where)


def _gaps(record: _Record) -> Iterator[tuple[list[int], float]]:
    """Yield for each event those that it follows, and the seconds between.

    It follows all that ended before it began, but for those that another of these follows.
    """
    events = record.events
    order = sorted(range(len(events)), key=lambda number: events[number].end)
    place = {number: at for at, number in enumerate(order)}
    ends = [events[number].end for number in order]
    latest = list(accumulate((events[number].start for number in order), max))
    for number, event in enumerate(events):
        over = min(bisect_right(ends, event.start + SLACK), place[number])
        first = min(bisect_right(ends, latest[over - 1] + SLACK), over - 1) if over else 0
        before = [each for each in order[first:over] if each < number]
        since = max((events[each].end for each in before), default=record.start)
        yield before, max(event.start - since, 0.0) * MICRO


def _number(event: Event, name: str, default: int | None = None) -> int:
    value = event.args.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        value = int(value)
    if type(value) is not int or not 0 <= value <= 2**53:
        found = f"no '{name}'" if value is None else f"'{name}' {value!r:.40}"
        raise InputError(event.where, found, "a whole number")
    return value


def _values(event: Event, name: str) -> float:
    """Return the bytes of so many values."""
    kind = str(event.args.get("dtype", ""))
    if kind not in BYTES:
        raise InputError(event.where, f"dtype {kind!r:.40}", ", ".join(BYTES))
    return float(_number(event, name) * BYTES[kind])


def _listed(event: Event, name: str) -> tuple[list[int], bool, list[int]]:
    """Return a list of numbers, whether it is cut short, and the numbers after the cut."""
    said = event.args.get(name, "")
    text = said if isinstance(said, str) else json.dumps(said)
    head, cut, tail = text.strip().strip("[]").partition("...")
    found = []
    for part in (head, tail):
        words = part.replace(",", " ").split()
        if not all(word.isascii() and word.isdigit() and len(word) <= 18 for word in words):
            raise InputError(event.where, f"'{name}' {text[:40]!r}", "a list of whole numbers")
        found.append([int(word) for word in words])
    return found[0], bool(cut), found[1]


def _group(event: Event, num_ranks: int) -> tuple[int, ...]:
    """Return the ranks of a process group. A long list, which Kineto cuts short, is continued."""
    ranks, cut, tail = _listed(event, "Process Group Ranks")
    size = _number(event, "Group size", len(ranks) or num_ranks)
    if not 1 <= size <= num_ranks:
        found = f"'Group size' {size}"
        raise InputError(event.where, found, f"1 to {num_ranks}: a record for each rank")
    if not ranks:
        if "Global rank start" in event.args and "Global rank stride" in event.args:
            start, stride = (_number(event, f"Global rank {each}") for each in ("start", "stride"))
            ranks = list(range(start, start + size * max(stride, 1), max(stride, 1)))
        elif size == num_ranks:
            ranks = list(range(num_ranks))
    elif cut:
        strides = {b - a for a, b in pairwise(ranks)}
        stride = strides.pop() if len(strides) == 1 else 0
        whole = list(range(ranks[0], ranks[0] + size * stride, stride)) if stride > 0 else []
        if whole[: len(ranks)] != ranks or (tail and whole[-len(tail) :] != tail):
            found = "'Process Group Ranks' cut short, and not equally far apart"
            raise InputError(event.where, found, "a list that can be continued")
        ranks = whole
    if len(ranks) != size:
        found = f"{len(ranks)} 'Process Group Ranks' with 'Group size' {size}"
        raise InputError(event.where, found, "as many")
    return check_group(ranks, num_ranks, event.where)


def _row(event: Event, ranks: int, size: float) -> tuple[float, ...]:
    """Return what a rank has for each other, in bytes. Nothing if it is the same for all."""
    splits, cut, _ = _listed(event, "In split size")
    if cut:
        raise InputError(event.where, "'In split size' cut short", "all of it: up to 30 ranks")
    if len(set(splits)) <= 1:
        return ()
    if len(splits) != ranks:
        raise InputError(event.where, f"{len(splits)} splits for {ranks} ranks", "one each")
    return tuple(size * split / sum(splits) for split in splits)
