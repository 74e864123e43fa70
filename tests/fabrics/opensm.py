"""The genuine OpenSM on a simulated subnet: Debian's opensm, ibsim-utils and infiniband-diags.

ibsim simulates the subnet that a file describes; OpenSM and the tools of infiniband-diags believe
that it is theirs. No hardware and no network: processes of this machine only. Several may run at a
time, each simulator at a socket of its own name.
"""

import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import which

import pytest

PROGRAMS = ("opensm", "ibsim", "ibnetdiscover", "dump_fts")
READY = "Network simulator ready"
MOST_SECONDS = 60
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin"


def needs_opensm():
    """Skip where OpenSM is not installed, unless NETLOOM_OPENSM=required says that it must be."""
    missing = [program for program in PROGRAMS if which(program, path=PATH) is None]
    if not _preloaded():
        missing.append("libumad2sim")
    if not missing:
        return
    why = f"{', '.join(missing)}: not installed (make opensm)"
    if os.environ.get("NETLOOM_OPENSM") == "required":
        pytest.fail(f"NETLOOM_OPENSM=required, but {why}")
    pytest.skip(why)


class Subnet:
    """A simulated subnet, and a folder for what programs write."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment

    def run(self, *command):
        """Return what a program prints that believes it is in this subnet."""
        done = subprocess.run(
            [str(word) for word in command], env=self.environment, cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def opensm(self, engine, *options):
        """Let OpenSM configure the subnet once; return what it says of tables, and its dump."""
        log = self.folder / "opensm.log"
        log.unlink(missing_ok=True)
        self.run("opensm", "-R", engine, "-o", "-Q", "-D", "0x43", "-f", log, "--dump_files_dir",
                 self.folder, *options)  # fmt: skip
        said = {line.split(": ")[-1] for line in log.read_text().splitlines()
                if "tables configured" in line}  # fmt: skip
        dump = self.folder / f"{engine}-{token_hex(2)}.lfts"
        (self.folder / "opensm-lfts.dump").rename(dump)
        return said, dump

    @contextmanager
    def managed(self, engine, *options):
        """Let OpenSM configure the subnet and stay, so that it answers ``saquery``."""
        log = self.folder / "managing.log"
        manager = subprocess.Popen(
            ["opensm", "-R", engine, "-D", "0x43", "-d", "2", "-f", str(log), *map(str, options)],
            env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _wait_for("SUBNET UP", manager, log)
            yield
        finally:
            manager.kill()
            manager.wait()

    def scan(self):
        """Return a file of what ibnetdiscover prints."""
        path = self.folder / "ibnetdiscover.txt"
        path.write_text(self.run("ibnetdiscover"))
        return path


@contextmanager
def simulated(fabric, folder):
    """Give the subnet that a file describes, in ibsim's or ibnetdiscover's form."""
    folder.mkdir(exist_ok=True)
    name = f"netloom-{os.getpid()}-{token_hex(4)}"
    environment = {
        **os.environ, "PATH": PATH, "IBSIM_SOCKNAME": name, "OSM_TMP_DIR": str(folder),
        "OSM_CACHE_DIR": str(folder),
    }  # fmt: skip
    log = folder / "ibsim.log"
    with log.open("wb") as output:
        simulator = subprocess.Popen(
            ["ibsim", "-s", "-N", "8192", "-S", "2048", "-P", "131072", str(fabric)],
            env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
    try:
        _wait_for(READY, simulator, log)
        yield Subnet(folder, {**environment, "LD_PRELOAD": _preloaded()})
    finally:
        simulator.stdin.close()
        simulator.kill()
        simulator.wait()


def _wait_for(words, process, log):
    """Wait until a process has written some words."""
    until = time.monotonic() + MOST_SECONDS
    while not log.exists() or words not in log.read_text(errors="replace"):
        if process.poll() is not None or time.monotonic() > until:
            pytest.fail(f"{process.args[0]} does not say '{words}'")
        time.sleep(0.02)


def _preloaded():
    return str(next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), ""))
