"""An answer records its question, so that it can be asked again, whatever objects it was given."""

import json
from dataclasses import replace

import numpy as np
import pytest

import netloom as nl
from netloom.machines import machine
from netloom.routing import DimensionOrder, Layered, UpDown, table
from netloom.simulation.network.routers import Router
from netloom.topology import mesh, topology, torus, without
from netloom.workload import parse_lengths, parse_traffic, read, ring
from netloom.workload.traffic import pairs, permutation, uniform, with_rates
from tests.questions.small_answers import ANSWERS

LOAD = {"load": 0.1, "cycles": 600}
MIRRORED = permutation(np.arange(16)[::-1])
LAMMPS = "examples/lammps-64.mtx"
MONITORED = "examples/openmpi-monitoring/lammps_melt_16"
LEAVES = "leaf-spine:3x2x4"
NO_LINK = without(mesh(4, 4), channels="5->6", nodes="3")

SIMULATED = [
    ("mesh:4x4", {"router": Router(vcs=2, oldest_first=True), "buffer_flits": 5}),
    (mesh(4, 4), {"traffic": pairs(16, [0, 0, 3], [15, 1, 2], weights=[1, 2, 4])}),
    ("mesh:4x4", {"traffic": MIRRORED}),
    ("mesh:4x4", {"traffic": with_rates(uniform(16), [4, *[1] * 15])}),
    (machine("symult2010:4x4"), {}),
    ("mesh:8x8", {"app": read(LAMMPS), "mapping": np.arange(64)[::-1]}),
    ("mesh:4x4", {"routing": DimensionOrder((1, 0))}),
    ("mesh:4x4", {"packet_flits": parse_lengths("uniform:1-9")}),
    ("mesh:4x4", {"app": ["ring:4@0-3", (read("ring:4"), np.arange(4, 8))]}),
    ("mesh:4x4", {"app": ("mesh:2x4@0-7", "ring:6@8-15"), "mapping": "random", "seed": 3}),
    ("mesh:4x4", {"app": "ring:4@0-2,7", "alone": False}),
    ("mesh:4x4", {"app": [ring(16)]}),
    ("mesh:4x4", {"failed_channels": "5-6,9->10", "failed_nodes": "3"}),
    ("symult2010:4x4", {"failed_channels": "(0,1)-(0,2)"}),
    (mesh(4, 4), {"failed_nodes": "0.3"}),
    (NO_LINK, {}),
    (without(mesh(4, 4), channels="5-6"), {"failed_nodes": "3"}),
    (without(topology("torus:4x4"), nodes=[5, 6]), {"routing": UpDown()}),
    ("mesh:4x4", {"failed_nodes": "5", "routing": Layered(), "traffic": "tornado"}),
    ("mesh:4x4", {"failed_nodes": "5", "traffic": parse_traffic("transpose", mesh(4, 4))}),
]
LOOPS = [
    ("mesh:4x4", {"app": read("ring:16"), "mapping": np.arange(16)[::-1]}),
    ("mesh:4x4", {"app": "uniform", "engine": "worm", "routing": UpDown()}),
    ("mesh:4x4", {"app": "uniform", "failed_nodes": "5", "failed_channels": "0-1"}),
    ("mesh:4x4", {"app": [(read("ring:4"), [0, 1, 4, 5]), "ring:4@8-15"], "mapping": "random"}),
    (topology("dragonfly:2x2x1"), {"app": "ring:12", "engine": "worm"}),
]
OTHERS = [
    (nl.simulate_transactions, topology(LEAVES), {"app": "ring:12", "engine": "worm"}),
    (nl.predict_latency, topology("torus:4x4/2"), {"offered": 0.1}),
    (nl.predict_latency, without(topology(LEAVES), channels="leaf0-spine0", nodes="h5"), {}),
    (nl.find_mapping, torus(4, 4), {"app": read("mesh:4x4"), "rounds": 1}),
    (nl.find_mapping, without(torus(4, 4), nodes="5"), {"app": "mesh:3x5", "rounds": 1}),
    (nl.analyze, NO_LINK, {"app": "ring:9", "random_mappings": 2, "routing": UpDown()}),
    (nl.analyze, "leaf-spine:4x2x4", {"app": "random-permutation", "failed_nodes": "h3"}),
    (nl.analyze, "mesh:4x4", {
        "app": MONITORED, "parts": "collectives", "mapping": np.arange(16)[::-1],
        "routing": DimensionOrder((0, 1)),
    }),
]  # fmt: skip
ASKED = [
    *((nl.simulate, on, more | LOAD) for on, more in SIMULATED),
    *((nl.simulate_loop, on, more | {"applied": 0.3, "loops": 5}) for on, more in LOOPS),
    *OTHERS,
]


def timeless(data):
    """Return figures without how long they took."""
    if isinstance(data, dict):
        times = ("cpu_seconds", "seconds") if "provenance" in data else ("cpu_seconds",)
        return {key: timeless(value) for key, value in data.items() if key not in times}
    return [timeless(each) for each in data] if isinstance(data, list) else data


def check(answer):
    recorded = json.loads(json.dumps(answer.to_dict()))["provenance"]
    assert recorded["not_repeatable"] == []
    assert " without " not in str(recorded["configuration"].get("on"))
    again = getattr(nl, recorded["verb"])(**recorded["configuration"])
    assert timeless(again.to_dict()) == timeless(answer.to_dict())


@pytest.mark.parametrize("name", list(ANSWERS))
def test_an_answer_can_be_asked_again(name):
    check(ANSWERS[name]())


@pytest.mark.parametrize(("verb", "on", "options"), ASKED)
def test_an_answer_can_be_asked_again_without_the_objects_that_it_was_given(verb, on, options):
    check(verb(on=on, **options))


def test_traffic_is_recorded_by_a_name_only_if_the_name_makes_the_same():
    net = mesh(4, 4)
    named = nl.simulate(net, traffic=parse_traffic("hot-spot:0.1:3", net), **LOAD)
    assert named.provenance.configuration["traffic"] == "hotspot:0.1:3"
    mirrored = permutation(np.arange(16)[::-1], name="transpose")
    other = nl.simulate("mesh:4x4", traffic=mirrored, **LOAD)
    assert other.provenance.configuration["traffic"]["targets"] == list(range(16))[::-1]


@pytest.mark.parametrize(
    ("on", "options", "field"),
    [
        (mesh(2), {"routing": table(mesh(2), lambda node, _: node)}, "routing"),
        (without(replace(mesh(2, 2), name="square"), channels="0-1"), {}, "on"),
        ("line:4", {"app": [(nl.read("ring:2"), [0, 2])], "alone": False}, None),
    ],
)
def test_what_cannot_be_asked_again_is_listed(on, options, field):
    found = nl.simulate(on, **options, **LOAD).to_dict()
    assert found["provenance"]["not_repeatable"] == ([field] if field else [])
