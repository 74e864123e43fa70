"""MSCCL XML as thread blocks and their steps: what cannot be right is refused by its line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat

from netloom.base.errors import InputError
from netloom.base.textfiles import read_bytes
from netloom.workload.programs.collectives.msccl import NAMES, Cell

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class Step(NamedTuple):
    """A step of a thread block, and its line in the file."""

    line: int
    kind: str
    source: Cell
    target: Cell
    chunks: int
    waits: tuple[int, int]
    waited_for: bool


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
                self.parser.CurrentLineNumber, kind, cells[0], cells[1], number["cnt"],
                (number["depid"], number["deps"]), number["hasdep"] != 0,
            )
        )  # fmt: skip


def _all_blocks(found: Algorithm) -> Iterator[Block]:
    """Yield all thread blocks."""
    for _, blocks in found.gpus.values():
        yield from blocks.values()


def _check_blocks(found: Algorithm) -> None:
    """Refuse connections of two thread blocks, and waits for what tells nobody."""
    ends: set[tuple[str, int, int, int]] = set()
    for block in _all_blocks(found):
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
