from pathlib import Path

import pytest

from netloom.base.errors import InputError
from netloom.workload import read, read_monitoring

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


def table(graph):
    columns = (graph.source, graph.target, graph.bytes, graph.messages)
    return list(zip(*(column.tolist() for column in columns), strict=True))


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
    with pytest.raises(InputError, match=r"app\.1\.prof: found no such file.*ranks 0 to 2"):
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


def test_parts_are_known_by_name(run):
    with pytest.raises(InputError, match="parts: found 'all'; expected network, point-to-point"):
        read(run, parts="all")


def test_a_lost_last_file_is_noticed(run):
    (run / "app.2.prof").unlink()
    (run / "app.0.prof").write_text("D\tMPI_COMM_WORLD\tprocs: 0,1,2\n")
    with pytest.raises(InputError, match=r"app.0.prof:1: found 3 ranks in MPI_COMM_WORLD"):
        read_monitoring(run)
