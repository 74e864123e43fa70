"""MSCCL's XML: written, and read.

Collectives as MSCCL XML, which GPU libraries execute: what each thread block sends and receives.

A GPU has one thread block for its own copies, one for each GPU it sends to, and one for each it
receives from. So a full connection never blocks the steps that would empty it. Steps wait for steps
of their GPU's other thread blocks if they touch the same chunk. All-gather and all-reduce work on
the output, reduce-scatter in scratch: in place and out of place alike. All-to-all is out of place.

Format: microsoft/msccl and ROCm/rccl (their parsers), microsoft/msccl-tools. The last two name
reduce-scatter differently (``reduce_scatter``, ``reducescatter``). The first's name is written.

MSCCL XML as thread blocks and their steps: what cannot be right is refused by its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import read_bytes, write_text
from netloom.workload.programs.messages import Lists

if TYPE_CHECKING:
    from pathlib import Path

    from netloom.workload.programs.collectives.program import CollectiveProgram


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
class _Gpu:
    """The thread blocks of a GPU, with who last wrote and who has since read each cell."""

    peers: list[tuple[int, int]] = field(default_factory=lambda: [(-1, -1)])
    blocks: list[list[Step]] = field(default_factory=lambda: [[]])
    writer: dict[Cell, tuple[int, int]] = field(default_factory=dict)
    readers: dict[Cell, list[tuple[int, int]]] = field(default_factory=dict)
    seen: dict[tuple[int, int], int] = field(default_factory=dict)

    def block(self, send: int, receive: int) -> int:
        """Return the thread block of this connection."""
        if (send, receive) not in self.peers:
            self.peers.append((send, receive))
            self.blocks.append([])
        return self.peers.index((send, receive))

    def add(self, block: int, step: Step, reads: Cell | None, writes: Cell | None) -> None:
        """Append a step that touches so many cells from these on, after all that it waits for."""
        read = _run(reads, step.chunks)
        written = _run(writes, step.chunks)
        before = {self.writer[cell] for cell in read + written if cell in self.writer}
        before |= {each for cell in written for each in self.readers.get(cell, ())}
        latest: dict[int, int] = {}
        for other, place in before:
            if other != block and self.seen.get((block, other), -1) < place:
                latest[other] = max(latest.get(other, -1), place)
        steps = self.blocks[block]
        for number, (other, place) in enumerate(sorted(latest.items())):
            self.seen[block, other] = place
            self.blocks[other][place].waited_for = True
            if number < len(latest) - 1:
                steps.append(Step("nop", Cell("i", -1), Cell("o", -1), 0, (other, place)))
            else:
                step.waits = (other, place)
        here = (block, len(steps))
        steps.append(step)
        for cell in read:
            self.readers.setdefault(cell, []).append(here)
        for cell in written:
            self.writer[cell] = here
            self.readers[cell] = []


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
    parts = Lists(np.append(0, np.cumsum(many)), np.arange(many.sum(), dtype=np.int32))
    kept = program.chunks
    offsets = np.append(0, np.cumsum(many[kept.values]))[kept.offsets]
    return replace(
        program,
        chunk_size=np.full(len(parts.values), float(unit)),
        chunks=Lists(offsets, parts.taken(kept.values).values),
        first_owner=np.repeat(program.first_owner, many),
        final_owner=np.repeat(program.final_owner, many),
    )


class _Layout:
    """Where each rank keeps each chunk."""

    def __init__(self, program: CollectiveProgram) -> None:
        ranks, owner = program.num_ranks, program.first_owner
        self.collective = program.collective
        self.source, self.final = owner.tolist(), program.final_owner.tolist()
        groups = {
            "all-gather": owner, "reduce-scatter": program.final_owner,
            "all-reduce": np.zeros_like(owner),
            "all-to-all": owner.astype(np.int64) * ranks + program.final_owner,
        }[program.collective]  # fmt: skip
        wanted = {"all-reduce": 1, "all-to-all": ranks**2}.get(program.collective, ranks)
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
        all_of_them = self.per_loop
        return {
            "all-gather": (self.each, all_of_them, 0),
            "reduce-scatter": (all_of_them, self.each, all_of_them),
            "all-reduce": (all_of_them, all_of_them, 0),
            "all-to-all": (all_of_them, all_of_them, len(self.scratch[rank])),
        }[self.collective]

    def copies(self, rank: int) -> tuple[tuple[Cell, Cell, int], tuple[Cell, Cell, int] | None]:
        """Return what a rank copies at first, and in the end: from, to, how many chunks."""
        own = Cell("o", rank * self.each)
        whole = (Cell("i", 0), Cell("o", 0), self.per_loop)
        if self.collective == "reduce-scatter":
            end = (Cell("s", rank * self.each), Cell("o", 0), self.each)
            return (Cell("i", 0), Cell("s", 0), self.per_loop), end
        if self.collective == "all-reduce":
            return whole, None
        start = Cell("i", 0 if self.collective == "all-gather" else rank * self.each)
        return (start, own, self.each), None


def write_msccl(path: str | Path, program: CollectiveProgram, *, name: str = "netloom") -> None:
    """Write a program as MSCCL XML: see ``msccl_text``.

    Raises
    ------
    InputError
        As ``msccl_text`` does, or if the file cannot be written.
    """
    write_text(path, msccl_text(program, name=name))


def msccl_text(program: CollectiveProgram, *, name: str = "netloom") -> str:
    """Return a program as MSCCL XML, with all attributes that parsers demand.

    Parameters
    ----------
    program
        An all-gather, reduce-scatter, all-reduce or all-to-all, of which every rank has as much.
    name
        Of the algorithm.

    Raises
    ------
    InputError
        As ``equal_chunks`` does, or if the collective is another one, or ranks have not equally
        much.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> text = msccl_text(collective_program("all-gather", "ring", 2))
    >>> print(text.splitlines()[0])
    <algo name="netloom" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather"
    inplace="1" outofplace="1" minBytes="0" maxBytes="1099511627776">
    """
    if program.collective not in NAMES:
        raise InputError("collective", program.collective, ", ".join(NAMES))
    program = equal_chunks(program)
    layout = _Layout(program)
    gpus = [_Gpu() for _ in range(program.num_ranks)]
    copies = [layout.copies(rank) for rank in range(program.num_ranks)]
    for gpu, (start, _) in zip(gpus, copies, strict=True):
        _copy(gpu, start)
    starts = np.searchsorted(program.step, np.arange(program.num_steps + 1))
    for step in range(program.num_steps):
        _exchange(program, layout, gpus, range(int(starts[step]), int(starts[step + 1])))
    for gpu, (_, end) in zip(gpus, copies, strict=True):
        if end is not None:
            _copy(gpu, end)
    in_place = int(program.collective != "all-to-all")
    head: dict[str, str | int] = {
        "name": name, "proto": "Simple", "nchannels": 1, "nchunksperloop": layout.per_loop,
        "ngpus": program.num_ranks, "coll": NAMES[program.collective], "inplace": in_place,
        "outofplace": 1, "minBytes": 0, "maxBytes": MOST_BYTES,
    }  # fmt: skip
    lines = [_tag("algo", head, ">")]
    for rank, gpu in enumerate(gpus):
        lines += _gpu_lines(rank, gpu, layout.sizes(rank))
    return "\n".join([*lines, "</algo>", ""])


def _copy(gpu: _Gpu, what: tuple[Cell, Cell, int]) -> None:
    """Append copies within a GPU, in steps of at most ``MOST_COUNT`` chunks."""
    source, target, count = what
    for done in range(0, count, MOST_COUNT):
        here = Cell(source.buffer, source.offset + done)
        there = Cell(target.buffer, target.offset + done)
        gpu.add(0, Step("cpy", here, there, min(MOST_COUNT, count - done)), here, there)


def _exchange(
    program: CollectiveProgram, layout: _Layout, gpus: list[_Gpu], messages: range
) -> None:
    """Append the messages of a step: all are sent before any is received, in order of chunks."""
    sent = []
    for message in messages:
        source, target = int(program.source[message]), int(program.target[message])
        sums = bool(program.sums[message])
        for chunk in program.chunks.of(message).tolist():
            cells = layout.cell(source, chunk), layout.cell(target, chunk)
            sent.append((source, target, sums, *cells))
    sent.sort(key=lambda each: (*each[:2], each[4], each[2]))
    runs: list[tuple[int, int, bool, Cell, Cell, int]] = []
    for source, target, sums, here, there in sent:
        if runs:
            *same, first, into, count = runs[-1]
            following = (_run(first, count + 1)[-1], _run(into, count + 1)[-1])
            if same == [source, target, sums] and following == (here, there) and count < MOST_COUNT:
                runs[-1] = (source, target, sums, first, into, count + 1)
                continue
        runs.append((source, target, sums, here, there, 1))
    for source, target, _, here, there, count in sorted(runs, key=lambda run: (run[4], run[:2])):
        gpu = gpus[source]
        gpu.add(gpu.block(target, -1), Step("s", here, there, count), here, None)
    for source, target, sums, here, there, count in sorted(runs, key=lambda run: (run[4], run[:2])):
        gpu = gpus[target]
        step = Step("rrc", there, there, count) if sums else Step("r", here, there, count)
        gpu.add(gpu.block(-1, source), step, there if sums else None, there)


def _gpu_lines(rank: int, gpu: _Gpu, sizes: tuple[int, int, int]) -> list[str]:
    """Return the XML of a GPU."""
    names = ("i_chunks", "o_chunks", "s_chunks")
    lines = ["  " + _tag("gpu", {"id": rank, **dict(zip(names, sizes, strict=True))}, ">")]
    for block, (send, receive) in enumerate(gpu.peers):
        lines.append(
            "    " + _tag("tb", {"id": block, "send": send, "recv": receive, "chan": 0}, ">")
        )
        for place, step in enumerate(gpu.blocks[block]):
            said: dict[str, str | int] = {
                "s": place, "type": step.kind, "srcbuf": step.source.buffer,
                "srcoff": step.source.offset, "dstbuf": step.target.buffer,
                "dstoff": step.target.offset, "cnt": step.chunks, "depid": step.waits[0],
                "deps": step.waits[1], "hasdep": int(step.waited_for),
            }  # fmt: skip
            lines.append("      " + _tag("step", said, "/>"))
        lines.append("    </tb>")
    return [*lines, "  </gpu>"]


def _tag(name: str, attributes: dict[str, str | int], end: str) -> str:
    """Return a tag as the parsers want it: double quotes, single blanks, none before the end."""
    said = " ".join(
        f"{key}={quoteattr(str(value).replace(chr(34), chr(39)))}"
        for key, value in attributes.items()
    )
    return f"<{name} {said}{end}"


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
    done: int = 0
    """Steps made so far, when it is executed."""

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


def parse_msccl(path: str, ranks: int | None = None) -> Algorithm:
    """Return what a file says. ``ranks``: how many GPUs it must be for, if that is known.

    Raises
    ------
    InputError
        Naming file and line: if it is no such XML, for another number of GPUs or a collective that
        is not handled, or no GPU could execute it.
    """
    parser = expat.ParserCreate()
    reader = _Reader(path, ranks, parser)
    try:
        parser.Parse(read_bytes(path, wanted="MSCCL XML"), True)  # noqa: FBT003 (the end)
    except expat.ExpatError as error:
        said = f"broken XML ({expat.ErrorString(error.code)})"
        raise InputError(f"{path}:{error.lineno}", said, "MSCCL XML") from None
    assert reader.found is not None
    if len(reader.found.gpus) != reader.found.num_gpus:
        said = f"{len(reader.found.gpus)} of {reader.found.num_gpus} GPUs"
        raise InputError(path, said, "a <gpu> for each")
    _check_blocks(reader.found)
    return reader.found


class _Reader:
    """What has been read of a file so far."""

    def __init__(self, path: str, ranks: int | None, parser: expat.XMLParserType) -> None:
        self.path, self.ranks, self.parser = path, ranks, parser
        self.within = [""]
        self.found: Algorithm | None = None
        self.blocks: dict[int, Block] = {}
        self.block: Block | None = None
        self.gpu = 0
        parser.StartElementHandler = self.start
        parser.EndElementHandler = lambda _: self.within.pop()
        parser.EntityDeclHandler = lambda *_: self.refuse("an entity of its own", "none")

    def refuse(self, found: str, wanted: str) -> None:
        """Raise what is wrong in this line."""
        raise InputError(f"{self.path}:{self.parser.CurrentLineNumber}", found, wanted)

    def start(self, name: str, given: dict[str, str]) -> None:
        """Take an element."""
        if INSIDE.get(name) != self.within[-1]:
            place = f" in <{self.within[-1]}>" if self.within[-1] else ""
            self.refuse(f"<{name}>{place}", "<algo>, with <gpu>, with <tb>, with <step>")
        self.within.append(name)
        number: dict[str, int] = {}
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
        if gpus < 1 or self.ranks not in (None, gpus):
            self.refuse(f'ngpus="{gpus}"', f"{self.ranks or 'at least 1'}")
        if chunks < 1 or (collective != "all-reduce" and chunks % gpus):
            self.refuse(f'nchunksperloop="{chunks}"', f"a multiple of {gpus} GPUs")
        if chunks > MOST_CHUNKS or chunks * gpus > MOST_CELLS:
            self.refuse(f'nchunksperloop="{chunks}"', f"at most {MOST_CELLS} chunks of all GPUs")
        in_place = number["inplace"] != 0
        out = given.get("outofplace", str(int(not in_place))) != "0"
        assert collective is not None
        modes = ((False,) if out or not in_place else ()) + ((True,) if in_place else ())
        name = given.get("name", "msccl")
        self.found = Algorithm(self.path, name, collective, gpus, chunks, modes, {})

    def _gpu(self, _: dict[str, str], number: dict[str, int]) -> None:
        assert self.found is not None
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
        assert self.found is not None
        if number["id"] in self.blocks:
            self.refuse(f'tb id="{number["id"]}" twice', "thread blocks of different numbers")
        for peer in (number["send"], number["recv"]):
            if peer == self.gpu or not -1 <= peer < self.found.num_gpus:
                self.refuse(f"peer {peer} of GPU {self.gpu}", "another GPU, or -1")
        self.block = Block(
            self.parser.CurrentLineNumber, self.gpu, number["id"], number["send"], number["recv"],
            number["chan"],
        )  # fmt: skip
        self.blocks[number["id"]] = self.block

    def _step(self, given: dict[str, str], number: dict[str, int]) -> None:
        assert self.found is not None
        assert self.block is not None
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
        self.block.steps.append(
            Step(
                kind, cells[0], cells[1], number["cnt"], (number["depid"], number["deps"]),
                number["hasdep"] != 0, self.parser.CurrentLineNumber,
            )
        )  # fmt: skip


def _check_blocks(found: Algorithm) -> None:
    """Refuse connections of two thread blocks, and waits for what tells nobody."""
    ends: set[tuple[str, int, int, int]] = set()
    for block in found.blocks:
        for kind, peer in (("send", block.send), ("recv", block.receive)):
            end = (kind, block.gpu, peer, block.channel)
            if peer >= 0 and end in ends:
                said = f"a second {kind} of GPU {block.gpu} and {peer} by channel {block.channel}"
                raise InputError(f"{found.path}:{block.line}", said, "one per channel")
            ends.add(end)
        for step in block.steps:
            other, place = step.waits
            if other < 0:
                continue
            blocks = found.gpus[block.gpu][1]
            said = f"a wait for step {place} of thread block {other}"
            if other not in blocks or not 0 <= place < len(blocks[other].steps):
                raise InputError(f"{found.path}:{step.line}", said, "a step that there is")
            if not blocks[other].steps[place].waited_for:
                wanted = 'hasdep="1" there, or it never tells'
                raise InputError(f"{found.path}:{step.line}", said, wanted)
