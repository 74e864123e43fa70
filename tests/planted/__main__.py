"""See tests/planted/__init__.py."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from netloom.base import kept_kernels
from tests.check import nearest_tests
from tests.planted import LIST, listed, places

TOGETHER = 4
"""Files that one process runs."""

MOST_SECONDS = 300
"""Processor time for the tests of one fault. Further files are not run then."""

MOST_SECONDS_TOGETHER = 600
"""Processor time of one process. A program that a fault makes run on and on ends then."""


def copied(folder):
    """Copy the project, and link the kernels that were compiled for it."""
    told = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    for name in told.stdout.splitlines():
        if Path(name).is_file():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, Path(folder, name))
    kernels = folder / "kernels" / "netloom-kernels"
    if kept_kernels.folder().is_dir():
        shutil.copytree(kept_kernels.folder(), kernels, copy_function=os.link)
    paths = os.pathsep.join([str(folder / "src"), str(folder)])
    return dict(os.environ, PYTHONPATH=paths, XDG_CACHE_HOME=str(folder / "kernels"), CI="true")


def used():
    """Processor time of all processes that ended."""
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime


def limited():
    """Let a process end when its time is over."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS_TOGETHER, MOST_SECONDS_TOGETHER))


def result(folder, environment, files):
    """Run test files until one fails. Return what is said of that, and whether one did."""
    began = used()
    for first in range(0, len(files), TOGETHER):
        if used() - began > MOST_SECONDS:
            return f"not found by {first} of {len(files)} files", False
        some = [str(each) for each in files[first : first + TOGETHER]]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
        told = subprocess.run(
            [*command, *some], cwd=folder, env=environment, capture_output=True, text=True,
            preexec_fn=limited, check=False,
        )  # fmt: skip
        if told.returncode not in (0, 5):  # 5: there are no tests
            failed = [each for each in told.stdout.splitlines() if each.startswith("FAILED")]
            test = failed[0].split(" ")[1] if failed else f"the end of {' '.join(some)}"
            return f"found: {test}", True
    return f"not found by {len(files)} files", False


def main(part=""):
    """Plant each fault and print what finds it."""
    found = total = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        environment = copied(folder)
        where = places(Path("src"))
        for fault in listed():
            if part not in fault.says + fault.line:
                continue
            (file,) = where[fault.line]
            right = (folder / file).read_text()
            spoiled = (
                each.replace(fault.line, fault.spoiled) if each.strip() == fault.line else each
                for each in right.splitlines(keepends=True)
            )
            (folder / file).write_text("".join(spoiled))
            said, was_found = result(folder, environment, nearest_tests([file]))
            (folder / file).write_text(right)
            found, total = found + was_found, total + 1
            sys.stdout.write(f"{fault.says}\n    {fault.line}\n    {said}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{found} of {total} found, in {used() / 60:.0f} minutes of processor time\n")


if __name__ == "__main__":
    assert LIST.is_file()
    main(*sys.argv[1:])
