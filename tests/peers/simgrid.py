"""The genuine SimGrid (Debian's libsimgrid-dev, 3.32): finish times of flows, to all digits.

Its model CM02 with all corrections off is max-min fair sharing, but for one thing. Where links have
latencies, a flow counts 1 / latency of its path (``by_latency``), as a TCP connection does; where
there are none, all count the same. So links are handed over without latencies, and each flow starts
later by that of its path: when its bytes begin to move, which is all that a latency means to a fair
share. The other way round, a latency of its own gives a flow a weight.
"""

import functools
import hashlib
import os
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path
from shutil import which

import numpy as np
import pytest

SOURCES = Path(__file__).parent
COMPILED = Path(__file__).parents[2] / "out" / "peers"
MOST_SECONDS = 300
UNWEIGHTED_SECONDS = 1e-3
"""Latency of its own that a flow of weight 1 has, where flows have weights."""


def needs_simgrid():
    """Skip where SimGrid is not installed, unless NETLOOM_SIMGRID=required says that it must be."""
    _, why = compiled()
    if not why:
        return
    if os.environ.get("NETLOOM_SIMGRID") == "required":
        pytest.fail(f"NETLOOM_SIMGRID=required, but {why}")
    pytest.skip(why)


@functools.cache
def compiled(name="simgrid_flows"):
    """Return the program, compiled once for all tests, and why there is none, if so."""
    if which("g++") is None:
        return None, "g++: not installed (make simgrid)"
    source = SOURCES / f"{name}.cpp"
    program = COMPILED / f"{name}-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}"
    if program.exists():
        return program, ""
    COMPILED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=COMPILED) as folder:
        new = Path(folder, "program")
        done = subprocess.run(
            ["g++", "-O2", "-std=c++17", str(source), "-o", str(new), "-lsimgrid"],
            capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            error = next((line for line in done.stderr.splitlines() if "error" in line), "no error")
            return None, f"SimGrid 3.32: not installed (make simgrid): {error}"
        new.replace(program)
    return program, ""


def finish_times(bandwidth, latency, routes, start, route_of_flow, size, **options):
    """Return when each flow ends: float64[flows], in seconds (see ``timed_run``)."""
    return timed_run(bandwidth, latency, routes, start, route_of_flow, size, **options)[0]


def timed_run(bandwidth, latency, routes, start, route_of_flow, size, *, rate=None, weight=None,
              by_latency=False, actors=False):  # fmt: skip
    """Return when each flow ends, and the CPU seconds that SimGrid took.

    Links have a bandwidth (bytes/s) and a latency (s), routes are (offsets, links); flows have a
    start (s), a route, a size (whole bytes), a rate limit (bytes/s, 0 where there is none) and a
    weight; or they share by latency. ``actors``: each flow has two of its own.
    """
    bandwidth, latency, start = (np.asarray(a, np.float64) for a in (bandwidth, latency, start))
    offsets, links = (np.asarray(a, np.int64) for a in routes)
    route = np.asarray(route_of_flow, np.int64)
    limit = np.zeros(len(start)) if rate is None else np.asarray(rate, np.float64)
    assert (np.diff(offsets) > 0).all(), "each route has a link"
    assert (np.asarray(size) == np.floor(size)).all(), "SimGrid takes whole bytes"
    taken = [" ".join(map(str, links[a:b].tolist())) for a, b in pairwise(offsets.tolist())]
    hops, later = np.diff(offsets), 0.0
    if not by_latency:
        start = start + np.add.reduceat(latency[links], offsets[:-1])[route]
        latency = np.zeros(len(latency))
    if weight is not None:
        assert not by_latency, "a flow has one weight"
        kinds, kind = np.unique(weight, return_inverse=True)
        own = UNWEIGHTED_SECONDS / kinds
        later = own.max()
        start = start + later - own[kind]
        pairs, route = np.unique(kind * len(taken) + route, return_inverse=True)
        hops = hops[pairs % len(taken)] + 1
        taken = [f"{len(bandwidth) + pair // len(taken)} {taken[pair % len(taken)]}"
                 for pair in pairs.tolist()]  # fmt: skip
        bandwidth = np.append(bandwidth, np.full(len(own), bandwidth.sum() * len(start)))
        latency = np.append(latency, own)
    assert not (limit.any() and latency.any()), "CM02 forgets rate limits where TCP-gamma is 0"
    given = [
        len(bandwidth), *_rows(bandwidth, latency),
        len(taken), *(f"{count} {words}" for count, words in zip(hops, taken, strict=True)),
        len(start), *_rows(start, route, np.asarray(size, np.int64), limit),
    ]  # fmt: skip
    words = (["actors"] if actors else []) + (["full"] if latency.any() else [])
    *finish, seconds = _run("simgrid_flows", "\n".join(map(str, given)), *words)
    assert len(finish) == len(start)
    return np.array(finish) - later, seconds


def zone(topology, parameters, hosts):
    """Return the links and routes of one of SimGrid's clusters, with links of 125 MB/s and 50 us.

    Bandwidths, latencies, and (offsets, links) of the routes from host 0 to 1, 2, ..., 1 to 0, ....
    """
    numbers = iter(_run("simgrid_zones", f"""<?xml version='1.0'?>
        <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
        <platform version="4.1"><zone id="world" routing="Full">
          <cluster id="c" prefix="node-" radical="0-{hosts - 1}" suffix="" speed="1Gf" bw="125MBps"
                   lat="50us" topology="{topology}" topo_parameters="{parameters}"/>
        </zone></platform>"""))  # fmt: skip
    links = np.array([(next(numbers), next(numbers)) for _ in range(int(next(numbers)))])
    routes = [
        [int(next(numbers)) for _ in range(int(next(numbers)))] for _ in range(int(next(numbers)))
    ]
    offsets = np.cumsum([0, *map(len, routes)])
    return links[:, 0], links[:, 1], (offsets, np.concatenate(routes))


def _run(name, given, *words):
    """Return the numbers that one of the programs prints."""
    program, why = compiled(name)
    assert program, why
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "given.xml")
        path.write_text(given)
        done = subprocess.run(
            [str(program), str(path), *words],
            capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 0, f"SimGrid: {done.stderr[-2000:]}"
    return list(map(float, done.stdout.split()))


def _rows(*columns):
    return (" ".join(map(repr, row)) for row in zip(*(np.asarray(c).tolist() for c in columns),
                                                    strict=True))  # fmt: skip
