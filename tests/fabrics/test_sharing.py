from collections import Counter
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.bounds import busiest_bound
from netloom.fabrics.figures import MOST_NAMED, cause_of, table_figures
from netloom.fabrics.program import Job, flows_of, shared_by
from netloom.routing import parse_routing, paths
from netloom.topology import topology, without
from netloom.topology.core import way_back

SPECS = ["leaf-spine:3x2x3", "fat-tree:2x3", "torus:3x3/2", "rail:2x2x2x2"]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SPECS), st.integers(0, 2**16), st.integers(1, 3))
def test_jobs_cost_each_other_what_their_paths_say(spec, seed, count):
    net = topology(spec)
    table, rng = parse_routing("minhop", net), np.random.default_rng(seed)
    jobs, loads = [], []
    for _ in range(count):
        source, target = rng.integers(0, net.num_hosts, (2, 6)).astype(np.int32)
        volume = rng.integers(1, 9, 6).astype(float)
        flows = flows_of(net, source, target, volume)
        jobs.append(Job(str(len(jobs)), np.arange(net.num_hosts), "", flows, 0.0))
        load = Counter()
        for a, b, bytes_ in zip(source, target, volume, strict=True):
            if net.node_of_host[a] != net.node_of_host[b]:
                for channel in paths(net, table, [a], [b]).whole(net).channels.tolist():
                    load[channel] += bytes_ / net.channel_bandwidth[channel]
        loads.append(load)
    found, cables = shared_by(net, table, jobs)
    alone = [max(load.values(), default=0) for load in loads]
    assert [job.alone for job in found] == pytest.approx(alone)
    together = Counter()
    for load, longest in zip(loads, alone, strict=True):
        for channel, time in load.items():
            together[channel] += time / longest
    for job, load in enumerate(loads):
        slowest = max((together[channel] for channel in load), default=1.0)
        assert found[job].slowdown == pytest.approx(slowest)
    several = {c for c in together if sum(c in load for load in loads) > 1}
    assert {each.cable.channel for each in cables} == several
    assert np.all(np.diff([each.use for each in cables]) <= 0)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(SPECS), st.integers(0, 2**16))
def test_the_cause_counts_the_paths_of_the_channel(spec, seed):
    net = topology(spec)
    table = parse_routing("minhop", net)
    figures = table_figures(net, table, samples=0)
    channel = int(np.random.default_rng(seed).integers(net.num_network_channels))
    cause, want = cause_of(net, table, figures, channel), Counter()
    for a in range(net.num_hosts):
        for b in range(net.num_hosts):
            if a != b and channel in paths(net, table, [a], [b]).channels:
                want[net.name_of(b)] += 1
    assert cause.destinations == len(want)
    assert [each.paths for each in cause.hosts] == sorted(want.values(), reverse=True)[:MOST_NAMED]
    assert all(each.paths == want[each.name] for each in cause.hosts)
    assert 0 <= cause.share <= 1
    assert cause.least <= cause.most or cause.beside == 1


def test_the_only_cable_left_between_two_switches_is_told():
    net = topology("leaf-spine:3x2x4/2")
    cut = without(net, channels="spine0->leaf0#1,leaf0->spine0#1")
    table = parse_routing("minhop", cut)
    figures = table_figures(cut, table, samples=0)
    only = [
        c for c in range(cut.num_network_channels) if cut.channel_name(c).startswith("spine0 -> le")
    ]
    alike = {cause_of(cut, table, figures, c).alike for c in only}
    assert alike == {1, 2}
    (one,) = (c for c in only if cause_of(cut, table, figures, c).alike == 1)
    cause = cause_of(cut, table, figures, one)
    assert (cause.way, cause.beside, cause.usual) == ("down", 3, 1)


def slowed(net, rates):
    """Return a network in which some cables, by the names of a channel, are slower."""
    bandwidth, back = net.channel_bandwidth.copy(), way_back(net)
    for name, rate in rates.items():
        channel = next(
            c for c in range(net.num_network_channels) if net.channel_name(c).startswith(name)
        )
        bandwidth[[channel, back[channel]]] = rate
    return replace(net, channel_bandwidth=bandwidth)


def test_a_slow_cable_is_why_and_what_mending_brings_is_counted():
    whole = topology("leaf-spine:8x4x6")
    net = slowed(whole, {"leaf3 -> spine2": 0.4})
    table = parse_routing("minhop", net)
    figures = table_figures(net, table, samples=0)
    cause = cause_of(net, table, figures, figures.busiest[0].cable.channel)
    assert (cause.rate, cause.usual_rate, cause.as_usual) == (0.4, 1.0, 3)
    mended = table_figures(whole, table, samples=0)
    assert cause.mended_ratio == mended.all_to_all.time / busiest_bound(whole).value
    assert cause.mended_ratio < figures.all_to_all.time / busiest_bound(net).value
    fast = next(c for c in range(net.num_network_channels) if net.channel_bandwidth[c] == 1)
    assert cause_of(net, table, figures, fast).mended_ratio is None


def test_a_slow_cable_is_not_all_where_there_is_another():
    whole = topology("leaf-spine:8x4x6")
    net = slowed(whole, {"leaf3 -> spine2": 0.4, "leaf5 -> spine0": 0.4})
    table = parse_routing("minhop", net)
    figures = table_figures(net, table, samples=0)
    channel = figures.busiest[0].cable.channel
    name = net.channel_name(channel)
    other = "leaf5 -> spine0" if "leaf3" in name else "leaf3 -> spine2"
    rest = slowed(whole, {other: 0.4})
    wanted = table_figures(rest, table, samples=0).all_to_all.time / busiest_bound(rest).value
    assert cause_of(net, table, figures, channel).mended_ratio == pytest.approx(wanted)
