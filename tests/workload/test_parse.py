import pytest

from netloom.base.errors import InputError
from netloom.workload import read, ring, write
from netloom.workload.parse import _PATTERNS, PATTERNS
from tests.networks import PROGRAMS


def test_every_pattern_has_an_example_and_is_in_the_message():
    assert set(PROGRAMS) == set(_PATTERNS)
    for name, spec in PROGRAMS.items():
        app = read(spec)
        assert spec.startswith(f"{name}:")
        assert f"{name}:" in PATTERNS
        assert app.num_tasks <= 12
        assert read(app.name).name == app.name


def test_a_name_is_told_in_any_case_and_comes_back_plain():
    assert read(" Mesh:04x4 ").name == "mesh:4x4"


def test_what_exists_is_a_file_whatever_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(ring(5), "ring.csv")
    (tmp_path / "ring.csv").rename("ring:64.csv")
    assert read("ring:64.csv").num_tasks == 5


@pytest.mark.parametrize(
    "name", ["apps/lammps.mtx", "app.mtx.gz", "app.csv", "app.npz", "a.0.prof"]
)
def test_a_misspelt_file_is_missed(name):
    with pytest.raises(InputError, match=f"^{name}: found no such file; expected"):
        read(name)


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ("moebius:8", r"process graph 'moebius:8': found no such file.*binary-tree:255.*\.mtx"),
        ("lammps", "no such file, and no pattern"),
        ("lammps.txt", "no such file, and no pattern"),
        ("", "process graph: found an empty name; expected binary-tree:255"),
        (
            "mesh:" + "x".join("1" * 300),
            r"process graph: found 'mesh:1x1.*' \(File name too long\)",
        ),
        ("mesh", "mesh: found no sides"),
        ("mesh:4xx4", "mesh:4xx4: found ''"),
        ("ring:4x4", "ring:4x4: found '4x4'"),
        ("binary-tree:-1", "'-1'"),
        ("hypercube:1000000", "dimensions"),
        ("bit-reverse:12", "power of two"),
        ("random-regular:64", "1 numbers"),
        ("random-regular:64,4,1,2", "4 numbers"),
        ("random-regular:64,x", "'x'"),
        ("all-to-all", "no size; expected all-to-all:64"),
        ("random-permutation", "no size"),
        ("random-permutation:64,1,2", "3 numbers"),
        ("shift:1,5", "no number of tasks; expected shift:1,5/64"),
        ("shift:1,x/8", "'x'"),
        ("shift:3,11/8", "distances 3, 11 among 8 tasks"),
        ("shift:8/8", "none a multiple of the number of tasks"),
        ("runs/*.0.prof", "no Open MPI monitoring files"),
        ("runs/a**b", "expected a directory, a glob"),
    ],
)
def test_a_wrong_spec_is_one_clear_line(spec, wrong):
    with pytest.raises(InputError, match=wrong) as caught:
        read(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("all-to-all", "all-to-all:8"),
        ("shift:1,5", "shift:1,5/8"),
        ("shift:1/4", "shift:1/4"),
        ("random-permutation", "random-permutation:8,3"),
        ("random-permutation:4", "random-permutation:4,1"),
        ("ring:5", "ring:5"),
    ],
)
def test_a_pattern_without_a_size_takes_the_one_that_is_known(spec, name):
    graph = read(spec, tasks=8, seed=3)
    assert graph.name == name
    again = read(name)
    assert again.target.tolist() == graph.target.tolist()


def test_a_file_of_unknown_kind_is_not_guessed_at(tmp_path):
    file = tmp_path / "app.txt"
    file.write_text("0 1 5\n")
    with pytest.raises(
        InputError, match=r"app\.txt: found a file of unknown kind; expected a file"
    ):
        read(file)


@pytest.mark.parametrize(
    ("name", "options", "wrong"),
    [
        ("ring:8", {"messages": "m.mtx"}, "^messages: found a second matrix with 'ring:8'"),
        ("app.csv", {"messages": "m.mtx"}, "^messages: found"),
        ("a.0.prof", {"messages": "m.mtx"}, "^messages: found"),
        ("ring:8", {"parts": "collectives"}, "^parts: found 'collectives' with 'ring:8'"),
    ],
)
def test_an_option_that_would_be_passed_over_is_refused(name, options, wrong):
    with pytest.raises(InputError, match=wrong):
        read(name, **options)
