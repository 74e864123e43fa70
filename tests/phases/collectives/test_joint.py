"""All-reduce by in-trees and out-trees at once: the published gains, constructed and executed."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.phases.collectives.pipelines import Asked
from netloom.phases.collectives.synthesis import joint, synthesised
from netloom.phases.collectives.trees import optimum, packed
from tests.phases.collectives.boxes import a100, box, made, plain
from tests.phases.collectives.verified import faults

GAINS = {
    "line:4": (1.0, 1.5),
    "mesh:3x3": (1.5, 4 / 3),
    "mesh:4x4": (1.6, 1.5),
    "torus:4x4": (32 / 15, 1.0),
    "hypercube:4": (32 / 15, 1.0),
    "petersen": (5 / 3, 1.0),
}


def bandwidth_of(found):
    """Return what trees reach, and the bound, relative to the network's reference rate."""
    unit = found.network.unit
    return float(found.rate * int(found.trees.sum()) * unit), found.upper * float(unit)


@pytest.mark.parametrize("spec", GAINS)
def test_published_optima_are_constructed(spec):
    net, (bandwidth, gain) = plain(spec), GAINS[spec]
    found = joint(net)
    reached, bound = bandwidth_of(found)
    assert reached == pytest.approx(bandwidth, rel=1e-9)
    assert bound == pytest.approx(bandwidth, rel=1e-6)
    after = float(optimum(net).bandwidth) / 2  # reduce-scatter, then all-gather
    assert reached / after == pytest.approx(gain, rel=1e-9)
    assert (found.out + found.into <= net.capacity / float(found.rate)).all()
    rate = float(found.rate)
    assert faults(packed(replace(net, capacity=net.capacity), found.out, found.trees, rate)) == []


@pytest.mark.parametrize(("name", "links"), [("dgx1", 24 / 7), ("ndv2-2", 0.5), ("ndv2-4", 1 / 3)])
def test_boxes_gain_nothing(name, links):
    found = joint(box(name))
    assert bandwidth_of(found) == pytest.approx((links, links), rel=1e-6)


def test_switches_only_forward():
    """With switches that copy 200 GB/s were possible; by ranks alone 173.33 is."""
    found = joint(a100(2))
    assert bandwidth_of(found)[0] * 25 == pytest.approx(520 / 3, rel=1e-9)


@pytest.mark.parametrize("net", ["line:4", "mesh:3x3", "leaf-spine:2x2x4", "dgx1"])
def test_schedules_are_right(net):
    ranks = box(net) if net == "dgx1" else plain(net)
    ranks = replace(ranks, bytes_per_second=25e9, latency=np.full(ranks.num_links, 1e-6))
    assert 0.75 < made(ranks, "all-reduce", 64e6, chunks=64).efficiency <= 1


def test_a_long_all_reduce_on_a_mesh_beats_one_collective_after_the_other():
    ranks = replace(plain("mesh:3x3"), bytes_per_second=25e9)
    finish = made(ranks, "all-reduce", 1e9, chunks=256).finish_seconds
    assert 1e9 / finish > 1.25 * 25e9 * float(optimum(ranks).bandwidth) / 2


def test_chunks_of_few_trees_are_all_equally_large():
    found = synthesised(Asked(box("dgx1"), "all-reduce", 1e9))
    assert np.ptp(found.program.chunk_size) < 1e-12
    assert found.efficiency > 0.9995


def test_what_is_refused():
    with pytest.raises(InputError, match="flows in all"):
        joint(plain("mesh:16x16"))
