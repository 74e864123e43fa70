"""MSCCL's XML: written, read, and run.

GPU libraries execute such files: what each thread block of each GPU sends and receives. Formats:
microsoft/msccl and ROCm/rccl (their parsers), microsoft/msccl-tools. The last two name
reduce-scatter differently (``reduce_scatter``, ``reducescatter``). The first's name is written.

Written: a GPU has one thread block for its own copies, one for each GPU it sends to, and one for
each it receives from. So a full connection never blocks the steps that would empty it. Steps wait
for steps of their GPU's other thread blocks if they touch the same chunk. All-gather and all-reduce
work on the output, reduce-scatter in scratch: in place and out of place alike. All-to-all is out of
place.

Read: what cannot be right is refused by its line.

Run on data: every thread block makes its steps in order. A step waits for the step before it, for
the one it depends on, for what it receives, and for room in the connection that it sends into. A
connection has room once the message ``SLOTS`` before has been received. A send is done when its
message has arrived. What deadlocks here deadlocks on GPUs.

The order of a run is one of those that the file allows. Some steps surely come before a step: those
before it in its thread block, the one that it waits for, the send of what it receives, and all
before these. Two steps without such an order race if one writes what the other reads or writes,
however the execution went (Lamport's order with vector clocks).
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, gcd, lcm
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias
from xml.parsers import expat

import numpy as np

from netloom.base.arrays import Ints, offsets_of
from netloom.base.errors import InputError
from netloom.base.textfiles import read_bytes, write_text
from netloom.base.words import counted, listed
from netloom.workload.programs.collectives.program import CollectiveProgram
from netloom.workload.programs.messages import Lists, cut, lists
from netloom.workload.programs.traces import MOST_LENGTH, Trace, message_trace

# -- written ---------------------------------------------------------------------------------------


NAMES = {
    "all-gather": "allgather", "all-reduce": "allreduce", "reduce-scatter": "reduce_scatter",
    "all-to-all": "alltoall",
}  # fmt: skip
"""What MSCCL calls the collectives that are written."""

MOST_COUNT = 64
"""Most chunks of one step. Parsers allow 71."""

MOST_EQUAL = 2**16
"""Most chunks into which those of different sizes are cut."""

MOST_BYTES = 2**40
"""Largest size for which the algorithm may be chosen."""


class Cell(NamedTuple):
    """A place of a chunk on a GPU: ``i``nput, ``o``utput or ``s``cratch, and its number there."""

    buffer: str
    offset: int


@dataclass
class Step:
    """A step of a thread block. ``waits``: the thread block and its step that it waits for."""

    kind: str
    source: Cell
    target: Cell
    chunks: int
    waits: tuple[int, int] = (-1, -1)
    waited_for: bool = False
    line: int = 0


@dataclass
class _Touched:
    """Who last wrote each cell, and who has since read it."""

    writer: dict[Hashable, Any] = field(default_factory=dict)
    readers: dict[Hashable, list[Any]] = field(default_factory=dict)

    def before(self, reads: Sequence[Hashable], writes: Sequence[Hashable]) -> list[Any]:
        """Return the steps that a step has to follow if it reads and writes these cells."""
        found = [self.writer[cell] for cell in (*reads, *writes) if cell in self.writer]
        return found + [each for cell in writes for each in self.readers.get(cell, ())]

    def note(self, step: Any, reads: Sequence[Hashable], writes: Sequence[Hashable]) -> None:
        """Note which cells a step reads and writes."""
        for cell in reads:
            self.readers.setdefault(cell, []).append(step)
        for cell in writes:
            self.writer[cell], self.readers[cell] = step, []


@dataclass
class _Gpu:
    """The thread blocks of a GPU, and which of their steps touched each cell."""

    # by the GPUs that each sends to and receives from, −1 for none
    blocks: dict[tuple[int, int], list[Step]] = field(default_factory=lambda: {(-1, -1): []})
    touched: _Touched = field(default_factory=_Touched)
    seen: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(
        self, step: Step, reads: Cell | None, writes: Cell | None, send: int = -1, receive: int = -1
    ) -> None:
        """Append a step that touches so many cells from these on, after all that it waits for."""
        cells = _run(reads, step.chunks), _run(writes, step.chunks)
        steps, latest = self.blocks.setdefault((send, receive), []), dict[int, int]()
        block, blocks = [*self.blocks].index((send, receive)), [*self.blocks.values()]
        for other, place in self.touched.before(*cells):
            if other != block and self.seen.get((block, other), -1) < place:
                latest[other] = max(latest.get(other, -1), place)
        for number, (other, place) in enumerate(sorted(latest.items())):
            self.seen[block, other] = place
            blocks[other][place].waited_for = True
            if number < len(latest) - 1:
                steps.append(Step("nop", Cell("i", -1), Cell("o", -1), 0, (other, place)))
            else:
                step.waits = (other, place)
        self.touched.note((block, len(steps)), *cells)
        steps.append(step)


def _run(first: Cell | None, count: int) -> list[Cell]:
    """Return so many cells from the first on."""
    return [] if first is None else [Cell(first.buffer, first.offset + k) for k in range(count)]


def equal_chunks(program: CollectiveProgram) -> CollectiveProgram:
    """Return a program whose chunks are all equally large: larger ones are cut into several.

    Raises
    ------
    InputError
        If that takes more than ``MOST_EQUAL`` chunks.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> ring = collective_program("all-reduce", "ring", 2)
    >>> cut = equal_chunks(replace(ring, chunk_size=np.array([1 / 3, 2 / 3])))
    >>> cut.chunk_size.round(3).tolist(), cut.chunks.of(0).tolist(), cut.chunks.of(1).tolist()
    ([0.333, 0.333, 0.333], [0], [1, 2])
    """
    sizes, which = np.unique(program.chunk_size, return_inverse=True)
    if np.allclose(sizes, sizes[0]):
        return program
    near = [Fraction(size).limit_denominator(MOST_EQUAL) for size in sizes.tolist()]
    unit = Fraction(gcd(*(each.numerator for each in near)), lcm(*(x.denominator for x in near)))
    cells = np.array([min(each // unit, MOST_EQUAL + 1) for each in near], np.int64)
    if not np.allclose(cells * float(unit), sizes, atol=0) or cells[which].sum() > MOST_EQUAL:
        found = f"chunks of {len(sizes)} sizes, such as {near[0]} and {near[-1]} of all"
        wanted = f"sizes that at most {MOST_EQUAL:,} equal chunks make up, as with fewer --chunks"
        raise InputError("msccl", found, wanted)
    many = cells[which]
    parts = cut(np.arange(many.sum(), dtype=np.int32), many)
    kept = program.chunks
    offsets = offsets_of(many[kept.values])[kept.offsets]
    return replace(
        program,
        chunk_size=np.full(len(parts.values), float(unit)),
        chunks=Lists(offsets, parts.taken(kept.values).values),
        first_owner=np.repeat(program.first_owner, many),
        final_owner=np.repeat(program.final_owner, many),
    )


class _Layout:
    """Where each rank keeps each chunk, and what it copies: ``sizes`` of input, output, scratch."""

    def __init__(self, program: CollectiveProgram) -> None:
        ranks, owner, kind = program.num_ranks, program.first_owner, program.collective
        self.collective = kind
        self.source, self.final = owner.tolist(), program.final_owner.tolist()
        groups, wanted = owner, ranks
        if kind == "reduce-scatter":
            groups = program.final_owner
        elif kind == "all-reduce":
            groups, wanted = np.zeros_like(owner), 1
        elif kind == "all-to-all":
            groups, wanted = owner.astype(np.int64) * ranks + program.final_owner, ranks**2
        counts = np.bincount(groups, minlength=wanted)
        if (counts != counts[0]).any():
            raise InputError("msccl", "ranks whose chunks differ", "equal chunks of every rank")
        self.each = int(counts[0])
        order = np.argsort(groups, kind="stable")
        self.position = np.empty(len(groups), np.int64)
        self.position[order] = np.arange(len(groups))
        self.scratch: list[dict[int, int]] = [{} for _ in range(ranks)]
        self.per_loop = self.each * (1 if wanted == 1 else ranks)

    def cell(self, rank: int, chunk: int) -> Cell:
        """Return where a rank keeps a chunk."""
        at = int(self.position[chunk])
        if self.collective != "all-to-all":
            return Cell("s" if self.collective == "reduce-scatter" else "o", at)
        if rank == self.source[chunk]:
            return Cell("i", at % self.per_loop)
        if rank == self.final[chunk]:
            return Cell("o", self.source[chunk] * self.each + at % self.each)
        slots = self.scratch[rank]
        return Cell("s", slots.setdefault(chunk, len(slots)))

    def sizes(self, rank: int) -> tuple[int, int, int]:
        """Return the chunks of input, output and scratch."""
        whole, each = self.per_loop, self.each
        return {
            "all-gather": (each, whole, 0),
            "reduce-scatter": (whole, each, whole),
            "all-reduce": (whole, whole, 0),
            "all-to-all": (whole, whole, len(self.scratch[rank])),
        }[self.collective]

    def copy(self, gpu: _Gpu, rank: int, *, at_end: bool) -> None:
        """Append what a rank copies at first, or in the end, in steps of ``MOST_COUNT`` chunks."""
        own, begin = rank * self.each, Cell("i", 0)
        source, target, count = {
            ("all-gather", False): (begin, Cell("o", own), self.each),
            ("all-to-all", False): (Cell("i", own), Cell("o", own), self.each),
            ("all-reduce", False): (begin, Cell("o", 0), self.per_loop),
            ("reduce-scatter", False): (begin, Cell("s", 0), self.per_loop),
            ("reduce-scatter", True): (Cell("s", own), Cell("o", 0), self.each),
        }.get((self.collective, at_end), (begin, begin, 0))
        for done in range(0, count, MOST_COUNT):
            here, there = (Cell(end.buffer, end.offset + done) for end in (source, target))
            gpu.add(Step("cpy", here, there, min(MOST_COUNT, count - done)), here, there)


def write_msccl(path: str | Path, program: CollectiveProgram) -> None:
    """Write a program as MSCCL XML, with all attributes that parsers demand.

    Parameters
    ----------
    path
        An existing file is replaced.
    program
        An all-gather, reduce-scatter, all-reduce or all-to-all, of which every rank has as much.

    Raises
    ------
    InputError
        As ``equal_chunks`` does, or if the collective is another one, ranks have not equally much,
        or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> path = Path(mkdtemp()) / "ring.xml"
    >>> write_msccl(path, collective_program("all-gather", "ring", 2))
    >>> print(path.read_text().splitlines()[0])
    <algo name="netloom" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather"
    inplace="1" outofplace="1" minBytes="0" maxBytes="1099511627776">
    """
    if program.collective not in NAMES:
        raise InputError("collective", program.collective, ", ".join(NAMES))
    program = equal_chunks(program)
    layout = _Layout(program)
    gpus = [_Gpu() for _ in range(program.num_ranks)]
    for rank, gpu in enumerate(gpus):
        layout.copy(gpu, rank, at_end=False)
    starts = np.searchsorted(program.step, np.arange(program.num_steps + 1)).tolist()
    for messages in itertools.starmap(range, itertools.pairwise(starts)):
        _exchange(program, layout, gpus, messages)
    for rank, gpu in enumerate(gpus):
        layout.copy(gpu, rank, at_end=True)
    # as parsers want tags: double quotes, single blanks, none before the end
    in_place = int(program.collective != "all-to-all")
    lines = [
        f'<algo name="netloom" proto="Simple" nchannels="1" nchunksperloop="{layout.per_loop}" '
        f'ngpus="{program.num_ranks}" coll="{NAMES[program.collective]}" inplace="{in_place}" '
        f'outofplace="1" minBytes="0" maxBytes="{MOST_BYTES}">'
    ]
    for rank, gpu in enumerate(gpus):
        sizes = 'i_chunks="{}" o_chunks="{}" s_chunks="{}"'.format(*layout.sizes(rank))
        lines.append(f'  <gpu id="{rank}" {sizes}>')
        for block, ((send, receive), steps) in enumerate(gpu.blocks.items()):
            lines.append(f'    <tb id="{block}" send="{send}" recv="{receive}" chan="0">')
            lines += (
                f'      <step s="{place}" type="{each.kind}" srcbuf="{each.source.buffer}" '
                f'srcoff="{each.source.offset}" dstbuf="{each.target.buffer}" '
                f'dstoff="{each.target.offset}" cnt="{each.chunks}" depid="{each.waits[0]}" '
                f'deps="{each.waits[1]}" hasdep="{int(each.waited_for)}"/>'
                for place, each in enumerate(steps)
            )
            lines.append("    </tb>")
        lines.append("  </gpu>")
    write_text(path, "\n".join([*lines, "</algo>", ""]))


def _exchange(
    program: CollectiveProgram, layout: _Layout, gpus: list[_Gpu], messages: range
) -> None:
    """Append the messages of a step: all are sent before any is received, in order of chunks."""
    sent = []
    for message in messages:
        source, target = int(program.source[message]), int(program.target[message])
        for chunk in program.chunks.of(message).tolist():
            here, there = layout.cell(source, chunk), layout.cell(target, chunk)
            sent.append((source, target, there, here, bool(program.sums[message])))
    sent.sort()
    runs: list[tuple[Cell, int, int, Cell, bool, int]] = []
    for source, target, there, here, sums in sent:
        if runs:
            into, *same, first, adds, count = runs[-1]
            following = (_run(first, count + 1)[-1], _run(into, count + 1)[-1])
            alike = (*same, adds, *following) == (source, target, sums, here, there)
            if alike and count < MOST_COUNT:
                runs[-1] = (*runs[-1][:-1], count + 1)
                continue
        runs.append((there, source, target, here, sums, 1))
    runs.sort(key=lambda run: run[:3])
    for there, source, target, here, _, count in runs:
        gpus[source].add(Step("s", here, there, count), here, None, send=target)
    for there, source, target, here, sums, count in runs:
        step = Step("rrc", there, there, count) if sums else Step("r", here, there, count)
        gpus[target].add(step, there if sums else None, there, receive=source)


# -- read ------------------------------------------------------------------------------------------


MOST_CHUNKS = 2**20
"""Most chunks of a buffer."""

MOST_CELLS = 2**24
"""Most chunks of all GPUs' outputs together."""

COLLECTIVES = {name: collective for collective, name in NAMES.items()} | {
    "reducescatter": "reduce-scatter"
}

SENDS, RECEIVES = ("s", "rcs", "rrs", "rrcs"), ("r", "rcs", "rrs", "rrc", "rrcs")

KINDS = ("s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop")

READS = ("s", "rrs", "rrc", "rrcs", "cpy", "re")
"""Kinds that read their source here."""

WRITES = ("r", "rcs", "rrc", "rrcs", "cpy", "re")
"""Kinds that write their target here."""

ATTRIBUTES = {
    "algo": ("nchannels", "nchunksperloop", "ngpus", "inplace"),
    "gpu": ("id", "i_chunks", "o_chunks", "s_chunks"),
    "tb": ("id", "send", "recv", "chan"),
    "step": ("s", "srcoff", "dstoff", "cnt", "depid", "deps", "hasdep"),
}
"""Whole numbers that each element must have."""

WHOLE = re.compile("-?[0-9]{1,12}")

INSIDE = {"algo": "", "gpu": "algo", "tb": "gpu", "step": "tb"}


Connection: TypeAlias = tuple[int, int, int]
"""From which GPU to which, and by which channel."""

Place: TypeAlias = tuple[int, Cell]
"""A cell of a GPU."""


@dataclass
class Block:
    """A thread block: whom it sends to and receives from, by which channel, in which steps."""

    line: int
    gpu: int
    number: int
    send: int
    receive: int
    channel: int
    steps: list[Step] = field(default_factory=list)
    done: int = 0  # steps made so far, when it is executed

    @property
    def key(self) -> tuple[int, int]:
        """Its GPU, and its number there."""
        return self.gpu, self.number

    @property
    def outgoing(self) -> Connection:
        """The connection that it sends into."""
        return self.gpu, self.send, self.channel

    @property
    def incoming(self) -> Connection:
        """The connection that it receives from."""
        return self.receive, self.gpu, self.channel


@dataclass
class Algorithm:
    """An MSCCL file.

    ``gpus``: chunks of the buffers of each GPU, and the thread blocks by number.
    """

    path: str
    name: str
    collective: str
    num_gpus: int
    per_loop: int
    in_place: tuple[bool, ...]
    gpus: dict[int, tuple[dict[str, int], dict[int, Block]]]

    @property
    def blocks(self) -> list[Block]:
        """All thread blocks."""
        return [each for _, blocks in self.gpus.values() for each in blocks.values()]


def parse_msccl(path: str) -> Algorithm:
    """Return what a file says.

    Raises
    ------
    InputError
        Naming file and line: if it is no such XML, for a collective that is not handled, or no GPU
        could execute it.
    """
    parser = expat.ParserCreate()
    reader = _Reader(path, parser)
    try:
        parser.Parse(read_bytes(path, wanted="MSCCL XML"), True)  # noqa: FBT003 (the end)
    except expat.ExpatError as error:
        said = f"broken XML ({expat.ErrorString(error.code)})"
        raise InputError(f"{path}:{error.lineno}", said, "MSCCL XML") from None
    if len(reader.found.gpus) != reader.found.num_gpus:
        said = f"{len(reader.found.gpus)} of {reader.found.num_gpus} GPUs"
        raise InputError(path, said, "a <gpu> for each")
    # connections of two thread blocks, and waits for what tells nobody
    ends = set()
    for block in reader.found.blocks:
        for kind, peer in (("send", block.send), ("recv", block.receive)):
            end = (kind, block.gpu, peer, block.channel)
            if peer >= 0 and end in ends:
                said = f"a second {kind} of GPU {block.gpu} and {peer} by channel {block.channel}"
                raise InputError(f"{path}:{block.line}", said, "one per channel")
            ends.add(end)
        for step in block.steps:
            other, place = step.waits
            if other < 0:
                continue
            blocks = reader.found.gpus[block.gpu][1]
            said = f"a wait for step {place} of thread block {other}"
            if other not in blocks or not 0 <= place < len(blocks[other].steps):
                raise InputError(f"{path}:{step.line}", said, "a step that there is")
            if not blocks[other].steps[place].waited_for:
                wanted = 'hasdep="1" there, or it never tells'
                raise InputError(f"{path}:{step.line}", said, wanted)
    return reader.found


class _Reader:
    """What has been read of a file so far."""

    found: Algorithm
    block: Block

    def __init__(self, path: str, parser: expat.XMLParserType) -> None:
        self.path, self.parser = path, parser
        self.within = [""]
        self.blocks: dict[int, Block] = {}
        self.gpu = 0
        parser.StartElementHandler = self.start
        parser.EndElementHandler = lambda _: self.within.pop()
        parser.EntityDeclHandler = lambda *_: self.refuse("an entity of its own", "none")

    def refuse(self, found: str, wanted: str) -> NoReturn:
        """Raise what is wrong in this line."""
        raise InputError(f"{self.path}:{self.parser.CurrentLineNumber}", found, wanted)

    def start(self, name: str, given: dict[str, str]) -> None:
        """Take an element."""
        if INSIDE.get(name) != self.within[-1]:
            place = f" in <{self.within[-1]}>" if self.within[-1] else ""
            self.refuse(f"<{name}>{place}", "<algo>, with <gpu>, with <tb>, with <step>")
        self.within.append(name)
        number = {}
        for key in ATTRIBUTES[name]:
            if WHOLE.fullmatch(given.get(key, "")):
                number[key] = int(given[key])
            else:
                found = f'{key}="{given[key]}"' if key in given else f"<{name}> without {key}"
                self.refuse(found, "a whole number")
        getattr(self, f"_{name}")(given, number)

    def _algo(self, given: dict[str, str], number: dict[str, int]) -> None:
        collective = COLLECTIVES.get(given.get("coll", ""))
        if collective is None:
            self.refuse(f'coll="{given.get("coll", "")}"', ", ".join(COLLECTIVES))
        gpus, chunks = number["ngpus"], number["nchunksperloop"]
        if gpus < 1:
            self.refuse(f'ngpus="{gpus}"', "at least 1")
        if chunks < 1 or (collective != "all-reduce" and chunks % gpus):
            self.refuse(f'nchunksperloop="{chunks}"', f"a multiple of {gpus} GPUs")
        if chunks > MOST_CHUNKS or chunks * gpus > MOST_CELLS:
            self.refuse(f'nchunksperloop="{chunks}"', f"at most {MOST_CELLS} chunks of all GPUs")
        in_place = number["inplace"] != 0
        out = given.get("outofplace", str(int(not in_place))) != "0"
        modes = ((False,) if out or not in_place else ()) + ((True,) if in_place else ())
        name = given.get("name", "msccl")
        self.found = Algorithm(self.path, name, collective, gpus, chunks, modes, {})

    def _gpu(self, _: dict[str, str], number: dict[str, int]) -> None:
        self.gpu = number["id"]
        if not 0 <= self.gpu < self.found.num_gpus or self.gpu in self.found.gpus:
            last = self.found.num_gpus - 1
            self.refuse(f'gpu id="{self.gpu}"', f"each from 0 to {last} once")
        self.blocks = {}
        sizes = {name: number[f"{name}_chunks"] for name in "ios"}
        whole, part = self.found.per_loop, self.found.per_loop // self.found.num_gpus
        most = {
            "i": part if self.found.collective == "all-gather" else whole,
            "o": part if self.found.collective == "reduce-scatter" else whole,
            "s": MOST_CHUNKS,
        }
        for name, size in sizes.items():
            if not 0 <= size <= most[name]:
                self.refuse(f'{name}_chunks="{size}"', f"0 to {most[name]}")
        self.found.gpus[self.gpu] = (sizes, self.blocks)

    def _tb(self, _: dict[str, str], number: dict[str, int]) -> None:
        if number["id"] in self.blocks:
            self.refuse(f'tb id="{number["id"]}" twice', "thread blocks of different numbers")
        send, receive = number["send"], number["recv"]
        for peer in (send, receive):
            if peer == self.gpu or not -1 <= peer < self.found.num_gpus:
                self.refuse(f"peer {peer} of GPU {self.gpu}", "another GPU, or -1")
        line, channel = self.parser.CurrentLineNumber, number["chan"]
        self.block = Block(line, self.gpu, number["id"], send, receive, channel)
        self.blocks[number["id"]] = self.block

    def _step(self, given: dict[str, str], number: dict[str, int]) -> None:
        kind = given.get("type", "")
        if kind not in KINDS:
            self.refuse(f'type="{kind}"', ", ".join(KINDS))
        if number["s"] != len(self.block.steps):
            self.refuse(f's="{number["s"]}"', f"{len(self.block.steps)}, the next step")
        if (kind in SENDS and self.block.send < 0) or (kind in RECEIVES and self.block.receive < 0):
            self.refuse(f'type="{kind}" in a thread block without that peer', "send or recv")
        cells = []
        for end, used in (("src", kind in READS), ("dst", kind in WRITES)):
            cell = Cell(given.get(f"{end}buf", ""), number[f"{end}off"])
            if cell.buffer not in ("i", "o", "s"):
                self.refuse(f'{end}buf="{cell.buffer}"', "i, o or s")
            size = self.found.gpus[self.gpu][0][cell.buffer]
            if used and (cell.offset < 0 or cell.offset + number["cnt"] > size):
                said = f"chunks {cell.offset} to {cell.offset + number['cnt'] - 1} of {cell.buffer}"
                self.refuse(said, f"within its {size} chunks")
            cells.append(cell)
        if number["cnt"] < (kind != "nop"):
            self.refuse(f'cnt="{number["cnt"]}"', "at least 1")
        waits, count = (number["depid"], number["deps"]), number["cnt"] * (kind != "nop")
        step = Step(kind, cells[0], cells[1], count, waits, number["hasdep"] != 0)
        step.line = self.parser.CurrentLineNumber
        self.block.steps.append(step)


# -- run -------------------------------------------------------------------------------------------


SLOTS = 8
"""Messages that a connection holds at most: NCCL's channels have 8 slots (NCCL_STEPS)."""

MOST_COUNTS = 50_000_000
"""Most numbers that are kept. Races of larger files are not looked for."""


class Order:
    """What each thread block knows to have happened, while steps are made one by one.

    ``met``: of each connection the last message that it has waited for, for those before it have
    arrived before it. ``known``: how far the other thread blocks surely are.
    """

    def __init__(self, found: Algorithm, blocks: list[Block]) -> None:
        self.path = found.path
        self.number = {block.key: place for place, block in enumerate(blocks)}
        self.met: dict[tuple[int, int], dict[Connection, int]] = {each.key: {} for each in blocks}
        self.sent: dict[Connection, list[int]] = {}
        self.taken: dict[int, tuple[int, ...]] = {}
        tells = sum(step.waited_for for block in blocks for step in block.steps)
        self.looks = len(blocks) * (len(blocks) + tells) <= MOST_COUNTS
        many = len(blocks) if self.looks else 0
        self.known = np.zeros((len(blocks), many), np.int32)
        self.told: dict[tuple[int, int, int], tuple[dict[Connection, int], Ints]] = {}
        self.carried: dict[int, Ints] = {}
        self.touched = _Touched()

    def make(
        self, block: Block, step: Step, received: int, reads: list[Place], writes: list[Place]
    ) -> None:
        """Begin a block's next step: ``received`` is the message that it takes, −1 if none.

        Raises
        ------
        InputError
            If it races with a step that has been made.
        """
        own, met = self.number[block.key], self.met[block.key]
        known = self.known[own]
        if step.waits[0] >= 0:
            others, far = self.told[(block.gpu, *step.waits)]
            np.maximum(known, far, out=known)
            for connection, message in others.items():
                met[connection] = max(met.get(connection, -1), message)
        if received >= 0:
            np.maximum(known, self.carried.pop(received), out=known)
            met[block.incoming] = received
            self.taken[received] = tuple(met.values())
        if not self.looks:
            return
        for other, place, line in self.touched.before(reads, writes):
            if other != own and known[other] <= place:  # not certain to have come before
                said = f"a race with line {line}, which touches the same chunk"
                wanted = "one that waits for the other"
                raise InputError(f"{self.path}:{step.line}", said, wanted)
        self.touched.note((own, block.done, step.line), reads, writes)
        known[own] = block.done + 1

    def send(self, block: Block, message: int) -> tuple[int, ...]:
        """Send a message in the step that has begun. Return those that arrive before it leaves."""
        met, sent = self.met[block.key], self.sent.setdefault(block.outgoing, [])
        after = set(met.values())
        if len(sent) >= SLOTS:
            after.update(self.taken[sent[-SLOTS]])
        sent.append(message)
        met.clear()
        met[block.outgoing] = message
        self.carried[message] = self.known[self.number[block.key]].copy()
        return tuple(sorted(after))

    def tell(self, block: Block) -> None:
        """End a block's next step, for which others wait."""
        known = self.known[self.number[block.key]].copy()
        self.told[(*block.key, block.done)] = dict(self.met[block.key]), known


MOST_SHOWN = 6
"""Most thread blocks of a deadlock, and GPUs left unserved, that a message names."""


class Content(NamedTuple):
    """What is in a cell: a chunk, and whose contributions to it."""

    chunk: int
    of: frozenset[int]


class Sent(NamedTuple):
    """A message: who sent what to whom.

    ``after``: the messages that have surely arrived before, which sends of a thread block do one
    by one.
    """

    line: int
    source: int
    target: int
    what: list[Content]
    after: tuple[int, ...]


class _Run:
    """An execution on data, in one of the orders that the file allows."""

    def __init__(self, found: Algorithm, *, in_place: bool) -> None:
        self.found, self.in_place = found, in_place
        self.each = found.per_loop // found.num_gpus
        self.blocks = found.blocks
        self.order = Order(found, self.blocks)
        self.connection: defaultdict[Connection, deque[int]] = defaultdict(deque)
        self.sender = {each.outgoing: each for each in self.blocks}
        self.receiver = {each.incoming: each for each in self.blocks}
        self.messages: list[Sent] = []
        for block in self.blocks:
            block.done = 0
        self.cells: dict[Place, Content] = {}
        begin = {"all-gather": self.each, "all-to-all": found.per_loop}.get(found.collective, 0)
        for gpu in range(found.num_gpus):
            for offset in range(found.gpus[gpu][0]["i"]):
                content = Content(begin * gpu + offset, frozenset((gpu,)))
                self.cells[gpu, self.at(gpu, Cell("i", offset))] = content

    def at(self, gpu: int, cell: Cell) -> Cell:
        """Return the cell that one is where input and output are the same memory."""
        if not self.in_place or cell.buffer == "s":
            return cell
        if self.found.collective == "all-gather" and cell.buffer == "i":
            return Cell("o", gpu * self.each + cell.offset)
        if self.found.collective == "reduce-scatter" and cell.buffer == "o":
            return Cell("i", gpu * self.each + cell.offset)
        same = self.found.collective in ("all-reduce", "all-to-all")
        return Cell("i", cell.offset) if same else cell

    def run_of(self, gpu: int, first: Cell, count: int) -> list[Place]:
        """Return so many cells from the first on."""
        return [(gpu, self.at(gpu, Cell(first.buffer, first.offset + k))) for k in range(count)]

    def all_sent(self) -> list[Sent]:
        """Execute all, check the end, and return the messages."""
        waiting = deque(self.blocks)
        stuck = 0
        while waiting and stuck < len(waiting):
            block = waiting.popleft()
            before = block.done
            while block.done < len(block.steps) and self.waits_on(block) is None:
                self.make(block)
            if block.done < len(block.steps):
                waiting.append(block)
                stuck = 0 if block.done > before else stuck + 1
            else:
                stuck = 0
        if waiting:
            self.refuse_deadlock(waiting[0])
        for key, left in self.connection.items():
            if left:
                said = f"a message to GPU {key[1]} that it never receives"
                line = self.messages[left[0]].line
                raise InputError(f"{self.found.path}:{line}", said, "a step that receives it")
        self.check_end()
        return self.messages

    def waits_on(self, block: Block) -> tuple[str, Block | None] | None:
        """Return what the next step waits for, and the thread block that could end that."""
        step = block.steps[block.done]
        if step.waits[0] >= 0:
            other = self.found.gpus[block.gpu][1][step.waits[0]]
            if other.done <= step.waits[1]:
                return f"waits for step {step.waits[1]} of thread block {step.waits[0]}", other
        if step.kind in RECEIVES and not self.connection[block.incoming]:
            return f"receives from GPU {block.receive}", self.sender.get(block.incoming)
        if step.kind in SENDS and len(self.connection[block.outgoing]) >= SLOTS:
            said = f"sends to GPU {block.send}, which holds {SLOTS} messages"
            return said, self.receiver.get(block.outgoing)
        return None

    def refuse_deadlock(self, first: Block) -> None:
        """Raise with the thread blocks that wait for each other, or for one that has ended."""
        chain: list[Block] = []
        said: list[str] = []
        block: Block | None = first
        while block is not None and block not in chain:
            chain.append(block)
            name = f"GPU {block.gpu}, thread block {block.number}"
            why = None if block.done == len(block.steps) else self.waits_on(block)
            block = None if why is None else why[1]
            said.append(f"{name} ({'has ended' if why is None else why[0]})")
        begin = 0 if block is None else chain.index(block)
        names = said[begin:]
        if len(names) > MOST_SHOWN:
            more = len(names) - MOST_SHOWN
            names = [*names[: MOST_SHOWN - 1], f"{more + 1} more"]
        if block is not None:
            names.append(f"GPU {block.gpu}, thread block {block.number}")
        at = chain[begin]
        line = at.steps[at.done].line
        shown = f"a deadlock: {' -> '.join(names)}"
        raise InputError(f"{self.found.path}:{line}", shown, "steps that can all be made")

    def make(self, block: Block) -> None:
        """Make a step that is ready: what it moves comes from a message, or from its source."""
        step = block.steps[block.done]
        where, sums = f"{self.found.path}:{step.line}", step.kind.startswith("rr")
        here, there = (
            self.run_of(block.gpu, cell, step.chunks) for cell in (step.source, step.target)
        )
        message = self.connection[block.incoming].popleft() if step.kind in RECEIVES else -1
        reads = here if step.kind in READS else []
        added = here if sums else there if step.kind == "re" else []
        writes = there if step.kind in WRITES else []
        self.order.make(block, step, message, reads + ([] if sums else added), writes)
        if message < 0:
            what = [self.read(cell, where) for cell in here]
        else:
            what = self.messages[message].what
            if len(what) != step.chunks:
                said = f"{len(what)} chunks, sent in line {self.messages[message].line}"
                raise InputError(where, said, f"{step.chunks}, as many as are received")
        if added:
            what = [self.sum(cell, each, where) for cell, each in zip(added, what, strict=True)]
        self.cells.update(zip(writes, what, strict=False))
        if step.kind in SENDS:
            after = self.order.send(block, len(self.messages))
            self.connection[block.outgoing].append(len(self.messages))
            self.messages.append(Sent(step.line, block.gpu, block.send, what, after))
        if step.waited_for:
            self.order.tell(block)
        block.done += 1

    def read(self, cell: Place, where: str) -> Content:
        """Return what is in a cell."""
        if cell not in self.cells:
            said = f"{cell[1].buffer} {cell[1].offset} of GPU {cell[0]}, which is empty"
            raise InputError(where, said, "a chunk")
        return self.cells[cell]

    def sum(self, cell: Place, other: Content, where: str) -> Content:
        """Return the sum of what is in a cell and another content."""
        one = self.read(cell, where)
        if one.chunk != other.chunk:
            raise InputError(where, f"a sum of chunks {one.chunk} and {other.chunk}", "one chunk")
        if one.of & other.of:
            twice = f"the contribution of GPU {min(one.of & other.of)} to chunk {one.chunk} twice"
            raise InputError(where, twice, "sums of what has nothing in common")
        return Content(one.chunk, one.of | other.of)

    def check_end(self) -> None:
        """Refuse an end at which GPUs lack a part of their output."""
        kind, each, gpus = self.found.collective, self.each, self.found.num_gpus
        everybody = frozenset(range(gpus))
        unserved = {}
        for gpu in range(gpus):
            for offset in range(each if kind == "reduce-scatter" else self.found.per_loop):
                owner = offset // each if each else 0
                of_owner = (owner * gpus + gpu) * each + offset % max(each, 1)
                chunks = {"reduce-scatter": gpu * each + offset, "all-to-all": of_owner}
                chunk = chunks.get(kind, offset)
                goal = everybody if "reduce" in kind else frozenset((owner,))
                got = self.cells.get((gpu, self.at(gpu, Cell("o", offset))))
                if got != Content(chunk, goal):
                    have = "nothing" if got is None else f"chunk {got.chunk} of {len(got.of)} GPUs"
                    said = f"{have} in output {offset} of GPU {gpu} in the end"
                    unserved[gpu] = said, f"chunk {chunk} of {len(goal)}"
                    break
        if unserved:
            more = f" (GPUs left unserved: {listed([*map(str, unserved)], MOST_SHOWN)})"
            said, wanted = next(iter(unserved.values()))
            raise InputError(self.found.path, said + more * (len(unserved) > 1), wanted)


@dataclass(frozen=True, eq=False)
class Execution:
    """An MSCCL file that has been executed on data, and does what its collective means.

    Attributes
    ----------
    found
        What the file says.
    sent
        Its messages, in an order in which they may be sent.
    """

    found: Algorithm
    sent: list[Sent]

    @property
    def depth(self) -> int:
        """The most messages that wait for each other, one after the other."""
        depth = np.zeros(len(self.sent), np.int64)
        for number, message in enumerate(self.sent):
            depth[number] = 1 + max((int(depth[each]) for each in message.after), default=0)
        return int(depth.max(initial=0))

    def padded_bytes(self, size_bytes: float) -> int:
        """Return the least size of at least this whose chunks are whole bytes.

        Raises
        ------
        InputError
            If there is no such size.
        """
        if not 0 < size_bytes <= MOST_LENGTH:
            raise InputError("size", f"{size_bytes:g} bytes", f"above 0, up to {MOST_LENGTH:g}")
        return ceil(size_bytes / self.found.per_loop) * self.found.per_loop

    def padding(self, size_bytes: float) -> str:
        """Return that a size is padded, in a sentence. "" if it is not."""
        padded, chunks = self.padded_bytes(size_bytes), self.found.per_loop
        if padded == size_bytes:
            return ""
        return f"Padded to {padded:,} B: {counted(chunks, 'chunk', ',')} of {padded // chunks:,} B."

    def trace(self, size_bytes: float) -> Trace:
        """Return it as a trace in bytes and seconds, whose tasks are GPUs.

        ``size_bytes`` is that of the collective, as ``CollectiveProgram`` has it, and padded. See
        ``Order`` for what a message waits for. Copies and sums within a GPU take no time.

        Raises
        ------
        InputError
            If there is no such size.
        """
        sent, chunk = self.sent, self.padded_bytes(size_bytes) / self.found.per_loop
        return message_trace(
            Path(self.found.path).name,
            self.found.num_gpus,
            (f"{number} (line {each.line})" for number, each in enumerate(sent)),
            np.array([each.source for each in sent], np.int32),
            np.array([each.target for each in sent], np.int32),
            np.array([len(each.what) * chunk for each in sent], np.float64),
            lists(each.after for each in sent),
        )


def executed(found: Algorithm) -> Execution:
    """Execute an MSCCL file on data, in place and out of place as it says it may be.

    Raises
    ------
    InputError
        Naming file and line: if thread blocks deadlock or race. If one sends what is not there or
        adds a contribution twice. If a GPU ends without what the collective means.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> from netloom.workload.programs.collectives.msccl import write_msccl
    >>> from netloom.workload.programs.collectives.msccl import parse_msccl
    >>> path = f"{mkdtemp()}/ring.xml"
    >>> write_msccl(path, collective_program("all-gather", "ring", 4))
    >>> found = executed(parse_msccl(path))
    >>> found.trace(1e6), found.padded_bytes(1001)
    (<ring.xml: 4 tasks, 12 messages, 12 entries>, 1004)
    """
    sent = []
    for in_place in found.in_place:
        sent = _Run(found, in_place=in_place).all_sent()
    return Execution(found, sent)
