"""Simulators and models on networks whose hosts hang on routers: served, or refused in a line."""

from __future__ import annotations

import polars as pl
import pytest

import netloom as nl
from netloom.errors import InputError
from netloom.questions.predict.latency.words import lines as latency_lines
from netloom.questions.simulate.loop.words import lines as loop_lines

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


def test_worms_run_a_trace_between_hosts() -> None:
    """One leaf: a message takes its injection and its ejection channel, and no network channel."""
    found = nl.replay("fat-tree:64x1", trace="examples/halo.csv", engine="worm")
    data, messages = found.to_dict(), found.moved
    assert (data["channels"], data["flit_hops"], data["utilisation"]["max"]) == (0, 0, 0)
    assert (messages["hops"] == 0).all()
    assert (messages["unhindered"] == messages["flits"] + 2 + 1).all()
    assert "busiest channel" not in repr(found)


def test_a_multicast_between_hosts_is_a_message_to_each() -> None:
    """Hosts do not forward."""
    direct = nl.replay("mesh:8x8", trace="examples/halo.csv", engine="worm").messages()
    hosted = nl.replay("leaf-spine:4x2x16", trace="examples/halo.csv", engine="worm")
    wide = direct.group_by("id").len().filter(pl.col("len") > 1)["id"]
    assert len(wide) > 0
    sent = hosted.messages().filter(pl.col("id").is_in(wide))
    first = hosted.trace.ids.index(wide[0])
    assert sent["source_node"].unique().to_list() == [hosted.trace.source[first]]
    names = [row["name"] for row in hosted.to_dict()["busiest_channels"]]
    assert names[0] in ("spine0 -> leaf0", "spine1 -> leaf0")
    assert hosted.channels().height == 16


def test_worms_run_a_program_between_hosts() -> None:
    found = nl.simulate_loop("leaf-spine:2x1x2", app="ring:4", applied=0.9, engine="worm")
    data = found.to_dict()
    assert data["router"]["end_channels"] == 1
    assert "hosts, 3 routers, 4 channels" in "\n".join(map(str, loop_lines(found)))
    assert 0.4 < found.point.times.average_node < 0.9


def test_transactions_between_hosts_count_the_hops_between_routers() -> None:
    found = nl.simulate_transactions("leaf-spine:2x1x2", app="ring:4", engine="worm")
    assert found.distance == pytest.approx(1.0)  # of four edges, two cross the spine: 2 hops each


def test_hosts_that_hang_on_routers_have_channels_of_their_own() -> None:
    with pytest.raises(InputError, match="end_channels: found 0; expected 1 on leaf-spine"):
        nl.simulate_loop(LEAVES, app="ring:8", applied=0.1, engine="worm", end_channels=0)


def test_latency_is_predicted_between_hosts() -> None:
    found = nl.predict_latency("leaf-spine:3x2x4", offered=[0.05, 0.1], routing="up-down")
    data = found.to_dict()
    assert (data["nodes"], data["channels"], data["routing"]) == (12, 12, "up-down")
    assert found.table()["latency"].is_sorted()
    assert data["busiest_channel"].startswith(("leaf", "spine"))
    assert any("hosts that hang on routers" in flag for flag in found.flags)
    assert found.channels().height == 2 * 12
    text = "\n".join(map(str, latency_lines(found)))
    assert "12 hosts, 5 routers, 12 channels" in text


def test_a_network_without_channels_between_routers_is_predicted() -> None:
    found = nl.predict_latency("fat-tree:4x1", traffic="pairs:0-3,1-3,2-3", offered=0.2)
    data = found.to_dict()
    assert (data["utilisation_mean"], data["busiest_channel"]) == (0, None)
    assert found.network.bound.load == pytest.approx(1 / 3)
    assert found.network.bound.what == "channel s1.0 -> h3"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"simulate": True}, "for simulation beside the model; for this one, use the model alone"),
        ({"routing": "adaptive"}, "routing 'adaptive'"),
        ({"traffic": "tornado"}, "a k-ary n-cube"),
        ({"traffic": "transpose"}, "found 12 hosts; expected a square number"),
    ],
)
def test_latency_is_not_predicted_of_what_hosts_do_not_have(options, said) -> None:
    with pytest.raises(InputError, match=said):
        nl.predict_latency("leaf-spine:3x2x4", **options)
