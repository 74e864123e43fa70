"""Process graphs to files that ``read`` takes back: MatrixMarket, CSV and TSV, NPZ, GraphML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import replacing

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.workload.graphs.process_graph import ProcessGraph

WRITTEN = ".mtx, .csv, .tsv, .npz or .graphml"


def write(graph: ProcessGraph, path: str | Path, *, messages: str | Path | None = None) -> None:
    """Write ``graph`` in the format that the suffix of ``path`` names.

    ``.csv``, ``.tsv``, ``.npz`` and ``.graphml`` hold bytes and messages. A matrix, ``.mtx``, holds
    only the bytes. If messages matter (they are not one on every edge with bytes),
    ``write(graph, "app.mtx", messages="app.messages.mtx")`` writes them to a second matrix. Then
    ``read("app.mtx", messages="app.messages.mtx")`` reads both.

    Parameters
    ----------
    graph
        What is written. Its name is not: a graph that is read is named after its file.
    path
        An existing file is replaced.
    messages
        The second matrix, for ``.mtx`` only.

    Raises
    ------
    InputError
        If the suffix is none of these, ``messages`` is given for another format, or a file
        cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload import read, ring
    >>> file = Path(mkdtemp()) / "ring.csv"
    >>> write(ring(3), file)
    >>> print(file.read_text()[:47])
    # tasks: 3
    source,target,bytes,messages
    0,1,1,1
    >>> read(file).num_edges
    6
    """
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(str(path), f"suffix '{path.suffix}'", WRITTEN)
    if messages is not None and (writer is not _write_matrix or Path(messages).suffix != ".mtx"):
        raise InputError("messages", f"'{messages}' with {path}", "two .mtx files")
    with replacing(path) as new:
        writer(graph, new)
    if messages is not None:
        with replacing(messages) as new:
            _write_matrix(graph, new, weight="messages")


def _write_matrix(graph: ProcessGraph, path: Path, weight: str = "bytes") -> None:
    from scipy.io import mmwrite
    from scipy.sparse import coo_array

    shape = (graph.num_tasks, graph.num_tasks)
    entries = _plain(getattr(graph, weight))
    matrix = coo_array((entries, (graph.source, graph.target)), shape=shape)
    comment = f" {weight}; rows send, columns receive"
    with path.open("wb") as stream:  # given a path, mmwrite is silent where it cannot write
        mmwrite(stream, matrix, comment=comment, symmetry="general")


def _write_table(graph: ProcessGraph, path: Path) -> None:
    import polars as pl

    columns = {
        "source": graph.source,
        "target": graph.target,
        "bytes": _plain(graph.bytes),
        "messages": _plain(graph.messages),
    }
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open("wb") as stream:
        stream.write(f"# tasks: {graph.num_tasks}\n".encode())
        pl.DataFrame(columns).write_csv(stream, separator=separator)


def _write_npz(graph: ProcessGraph, path: Path) -> None:
    with path.open("wb") as stream:
        np.savez(
            stream,
            num_tasks=np.int64(graph.num_tasks),
            source=graph.source,
            target=graph.target,
            bytes=graph.bytes,
            messages=graph.messages,
        )


def _write_graphml(graph: ProcessGraph, path: Path) -> None:
    import networkx as nx

    drawn: nx.DiGraph[int] = nx.DiGraph()
    drawn.add_nodes_from(range(graph.num_tasks))
    columns = (graph.source, graph.target, graph.bytes, graph.messages)
    for source, target, sent, counted in zip(*(c.tolist() for c in columns), strict=True):
        drawn.add_edge(source, target, bytes=sent, messages=counted)
    with path.open("wb") as stream:
        nx.write_graphml(drawn, stream)


def _plain(weights: Floats) -> Floats | Ints:
    """Whole numbers, which most are, without a decimal point. All others as they are."""
    whole = np.all((weights == np.floor(weights)) & (weights < 2**53))
    return weights.astype(np.int64) if whole else weights


_WRITERS = {
    ".mtx": _write_matrix,
    ".csv": _write_table,
    ".tsv": _write_table,
    ".npz": _write_npz,
    ".graphml": _write_graphml,
}
