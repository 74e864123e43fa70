"""Small files of every kind that netloom reads, what reads them, and ways to break them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

import netloom

if TYPE_CHECKING:
    from random import Random

DATA = Path(__file__).parent / "data"

ODD = [b"0", b"-1", b"nan", b"inf", b"1e308", b"3.5", b"x", b"", b"99999999999999999999", b"\xff",
       b"\x00", b"\x1b[2J", b'"', b",", b"{", b"\n", b"\r", "é".encode(), b"9" * 400]  # fmt: skip


PRINTED = ("multi-plain.txt", "multi-ports.txt", "multi-linkinfo.txt",
           "multi-opensm-subnet.lst")  # fmt: skip
"""What InfiniBand's tools print of one fabric."""


def _fabric(name: str) -> bytes:
    data = Path(__file__).parents[1] / "topology" / "subnets" / "data"
    return gzip.decompress((data / f"{name}.gz").read_bytes())


@cache
def _npz() -> bytes:
    data = BytesIO()
    edge = np.array([0, 1, 2])
    np.savez(data, num_tasks=4, source=edge, target=edge + 1, bytes=edge * 1.0, messages=edge * 1.0)
    return data.getvalue()


def _written(answer) -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder, "plan.json")
        answer.write(file)
        return file.read_bytes()


@cache
def _plan() -> bytes:
    return _written(netloom.compile_phases("ring:4", "mesh:2x2"))


@cache
def _collective() -> bytes:
    return _written(netloom.compile_collective("all-gather", "mesh:2x2", size=64, chunks=1))


ON = "--on mesh:2x2 --random-mappings 0"
FABRIC = "analyze ring:4 --on fabric:FILE --random-mappings 0"
FEW = "--random-mappings 0"
MEASURED = "collective --on leaf-spine:1x1x4 --algorithm ring --measured FILE"
READ = {
    "a.mtx": f"analyze FILE {ON}",
    "a.csv": f"analyze FILE {ON}",
    "a.tsv": f"analyze FILE {ON}",
    "a.npz": f"analyze FILE {ON}",
    "a.graphml": f"analyze FILE {ON}",
    "net.graphml": "analyze ring:3 --on graph:FILE --random-mappings 0",
    "net.edges": "analyze ring:3 --on graph:FILE --random-mappings 0",
    "switched.edges": "analyze ring:4 --on graph:FILE --nodes h[0-2],d --random-mappings 0",
    "switched.graphml": "analyze ring:3 --on graph:FILE --nodes n1,n0 --random-mappings 0",
    "net.any": FABRIC,
    "topology.conf": FABRIC,
    "topology.yaml": FABRIC,
    "model.yaml": FABRIC,
    "platform.xml": FABRIC,
    "nccl.xml": FABRIC,
    "dally.conf": FABRIC,
    "systems.topo": FABRIC,
    "net.ibsim": FABRIC,
    **dict.fromkeys(PRINTED, FABRIC),
    "infra.json": FABRIC,
    "map.txt": f"analyze ring:4 {ON} --mapping FILE",
    "map.json": f"analyze ring:4 {ON} --mapping FILE",
    "routes.txt": f"analyze ring:4 {ON} --routing routes:FILE",
    "trace.csv": "simulate trace FILE --on mesh:2x2 --most-cycles 1000",
    "trace.goal": "simulate trace FILE --on mesh:2x2 --flit-bytes 16 --most-cycles 1000",
    "plan.json": "compile verify FILE",
    "collective.json": "compile verify FILE",
    "order.txt": "compile ring:4 --on mesh:2x2 --order FILE",
    "machine.toml": "analyze ring:4 --on machine:FILE --random-mappings 0",
    "exp.toml": "results FILE",
    "exp.sqlite": "results FILE",
    "hosts": "map ring:4 --on mesh:2x2 --rounds 1 --hosts FILE --nodes n0,n1,n2,n3",
    "nccl.log": MEASURED,
    "nccl.json": MEASURED,
    "osu.log": MEASURED,
    "times.csv": MEASURED,
    "slots": f"analyze ring:8 --on leaf-spine:4x1x2 --ranks-per-node 2 {FEW} --nodes FILE",
    "nodes": "map ring:4 --on mesh:2x2 --rounds 1 --nodes FILE",
}
"""By name: the command that reads a file."""

MADE: dict[str, Callable[[], bytes]] = {
    "a.npz": _npz,
    "plan.json": _plan,
    "collective.json": _collective,
    "exp.sqlite": lambda: b"SQLite format 3\x00" + bytes(90),
    **{name: partial(_fabric, name) for name in PRINTED},
}
"""Files that are made, or kept elsewhere; all others are in the folder ``data``."""

FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    name: (MADE.get(name, (DATA / name).read_bytes), command) for name, command in READ.items()
}
"""By name: what is whole, and the command that reads it."""


def broken(draw: Random, data: bytes) -> bytes:
    """Return a file to which one to three things have happened."""
    for _ in range(draw.choice([1, 1, 2, 3])):
        data = draw.choice(WAYS)(draw, data)
    return data


def _cut(draw: Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _insert(draw: Random, data: bytes) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + draw.choice(ODD) + data[place:]


def _flip(draw: Random, data: bytes) -> bytes:
    if not data:
        return data
    place = draw.randrange(len(data))
    return data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]


def _replace_word(draw: Random, data: bytes) -> bytes:
    """Put something odd in place of a word or a number."""
    words = data.split(b" ") if b" " in data else data.split(b",")
    words[draw.randrange(len(words))] = draw.choice(ODD)
    return (b" " if b" " in data else b",").join(words)


def _repeat_line(draw: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    lines.insert(draw.randrange(len(lines)), draw.choice(lines))
    return b"\n".join(lines)


def _drop_line(draw: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    del lines[draw.randrange(len(lines))]
    return b"\n".join(lines)


WAYS = [_cut, _insert, _flip, _replace_word, _repeat_line, _drop_line]
