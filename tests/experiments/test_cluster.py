import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from netloom.base.errors import InputError
from netloom.experiments.findings import load_results
from netloom.experiments.runner import run
from tests.experiments.small import write
from tests.experiments.test_runner import LONG, answered, hurt_after, wait_for

pytest.importorskip("distributed")

LOCAL = ["--host", "127.0.0.1"]


@pytest.fixture
def processes():
    """Processes that a test starts, and that are stopped in the end."""
    started: list[subprocess.Popen] = []
    yield started
    for each in started:
        each.kill()
        each.wait()


def start(processes, folder, program, *arguments):
    command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
    with (folder / f"{len(processes)}.log").open("w") as log:
        processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=folder))
    return processes[-1]


def start_scheduler(processes, folder) -> str:
    file = folder / "scheduler.json"
    start(
        processes, folder, "dask_scheduler",
        "--port", "0", "--no-dashboard", "--scheduler-file", str(file), *LOCAL,
    )  # fmt: skip
    wait_for(lambda: file.exists() and file.read_text().strip().endswith("}"), 60)
    return json.loads(file.read_text())["address"]


def start_worker(processes, folder, address):
    return start(
        processes, folder, "dask_worker", address,
        "--nthreads", "1", "--no-nanny", "--no-dashboard",
    )  # fmt: skip


def test_a_cluster_that_loses_a_worker_finds_the_same(tmp_path, processes):
    file = write(tmp_path, LONG + "\n[analyze]\non = 'mesh:2x2'\napp = 'ring.mtx'\n")
    expected = run(file, store=tmp_path / "here.sqlite", workers=2)
    store, elsewhere = tmp_path / "there.sqlite", tmp_path / "elsewhere"
    elsewhere.mkdir()
    address = start_scheduler(processes, elsewhere)
    lost, _ = (start_worker(processes, elsewhere, address) for _ in range(2))
    murder = f"os.kill({lost.pid}, signal.SIGKILL)"
    command = hurt_after(2, murder, file, store, "--cluster", address)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    assert lost.wait() == -signal.SIGKILL
    assert len(answered(store)) > 2
    assert load_results(store).table().equals(expected.table())


def test_a_scheduler_that_dies_is_one_line_and_what_is_finished_stays(tmp_path, processes):
    file, store = write(tmp_path, LONG), tmp_path / "there.sqlite"
    address = start_scheduler(processes, tmp_path)
    scheduler = processes[-1]
    start_worker(processes, tmp_path, address)
    command = [sys.executable, "-m", "netloom", "run", str(file), "--store", str(store)]
    running = subprocess.Popen(
        [*command, "--cluster", address], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    processes.append(running)
    wait_for(lambda: store.exists() and len(answered(store)) >= 1)
    scheduler.send_signal(signal.SIGKILL)
    said = running.communicate(timeout=200)[1].decode().splitlines()
    assert running.returncode == 1
    assert said == [
        "netloom: cluster: found a scheduler that no longer answers; expected one that runs; "
        "finished points are kept: run it again"
    ]
    assert answered(store)


def test_nobody_there(tmp_path):
    with pytest.raises(InputError, match=r"tcp://127\.0\.0\.1:9"):
        run(write(tmp_path), cluster="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match="none: it has its own"):
        run(write(tmp_path), cluster="tcp://127.0.0.1:9", workers=2)


SBATCH = """#!{python}
import subprocess, sys, pathlib
script = pathlib.Path(sys.argv[-1]).read_text()  # it is gone once this has ended
job = subprocess.Popen(["bash", "-c", script], start_new_session=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
with pathlib.Path({jobs!r}).open("a") as file:
    print(job.pid, file=file)
print(job.pid)
"""

JOBQUEUE = """
jobqueue:
  slurm:
    cores: 1
    processes: 1
    memory: 2GiB
    walltime: "00:10:00"
    interface: lo
    shebang: "#!/usr/bin/env bash"
    log-directory: null
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs the loopback interface named lo")
def test_slurm_jobs_become_workers(tmp_path):
    """A stand-in for Slurm's commands runs every job here, as it would on some node."""
    pytest.importorskip("dask_jobqueue")
    programs, settings, jobs = tmp_path / "bin", tmp_path / "config", tmp_path / "jobs"
    programs.mkdir()
    settings.mkdir()
    (settings / "jobqueue.yaml").write_text(JOBQUEUE)
    for name, text in (
        ("sbatch", SBATCH.format(python=sys.executable, jobs=str(jobs))),
        ("scancel", f"#!{shutil.which('bash')}\nkill -- -$1\n"),
    ):
        path = programs / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    file = write(tmp_path, "[simulate]\non='mesh:4x4'\nload=[0.1, 0.2]\ncycles=500\n")
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "DASK_CONFIG": str(settings),
    }
    command = [sys.executable, "-m", "netloom", "run", str(file), "--cluster", "slurm"]
    found = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert found.returncode == 0, found.stderr
    assert len(jobs.read_text().split()) == 1
    assert len(load_results(file).answered) == 2
