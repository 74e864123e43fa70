"""How commands end when the machine, not the user, is in the way; and where nothing can be kept."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import netloom
from netloom.base.errors import InputError
from netloom.cli.edge import run_guarded
from tests.docs.shown_output import PROGRESS

SOURCE = Path(netloom.__file__).parent


def run(shell, tmp_path, **environment):
    """Run a shell command in which $netloom is the program."""
    settings = {
        "netloom": f"{sys.executable} -m netloom",
        "PYTHONPATH": str(SOURCE.parent),
        "PATH": os.environ["PATH"],
        **environment,
    }
    command = ["bash", "-c", f"set -o pipefail; {shell}"]
    return subprocess.run(
        command, capture_output=True, cwd=tmp_path, env=settings, check=False,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shell", "code", "said"),
    [
        ("$netloom machines > /dev/full", 1, "netloom: standard output: No space left on device\n"),
        ("$netloom --help > /dev/full", 1, "netloom: standard output: No space left on device\n"),
        ("$netloom machines >&-", 0, ""),
        ("$netloom machines >&- 2>&- <&-", 0, ""),
        ("$netloom schema | true", 141, ""),
        ("$netloom machines | true", 141, ""),
        ("$netloom simulate --help | true", 141, ""),
    ],
)  # fmt: skip
def test_output_that_nobody_takes(shell, code, said, tmp_path):
    done = run(shell, tmp_path)
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_terminals_that_lack_characters(encoding, tmp_path):
    caches = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")  # of kernels
    settings = {name: os.environ[name] for name in caches if name in os.environ}
    settings["PYTHONIOENCODING"] = encoding
    done = run("$netloom predict latency --on mesh:2x2 --offered 0.1", tmp_path, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert "model error" in done.stdout
    done = run("$netloom predict wiring --help", tmp_path, **settings)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("x", "a\nb", "c"), 2, "netloom: x: found a\\nb; expected c\n"),
        (MemoryError("Unable to allocate 8 GiB"), 1,
         "netloom: memory does not suffice (Unable to allocate 8 GiB): "
         "ask for something smaller, or raise limits\n"),
        (RuntimeError("can't start new thread"), 1,
         "netloom: memory does not suffice (can't start new thread): "
         "ask for something smaller, or raise limits\n"),
        (OSError(28, "No space left on device", "a.csv"), 1,
         "netloom: a.csv: No space left on device\n"),
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 141, ""),
    ],
)  # fmt: skip
def test_one_edge_for_failures(error, code, said, monkeypatch):
    heard = io.StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    def fail():
        raise error

    assert run_guarded(fail) == code
    assert heard.getvalue() == said


def test_a_bug_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(ZeroDivisionError):
        run_guarded(lambda: 1 / 0)


def test_long_and_strange_values_are_one_short_line():
    error = InputError("x" * 9000, "\x1b[2J" + "y" * 9000, "z")
    assert len(str(error)) < 1500
    assert str(error).isprintable()


def frozen_copy(folder):
    """Return a copy of netloom beside whose modules nothing can be kept, even by root."""
    for file in SOURCE.parent.glob("netloom*/**/*"):
        copy = folder / file.relative_to(SOURCE.parent)
        if "__pycache__" in file.parts:
            continue
        if file.is_dir():
            copy.mkdir(parents=True)
        else:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(file)
    for place in [each for each in folder.glob("netloom*/**/") if each.is_dir()]:
        (place / "__pycache__").touch()
    return folder


@pytest.mark.parametrize("temporary", [True, False])
def test_a_read_only_installation_without_a_home(temporary, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    settings = {"PYTHONPATH": str(frozen_copy(tmp_path)), "HOME": "/dev/null"}
    settings |= {"XDG_CACHE_HOME": "/dev/null/cache", "TMPDIR": str(folder)}
    if not temporary:  # a stranger's folder is in the way: kernels are code, none is taken from it
        (folder / f"netloom-kernels-{os.getuid()}").mkdir()
        (folder / f"netloom-kernels-{os.getuid()}").chmod(0o777)
    for _ in range(1 + temporary):
        done = run("$netloom analyze ring:4 --on mesh:2x2 --json", tmp_path, **settings)
        assert done.returncode == 0, done.stderr
        (line,) = PROGRESS.sub("", done.stderr).splitlines()
        assert line.startswith("netloom: neither the installation nor the home folder can be")
        assert ("kept in" if temporary else "compiled anew") in line
    assert bool(list(folder.glob("netloom-kernels-*/*"))) == temporary
