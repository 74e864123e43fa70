"""Which kernel runs a network: that of its own router, of usual routers, or of any."""

from functools import partial

import numpy as np
import pytest

from netloom.base import compilation
from netloom.routing import virtual_channel_routing
from netloom.simulation.network import engine as engines
from netloom.simulation.network.engine import Engine
from netloom.simulation.network.layout import SIZES, known_of
from netloom.simulation.network.routers import Router
from netloom.topology import topology


def engine_of(spec, router=None, name="default", **more):
    net, router = topology(spec), router or Router()
    routing = virtual_channel_routing(net, name, num_vcs=router.vcs)
    return Engine(net, routing, router, **more)


def known(spec, router=None, name="default", *, own=False):
    engine = engine_of(spec, router, name)
    return known_of(engine.setup, engine.routing.tables, own=own)


def test_usual_routers_of_all_sizes_share_a_kernel_of_their_own():
    assert known("mesh:4x4") == known("torus:7x9", Router(buffer_flits=5), own=True)
    assert known("fat-tree:3x3") == known("dragonfly:2x4x2") != known("leaf-spine:18x18x18")


def test_what_is_known_is_true_and_says_no_sizes():
    engine = engine_of("mesh:3x3", Router(vcs=2, buffer_flits=3))
    told = known_of(engine.setup, engine.routing.tables, own=True)
    values = engine.routing.tables._asdict() | engine.setup._asdict()
    for name, value in (each.split("=") for each in told.split()):
        assert int(values[name]) == int(value)
        assert name not in SIZES


@pytest.mark.parametrize(
    ("router", "routing", "said"),
    [
        (Router(vcs=2), "default", {"staged", "whole_packets", "uneven", "far"}),
        (Router(), "adaptive", {"staged", "whole_packets", "uneven", "far"}),
        (Router(speculative=True), "default", set()),
        (Router(switching="virtual-cut-through"), "default", set()),
    ],
)
def test_other_routers_share_few_kernels(router, routing, said):
    names = {each.split("=")[0] for each in known("mesh:4x4", router, routing).split()}
    assert said <= names
    assert bool(said) == bool(names)
    assert "num_vcs" not in names


def test_a_large_network_asks_memory_ahead_of_time():
    assert "far=1" in known("mesh:64x64")
    assert "far=0" in known("mesh:16x16")


def test_a_router_earns_its_kernel_by_flit_hops_and_answers_stay_the_same(monkeypatch):
    monkeypatch.setattr(engines, "RUN", engines.Counter())
    monkeypatch.setattr(engines, "KEPT", {})
    monkeypatch.setattr(compilation, "is_kept", lambda *_: False)
    monkeypatch.setattr(engines, "EARNED", 100)
    rng = np.random.default_rng(1)
    rows = np.zeros((200, 6), np.int32)
    rows[:, 0] = np.sort(rng.integers(0, 200, 200))
    rows[:, 1:3], rows[:, 3], rows[:, 5] = rng.integers(0, 16, (200, 2)), 4, -1
    taken, found = [], []
    for specialize in (None, False):
        engine = engine_of("mesh:4x4", Router(vcs=2), specialize=specialize)
        compiled = engine.compiled

        def noted(kinds, *given, compiled=compiled):
            kernel = compiled(kinds, *given)
            taken.append(kernel is kinds(engine._known[0]))  # noqa: B023 (called at once)
            return kernel

        monkeypatch.setattr(engine, "compiled", noted)
        parts = [rows[rows[:, 0] // 100 == part] for part in (0, 1)]
        steps = [engine.advance(part, until) for part, until in zip(parts, (100, 400), strict=True)]
        found.append([np.concatenate(each) for each in zip(*steps, strict=True)])
    assert taken == [False, True, False, False]
    assert all(map(np.array_equal, *found))


def test_a_kept_kernel_is_taken_at_once(monkeypatch):
    monkeypatch.setattr(engines, "KEPT", {})
    monkeypatch.setattr(compilation, "is_kept", lambda *_: True)
    engine = engine_of("mesh:4x4", Router(vcs=3))
    kernel = partial(str.upper)
    assert engine.compiled(kernel) == engine._known[0].upper()
