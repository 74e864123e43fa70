"""Plan files of collectives: columns of numbers in JSON, which other programs read and people edit.

``docs/plan-file.md`` describes the format. Reading checks that a file says something. ``judge``
says whether that is right.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from netloom.base.errors import InputError
from netloom.base.provenance import Provenance
from netloom.base.textfiles import read_text, replacing
from netloom.base.words import listed
from netloom.phases.collectives.schedules import (
    MOST_PAID,
    PRICED,
    Bound,
    Prices,
    Schedule,
    ScheduleNetwork,
    StepProof,
    tables_of,
)
from netloom.phases.plan_files import Record, Text, mistake
from netloom.workload.programs.collectives.program import COLLECTIVES, CollectiveProgram
from netloom.workload.programs.messages import Lists

FORMAT = "netloom-collective"
VERSION = 1

WANTED = "a plan file, as netloom compile collective --out writes it"
MOST_CHARACTERS = 2**29
"""Most bytes of a plan file, unpacked."""

MOST_CELLS = 2**26
"""Most ranks times chunks, for each of which the judge keeps a number."""

MOST_STEPS, MOST_PRICES = 64, 2**20
"""Most steps of a schedule of few steps, and most prices of a kind that bound it."""


def names_collective(text: str) -> bool:
    """Whether a plan file says that it is one of a collective."""
    return re.search(rf'"format"\s*:\s*"{FORMAT}"', text[:4096]) is not None


class ScheduleFile(NamedTuple):
    """A schedule, and which version of netloom answered which question with it."""

    schedule: Schedule
    provenance: Mapping[str, Any]


def write_schedule(path: str | Path, schedule: Schedule, provenance: Provenance) -> None:
    """Write a schedule. Gzip compresses it if the name ends in ``.gz``.

    A column of equal values is written as one value. Times are numbers in the list of all times,
    because many messages leave or arrive together.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    text = schedule_text(schedule, provenance.to_dict())
    data = text.encode()
    if Path(path).suffix == ".gz":
        data = gzip.compress(data, 6, mtime=0)
    with replacing(path) as new:
        new.write_bytes(data)


def schedule_text(schedule: Schedule, provenance: Mapping[str, Any]) -> str:
    """Return what ``write_schedule`` writes."""
    program, network, bound = schedule.program, schedule.network, schedule.bound
    times, places = np.unique(np.concatenate([schedule.start, schedule.end]), return_inverse=True)
    start, end = np.split(places, 2)
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "provenance": dict(provenance)}
    fields |= {"collective": program.collective, "algorithm": program.algorithm}
    fields |= {"ranks": program.num_ranks, "root": program.root, "size_bytes": schedule.size_bytes}
    fields["bound"] = {"seconds": bound.seconds, "why": bound.why, "inside": bound.inside.tolist()}
    if bound.prices is not None:
        prices = bound.prices
        fields["bound"]["prices"] = {
            "num_channels": _column(prices.channels.lengths),
            "channels": prices.channels.values.tolist(),
            "price": _column(prices.price),
            "level": _column(prices.level.ravel()),
        }
    if (few := schedule.few) is not None:
        tables = {name: getattr(few, name).tolist() for name in ("price", "worth", "forwarding")}
        fields["few_steps"] = {"steps": few.steps, "seconds": few.seconds} | tables
    net: dict[str, Any] = {"name": network.name, "digest": network.digest}
    net |= {"vertices": list(network.labels), "hosts": network.host.tolist()}
    net |= {"source": network.source.tolist(), "target": network.target.tolist()}
    net |= {"bytes_per_second": _column(network.rate), "latency_seconds": _column(network.latency)}
    owners = {name: _column(getattr(program, name)) for name in ("first_owner", "final_owner")}
    chunks = {"count": program.num_chunks, "size": _column(program.chunk_size)} | owners
    messages: dict[str, Any] = {"count": program.num_messages, "source": program.source.tolist()}
    messages |= {"target": program.target.tolist(), "start": start.tolist(), "end": end.tolist()}
    messages["sums"] = _column(program.sums)
    for name, lists in (("chunks", program.chunks), ("channels", schedule.routes)):
        messages |= {f"num_{name}": _column(lists.lengths), name: lists.values.tolist()}
    groups = {"network": net, "chunks": chunks, "messages": messages}
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items()]
    for name, group in groups.items():
        inside = [
            f"  {json.dumps(column)}: {json.dumps(value, separators=(',', ':'))}"
            for column, value in group.items()
        ]
        lines.append(f' "{name}": {{\n' + ",\n".join(inside) + "\n }")
    lines.append(f' "times_seconds": {json.dumps(times.tolist(), separators=(",", ":"))}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_schedule(path: str | Path, text: str | None = None) -> ScheduleFile:
    """Read a plan file of a collective, as it was written or as someone edited it.

    Parameters
    ----------
    text
        What is in the file, if that is known.

    Raises
    ------
    InputError
        Naming the file and the field if it cannot be read, columns have other lengths than they
        should, or a number is of no rank, chunk, channel or time.
    """
    if text is None:
        text = read_text(path, wanted=WANTED, most_bytes=MOST_CHARACTERS)
    try:
        record = _File.model_validate_json(text)
    except ValidationError as error:
        raise mistake(path, error) from None
    try:
        return ScheduleFile(_schedule(record), record.provenance)
    except InputError as error:
        raise InputError(f"{path}: {error.where}", error.found, error.wanted) from None


_Count = Annotated[int, Field(ge=0, lt=2**31)]
_Owner = Annotated[int, Field(ge=-1, lt=2**31)]
_Seconds = Annotated[float, Field(ge=0, le=1e9)]
_Positive = Annotated[float, Field(gt=0, le=1e21)]


_Price = Annotated[int, Field(ge=0, le=MOST_PAID)]
_Level = Annotated[int, Field(ge=-MOST_PAID, le=MOST_PAID)]


class _Prices(Record):
    num_channels: list[_Count] | _Count
    channels: list[_Count]
    price: list[_Price] | _Price
    level: list[_Level] | _Level


class _Bound(Record):
    seconds: _Seconds
    why: Text
    inside: list[_Count]
    prices: _Prices | None = None


_Amount = Annotated[int, Field(gt=-(2**62), lt=2**62)]
_StepPrices = Annotated[list[tuple[_Count, _Count, _Count, _Amount]], Field(max_length=MOST_PRICES)]
_Worths = Annotated[list[tuple[_Count, _Count, _Amount]], Field(max_length=MOST_PRICES)]
_Forwarding = Annotated[
    list[tuple[_Count, _Count, _Count, _Count, _Amount]], Field(max_length=MOST_PRICES)
]


class _FewSteps(Record):
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)]
    seconds: _Seconds
    price: _StepPrices
    worth: _Worths
    forwarding: _Forwarding


class _Network(Record):
    name: Text
    digest: Text
    vertices: list[Text]
    hosts: list[_Count]
    source: list[_Count]
    target: list[_Count]
    bytes_per_second: list[_Positive] | _Positive
    latency_seconds: list[_Seconds] | _Seconds


class _Chunks(Record):
    count: Annotated[int, Field(ge=1, lt=2**31)]
    size: list[_Positive] | _Positive
    first_owner: list[_Owner] | _Owner
    final_owner: list[_Owner] | _Owner


class _Messages(Record):
    count: Annotated[int, Field(ge=1, lt=2**31)]
    source: list[_Count]
    target: list[_Count]
    start: list[_Count]
    end: list[_Count]
    sums: list[bool] | bool
    num_chunks: list[_Count] | _Count
    chunks: list[_Count]
    num_channels: list[_Count] | _Count
    channels: list[_Count]


class _File(Record):
    format: Literal["netloom-collective"]
    version: Literal[1]
    provenance: dict[str, Any]
    collective: Literal[COLLECTIVES]  # type: ignore[valid-type]
    algorithm: Text
    ranks: Annotated[int, Field(ge=2, lt=2**20)]
    root: _Count
    size_bytes: _Positive
    bound: _Bound
    few_steps: _FewSteps | None = None
    network: _Network
    chunks: _Chunks
    messages: _Messages
    times_seconds: list[_Seconds]


def _column(values: NDArray[Any]) -> Any:
    """Return a column for JSON: one value if all are the same."""
    same = len(values) and (values == values[0]).all()
    return values[0].item() if same else values.tolist()


def _filled(
    where: str, given: Any, count: int, kind: type[np.generic], below: int = 2**31
) -> NDArray[Any]:
    """Return a column as so many values, all below a number."""
    if isinstance(given, list) and len(given) != count:
        raise InputError(where, f"{len(given)} values", f"{count}, or one for all")
    found = np.array(given, kind) if isinstance(given, list) else np.full(count, given, kind)
    if count and found.max() >= below:
        place = int(np.argmax(found >= below))
        raise InputError(f"{where}[{place}]", f"{found[place]}", f"numbers below {below}")
    return found


def _lists(where: str, lengths: Any, values: list[int], count: int, below: int) -> Lists:
    many = _filled(f"{where}.num_{where.rpartition('.')[2]}", lengths, count, np.int64)
    offsets = np.append(0, np.cumsum(many)).astype(np.int64)
    return Lists(offsets, _filled(where, values, int(offsets[-1]), np.int32, below))


def _network(record: _File) -> ScheduleNetwork:
    given, ranks = record.network, record.ranks
    vertices, channels = len(given.vertices), len(given.source)
    if vertices < ranks:
        wanted = f"at least {ranks}, as the first are the ranks"
        raise InputError("network.vertices", f"{vertices} vertices", wanted)
    found = ScheduleNetwork(
        given.name,
        tuple(given.vertices),
        _filled("network.hosts", given.hosts, ranks, np.int32),
        _filled("network.source", given.source, channels, np.int32, vertices),
        _filled("network.target", given.target, channels, np.int32, vertices),
        _filled("network.bytes_per_second", given.bytes_per_second, channels, np.float64, 10**22),
        _filled("network.latency_seconds", given.latency_seconds, channels, np.float64, 10**10),
    )
    if found.digest != given.digest:
        wanted = f"{found.digest}, that of the network in this file"
        raise InputError("network.digest", given.digest, wanted)
    return found


def _prices(record: _File, network: ScheduleNetwork) -> Prices | None:
    """Return the prices of a bound. There are none beside a cut, or of other collectives."""
    given, ranks = record.bound.prices, record.ranks
    if given is None:
        return None
    where = "bound.prices"
    if record.collective not in PRICED:
        raise InputError(where, f"some for {record.collective}", f"none but for {listed(PRICED)}")
    if record.bound.inside:
        raise InputError(where, "some beside a cut", "prices, or vertices inside a cut")
    many = tables_of(record.collective, ranks)
    channels = _lists(
        f"{where}.channels", given.num_channels, given.channels, many, len(network.source)
    )
    price = _filled(f"{where}.price", given.price, len(channels.values), np.int64, MOST_PAID + 1)
    levels = 2 * (len(network.labels) - ranks) if record.collective == "all-reduce" else 0
    level = _filled(f"{where}.level", given.level, levels, np.int64, MOST_PAID + 1).reshape(2, -1)
    found = Prices(channels, price, level)
    if found.total > MOST_PAID:
        raise InputError(where, f"{found.total} in all", f"at most {MOST_PAID}")
    return found


def _schedule(record: _File) -> Schedule:
    """Return what a file says, once all numbers are ones of ranks, chunks, channels and times."""
    network = _network(record)
    given, ranks, count = record.messages, record.ranks, record.messages.count
    chunks, times = record.chunks.count, np.array(record.times_seconds, np.float64)
    if ranks * chunks > MOST_CELLS:
        wanted = f"at most {MOST_CELLS // ranks} for {ranks} ranks"
        raise InputError("chunks.count", str(chunks), wanted)
    if record.root >= ranks:
        raise InputError("root", str(record.root), f"a rank below {ranks}")
    start = times[_filled("messages.start", given.start, count, np.int64, len(times))]
    end = times[_filled("messages.end", given.end, count, np.int64, len(times))]
    sizes = _filled("chunks.size", record.chunks.size, chunks, np.float64, 10**22)
    carried = _lists("messages.chunks", given.num_chunks, given.chunks, count, chunks)
    routes = _lists(
        "messages.channels", given.num_channels, given.channels, count, len(network.source)
    )
    source = _filled("messages.source", given.source, count, np.int32, ranks)
    target = _filled("messages.target", given.target, count, np.int32, ranks)
    sums = _filled("messages.sums", given.sums, count, np.bool_, 2)
    step = np.unique(start, return_inverse=True)[1].astype(np.int32)
    order = np.argsort(step, kind="stable")
    owner = record.chunks.first_owner, record.chunks.final_owner
    ends, kept = (source[order], target[order], step[order]), carried.taken(order)
    program = CollectiveProgram(
        record.collective,
        record.algorithm,
        ranks,
        sizes,
        record.root,
        *ends,
        kept,
        sums[order],
        _filled("chunks.first_owner", owner[0], chunks, np.int32, ranks),
        _filled("chunks.final_owner", owner[1], chunks, np.int32, ranks),
    )
    given_cut = record.bound.inside
    inside = _filled("bound.inside", given_cut, len(given_cut), np.int32, len(network.labels))
    few = None
    if (said := record.few_steps) is not None:
        columns = (said.worth, 3), (said.price, 4), (said.forwarding, 5)
        worth, price, held = (np.array(rows, np.int64).reshape(-1, n) for rows, n in columns)
        few = StepProof(said.steps, worth, price, held, said.seconds)
    bound = Bound(record.bound.seconds, record.bound.why, inside, _prices(record, network))
    start, end, taken = start[order], end[order], routes.taken(order)
    return Schedule(program, record.size_bytes, network, start, end, taken, bound, few)
