"""Files of process graphs, also those of Open MPI, one a rank: read and written.

MatrixMarket, CSV and TSV, NPZ, GraphML. The same rules hold for every format. An entry without
bytes and messages is no edge. Messages of a task to itself are ignored. Repeated edges are added
up. If a file counts no messages, each edge with bytes counts one. Files are data: nothing in them
is run, and the sizes that they claim are checked before memory is allocated.

Open MPI's monitoring records real runs. ``mpirun -np N --mca pml_monitoring_enable 2 --mca
pml_monitoring_enable_output 3 --mca pml_monitoring_filename DIR/NAME APP`` writes one file per
rank, ``DIR/NAME.<rank>.prof`` (Open MPI 4.1). The first letter of a line names its kind. ``E``
lines are point-to-point messages with users' tags. ``I`` lines are those with Open MPI's own tags,
into which collectives are broken. ``S`` and ``R`` lines are one-sided messages, sent and fetched.
``C`` lines are the same collectives as the program called them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from itertools import dropwhile, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from netloom.base.arrays import Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS, check_size, whole_number
from netloom.base.textfiles import (
    check_file,
    check_graphml,
    check_lines,
    read_bytes,
    replacing,
    text_lines,
)
from netloom.workload.graphs.process_graph import (
    ProcessGraph,
    check_edges,
    check_weights,
    process_graph,
)

if TYPE_CHECKING:
    import networkx as nx
    import polars as pl

    Where: TypeAlias = Callable[[int], str]


# -- files read ------------------------------------------------------------------------------------


MOST_BYTES_AN_EDGE = 32
"""Bytes of an edge in an NPZ file: two numbers of tasks and two weights, eight bytes each."""

MOST_UNPACKED = 2**26, 100
"""Bytes that a packed file may unpack to: so many, or so many times its size."""

MOST_REPEATED = 2**20
"""Most entries of a matrix that has fewer places for them: repeated ones are added up."""

MOST_COLUMNS = 1024
"""Most columns of a table."""

ARRAYS = {"num_tasks": "iu", "source": "iu", "target": "iu", "bytes": "biuf", "messages": "biuf"}
"""The arrays of an NPZ file, and the kinds of their dtypes."""

SPARSE = ("format", "shape", "data", "row", "col", "indices", "indptr")
"""The arrays of a matrix that scipy.sparse stores."""


def read_matrix_market(path: str | Path, *, messages: str | Path | None = None) -> ProcessGraph:
    """Read a square MatrixMarket file: rows send, columns receive, entries are bytes.

    Parameters
    ----------
    path
        ``.mtx`` or ``.mtx.gz``, coordinate or array, real, integer or pattern (one byte each).
    messages
        A second matrix of the same size with the number of messages. The edges are those of
        either matrix.

    Raises
    ------
    InputError
        If a file cannot be read, is not square, is complex, or has an entry that is negative,
        infinite or not a number. The error names the file and, if known, the line, or the row and
        column (counted from one, as in the file).

    Examples
    --------
    >>> read_matrix_market("examples/lammps-64.mtx", messages="examples/lammps-64.messages.mtx")
    <examples/lammps-64.mtx: 64 tasks, 672 directed edges, 4.553e+08 bytes, 1.191e+05 messages>
    """
    num_tasks, source, target, sent = _matrix(Path(path), "bytes")
    if messages is None:
        return _assembled(str(path), num_tasks, source, target, sent, None)
    size, counted_source, counted_target, counted = _matrix(Path(messages), "messages")
    if size != num_tasks:
        wanted = f"{num_tasks} x {num_tasks}, as in {path}"
        raise InputError(messages, f"a {size} x {size} matrix", wanted)
    ends = np.append(source, counted_source), np.append(target, counted_target)
    weights = np.append(sent, np.zeros(len(counted))), np.append(np.zeros(len(sent)), counted)
    return _assembled(str(path), num_tasks, *ends, *weights)


def read_csv(path: str | Path) -> ProcessGraph:
    r"""Read a table with the columns ``source``, ``target``, ``bytes`` and perhaps ``messages``.

    The first line names the columns. Others are passed over. ``#`` starts a comment line. The
    comment ``# tasks: 64`` above the names tells how many tasks there are. Without it there are
    just enough for the highest number in the table.

    A ``.tsv`` file is separated by tabs, any other by commas.

    Raises
    ------
    InputError
        Naming the file, and the line where one is to blame.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "pair.csv"
    >>> _ = file.write_text("# tasks: 3\nsource,target,bytes\n0,1,4096\n")
    >>> graph = read_csv(file)
    >>> graph.num_tasks, graph.bytes
    (3, array([4096.]))
    """
    path = Path(path)
    table = read_table(
        path, "a table: source, target, bytes (and messages)", MAX_ELEMENTS * MOST_BYTES_AN_EDGE
    )
    if not {"source", "target", "bytes"} <= set(table.rows.columns):
        wanted = "a line that names the columns source, target, bytes (and messages)"
        raise InputError(table.head, repr(",".join(table.rows.columns)), wanted)
    source, target = (table.numbers(name, "Int64") for name in ("source", "target"))
    sent = table.numbers("bytes", "Float64")
    counted = table.numbers("messages", "Float64") if "messages" in table.rows.columns else None
    num_tasks = table.num_tasks
    check_edges(num_tasks or MAX_ELEMENTS, source, target, sent, counted, where=table.where)
    if not num_tasks:
        if not len(source):
            raise InputError(path, "no edges", "at least one, or a comment '# tasks: 64'")
        num_tasks = int(max(source.max(), target.max())) + 1
    return _assembled(str(path), num_tasks, source, target, sent, counted)


def read_npz(path: str | Path) -> ProcessGraph:
    """Read the arrays that ``write`` stores, or a matrix that ``scipy.sparse.save_npz`` stores.

    The arrays are ``num_tasks``, ``source``, ``target``, ``bytes`` and perhaps ``messages``. A
    matrix (in COO, CSR or CSC form) holds bytes, rows send and columns receive.

    Raises
    ------
    InputError
        Naming the file, and the edge (counted from zero) where one is to blame, if an array is
        missing, pickled, larger than its file says, or of the wrong kind.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "pair.npz"
    >>> np.savez(file, num_tasks=3, source=[0], target=[1], bytes=[4096])
    >>> graph = read_npz(file)
    >>> graph.num_tasks, graph.bytes, graph.messages
    (3, array([4096.]), array([1.]))
    """
    path = Path(path)
    with parsing(path, "NPZ"):
        with zipfile.ZipFile(path) as packed:
            wanted = {f"{key}.npy" for key in (*ARRAYS, *SPARSE)}
            unpacked = sum(one.file_size for one in packed.infolist() if one.filename in wanted)
        check_size(unpacked // MOST_BYTES_AN_EDGE, where=str(path), what="edges")
        if unpacked > _most_unpacked(path):
            what = f"arrays of {unpacked} bytes, {unpacked // path.stat().st_size} times its size"
            raise InputError(path, what, "a file that numpy.savez writes, not packed")
        with np.load(path, allow_pickle=False) as archive:
            is_sparse = "format" in archive and "data" in archive
            kinds = {} if is_sparse else ARRAYS
            arrays = {key: np.asarray(archive[key]) for key in kinds if key in archive}
        if is_sparse:
            arrays = _sparse_matrix(path)
    for key in ("num_tasks", "source", "target", "bytes"):
        if key not in arrays:
            said = "num_tasks, source, target, bytes (and messages)"
            raise InputError(path, f"no array '{key}'", said)
    for key, array in arrays.items():
        shape = () if key == "num_tasks" else (arrays["source"].size,)
        if array.shape != shape or array.dtype.kind not in ARRAYS[key]:
            whole = "whole numbers" if ARRAYS[key] == "iu" else "real numbers"
            found = f"shape {array.shape} of {array.dtype}"
            raise InputError(f"{path}, {key}", found, f"shape {shape} of {whole}")
    num_tasks = whole_number(str(int(arrays["num_tasks"])), where=f"{path}, num_tasks", least=1)
    check_size(num_tasks, where=str(path), what="tasks")
    edges = arrays["source"], arrays["target"], arrays["bytes"], arrays.get("messages")
    check_edges(num_tasks, *edges, where=lambda edge: f"{path}, edge {edge}")
    return _assembled(str(path), num_tasks, *edges)


def read_graphml(path: str | Path) -> ProcessGraph:
    """Read a GraphML file whose edges carry ``bytes`` (or ``weight``) and perhaps ``messages``.

    Nodes labeled exactly 0 … N − 1 are the tasks of those numbers. Others are numbered in the
    file's order. An undirected edge is both directions. If no edge carries bytes, each is one.

    Raises
    ------
    InputError
        Naming the file, and the edge by its labels where one is to blame.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import networkx as nx
    >>> file = Path(mkdtemp()) / "star.graphml"
    >>> nx.write_graphml(nx.star_graph(2), file)
    >>> read_graphml(file).target
    array([1, 2, 0, 0], dtype=int32)
    """
    import networkx as nx

    path = Path(path)
    with parsing(path, "GraphML"):
        check_graphml(path)
        graph = nx.read_graphml(path)
    if not graph.is_directed():
        graph = graph.to_directed()
    check_size(graph.number_of_edges(), where=str(path), what="edges")
    labels = list(graph.nodes)
    if set(labels) == {str(task) for task in range(len(labels))}:
        labels = sorted(labels, key=int)
    number = {label: task for task, label in enumerate(labels)}
    edges = list(graph.edges(data=True))

    def where(edge: int) -> str:
        return f"{path}, edge {edges[edge][0]} -> {edges[edge][1]}"

    source = np.array([number[a] for a, _, _ in edges], np.int32)
    target = np.array([number[b] for _, b, _ in edges], np.int32)
    sent = _attribute([data.get("bytes", data.get("weight")) for *_, data in edges], "bytes", where)
    counted = _attribute([data.get("messages") for *_, data in edges], "messages", where)
    if sent is None:
        sent = np.ones(len(edges))
    check_edges(max(1, len(labels)), source, target, sent, counted, where=where)
    return _assembled(str(path), len(labels), source, target, sent, counted)


@contextmanager
def parsing(path: Path, form: str) -> Iterator[None]:
    """Turn whatever a parser raises into one line that names the file, and its line if known."""
    check_file(path, wanted=f"a {form} file")
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  # any parser's failure is the file's
        reason = " ".join(str(error).split()) or type(error).__name__
        line, _, rest = reason.removeprefix("Line ").partition(": ")
        at_line = reason.startswith("Line ") and line.isdigit()
        where, why = (f"{path}:{line}", rest) if at_line else (str(path), reason)
        raise InputError(where, f"unreadable {form} ({why.rstrip('.')})") from None


def _matrix(path: Path, what: str) -> tuple[int, Records, Records, Records]:
    """Read size, rows, columns and entries of a square matrix file."""
    with parsing(path, "MatrixMarket"):
        data = read_bytes(path, wanted="a MatrixMarket file", most_bytes=_most_unpacked(path))
        check_lines(BytesIO(data), str(path), most_bytes=len(data))
        # scipy reads on past a last line that has no end and anything behind its number
        text = data if data.endswith(b"\n") else data + b"\n"
        if (plain := _plain_matrix(text)) is not None:
            return plain
        from scipy.io import mminfo, mmread
        from scipy.sparse import coo_array

        rows, columns, entries, _, field, _ = mminfo(BytesIO(text))
        if rows != columns or not rows:
            raise InputError(path, f"a {rows} x {columns} matrix", "a square matrix of tasks")
        if field == "complex":
            raise InputError(path, "complex entries", "real, integer or pattern")
        check_size(rows, where=str(path), what="tasks")
        check_size(entries, where=str(path), what="entries")
        if entries > len(text):  # each takes more than a byte
            raise InputError(path, "a truncated file", f"{entries} entries, as it says")
        if entries > max(rows * columns, MOST_REPEATED):
            found = f"{entries} entries in a {rows} x {columns} matrix"
            raise InputError(path, found, "each place once")
        matrix = coo_array(mmread(BytesIO(text), spmatrix=False))
    source, target = matrix.coords

    def where(edge: int) -> str:
        return f"{path}, row {source[edge] + 1} column {target[edge] + 1}"

    check_weights(matrix.data, what, where)
    return rows, source, target, matrix.data


PLAIN_MATRIX = re.compile(
    rb"%%MatrixMarket matrix coordinate integer general\n(?:%.*\n)*"
    rb"(\d{1,5}) (\d{1,5}) (\d{1,5})\n((?:\d{1,5} \d{1,5} \d{1,18}\n)*)"
)
"""A small matrix as most programs write it."""


def _plain_matrix(text: bytes) -> tuple[int, Ints, Ints, Ints] | None:
    """Read a small matrix without a mistake. Importing SciPy for it would take twenty times longer.

    None if it is another one.
    """
    found = PLAIN_MATRIX.fullmatch(text)
    if found is None:
        return None
    rows, columns, entries = (int(each) for each in found.groups()[:3])
    source, target, sent = np.array(found[4].split()).astype(np.int64).reshape(-1, 3).T
    ends = np.concatenate([source, target])
    outside = ((ends < 1) | (ends > rows)).any()
    if rows != columns or rows < 1 or entries != len(sent) or outside:
        return None
    return rows, source - 1, target - 1, sent


def _most_unpacked(path: Path) -> int:
    """Return how many bytes a file may unpack to."""
    least, times = MOST_UNPACKED
    return max(least, times * path.stat().st_size)


@dataclass(frozen=True, eq=False)
class Table:
    """A table of text, CSV or TSV.

    ``rows``: what columns say, None where that is nothing. Blank rows are left out. ``places``:
    int64[], the place of each row in the file. ``head``: the line of the names, as a user would
    look for it. ``num_tasks``: what the comment ``# tasks: 64`` above them says, or 0.
    """

    path: Path
    rows: pl.DataFrame
    places: Ints
    head: str
    num_tasks: int

    @cached_property
    def _lines(self) -> Ints:
        return np.fromiter((number for number, _ in _data_lines(self.path)), np.int64)

    def where(self, row: int) -> str:
        """Return the line of a row, as a user would look for it."""
        return f"{self.path}:{self._lines[self.places[row] + 1]}"

    def numbers(self, name: str, kind: Literal["Int64", "Float64"]) -> Records:
        """Return a column of numbers. Refuse what is none."""
        import polars as pl

        text = self.rows[name]
        values = text.cast(getattr(pl, kind), strict=False)
        unread = values.is_null()
        if unread.any():
            row = unread.arg_max() or 0
            found = f"no {name}" if text[row] is None else f"{name} {text[row]!r}"
            wanted = "a number" if kind == "Float64" else "a task's number"
            raise InputError(self.where(row), found, wanted)
        return values.to_numpy()


def read_table(path: Path, wanted: str, most_bytes: int) -> Table:
    """Read the text of a table: separated by tabs (``.tsv``), or by commas (any other).

    The first line names the columns. ``#`` starts a comment line.

    Raises
    ------
    InputError
        If it is no such table, has over ``most_bytes`` or ``MOST_COLUMNS``.
    """
    import csv

    import polars as pl

    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    num_tasks = 0
    check_file(path, wanted=wanted)
    with parsing(path, "CSV"):
        with path.open("rb") as stream:
            check_lines(stream, str(path), most_bytes=most_bytes)
        first, names = next(_data_lines(path), (0, ""))
        if not first:
            raise InputError(path, "an empty file", f"a line that names columns: {wanted}")
        if names.count(separator) >= MOST_COLUMNS:
            found = f"{names.count(separator) + 1} columns"
            raise InputError(f"{path}:{first}", found, f"at most {MOST_COLUMNS}")
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            for number, line in enumerate(islice(lines, first - 1), start=1):
                what, _, count = line.removeprefix("#").partition(":")
                if what.strip() == "tasks" and not num_tasks:
                    num_tasks = whole_number(count.strip(), where=f"{path}:{number}", least=1)
                    check_size(num_tasks, where=f"{path}:{number}", what="tasks")
        try:
            table = pl.read_csv(
                path,
                separator=separator,
                skip_lines=first - 1,
                comment_prefix="#",
                infer_schema=False,  # texts, so that what is no number can be named
            )
        except pl.exceptions.ComputeError:  # polars does not name the line
            most = len(next(csv.reader([names], delimiter=separator)))
            for number, line in _data_lines(path):
                fields = len(next(csv.reader([line], delimiter=separator), []))
                if fields > most:
                    wanted = f"{most}, as in line {first}"
                    raise InputError(f"{path}:{number}", f"{fields} fields", wanted) from None
            raise
        text = table.rename(str.strip).select(pl.all().str.strip_chars().replace("", None))
    kept = ~text.select(pl.all_horizontal(pl.all().is_null())).to_series()
    places = kept.arg_true().to_numpy().astype(np.int64)
    return Table(path, text.filter(kept), places, f"{path}:{first}", num_tasks)


def _data_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are rows of the table, its names the first."""
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        rows = ((n, line) for n, line in enumerate(lines, start=1) if not line.startswith("#"))
        yield from dropwhile(lambda row: not row[1].strip(), rows)


def _sparse_matrix(path: Path) -> dict[str, Records]:
    """Read rows, columns and entries of a scipy.sparse archive, under the names of our own."""
    from scipy.sparse import load_npz

    matrix: Any = load_npz(path)
    if matrix.format not in ("coo", "csr", "csc"):
        raise InputError(path, f"a matrix in {matrix.format!r} form", "COO, CSR or CSC")
    if matrix.format != "coo":  # a false index would lead out of the arrays
        matrix.check_format(full_check=True)
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(path, f"a matrix of shape {matrix.shape}", "a square matrix of tasks")
    entries = matrix.tocoo()
    source, target = entries.coords
    size = np.asarray(matrix.shape[0])
    return {"num_tasks": size, "source": source, "target": target, "bytes": entries.data}


def _attribute(values: list[Any], what: str, where: Where) -> Records | None:
    """Numbers from the edges' attributes. None where no edge has one."""
    if all(value is None for value in values):
        return None
    numbers = np.empty(len(values))
    for edge, value in enumerate(values):
        try:
            numbers[edge] = float(value)
        except (TypeError, ValueError):
            found = f"no {what}" if value is None else f"{what} '{value}'"
            raise InputError(where(edge), found, "a number, as on other edges") from None
    return numbers


def _assembled(
    name: str,
    num_tasks: int,
    source: Records,
    target: Records,
    sent: Records,
    counted: Records | None,
) -> ProcessGraph:
    """Make the graph from checked entries. Without a count, one message an edge with bytes."""
    if num_tasks < 1:
        raise InputError(name, "no tasks", "at least one")
    used = sent > 0 if counted is None else (sent > 0) | (counted > 0)
    messages = None if counted is None else counted[used]
    ends, sent = (source[used], target[used]), sent[used]
    graph = process_graph(num_tasks, *ends, bytes=sent, messages=messages, name=name)
    # Entries of one edge were added up: its bytes, but one message is the whole edge's.
    return graph if counted is not None else replace(graph, messages=np.ones(graph.num_edges))


# -- files written ---------------------------------------------------------------------------------


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
        raise InputError(path, f"suffix '{path.suffix}'", WRITTEN)
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

    columns = {name: _plain(values) for name, values in graph.columns.items()}
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open("wb") as stream:
        stream.write(f"# tasks: {graph.num_tasks}\n".encode())
        pl.DataFrame(columns).write_csv(stream, separator=separator)


def _write_npz(graph: ProcessGraph, path: Path) -> None:
    with path.open("wb") as stream:
        np.savez(stream, num_tasks=np.int64(graph.num_tasks), **graph.columns)


def _write_graphml(graph: ProcessGraph, path: Path) -> None:
    import networkx as nx

    drawn: nx.DiGraph[int] = nx.DiGraph()
    drawn.add_nodes_from(range(graph.num_tasks))
    columns = (values.tolist() for values in graph.columns.values())
    for source, target, sent, counted in zip(*columns, strict=True):
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


# -- files of ranks --------------------------------------------------------------------------------


def pattern_in(folder: str | Path, ending: str) -> str:
    """Return the pattern of the files of ranks in a folder that end so. "" if it has none.

    Examples
    --------
    >>> pattern_in("examples/chakra", ".et"), pattern_in("examples", ".et")
    ('examples/chakra/%d.et', '')
    """
    first = re.compile(rf"(.*\D)?0{re.escape(ending)}")
    names = [each.name for each in Path(folder).iterdir()] if Path(folder).is_dir() else []
    found = next((match for match in map(first.fullmatch, sorted(names)) if match), None)
    return str(Path(folder, f"{found[1] or ''}%d{ending}")) if found else ""


def rank_files(pattern: str | Path, wanted: str) -> list[Path]:
    """Return the files of ranks 0, 1, 2 ….

    Raises
    ------
    InputError
        If the pattern has no ``%d``, there is no such folder or file, or one is missing.

    Examples
    --------
    >>> [path.name for path in rank_files("examples/chakra/%d.et", "a trace")][:2]
    ['0.et', '1.et']
    """
    path = Path(pattern)
    if path.name.count("%d") != 1 or "%" in path.name.replace("%d", "", 1):
        raise InputError(path, "no %d for the rank", "a name such as trace.%d.et")
    before, after = path.name.split("%d")
    name = re.compile(rf"{re.escape(before)}(0|[1-9][0-9]{{0,8}}){re.escape(after)}")
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError as error:
        raise InputError(path.parent, f"no such folder ({error.strerror})", wanted) from None
    ranks = sorted(int(match[1]) for match in map(name.fullmatch, names) if match)
    check_size(len(ranks), where=str(path), what="ranks")
    if not ranks:
        raise InputError(path, "no such files", f"{before}0{after}, {before}1{after} …")
    missing = next((rank for rank, found in enumerate(ranks) if rank != found), None)
    if missing is not None:
        found = f"a file of rank {ranks[-1]}, and none of rank {missing}"
        raise InputError(path, found, "one for each rank from 0 on")
    paths = [path.with_name(f"{before}{rank}{after}") for rank in ranks]
    return [check_file(each, wanted=wanted) for each in paths]


# -- files of Open MPI -----------------------------------------------------------------------------


PARTS = {
    "network": "EISR",
    "point-to-point": "E",
    "collectives": "I",
    "one-sided": "SR",
    "collective-calls": "C",
}
"""Letters of the lines that each part of the traffic is in."""

_FILE = re.compile(r"(?P<name>.+)\.(?:0|[1-9][0-9]{0,8})\.prof")
_ROW = re.compile(
    r"([EISRC])\t([0-9]{1,9})\t([0-9]{1,9})\t([0-9]{1,20}) bytes\t([0-9]{1,20}) msgs sent"
    r"(?:\t[0-9,]*)?\n"  # the histogram of sizes, which is not always there
)
_ROW_LIKE = "'E<tab>rank<tab>peer<tab>N bytes<tab>N msgs sent'"
_LETTERS = ("E", "I", "S", "R", "C", "D", "A2A", "O2A", "A2O")
_WORLD = "D\tMPI_COMM_WORLD\tprocs: "
_SKIPPED = ("#", "D\t", "A2A\t", "O2A\t", "A2O\t")


def read_monitoring(path: str | Path, *, parts: str = "network") -> ProcessGraph:
    """Read what the ranks of an MPI run sent to each other. Rank r is task r.

    Persistent sends (``MPI_Send_init`` with ``MPI_Start``) are not recorded by Open MPI at all: a
    code that uses them shows too little traffic here, or none.

    Parameters
    ----------
    path
        A directory, a glob such as ``runs/lammps.*.prof``, or one of the files, which stands
        for all of its run.
    parts
        ``network``, all that crosses the network: E + I + S + R, where R counts from the rank
        that is fetched from to the rank that fetches. Or a part of it: ``point-to-point`` (E,
        in which Open MPI also puts some collectives, such as ``MPI_Alltoall``), ``collectives``
        (I), ``one-sided`` (S + R). Or ``collective-calls`` (C), the same traffic as
        the collectives, from the point of view of the program. It is in none of the others.

    Raises
    ------
    InputError
        Naming the file and line of what cannot be read, the file that is missing, or the runs
        among which the path does not choose.

    Examples
    --------
    >>> read_monitoring("examples/openmpi-monitoring/lammps_melt_16", parts="point-to-point")
    <examples/openmpi-monitoring/lammps_melt_16: 16 tasks, 64 directed edges, ... messages>
    """
    if parts not in PARTS:
        raise InputError("parts", f"'{parts}'", ", ".join(PARTS))
    files = rank_files(f"{_run_of(str(path))}.%d.prof", "Open MPI monitoring files")
    rows = np.concatenate(
        [_rows(file, rank, len(files), PARTS[parts]) for rank, file in enumerate(files)]
    )
    rows = rows[(rows[:, 2] > 0) | (rows[:, 3] > 0)]
    source, target = rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int32)
    return process_graph(
        len(files), source, target, bytes=rows[:, 2], messages=rows[:, 3], name=str(path)
    )


def is_monitoring(path: str) -> bool:
    """Tell whether ``path`` is a directory, a glob or a ``.prof`` file.

    Examples
    --------
    >>> is_monitoring("runs/lammps.*.prof"), is_monitoring("lammps.mtx")
    (True, False)
    """
    return _is_glob(path) or Path(path).is_dir() or path.endswith(".prof")


def _is_glob(path: str) -> bool:
    return any(sign in path for sign in "*?[") and not Path(path).exists()


def _run_of(path: str) -> str:
    """Return the run that is meant, ``DIR/NAME``: of a directory, a glob or one of its files."""
    place = Path(path)
    one = _FILE.fullmatch(place.name) if place.is_file() else None
    if one:
        return str(place.parent / one["name"])
    try:
        glob, root = str(place.relative_to(place.anchor)), Path(place.anchor)
        files = list(place.iterdir() if place.is_dir() else root.glob(glob))
    except (OSError, ValueError) as error:  # a folder that may not be read, a glob such as a**b
        raise InputError(path, error, "a directory, a glob or a .prof file") from None
    found = ((file, _FILE.fullmatch(file.name)) for file in files)
    names = sorted({str(file.parent / match["name"]) for file, match in found if match})
    if not names:
        exists = _is_glob(path) or place.exists()
        said = "no Open MPI monitoring files" if exists else "no such file"
        raise InputError(path, said, "files named NAME.<rank>.prof")
    if len(names) > 1:
        listed = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        wanted = f"one run, for example '{names[0]}.*.prof'"
        raise InputError(path, f"{len(names)} runs ({listed})", wanted)
    return names[0]


def _rows(file: Path, rank: int, num_ranks: int, letters: str) -> Floats:
    """Return float64[rows, 4] of one file: sender, receiver, bytes, messages."""
    totals: dict[tuple[int, int], list[int]] = {}  # a line per peer, however often it comes
    for number, line in text_lines(file, wanted="a file of Open MPI's monitoring"):
        where = f"{file}:{number}"
        if line.startswith(_WORLD) and (count := line.count(",") + 1) != num_ranks:
            # the last of more ranks would go unnoticed
            raise InputError(where, f"{count} ranks in MPI_COMM_WORLD", f"{num_ranks}, one a file")
        if line.startswith(_SKIPPED) and line.endswith("\n"):
            continue
        row = _ROW.fullmatch(line)
        if row is None:
            letter = line.split("\t", 1)[0].strip()
            if not line.endswith("\n"):
                found = f"a line that breaks off, '{line[-40:]}'"
                raise InputError(where, found, "a complete file")
            if letter not in _LETTERS:
                raise InputError(where, f"a line of kind '{letter[:20]}'", ", ".join(_LETTERS))
            raise InputError(where, f"'{line.strip()[:60]}'", _ROW_LIKE)
        letter, own, peer, sent, counted = row[1], *map(int, row.group(2, 3, 4, 5))
        if own != rank:
            raise InputError(where, f"rank {own}", f"the file's own, {rank}")
        if peer >= num_ranks:
            wanted = f"0 to {num_ranks - 1}, the ranks that have a file"
            raise InputError(where, f"rank {peer}", wanted)
        if letter in letters:  # what R fetched came from the peer
            total = totals.setdefault((peer, own) if letter == "R" else (own, peer), [0, 0])
            total[0] += sent
            total[1] += counted
    rows = [(*ends, *total) for ends, total in totals.items()]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)
