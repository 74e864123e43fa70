import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from netloom.base.errors import InputError
from netloom.experiments.findings import load_results
from netloom.experiments.runner import Workers, answer, run
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


HURT = """
import os, signal, sys
from pathlib import Path
from netloom.cli import main
from netloom.experiments.store import Store
from tests.experiments.test_runner import children

def workers():
    return [each for each in children(os.getpid())
            if b"loky.backend.popen" in Path(f"/proc/{{each}}/cmdline").read_bytes()]

def note_children(path):
    Path(path).write_text(" ".join(map(str, children(os.getpid()))))

kept, keep = [], Store.keep

def keep_and_hurt(self, point, answer):
    keep(self, point, answer)
    kept.append(point)
    if len(kept) == {times}:
        {hurt}

Store.keep = keep_and_hurt
sys.argv = ["netloom", "run", *{arguments!r}]
main()
"""


def hurt_after(times: int, hurt: str, file: Path, store: Path, *options: str) -> list[str]:
    """The command of a run to which something happens once so many answers are kept."""
    arguments = [str(file), "--store", str(store), *options]
    return [sys.executable, "-c", HURT.format(times=times, hurt=hurt, arguments=arguments)]


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run of ``LONG`` finds that nothing happens to."""
    folder = tmp_path_factory.mktemp("whole")
    return run(write(folder, LONG), store=folder / "whole.sqlite", workers=2)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_kill_9_loses_nothing_that_was_finished(tmp_path, whole):
    file, store = write(tmp_path, LONG), tmp_path / "killed.sqlite"
    noted = tmp_path / "children"
    last = f"note_children({str(noted)!r}); os.kill(os.getpid(), signal.SIGKILL)"
    dies = hurt_after(3, last, file, store)
    killed = subprocess.run(dies, stdout=subprocess.DEVNULL, check=False)
    assert killed.returncode == -signal.SIGKILL
    before = answered(store)
    assert len(before) == 3 < len(whole.answered)
    started = [int(each) for each in noted.read_text().split()]
    assert len(started) >= 2
    wait_for(lambda: not any(map(is_running, started)))  # workers do not outlive it
    subprocess.run(command(file, store), check=True, stdout=subprocess.DEVNULL)
    after = answered(store)
    assert before.items() <= after.items()  # none of them was computed again
    assert load_results(store).table().equals(whole.table())


def test_ctrl_c_keeps_what_is_finished_and_says_so(tmp_path):
    file, store = write(tmp_path, LONG), tmp_path / "stopped.sqlite"
    everyone = "os.killpg(0, signal.SIGINT)"  # as a terminal does: to the workers as well
    stopped = subprocess.run(
        hurt_after(2, everyone, file, store), stderr=subprocess.PIPE, text=True,
        start_new_session=True, check=False,
    )  # fmt: skip
    assert stopped.returncode == 130
    said = "netloom: stopped; finished points are kept, and the same command goes on"
    assert stopped.stderr == f"{said} ({store})\n"
    kept = answered(store)
    assert len(kept) >= 2
    for key in kept:
        with Store(store) as opened:
            assert '"interrupted": true' not in opened.answer(key).figures


def test_two_processes_share_the_work(tmp_path, whole):
    file, store = write(tmp_path, LONG), tmp_path / "shared.sqlite"
    both = [
        subprocess.Popen(command(file, store, "--workers", "1"), stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [each.wait(timeout=200) for each in both] == [0, 0]
    assert load_results(store).table().equals(whole.table())
    with Store(store) as opened:
        assert opened._db.execute("SELECT count(*) FROM claims").fetchone() == (0,)


@pytest.fixture
def work_here(monkeypatch):
    """Have a function answer points, in a thread of this process."""

    def use(work):
        @contextmanager
        def one_thread(_=None):
            with ThreadPoolExecutor(1) as executor:
                yield Workers(executor, lambda: 1, elsewhere=False)

        monkeypatch.setattr(sys.modules["netloom.experiments.runner"], "local_workers", one_thread)
        monkeypatch.setattr(sys.modules["netloom.experiments.runner"], "work", work)

    return use


CURVE = "[[simulate]]\non='mesh:4x4'\nload={}\ncycles=300\nknee=2\n"


@pytest.mark.parametrize("loads", [([0.3, 0.9], [0.3, 0.9]), ([0.3, 0.5, 0.6], [0.2, 0.8])])
def test_curves_that_meet_at_the_knee_are_each_complete(tmp_path, work_here, loads):
    def behind_past(asked):
        return answer(asked)._replace(saturated=asked.fields["load"] > 0.5)

    work_here(behind_past)
    alone = {}
    for place, each in enumerate(loads):
        found = run(write(tmp_path / str(place), CURVE.format(each)))
        alone[place] = [one.point.level for one in found.answered]
        assert len(alone[place]) > 2
    together = run(write(tmp_path / "both", "".join(map(CURVE.format, loads))))
    for place, section in enumerate(("simulate", "simulate#2")):
        levels = [e.point.level for e in together.answered if e.point.section == section]
        assert levels == alone[place]


def test_a_bug_ends_its_curve_only_and_says_where_it_is(tmp_path, work_here):
    def sometimes(asked):
        if asked.fields["nodes"] == 64:
            raise ZeroDivisionError
        return answer(asked)

    work_here(sometimes)
    file = write(tmp_path, "[predict.wiring]\nnodes=[16, 64, 256, 1024]")
    with pytest.raises(ZeroDivisionError) as caught:
        run(file)
    assert caught.value.__notes__ == ["at the point [predict.wiring] {'nodes': 64}"]
    assert len(answered(tmp_path / "small.sqlite")) == 3
    work_here(answer)
    assert len(run(file).answered) == 4


def test_a_file_that_changes_meanwhile_is_not_answered_under_its_old_content(tmp_path, work_here):
    file = write(tmp_path, "[analyze]\non='mesh:2x2'\napp='ring.mtx'\n")

    def changing(asked):
        (tmp_path / "ring.mtx").write_text("other")
        return answer(asked)

    work_here(changing)
    with pytest.raises(InputError, match=r"ring\.mtx: found a file that was changed"):
        run(file)
    assert not answered(tmp_path / "small.sqlite")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_a_worker_that_is_killed_is_told_in_one_line(tmp_path):
    text = LONG + "\n[predict.wiring]\nnodes=64\n"
    file, store = write(tmp_path, text.replace("60_000", "9_000_000")), tmp_path / "s.sqlite"
    murder = "os.kill(workers()[0], signal.SIGKILL)"
    ended = subprocess.run(
        hurt_after(1, murder, file, store, "--workers", "2"), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    said = "\nnetloom: workers: found one that died (SIGKILL(-9)); expected fewer"
    assert said in f"\n{ended.stderr}"  # progress may be said before
    assert "Traceback" not in ended.stderr


def test_another_run_of_a_file_that_was_changed_does_not_hide_this_one(tmp_path, work_here):
    store = tmp_path / "s.sqlite"
    first = write(tmp_path / "first", "[predict.wiring]\nnodes=[16, 64]")
    other = write(tmp_path / "other", "[predict.wiring]\nnodes=256")

    def meanwhile(asked):
        if asked.fields["nodes"] == 64:
            work_here(answer)
            run(other, store=store)
        return answer(asked)

    work_here(meanwhile)
    assert len(run(first, store=store).answered) == 2


def test_only_what_is_new_is_computed_by_however_many(tmp_path):
    file, store = write(tmp_path), tmp_path / "small.sqlite"
    one = run(file, workers=1).table()
    before = answered(store)
    assert run(file, workers=2).table().equals(one)
    assert answered(store) == before
    assert run(file, store=tmp_path / "other.sqlite", workers=2).table().equals(one)
    twice = SWEEP.replace("mesh:4x4", "mesh:3x4") + "[[predict.wiring]]\nnodes = 64\n" * 2
    found = run(write(tmp_path, twice), workers=1)
    after = answered(store)
    assert before.items() < after.items()
    assert "mesh:4x4" not in found.table()["on"].to_list()
    alike = [each.point for each in found.answered if each.point.verb == "predict_wiring"]
    assert [point.section for point in alike] == ["predict.wiring", "predict.wiring#2"]
    assert alike[0].key == alike[1].key
