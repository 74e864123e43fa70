"""Files of process graphs, read and written, and what is wrong with them."""

import gzip
from pathlib import Path

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from netloom.base.errors import InputError
from netloom.workload import process_graph, read, read_monitoring, ring, write
from netloom.workload.graphs import files

BANNER = "%%MatrixMarket matrix coordinate integer general\n"
NAMES = "source,target,bytes,messages\n"


def table(graph):
    columns = (graph.source, graph.target, graph.bytes, graph.messages)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, **options):
    """The one line with which ``path`` is refused, without its folder."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{path.parent}/", "")


def test_rows_send_and_columns_receive(file):
    path = file("app.mtx", BANNER + "% a comment\n3 3 4\n1 2 50\n3 1 7\n2 2 9\n2 3 0\n")
    graph = read(path)
    assert table(graph) == [(0, 1, 50, 1), (2, 0, 7, 1)]
    assert (graph.num_tasks, graph.name) == (3, str(path))


def test_a_second_matrix_counts_messages_and_brings_edges_of_its_own(file):
    sent = file("app.mtx", BANNER + "3 3 2\n1 2 50\n3 1 7\n")
    counted = file("app.messages.mtx", BANNER + "3 3 2\n1 2 4\n2 1 6\n")
    assert table(read(sent, messages=counted)) == [(0, 1, 50, 4), (1, 0, 0, 6), (2, 0, 7, 0)]


def test_repeated_entries_are_one_edge_and_one_message(file):
    path = file("app.mtx", BANNER + "2 2 2\n1 2 5\n1 2 6\n")
    assert table(read(path)) == [(0, 1, 11, 1)]


@pytest.mark.parametrize(
    "body", ["3 3 2\n3 1 7\n1 2 5\n", "2 2 3\n1 2 5\n1 2 6\n2 1 0\n", "1 1 0\n"]
)
def test_plain_matrices_are_read_as_scipy_reads_them(monkeypatch, file, body):
    path = file("app.mtx", BANNER + "% a comment\n" + body)
    plain = read(path)
    monkeypatch.setattr(files, "_plain_matrix", lambda _: None)
    assert same(read(path), plain)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("coordinate pattern symmetric", "2 2 1\n2 1\n"),
        ("coordinate real general", "2 2 2\n1 2 1.0\n2 1 1e0\n"),
        ("array integer general", "2 2\n0\n1\n1\n0\n"),
    ],
)
def test_other_kinds_of_matrices_and_gzip(file, kind, body):
    text = f"%%MatrixMarket matrix {kind}\n{body}"
    packed = file("app.mtx.gz", gzip.compress(text.encode()))
    for path in (file("app.mtx", text), packed):
        assert table(read(path)) == [(0, 1, 1, 1), (1, 0, 1, 1)]


def test_broken_bytes_are_one_clear_line(file):
    packed = gzip.compress((BANNER + "2 2 1\n1 2 3\n").encode())
    assert "a broken gzip file" in refused(file("app.mtx.gz", packed[:-12]))
    assert "unreadable MatrixMarket" in refused(file("app.mtx.gz", b"junk"))
    table = NAMES.encode() + b"0,1,\xff,1\n"
    assert refused(file("app.csv", table)).startswith(
        "app.csv: found unreadable CSV (invalid utf-8"
    )


def test_a_table_has_named_columns_comments_and_a_number_of_tasks(file):
    text = "# made by hand\n# tasks: 9\n\nbytes, source,target,note\n5,0,1,a\n# one\n\n6,2,0,b\n"
    graph = read(file("app.csv", text))
    assert table(graph) == [(0, 1, 5, 1), (2, 0, 6, 1)]
    assert graph.num_tasks == 9


def test_a_table_from_a_spreadsheet_may_start_with_a_byte_order_mark(file):
    text = "# tasks: 4\n" + NAMES + "0,1,5,1\n"
    assert read(file("app.csv", text.encode("utf-8-sig"))).num_tasks == 4


def test_a_table_without_a_number_of_tasks_ends_at_its_highest(file):
    graph = read(file("app.tsv", NAMES.replace(",", "\t") + "4\t1\t2.5e3\t2\r\n"))
    assert graph.num_tasks == 5
    assert table(graph) == [(4, 1, 2500, 2)]


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_a_sparse_matrix_of_scipy_is_read(tmp_path, form):
    matrix = sparse.coo_array(([50, 7], ([0, 2], [1, 0])), shape=(3, 3)).asformat(form)
    sparse.save_npz(tmp_path / "app.npz", matrix)
    graph = read(tmp_path / "app.npz")
    assert table(graph) == [(0, 1, 50, 1), (2, 0, 7, 1)]


GOOD = {"num_tasks": 3, "source": [0], "target": [1], "bytes": [5.0], "messages": [2]}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"target": [3]}, "app.npz, edge 0: found target task 3; expected 0 to 2"),
        ({"source": [0.5]}, "app.npz, source: found shape (1,) of float64; expected shape (1,) of"),
        ({"bytes": [np.nan]}, "app.npz, edge 0: found bytes = nan"),
        ({"bytes": [1j]}, "app.npz, bytes: found shape (1,) of complex128"),
        ({"messages": [1, 2]}, "app.npz, messages: found shape (2,) of int64"),
        ({"num_tasks": 0}, "app.npz, num_tasks: found '0'"),
        ({"num_tasks": [3]}, "app.npz, num_tasks: found shape (1,) of int64; expected shape ()"),
        ({"num_tasks": 2**40}, "app.npz: found 1099511627776 tasks"),
        ({"source": 0}, "app.npz, source: found shape () of int64; expected shape (1,)"),
        ({"bytes": np.array([None])}, "app.npz: found unreadable NPZ (Object arrays cannot be"),
        ({"format": b"bsr", "data": [1]}, "app.npz: found unreadable NPZ ('indices is not a file"),
    ],
)
def test_a_wrong_archive_is_one_clear_line(tmp_path, change, wrong):
    np.savez(tmp_path / "app.npz", **GOOD | change)
    assert refused(tmp_path / "app.npz").startswith(wrong)


def test_an_index_that_leads_out_of_a_sparse_matrix_is_refused(tmp_path):
    arrays = {"indices": [0, 1], "data": [1.0, 2.0], "shape": [2, 2], "format": b"csr"}
    np.savez(tmp_path / "app.npz", indptr=[0, 900, 2], **arrays)
    assert "unreadable NPZ" in refused(tmp_path / "app.npz")


def test_graphml_keeps_numbers_of_tasks_and_the_order_of_other_labels(tmp_path):
    for labels, wanted in (
        ("210", [(1, 0, 9, 1), (2, 1, 5, 1)]),
        ("zyx", [(0, 1, 5, 1), (1, 2, 9, 1)]),
    ):
        graph = nx.DiGraph()
        graph.add_edge(labels[0], labels[1], bytes=5)
        graph.add_edge(labels[1], labels[2], weight=9)
        nx.write_graphml(graph, tmp_path / "app.graphml")
        assert table(read(tmp_path / "app.graphml")) == wanted


def test_an_undirected_or_plain_graph_is_both_directions_of_one_byte(tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "app.graphml")
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert table(read(tmp_path / "app.graphml")) == [(*pair, 1, 1) for pair in pairs]


@pytest.mark.parametrize(
    ("attributes", "wrong"),
    [
        ({"bytes": -1, "messages": 1}, "app.graphml, edge a -> b: found bytes = -1.0"),
        ({"weight": "many"}, "app.graphml, edge a -> b: found bytes 'many'; expected a number"),
        ({"messages": float("inf"), "bytes": 1}, "app.graphml, edge a -> b: found messages = inf"),
        ({"bytes": 1}, "app.graphml, edge a -> b: found no messages; expected a number"),
        ({}, "app.graphml, edge a -> b: found no bytes; expected a number, as on other edges"),
    ],
)
def test_a_wrong_edge_of_graphml_is_named(tmp_path, attributes, wrong):
    graph = nx.DiGraph()
    graph.add_edge("a", "b", **attributes)
    graph.add_edge("b", "a", bytes=1, messages=1)
    nx.write_graphml(graph, tmp_path / "app.graphml")
    assert refused(tmp_path / "app.graphml").startswith(wrong)


@pytest.mark.parametrize("tail", ["2 1 1%", "2 1 1x", "2 1 1 ", "2 1 1"])
@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_a_last_line_without_an_end(tail, name, tmp_path):
    text = f"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 100\n{tail}".encode()
    file = tmp_path / name
    file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert read(file).bytes.tolist() == [100, 1]


@pytest.mark.parametrize("place", [b"1 2 100\0\n", b"1 2 1\x0000\n", b"1\0 2 100\n"])
def test_a_zero_byte_in_a_matrix_is_refused(tmp_path, place):
    """SciPy's parser takes the process down with it."""
    path = tmp_path / "a.mtx"
    head = b"%%MatrixMarket matrix coordinate integer general\n4 4 2\n"
    path.write_bytes(head + place + b"2 3 100\n")
    with pytest.raises(InputError, match="found a byte that is zero; expected a text"):
        read(path)


# -- written ---------------------------------------------------------------------------------------


FIELDS = ("source", "target", "bytes", "messages")


@st.composite
def graphs(draw):
    """Graphs with tasks that talk to nobody, empty messages, and bytes of unknown messages."""
    num_tasks = draw(st.integers(1, 12))
    task = st.integers(0, num_tasks - 1)
    weight = st.one_of(st.integers(0, 2**60), st.floats(0, 1e300))
    edges = draw(st.lists(st.tuples(task, task, weight, weight), max_size=20))
    columns = np.array([edge for edge in edges if edge[2] + edge[3] > 0], float).reshape(-1, 4).T
    source, target = columns[:2].astype(int)
    return process_graph(num_tasks, source, target, bytes=columns[2], messages=columns[3])


def same(one, other):
    return one.num_tasks == other.num_tasks and all(
        np.array_equal(getattr(one, field), getattr(other, field)) for field in FIELDS
    )


@pytest.mark.parametrize("suffix", ["csv", "tsv", "npz", "graphml"])
def test_what_is_written_is_read_again(tmp_path_factory, suffix):
    path = tmp_path_factory.mktemp("graphs") / f"app.{suffix}"

    @given(graphs())
    def comes_back(graph):
        write(graph, path)
        assert same(read(path), graph)

    comes_back()


@given(graphs())
def test_two_matrices_hold_bytes_and_messages(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("graphs")
    write(graph, folder / "app.mtx", messages=folder / "app.messages.mtx")
    assert same(read(folder / "app.mtx", messages=folder / "app.messages.mtx"), graph)


@pytest.mark.parametrize(
    ("name", "messages", "wrong"),
    [
        ("app.txt", None, r"app\.txt: found suffix '\.txt'; expected \.mtx"),
        ("app", None, r"app: found suffix ''; expected \.mtx"),
        ("app.csv", "m.mtx", r"messages: found 'm\.mtx' with .*app\.csv; expected two \.mtx files"),
        ("app.mtx", "m.csv", "messages: found"),
        ("no/app.mtx", None, r"no/app\.mtx: found a place that cannot be written \(No such file"),
        ("no/app.csv", None, r"no/app\.csv: found a place that cannot be written"),
        ("no/app.npz", None, r"no/app\.npz: found a place that cannot be written"),
        ("no/app.graphml", None, r"no/app\.graphml: found a place that cannot be written"),
    ],
)
def test_what_cannot_be_written_is_one_clear_line(tmp_path, name, messages, wrong):
    with pytest.raises(InputError, match=wrong):
        write(ring(3), tmp_path / name, messages=messages)


# -- Open MPI --------------------------------------------------------------------------------------


ROOT = Path(__file__).parents[3]
LAMMPS = ROOT / "examples/openmpi-monitoring/lammps_melt_16"
MATRICES = Path(__file__).parent / "data"

RANK_0 = """\
# POINT TO POINT
E\t0\t1\t4000 bytes\t2 msgs sent\t0,0,1,1
I\t0\t2\t30 bytes\t3 msgs sent
# OSC
S\t0\t2\t500 bytes\t1 msgs sent
R\t0\t1\t300 bytes\t1 msgs sent
# COLLECTIVES
C\t0\t2\t70 bytes\t7 msgs sent
D\tMPI_COMM_WORLD\tprocs: 0,1,2
O2A\t0\t5685 bytes\t34 msgs sent
A2O\t0\t360 bytes\t3 msgs sent
A2A\t0\t0 bytes\t0 msgs sent
"""


@pytest.fixture
def run(tmp_path):
    for rank, text in enumerate([RANK_0, "# POINT TO POINT\n", "# POINT TO POINT\n"]):
        (tmp_path / f"app.{rank}.prof").write_text(text)
    return tmp_path


def test_a_recorded_run_gives_the_matrices_that_were_made_of_it():
    recorded = read_monitoring(LAMMPS)
    matrices = read(
        MATRICES / "lammps_melt_16.bytes.mtx", messages=MATRICES / "lammps_melt_16.msgs.mtx"
    )
    assert recorded.num_tasks == matrices.num_tasks == 16
    assert table(recorded) == table(matrices)
    assert len(table(recorded)) == 88


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ("network", [(0, 1, 4000, 2), (0, 2, 530, 4), (1, 0, 300, 1)]),
        ("point-to-point", [(0, 1, 4000, 2)]),
        ("collectives", [(0, 2, 30, 3)]),
        ("one-sided", [(0, 2, 500, 1), (1, 0, 300, 1)]),
        ("collective-calls", [(0, 2, 70, 7)]),
    ],
)
def test_parts_of_the_traffic(run, parts, wanted):
    assert table(read_monitoring(run, parts=parts)) == wanted


def test_a_run_is_found_by_directory_by_glob_and_by_any_of_its_files(run):
    (run / "notes.txt").write_text("not a run")
    wanted = table(read(run))
    assert table(read(run / "app.*.prof")) == table(read(run / "app.1.prof")) == wanted


def test_of_several_runs_one_must_be_chosen(run):
    (run / "app.warm.0.prof").write_text("# POINT TO POINT\n")
    with pytest.raises(
        InputError, match=r"2 runs \(.*app, .*app\.warm\).*example '.*app\.\*\.prof'"
    ):
        read(run)
    assert read(run / "app.0.prof").num_tasks == 3
    assert read(run / "app.warm.0.prof").num_tasks == 1


def test_a_missing_file_is_named(run):
    (run / "app.1.prof").unlink()
    with pytest.raises(InputError, match=r"app\.%d\.prof: .* rank 2, and none of rank 1"):
        read(run)
    (run / "app.2.prof").unlink()
    with pytest.raises(InputError, match=r"app\.0\.prof:2: found rank 1; expected 0 to 0"):
        read(run)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("E\t1\t2\t5 bytes\t1 msgs sent\n", "rank 1; expected the file's own, 0"),
        ("R\t1\t0\t5 bytes\t1 msgs sent\n", "rank 1; expected the file's own, 0"),
        ("E\t0\t3\t5 bytes\t1 msgs sent\n", "rank 3; expected 0 to 2"),
        ("E\t0\t1\t5 bytes\t1 msgs sent\t3,0,", "a line that breaks off"),
        ("# COLLECT", "a line that breaks off"),
        ("P\t0\t1\t5 bytes\t1 msgs sent\n", "a line of kind 'P'; expected E, I, S, R"),
        ("\n", "a line of kind ''"),
    ],
)
def test_a_line_that_cannot_be_right_is_named(run, line, wrong):
    with (run / "app.0.prof").open("a") as file:
        file.write(line)
    with pytest.raises(InputError, match=wrong) as caught:
        read(run)
    assert caught.value.where == f"{run / 'app.0.prof'}:13"
    assert "\n" not in str(caught.value)


# -- edges as they are given -----------------------------------------------------------------------


edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 99)), max_size=40)


@given(edges)
def test_edges_are_sorted_added_up_and_lead_to_others(given_edges):
    source, target, sent = np.array(given_edges, int).reshape(-1, 3).T
    graph = process_graph(6, source, target, bytes=sent)
    dense = np.zeros((6, 6))
    np.add.at(dense, (source, target), sent)
    np.fill_diagonal(dense, 0)
    keys = graph.source.astype(int) * 6 + graph.target
    assert np.all(np.diff(keys) > 0)
    assert not np.any(graph.source == graph.target)
    assert graph.bytes.sum() == dense.sum()
    assert np.array_equal(graph.bytes, dense[graph.source, graph.target])


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"source": [0, 3], "target": [1, 1]}, "app, edge 1: found source task 3; expected 0 to 2"),
        ({"source": [0], "target": [-1]}, "app, edge 0: found target task -1"),
        ({"source": [0], "target": [1, 2]}, "app: found targets of shape"),
        ({"source": [0], "target": [1], "bytes": [1, 2]}, "app: found bytes of shape"),
        ({"source": [0], "target": [1], "messages": [-1]}, "app, edge 0: found messages = -1"),
    ],
)
def test_a_wrong_edge_is_named(arguments, wrong):
    with pytest.raises(InputError, match=wrong):
        process_graph(3, **arguments, name="app")
