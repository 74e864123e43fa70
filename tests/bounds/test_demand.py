"""Sums of traffic and of channels over parts of a network: those of all pairs, one by one."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from netloom.bounds.demand import (
    Demand,
    between,
    crossing,
    crossing_stretches,
    demand_of,
    leading_out,
    received,
)
from netloom.simulation.network.idle import at_ports
from tests.properties.strategies import traffics


@given(st.data())
def test_sums_are_those_of_all_pairs(data):
    hosts = data.draw(st.integers(3, 9))
    traffic = data.draw(traffics(hosts))
    part = st.lists(st.integers(-1, 3), min_size=hosts, max_size=hosts)
    begins, ends = (np.array(data.draw(part)) for _ in range(2))
    sent = np.zeros((hosts, hosts))
    shares = traffic.matrix()
    sent[shares.source, shares.target] = shares.weight * traffic.rate.sum()
    by_part = np.zeros((4, 4))
    for a, b in np.argwhere(sent):
        if begins[a] >= 0 and ends[b] >= 0:
            by_part[begins[a], ends[b]] += sent[a, b]
    demand = demand_of(traffic)
    assert received(demand, hosts) == pytest.approx(sent.sum(axis=0))
    assert between(demand, begins, ends, (4, 4)) == pytest.approx(by_part)
    out, into = crossing(demand, begins, ends, 4)
    np.fill_diagonal(by_part, 0)
    assert out == pytest.approx(by_part.sum(axis=1))
    assert into == pytest.approx(by_part.sum(axis=0))


@given(st.data())
def test_ports_share_what_their_hosts_send(data):
    hosts = data.draw(st.integers(3, 5))
    traffic = data.draw(traffics(hosts))
    many = data.draw(st.lists(st.integers(1, 3), min_size=hosts, max_size=hosts))
    host = np.repeat(np.arange(hosts), many).astype(np.int32)
    demand = demand_of(traffic)
    ports, alone = np.arange(len(host)), np.arange(hosts)
    found = between(at_ports(demand, host, hosts), ports, ports, (len(host),) * 2)
    expected = between(demand, alone, alone, (hosts,) * 2)[host][:, host]
    share = np.array(many)[host]
    assert found == pytest.approx(expected / np.outer(share, share))


@given(st.data())
def test_rows_of_parts_are_those_of_all_pairs(data):
    hosts = data.draw(st.integers(3, 9))
    demand = demand_of(data.draw(traffics(hosts)))
    parts = st.lists(st.integers(-1, 3), min_size=hosts, max_size=hosts)
    begins, ends = (np.array(data.draw(parts)) for _ in range(2))
    sent = between(demand, begins, ends, (4, 4))
    rows = np.triu_indices(5, 1)
    out, into = crossing_stretches(demand, begins, ends, 4, rows)
    for first, after, leaves, enters in zip(*rows, out, into, strict=True):
        here = (np.arange(4) >= first) & (np.arange(4) < after)
        assert leaves == pytest.approx(sent[here][:, ~here].sum(), abs=1e-12)
        assert enters == pytest.approx(sent[~here][:, here].sum(), abs=1e-12)


@given(st.data())
def test_what_leads_out_leaves_for_parts_and_for_none(data):
    routers = data.draw(st.integers(1, 6))
    part = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=routers, max_size=routers)))
    router = st.integers(0, routers - 1)
    channel = st.tuples(router, router, st.integers(1, 4))
    channels = data.draw(st.lists(channel, max_size=12))
    ends = np.array(channels, np.int64).reshape(-1, 3).T
    out, into = leading_out(part, ends[0], ends[1], ends[2].astype(float))
    for at in range(len(out)):
        assert out[at] == sum(c for a, b, c in channels if part[a] == at != part[b])
        assert into[at] == sum(c for a, b, c in channels if part[b] == at != part[a])
    assert len(out) == part.max() + 1


def test_pairs_are_looked_at_in_blocks(monkeypatch):
    monkeypatch.setattr("netloom.bounds.demand.BLOCK", 2)
    demand = Demand((), np.arange(5), np.array([1, 2, 3, 4, 0]), np.ones(5))
    every = np.arange(5)
    assert all((each == 1).all() for each in crossing(demand, every, every, 5))
    assert between(demand, every, every, (5, 5)).sum() == 5
