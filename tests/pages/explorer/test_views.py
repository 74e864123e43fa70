"""What an explorer shows of an answer is what the answer's own tables say, for all verbs."""

import json
from functools import cache

import numpy as np
import polars as pl
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.pages.explorer.file import view_json
from netloom.pages.explorer.network import network_json
from netloom.pages.explorer.views import times_of, views_of
from netloom.questions.recorded import record
from netloom.questions.register import EXPLORED
from tests.pages.explorer import decoded
from tests.questions.small_answers import ANSWERS, there_and_back

ASKED = [name for name in ANSWERS if name.split(",")[0] in EXPLORED]

COUNTED = dict.fromkeys(("simulate", "find_saturation", "predict_latency"), "offered")
COUNTED |= {"simulate_loop": "applied", "simulate_broadcast": "rate", "simulate_transactions": ""}
"""Verbs that count what crosses channels, and the column of loads."""


@cache
def seen(name):
    """Return the record of a small answer, and its views."""
    found = there_and_back(record(ANSWERS[name]()))
    return found, views_of(found)


def as_read(view):
    """Return a view as the page reads it."""
    given = json.dumps([network_json(view.topology), view_json(view)], allow_nan=False)
    network, told = json.loads(given)
    return decoded.View(told, decoded.Network(network))


def told(found):
    """Return what the tables of an answer say of its channels, view by view, from first to last."""
    if found.verb == "route_fabric":
        table = found.tables["channel_table"]
        return [table["before"], table["after"]]
    table = found.tables["channels"]
    if found.verb in COUNTED:
        load = COUNTED[found.verb]
        last = table.filter(pl.col(load) == pl.col(load).max()) if load else table
        kinds = (
            last.partition_by("switching", maintain_order=True) if "switching" in last else [last]
        )
        return [each["utilisation"] for each in kinds]
    if found.verb == "find_mapping":
        by = table.partition_by("mapping", maintain_order=True)
        return [each["weighted_channel_load"] for each in by]
    if found.verb == "compile_phases":
        return [table.group_by("channel").agg(pl.col("words").sum()).sort("channel")["words"]]
    if found.verb == "replay":
        table = table.unique("channel", keep="first").sort("channel")
        return [table["size"]]
    column = {
        "analyze": "weighted_channel_load",
        "simulate_flows": "bytes",
        "check_fabric": "paths",
    }[found.verb]
    return [table[column]]


@pytest.mark.parametrize("name", [each for each in ASKED if "collectives" not in each])
def test_loads_are_what_the_tables_say(name):
    found, views = seen(name)
    expected = told(found)
    if found.verb == "compile_phases":
        inside = views[0].topology.num_network_channels
        known = dict(
            zip(found.tables["channels"]["channel"].unique().sort(), expected[0], strict=True)
        )
        expected = [np.array([known.get(each, 0) for each in range(inside)], float)]
    whole = [view for view in views if view.flows is None or not view.flows.jobs]
    for view, load in zip(whole, expected, strict=False):  # tables say nothing of jobs
        inside = view.topology.num_network_channels
        wanted = np.asarray(load, float)[:inside]
        if view.unit == "share":
            wanted = wanted / view.topology.channel_bandwidth[:inside]
        assert len(wanted) == inside
        assert np.allclose(view.load, wanted), view.name
        assert np.allclose(as_read(view).load, wanted), view.name


@pytest.mark.parametrize("name", ASKED)
def test_what_enters_a_router_leaves_it(name):
    _, views = seen(name)
    for view in map(as_read, views):
        if view.table is None and view.walks is None:
            continue
        network = view.network
        walks, lost = view.walked()
        assert lost == 0
        assert np.allclose(view.loads(walks), view.load)
        balance = np.zeros(network.routers)
        np.add.at(balance, network.target, view.load)
        np.subtract.at(balance, network.source, view.load)
        for source, target, amount in view.flows:
            balance[network.router_of[view.host_of[source]]] += amount
            balance[network.router_of[view.host_of[target]]] -= amount
        assert np.allclose(balance, 0, atol=1e-6 * max(view.load.max(initial=0), 1))


@pytest.mark.parametrize("name", [each for each in ASKED if each.startswith(("replay", "compile"))])
def test_shares_over_time_sum_to_what_channels_carry(name):
    _, (view,) = seen(name)
    if view.frames is None:
        assert not view.load.any()
        return
    frames = view.frames
    assert frames.busy.shape == (len(frames.edges) - 1, view.topology.num_network_channels)
    assert (np.diff(frames.edges) > 0).all()
    assert frames.busy.min() >= 0
    assert frames.busy.max() <= 1 + 1e-6
    page = as_read(view)
    shown = decoded.busy(page.given["frames"], page.network.channels)
    assert np.abs(shown - frames.busy).max() <= 0.5 / 250 + 1e-6
    if name.startswith("replay"):
        time = (frames.busy * np.diff(frames.edges)[:, None]).sum(axis=0)
        rate = view.load.sum() / time.sum() if time.sum() else 0
        assert np.allclose(time * rate, view.load, rtol=1e-4, atol=1e-6 * view.load.max(initial=1))


@pytest.mark.parametrize("on", ["leaf-spine:16x4x4", "torus:4x4x4"])
def test_messages_over_several_ways_put_their_parts_on_each(on):
    halo, speed = "examples/halo.csv", {"bandwidth": "2GB/s", "flit_bytes": 16}
    answer = nl.replay(on, trace=halo, engine="flow", routing="minimal", **speed)
    (view,) = views_of(record(answer), answer)
    page = as_read(view)
    assert np.allclose(page.loads(), view.load)
    shares = np.zeros(len(page.flows))
    np.add.at(shares, [flow for flow, _, _ in page.walks], [part for _, part, _ in page.walks])
    assert np.allclose(shares, 1)


def test_loads_that_are_not_the_answers_are_refused():
    kept = there_and_back(record(ANSWERS["check_fabric"]()))
    channels = kept.tables["channels"].with_columns(pl.col("paths") + 1)
    changed = type(kept)(kept.verb, kept.figures, {**kept.tables, "channels": channels})
    with pytest.raises(InputError, match="other loads than when it was answered"):
        views_of(changed)


def test_a_mapping_on_routes_of_its_own_has_these_or_loads_alone():
    answer = nl.find_mapping("binary-tree:63", "torus:8x8", layout="tiles")
    own, alone = (views_of(record(answer), each)[1] for each in (answer, None))
    channels = answer.channels().filter(mapping="after")["weighted_channel_load"]
    for view in (own, alone):
        assert view.load == pytest.approx(channels.to_numpy())
    assert own.ways is not None
    assert (alone.ways, alone.missing[:10]) == (None, "The record")


@pytest.mark.parametrize("name", ASKED)
def test_no_channel_delays_that_the_verdict_finds_fine(name):
    _, views = seen(name)
    for view in views:
        most = times_of(view).max(initial=0.0)
        assert view.full >= view.delays >= 0
        assert (view.delays > 0) == (most > 0)
        if view.verdict.sentence and view.verdict.mark == "fine":
            assert view.delays >= most
        if view.verdict.sentence and view.verdict.mark == "act":
            assert view.delays <= most


def test_the_load_that_delays_is_that_of_the_verdict():
    found, (view,) = seen("analyze, alone")
    limits = found.figures["saturation"]
    at = min(1.0, limits["upper_bound"])  # the highest load that a node can offer
    assert view.delays / view.load.max() == pytest.approx(limits["worst_node"] / at)
    given = nl.analyze("examples/lammps-64.mtx", "torus:8x8", offered=0.4, random_mappings=0)
    (view,) = views_of(record(given))
    begins = given.to_dict()["saturation"]["worst_node"]
    assert view.delays / view.load.max() == pytest.approx(begins / 0.4)
    _, (view, _) = seen("check_fabric, jobs")
    assert view.load.max() / view.delays == pytest.approx(2)  # times as long as alone
    assert seen("check_fabric")[1][0].tie == "all 16 channels between routers"
