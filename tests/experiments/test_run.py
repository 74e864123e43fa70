import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netloom.errors import InputError
from netloom.experiments.results import load_results
from netloom.experiments.run import run
from netloom.experiments.store import Store
from tests.experiments.small import SWEEP, write

LONG = """
[simulate]
on = ["torus:4x4", "mesh:4x4"]
load = "0.1:0.9:0.1"
cycles = 60_000
knee = 1
"""
"""Some twenty points of about a tenth of a second."""


def command(file: Path, store: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "netloom", "run", str(file), "--store", str(store), *options]


def answered(store: Path) -> dict[str, str]:
    """When each point was finished."""
    with Store(store) as opened:
        rows = opened._db.execute("SELECT key, finished || wall_seconds FROM answers")
        return dict(rows.fetchall())


def wait_for(what, seconds=120.0):
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    return found


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(path.parent.name))
        except (OSError, ValueError):
            continue
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_kill_9_loses_nothing_that_was_finished(tmp_path):
    file, store = write(tmp_path, LONG), tmp_path / "killed.sqlite"
    expected = run(file, store=tmp_path / "whole.sqlite", workers=2)
    process = subprocess.Popen(command(file, store), stdout=subprocess.DEVNULL)
    wait_for(lambda: store.exists() and len(answered(store)) >= 3)
    started = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = answered(store)
    assert 3 <= len(before) < len(answered(tmp_path / "whole.sqlite"))
    wait_for(lambda: not any(map(is_running, started)), 20)  # workers do not outlive it
    subprocess.run(command(file, store), check=True, stdout=subprocess.DEVNULL)
    after = answered(store)
    assert before.items() <= after.items()  # none of them was computed again
    assert load_results(store).table().equals(expected.table())


def test_ctrl_c_keeps_what_is_finished_and_says_so(tmp_path):
    file, store = write(tmp_path, LONG), tmp_path / "stopped.sqlite"
    process = subprocess.Popen(
        command(file, store), stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(lambda: store.exists() and answered(store))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == f"netloom: stopped; finished points are kept, and the same command goes on " \
        f"({store})\n"  # fmt: skip
    for key in answered(store):
        with Store(store) as opened:
            assert '"interrupted": true' not in opened.answer(key).figures


def test_two_processes_share_the_work(tmp_path):
    file, store = write(tmp_path, LONG), tmp_path / "shared.sqlite"
    both = [
        subprocess.Popen(command(file, store, "--workers", "1"), stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [each.wait(timeout=200) for each in both] == [0, 0]
    alone = run(file, store=tmp_path / "alone.sqlite", workers=2)
    assert load_results(store).table().equals(alone.table())
    with Store(store) as opened:
        assert opened._db.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_results_do_not_depend_on_how_many_work(tmp_path):
    file = write(tmp_path)
    one, three = (
        run(file, store=tmp_path / f"{count}.sqlite", workers=count).table() for count in (1, 3)
    )
    assert one.equals(three)


def test_a_second_run_computes_nothing(tmp_path, monkeypatch):
    file = write(tmp_path)
    first = run(file, workers=2).table()

    def nobody(*_):
        raise AssertionError("no workers are needed")

    monkeypatch.setattr(sys.modules["netloom.experiments.run"], "local_workers", nobody)
    assert run(file).table().equals(first)


def test_only_what_is_new_is_computed(tmp_path):
    file = write(tmp_path)
    run(file, workers=2)
    before = answered(tmp_path / "small.sqlite")
    run(write(tmp_path, SWEEP.replace("mesh:4x4", "mesh:3x4")), workers=2)
    after = answered(tmp_path / "small.sqlite")
    assert before.items() < after.items()


def test_a_point_of_two_tables_is_computed_once(tmp_path):
    text = "[[analyze]]\non='mesh:2x2'\napp='ring:4'\n[[analyze]]\non='mesh:2x2'\napp='ring:4'\n"
    found = run(write(tmp_path, text), workers=2)
    assert [each.point.section for each in found.answered] == ["analyze", "analyze#2"]
    assert len(answered(tmp_path / "small.sqlite")) == 1


@pytest.mark.parametrize("workers", [0, -1, 10**6])
def test_workers_must_be_some(tmp_path, workers):
    with pytest.raises(InputError, match="workers"):
        run(write(tmp_path), workers=workers)
