import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from netloom.base.errors import InputError
from netloom.workload import process_graph, read, ring, write

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


def test_one_matrix_holds_bytes_alone(tmp_path):
    graph = process_graph(4, [0, 1, 2], [1, 0, 1], bytes=[5, 0, 2.5], messages=[7, 1, 1])
    write(graph, tmp_path / "app.mtx")
    again = read(tmp_path / "app.mtx")
    assert again.bytes.tolist() == [5, 2.5]
    assert again.messages.tolist() == [1, 1]
    assert again.num_tasks == 4


def test_whole_numbers_are_written_without_a_point(tmp_path):
    write(ring(3), tmp_path / "app.mtx")
    assert "integer general" in (tmp_path / "app.mtx").read_text()
    write(ring(3), tmp_path / "app.tsv")
    assert (tmp_path / "app.tsv").read_text().splitlines()[2] == "0\t1\t1\t1"


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
