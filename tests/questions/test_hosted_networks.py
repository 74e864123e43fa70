"""Simulators and models on networks whose hosts hang on routers: served, or refused in a line."""

from __future__ import annotations

import pytest

import netloom as nl
from netloom.errors import InputError

LEAVES = "leaf-spine:4x2x4"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: nl.simulate(LEAVES, load=0.1),
        lambda: nl.find_saturation(LEAVES),
        lambda: nl.simulate_loop(LEAVES, app="ring:8", applied=0.1, engine="network"),
        lambda: nl.simulate_transactions(LEAVES, app="ring:8"),
        lambda: nl.replay(LEAVES, trace="examples/halo.csv", engine="network"),
        lambda: nl.simulate_broadcast(LEAVES, rate=0.001),
        lambda: nl.simulate_broadcast(LEAVES, rate=0.001, engine="worm"),
    ],
)
def test_what_is_not_served_is_refused_with_what_is(ask) -> None:
    with pytest.raises(InputError, match=r"hosts that hang on routers.*; for this one, use"):
        ask()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: nl.simulate_pattern(LEAVES, pattern="transpose"),
        lambda: nl.predict_locality(on=LEAVES),
        lambda: nl.predict_torus_broadcast(on=LEAVES),
    ],
)
def test_models_of_meshes_and_tori_say_so(ask) -> None:
    with pytest.raises(InputError, match=r"expected a (square mesh|torus)"):
        ask()
