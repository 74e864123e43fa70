"""Forwarding tables of the genuine OpenSM on eight fabrics, and the figures of each.

``data/fabrics.tar.xz``: OpenSM 3.3.23 routed fabrics that ibsim 0.10 simulated, with each of its
engines; ``<fabric>/ibnetdiscover.txt`` is what it found there, ``<fabric>/<engine>.lfts`` its dump
(``same.json`` says which dump is that of another engine: where OpenSM fell back to minhop, or two
engines agree). ``golden.json`` has the figures, computed from the dumps by other programs than
netloom; effective bisection from 1000 random matchings. Nothing here comes from a real machine.
"""

import json
import tarfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from netloom.fabrics.figures import fabric_size, table_figures
from netloom.routing.forwarding.engines import ENGINES, would_fall_back
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import lane_circle, lanes_used
from netloom.topology import topology

ARCHIVE = Path(__file__).parent / "data" / "fabrics.tar.xz"
with tarfile.open(ARCHIVE) as archive:
    GOLDEN = json.load(archive.extractfile("golden.json"))
    SAME = json.load(archive.extractfile("same.json"))
FABRICS = sorted({row.split("/")[0] for row in GOLDEN})
SIGMAS = 4.5


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    """Return functions for a fabric, and for a dump of its tables with its figures."""
    folder = tmp_path_factory.mktemp("fabrics")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")

    @cache
    def fabric(name):
        return topology(f"fabric:{folder / name / 'ibnetdiscover.txt'}")

    @cache
    def dump(row):
        net = fabric(row.split("/")[0])
        table = read_lfts(net, str(folder / f"{row}.lfts"))
        return table, table_figures(net, table)

    return fabric, lambda row: dump(SAME.get(row, row))


@pytest.mark.parametrize("row", GOLDEN)
def test_figures_of_a_dump_are_the_golden_ones(golden, row):
    expected, (_, found) = GOLDEN[row], golden[1](row)
    size = fabric_size(golden[0](row.split("/")[0]), found.taking)
    assert size.hosts == expected["hosts"]
    assert size.switches == expected["switches"]
    assert found.unrouted == expected["unrouted"]
    assert round(found.switch_hops.mean, 4) == pytest.approx(expected["switch_hops_mean"])
    assert found.switch_hops.max == expected["switch_hops_max"]
    assert found.all_to_all.max == expected["a2a_max"]
    assert found.all_to_all.mean == pytest.approx(expected["a2a_mean"], abs=0.00051)
    shifts = found.largest_of_shifts
    assert len(shifts) == size.hosts - 1
    assert shifts.max() == expected["shift_max"]
    assert shifts.mean() == pytest.approx(expected["shift_mean"], abs=0.00051)
    sampling = expected["ebb_sd"] * np.sqrt(2 / 1000)
    half = found.effective_bisection
    assert half.mean == pytest.approx(expected["ebb"], abs=SIGMAS * sampling)
    assert half.sd == pytest.approx(expected["ebb_sd"], rel=0.15)
    assert bool(found.circle) == expected["credit_loop_1vl"]


@pytest.mark.parametrize("row", GOLDEN)
def test_engines_make_the_tables_that_are_dumped(golden, row):
    name, engine = row.split("/")
    net, (dumped, _) = golden[0](name), golden[1](row)
    configured = GOLDEN[row]["configured"]
    assert bool(would_fall_back(net, engine)) == (configured != engine)
    made = ENGINES[configured](net)
    assert np.array_equal(made.next_channel, dumped.next_channel)
    assert np.array_equal(made.others, dumped.others)
    if engine in {"dfsssp", "nue"}:
        assert lane_circle(net, made) == ()


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        ("dragonfly_p2a4h2", [1720, 60]),
        ("hypercube5", [443, 151, 50, 5]),
        ("k4n3", []),
        ("leafspine_8x4x8", []),
        ("mesh4x4", [35]),
        ("torus444", [1633, 752, 419, 254, 141, 28]),
    ],
)
def test_dfsssp_moves_as_many_paths_as_the_genuine_one_logs(golden, name, moved):
    net = golden[0](name)
    made = ENGINES["dfsssp"](net)
    assert lanes_used(made) == len(moved) + 1
    hosts = np.bincount(net.injection_router, minlength=net.num_routers)
    paths = np.bincount(
        made.lanes.level.ravel(), np.tile(hosts, len(made.lanes.level)), len(moved) + 1
    )
    assert paths[1:].tolist() == moved
