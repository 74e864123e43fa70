"""Files that would take far more memory or time than what they are for are refused in one line.

The limits are lowered, so that the files are small; each test would read one whole without them.
"""

import gzip
import tracemalloc

import numpy as np
import polars as pl
import pytest

from netloom.base import textfiles
from netloom.base.errors import InputError, shown
from netloom.mapping import read_mapping
from netloom.mapping.allocation import allocated_hosts
from netloom.routing.source_routing import read_routes
from netloom.topology import mesh
from netloom.topology.graph import read_graph
from netloom.workload import read
from netloom.workload.graphs import files
from netloom.workload.programs import trace_files
from netloom.workload.programs.trace_files import read_goal, read_trace

MEGABYTE = 2**20


def refused(call, *arguments, **options):
    """Return the one line that says why."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    return str(caught.value)


def peak(call):
    """Return the most bytes that Python and NumPy hold at a time while something is done."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_only_the_arrays_that_are_wanted_are_read(tmp_path):
    arrays = {"num_tasks": 2, "source": [0], "target": [1], "bytes": [5.0]}
    np.savez_compressed(tmp_path / "app.npz", junk=np.zeros(16 * MEGABYTE), **arrays)
    assert peak(lambda: read(tmp_path / "app.npz")) < MEGABYTE


def test_an_archive_that_is_packed_too_well_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_UNPACKED", (MEGABYTE, 100))
    nothing = np.zeros(2 * MEGABYTE)
    whole = nothing.astype(np.int64)
    arrays = {"num_tasks": 2, "source": whole, "target": whole, "bytes": nothing}
    np.savez_compressed(tmp_path / "app.npz", **arrays)
    assert "times its size" in refused(read, tmp_path / "app.npz")
    assert peak(lambda: refused(read, tmp_path / "app.npz")) < MEGABYTE


def test_bytes_are_counted_while_a_matrix_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_UNPACKED", (MEGABYTE, 100))
    head = b"%%MatrixMarket matrix coordinate integer general\n2000 2000 2000000\n"
    path = tmp_path / "app.mtx.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(head + b"1 2 1\n" * 2_000_000)
    assert "bytes; expected at most" in refused(read, path)
    assert peak(lambda: refused(read, path)) < 10 * MEGABYTE


def test_a_matrix_is_no_larger_than_its_size_says(tmp_path):
    path = tmp_path / "app.mtx"
    head = "%%MatrixMarket matrix coordinate integer general\n2 2 1048577\n"
    path.write_text(head + "1 2 1\n" * 1048577)
    assert "1048577 entries in a 2 x 2 matrix" in refused(read, path)


LINES = {
    "trace": (read_trace, "t.csv", "id,source,target,flits\na,0,{},1\n", {}),
    "process graph": (read, "p.csv", "source,target,bytes\n0,1,{}\n", {}),
    "schedule": (read_goal, "s.goal", "num_ranks 2\n{}\n", {"flit_bytes": 8}),
    "mapping": (read_mapping, "m.txt", "0\n{}\n", {}),
    "network": (read_graph, "n.txt", "a b\n{} c\n", {}),
    "nodes": (lambda path: allocated_hosts(path, mesh(2)), "nodes", "0\n{}\n", {}),
    "routes": (lambda path: read_routes(mesh(2), path), "routes", "0 1\n{}\n", {}),
    "recording": (read, "r.0.prof", "# START\n{}\n", {}),
}


@pytest.mark.parametrize("kind", LINES)
def test_long_lines_and_blank_ones_have_a_limit_in_every_text(tmp_path, monkeypatch, kind):
    call, name, text, options = LINES[kind]
    path = tmp_path / name
    monkeypatch.setattr(textfiles, "CHUNK_BYTES", 2**12)
    monkeypatch.setattr(textfiles, "MOST_LINE_BYTES", 2**14)
    path.write_text(text.format("1 " * 10_000))
    wanted = f"{path}:2: found a line of over 16384 bytes; expected shorter lines"
    assert refused(call, path, **options) == wanted
    monkeypatch.setattr(textfiles, "MOST_BLANK_LINES", 2**10)
    path.write_text(text.format("1") + " \r\n" * 5_000)
    assert refused(call, path, **options) == f"{path}: found over 1024 blank lines; expected fewer"


def test_lines_are_measured_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(textfiles, "CHUNK_BYTES", 7)
    monkeypatch.setattr(textfiles, "MOST_LINE_BYTES", 20)
    path = tmp_path / "text"
    for length in range(15, 30):
        path.write_text("short\n" * 3 + "x" * length + "\nshort\n")
        if length <= 20:
            assert len(list(textfiles.text_lines(path, wanted="text"))) == 5
        else:
            assert f"{path}:4" in refused(list, textfiles.text_lines(path, wanted="text"))


def test_a_table_has_no_thousands_of_columns(tmp_path):
    names = ",".join(f"c{number}" for number in range(2000))
    (tmp_path / "t.csv").write_text(f"id,source,target,flits,{names}\n")
    (tmp_path / "p.csv").write_text(f"source,target,bytes,{names}\n")
    assert "2004 columns; expected at most 1024" in refused(read_trace, tmp_path / "t.csv")
    assert "2003 columns; expected at most 1024" in refused(read, tmp_path / "p.csv")
    row = {name: [1] for name in ("id", "source", "target", "flits", *names.split(","))}
    pl.DataFrame(row).write_parquet(tmp_path / "t.parquet")
    assert "2004 columns" in refused(read_trace, tmp_path / "t.parquet")


def test_a_parquet_trace_is_weighed_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(trace_files, "MOST_SAME_ROWS", 2**10)
    rows = pl.DataFrame({"id": "a", "source": 0, "target": "1", "flits": 1})
    path = tmp_path / "t.parquet"
    rows.select(pl.all().repeat_by(10**6).explode()).write_parquet(path)
    assert "1000000 rows in" in refused(read_trace, path)
    monkeypatch.setattr(trace_files, "MOST_BYTES", 2**10)
    rows.with_columns(id=pl.lit("a" * 2000)).write_parquet(path)
    assert "2000 bytes of words" in refused(read_trace, path)


def test_columns_of_a_parquet_trace_that_are_not_known_are_not_read(tmp_path):
    rows = {"id": ["a"], "source": [0], "target": [1], "flits": [2], "Note": ["x" * MEGABYTE]}
    pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
    assert read_trace(tmp_path / "t.parquet").flits.tolist() == [2]


NESTED = "<graphml>" + "<graph>" * 100
ENTITY = "<!DOCTYPE graphml [<!ENTITY a 'aaaa'>]><graphml>&a;</graphml>"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (NESTED, "over 64 elements inside each other"),
        (ENTITY, "an entity 'a' of its own"),
        ("<graphml><graph>" + "<node id='a'/>" * 50, "over 40 XML elements"),
        ("<graphml " + "a" * 3 * MEGABYTE, "a tag of over 1048576 bytes"),
    ],
)
def test_a_graph_in_xml_has_limits(tmp_path, monkeypatch, text, wrong):
    monkeypatch.setattr(textfiles, "MOST_LINE_BYTES", MEGABYTE)
    if "40" in wrong:
        monkeypatch.setattr(textfiles, "MOST_ELEMENTS", 40)
    path = tmp_path / "g.graphml"
    path.write_text(text)
    assert wrong in refused(read, path)
    assert wrong in refused(read_graph, path)


def test_a_comment_without_an_end_is_named_and_found_at_once(tmp_path):
    path = tmp_path / "s.goal"
    path.write_text("num_ranks 2\n/* one */ rank 0 { /* two\n*/\n}\n" + "/* " * 100_000)
    wanted = f"{path}:5: found a comment without an end; expected a line with '*/'"
    assert refused(read_goal, path, flit_bytes=8) == wanted


def test_a_list_of_nodes_names_only_so_many(monkeypatch):
    monkeypatch.setattr("netloom.mapping.allocation.MOST_NAMED", 100)
    assert "over 100 nodes" in refused(allocated_hosts, "0-15," * 20, mesh(16))
    assert sorted(allocated_hosts("(0,1) n[0-1,3],2", mesh(2, 2)).tolist()) == [0, 1, 2, 3]


def test_what_is_echoed_is_short_and_printable():
    error = InputError("a\nb" * 1000, f"'{'x' * 10**6}' and \x1b[31m\ud800", "'" + "y" * 61 + "'")
    assert str(error).isprintable()
    assert len(str(error)) < 1500
    assert error.found == f"'{'x' * 30}…{'x' * 29}' and \\x1b[31m\\ud800"
    assert error.wanted == f"'{'y' * 30}…{'y' * 29}'"
    again = InputError(error.where, error.found, error.wanted)
    assert str(again) == str(error)
    assert shown("a" * 60) == "a" * 60
    whole = "the router's own network, which has more than sixty characters, isn't the user's"
    assert InputError("x", whole).found == whole
